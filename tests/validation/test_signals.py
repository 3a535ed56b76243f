"""Inputs and outputs of linear equations against closed forms: drivers, reactions, quantities by name."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import mbframe as mb

Array = NDArray[np.float64]

GRAVITY = 9.81
X, Y, Z = np.eye(3)
FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles("XYZ")]
FREQUENCIES = np.array([0.15, 0.7, 2.0])  # Hz
S = 2j * np.pi * FREQUENCIES

MASS, ARM, INERTIA, CART = 1.5, 0.8, 0.3, 2.0  # kg, m from the pivot to the centre of mass, kg m^2 about it, kg


def driven_pendulum() -> mb.System:
    """A pendulum in the x-z plane below a cart whose displacement along x is driven."""
    system = mb.System("driven pendulum")
    cart = system.add(mb.RigidBody("cart", mass=CART, inertia=(0.1, 0.1, 0.1)))
    bar = system.add(mb.RigidBody("bar", mass=MASS, inertia=(INERTIA, INERTIA, 0.02), position=(0, 0, -ARM)))
    rail = system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0, 0, 0), axis=X))
    system.add(mb.RevoluteJoint("pin", cart, bar, at=(0, 0, 0), axis=Y))
    system.add(mb.Driver("shaker", rail, displacement=0.0))
    return system


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_pendulum_with_a_driven_pivot(formulation: mb.Formulation) -> None:
    """With the acceleration a of the pivot (I + m l^2) theta'' + m g l theta = m l a, theta about y.

    (A turn about y carries the centre of mass, which is below, to -x: its acceleration is a - l theta''.) The pin
    carries m (a - l theta'') along x, and the shaker moves the cart as well.
    """
    lin = mb.linearize(
        driven_pendulum(),
        inputs=["shaker"],
        outputs=[
            ("rotation", "bar"),
            "bar.angular_velocity.y",
            "pin.reaction.force",
            "shaker.reaction.force.x",
            "bar.acceleration",
            "cart.position.x",
            ("velocity", "bar", (0.0, 0.0, ARM)),
        ],
        formulation=formulation,
    )
    assert lin.inputs == ["shaker acceleration"]
    pivot = INERTIA + MASS * ARM**2
    np.testing.assert_allclose(sorted(lin.eigenvalues.imag), np.array([-1, 1]) * np.sqrt(MASS * GRAVITY * ARM / pivot))
    theta = MASS * ARM / (pivot * S**2 + MASS * GRAVITY * ARM)
    across = 1.0 - ARM * theta * S**2
    expected = {
        "bar rotation x": 0.0 * S,
        "bar rotation y": theta,
        "bar rotation z": 0.0 * S,
        "bar.angular_velocity.y": S * theta,
        "pin.reaction.force.x": MASS * across,
        "pin.reaction.force.y": 0.0 * S,
        "pin.reaction.force.z": 0.0 * S,
        "shaker.reaction.force.x": CART + MASS * across,
        "bar.acceleration.x": across,
        "bar.acceleration.y": 0.0 * S,
        "bar.acceleration.z": 0.0 * S,
        "cart.position.x": 1.0 / S**2,
        "bar velocity x": 1.0 / S,
        "bar velocity y": 0.0 * S,
        "bar velocity z": 0.0 * S,
    }
    assert lin.outputs == list(expected)
    found = lin.frequency_response(FREQUENCIES)[:, :, 0].T
    for row, (name, values) in zip(found, expected.items(), strict=True):
        np.testing.assert_allclose(row, values, rtol=1e-10, atol=1e-10, err_msg=name)


def test_driver_states_follow_the_states_of_the_mechanism() -> None:
    lin = mb.linearize(driven_pendulum(), inputs=["shaker"], outputs=["cart.position.x"])
    assert lin.A.shape == (4, 4)
    assert len(lin.eigenvalues) == 2
    np.testing.assert_allclose(lin.A[2:], [[0, 0, 0, 1], [0, 0, 0, 0]])
    np.testing.assert_allclose(lin.B[2:, 0], [0, 1])


def test_bead_on_an_arm_whose_turn_is_driven() -> None:
    """m (r'' - r W^2) = -k (r - r_0), so dr'' = (W^2 - k/m) dr + 2 r W w' for a change w of the driven angle W t.

    The motor turns the arm with (I + m r^2) w'' + 2 m r W dr', seen from the steady turn.
    """
    rate, radius, stiffness, inertia = 3.0, 0.5, 40.0, 0.7
    system = mb.System("bead", gravity=(0, 0, 0))
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(0.4, 0.4, inertia), angular_velocity=rate * Z))
    bead = system.add(
        mb.RigidBody("bead", mass=MASS, inertia=(1e-3, 1e-3, 1e-3), position=radius * X, velocity=rate * radius * Y)
    )
    bead.angular_velocity = rate * Z
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=Z))
    system.add(mb.TranslationalJoint("slide", arm, bead, at=radius * X, axis=X))
    pull = MASS * radius * rate**2  # of the spring in the steady turn
    system.add(
        mb.SpringDamper(
            "spring",
            arm,
            bead,
            at_i=(0, 0, 0),
            at_j=radius * X,
            stiffness=stiffness,
            free_length=radius - pull / stiffness,
        )
    )
    system.add(mb.Driver("motor", hinge, angle=f"{rate}*t"))
    system.add(mb.Distance("length", arm, bead, at_i=(0, 0, 0), at_j=radius * X))
    lin = mb.linearize(
        system,
        frame=mb.TurningFrame(axis=Z, rate=rate),
        inputs=["motor"],
        outputs=["length", "spring.force.x", "motor.reaction.torque.z", "bead.position.x", "bead.velocity.magnitude"],
    )
    stretch = 2.0 * radius * rate / S / (S**2 + stiffness / MASS - rate**2)
    torque = inertia + 1e-3 + MASS * radius**2 + 2.0 * MASS * radius * rate * S * stretch
    speed = rate * stretch + radius / S
    found = lin.frequency_response(FREQUENCIES)[:, :, 0].T
    for row, expected in zip(found, [stretch, -stiffness * stretch, torque, stretch, speed], strict=True):
        np.testing.assert_allclose(row, expected, rtol=1e-9, atol=1e-10)


def test_blade_on_a_driven_table() -> None:
    """A blade runs with U along x on a table that is driven along y by w; the centre of mass is b ahead of it.

    Its point moves sideways with U psi + w', so that (I + m b^2) psi'' + m b U psi' = -m b w''.
    """
    speed, ahead, inertia = 1.3, 0.25, 0.2
    system = mb.System("blade")
    table = system.add(mb.RigidBody("table", mass=5.0, inertia=(1, 1, 1)))
    center = ahead * X
    sleigh = system.add(
        mb.RigidBody("sleigh", mass=MASS, inertia=(0.2, 0.2, inertia), position=center, velocity=speed * X)
    )
    rail = system.add(mb.TranslationalJoint("rail", system.ground, table, at=(0, 0, 0), axis=Y))
    system.add(mb.PlanarJoint("plane", table, sleigh, at=(0, 0, 0), axis=Z))
    system.add(mb.KnifeEdge("edge", table, sleigh, at=(0, 0, 0), axis=X))
    system.add(mb.Driver("shaker", rail, displacement=0.0))
    lin = mb.linearize(
        system,
        inputs=["shaker"],
        outputs=[("rotation", "sleigh"), "edge.reaction.force.y", "sleigh.velocity.y", "sleigh.acceleration.y"],
    )
    turn = -MASS * ahead / ((inertia + MASS * ahead**2) * S**2 + MASS * ahead * speed * S)
    sideways = speed * turn + 1.0 / S + ahead * S * turn
    found = lin.frequency_response(FREQUENCIES)[:, :, 0].T
    np.testing.assert_allclose(found[2], turn, rtol=1e-10)
    np.testing.assert_allclose(found[3], MASS * S * sideways, rtol=1e-10)
    np.testing.assert_allclose(found[4], sideways, rtol=1e-10)
    np.testing.assert_allclose(found[5], S * sideways, rtol=1e-10)


@pytest.mark.parametrize("formulation", [mb.PlanarAngle(), mb.PlanarEulerParameters(), mb.PlanarNatural()], ids=repr)
def test_reaction_of_an_inclined_pendulum(formulation: mb.Formulation) -> None:
    """A bar held at the angle a by a spring in its hinge: its reaction turns with it and grows with its motion.

    With F = m (r'' + g e_y) and r = l (sin(a), -cos(a)): dF = m l (cos(a), sin(a)) a''.
    """
    a, stiffness = 0.6, 30.0
    system = mb.System("inclined", dimension=2)
    bar = system.add(
        mb.PlanarBody("bar", mass=MASS, inertia=INERTIA, position=(ARM * np.sin(a), -ARM * np.cos(a)), angle=0.0)
    )
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    moment = MASS * GRAVITY * ARM * np.sin(a)
    system.add(
        mb.TorsionalSpringDamper(
            "spring", system.ground, bar, at=(0, 0), stiffness=stiffness, free_angle=moment / stiffness
        )
    )
    load = system.add(mb.Torque("motor", bar, torque=0.0))
    lin = mb.linearize(
        system,
        inputs=[load],
        outputs=["pin.reaction.force", "spring.torque", "energy.potential", "bar.angular_velocity", "bar.angle"],
        formulation=formulation,
    )
    turn = 1.0 / ((INERTIA + MASS * ARM**2) * S**2 + stiffness + MASS * GRAVITY * ARM * np.cos(a))
    bend = MASS * ARM * S**2 * turn
    energy = (moment - stiffness * (moment / stiffness)) * turn  # an equilibrium: nothing of the first order
    expected = [np.cos(a) * bend, np.sin(a) * bend, -stiffness * turn, energy, S * turn, turn]
    found = lin.frequency_response(FREQUENCIES)[:, :, 2].T
    assert lin.outputs[:2] == ["pin.reaction.force.x", "pin.reaction.force.y"]
    for row, values in zip(found, expected, strict=True):
        np.testing.assert_allclose(row, values, rtol=1e-9, atol=1e-11)


def test_reaction_at_a_moving_point_in_a_steady_turn() -> None:
    """What a hinge of the governor carries is the mass of its ball times its acceleration, in the frame's axes."""
    rate = 5.0
    system = mb.examples.watt_governor(rate)
    load = system.add(mb.PointForce("gust", system["right ball"], force=(0, 0, 0)))
    outputs = ["left hinge.reaction.force", "left ball.acceleration"]
    lin = mb.linearize(system, frame=mb.TurningFrame(axis=Z, rate=rate), inputs=[load], outputs=outputs)
    found = lin.frequency_response(FREQUENCIES)
    mass = system["left ball"].mass  # type: ignore[attr-defined]
    # The only forces on the left ball are its weight, which is constant, and the reaction of its hinge.
    np.testing.assert_allclose(found[:, :3], mass * found[:, 3:], rtol=1e-8, atol=1e-9)


