"""How joints, constraints and forces look. Each kind of element has one function here that returns its parts.

A class without a function of its own is drawn like its base class, so every joint and force, also a user's, has a look.
"""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import forces, joints
from ..connections import Connection
from ..constraints import BasicConstraint
from ..forces import ForceElement
from ..joints import Joint
from . import surfaces as s
from .parts import Part, Port, Sketch, unit_vector
from .placement import Anchor, Between, Fixed, point3
from .style import ARROWS, BRASS, DAMPER, GROUND, IRON, MOTOR, ROD, RUBBER, SPRING, STEEL, UNKNOWN, Color
from .supports import anchor_foot, bracket, foot, pedestal

Array = NDArray[np.float64]


@singledispatch
def glyph_parts(element: Any, sketch: Sketch) -> list[Part]:
    """The parts that show an element; none if there is nothing to show."""
    return []


def _sides(element: Connection, sketch: Sketch) -> tuple[Port, Port, float]:
    i, j = sketch.ports[element.name]
    return i, j, sketch.joint_size(element)


def _held(element: Connection, sketch: Sketch, hold: Any, size: float) -> list[Part]:
    """The support under the side of an element that is on the ground, if one is."""
    i, j = sketch.ports[element.name]
    if i.body is None and j.body is not None:
        return [hold(i, j, sketch, size)]
    return [hold(j, i, sketch, size)] if j.body is None and i.body is not None else []


def _towards(port: Port, sketch: Sketch) -> Array:
    """From a port to the middle of its body, in the port's body axes."""
    if port.body is None:
        return -sketch.up
    return unit_vector(sketch.center_of_mass(sketch.system[port.body]) - port.point, port.axes[:, 2])


def _global(port: Port, surface: s.Surface, color: Color, name: str, role: str = "joint") -> Part:
    """A part fixed at a port but in the axes of its body."""
    return replace_axes(port, surface, color, name, np.eye(3), role)


def replace_axes(port: Port, surface: s.Surface, color: Color, name: str, axes: Array, role: str = "joint") -> Part:
    """A part fixed at a port with axes of its own, in body axes."""
    element = port.element.name
    return Part(f"{element}/{name}", element, surface, Fixed(port.anchor, axes), color, role=role)


# --- joints -----------------------------------------------------------------------------------------------------------


@glyph_parts.register
def _(element: Joint, sketch: Sketch) -> list[Part]:
    """A joint that nothing is known about: a ball with its axis."""
    _, j, r = _sides(element, sketch)
    ball = s.joined([s.sphere(1.2 * r, 32), s.cylinder(0.3 * r, 4.0 * r, 0.05 * r, 20)])
    return [sketch.on(j, ball, BRASS, "joint"), *_held(element, sketch, pedestal, r)]


@glyph_parts.register
def _(element: BasicConstraint, sketch: Sketch) -> list[Part]:
    _, j, r = _sides(element, sketch)
    return [sketch.on(j, s.sphere(0.9 * r, 8), BRASS, "constraint")]


@glyph_parts.register
def _(element: joints.RevoluteJoint, sketch: Sketch) -> list[Part]:
    i, j, r = _sides(element, sketch)
    on_ground = i.body is None or j.body is None
    length = (4.1 if on_ground else 3.0) * r
    head = s.cylinder(0.85 * r, 0.3 * r, 0.08 * r, 32)
    pin = s.joined([s.cylinder(0.55 * r, length, 0.05 * r, 32), *(head.moved((0, 0, z * length / 2)) for z in (-1, 1))])
    eye = s.tube(1.3 * r, 0.56 * r, 2.3 * r, 0.12 * r, 48)
    return [
        sketch.on(i, pin, STEEL, "pin"),
        sketch.on(j, eye, IRON, "eye"),
        *_held(element, sketch, bracket, r),
    ]


