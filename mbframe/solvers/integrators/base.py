"""The base class of integrators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations, Strategy
from ...equations.workspace import Record
from ...errors import ModelError
from ...kernels.integrators.schedule import SAME
from ...parameters import parameter
from ..schedule import Schedule
from ..strategy import SolverStrategy

Array = NDArray[np.float64]

MAX_STEP: Final[Any] = parameter(
    None, kind="number", unit="s", above=0.0, help="longest step; by default none but what loads and tolerance ask for"
)
"""Of every adaptive integrator."""


OF_A_RUN: Final = ("_start", "_end", "_dt", "_data", "_schedule", "_solution")
"""Attributes in which an integrator keeps what belongs to one run."""


class Integrator(SolverStrategy):
    """How a step is taken.

    To write your own fixed-step integrator, give `step`; `eq.accelerate(t, q, v)` returns v' and the multipliers,
    `eq.coordinate_rates(q, v)` returns q':

        class SymplecticEuler(mb.Integrator):
            order = 1
            def step(self, eq, t, q, v, h):
                v = v + h * eq.accelerate(t, q, v)[0]
                return q + h * eq.coordinate_rates(q, v), v

    Own states of elements (actuators, filters) stand behind the velocities in v, and their rates behind v' in what
    `accelerate` returns; `coordinate_rates` takes such a v. So a step that only adds and scales q, v and their rates
    carries them along by its own formula. `eq.n_v` is the number of velocities alone.

    A step during which a load jumps is taken in two parts, up to that instant and from it on: h is then shorter than
    `dt`, as that of the last step of a run may be.

    A subclass with its own compiled stage gives `stage(eq)` and `interpolation(eq)`.
    """

    method = "step"
    adaptive: ClassVar[bool] = False
    implicit: ClassVar[bool] = False
    """Whether a step solves for accelerations and multipliers itself: then no other strategy can."""

    _schedule: Schedule | None = None
    _data: Record | None = None
    """What the compiled steps of our own integrators read."""
    damps: ClassVar[bool] = False
    """Whether it damps vibrations that its steps do not resolve: then energy that a run loses is by intention."""

    def step(self, eq: Equations, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
        """q and v at t + h."""
        raise NotImplementedError(f"{type(self).__name__} does not define step(self, eq, t, q, v, h)")

    def __getstate__(self) -> dict[str, Any]:
        """What was chosen: what a run left here has addresses of this process, and belongs to no copy."""
        return {name: value for name, value in super().__getstate__().items() if name not in OF_A_RUN}

    def begin(self, t: float, t_end: float, dt: float | None) -> None:
        """The interval of a run, whose end may be infinite; called once before `stage`."""
        self._start, self._end, self._dt, self._data = t, t_end, dt, None

    def restart(self, t: float) -> None:
        """Begin anew at another time, with the same steps."""
        if self._data is None:
            self.begin(t, self._end, self._dt)
        else:
            self._start = self._data["t_start"] = t

    def heed(self, schedule: Schedule | None) -> None:
        """Where steps of a run must end, and adaptive ones be short; called before `stage`, and for later stretches."""
        self._schedule = schedule
        if self._data is not None:
            self._data["schedule"] = self._scheduled()

    def _scheduled(self) -> Record | int:
        """The schedule as steps read it."""
        return self._schedule.record() if self._schedule is not None else 0

    def interpolation(self, eq: Equations) -> Strategy | None:
        """The stage that evaluates the last step in between; None: cubic Hermite interpolation."""
        return None

    def callback(self, eq: Equations) -> Callable[[float, int], None]:
        dt = self._dt
        assert dt is not None
        work = eq.work

        def step(t: float, n: int) -> None:
            after, end = self._start + (int(work["steps"]) + 1) * dt, float(work["t_end"])
            if after > end - SAME * dt:
                after = end
            stop = float(work["next_sample"])
            if self._schedule is not None:
                jump, work["low"], work["high"], _, _ = self._schedule.limits(t)
                stop = min(stop, jump)
            whole = stop > after - SAME * dt
            after = stop if stop < after + SAME * dt else after
            low, high = float(work["low"]), float(work["high"])
            q, v, at = work.q.copy(), np.concatenate([work.v, work.z[: eq.n_own]]), max(t, low)
            with eq.following(t, low, high) as following:
                q, v = self.step(eq, at, q, v, min(after, high) - at)
                if np.size(v) != eq.n_v + eq.n_own:
                    raise ModelError(
                        f"{type(self).__name__}.step returned {np.size(v)} numbers as v; allowed are "
                        f"{eq.n_v + eq.n_own}: the velocities, and behind them {eq.n_own} own states of elements"
                    )
                following.end(after, q, v[: eq.n_v], v[eq.n_v :])
            work["t"] = after
            work["steps"] = work["steps"] + whole

        return step
