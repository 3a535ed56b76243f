"""Projects: a model, the results of its runs and how they are looked at, in one file.

A project is a ZIP archive without compression, of the formats that exist:

    project.json     format, version, the runs (name, colour, ...) in their order, and what a program keeps of its looks
    model.json       the model and the settings of the next run, as `mbframe.save` writes it
    runs/1.h5, ...   the results, as `Result.save` and `simulate(..., output=...)` write them

Nothing in it is a path or is executed: entries with any other name are refused, and results are taken out under names
that the reader gives.
"""

from __future__ import annotations

import os
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..disk.atomic import FilePath, reason, refused, replacing, writable
from ..disk.inputs import regular_file
from ..errors import ModelError
from .json_text import dumps, most_bytes, parse

FORMAT: Final = "mbframe project"
VERSION: Final = 1
SUFFIX: Final = ".mbproject"

MOST_RUNS: Final = 1000
_PIECE: Final = 2**20  # bytes that are copied at once
_LARGEST_DIRECTORY: Final = 2**20  # bytes: ten times what so many entries need
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # equal projects are equal files

Progress = Callable[[float], object]
"""Is told the fraction that is done; what it raises ends the work and leaves no trace."""


@dataclass(frozen=True)
class StoredRun:
    """A result, and what is to be remembered of it besides: numbers and texts by name."""

    file: Path
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Project:
    """What a project holds.

    model: the document of the model with its settings (see `files.model`). runs: the results. looks: whatever a program
    wants to keep of how it shows them, as JSON.
    """

    model: dict[str, Any]
    runs: Sequence[StoredRun] = ()
    looks: dict[str, Any] = field(default_factory=dict)


def save(project: Project, path: FilePath, progress: Progress = lambda _: None) -> None:
    """Write a project, whole or not at all, and read it back."""
    if len(project.runs) > MOST_RUNS:
        raise refused(path, f"would have {len(project.runs)} runs; a project holds {MOST_RUNS}: remove some")
    about = {
        "format": FORMAT,
        "version": VERSION,
        "runs": [run.about for run in project.runs],
        "looks": project.looks,
    }
    texts = {"project.json": dumps(about), "model.json": dumps(project.model)}
    for name, text in texts.items():
        parse(text, name)  # what is not read again would be no help
    place = writable(path)
    with _inputs(project.runs) as inputs:
        meter = _Meter(progress, 2 * sum(size for _, size in inputs))
        with replacing(place) as temporary:
            with zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
                for name, text in texts.items():
                    archive.writestr(zipfile.ZipInfo(name, _EPOCH), text.encode())
                for number, (file, size) in enumerate(inputs, 1):
                    entry = zipfile.ZipInfo(_entry_of(number), _EPOCH)
                    with archive.open(entry, "w", force_zip64=size >= 2**31) as target:
                        _copy(file, target, meter)
            _check(temporary, path, texts, meter)


def read(path: FilePath, folder: FilePath, progress: Progress = lambda _: None) -> Project:
    """Read a project; its results are put into a folder under names that nothing there has.

    Whatever is wrong with it is a `ModelError`, and nothing stays in the folder then. The results themselves are looked
    at by who reads them.
    """
    taken: list[Path] = []
    try:
        with _opened(path) as archive:
            about = _text(archive, "project.json", path)
            runs = _described_runs(about, path)
            model = _text(archive, "model.json", path)
            entries = [_entry(archive, _entry_of(number), path) for number in range(1, len(runs) + 1)]
            meter = _Meter(progress, sum(entry.file_size for entry in entries))
            for entry in entries:
                taken.append(_new_file(Path(folder)))
                with archive.open(entry) as source, open(taken[-1], "wb") as target:
                    _copy(source, target, meter)
    except BaseException as error:
        for file in taken:
            with suppress(OSError):
                file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise refused(folder, f"results could not be put there: {reason(error)}; check the free space") from error
        raise
    stored = [StoredRun(file, run) for file, run in zip(taken, runs, strict=True)]
    return Project(model, stored, about["looks"])


def _described_runs(about: Any, path: FilePath) -> list[dict[str, Any]]:
    """The runs as project.json has them; the first thing that is wrong with it is an error."""
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise refused(path, "is not a project of mbframe; give a file that was saved as a project")
    version = about.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        message = f"is a project of version {version!r:.20}; this program knows up to {VERSION}: install a newer one"
        raise refused(path, message)
    runs = about.get("runs")
    if not isinstance(runs, list) or not all(isinstance(run, dict) for run in runs) or len(runs) > MOST_RUNS:
        raise refused(path, f"project.json: runs must be a list of at most {MOST_RUNS} objects; it is damaged")
    if not isinstance(about.get("looks"), dict):
        raise refused(path, "project.json: looks must be an object; it is damaged")
    return runs


