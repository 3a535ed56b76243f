"""How forces look."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .. import forces, joints
from ..forces import ForceElement
from ..rotations import frame_with_axis
from . import surfaces as s
from .glyphs import at_port, between, distance, glyph_parts, motor, sides
from .parts import Part, Sketch, unit_vector
from .placement import Fixed, point3
from .style import ARROWS, BRASS, DAMPER, GROUND, IRON, MOTOR, ROD, RUBBER, SPRING, STEEL, UNKNOWN
from .supports import anchor_foot

Array = NDArray[np.float64]
LONGEST: Final = 10.0
"""Length at rest that a spring is drawn for, as a multiple of the picture; a model may say any number."""


@glyph_parts.register
def _(element: ForceElement, sketch: Sketch) -> list[Part]:
    """A force that nothing is known about: a thin line between its points."""
    i, j, r = sides(element, sketch)
    parts = [at_port(j, s.sphere(0.7 * r, 20), UNKNOWN, "second end")]
    if distance(i, j, sketch) > 0.01 * sketch.extent:
        line = s.cylinder(0.16 * sketch.bar, 1.0, sides=16).moved((0, 0, 0.5))
        parts.append(at_port(i, s.sphere(0.7 * r, 20), UNKNOWN, "first end"))
        parts.append(between(i, j, line, UNKNOWN, "line"))
    return parts


@glyph_parts.register
def _(element: forces.SpringDamper, sketch: Sketch) -> list[Part]:
    i, j, _ = sides(element, sketch)
    at_rest = min(element.rest_length, LONGEST * sketch.extent)
    length = max(distance(i, j, sketch), at_rest, 2.0 * sketch.bar)
    springs = element.stiffness > 0.0 or element.force is not None
    damps = element.damping > 0.0 or element.damping_force is not None
    radius = min(0.85 * sketch.bar, 0.16 * length)
    parts = []
    if springs or not damps:
        turns = int(np.clip(length / (0.9 * radius), 5, 12))
        wire = unit_coil(radius, 0.17 * radius, turns, max(distance(i, j, sketch), 0.3 * length))
        parts.append(between(i, j, wire, SPRING, "coil"))
    if damps:
        core = (0.5 if springs else 0.8) * radius
        barrel = s.cylinder(core, 0.5 * length, 0.1 * core, 32).moved((0, 0, 0.35 * length))
        stem = s.cylinder(0.35 * core, 0.2 * length).moved((0, 0, 0.1 * length))
        piston = s.cylinder(0.35 * core, 0.6 * length, sides=24).moved((0, 0, 0.3 * length))
        parts.append(between(i, j, s.joined([barrel, stem]), DAMPER, "barrel", stretches=False))
        parts.append(between(j, i, piston, ROD, "piston", stretches=False))
    for port, other, side in ((i, j, "first"), (j, i, "second")):
        parts.append(at_port(port, s.sphere(0.4 * radius, 20), IRON, f"{side} end"))
        if port.body is None:
            away = point3(port.point) - sketch.described.point(other.body, other.point)
            parts.append(anchor_foot(port, away, 0.7 * radius))
    return parts


def unit_coil(radius: float, wire: float, turns: int, length: float) -> s.Surface:
    """A coil of unit length whose wire is round when it is stretched to `length`."""
    drawn = s.coil(radius, wire, turns, length)
    vertices, normals = drawn.vertices.copy(), drawn.normals.copy()
    vertices[:, 2] /= length
    normals[:, 2] *= length
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return s.Surface(vertices, normals, drawn.faces)


@glyph_parts.register
def _(element: forces.TorsionalSpringDamper, sketch: Sketch) -> list[Part]:
    _, j, r = sides(element, sketch)
    angle = np.linspace(0.0, 5.0 * np.pi, 120)
    grow = r * (0.9 + 1.7 * angle / angle[-1])
    spiral = np.column_stack([grow * np.cos(angle), grow * np.sin(angle), np.full_like(angle, 1.9 * r)])
    return [at_port(j, s.swept(spiral, 0.16 * r), SPRING, "spiral")]


@glyph_parts.register
def _(element: forces.Bushing, sketch: Sketch) -> list[Part]:
    i, j, r = sides(element, sketch)
    return [
        at_port(j, s.tube(1.8 * r, 0.8 * r, 1.8 * r, 0.3 * r), RUBBER, "rubber"),
        at_port(i, s.tube(0.8 * r, 0.5 * r, 2.4 * r, 0.05 * r), STEEL, "sleeve"),
    ]


@glyph_parts.register
def _(element: forces.PIDActuator, sketch: Sketch) -> list[Part]:
    i, _, r = sides(element, sketch)
    return [at_port(i, motor(r), MOTOR, "motor")]


def _start_value(functions: Any) -> Array:
    """A load at t = 0 as a vector; inputs and outputs of controllers that it names count as 1."""
    given = np.atleast_1d(np.asarray(functions, object))
    values = [float(f.bound(dict.fromkeys(f.signals, 1.0))(0.0)) if callable(f) else float(f) for f in given]
    return point3(values) if len(values) > 1 else np.array([0.0, 0.0, values[0]])


def _load(element: Any, sketch: Sketch, functions: Any, surface: s.Surface, name: str) -> list[Part]:
    """A load's symbol along its direction at t = 0, turning with the body if its axes do."""
    _, j = sketch.ports[element.name]
    direction = unit_vector(_start_value(functions), -sketch.up)
    turns = getattr(element, "axes", "global") == "body"
    _, rotation = sketch.described.of(j.body)
    axes = frame_with_axis(rotation.T @ direction if turns else direction)
    placed = Fixed(j.anchor, axes, turns)
    return [Part(f"{element.name}/{name}", element.name, surface, placed, ARROWS["force"], role="force")]


