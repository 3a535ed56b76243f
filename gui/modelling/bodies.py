"""New bodies: links between two points, and boxes, cylinders, disks, balls and meshes where the user clicks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.plane import lowered
from mbframe.proposals import Scale, rounded
from mbframe.registry import registered

from ..base.mesh_units import LARGEST_MESH, MESH_UNITS, mesh_size
from ..base.words import class_label, first_sentence

Array = NDArray[np.float64]


MATERIALS: Final = {"Steel": 7850.0, "Aluminium": 2700.0, "Plastic": 1100.0, "Wood": 600.0}
"""Density, kg/m^3."""


@dataclass(frozen=True)
class Preset:
    """A kind of body: `steps` are what the user clicks."""

    name: str
    label: str
    tip: str
    steps: tuple[str, ...] = ("Click where it goes",)
    flexible: bool = False
    """Whether a dialog follows, in which it is described."""
    cls: type[mb.Body] | None = None
    """A user's class, which knows its mass and its look."""

    @property
    def sized(self) -> bool:
        """Whether its size and its material are chosen while it is placed."""
        return self.name in SIZES or self.name == "mesh"

    @property
    def icon(self) -> str:
        return (self.cls.glyph if self.cls is not None else "") or "body"

    @property
    def body_name(self) -> str:
        """What a new one is called, before a number."""
        return "body" if self.name == "mesh" else self.label.lower() if self.cls is not None else self.name

    def fits(self, dimension: int) -> bool:
        """Whether there are such bodies in space, or in the plane."""
        if self.cls is not None:
            return self.cls.dimension == dimension
        return dimension == 3 or self.sized


PRESETS: Final = (
    Preset("link", "Link", "A bar between two points", ("Click one end", "Click the other end")),
    Preset("box", "Box", "A block"),
    Preset("cylinder", "Cylinder", "A shaft or a piston"),
    Preset("disk", "Disk", "A wheel or a flywheel"),
    Preset("ball", "Ball", "A sphere"),
    Preset("point mass", "Point mass", "A particle without rotation"),
    Preset("mesh", "Mesh file…", "A body from a closed surface (STL, OBJ, PLY) and a density"),
    Preset(
        "flexible beam",
        "Flexible beam…",
        "A beam that bends, from its section and material",
        ("Click one end", "Click the other end"),
        flexible=True,
    ),
    Preset(
        "flexible component",
        "Flexible component…",
        "A body that deforms, from a file of nodes, mass and stiffness",
        ("Click where its origin goes",),
        flexible=True,
    ),
)


def own_presets() -> Iterator[Preset]:
    """Users' classes of bodies."""
    for name, cls in sorted(registered(mb.Body).items()):
        yield Preset(name, class_label(cls), first_sentence(cls), cls=cls)


SIZES: Final = {
    "link": ("Section", "Width and height of the link"),
    "box": ("Edge", "All edges of the box"),
    "cylinder": ("Length", "Length of the cylinder; it is a quarter as thick"),
    "disk": ("Diameter", "Diameter of the disk; it is a tenth as thick"),
    "ball": ("Diameter", "Diameter of the ball"),
}
"""The question about the size of a body, and its explanation."""
SAME_PLACE: Final = 1e-9
"""Share of their distance from the origin by which two points may differ and still be one."""


@dataclass
class Stock:
    """Material and sizes of new bodies, kept from one body to the next.

    Parameters
    ----------
    material
        One of `MATERIALS`.
    sizes
        Width and height of a link, and the largest dimension of other bodies, m, by the preset; those of a link that
        fit the first one are kept.
    path, mesh_unit
        The file of a mesh, and the unit of its numbers, one of `MESH_UNITS`.
    """

    material: str = "Aluminium"
    sizes: dict[str, float | None] = field(default_factory=dict)
    path: str = ""
    mesh_unit: str = "mm"

    @property
    def density(self) -> float:
        """kg/m^3."""
        return MATERIALS[self.material]

    def take_mesh(self, path: str) -> float:
        """Take a mesh file and a unit that fits its size; returns its largest dimension in that unit."""
        size = mesh_size(path)
        self.path, self.mesh_unit = path, "mm" if size > LARGEST_MESH else "m"
        return size