@glyph_parts.register
def _(element: joints.SphericalJoint, sketch: Sketch) -> list[Part]:
    i, j, r = _sides(element, sketch)
    cup = s.bowl(1.5 * r, 0.22 * r).moved(axes=s.frame_with_axis(-_towards(i, sketch)))
    parts = [sketch.on(j, s.sphere(1.45 * r, 40), STEEL, "ball")]
    if i.body is not None:
        parts.append(_global(i, cup, IRON, "cup"))
    return parts + _held(element, sketch, pedestal, r)


@glyph_parts.register
def _(element: joints.FixedJoint, sketch: Sketch) -> list[Part]:
    i, j, r = _sides(element, sketch)
    block = s.box((2.5 * r, 2.5 * r, 2.5 * r), 0.4 * r)
    return [sketch.on(j, block, IRON, "weld"), *_held(element, sketch, pedestal, r)]


@glyph_parts.register
def _(element: joints.UniversalJoint, sketch: Sketch) -> list[Part]:
    parts, (i, j, r) = [], _sides(element, sketch)
    for port, color, side in ((i, IRON, "first"), (j, STEEL, "second")):
        axis = port.axes[:, 2]
        out = _towards(port, sketch)
        out = unit_vector(out - (out @ axis) * axis, port.axes[:, 0])
        turn = np.linspace(0.0, np.pi, 25)
        bow = 1.9 * r * (np.cos(turn)[:, None] * axis + np.sin(turn)[:, None] * out)
        arm = s.cylinder(0.45 * r, 3.8 * r, 0.05 * r, 24).along(axis)
        parts.append(_global(port, s.joined([arm, s.swept(bow, 0.42 * r)]), color, f"{side} yoke"))
    return parts + _held(element, sketch, pedestal, r)


@glyph_parts.register
def _(element: joints.ConstantVelocityJoint, sketch: Sketch) -> list[Part]:
    i, j, r = _sides(element, sketch)
    cage = s.joined([s.tube(2.0 * r, 1.5 * r, 1.2 * r, 0.1 * r), s.torus(1.9 * r, 0.25 * r)])
    return [
        sketch.on(j, s.sphere(1.5 * r, 32), STEEL, "ball"),
        sketch.on(i, cage, IRON, "cage"),
        *_held(element, sketch, pedestal, r),
    ]


def _rail(element: Connection, sketch: Sketch, r: float) -> tuple[float, float]:
    """Middle and length of a guide along the first port's z axis that covers the motion."""
    low, high = sketch.reach(element)
    margin = max(4.0 * r, 0.1 * sketch.extent) if sketch.motion else max(6.0 * r, 0.22 * sketch.extent)
    return (low + high) / 2.0, high - low + 2.0 * margin


def _guide(element: Connection, sketch: Sketch, rail: s.Surface, middle: float, length: float, r: float) -> list[Part]:
    """A rail on the first body, with end blocks where that is the ground."""
    i, _ = sketch.ports[element.name]
    parts = [sketch.on(i, rail.moved((0, 0, middle)), ROD, "rail")]
    if i.body is None:
        ends = [s.box((2.2 * r, 2.2 * r, 0.9 * r), 0.15 * r).moved((0, 0, middle + k * length / 2)) for k in (-1, 1)]
        down = i.axes.T @ -sketch.up
        down = unit_vector(down * (1.0, 1.0, 0.0), (1.0, 0.0, 0.0))
        axes = np.column_stack([np.array([0.0, 0.0, 1.0]), np.cross(down, [0.0, 0.0, 1.0]), down])
        for k in (-1, 1):
            post = s.box((0.9 * r, 1.5 * r, 2.4 * r), 0.1 * r).moved((0, 0, 2.2 * r))
            legs = s.joined([post, foot(1.6 * r, 1.4 * r, 0.2 * r).moved((0, 0, 3.3 * r))])
            ends.append(legs.moved((0, 0, middle + k * length / 2), axes))
        parts.append(sketch.on(i, s.joined(ends), GROUND, "support"))
    return parts


