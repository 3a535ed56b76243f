"""Memory that is free goes back to the system."""

from __future__ import annotations

import ctypes
import sys
from typing import Any


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
