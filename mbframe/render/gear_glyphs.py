"""How gears look."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import joints
from ..connections import Connection
from . import surfaces as s
from .glyphs import glyph_parts
from .parts import Part, Port, Sketch, unit_vector
from .placement import Anchor, Fixed

Array = NDArray[np.float64]


def gear(radius: float, teeth: int, width: float, phase: float = 0.0) -> s.Surface:
    """A spur gear about z with a tooth at the angle `phase`."""
    depth = 2.0 * np.pi * radius / teeth * 0.32
    pitch = 2.0 * np.pi / teeth
    shape = [(-0.36, -1.0), (-0.14, 1.0), (0.14, 1.0), (0.36, -1.0)]
    angle = np.array([phase + (k + a) * pitch for k in range(teeth) for a, _ in shape])
    r = np.array([radius + side * depth for _ in range(teeth) for _, side in shape])
    return s.extruded(np.column_stack([r * np.cos(angle), r * np.sin(angle)]), width, 0.0)


def _mover(joint: Connection, sketch: Sketch) -> Port:
    """The side of a joint that turns or slides: the second unless that is the ground."""
    i, j = sketch.ports[joint.name]
    return i if j.body is None else j


def _direction(port: Port, other: Port, sketch: Sketch) -> Array:
    """From a port to another one, in the first one's axes."""
    shift = sketch.described.point(other.body, other.point) - sketch.described.point(port.body, port.point)
    _, rotation = sketch.described.of(port.body)
    return port.axes.T @ rotation.T @ shift


@glyph_parts.register
def _(element: joints.GearJoint, sketch: Sketch) -> list[Part]:
    first, second = _mover(element.first, sketch), _mover(element.second, sketch)
    across = _direction(first, second, sketch)
    distance = float(np.hypot(across[0], across[1])) or 6.0 * sketch.bar
    ratio = abs(element.ratio) or 1.0
    radius = distance / (1.0 + ratio) * (1.0 if element.ratio < 0 else 0.8)
    teeth = max(10, round(24 / max(ratio, 1.0)))
    width = 0.7 * sketch.bar
    parts = []
    for port, other, r, n, gap, side in (
        (first, second, radius, teeth, 0.0, "first"),
        (second, first, radius * ratio, max(8, round(teeth * ratio)), 0.5, "second"),
    ):
        x, y, _ = _direction(port, other, sketch)
        wheel = gear(r, n, width, float(np.arctan2(y, x)) + gap * 2.0 * np.pi / n)
        placed = Fixed(Anchor(port.body, port.point), port.axes)
        color = sketch.color(port.body)
        parts.append(Part(f"{element.name}/{side} gear", element.name, wheel, placed, color, role="joint"))
    return parts


@glyph_parts.register
def _(element: joints.RackAndPinionJoint, sketch: Sketch) -> list[Part]:
    pinion, rack = _mover(element.first, sketch), _mover(element.second, sketch)
    radius, width = abs(element.radius), 0.7 * sketch.bar
    teeth = 20
    pitch = 2.0 * np.pi * radius / teeth
    poses = sketch.described
    axle = poses.of(pinion.body)[1] @ pinion.axes[:, 2]
    along = poses.of(rack.body)[1] @ rack.axes[:, 2]
    # The pinion's rim moves along the rack where a x c = d, if a is its axis: c = radius (d x a).
    out = unit_vector(np.cross(along, axle), (0.0, 0.0, 1.0)) * np.sign(element.radius or 1.0)
    low, high = sketch.reach(*sketch.ports[element.second.name])
    half = 0.5 * (high - low) + 4.0 * pitch + radius
    count = int(2.0 * half / pitch) + 1
    blocks = [s.box((count * pitch, 0.8 * pitch, width), 0.05 * pitch).moved((0.0, 0.65 * pitch, 0.0))]
    for k in range(count):
        tooth = [(0.1, 0.3), (0.35, -0.32), (0.65, -0.32), (0.9, 0.3)]
        corners = np.array([((k + x - count / 2.0) * pitch, y * pitch) for x, y in tooth])
        blocks.append(s.extruded(corners, width))
    axes = np.column_stack([along, out, np.cross(along, out)])
    start = poses.point(pinion.body, pinion.point) + radius * out
    origin, turn = poses.of(rack.body)
    wheel = gear(radius, teeth, width, np.pi / teeth)
    return [
        Part(
            f"{element.name}/pinion",
            element.name,
            wheel,
            Fixed(pinion.anchor, pinion.axes),
            sketch.color(pinion.body),
            role="joint",
        ),
        Part(
            f"{element.name}/rack",
            element.name,
            s.joined(blocks),
            Fixed(Anchor(rack.body, turn.T @ (start - origin)), turn.T @ axes),
            sketch.color(rack.body),
            role="joint",
        ),
    ]