def made(
    preset: Preset,
    name: str,
    points: list[Array],
    system: mb.System,
    stock: Stock,
    normal: Array,
    *,
    standing: bool = False,
) -> mb.Body:
    """A body of a preset at the points that were clicked, with the mass of its shapes.

    Its z is along the normal of the plane that was worked in. `standing` puts it on the point instead of around it.
    """
    scale = Scale.of(system)
    length = scale.length
    if preset.cls is not None:
        return preset.cls(name, **preset.cls.proposed(scale, {"position": points[0]}))
    if preset.name == "point mass":
        return mb.PointMass(name, mass=1.0, position=points[0], shapes=[mb.Sphere(radius=0.04 * length)])
    turn = frame(normal)
    place = points[0]
    if preset.name == "link":
        along = points[1] - points[0]
        place, reach = 0.5 * (points[0] + points[1]), float(np.linalg.norm(along))
        if _in_one_place(points):
            raise mb.ModelError("both ends of the link are in the same place; click two points")
        section = stock.sizes["link"] = stock.sizes.get("link") or rounded(0.08 * reach)
        shapes: list[mb.Shape] = [mb.Box(size=(reach, section, section))]
        turn = _along(along / reach, normal)
    else:
        shapes = [_shape(preset.name, length, stock)]
        if standing:
            place = place + 0.5 * shapes[0].extent[2] * turn[:, 2]
    if system.dimension == 2:
        angle = float(np.arctan2(turn[1, 0], turn[0, 0]))
        return mb.PlanarBody.from_shapes(name, shapes, stock.density, position=lowered(place, 2), angle=angle)
    return mb.RigidBody.from_shapes(name, shapes, stock.density, position=place, rotation=turn)


def flexible_pose(points: list[Array], normal: Array) -> tuple[Array, Array]:
    """Position and rotation of a flexible body: a beam begins at the first point and points to the second."""
    if len(points) == 1:
        return points[0], frame(normal)
    along = points[1] - points[0]
    reach = float(np.linalg.norm(along))
    if _in_one_place(points):
        raise mb.ModelError("both ends of the beam are in the same place; click two points")
    return points[0], _along(along / reach, normal)


def _in_one_place(points: list[Array]) -> bool:
    """Whether two points differ by no more than rounding errors do."""
    return float(np.linalg.norm(points[1] - points[0])) <= SAME_PLACE * float(np.abs(points).max())


def _shape(name: str, length: float, stock: Stock) -> mb.Shape:
    size = stock.sizes.get(name)
    if name == "box":
        return mb.Box(size=(size or rounded(0.2 * length),) * 3)
    if name == "cylinder":
        long = size or rounded(0.4 * length)
        return mb.Cylinder(radius=long / 8.0, length=long)
    if name == "disk":
        wide = size or 2.0 * rounded(0.15 * length)
        return mb.Cylinder(radius=0.5 * wide, length=0.1 * wide)
    if name == "ball":
        return mb.Sphere(radius=0.5 * size if size else rounded(0.1 * length))
    return mb.Mesh(path=stock.path, scale=MESH_UNITS[stock.mesh_unit])


def frame(normal: Array) -> Array:
    """Axes with z along a normal, the others along global axes where that is possible."""
    z = np.asarray(normal, float) / np.linalg.norm(normal)
    if abs(z[2]) > 0.999:
        return np.eye(3)
    x = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _along(direction: Array, normal: Array) -> Array:
    """Axes with x along a direction and z as near to a normal as can be."""
    z = np.asarray(normal, float) - (normal @ direction) * direction
    if np.linalg.norm(z) < 1e-6:
        z = np.eye(3)[int(np.argmin(np.abs(direction)))]
        z = z - (z @ direction) * direction
    z /= np.linalg.norm(z)
    return np.column_stack([direction, np.cross(z, direction), z])