@glyph_parts.register
def _(element: joints.TranslationalJoint, sketch: Sketch) -> list[Part]:
    _, j, r = _sides(element, sketch)
    middle, length = _rail(element, sketch, r)
    rail = s.box((1.0 * r, 1.0 * r, length), 0.1 * r)
    shoe = s.box((2.5 * r, 2.5 * r, 4.2 * r), 0.25 * r)
    return [*_guide(element, sketch, rail, middle, length, r), sketch.on(j, shoe, IRON, "shoe")]


@glyph_parts.register
def _(element: joints.CylindricalJoint, sketch: Sketch) -> list[Part]:
    _, j, r = _sides(element, sketch)
    middle, length = _rail(element, sketch, r)
    sleeve = s.tube(1.4 * r, 0.7 * r, 4.2 * r, 0.15 * r)
    guide = _guide(element, sketch, s.cylinder(0.68 * r, length, 0.05 * r), middle, length, r)
    return [*guide, sketch.on(j, sleeve, IRON, "sleeve")]


@glyph_parts.register
def _(element: joints.PointOnLineJoint, sketch: Sketch) -> list[Part]:
    _, j, r = _sides(element, sketch)
    middle, length = _rail(element, sketch, r)
    guide = _guide(element, sketch, s.cylinder(0.4 * r, length, 0.05 * r), middle, length, r)
    return [*guide, sketch.on(j, s.sphere(1.2 * r, 32), IRON, "ball")]


@glyph_parts.register
def _(element: joints.PlanarJoint, sketch: Sketch) -> list[Part]:
    i, j, r = _sides(element, sketch)
    parts = [sketch.on(j, s.cylinder(1.8 * r, 0.4 * r, 0.1 * r), IRON, "pad")]
    if i.body is not None:
        side = 0.25 * sketch.extent
        plate = s.box((side, side, 0.2 * r), 0.05 * r).moved((0, 0, -0.3 * r))
        parts.append(replace(sketch.on(i, plate, ROD, "plane"), opacity=0.5))
    return parts


@glyph_parts.register
def _(element: joints.ScrewJoint, sketch: Sketch) -> list[Part]:
    i, j, r = _sides(element, sketch)
    middle, length = _rail(element, sketch, r)
    core = max(0.7 * r, 0.5 * sketch.thickness(i.body))
    pitch = np.sign(element.pitch) * max(abs(element.pitch), 0.5 * core)
    turns = max(length / abs(pitch), 1.0)
    angle = np.linspace(0.0, 2.0 * np.pi * turns, int(24 * turns) + 1)
    z = (angle / angle[-1] - 0.5) * length
    around = angle * np.sign(pitch)
    thread = s.swept(np.column_stack([core * np.cos(around), core * np.sin(around), z]), 0.2 * core, 8)
    spindle = s.joined([s.cylinder(core, length, 0.1 * core), thread]).moved((0, 0, middle))
    hexagon = 2.0 * core * np.column_stack([np.cos(np.arange(6) * np.pi / 3), np.sin(np.arange(6) * np.pi / 3)])
    nut = s.extruded(hexagon, 2.2 * core, 0.2 * core)
    return [sketch.on(i, spindle, STEEL, "thread"), sketch.on(j, nut, BRASS, "nut")]


@glyph_parts.register
def _(element: joints.DistanceJoint, sketch: Sketch) -> list[Part]:
    i, j, _ = _sides(element, sketch)
    r = 0.3 * sketch.bar
    line = Between(i.anchor, j.anchor)
    parts = [Part(f"{element.name}/rod", element.name, s.cylinder(r, 1.0).moved((0, 0, 0.5)), line, ROD, role="joint")]
    for port, side in ((i, "first"), (j, "second")):
        parts.append(sketch.on(port, s.sphere(2.0 * r, 24), IRON, f"{side} ball"))
    return parts + _held(element, sketch, pedestal, 1.4 * r)


