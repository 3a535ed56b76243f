"""Lets a free motion of the mechanism swing in the view."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from .document import Document

INTERVAL: Final = 33
"""Milliseconds between pictures."""
PERIOD: Final = 2.5
"""Seconds of a swing to both sides and back."""


class WigglePlayer(QObject):
    """Shows states from one end of a motion to the other and back, until something else moves the bodies."""

    playing_changed = Signal(bool)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.states: list[Any] = []
        self.rest_state: Any = None
        self._phase = 0.0
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL)
        self._timer.timeout.connect(self._tick)
        document.animation_owner_changed.connect(self._owner_changed)
        document.replaced.connect(self.forget)

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    def play(self, states: list[Any], rest_state: Any) -> None:
        """Begin to swing; whoever else moves the bodies stops. A motion that goes on keeps its phase."""
        self.states, self.rest_state = states, rest_state
        self.document.animation_owner = self
        if not self.playing:
            self._phase = 0.25  # the middle, on the way to the far side
            self._clock.start()
            self._timer.start()
            self.playing_changed.emit(True)

    def stop(self) -> None:
        """Stop, and show the state about which it swung."""
        if not self.playing:
            return
        self._halt()
        self.document.show(self.rest_state)
        if self.document.animation_owner is self:
            self.document.animation_owner = None

    def forget(self) -> None:
        """There is another model: nothing is left to show."""
        self._halt()
        self.states, self.rest_state = [], None
        if self.document.animation_owner is self:
            self.document.animation_owner = None

    def _halt(self) -> None:
        if self.playing:
            self._timer.stop()
            self.playing_changed.emit(False)

    def _owner_changed(self, owner: Any) -> None:
        if owner is not self:
            self._halt()

    def _tick(self) -> None:
        self._phase = (self._phase + self._clock.restart() / 1000.0 / PERIOD) % 1.0
        self.document.show(self.states[self.place(self._phase)])

    def place(self, phase: float) -> int:
        """The state to show after a share of a swing that begins at the first state: there and back again."""
        ahead = 1.0 - abs(2.0 * phase - 1.0)
        return round(ahead * (len(self.states) - 1))
