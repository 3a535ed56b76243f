"""Basic constraints: the equations that joints are built from."""

from .axis import AlongAxis, PointOnAxis, TurnWithAxis
from .base import BasicConstraint
from .basic import Coincident, CoincidentInPlane, EqualTurn, FixedDistance, Perpendicular, PointInPlane
from .nonholonomic import DiskOnPlane, NoSideSlip, NoSlip, NoSlipSphere
from .relations import AngleTerm, DisplacementTerm, DistanceTerm, MeasureRelation

__all__ = [
    "AlongAxis",
    "AngleTerm",
    "BasicConstraint",
    "Coincident",
    "CoincidentInPlane",
    "DiskOnPlane",
    "DisplacementTerm",
    "DistanceTerm",
    "EqualTurn",
    "FixedDistance",
    "MeasureRelation",
    "NoSideSlip",
    "NoSlip",
    "NoSlipSphere",
    "Perpendicular",
    "PointInPlane",
    "PointOnAxis",
    "TurnWithAxis",
]
