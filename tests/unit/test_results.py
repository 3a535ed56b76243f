"""Results against finite differences, Newton's and Euler's laws, and closed forms."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.results import Result

GRAVITY = np.array([0.0, 0.0, -9.81])
PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection(tolerance=1e-13)}
FORMULATIONS = [mb.NewtonEuler(), mb.NaturalAbsolute()]
POINT = np.array([0.3, -0.2, 0.4])
AROUND = np.array([-2, -1, 0, 1, 2])  # samples around an instant, for differences of order four
STEP = 1e-3


def mechanism() -> mb.System:
    """Two bodies with displaced centres of mass on a ball joint and a hinge, with a spring, moving in space."""
    system = mb.System("mechanism")
    upper = system.add(
        mb.RigidBody(
            "upper",
            mass=2.0,
            inertia=(0.3, 0.5, 0.6, 0.02, -0.03, 0.05),
            center_of_mass=(0.1, -0.2, 0.05),
            position=(0.5, 0.0, 0.0),
            rotation=(0.5, 0.5, -0.5, 0.5),
            angular_velocity=(0.5, 1.0, -2.0),
            velocity=np.cross((0.5, 1.0, -2.0), (0.5, 0.0, 0.0)),
        )
    )
    lower = system.add(
        mb.RigidBody(
            "lower",
            mass=1.5,
            inertia=(0.2, 0.25, 0.1),
            center_of_mass=(0.0, 0.1, 0.1),
            position=(1.0, 0.2, -0.4),
            rotation=Rotation.from_rotvec([0.3, -0.4, 0.9]),
            angular_velocity=(0.5, 1.0, -2.0),
            velocity=np.cross((0.5, 1.0, -2.0), (1.0, 0.2, -0.4)),
        )
    )
    system.add(mb.SphericalJoint("ball", system.ground, upper, at=(0, 0, 0)))
    system.add(mb.RevoluteJoint("hinge", upper, lower, at=(1, 0, 0), axis=(0.2, 1.0, 0.3)))
    system.add(mb.SpringDamper("spring", system.ground, lower, at_i=(1, 1, 0), stiffness=40.0, free_length=0.5))
    system.add(mb.Distance("length", system.ground, lower, at_i=(1, 1, 0)))
    system.add(mb.Displacement("height", system.ground, lower, at_i=(0, 0, 0), axis=(0, 0, 2)))
    return system


@pytest.fixture(scope="module", params=FORMULATIONS, ids=repr)
def result(request) -> Result:
    """Three clusters of five instants each."""
    instants = np.concatenate([centre + STEP * AROUND for centre in (0.3, 0.7, 1.1)])
    return mb.simulate(mechanism(), 1.2, formulation=request.param, t_eval=instants, **PRECISE)


def rate(values: np.ndarray) -> np.ndarray:
    """Derivatives at the centres of the clusters, by differences of order four."""
    weights = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * STEP)
    return np.einsum("k,nk...->n...", weights, values.reshape(3, 5, *values.shape[1:]))


def centres(values: np.ndarray) -> np.ndarray:
    return values[2::5]


# --- kinematics ------------------------------------------------------------------------------------------------------


def test_velocities_and_accelerations_are_the_rates_of_positions(result):
    for name in ("upper", "lower"):
        for point in (None, POINT):
            position, velocity = result.position(name, point), result.velocity(name, point)
            assert position.shape == velocity.shape == (15, 3)
            np.testing.assert_allclose(centres(velocity), rate(position), atol=1e-7)
            np.testing.assert_allclose(centres(result.acceleration(name, point)), rate(velocity), atol=1e-6)
        np.testing.assert_allclose(
            centres(result.angular_acceleration(name)), rate(result.angular_velocity(name)), atol=1e-6
        )


def test_the_angular_velocity_is_the_rate_of_the_rotation_in_global_components(result):
    for name in ("upper", "lower"):
        a = result.rotation(name).as_matrix()
        turning = rate(a) @ np.swapaxes(centres(a), 1, 2)  # the matrix of the cross product with omega
        omega = np.stack([turning[:, 2, 1], turning[:, 0, 2], turning[:, 1, 0]], axis=1)
        np.testing.assert_allclose(centres(result.angular_velocity(name)), omega, atol=1e-7)


def test_points_are_fixed_to_their_bodies(result):
    for name in ("upper", "lower"):
        arm = result.position(name, POINT) - result.position(name)
        np.testing.assert_allclose(result.rotation(name).apply(arm, inverse=True), np.tile(POINT, (15, 1)), atol=1e-13)


def test_markers_are_accepted_like_points(result):
    body = result.system["lower"]
    marker = body.marker((1.3, 0.1, 0.2), axis=(1, 1, 0))
    for quantity in ("position", "velocity", "acceleration"):
        method = getattr(result, quantity)
        np.testing.assert_array_equal(method(marker), method(body, marker.local_point))
    np.testing.assert_array_equal(result.angular_velocity(marker), result.angular_velocity(body))
    np.testing.assert_array_equal(result.angular_acceleration(marker), result.angular_acceleration(body))
    expected = result.rotation(body) * Rotation.from_matrix(marker.local_axes)
    np.testing.assert_allclose(result.rotation(marker).as_matrix(), expected.as_matrix(), atol=1e-14)


def test_the_ground_rests(result):
    for body in (result.system.ground, "ground"):
        np.testing.assert_array_equal(result.position(body, POINT), np.tile(POINT, (15, 1)))
        np.testing.assert_array_equal(result.rotation(body).as_matrix(), np.tile(np.eye(3), (15, 1, 1)))
        for quantity in ("velocity", "acceleration", "angular_velocity", "angular_acceleration"):
            np.testing.assert_array_equal(getattr(result, quantity)(body), np.zeros((15, 3)))
    marker = result.system.ground.marker((1, 2, 3), axis=(1, 0, 0))
    np.testing.assert_array_equal(result.position(marker), np.tile([1, 2, 3], (15, 1)))
    np.testing.assert_array_equal(result.rotation(marker).as_matrix()[0][:, 2], [1, 0, 0])


def test_elements_by_object_or_name(result):
    system = result.system
    for quantity in ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"):
        method = getattr(result, quantity)
        np.testing.assert_array_equal(method("upper"), method(system["upper"]))
    np.testing.assert_array_equal(result.reaction("hinge").force, result.reaction(system["hinge"]).force)


def test_measures(result):
    lower = result.position("lower")
    np.testing.assert_allclose(result.measure("length"), np.linalg.norm(lower - [1, 1, 0], axis=1), rtol=1e-14)
    np.testing.assert_allclose(result.measure(result.system["height"]), lower[:, 2], atol=1e-14)


def test_an_angle_counts_turns():
    system = mb.System("wheel", gravity=(0, 0, 0))
    wheel = system.add(mb.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1.5), angular_velocity=(0, 0, -7)))
    system.add(mb.RevoluteJoint("axle", system.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Angle("turns", system.ground, wheel, axis=(0, 0, 1)))
    result = mb.simulate(system, 3.0, t_eval=np.linspace(0, 3, 61), **PRECISE)
    np.testing.assert_allclose(result.measure("turns"), -7.0 * result.t, atol=1e-9)


def test_joints_hold_and_the_violation_says_how_well(result):
    ball, hinge = result.system["ball"], result.system["hinge"]
    gaps = [result.position(joint.i) - result.position(joint.j) for joint in (ball, hinge)]
    axes = [result.rotation(marker).as_matrix() for marker in (hinge.i, hinge.j)]
    rows = [*gaps, np.einsum("nki,nk->ni", axes[0][:, :, :2], axes[1][:, :, 2])]
    norm = np.linalg.norm(np.concatenate(rows, axis=1), axis=1)
    assert norm.max() < 1e-12
    # The intrinsic equations of natural coordinates add to the norm.
    assert np.all(result.violation.position >= norm - 1e-15)
    assert result.violation.position.max() < 1e-12
    assert result.violation.velocity.max() < 1e-11


def test_the_violation_of_a_drifting_run_is_the_gap():
    system = mb.System("pendulum")
    body = system.add(mb.RigidBody("bar", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0), angular_velocity=(0, 3, 0)))
    body.velocity = (0, 0, -3)
    joint = system.add(mb.SphericalJoint("ball", system.ground, body, at=(0, 0, 0)))
    result = mb.simulate(system, 2.0, dt=0.05, stabilization=mb.NoStabilization())
    gap = np.linalg.norm(result.position(joint.j), axis=1)
    assert gap[-1] > 1e-6
    np.testing.assert_allclose(result.violation.position, gap, atol=1e-14)
    np.testing.assert_allclose(
        result.violation.velocity, np.linalg.norm(result.velocity(joint.j), axis=1), rtol=1e-10, atol=1e-14
    )


# --- forces and energies ---------------------------------------------------------------------------------------------


def spring_force(result: Result) -> np.ndarray:
    """On the lower body's origin."""
    d = np.array([1.0, 1.0, 0.0]) - result.position("lower")
    length = np.linalg.norm(d, axis=1, keepdims=True)
    return 40.0 * (length - 0.5) * d / length


