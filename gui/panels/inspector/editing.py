"""Edits of an element: what can be changed, what goes along, and what follows. No widgets here."""

from __future__ import annotations

import copy
from typing import Any, Final

import mbframe as mb
from mbframe.connections import Fact
from mbframe.joints.placed import PlacedJoint
from mbframe.parameters import Element

from ...base.words import parameter_label

FOLLOWING: Final = ("joint", "measure", "first", "second")
"""References to connections; the bodies of the element are those of the connection and not chosen by themselves."""


def is_editable(element: Element, name: str) -> bool:
    """Whether a parameter is shown at all: the ground has its looks only, a driver the bodies of its joint."""
    if isinstance(element, mb.Ground):
        return name == "shapes"
    if any(key in element.parameters() for key in FOLLOWING):
        return name not in ("body_i", "body_j", "at_i", "at_j", "frame")
    if isinstance(element, PlacedJoint) and not _is_told_by(element, name):
        return False
    normal = name == "axis" and getattr(element, "planar_axis", "") == "normal"
    return not (element.dimension_with({}) == 2 and (normal or name == "frame"))


def _is_told_by(joint: PlacedJoint, name: str) -> bool:
    """Whether a joint that is told on each body, or globally, is told so by this parameter."""
    if joint.local:
        return name not in ("at", "axis", "frame", "local")
    return name not in ("at_i", "at_j", "local", *joint.own_axes)


def is_possible(element: Element, name: str) -> bool:
    """Whether a parameter has a meaning for this element: a hinge has no displacement that could be driven."""
    joint: Any = getattr(element, "joint", None)
    unused = joint is not None and name in getattr(element, "drives", ()) and getattr(element, name) is None
    return not unused or name in joint.freedoms


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
    """The values to assign together: an element on a joint has the bodies of that joint, and a controller a number for
    each of what it sees."""
    if name in ("joint", "measure") and name in element.parameters():
        return {name: value, "body_i": value.body_i, "body_j": value.body_j}
    if name in ("first", "second") and name in element.parameters():
        return {name: value, "body_i" if name == "first" else "body_j": value.body_j}
    if isinstance(element, mb.Controller) and name in ("measures", "outputs"):
        given: dict[str, Any] = {"measures": element.measures, "outputs": element.outputs} | {name: value}
        return element.fitted(**given)
    return {name: value}


def reason(error: mb.ModelError, name: str) -> str:
    """Reason why a value was refused: problems with other parameters are named."""
    parts = [
        problem.message if problem.field in (name, "") else f"{parameter_label(problem.field)}: {problem.message}"
        for problem in error.problems
    ]
    return "; ".join(parts)


def derived_numbers(element: Any) -> list[Fact]:
    """Numbers that follow from the parameters and help to judge them: label, values, unit."""
    try:
        return list(element.facts())
    except Exception:  # whatever a user's class does there must not keep its parameters from being shown
        return []
