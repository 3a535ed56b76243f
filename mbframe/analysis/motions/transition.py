"""How small changes of a motion grow: the equations of variation along any run, and their transition matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...bodies.formulations import Formulation
from ...equations.equations import Equations
from ...errors import AnalysisError, ModelError, Problem, check_kinds
from ...forces.contact import Contact
from ...results import Result
from ...solvers.integrators import DormandPrince, Integrator
from ...solvers.schedule import scheduled
from ...solvers.simulate import simulate
from ...solvers.starting import extent
from ...state import State
from ...system import System
from ..linear.displacement import displaced
from ..states.assemble import consistent
from ..states.controllers import refuse_sampled
from ..states.evaluate import evaluate
from . import collocation
from .variation import Bases, Window, on_side, window

Array = NDArray[np.float64]

SHORTEST: Final = 1e-7
"""Part of the motion below which a window is not divided: there is a jump in it."""
STEPS: Final = DormandPrince(order=8, rtol=1e-8, atol=1e-10)
"""Some of its accepted steps are a first window."""
TOGETHER: Final = 3
"""So many of them: a window of seven points holds more than a step."""
SAFETY: Final = 0.8
CHANGES: Final = (0.2, 2.5)
"""Of the duration of a window that suits its error, and how it may change from one window to the next."""
AHEAD: Final = 6
"""Windows for which the motion is computed at once."""
MOST: Final = 20_000
"""Windows of a motion."""
ACCURATE: Final = DormandPrince(order=8, rtol=1e-12, atol=1e-13)
"""By what the motion is repeated: variations cannot be better than it."""
LISTED: Final = 5
"""Jumps that are told one by one."""
DEPARTED: Final = 1e-4
"""Part of the model's size by which the run may differ from its accurate repetition."""


@dataclass(frozen=True)
class Flow:
    """Variations along a motion: y' = A(t) y for minimal perturbations y = (x, u, zeta), as `mb.linearize` has them.

    x are the admissible displacements of all bodies and u their velocities, both measured by the mass, so that u^T u/2
    is a kinetic energy; zeta the changes of own states of force elements. Which bases of the admissible motions these
    are is arbitrary at the first instant; then they follow the motion and turn as little as the constraints allow.

    Attributes
    ----------
    t
        Instants, s: those of the run.
    A
        (n, k, k): the coefficients at each instant, 1/s.
    matrix
        (n, k, k): the transition matrix from the first to each instant, y(t) = matrix y(0).
    exponents
        (k,): finite-time Lyapunov exponents, 1/s: ln(singular values of the last matrix)/duration, in falling order.
    motion
        The accurate repetition of the run along which the variations were taken, at the same instants.
    """

    t: Array
    A: Array
    matrix: Array
    motion: Result
    bases: list[Bases] = field(repr=False)  # at the first and the last instant

    @property
    def size(self) -> int:
        """k: number of minimal perturbations."""
        return self.A.shape[1]

    @cached_property
    def exponents(self) -> Array:
        """Finite-time Lyapunov exponents, 1/s."""
        duration = self.t[-1] - self.t[0]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.linalg.svd(self.matrix[-1], compute_uv=False)) / duration, float)

    def perturbed(self, y: ArrayLike, amplitude: float = 1.0) -> State:
        """The state at the start, displaced by amplitude times the perturbation y, with all joints closed.

        To be simulated beside the motion: for small amplitudes the difference is amplitude times `matrix` y.
        """
        change = np.array(y, float)
        if change.shape != (self.size,) or not np.all(np.isfinite(change)):
            message = f"found shape {change.shape}; allowed are {self.size} finite numbers, such as a row of np.eye"
            raise ModelError([Problem("Flow.perturbed", "y", message)])
        return perturbed_state(self.motion.system, self.bases[0], amplitude * change)

    def __repr__(self) -> str:
        return f"<Flow of {self.size} perturbations over {self.t[-1] - self.t[0]:.6g} s>"