def balance(result: Result, name: str, about: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force, and moment about a point, that a body needs beside gravity: Newton's and Euler's laws."""
    body = result.system[name]
    a = result.rotation(name).as_matrix()
    omega, alpha = result.angular_velocity(name), result.angular_acceleration(name)
    inertia = a @ body.inertia @ np.swapaxes(a, 1, 2)
    force = body.mass * (result.acceleration(name, body.center_of_mass) - GRAVITY)
    spin = np.einsum("nij,nj->ni", inertia, omega)
    moment = np.einsum("nij,nj->ni", inertia, alpha) + np.cross(omega, spin)
    return force, moment + np.cross(result.position(name, body.center_of_mass) - about, force)


def test_reactions_close_the_balance_of_each_body(result):
    hinge, ball = result.reaction("hinge"), result.reaction("ball")
    at = result.position(result.system["hinge"].j)
    force, moment = balance(result, "lower", at)
    spring = spring_force(result)
    np.testing.assert_allclose(hinge.force, force - spring, atol=1e-9)
    np.testing.assert_allclose(hinge.torque, moment - np.cross(result.position("lower") - at, spring), atol=1e-9)
    assert np.abs(hinge.torque).max() > 0.1
    force, moment = balance(result, "upper", np.zeros(3))
    np.testing.assert_allclose(ball.force, force + hinge.force, atol=1e-9)
    np.testing.assert_allclose(ball.torque, np.zeros((15, 3)), atol=1e-12)
    np.testing.assert_allclose(moment + hinge.torque + np.cross(at, hinge.force), 0.0, atol=1e-9)


def test_the_reaction_acts_on_the_second_body():
    """At rest a hanging body is held by a force upwards; the joint's other end is pulled downwards."""
    reactions = []
    for order in (1, -1):
        system = mb.System("hanging")
        body = system.add(mb.RigidBody("weight", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1)))
        system.add(mb.SphericalJoint("hook", *(system.ground, body)[::order], at=(0, 0, 0)))
        reactions.append(mb.evaluate(system).reaction("hook").force[0])
    np.testing.assert_allclose(reactions[0], (0, 0, 3.0 * 9.81), atol=1e-12)
    np.testing.assert_allclose(reactions[1], (0, 0, -3.0 * 9.81), atol=1e-12)


