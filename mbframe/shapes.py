"""Shapes as data: what a body looks like, in its own axes. How they are drawn is not their business.

All lengths are in metres. The long axis of a shape is its local z axis, which `rotation` turns into the body's axes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import product
from os import fspath
from os.path import abspath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .errors import ModelError, Problem
from .parameters import parameter

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
Properties = tuple[float, Array, Array]
"""Mass (kg), centre of mass (m) and inertia about it (kg m^2)."""
Feature = tuple[Triple, str, Triple | None]
"""A point, what it is, and the direction of its face or axis."""

END: Final = "end"
"""The middle of an end of a slender shape: where links are joined."""
SLENDER: Final = 3.0
"""Length of a slender shape over its width, at least."""
_Z: Final = (0.0, 0.0, 1.0)

MESH_SUFFIXES = (".stl", ".obj", ".ply", ".glb", ".gltf", ".off")
"""Files that a `Mesh` can be read from."""

OUTSIDE = "outside:"
"""How the path of a mesh begins that a file named outside of its folder: it is kept and shown, but not read."""

named_meshes: set[str] = set()
"""Absolute paths of all meshes that were made in this process without that mark: by you, or by files that may."""

_IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def _checked(**rule: Any) -> dict[str, Any]:
    """Metadata of a field that a parameter checks; files and inspectors find its unit, bounds and help there."""
    declared = parameter(**rule)
    return {"parameter": declared, "convert": declared.convert}


def _as_tuple(value: Any) -> Any:
    """Nested tuples instead of arrays, so that shapes can be compared and hashed."""
    if type(value) is float:
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(map(_as_tuple, value)) if isinstance(value, list | tuple) else value


_RGB = parameter(kind="vector", shape=(3,), minimum=0.0, maximum=1.0)


def _color(value: Any) -> Any:
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    try:
        return _RGB.convert(value)
    except ValueError:
        raise ValueError(
            f"found {value!r}; allowed are a name, '#rrggbb', three numbers between 0 and 1, or None; give one of these"
        ) from None


def _path(value: Any) -> str:
    try:
        path = fspath(value)
    except TypeError:
        path = ""
    if not isinstance(path, str) or not path.strip():
        raise ValueError(f"found {value!r}; allowed is the path of a mesh file; give one, such as 'wheel.stl'")
    if not path.startswith(OUTSIDE):
        named_meshes.add(abspath(path))
    return path


def _unchanged(value: Any) -> Any:
    return value


@cache
def _rules(kind: Any) -> list[tuple[str, Any, Callable[[Any], Any]]]:
    """Name, default and check of the fields of a shape's class."""
    return [(one.name, one.default, one.metadata.get("convert", _unchanged)) for one in fields(kind)]


@dataclass(frozen=True, kw_only=True)
class Shape:
    """Base of all shapes.

    Parameters
    ----------
    position
        Where the shape's origin is in the body's axes, m.
    rotation
        Takes components in the shape's axes to the body's: SciPy Rotation, 3x3 matrix or scalar-first unit quaternion.
    color
        A name or ``"#rrggbb"``, or red, green, blue between 0 and 1; None leaves the choice to the viewer.
    opacity
        0 (invisible) to 1 (solid).
    """

    position: Triple = field(default=(0.0, 0.0, 0.0), metadata=_checked(kind="vector", shape=(3,), unit="m"))
    rotation: Any = field(default=_IDENTITY, metadata=_checked(kind="rotation"))
    color: str | Triple | None = field(default=None, metadata={"convert": _color})
    opacity: float = field(default=1.0, metadata=_checked(kind="number", minimum=0.0, maximum=1.0))

    def __post_init__(self) -> None:
        problems = []
        kind: Any = type(self)
        for name, default, convert in _rules(kind):
            given = getattr(self, name)
            if given is default:  # which is as it is stored
                continue
            try:
                value = _as_tuple(convert(given))
            except ValueError as error:
                problems.append(Problem(type(self).__name__, name, str(error)))
            else:
                object.__setattr__(self, name, value)
        if problems:
            raise ModelError(problems)

    @property
    def extent(self) -> Triple:
        """Edge lengths of the box around it, in its own axes, m; zeros where that is not known."""
        return (0.0, 0.0, 0.0)

    def solid(self, density: float) -> Properties:
        """Mass properties of the homogeneous solid of a density (kg/m^3), in the axes of the shape."""
        return 0.0, np.zeros(3), np.zeros((3, 3))

    def local_features(self) -> Iterator[Feature]:
        """Points that mean something, in the axes of the shape."""
        yield (0.0, 0.0, 0.0), "centre", None

    def features(self) -> Iterator[tuple[Array, str, Array | None]]:
        """Points that mean something, in body axes: where, what, and the direction of a face or an axis."""
        turn, place = np.array(self.rotation, float), np.array(self.position, float)
        for point, label, direction in self.local_features():
            yield place + turn @ np.array(point), label, None if direction is None else turn @ np.array(direction)


