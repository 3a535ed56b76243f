"""Reading files of strangers: regular files only, opened once, up to a limit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from .atomic import FilePath, reason, refused

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_SPECIAL: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


@contextmanager
def regular_file(path: FilePath) -> Iterator[BinaryIO]:
    """A file, open to be read. What is not a regular one (a device, a pipe, a folder) is a `ModelError` at once.

    It is opened without waiting and looked at when it is open: a pipe would wait for its writer, and what a name stands
    for may change between a look and its opening.
    """
    try:
        descriptor = os.open(Path(path).expanduser(), _FLAGS)
    except FileNotFoundError:
        raise refused(path, "there is no such file; check its name and folder") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character; ENXIO: a socket
        raise refused(path, f"could not be read: {reason(error)}; give a regular file") from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        kind = next((name for is_kind, name in _SPECIAL if is_kind(mode)), "something else")
        raise refused(path, f"is {kind} and not a regular file; give the name of a file")
    with open(descriptor, "rb") as file:
        yield file


def contents(path: FilePath, limit: int) -> bytes:
    """The bytes of a regular file; more than `limit` are a `ModelError`, whatever its size was said to be."""
    with regular_file(path) as file:
        try:
            small = os.fstat(file.fileno()).st_size <= limit
            # It may grow while it is read; None is what the system tells in /proc when it has nothing to tell.
            found = (file.read(limit + 1) if small else b"") or b""
        except OSError as error:
            raise refused(path, f"could not be read: {reason(error)}") from None
    if not small or len(found) > limit:
        raise refused(path, f"has more than the {limit:,} bytes that are allowed; give a smaller file")
    return found