def test_energy(result):
    kinetic = potential = 0.0
    for body in result.system.bodies:
        name = body.name
        local = result.rotation(name).apply(result.angular_velocity(name), inverse=True)
        velocity = result.velocity(name, body.center_of_mass)
        kinetic = kinetic + 0.5 * body.mass * np.sum(velocity**2, axis=1)
        kinetic = kinetic + 0.5 * np.sum(local * (local @ body.inertia), axis=1)
        potential = potential + body.mass * 9.81 * result.position(name, body.center_of_mass)[:, 2]
    length = np.linalg.norm(result.position("lower") - [1, 1, 0], axis=1)
    potential = potential + 0.5 * 40.0 * (length - 0.5) ** 2
    np.testing.assert_allclose(result.energy.kinetic, kinetic, rtol=1e-13)
    np.testing.assert_allclose(result.energy.potential, potential, rtol=1e-12)
    np.testing.assert_allclose(result.energy.total, kinetic + potential, rtol=1e-12)
    start = mb.evaluate(mechanism()).energy.total[0]
    np.testing.assert_allclose(result.energy.total, start, rtol=1e-9)


def test_momentum_and_its_rate(result):
    """The rate of the momenta is the force and moment of gravity, ball joint and spring from outside."""
    momentum, ball, spring = result.momentum, result.reaction("ball"), spring_force(result)
    linear = sum(b.mass * result.velocity(b, b.center_of_mass) for b in result.system.bodies)
    np.testing.assert_allclose(momentum.linear, linear, atol=1e-12)
    weights = [b.mass * GRAVITY for b in result.system.bodies]
    np.testing.assert_allclose(rate(momentum.linear), centres(ball.force + spring + sum(weights)), atol=1e-5)
    moments = [np.cross(result.position(b, b.center_of_mass), b.mass * GRAVITY) for b in result.system.bodies]
    moment = sum(moments) + np.cross(result.position("lower"), spring)
    np.testing.assert_allclose(rate(momentum.angular), centres(moment), atol=1e-5)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_a_thrown_body_in_closed_form(formulation):
    """The centre of mass flies a parabola; a body with equal moments turns steadily about the global axis."""
    center, omega = np.array([0.1, 0.2, 0.3]), np.array([1.0, -2.0, 0.5])
    v0, r0 = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
    system = mb.System("throw")
    inertia = {"mass": 2.0, "inertia": (0.4, 0.4, 0.4), "center_of_mass": center}
    system.add(
        mb.RigidBody(
            "stone", position=r0 - center, velocity=v0 - np.cross(omega, center), angular_velocity=omega, **inertia
        )
    )
    instants = np.linspace(0.0, 2.0, 9)
    result = mb.simulate(system, 2.0, formulation=formulation, t_eval=instants, **PRECISE)
    t = instants[:, None]
    turn = Rotation.from_rotvec(omega * t)
    mass_center, velocity = r0 + v0 * t + 0.5 * GRAVITY * t**2, v0 + GRAVITY * t
    arm = turn.apply(center)
    np.testing.assert_allclose(result.position("stone", center), mass_center, atol=1e-9)
    np.testing.assert_allclose(result.position("stone"), mass_center - arm, atol=1e-9)
    np.testing.assert_allclose(result.velocity("stone", center), velocity, atol=1e-9)
    swing = np.cross(omega, np.cross(omega, arm))
    np.testing.assert_allclose(result.acceleration("stone"), GRAVITY - swing, atol=1e-8)
    np.testing.assert_allclose(result.rotation("stone").as_matrix(), turn.as_matrix(), atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity("stone"), np.tile(omega, (9, 1)), atol=1e-10)
    np.testing.assert_allclose(result.momentum.linear, 2.0 * velocity, atol=1e-9)
    np.testing.assert_allclose(result.momentum.angular, np.cross(mass_center, 2.0 * velocity) + 0.4 * omega, atol=1e-8)
    kinetic = 0.5 * 2.0 * np.sum(velocity**2, axis=1) + 0.5 * 0.4 * omega @ omega
    np.testing.assert_allclose(result.energy.kinetic, kinetic, rtol=1e-10)
    np.testing.assert_allclose(result.energy.potential, 2.0 * 9.81 * mass_center[:, 2], rtol=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_evaluate_at_a_state(formulation):
    """A bar on a ball joint, horizontal and turning about the vertical: closed forms of acceleration and reaction."""
    system = mb.System("bar")
    mass, length, spin = 2.0, 0.8, 3.0
    inertia = mass * (2 * length) ** 2 / 12.0
    bar = system.add(mb.RigidBody("bar", mass=mass, inertia=(1e-3, inertia, inertia), position=(length, 0, 0)))
    system.add(mb.SphericalJoint("pin", system.ground, bar, at=(0, 0, 0)))
    rest = mb.Equations(system).described()
    motion = dataclasses.replace(
        rest.motions["bar"], velocity=np.array([0, spin * length, 0]), angular_velocity=np.array([0, 0, spin])
    )
    result = mb.evaluate(system, mb.State(1.5, {"bar": motion}), formulation=formulation)
    assert len(result) == 1
    assert result.t[0] == 1.5
    fall = mass * 9.81 * length / (inertia + mass * length**2)  # angular acceleration about the pin
    np.testing.assert_allclose(result.angular_acceleration(bar), [[0, fall, 0]], atol=1e-12)
    np.testing.assert_allclose(result.acceleration(bar), [[-(spin**2) * length, 0, -fall * length]], atol=1e-12)
    force = [[-mass * spin**2 * length, 0, mass * (9.81 - fall * length)]]
    np.testing.assert_allclose(result.reaction("pin").force, force, atol=1e-11)
    np.testing.assert_allclose(result.energy.kinetic, 0.5 * (inertia + mass * length**2) * spin**2, rtol=1e-13)
    described = mb.evaluate(system, formulation=formulation)
    np.testing.assert_allclose(described.acceleration(bar), [[0, 0, -fall * length]], atol=1e-12)
    assert described.t[0] == 0.0


def test_coordinates_rates_and_multipliers_have_a_row_per_instant(result):
    eq = mb.Equations(mechanism(), FORMULATIONS[0] if result.q.shape[1] == 14 else FORMULATIONS[1])
    assert result.q.shape == (15, eq.n_q)
    assert result.v.shape == result.v_rate.shape == (15, eq.n_v)
    assert result.multipliers.shape == (15, eq.n_rows)
    np.testing.assert_allclose(centres(result.v_rate), rate(result.v), atol=1e-6)
    assert len(result) == 15
    assert repr(result) == "<Result of 'mechanism': t = 0.298 … 1.102 s, 15 instants>"


def test_states_of_stored_instants(result):
    state = result.state(-1)
    assert state.t == result.t[-1]
    np.testing.assert_allclose(state.position("lower", POINT), result.position("lower", POINT)[-1], atol=1e-14)
    np.testing.assert_allclose(state.velocity("lower", POINT), result.velocity("lower", POINT)[-1], atol=1e-13)


def test_a_result_keeps_the_masses_and_the_gravity_of_its_run():
    system = mechanism()
    result = mb.simulate(system, 0.1)
    expected = mb.simulate(mechanism(), 0.1)
    system["upper"].mass = 50.0
    system.gravity = (0, 0, 0)
    np.testing.assert_array_equal(result.energy.total, expected.energy.total)
    np.testing.assert_array_equal(result.momentum.angular, expected.momentum.angular)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.position("uper"), r"Result: there is no body 'uper'; did you mean 'upper'\?"),
        (lambda r: r.rotation("spring"), "Result: there is no body 'spring'; there are 'upper', 'lower'"),
        (lambda r: r.velocity(7), "Result: there is no body 7"),
        (lambda r: r.acceleration("upper", (1, 2)), r"Result, local_point: found \(1, 2\) of shape \(2,\)"),
        (lambda r: r.reaction("hing"), r"System 'mechanism': there is no element 'hing'; did you mean 'hinge'\?"),
        (lambda r: r.reaction("spring"), "SpringDamper 'spring': has no reaction: it is not a joint"),
        (lambda r: r.element_states("ball"), "SphericalJoint 'ball': has no own states: it is not a force element"),
        (lambda r: r.measure("ball"), "SphericalJoint 'ball': is not a measure; use Distance, Displacement or Angle"),
        (lambda r: r.element_states("bal"), r"there is no element 'bal'; did you mean 'ball'\?"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(result, ask, message):
    with pytest.raises(mb.ModelError, match=message):
        ask(result)


# --- a result belongs to its run ------------------------------------------------------------------------------------


def watched() -> mb.System:
    """A bar on a hinge, with a force of every kind that results evaluate, and measures."""
    system = mb.System("watched")
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.1, 0.5, 0.5), position=(1, 0, 0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    spring = mb.SpringDamper(
        "spring", system.ground, bar, at_i=(2, 0, 2), at_j=(2, 0, 0), stiffness=20.0, damping=1.0, free_length=0.0
    )
    system.add(spring)
    motor = mb.PIDActuator("motor", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), proportional=10.0, integral=1.0)
    system.add(motor)
    system.add(mb.Distance("distance", system.ground, bar, at_i=(2, 0, 2), at_j=(2, 0, 0)))
    ends = mb.Marker(system.ground, at=(0, 0, 0)), mb.Marker(bar, at=(0, 0, 0))
    system.add(mb.Perpendicular(ends[0].z, ends[1].y))
    return system


