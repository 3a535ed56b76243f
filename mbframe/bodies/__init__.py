"""Bodies and their coordinate formulations."""

from .base import Body, Ground
from .flexible import FlexibleBody
from .formulations import (
    EulerAngles,
    EulerParameters,
    FloatingFrame,
    Formulation,
    NaturalAbsolute,
    NewtonEuler,
    PlanarAngle,
    PlanarEulerParameters,
    PlanarFloatingFrame,
    PlanarNatural,
    Relative,
)
from .planar import PlanarBody, PlanarGround
from .planar_flexible import PlanarFlexibleBody
from .point_mass import PointMass
from .rigid import RigidBody

__all__ = [
    "Body",
    "EulerAngles",
    "EulerParameters",
    "FlexibleBody",
    "FloatingFrame",
    "Formulation",
    "Ground",
    "NaturalAbsolute",
    "NewtonEuler",
    "PlanarAngle",
    "PlanarBody",
    "PlanarEulerParameters",
    "PlanarFlexibleBody",
    "PlanarFloatingFrame",
    "PlanarGround",
    "PlanarNatural",
    "PointMass",
    "Relative",
    "RigidBody",
]
