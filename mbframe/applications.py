"""Windows that are opened from Python. They belong to other packages, which make themselves known by an entry point."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import distributions
from typing import TYPE_CHECKING, Any, Final, Protocol

from .errors import MbframeError
from .render.availability import RenderError

if TYPE_CHECKING:
    from .results import Result
    from .system import System

ENTRY_POINTS: Final = "mbframe.applications"
"""Group of the entry points in which the desktop application makes itself known: `gui`, `show`, `edit`."""


class Viewer(Protocol):
    """A window that `show` has opened."""

    @property
    def time(self) -> float:
        """The instant that is shown, s."""

    @property
    def playing(self) -> bool:
        """Whether the motion is being played."""

    @property
    def is_open(self) -> bool:
        """Whether the window is there: users may close it."""

    def play(self) -> None:
        """Play on; at the end from the beginning."""

    def pause(self) -> None:
        """Stop where it is."""

    def seek(self, t: float) -> None:
        """Show an instant, s."""

    def wait(self, seconds: float | None = None) -> None:
        """Let the windows live until they are closed, or for some seconds."""

    def close(self) -> None:
        """Close the window."""


def application(name: str) -> Callable[..., Any] | None:
    """What an installed package does under a name of the group; None if there is none."""
    # Of all installations: in a checkout, what an older one left beside the sources would hide the present one.
    points = (point for installed in distributions() for point in installed.entry_points)
    return next((point.load() for point in points if point.group == ENTRY_POINTS and point.name == name), None)


def show(
    shown: Any,
    *,
    block: bool | None = None,
    quantities: Sequence[str] = (),
    camera: str | Sequence[float] = "iso",
    follow: Any = None,
    trails: Iterable[Any] = (),
    labels: bool = False,
    speed: float | None = None,
    play: bool = True,
    theme: str | None = None,
    size: tuple[int, int] = (1100, 760),
) -> Viewer | Any:
    """Look at a system, a motion or a mode in a window: play, scrub, follow, see paths, arrows and curves.

    In a notebook, which has no event loop of Qt (`%gui qt`), the motion is shown in the page instead: what is returned
    then displays itself.

    Parameters
    ----------
    shown
        A `System` as described; a `Result`; a `Mode` of a linearization; or a list of results, of which the first is
        drawn in its own colours and the others are seen through, each in one colour.
    block
        Whether to return only when all windows are closed. By default so in a script, and not where an event loop keeps
        windows alive, as in IPython, Spyder, or a program with windows of its own.
    quantities
        Names of quantities that are plotted below, as in ``result.quantity(name)``.
    camera
        From where to look first: "iso", "front", "back", "right", "left", "top", "bottom", or a direction in (right,
        towards the viewer, up) of the front view.
    follow
        The body, or its name, that the camera goes along with.
    trails
        Bodies, or their names, whose paths are drawn.
    labels
        Whether names are written.
    speed
        Seconds of the motion per second; by default 1, and less for a motion that would be over at once.
    play
        Whether the motion is played at once.
    theme
        "light", "dark" or "system"; by default that of the desktop application.
    size
        Width and height of the window in pixels.

    Returns
    -------
    Viewer
        With `play`, `pause`, `seek`, `time`, `wait` and `close`.
    """
    if _in_notebook():
        from .render.inline import Page

        return Page(shown)
    window = application("show")
    if window is None:
        raise RenderError(
            "mb.show needs the desktop application's packages: pip install 'mbframe[gui]'; without them "
            'mb.render.export(result, "motion.html") writes the same motion to a file'
        )
    return window(
        shown,
        block=block,
        quantities=quantities,
        camera=camera,
        follow=follow,
        trails=trails,
        labels=labels,
        speed=speed,
        play=play,
        theme=theme,
        size=size,
    )


def edit(given: System | Result) -> System:
    """Open the desktop application on a system, or on a run, and return what was made of its system.

    It runs in a process of its own, and this program waits until its window is closed or "Return to Python" is pressed
    there. The given system stays as it is. Users' classes of importable modules and of the program's own file come
    along; the latter is imported there, so what the program does must stand under ``if __name__ == "__main__":``.
    Nothing is saved unless you save it there.

    Parameters
    ----------
    given
        A `System`, or a `Result`, which is opened as a run with its system.

    Returns
    -------
    System
        What was made of it: another object, also if nothing was changed.
    """
    window = application("edit")
    if window is None:
        raise MbframeError("mb.edit needs the desktop application's packages: pip install 'mbframe[gui]'")
    made: System = window(given)
    return made


def _in_notebook() -> bool:
    """Whether the output goes to a page, and no event loop of Qt was asked for."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None or getattr(shell, "kernel", None) is None or "spyder_kernels" in sys.modules:
        return False
    loop = str(getattr(shell, "active_eventloop", None) or "")
    return not (loop.startswith("qt") and (os.environ.get("DISPLAY") or not sys.platform.startswith("linux")))