EDITS = {
    "law": lambda s: setattr(s["spring"], "stiffness", 100.0),
    "gain": lambda s: setattr(s["motor"], "proportional", 100.0),
    "point": lambda s: setattr(s["spring"], "at_j", (1.5, 0, 0)),
    "pose": lambda s: setattr(s["bar"], "position", (1, 0, 0.5)),
    "mass": lambda s: setattr(s["bar"], "mass", 20.0),
    "name of a body": lambda s: setattr(s["bar"], "name", "stick"),
    "name of a joint": lambda s: setattr(s["hinge"], "name", "pin"),
    "name of a force with states": lambda s: setattr(s["motor"], "name", "engine"),
    "removal": lambda s: s.remove("spring"),
    "addition": lambda s: s.add(mb.PointMass("more", mass=1.0)),
}
BARS_DISTANCE = 2.0 * np.sqrt(2.0)  # of (2, 0, 2) from the origin: the spring's point runs on a circle of radius 2


@pytest.mark.sample
@pytest.mark.parametrize("streamed", [False, True], ids=["in memory", "streamed"])
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edits_after_a_run_do_not_change_its_result(edit, streamed, tmp_path):
    """The spring's length by the law of cosines, and Newton's law for the bar."""
    system = watched()
    bar, hinge, spring = (system[name] for name in ("bar", "hinge", "spring"))
    result = mb.simulate(system, 0.5, t_eval=[0.0, 0.25, 0.5], output=tmp_path / "run.h5" if streamed else None)
    edit(system)
    direction = result.rotation_matrix(bar)[:, :, 0]
    cosine = direction @ (np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0))
    length = np.sqrt(4.0 + BARS_DISTANCE**2 - 4.0 * BARS_DISTANCE * cosine)
    rate = result.quantity("spring.length_rate").values
    assert np.allclose(result.quantity("spring.length").values, length, atol=1e-9)
    assert np.allclose(result.measure("distance"), length, atol=1e-9)
    assert np.allclose(result.quantity("spring.tension").values, 20.0 * length + rate, atol=1e-9)
    assert np.allclose(np.linalg.norm(result.wrench(spring)[0], axis=1), 20.0 * length + rate, atol=1e-9)
    assert np.allclose(result.position(bar), result.quantity("bar.position").values)
    # Newton's law of the bar, whose centre of mass is its origin
    weight = np.array([0.0, 0.0, -2.0 * 9.81])
    forces = result.reaction(hinge).force + result.wrench(spring)[0] + weight
    assert np.allclose(2.0 * result.acceleration(bar), forces, atol=1e-8)
    assert result.element_states("motor").shape == (3, 1)
    result.save(tmp_path / "kept.h5")
    again = mb.load_result(tmp_path / "kept.h5")
    for name in result.quantities():
        assert np.allclose(again.quantity(name).values, result.quantity(name).values, atol=1e-12), name


def test_a_renamed_system_goes_on_from_its_result():
    system = watched()
    whole = mb.simulate(system, 0.5, t_eval=[0.5])
    result = mb.simulate(system, 0.25)
    system["bar"].name = "stick"
    system["motor"].name = "engine"
    state = result.state(-1)
    other = mb.simulate(system, 0.5, initial=state, t_eval=[0.5])
    assert np.allclose(other.position("stick"), whole.position("bar"), atol=1e-5)
    assert np.allclose(other.element_states("engine"), whole.element_states("motor"), atol=1e-5)


@pytest.mark.parametrize("given", [None, 3, 2.5])
def test_what_is_no_element_is_refused(result, given):
    for ask in (result.reaction, result.driving_force, result.wrench, result.measure, result.element_states):
        with pytest.raises(mb.ModelError, match="allowed is an element of the system, or its name"):
            ask(given)
