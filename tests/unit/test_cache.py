"""Where compiled code is kept, what makes it stale, and that a second process finds it."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mbframe as mb
from mbframe.kernels import compile as module

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
    ["kernels/factorization.py", "kernels/loops.py", "forces/springs.py", "constraints/basic.py", "measures.py"],
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
        function.__module__.split(".")[1] for function, _ in module._dispatchers if "mbframe." in function.__module__
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