def test_outputs_that_have_no_derivative_are_refused() -> None:
    system = driven_pendulum()
    with pytest.raises(mb.AnalysisError, match=r"bar.velocity.magnitude.*no derivative"):
        mb.linearize(system, outputs=["bar.velocity.magnitude"])
    with pytest.raises(mb.ModelError, match=r"did you mean 'bar\.position\.x'"):
        mb.linearize(system, outputs=["bar.positon.x"])
    system.add(mb.RevoluteJoint("second pin", system["cart"], system["bar"], at=(0, 0, 0), axis=Y))
    with pytest.raises(mb.AnalysisError, match=r"'pin' is not unique.*degrees_of_freedom"):
        mb.linearize(system, outputs=["pin.reaction.force"])
    system.add(mb.FixedJoint("clamp", system.ground, system["cart"], at=(0, 0, 0)))
    with pytest.raises(mb.AnalysisError, match=r"'shaker acceleration'.*cannot move"):
        mb.linearize(system, inputs=["shaker"])


def test_outputs_follow_the_own_states_of_a_controller():
    """A mass m on a rail, held by F = k_p e + k_i z + k_d e' with z' = e = -x; the state is xi, x = V xi."""
    system = mb.System("controlled", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(1.0, 1.0, 1.0)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    gains = {"proportional": 50.0, "integral": 30.0, "derivative": 7.0}
    system.add(
        mb.PIDActuator("pid", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0), quantity="displacement", **gains)
    )
    lin = mb.linearize(system, outputs=["pid.force.x", "body.acceleration.x"])
    minus_v = lin.A[2, 0]  # of z' = -V xi
    np.testing.assert_allclose(lin.C[0], [50.0 * minus_v, 7.0 * minus_v, 30.0], rtol=1e-8)
    np.testing.assert_allclose(lin.C[0], 2.0 * lin.C[1], rtol=1e-8)  # F = m a
    np.testing.assert_allclose(
        np.sort_complex(lin.eigenvalues), np.sort_complex(np.roots([2.0, 7.0, 50.0, 30.0])), 1e-9
    )


