"""Playing a run: a clock that goes through its motion."""

from __future__ import annotations

from typing import Final

import numpy as np
from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

from ..document.document import Document
from ..document.runs import Run
from ..document.track import Track

TICK: Final = 15
"""Milliseconds between two frames at most; a slow view gets fewer of them, not a slower motion."""
SPEEDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Time in the run per time on the wall."""
SHORT: Final = 2.0
"""A run that would be over sooner, s, is played more slowly."""


class Player(QObject):
    """Moves the document's time through its current run.

    The time comes from a clock, so a slow view skips frames and keeps the speed. A run that is still computing is
    played up to what is there, and goes on when there is more.
    """

    playing_changed = Signal(bool)
    speed_changed = Signal(float)
    span_changed = Signal(float, float)

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.loop = True
        self.speed = 1.0
        self._span = (0.0, 0.0)
        self._stale: Run | None = None
        """The current run, if it is one of an older model."""
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK)
        self._timer.timeout.connect(self._tick)
        document.runs.current_changed.connect(self._run_chosen)
        document.runs.changed.connect(self._runs_changed)
        document.replaced.connect(self._replaced)
        document.animation_owner_changed.connect(self._owner_changed)

    # --- what there is to play ----------------------------------------------------------------------------------------

    @property
    def track(self) -> Track | None:
        """The motion of the current run; None if there is none."""
        run = self.document.runs.current
        return run.track if run is not None else None

    @property
    def span(self) -> tuple[float, float]:
        """First and last instant that can be played, s."""
        track = self.track
        return track.span if track is not None else (0.0, 0.0)

    @property
    def playing(self) -> bool:
        return self._timer.isActive()

    @property
    def can_play(self) -> bool:
        return self.track is not None

    # --- controls -----------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Play on; at the end from the beginning."""
        if self.playing or not self.can_play:
            return
        start, end = self.span
        if self.document.time >= end and not self._computing():
            self.seek(start)
        self.document.animation_owner = self
        self._clock.start()
        self._timer.start()
        self.playing_changed.emit(True)

    def pause(self) -> None:
        """Stop where it is."""
        if not self.playing:
            return
        self._timer.stop()
        if self.document.animation_owner is self:
            self.document.animation_owner = None
        self.playing_changed.emit(False)

    def toggle(self) -> None:
        """Play or pause."""
        self.pause() if self.playing else self.play()

    def step(self, count: int) -> None:
        """Go to the stored instant that lies `count` further."""
        track = self.track
        if track is None:
            return
        self.pause()
        t, margin = self.document.time, 1e-9 * max(1e-9, track.span[1] - track.span[0])
        if count > 0:
            index = int(np.searchsorted(track.t, t + margin, side="right")) + count - 1
        else:
            index = int(np.searchsorted(track.t, t - margin)) + count
        self.seek(float(track.t[int(np.clip(index, 0, len(track) - 1))]))

    def rewind(self) -> None:
        """Go to the beginning."""
        self.seek(self.span[0])
        if self.playing:
            self._clock.restart()

    def seek(self, t: float) -> None:
        """Show an instant, the nearest one of the run."""
        track = self.track
        if track is None:
            return
        low, high = track.span
        t = min(max(t, low), high)
        if not self.playing and self.document.animation_owner is not None:
            self.document.animation_owner = None  # scrubbing ends the animation of a mode
        self.document.set_time(t)
        self.document.show(track.state(t))

    def set_speed(self, speed: float) -> None:
        """Time in the run per time on the wall."""
        if speed <= 0.0:
            raise ValueError(f"the speed must be positive, not {speed}")
        if speed != self.speed:
            self.speed = speed
            self.speed_changed.emit(speed)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        elapsed = self._clock.restart() / 1000.0
        start, end = self.span
        if not self.can_play:
            self.pause()
            return
        t = self.document.time + elapsed * self.speed
        if t > end:
            if self._computing():
                t = end
            elif self.loop and end > start:
                t = start + (t - start) % (end - start)
            else:
                self.seek(end)
                self.pause()
                return
        self.seek(t)

    def _computing(self) -> bool:
        run = self.document.runs.current
        return run is not None and run.computing

    def _run_chosen(self, run: Run | None) -> None:
        start, end = self._announce_span()
        if not self.can_play:
            self.pause()
            return
        expected = run.settings.t_end if run is not None and run.computing else end - start
        self.set_speed(fitting_speed(expected))
        self.seek(self.document.time if self.playing and start <= self.document.time <= end else start)

    def _runs_changed(self) -> None:
        if self.span != self._span:
            self._announce_span()
        run, before = self.document.runs.current, self._stale
        self._stale = run if run is not None and run.stale else None
        if run is not None and run is before and self._stale is None and self.document.animation_owner is None:
            self.seek(self.document.time)  # undone: it belongs to the model again

    def _replaced(self) -> None:
        self.pause()
        self.set_speed(1.0)
        self._announce_span()

    def _announce_span(self) -> tuple[float, float]:
        self._span = self.span
        self.span_changed.emit(*self._span)
        return self._span

    def _owner_changed(self, owner: object) -> None:
        if owner is not self:
            self.pause()


def fitting_speed(duration: float) -> float:
    """Real time, or for a short run the speed at which it takes a few seconds."""
    if duration >= SHORT or duration <= 0.0:
        return 1.0
    return max((speed for speed in SPEEDS if duration / speed >= SHORT), default=SPEEDS[0])
