"""Kinds of elements: in which group of the tree they stand, and which icon they have."""

from __future__ import annotations

from typing import Any, Final

GROUPS: Final = ("Bodies", "Joints", "Drivers", "Forces", "Measures", "Inputs", "Controllers", "Unknown")
_GROUP_OF: Final = {
    "system": "",
    "ground": "",
    "body": "Bodies",
    "joint": "Joints",
    "constraint": "Joints",
    "driver": "Drivers",
    "force": "Forces",
    "spring": "Forces",
    "measure": "Measures",
    "input": "Inputs",
    "controller": "Controllers",
    "unknown": "Unknown",
}


def group_of(element: Any) -> str:
    """The group of an element; empty for the system and the ground."""
    return _GROUP_OF.get(element.symbol, "Forces")


def icon_name(element: Any) -> str:
    """The icon of an element, or of its class: a glyph of its own, or by the symbol that the class declares."""
    if element.glyph:
        return str(element.glyph)
    other = {"input": "measure", "controller": "driver", "unknown": "warning"}.get(element.symbol)
    return other or (element.symbol if element.symbol in _GROUP_OF else "force")
