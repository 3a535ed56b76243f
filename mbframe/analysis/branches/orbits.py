"""Periodic motions over a value, by the segments and exact tangents of `periodic`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...joints.driven import Driver, Prescribed
from ...state import State
from ...system import System
from ..motions.floquet import PeriodicMotion
from ..motions.shooting import Cut, Shooting
from ..motions.transition import perturbed_state
from .arclength import Family, Near
from .equilibria import built
from .multipliers import MultiplierCrossings, Multipliers

Array = NDArray[np.float64]

SEGMENTS: Final = 2
"""Into how many parts a period is cut: more of them are slower, and follow motions that are more unstable."""
SPANNED: Final = 1e-7
"""Relative size of singular values of what is spanned."""
FIRST_LOOK: Final = 0.02
"""Part of a period in which symmetries are looked for."""
DIFFERENCE: Final = 1e-6
"""Part of the range by which a value is changed to see what depends on it; motions are known to 1e-11."""


@dataclass(frozen=True)
class Source:
    """The segments of a motion, how its small changes are measured, and how it changes with the value."""

    shooting: Shooting
    inverse: list[Array]
    frames: list[Array]  # orthonormal changes of the states at the beginnings of segments
    by_value: tuple[Array, Array]


class Orbits(Family):
    """Periodic motions of `build(value)`; the period is that of the drive, or unknown."""

    words = "periodic motion"
    rank = 1e-6
    loose = 10.0
    exact = 1e-8

    def __init__(
        self,
        build: Callable[[float], System],
        scale: float,
        first: Shooting,
        period: Callable[[float], float] | None,
    ) -> None:
        self.build, self.scale, self.first, self.period = build, scale, first, period

    def _shooting(self, cut: Cut, value: float) -> Shooting:
        first = self.first
        system = built(self.build, value)
        found = Shooting(system, cut.states[0], first.free, first.driven, first.formulation, first.integrator)
        period = cut.period if self.period is None else float(self.period(value))
        found.like(first, Cut(cut.states, period, cut.shift))
        return found

    def near(self, state: Cut, value: float, beside: Near | None = None) -> Near:
        shooting = self._shooting(state, value)
        shooting.march()
        # The shifts after which the motion ends where it began are those that fit best.
        shooting.adapt_shift()
        matrix, inverse = shooting.matrix()
        frames = [shooting.changes(leg.start) @ own for leg, own in zip(shooting.legs, inverse, strict=True)]
        ends = [*frames[1:], shooting.changes(shooting.legs[0].start, carry=True) @ inverse[0]]
        opened, drift = self._ahead(shooting, value, frames) if beside is None else beside.source.by_value
        count = len(shooting.open[0])
        parts = [slice(k * count, (k + 1) * count) for k in range(len(ends))]
        # Shifts may lead where constraints do not: what is towed is elsewhere after a period.
        ends[-1] = np.hstack([ends[-1], shooting.generators(shooting.shift.of(shooting.states[0]))])
        across = [_basis(end).T for end in ends]

        def along(whole: Array) -> Array:
            """What is left open, as changes of the states at the ends of segments that the constraints allow."""
            return np.concatenate([to @ whole[part] for to, part in zip(across, parts, strict=True)])

        n = sum(frame.shape[1] for frame in frames)
        shifts = shooting.shift_count
        directions = np.zeros((len(parts) * count + 1, matrix.shape[1]))
        column = 0
        for frame, part in zip(frames, parts, strict=True):
            directions[part, column : column + frame.shape[1]] = frame
            column += frame.shape[1]
        if shooting.free:
            directions[-1, n + shifts] = 1.0
        return Near(
            state=Cut(shooting.states, shooting.period, shooting.shift),
            value=value,
            directions=directions,
            drift=drift,
            closing=np.zeros(len(directions)),
            rows=along(matrix),
            by_value=along(opened),
            left=along(np.concatenate(shooting.open)),
            source=Source(shooting, inverse, frames, (opened, drift)),
        )

    def _ahead(self, shooting: Shooting, value: float, frames: list[Array]) -> tuple[Array, Array]:
        """How what is left open, and the nearest states that are possible, change with the value."""
        cut = Cut(shooting.states, shooting.period, shooting.shift)
        there = self._shooting(cut, value + DIFFERENCE * self.scale)
        opened = np.concatenate(there.gaps()) - np.concatenate(shooting.gaps())
        moved = np.concatenate([there.difference(a, b) for a, b in zip(there.states, shooting.states, strict=True)])
        later = np.log(there.period / shooting.period)
        return opened / DIFFERENCE, np.append(moved, later) / DIFFERENCE

    def displaced(self, near: Near, change: Array, value: float) -> Cut:
        source: Source = near.source
        shooting = source.shooting
        # What the value does is done when the states are made consistent with it.
        own_change = change - near.drift * ((value - near.value) / self.scale)
        parts = np.split(own_change[:-1], len(source.frames))
        states = [
            self._moved(shooting, k, own @ (frame.T @ part))
            for k, (own, frame, part) in enumerate(zip(source.inverse, source.frames, parts, strict=True))
        ]
        return Cut(states, shooting.period * float(np.exp(change[-1])), shooting.shift)

    @staticmethod
    def _moved(shooting: Shooting, k: int, y: Array) -> State:
        return perturbed_state(shooting.system, shooting.legs[k].start, y)

    def difference(self, near: Near, state: Cut) -> Array:
        shooting: Shooting = near.source.shooting
        parts = [shooting.difference(a, b) for a, b in zip(state.states, shooting.states, strict=True)]
        return np.append(np.concatenate(parts), np.log(state.period / shooting.period))

    def check(self, near: Near, state: Cut) -> None:
        near.source.shooting.check()

    def spectrum(self, near: Near) -> Multipliers:
        return Multipliers.of(near.source.shooting)

    def point(self, near: Near, state: Cut) -> PeriodicMotion:
        return near.source.shooting.orbit()

    def crossings(self, spectrum: Callable[[float], Any], tolerance: float) -> MultiplierCrossings:
        return MultiplierCrossings(spectrum, tolerance)


def _basis(columns: Array) -> Array:
    """An orthonormal basis of what columns span."""
    found, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(found[:, sizes > SPANNED * sizes.max(initial=0.0)], float)


def first_cut(system: System, start: State, period: float, free: bool, driven: bool) -> Shooting:
    """A motion cut into segments, with what it does not notice; in one piece where drivers go on with the time."""
    shooting = Shooting(system, start, free, driven)
    shooting.look(start, FIRST_LOOK * period)
    along = any(isinstance(joint, Driver | Prescribed) for joint in system.joints)
    shooting.cut(period, 1 if free and along else SEGMENTS)
    return shooting