def transition(
    system: System, result: Result, *, formulation: Formulation | None = None, integrator: Integrator | None = None
) -> Flow:
    """Integrate the variations of a motion: how all small changes of its first state grow along it.

    The motion is repeated from its first instant with high accuracy, and the exact derivatives of the constrained
    equations along it are integrated by collocation (Radau IIA) in independent coordinates, so that perturbations obey
    all constraints, nonholonomic ones included, to rounding.

    Parameters
    ----------
    system
        What moves; it must be as it was in the run.
    result
        A run of `mb.simulate`, or the `motion` of a periodic one.
    formulation
        Coordinates of rigid bodies for the repetition and the derivatives; the result does not depend on them.
    integrator
        An adaptive one for the repetition; by default `DormandPrince(order=8, rtol=1e-12, atol=1e-13)`. Choose
        `RadauIIA(rtol=1e-10)` for stiff systems.

    Returns
    -------
    Flow
        With a warning where coefficients jump: forces with jumps or kinks in the state are differentiated on either
        side, and a jump of a velocity (an impact) is not seen by derivatives at all.
    """
    check_kinds(
        "transition",
        system=(system, System),
        result=(result, Result),
        formulation=(formulation, Formulation),
        integrator=(integrator, Integrator),
    )
    instants = np.array(result.t, float)
    if len(instants) < 2:
        message = f"found {len(instants)} instants; a motion has two at least, give a run of some duration"
        raise ModelError([Problem("transition", "result", message)])
    course = Course(system, result.state(0), float(instants[-1]), formulation, integrator)
    motion = course.motion(instants)
    _warn_of_departure(course, result, motion)
    A, matrix, done = [], [], np.eye(0)
    windows = list(course.windows())
    done, k = np.eye(windows[0].bases[0].size), 0
    for part in windows:
        end = part.start + part.duration
        while k < len(instants) and (instants[k] <= end or part is windows[-1]):
            here, since = part.at(instants[k])
            A.append(here)
            matrix.append(since @ done)
            k += 1
        done = part.flow[-1] @ done
    return Flow(instants, np.array(A), np.array(matrix), motion, [windows[0].bases[0], windows[-1].bases[-1]])


class Course:
    """A motion from a state to an end, repeated accurately, and cut into windows that resolve its variations."""

    def __init__(
        self,
        system: System,
        start: State,
        end: float,
        formulation: Formulation | None = None,
        integrator: Integrator | None = None,
    ) -> None:
        self.system, self.start, self.end = system, start, end
        self.formulation, self.integrator = formulation, integrator or ACCURATE
        self.eq = Equations(system, formulation)
        refuse_sampled(self.eq)

    def motion(self, instants: Array, start: State | None = None) -> Result:
        """The motion at some instants, from its start or from a later state."""
        begin = start or self.start
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the first run has told them
            return simulate(
                self.system,
                max(float(instants[-1]), np.nextafter(begin.t, np.inf)),
                initial=begin,
                t_eval=instants,
                formulation=self.formulation,
                integrator=self.integrator,
            )

    def windows(self, before: Bases | None = None) -> Iterator[Window]:
        """Windows one after the other, each so short that the motion is resolved in it."""
        shortest = SHORTEST * (self.end - self.start.t)
        state, duration, jumps, count = self.start, self._first_duration(), list[tuple[State, State]](), 0
        while state.t < self.end:
            for span, states in self._ahead(state, duration):
                length = span[1] - span[0]
                found = window(self.eq, states, span[0], length, before)
                better = float(np.clip(SAFETY * max(found.error, 1e-30) ** (-1.0 / collocation.POINTS), *CHANGES))
                duration = max(length * better, shortest)
                if found.error > 1.0:
                    if length > 1.5 * shortest:  # its ends are rounded
                        break
                    jumps.append((states[0], states[-1]))
                state, before = on_side(states[-1], span[1]), found.bases[-1]
                yield found
                count += 1
                if count > MOST:
                    raise AnalysisError(
                        f"{self.system.name!r}: the coefficients of the variations change so fast near t = "
                        f"{state.t:.6g} s that {MOST:,} windows do not reach the end: a stiff contact or limit, or a "
                        "vibration of a very high frequency; take a shorter run, or a softer element"
                    )
        if jumps:
            warnings.warn(_of_jumps(self.system, jumps), stacklevel=4)

    @cached_property
    def sides(self) -> dict[float, tuple[float, float]]:
        """Jumps of functions of time: the instant before and that behind each of them."""
        y = self.eq.coordinates(self.start)
        breaks = scheduled(self.eq, y, self.start.t, self.end, None, False).breaks
        return {float(at): (float(low), float(high)) for low, at, high, *_ in breaks}

    def _first_duration(self) -> float:
        """Some steps of a run."""
        steps = simulate(self.system, self.end, initial=self.start, formulation=self.formulation, integrator=STEPS).t
        return float(steps[min(TOGETHER, len(steps) - 1)] - self.start.t)

    def _ahead(self, start: State, duration: float) -> list[tuple[tuple[float, float], list[State]]]:
        """Some windows (first, last) from a state on, up to the next jump, with the states at their places."""
        end = min([at for at in self.sides if start.t < at < self.end], default=self.end)
        number = max(1, int(np.ceil((end - start.t) / duration - 1e-9)))
        last = end if number <= AHEAD else start.t + AHEAD * duration
        edges = np.linspace(start.t, last, min(number, AHEAD) + 1)
        places = collocation.places()
        inner = [first + (after - first) * places[1:-1] for first, after in pairwise(edges)]
        instants = np.unique(np.concatenate([edges, *inner]))
        motion = self.motion(instants, start)
        found = []
        for k, (first, after) in enumerate(pairwise(edges.tolist())):
            rows = range(k * collocation.POINTS, (k + 1) * collocation.POINTS + 1)
            states = [motion.state(row) for row in rows]
            if first in self.sides:
                states[0] = on_side(states[0], self.sides[first][1])
            if after in self.sides:
                states[-1] = on_side(states[-1], self.sides[after][0])
            found.append(((first, after), states))
        return found


