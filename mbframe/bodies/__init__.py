"""Bodies and their coordinate formulations."""

from .base import Body, Ground
from .formulations import Formulation, NaturalAbsolute, NewtonEuler
from .rigid import RigidBody

__all__ = ["Body", "Formulation", "Ground", "NaturalAbsolute", "NewtonEuler", "RigidBody"]
