"""The base class of stabilizations, and the absence of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations, Strategy
from ...equations.workspace import Record
from ...kernels.compiler.compile import Stage
from ...kernels.stages.dynamics import CORRECTION, correct, no_correction
from ..strategy import SolverStrategy

Array = NDArray[np.float64]


class Stabilization(SolverStrategy):
    """What is done to a state after a step, so that C(q, t) = 0 and J v + C_t = 0 hold again.

    To write your own, give `correct`; it returns the corrected q and v. A method that acts in the accelerations gives
    `feedback`.
    """

    method = "correct"
    corrects: ClassVar[bool] = True  # False for what acts in the accelerations, or not at all

    @property
    def feedback(self) -> tuple[float, float]:
        """Gains g1 and g0 of violations in the accelerations: J v' = gamma - g1 (C', D) - g0 C."""
        return 0.0, 0.0

    def bound(self, eq: Equations) -> Strategy:
        return replace(super().bound(eq), feedback=self.feedback)

    def accelerating(self, acceleration: Strategy, correction: Strategy) -> Strategy:
        """How accelerations are evaluated within a step; a method that corrects states there as well overrides it."""
        return acceleration

    def correct(self, eq: Equations, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """The corrected coordinates and velocities."""
        eq.set_state(q, v)
        eq.apply(self.stage(eq), t)
        return eq.work.q.copy(), eq.work.v.copy()

    def callback(self, eq: Equations) -> Callable[[float, int], None]:
        def correct(t: float, n: int) -> None:
            eq.set_state(*self.correct(eq, t, eq.work.q.copy(), eq.work.v.copy()))

        return correct


ITERATIONS = 25


def correction(prepare: Stage, remove: Stage, data: Record, tolerance: float, shares: bool = False) -> Strategy:
    """The iterated correction of positions and velocities by changes that the given stages choose.

    `shares`: these are least in the norm of the mass matrix, as those are by which dependent equations share a gap;
    with others the two would drive the bodies along their free motions, a little with every step.
    """
    record = Record(CORRECTION)
    record["shares"] = shares
    record["tolerance"], record["limit"] = tolerance, ITERATIONS
    record["prepare"], record["remove"], record["data"] = prepare.address, remove.address, data
    return Strategy(correct.address, record)


class NoStabilization(Stabilization):
    """Standard Lagrange multipliers: constraints hold at the level of accelerations only, and drift."""

    corrects = False

    def stage(self, eq: Equations) -> Strategy:
        return Strategy(no_correction.address)
