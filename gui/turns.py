"""Work in pieces, so that the window answers in between."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer


class Turns(QObject):
    """Does one piece of a work in each turn of the event loop; a work is an iterator, whose steps are its pieces."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work: Iterator[object] = iter(())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)  # a piece may let the event loop run, and the next one must wait for its end
        self._timer.timeout.connect(self._go_on)

    def start(self, work: Iterator[object]) -> None:
        """Begin a work; another one that is under way is given up."""
        self._work = work
        self._timer.start(0)

    def stop(self) -> None:
        """Give up what is under way."""
        self._timer.stop()

    @property
    def busy(self) -> bool:
        """Whether there is more to do."""
        return self._timer.isActive()

    def _go_on(self) -> None:
        work = self._work
        for _ in work:
            if self._work is work:
                self._timer.start(0)
            return