def test_a_controller_of_an_angle():
    """I theta'' = k_p e + k_i z + k_d e' with z' = e = -theta: the roots of I s^3 + k_d s^2 + k_p s + k_i."""
    system = mb.System("controlled", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(1.0, 2.0, 3.0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    gains = {"proportional": 50.0, "integral": 30.0, "derivative": 7.0}
    system.add(mb.PIDActuator("pid", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), quantity="angle", **gains))
    roots = np.sort_complex(mb.linearize(system).eigenvalues)
    np.testing.assert_allclose(roots, np.sort_complex(np.roots([3.0, 7.0, 50.0, 30.0])), 1e-9)


def test_points_by_name_as_outputs():
    """A point at twice the distance from the hinge moves twice as far and as fast."""
    system = mb.System("pendulum")
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(1.0, 2.0, 3.0), position=(0, 0, -1)))
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    far = "body.point(0, 0, -1)"
    outputs = ["body.position.x", f"{far}.position.x", "body.velocity.x", f"{far}.velocity.x"]
    near_x, far_x, near_v, far_v = mb.linearize(system, outputs=outputs).C
    assert near_x[0] != 0.0
    np.testing.assert_allclose(far_x, 2.0 * near_x, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(far_v, 2.0 * near_v, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(near_v[::-1], near_x, rtol=1e-9, atol=1e-12)


def resting_ball(stiffness: float, pressed: float) -> mb.System:
    """A mass on a floor whose force is `stiffness` times what it is pressed in."""
    system = mb.System("ball", gravity=(0, 0, -stiffness * pressed))
    ball = system.add(mb.RigidBody("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1)))
    floor = {"at": (0, 0, 1), "radius": 1.0 + pressed, "stiffness": stiffness, "exponent": 1.0}
    system.add(mb.SpherePlaneContact("floor", system.ground, ball, **floor))
    return system


@pytest.mark.parametrize("stiffness", [1e3, 1e5, 1e7])
def test_output_of_a_contact_that_is_pressed_in_by_little(stiffness: float) -> None:
    """Its force changes by the stiffness, however near to the state it lifts off; steps of 1e-2 m saw half of it."""
    system = resting_ball(stiffness, 9.81 / stiffness)
    lin = mb.linearize(system, outputs=["floor.normal_force", "floor.force.z"])
    by_height = np.eye(12)[2] * -stiffness  # x, y, z, then turns and rates
    np.testing.assert_allclose(lin.C, [by_height, by_height], rtol=1e-7, atol=1e-7 * stiffness)


def test_output_that_bends_at_the_state_is_told() -> None:
    with pytest.warns(UserWarning, match=r"output 'floor\.normal_force' bends or jumps just at the state"):
        mb.linearize(resting_ball(1e5, 0.0), outputs=["floor.normal_force"])
