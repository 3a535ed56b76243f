"""The augmented formulation."""

from __future__ import annotations

from ...equations.equations import Equations, Strategy
from ...kernels.stages.dynamics import accelerate_augmented
from .base import Acceleration


class AugmentedFormulation(Acceleration):
    """Accelerations and multipliers from one linear system, [M J^T; J 0] [v'; lambda] = [Q; gamma].

    [PappalardoGuida2018b], eqs. 24-27. Solved by a static sparse LDL^T factorization; dependent constraints are
    recognized by a lost pivot and left out: accelerations stay exact. Multipliers, where asked for, are those of
    minimum norm.
    """

    def stage(self, eq: Equations) -> Strategy:
        return Strategy(accelerate_augmented.address)
