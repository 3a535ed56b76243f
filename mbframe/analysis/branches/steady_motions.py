"""Steady motions over a value: poses and velocities of the kind that `steady` looks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...state import State
from ...system import System
from ..linear.displacement import differences
from ..linear.linear_equations import LinearEquations, OperatingPoint, linear_equations
from ..linear.linearize import Linearization, linearize
from ..linear.reduction import reduce
from ..linear.roots import reduced_roots
from ..linear.spectrum import Spectrum
from ..linear.steadiness import admissible, inexact
from ..linear.symmetry import symmetries
from ..states.assemble import consistent
from ..statics.steady import SteadyMotion, Trim, usual_axis
from .arclength import Family, Near
from .equilibria import DIFFERENCE, built

Array = NDArray[np.float64]

TOLERANCE: Final = 1e-10
POWERED: Final = 1e-7
"""Part of other derivatives that those of drives and losses along the motion have where they decide on a speed."""


@dataclass(frozen=True)
class Source:
    """A trimmed state, and units in which its changes are told."""

    trim: Trim
    weights: Array  # lengths of the model for each small motion
    units: Array  # for each velocity along the directions of steady motions
    by_value: tuple[Array, Array] | None  # how loads and the state change with the value


class SteadyMotions(Family):
    """Steady motions of `build(value)`.

    What nothing determines, such as the speed of what rolls without loss, changes as the velocities with which the
    bodies are described, or stays.
    """

    words = "steady motion"

    def __init__(self, build: Callable[[float], System], scale: float, start: State) -> None:
        self.build, self.scale = build, scale
        self.given: Sequence[tuple[Any, float]] = getattr(start, "given", ())
        self.rate: float | None = getattr(start, "rate", None)
        frame = getattr(start, "frame", None)
        self.axis = frame.axis if frame is not None else None
        self.powered: int | None = None  # how many speeds drives and losses decide on

    def _trim(self, state: State, value: float) -> Trim:
        system = built(self.build, value)
        if self.axis is None:
            axis = usual_axis(system, state)
            self.axis = axis / np.linalg.norm(axis)
        return Trim(system, consistent(system, state), self.axis, self.rate, list(self.given), TOLERANCE)

    def near(self, state: State, value: float, beside: Near | None = None) -> Near:
        trim = self._trim(state, value)
        local = trim.local()
        e = local.equations
        weights = e.reaches / trim.length
        pace = np.sqrt(trim.acceleration / trim.length)
        units = np.append(np.full(3, 1.0 / (trim.length * pace)), np.full(len(trim.spins) + 1, 1.0 / pace))
        source = Source(trim, weights, units, None)
        loads, drift = beside.source.by_value if beside is not None else self._ahead(source, e, value)
        n = e.size
        places = np.vstack(
            [weights[:, None] * local.directions[:n], units[:, None] * (trim.mixed @ local.directions[n:])]
        )
        Q, R = np.linalg.qr(places)
        rows, by_value, left = local.rows, local.kept @ loads, local.left
        powers = np.linalg.svd(np.column_stack([local.power_rows, local.powers @ loads]))
        if self.powered is None:
            size = float(np.linalg.norm(rows, 2)) if rows.size else 1.0
            self.powered = int(np.sum(powers[1] > POWERED * size))
        mixing = powers[0][:, : self.powered].T
        rows = np.vstack([mixing @ local.power_rows, rows])
        others = np.zeros(len(local.left) - len(by_value))  # given values
        by_value = np.concatenate([mixing @ local.powers @ loads, by_value, others])
        left = np.concatenate([mixing @ local.power_left, left])
        return Near(
            state=trim.state,
            value=value,
            directions=Q,
            drift=drift,
            closing=np.zeros(len(Q)),
            rows=np.linalg.solve(R.T, rows.T).T,
            by_value=by_value,
            left=left,
            source=Source(trim, weights, units, (loads, drift)),
        )

    def _ahead(self, source: Source, e: LinearEquations, value: float) -> tuple[Array, Array]:
        """How loads and the state change with the value, where the latter is the nearest one that is possible."""
        trim = source.trim
        there = self._trim(trim.state, value + DIFFERENCE * self.scale)
        described = [one.described_speeds() for one in (there, trim)]
        if np.any(described[0] != described[1]):
            faster = trim.speeds() + described[0] - described[1]
            there = self._trim(trim.moved(np.zeros(e.size), faster), value + DIFFERENCE * self.scale)
        after = there.local().equations.imbalance
        change = self._change(source, there.state, there.speeds())
        return (after - e.imbalance) / DIFFERENCE, change / DIFFERENCE

    def _change(self, source: Source, state: State, speeds: Array) -> Array:
        trim = source.trim
        motion = differences(trim.places, state, trim.state)[0]
        return np.concatenate([source.weights * motion, source.units * (speeds - trim.speeds())])

    def displaced(self, near: Near, change: Array, value: float) -> State:
        source: Source = near.source
        n = len(source.weights)
        return source.trim.moved(change[:n] / source.weights, source.trim.speeds() + change[n:] / source.units)

    def difference(self, near: Near, state: State) -> Array:
        source: Source = near.source
        return self._change(source, state, source.trim.speeds_of(state))

    def check(self, near: Near, state: State) -> None:
        linearize(near.source.trim.eq.system, near.state, near.source.trim.frame)

    def spectrum(self, near: Near) -> Spectrum:
        trim: Trim = near.source.trim
        state, frame = trim.state, trim.frame
        point = OperatingPoint.at(trim.eq, state)
        e = linear_equations(point, frame)
        r = reduce(e, admissible(e))
        roots = reduced_roots(e, r, symmetries(point, frame, e, r, inexact(point, frame)))
        return Spectrum.of(Linearization(trim.eq.system, state, frame, e, roots, None, roots))

    def point(self, near: Near, state: State) -> SteadyMotion:
        trim: Trim = near.source.trim
        s, frame = trim.state, trim.frame
        given = tuple(self.given)
        return SteadyMotion(
            s.t, s.motions, s.element_states, s.dimension, frame, trim.balance, given=given, rate=self.rate
        )
