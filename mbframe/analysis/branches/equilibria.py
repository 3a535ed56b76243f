"""Equilibria over a value: loads along the motions that the constraints allow, and the constraints themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...bodies.formulations import Formulation, NewtonEuler, PlanarAngle
from ...equations.equations import Equations
from ...equations.reuse import borrowed
from ...errors import ModelError, Problem
from ...state import State
from ...system import System
from ..linear.displacement import differences, displaced
from ..linear.linear_equations import LinearEquations, OperatingPoint, TurningFrame, linear_equations, variations
from ..linear.linearize import Linearization, linearize
from ..linear.reduction import normalized, reduce
from ..linear.roots import reduced_roots
from ..linear.spectrum import Spectrum
from ..linear.steadiness import admissible, inexact
from ..linear.symmetry import symmetries
from ..mobility.null_space import null_space
from ..states.own_states import places
from ..statics.equilibrium import Equilibrium, classified
from .arclength import Family, Near

Array = NDArray[np.float64]

DIFFERENCE: Final = 1e-7
"""Part of the range by which a value is changed to see what depends on it."""
DEPENDENT: Final = 1e-9
STILL: Final = TurningFrame()


@dataclass(frozen=True)
class Source:
    """The equations of small motions at a state, before the constraints."""

    system: System
    equations: LinearEquations
    weights: Array  # lengths of the model for each small motion
    basis: Array  # of what the constraints allow, in these
    by_value: tuple[Array, ...]  # how loads, gaps and rates of own states change


class Equilibria(Family):
    """Positions of rest of `build(value)`: V^T (J^T lambda - Q) = 0, C = 0, and z' = 0 of the own states that act."""

    words = "equilibrium"

    def __init__(self, build: Callable[[float], System], scale: float) -> None:
        self.build, self.scale = build, scale

    def near(self, state: State, value: float, beside: Near | None = None) -> Near:
        system = built(self.build, value)
        with borrowed(system, usual(system)) as eq:
            point = _at_rest(eq, state)
            e = linear_equations(point, STILL)
            size = point.size
            here = _left(point, e, point.multipliers)
        if beside is None:
            ahead = self._ahead(point, e, value)
            by_value = tuple((there - now) / DIFFERENCE for there, now in zip(ahead, here, strict=True))
        else:
            by_value = beside.source.by_value
        (loads, gaps, rates), (by_loads, by_gaps, by_rates) = here, by_value
        weights = e.reaches / size
        # Wheels go as far as they turn on the way, as in `equilibrium`.
        rows = np.vstack([e.holonomic, e.nonholonomic]) / weights
        V = null_space(rows, dependent=DEPENDENT)
        open_by = np.zeros((len(rows), 2))
        open_by[: len(gaps)] = np.column_stack([gaps, by_gaps])
        closing, drift = -np.linalg.lstsq(rows, open_by, rcond=DEPENDENT)[0].T
        across, K, L = V.T / weights, e.stiffness / weights, e.own_position / weights
        rows = np.block([[across @ K @ V, across @ e.own_force], [L @ V, e.own_feedback]])
        own = len(e.own_feedback)
        directions, none = np.zeros((len(V) + own, V.shape[1] + own)), np.zeros(own)
        directions[: len(V), : V.shape[1]] = V
        directions[len(V) :, V.shape[1] :] = np.eye(own)
        return Near(
            state=point.state,
            value=value,
            directions=directions,
            drift=np.append(drift, none),
            closing=np.append(closing, none),
            rows=rows,
            by_value=np.concatenate([across @ (by_loads + K @ drift), by_rates + L @ drift]),
            left=np.concatenate([across @ (loads + K @ closing), rates + L @ closing]),
            source=Source(system, e, weights, V, by_value),
        )

    def _ahead(self, point: OperatingPoint, e: LinearEquations, value: float) -> tuple[Array, Array, Array]:
        """What is left of the equations at the same state for a value a little higher."""
        system = built(self.build, value + DIFFERENCE * self.scale)
        with borrowed(system, usual(system)) as eq:
            there = _at_rest(eq, point.state)
            if len(there.v) != len(point.v) or len(there.multipliers) != len(point.multipliers):
                message = "makes systems of other bodies or joints at other values; change numbers, not elements"
                raise ModelError([Problem("continuation", "build", message)])
            return _left(there, e, point.multipliers)

    def displaced(self, near: Near, change: Array, value: float) -> State:
        source: Source = near.source
        n = len(source.weights)
        motion = change[:n] / source.weights
        return displaced(near.state, source.equations, motion, np.zeros(n), change[n:], source.system)

    def difference(self, near: Near, state: State) -> Array:
        source: Source = near.source
        e = source.equations
        motion = differences(e.places, state, near.state)[0] * source.weights
        own = [state.element_states[n][acting] - near.state.element_states[n][acting] for n, acting in e.acting.items()]
        return np.concatenate([motion, *own])

    def check(self, near: Near, state: State) -> None:
        linearize(near.source.system, state)

    def spectrum(self, near: Near) -> Spectrum:
        source: Source = near.source
        e = source.equations
        with borrowed(source.system, usual(source.system)) as eq:
            point = _at_rest(eq, near.state)
            r = reduce(e, admissible(e))
            roots = reduced_roots(e, r, symmetries(point, STILL, e, r, inexact(point, STILL)))
        return Spectrum.of(Linearization(source.system, near.state, STILL, e, roots, None, roots))

    def point(self, near: Near, state: State) -> Equilibrium:
        source: Source = near.source
        e = source.equations
        V = normalized(e, source.basis / source.weights[:, None])
        mass = np.diag(e.mass)
        mass = np.sqrt(np.where(mass > 0.0, mass, np.inf))
        size = float(np.abs(e.stiffness / np.outer(mass, mass)).max(initial=0.0))
        loads = float(np.linalg.norm(V.T @ e.imbalance))
        reference = max(float(np.linalg.norm(e.imbalance / mass)), loads) or 1.0
        return classified(state, V.T @ e.stiffness @ V, size, bool(np.any(e.own_force)), loads / reference, 0)


