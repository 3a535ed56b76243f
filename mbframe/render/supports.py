"""How the ground holds a mechanism: brackets, pedestals and hatched feet."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..rotations import frame_with_axis
from . import surfaces as s
from .parts import Part, Port, Sketch, unit_vector
from .placement import Fixed
from .style import GROUND

Array = NDArray[np.float64]


def bracket(port: Port, other: Port, sketch: Sketch, size: float) -> Part:
    """What carries a pin along the port's z axis: two cheeks, or a pedestal under an upright pin.

    In the plane it is one cheek, behind all that turns before it.
    """
    pin = port.axes[:, 2]
    if abs(pin @ sketch.up) > 0.7:
        return pedestal(port, other, sketch, size)
    away = away_from(port, other, sketch)
    away = unit_vector(away - (away @ pin) * pin, np.cross(pin, [1.0, 0.0, 0.0]))
    axes = np.column_stack([np.cross(away, pin), away, pin])  # x along the foot, y to the foot, z the pin
    height, gap = 3.4 * size, 1.35 * size
    outline = s.rounded_hull([(0.0, 0.0), (-1.7 * size, height), (1.7 * size, height)], 1.0 * size)
    outline = outline[outline[:, 1] <= height + 1e-9]
    cheek = s.extruded(outline, 0.5 * size, bevel=0.08 * size)
    if sketch.planar:
        behind = float(np.copysign(min(-gap, sketch.back) - 0.25 * size, -pin[2]))
        stem = s.cylinder(0.55 * size, abs(behind), 0.05 * size).moved((0.0, 0.0, behind / 2.0))
        base = foot(3.0 * size, 0.9 * size, 0.22 * size).moved((0.0, height, behind), _FOOT)
        pieces = [cheek.moved((0.0, 0.0, behind)), stem, base]
    else:
        pieces = [cheek.moved((0.0, 0.0, side * (gap + 0.25 * size))) for side in (-1.0, 1.0)]
        pieces.append(foot(3.0 * size, gap + 0.9 * size, 0.22 * size).moved((0.0, height, 0.0), _FOOT))
    return _on_ground(port, s.joined(pieces).moved(axes=axes), "support")


def pedestal(port: Port, other: Port, sketch: Sketch, size: float) -> Part:
    """A post that holds a point, with a hatched foot."""
    away = away_from(port, other, sketch)
    height = 4.0 * size
    post = s.revolved(
        [(0.0, 0.9 * size), (0.75 * size, 0.9 * size), (0.85 * size, 0.6 * height), (1.6 * size, height), (0, height)]
    )
    axes = frame_with_axis(away)
    pieces = [post, foot(2.6 * size, 2.6 * size, 0.25 * size).moved((0.0, 0.0, height))]
    return _on_ground(port, s.joined(pieces).moved(axes=axes), "support")


def anchor_foot(port: Port, direction: Array, size: float) -> Part:
    """A hatched foot at a point, seen against `direction`."""
    axes = frame_with_axis(unit_vector(direction, (0.0, 0.0, -1.0)))
    return _on_ground(port, foot(2.2 * size, 1.6 * size, 0.25 * size).moved(axes=axes), "support", "force")


def foot(half_length: float, half_width: float, thickness: float) -> s.Surface:
    """A plate under z = 0 upwards (its mechanism is on the side of -z), hatched on its far side."""
    slab = s.box((2.0 * half_length, 2.0 * half_width, thickness), 0.2 * thickness).moved((0, 0, thickness / 2.0))
    count = 6
    pitch = 2.0 * half_length / count
    rib = s.extruded(
        [(-0.5 * pitch, 0.0), (-0.2 * pitch, 0.0), (0.3 * pitch, 0.8 * pitch), (0.0, 0.8 * pitch)], 1.9 * half_width
    ).moved(axes=np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]))
    places = (np.arange(count) + 0.5) * pitch - half_length
    return s.joined([slab, *(rib.moved((x, 0.0, 0.9 * thickness)) for x in places)])


_FOOT = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # the foot's z to y


def away_from(port: Port, other: Port, sketch: Sketch) -> Array:
    """Up or down, whichever leads away from the body that is held: a body that hangs is held from above."""
    body = sketch.system[other.body] if other.body else None
    if body is None:
        return -sketch.up
    center = sketch.described.point(other.body, sketch.center_of_mass(body))
    above = float((center - sketch.described.point(port.body, port.point)) @ sketch.up)
    return sketch.up if above < 0.02 * sketch.extent else -sketch.up


def _on_ground(port: Port, surface: s.Surface, name: str, role: str = "joint") -> Part:
    element = port.element.name
    return Part(f"{element}/{name}", element, surface, Fixed(port.anchor), GROUND, role=role)
