"""Joints: lists of basic constraints between two markers."""

from .base import Joint
from .coupled import GearJoint, RackAndPinionJoint, ScrewJoint
from .driven import Drive, Driver, LinearConstraint, PointDriver, Prescribed
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
from .on_axis import KeyedSleeveJoint, PointOnAxisJoint, SleeveJoint
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
    "KeyedSleeveJoint",
    "KnifeEdge",
    "LinearConstraint",
    "PlanarJoint",
    "PointDriver",
    "PointOnAxisJoint",
    "PointOnLineJoint",
    "Prescribed",
    "RackAndPinionJoint",
    "RevoluteJoint",
    "RollingDisk",
    "RollingSphere",
    "ScrewJoint",
    "SleeveJoint",
    "SphericalJoint",
    "TranslationalJoint",
    "UniversalJoint",
]
