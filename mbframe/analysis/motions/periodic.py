"""Periodic motions: found by multiple shooting with exact tangents, up to shifts that the system does not notice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...bodies.formulations import Formulation
from ...equations.equations import Equations
from ...errors import AnalysisError, ModelError, Problem, check_kinds
from ...functions import Function
from ...joints.driven import Driver, Prescribed
from ...results import Result
from ...solvers.integrators import DormandPrince, Integrator
from ...solvers.schedule import time_functions
from ...solvers.simulate import simulate
from ...solvers.starting import extent
from ...state import State
from ...system import System
from ..linear.displacement import differences
from ..linear.linear_equations import OperatingPoint, collected
from ..states.assemble import consistent
from ..states.controllers import refuse_sampled
from .floquet import PeriodicMotion, floquet
from .shifts import Displacement, later, own_rates, shifts, small_motions, unnoticed
from .transition import Course, perturbed_state
from .variation import Bases, Window

Array = NDArray[np.float64]

TOLERANCE: Final = 1e-9
"""What may be left open of a period, in lengths of the model or radians."""
EVEN: Final = np.array([0.0, 0.013, 0.17, 0.61, 1.9, 7.3, 31.0])
"""s: where rates of drivers are compared."""
STILL: Final = 1e-7
"""Lengths of the model or radians in a period: what stands still."""
NONE: Final = 1e-6
"""Part of a shift in a combination that is rounding."""
ITERATIONS: Final = 25
HALVINGS: Final = 8
FLAT: Final = 1e-6
"""Relative size of singular values that are directions along which a motion may be chosen."""
RETURN: Final = 0.2
"""Part of the range of a motion within which it must return to be guessed as periodic."""
SEARCHED: Final = 400
"""Instants at which a run is looked at for a return."""
SWINGS: Final = 10.0
LONGER: Final = 4
"""A return is looked for in a time of so many swings, and in up to 4, 16, 64 times of it."""
REFINED: Final = 6
"""Steps for the shifts after which two states are nearest."""
STORED: Final = 201
"""Instants of the motion over a period."""
SAME_LOADS: Final = 1e-5
"""Part of the accelerations by which they may differ after a period."""
LARGEST: Final = 0.3
"""rad, or lengths of the model: what an iteration may change at once."""


def periodic(
    system: System,
    guess: State | Result,
    period: float | None = None,
    *,
    segments: int = 4,
    formulation: Formulation | None = None,
    integrator: Integrator | None = None,
    tolerance: float = TOLERANCE,
) -> PeriodicMotion:
    """Find a periodic motion near a guess, and whether it is stable (Floquet).

    A motion is periodic if after the period the system is as it was, up to whole turns and to shifts that it does not
    notice: displacements and turns of the whole, spins of round bodies. These are found along the motion, so a bicycle
    that wobbles runs on, and a wheel that is towed by a driver along v*t runs on with it.

    The period is cut into segments; states at their beginnings are corrected together by Newton's method with the exact
    transition matrices of the segments (multiple shooting), with least changes where motions form a family.

    Parameters
    ----------
    system
        What moves.
    guess
        A state of the motion, or a run over at least one period, whose first state is taken.
    period
        Of the drive or the loads, s: it is kept. None for a motion without loads or drivers that change with time: the
        period is found near the first return of the guess.
    segments
        Into how many parts the period is cut; more of them converge from farther away.
    formulation, integrator
        For the motion and its variations, as in `mb.transition`.
    tolerance
        What may be left open after a period, in lengths of the model or radians.

    Returns
    -------
    PeriodicMotion
        An `AnalysisError` says what is left open where none was found.
    """
    check_kinds(
        "periodic",
        system=(system, System),
        formulation=(formulation, Formulation),
        integrator=(integrator, Integrator),
    )
    if not isinstance(guess, State | Result):
        message = f"found {guess!r}; allowed are a state, or a run over at least one period"
        raise ModelError([Problem("periodic", "guess", message)])
    problems = []
    if period is not None and not (np.isfinite(period) and period > 0.0):
        problems.append(Problem("periodic", "period", f"found {period!r}; allowed is a positive number of seconds"))
    if segments != int(segments) or segments < 1:
        problems.append(Problem("periodic", "segments", f"found {segments!r}; allowed is a positive whole number"))
    if problems:
        raise ModelError(problems)
    changing = changing_with_time(system)
    if period is None and changing:
        raise ModelError([Problem("periodic", "period", f"found nothing, but {changing}; give the period of that")])
    search = Search(system, guess, period, int(segments), formulation, integrator, bool(changing))
    search.solve(tolerance)
    return search.found()


def changing_with_time(system: System) -> str:
    """What depends on the time otherwise than by a constant rate of a driver, in words; empty if nothing does."""
    for element, name, function in time_functions(system):
        if function.kind == "constant":
            continue
        if isinstance(element, Driver | Prescribed) and _even(function):
            continue
        return f"{name} of {element} changes with the time"
    return ""


def _even(function: Function) -> bool:
    """Whether a function has a constant rate."""
    rates = np.asarray(function.derivative(EVEN), float)
    return bool(np.ptp(rates) <= 1e-12 * np.abs(rates).max())


@dataclass
class Leg:
    """A segment of the period: its small changes at the start, how they go through it, and those at its end."""

    windows: list[Window]

    @property
    def start(self) -> Bases:
        return self.windows[0].bases[0]

    @property
    def end(self) -> Bases:
        return self.windows[-1].bases[-1]

    @property
    def flow(self) -> Array:
        """The transition matrix of the segment."""
        whole = np.eye(self.start.size)
        for part in self.windows:
            whole = part.flow[-1] @ whole
        return whole


class Search:
    """Newton's method for the states at the beginnings of segments, the period, and the shifts after it.

    Equations and unknowns are small motions and velocities of all bodies, in lengths of the model and radians; rates
    count in units of the period.
    """

    def __init__(
        self,
        system: System,
        guess: State | Result,
        period: float | None,
        segments: int,
        formulation: Formulation | None,
        integrator: Integrator | None,
        driven: bool,
    ) -> None:
        self.system, self.formulation, self.integrator = system, formulation, integrator
        self.free, self.driven = period is None, driven
        self.eq = Equations(system, formulation)
        refuse_sampled(self.eq)
        self.candidates = shifts(self.eq)
        first = guess.state(0) if isinstance(guess, Result) else guess
        start = consistent(system, first.checked(system.bodies))
        self.size = extent(self.eq, start)
        look = 0.02 * (period or self._span(start, guess))
        leg = Leg(list(Course(system, start, start.t + look, formulation, integrator).windows()))
        self.places = leg.start.equations.places
        self.reaches = leg.start.equations.reaches
        self.symmetry = unnoticed(self.eq, self.candidates, leg.windows, not driven)
        self.shift = Displacement()
        self.period = period if period is not None else self._first_return(start, guess)
        moved = any(isinstance(joint, Driver | Prescribed) for joint in system.joints)
        count = 1 if self.free and moved else segments
        run = self._run(start, self.period, np.linspace(0.0, self.period, count + 1))
        self.states = [run.state(k) for k in range(count)]
        self.shift = self._nearest(run.state(count), self.states[0])
        self.legs: list[Leg] = []

    @property
    def _free(self) -> Array:
        """Combinations of shifts (columns) that nothing resists; some need time to go on with them."""
        found = self.symmetry.combinations[:-1]
        return found[:, np.abs(found).max(axis=0, initial=0.0) > NONE]

    # --- the guess ---------------------------------------------------------------------------------------------------

    def _run(self, start: State, duration: float, instants: Array) -> Result:
        return simulate(
            self.system,
            start.t + duration,
            initial=start,
            t_eval=start.t + instants,
            formulation=self.formulation,
            integrator=self.integrator or DormandPrince(order=8, rtol=1e-10, atol=1e-12),
        )

    def _span(self, start: State, guess: State | Result) -> float:
        """A time in which a motion may have come back: that of the run, or that of some swings."""
        if isinstance(guess, Result):
            return float(guess.t[-1] - guess.t[0])
        rates = [float(np.sqrt(np.linalg.norm(self.system.gravity) / self.size))]
        for m in start.motions.values():
            rates += [float(np.linalg.norm(m.angular_velocity)), float(np.linalg.norm(m.velocity)) / self.size]
        return SWINGS / max(*rates, 1e-3)

    def _first_return(self, start: State, guess: State | Result) -> float:
        """The time after which a motion first comes near to its start again, up to shifts."""
        span = self._span(start, guess)
        trials = [span] if isinstance(guess, Result) else [span * 4.0**k for k in range(LONGER)]
        for span in trials:
            instants = np.linspace(0.0, span, SEARCHED)
            run = self._run(start, span, instants)
            self.period = span
            away = np.array([self._distance(run.state(k), start) for k in range(SEARCHED)])
            if (k := first_dip(away)) is not None:
                return float(instants[k])
        raise AnalysisError(
            f"the motion does not come back to where it began within {span:.4g} s: give a state that is nearer to a "
            "periodic motion, a longer run, or the period"
        )

    def _distance(self, state: State, start: State) -> float:
        self.shift = self._nearest(state, start)
        return float(np.linalg.norm(self._difference(state, self.shift.of(start))))

    def _nearest(self, state: State, start: State) -> Displacement:
        """The shifts after which a start is nearest to a state; found from those known so far on."""
        shift = self.shift
        for _ in range(REFINED):
            if not self._free.shape[1]:
                break
            moved = shift.of(start)
            step = np.linalg.lstsq(self._generators(moved), self._difference(state, moved), rcond=FLAT)[0]
            shift = shift.then(self.candidates, self._free @ step)
            if np.linalg.norm(step) < 1e-10:
                break
        return shift

    # --- in lengths and radians --------------------------------------------------------------------------------------

    def _weighed(self, motion: Array, rate: Array, own: Array) -> Array:
        """Rows of xi, xi' and own states in lengths of the model and radians; rates count per period."""
        reaches = self.reaches / self.size
        if motion.ndim > 1:
            reaches = reaches[:, None]
        return np.concatenate([reaches * motion, reaches * rate * self.period / (2.0 * np.pi), own])

    def _difference(self, state: State, other: State) -> Array:
        """What leads from another state to this one."""
        own = np.concatenate([np.zeros(0), *(state.element_states[n] - other.element_states[n] for n in self._having)])
        return self._weighed(*differences(self.places, state, other), own)

    @property
    def _having(self) -> list[str]:
        """Names of the elements with own states."""
        return [one.element.name for one in self.eq.tables.stateful]

    def _generators(self, state: State) -> Array:
        """What a unit of each free combination of shifts does to a state."""
        point = OperatingPoint(self.eq, state, *[np.zeros(0)] * 6)
        motion, rate = (part @ self._free for part in small_motions(self.candidates, point, self.places))
        return self._weighed(motion, rate, np.zeros((self._n_own, self._free.shape[1])))

    @property
    def _n_own(self) -> int:
        return sum(one.element.states for one in self.eq.tables.stateful)

    def _later(self, state: State) -> Array:
        """What a unit of time does to a state."""
        point = OperatingPoint.at(self.eq, state)
        own = np.concatenate([np.zeros(0), *(point.z_rate[one.states] for one in self.eq.tables.stateful)])
        return self._weighed(*later(point, self.places), own)

    def _changes(self, bases: Bases, carry: bool = False) -> Array:
        """What minimal perturbations do to the state that they belong to, or to that after the shifts."""
        own = np.zeros((self._n_own, bases.size))
        own[:, bases.size - self._n_own :] = np.eye(self._n_own)
        motion, rate = bases.motion, bases.velocity
        if carry:
            motion, rate = (self.shift.carry(self.places, part) for part in (motion, rate))
        return self._weighed(motion, rate, own)

    # --- Newton's method ---------------------------------------------------------------------------------------------

    def _march(self) -> None:
        """Go through all segments with their variations, and see what is left open."""

        each = self.period / len(self.states)
        self.legs = [
            Leg(list(Course(self.system, s, s.t + each, self.formulation, self.integrator).windows()))
            for s in self.states
        ]
        following = [*self.states[1:], self.shift.of(self.states[0])]
        self.open = [self._difference(leg.end.state, s) for leg, s in zip(self.legs, following, strict=True)]
        self.left = float(np.linalg.norm(np.concatenate(self.open)))

    def solve(self, tolerance: float) -> None:
        """Correct states, shifts and period until nothing is left open."""
        self._march()
        for _ in range(ITERATIONS):
            if self.left <= tolerance:
                return
            states, period, shift, legs, left, opened = (
                self.states,
                self.period,
                self.shift,
                self.legs,
                self.left,
                self.open,
            )
            step, size = self._step()
            share = min(1.0, LARGEST / size) if size else 1.0
            for _ in range(HALVINGS):
                self._apply(states, period, shift, legs, share * step)
                if self.period > 0.0:
                    self._march()
                    if self.left < left:
                        break
                share *= 0.5
            else:
                self.states, self.period, self.shift, self.legs, self.left, self.open = (
                    states,
                    period,
                    shift,
                    legs,
                    left,
                    opened,
                )
                break
        if self.left > tolerance:
            raise AnalysisError(self._failure(tolerance))

    def _step(self) -> tuple[Array, float]:
        """The least change after which, to first order, nothing is left open; and how large it is."""
        m, sizes = len(self.legs), [leg.start.size for leg in self.legs]
        first = np.concatenate([[0], np.cumsum(sizes)])
        n = first[-1] + self._free.shape[1] + self.free
        rows = len(self.open[0])
        matrix = np.zeros((m * rows, n))
        # In the metric of what perturbations do to states, so that the least change is one of motions.
        factors = [np.linalg.qr(self._changes(leg.start))[1] for leg in self.legs]
        inverse = [np.linalg.inv(factor) for factor in factors]
        for k, leg in enumerate(self.legs):
            here = slice(k * rows, (k + 1) * rows)
            matrix[here, first[k] : first[k + 1]] += self._changes(leg.end) @ leg.flow @ inverse[k]
            after, last = (k + 1) % m, k + 1 == m
            own = self._changes(self.legs[after].start, carry=last)
            matrix[here, first[after] : first[after + 1]] -= own @ inverse[after]
            if self.free:
                matrix[here, -1] = self._later(leg.end.state) / m * self.period
        moved = self.shift.of(self.states[0])
        matrix[-rows:, first[-1] : first[-1] + self._free.shape[1]] = -self._generators(moved)
        found = np.asarray(np.linalg.lstsq(matrix, -np.concatenate(self.open), rcond=FLAT)[0], float)
        size = float(np.abs(found[: first[-1]]).max(initial=0.0))
        for k in range(m):
            found[first[k] : first[k + 1]] = inverse[k] @ found[first[k] : first[k + 1]]
        if self.free:
            found[-1] *= self.period
        return found, size

    def _apply(self, states: list[State], period: float, shift: Displacement, legs: list[Leg], step: Array) -> None:
        sizes = [leg.start.size for leg in legs]
        first = np.concatenate([[0], np.cumsum(sizes)])
        self.period = period + (step[-1] if self.free else 0.0)
        amounts = self._free @ step[first[-1] : first[-1] + self._free.shape[1]]
        self.shift = shift.then(self.candidates, amounts)
        self.states = [
            perturbed_state(self.system, leg.start, step[first[k] : first[k + 1]]) for k, leg in enumerate(legs)
        ]

    def _failure(self, tolerance: float) -> str:
        return (
            f"no periodic motion was found near the guess: after {self.period:.6g} s {self.left:.2g} lengths of the "
            f"model or radians are left open, {tolerance:.1g} are allowed; give a guess that is nearer, the right "
            "period, or more segments"
        )

    # --- what was found ----------------------------------------------------------------------------------------------

    def found(self) -> PeriodicMotion:
        """The periodic motion with its multipliers."""
        start = self.states[0]
        course = Course(self.system, start, start.t + self.period, self.formulation, self.integrator)
        leg = Leg(list(course.windows()))
        self._check_motion(leg)
        self.shift = self._nearest(leg.end.state, start)
        self._check_period(leg)
        begun = self._changes(leg.start, carry=True)
        ended = self._changes(leg.end)
        monodromy = np.asarray(np.linalg.lstsq(begun, ended @ leg.flow, rcond=None)[0], float)
        symmetry = unnoticed(self.eq, self.candidates, leg.windows, not self.driven)
        motion = course.motion(np.linspace(start.t, start.t + self.period, STORED))
        left = float(np.linalg.norm(self._difference(leg.end.state, self.shift.of(start))))
        trivial = self._trivial(leg.start, symmetry.combinations)
        return floquet(self.system, start, self.period, motion, leg.start, monodromy, trivial, symmetry.names, left)

    def _check_motion(self, leg: Leg) -> None:
        """Refuse a state that stands still, or only goes on along shifts: it has no period of its own."""
        if not self.free:
            return
        ahead, along = self._later(leg.start.state), self._generators(leg.start.state)
        moved = ahead - along @ np.linalg.lstsq(along, ahead, rcond=FLAT)[0] if along.shape[1] else ahead
        if np.linalg.norm(moved) * self.period <= STILL * (1.0 + self.period * np.linalg.norm(ahead)):
            what, use = (
                ("an equilibrium", "equilibrium") if np.linalg.norm(ahead) < STILL else ("a steady motion", "steady")
            )
            raise AnalysisError(
                f"the motion found from the guess is {what}, which has no period of its own; use mb.{use} and "
                "mb.linearize for it, start from a motion that swings, or give period="
            )

    def _trivial(self, bases: Bases, combinations: Array) -> Array:
        """Minimal perturbations (columns) by combinations of shifts and of being later."""
        point = OperatingPoint.at(self.eq, bases.state)
        ahead = later(point, self.places)
        motion, rate = (
            np.column_stack([part, time]) @ combinations
            for part, time in zip(small_motions(self.candidates, point, self.places), ahead, strict=True)
        )
        to_x, to_u = bases.from_motion
        y = to_x @ motion + to_u @ rate
        if self._n_own:
            y[len(y) - self._n_own :] += np.outer(own_rates(point, bases.equations), combinations[-1])
        return np.asarray(y, float)

    def _check_period(self, leg: Leg) -> None:
        """Refuse a period after which loads are others than at the start."""
        there = OperatingPoint.at(self.eq, leg.end.state).accelerations
        before = OperatingPoint.at(self.eq, self.states[0])
        back = collected(self.places, before.accelerations)
        now = collected(self.places, there)
        expected = self.shift.carry(self.places, back)
        reaches = self.reaches
        scale = max(float(np.abs(reaches * now).max(initial=0.0)), float(np.linalg.norm(self.system.gravity)))
        scale = max(scale, NONE * self.size * (2.0 * np.pi / self.period) ** 2)
        for name, place in self.places.items():
            off = float(np.abs((reaches * (now - expected))[place]).max(initial=0.0))
            if off > SAME_LOADS * scale:
                raise AnalysisError(
                    f"after {self.period:.6g} s all bodies are where they were, but the acceleration of {name!r} is "
                    f"another one, by {off:.2g} m/s^2: loads or drivers have not come back, or something is not round; "
                    "give a period that is one of the drive"
                )


def first_dip(away: Array) -> int | None:
    """Where distances first come back to a small part of how large they were; None if they do not."""
    largest = np.maximum.accumulate(away)
    for k in range(2, len(away) - 1):
        if away[k] <= RETURN * largest[k] and away[k] <= away[k - 1] and away[k] <= away[k + 1]:
            return k
    return None
