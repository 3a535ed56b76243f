"""What of an element can be edited, what goes along with an edit, and what follows from it. No widgets here."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

import mbframe as mb
from mbframe.joints.driven import Drive
from mbframe.parameters import Element

from .words import parameter_label

FOLLOWING: Final = ("joint", "measure", "first", "second")
"""References to connections; the bodies of the element are those of the connection and not chosen by themselves."""


def is_editable(element: Element, name: str) -> bool:
    """Whether a parameter is shown at all: the ground has its looks only, a driver the bodies of its joint."""
    if isinstance(element, mb.Ground):
        return name == "shapes"
    if name in ("body_i", "body_j"):
        return not any(key in element.parameters() for key in FOLLOWING)
    if name in ("at_i", "at_j", "frame") and isinstance(element, mb.Friction):
        return False
    if name == "frame" and (any(key in element.parameters() for key in FOLLOWING) or element._dimension({}) == 2):
        return False
    return not (name == "axis" and element._dimension({}) == 2 and getattr(element, "planar_axis", "") == "normal")


def is_possible(element: Element, name: str) -> bool:
    """Whether a parameter has a meaning for this element: a hinge has no displacement that could be driven."""
    given = isinstance(element, mb.Driver) and name in element.drives and getattr(element, name) is None
    return not given or name in element.joint.freedoms


def is_fixed(element: Element, name: str) -> bool:
    """Whether a parameter is shown but cannot be changed."""
    return isinstance(element, mb.System) and name == "dimension"


def check(element: Element, name: str, value: Any) -> None:
    """Refuse with a ValueError what the element would refuse, without touching it."""
    try:
        copy.copy(element).update(**with_following(element, name, value))
    except mb.ModelError as error:
        raise ValueError(reason(error, name)) from None


def with_following(element: Element, name: str, value: Any) -> dict[str, Any]:
    """The values to assign together: an element on a joint has the bodies of that joint."""
    if name in ("joint", "measure") and name in element.parameters():
        return {name: value, "body_i": value.body_i, "body_j": value.body_j}
    if name in ("first", "second") and name in element.parameters():
        return {name: value, "body_i" if name == "first" else "body_j": value.body_j}
    return {name: value}


def reason(error: mb.ModelError, name: str) -> str:
    """Why a value was refused: problems with other parameters are named."""
    parts = [
        problem.message if problem.field in (name, "") else f"{parameter_label(problem.field)}: {problem.message}"
        for problem in error.problems
    ]
    return "; ".join(parts)


def derived_numbers(element: Any) -> list[tuple[str, Sequence[float], str]]:
    """Numbers that follow from the parameters and help to judge them: label, values, unit."""
    found: list[tuple[str, Sequence[float], str]] = []
    if isinstance(element, mb.RigidBody):
        found.append(("Principal moments", np.linalg.eigvalsh(element.inertia), "kg m^2"))
    if isinstance(element, mb.Body) and hasattr(element, "mass") and float(element.mass) > 0.0:
        found.append(("Speed", [float(np.linalg.norm(element.velocity))], "m/s"))
    if isinstance(element, mb.SpringDamper | mb.DistanceJoint | mb.Distance | mb.DistanceLimit):
        length = math.dist(element.i.at, element.j.at)
        found.append(("Length as described", [length], "m"))
        if isinstance(element, mb.SpringDamper) and element.force is None:
            found.append(("Tension as described", [element.stiffness * (length - element.rest_length)], "N"))
    if isinstance(element, mb.Joint | mb.BasicConstraint):
        with suppress(Exception):  # whatever a user's class does there must not keep its parameters from being shown
            found.append(("Equations", [equations_of(element)], ""))
    if isinstance(element, mb.System):
        mass = sum(body.mass_properties()[0] for body in element.bodies)
        found.append(("Total mass", [mass], "kg"))
        found.append(("Bodies", [len(element.bodies)], ""))
        drivers = sum(isinstance(joint, Drive) for joint in element.joints)
        found.append(("Joints", [len(element.joints) - drivers], ""))
        if drivers:
            found.append(("Drivers", [drivers], ""))
    return found


def equations_of(joint: mb.Joint | mb.BasicConstraint) -> int:
    """How many equations a joint stands for, in its system's dimension; as many freedoms it takes."""
    parts = joint.constraints() if isinstance(joint, mb.Joint) else [joint]
    count = 0
    for part in parts:
        if isinstance(part, mb.MeasureRelation):
            count += 1
        elif (kept := part.in_plane() if joint._dimension({}) == 2 else part) is not None:
            count += kept.equations
    return count
