"""Playing a run: the states between its stored instants, and a clock that goes through them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal

import mbframe as mb
from mbframe.rotations import matrix_from_quaternion
from mbframe.state import Motion, State

from .document import Document
from .runs import Run

Array = NDArray[np.float64]

TICK: Final = 15
"""Milliseconds between two frames at most; a slow view gets fewer of them, not a slower motion."""
SPEEDS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Time in the run per time on the wall."""
SHORT: Final = 2.0
"""A run that would be over sooner, s, is played more slowly."""


class Track:
    """The motion of a result as it is played: cubic between stored instants, from positions and velocities alone.

    Unlike `Result.state` it needs neither accelerations nor the compiled equations, so it works at once. Positions are
    Hermite polynomials; so are Euler parameters, with p' = (0, omega) p / 2, normalized again.
    """

    def __init__(self, result: mb.Result) -> None:
        self.result = result
        self.t: Array = np.asarray(result.t, float)
        self.dimension = result.dimension
        self.names = [body.name for body in result.system.bodies]

    def __len__(self) -> int:
        return len(self.t)

    @property
    def span(self) -> tuple[float, float]:
        """First and last instant, s; zeros if there is none."""
        return (float(self.t[0]), float(self.t[-1])) if len(self.t) else (0.0, 0.0)

    @cached_property
    def _courses(self) -> tuple[Array, Array, Array, Array]:
        """Positions, Euler parameters, velocities and angular velocities (n, bodies, 3 or 4)."""
        from mbframe.render.placement import angular_velocity3, point3

        result, n = self.result, len(self.t)
        if not self.names or not n:
            return np.zeros((n, 0, 3)), np.zeros((n, 0, 4)), np.zeros((n, 0, 3)), np.zeros((n, 0, 3))
        position = np.stack([point3(result.position(name)) for name in self.names], axis=1)
        velocity = np.stack([point3(result.velocity(name)) for name in self.names], axis=1)
        omega = np.stack([angular_velocity3(result.angular_velocity(name)) for name in self.names], axis=1)
        p = np.stack([_euler_parameters(result.rotation_matrix(name)) for name in self.names], axis=1)
        return position, p, velocity, omega

    def state(self, t: float) -> State:
        """The state at an instant; before the first and after the last stored one it stays as it is there."""
        i, j, h, s = self.around(t)
        position, p, velocity, omega = self._courses
        x, v = _hermite(position[i], velocity[i], position[j], velocity[j], h, s)
        rate_i, rate_j = 0.5 * _spun(omega[i], p[i]), 0.5 * _spun(omega[j], p[j])
        # p and -p are the same rotation: meant is the one to which the mean angular velocity leads.
        half = 0.25 * h * (omega[i] + omega[j])
        angle = np.linalg.norm(half, axis=-1, keepdims=True)
        expected = np.cos(angle) * p[i] + np.sinc(angle / np.pi) * _spun(half, p[i])
        sign = np.where(np.sum(expected * p[j], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
        turned, rate = _hermite(p[i], rate_i, sign * p[j], sign * rate_j, h, s)
        size = np.linalg.norm(turned, axis=-1, keepdims=True)
        turned, rate = turned / size, rate / size
        spin = 2.0 * _vector_part(rate, turned)
        rotations = matrix_from_quaternion(turned)
        motions = {name: Motion(x[k], rotations[k], v[k], spin[k]) for k, name in enumerate(self.names)}
        return State(float(t), motions, self._own_states(i, j, s), self.dimension)

    def _own_states(self, i: int, j: int, s: float) -> dict[str, Array]:
        return {name: (1.0 - s) * z[i] + s * z[j] for name, z in self._element_states.items()}

    @cached_property
    def _element_states(self) -> dict[str, Array]:
        stateful = [force for force in self.result.system.forces if force.states]
        return {force.name: self.result.element_states(force) for force in stateful}

    def sampled(self, count: int) -> list[State]:
        """States at equal intervals over the whole motion."""
        if not len(self.t):
            return []
        return [self.state(t) for t in np.linspace(*self.span, count)]

    def path(self, body: str, until: float, since: float | None = None, local_point: Any = None) -> Array:
        """Positions (m, 3) of a body's origin, or of a point of it, at the stored instants up to one, and at it."""
        from mbframe.render.placement import point3

        course = self._path_of(body, None if local_point is None else tuple(local_point))
        first = 0 if since is None else int(np.searchsorted(self.t, since))
        last = int(np.searchsorted(self.t, until, side="right"))
        here = self.state(until)
        end = point3(here.position(body, local_point))
        return np.vstack([course[first:last], end])

    def _path_of(self, body: str, local_point: tuple[float, ...] | None) -> Array:
        from mbframe.render.placement import point3

        key = (body, local_point)
        if key not in self._paths:
            self._paths[key] = point3(self.result.position(body, local_point))
        return self._paths[key]

    @cached_property
    def _paths(self) -> dict[tuple[str, tuple[float, ...] | None], Array]:
        return {}

    def around(self, t: float) -> tuple[int, int, float, float]:
        """The stored instants around one, the time between them, and the fraction of it that has passed."""
        i = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, max(len(self.t) - 2, 0)))
        j = min(i + 1, len(self.t) - 1)
        h = float(self.t[j] - self.t[i])
        return i, j, h, float(np.clip((t - self.t[i]) / h, 0.0, 1.0)) if h > 0.0 else 0.0


