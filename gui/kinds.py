"""Kinds of elements: in which group of the tree they stand, and which icon they have."""

from __future__ import annotations

from typing import Any, Final

import mbframe as mb
from mbframe.joints.driven import Drive

GROUPS: Final = ("Bodies", "Joints", "Drivers", "Forces", "Measures")


def group_of(element: Any) -> str:
    """The group of an element; empty for the system and the ground."""
    if isinstance(element, mb.Ground | mb.System):
        return ""
    if isinstance(element, mb.Body):
        return "Bodies"
    if isinstance(element, Drive):
        return "Drivers"
    if isinstance(element, mb.Joint | mb.BasicConstraint):
        return "Joints"
    if isinstance(element, mb.Measure):
        return "Measures"
    return "Forces"


def icon_name(element: Any) -> str:
    """The icon of an element, by its kind."""
    if isinstance(element, mb.System):
        return "system"
    if isinstance(element, mb.Ground):
        return "ground"
    if isinstance(element, mb.SpringDamper | mb.TorsionalSpringDamper | mb.Bushing):
        return "spring"
    if isinstance(element, mb.BasicConstraint):
        return "constraint"
    return {"Bodies": "body", "Drivers": "driver", "Joints": "joint", "Measures": "measure"}.get(
        group_of(element), "force"
    )
