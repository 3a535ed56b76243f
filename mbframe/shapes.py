"""Shapes as data: what a body looks like, in its own axes. How they are drawn is not their business.

All lengths are in metres. The long axis of a shape is its local z axis, which `rotation` turns into the body's axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cache
from os import fspath
from os.path import abspath
from typing import Any

from .errors import ModelError, Problem
from .parameters import parameter

Triple = tuple[float, float, float]

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


@dataclass(frozen=True)
class Box(Shape):
    """Box centred at `position`, with the edge lengths `size` along its x, y and z axes, m."""

    size: Triple = field(metadata=_checked(kind="vector", shape=(3,), above=0.0, unit="m", help="edge lengths"))


@dataclass(frozen=True)
class Cylinder(Shape):
    """Cylinder along local z, centred at `position`."""

    radius: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="radius"))
    length: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="length along z"))


@dataclass(frozen=True)
class Sphere(Shape):
    """Sphere centred at `position`."""

    radius: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="radius"))


@dataclass(frozen=True)
class Cone(Shape):
    """Cone along local z: the centre of its base is at `position`, its tip `length` further along z."""

    radius: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="radius of the base"))
    length: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="height along z"))


@dataclass(frozen=True)
class Arrow(Shape):
    """Arrow along local z: its tail is at `position`, its tip `length` further along z."""

    length: float = field(metadata=_checked(kind="number", above=0.0, unit="m", help="tail to tip"))


@dataclass(frozen=True)
class Mesh(Shape):
    """Surface read from a file when it is drawn; `scale` turns the file's unit into metres (0.001 for millimetres)."""

    path: str = field(metadata={"convert": _path})
    scale: float = field(default=1.0, metadata=_checked(kind="number", above=0.0, help="metres per unit of the file"))
