"""Coordinate formulations, one file each."""

from .base import Formulation
from .natural_absolute import NaturalAbsolute
from .newton_euler import NewtonEuler

__all__ = ["Formulation", "NaturalAbsolute", "NewtonEuler"]
