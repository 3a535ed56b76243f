"""Who writes a file: whoever holds its lock. A lock ends with its process, however that ends.

Locks of open file descriptions (Linux): unlike those of a process they tell two threads apart and outlast another
look at the file, and unlike those of `flock` they do not stand in the way of HDF5, which takes such locks itself.
Elsewhere there are none.
"""

from __future__ import annotations

import copy
import os
import struct
import time
from pathlib import Path
from types import TracebackType
from typing import Final

try:
    import fcntl
except ImportError:  # Windows, where a file that is open can be neither replaced nor removed
    fcntl = None  # type: ignore[assignment]

PATIENCE: Final = 1.0  # s, after which a lock is no passing one: replacing a file takes less
PAUSE: Final = 0.005


class Lock:
    """A lock on a file while this object is open.

    held: whether the file was free. certain: whether that is known; False where there are no locks.

    Parameters
    ----------
    path
        The file.
    patience
        How long to wait for it, s.
    new
        Make the file, which must not be there.
    """

    def __init__(self, path: Path, patience: float = 0.0, *, new: bool = False) -> None:
        self.descriptor = -1
        self.descriptor, writable = _opened(path, new)
        end = time.monotonic() + patience
        while (taken := _taken(self.descriptor, writable)) is False and time.monotonic() < end:
            time.sleep(PAUSE)
        self.held, self.certain = taken is not False, taken is not None

    def kept(self) -> Lock:
        """The same lock, which outlasts this object."""
        other = copy.copy(self)
        if self.descriptor >= 0:
            other.descriptor = os.dup(self.descriptor)
        return other

    def owns(self, path: Path) -> bool:
        """Whether the file of this lock still has that name."""
        if self.descriptor < 0:
            return path.exists()
        try:
            return os.path.samestat(path.stat(), os.fstat(self.descriptor))
        except OSError:
            return False

    def close(self) -> None:
        """Give the lock back, unless it is `kept`."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def __del__(self) -> None:
        self.close()  # of a run that was stopped before it began

    def __enter__(self) -> Lock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _opened(path: Path, new: bool) -> tuple[int, bool]:
    """Descriptor of a file, and whether it may be written; none where an open file cannot be renamed."""
    if fcntl is None:
        if new:
            path.touch(exist_ok=False)
        return -1, True
    if new:  # unlike tempfile's, it has the permissions of any new file
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), True
    try:
        return os.open(path, os.O_RDWR), True
    except PermissionError:
        return os.open(path, os.O_RDONLY), False


def _taken(descriptor: int, writable: bool) -> bool | None:
    """Lock a whole file, if nobody writes it; None where there are no such locks."""
    command = getattr(fcntl, "F_OFD_SETLK", None)
    if command is None:
        return None
    kind = fcntl.F_WRLCK if writable else fcntl.F_RDLCK
    try:
        fcntl.fcntl(descriptor, command, struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0))
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return None
    return True
