"""The Radau IIA method of order five."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...equations.equations import Equations, Strategy
from ...equations.implicit import NewtonMatrix
from ...equations.workspace import Record
from ...errors import Problem
from ...kernels.integrators.radau import RADAU, interpolate_radau, radau
from ...parameters import parameter
from .base import MAX_STEP, Integrator

ROOT = np.sqrt(6.0)
C = np.array([(4.0 - ROOT) / 10.0, (4.0 + ROOT) / 10.0, 1.0])
A = np.array(
    [
        [(88.0 - 7.0 * ROOT) / 360.0, (296.0 - 169.0 * ROOT) / 1800.0, (-2.0 + 3.0 * ROOT) / 225.0],
        [(296.0 + 169.0 * ROOT) / 1800.0, (88.0 + 7.0 * ROOT) / 360.0, (-2.0 - 3.0 * ROOT) / 225.0],
        [(16.0 - ROOT) / 36.0, (16.0 + ROOT) / 36.0, 1.0 / 9.0],
    ]
)
ESTIMATE = np.array([-13.0 - 7.0 * ROOT, -13.0 + 7.0 * ROOT, -1.0]) / 3.0
ERROR_ORDER = 3


class RadauIIA(Integrator):
    """Implicit adaptive method of order five with three stages, for stiff systems [HairerWanner1996], section IV.8.

    Solves the stabilized equations of index 2,

        q' = T (v - W J^T eta),    M v' = Q - J^T lambda,    J v + C_t = 0,    C = 0

    by collocation, so that states satisfy the constraints at both levels; W is the inverse of the mass matrix at the
    begin of the step. Newton's method takes an exact sparse tangent at each stage, once per step and again where it
    gains little, and solves for the three stages together: stiff elements on bodies that turn do not limit the step.
    Own states of elements are differentiated too, and solved for together with the velocities.

    The error of a step is estimated by a method of order three. So that errors nevertheless are in proportion to the
    tolerance, the estimate is compared with atol + rtol |y| for rtol^(4/5) in the place of rtol. `dt` of `simulate`, if
    given, is the first step tried. Instants between steps are reached by a shorter step from the same begin: of order
    five, on the constraints, and stiff forces do no harm there. Where that step has no solution, as just behind the
    begin or in a contact, the polynomial of the whole step is taken, of order three.
    """

    rtol = parameter(1e-6, above=0.0, help="relative tolerance of a step")
    atol = parameter(None, kind="number", above=0.0, help="absolute tolerance of a step; rtol / 1000 by default")
    max_step = MAX_STEP

    order = 5
    adaptive = True
    implicit = True
    damps = True

    def check(self) -> Iterator[Problem]:
        if self.rtol < 1e-13:
            yield self.problem("rtol", f"found {self.rtol:g}; rounding allows no less than 1e-13; increase it")

    def stage(self, eq: Equations) -> Strategy:
        matrix, data = NewtonMatrix(eq), Record(RADAU)
        inverse = np.linalg.inv(A)
        values = np.linalg.eigvals(inverse)
        data["newton"], data["a"], data["inverse"], data["c"] = matrix.record, A.copy(), inverse, C.copy()
        data["estimate"], data["eigenvalue"] = ESTIMATE.copy(), values[np.argmin(np.abs(values.imag))].real
        rtol, atol = self.rtol, self.atol if self.atol is not None else 1e-3 * self.rtol
        data["rtol"], data["atol"] = rtol, atol
        data["error_rtol"] = rtol ** ((ERROR_ORDER + 1) / self.order)
        data["error_atol"] = data["error_rtol"] * atol / rtol
        data["exponent"] = -1.0 / (ERROR_ORDER + 1)
        data["t_start"] = self._start
        data["h_next"], data["h_max"] = self._dt or 0.0, self.max_step or np.inf
        data["schedule"] = self._scheduled()
        n_y, n = eq.n_q + eq.n_v + eq.n_z, matrix.n
        sizes = {
            **dict.fromkeys(("y0", "rates0"), n_y),
            **dict.fromkeys(("v", "e", "last_v"), 3 * eq.n_v),
            "dynamic": 3 * (eq.n_v + eq.n_own),
            **dict.fromkeys(("q", "q_rate", "last_q"), 3 * eq.n_q),
            **dict.fromkeys(("z", "z_rate", "last_z"), 3 * eq.n_z),
            **dict.fromkeys(("multipliers", "velocity", "position", "drift"), 3 * eq.n_rows),
            "k": 2 * n_y,
            "v_rate": eq.n_v + eq.n_own,
            **dict.fromkeys(("x", "permuted"), 3 * n),
            "filter": matrix.size,
            "stages": 9 * matrix.size,
        }
        for field, size in sizes.items():
            data[field] = np.zeros(size)
        self._data = data
        return Strategy(radau.address, data, matrix.python, type(self).__name__)

    def interpolation(self, eq: Equations) -> Strategy:
        return Strategy(interpolate_radau.address, self._data)
