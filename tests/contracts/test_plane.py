"""Every joint, constraint and force in a planar system: as in space, where the bodies are held in the plane."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.forces.base import OnBody
from mbframe.joints.coupled import Coupling
from mbframe.state import Motion, State

from .specimens import (
    GRAVITY,
    IN_PLANE,
    NORMAL,
    along,
    assert_close,
    crossed,
    name_of,
    numbers,
    planar_body,
    planar_formulations,
    planar_motion,
    walk,
)
from .test_joints import rows_at
from .test_tangent import TIME, difference

EXACT = 1e-12
TIGHT = mb.DormandPrince(rtol=1e-11)
FORMULATIONS = planar_formulations()
ELEMENTS = [cls for cls in [*walk(mb.Joint), *walk(mb.BasicConstraint), *walk(mb.ForceElement)] if cls.planar]


def planar_example(cls: Any, *bodies: Any) -> Any:
    """The example of a class, seen along the normal; what it is attached to may be joints."""
    if issubclass(cls, Coupling):
        return cls.example(*bodies)
    if getattr(cls, "reactive", False):
        joint = mb.TranslationalJoint("slide", *bodies, at=(0.2, 0.1), axis=(1.0, 2.0))
        return cls("friction", joint, coefficient=0.3, velocity_scale=0.1)
    if cls is mb.Driver:  # functions of time are not bent at t = 0, where the equations are looked at
        return cls("motor", mb.RevoluteJoint("hinge", *bodies, at=(0.2, 0.1)), angle="0.3*sin(2*t)")
    if cls is mb.Prescribed:
        return cls("rope", mb.Distance("length", *bodies, at_i=(0.3, -0.2), at_j=(1.1, 0.4)), value="1 + 0.1*sin(t)")
    if cls is mb.LinearConstraint:
        slide = mb.Displacement("slide", *bodies, at_i=(0.3, -0.2), at_j=(1.1, 0.4), axis=(1.0, 0.0))
        return cls("relation", slide, mb.Angle("turn", *bodies), coefficients=(2.0, -0.5), value="1.6 + 0.1*sin(t)")
    if cls is mb.PointDriver:
        return cls("path", *bodies, at=(0.2, 0.1), x="0.3*sin(2*t)", y="0.2*t**3 - 0.1*t")
    if cls is mb.Tire:
        values = {"at": (1.1, 0.4), "plane_point": (0.3, -0.2), "normal": (1.0, 2.0), "direction": (2.0, -1.0)}
        return cls("tire", *bodies, radius=3.0, stiffness=20.0, damping=2.0, profile="0.4*sin(2*x)", **values)
    rng = np.random.default_rng(1)
    space = mb.System("space")
    example = cls.example(*(space.add(mb.RigidBody(f"b{k}", mass=1, inertia=(1, 1, 1))) for k in range(2)))
    values = {}
    for name, p in cls.parameters().items():
        value = getattr(example, name)
        if name in ("body_i", "body_j", "frame") or value is None or (name == "axis" and cls.planar_axis == "normal"):
            continue
        if p.kind in ("point", "axis", "free vector", "vector functions"):
            value = value[:2]
        elif p.kind == "axial functions":
            value = value[2]
        values[name] = value
    if cls is mb.KnifeEdge:
        del values["normal"]
    if example.__dict__.get("_markers"):  # of a constraint that was described by its markers
        places = [(marker.at + 0.1 * rng.normal(size=3))[:2] for marker in (example.i, example.j)]
        axes = [(0.0, 0.0, 1.0) if cls is mb.NoSideSlip else (1.0, 2.0), (1.0, 2.0)]  # a blade has the plane's normal
        i, j = (mb.Marker(b, at=at, axis=axis) for b, at, axis in zip(bodies, places, axes, strict=True))
        values = {k: v for k, v in values.items() if k not in ("at", "axis")}
        length = np.linalg.norm(places[0] - places[1])
        values |= {mb.FixedDistance: {"distance": length}, mb.DistanceTerm: {"start": length}}.get(cls, {})
        return cls(i, j, **values)
    return cls(example.name, *bodies[-1 if issubclass(cls, OnBody) else 0 :], **values)


class Pair:
    """Two bodies of the plane with an element between them, and the same bodies in space, held in the plane."""

    def __init__(self, cls: Any) -> None:
        rng = np.random.default_rng(3)
        self.plane = mb.System("plane", dimension=2, gravity=GRAVITY[:2])
        self.space = mb.System("space", gravity=GRAVITY * IN_PLANE)
        names = ["first", "second", "carrier"][: 3 if issubclass(cls, Coupling) else 2]
        for name in names:
            body = self.plane.add(planar_body(name, planar_motion(rng), rng))
            mass, center, inertia = body.mass_properties()
            m = body.motion
            rigid = mb.RigidBody(
                name,
                mass=mass,
                inertia=inertia,
                center_of_mass=center,
                position=m.position,
                rotation=m.rotation,
                velocity=m.velocity,
                angular_velocity=m.angular_velocity,
            )
            self.space.add(rigid)
            self.space.add(
                mb.PlanarJoint(f"table of {name}", self.space.ground, rigid, at=m.position, axis=(0.0, 0.0, 1.0))
            )
        i, j = self.plane.bodies[:2]
        if issubclass(cls, Coupling):
            kinds = (cls.first_kind[0], cls.second_kind[0])
            joints = [
                self._both(
                    kind, f"guide of {body.name}", (self.plane["carrier"], body), at=(0.3, -0.4), axis=(1.0, 2.0)
                )
                for kind, body in zip(kinds, (i, j), strict=True)
            ]
            self.element = self.plane.add(planar_example(cls, *joints))
            twins = [self.space[joint.name] for joint in joints]
            self.space.add(cls.example(*twins))
            return
        self.element = planar_example(cls, i, j)
        for value in self.element.values().values():
            if isinstance(value, mb.Joint | mb.Measure):  # that it acts on
                self._twin(self.plane.add(value))
        self.plane.add(self.element)
        self._twin(self.element)

    def _both(self, kind: Any, name: str, bodies: Any, **values: Any) -> Any:
        if kind.planar_axis == "normal":
            del values["axis"]
        joint = self.plane.add(kind(name, *bodies, **values))
        self._twin(joint)
        return joint

    def _twin(self, element: Any) -> None:
        """The same element in space."""
        cls = type(element)
        sides = [self.space.ground if b is self.plane.ground else self.space[b.name] for b in ends(element)]
        values = {}
        for name, p in cls.parameters().items():
            value = getattr(element, name)
            if p.kind in ("point", "axis", "free vector") and value is not None and len(value) == 2:
                value = np.append(value, 0.0)
            elif p.kind == "vector functions":
                value = (*value, 0.0)
            elif p.kind == "axial functions":
                value = (0.0, 0.0, value)
            if p.kind != "reference":
                values[name] = value
        on = [v for v in element.values().values() if isinstance(v, mb.Joint | mb.Measure)]
        if on:
            values = {k: v for k, v in values.items() if k not in ("at", "at_i", "at_j", "axis", "frame")}
            self.space.add(cls(element.name, *(self.space[other.name] for other in on), **values))
        elif element.__dict__.get("_markers"):
            i, j = (mb.Marker(b, at=m.at, axes=m.axes) for b, m in zip(sides, (element.i, element.j), strict=True))
            values = {k: v for k, v in values.items() if k not in ("at", "axis", "frame")}
            twin = cls(i, j, **values)
            self.space.add(twin)
        else:
            self.space.add(cls(element.name, *sides, **values))


def ends(element: Any) -> list[Any]:
    return [element.body_j] if isinstance(element, OnBody) else [element.body_i, element.body_j]


@cache
def pair(cls: Any) -> Pair:
    return Pair(cls)


def has_equations(cls: Any) -> bool:
    return not issubclass(cls, mb.ForceElement)


def random_state(eq: mb.Equations, seed: int) -> State:
    """Described poses, random velocities in the plane that the constraints allow."""
    rng = np.random.default_rng(seed)
    motions = {
        name: Motion(m.position, m.rotation, IN_PLANE * rng.normal(size=3), NORMAL * rng.normal(size=3))
        for name, m in eq.described().motions.items()
    }
    q, v = numbers(eq, State(0.0, motions, dimension=2))
    e = eq.evaluate(0.0, q, v)
    v = v - np.linalg.pinv(e.jacobian.toarray()) @ e.constraint_rate
    z = eq.split(eq.coordinates(eq.described()))[2]
    return eq.state(0.0, np.concatenate([q, v, z]))


@crossed([cls for cls in ELEMENTS if has_equations(cls)], FORMULATIONS)
def test_rows_are_independent_derivatives_of_the_residual(cls: Any, formulation: Formulation) -> None:
    eq = mb.Equations(pair(cls).plane, formulation)
    q, v = numbers(eq, random_state(eq, 5))
    closed = eq.evaluate(0.0, q, v)
    assert_close(closed.residual, np.zeros_like(closed.residual), 1e-14)
    if not eq.n_rows:
        assert cls in (mb.Perpendicular, mb.PointInPlane)  # whose example's axis is normal
        return
    values = np.linalg.svd(closed.jacobian.toarray(), compute_uv=False)
    assert len(values) == eq.n_rows
    assert values[-1] > 1e-3 * values[0]
    v = np.random.default_rng(9).normal(size=eq.n_v)
    found, holonomic = eq.evaluate(0.0, q, v), eq.tables.n_holonomic
    by_velocity = [along(lambda h, d=d: rows_at(eq, q, v + h * d)[1]) for d in np.eye(eq.n_v)]
    by_place = [along(lambda h, d=d: rows_at(eq, q + h * eq.coordinate_rates(q, d), v)[0]) for d in np.eye(eq.n_v)]
    assert_close(found.jacobian.toarray(), np.transpose(by_velocity), EXACT)
    assert_close(found.jacobian.toarray()[:holonomic], np.transpose(by_place), EXACT)
    rate = eq.coordinate_rates(q, v)
    assert_close(found.gamma, -along(lambda h: rows_at(eq, q + h * rate, v)[1]), EXACT)


@crossed(ELEMENTS, FORMULATIONS)
def test_accelerations_and_reactions_are_those_of_space(cls: Any, formulation: Formulation) -> None:
    case = pair(cls)
    state = random_state(mb.Equations(case.plane), 6)
    found = mb.evaluate(case.plane, state, formulation=formulation)
    expected = mb.evaluate(case.space, State(0.0, state.motions, state.element_states))
    for body in case.plane.bodies:
        assert found.acceleration(body).shape == (1, 2)
        assert_close(found.acceleration(body), expected.acceleration(body.name)[:, :2], 1e-9)
        assert_close(found.angular_acceleration(body), expected.angular_acceleration(body.name)[:, 2], 1e-9)
    for joint in case.plane.joints:
        one, other = found.reaction(joint), expected.reaction(joint.name)
        assert_close(one.force, other.force[:, :2], 1e-8)
        assert_close(one.torque, other.torque[:, 2], 1e-8)
    assert_close(found.energy.total, expected.energy.total, 1e-12)
    assert_close(found.momentum.linear, expected.momentum.linear[:, :2], 1e-12)
    assert_close(found.momentum.angular, expected.momentum.angular[:, 2], 1e-12)


@crossed([cls for cls in ELEMENTS if not getattr(cls, "reactive", False)], FORMULATIONS)
def test_tangent_is_the_derivative_of_the_equations(cls: Any, formulation: Formulation) -> None:
    eq = mb.Equations(pair(cls).plane, formulation)
    rng = np.random.default_rng(11)
    q, v, z = (part.copy() for part in eq.split(eq.coordinates(eq.described())))
    v_rate, multipliers = rng.normal(size=eq.n_v), rng.normal(size=eq.n_rows)

    def equations(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        e = eq.evaluate(TIME, q, v, z)
        return e.mass @ v_rate - e.force + e.jacobian.T @ multipliers

    eq.set_state(q, v, z)
    found = eq.tangent(TIME, q, v, v_rate, multipliers)
    for d in rng.normal(size=(2, eq.n_v)) / np.sqrt(eq.n_v):
        shift = eq.coordinate_rates(q, d)
        assert_close(found.stiffness @ d, difference(lambda s, u=shift: equations(q + s * u, v)), 1e-8)
        assert_close(found.damping @ d, difference(lambda s, d=d: equations(q, v + s * d)), 1e-8)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name_of)
def test_free_body_falls_on_a_parabola_and_keeps_its_spin(formulation: Formulation) -> None:
    body = mb.PlanarBody.example()
    system = mb.System("free", dimension=2, gravity=GRAVITY[:2])
    system.add(body)
    result = mb.simulate(system, 0.5, integrator=TIGHT, formulation=formulation, t_eval=np.linspace(0.0, 0.5, 6))
    t = result.t[:, None]
    path, velocity = result.position(body, body.center_of_mass), result.velocity(body, body.center_of_mass)
    assert_close(path, path[0] + velocity[0] * t + 0.5 * GRAVITY[:2] * t**2, 1e-9)
    assert_close(result.angle(body), body.angle + body.angular_velocity * result.t, 1e-9)
    assert_close(result.angular_velocity(body), np.full(6, body.angular_velocity), 1e-9)
    assert_close(result.energy.total, np.full(6, result.energy.total[0]), 1e-9)
