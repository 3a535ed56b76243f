"""`mbframe.show`: windows in the program of whoever calls it, with its event loop or one of their own."""

from __future__ import annotations

import difflib
import os
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import mbframe as mb
from mbframe.errors import ModelError, Problem
from mbframe.quantities import units_of
from mbframe.render.availability import has_driver
from mbframe.render.camera import view_directions

from ..base.display import hindrance

if TYPE_CHECKING:
    from ..document.document import Document
    from ..viewer.window import ViewerWindow

INSTEAD: Final = 'mb.render.export(result, "motion.html") writes the same motion to a file (.mp4, .gif, .png, .glb too)'
SHOWN: Final = "a System, a Result, a Mode of a linearization, or a list of results"

_open: set[ViewerWindow] = set()


class Viewer:
    """A window that `show` has opened, to be led from Python. What is done to one that is closed does nothing."""

    def __init__(self, window: ViewerWindow) -> None:
        self._window: ViewerWindow | None = window
        window.closed.connect(self._forget)

    def __repr__(self) -> str:
        return f"<Viewer of {self._window.document.system.name!r}>" if self._window is not None else "<Viewer, closed>"

    @property
    def is_open(self) -> bool:
        """Whether the window is there."""
        return self._window is not None

    @property
    def playing(self) -> bool:
        """Whether the motion is being played."""
        return self._window is not None and self._window.player.playing

    @property
    def time(self) -> float:
        """The instant that is shown, s."""
        _breathe()
        return self._window.document.time if self._window is not None else 0.0

    def play(self) -> None:
        """Play on; at the end from the beginning."""
        if self._window is not None:
            self._window.player.play()
        _breathe()

    def pause(self) -> None:
        """Stop where it is."""
        if self._window is not None:
            self._window.player.pause()
        _breathe()

    def seek(self, t: float) -> None:
        """Show an instant, s: the nearest one of the motion. What was playing goes on from there."""
        if self._window is not None:
            self._window.player.seek(float(t))
        _breathe()

    def wait(self, seconds: float | None = None) -> None:
        """Let all windows live until they are closed, or for some seconds: in a script that has no other loop."""
        _run(seconds)

    def close(self) -> None:
        """Close the window."""
        if self._window is not None:
            self._window.close()
        _breathe()

    def _forget(self) -> None:
        self._window = None


def show(
    shown: Any,
    *,
    block: bool | None,
    quantities: Sequence[str],
    camera: str | Sequence[float],
    follow: Any,
    trails: Iterable[Any],
    labels: bool,
    speed: float | None,
    play: bool,
    theme: str | None,
    size: tuple[int, int],
) -> Viewer:
    """Open a window; see `mbframe.show`."""
    lasting = _prepared()
    from ..base.settings import Settings
    from ..viewer.window import ViewerWindow
    from ..widgets import theme as themes

    document = _document(shown)
    system = document.system
    _check_quantities(document, quantities)
    view_directions(camera, (0.0, 0.0, 1.0))  # refuses what is no view
    names = [_name(system, body) for body in trails]
    followed = None if follow is None else _name(system, follow)
    themes.apply(theme or Settings().theme)
    window = ViewerWindow(document)
    _open.add(window)
    window.closed.connect(lambda: _open.discard(window))
    window.resize(*size)
    window.view.set_labels(labels)
    window.view.camera.first_view = camera if isinstance(camera, str) else (camera[0], camera[1], camera[2])
    for name in names:
        window.view.set_trail(name, True)
    if followed is not None:
        window.view.follow(followed)
    if speed is not None:
        window.player.set_speed(speed)
    window.show()
    if quantities:
        window.plot(list(quantities))
    _until_drawn(window)
    if play:
        window.player.play()
    if block if block is not None else not lasting:
        _run(None)
    return Viewer(window)


# ---- What is shown --------------------------------------------------------------------------------------------------


def _document(shown: Any) -> Document:
    """A document with what is to be shown: the first result is looked at, the others beside it."""
    from ..document.document import Document
    from ..document.runs import Run

    if isinstance(shown, mb.System):
        return Document(shown.as_described())
    if isinstance(shown, mb.Mode):
        from ..viewer.modes import ModeRun

        document = Document(shown.linearization.system.as_described())
        document.runs.keep(ModeRun(shown))
        return document
    results = [shown] if isinstance(shown, mb.Result) else list(shown) if isinstance(shown, list | tuple) else []
    if not results or not all(isinstance(result, mb.Result) for result in results):
        raise ModelError([Problem("show", "", f"found {_short(shown)}; allowed are {SHOWN}")])
    if not all(len(result) for result in results):
        raise ModelError([Problem("show", "", "a result has no instants; simulate it again, or show its system")])
    document = Document(results[0].described)
    for number, result in enumerate(results, 1):
        document.runs.keep(Run(f"Run {number}", result=result))
    document.runs.current = document.runs[0]
    return document


