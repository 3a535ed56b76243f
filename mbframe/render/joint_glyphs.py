"""How joints and constraints look."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .. import joints
from ..bodies import FlexibleBody
from ..connections import Connection
from ..constraints import BasicConstraint
from ..joints import Joint
from ..joints.on_axis import AxisJoint
from ..measures import Distance
from ..rotations import frame_with_axis
from ..shapes import Cylinder
from . import surfaces as s
from .glyphs import at_port, between, distance, glyph_parts, held, motor, sides, towards_body
from .parts import Part, Port, Sketch, unit_vector
from .placement import Fixed, point3, rotation3
from .style import BRASS, GROUND, IRON, MOTOR, ROD, STEEL
from .supports import bracket, foot, pedestal


@glyph_parts.register
def _(element: Joint, sketch: Sketch) -> list[Part]:
    """A joint that nothing is known about: a ball with its axis."""
    _, j, r = sides(element, sketch)
    ball = s.joined([s.sphere(1.2 * r, 32), s.cylinder(0.3 * r, 4.0 * r, 0.05 * r, 20)])
    return [at_port(j, ball, BRASS, "joint"), *held(element, sketch, pedestal, r)]


@glyph_parts.register
def _(element: BasicConstraint, sketch: Sketch) -> list[Part]:
    _, j, r = sides(element, sketch)
    return [at_port(j, s.sphere(0.9 * r, 8), BRASS, "constraint")]


@glyph_parts.register
def _(element: joints.Driver, sketch: Sketch) -> list[Part]:
    i, _, r = sides(element, sketch)
    return [at_port(i, motor(r), MOTOR, "motor")]


@glyph_parts.register
def _(element: joints.Prescribed, sketch: Sketch) -> list[Part]:
    """A jack that keeps two points at their distance; what drives another measure is a motor."""
    i, j, r = sides(element, sketch)
    if not isinstance(element.measure, Distance):
        return [at_port(i, motor(r), MOTOR, "motor")]
    length = distance(i, j, sketch)
    barrel = s.cylinder(0.9 * r, 0.6 * length, 0.1 * r, 32).moved((0, 0, 0.3 * length))
    piston = s.cylinder(0.45 * r, 0.7 * length, 0.05 * r, 24).moved((0, 0, 0.35 * length))
    parts = [at_port(port, s.sphere(1.1 * r, 24), IRON, f"{side} eye") for port, side in ((i, "first"), (j, "second"))]
    parts.append(between(i, j, barrel, MOTOR, "barrel", stretches=False))
    parts.append(between(j, i, piston, ROD, "piston", stretches=False))
    return parts + held(element, sketch, pedestal, r)


@glyph_parts.register
def _(element: joints.PointDriver, sketch: Sketch) -> list[Part]:
    """A ball with an arrow along each direction in which its way is given."""
    i, j, r = sides(element, sketch)
    arrow = s.arrow(4.0 * r, 0.25 * r, 1.2 * r)
    arrows = [arrow.along(np.eye(3)["xyz".index(name)]) for name in element.functions()]
    return [
        at_port(j, s.sphere(1.0 * r, 32), MOTOR, "point"),
        replace(
            at_port(j, s.joined(arrows), MOTOR, "directions", i.axes), placement=Fixed(j.anchor, i.axes, turns=False)
        ),
    ]


@glyph_parts.register
def _(element: joints.RevoluteJoint, sketch: Sketch) -> list[Part]:
    i, j, r = sides(element, sketch)
    length = max((4.1 if i.body is None or j.body is None else 3.0) * r, 2.0 * (sketch.cover(element) + 0.1 * r))
    head = s.cylinder(0.85 * r, 0.3 * r, 0.08 * r, 32)
    pin = s.joined([s.cylinder(0.55 * r, length, 0.05 * r, 32), *(head.moved((0, 0, z * length / 2)) for z in (-1, 1))])
    eye = s.tube(1.3 * r, 0.56 * r, 2.3 * r, 0.12 * r, 48)
    return [
        at_port(i, pin, STEEL, "pin"),
        at_port(j, eye, IRON, "eye"),
        *held(element, sketch, bracket, r),
    ]


@glyph_parts.register
def _(element: joints.SphericalJoint, sketch: Sketch) -> list[Part]:
    i, j, r = sides(element, sketch)
    cup = s.bowl(1.5 * r, 0.22 * r).moved(axes=frame_with_axis(-towards_body(i, sketch)))
    parts = [at_port(j, s.sphere(1.45 * r, 40), STEEL, "ball")]
    if i.body is not None:
        parts.append(at_port(i, cup, IRON, "cup", np.eye(3)))
    return parts + held(element, sketch, pedestal, r)


@glyph_parts.register
def _(element: joints.FixedJoint, sketch: Sketch) -> list[Part]:
    _, j, r = sides(element, sketch)
    block = s.box((2.5 * r, 2.5 * r, 2.5 * r), 0.4 * r)
    return [at_port(j, block, IRON, "weld"), *held(element, sketch, pedestal, r)]


@glyph_parts.register
def _(element: joints.UniversalJoint, sketch: Sketch) -> list[Part]:
    parts, (i, j, r) = [], sides(element, sketch)
    for port, color, side in ((i, IRON, "first"), (j, STEEL, "second")):
        axis = port.axes[:, 2]
        out = towards_body(port, sketch)
        out = unit_vector(out - (out @ axis) * axis, port.axes[:, 0])
        turn = np.linspace(0.0, np.pi, 25)
        bow = 2.4 * r * (np.cos(turn)[:, None] * axis + np.sin(turn)[:, None] * out)
        arm = s.cylinder(0.5 * r, 4.9 * r, 0.05 * r, 24).along(axis)
        parts.append(at_port(port, s.joined([arm, s.swept(bow, 0.5 * r)]), color, f"{side} yoke", np.eye(3)))
    return parts + held(element, sketch, pedestal, r)


@glyph_parts.register
def _(element: joints.ConstantVelocityJoint, sketch: Sketch) -> list[Part]:
    i, j, r = sides(element, sketch)
    cage = s.joined([s.tube(2.0 * r, 1.5 * r, 1.2 * r, 0.1 * r), s.torus(1.9 * r, 0.25 * r)])
    return [
        at_port(j, s.sphere(1.5 * r, 32), STEEL, "ball"),
        at_port(i, cage, IRON, "cage"),
        *held(element, sketch, pedestal, r),
    ]


@dataclass(frozen=True)
class Guide:
    """What slides along what: the ground carries the rail if it takes part, otherwise the first body does.

    The rail lies along the carrier's z axis, from `middle - length / 2` to `middle + length / 2`: it covers the motion.
    """

    carrier: Port
    slider: Port
    size: float  # radius of a pin of the joint
    middle: float
    length: float

    @classmethod
    def of(cls, element: Connection, sketch: Sketch) -> Guide:
        i, j, r = sides(element, sketch)
        carrier, slider = (j, i) if j.body is None else (i, j)
        low, high = sketch.reach(carrier, slider)
        # A rail for a known motion ends where the slider does; otherwise it leaves some room for one.
        beside = 0.0 if sketch.motion else 0.22 * sketch.extent
        margin = max(0.5 * sketch.span(slider.body) + r, 4.0 * r, beside)
        return cls(carrier, slider, r, (low + high) / 2.0, high - low + 2.0 * margin)

    def parts(self, rail: s.Surface, rider: s.Surface, sketch: Sketch) -> list[Part]:
        """The rail, what rides on it, and posts under the ends of a rail on the ground. A flexible body is its own."""
        riding = at_port(self.slider, rider, IRON, "rider")
        if isinstance(self.carrier.element, AxisJoint) and isinstance(self.carrier.element.body_i, FlexibleBody):
            return [riding]
        if self.carrier.body is not None:
            return [at_port(self.carrier, rail.moved((0, 0, self.middle)), STEEL, "rail"), riding]
        ends = (self.middle - self.length / 2.0, self.middle + self.length / 2.0)
        post, layer = self._post(sketch), np.zeros(3)
        if sketch.planar:
            # What turns passes over the rail, which lies in the layer of what slides, and before the posts.
            out = self.carrier.axes.T @ [0.0, 0.0, 1.0]
            layer = sketch.layers.get(self.slider.body or "", 0.0) * out
            behind = (sketch.back - 1.1 * self.size) * out
            axes = np.column_stack([np.cross(out, [0.0, 0.0, 1.0]), out, [0.0, 0.0, 1.0]])
            reach = float(np.linalg.norm(layer - behind))
            peg = s.box((0.9 * self.size, reach, 0.9 * self.size)).moved((layer + behind) / 2.0, axes)
            post = s.joined([post.moved(behind), peg])
        posts = s.joined([post.moved((0, 0, end)) for end in ends])
        return [
            at_port(self.carrier, rail.moved(np.array([0.0, 0.0, self.middle]) + layer), STEEL, "rail"),
            riding,
            at_port(self.carrier, posts, GROUND, "support"),
        ]

    def _post(self, sketch: Sketch) -> s.Surface:
        """A block that holds the end of a rail and stands on a foot."""
        r = self.size
        down = self.carrier.axes.T @ -sketch.up
        down = unit_vector(down * (1.0, 1.0, 0.0), (1.0, 0.0, 0.0))  # across the rail
        axes = np.column_stack([np.array([0.0, 0.0, 1.0]), np.cross(down, [0.0, 0.0, 1.0]), down])
        post = s.box((0.9 * r, 1.5 * r, 2.4 * r), 0.1 * r).moved((0, 0, 2.2 * r))
        legs = s.joined([post, foot(1.6 * r, 1.4 * r, 0.2 * r).moved((0, 0, 3.3 * r))])
        return s.joined([s.box((2.2 * r, 2.2 * r, 0.9 * r), 0.15 * r), legs.moved(axes=axes)])


@glyph_parts.register(joints.TranslationalJoint)
@glyph_parts.register(joints.KeyedSleeveJoint)
def _(element: Joint, sketch: Sketch) -> list[Part]:
    guide = Guide.of(element, sketch)
    r = guide.size
    rail, shoe = s.box((1.0 * r, 1.0 * r, guide.length), 0.1 * r), s.box((2.5 * r, 2.5 * r, 4.2 * r), 0.25 * r)
    return guide.parts(rail, shoe, sketch)


@glyph_parts.register(joints.CylindricalJoint)
@glyph_parts.register(joints.SleeveJoint)
def _(element: Joint, sketch: Sketch) -> list[Part]:
    guide = Guide.of(element, sketch)
    r = guide.size
    rod, sleeve = s.cylinder(0.68 * r, guide.length, 0.05 * r), s.tube(1.4 * r, 0.7 * r, 4.2 * r, 0.15 * r)
    return guide.parts(rod, sleeve, sketch)


@glyph_parts.register(joints.PointOnLineJoint)
@glyph_parts.register(joints.PointOnAxisJoint)
def _(element: Joint, sketch: Sketch) -> list[Part]:
    guide = Guide.of(element, sketch)
    r = guide.size
    return guide.parts(s.cylinder(0.4 * r, guide.length, 0.05 * r), s.sphere(1.2 * r, 32), sketch)


@glyph_parts.register
def _(element: joints.PlanarJoint, sketch: Sketch) -> list[Part]:
    i, j, r = sides(element, sketch)
    parts = [at_port(j, s.cylinder(1.8 * r, 0.4 * r, 0.1 * r), IRON, "pad")]
    if i.body is not None:
        side = 0.25 * sketch.extent
        plate = s.box((side, side, 0.2 * r), 0.05 * r).moved((0, 0, -0.3 * r))
        parts.append(replace(at_port(i, plate, ROD, "plane"), opacity=0.5))
    return parts


@glyph_parts.register
def _(element: joints.ScrewJoint, sketch: Sketch) -> list[Part]:
    i, j, r = sides(element, sketch)
    guide = Guide.of(element, sketch)
    middle, core, length = guide.middle, 0.8 * r, guide.length
    if (spindle := _coaxial_cylinder(i, sketch)) is not None:
        middle, core, length = spindle
    pitch = np.sign(element.pitch) * max(abs(element.pitch), 0.5 * core)
    turns = max(length / abs(pitch), 1.0)
    angle = np.linspace(0.0, 2.0 * np.pi * turns, int(24 * turns) + 1)
    z = (angle / angle[-1] - 0.5) * length
    around = angle * np.sign(pitch)
    thread = s.swept(np.column_stack([core * np.cos(around), core * np.sin(around), z]), 0.2 * core, 8)
    screw = s.joined([s.cylinder(core, length, 0.1 * core), thread]).moved((0, 0, middle))
    hexagon = 2.0 * core * np.column_stack([np.cos(np.arange(6) * np.pi / 3), np.sin(np.arange(6) * np.pi / 3)])
    nut = s.extruded(hexagon, 2.2 * core, 0.2 * core)
    return [at_port(i, screw, STEEL, "thread"), at_port(j, nut, BRASS, "nut")]


def _coaxial_cylinder(port: Port, sketch: Sketch) -> tuple[float, float, float] | None:
    """Middle along the port's z axis, radius and length of a cylinder of its body about that axis, if it has one."""
    for shape in sketch.system[port.body].shapes if port.body is not None else ():
        if isinstance(shape, Cylinder):
            offset = port.axes.T @ (point3(shape.position) - port.point)
            along = port.axes.T @ rotation3(shape.rotation)[:, 2]
            if abs(along[2]) > 0.999 and np.hypot(*offset[:2]) < 0.1 * shape.radius:
                return float(offset[2]), shape.radius, shape.length
    return None


