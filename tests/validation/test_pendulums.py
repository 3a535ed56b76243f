"""Pendulums in closed form: periods, motion and joint reactions."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

import mbframe as mb

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
MASS, GRAVITY = 1.7, 9.81
CENTER = np.array([0.0, 0.15, -0.6])  # from the hinge, when the pendulum hangs down: off the plane of swing as well
INERTIA = np.array(
    [[0.30, 0.02, -0.03], [0.02, 0.25, 0.05], [-0.03, 0.05, 0.12]]
)  # about the centre, when it hangs down
HINGE = np.array([0.4, -0.2, 1.0])
# about the hinge (parallel axes)
ABOUT_HINGE = INERTIA + MASS * (CENTER @ CENTER * np.eye(3) - np.outer(CENTER, CENTER))
FREQUENCY = np.sqrt(MASS * GRAVITY * -CENTER[2] / ABOUT_HINGE[1, 1])  # of small oscillations


def compound_pendulum(amplitude: float, swapped: bool = False) -> mb.System:
    """A body on a hinge about y, turned from its hanging position by `amplitude`, at rest.

    Its frame has nothing to do with the hinge: turned, and with the origin elsewhere.
    """
    swing = Rotation.from_rotvec([0.0, amplitude, 0.0]).as_matrix()
    frame = Rotation.from_euler("ZXZ", [0.5, -1.2, 0.9]).as_matrix()  # body axes when it hangs down
    offset = np.array([-0.1, 0.3, 0.2])  # origin from the hinge when it hangs down
    system = mb.System("compound pendulum")
    body = system.add(
        mb.RigidBody(
            "body",
            mass=MASS,
            inertia=frame.T @ INERTIA @ frame,
            position=HINGE + swing @ offset,
            rotation=swing @ frame,
            center_of_mass=frame.T @ (CENTER - offset),
        )
    )
    pair = (body, system.ground) if swapped else (system.ground, body)
    system.add(mb.RevoluteJoint("hinge", *pair, at=HINGE, axis=(0.0, 1.0, 0.0)))
    return system


def swing(t: Array, amplitude: float) -> tuple[Array, Array, Array]:
    """Angle and its derivatives for a start at rest: sin(angle/2) = k sn(K - w t), k = sin(amplitude/2)."""
    k = np.sin(amplitude / 2.0)
    sn, cn, _, _ = ellipj(ellipk(k * k) - FREQUENCY * t, k * k)
    angle = 2.0 * np.arcsin(k * sn)
    return angle, -2.0 * k * FREQUENCY * cn, -(FREQUENCY**2) * np.sin(angle)


def hinge_load(t: Array, amplitude: float) -> tuple[Array, Array]:
    """Force and moment about the hinge that hold the pendulum: m (a_c - g) and d(I omega)/dt - r_c x m g, global."""
    angle, rate, acceleration = swing(t, amplitude)
    turn = Rotation.from_rotvec(np.outer(angle, [0.0, 1.0, 0.0]))
    y = np.array([0.0, 1.0, 0.0])
    omega, alpha = np.outer(rate, y), np.outer(acceleration, y)
    weight = np.array([0.0, 0.0, -MASS * GRAVITY])
    arm = np.tile(CENTER, (len(t), 1))
    # in axes that swing with the body; turned to global ones at the end
    force = MASS * (np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm)))
    moment = alpha @ ABOUT_HINGE + np.cross(omega, omega @ ABOUT_HINGE)
    return turn.apply(force) - weight, turn.apply(moment) - np.cross(turn.apply(arm), weight)


@pytest.mark.parametrize("amplitude", [0.3, 2.0, 3.0])
def test_period_of_a_compound_pendulum(formulation: mb.Formulation, amplitude: float) -> None:
    """T = 4/w K(sin^2(amplitude/2)): passages through the lowest point at T/4 and then every T/2."""
    system = compound_pendulum(amplitude)
    local = system["body"].center_of_mass

    def sideways(t: float, state: mb.State) -> float:
        return state.position("body", local)[0] - HINGE[0]

    period = 4.0 / FREQUENCY * ellipk(np.sin(amplitude / 2.0) ** 2)
    result = mb.simulate(system, 1.6 * period, formulation=formulation, **PRECISE, events=[sideways])
    passages = np.array([e.t for e in result.events])
    np.testing.assert_allclose(passages, period * np.array([0.25, 0.75, 1.25]), rtol=1e-9)


def test_event_direction_and_end(formulation: mb.Formulation) -> None:
    """The same passages, only those in one direction; the last event ends the run where the pendulum stands still."""
    amplitude = 2.0
    system = compound_pendulum(amplitude)
    local = system["body"].center_of_mass
    period = 4.0 / FREQUENCY * ellipk(np.sin(amplitude / 2.0) ** 2)
    # The centre starts at negative x, so it passes upwards at T/4.
    passage = mb.Event(lambda t, s: s.position("body", local)[0] - HINGE[0], direction=-1, name="back")
    standstill = mb.Event(lambda t, s: s.angular_velocity("body")[1], direction=-1, terminal=True, name="still")
    result = mb.simulate(system, 3.0 * period, formulation=formulation, **PRECISE, events=[passage, standstill])
    assert [e.name for e in result.events] == ["back", "still"]
    np.testing.assert_allclose([e.t for e in result.events], [0.75 * period, period], rtol=1e-9)
    assert result.t[-1] == result.events[-1].t
    np.testing.assert_allclose(result.position("body")[-1], result.position("body")[0], rtol=0.0, atol=1e-9)


def test_motion_of_a_compound_pendulum(formulation: mb.Formulation) -> None:
    amplitude, t = 2.5, np.linspace(0.0, 5.0, 101)
    system = compound_pendulum(amplitude)
    result = mb.simulate(system, 5.0, formulation=formulation, **PRECISE, t_eval=t)
    angle, rate, acceleration = swing(t, amplitude)
    turn = Rotation.from_rotvec(np.outer(angle, [0.0, 1.0, 0.0]))
    center = system["body"].center_of_mass
    np.testing.assert_allclose(result.position("body", center), HINGE + turn.apply(CENTER), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity("body")[:, 1], rate, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.angular_acceleration("body")[:, 1], acceleration, rtol=0.0, atol=1e-8)


def test_reaction_of_a_hinge(formulation: mb.Formulation) -> None:
    """Force and moment that the hinge exerts on the pendulum, its second body, at every instant."""
    amplitude, t = 2.5, np.linspace(0.0, 5.0, 101)
    system = compound_pendulum(amplitude)
    result = mb.simulate(system, 5.0, formulation=formulation, **PRECISE, t_eval=t)
    force, moment = hinge_load(t, amplitude)
    assert np.abs(moment[:, [0, 2]]).max() > 1.0, "the moment should be there to be tested"
    reaction = result.reaction("hinge")
    np.testing.assert_allclose(reaction.force, force, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(reaction.torque, moment, rtol=0.0, atol=1e-8)


def test_reaction_of_a_hinge_with_its_bodies_exchanged(formulation: mb.Formulation) -> None:
    """With the ground as the second body it is the load on the ground: the opposite."""
    amplitude, t = 2.5, np.linspace(0.0, 2.0, 21)
    system = compound_pendulum(amplitude, swapped=True)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=t)
    force, moment = hinge_load(t, amplitude)
    np.testing.assert_allclose(result.reaction("hinge").force, -force, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(result.reaction("hinge").torque, -moment, rtol=0.0, atol=1e-8)


def test_reactions_of_a_hanging_chain(formulation: mb.Formulation) -> None:
    """Each joint carries what hangs below it: upwards on its second body."""
    masses = [1.0, 2.0, 4.0]
    system = mb.System("chain")
    above = system.ground
    for k, mass in enumerate(masses):
        link = system.add(mb.RigidBody(f"link {k}", mass=mass, inertia=(0.1, 0.1, 0.02), position=(0, 0, -0.5 - k)))
        joint = mb.SphericalJoint if k != 1 else mb.RevoluteJoint
        system.add(joint(f"joint {k}", above, link, at=(0.0, 0.0, -float(k)), axis=(1.0, 0.0, 0.0)))
        above = link
    result = mb.evaluate(system, formulation=formulation)
    for k in range(3):
        reaction = result.reaction(f"joint {k}")
        np.testing.assert_allclose(reaction.force[0], [0.0, 0.0, 9.81 * sum(masses[k:])], rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(reaction.torque[0], 0.0, atol=1e-12)
        np.testing.assert_allclose(result.acceleration(f"link {k}")[0], 0.0, atol=1e-12)


def test_cantilever_moment(formulation: mb.Formulation) -> None:
    """A beam held by a vertical hinge carries its weight as a moment: on the beam, -r x m g about the hinge."""
    system = mb.System("gate")
    gate = system.add(mb.RigidBody("gate", mass=3.0, inertia=(0.1, 0.4, 0.4), position=(0.7, 0.0, 0.0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, gate, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    reaction = mb.evaluate(system, formulation=formulation).reaction("hinge")
    np.testing.assert_allclose(reaction.force[0], [0.0, 0.0, 3.0 * 9.81], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(reaction.torque[0], [0.0, -0.7 * 3.0 * 9.81, 0.0], rtol=0.0, atol=1e-12)


def test_conical_pendulum(formulation: mb.Formulation) -> None:
    """A rod on a ball joint that goes round at a constant angle from the vertical: (A - C) W^2 cos(angle) = m g l.

    A is its transverse moment of inertia about the joint, C the axial one; the rod turns as a whole about the vertical.
    """
    angle, length, transverse, axial = 0.7, 0.5, 0.09, 0.01
    moment = transverse + MASS * length**2
    rate = np.sqrt(MASS * GRAVITY * length / ((moment - axial) * np.cos(angle)))
    along = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    system = mb.System("conical pendulum")
    rod = system.add(
        mb.RigidBody(
            "rod",
            mass=MASS,
            inertia=(transverse, transverse, axial),
            position=length * along,
            rotation=np.column_stack([np.cross([0.0, 1.0, 0.0], along), [0.0, 1.0, 0.0], along]),
            velocity=np.cross([0.0, 0.0, rate], length * along),
            angular_velocity=(0.0, 0.0, rate),
        )
    )
    system.add(mb.SphericalJoint("pivot", system.ground, rod, at=(0.0, 0.0, 0.0)))
    t = np.linspace(0.0, 5.0, 101)
    result = mb.simulate(system, 5.0, formulation=formulation, **PRECISE, t_eval=t)
    turn = Rotation.from_rotvec(np.outer(rate * t, [0.0, 0.0, 1.0]))
    np.testing.assert_allclose(result.position(rod), turn.apply(length * along), rtol=0.0, atol=1e-9)
    outward = turn.apply([1.0, 0.0, 0.0])
    expected = -MASS * rate**2 * length * np.sin(angle) * outward + [0.0, 0.0, MASS * GRAVITY]
    np.testing.assert_allclose(result.reaction("pivot").force, expected, rtol=0.0, atol=1e-8)


def test_result_takes_markers_and_names() -> None:
    """A marker, a body with a local point, and the body's name say the same."""
    system = compound_pendulum(1.0)
    body = system["body"]
    marker = body.marker(at=HINGE + np.array([0.1, 0.2, -0.3]), axis=(1.0, 1.0, 0.0))
    result = mb.simulate(system, 1.0)
    for name in ("position", "velocity", "acceleration"):
        by_marker, by_point = getattr(result, name)(marker), getattr(result, name)("body", marker.local_point)
        np.testing.assert_allclose(by_marker, by_point, rtol=0.0, atol=1e-12)
    turned = result.rotation(body) * Rotation.from_matrix(marker.local_axes)
    assert (result.rotation(marker) * turned.inv()).magnitude().max() < 1e-12
