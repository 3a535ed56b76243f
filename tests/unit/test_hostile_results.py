"""Results made to do harm: nothing outside the file is read, and nothing small fills the memory."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import h5py
import numpy as np
import pytest

import mbframe as mb
from mbframe.files.hdf5 import Superblock

SECRET = np.arange(11.0)
QUANTITY = "quantities/energy.total"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    system = mb.System("flight", gravity=(0, 0, -10))
    system.add(mb.PointMass("stone", mass=1.0, velocity=(1, 0, 1)))
    path = tmp_path_factory.mktemp("whole") / "run.h5"
    mb.simulate(system, 1.0, t_eval=np.linspace(0.0, 1.0, 11)).save(path, quantities=["energy.total"])
    return path


def external_storage(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file.create_dataset("t", (11,), float, external=[(str(outside / "secret.bin"), 0, 88)])


def external_quantity(file: h5py.File, outside: Path) -> None:
    attributes = dict(file[QUANTITY].attrs)
    del file[QUANTITY]
    file.create_dataset(QUANTITY, (11,), float, external=[(str(outside / "secret.bin"), 0, 88)]).attrs.update(
        attributes
    )


def pipe(file: h5py.File, outside: Path) -> None:
    os.mkfifo(outside / "pipe")
    del file["log"]
    file.create_dataset("log", (11,), np.uint8, external=[(str(outside / "pipe"), 0, 11)])


def external_link(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file["t"] = h5py.ExternalLink(str(outside / "secret.h5"), "/data")


def external_group(file: h5py.File, outside: Path) -> None:
    del file["quantities"]
    file["quantities"] = h5py.ExternalLink(str(outside / "secret.h5"), "/")


def soft_link(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file["t"] = h5py.SoftLink(f"/{QUANTITY}")


def virtual(file: h5py.File, outside: Path) -> None:
    layout = h5py.VirtualLayout(shape=(11,), dtype=float)
    layout[:] = h5py.VirtualSource(str(outside / "secret.h5"), "data", shape=(11,))
    del file["t"]
    file.create_virtual_dataset("t", layout)


def circle(file: h5py.File, outside: Path) -> None:
    file["quantities/again"] = file["quantities"]


def other_filter(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file.create_dataset("t", data=SECRET, compression="lzf")


def scaled(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file.create_dataset("t", data=SECRET, chunks=(11,), scaleoffset=3)


def references(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file.create_dataset("t", data=np.array([file.ref] * 11, dtype=h5py.ref_dtype))


def compound(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file["t"] = np.zeros(11, dtype=[("a", float), ("b", float)])


def many_long_texts(file: h5py.File, outside: Path) -> None:
    """So many texts that all together, were they as long as the longest, would fill the memory."""
    del file["names/q"]
    file["names/q"] = ["x" * 2**20, *["y"] * 2000]


def many_rows(file: h5py.File, outside: Path) -> None:
    """Shapes without numbers: reading fills them up."""
    for name in ("t", "q", "v", "z"):
        file[name].resize(10**9, axis=0)
    file["written"][:] = (10**9, 0)


def large_chunk(file: h5py.File, outside: Path) -> None:
    del file["t"]
    file.create_dataset("t", (10**9,), float, chunks=(10**8,), compression="gzip")


def packed_zeros(file: h5py.File, outside: Path) -> None:
    """A chunk of 128 kB into which a gigabyte was packed."""
    del file["t"]
    stored = file.create_dataset("t", (11,), float, maxshape=(None,), chunks=(16384,), compression="gzip")
    stored.id.write_direct_chunk((0,), zlib.compress(bytes(10**9 // 2), 9))


def packed_log(file: h5py.File, outside: Path) -> None:
    del file["log"]
    stored = file.create_dataset("log", (2 * 10**9,), np.uint8, chunks=(2**20,), compression="gzip")
    chunk = zlib.compress(b"\n" * 2**20, 9)
    for start in range(0, 2 * 10**9, 2**20):
        stored.id.write_direct_chunk((start,), chunk)


HOSTILE: list[Callable[[h5py.File, Path], None]] = [
    *(external_storage, external_quantity, pipe, external_link, external_group, soft_link, virtual, circle),
    *(other_filter, scaled, references, compound, many_long_texts, many_rows, large_chunk, packed_zeros),
    packed_log,
]


def used(result: mb.Result) -> list[Any]:
    return [result.t, result.quantity("energy.total").values, result.position("stone")]


@pytest.mark.parametrize("harm", HOSTILE, ids=lambda harm: harm.__name__)
def test_files_that_do_harm_are_refused_before_they_are_read(
    harm: Callable[[h5py.File, Path], None], whole: Path, tmp_path: Path
) -> None:
    SECRET.tofile(tmp_path / "secret.bin")
    with h5py.File(tmp_path / "secret.h5", "w") as secret:
        secret["data"] = SECRET
    path = tmp_path / "run.h5"
    shutil.copyfile(whole, path)
    with h5py.File(path, "r+", libver="v110") as file:
        harm(file, tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(mb.ModelError, match=r"run\.h5"):
        used(mb.load_result(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB


@pytest.mark.parametrize("instants", [np.full(11, np.nan), np.linspace(1.0, 0.0, 11), [0.0] * 5 + [np.inf] + [1.0] * 5])
def test_instants_that_do_not_follow_each_other_are_damage(instants: Any, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    shutil.copyfile(whole, path)
    with h5py.File(path, "r+", libver="v110") as file:
        file["t"][...] = instants
    with pytest.raises(mb.ModelError, match=r"is damaged: its instants t"):
        used(mb.load_result(path))
    if not np.isfinite(instants[-1]) or instants[-1] == 0.0:
        with pytest.raises(mb.ModelError, match=r"is damaged: its instants t"):
            mb.load_result(path)


def test_damage_is_told_in_words_of_ours(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    for harm in (lambda file: file.create_dataset("q", data=h5py.Empty("f8")), lambda file: file.create_group("q")):
        shutil.copyfile(whole, path)
        with h5py.File(path, "r+", libver="v110") as file:
            del file["q"]
            harm(file)
        with pytest.raises(mb.ModelError, match=r"is damaged: .*(kind or shape|neither numbers|no real numbers)"):
            mb.load_result(path)


def test_counts_beyond_all_numbers_are_damage(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    shutil.copyfile(whole, path)
    with h5py.File(path, "r+", libver="v110") as file:
        del file["written"]
        file["written"] = [np.inf, 0.0]
    with pytest.raises(mb.ModelError, match="is damaged: cannot convert float infinity"):
        mb.load_result(path)


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [(QUANTITY, "name", b"\xff\xff"), (QUANTITY, "name", ""), (QUANTITY, "unit", b"\xff"), ("/", "name", b"\xff\xfe")],
)
def test_texts_that_could_not_be_written_again_are_damage(
    place: str, key: str, value: Any, whole: Path, tmp_path: Path
) -> None:
    path = tmp_path / "run.h5"
    shutil.copyfile(whole, path)
    with h5py.File(path, "r+", libver="v110") as file:
        del file[place].attrs[key]
        file[place].attrs[key] = value
    with pytest.raises(mb.ModelError, match=r"is damaged: ('utf-8' codec|a quantity has no name)"):
        mb.load_result(path)


WRONG_KINDS: list[tuple[str, Any]] = [
    *(("start", value) for value in (True, -1, "", [], {}, [[]], [1, "a"], [0.0] * 5)),
    *(("angles", value) for value in (None, 1.0, "", [], {"stone": "a"}, {"stone": 10**400})),
    *(("steps", "many"), ("wall_time", None), ("warnings", "one"), ("warnings", [1]), ("warnings", ["\ud800"])),
    *(("settings", []), ("completed", 1)),
]


@pytest.mark.parametrize(("key", "value"), WRONG_KINDS)
def test_a_log_of_other_kinds_is_damage(key: str, value: Any, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    shutil.copyfile(whole, path)
    with h5py.File(path, "r+", libver="v110") as file:
        entries = [json.loads(line) for line in bytes(file["log"][:]).splitlines()]
        entries[-1]["info"][key] = value
        del file["log"]
        file["log"] = np.frombuffer("\n".join(map(json.dumps, entries)).encode(), np.uint8)
    with pytest.raises(mb.ModelError, match="is damaged"):
        mb.load_result(path)


def test_why_a_model_is_missing_is_told_briefly(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    shutil.copyfile(whole, path)
    with h5py.File(path, "r+", libver="v110") as file:
        del file["model_lacks"]
        file["model_lacks"] = "x" * 100_000
    with pytest.raises(mb.ModelError, match=r"lacks its model \(x+\)") as told:
        mb.load_result(path).position("stone")
    assert len(str(told.value)) < 1000


def test_what_is_whole_is_read(whole: Path) -> None:
    assert len(used(mb.load_result(whole))) == 3


def test_texts_of_any_length_as_the_first_results_have_them(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    shutil.copyfile(whole, path)
    with h5py.File(path, "r+", libver="v110") as file:
        model = file["model"][()]
        del file["model"]
        file["model"], file.attrs["run"] = model.decode(), "a text of any length"
    assert np.array_equal(mb.load_result(path).t, mb.load_result(whole).t)
    content = bytearray(path.read_bytes())
    heap = content.index(b"GCOL")
    free = heap + 16
    while any(content[free : free + 2]):
        free += 16 + -(-int.from_bytes(content[free + 8 : free + 16], "little") // 8) * 8
    # sizes of the heap, of its first text and of its free room, which HDF5 passes by so many bytes: with 0 for ever
    for place, value in ((heap + 8, 2**40), (heap + 24, 2**40), (free + 8, 0), (free + 8, 16)):
        damaged = content.copy()
        damaged[place : place + 8] = value.to_bytes(8, "little")
        path.write_bytes(damaged)
        with pytest.raises(mb.ModelError, match="heap"):
            mb.load_result(path)


def test_the_gallery_is_read() -> None:
    paths = sorted((Path(__file__).parents[2] / "assets" / "gallery").glob("*.h5"))
    assert len(paths) >= 30
    for path in paths:
        assert len(mb.load_result(path).t) > 1


@pytest.mark.skipif(os.name != "posix", reason="special files of POSIX")
def test_special_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.h5")
    with pytest.raises(mb.ModelError, match="is a pipe"):
        mb.load_result(tmp_path / "run.h5")
    with pytest.raises(mb.ModelError, match="is a folder"):
        mb.load_result(tmp_path)
    with pytest.raises(mb.ModelError, match="is a device"):
        mb.load_result("/dev/zero")


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="files of Linux")
def test_files_of_the_system_are_refused_as_empty_ones(tmp_path: Path) -> None:
    """They are regular and have no size; reading them fails, or waits for ever."""
    (tmp_path / "run.h5").touch()
    for path in ("/proc/self/mem", tmp_path / "run.h5"):
        with pytest.raises(mb.ModelError, match="is empty; give a file that"):
            mb.load_result(path)


def test_a_disk_that_fails_is_told(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(path: Path) -> NoReturn:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Superblock, "of", fails)
    with pytest.raises(mb.ModelError, match="Input/output error"):
        mb.load_result(whole)


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "hostile_files").glob("*.h5")), ids=lambda path: path.stem
)
def test_files_that_once_did_harm(path: Path) -> None:
    """Found by `scripts/stress fuzz`: each took minutes or gigabytes, or ended with a raw error."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(mb.ModelError):
        used(mb.load_result(path))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # kB