def _check_quantities(document: Document, names: Sequence[str]) -> None:
    known = units_of(document.system) if any(run.result is not None for run in document.runs) else {}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else "ask result.quantities() for what there is"
            raise ModelError([Problem("show", "quantities", f"there is no quantity {name!r}; {remedy}")])


def _short(shown: Any) -> str:
    text = repr(shown)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _name(system: mb.System, body: Any) -> str:
    found = system[body if isinstance(body, str) else body.name]
    if found not in system.bodies:
        raise ModelError([Problem("show", "", f"{found} is no body that moves; give one of {system.name!r}")])
    return found.name


# ---- Windows and loops ----------------------------------------------------------------------------------------------


def _prepared() -> bool:
    """Make sure that windows can be opened; returns whether somebody else's event loop keeps them alive."""
    if threading.current_thread() is not threading.main_thread():
        raise mb.MbframeError("mb.show opens windows in the main thread of a program only; call it there")
    missing = next((name for name in ("PySide6", "pyvistaqt") if find_spec(name) is None), None)
    if missing is not None:
        raise mb.render.RenderError(f"mb.show needs {missing}: pip install 'mbframe[gui]'; without it {INSTEAD}")
    if obstacle := hindrance():
        raise mb.render.RenderError(f"mb.show cannot open a window here; {INSTEAD}. {obstacle}")
    from PySide6.QtCore import QCoreApplication, QThread

    from .application import make_qt_application

    _draw_with_one_kind_of_context(QCoreApplication.instance() is None)
    make_qt_application()
    return QThread.currentThread().loopLevel() > 0 or _integrated()


def _draw_with_one_kind_of_context(alone: bool) -> None:
    """Let windows and off-screen pictures use OpenGL through the same door: with two of them drawing fails.

    Where nobody has made a Qt application it takes EGL, as off-screen pictures do; otherwise those take the door of the
    windows from now on.
    """
    if not sys.platform.startswith("linux") or not has_driver():
        return
    if alone:
        os.environ.setdefault("QT_XCB_GL_INTEGRATION", "xcb_egl")
    elif os.environ.get("QT_XCB_GL_INTEGRATION") != "xcb_egl" and os.environ.get("DISPLAY"):
        import ctypes

        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkXOpenGLRenderWindow")
        ctypes.CDLL("libEGL.so.1").eglReleaseThread()


def _integrated() -> bool:
    """Whether IPython keeps windows alive, in a terminal, in Spyder or in a notebook; it is asked to."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None:
        return False
    if getattr(shell, "active_eventloop", None) is None:
        with suppress(Exception):  # it cannot: then the window lives with a loop of its own
            shell.enable_gui("qt6" if hasattr(shell, "pt_app") else "qt")
    return str(getattr(shell, "active_eventloop", None) or "").startswith("qt")


def _until_drawn(window: ViewerWindow) -> None:
    """Wait for the first picture, so that a script that goes on has a window that shows something."""
    drawn: list[bool] = []
    surface: Any = window.view.drawing
    surface.drawn.connect(lambda: drawn.append(True))
    begin = time.monotonic()
    while not drawn and window in _open and time.monotonic() - begin < 5.0:
        _breathe()
        time.sleep(0.002)


def _breathe() -> None:
    """Let windows do what waits, if nobody else does."""
    from PySide6.QtCore import QCoreApplication, QThread

    if QCoreApplication.instance() is not None and QThread.currentThread().loopLevel() == 0:
        QCoreApplication.processEvents()


def _run(seconds: float | None) -> None:
    """Run a loop until all windows are closed, or for some time; Ctrl-C closes them, and is raised."""
    from PySide6.QtCore import QEventLoop, QTimer

    from ..base.ending import EndOnSignals

    interrupted: list[bool] = []
    loop = QEventLoop()

    def interrupt() -> None:
        interrupted.append(True)
        loop.quit()

    def end_if_none() -> None:
        if not _open:
            loop.quit()

    ending = EndOnSignals(interrupt)
    for window in _open:
        window.closed.connect(end_if_none, type=_queued())
    if seconds is not None:
        QTimer.singleShot(round(1000.0 * seconds), loop.quit)
    try:
        if _open:
            loop.exec()
    finally:
        ending.close()
    if interrupted:
        for window in list(_open):
            window.close()
        raise KeyboardInterrupt


def _queued() -> Any:
    from PySide6.QtCore import Qt

    return Qt.ConnectionType.QueuedConnection
