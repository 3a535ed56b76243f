"""Files that appear complete or not at all."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ModelError, Problem

FilePath = str | os.PathLike[str]


def writable(path: FilePath) -> Path:
    """The place where a file is to be written, links followed; what speaks against it is a `ModelError`."""
    target = Path(path).expanduser()
    place = Path(os.path.realpath(target))
    if place.exists() and not place.is_file():
        raise refused(target, "is not a regular file; give the name of a file")
    if not place.parent.is_dir():
        raise refused(target, f"there is no folder {str(place.parent)!r}; create it or choose another")
    if not os.access(place.parent, os.W_OK | os.X_OK):
        raise refused(target, f"the folder {str(place.parent)!r} cannot be written; choose another")
    return place


def refused(path: FilePath, message: str) -> ModelError:
    """The error for a file that cannot be written or read."""
    return ModelError([Problem(f"file {str(path)!r}", "", message)])


def unwritten(path: FilePath, error: Exception) -> ModelError:
    """The error for a file that the operating system did not write."""
    return refused(path, f"could not be written: {reason(error)}; check the free space and the permissions there")


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
    a full disk becomes a `ModelError`.
    """
    place = writable(path)
    temporary = place.with_name(f".{place.stem}-{uuid.uuid4().hex[:12]}{place.suffix}")
    try:
        temporary.touch(exist_ok=False)  # unlike tempfile's, it has the permissions of any new file
        yield temporary
        if place.exists():
            shutil.copymode(place, temporary)
        _flush(temporary)
        os.replace(temporary, place)
        if os.name == "posix":
            _flush(place.parent)
    except OSError as error:
        raise unwritten(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


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
