"""Bodies and their coordinate formulations."""

from .base import Body, Ground
from .formulations import EulerAngles, EulerParameters, Formulation, NaturalAbsolute, NewtonEuler
from .point_mass import PointMass
from .rigid import RigidBody

__all__ = [
    "Body",
    "EulerAngles",
    "EulerParameters",
    "Formulation",
    "Ground",
    "NaturalAbsolute",
    "NewtonEuler",
    "PointMass",
    "RigidBody",
]
