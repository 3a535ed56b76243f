"""Play a mode in the view."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QTimer

from mbframe.analysis.linear.mode_motion import FOLDS, UNHURRIED, ModeMotion, cycle_duration
from mbframe.analysis.linear.root_words import GROWS, IGNORABLE, Row
from mbframe.render.export import suitable_speed

from ...document.document import Document
from ...playing.animation import Animation
from .preload import Background

PAINTED = 100  # ms after roots were found until they are seen: preparing a motion beside it would make that slower
LARGE = 20  # bodies from which on a motion is prepared beside the window
STEPS = 48  # pictures of a cycle that are computed; then they are shown again


class ModePlayer(Animation):
    """Shows the states of a mode one after another, with closed joints."""

    _prepared = False

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(document, parent)
        self.scale = 1.0
        """Amplitude, relative to one at which the mode is seen well."""
        self.speed = 1.0
        """Seconds of the mode per second."""
        self.growth = False
        """Whether growth and decay are shown; otherwise the motion keeps its size."""
        self.row: Row | None = None
        self.phase = 0.0
        self._motion: ModeMotion | None = None
        self._wanted: Any = None
        self._play_when_ready = False
        self._building = False
        self._states: dict[int, Any] = {}

    @property
    def period(self) -> float:
        """Duration of a cycle of the mode in its own time, s; one that suits the eye for a mode without a frequency."""
        return UNHURRIED if self.row is None else cycle_duration(self.row.mode)

    def suitable_speed(self) -> float:
        """Real time, or a power of two that brings a cycle into the range that is pleasant to watch."""
        return suitable_speed(self.period)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def set_mode(self, linearization: Any, row: Row | None) -> None:
        """Show another mode, or the same one of changed roots; the motion goes on where it is."""
        self.row = row
        self._states.clear()
        if row is None:
            self.stop()
        self._wanted = linearization
        if self._motion is not None and self._motion.follow(linearization):
            return
        self._motion = None
        if ModePlayer._prepared and row is None:
            return
        # The first motion of all loads compiled code, which takes a moment: it begins before a mode is chosen.
        if ModePlayer._prepared and len(linearization.system.bodies) < LARGE:
            self._motion = ModeMotion(linearization)
            return
        if not self._building:
            self._building = True
            QTimer.singleShot(PAINTED, self, self._build)

    def _build(self) -> None:
        if (wanted := self._wanted) is None:
            self._building = False
        else:
            Background(lambda: ModeMotion(wanted), self._ready, self)

    def _ready(self, motion: Any) -> None:
        """A motion is prepared; perhaps another one is wanted by now."""
        ModePlayer._prepared, self._building = True, False
        if self._wanted is None:
            return
        if motion.follow(self._wanted):
            self._motion = motion
        else:
            self.set_mode(self._wanted, self.row)
        if self._play_when_ready and self._motion is not None:
            self._play_when_ready = False
            self.play()

    def set_scale(self, scale: float) -> None:
        self.scale = scale
        self._states.clear()
        if not self.playing:
            self.show_now()

    def set_growth(self, growth: bool) -> None:
        self.growth = growth
        self.phase = 0.0
        self._states.clear()

    def play(self) -> None:
        """Begin to move; whoever else moves the bodies stops."""
        if self.row is None:
            return
        if self._motion is None:
            self._play_when_ready = self._wanted is not None
            return
        self._begin()

    def _halt(self) -> None:
        self._play_when_ready = False
        super()._halt()

    def toggle(self) -> None:
        self.stop() if self.playing else self.play()

    def forget(self) -> None:
        self.stop()
        self.row, self._motion, self._wanted = None, None, None
        self._states.clear()

    # --- moving ------------------------------------------------------------------------------------------------------

    def advance(self, elapsed: float) -> None:
        cycles = self.cycles
        self.phase = (self.phase + elapsed * self.speed / (self.period * cycles)) % 1.0
        self.show_now()

    @property
    def cycles(self) -> float:
        """Cycles until the motion repeats: one, or as many as it takes to grow or decay."""
        if not self.growth or self.row is None or self.row.behaviour == IGNORABLE or not self.row.root.real:
            return 1.0
        if not self.row.root.imag:
            return 0.5
        return float(np.clip(FOLDS / abs(self.row.root.real) / self.period, 1.0, 8.0))

    def show_now(self) -> None:
        """Show the state that belongs to the phase."""
        if self.row is None or self._motion is None:
            return
        count = int(np.ceil(STEPS * self.cycles))
        step = int(self.phase * count) % count
        if step not in self._states:
            amplitude, angle = self._place(step / count)
            self._states[step] = self._motion.state(self.row.mode, amplitude, angle)
        self.document.show(self._states[step])

    def _place(self, share: float) -> tuple[float, float]:
        """Amplitude and phase of the mode after a share of the motion shown."""
        assert self.row is not None
        assert self._motion is not None
        amplitude = self.scale * self._motion.amplitude(self.row.mode)
        growing = self.cycles != 1.0 or (self.growth and self.row.behaviour != IGNORABLE and self.row.root.real != 0.0)
        if not growing:
            return amplitude, 2.0 * np.pi * share
        elapsed = share * self.period * self.cycles
        if self.row.behaviour == GROWS:
            elapsed -= self.period * self.cycles  # so that it ends with the chosen amplitude
        angle = abs(self.row.root.imag) * share * self.period * self.cycles
        return amplitude * float(np.exp(self.row.root.real * elapsed)), angle
