"""The generalized-alpha method."""

from __future__ import annotations

import numpy as np

from ...equations.equations import Equations, Strategy
from ...equations.implicit import NewtonMatrix
from ...equations.workspace import Record
from ...kernels.integrators.generalized_alpha import GENERALIZED_ALPHA, generalized_alpha
from ...parameters import parameter
from .base import Integrator


class GeneralizedAlpha(Integrator):
    """Implicit method of order two with a fixed step and numerical damping of what the step does not resolve.

    Solves M v' = Q - J^T lambda and C = 0 at the end of every step (index 3), with the algorithmic acceleration a,

        (1 - alpha_m) a + alpha_m a_n = (1 - alpha_f) v' + alpha_f v'_n
        q = q_n exp(h v_n + h^2 ((1/2 - beta) a_n + beta a)),    v = v_n + h ((1 - gamma) a_n + gamma a)

    [ArnoldBruels2007], on the rotation group where q and v differ in number [BruelsCardonaArnold2012]; elsewhere exp is
    a sum. `rho_infinity` is the factor by which a step multiplies motions of infinite frequency: 1 keeps all energy, 0
    removes them in a step. alpha_m = (2 rho - 1)/(rho + 1), alpha_f = rho/(rho + 1), gamma = 1/2 + alpha_f - alpha_m,
    beta = (gamma + 1/2)^2 / 4.

    Newton's method uses exact sparse tangents, with dynamic rows and multipliers scaled by beta h^2, so that the matrix
    does not degenerate as h becomes small. Own states of elements are treated, and differentiated, as v is, with the
    mass 1: what a step does not resolve of them is multiplied by -rho_infinity a step.

    By itself the method leaves J v + C_t = 0 open to O(h^2), which the stabilization then corrects as with every
    integrator; `NoStabilization()` leaves the method alone. With `velocity_level` it holds in the step: a displacement
    W J^T eta is added that closes C = 0, while lambda closes the velocities [ArnoldCardonaBruels2016]; so it does
    always where forces depend on reactions, since corrections leave lambda with an error of O(h). Without it
    `CoordinatePartitioning` makes the method one of order one: corrections of dependent velocities alone act like
    impulses of O(h^2), where those along M^-1 J^T do no work on the motion.
    """

    rho_infinity = parameter(0.8, minimum=0.0, maximum=1.0, help="what a step leaves of infinite frequencies")
    velocity_level = parameter(False, help="whether a step satisfies the constraints on velocities too")

    order = 2
    implicit = True
    damps = True

    def stage(self, eq: Equations) -> Strategy:
        matrix, data = NewtonMatrix(eq), Record(GENERALIZED_ALPHA)
        rho = self.rho_infinity
        alpha_m, alpha_f = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + alpha_f - alpha_m
        data["newton"], data["alpha_m"], data["alpha_f"] = matrix.record, alpha_m, alpha_f
        data["gamma"], data["beta"] = gamma, 0.25 * (gamma + 0.5) ** 2
        data["velocity_level"] = self.velocity_level or bool(eq.stages.reactive)
        data["t_start"], data["dt"], data["h_max"] = self._start, self._dt, np.inf
        data["schedule"] = self._scheduled()
        sizes = {
            **dict.fromkeys(("a", "v_rate", "v_rate_before"), eq.n_v + eq.n_own),
            **dict.fromkeys(("d", "last"), eq.n_v),
            **dict.fromkeys(("right", "second", "permuted"), matrix.n),
            "y0": eq.n_q + eq.n_v + eq.n_z,
            "z_rate": eq.n_z,
            "multipliers": eq.n_rows,
            "scratch": eq.n_q,
            "numbers": matrix.size,
        }
        for field, size in sizes.items():
            data[field] = np.zeros(size)
        self._data = data
        return Strategy(generalized_alpha.address, data, matrix.python, type(self).__name__)