@glyph_parts.register
def _(element: forces.PointForce, sketch: Sketch) -> list[Part]:
    length = 0.16 * sketch.extent
    symbol = s.arrow(length, 0.035 * length, 0.3 * length).moved((0, 0, -length))
    return _load(element, sketch, element.force, symbol, "arrow")


@glyph_parts.register
def _(element: forces.Torque, sketch: Sketch) -> list[Part]:
    radius = 0.07 * sketch.extent
    turn = np.linspace(0.0, 1.5 * np.pi, 50)
    bow = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.zeros(50)])
    head = s.cone(0.22 * radius, 0.5 * radius, 24).along((1.0, 0.0, 0.0), (0.0, -radius, 0.0))
    return _load(element, sketch, element.torque, s.joined([s.swept(bow, 0.07 * radius), head]), "arrow")


@glyph_parts.register(forces.Friction)
@glyph_parts.register(forces.AngleLimit)
@glyph_parts.register(forces.DisplacementLimit)
def _(element: Any, sketch: Sketch) -> list[Part]:
    """Belongs to a joint that is drawn already."""
    return []


@glyph_parts.register
def _(element: forces.DistanceLimit, sketch: Sketch) -> list[Part]:
    """A strap between its points, with a buffer of rubber at each if it keeps them apart."""
    i, j, r = sides(element, sketch)
    strap = s.cylinder(0.12 * sketch.bar, 1.0, sides=16).moved((0, 0, 0.5))
    buffer = s.cylinder(0.6 * r, 0.9 * r, 0.2 * r, 24)
    parts = [between(i, j, strap, RUBBER, "strap")]
    if element.lower > 0.0:
        parts += [between(i, j, buffer.moved((0, 0, 0.45 * r)), RUBBER, "first buffer", stretches=False)]
        parts += [between(j, i, buffer.moved((0, 0, 0.45 * r)), RUBBER, "second buffer", stretches=False)]
    return parts


@glyph_parts.register
def _(element: forces.Tire, sketch: Sketch) -> list[Part]:
    """The road with its profile, which passes by under a wheel that stands still; the wheel is the body's."""
    i, j = sketch.ports[element.name]
    low, high = sketch.reach(i, j, axis=0)
    margin, half_width = 3.0 * element.radius, 0.7 * element.radius
    across = float(i.axes[:, 1] @ (sketch.described.point(j.body, j.point) - sketch.described.point(i.body, i.point)))
    x = np.linspace(low - margin, high + margin, int(np.clip((high - low) / element.radius, 0, 2000)) * 4 + 101)
    y = across + half_width * np.array([-1.0, 1.0])

    def vertices(t: float) -> Array:
        height = np.array([float(element.profile(at)) for at in x + element.speed * t])
        z = height + 0.003 * sketch.extent  # over the floor's grid and shadows
        return np.stack([np.repeat(x, 2), np.tile(y, len(x)), np.repeat(z, 2)], axis=-1)

    rest = vertices(0.0)
    slope = np.gradient(rest[::2, 2], x)
    normals = np.repeat(np.column_stack([-slope, 0.0 * slope, 1.0 + 0.0 * slope]), 2, axis=0)
    corner = 2 * np.arange(len(x) - 1)[:, None]
    faces = np.vstack([corner + np.array(triangle) for triangle in ((0, 2, 1), (1, 2, 3))])
    road = s.Surface.of(rest, normals / np.linalg.norm(normals, axis=1)[:, None], faces)
    part = replace(at_port(i, road, GROUND, "road"), role="road")
    return [replace(part, deformed=lambda state: vertices(state.t)) if element.speed != 0.0 else part]


@glyph_parts.register(joints.RollingDisk)
@glyph_parts.register(joints.RollingSphere)
@glyph_parts.register(forces.SpherePlaneContact)
@glyph_parts.register(forces.SphereSphereContact)
def _(element: Any, sketch: Sketch) -> list[Part]:
    """The wheel or ball is the body's, the floor the scene's."""
    return []


@glyph_parts.register
def _(element: forces.PointPlaneContact, sketch: Sketch) -> list[Part]:
    _, j = sketch.ports[element.name]
    return [at_port(j, s.sphere(0.25 * sketch.bar, 16), BRASS, "point")]
