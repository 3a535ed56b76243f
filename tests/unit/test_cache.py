"""Where compiled code is kept, what makes it stale, and that a second process finds it."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import pickle
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mbframe as mb
from mbframe.kernels.compiler import compile as module
from mbframe.kernels.compiler import notices, pipeline

PACKAGE = Path(mb.__file__).resolve().parent
directory = module.cache_directory.__wrapped__  # without the memory of its first answer


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MBFRAME_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def sources(tmp_path) -> Path:
    """A copy of the package's sources."""
    return Path(shutil.copytree(PACKAGE, tmp_path / "mbframe", ignore=shutil.ignore_patterns("__pycache__")))


def test_the_environment_chooses_the_place(place):
    found = directory()
    assert found.parent == place
    assert found.is_dir()
    assert re.fullmatch("[0-9a-f]{16}", found.name)
    assert directory() == found


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
def test_the_default_place_is_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("MBFRAME_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert directory().parent == tmp_path / "mbframe"


def test_the_key_comes_from_the_sources_alone(place, sources):
    assert directory().name == module.SOURCES
    assert module.source_hash(sources) == module.source_hash(PACKAGE)


@pytest.mark.parametrize(
    "file",
    [
        "kernels/linear_algebra/factorization.py",
        "kernels/stages/loops.py",
        "forces/springs.py",
        "constraints/basic.py",
        "measures.py",
    ],
)
def test_an_edited_source_changes_the_key(sources, file):
    before = module.source_hash(sources)
    with (sources / file).open("a") as source:
        source.write("\nADDED = 1\n")
    assert module.source_hash(sources) != before


def test_a_new_source_changes_the_key(sources):
    before = module.source_hash(sources)
    (sources / "forces" / "more.py").write_text("STIFFNESS = 1.0\n")
    assert module.source_hash(sources) != before


def test_an_edited_source_without_compiled_code_keeps_the_key(sources):
    before = module.source_hash(sources)
    for file in ("results.py", "solvers/simulate.py", "examples/triple_pendulum.py"):
        with (sources / file).open("a") as source:
            source.write("\nADDED = 1\n")
    assert module.source_hash(sources) == before


def test_the_sources_left_out_of_the_key_are_never_compiled():
    for example in (mb.examples.triple_pendulum, mb.examples.heavy_top):
        mb.simulate(example(), 0.01)
    left_out = {Path(name).stem for name in module.NEVER_COMPILED}
    compiled = {
        function.__module__.split(".")[1] for function, *_ in module._dispatchers if "mbframe." in function.__module__
    }
    assert "bodies" in compiled
    assert not compiled & left_out


def test_a_place_that_cannot_be_written_is_replaced_with_a_message(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MBFRAME_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with caplog.at_level(logging.WARNING, logger="mbframe"):
        found = directory()
    try:
        assert found.is_dir()
        assert tmp_path not in found.parents
        (message,) = caplog.messages
        assert "compiled code cannot be kept" in message
        assert "set MBFRAME_CACHE_DIR" in message
        assert str(tmp_path / "file") in message
    finally:
        found.rmdir()


def test_what_a_killed_process_left_is_removed(place):
    """Temporary files from long ago, or from the future of a clock that was wrong; not those of a process at work."""
    folder = directory()
    names = ["a.nbc.tmp.0123456789abcdef", "b.nbc.tmp.0123456789abcdef", "c.nbc.tmp.0123456789abcdef", "d.nbc"]
    for name, age in zip(names, (1e6, -1e6, 0.0, 1e6), strict=True):
        (folder / name).write_bytes(b"half")
        os.utime(folder / name, (time.time() - age,) * 2)
    assert directory() == folder
    assert sorted(os.listdir(folder)) == names[2:]


PROGRAM = """
import logging, sys
from numba.core import event

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
with event.install_recorder("numba:compile") as compilations:
    import mbframe as mb

    system = mb.System("throw")
    system.add(mb.RigidBody("ball", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    result = mb.simulate(system, 1.0, dt=0.5, stabilization=mb.NoStabilization())
print("numba compilations:", len(compilations.buffer))
print("height:", repr(float(result.position("ball")[-1, 2])))
"""


def run(place: Path) -> str:
    environment = os.environ | {"MBFRAME_CACHE_DIR": str(place), "PYTHONPATH": str(PACKAGE.parent)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True
    ).stdout


def number(text: str, label: str) -> float:
    (line,) = [line for line in text.splitlines() if line.startswith(label)]
    return float(line.split(":")[1])


def test_a_second_process_compiles_nothing(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    stages = re.findall("^compiled (.+) in ", first, re.MULTILINE)
    assert {"march", "runge_kutta"} <= set(stages)
    assert first.count("mbframe is compiling its solver for first use") == 1
    assert first.index("is compiling") < first.index("compiled ")
    assert number(first, "numba compilations") > len(stages)
    assert "compil" not in second.replace("numba compilations", "")
    assert number(second, "numba compilations") == 0
    assert number(first, "height") == number(second, "height") == pytest.approx(-9.81 / 2)


# ---- damaged caches: a stage is compiled again, and says so once


def small(t, work, data, n):
    """A stage that compiles in a moment."""
    return n + 1


@pytest.fixture
def stage(place, monkeypatch, caplog):
    """Makes the stage as a new process would: from the cache of `place`, or compiled."""
    monkeypatch.setattr(module, "cache_directory", directory)
    monkeypatch.setattr(notices, "_said", set())
    caplog.set_level(logging.WARNING, logger="mbframe")

    def made() -> bool:
        """Whether it had to be compiled."""
        found = module.Stage(small)
        assert module.run_stage(found.address, 0.0, 0, 0, 41) == 42
        return not found._compiled.cache_hits

    assert made()
    caplog.clear()
    return made


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    """One bit of the machine code."""
    where = len(content) // 2
    return content[:where] + bytes([content[where] ^ 1]) + content[where + 1 :]


DAMAGE = {
    "empty": lambda content: b"",
    "truncated": truncated,
    "one bit": flipped,
    "random": lambda content: random.Random(3).randbytes(len(content)),
    "another version's": lambda content: sealed(pickle.dumps("0.1") + content),
    "whole, but no cache": lambda content: sealed(b"nothing of the kind"),
}


def sealed(content: bytes) -> bytes:
    return content + hashlib.sha256(content).digest()


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damaged_code_is_compiled_again(stage, place, caplog, damage, suffix):
    assert not stage()
    for file in place.rglob(f"*.{suffix}"):
        file.write_bytes(damage(file.read_bytes()))
    assert stage()
    assert len(caplog.messages) <= 1
    assert not stage()  # it was mended


@pytest.mark.skipif(sys.platform == "win32", reason="special files of POSIX")
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("put", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "endless"])
def test_special_files_are_not_read_as_code(stage, place, caplog, put, suffix):
    assert not stage()
    for file in place.rglob(f"*.{suffix}"):
        file.unlink()
        put(file)
    assert stage()
    assert len(caplog.messages) <= 1
    assert not stage()  # it was mended


@pytest.mark.parametrize("fails", [True, False])
def test_ctrl_c_is_not_lost_in_what_the_compiler_calls(place, monkeypatch, capsys, fails):
    """It came in a callback of LLVM, compiling went on, and ended with an error of its own or none."""
    import ctypes

    from mbframe.kernels.compiler import compile as module

    @ctypes.CFUNCTYPE(None)
    def stopped():
        raise KeyboardInterrupt

    def compiled(*_, **__):
        stopped()
        if fails:
            raise RuntimeError("no compiled object yet")

    monkeypatch.setattr(module, "compiled_stage", compiled)
    usual = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        module.Stage(lambda t, work, data, n: n).address  # noqa: B018
    assert sys.unraisablehook is usual
    assert "ignored" not in capsys.readouterr().err


def test_code_that_cannot_be_kept_stays_in_memory(stage, place, caplog, monkeypatch):
    """A full disk, and a folder of files that cannot be written: one notice for all."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    shutil.rmtree(place)
    monkeypatch.setattr(pipeline._SealedFile, "_open_for_write", full)
    assert stage()
    assert stage()
    (message,) = [text for text in caplog.messages if "first use" not in text]
    assert "compiled code cannot be kept" in message
    assert "No space left" in message


def test_without_any_place_code_stays_in_memory(stage, tmp_path, caplog, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("MBFRAME_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setattr(module.tempfile, "mkdtemp", lambda **_: (_ for _ in ()).throw(OSError("no disk")))
    assert stage()
    assert any("cannot be kept" in text for text in caplog.messages)
