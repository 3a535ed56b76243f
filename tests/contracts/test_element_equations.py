"""`equations_of`: what every joint and force contributes, against differences, mechanics and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from mbframe.state import Motion, State

from .specimens import assert_close, connected, name_of, random_state, walk

JOINTS = walk(mb.Joint)
FORCES = walk(mb.ForceElement)
STEP = 1e-5
DIFFERENCE = 1e-8  # of a central difference of that step


def moved(eq: mb.Equations, state: State, d: np.ndarray, v: np.ndarray, dt: float = 0.0) -> State:
    """The state after a small displacement, with other velocities, a little later."""
    q, _, z = eq.split(eq.coordinates(state))
    return eq.state(state.t + dt, np.concatenate([eq.displaced(q, d), v, z]))


@pytest.mark.parametrize("cls", JOINTS, ids=name_of)
def test_rows_of_a_joint_are_derivatives(cls):
    system, _, _, joint = connected(cls)
    eq = mb.Equations(system)
    state = random_state(eq)
    _, v, _ = eq.split(eq.coordinates(state))
    found = mb.equations_of(eq, joint, state)
    assert isinstance(found, mb.JointEquations)
    jacobian = np.zeros((len(found.rows), eq.n_v))
    for b in eq.tables.bodies:
        if b.body.name in found.jacobian:
            jacobian[:, b.v_slice] = found.jacobian[b.body.name]
            assert len(found.velocities[b.body.name]) == b.formulation.n_v

    def at(d: np.ndarray, velocity: np.ndarray, dt: float = 0.0) -> mb.JointEquations:
        return mb.equations_of(eq, joint, moved(eq, state, d, velocity, dt))

    holonomic = np.isfinite(found.residual)
    for k, unit in enumerate(np.eye(eq.n_v)):
        change = at(STEP * unit, v).residual - at(-STEP * unit, v).residual
        assert_close(change[holonomic] / (2.0 * STEP), jacobian[holonomic, k], DIFFERENCE)
        by_rate = at(0.0 * unit, v + unit).rate - found.rate  # linear in the velocities
        assert_close(by_rate, jacobian[:, k], 1e-10)
    # Along a motion with constant velocities C'' is -gamma.
    later, before = (at(s * STEP * v, v, s * STEP) for s in (1.0, -1.0))
    assert_close((later.rate - before.rate) / (2.0 * STEP), -found.gamma, 1e-7)
    assert_close(((later.residual - before.residual) / (2.0 * STEP))[holonomic], found.rate[holonomic], DIFFERENCE)


@pytest.mark.parametrize("cls", JOINTS, ids=name_of)
def test_multipliers_are_the_reaction(cls):
    """The power of -J^T lambda on the second body is that of the reaction, whatever the velocity of that body."""
    system, _, _, joint = connected(cls)
    eq = mb.Equations(system)
    state = random_state(eq)
    found = mb.equations_of(eq, joint, state)
    reaction = mb.evaluate(system, state).reaction(joint)
    assert_close(found.force, reaction.force[0], 1e-12)
    assert_close(found.torque, reaction.torque[0], 1e-12)
    body = joint.j.body
    b = eq.tables.bodies[eq.tables.index[body.name]]
    q, _, _ = eq.split(eq.coordinates(state))
    point = state.position(body, joint.j.local_point)
    for k, unit in enumerate(np.eye(b.formulation.n_v)):
        velocity, omega = (part[0] for part in b.formulation.twists(q[None, b.q_slice], unit[None]))
        at_marker = velocity + np.cross(omega, point - state.position(body))
        power = found.force @ at_marker + found.torque @ omega
        assert_close(-found.multipliers @ found.jacobian[body.name][:, k], power, 1e-9)


@pytest.mark.parametrize("cls", FORCES, ids=name_of)
def test_loads_of_a_force(cls):
    system, _, _, element = connected(cls)
    state = random_state(mb.Equations(system))
    found = mb.equations_of(system, element, state)
    assert isinstance(found, mb.ForceEquations)
    result = mb.evaluate(system, state)
    assert_close(found.force, result.wrench(element)[0][0], 1e-13)
    assert_close(found.torque, result.wrench(element)[1][0], 1e-13)
    assert_close(found.force_i, -found.force, 1e-15)
    balance = found.torque_i + found.torque + np.cross(found.point_j, found.force)
    assert_close(balance, -np.cross(found.point_i, found.force_i), 1e-12)
    # The power of both loads at their markers, from the velocities of the state.
    power = 0.0
    for marker, force, torque in ((element.i, found.force_i, found.torque_i), (element.j, found.force, found.torque)):
        if marker.body is not system.ground:
            omega = state.angular_velocity(marker.body)
            power += force @ state.velocity(marker.body, marker.local_point) + torque @ omega
    assert_close(found.power, power, 1e-11)
    for name, value, unit in found.outputs:
        assert value == pytest.approx(result.output(element, name)[0])
        assert unit == element.outputs[name]


@pytest.mark.parametrize("cls", [cls for cls in FORCES if not cls.reactive], ids=name_of)
def test_generalized_forces_are_what_the_equations_lose_without_the_force(cls):
    system, _, _, element = connected(cls)
    state = random_state(mb.Equations(system))
    found = mb.equations_of(system, element, state)
    whole = mb.Equations(system)
    q, v, z = whole.split(whole.coordinates(state))
    with_force = whole.evaluate(state.t, q, v, z).force
    system.remove(element)
    rest = mb.Equations(system)
    without = rest.evaluate(state.t, q, v, z[: rest.n_z]).force
    for name, part in found.generalized.items():
        b = whole.tables.bodies[whole.tables.index[name]]
        assert_close(part, (with_force - without)[b.v_slice], 1e-11)


@pytest.mark.parametrize("cls", [mb.SpringDamper, mb.TorsionalSpringDamper], ids=name_of)
def test_power_is_what_the_energy_loses(cls):
    system, _, _, element = connected(cls)
    element.damping = 0.0
    setattr(element, "damping_force" if cls is mb.SpringDamper else "damping_torque", None)
    eq = mb.Equations(system)
    state = random_state(eq)
    _, v, _ = eq.split(eq.coordinates(state))
    energies = [mb.equations_of(eq, element, moved(eq, state, s * STEP * v, v)).energy for s in (1.0, -1.0)]
    found = mb.equations_of(eq, element, state)
    assert found.power == pytest.approx(-(energies[0] - energies[1]) / (2.0 * STEP), rel=1e-7)


def test_a_pendulum_in_the_plane():
    """A bar of length 2 s at the angle a: C = x + s (cos a, sin a), its rows and gamma in closed form."""
    s, a, w, m = 0.5, 0.7, 2.0, 3.0
    system = mb.System("pendulum", dimension=2, gravity=(0.0, -9.81))
    bar = system.add(mb.PlanarBody("bar", mass=m, inertia=m * s**2 / 3.0, position=(s * np.cos(a), s * np.sin(a))))
    bar.update(angle=a)
    pivot = system.add(mb.RevoluteJoint("pivot", system.ground, bar, at=(0.0, 0.0)))
    at = (s * np.cos(a), s * np.sin(a), 0.0)
    turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    velocity = np.array([-w * at[1], w * at[0], 0.0])
    motion = Motion(np.array([at[0] + 1e-3, at[1], 0.0]), turn, velocity, np.array([0.0, 0.0, w]))
    found = mb.equations_of(system, "pivot", State(0.0, {"bar": motion}, {}, 2))
    assert [unit for _, unit in found.rows] == ["m", "m"]
    np.testing.assert_allclose(found.residual, [1e-3, 0.0], atol=1e-15)
    np.testing.assert_allclose(found.rate, 0.0, atol=1e-15)
    np.testing.assert_allclose(found.jacobian["bar"], [[1.0, 0.0, at[1]], [0.0, 1.0, -at[0]]], atol=1e-15)
    np.testing.assert_allclose(found.gamma, [-(w**2) * at[0], -(w**2) * at[1]], atol=1e-14)
    # About the pivot: I a' = -m g s cos a with I = 4 m s^2/3; the pivot gives what the centre's acceleration needs.
    alpha = -9.81 * s * np.cos(a) / (4.0 / 3.0 * s**2)
    centre = alpha * np.array([-at[1], at[0]]) - w**2 * np.array(at[:2])
    np.testing.assert_allclose(found.force, [m * centre[0], m * (centre[1] + 9.81), 0.0], atol=1e-12)
    assert found.parts[0].kind == "CoincidentInPlane"
    assert "C = " in found.parts[0].law
    assert pivot.name == found.element


def test_states_of_the_plane_and_what_has_no_equations():
    system = mb.examples.slider_crank()
    name = next(iter(system.joints)).name
    assert mb.equations_of(system, name).t == 0.0
    with pytest.raises(mb.ModelError, match="has no equations of its own"):
        mb.equations_of(system, system.bodies[0])
    with pytest.raises(mb.ModelError):
        mb.equations_of(system, "nobody")


def test_a_driver_says_what_it_follows():
    system, _, _, driver = connected(mb.Driver)
    (part,) = mb.equations_of(system, driver).parts
    assert part.kind == "AngleTerm"
    assert "sin" in part.values["motion"]
