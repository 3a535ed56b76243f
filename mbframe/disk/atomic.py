"""Files that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ..errors import ModelError, Problem
from .locks import PATIENCE, Lock

FilePath = str | os.PathLike[str]

LONGEST_NAME: Final = 255
"""Bytes that the name of a file may have on Linux and most other systems."""
FOLDER: Final = ".folder"
"""How the name of a folder ends that belongs to the temporary file of the rest of its name."""


def writable(path: FilePath) -> Path:
    """The place where a file is to be written, links followed; what speaks against it is a `ModelError`."""
    target = Path(path).expanduser()
    try:
        place = Path(os.path.realpath(target))
        is_other = place.exists() and not place.is_file()
    except (OSError, ValueError) as error:  # too long, a null character, half a character
        raise refused(target, f"cannot be the name of a file: {reason(error)}; choose another name") from error
    if is_other:
        raise refused(target, "is not a regular file; give the name of a file")
    if not place.parent.is_dir():
        raise refused(target, f"there is no folder {str(place.parent)!r}; create it or choose another")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise refused(target, f"the folder {str(place.parent)!r} cannot be written; choose another")
    return place


def refused(path: FilePath, message: str) -> ModelError:
    """The error for a file that cannot be written or read."""
    return ModelError([Problem(f"file {str(path)!r}", "", message)])


class NotWrittenError(ModelError):
    """A file that the operating system did not write, though nothing was wrong with what was asked for."""


class CutError(OSError):
    """A file that somebody else made shorter while it was written."""

    def __init__(self) -> None:
        super().__init__(errno.EIO, "somebody made it shorter meanwhile")


def unwritten(path: FilePath, error: Exception) -> NotWrittenError:
    """The error for a file that the operating system did not write."""
    message = f"could not be written: {reason(error)}; check the free space and the permissions there"
    return NotWrittenError([Problem(f"file {str(path)!r}", "", message)])


def reason(error: Exception) -> str:
    """What the operating system said; HDF5 hides it in a long text."""
    hidden = re.search(r"error message = '([^']*)'", str(error))
    if hidden is not None:
        return hidden[1]
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


@contextmanager
def replacing(path: FilePath) -> Iterator[Path]:
    """A temporary file beside `path`, to be written in the block; it replaces `path` when the block ends well.

    Its bytes reach the disk before it gets the name, so that after a crash there is the old file or the new one, whole.
    The suffix is that of `path`. When the block raises (Ctrl-C included), nothing is left behind; an `OSError` such as
    a full disk becomes a `ModelError`. What a killed process left behind is removed by the next who writes there.
    """
    with replacing_as_owner(path) as (temporary, _):
        yield temporary


@contextmanager
def replacing_as_owner(path: FilePath) -> Iterator[tuple[Path, Lock]]:
    """As `replacing`, with the lock on the file: as long as it is kept, nobody replaces the file."""
    place = writable(path)
    sweep(place)
    try:
        with _temporary(place) as (temporary, lock):
            try:
                yield temporary, lock
                if place.exists():
                    shutil.copymode(place, temporary)
                _flush(temporary)
                _put(temporary, place, path)
                if os.name == "posix":
                    _flush(place.parent)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise unwritten(path, error) from error


@contextmanager
def folder_beside(path: FilePath) -> Iterator[Path]:
    """A folder beside `path` for the block, for several files that become one; it is swept like a temporary file."""
    place = writable(path)
    sweep(place)
    with _temporary(place) as (temporary, _):
        try:
            with folder_of(temporary) as folder:
                yield folder
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def folder_of(temporary: Path) -> Iterator[Path]:
    """A folder for the block that belongs to a temporary file, and is swept with it."""
    folder = Path(f"{temporary}{FOLDER}")
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_free(path: FilePath) -> None:
    """A `ModelError` if a run writes the file."""
    place = Path(os.path.realpath(Path(path).expanduser()))
    with suppress(FileNotFoundError), Lock(place, PATIENCE) as lock:
        if not lock.held:
            raise refused(path, "is being written by a run that goes on; wait for its end or choose another name")


def _put(temporary: Path, place: Path, path: FilePath) -> None:
    """Give a file its name. Of two that claim it one comes after the other, and none over a run that goes on."""
    while True:
        try:
            lock = Lock(place, PATIENCE)
        except FileNotFoundError:
            try:
                os.link(temporary, place)  # unlike `replace` it never takes the name from another
                return
            except FileExistsError:
                continue
            except OSError:  # a file system without links
                os.replace(temporary, place)
                return
        with lock:
            if not lock.held:
                raise refused(path, "is being written by a run that goes on; wait for its end or choose another name")
            if lock.owns(place):
                os.replace(temporary, place)
                return


@contextmanager
def _temporary(place: Path) -> Iterator[tuple[Path, Lock]]:
    """A new empty file beside a place, locked as long as it is written."""
    while True:
        temporary = place.with_name(f".{_stem(place)}-{uuid.uuid4().hex[:12]}{place.suffix}")
        with Lock(temporary, new=True) as lock:
            if lock.held and lock.owns(temporary):  # nobody swept it away meanwhile
                yield temporary, lock
                return


def _stem(place: Path) -> str:
    """Of the name of a file, what names of temporary files have room for."""
    stem = place.stem
    while len(os.fsencode(f".{stem}-{12 * '0'}{place.suffix}{FOLDER}")) > LONGEST_NAME:
        stem = stem[:-1]
    return stem


def sweep(place: Path) -> None:
    """Remove temporary files of a place whose owner is gone."""
    named = re.compile(re.escape(f".{_stem(place)}-") + "[0-9a-f]{12}" + re.escape(place.suffix))
    folders = []
    for found in place.parent.iterdir():
        if named.fullmatch(found.name) and found.is_file() and not found.is_symlink():
            with suppress(OSError), Lock(found) as lock:
                if lock.held and lock.certain:
                    found.unlink(missing_ok=True)
        elif found.name.endswith(FOLDER) and named.fullmatch(found.name.removesuffix(FOLDER)):
            folders.append(found)
    for folder in folders:
        if not folder.with_name(folder.name.removesuffix(FOLDER)).exists() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def write_text(path: FilePath, text: str) -> None:
    """Write a text file (UTF-8, line ends as given), whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
