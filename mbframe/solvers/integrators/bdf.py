"""Backward differentiation formulas, by IDA of SUNDIALS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations, Strategy
from ...equations.failures import Begun, explained
from ...equations.following import Following
from ...errors import ModelError, SimulationError
from ...kernels.compiler.compile import PythonStage
from ...parameters import parameter
from ..schedule import Schedule
from .base import MAX_STEP, Integrator

Array = NDArray[np.float64]

RANK_LOST = 1e-9  # relative to the largest, size of what is left of a row of J that depends on others
SMALLEST_SIZE = 1e-3  # of coordinates and velocities: smaller ones, as at rest, tell nothing about the motion
FIRST_STEP = 1e-5  # behind a break, of the time to the next one; it shrinks as it must
OPEN = 1.0  # s, in the place of that time where it has no end
FAR = 1e9  # s, in which direction steps without an end go
MOST_STILL = 50  # steps that may leave the time as it is: some do where a run begins anew
UNCONTROLLED = 1e20  # absolute tolerance of multipliers: of index 2, they would fail every error test


class BDF(Integrator):
    """Implicit adaptive multistep method of variable order, one to five: IDA of SUNDIALS [Hindmarsh2005].

    Solves the stabilized equations of index 2 for (q, v, z, lambda, eta),

        q' = T (v - J^T eta),    M v' = Q - J^T lambda,    z' = ...,    J v + C_t = 0, D = 0,    C = 0,

    so that states satisfy the constraints at both levels to the tolerance. Equations that depend on others are
    left out; where these are no longer the same it begins anew. Residuals are evaluated from Python and
    differentiated by differences, so a step costs hundreds of times one of `RadauIIA`: it is here to compare with.

    The absolute tolerance, if none is given, is a tenth of the relative one times the largest coordinate or velocity at
    the start. Components of a body that turns pass through zero or stay there: held to a number of their own instead,
    the angular velocities of a light body would be followed by formulas of order one, because its constraints carry
    errors of positions over to them.

    Needs scikit-sundae: `pip install "mbframe[bdf]"`. `dt` of `simulate`, if given, is the first step tried.
    """

    rtol = parameter(1e-6, above=0.0, help="relative tolerance of a step")
    atol = parameter(
        None, kind="number", above=0.0, help="absolute tolerance of a step; by default from rtol and the first state"
    )

    max_step = MAX_STEP

    order = 5
    adaptive = True
    implicit = True
    damps = True
    _solution: _Solution | None = None

    def stage(self, eq: Equations) -> Strategy:
        solver = _solver()
        self._solution = solution = _Solution(eq, solver, self.rtol, self.atol, self._dt, self.max_step, self._schedule)
        python = PythonStage(solution.step)
        return Strategy(python.address, python=python, label=type(self).__name__)

    def heed(self, schedule: Schedule | None) -> None:
        super().heed(schedule)
        if self._solution is not None:
            self._solution.heed(schedule)

    def restart(self, t: float) -> None:
        super().restart(t)
        if self._solution is not None:
            self._solution.ida = None

    def interpolation(self, eq: Equations) -> Strategy:
        assert self._solution is not None
        python = PythonStage(self._solution.interpolate)
        return Strategy(python.address, python=python, label=type(self).__name__)


def _solver() -> Callable[..., Any]:
    try:
        from sksundae.ida import IDA
    except ImportError:
        raise ModelError('BDF needs the package scikit-sundae; install it with: pip install "mbframe[bdf]"') from None
    return IDA


class _Solution:
    """A run of IDA: its unknowns are (q, v, z, lambda, eta), the multipliers those of independent rows."""

    def __init__(
        self,
        eq: Equations,
        solver: Callable[..., Any],
        rtol: float,
        atol: float | None,
        dt: float | None,
        max_step: float | None,
        schedule: Schedule | None,
    ) -> None:
        self.eq, self.solver, self.dt, self.max_step = eq, solver, dt, max_step
        self.heed(schedule)
        self.low, self.high = -np.inf, np.inf  # the times at which residuals may be evaluated
        self.rtol, self.atol = rtol, atol
        self.n_y = eq.n_q + eq.n_v + eq.n_own
        self.ida: Any = None
        self.following: Following
        self.begun: Begun
        self.still = 0  # steps in a row that did not change the time
        self.asked = 0.0  # when residuals were last evaluated

    def heed(self, schedule: Schedule | None) -> None:
        """What steps must not pass, from now on."""
        self.schedule = schedule if schedule is not None and not schedule.empty else None

    def start(self, t: float, first_step: float | None) -> None:
        """Consistent values of all unknowns and their rates at the current state; IDA may choose the first step."""
        eq, work = self.eq, self.eq.work
        y = work.y.copy()
        q, v, z = eq.split(y)
        at = min(max(t, self.low), self.high)
        jacobian = eq.evaluate(at, q, v, z, dense=True).jacobian
        holonomic = eq.tables.n_holonomic
        self.rows, self.closing = independent(jacobian), independent(jacobian[:holonomic])
        _, multipliers = eq.accelerate(at, q, v, z)
        n_lambda, n_eta = len(self.rows), len(self.closing)
        if n_lambda < eq.n_rows:  # those that exert the same load without the rows left out
            load = jacobian.T @ multipliers
            multipliers = np.zeros(eq.n_rows)
            multipliers[self.rows] = np.linalg.lstsq(jacobian[self.rows].T, load, rcond=None)[0]
        whole = np.concatenate([y[: self.n_y], multipliers[self.rows], np.zeros(n_eta)])
        rates = np.concatenate([work.rates[: self.n_y], np.zeros(n_lambda + n_eta)])
        absolute = [np.full(len(part), self.absolute_tolerance(part)) for part in (q, v, z[: eq.n_own])]
        tolerances = np.concatenate([*absolute, np.full(n_lambda + n_eta, UNCONTROLLED)])
        options = {"first_step": first_step} if first_step else {}
        if self.max_step is not None:
            options["max_step"] = self.max_step
        self.ida = self.solver(
            self.residual,
            rtol=self.rtol,
            atol=tolerances,
            algebraic_idx=np.arange(self.n_y, len(whole)) if n_lambda + n_eta else None,
            **options,
        )
        self.ida.init_step(t, whole, rates)

    def outdated(self, t: float) -> bool:
        """Whether equations that were left out count now, as behind a dead point, or those that were kept depend."""
        eq = self.eq
        jacobian = eq.evaluate(min(max(t, self.low), self.high), *eq.split(eq.work.y.copy()), dense=True).jacobian
        return not len(independent(jacobian)) == len(self.rows) == len(independent(jacobian[self.rows]))

    def absolute_tolerance(self, values: Array) -> float:
        """Of coordinates, velocities or own states, given those of the start."""
        if self.atol is not None:
            return self.atol
        return self.rtol * max(SMALLEST_SIZE, 0.1 * float(np.abs(values).max(initial=0.0)))

    def residual(self, t: float, y: Array, rates: Array, out: Array) -> None:
        """What vanishes along a solution."""
        eq = self.eq
        n_q, n_v, n_y = eq.n_q, eq.n_v, self.n_y
        q, v, z = eq.split(y[:n_y])
        multipliers, closing = np.split(y[n_y:], [len(self.rows)])
        self.asked = min(max(t, self.low), self.high)
        e = eq.evaluate(self.asked, q, v, z, dense=True)
        whole = np.zeros(eq.n_rows)
        whole[self.rows] = multipliers
        force = eq.rub(self.asked, whole)
        eq.drive(self.rows, multipliers)
        drift = v - e.jacobian[self.closing].T @ closing
        out[:n_q] = rates[:n_q] - eq.coordinate_rates(q, drift)
        out[n_q : n_q + n_v] = e.mass @ rates[n_q : n_q + n_v] - force + e.jacobian[self.rows].T @ multipliers
        out[n_q + n_v : n_y] = rates[n_q + n_v : n_y] - eq.work.z_rate[: eq.n_own]
        out[n_y:] = np.concatenate([e.constraint_rate[self.rows], e.residual[self.closing]])

    def step(self, t: float, n: int) -> None:
        work = self.eq.work
        stop = min(float(work["t_end"]), float(work["next_sample"]))
        if work["restart"]:
            work["restart"], self.ida = 0, None
        if self.schedule is not None:
            until, self.low, self.high, longest, behind = self.schedule.limits(t)
            if self.schedule.watched:
                longest = min(longest, self.longest(t))
            stop = min(stop, until, t + longest)
            if behind and self.ida is not None:  # no formula reaches back over a break
                # For a sudden acceleration from rest IDA itself would choose a step too short to change the time.
                self.start(t, self.shortly(stop - t))
        if self.ida is not None and len(self.rows) < self.eq.n_rows and self.outdated(t):
            self.start(t, self.shortly(stop - t))
        if self.ida is None:
            self.start(t, self.dt if work["steps"] == 0 else self.shortly(stop - t))
        self.begun = t, work.y.copy()
        with self.eq.following(t, self.low, self.high) as self.following:
            last = stop if stop < np.inf else None
            reached, *state = self.take(self.ida.step(min(stop, t + FAR), method="onestep", tstop=last), t)
            self.still = 0 if reached > t else self.still + 1
            if self.still > MOST_STILL:  # IDA takes steps that do not change the time, and would do so for ever
                raise self.failure(t, "its steps have become too short to change the time")
            self.following.end(reached, *state)
        work["t"] = reached  # followers looked at the middle of the step
        work["steps"] = work["steps"] + 1

    def shortly(self, room: float) -> float:
        """The first step behind a jump, of the time to the next one."""
        return FIRST_STEP * min(room, OPEN)

    def longest(self, t: float) -> float:
        """How long a step may be for the arguments that are watched: half of what their rates now would allow."""
        eq, schedule = self.eq, self.schedule
        assert schedule is not None
        y = eq.work.y.copy()
        now, rates = schedule.rates(eq, y, t)
        eq.set_state(*eq.split(y))
        return 0.5 * schedule.longest(now, rates)

    def interpolate(self, t: float, n: int) -> None:
        """The state at an instant within the last step."""
        reached, q, v, own = self.take(self.ida.step(t), t)
        self.eq.set_state(q, v, np.concatenate([own, self.following.at(reached)]))
        self.eq.work["t"] = reached

    def take(self, result: Any, t: float) -> tuple[float, Array, Array, Array]:
        """The time reached, and q, v and own states there."""
        if not result.success:
            raise self.failure(t, result.message)
        return float(result.t), *self.eq.split(np.asarray(result.y)[: self.n_y])

    def failure(self, t: float, message: str) -> SimulationError:
        """What a step failed by: an element, if one can be blamed."""
        remedy = (
            "if a load jumps there, tell where with mb.Function(f, breakpoints=[...]); else bound the steps with "
            "max_step=, or increase rtol"
        )
        blamed = explained(self.eq, self.asked, self.begun)
        return blamed or SimulationError(f"IDA cannot go on: {message}; {remedy}", t, "BDF")


def independent(jacobian: Array) -> NDArray[np.intp]:
    """Rows of J of which none depends on the others, by a QR decomposition with pivoting."""
    from scipy.linalg import qr

    if not len(jacobian):
        return np.zeros(0, np.intp)
    triangle, order = qr(jacobian.T, mode="r", pivoting=True)
    sizes = np.abs(np.diag(triangle))
    return np.sort(order[: int(np.count_nonzero(sizes > RANK_LOST * sizes[0]))])
