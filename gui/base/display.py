"""Whether windows can be opened here. Qt itself would end the program with an abort; this gives a sentence instead."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import MutableMapping
from typing import Final

WITHOUT_SCREEN: Final = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")
"""Platforms of Qt that need no display server."""

LIBRARIES: Final = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
}
"""Libraries that Qt loads for windows under X11, and the packages of Debian that have them."""

WITHIN: Final = "MBFRAME_WITHIN"
"""Set in processes of the application that run users' programs: these open no windows there."""

NO_DISPLAY: Final = (
    "There is no display to open a window on. Start the program in a graphical session, or in a virtual display:\n"
    '    xvfb-run -a -s "-screen 0 1400x900x24" mbframe gui\n'
    "Without any display `mbframe run`, `mbframe export` and the Python package do all that needs no window."
)


def hindrance(environment: MutableMapping[str, str] | None = None) -> str:
    """Obstacle to opening a window, with the remedy; empty if there is none."""
    given = os.environ if environment is None else environment
    if given.get(WITHIN):
        return (
            "The application runs this program for what it defines; put what it does and shows under: "
            'if __name__ == "__main__":'
        )
    if sys.platform != "linux" or given.get("QT_QPA_PLATFORM", "").split(":")[0] in WITHOUT_SCREEN:
        return ""
    display = given.get("DISPLAY", "")
    if not display:
        return "" if given.get("WAYLAND_DISPLAY") else NO_DISPLAY
    missing = [package for library, package in LIBRARIES.items() if not _loads(library)]
    if missing:
        return (
            "Some libraries of the system that windows need are missing. On Debian and Ubuntu install them with\n"
            f"    sudo apt-get install --yes {' '.join(missing)}"
        )
    if not _answers(display):
        return f"The display {display!r} does not answer.\n{NO_DISPLAY}"
    # The 3D view draws into a window of X11; under Wayland there is usually one for that, too.
    given.setdefault("QT_QPA_PLATFORM", "xcb")
    return ""


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _answers(display: str) -> bool:
    """Whether an X server accepts a connection."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True  # then it is not known
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(display.encode(), None)
    accepted = xcb.xcb_connection_has_error(connection) == 0
    xcb.xcb_disconnect(connection)
    return accepted
