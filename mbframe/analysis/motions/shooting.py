"""Multiple shooting: a period in segments, how small changes go through them, and what is left open after it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...bodies.formulations import Formulation
from ...equations.equations import Equations
from ...errors import AnalysisError
from ...solvers.integrators import Integrator
from ...solvers.starting import extent
from ...state import State
from ...system import System
from ..linear.displacement import differences
from ..linear.linear_equations import OperatingPoint, collected
from ..states.assemble import consistent
from ..states.controllers import refuse_sampled
from .floquet import FloquetMode, PeriodicMotion, floquet_modes
from .shifts import Displacement, later, own_rates, shifts, small_motions, unnoticed
from .transition import Course
from .variation import Bases, Window

Array = NDArray[np.float64]

STILL: Final = 1e-7
"""Lengths of the model or radians in a period: what stands still."""
NONE: Final = 1e-6
"""Part of a shift in a combination that is rounding."""
FLAT: Final = 1e-6
"""Relative size of singular values that are directions along which a motion may be chosen."""
REFINED: Final = 6
"""Steps for the shifts after which two states are nearest."""
STORED: Final = 201
"""Instants of the motion over a period."""
SAME_LOADS: Final = 1e-5
"""Part of the accelerations by which they may differ after a period."""


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


@dataclass(frozen=True)
class Cut:
    """A periodic motion as it is searched: states at the beginnings of its segments, period, shifts after it."""

    states: list[State]
    period: float
    shift: Displacement


class Shooting:
    """The segments of a motion, and the linear equations for states at their beginnings, the period and the shifts.

    Equations and unknowns are small motions and velocities of all bodies, in lengths of the model and radians; rates
    count in units of the period. `free` says whether the period is unknown, `driven` whether loads depend on the time.
    """

    def __init__(
        self,
        system: System,
        start: State,
        free: bool,
        driven: bool,
        formulation: Formulation | None = None,
        integrator: Integrator | None = None,
    ) -> None:
        self.system, self.formulation, self.integrator = system, formulation, integrator
        self.free, self.driven = free, driven
        self.eq = Equations(system, formulation)
        refuse_sampled(self.eq)
        self.candidates = shifts(self.eq)
        self.size = extent(self.eq, start)
        self.states: list[State] = [start]
        self.period, self.shift = 1.0, Displacement()
        self.legs: list[Leg] = []

    def look(self, start: State, duration: float) -> None:
        """Find places of small motions and symmetries in a first piece of the motion."""
        leg = Leg(list(Course(self.system, start, start.t + duration, self.formulation, self.integrator).windows()))
        self.places, self.reaches = leg.start.equations.places, leg.start.equations.reaches
        self.symmetry = unnoticed(self.eq, self.candidates, leg.windows, not self.driven)

    def cut(self, period: float, segments: int) -> None:
        """Cut the motion from its start on into segments, with the shifts after which it comes nearest to its start."""
        start = self.states[0]
        course = Course(self.system, start, start.t + period, self.formulation, self.integrator)
        run = course.motion(start.t + np.linspace(0.0, period, segments + 1))
        self.period = period
        self.states = [run.state(k) for k in range(segments)]
        self.shift = self._nearest(run.state(segments), start)

    def like(self, other: Shooting, cut: Cut) -> None:
        """Take over what does not depend on the values of a system, and where another motion is cut."""
        self.places, self.reaches, self.symmetry = other.places, other.reaches, other.symmetry
        self.period, self.shift = cut.period, cut.shift
        first, each = cut.states[0].t, cut.period / len(cut.states)
        retimed = [replace(state, t=first + k * each) for k, state in enumerate(cut.states)]
        self.states = [consistent(self.system, state, least=False) for state in retimed]

    @property
    def _free(self) -> Array:
        """Combinations of shifts (columns) that nothing resists; some need time to go on with them."""
        found = self.symmetry.combinations[:-1]
        return found[:, np.abs(found).max(axis=0, initial=0.0) > NONE]

    def _nearest(self, state: State, start: State) -> Displacement:
        """The shifts after which a start is nearest to a state; found from those known so far on."""
        shift = self.shift
        for _ in range(REFINED):
            if not self._free.shape[1]:
                break
            moved = shift.of(start)
            step = np.linalg.lstsq(self.generators(moved), self.difference(state, moved), rcond=FLAT)[0]
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

    def difference(self, state: State, other: State) -> Array:
        """What leads from another state to this one."""
        own = np.concatenate([np.zeros(0), *(state.element_states[n] - other.element_states[n] for n in self._having)])
        return self._weighed(*differences(self.places, state, other), own)

    @property
    def _having(self) -> list[str]:
        """Names of the elements with own states."""
        return [one.element.name for one in self.eq.tables.stateful]

    def generators(self, state: State) -> Array:
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

    def changes(self, bases: Bases, carry: bool = False) -> Array:
        """What minimal perturbations do to the state that they belong to, or to that after the shifts."""
        own = np.zeros((self._n_own, bases.size))
        own[:, bases.size - self._n_own :] = np.eye(self._n_own)
        motion, rate = bases.motion, bases.velocity
        if carry:
            motion, rate = (self.shift.carry(self.places, part) for part in (motion, rate))
        return self._weighed(motion, rate, own)

    # --- the segments ------------------------------------------------------------------------------------------------

    def march(self) -> None:
        """Go through all segments with their variations, and see what is left open."""
        each = self.period / len(self.states)
        self.legs = [
            Leg(list(Course(self.system, s, s.t + each, self.formulation, self.integrator).windows()))
            for s in self.states
        ]
        following = [*self.states[1:], self.shift.of(self.states[0])]
        self.open = [self.difference(leg.end.state, s) for leg, s in zip(self.legs, following, strict=True)]
        self.left = float(np.linalg.norm(np.concatenate(self.open)))

    def matrix(self) -> tuple[Array, list[Array]]:
        """How what is left open changes with states, shifts and period; and factors that measure changes of states.

        Columns: changes of the states in a measure in which they have the size of what they do to the motion, amounts
        of shifts, and the relative change of the period if that is unknown.
        """
        m, sizes = len(self.legs), [leg.start.size for leg in self.legs]
        first = np.concatenate([[0], np.cumsum(sizes)])
        n = first[-1] + self._free.shape[1] + self.free
        rows = len(self.open[0])
        matrix = np.zeros((m * rows, n))
        # In the metric of what perturbations do to states, so that the least change is one of motions.
        factors = [np.linalg.qr(self.changes(leg.start))[1] for leg in self.legs]
        inverse = [np.linalg.inv(factor) for factor in factors]
        for k, leg in enumerate(self.legs):
            here = slice(k * rows, (k + 1) * rows)
            matrix[here, first[k] : first[k + 1]] += self.changes(leg.end) @ leg.flow @ inverse[k]
            after, last = (k + 1) % m, k + 1 == m
            own = self.changes(self.legs[after].start, carry=last)
            matrix[here, first[after] : first[after + 1]] -= own @ inverse[after]
            if self.free:
                matrix[here, -1] = self._later(leg.end.state) / m * self.period
        moved = self.shift.of(self.states[0])
        matrix[-rows:, first[-1] : first[-1] + self._free.shape[1]] = -self.generators(moved)
        return matrix, inverse

    def found(self) -> PeriodicMotion:
        """The periodic motion with its multipliers, after a look at all of it in one piece."""
        self.states = self.states[:1]
        self.march()
        self._check_motion(self.legs[0])
        self._check_period(self.legs[0])
        self.symmetry = unnoticed(self.eq, self.candidates, self.legs[0].windows, not self.driven)
        return self.orbit()

    def check(self) -> None:
        """Refuse what has no period of its own, and a period after which loads are others than at the start."""
        whole = Leg([part for leg in self.legs for part in leg.windows])
        self._check_motion(whole)
        self._check_period(whole)

    @property
    def shift_count(self) -> int:
        """How many combinations of shifts nothing resists."""
        return int(self._free.shape[1])

    def gaps(self) -> list[Array]:
        """What is left open after each segment, by a run without variations."""
        each = self.period / len(self.states)
        following = [*self.states[1:], self.shift.of(self.states[0])]
        found = []
        for state, after in zip(self.states, following, strict=True):
            course = Course(self.system, state, state.t + each, self.formulation, self.integrator)
            found.append(self.difference(course.motion(np.array([state.t, state.t + each])).state(-1), after))
        return found

    def adapt_shift(self) -> None:
        """Choose the shifts after which the motion ends nearest to its start."""
        end = self.legs[-1].end.state
        self.shift = self._nearest(end, self.states[0])
        self.open[-1] = self.difference(end, self.shift.of(self.states[0]))

    def monodromy(self) -> Array:
        """What becomes of minimal perturbations of the first state in a period, seen from behind the shifts."""
        whole, m = np.eye(self.legs[0].start.size), len(self.legs)
        for k, leg in enumerate(self.legs):
            last = k + 1 == m
            following = self.changes(self.legs[(k + 1) % m].start, carry=last)
            whole = np.linalg.lstsq(following, self.changes(leg.end) @ leg.flow, rcond=None)[0] @ whole
        return np.asarray(whole, float)

    def modes(self) -> list[FloquetMode]:
        """The multipliers of the motion, with the perturbations that belong to them."""
        bases, known = self.legs[0].start, self.symmetry
        trivial = self._trivial(bases, known.combinations)
        return floquet_modes(self.system, self.period, bases, self.monodromy(), trivial, known.names)

    def orbit(self) -> PeriodicMotion:
        """The periodic motion along the segments."""
        start = self.states[0]
        self.shift = self._nearest(self.legs[-1].end.state, start)
        course = Course(self.system, start, start.t + self.period, self.formulation, self.integrator)
        motion = course.motion(np.linspace(start.t, start.t + self.period, STORED))
        left = float(np.linalg.norm(self.difference(motion.state(-1), self.shift.of(start))))
        return PeriodicMotion(self.system, self.period, start, motion, self.modes(), left, self.monodromy())

    def _check_motion(self, leg: Leg) -> None:
        """Refuse a state that stands still, or only goes on along shifts: it has no period of its own."""
        if not self.free:
            return
        ahead, along = self._later(leg.start.state), self.generators(leg.start.state)
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
