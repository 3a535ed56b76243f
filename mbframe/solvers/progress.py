"""Progress of a run: a bar in the terminal, a function of the caller, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Progress:
    """Shows nothing; base of the others. Used as a context, told the current time with `at`."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def at(self, t: float) -> None:
        """The run has reached time t."""


class Bar(Progress):
    """A progress bar with the time left (rich)."""

    def __init__(self, start: float, end: float) -> None:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = [TextColumn("simulating"), BarColumn(), TextColumn("{task.fields[t]}"), TimeRemainingColumn()]
        self._bar: Any = RichProgress(*columns, transient=True)
        self._task = self._bar.add_task("run", total=end - start, t="")
        self._start, self._end = start, end

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def at(self, t: float) -> None:
        self._bar.update(self._task, completed=t - self._start, t=f"t = {t:.4g} of {self._end:.4g} s")


class Callback(Progress):
    """Hands the time to a function; what it raises (KeyboardInterrupt to cancel, say) ends the run."""

    def __init__(self, function: Callable[[float], None]) -> None:
        self._function = function

    def at(self, t: float) -> None:
        self._function(t)


def reporter(progress: bool | Callable[[float], None], start: float, end: float) -> Progress:
    """What `simulate(progress=...)` asks for."""
    if callable(progress):
        return Callback(progress)
    return Bar(start, end) if progress else Progress()
