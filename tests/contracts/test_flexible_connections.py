"""Every joint, constraint and force between two flexible bodies: tangents, and equations of accelerations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.sliding_axis import SlidingAxis

from . import specimens
from .specimens import GRAVITY, Array, assert_close, connected, name_of, random_motion, walk
from .test_tangent import ELEMENTS, STEP, TIME, difference

KNOTS = np.array([-0.3, 0.2, 0.7])
DRIVEN = mb.Driver | mb.PointDriver | mb.Prescribed | mb.LinearConstraint
JOINTS = [cls for cls in walk(mb.Joint) if not issubclass(cls, DRIVEN)]


class SoftBody(mb.FlexibleBody):
    """A beam on which the points of all examples count as its second node, and its nodes as the axis through them."""

    def node_at(self, at: Any) -> int:
        return 1

    def axis_along(self, at: Array, axes: Array) -> SlidingAxis:
        motions = np.array([self.shapes_in_frame.motion_at(node) for node in range(3)])
        point, directions = mb.RigidBody.localized(self, at, axes)
        return SlidingAxis.through(point, directions, KNOTS, motions[:, :3], motions[:, 3:])


@pytest.fixture(autouse=True)
def flexible_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples are put between two flexible bodies instead of rigid ones."""
    part = mb.flexible.beam(
        length=1.2,
        elements=2,
        area=4e-4,
        second_moments=(3e-6, 1e-6),
        torsion=2e-6,
        young=2e5,
        shear=8e4,
        density=2000.0,
        shear_factors=(0.8, 0.8),
    )
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 2], n_modes=0)

    def two_bodies(seed: int = 1, gravity: Any = GRAVITY) -> tuple[mb.System, SoftBody, SoftBody]:
        rng = np.random.default_rng(seed)
        system = mb.System("two soft bodies", gravity=gravity)
        bodies = []
        for name, frame in (("first", "mean"), ("second", "node")):
            m = random_motion(rng)
            pose = {"position": m.position, "rotation": m.rotation, "velocity": m.velocity}
            body = SoftBody(name, modes, frame=frame, angular_velocity=m.angular_velocity, damping_ratios=0.1, **pose)
            bodies.append(system.add(body))
        return system, bodies[0], bodies[1]

    monkeypatch.setattr(specimens, "two_bodies", two_bodies)


def bent_state(eq: mb.Equations, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    q, v, z = (part.copy() for part in eq.split(eq.coordinates(eq.described())))
    for b in eq.tables.bodies:
        if b.formulation.n_modes:
            size = np.abs(b.body.shapes_in_frame.shapes).max(axis=0)
            q[b.q_slice][7:] = 0.2 * rng.normal(size=b.formulation.n_modes) / size
    return q, v + 0.3 * rng.normal(size=eq.n_v), z


@pytest.mark.parametrize("cls", ELEMENTS, ids=name_of)
def test_tangent_is_the_derivative_of_the_equations(cls: Any) -> None:
    system, _, _, _ = connected(cls)
    eq = mb.Equations(system)
    rng = np.random.default_rng(11)
    q, v, z = bent_state(eq, rng)
    v_rate, multipliers = rng.normal(size=eq.n_v), rng.normal(size=eq.n_rows)

    def equations(q: Array, v: Array) -> Array:
        e = eq.evaluate(TIME, q, v, z)
        load = e.mass @ v_rate - eq.rub(TIME, multipliers) + e.jacobian.T @ multipliers
        return np.concatenate([load, e.residual])

    eq.set_state(q, v, z)
    found = eq.tangent(TIME, q, v, v_rate, multipliers)
    step = STEP / 4 if getattr(cls, "reactive", False) else STEP  # friction turns within a millimetre per second
    for d in rng.normal(size=(2, eq.n_v)) / np.sqrt(eq.n_v):
        shift = eq.coordinate_rates(q, d)
        load, residual = np.split(difference(lambda s, shift=shift: equations(q + s * shift, v), step), [eq.n_v])
        assert_close(found.stiffness @ d, load, 1e-8)
        assert_close((found.jacobian @ d)[: len(residual)], residual, 1e-8)
        load, _ = np.split(difference(lambda s, d=d: equations(q, v + s * d), step), [eq.n_v])
        assert_close(found.damping @ d, load, 1e-8)


@pytest.mark.parametrize("cls", JOINTS, ids=name_of)
def test_acceleration_equations_are_derivatives_of_the_constraints(cls: Any) -> None:
    """gamma = -(J)' v along the motion: C'' = J v' - gamma, for constant velocities."""
    system, _, _, _ = connected(cls)
    eq = mb.Equations(system)
    q, v, z = bent_state(eq, np.random.default_rng(5))
    shift = eq.coordinate_rates(q, v)
    here = eq.evaluate(TIME, q, v, z).gamma
    rates = difference(lambda s: eq.evaluate(TIME, q + s * shift, v, z).constraint_rate)
    # quaternions that follow T(q) v to first order have the right rates at once
    assert_close(-here, rates, 1e-7)
