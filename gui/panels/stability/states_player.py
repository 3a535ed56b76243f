"""Play states one after another: a motion of a branch, or a disturbance that grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QObject

from ...document.document import Document
from ...playing.animation import Animation

SHORTEST: Final = 1.6
"""Seconds on the wall that a motion takes at least."""
LONGEST: Final = 8.0


class StatesPlayer(Animation):
    """Shows states at equal intervals, again and again."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(document, parent)
        self.states: Sequence[Any] = ()
        self.duration = 0.0
        self.share = 0.0
        """How much of the motion has passed; it is kept when another motion takes its place."""

    def show_states(self, states: Sequence[Any], duration: float) -> None:
        """Play other states, which take so many seconds; a single one is shown only."""
        self.states, self.duration = states, duration
        if len(states) > 1:
            self._begin()
        elif states:
            self.stop()
            self.document.show(states[0])

    def advance(self, elapsed: float) -> None:
        if not self.states:
            return
        self.share = (self.share + elapsed / min(max(self.duration, SHORTEST), LONGEST)) % 1.0
        self.document.show(self.states[int(self.share * len(self.states)) % len(self.states)])

    def forget(self) -> None:
        self.stop()
        self.states = ()
