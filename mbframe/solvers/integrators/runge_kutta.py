"""Explicit Runge-Kutta methods: a method is a tableau."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations, Strategy
from ...equations.workspace import Record
from ...errors import Problem
from ...kernels.integrators.runge_kutta import RUNGE_KUTTA, interpolate_runge_kutta, runge_kutta
from ...parameters import parameter
from .base import MAX_STEP, Integrator
from .tableaus import CLASSICAL, DORMAND_PRINCE, Tableau

Array = NDArray[np.float64]


class RungeKutta(Integrator):
    """An explicit Runge-Kutta method given by a `Tableau`; subclass it with another `tableau` for another method."""

    tableau: Tableau

    def tolerances(self) -> tuple[float, float]:
        """rtol and atol of an adaptive method."""
        return 0.0, 0.0

    def longest(self) -> float:
        """The longest step of an adaptive method."""
        return np.inf

    def stage(self, eq: Equations) -> Strategy:
        t, data = self.tableau, Record(RUNGE_KUTTA)
        stages, total = len(t.b), len(t.c)
        data["stages"], data["extra"], data["degree"] = stages, total - stages, t.dense.shape[1]
        data["a"], data["b"], data["c"] = t.a.copy(), t.b.copy(), t.c.copy()
        data["error"], data["dense"] = t.error.copy(), t.dense.copy()
        size = eq.n_q + eq.n_v + eq.n_z
        data["k"], data["y0"] = np.zeros((total, size)), np.zeros(size)
        data["t_start"], data["h_max"] = self._start, np.inf
        data["schedule"] = self._scheduled()
        data["adaptive"] = self.adaptive
        if self.adaptive:
            data["rtol"], data["atol"] = self.tolerances()
            data["exponent"] = -1.0 / (t.error_order + 1)
            data["h_next"] = self._dt or 0.0
            data["h_max"] = self.longest()
        else:
            data["dt"] = self._dt
        self._data = data
        return Strategy(runge_kutta.address, data)

    def interpolation(self, eq: Equations) -> Strategy:
        return Strategy(interpolate_runge_kutta.address, self._data)


class RungeKutta4(RungeKutta):
    """The classical method of order four with a fixed step; dense output by cubic Hermite interpolation."""

    tableau = CLASSICAL


class DormandPrince(RungeKutta):
    """Adaptive methods of Dormand and Prince [HairerNorsettWanner1993].

    Order 8 is 8(5,3) with dense output of order 7, twelve evaluations a step; order 5 is 5(4) with dense output of
    order 4, seven evaluations a step: the last of them only serves the error estimate, because the correction of the
    constraints changes the state at which the next step begins.

    The error per step is kept below atol + rtol |y|, component by component in the root mean square. `dt` of
    `simulate`, if given, is the first step tried. Steps end where a function of time jumps, and are short where one
    changes quickly; `max_step` bounds all of them.
    """

    order = parameter(8, minimum=5, maximum=8, help="8: 8(5,3), for high accuracy; 5: 5(4)")
    rtol = parameter(1e-6, above=0.0, help="relative tolerance of a step")
    atol = parameter(None, kind="number", above=0.0, help="absolute tolerance of a step; rtol / 1000 by default")

    max_step = MAX_STEP
    adaptive = True

    @property
    def tableau(self) -> Tableau:  # type: ignore[override]
        return DORMAND_PRINCE[self.order]

    def check(self) -> Iterator[Problem]:
        if self.order not in DORMAND_PRINCE:
            yield self.problem("order", f"found {self.order}; allowed are 5 and 8; choose one of them")
        if self.rtol < 1e-14:
            yield self.problem("rtol", f"found {self.rtol:g}; rounding allows no less than 1e-14; increase it")

    def tolerances(self) -> tuple[float, float]:
        return self.rtol, self.atol if self.atol is not None else 1e-3 * self.rtol

    def longest(self) -> float:
        return self.max_step if self.max_step is not None else np.inf