def built(build: Callable[[float], System], value: float) -> System:
    """The system of a value."""
    system = build(value)
    if not isinstance(system, System):
        message = f"returned {system!r} at {value:.6g}; it must return a system"
        raise ModelError([Problem("continuation", "build", message)])
    return system


def usual(system: System) -> Formulation:
    """Coordinates to compute in."""
    return NewtonEuler() if system.dimension == 3 else PlanarAngle()


def _at_rest(eq: Equations, state: State) -> OperatingPoint:
    """A state without velocities and accelerations, with the multipliers that balance its loads best."""
    q, _, z = eq.split(eq.coordinates(state))
    still = np.zeros(eq.n_v)
    eq.set_state(q, still, z)
    eq.accept(state.t)  # turns of angles are counted on the way
    z = eq.work.z.copy()
    _, multipliers = eq.accelerate(state.t, q, still, z)
    there = eq.state(state.t, np.concatenate([q, still, z]))
    return OperatingPoint(eq, there, q, still, z, still, multipliers, eq.work.z_rate.copy())


def _left(point: OperatingPoint, e: LinearEquations, multipliers: Array) -> tuple[Array, Array, Array]:
    """J^T lambda - Q along all small motions, C, and the rates of the own states that act."""
    eq = point.eq
    now = eq.evaluate(point.state.t, point.q, point.v, point.z)
    P = variations(point, STILL)[1]
    gaps = np.zeros(len(e.holonomic))  # its last rows hold what bodies of the plane cannot do
    closed = now.residual[point.joint_rows]
    gaps[: len(closed)] = closed
    return P.T @ (now.jacobian.T @ multipliers - now.force), gaps, point.z_rate[places(eq, e.acting)]
