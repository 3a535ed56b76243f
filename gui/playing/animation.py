"""Animations: they move the bodies in the view beside a run, one at a time."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from ..document.document import Document

INTERVAL: Final = 33
"""Milliseconds between pictures."""


class Animation(QObject):
    """A motion that is shown picture by picture. Subclasses give `advance` and `forget`."""

    playing_changed = Signal(bool)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL)
        self._timer.timeout.connect(self._tick)
        document.animation_owner_changed.connect(self._owner_changed)
        document.replaced.connect(self.forget)

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def advance(self, elapsed: float) -> None:
        """Show what comes after some seconds."""
        raise NotImplementedError

    def forget(self) -> None:
        """There is another model: nothing is left to show."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop where it is."""
        self._halt()
        if self.document.animation_owner is self:  # the view is now at rest, and drawn at its best
            self.document.animation_owner = None

    def _begin(self) -> None:
        """Move the bodies from now on; whoever else does stops."""
        self.document.animation_owner = self
        if not self.playing:
            self._clock.start()
            self._timer.start()
            self.playing_changed.emit(True)

    def _halt(self) -> None:
        """Move nothing any more, whoever does now."""
        if self.playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def _owner_changed(self, owner: Any) -> None:
        if owner is not self:
            self._halt()

    def _tick(self) -> None:
        self.advance(self._clock.restart() / 1000.0)
