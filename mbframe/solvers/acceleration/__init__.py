"""Accelerations and multipliers from state and time."""

from .augmented import AugmentedFormulation
from .base import Acceleration

__all__ = ["Acceleration", "AugmentedFormulation"]
