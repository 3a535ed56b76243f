"""What files of earlier versions mean where it is not what they would mean today.

Files leave out parameters that have their default. Where a default changed, an element of an older file is given the
value that it had then, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..constraints.relations import AngleTerm
from ..forces.actuators import PIDActuator
from ..forces.limits import Limit
from ..forces.springs import SpringDamper, TorsionalSpringDamper
from ..joints.coupled import ScrewJoint
from ..joints.library import (
    ConstantVelocityJoint,
    CylindricalJoint,
    PlanarJoint,
    PointOnLineJoint,
    RevoluteJoint,
    TranslationalJoint,
    UniversalJoint,
)
from ..joints.on_axis import AxisJoint
from ..joints.rolling import KnifeEdge, RollingDisk
from ..measures import Angle, Displacement
from ..parameters import REQUIRED

X: Final = [1.0, 0.0, 0.0]
Y: Final = [0.0, 1.0, 0.0]
Z: Final = [0.0, 0.0, 1.0]

AXIAL: Final = (
    *(RevoluteJoint, CylindricalJoint, TranslationalJoint, PlanarJoint, PointOnLineJoint, ScrewJoint, AxisJoint),
    *(ConstantVelocityJoint, RollingDisk, TorsionalSpringDamper, Limit, PIDActuator, Angle, Displacement),
)
DEFAULTS: Final[dict[int, tuple[tuple[type[Any], str, Any], ...]]] = {
    1: (
        (SpringDamper, "free_length", 0.0),
        *((element, "axis", Z) for element in AXIAL),
        (KnifeEdge, "axis", X),
        (UniversalJoint, "axis_i", X),
        (UniversalJoint, "axis_j", Y),
    ),
}
"""Class, parameter and default of the parameters whose default changed after that version."""

REMOVED: Final[dict[int, tuple[tuple[type[Any], str], ...]]] = {1: ((AngleTerm, "turns"),)}
"""Class and parameter of those that are gone after that version; what a file says about them had no effect."""


def completed(cls: type[Any], data: Mapping[str, Any], version: int, dimension: int) -> Mapping[str, Any]:
    """What a file of that version says about an element, with the defaults of then where those of today differ.

    A class of a user that declares the parameter itself keeps its own default.
    """
    if version > max(DEFAULTS):
        return data
    declared, found = cls.parameters(), dict(data)
    for written in range(version, max(DEFAULTS) + 1):
        for owner, key in REMOVED.get(written, ()):
            if issubclass(cls, owner) and key not in declared:
                found.pop(key, None)
        for owner, key, value in DEFAULTS[written]:
            if key in found or not issubclass(cls, owner) or declared.get(key) is not owner.parameters()[key]:
                continue
            if isinstance(value, list) and dimension == 2:
                # In the plane the normal is still left out, and other directions have two components.
                if declared[key].of(dimension).default is REQUIRED:
                    found[key] = value[:2]
            else:
                found[key] = value
    return found