@glyph_parts.register
def _(element: joints.KnifeEdge, sketch: Sketch) -> list[Part]:
    i, j, _ = _sides(element, sketch)
    long, high = 0.16 * sketch.extent, 0.05 * sketch.extent
    turn = np.linspace(np.pi, 2.0 * np.pi, 20)
    outline = np.column_stack([long * np.cos(turn), high + high * np.sin(turn)])
    _, rotation_i = sketch.described.of(i.body)
    _, rotation_j = sketch.described.of(j.body)
    normal = rotation_j.T @ rotation_i @ i.axes[:, 2]
    blade = j.axes[:, 2]
    upright = unit_vector(normal - (normal @ blade) * blade, j.axes[:, 0])
    axes = np.column_stack([blade, upright, np.cross(blade, upright)])
    return [replace_axes(j, s.extruded(outline, 0.15 * high, 0.02 * high), STEEL, "blade", axes)]


# --- gears ------------------------------------------------------------------------------------------------------------


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
        color = STEEL if side == "first" else BRASS
        parts.append(Part(f"{element.name}/{side} gear", element.name, wheel, placed, color, role="joint"))
    return parts


@glyph_parts.register
def _(element: joints.RackAndPinionJoint, sketch: Sketch) -> list[Part]:
    pinion, rack = _mover(element.first, sketch), _mover(element.second, sketch)
    radius, width = abs(element.radius), 0.7 * sketch.bar
    teeth = max(12, round(2.0 * np.pi * radius / (0.8 * sketch.bar)))
    pitch = 2.0 * np.pi * radius / teeth
    poses = sketch.described
    axle = poses.of(pinion.body)[1] @ pinion.axes[:, 2]
    along = poses.of(rack.body)[1] @ rack.axes[:, 2]
    # The pinion's rim moves along the rack where a x c = d, if a is its axis: c = radius (d x a).
    out = unit_vector(np.cross(along, axle), (0.0, 0.0, 1.0)) * np.sign(element.radius or 1.0)
    low, high = sketch.reach(element.second)
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
            BRASS,
            role="joint",
        ),
        Part(
            f"{element.name}/rack",
            element.name,
            s.joined(blocks),
            Fixed(Anchor(rack.body, turn.T @ (start - origin)), turn.T @ axes),
            STEEL,
            role="joint",
        ),
    ]


# --- forces -----------------------------------------------------------------------------------------------------------


@glyph_parts.register
def _(element: ForceElement, sketch: Sketch) -> list[Part]:
    """A force that nothing is known about: a thin line between its points."""
    i, j, r = _sides(element, sketch)
    parts = [sketch.on(j, s.sphere(0.7 * r, 20), UNKNOWN, "second end", "force")]
    if _apart(i, j, sketch) > 0.01 * sketch.extent:
        line = s.cylinder(0.16 * sketch.bar, 1.0, sides=16).moved((0, 0, 0.5))
        parts.append(sketch.on(i, s.sphere(0.7 * r, 20), UNKNOWN, "first end", "force"))
        parts.append(
            Part(f"{element.name}/line", element.name, line, Between(i.anchor, j.anchor), UNKNOWN, role="force")
        )
    return parts


def _apart(i: Port, j: Port, sketch: Sketch) -> float:
    return float(np.linalg.norm(sketch.described.point(i.body, i.point) - sketch.described.point(j.body, j.point)))


