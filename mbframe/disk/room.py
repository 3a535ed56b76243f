"""Room on the disk that is taken before it is used: writing there cannot fail for want of it.

HDF5 cannot close a file for which the disk has no room, and takes the process down when that ends.
"""

from __future__ import annotations

import ctypes
import errno
import math
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any, Final

KEEP_SIZE: Final = 1  # FALLOC_FL_KEEP_SIZE of Linux: bytes beyond the end are taken, and the file does not grow
SPARE: Final = 2**24  # bytes that are left free where none can be taken: others write, too


def take(descriptor: int, folder: Path, start: int, count: int) -> None:
    """Take bytes of a file from `start` on; an `OSError` if the disk, a quota or a limit has no room for them."""
    if start + count > _largest_file():  # which bytes beyond the end do not count for
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    call = _fallocate()
    if call is not None and call(descriptor, KEEP_SIZE, start, count) == 0:
        return
    code = ctypes.get_errno() if call is not None else errno.EOPNOTSUPP
    if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        raise OSError(code, os.strerror(code))
    if shutil.disk_usage(folder).free < count + SPARE:  # a file system that cannot promise anything
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def give_back(descriptor: int) -> None:
    """Give back what was taken beyond the end of a file."""
    os.ftruncate(descriptor, os.fstat(descriptor).st_size)


def _largest_file() -> float:
    """The limit that is set for this process, in bytes."""
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit


@cache
def _fallocate() -> Any:
    call = getattr(ctypes.CDLL(None, use_errno=True), "fallocate64", None) if os.name == "posix" else None
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return call
