"""Whether pictures can be made here. VTK ends the interpreter where it finds no OpenGL, so that is asked beforehand."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from types import ModuleType

from ..errors import MbframeError

PACKAGES = "libgl1 libegl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0"
_LIBRARIES = ("libGL.so.1", "libEGL.so.1")


class RenderError(MbframeError):
    """A picture that cannot be made: a missing library, an unusable target."""


@cache
def pyvista() -> ModuleType:
    """The module PyVista; a `RenderError` says how to get it."""
    try:
        import pyvista as module
    except ImportError as error:
        raise RenderError(f"pictures need PyVista: pip install 'mbframe[render]' ({error})") from error
    return module


def check_drawing() -> None:
    """Raise a `RenderError` unless pictures can be drawn on this machine."""
    if (reason := why_not()) is not None:
        raise RenderError(reason)


def can_draw() -> bool:
    """Whether pictures can be drawn on this machine."""
    return why_not() is None


@cache
def why_not() -> str | None:
    """What is missing for drawing and how to get it; None if nothing is."""
    if missing := missing_libraries():
        return (
            f"pictures need the OpenGL libraries {', '.join(missing)}, which are not installed; on Debian or Ubuntu: "
            f"apt-get install {PACKAGES}"
        )
    try:
        pyvista()
    except RenderError as error:
        return str(error)
    return None


def missing_libraries() -> list[str]:
    """The shared libraries that VTK opens by itself and that are not here; only Linux leaves them out."""
    if not sys.platform.startswith("linux"):
        return []
    missing = []
    for library in _LIBRARIES:
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(library)
    return missing
