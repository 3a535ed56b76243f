"""How bodies look: their shapes, or a likely one that follows from what is attached to them and from their mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..errors import ModelError, Problem
from ..forces import SpherePlaneContact, SphereSphereContact, Tire
from ..joints import GearJoint, RackAndPinionJoint, RevoluteJoint, RollingDisk, RollingSphere
from ..rotations import frame_with_axis
from ..shapes import Arrow, Box, Cone, Cylinder, Mesh, Shape, Sphere
from . import surfaces as s
from .flexible import flexible_parts
from .mesh_files import read_surface
from .parts import Part, Port, Sketch, box_of_inertia, distinct, unit_vector
from .placement import Anchor, Fixed, point3, rotation3
from .style import RUBBER, STEEL, Color, rgb

Array = NDArray[np.float64]

ROUND = (RollingDisk, RollingSphere, SpherePlaneContact, SphereSphereContact, Tire)


def body_parts(body: Any, sketch: Sketch) -> list[Part]:
    """The parts of a body."""
    name = None if body is sketch.system.ground else body.name
    color = sketch.color(name)
    role = "ground" if name is None else "body"
    shapes = readable(body.shapes) if sketch.tolerant else body.shapes
    told = sketch.coloring is not None and name in sketch.coloring.values
    if shapes and not told:
        pieces = [
            (
                _link_end(shape, name, sketch) or shape_surface(shape),
                shape_color(shape, color),
                point3(shape.position),
                rotation3(shape.rotation),
            )
            for shape in shapes
        ]
        opacities = [shape.opacity for shape in shapes]
    elif name is None:
        return []
    elif isinstance(body, FlexibleBody) and (parts := flexible_parts(body, sketch, color)):
        return parts
    else:
        pieces = [(surface, shade, np.zeros(3), np.eye(3)) for surface, shade in likely_surfaces(body, sketch, color)]
        opacities = [1.0] * len(pieces)
    label = sketch.system.ground.name if name is None else name
    layer = np.array([0.0, 0.0, sketch.layers.get(label, 0.0)])
    return [
        Part(f"{label}/shape {k}", label, surface, Fixed(Anchor(name, position + layer), axes), shade, opacity, role)
        for k, ((surface, shade, position, axes), opacity) in enumerate(zip(pieces, opacities, strict=True), 1)
    ]


def _link_end(shape: Shape, body: str | None, sketch: Sketch) -> s.Surface | None:
    """A long box whose ends are held by pins, drawn as a link with round ends about them; None for any other shape."""
    if body is None or not isinstance(shape, Box):
        return None
    size = np.array(shape.size)
    along = int(np.argmax(size))
    others = [k for k in range(3) if k != along]
    if size[along] < 2.5 * size[others].max():
        return None
    turn, ends = rotation3(shape.rotation), {}
    for port in sketch.ports_of(body):
        if not isinstance(port.element, RevoluteJoint):
            continue
        at, pin = turn.T @ (port.point - point3(shape.position)), turn.T @ port.axes[:, 2]
        flat = next((k for k in others if abs(pin[k]) > 0.9), None)
        if flat is None or np.abs(at[others]).max() > 0.3 * size[others].max():
            continue
        wide = next(k for k in others if k != flat)
        if abs(abs(at[along]) - 0.5 * size[along]) <= 0.75 * size[wide]:
            ends[np.sign(at[along])] = (float(at[along]), flat, wide)
    if not ends:
        return None
    _, flat, wide = next(iter(ends.values()))
    half, radius = 0.5 * size[along], 0.5 * size[wide]
    right, left = (ends.get(side, (side * half, -1, -1)) for side in (1.0, -1.0))
    corner = np.array([[half, -radius], [half, radius]])
    head = s.arc(radius, -np.pi / 2, np.pi / 2, (right[0], 0.0), 16) if right[1] == flat else corner
    tail = s.arc(radius, np.pi / 2, 1.5 * np.pi, (left[0], 0.0), 16) if left[1] == flat else -corner
    axes = np.zeros((3, 3))
    axes[along, 0] = axes[wide, 1] = 1.0
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
    return s.extruded(np.vstack([head, tail]), size[flat], bevel=0.06 * min(size)).moved(axes=axes)


def readable(shapes: Sequence[Shape]) -> list[Shape]:
    """The shapes without those whose files are missing or broken."""
    found = []
    for shape in shapes:
        try:
            shape_surface(shape)
        except ModelError:
            continue
        found.append(shape)
    return found


def shape_color(shape: Shape, otherwise: Color) -> Color:
    """The colour of a shape as three numbers."""
    if shape.color is None:
        return otherwise
    if not isinstance(shape.color, str):
        return shape.color
    if len(shape.color) == 7 and shape.color.startswith("#"):
        return rgb(shape.color)
    from PIL import ImageColor

    try:
        red, green, blue = ImageColor.getrgb(shape.color)[:3]
    except ValueError:
        message = f"found {shape.color!r}; allowed are the names of CSS and '#rrggbb'; choose one of them"
        raise ModelError([Problem(type(shape).__name__, "color", message)]) from None
    return red / 255.0, green / 255.0, blue / 255.0


def shape_surface(shape: Shape) -> s.Surface:
    """The surface of a shape in its own axes."""
    match shape:
        case Box(size=size):
            return s.box(size, bevel=0.06 * min(size))
        case Cylinder(radius=radius, length=length):
            return s.cylinder(radius, length, bevel=0.05 * min(radius, length), sides=64)
        case Sphere(radius=radius):
            return s.sphere(radius, sides=48)
        case Cone(radius=radius, length=length):
            return s.cone(radius, length, sides=64)
        case Arrow(length=length):
            return s.arrow(length, 0.025 * length, 0.2 * length)
        case Mesh(path=path, scale=scale):
            return read_surface(path, scale)
    raise TypeError(f"{type(shape).__name__} is not a shape that can be drawn; compose it of boxes, spheres, meshes …")


# --- bodies without shapes --------------------------------------------------------------------------------------------


def likely_surfaces(body: Any, sketch: Sketch, color: Color) -> list[tuple[s.Surface, Color]]:
    """What a body without shapes probably looks like, in body axes.

    A wheel or a ball if it rolls; a link between two points; a plate through points of a plane; bars from the centre of
    mass to points in space; a bar to the centre of mass from a single point; otherwise the homogeneous box that has its
    inertia.
    """
    ports = sketch.ports_of(body.name)
    rolling = [port for port in ports if isinstance(port.element, ROUND) and radius_at(port, sketch) > 0.0]
    found = [piece for port in rolling for piece in _round(port, sketch, color)]
    ports = [port for port in ports if port not in rolling]
    bar = sketch.bar_of(body.name)
    points = distinct([port.point for port in ports], 0.6 * bar)
    center = sketch.center_of_mass(body)
    if found:
        away = [p for p in points if min(np.linalg.norm(p - port.point) for port in rolling) > sketch.bar]
        return found + [(rod(port.point, p, 0.35 * sketch.bar), STEEL) for port in rolling[:1] for p in away]
    if len(points) < 2 and any(isinstance(port.element, GearJoint | RackAndPinionJoint) for port in ports):
        return []  # the gear is the body
    if len(points) < 2:
        return [(piece, color) for piece in _one_point(points, center, body, sketch)]
    if (flat := _common_plane(points, ports)) is not None:
        return [(plate(points, flat, bar), color)]
    if len(points) == 2:
        return [(rod(points[0], points[1], 0.5 * bar), color)]
    middle = np.mean(points, axis=0) if min(np.linalg.norm(p - center) for p in points) < bar else center
    star = [rod(middle, p, 0.4 * bar) for p in points]
    return [(s.joined([*star, s.sphere(0.8 * bar, 24).moved(middle)]), color)]


def rod(start: Array, end: Array, radius: float) -> s.Surface:
    """A round bar with round ends."""
    length = float(np.linalg.norm(end - start))
    h = length / 2.0
    caps = [s.arc(radius, -np.pi / 2, 0, (0.0, -h), 8), s.arc(radius, 0, np.pi / 2, (0.0, h), 8)]
    return s.revolved(np.vstack(caps), 24).along(unit_vector(end - start, (0, 0, 1)), (start + end) / 2.0)


def plate(points: list[Array], normal: Array, width: float) -> s.Surface:
    """A flat link or plate around points, with rounded corners."""
    axes = frame_with_axis(normal)
    flat = np.array(points) @ axes
    outline = s.rounded_hull(flat[:, :2], 0.5 * width)
    height = float(np.mean(flat[:, 2]))
    return s.extruded(outline, 0.45 * width, bevel=0.06 * width).moved(height * axes[:, 2], axes)


def _common_plane(points: list[Array], ports: list[Port]) -> Array | None:
    """The normal of the plane in which a body's points lie and whose pins stand on it, if there is one."""
    spread = np.array(points) - np.mean(points, axis=0)
    _, sizes, directions = np.linalg.svd(spread)
    pins = [port.axes[:, 2] for port in ports if getattr(port.element, "axis", None) is not None]
    candidates = pins or [np.array([0.0, 0.0, 1.0])]
    if len(points) > 2 and sizes[-1] <= 0.02 * sizes[0]:
        candidates = [*candidates, directions[2]]
    for normal in candidates:
        if np.abs(spread @ normal).max() <= 0.02 * np.abs(spread).max():
            return normal
    return None


