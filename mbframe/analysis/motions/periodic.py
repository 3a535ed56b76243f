"""Periodic motions: found by multiple shooting with exact tangents, up to shifts that the system does not notice."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...bodies.formulations import Formulation
from ...errors import AnalysisError, ModelError, Problem, check_kinds
from ...functions import Function
from ...joints.driven import Driver, Prescribed
from ...results import Result
from ...solvers.integrators import DormandPrince, Integrator
from ...solvers.schedule import time_functions
from ...solvers.simulate import simulate
from ...state import State
from ...system import System
from ..states.assemble import consistent
from .floquet import PeriodicMotion
from .shifts import Displacement
from .shooting import FLAT, Leg, Shooting
from .transition import perturbed_state

Array = NDArray[np.float64]

TOLERANCE: Final = 1e-9
"""What may be left open of a period, in lengths of the model or radians."""
EVEN: Final = np.array([0.0, 0.013, 0.17, 0.61, 1.9, 7.3, 31.0])
"""s: where rates of drivers are compared."""
ITERATIONS: Final = 25
HALVINGS: Final = 8
RETURN: Final = 0.2
"""Part of the range of a motion within which it must return to be guessed as periodic."""
SEARCHED: Final = 400
"""Instants at which a run is looked at for a return."""
SWINGS: Final = 10.0
LONGER: Final = 4
"""A return is looked for in a time of so many swings, and in up to 4, 16, 64 times of it."""
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


class Search(Shooting):
    """Newton's method for the states at the beginnings of segments, the period, and the shifts after it."""

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
        first = guess.state(0) if isinstance(guess, Result) else guess
        start = consistent(system, first.checked(system.bodies))
        super().__init__(system, start, period is None, driven, formulation, integrator)
        self.look(start, 0.02 * (period or self._span(start, guess)))
        self.period = period if period is not None else self._first_return(start, guess)
        moved = any(isinstance(joint, Driver | Prescribed) for joint in system.joints)
        count = 1 if self.free and moved else segments
        run = self._run(start, self.period, np.linspace(0.0, self.period, count + 1))
        self.states = [run.state(k) for k in range(count)]
        self.shift = self._nearest(run.state(count), self.states[0])

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
        return float(np.linalg.norm(self.difference(state, self.shift.of(start))))

    # --- Newton's method ---------------------------------------------------------------------------------------------

    def solve(self, tolerance: float) -> None:
        """Correct states, shifts and period until nothing is left open."""
        self.march()
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
                    self.march()
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
        matrix, inverse = self.matrix()
        sizes = [leg.start.size for leg in self.legs]
        first = np.concatenate([[0], np.cumsum(sizes)])
        found = np.asarray(np.linalg.lstsq(matrix, -np.concatenate(self.open), rcond=FLAT)[0], float)
        size = float(np.abs(found[: first[-1]]).max(initial=0.0))
        for k in range(len(sizes)):
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


def first_dip(away: Array) -> int | None:
    """Where distances first come back to a small part of how large they were; None if they do not."""
    largest = np.maximum.accumulate(away)
    for k in range(2, len(away) - 1):
        if away[k] <= RETURN * largest[k] and away[k] <= away[k - 1] and away[k] <= away[k + 1]:
            return k
    return None
