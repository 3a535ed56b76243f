"""Coordinates of joints: what they leave free, in results, and states that have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb

Z = {"at": (0, 0, 0), "axis": (0, 0, 1)}


def body(system: mb.System, **given: Any) -> mb.RigidBody:
    return system.add(mb.RigidBody("body", **({"mass": 2.0, "inertia": (0.1, 0.2, 0.3)} | given)))


def test_a_hinge_counts_its_turns() -> None:
    """8 rad/s for 3 s: nearly four turns, at every step and at few instants."""
    system = mb.System("wheel", gravity=(0, 0, 0))
    system.add(mb.RevoluteJoint("hinge", system.ground, body(system, angular_velocity=(0, 0, 8)), **Z))
    for t_eval in (None, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]):
        result = mb.simulate(system, 3.0, t_eval=t_eval, integrator=mb.DormandPrince(rtol=1e-10))
        np.testing.assert_allclose(result.quantity("hinge.angle").values, 8.0 * result.t, atol=1e-6)
        np.testing.assert_allclose(result.quantity("hinge.angle_rate").values, 8.0, atol=1e-6)
    units = result.quantities()
    assert (units["hinge.angle"], units["hinge.angle_rate"]) == ("rad", "rad/s")


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_slide_tells_its_way(dimension: int) -> None:
    if dimension == 2:
        system = mb.System("fall", dimension=2)
        slider = system.add(mb.PlanarBody("body", mass=1.0, inertia=0.1, position=(1, 2)))
        system.add(mb.TranslationalJoint("slide", system.ground, slider, at=(1, 2), axis=(0, -1)))
    else:
        system = mb.System("fall")
        system.add(mb.TranslationalJoint("slide", system.ground, body(system), at=(0, 0, 0), axis=(0, 0, -1)))
    result = mb.simulate(system, 1.0, dt=0.01)
    np.testing.assert_allclose(result.quantity("slide.displacement").values, 0.5 * 9.81 * result.t**2, atol=1e-12)
    np.testing.assert_allclose(result.quantity("slide.displacement_rate").values, 9.81 * result.t, atol=1e-12)


def test_a_universal_joint_has_two_angles() -> None:
    """R = R(x, angle_1) R(y, angle_2) from first to second body, whose rates follow from it."""
    system = mb.System("cross", gravity=(0, 0, 0))
    joint = mb.UniversalJoint("cross", system.ground, body(system), at=(0, 0, 0), axis_i=(1, 0, 0), axis_j=(0, 1, 0))
    system.add(joint)
    first, second, rates = 0.4, -0.7, np.array([0.3, 1.1])
    turned = Rotation.from_euler("XY", [first, second])
    omega = rates[0] * np.array([1, 0, 0]) + rates[1] * (Rotation.from_euler("X", first).as_matrix() @ [0, 1, 0])
    motion = mb.assemble(system).motions["body"]
    moved = type(motion)(motion.position, turned.as_matrix(), np.zeros(3), omega)
    result = mb.evaluate(system, mb.State(0.0, {"body": moved}))
    found = [
        result.quantity(f"cross.{name}").values[0] for name in ("angle_1", "angle_2", "angle_1_rate", "angle_2_rate")
    ]
    np.testing.assert_allclose(found, [first, second, *rates], atol=1e-12)


def test_turns_that_instants_do_not_tell_are_doubtful() -> None:
    """A pendulum that swings twice between two instants: the rates there say nothing of what was between."""
    system = mb.System("pendulum")
    system.add(
        mb.RevoluteJoint("hinge", system.ground, body(system, center_of_mass=(1, 0, 0)), at=(0, 0, 0), axis=(0, 1, 0))
    )
    dense, sparse = (mb.simulate(system, 3.0, t_eval=np.linspace(0, 3, n)) for n in (301, 4))
    assert np.ptp(dense.quantity("hinge.angle").values) == pytest.approx(np.pi, abs=1e-2)
    assert dense.info.warnings == []
    sparse.quantity("hinge.angle")
    assert any("turns of" in warning and "t_eval" in warning for warning in sparse.info.warnings)


def test_a_simulation_reads_them() -> None:
    system = mb.System("wheel", gravity=(0, 0, 0))
    system.add(mb.RevoluteJoint("hinge", system.ground, body(system, angular_velocity=(0, 0, 2)), **Z))
    with mb.Simulation(system, dt=0.01) as sim:
        sim.advance(to=1.0)
        assert sim.quantity("hinge.angle") == pytest.approx(2.0, abs=1e-9)
        assert sim.quantity("hinge.angle_rate") == pytest.approx(2.0, abs=1e-9)


def arm() -> mb.System:
    """Two links of one metre, hinged about z, with a slide at the end of the second."""
    system = mb.System("arm", gravity=(0, 0, 0))
    link = {"mass": 1.0, "inertia": (0.01, 0.1, 0.1)}
    first = system.add(mb.RigidBody("first", position=(0.5, 0, 0), **link))
    second = system.add(mb.RigidBody("second", position=(1.5, 0, 0), **link))
    hand = system.add(mb.RigidBody("hand", position=(2.0, 0, 0), **link))
    system.add(mb.RevoluteJoint("shoulder", system.ground, first, **Z))
    system.add(mb.RevoluteJoint("elbow", first, second, at=(1, 0, 0), axis=(0, 0, 1)))
    system.add(mb.TranslationalJoint("reach", second, hand, at=(2, 0, 0), axis=(1, 0, 0)))
    return system


def test_a_state_with_joint_coordinates_and_rates() -> None:
    """Against the kinematics of the chain: r = e(a) + (1 + s) e(a + b), and its rate."""
    a, b, s, a_rate, b_rate, s_rate = 2.1, -3.0, 0.3, 0.7, -1.3, 0.2
    state = mb.assemble(
        arm(),
        joints={"shoulder": a + 2 * np.pi, "elbow": b, "reach": s},
        joint_rates={"shoulder": a_rate, "elbow": b_rate, "reach": s_rate},
    )
    e = lambda angle: np.array([np.cos(angle), np.sin(angle), 0.0])  # noqa: E731
    n = lambda angle: np.array([-np.sin(angle), np.cos(angle), 0.0])  # noqa: E731
    np.testing.assert_allclose(state.position("hand"), e(a) + (1 + s) * e(a + b), atol=1e-10)
    velocity = a_rate * n(a) + s_rate * e(a + b) + (1 + s) * (a_rate + b_rate) * n(a + b)
    np.testing.assert_allclose(state.velocity("hand"), velocity, atol=1e-10)
    result = mb.evaluate(arm(), state)
    for name, value in (
        ("shoulder.angle", a),
        ("elbow.angle", b),
        ("reach.displacement", s),
        ("elbow.angle_rate", b_rate),
    ):
        assert result.quantity(name).values[0] == pytest.approx(value, abs=1e-10)
    assert set(state.moved) == {"first", "second", "hand"}
    mb.simulate(arm(), 0.1, dt=0.01, initial=state)


def test_loops_close_around_a_given_coordinate() -> None:
    system = mb.examples.four_bar()
    hinge = next(joint.name for joint in system.joints if isinstance(joint, mb.RevoluteJoint))
    state = mb.assemble(system, joints={hinge: 0.2}, joint_rates={hinge: 1.5})
    result = mb.evaluate(system, state)
    assert result.violation.position[0] < 1e-10
    assert result.violation.velocity[0] < 1e-9
    assert result.quantity(f"{hinge}.angle").values[0] == pytest.approx(0.2, abs=1e-10)
    assert result.quantity(f"{hinge}.angle_rate").values[0] == pytest.approx(1.5, abs=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"elbo": 0.1}, "there is no joint 'elbo'"),
        ({"first": 0.1}, "there is no joint 'first'"),
        ({"ball": 0.1}, "leaves no angle about"),
        ({"elbow": "x"}, "give one"),
        ({"elbow": np.nan}, "give one"),
        ({"elbow": {"displacement": 0.1}}, "allowed is {'angle': value}"),
    ],
)
def test_wrong_coordinates_are_refused(given: dict[str, Any], message: str) -> None:
    system = arm()
    system.add(mb.SphericalJoint("ball", system["hand"], body(system, position=(2, 0, 0)), at=(2, 0, 0)))
    with pytest.raises(mb.ModelError, match=message):
        mb.assemble(system, joints=given)


def test_a_driven_joint_decides_itself() -> None:
    system = arm()
    system.add(mb.Driver("motor", system["elbow"], angle="0.1"))
    with pytest.raises(mb.ModelError, match="is driven by Driver 'motor'"):
        mb.assemble(system, joints={"elbow": 0.3})


def test_turns_before_a_restart_are_told_to_be_unknown() -> None:
    system = mb.System("spin", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 0, 3.0)))
    joint = system.add(mb.RevoluteJoint("pin", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Driver("motor", joint, angle="3*t"))
    system.add(mb.Angle("counted", system.ground, body, at_i=(0, 0, 0), at_j=(0, 0, 0), axis=(0, 0, 1)))
    first = mb.simulate(system, 3.0)
    assert first.quantity("pin.angle").values[-1] == pytest.approx(9.0, abs=1e-6)
    assert first.info.warnings == []
    then = mb.simulate(system, 6.0, initial=first.state(-1))
    assert then.quantity("counted").values[-1] == pytest.approx(18.0, abs=1e-6)
    assert then.quantity("pin.angle").values[-1] == pytest.approx(18.0 - 2 * np.pi, abs=1e-6)
    assert "does not tell turns of joints" in then.info.warnings[-1]