@dataclass(frozen=True)
class Box(Shape):
    """Box centred at `position`, with the edge lengths `size` along its x, y and z axes, m."""

    size: Triple = field(metadata=_checked(kind="vector", shape=(3,), above=0.0, unit="m", help="edge lengths"))

    @property
    def extent(self) -> Triple:
        return self.size

    def solid(self, density: float) -> Properties:
        squares, mass = np.array(self.size) ** 2, density * float(np.prod(self.size))
        return mass, np.zeros(3), np.diag(mass / 12.0 * (squares.sum() - squares))

    def local_features(self) -> Iterator[Feature]:
        a, b, c = (0.5 * s for s in self.size)
        yield (0.0, 0.0, 0.0), "centre", None
        for k, (x, y, z) in enumerate(((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c))):
            others = max(self.size[m] for m in range(3) if m != k)
            label = END if self.size[k] >= SLENDER * others else "centre of a face"
            for sign in (-1.0, 1.0):
                normal = tuple(sign if m == k else 0.0 for m in range(3))
                yield (sign * x, sign * y, sign * z), label, normal  # type: ignore[misc]
        for x, y, z in product((-a, a), (-b, b), (-c, c)):
            yield (x, y, z), "corner", None
        for x, y in product((-1.0, 1.0), (-1.0, 1.0)):
            yield (x * a, y * b, 0.0), "middle of an edge", None
            yield (x * a, 0.0, y * c), "middle of an edge", None
            yield (0.0, x * b, y * c), "middle of an edge", None


@dataclass(frozen=True)
class Cylinder(Shape):
    """Cylinder along local z, centred at `position`."""

    radius: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="radius"))
    length: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="length along z"))

    @property
    def extent(self) -> Triple:
        return 2.0 * self.radius, 2.0 * self.radius, self.length

    def solid(self, density: float) -> Properties:
        r, h = self.radius, self.length
        mass = density * np.pi * r**2 * h
        across = mass * (3.0 * r**2 + h**2) / 12.0
        return mass, np.zeros(3), np.diag([across, across, 0.5 * mass * r**2])

    def local_features(self) -> Iterator[Feature]:
        yield (0.0, 0.0, 0.0), "centre", _Z
        label = END if self.length >= 2.0 * SLENDER * self.radius else "centre of the end"
        for sign in (-1.0, 1.0):
            yield (0.0, 0.0, 0.5 * sign * self.length), label, (0.0, 0.0, sign)
        for x, y in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)):
            yield (self.radius * x, self.radius * y, 0.0), "point of the rim", (x, y, 0.0)


@dataclass(frozen=True)
class Sphere(Shape):
    """Sphere centred at `position`."""

    radius: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="radius"))

    @property
    def extent(self) -> Triple:
        return (2.0 * self.radius,) * 3

    def solid(self, density: float) -> Properties:
        mass = density * 4.0 / 3.0 * np.pi * self.radius**3
        return mass, np.zeros(3), 0.4 * mass * self.radius**2 * np.eye(3)


@dataclass(frozen=True)
class Cone(Shape):
    """Cone along local z: the centre of its base is at `position`, its tip `length` further along z."""

    radius: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="radius of the base"))
    length: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="height along z"))

    @property
    def extent(self) -> Triple:
        return 2.0 * self.radius, 2.0 * self.radius, self.length

    def solid(self, density: float) -> Properties:
        r, h = self.radius, self.length
        mass = density * np.pi * r**2 * h / 3.0
        across = mass * (0.15 * r**2 + 0.0375 * h**2)
        return mass, np.array([0.0, 0.0, 0.25 * h]), np.diag([across, across, 0.3 * mass * r**2])

    def local_features(self) -> Iterator[Feature]:
        yield (0.0, 0.0, 0.0), "centre of the base", _Z
        yield (0.0, 0.0, self.length), "tip", _Z


@dataclass(frozen=True)
class Arrow(Shape):
    """Arrow along local z: its tail is at `position`, its tip `length` further along z."""

    length: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="tail to tip"))

    @property
    def extent(self) -> Triple:
        return 0.0, 0.0, self.length

    def local_features(self) -> Iterator[Feature]:
        yield (0.0, 0.0, 0.0), "tail", _Z
        yield (0.0, 0.0, self.length), "tip", _Z


@dataclass(frozen=True)
class Mesh(Shape):
    """Surface read from a file when it is drawn; `scale` turns the file's unit into metres (0.001 for millimetres)."""

    path: str = field(metadata={"convert": _path})
    scale: float = field(default=1.0, metadata=_checked(kind="number", above=0.0, help="metres per unit of the file"))

    def solid(self, density: float) -> Properties:
        """Of the inside of a closed surface, which is read from the file."""
        meshes = importlib.import_module("mbframe.render.mesh_mass")  # above, with what reads files of surfaces
        properties: Properties = meshes.mesh_mass_properties(self.path, density, self.scale)
        return properties


def solid_of(shapes: Sequence[Shape], density: float) -> Properties:
    """Mass properties of several homogeneous shapes on a body, in its axes.

    Those of the parts add up by the parallel-axis theorem, I + m (d^2 1 - d d^T). `density` is in kg/m^3.
    """
    parts = []
    for shape in shapes:
        mass, center, inertia = shape.solid(density)
        turn = np.array(shape.rotation)
        parts.append((mass, np.array(shape.position) + turn @ center, turn @ inertia @ turn.T))
    total = sum(mass for mass, _, _ in parts)
    if not total > 0.0:
        raise ModelError("the shapes enclose no volume; give mass and inertia by hand")
    middle = sum(mass * center for mass, center, _ in parts) / total
    inertia = np.zeros((3, 3))
    for mass, center, own in parts:
        d = center - middle
        inertia += own + mass * (d @ d * np.eye(3) - np.outer(d, d))
    return float(total), np.asarray(middle), inertia