def _warn_of_departure(course: Course, result: Result, motion: Result) -> None:
    """Warn where the run and its accurate repetition are no longer the same motion."""
    names = [body.name for body in course.system.bodies]
    away = np.max([np.linalg.norm(np.asarray(result.position(n) - motion.position(n)), axis=1) for n in names], axis=0)
    allowed = DEPARTED * extent(course.eq, course.start)
    if away.max() > allowed:
        first = int(np.argmax(away > allowed))
        warnings.warn(
            f"the run differs from its accurate repetition by {away[first]:.3g} m at t = {result.t[first]:.6g} s and "
            f"by {away.max():.3g} m at most; the variations are those of the repetition, flow.motion. Simulate with a "
            "smaller rtol, or over a shorter time if the motion is chaotic",
            stacklevel=3,
        )


def _of_jumps(system: System, jumps: list[tuple[State, State]]) -> str:
    listed = ", ".join(f"{after.t:.6g}" for _, after in jumps[:LISTED]) + (", ..." if len(jumps) > LISTED else "")
    names = dict.fromkeys(name for before, after in jumps[:LISTED] for name in _switched(system, before, after))
    who = f" {', '.join(map(repr, names))}" if names else " a force"
    said = (
        f"{system.name!r}: the coefficients of the variations jump or have a kink at t = {listed} s, where{who} begins "
        "or ceases to act or reverses (a contact, a limit, a friction): derivatives are taken on either side of it. "
        "That is exact where the load itself does not jump; a jump of a load that depends on the state shifts its own "
        "time, which adds a change that they do not see"
    )
    sensing = [f for f in system.forces if isinstance(f, Contact) and f.restitution < 1.0 and f.impact_speed is None]
    if sensing:
        said += (
            f". {', '.join(map(str, sensing[:LISTED]))} senses the speed of its impacts, and ceases to when it "
            "touches: that is such a jump; with impact_speed= it has none"
        )
    return said


def _switched(system: System, before: State, after: State) -> list[str]:
    """Names of the force elements that act on one side of a jump only, or the other way round."""
    sides = [evaluate(system, state) for state in (before, after)]
    found = []
    for force in system.forces:
        a, b = (np.concatenate([part[0] for part in side.wrench(force)]) for side in sides)
        if bool(np.any(a)) != bool(np.any(b)) or a @ b < 0.0:
            found.append(force.name)
    return found


def perturbed_state(system: System, bases: Bases, y: Any) -> State:
    """A state displaced by a minimal perturbation, with all joints closed."""
    own = y[len(y) - len(bases.equations.own_feedback) :]
    moved = displaced(bases.state, bases.equations, bases.motion @ y, bases.velocity @ y, own, system)
    return consistent(system, moved, least=False)
