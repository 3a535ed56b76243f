"""When garbage is collected, and that memory which is free goes back to the system."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mbframe.limits import no_collection


@contextmanager
def beside_the_window() -> Iterator[None]:
    """For what runs in a thread: no cycles are collected meanwhile, neither there nor in the window's thread.

    Python collects in whichever thread allocates. A widget destroyed in another thread than its own holds a lock of
    Qt and waits for Python's, while the window's thread may hold Python's and wait for that of Qt, forever.
    """
    with no_collection():
        yield


def give_back() -> None:
    """Return what the allocator keeps for later; with glibc, which otherwise keeps what lies between things in use.

    Scenes, results and pages of a model that is left are freed in pieces, and a window that was used for hours would
    seem to grow with every model. Takes a few milliseconds.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


def _trim() -> Any:
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
