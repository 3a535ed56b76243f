"""The base class of acceleration strategies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations
from ...kernels.workspace import REACTIONS
from ..strategy import SolverStrategy

Array = NDArray[np.float64]


class Acceleration(SolverStrategy):
    """How v' and the multipliers lambda follow from (t, q, v): M v' = Q - J^T lambda, J v' = gamma.

    To write your own, give `solve`. `eq.evaluate(t, q, v)` returns mass, Jacobian, force and gamma:

        class DenseAugmented(mb.Acceleration):
            def solve(self, eq, t, q, v):
                e = eq.evaluate(t, q, v)
                ...
                return v_rate, multipliers
    """

    method = "solve"

    def solve(self, eq: Equations, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """v' and the multipliers."""
        eq.set_state(q, v)
        eq.apply(self.stage(eq), t, REACTIONS)
        return eq.work.v_rate.copy(), eq.work.multipliers.copy()

    def callback(self, eq: Equations) -> Callable[[float, int], None]:
        work = eq.work

        def accelerate(t: float, n: int) -> None:
            q, v = work.q.copy(), work.v.copy()
            v_rate, multipliers = self.solve(eq, t, q, v)
            work.q[:], work.v[:] = q, v
            work.q_rate[:] = eq.coordinate_rates(q, v)
            work.v_rate[:], work.multipliers[:] = v_rate, multipliers

        return accelerate