@glyph_parts.register
def _(element: forces.SpringDamper, sketch: Sketch) -> list[Part]:
    i, j, _ = _sides(element, sketch)
    length = max(_apart(i, j, sketch), element.free_length, 2.0 * sketch.bar)
    springs = element.stiffness > 0.0 or element.force is not None
    damps = element.damping > 0.0 or element.damping_force is not None
    radius = min(0.85 * sketch.bar, 0.16 * length)
    stretched = Between(i.anchor, j.anchor, shortest=1e-3 * length)
    parts = []
    if springs or not damps:
        turns = int(np.clip(length / (0.9 * radius), 5, 12))
        wire = _rounded_wire(radius, 0.17 * radius, turns, max(_apart(i, j, sketch), 0.3 * length))
        parts.append(Part(f"{element.name}/coil", element.name, wire, stretched, SPRING, role="force"))
    if damps:
        core = (0.5 if springs else 0.8) * radius
        barrel = s.cylinder(core, 0.5 * length, 0.1 * core, 32).moved((0, 0, 0.35 * length))
        stem = s.cylinder(0.35 * core, 0.2 * length).moved((0, 0, 0.1 * length))
        piston = s.cylinder(0.35 * core, 0.6 * length, sides=24).moved((0, 0, 0.3 * length))
        first = Between(i.anchor, j.anchor, stretches=False)
        second = Between(j.anchor, i.anchor, stretches=False)
        body = s.joined([barrel, stem])
        parts.append(Part(f"{element.name}/barrel", element.name, body, first, DAMPER, role="force"))
        parts.append(Part(f"{element.name}/piston", element.name, piston, second, ROD, role="force"))
    for port, other, side in ((i, j, "first"), (j, i, "second")):
        parts.append(sketch.on(port, s.sphere(0.4 * radius, 20), IRON, f"{side} end", "force"))
        if port.body is None:
            away = point3(port.point) - sketch.described.point(other.body, other.point)
            parts.append(anchor_foot(port, away, 0.7 * radius))
    return parts


def _rounded_wire(radius: float, wire: float, turns: int, length: float) -> s.Surface:
    """A coil of unit length whose wire is round when it is stretched to `length`."""
    drawn = s.coil(radius, wire, turns, length)
    vertices, normals = drawn.vertices.copy(), drawn.normals.copy()
    vertices[:, 2] /= length
    normals[:, 2] *= length
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return s.Surface(vertices, normals, drawn.faces)


@glyph_parts.register
def _(element: forces.TorsionalSpringDamper, sketch: Sketch) -> list[Part]:
    _, j, r = _sides(element, sketch)
    angle = np.linspace(0.0, 5.0 * np.pi, 120)
    grow = r * (0.9 + 1.7 * angle / angle[-1])
    spiral = np.column_stack([grow * np.cos(angle), grow * np.sin(angle), np.full_like(angle, 1.9 * r)])
    return [sketch.on(j, s.swept(spiral, 0.16 * r), SPRING, "spiral", "force")]


@glyph_parts.register
def _(element: forces.Bushing, sketch: Sketch) -> list[Part]:
    i, j, r = _sides(element, sketch)
    return [
        sketch.on(j, s.tube(1.8 * r, 0.8 * r, 1.8 * r, 0.3 * r), RUBBER, "rubber", "force"),
        sketch.on(i, s.tube(0.8 * r, 0.5 * r, 2.4 * r, 0.05 * r), STEEL, "sleeve", "force"),
    ]


@glyph_parts.register
def _(element: forces.PIDActuator, sketch: Sketch) -> list[Part]:
    i, _, r = _sides(element, sketch)
    housing = s.joined([s.cylinder(1.6 * r, 3.0 * r, 0.2 * r), s.cylinder(1.0 * r, 0.6 * r, 0.1 * r).moved((0, 0, 1.7 * r))])
    return [sketch.on(i, housing.moved((0, 0, -3.4 * r)), MOTOR, "motor", "force")]


def _start_value(functions: Any) -> Array:
    """A load at t = 0 as a vector."""
    values = [float(f(0.0)) if callable(f) else float(f) for f in np.atleast_1d(np.asarray(functions, object))]
    return point3(values) if len(values) > 1 else np.array([0.0, 0.0, values[0]])


def _load(element: Any, sketch: Sketch, functions: Any, surface: s.Surface, name: str) -> list[Part]:
    """A load's symbol along its direction at t = 0, turning with the body if its axes do."""
    _, j = sketch.ports[element.name]
    direction = unit_vector(_start_value(functions), -sketch.up)
    turns = getattr(element, "axes", "global") == "body"
    _, rotation = sketch.described.of(j.body)
    axes = s.frame_with_axis(rotation.T @ direction if turns else direction)
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
    return [sketch.on(j, s.sphere(0.25 * sketch.bar, 16), BRASS, "point", "force")]