# ---- Archives -----------------------------------------------------------------------------------------------------


@contextmanager
def _opened(path: FilePath) -> Iterator[zipfile.ZipFile]:
    """The archive, all of whose entries are known and lie in the file; all that a damaged one leads to is one error."""
    with regular_file(path) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            if _directory_bytes(file, size) > _LARGEST_DIRECTORY:
                raise refused(path, "has a directory that no project needs; it is damaged")
            with zipfile.ZipFile(file) as archive:
                _check_entries(archive, path, size)
                yield archive
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, struct.error, ValueError) as error:
            message = f"cannot be read: {error}; give a file that was saved as a project"
            raise refused(path, message) from error


def _directory_bytes(file: BinaryIO, size: int) -> int:
    """How long the archive's directory says it is: `zipfile` would fill ten times that memory with it."""
    file.seek(max(0, size - 22 - 20 - 56))
    end = file.read(22 + 20 + 56) or b""  # None where the system waits for something to tell, in /proc
    if end[-22:-18] != b"PK\x05\x06" or end[-2:] != b"\0\0":
        raise zipfile.BadZipFile("it does not end as a project does")
    found = int.from_bytes(end[-10:-6], "little")
    if end[:4] == b"PK\x06\x06":  # the same for archives above 4 GB
        found = max(found, int.from_bytes(end[40:48], "little"))
    elif end[-42:-38] == b"PK\x06\x07":
        raise zipfile.BadZipFile("its directory is not where it belongs")
    return found


def _check_entries(archive: zipfile.ZipFile, path: FilePath, size: int) -> None:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    known = {"project.json", "model.json", *(_entry_of(number) for number in range(1, MOST_RUNS + 1))}
    for entry in entries:
        if entry.filename not in known or names.count(entry.filename) > 1:
            raise refused(path, f"has an entry {entry.filename!r:.60} that no project has; it is damaged")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 or entry.file_size != entry.compress_size:
            raise refused(path, f"{entry.filename}: is compressed or encrypted, which no project is; it is damaged")
    if sum(entry.file_size for entry in entries) > size:  # entries that share their bytes
        raise refused(path, "has entries that are longer than the file; it is damaged")


def _entry_of(number: int) -> str:
    return f"runs/{number}.h5"


def _entry(archive: zipfile.ZipFile, name: str, path: FilePath) -> zipfile.ZipInfo:
    try:
        return archive.getinfo(name)
    except KeyError:
        raise refused(path, f"has no entry {name!r}; it is damaged") from None


def _text(archive: zipfile.ZipFile, name: str, path: FilePath) -> Any:
    """An entry as JSON."""
    entry = _entry(archive, name, path)
    if entry.file_size > most_bytes():
        raise refused(path, f"{name} has more than the {most_bytes():,} bytes that are allowed")
    with archive.open(entry) as file:
        return parse(file.read(), f"file {str(path)!r}, {name}")


def _check(temporary: Path, path: FilePath, texts: dict[str, str], meter: _Meter) -> None:
    """Read what was just written: every byte against its checksum, and texts against what they should be."""
    try:
        with _opened(temporary) as archive:
            for name, text in texts.items():
                if archive.read(name) != text.encode():
                    raise refused(path, "is not what was written; check the disk")
            for entry in archive.infolist():
                if entry.filename not in texts:
                    with archive.open(entry) as source:
                        _copy(source, None, meter)
    except ModelError as error:
        messages = "; ".join(problem.message for problem in error.problems)
        raise refused(path, f"could be written but not be read again: {messages}") from error


# ---- Bytes --------------------------------------------------------------------------------------------------------


class _Meter:
    """Tells how much of a work is done."""

    def __init__(self, progress: Progress, whole: int) -> None:
        self._progress, self._whole, self._done = progress, max(whole, 1), 0

    def add(self, count: int) -> None:
        self._done += count
        self._progress(min(1.0, self._done / self._whole))


def _copy(source: Any, target: Any, meter: _Meter) -> None:
    while piece := source.read(_PIECE):
        if target is not None:
            target.write(piece)
        meter.add(len(piece))


@contextmanager
def _inputs(runs: Sequence[StoredRun]) -> Iterator[list[tuple[BinaryIO, int]]]:
    """The results, open to be read, with their sizes: one that is missing is known before anything is written."""
    with ExitStack() as stack:
        files = [stack.enter_context(regular_file(run.file)) for run in runs]
        yield [(file, os.fstat(file.fileno()).st_size) for file in files]


def _new_file(folder: Path) -> Path:
    """A new empty file that only its owner reads."""
    descriptor, name = tempfile.mkstemp(".h5", "run-", folder)
    os.close(descriptor)
    return Path(name)
