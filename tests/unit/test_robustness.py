"""What is easily broken: reactions of unusual joints, edits after a run, parameters in compiled methods, turns."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb


def hanging(kind):
    s = mb.System("hanging")
    b = s.add(mb.RigidBody("weight", mass=3.0, inertia=(1, 1, 1), position=(0, 0, -1)))
    s.add(kind("hook", s.ground, b, at=(0, 0, 0)))
    return s


class Swapped(mb.Joint):
    def constraints(self):
        return [mb.Coincident(self.j, self.i)]


class Elsewhere(mb.Joint):
    def constraints(self):
        i, j = (mb.Marker(b, at=self.at, axis=(1, 0, 0)) for b in (self.body_i, self.body_j))
        return [mb.Coincident(i, j)]


@pytest.mark.parametrize("kind", [Swapped, Elsewhere])
def test_reaction_acts_on_the_joints_second_body(kind):
    np.testing.assert_allclose(mb.evaluate(hanging(kind)).reaction("hook").force, [[0, 0, 29.43]], atol=1e-12)


def test_reaction_after_the_joint_was_edited():
    s = hanging(mb.SphericalJoint)
    r = mb.simulate(s, 0.1)
    s["hook"].at = (0, 0, 1)
    np.testing.assert_allclose(r.reaction("hook").force[0], [0, 0, 29.43], atol=1e-9)


class Push(mb.ForceElement):
    mode = mb.parameter("up", choices=("up", "down"))

    def wrench(self, t, i, j):
        if self.mode == "down":
            return (0.0, 0.0, -100.0), (0.0, 0.0, 0.0)
        return (0.0, 0.0, 100.0), (0.0, 0.0, 0.0)


class Limited(mb.ForceElement):
    limit = mb.parameter(None, kind="number")

    def wrench(self, t, i, j):
        if self.limit is None:
            return (0.0, 0.0, 100.0), (0.0, 0.0, 0.0)
        return (0.0, 0.0, self.limit), (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [(Push, {"mode": "down"}, -100.0), (Push, {}, 100.0), (Limited, {}, 100.0), (Limited, {"limit": 7.0}, 7.0)],
)
def test_compiled_choice_and_optional_parameters_mean_what_they_mean_in_python(kind, values, expected):
    s = mb.System("s", gravity=(0, 0, 0))
    b = s.add(mb.RigidBody("b", mass=1.0, inertia=(1, 1, 1)))
    s.add(kind("p", s.ground, b, **values))
    assert mb.evaluate(s).acceleration("b")[0, 2] == pytest.approx(expected)


def test_a_connection_reassigned_to_a_stranger_names_the_element():
    s = hanging(mb.SphericalJoint)
    s["hook"].body_j = mb.RigidBody("z", mass=1, inertia=(1, 1, 1))
    with pytest.raises(
        mb.ModelError, match="SphericalJoint 'hook', body_j: found RigidBody 'z', which is not in system"
    ):
        mb.simulate(s, 0.1)


def test_angle_of_a_turned_sub_assembly():
    turn = Rotation.from_rotvec([0.8, -0.5, 1.7])
    part = mb.System("part", gravity=(0, 0, 0))
    b = part.add(mb.RigidBody("b", mass=1, inertia=(1, 1.2, 1.5), angular_velocity=(1, 2, 0.3)))
    part.add(mb.Angle("a", part.ground, b, axis=(1, 1, 3)))
    whole = mb.System("whole", gravity=(0, 0, 0))
    whole.include(part, "", rotation=turn)
    a, c = (
        mb.simulate(s, 1.0, t_eval=[0.3, 0.6], integrator=mb.DormandPrince(rtol=1e-11)).measure("a")
        for s in (part, whole)
    )
    np.testing.assert_allclose(a, c, atol=1e-9)


def test_the_ground_stays_where_it_is():
    s = hanging(mb.SphericalJoint)
    with pytest.raises(mb.ModelError):
        s.ground.position = (1, 0, 0)


def test_an_angle_counts_turns_between_coarse_instants():
    s = mb.System("wheel", gravity=(0, 0, 0))
    w = s.add(mb.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1.5), angular_velocity=(0, 0, 7)))
    s.add(mb.RevoluteJoint("axle", s.ground, w, at=(0, 0, 0), axis=(0, 0, 1)))
    s.add(mb.Angle("turns", s.ground, w, axis=(0, 0, 1)))
    assert mb.simulate(s, 3.0, t_eval=[0, 3.0]).measure("turns")[-1] == pytest.approx(21.0, abs=1e-3)


def test_evaluate_refuses_a_state_that_does_not_fit():
    s = hanging(mb.SphericalJoint)
    with pytest.raises(mb.ModelError):
        mb.evaluate(s, "state")


def test_user_numbers_of_wrong_length():
    class Short(mb.ForceElement):
        def wrench(self, t, i, j):
            return (0.0, 1.0), (0.0, 0.0, 0.0)

    s = hanging(mb.SphericalJoint)
    s.add(Short("short", s.ground, s["weight"]))
    with pytest.raises(mb.MbframeError, match="short"):
        mb.evaluate(s)