@glyph_parts.register
def _(element: joints.DistanceJoint, sketch: Sketch) -> list[Part]:
    i, j, _ = sides(element, sketch)
    r = 0.3 * sketch.bar
    parts = [between(i, j, s.cylinder(r, 1.0).moved((0, 0, 0.5)), ROD, "rod")]
    for port, side in ((i, "first"), (j, "second")):
        parts.append(at_port(port, s.sphere(2.0 * r, 24), IRON, f"{side} ball"))
    return parts + held(element, sketch, pedestal, 1.4 * r)


@glyph_parts.register
def _(element: joints.KnifeEdge, sketch: Sketch) -> list[Part]:
    i, j, _ = sides(element, sketch)
    long, high = 0.16 * sketch.extent, 0.05 * sketch.extent
    turn = np.linspace(np.pi, 2.0 * np.pi, 20)
    outline = np.column_stack([long * np.cos(turn), high + high * np.sin(turn)])
    _, rotation_i = sketch.described.of(i.body)
    _, rotation_j = sketch.described.of(j.body)
    normal = rotation_j.T @ rotation_i @ i.axes[:, 2]
    blade = j.axes[:, 2]
    upright = unit_vector(normal - (normal @ blade) * blade, j.axes[:, 0])
    axes = np.column_stack([blade, upright, np.cross(blade, upright)])
    return [at_port(j, s.extruded(outline, 0.15 * high, 0.02 * high), STEEL, "blade", axes)]
