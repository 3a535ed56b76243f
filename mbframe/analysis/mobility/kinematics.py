"""Kinematics and inverse dynamics: the motion of a fully driven mechanism, and what it takes to drive it."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...bodies.formulations import Formulation
from ...equations.equations import Equations
from ...equations.redundancy import at_limit, kept_gap, may_stay, misfit_message
from ...errors import AnalysisError, ModelError, Problem, SimulationError, check_kinds
from ...joints.driven import Drive
from ...results import Info, Result
from ...solvers.stabilization import DirectCorrection
from ...solvers.starting import CLOSED, refuse_conflicting_drivers
from ...solvers.verdict import ROUNDING
from ...state import State
from ...system import System
from ..states.assemble import Assembler
from .freedom import Rank, singularity

Array = NDArray[np.float64]

TOLERANCE = 1e-14  # of the constraint residuals; rounding limits what is reached
LARGEST_STEP = 0.5  # rad, or lengths of the model, between positions that are computed
SMALLEST_STEP = 1e-10  # relative to the time: where no position follows within it, the mechanism is stuck
MISS = 0.2  # part of a step by which its prediction may be wrong; shorter steps stay on the branch of the motion
FREE = 1e-6  # part of a random acceleration that constraints must not leave free
STRONG = 0.3  # part of the strongest joint in a singular position from which on others are named too
LISTED = 5


def kinematics(
    system: System,
    t_eval: ArrayLike,
    *,
    initial: State | None = None,
    formulation: Formulation | None = None,
) -> Result:
    """Positions, velocities and accelerations of a mechanism whose drivers leave no freedom.

    From the described position (at t = 0) the motion is followed in time: a position is predicted from the velocity
    and acceleration of the one before and corrected by Newton's method; steps are so small that the prediction is good,
    and the motion stays on its branch however far apart the instants lie. Positions hold to rounding, and with them
    velocities and accelerations, which follow from linear equations. Forces have no influence.

    A position in which the drivers do not determine the velocities (a dead point, a branching) is reported in
    `info.warnings`; one beyond which there is none is an `AnalysisError` with its time and the joints that lock.

    Parameters
    ----------
    system
        A system with a driver (`Driver`, `PointDriver`, `Prescribed`) for each freedom; freedoms that are left are an
        `AnalysisError` with their number and the bodies that can move.
    t_eval
        Increasing instants, s.
    initial
        Where the motion begins, and when; by default where the model is described, at t = 0. What violates the
        constraints is assembled first.
    formulation
        Coordinates of the rigid bodies, instead of their own choice.
    """
    return Follower("kinematics", system, initial, formulation).result(_instants("kinematics", t_eval))


def inverse_dynamics(
    system: System,
    t_eval: ArrayLike,
    *,
    initial: State | None = None,
    formulation: Formulation | None = None,
) -> Result:
    """The forces that a driven motion takes: `result.driving_force(driver)`, and the reactions of all joints.

    The motion is that of `kinematics`, with the same arguments; then M v' = Q - J^T lambda gives the multipliers. Where
    constraints depend on each other `info.warnings` names the drivers whose force is not unique; of the others it is.
    Own states of force elements stay as they are at the start.
    """
    follower = Follower("inverse_dynamics", system, initial, formulation)
    result = follower.result(_instants("inverse_dynamics", t_eval))
    result.info.warnings += follower.ambiguous_forces()
    if moving := [f.force.name for f in follower.eq.tables.forces if f.force.states]:
        names = ", ".join(map(repr, moving))
        result.info.warnings.append(f"own states of {names} were kept as at the start; simulate(...) integrates them")
    return result


def _instants(caller: str, t_eval: ArrayLike) -> Array:
    try:
        instants = np.atleast_1d(np.array(t_eval, float))
    except (TypeError, ValueError):
        instants = np.empty(0)
    if instants.ndim != 1 or not len(instants) or not np.all(np.isfinite(instants)) or np.any(np.diff(instants) <= 0.0):
        message = f"found {t_eval!r}; allowed are increasing instants (s); give a list such as np.linspace(0, 1, 101)"
        raise ModelError([Problem(caller, "t_eval", message)])
    return instants


class Follower:
    """Follows the motion of a fully driven system in time. The state of `eq` is the position reached."""

    def __init__(self, caller: str, system: System, initial: State | None, formulation: Formulation | None) -> None:
        check_kinds(caller, system=(system, System), initial=(initial, State), formulation=(formulation, Formulation))
        self.eq = eq = Equations(system, formulation)
        self.info = Info(warnings=list(eq.notices))
        start = initial.checked(system.bodies) if initial is not None else eq.described()
        assembler = Assembler(eq, start, set(), TOLERANCE)
        self.t = start.t
        eq.bind("correct", DirectCorrection(tolerance=TOLERANCE).bound(eq))
        q, v, z = (part.copy() for part in eq.split(eq.coordinates(start)))
        gap = float(np.linalg.norm(eq.violation(start.t, eq.coordinates(start))[0]))
        if gap > CLOSED:
            q = assembler.closed()
            self.info.warnings.append(f"the initial position violated the constraints by {gap:.3g}; it was assembled")
        usual = self._refuse_freedoms(eq.state(start.t, np.concatenate([q, v, z])))
        self.redundant, self.rank = usual.redundant > 0, usual.rank
        eq.set_state(q, v, z)
        eq.call("correct", self.t)
        self.gap = max(CLOSED, 2.0 * self._open())
        eq.accept(self.t)
        # Velocities in rad/s, or lengths of the model per second. First come those of a body's origin; rates of
        # Euler parameters are half an angular velocity.
        self.scale = np.full(eq.n_v, 2.0)
        for b in eq.tables.bodies:
            self.scale[b.v : b.v + eq.system.dimension] = 1.0 / assembler.size
        # Accelerations of size one where nothing is constrained.
        mass = eq.evaluate(self.t, eq.work.q, eq.work.v).mass.diagonal()
        self.probe = np.concatenate([mass * np.random.default_rng(0).normal(size=eq.n_v), np.zeros(eq.n_rows)])

    def _refuse_freedoms(self, at: State) -> Rank:
        """The equations at the start, which must leave nothing free."""
        eq = self.eq
        q, v, z = eq.split(eq.coordinates(at))
        here = Rank(eq, at.t, q, v, z)
        if here.count:
            if text := singularity(eq, at, here):
                joints = self._weak_joints(here, np.linalg.svd(here.matrix)[0][:, here.rank :])
                raise AnalysisError(
                    f"t = {at.t:g} s: the motion begins in a singular position, {joints}: {text}; pass another initial="
                )
            number = f"{here.count} degree{'s' if here.count > 1 else ''} of freedom"
            raise AnalysisError(
                f"System {eq.system.name!r}: the drivers leave {number} ({self._movable(here)} can move); add a "
                "mb.Driver for each, or use mb.simulate, which computes free motions too"
            )
        holonomic = here.places[: eq.tables.n_holonomic]
        if np.linalg.matrix_rank(here.matrix[holonomic[holonomic >= 0]], tol=here.tolerance) < here.rank:
            raise AnalysisError(
                f"System {eq.system.name!r}: rolling contacts leave positions to be integrated from velocities; use "
                "mb.simulate"
            )
        return here

    def result(self, instants: Array) -> Result:
        """The motion at the given instants."""
        eq, began = self.eq, time.perf_counter()
        first, last = min(self.t, instants[0]), max(self.t, instants[-1])
        refuse_conflicting_drivers(eq, first, last)
        drivers = [joint for joint in eq.system.joints if isinstance(joint, Drive)]
        self.info.warnings += [remark for driver in drivers for remark in driver.remarks(float(first), float(last))]
        states = np.zeros((len(instants), eq.n_q + eq.n_v + eq.n_z))
        singular: list[float] = []
        for k, t in enumerate(instants):
            self._advance(float(t))
            states[k] = eq.work.y
            if self._has_freedom():
                singular.append(self.t)
        self.info.warnings += self._singular_positions(singular, dict(zip(instants.tolist(), states, strict=True)))
        gap = float(eq.work["gap"])
        if gap > ROUNDING:
            self.info.warnings.append(kept_gap(eq, gap))
        self.info.wall_time = time.perf_counter() - began
        return Result(eq, instants, states, self.info)

    def _advance(self, end: float) -> None:
        """Follow the motion up to a time."""
        eq, work = self.eq, self.eq.work
        h = end - self.t
        while self.t != end:
            t, y = self.t, work.y.copy()
            q, v, _ = eq.split(y)
            v_rate, _ = eq.accelerate(t, q, v)
            rate = np.abs(self.scale * v).max()
            h = np.copysign(min(abs(h), LARGEST_STEP / rate if rate > 0.0 else np.inf), end - t)
            while True:
                last = abs(end - t) <= abs(h) * (1.0 + 1e-9)
                h = end - t if last else h
                predicted = eq.displaced(q, h * v + 0.5 * h * h * v_rate)
                if self._reached(t + h, predicted, v + h * v_rate, q):
                    break
                eq.set_state(*eq.split(y))
                if abs(h) <= SMALLEST_STEP * max(1.0, abs(t)):
                    raise self._stuck()
                h *= 0.5
            self.t = end if last else t + h
            eq.accept(self.t)
            self.info.steps += 1
            h *= 2.0

    def _reached(self, t: float, predicted: Array, v: Array, before: Array) -> bool:
        """Correct a prediction for the time t; False if that fails, or leads far away from it."""
        self.eq.set_state(predicted, v)
        try:
            self.eq.call("correct", t)
        except SimulationError as error:
            if error.__cause__ is not None:  # a function that has no value there
                raise
            return False
        # Behind a dead point no displacement closes it. Redundant joints that do not fit exactly stay open, too.
        if self._open() > self.gap and not (self.redundant and may_stay(self.eq)):
            return False
        miss = np.linalg.norm(self.eq.work.q - predicted)
        rounding = 1e-9 * (1.0 + np.linalg.norm(predicted))
        return bool(miss <= MISS * np.linalg.norm(predicted - before) + rounding)

    def _open(self) -> float:
        """How far constraints are open at the state that was corrected last."""
        return float(np.linalg.norm(self.eq.work.residual))

    # --- singular positions ------------------------------------------------------------------------------------------

    def _has_freedom(self) -> bool:
        """Whether constraints and drivers leave an acceleration free here: it would follow a random load."""
        eq = self.eq
        eq.accelerate(self.t, eq.work.q, eq.work.v)
        return bool(np.abs(eq.solve(self.probe)[: eq.n_v]).max() > FREE)

    def _stuck(self) -> AnalysisError:
        eq = self.eq
        eq.accelerate(self.t, eq.work.q, eq.work.v)
        if self.redundant and at_limit(eq):  # up to here they were kept, and grew with the motion
            return AnalysisError(f"t = {self.t:.9g} s: {misfit_message(eq)}")
        here = Rank(eq, self.t, eq.work.q.copy(), eq.work.v.copy(), eq.work.z.copy())
        left = np.linalg.svd(here.matrix)[0]  # so near to the dead point its equation may have been lost already
        joints = self._weak_joints(here, left[:, here.rank - 1 : max(here.rank, self.rank)])
        return AnalysisError(
            f"t = {self.t:.9g} s: dead point, {joints}: no position follows, the drivers ask for more than the "
            "mechanism can do; change the functions of the drivers or the lengths of the parts"
        )

    def _singular_positions(self, times: Iterable[float], states: dict[float, Array]) -> list[str]:
        """One warning for each singular position, the first few by name."""
        notes = []
        for t in list(times)[:LISTED]:
            here = Rank(self.eq, t, *self.eq.split(states[t]))
            left = np.linalg.svd(here.matrix)[0]
            joints = self._weak_joints(here, left[:, here.rank - 1 :])
            notes.append(
                f"t = {t:.9g} s: singular position (dead point), {joints}: the drivers do not determine velocities and "
                "accelerations there, and the mechanism may branch"
            )
        if (more := len(list(times)) - LISTED) > 0:
            notes.append(f"… and {more} further singular positions")
        return notes

    def _weak_joints(self, here: Rank, combinations: Array) -> str:
        """The drivers and joints that take part in combinations of equations."""
        parts = {
            owner: float(np.linalg.norm(combinations[here.places[rows]]))
            for owner, rows in self.eq.owned_rows().items()
            if np.all(here.places[rows] >= 0)
        }
        strong = [owner for owner, part in parts.items() if part > STRONG * max(parts.values())]
        strong.sort(key=lambda owner: (not isinstance(owner, Drive), -parts[owner]))
        return ", ".join(map(str, strong[:LISTED]))

    def _movable(self, here: Rank) -> str:
        """The bodies that free velocities move."""
        moved = [
            repr(b.body.name)
            for b in self.eq.tables.bodies
            if np.abs(here.free[b.v_slice]).max() > 1e-6 * np.abs(here.free).max()
        ]
        return ", ".join(moved[:LISTED]) + (", …" if len(moved) > LISTED else "")

    def ambiguous_forces(self) -> list[str]:
        """A warning for the drivers that share their load with other constraints in a way that is not unique."""
        eq = self.eq
        here = Rank(eq, self.t, eq.work.q.copy(), eq.work.v.copy(), eq.work.z.copy())
        drivers = [
            owner
            for owner, rows in eq.owned_rows().items()
            if isinstance(owner, Drive) and np.abs(here.dependencies[here.places[rows]]).max(initial=0.0) > FREE
        ]
        return [
            f"{driver}: its force is not unique, because other equations hold the same motion" for driver in drivers
        ]