def _one_point(points: list[Array], center: Array, body: Any, sketch: Sketch) -> list[s.Surface]:
    size, axes = box_of_inertia(body)
    bar = sketch.bar_of(body.name)
    largest = 0.4 * sketch.extent if len(sketch.system.bodies) > 1 else np.inf  # it is not to hide its neighbours
    size = np.clip(size, 0.8 * bar, largest)
    solid = s.box(size, bevel=0.05 * float(size.min())).moved(center, axes)
    if not np.any(body.mass_properties()[2]):
        solid = s.sphere(1.2 * bar, 32).moved(center)
    inside = points and np.all(np.abs(axes.T @ (points[0] - center)) <= 0.55 * size)
    if not points or inside:
        return [solid]
    return [solid, rod(points[0], center, 0.4 * bar)]


def radius_at(port: Port, sketch: Sketch) -> float:
    """Radius of the wheel or ball that an element sees at a port; 0 on the side of a plane."""
    element: Any = port.element
    first = port is sketch.ports[element.name][0]
    if isinstance(element, SphereSphereContact):
        return element.radius_i if first else element.radius_j
    return 0.0 if first else element.radius


def _round(port: Port, sketch: Sketch, color: Color) -> list[tuple[s.Surface, Color]]:
    element: Any = port.element
    if isinstance(element, RollingDisk):
        return [(piece.moved(port.point, port.axes), shade) for piece, shade in wheel(element, color)]
    if isinstance(element, Tire):
        road, _ = sketch.ports[element.name]
        turn = sketch.described.of(port.body)[1].T @ sketch.described.of(road.body)[1]
        axes = frame_with_axis(turn @ road.axes[:, 1])  # the axle is across the road
        return [(piece.moved(port.point, axes), shade) for piece, shade in car_wheel(element.radius, color)]
    radius = radius_at(port, sketch)
    band = s.tube(1.004 * radius, 0.9 * radius, 0.12 * radius, 0.0, 64)  # shows that it turns
    return [(s.sphere(radius, 48).moved(port.point), color), (band.moved(port.point, port.axes), STEEL)]


