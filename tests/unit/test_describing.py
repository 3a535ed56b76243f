"""Points and directions of connections go with the bodies that they lie on, and a state becomes the described one."""

from dataclasses import replace

import numpy as np
import pytest

import mbframe as mb
from mbframe.analysis.states.describing import attached, description
from mbframe.rotations import matrix_from_vector


class OwnPoint(mb.Joint):
    """A ball joint at a point of its own."""

    anchor = mb.parameter((0.0, 0.0, 0.0), kind="point", unit="m", help="where it holds")
    way_j = mb.parameter((1.0, 0.0, 0.0), kind="axis", help="a direction on the second body")

    def constraints(self):
        return [mb.Coincident(mb.Marker(self.body_i, at=self.anchor), mb.Marker(self.body_j, at=self.anchor))]


def two_bodies() -> tuple[mb.System, mb.Body, mb.Body]:
    system = mb.System("two")
    bodies = [
        system.add(mb.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0.0, 0.0)))
        for name, x in (("a", 0.0), ("b", 1.0))
    ]
    return system, *bodies


def moved(system: mb.System, *bodies: mb.Body, turn, shift) -> None:
    """Move bodies as one, and what is attached to them."""
    before = {body: (body.position, body.rotation) for body in bodies}
    for body in bodies:
        body.update(position=turn @ body.position + shift, rotation=turn @ body.rotation)
    for element, values in attached(system, before):
        element.update(**values)


def test_where_a_parameter_lies_is_declared_or_told_by_its_name():
    declared = OwnPoint.parameters()
    assert (declared["anchor"].on, declared["way_j"].on, declared["at"].on) == ("both", "j", "both")
    assert {mb.RollingDisk.parameters()[name].on for name in ("normal", "plane_point")} == {"i"}
    assert {mb.RollingDisk.parameters()[name].on for name in ("at", "axis")} == {"j"}
    with pytest.raises(TypeError, match="allowed are"):
        mb.parameter(kind="point", on="k")


def test_the_point_of_a_users_joint_goes_with_its_body():
    system, a, b = two_bodies()
    joint = system.add(OwnPoint("own", a, b, at=(0.5, 0.0, 0.0), anchor=(0.5, 0.0, 0.0)))
    turn = matrix_from_vector(np.array([0.0, 0.0, np.pi / 2.0]))
    moved(system, b, turn=turn, shift=np.array([0.0, 2.0, 0.0]))
    np.testing.assert_allclose(joint.anchor, (0.0, 2.5, 0.0), atol=1e-15)
    np.testing.assert_allclose(joint.way_j, (0.0, 1.0, 0.0), atol=1e-15)
    moved(system, a, turn=np.eye(3), shift=np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(joint.anchor, (0.0, 2.5, 1.0), atol=1e-15)
    np.testing.assert_allclose(joint.way_j, (0.0, 1.0, 0.0), atol=1e-15)  # of the other body


def test_bodies_that_move_together_take_their_joint_along_once():
    system, a, b = two_bodies()
    hinge = system.add(mb.RevoluteJoint("hinge", a, b, at=(0.5, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    moved(system, a, b, turn=np.eye(3), shift=np.array([0.0, 0.0, 1.0]))
    np.testing.assert_array_equal(hinge.at, (0.5, 0.0, 1.0))


@pytest.mark.parametrize("axis", np.eye(3))
def test_a_wheel_turns_and_the_road_stays(axis):
    system = mb.examples.car_suspension()
    tire = next(element for element in system.forces if isinstance(element, mb.Tire))
    wheel, road = tire.body_j, (tire.plane_point, tire.normal, tire.direction)
    centre = wheel.position if tire.at is None else tire.at
    turn = matrix_from_vector(np.radians(5.0) * axis)
    moved(system, wheel, turn=turn, shift=np.zeros(3))
    for now, before in zip((tire.plane_point, tire.normal, tire.direction), road, strict=True):
        np.testing.assert_array_equal(now, before)
    np.testing.assert_allclose(wheel.position if tire.at is None else tire.at, turn @ centre, atol=1e-15)


@pytest.mark.parametrize("name", ["four_bar", "car_suspension", "spatial_slider_crank", "flexible_four_bar"])
def test_joints_are_closed_in_a_described_state(name):
    """From a state in the midst of a run: joints are closed there, and bodies have its velocities."""
    system = getattr(mb.examples, name)()
    run = mb.simulate(system, 0.3, t_eval=[0.0, 0.15, 0.3], integrator=mb.DormandPrince(rtol=1e-10, atol=1e-12))
    mb.describe(system, run.state(1))
    start = mb.Equations(system).described()
    assert np.abs(mb.evaluate(system, start).violation.position).max() < 1e-7
    for body in system.bodies:
        np.testing.assert_allclose(body.motion.velocity, run.state(1).motions[body.name].velocity, atol=1e-9)


def test_whole_turns_stay_and_a_described_state_changes_nothing():
    system = mb.System("plane", dimension=2)
    disk = system.add(mb.PlanarBody("disk", mass=1.0, inertia=0.1, angle=9.0 * np.pi))
    motion = mb.Equations(system).described()
    assert description(system, motion) == []
    disk.angle = 9.1 * np.pi
    state = mb.Equations(system).described()
    disk.angle = 9.0 * np.pi
    mb.describe(system, state)
    assert disk.angle == pytest.approx(9.1 * np.pi, abs=1e-13)


def test_what_was_left_out_and_follows_from_the_description_is_given():
    system, a, b = two_bodies()
    spring = system.add(mb.SpringDamper("spring", a, b, stiffness=10.0))
    bent = system.add(
        mb.ConstantVelocityJoint("bent", a, b, at=(0.5, 0, 0), axis=(1.0, 0.0, 0.0), axis_i=(1.0, 0.2, 0.0))
    )
    turn = matrix_from_vector(np.array([0.0, 0.0, 0.3]))
    motions = dict(mb.Equations(system).described().motions)
    motions["b"] = replace(motions["b"], position=np.array([1.5, 0.0, 0.0]), rotation=turn)
    mb.describe(system, mb.State(0.0, motions))
    assert spring.free_length == pytest.approx(1.0)  # not 1.5
    assert bent.axis is None
    np.testing.assert_allclose(bent.shaft_i, (1.0, 0.2, 0.0))
    np.testing.assert_allclose(bent.shaft_j, turn[:, 0], atol=1e-15)


def test_a_state_that_is_refused_leaves_all_as_it_was():
    system, a, b = two_bodies()
    system.add(mb.DistanceJoint("rod", a, b, at_i=(0.0, 0.0, 0.0), at_j=(1.0, 0.0, 0.0)))
    b.position = (0.0, 0.0, 0.0)  # its end would be in the other's
    wrong = mb.Equations(system).described()
    b.position = (1.0, 0.0, 0.0)
    with pytest.raises(mb.ModelError, match="rod"):
        mb.describe(system, wrong)
    np.testing.assert_array_equal(b.position, (1.0, 0.0, 0.0))
