"""What can be added: the classes that mbframe exports, what has to be picked for each, and defaults of sensible size.

No widgets here. Classes are found by walking what `mbframe` exports: a new joint appears in the menus by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe import forces, joints, measures
from mbframe.forces.base import OnBody
from mbframe.joints.coupled import Coupling
from mbframe.joints.driven import Drive
from mbframe.parameters import REQUIRED, Element
from mbframe.plane import lifted, lowered

from ..words import class_label, first_sentence

Array = NDArray[np.float64]

BASES: Final = (mb.Joint, mb.ForceElement, mb.Measure, mb.Contact)
GRAVITY: Final = 9.81
COMMON: Final = (
    *("RevoluteJoint", "TranslationalJoint", "SphericalJoint", "CylindricalJoint", "FixedJoint", "UniversalJoint"),
    *("DistanceJoint", "SpringDamper", "TorsionalSpringDamper", "PointForce", "Torque", "Driver", "Distance"),
)


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
        return self.cls.__name__

    @property
    def label(self) -> str:
        return class_label(self.cls)

    @property
    def tip(self) -> str:
        return first_sentence(self.cls)

    @property
    def has_axis(self) -> bool:
        """Whether a direction is to be chosen."""
        return "axis" in self.cls.parameters() and "joint" not in self.picks

    def fits(self, dimension: int) -> bool:
        """Whether it has a meaning in the plane."""
        return dimension == 3 or bool(getattr(self.cls, "planar", True))

    def needs_axis(self, dimension: int) -> bool:
        """Whether the user has a choice of direction: the normal of a plane is none."""
        return self.has_axis and (dimension == 3 or self.cls.planar_axis == "in plane")


def kinds() -> Iterator[Kind]:
    """All that connects bodies, in the order of the menus."""
    # Only these modules: to look at all that is exported would load the solver, which takes a second.
    for module in (joints, forces, measures):
        for name in sorted(set(mb.__all__) & set(vars(module)), key=_rank):
            cls = getattr(mb, name)
            if isinstance(cls, type) and issubclass(cls, (mb.Joint, mb.ForceElement, mb.Measure)) and cls not in BASES:
                yield Kind(cls, _group(cls), _picks(cls))


def _rank(name: str) -> tuple[int, str]:
    """What is needed most stands first, the rest by name."""
    return (COMMON.index(name) if name in COMMON else len(COMMON), name)


def _group(cls: type) -> str:
    if issubclass(cls, Drive):
        return "Drivers"
    if issubclass(cls, mb.Joint):
        return "Joints"
    return "Measures" if issubclass(cls, mb.Measure) else "Forces"


def _picks(cls: type[Any]) -> tuple[str, ...]:
    declared = cls.parameters()
    if issubclass(cls, Coupling):
        return "first joint", "second joint"
    if "joint" in declared:
        return ("joint",)
    if "measure" in declared:
        return ("measure",)
    if issubclass(cls, OnBody):
        return "body", "point"
    if "at" in declared:
        return "first body", "second body", "point"
    return "first point", "second point"


# ---- Sizes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """How large and how heavy a model is: m and kg."""

    length: float
    mass: float

    @classmethod
    def of(cls, system: mb.System) -> Scale:
        points = [lifted(body.position) for body in system.bodies]
        for element in system:
            points += [
                lifted(point)
                for name in ("at", "at_i", "at_j")
                if (point := getattr(element, name, None)) is not None and not isinstance(element, mb.Body)
            ]
        reach = [float(np.linalg.norm(np.ptp(np.array(points), axis=0)))] if points else []
        reach += [_size(shape) for body in system.bodies for shape in body.shapes]
        reach += [body.modes.component.extent for body in system.bodies if isinstance(body, mb.FlexibleBody)]
        mass = sum(body.mass_properties()[0] for body in system.bodies)
        return cls(max(reach, default=0.0) or 1.0, mass or 1.0)


def _size(shape: mb.Shape) -> float:
    sizes = getattr(shape, "size", None)
    if sizes is not None:
        return float(max(sizes))
    return float(max(2.0 * getattr(shape, "radius", 0.0), getattr(shape, "length", 0.0)))


def rounded(value: float) -> float:
    """To one digit, so that a default reads as a choice and not as a result."""
    if value == 0.0:
        return 0.0
    step = 10.0 ** math.floor(math.log10(abs(value)))
    return float(f"{round(value / step) * step:.1g}")


def radius_of(body: Any, otherwise: float) -> float:
    """The radius of a round shape of a body."""
    radii = [shape.radius for shape in getattr(body, "shapes", ()) if isinstance(shape, mb.Sphere | mb.Cylinder)]
    return float(max(radii, default=otherwise))


# ---- Values ---------------------------------------------------------------------------------------------------------


def defaults(kind: Kind, picked: dict[str, Any], scale: Scale, dimension: int) -> dict[str, Any]:
    """Values of parameters that make sense for a model of this size; `picked` has bodies and points by parameter."""
    values: dict[str, Any] = {}
    weight = scale.mass * GRAVITY
    declared = kind.cls.parameters()
    body = picked.get("body_j")
    stiffness = {
        "N/m": rounded(10.0 * weight / scale.length),
        "N m/rad": rounded(weight * scale.length),
        "N/m^n": rounded(weight / (0.002 * scale.length) ** 1.5),
    }
    for name, parameter in declared.items():
        if name == "stiffness" and parameter.unit in stiffness:
            values[name] = stiffness[parameter.unit]
        elif name in ("radius", "radius_i", "radius_j") and parameter.default is REQUIRED:
            owner = picked.get("body_i") if name == "radius_i" else body
            values[name] = radius_of(owner, rounded(0.1 * scale.length))
    if kind.cls is mb.SpringDamper:
        k = values["stiffness"]
        values["damping"] = rounded(0.2 * math.sqrt(k * scale.mass))
    elif kind.cls is mb.TorsionalSpringDamper:
        values["damping"] = rounded(0.05 * values["stiffness"])
    elif kind.cls is mb.Bushing:
        k, c = rounded(100.0 * weight / scale.length), rounded(weight * scale.length)
        values["stiffness"] = np.array([k] * 3 + [c] * 3)
        values["damping"] = 0.02 * values["stiffness"]
    elif kind.cls is mb.AngleLimit:
        values |= {"lower": -0.5, "upper": 0.5}
    elif kind.cls is mb.DisplacementLimit:
        values |= {"lower": -rounded(0.2 * scale.length), "upper": rounded(0.2 * scale.length)}
    elif kind.cls is mb.DistanceLimit:
        values |= {"lower": 0.0, "upper": rounded(1.2 * max(_distance(picked, dimension), 0.1 * scale.length))}
    elif kind.cls is mb.PointForce:
        values["force"] = (0.0, rounded(weight)) if dimension == 2 else (0.0, 0.0, rounded(weight))
    elif kind.cls is mb.Torque:
        torque = rounded(0.1 * weight * scale.length)
        values["torque"] = torque if dimension == 2 else (0.0, 0.0, torque)
    elif kind.cls is mb.PIDActuator:
        k = rounded(weight * scale.length)
        values |= {"proportional": k, "derivative": rounded(0.1 * k)}
    elif kind.cls is mb.ScrewJoint:
        values["pitch"] = rounded(0.1 * scale.length)
    elif kind.cls is mb.GearJoint:
        values["ratio"] = -1.0
    elif kind.cls is mb.Friction and isinstance(picked["joint"], mb.RevoluteJoint):
        values["radius"] = rounded(0.02 * scale.length)
    elif kind.cls is mb.Driver:
        values |= _driven(picked["joint"], scale)
    elif kind.cls is mb.Prescribed:
        values["value"] = _followed(picked["measure"], scale)
    elif kind.cls is mb.PointDriver:
        values["x"] = f"{rounded(0.1 * scale.length):g}*sin(2*t)"
    return values


def _driven(joint: Any, scale: Scale) -> dict[str, Any]:
    if "angle" in joint.freedoms:
        return {"angle": "2*t"}
    return {"displacement": f"{rounded(0.1 * scale.length):g}*sin(2*t)"}


def _followed(measure: Any, scale: Scale) -> str:
    if isinstance(measure, mb.Angle):
        return "0.5*sin(2*t)"
    i, j = lifted(measure.point_i), lifted(measure.point_j)
    if isinstance(measure, mb.Distance):
        return f"{np.linalg.norm(i - j):.10g} + {rounded(0.1 * scale.length):g}*sin(2*t)"
    return f"{lifted(measure.axis) @ (j - i) / np.linalg.norm(measure.axis):.10g} + 0.1*sin(2*t)"


def _distance(picked: dict[str, Any], dimension: int) -> float:
    ends = [picked.get("at_i"), picked.get("at_j")]
    if any(end is None for end in ends):
        return 0.0
    return float(np.linalg.norm(np.asarray(ends[0], float) - np.asarray(ends[1], float)))


def called(
    kind: Kind, picked: dict[str, Any], scale: Scale, dimension: int, axis: Any = None
) -> tuple[list[Element], dict[str, Any]]:
    """With which elements and values the class is called for what was picked.

    `picked` has "body_i" and "body_j", or "joint", "first" and "second", "measure"; "at", "at_i" and "at_j" are global
    points. `axis` is a global direction.
    """
    references = [picked[key] for key in ("joint", "measure", "first", "second") if key in picked]
    if not references:
        keys = ("body_j",) if issubclass(kind.cls, OnBody) else ("body_i", "body_j")
        references = [picked[key] for key in keys]
    values = defaults(kind, picked, scale, dimension)
    values |= {
        key: lowered(np.asarray(picked[key], float), dimension) for key in ("at", "at_i", "at_j") if key in picked
    }
    declared = kind.cls.parameters()
    if axis is not None and kind.needs_axis(dimension):
        values["axis"] = lowered(np.asarray(axis, float), dimension)
        if kind.cls in (mb.RollingDisk, mb.KnifeEdge) and abs(_unit(axis) @ np.array([0.0, 0.0, 1.0])) > 0.999:
            values["axis"] = np.array([0.0, 1.0, 0.0])  # its axle does not stand on the plane
    elif "axis_i" in declared and axis is not None:
        values["axis_i"], values["axis_j"] = _unit(axis), _across(axis)
    if kind.cls in (mb.RollingDisk, mb.RollingSphere) and "at" in picked:
        foot = np.asarray(picked["at"], float) - np.array([0.0, 0.0, values["radius"]])
        values["plane_point"] = np.array([0.0, 0.0, foot[2]])
    return references, values


def _unit(axis: Any) -> Array:
    return np.asarray(axis, float) / np.linalg.norm(axis)


def _across(axis: Any) -> Array:
    """A unit vector at a right angle to an axis."""
    least = np.eye(3)[int(np.argmin(np.abs(_unit(axis))))]
    found = np.cross(_unit(axis), least)
    return found / np.linalg.norm(found)
