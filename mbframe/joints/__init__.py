"""Joints: lists of basic constraints between two markers."""

from .base import Joint
from .coupled import GearJoint, RackAndPinionJoint, ScrewJoint
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
    "FixedJoint",
    "GearJoint",
    "Joint",
    "KnifeEdge",
    "PlanarJoint",
    "PointOnLineJoint",
    "RackAndPinionJoint",
    "RevoluteJoint",
    "RollingDisk",
    "RollingSphere",
    "ScrewJoint",
    "SphericalJoint",
    "TranslationalJoint",
    "UniversalJoint",
]
