"""Explicit multistep methods of Adams and Bashforth."""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from ...equations.equations import Equations, Strategy
from ...equations.workspace import Record
from ...kernels.integrators.multistep import ADAMS_BASHFORTH, adams_bashforth, interpolate_adams_bashforth
from ...parameters import parameter
from .base import Integrator
from .tableaus import BUTCHER_6, CLASSICAL, Tableau

Array = NDArray[np.float64]


def adams_weights(order: int) -> Array:
    """Weights of the derivatives f_n, f_(n-1), ...: row j has the coefficients of theta, theta^2, ... in

    beta_j(theta) = integral from 0 to theta of the polynomial in s that is 1 at s = -j and 0 at 0, -1, ..., 1 - order
    otherwise. At theta = 1 they are the classical numbers (1; 3/2, -1/2; 23/12, -16/12, 5/12; ...).
    """
    weights = np.zeros((order, order))
    for j in range(order):
        basis = Polynomial([1.0])
        for other in range(order):
            if other != j:
                basis = basis * Polynomial([other, 1.0]) / (other - j)
        weights[j] = basis.integ().coef[1:]
    return weights


class AdamsBashforth(Integrator):
    """Multistep methods of order one to six with a fixed step and one evaluation of the accelerations a step.

    y(t_n + theta dt) = y_n + dt sum_j beta_j(theta) f_(n-j), j = 0 ... order - 1, integrates the polynomial through the
    last derivatives f. At theta = 1 it is the step: [PappalardoLettieriGuida2020], eq. 42 (order 4),
    [PappalardoGuida2018a] (order 6), [HairerNorsettWanner1993], section III.1. With a smaller theta it is the last,
    shorter step of a run that does not end with a multiple of `dt`, and the dense output: both have the order of the
    method and cost no evaluation.

    The first order - 1 steps are taken by a Runge-Kutta method: the classical one up to order 4, that of order 6 of
    [Butcher1964] above; instants inside them are reached by a shorter step of that method. The derivatives belong to
    the corrected states. Every run starts anew, and so does the method behind an instant where a load jumps. The region
    of stability shrinks as the order grows: decays up to 2, 1, 6/11, 3/10, 90/551, 5/57 times 1/dt remain stable for
    orders one to six.
    """

    order = parameter(4, minimum=1, maximum=6, help="order, and number of derivatives that a step uses")

    @property
    def starter(self) -> Tableau:
        """The Runge-Kutta method of the first steps: of at least the same order."""
        return CLASSICAL if self.order <= 4 else BUTCHER_6

    def stage(self, eq: Equations) -> Strategy:
        starter, data = self.starter, Record(ADAMS_BASHFORTH)
        stages, size = len(starter.b), eq.n_q + eq.n_v + eq.n_z
        data["order"], data["weights"] = self.order, adams_weights(self.order)
        data["history"], data["k"], data["y0"] = np.zeros((self.order, size)), np.zeros((stages, size)), np.zeros(size)
        data["stages"], data["a"] = stages, starter.a[:stages, :stages].copy()
        data["b"], data["c"] = starter.b.copy(), starter.c[:stages].copy()
        data["t_start"], data["dt"], data["h_max"] = self._start, self._dt, np.inf
        data["schedule"] = self._scheduled()
        self._data = data
        return Strategy(adams_bashforth.address, data)

    def interpolation(self, eq: Equations) -> Strategy:
        return Strategy(interpolate_adams_bashforth.address, self._data)
