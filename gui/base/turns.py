"""Work in pieces, so that the window answers in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer


def single_shot(parent: QObject, call: Callable[[], object], pause: int = 0) -> QTimer:
    """A timer that does something once, a pause of so many ms after its last `start()`."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(pause)
    timer.timeout.connect(call)
    return timer


class Turns(QObject):
    """Does a piece of a work in each turn of the event loop; a work is an iterator, whose steps are its pieces.

    Pieces that together take less than `patience`, s, are done in the same turn: between two turns the window may have
    to draw, which takes longer than they do.
    """

    def __init__(self, parent: QObject | None = None, patience: float = 0.0) -> None:
        super().__init__(parent)
        self._patience = patience
        self._work: Iterator[object] = iter(())
        # A piece may let the event loop run, and the next one must wait for its end.
        self._timer = single_shot(self, self._go_on)

    def start(self, work: Iterator[object]) -> None:
        """Begin a work; another one that is under way is given up."""
        self._work = work
        self._timer.start(0)

    def stop(self) -> None:
        """Give up what is under way."""
        self._work = iter(())
        self._timer.stop()

    @property
    def busy(self) -> bool:
        """Whether there is more to do."""
        return self._timer.isActive()

    def _go_on(self) -> None:
        work, end = self._work, time.perf_counter() + self._patience
        for _ in work:
            if self._work is not work:
                return
            if time.perf_counter() >= end:
                self._timer.start(0)
                return