def car_wheel(radius: float, color: Color) -> list[tuple[s.Surface, Color]]:
    """A disk wheel about z with a wide tire."""
    rim, width = 0.62 * radius, 0.55 * radius
    bolt = s.cylinder(0.05 * radius, 0.06 * radius, 0.01 * radius, 16)
    bolts = [
        bolt.moved((0.2 * radius * np.cos(a), 0.2 * radius * np.sin(a), 0.0)) for a in 2.0 * np.pi * np.arange(5) / 5
    ]
    disk = s.joined([s.cylinder(0.95 * rim, 0.04 * radius), *bolts])
    return [
        (s.tube(radius, rim, width, 0.13 * radius, 72), RUBBER),
        (s.tube(rim, 0.9 * rim, 0.9 * width, 0.02 * radius, 72), STEEL),
        (s.joined([disk.moved((0, 0, side * 0.25 * width)) for side in (-1.0, 1.0)]), color),
    ]


def wheel(element: Any, color: Color) -> list[tuple[s.Surface, Color]]:
    """A spoked wheel about z: tyre, rim, hub and spokes."""
    crown = max(element.crown_radius, 0.035 * element.radius)
    middle = element.radius + element.crown_radius - crown
    rim = 0.96 * (middle - crown)
    hub = 0.11 * element.radius
    spokes = []
    for k in range(12):
        angle = 2.0 * np.pi * k / 12
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        side = 0.5 * crown * (1.0 if k % 2 else -1.0)
        spokes.append(rod(np.array([0, 0, 2.0 * side]), rim * out, 0.12 * crown))
    metal = s.joined([s.cylinder(hub, 3.2 * crown, 0.2 * crown, 32), *spokes])
    return [
        (s.torus(middle, crown, 72), RUBBER),
        (s.tube(middle - 0.7 * crown, rim - 0.4 * crown, 1.3 * crown, 0.1 * crown, 72), color),
        (metal, STEEL),
    ]
