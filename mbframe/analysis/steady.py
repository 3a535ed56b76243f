"""Steady motions: seen from a frame that turns or runs along, all bodies stand still but for spins of round ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..bodies.formulations import NewtonEuler
from ..equations.equations import Equations
from ..errors import AnalysisError, ModelError, Problem
from ..markers import AXIS, converted
from ..measures import Measure
from ..plane import lifted
from ..rotations import matrix_from_vector
from ..solvers.simulate import extent, joint_norms
from ..state import Motion, State
from ..system import System
from .assemble import assemble
from .linear_equations import (
    LinearEquations,
    OperatingPoint,
    TurningFrame,
    collected,
    linear_equations,
    on_bodies,
    turning,
)
from .signals import measure_value
from .steadiness import check_closed, check_steady, null_space
from .symmetry import round_axes

Array = NDArray[np.float64]
Function = Callable[[State], float]

ITERATIONS = 100
LARGEST_STEP = 0.2  # rad, or lengths of the model: what Newton's method may do at once
SMALL_STEP = 1e-12
LEAST_CAUTION = 1e-6
DIFFERENCE = 1e-5  # rad, or lengths of the model, for derivatives of given quantities


@dataclass(frozen=True)
class SteadyMotion(State):
    """A state of a steady motion, and the frame in which it stands still; `mb.linearize` takes both from it."""

    frame: TurningFrame = field(default_factory=TurningFrame)
    residual: float = 0.0
    """Largest force or moment that is left without balance, relative to the largest load."""


def steady(
    system: System,
    initial: State | None = None,
    given: Sequence[tuple[Measure | str | Function, float]] = (),
    *,
    axis: ArrayLike | None = None,
    rate: float | None = None,
    tolerance: float = 1e-10,
) -> SteadyMotion:
    """Find a steady motion of a system, such as a bicycle in a turn, near a state.

    All bodies turn with the rate Omega about `axis` (0: they run straight on), and round ones spin about their own axis
    besides. Unknown are the poses, the velocities of that kind, and Omega; known are the constraints, the balance of
    forces with the accelerations r'' = Omega x r', w' = Omega x w, and what is `given`. Newton's method with least
    changes finds, of all steady motions with these properties, one near the start.

    Parameters
    ----------
    system
        What moves.
    initial
        Where to start; by default the state in which the model is described.
    given
        Pairs of a quantity and the value that it shall have. A quantity is a measure or its name, or a function of the
        state, such as `lambda state: np.linalg.norm(state.velocity("frame"))`.
    axis
        Axis of the turn, by default against gravity.
    rate
        Omega, rad/s; left out, it is found.
    tolerance
        Largest part of the loads that may be left without balance, and largest error of given values.

    Returns
    -------
    SteadyMotion
        A `State` that knows its frame. An `AnalysisError` says what is left where none was found.
    """
    gravity = lifted(system.gravity)
    chosen = axis if axis is not None else (-gravity if np.any(gravity) else (0.0, 0.0, 1.0))
    direction = converted(AXIS, chosen, "steady", "axis")
    wanted = [(_function(system, quantity), float(value)) for quantity, value in given]
    trim = Trim(system, assemble(system, initial), direction / np.linalg.norm(direction), rate, wanted)
    for _ in range(ITERATIONS):
        if trim.improve() <= tolerance and trim.balance <= tolerance:
            return trim.checked()
    raise AnalysisError(
        f"no steady motion was found in {ITERATIONS} steps: {trim.remains()}; give other values or fewer of them, or "
        "start from a state that is nearer to the motion"
    )


def _function(system: System, quantity: Measure | str | Function) -> Function:
    """A quantity as a function of the state."""
    element = system[quantity] if isinstance(quantity, str) else quantity
    if isinstance(element, Measure):
        return lambda state: measure_value(element, state)
    if not callable(element):
        message = f"found {quantity!r}; allowed are a measure, its name, or a function of the state; give one of these"
        raise ModelError([Problem("steady", "given", message)])
    return element


class Trim:
    """Newton's method for a steady motion: poses, and coefficients c of the velocities along `_twists`."""

    def __init__(
        self, system: System, start: State, axis: Array, rate: float | None, wanted: list[tuple[Function, float]]
    ) -> None:
        # With these velocities (r' and the local angular velocity) accelerations map to v' as velocities do to v.
        self.eq = Equations(system, NewtonEuler())
        self.axis, self.rate, self.wanted = axis, rate, wanted
        self.size = max(1.0, extent(self.eq, start))
        self.spins = [
            (b.body.name, local)
            for b in self.eq.tables.bodies
            for local, arm in round_axes(*b.body.mass_properties()[1:])
            if not np.any(np.abs(arm) > 1e-12 * self.size)
        ]
        self.balance = np.inf
        e = linear_equations(OperatingPoint.at(self.eq, start), TurningFrame())
        self.places = e.places
        twists, _ = self._twists(start)
        # Of these velocities only those that open no joint: spins about hinges, turns about a fixed shaft.
        allowed = null_space(e.holonomic @ twists, float(np.linalg.norm(e.holonomic) * np.linalg.norm(twists)))
        self.mixed = np.where(np.abs(allowed) < 1e-12, 0.0, allowed)
        now = collected(self.places, {n: (m.velocity, m.angular_velocity) for n, m in start.motions.items()})
        self.c: Array = np.asarray(np.linalg.lstsq(twists @ self.mixed, now, rcond=1e-12)[0], float)
        self.state = self._moving(start, self.c)
        self.caution = 1.0
        self.load = max(float(np.abs(e.stiffness).max()), float(np.abs(e.imbalance).max()), 1e-300)

    @property
    def turn(self) -> Array:
        """The row that gives Omega from c."""
        return self.mixed[3]

    def improve(self) -> float:
        """One step of Newton's method; returns its size, and the error of given values if that is larger.

        Symmetries leave equations that follow from others, but only where all are met. Damping by what is left (after
        Levenberg and Marquardt) keeps the method fast near the motion and its steps short far from it.
        """
        rows, left = self._equations()
        before, state, c = float(np.linalg.norm(left)), self.state, self.c
        n = rows.shape[1] - len(c)
        while True:
            damping = self.caution * min(1.0, before) * np.eye(rows.shape[1])
            right = np.concatenate([-left, np.zeros(len(damping))])
            step = np.linalg.lstsq(np.vstack([rows, damping]), right, rcond=None)[0]
            length = float(np.abs(step[:n]).max(initial=0.0)) / self.size
            step *= min(1.0, LARGEST_STEP / max(length, 1e-300))
            self.c = c + step[n:]
            self.state = self._moving(_displaced(state, self.places, step[:n]), self.c)
            after = float(np.linalg.norm(self._left()))
            if after < before or length <= SMALL_STEP:
                self.caution = max(0.2 * self.caution, LEAST_CAUTION)
                break
            self.caution *= 5.0
        return max(length, *(abs(function(self.state) - value) for function, value in self.wanted), 0.0)

    def checked(self) -> SteadyMotion:
        """The motion found, after an independent look at it: its accelerations by the equations of motion."""
        point, frame = OperatingPoint.at(self.eq, self.state), self._frame(self.c)
        check_closed(self.eq, self.state)
        check_steady(point, frame)
        s = self.state
        return SteadyMotion(s.t, s.motions, s.element_states, frame, self.balance)

    def remains(self) -> str:
        """What is not met, in words."""
        residual, _ = self.eq.violation(self.state.t, self.eq.coordinates(self.state))
        owner, gap = joint_norms(self.eq, residual)[0]
        missed = ", ".join(f"{function(self.state) - value:.3g}" for function, value in self.wanted) or "none"
        return (
            f"{self.balance:.2g} of the loads is left without balance, the largest gap is {gap:.2g} in {owner}, given "
            f"values are missed by {missed}"
        )

    # --- inside ------------------------------------------------------------------------------------------------------

    def _frame(self, c: Array) -> TurningFrame:
        return TurningFrame(self.axis, float(self.turn @ c))

    def _twists(self, state: State) -> tuple[Array, Array]:
        """Directions of steady velocities, and their rates (columns): three translations, the turn, spins."""
        none = np.zeros(3)
        names = state.motions
        Parts = dict[str, tuple[Array, Array]]
        columns: list[tuple[Parts, Parts]] = [(dict.fromkeys(names, (axis, none)), {}) for axis in np.eye(3)]
        turn = {n: (np.cross(self.axis, m.position), self.axis) for n, m in names.items()}
        columns.append((turn, {n: (np.cross(self.axis, m.velocity), none) for n, m in names.items()}))
        for name, local in self.spins:
            m = names[name]
            a = m.rotation @ local
            columns.append(({name: (none, a)}, {name: (none, np.cross(m.angular_velocity, a))}))
        both = [[collected(self.places, part) for part in column] for column in columns]
        twists, rates = (np.array(part).T for part in zip(*both, strict=True))
        return twists, rates

    def _moving(self, state: State, c: Array) -> State:
        """A state with the velocities of the coefficients c."""
        twist = on_bodies(self.places, self._twists(state)[0] @ self.mixed @ c)
        motions = {n: Motion(m.position, m.rotation, *twist[n]) for n, m in state.motions.items()}
        return State(state.t, motions, state.element_states)

    def _point(self, frame: TurningFrame) -> OperatingPoint:
        """The state with its steady accelerations, and the multipliers that balance the loads best."""
        eq, spin = self.eq, frame.angular_velocity
        q, v, z = eq.split(eq.coordinates(self.state))
        accelerating = {
            n: Motion(m.position, m.rotation, np.cross(spin, m.velocity), np.cross(spin, m.angular_velocity))
            for n, m in self.state.motions.items()
        }
        v_rate = eq.split(eq.coordinates(State(self.state.t, accelerating)))[1]
        e = eq.evaluate(self.state.t, q, v, z, dense=True)
        load = e.mass @ v_rate - e.force
        multipliers = np.linalg.lstsq(e.jacobian.T, -load, rcond=1e-12)[0]
        self.balance = float(np.abs(load + e.jacobian.T @ multipliers).max() / max(np.abs(e.force).max(), 1e-300))
        return OperatingPoint(eq, self.state, q, v, z, v_rate, multipliers)

    def _left(self, known: LinearEquations | None = None) -> Array:
        """What is left of the balance of loads, of the constraints and of the given values."""
        frame = self._frame(self.c)
        e = known or linear_equations(self._point(frame), frame)
        free = null_space(np.vstack([e.holonomic, e.nonholonomic])).T
        missed = [function(self.state) - value for function, value in self.wanted]
        if self.rate is not None:
            missed.append(frame.rate - self.rate)
        return np.concatenate([free @ e.imbalance / self.load, e.gaps, e.slips, missed])

    def _equations(self) -> tuple[Array, Array]:
        """Linear equations for a displacement x (in the frame's axes) and a change of c, and what is left of them."""
        frame = self._frame(self.c)
        e = linear_equations(self._point(frame), frame)
        twists, rates = (part @ self.mixed for part in self._twists(self.state))
        S = turning(self.places, frame)
        free = null_space(np.vstack([e.holonomic, e.nonholonomic])).T
        # x' = twists dc, and x'' = (rates - S twists) dc
        rows = [
            free @ np.hstack([e.stiffness, e.mass @ (rates - S @ twists) + e.damping @ twists]) / self.load,
            np.hstack([e.holonomic, np.zeros((len(e.holonomic), len(self.c)))]),
            np.hstack([e.drift, e.nonholonomic @ twists]),
            *(self._slopes(function)[None] for function, _ in self.wanted),
        ]
        if self.rate is not None:
            rows.append(np.hstack([np.zeros(e.size), self.turn])[None])
        return np.vstack(rows), self._left(e)

    def _slopes(self, function: Function) -> Array:
        """Derivatives of a quantity by displacements and c: central differences, exact enough for Newton's method."""
        n, k = sum(place.stop - place.start for place in self.places.values()), len(self.c)
        h = DIFFERENCE * self.size
        slopes = np.zeros(n + k)
        for j in range(n + k):
            ends = []
            for sign in (1.0, -1.0):
                change = np.zeros(n + k)
                change[j] = sign * h
                moved = _displaced(self.state, self.places, change[:n])
                ends.append(function(self._moving(moved, self.c + change[n:])))
            slopes[j] = (ends[0] - ends[1]) / (2.0 * h)
        return slopes


def _displaced(state: State, places: dict[str, slice], x: Array) -> State:
    """A state whose bodies are displaced; velocities stay."""
    parts = on_bodies(places, x)
    motions = {
        n: Motion(
            m.position + parts[n][0], matrix_from_vector(parts[n][1]) @ m.rotation, m.velocity, m.angular_velocity
        )
        for n, m in state.motions.items()
    }
    return State(state.t, motions, state.element_states)