def _euler_parameters(rotation: Array) -> Array:
    """Unit quaternions (n, 4) of rotation matrices (n, 3, 3); SciPy would be loaded for nothing else here.

    Of the four rows of 4 p pᵀ the one with the largest pivot is taken (Shepperd), so that nothing cancels.
    """
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rotation, 0, -1)
    rows = np.array(
        [
            [1.0 + a + e + i, h - f, c - g, d - b],
            [h - f, 1.0 + a - e - i, b + d, c + g],
            [c - g, b + d, 1.0 + e - a - i, f + h],
            [d - b, c + g, f + h, 1.0 + i - a - e],
        ]
    )
    pivots = np.argmax(np.einsum("kkn->kn", rows), axis=0)
    p = rows[pivots, :, np.arange(len(pivots))]
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def _hermite(x0: Array, v0: Array, x1: Array, v1: Array, h: float, s: float) -> tuple[Array, Array]:
    """Value and rate of the cubic with given ends, at the fraction s of a span of length h."""
    if h <= 0.0:
        return x0, v0
    d = x1 - x0
    c2, c3 = 3.0 * d - h * (2.0 * v0 + v1), h * (v0 + v1) - 2.0 * d
    return x0 + s * (h * v0 + s * (c2 + s * c3)), v0 + s * (2.0 * c2 + 3.0 * s * c3) / h


def _spun(omega: Array, p: Array) -> Array:
    """(0, omega) p, the product of quaternions."""
    scalar = -np.sum(omega * p[..., 1:], axis=-1, keepdims=True)
    return np.concatenate([scalar, p[..., :1] * omega + np.cross(omega, p[..., 1:])], axis=-1)


def _vector_part(a: Array, p: Array) -> Array:
    """The vector part of a p*, with p* the conjugate of p."""
    return p[..., :1] * a[..., 1:] - a[..., :1] * p[..., 1:] - np.cross(a[..., 1:], p[..., 1:])


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
        self._track: Track | None = None
        self._tracked: Any = None
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK)
        self._timer.timeout.connect(self._tick)
        document.current_run_changed.connect(self._run_chosen)
        document.runs_changed.connect(self._runs_changed)
        document.replaced.connect(self._replaced)
        document.animation_owner_changed.connect(self._owner_changed)

    # --- what there is to play ----------------------------------------------------------------------------------------

    @property
    def track(self) -> Track | None:
        """The motion of the current run; None if there is none."""
        run = self.document.current_run
        result = run.result if run is not None else None
        if result is not self._tracked:
            self._tracked = result
            self._track = Track(result) if result is not None and len(result) else None
        return self._track

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
        run = self.document.current_run
        return run is not None and run.computing

    def _run_chosen(self, run: Run | None) -> None:
        start, end = self.span
        self.span_changed.emit(start, end)
        if not self.can_play:
            self.pause()
            return
        expected = run.settings.t_end if run is not None and run.computing else end - start
        self.set_speed(fitting_speed(expected))
        self.seek(self.document.time if self.playing and start <= self.document.time <= end else start)

    def _runs_changed(self) -> None:
        before = self._tracked
        start, end = self.span
        if self._tracked is not before:
            self.span_changed.emit(start, end)

    def _replaced(self) -> None:
        self.pause()
        start, end = self.span
        self.span_changed.emit(start, end)

    def _owner_changed(self, owner: object) -> None:
        if owner is not self:
            self.pause()


def fitting_speed(duration: float) -> float:
    """Real time, or for a short run the speed at which it takes a few seconds."""
    if duration >= SHORT or duration <= 0.0:
        return 1.0
    return max((speed for speed in SPEEDS if duration / speed >= SHORT), default=SPEEDS[0])
