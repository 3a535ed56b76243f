"""Joints: lists of basic constraints between two markers."""

from .base import Joint
from .coupled import GearJoint, RackAndPinionJoint, ScrewJoint
from .driven import Drive, Driver, PointDriver, Prescribed
from .library import (
    ConstantVelocityJoint,
    CylindricalJoint,
    DistanceJoint,
    FixedJoint,
    PlanarJoint,
    PointOnLineJoint,
    RevoluteJoint,
    SphericalJoint,
    TranslationalJoint,
    UniversalJoint,
)
from .rolling import KnifeEdge, RollingDisk, RollingSphere

__all__ = [
    "ConstantVelocityJoint",
    "CylindricalJoint",
    "DistanceJoint",
    "Drive",
    "Driver",
    "FixedJoint",
    "GearJoint",
    "Joint",
    "KnifeEdge",
    "PlanarJoint",
    "PointDriver",
    "PointOnLineJoint",
    "Prescribed",
    "RackAndPinionJoint",
    "RevoluteJoint",
    "RollingDisk",
    "RollingSphere",
    "ScrewJoint",
    "SphericalJoint",
    "TranslationalJoint",
    "UniversalJoint",
]
