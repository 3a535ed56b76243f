"""All formulations describe the same mechanics; thin bodies, point masses, and singular poses of angles."""

import itertools
import re
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import mbframe as mb

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
INSTANTS = np.linspace(0.0, 5.0, 101)
GRAVITY = 9.81

MECHANISMS = {"triple pendulum": mb.examples.triple_pendulum, "heavy top": mb.examples.heavy_top}
# Sequences that stay away from their singular poses for five seconds. For the pendulum the first and the last axis of
# these two keep an angle of 18 and 27 degrees at least. The top leans by 0.4 rad, which is the middle angle of ZXZ; its
# spin is the last angle of both.
SEQUENCES = {"triple pendulum": ("ZXY", "YXZ"), "heavy top": ("ZXZ", "XYZ")}
CASES = [
    (name, formulation)
    for name, sequences in SEQUENCES.items()
    for formulation in (mb.NaturalAbsolute(), mb.EulerParameters(), *map(mb.EulerAngles, sequences))
]


@cache
def run(mechanism: str, formulation: mb.Formulation) -> mb.Result:
    return mb.simulate(MECHANISMS[mechanism](), 5.0, formulation=formulation, **PRECISE, t_eval=INSTANTS)


def assert_same_motion(one: mb.Result, other: mb.Result, tolerance: float) -> None:
    for body in one.system.bodies:
        for point in ((0.0, 0.0, 0.0), (0.3, -0.2, 0.1)):
            found, expected = other.position(body.name, point), one.position(body.name, point)
            np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance)


def assert_same_reactions(one: mb.Result, other: mb.Result, tolerance: float) -> None:
    for joint in one.system.joints:
        found, expected = other.reaction(joint.name), one.reaction(joint.name)
        np.testing.assert_allclose(found.force, expected.force, rtol=0.0, atol=tolerance)
        np.testing.assert_allclose(found.torque, expected.torque, rtol=0.0, atol=tolerance)


@pytest.mark.parametrize(("mechanism", "formulation"), CASES, ids=str)
def test_same_motion(mechanism: str, formulation: mb.Formulation) -> None:
    assert_same_motion(run(mechanism, mb.NewtonEuler()), run(mechanism, formulation), 1e-9)


@pytest.mark.parametrize(("mechanism", "formulation"), CASES, ids=str)
def test_same_reactions(mechanism: str, formulation: mb.Formulation) -> None:
    assert_same_reactions(run(mechanism, mb.NewtonEuler()), run(mechanism, formulation), 1e-8)


@pytest.mark.parametrize(("mechanism", "formulation"), CASES, ids=str)
def test_energy_and_constraints_are_kept(mechanism: str, formulation: mb.Formulation) -> None:
    result = run(mechanism, formulation)
    assert np.ptp(result.energy.total) <= 1e-9 * result.energy.kinetic.max()
    assert result.violation.position.max() <= 1e-12


def test_a_chain_of_all_formulations() -> None:
    """Every choice of coordinates in one system, with a spring from the ground to a point mass at its end."""
    choices = [mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles("YXZ"), mb.NewtonEuler()]

    def chain(formulations: list[mb.Formulation]) -> mb.System:
        system = mb.System("chain")
        previous: mb.Body = system.ground
        for k, formulation in enumerate(formulations):
            bar = mb.RigidBody(
                f"bar {k}",
                mass=1.0 + k,
                inertia=(0.02, 0.09, 0.1, 0.01, 0.0, 0.005),
                center_of_mass=(0.1, 0.02, -0.03),
                position=(k + 0.4, 0.0, 0.0),
                formulation=formulation,
            )
            system.add(bar)
            joint = mb.RevoluteJoint if k % 2 else mb.SphericalJoint
            system.add(joint(f"joint {k}", previous, bar, at=(k, 0.0, 0.0), axis=(0.1 * k, 1.0, 0.2)))
            previous = bar
        weight = system.add(mb.PointMass("weight", mass=0.5, position=(4.0, 0.0, 0.0)))
        system.add(mb.SphericalJoint("hook", previous, weight, at=(4.0, 0.0, 0.0)))
        system.add(
            mb.SpringDamper("spring", system.ground, weight, at_i=(4.0, 1.0, 2.0), stiffness=30.0, free_length=2.0)
        )
        return system

    t = np.linspace(0.0, 1.5, 31)
    plain = mb.simulate(chain([mb.NewtonEuler()] * 4), 1.5, **PRECISE, t_eval=t)
    assert np.abs(plain.position("bar 3")[-1] - plain.position("bar 3")[0]).max() > 1.0
    for order in (choices, choices[::-1]):
        mixed = mb.simulate(chain(order), 1.5, **PRECISE, t_eval=t)
        assert_same_motion(plain, mixed, 1e-9)
        assert_same_reactions(plain, mixed, 1e-8)


