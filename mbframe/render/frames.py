"""The frames of an animation: their instants, and the states of a result at them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..between import polynomial, too_rare, turning
from ..bodies.base import Body
from ..bodies.flexible import FlexibleBody
from ..errors import ModelError, Problem
from ..results import Result
from ..rotations import matrix_from_quaternion, quaternions_from_matrices
from ..state import Motion, State
from .placement import Poses, angular_velocity3, point3, rotation3

Array = NDArray[np.float64]

FASTEST = 1000.0  # frames per second
MOST_FRAMES = 1_000_000
ROUNDING = 1e-9  # of a frame: 0.29 s are 29 frames of 10 ms, although 0.29 * 100 < 29


@dataclass(frozen=True)
class Frames:
    """States of a result at equal steps of playing time: those stored, and between them interpolated.

    Positions and Euler parameters follow the polynomial of degree five that has the stored values, velocities and
    accelerations at both ends of a span, because steps of an integrator of order eight last several frames. If states
    are stored too rarely for that, each frame shows the nearest of them.

    Parameters
    ----------
    result
        Where the states come from.
    times
        Instants of the result, s.
    fps
        Frames per second of playing time.
    speed
        Seconds of the result per second of playing time; 0.1 is slow motion.
    """

    result: Result
    times: Array
    fps: float
    speed: float

    @classmethod
    def of(cls, result: Result, fps: float, speed: float, start: float | None, end: float | None) -> Frames:
        """floor((end - start) / speed * fps) + 1 frames from `start`; all that is wrong is one `ModelError`."""
        problems = [
            Problem("export", field, f"found {value!r}; allowed is a positive number; give one such as {example}")
            for field, value, example in (("fps", fps, 30), ("speed", speed, 1.0))
            if not _is_number(value) or value <= 0.0
        ]
        if not len(result.t):
            raise ModelError(
                [Problem("export", "result", "found a result without instants; simulate first"), *problems]
            )
        first, last = float(result.t[0]), float(result.t[-1])
        window = (first if start is None else start, last if end is None else end)
        margin = ROUNDING * max(abs(first), abs(last), last - first)
        for field, value in zip(("start", "end"), window, strict=True):
            if not _is_number(value) or not first - margin <= value <= last + margin:
                message = f"found {value!r}; allowed is an instant of the result, {first:g} to {last:g} s; change it"
                problems.append(Problem("export", field, message))
        if not problems and window[0] > window[1]:
            message = f"found {window[1]:g} s, before the start at {window[0]:g} s: no frames; give a later end"
            problems.append(Problem("export", "end", message))
        if problems:
            raise ModelError(problems)
        frames = (window[1] - window[0]) / speed * fps
        if fps > FASTEST or frames > MOST_FRAMES:
            allowed = f"up to {FASTEST:g} a second and {MOST_FRAMES:,} in all"
            message = f"found {fps:g}, or {frames:.3g} frames; allowed are {allowed}; give less, or a larger speed"
            raise ModelError([Problem("export", "fps", message)])
        count = math.floor(frames + ROUNDING) + 1
        times = np.clip(window[0] + np.arange(count) * (speed / fps), first, last)
        return cls(result, times, float(fps), float(speed))

    def __len__(self) -> int:
        return len(self.times)

    @property
    def playing_times(self) -> Array:
        """When the frames are shown, s."""
        return np.arange(len(self)) / self.fps

    @property
    def digits(self) -> int:
        """How many decimals of the time tell the frames apart; at least two, so that it does not jump about."""
        return max(2, math.ceil(-math.log10(self.speed / self.fps)))

    @cached_property
    def poses(self) -> Poses:
        """The poses of the bodies at all frames."""
        return Poses({name: (motion[0], motion[1]) for name, motion in self._motions.items()})

    def __iter__(self) -> Iterator[State]:
        """The states, one per frame. Own states of elements are interpolated linearly."""
        state = lru_cache(maxsize=2)(self.result.state)  # neighbours share the stored states around them
        first = state(int(self._spans.before[0]))
        # Most results have nothing else than motions; then no state is read from its file.
        others = [f.name for f in fields(State) if f.name not in ("t", "motions", "dimension")]
        others = [field for field in others if getattr(first, field)]
        for n, t in enumerate(self.times):
            s = self._spans.s[n]
            mixed = {}
            for field in others:
                old, new = (getattr(state(int(k[n])), field) for k in (self._spans.before, self._spans.after))
                mixed[field] = {name: (1.0 - s) * a + s * new[name] for name, a in old.items()}
            motions = {
                name: replace(Motion(*(values[n] for values in motion)), axes=first.motions[name].axes)
                for name, motion in self._motions.items()
            }
            yield State(float(t), motions, dimension=first.dimension, **mixed)

    @cached_property
    def _spans(self) -> _Spans:
        spans, result = _Spans.of(self.result.t, self.times), self.result
        names = [body.name for body in result.described.bodies]
        courses = (result.position, point3), (result.velocity, point3), (result.angular_velocity, angular_velocity3)
        found = [np.stack([in_space(of(name)) for name in names], axis=1) for of, in_space in courses if names]
        return replace(spans, s=np.round(spans.s)) if found and too_rare(result.t, *found) else spans

    @cached_property
    def _motions(self) -> dict[str, tuple[Array, ...]]:
        return {body.name: _motion(self.result, body, self._spans) for body in self.result.described.bodies}


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


@dataclass(frozen=True)
class _Spans:
    """For each wanted instant the stored ones around it, the time h between them and the fraction s that has passed."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    h: Array
    s: Array

    @classmethod
    def of(cls, stored: Array, wanted: Array) -> _Spans:
        before = np.clip(np.searchsorted(stored, wanted, side="right") - 1, 0, max(len(stored) - 2, 0))
        after = np.minimum(before + 1, len(stored) - 1)
        h = stored[after] - stored[before]
        return cls(before, after, h, np.divide(wanted - stored[before], h, out=np.zeros_like(h), where=h > 0.0))


def _motion(result: Result, body: Body, spans: _Spans) -> tuple[Array, ...]:
    """Positions, rotation matrices, velocities and angular velocities of a body at the wanted instants, in space.

    A flexible body also has modal coordinates and velocities.
    """
    h, s = spans.h[:, None], spans.s[:, None]

    def ends(*course: Array) -> tuple[list[Array], list[Array]]:
        return [x[spans.before] for x in course], [x[spans.after] for x in course]

    course = [point3(f(body)) for f in (result.position, result.velocity, result.acceleration)]
    position, velocity = polynomial(*ends(*course), h, s)
    turns = [angular_velocity3(f(body)) for f in (result.angular_velocity, result.angular_acceleration)]
    p, spin = turning(*ends(quaternions_from_matrices(rotation3(result.rotation_matrix(body))), *turns), h, s)
    if not isinstance(body, FlexibleBody):
        return position, matrix_from_quaternion(p), velocity, spin
    bends = result.modal(body), result.modal_velocity(body), result.modal_acceleration(body)
    return position, matrix_from_quaternion(p), velocity, spin, *polynomial(*ends(*bends), h, s)
