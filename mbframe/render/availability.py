"""Whether pictures can be made here. VTK ends the interpreter where it finds no OpenGL, so that is asked beforehand.

Its modules import each other in compiled code that does not ask whether that succeeded: Ctrl-C meanwhile would end the
interpreter, too, and waits until they are there.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from ..errors import MbframeError
from ..solvers.interrupts import held_back

PACKAGES = "libgl1 libegl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0"
_LIBRARIES = ("libGL.so.1", "libEGL.so.1")
_PLATFORM_DEVICE = 0x313F  # EGL_PLATFORM_DEVICE_EXT
_DEVICES = 16  # more are not asked for


class RenderError(MbframeError):
    """A picture that cannot be made: a missing library, an unusable target."""


@contextmanager
def unneeded(name: str, *called: str) -> Iterator[None]:
    """In the block a module that others import in vain is not loaded: what they get loads it when they use it.

    `called` are those of its names that they import from it and call later. PyVista imports pyplot and a canvas of
    Matplotlib for charts and the colours of their curves, and pooch for downloads: more than half of its own import.
    """
    if name in sys.modules:
        yield
        return
    stand_in = ModuleType(name)

    def step_aside() -> None:
        if sys.modules.get(name) is stand_in:
            del sys.modules[name]

    def of_the_module(attribute: str) -> Any:
        if attribute == "__path__":  # which `from name import ...` asks for: it is no package
            raise AttributeError(attribute)
        step_aside()
        return getattr(import_module(name), attribute)

    def later(attribute: str) -> Any:
        return lambda *given, **named: of_the_module(attribute)(*given, **named)

    stand_in.__dict__.update({attribute: later(attribute) for attribute in called})
    stand_in.__getattr__ = of_the_module  # type: ignore[method-assign]
    sys.modules[name] = stand_in
    try:
        yield
    finally:
        step_aside()


@cache
def pyvista() -> ModuleType:
    """The module PyVista; a `RenderError` says how to get it."""
    try:
        with (
            held_back(),
            unneeded("pooch"),
            unneeded("matplotlib.pyplot"),
            unneeded("matplotlib.backends.backend_agg", "FigureCanvasAgg"),
        ):
            import pyvista as module
            import pyvista.plotting  # which PyVista would import later, without waiting for a thread that has begun to
    except ImportError as error:
        raise RenderError(f"pictures need PyVista: pip install 'mbframe[render]' ({error})") from error
    return module


@cache
def trimesh() -> ModuleType:
    """The module trimesh, which reads mesh files; a `RenderError` says how to get it."""
    try:
        import trimesh as module
    except ImportError as error:
        raise RenderError(f"mesh files need trimesh: pip install 'mbframe[render]' ({error})") from error
    return module


def prepare() -> None:
    """Import all that a `Canvas` needs, which takes a moment; a thread may do that while others go on."""
    if why_not() is None:
        with held_back():
            import vtkmodules.util.numpy_support
            import vtkmodules.vtkInteractionWidgets
            import vtkmodules.vtkViewsContext2D  # noqa: F401 (both are what a plotter of PyVista imports when it is made)


def check_drawing() -> None:
    """Raise a `RenderError` unless pictures can be drawn on this machine; then all is there that drawing needs."""
    if (reason := why_not()) is not None:
        raise RenderError(reason)
    prepare()


def can_draw() -> bool:
    """Whether pictures can be drawn on this machine."""
    return why_not() is None


@cache
def why_not() -> str | None:
    """What is missing for drawing and how to get it; None if nothing is."""
    if (reason := why_no_opengl()) is not None:
        return reason
    try:
        pyvista()
    except RenderError as error:
        return str(error)
    return None


def why_no_opengl() -> str | None:
    """What is missing for drawing with VTK alone; None if nothing is."""
    if missing := missing_libraries():
        return (
            f"pictures need the OpenGL libraries {', '.join(missing)}, which are not installed; on Debian or Ubuntu: "
            f"apt-get install {PACKAGES}"
        )
    if not has_display() and not has_driver():
        return (
            "pictures need an OpenGL driver: there is no display, and EGL finds no driver to draw without one; on "
            "Debian or Ubuntu: apt-get install libegl-mesa0 libgl1-mesa-dri"
        )
    try:
        with held_back():
            import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
    except ImportError as error:
        return f"pictures need VTK: pip install 'mbframe[render]' ({error})"
    return None


def has_display() -> bool:
    """Whether there is a display: other systems than Linux always have one, there an X server must answer."""
    if not sys.platform.startswith("linux"):
        return True
    if not os.environ.get("DISPLAY"):
        return False
    try:
        x11 = ctypes.CDLL("libX11.so.6")
    except OSError:
        return False
    x11.XOpenDisplay.restype = ctypes.c_void_p
    display = x11.XOpenDisplay(None)
    if display:
        x11.XCloseDisplay(ctypes.c_void_p(display))
    return bool(display)


def has_driver() -> bool:
    """Whether EGL has a device that draws without a display, asked for as VTK does.

    What is opened is not closed again: VTK would lose it if it drew already.
    """
    egl = ctypes.CDLL("libEGL.so.1")
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    query, display_of = (egl.eglGetProcAddress(name) for name in (b"eglQueryDevicesEXT", b"eglGetPlatformDisplayEXT"))
    if not query or not display_of:
        return False
    devices, count = (ctypes.c_void_p * _DEVICES)(), ctypes.c_int32(0)
    query_devices = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)(query)
    if not query_devices(_DEVICES, ctypes.byref(devices), ctypes.byref(count)):
        return False
    get_display = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)(display_of)
    displays = (get_display(_PLATFORM_DEVICE, devices[k], None) for k in range(count.value))
    return any(display and egl.eglInitialize(ctypes.c_void_p(display), None, None) for display in displays)


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