# --- thin bodies ------------------------------------------------------------------------------------------------------

TILT = Rotation.from_rotvec([0.4, -0.3, 0.8]).as_matrix()
THIN = {
    "lamina": np.diag([0.3, 0.8, 1.1]),
    "disk": np.diag([1.0, 1.0, 2.0]),
    "tilted lamina": TILT @ np.diag([0.3, 0.8, 1.1]) @ TILT.T,
    "almost a lamina": np.diag([0.3, 0.8, 1.1 - 1e-7]),
    "rounded digits": np.diag([0.333, 0.778, 1.112]),  # the largest moment exceeds the sum of the others by 1e-3
    "rod": np.diag([1e-5, 0.7, 0.7]),
}


def hanging(inertia: Array) -> mb.System:
    """A body that hangs in a ball joint, off its centre, and swings and spins; a second one is hinged to it."""
    system = mb.System("thin")
    shape = {"mass": 2.0, "inertia": inertia}
    spin = np.array([1.0, -2.0, 5.0])
    first = mb.RigidBody(
        "first", **shape, center_of_mass=(0.5, 0.2, 0.0), angular_velocity=spin, position=(0.1, 0.0, 0.3), rotation=TILT
    )
    system.add(first)
    first.velocity = np.cross(spin, first.position)
    second = mb.RigidBody("second", **shape, position=(0.9, 0.3, 0.2), angular_velocity=spin)
    system.add(second)
    second.velocity = np.cross(spin, second.position)
    system.add(mb.SphericalJoint("ball", system.ground, first, at=(0.0, 0.0, 0.0)))
    system.add(mb.RevoluteJoint("hinge", first, second, at=(0.6, 0.2, 0.1), axis=(0.3, 1.0, 0.0)))
    return system


@pytest.mark.parametrize("formulation", [mb.NaturalAbsolute(), mb.EulerParameters()], ids=repr)
@pytest.mark.parametrize("inertia", THIN.values(), ids=THIN)
def test_thin_bodies(inertia: Array, formulation: mb.Formulation) -> None:
    t = np.linspace(0.0, 2.0, 41)
    runs = [
        mb.simulate(hanging(inertia), 2.0, formulation=f, **PRECISE, t_eval=t) for f in (mb.NewtonEuler(), formulation)
    ]
    assert_same_motion(*runs, 1e-9)
    assert_same_reactions(*runs, 1e-8)
    assert not runs[1].info.warnings


def test_mass_matrix_stays_constant_and_sparse_where_the_body_is_not_thin() -> None:
    natural = mb.NaturalAbsolute()
    ordinary, thin = (
        mb.Equations(mb.examples.triple_pendulum() if body is None else hanging(body), natural)
        for body in (None, THIN["disk"])
    )
    assert [row.alpha for table in ordinary.tables.body_tables for row in table.rows] == [0.0] * 3
    assert all(row.alpha > 0.0 for table in thin.tables.body_tables for row in table.rows)
    row = ordinary.tables.body_tables[0].rows[0]
    assert natural.mass_pattern(row).sum() == 12


# --- point masses -----------------------------------------------------------------------------------------------------

MASS, LENGTH, ANGLE = 0.8, 1.3, 0.6


def conical_pendulum() -> tuple[mb.System, float]:
    """A point mass on a rigid massless rod runs in a circle with rate^2 = g / (l cos(angle))."""
    rate = np.sqrt(GRAVITY / (LENGTH * np.cos(ANGLE)))
    radius = LENGTH * np.sin(ANGLE)
    system = mb.System("conical pendulum")
    start = (radius, 0.0, -LENGTH * np.cos(ANGLE))
    bob = system.add(mb.PointMass("bob", mass=MASS, position=start, velocity=(0.0, rate * radius, 0.0)))
    system.add(mb.DistanceJoint("rod", system.ground, bob, at_i=(0.0, 0.0, 0.0), at_j=start))
    return system, rate


