"""Accelerations and multipliers from state and time."""

from .augmented import AugmentedFormulation
from .base import Acceleration
from .penalty import AugmentedLagrangian, Penalty
from .projection import ProjectionMatrix
from .udwadia_kalaba import UdwadiaKalaba

__all__ = [
    "Acceleration",
    "AugmentedFormulation",
    "AugmentedLagrangian",
    "Penalty",
    "ProjectionMatrix",
    "UdwadiaKalaba",
]
