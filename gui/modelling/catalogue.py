"""Catalogue of what can be added: the classes that connect bodies, and what has to be picked for each.

No widgets here. The registry knows the classes: a new joint, or one of a user, appears in the menus by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import mbframe as mb
from mbframe.parameters import Element
from mbframe.proposals import Scale
from mbframe.registry import built_in, name_of, registered

from ..base.words import class_label, first_sentence

COMMON: Final = (
    *("RevoluteJoint", "TranslationalJoint", "SphericalJoint", "CylindricalJoint", "FixedJoint", "UniversalJoint"),
    *("DistanceJoint", "SpringDamper", "TorsionalSpringDamper", "PointForce", "Torque", "Driver", "Distance"),
)
GROUP_ICONS: Final = {"Joints": "joint", "Forces": "force", "Drivers": "driver", "Measures": "measure"}
"""The groups of the menu, each with its icon."""


@dataclass(frozen=True)
class Kind:
    """Something that can be added.

    `picks` are what the user picks one after the other: "first body", "second body", "body", "point", "first point",
    "second point", "joint", "first joint", "second joint", "measure".
    """

    cls: type[Any]
    group: str
    picks: tuple[str, ...]

    @property
    def name(self) -> str:
        return name_of(self.cls)

    @property
    def label(self) -> str:
        return class_label(self.cls)

    @property
    def icon(self) -> str:
        return self.cls.glyph or GROUP_ICONS[self.group]

    @property
    def tip(self) -> str:
        return first_sentence(self.cls)

    @property
    def has_axis(self) -> bool:
        """Whether a direction is to be chosen."""
        return not {"axis", "axis_i"}.isdisjoint(self.cls.parameters()) and "joint" not in self.picks

    def fits(self, dimension: int) -> bool:
        """Whether it has a meaning in the plane."""
        return dimension == 3 or bool(getattr(self.cls, "planar", True))

    def needs_axis(self, dimension: int) -> bool:
        """Whether the user has a choice of direction: the normal of a plane is none."""
        return self.has_axis and (dimension == 3 or self.cls.planar_axis == "in plane")


def kinds() -> Iterator[Kind]:
    """All that connects bodies, in the order of the menus."""
    for base in (mb.Joint, mb.ForceElement, mb.Measure):
        for cls in sorted((built_in(base) | registered(base)).values(), key=_rank):
            yield Kind(cls, _group(cls), _picks(cls))
    for cls in sorted(registered(mb.BasicConstraint).values(), key=_rank):  # users' own; the library has joints of its
        yield Kind(cls, _group(cls), _picks(cls))


def signals() -> Iterator[type[Any]]:
    """What expressions name and no mouse places: inputs and controllers."""
    yield mb.Input
    yield from sorted((built_in(mb.Controller) | registered(mb.Controller)).values(), key=lambda cls: cls.__name__)


def _rank(cls: type) -> tuple[int, str]:
    """Sort what is needed most first, the rest by name."""
    name = cls.__name__
    return (COMMON.index(name) if name in COMMON else len(COMMON), name)


def _group(cls: type[Any]) -> str:
    groups = {"joint": "Joints", "constraint": "Joints", "driver": "Drivers", "measure": "Measures"}
    return groups.get(cls.symbol, "Forces")


def _picks(cls: type[Any]) -> tuple[str, ...]:
    """List what has to be picked; it follows from the parameters of a class."""
    declared = cls.parameters()
    if "first" in declared:
        return "first joint", "second joint"
    for name in ("joint", "measure"):
        if name in declared:
            return (name,)
    if declared["body_i"].optional:  # the ground takes up the opposite load
        return "body", "point"
    return ("first body", "second body", "point") if "at" in declared else ("first point", "second point")


# ---- Calls ----------------------------------------------------------------------------------------------------------


def called(kind: Kind, picked: dict[str, Any], scale: Scale, axis: Any = None) -> tuple[list[Element], dict[str, Any]]:
    """With which elements and values the class is called for what was picked.

    `picked` has "body_i" and "body_j", or "joint", "first" and "second", "measure"; "at", "at_i" and "at_j" are global
    points. `axis` is a global direction.
    """
    references = [picked[key] for key in ("joint", "measure", "first", "second") if key in picked]
    if not references:
        references = [picked[key] for key in ("body_i", "body_j") if kind.picks[0] != "body" or key == "body_j"]
    chosen = kind.needs_axis(scale.dimension)
    directed = {"axis": np.asarray(axis, float)} if axis is not None and chosen else {}
    return references, kind.cls.proposed(scale, picked | directed)