def test_conical_pendulum_of_a_point_mass() -> None:
    system, rate = conical_pendulum()
    result = mb.simulate(system, 5.0, **PRECISE, t_eval=INSTANTS)
    around = np.column_stack([np.cos(rate * INSTANTS), np.sin(rate * INSTANTS)]) * LENGTH * np.sin(ANGLE)
    expected = np.column_stack([around, np.full(len(around), -LENGTH * np.cos(ANGLE))])
    np.testing.assert_allclose(result.position("bob"), expected, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.acceleration("bob")[:, :2], -(rate**2) * around, rtol=0.0, atol=1e-8)
    tension = MASS * GRAVITY / np.cos(ANGLE)
    np.testing.assert_allclose(result.reaction("rod").force, -tension / LENGTH * expected, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("formulation", [None, mb.NaturalAbsolute(), mb.EulerParameters(), mb.EulerAngles()], ids=repr)
def test_point_mass_keeps_its_three_coordinates(formulation: mb.Formulation | None) -> None:
    system, _ = conical_pendulum()
    result = mb.simulate(system, 0.1, formulation=formulation, t_eval=[0.0, 0.1])
    assert result.q.shape == result.v.shape == (2, 3)


def test_point_mass_on_a_spring_oscillates_in_an_ellipse() -> None:
    """A spring without free length pulls with -k r, so r = r_0 cos(w t) + v_0/w sin(w t) about the equilibrium."""
    stiffness = 20.0
    place, speed = np.array([1.0, 0.2, 0.5]), np.array([-0.3, 1.5, 0.7])
    system = mb.System("oscillator")
    bob = system.add(mb.PointMass("bob", mass=MASS, position=place, velocity=speed))
    system.add(
        mb.SpringDamper("spring", system.ground, bob, at_i=(0.0, 0.0, 0.0), stiffness=stiffness, free_length=0.0)
    )
    result = mb.simulate(system, 5.0, **PRECISE, t_eval=INSTANTS)
    rate, sag = np.sqrt(stiffness / MASS), np.array([0.0, 0.0, -MASS * GRAVITY / stiffness])
    expected = sag + np.outer(np.cos(rate * INSTANTS), place - sag) + np.outer(np.sin(rate * INSTANTS) / rate, speed)
    np.testing.assert_allclose(result.position("bob"), expected, rtol=0.0, atol=1e-9)
    assert np.ptp(result.energy.total) <= 1e-10 * result.energy.kinetic.max()


def test_point_mass_in_a_ball_joint_is_part_of_the_body(formulation: mb.Formulation) -> None:
    """A bar with a weight at its end is the bar with the composite centre of mass and inertia."""
    bar = {"mass": 2.0, "inertia": np.diag([0.1, 0.5, 0.55])}
    end, omega = np.array([0.9, 0.1, -0.2]), np.array([1.0, 2.0, -1.5])
    weighted, composite = mb.System("weighted"), mb.System("composite")
    first = weighted.add(mb.RigidBody("bar", **bar, angular_velocity=omega))
    weight = weighted.add(mb.PointMass("weight", mass=MASS, position=end, velocity=np.cross(omega, end)))
    weighted.add(mb.SphericalJoint("hook", first, weight, at=end))
    center = MASS * end / (MASS + 2.0)
    reduced = MASS * 2.0 / (MASS + 2.0)
    inertia = bar["inertia"] + reduced * (end @ end * np.eye(3) - np.outer(end, end))
    composite.add(mb.RigidBody("bar", mass=MASS + 2.0, inertia=inertia, center_of_mass=center, angular_velocity=omega))
    t = np.linspace(0.0, 2.0, 41)
    found, expected = (mb.simulate(s, 2.0, formulation=formulation, **PRECISE, t_eval=t) for s in (weighted, composite))
    for point in (np.zeros(3), end, np.array([0.0, 1.0, 0.0])):
        np.testing.assert_allclose(found.position("bar", point), expected.position("bar", point), rtol=0.0, atol=1e-9)
    needed = MASS * (expected.acceleration("bar", end) - np.array([0.0, 0.0, -GRAVITY]))
    np.testing.assert_allclose(found.reaction("hook").force, needed, rtol=0.0, atol=1e-8)


def test_point_mass_has_axes_that_do_not_turn() -> None:
    turn = Rotation.from_rotvec([0.2, 0.5, -0.4])
    system = mb.System("thrown")
    system.add(mb.PointMass("point", mass=1.0, rotation=turn, velocity=(1.0, 2.0, 3.0)))
    result = mb.simulate(system, 1.0)
    np.testing.assert_allclose(result.rotation("point").as_matrix(), [turn.as_matrix()] * len(result), atol=1e-15)
    assert not result.angular_velocity("point").any()
    # a sub-assembly may be turned as a whole
    assembly = mb.System("assembly")
    copies = assembly.include(system, "left ", rotation=Rotation.from_rotvec([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(copies["point"].velocity, Rotation.from_rotvec([0, 0, 1]).apply([1, 2, 3]), atol=1e-15)
    with pytest.raises(mb.ModelError, match=r"PointMass 'top', angular_velocity: .* does not turn"):
        mb.PointMass("top", mass=1.0, angular_velocity=(0.0, 0.0, 1.0))


# --- Euler angles -----------------------------------------------------------------------------------------------------

ALL_SEQUENCES = ["".join(s) for s in itertools.product("XYZ", repeat=3) if s[0] != s[1] != s[2]]


def tumbling(rotation: Rotation, angular_velocity: Array) -> mb.System:
    system = mb.System("tumbling")
    free = {"mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    system.add(mb.RigidBody("anchor", **free, rotation=Rotation.from_rotvec([0.5, 0.6, 0.7])))
    system.add(mb.RigidBody("gyro", **free, rotation=rotation, angular_velocity=angular_velocity))
    return system


def singular(sequence: str) -> tuple[str, float]:
    """Middle axis of a sequence and its singular angle, deg."""
    return sequence[1], 0.0 if sequence[0] == sequence[2] else 90.0


@pytest.mark.parametrize("away", [0.0, 0.3], ids=["exactly", "nearly"])
@pytest.mark.parametrize("sequence", ALL_SEQUENCES)
def test_start_in_a_singular_pose_names_the_body_and_proposes_a_sequence(sequence: str, away: float) -> None:
    _, middle = singular(sequence)
    system = tumbling(Rotation.from_euler(sequence, [20.0, middle + away, 35.0], degrees=True), np.zeros(3))
    with pytest.raises(
        mb.ModelError, match=rf"^RigidBody 'gyro', formulation: the angles {sequence} are singular"
    ) as caught:
        mb.simulate(system, 0.1, formulation=mb.EulerAngles(sequence))
    proposed = re.search(r"EulerAngles\('(\w+)'\)", str(caught.value))
    assert proposed is not None
    assert "NewtonEuler()" in str(caught.value)
    system["gyro"].formulation = mb.EulerAngles(proposed[1])
    assert mb.simulate(system, 0.1).info.completed


def test_all_bodies_in_singular_poses_are_named() -> None:
    system = mb.System("two")
    for name in ("one", "other"):
        system.add(mb.RigidBody(name, mass=1.0, inertia=(1.0, 1.0, 1.0)))
    with pytest.raises(mb.ModelError) as caught:
        mb.Equations(system, mb.EulerAngles("ZXZ")).coordinates(mb.Equations(system).described())
    assert [p.element for p in caught.value.problems] == ["RigidBody 'one'", "RigidBody 'other'"]


def swinging_past(distance: float) -> tuple[mb.System, float]:
    """A ball that turns about x, from 0.3 rad to 90 degrees in a second: then it passes a singular pose of ZXY."""
    start, rate = 0.3, np.pi / 2.0 - 0.3
    rotation = Rotation.from_euler("XYZ", [start, 0.0, distance])
    return tumbling(rotation, rate * np.array([1.0, 0.0, 0.0])), rate


@pytest.mark.parametrize("distance", [0.0, 1e-3])
@pytest.mark.parametrize("dt", [None, 0.05], ids=["adaptive", "fixed steps"])
def test_run_into_a_singular_pose_names_the_body(dt: float | None, distance: float) -> None:
    """Also where large steps jump over the pose."""
    system, rate = swinging_past(distance)
    with pytest.raises(mb.SimulationError, match="RigidBody 'gyro': the angles ZXY are singular") as caught:
        mb.simulate(system, 3.0, dt, formulation=mb.EulerAngles("ZXY"))
    assert re.search(r"EulerAngles\('(?!ZXY)\w+'\)", str(caught.value))
    partial = caught.value.result
    assert 0.5 < partial.t[-1] < 1.0
    assert partial.t[-1] <= caught.value.time
    np.testing.assert_allclose(partial.angular_velocity("gyro"), [[rate, 0.0, 0.0]] * len(partial), rtol=0.0, atol=1e-4)


def test_run_past_a_singular_pose_at_a_distance() -> None:
    system, rate = swinging_past(0.1)
    t = np.linspace(0.0, 3.0, 61)
    result = mb.simulate(system, 3.0, formulation=mb.EulerAngles("ZXY"), **PRECISE, t_eval=t)
    turned = Rotation.from_rotvec(np.outer(rate * t, [1.0, 0.0, 0.0])) * Rotation.from_matrix(system["gyro"].rotation)
    np.testing.assert_allclose(result.rotation("gyro").as_matrix(), turned.as_matrix(), rtol=0.0, atol=1e-9)
    assert np.abs(np.diff(result.q[:, 9])).max() < 1.0, "angles do not jump"


@pytest.mark.parametrize(("sequence", "turning"), [("ZXY", 0), ("XYZ", 2), ("ZYZ", 0), ("XZX", 2)])
def test_angles_count_turns(sequence: str, turning: int) -> None:
    """A ball that spins about the first or the last axis: one angle grows beyond ten turns, the others stay."""
    angles = np.array([0.3, 0.8, -0.4])
    rotation, rate = Rotation.from_euler(sequence, angles), 13.0
    axis = np.eye(3)["XYZ".index(sequence[turning])]
    for sign in (1.0, -1.0):
        omega = sign * rate * (axis if turning == 0 else rotation.apply(axis))
        system = tumbling(rotation, omega)
        result = mb.simulate(system, 5.0, formulation=mb.EulerAngles(sequence), **PRECISE, t_eval=INSTANTS)
        expected = np.tile(angles, (len(INSTANTS), 1))
        expected[:, turning] += sign * rate * INSTANTS
        np.testing.assert_allclose(result.q[:, 9:12], expected, rtol=0.0, atol=1e-9)


def test_offset_moves_the_singular_poses() -> None:
    """A = R1 R2 R3 offset: a body that lies in a singular pose of ZXZ is regular with an offset."""
    offset, rotation, omega = (
        Rotation.from_rotvec([0.0, 0.7, 0.0]),
        Rotation.from_rotvec([0.0, 0.0, 0.5]),
        [0.3, -0.2, 2.0],
    )
    system = tumbling(rotation, np.array(omega))
    with pytest.raises(mb.ModelError, match="ZXZ are singular"):
        mb.simulate(system, 1.0, formulation=mb.EulerAngles("ZXZ"))
    system["gyro"].formulation = mb.EulerAngles("ZXZ", offset=offset)
    t = np.linspace(0.0, 1.0, 21)
    result = mb.simulate(system, 1.0, **PRECISE, t_eval=t)
    turned = Rotation.from_rotvec(np.outer(t, omega)) * rotation  # a ball keeps its spin
    np.testing.assert_allclose(result.q[:, 10:13], (turned * offset.inv()).as_euler("ZXZ"), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.rotation("gyro").as_matrix(), turned.as_matrix(), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("sequence", ["XXY", "xyz", "XY", "ABC", 3])
def test_unknown_sequences_are_refused(sequence: object) -> None:
    with pytest.raises(mb.ModelError, match=r"EulerAngles, sequence: found .* XYZ, .* choose one"):
        mb.EulerAngles(sequence)


def test_formulations_are_compared_by_their_parameters() -> None:
    turn = Rotation.from_rotvec([0.0, 0.7, 0.0])
    assert mb.EulerAngles("ZXY") == mb.EulerAngles()
    assert mb.EulerAngles(offset=turn) == mb.EulerAngles(offset=turn.as_matrix())
    assert len({mb.EulerAngles("ZXY"), mb.EulerAngles("ZXZ"), mb.EulerAngles(offset=turn), mb.EulerAngles()}) == 3
    assert eval(repr(mb.EulerAngles("XYX", turn)), {"EulerAngles": mb.EulerAngles}) == mb.EulerAngles("XYX", turn)
    with pytest.raises(mb.ModelError, match="EulerAngles, offset"):
        mb.EulerAngles(offset=np.ones((3, 3)))
