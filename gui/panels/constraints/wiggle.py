"""Swing a free motion of the mechanism in the view."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QObject

from ...document.document import Document
from ...playing.animation import Animation

PERIOD: Final = 2.5
"""Seconds of a swing to both sides and back."""


class WigglePlayer(Animation):
    """Shows states from one end of a motion to the other and back."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(document, parent)
        self.states: list[Any] = []
        self.rest_state: Any = None
        self._phase = 0.0

    def play(self, states: list[Any], rest_state: Any) -> None:
        """Begin to swing; a motion that goes on keeps its phase."""
        self.states, self.rest_state = states, rest_state
        if not self.playing:
            self._phase = 0.25  # the middle, on the way to the far side
        self._begin()

    def stop(self) -> None:
        """Stop, and show the state about which it swung."""
        if self.playing:
            self._halt()
            self.document.show(self.rest_state)
        super().stop()

    def forget(self) -> None:
        super().stop()
        self.states, self.rest_state = [], None

    def advance(self, elapsed: float) -> None:
        self._phase = (self._phase + elapsed / PERIOD) % 1.0
        self.document.show(self.states[self.place(self._phase)])

    def place(self, phase: float) -> int:
        """The state to show after a share of a swing that begins at the first state: there and back again."""
        ahead = 1.0 - abs(2.0 * phase - 1.0)
        return round(ahead * (len(self.states) - 1))
