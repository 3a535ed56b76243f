"""The joints: what they leave free, closed forms, and a chain of all of them in every formulation."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

import mbframe as mb
from mbframe.examples.screw_jack import LOAD, PITCH, SPINDLE_INERTIA
from mbframe.joints.coupled import Coupling
from mbframe.joints.driven import Drive
from mbframe.registry import built_in

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
GRAVITY = 9.81
WEIGHTLESS = (0.0, 0.0, 0.0)
ORIGIN = np.zeros(3)
X, Y, Z = np.eye(3)
OBLIQUE = np.array([0.48, 0.6, 0.64])
TWO_PI = 2.0 * np.pi


def assert_near(found: Array, expected: ArrayLike, tolerance: float) -> None:
    np.testing.assert_allclose(found, np.broadcast_to(expected, np.shape(found)), rtol=0.0, atol=tolerance)


# --- one body in one joint --------------------------------------------------------------------------------------------

FREE = {
    mb.FixedJoint: 0,
    mb.RevoluteJoint: 1,
    mb.TranslationalJoint: 1,
    mb.ScrewJoint: 1,
    mb.CylindricalJoint: 2,
    mb.UniversalJoint: 2,
    mb.ConstantVelocityJoint: 2,
    mb.SphericalJoint: 3,
    mb.PlanarJoint: 3,
    mb.RollingDisk: 3,
    mb.RollingSphere: 3,
    mb.PointOnLineJoint: 4,
    mb.DistanceJoint: 5,
    mb.KnifeEdge: 5,
}


@pytest.mark.parametrize(("kind", "count"), FREE.items(), ids=lambda x: getattr(x, "__name__", str(x)))
def test_freedoms(kind: type[mb.Joint], count: int) -> None:
    system = mb.System("held")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 2.0, 2.5), position=(0.3, -0.2, 0.4)))
    system.add(kind.example(system.ground, body))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.equations, freedom.redundant) == (count, 6 - count, 0)


def held(kind: type[mb.Joint], axis: Array, velocity: Array, spin: Array) -> mb.System:
    """A body with its centre of mass at the origin, held there by a joint."""
    system = mb.System("held")
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(0.1, 0.1, 0.1), velocity=velocity, angular_velocity=spin))
    system.add(kind("joint", system.ground, body, at=ORIGIN, axis=axis))
    return system


@pytest.mark.parametrize(
    ("kind", "slides", "turns"),
    [(mb.CylindricalJoint, "along", 1.0), (mb.TranslationalJoint, "along", 0.0), (mb.PlanarJoint, "across", 1.0)],
)
def test_sliding_joints(kind: type[mb.Joint], slides: str, turns: float, formulation: mb.Formulation) -> None:
    """The free part of gravity accelerates the body, the joint bears the rest; a spin about the axis stays."""
    along = np.outer(OBLIQUE, OBLIQUE)
    free = along if slides == "along" else np.eye(3) - along
    velocity, spin = free @ np.array([1.0, 2.0, -0.5]), turns * 2.0 * OBLIQUE
    t = np.linspace(0.0, 1.5, 16)
    result = mb.simulate(held(kind, OBLIQUE, velocity, spin), 1.5, formulation=formulation, **PRECISE, t_eval=t)
    weight = np.array([0.0, 0.0, -GRAVITY])
    assert_near(result.position("body"), np.outer(t, velocity) + np.outer(t**2 / 2.0, free @ weight), 1e-10)
    assert_near(result.rotation("body").as_matrix(), Rotation.from_rotvec(np.outer(t, spin)).as_matrix(), 1e-10)
    assert_near(result.reaction("joint").force, 2.0 * (free - np.eye(3)) @ weight, 1e-10)
    assert_near(result.reaction("joint").torque, 0.0, 1e-10)


def test_translational_joint_bears_the_moment_of_an_eccentric_body(formulation: mb.Formulation) -> None:
    offset = np.array([0.3, -0.2, 0.5])
    system = mb.System("eccentric")
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=offset))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=ORIGIN, axis=OBLIQUE))
    result = mb.simulate(system, 1.0, formulation=formulation, **PRECISE, t_eval=[0.0, 1.0])
    weight = np.array([0.0, 0.0, -GRAVITY])
    load = 2.0 * (np.outer(OBLIQUE, OBLIQUE) - np.eye(3)) @ weight
    assert_near(result.rotation("body").as_matrix(), np.eye(3), 1e-12)
    assert_near(result.reaction("rail").force, load, 1e-10)
    # The reaction acts at the rail; it has no moment about the centre of mass, which does not turn.
    assert_near(result.reaction("rail").torque, np.cross(offset, load), 1e-10)


def test_fixed_joint_bears_the_weight(formulation: mb.Formulation) -> None:
    system = mb.System("cantilever")
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(1.0, 0.5, 0.0)))
    system.add(mb.FixedJoint("clamp", system.ground, body, at=(0.2, 0.0, 0.0)))
    result = mb.simulate(system, 1.0, formulation=formulation, **PRECISE, t_eval=[0.0, 1.0])
    assert_near(result.position("body"), (1.0, 0.5, 0.0), 1e-12)
    assert_near(result.reaction("clamp").force, (0.0, 0.0, 2.0 * GRAVITY), 1e-10)
    assert_near(result.reaction("clamp").torque, np.cross([0.8, 0.5, 0.0], [0.0, 0.0, 2.0 * GRAVITY]), 1e-10)


def test_bead_on_a_line_that_turns(formulation: mb.Formulation) -> None:
    """A heavy arm turns at the rate W and carries a line through the axis: s = s_0 cosh(W t); the bead turns freely."""
    rate, start, t = 1.5, 0.2, np.linspace(0.0, 1.5, 16)
    system = mb.System("whirling line", gravity=WEIGHTLESS)
    heavy = system.add(mb.RigidBody("arm", mass=1.0, inertia=(1e9, 1e9, 1e9), angular_velocity=rate * Z))
    bead = {"mass": 0.5, "inertia": (0.1, 0.1, 0.1), "position": start * X, "velocity": start * rate * Y}
    body = system.add(mb.RigidBody("bead", **bead, angular_velocity=(0.3, -0.4, 0.5)))
    system.add(mb.RevoluteJoint("bearing", system.ground, heavy, at=ORIGIN, axis=Z))
    system.add(mb.PointOnLineJoint("line", heavy, body, at=start * X, axis=X))
    result = mb.simulate(system, 1.5, formulation=formulation, **PRECISE, t_eval=t)
    reach = start * np.cosh(rate * t)
    expected = reach[:, None] * np.column_stack([np.cos(rate * t), np.sin(rate * t), 0.0 * t])
    assert_near(result.position("bead"), expected, 1e-8)
    assert_near(result.angular_velocity("bead"), (0.3, -0.4, 0.5), 1e-10)
    coriolis = 0.5 * 2.0 * start * rate**2 * np.sinh(rate * t)
    assert_near(np.linalg.norm(result.reaction("line").force, axis=1), coriolis, 1e-7)


def test_pendulum_on_a_massless_rod(formulation: mb.Formulation) -> None:
    """sin(phi / 2) = k cd(w t, k), k = sin(phi_0 / 2); the tension is m g (3 cos(phi) - 2 cos(phi_0)). The body spins
    on unimpeded.
    """
    length, start, t = 1.3, 1.9, np.linspace(0.0, 3.0, 31)
    system = mb.System("pendulum")
    place = length * np.array([np.sin(start), 0.0, -np.cos(start)])
    spin = np.array([1.0, -2.0, 0.5])
    bob = system.add(mb.RigidBody("bob", mass=2.0, inertia=(0.1, 0.1, 0.1), position=place, angular_velocity=spin))
    system.add(mb.DistanceJoint("rod", system.ground, bob, at_i=ORIGIN, at_j=place))
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    k = np.sin(start / 2.0) ** 2
    sn, _, _, _ = ellipj(ellipk(k) - np.sqrt(GRAVITY / length) * t, k)
    phi = 2.0 * np.arcsin(np.sqrt(k) * sn)
    along = np.column_stack([np.sin(phi), 0.0 * t, -np.cos(phi)])
    assert_near(result.position("bob"), length * along, 1e-9)
    tension = 2.0 * GRAVITY * (3.0 * np.cos(phi) - 2.0 * np.cos(start))
    assert_near(result.reaction("rod").force, -tension[:, None] * along, 1e-8)
    assert_near(result.angular_velocity("bob"), spin, 1e-10)


# --- shafts at an angle -----------------------------------------------------------------------------------------------

BEND = 0.7
SECOND = np.cos(BEND) * X + np.sin(BEND) * Z  # the second shaft; the first lies along x


def shafts(joint: Callable[[mb.Body, mb.Body], mb.Joint], spin: float) -> mb.System:
    """Two shafts that meet at the origin with the angle BEND, joined there; they turn without loads.

    The first lies in a bearing. Of the second, the joint holds one end and a line the other.
    """
    system = mb.System("shafts", gravity=WEIGHTLESS)
    one = system.add(mb.RigidBody("first", mass=1.0, inertia=(0.2, 0.3, 0.3), position=-X, angular_velocity=spin * X))
    turned = np.column_stack([SECOND, Y, np.cross(SECOND, Y)])
    other = system.add(mb.RigidBody("second", mass=1.0, inertia=(0.1, 0.3, 0.3), position=SECOND, rotation=turned))
    system.add(mb.RevoluteJoint("bearing", system.ground, one, at=-X, axis=X))
    system.add(mb.PointOnLineJoint("guide", system.ground, other, at=SECOND, axis=SECOND))
    system.add(joint(one, other))
    system.add(mb.Angle("first angle", system.ground, one, axis=X))
    system.add(mb.Angle("second angle", system.ground, other, axis=SECOND))
    return system


@pytest.mark.parametrize("spin", [6.0, -6.0])
def test_cardan_joint_transmits_unevenly(spin: float, formulation: mb.Formulation) -> None:
    """tan(theta_2) = tan(theta_1) / cos(bend) where the cross lies in the plane of the shafts at the start."""

    def cross(one: mb.Body, other: mb.Body) -> mb.Joint:
        return mb.UniversalJoint("cross", one, other, at=ORIGIN, axis_i=Z, axis_j=Y)

    system = shafts(cross, spin)
    assert mb.degrees_of_freedom(system).count == 1
    result = mb.simulate(system, 2.5, formulation=formulation, **PRECISE, t_eval=np.linspace(0.0, 2.5, 251))
    first, second = result.measure("first angle"), result.measure("second angle")
    expected = np.unwrap(np.arctan2(np.sin(first), np.cos(BEND) * np.cos(first)))
    assert abs(first[-1]) > TWO_PI
    assert_near(second, expected, 1e-9)
    # The shafts run ahead of each other twice a turn.
    rates = [result.angular_velocity(name) @ axis for name, axis in (("first", X), ("second", SECOND))]
    ratio = np.cos(BEND) / (1.0 - np.sin(BEND) ** 2 * np.cos(first) ** 2)
    assert_near(rates[1], ratio * rates[0], 1e-9)
    assert np.ptp(result.energy.total) <= 1e-10 * result.energy.kinetic.max()


@pytest.mark.parametrize("spin", [6.0, -6.0])
def test_constant_velocity_joint_transmits_evenly(spin: float, formulation: mb.Formulation) -> None:
    """Both angles are equal and uniform, over turns. The joint is described by the bisector of the shafts."""

    def even(one: mb.Body, other: mb.Body) -> mb.Joint:
        return mb.ConstantVelocityJoint("even", one, other, at=ORIGIN, axis=X + SECOND)

    system = shafts(even, spin)
    assert mb.degrees_of_freedom(system).count == 1
    result = mb.simulate(system, 2.5, formulation=formulation, **PRECISE, t_eval=np.linspace(0.0, 2.5, 51))
    first, second = result.measure("first angle"), result.measure("second angle")
    assert_near(first, result.angular_velocity("first")[0, 0] * result.t, 1e-9)
    assert_near(second, first, 1e-9)
    assert abs(first[-1]) > TWO_PI


def test_constant_velocity_joint_on_a_swinging_shaft(formulation: mb.Formulation) -> None:
    """The relative angular velocity has no part along e_1 + e_2, and one shaft turns against the other about a line
    across both: the least rotation that takes e_1 to e_2.
    """
    system = mb.System("swinging shaft")
    one = system.add(mb.RigidBody("first", mass=1.0, inertia=(0.2, 0.3, 0.3), position=-X, angular_velocity=3.0 * X))
    other = system.add(mb.RigidBody("second", mass=1.0, inertia=(0.1, 0.3, 0.3), position=X, angular_velocity=3.0 * X))
    system.add(mb.RevoluteJoint("bearing", system.ground, one, at=-X, axis=X))
    system.add(mb.ConstantVelocityJoint("even", one, other, at=ORIGIN, axis=X))
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=np.linspace(0.0, 2.0, 41))
    turns = result.rotation("first").inv() * result.rotation("second")
    shafts_along = [result.rotation(name).apply(X) for name in ("first", "second")]
    relative = result.angular_velocity("second") - result.angular_velocity("first")
    assert turns.magnitude().max() > 1.0
    assert_near(turns.as_rotvec()[:, 0], 0.0, 1e-10)
    assert_near(np.sum(relative * (shafts_along[0] + shafts_along[1]), axis=1), 0.0, 1e-10)
    assert np.ptp(result.energy.total) <= 1e-9 * result.energy.kinetic.max()


# --- couplings, over turns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.6, -0.6])
def test_screw_jack(speed: float, formulation: mb.Formulation) -> None:
    """(m + J (2 pi / p)^2) s'' = -m g; started upwards it rises by ten turns, stops, and runs down again."""
    system = mb.examples.screw_jack()
    system["load"].velocity = speed * Z
    system["spindle"].angular_velocity = -TWO_PI * speed / PITCH * Z
    system.add(mb.Angle("turns", system.ground, system["spindle"], axis=(0, 0, 1)))
    t = np.linspace(0.0, 3.0, 61)
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    sinking = LOAD * GRAVITY / (LOAD + SPINDLE_INERTIA * (TWO_PI / PITCH) ** 2)
    risen = speed * t - sinking * t**2 / 2.0
    assert np.ptp(risen) / PITCH > 10.0
    assert_near(result.position("load")[:, 2] - 0.9, risen, 1e-9)
    assert_near(result.measure("turns"), -TWO_PI * risen / PITCH, 1e-7)
    # The thread drives the spindle.
    assert_near(-result.reaction("thread").torque[:, 2], SPINDLE_INERTIA * TWO_PI / PITCH * sinking, 1e-7)


@pytest.mark.parametrize("pitch", [0.3, -0.3])
@pytest.mark.parametrize("spin", [25.0, -25.0])
def test_screw_advances_by_its_pitch(pitch: float, spin: float, formulation: mb.Formulation) -> None:
    """A free nut on a fixed screw along an oblique axis, more than ten turns."""
    t = np.linspace(0.0, 3.0, 31)
    system = mb.System("nut", gravity=WEIGHTLESS)
    nut = system.add(mb.RigidBody("nut", mass=1.0, inertia=(0.1, 0.2, 0.25)))
    # About an axis that is not a principal one a body does not spin freely: the screw holds it there.
    nut.update(angular_velocity=spin * OBLIQUE, velocity=pitch * spin / TWO_PI * OBLIQUE)
    system.add(mb.ScrewJoint("thread", system.ground, nut, at=ORIGIN, axis=OBLIQUE, pitch=pitch))
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    assert_near(result.position("nut"), np.outer(pitch * spin / TWO_PI * t, OBLIQUE), 1e-9)
    assert_near(result.angular_velocity("nut"), spin * OBLIQUE, 1e-9)


# Each step errs by rtol of a rate of up to 125 rad/s, where rates of coordinates are velocities (`EulerParameters`);
# the angle carries that over up to 6 s. Of 1,700 steps with errors of either sign sqrt(1700) rtol 125 6 = 3e-9 rad is
# left; it falls with rtol, at 1e-12 it is ten times that.
COUNTING = {"integrator": mb.DormandPrince(rtol=1e-13), "stabilization": mb.DirectCorrection()}
COUNTED = 1e-8  # rad


def geared(ratio: float, rates: tuple[float, float], drive: float) -> mb.System:
    """Two wheels in bearings at right angles, coupled by bevel gears; a torque acts on the first."""
    system = mb.System("gears", gravity=WEIGHTLESS)
    for name, axis, inertia, rate in (("first", Z, 0.3, rates[0]), ("second", X, 0.8, rates[1])):
        wheel = system.add(
            mb.RigidBody(name, mass=1.0, inertia=(inertia, inertia, inertia), angular_velocity=rate * axis)
        )
        system.add(mb.RevoluteJoint(f"{name} bearing", system.ground, wheel, at=ORIGIN, axis=axis))
        system.add(mb.Angle(f"{name} angle", system.ground, wheel, axis=axis))
    system.add(mb.GearJoint("gear", system["first bearing"], system["second bearing"], ratio=ratio))
    system.add(mb.Torque("drive", system["first"], torque=drive * Z))
    return system


@pytest.mark.parametrize("direction", [1.0, -1.0])
@pytest.mark.parametrize("ratio", [2.5, -0.4])
def test_gears_turn_together_both_ways(ratio: float, direction: float, formulation: mb.Formulation) -> None:
    """(I_1 + I_2 / ratio^2) theta_1'' = torque: ten turns of the first wheel, then back and beyond the start."""
    effective = 0.3 + 0.8 / ratio**2
    start, t = direction * 50.0, np.linspace(0.0, 6.0, 61)
    slowing = -start / 2.6  # it stands still after 2.6 s
    system = geared(ratio, (start, start / ratio), effective * slowing)
    result = mb.simulate(system, 6.0, formulation=formulation, **COUNTING, t_eval=t)
    theta = start * t + slowing * t**2 / 2.0
    assert np.abs(theta).max() > 10.0 * TWO_PI
    assert np.sign(theta[-1]) == -direction
    assert_near(result.measure("first angle"), theta, COUNTED)
    assert_near(result.measure("second angle"), theta / ratio, COUNTED)
    assert_near(result.reaction("gear").torque, 0.8 * slowing / ratio * X, 1e-8)
    assert result.violation.position.max() <= 1e-10


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_rack_and_pinion_both_ways(direction: float, formulation: mb.Formulation) -> None:
    """(I + m r^2) theta'' = torque, s = r theta: ten turns of the pinion, then back and beyond the start."""
    inertia, mass, radius = 0.3, 2.0, 0.15
    start, t = direction * 50.0, np.linspace(0.0, 6.0, 61)
    slowing = -start / 2.6
    system = mb.System("rack", gravity=WEIGHTLESS)
    pinion = system.add(
        mb.RigidBody("pinion", mass=1.0, inertia=(inertia, inertia, inertia), angular_velocity=start * Z)
    )
    rack = system.add(
        mb.RigidBody(
            "rack", mass=mass, inertia=(0.1, 0.1, 0.1), position=(0.0, -radius, 0.0), velocity=radius * start * X
        )
    )
    bearing = system.add(mb.RevoluteJoint("bearing", system.ground, pinion, at=ORIGIN, axis=Z))
    slide = system.add(mb.TranslationalJoint("slide", system.ground, rack, at=(0.0, -radius, 0.0), axis=X))
    system.add(mb.RackAndPinionJoint("teeth", bearing, slide, radius=radius))
    system.add(mb.Torque("drive", pinion, torque=(inertia + mass * radius**2) * slowing * Z))
    system.add(mb.Angle("turns", system.ground, pinion, axis=(0, 0, 1)))
    result = mb.simulate(system, 6.0, formulation=formulation, **COUNTING, t_eval=t)
    theta = start * t + slowing * t**2 / 2.0
    assert np.abs(theta).max() > 10.0 * TWO_PI
    assert_near(result.measure("turns"), theta, COUNTED)
    assert_near(result.position("rack"), np.outer(radius * theta, X) - radius * Y, 1e-8)
    assert_near(result.reaction("teeth").force, mass * radius * slowing * X, 1e-8)


class Pulley(mb.Joint):
    """A rope from the first body over a pulley at `at`, fixed to the ground, to the second: l_1 + l_2 stays."""

    def constraints(self):
        ends = []
        for body in (self.body_i, self.body_j):
            hub, end = mb.Marker(self.hub, at=self.at), mb.Marker(body, at=body.position)
            ends.append(mb.DistanceTerm(hub, end, start=np.linalg.norm(body.position - self.at)))
        return [mb.MeasureRelation(*ends)]

    hub = mb.parameter(kind="reference", help="the ground")


def test_swinging_masses_on_a_rope(formulation: mb.Formulation) -> None:
    """A relation that a user composes of measures. Hanging straight the masses move as in Atwood's machine; a swing of
    one of them keeps the energy and the length of the rope.
    """
    masses, t = (2.0, 3.0), np.linspace(0.0, 0.8, 9)
    for swing in (0.0, 1.5):
        system = mb.System("Atwood")
        starts = (np.array([0.0, 0.0, -2.0]), np.array([0.0, 0.0, -1.0]))
        for name, mass, start in zip(("light", "heavy"), masses, starts, strict=True):
            velocity = swing * X if name == "light" else ORIGIN
            system.add(mb.RigidBody(name, mass=mass, inertia=(0.1, 0.1, 0.1), position=start, velocity=velocity))
        system.add(Pulley("rope", system["light"], system["heavy"], at=ORIGIN, hub=system.ground))
        result = mb.simulate(system, 0.8, formulation=formulation, **PRECISE, t_eval=t)
        lengths = [np.linalg.norm(result.position(name), axis=1) for name in ("light", "heavy")]
        assert_near(lengths[0] + lengths[1], 3.0, 1e-11)
        assert np.ptp(result.energy.total) <= 1e-9 * result.energy.kinetic.max()
        if not swing:
            falling = GRAVITY * (masses[1] - masses[0]) / sum(masses)
            assert_near(result.position("heavy"), starts[1] - np.outer(falling * t**2 / 2.0, Z), 1e-10)
            tension = 2.0 * masses[0] * masses[1] / sum(masses) * GRAVITY
            assert_near(result.reaction("rope").force, tension * Z, 1e-9)


def test_a_state_between_turns_goes_on(formulation: mb.Formulation) -> None:
    """A run that begins with a state of another knows how many turns there were."""
    system = geared(-0.4, (30.0, -75.0), 0.0)
    whole = mb.simulate(system, 4.0, formulation=formulation, **PRECISE, t_eval=[0.0, 2.0, 4.0])
    rest = mb.simulate(system, 4.0, initial=whole.state(1), formulation=formulation, **PRECISE, t_eval=[2.0, 4.0])
    assert_near(rest.rotation("second").as_matrix()[-1], whole.rotation("second").as_matrix()[-1], 1e-6)
    assert rest.violation.position.max() <= 1e-10


def parallel_gears(rate: float, ratio: float, turned_round: bool = False) -> mb.System:
    """Two wheels on parallel axes, without loads; `turned_round` makes the ground the second body of the bearings."""
    system = mb.System("parallel gears", gravity=WEIGHTLESS)
    bearings = []
    for name, at, spin in (("first", ORIGIN, rate), ("second", X, rate / ratio)):
        wheel = system.add(
            mb.RigidBody(name, mass=1.0, inertia=(0.3, 0.3, 0.3), position=at, angular_velocity=spin * Z)
        )
        pair = (wheel, system.ground) if turned_round else (system.ground, wheel)
        bearings.append(system.add(mb.RevoluteJoint(f"{name} bearing", *pair, at=at, axis=Z)))
        system.add(mb.Angle(f"{name} angle", system.ground, wheel, at_i=at, at_j=at, axis=(0, 0, 1)))
    system.add(mb.GearJoint("gear", *bearings, ratio=ratio))
    return system


@pytest.mark.parametrize(
    ("formulation", "rtol"), [(mb.EulerAngles("ZXY"), 1e-6), (mb.NewtonEuler(), 1e-4)], ids=["angles", "coarse"]
)
def test_turns_are_counted_over_large_steps(formulation: mb.Formulation, rtol: float) -> None:
    """Angles of a steady spin are linear in time: steps span turns. So they do where little accuracy is asked for."""
    system = parallel_gears(10.0, -2.0)
    result = mb.simulate(system, 6.0, formulation=formulation, integrator=mb.DormandPrince(rtol=rtol))
    first, second = result.measure("first angle"), result.measure("second angle")
    assert np.diff(first).max() > np.pi
    assert_near(first, 10.0 * result.t, 1e3 * rtol)
    assert_near(second, -5.0 * result.t, 1e3 * rtol)


def test_gears_whose_bearings_end_at_the_ground() -> None:
    result = mb.simulate(parallel_gears(10.0, -2.0, turned_round=True), 2.0, **PRECISE, t_eval=[0.0, 1.0, 2.0])
    assert_near(result.measure("first angle"), (0.0, 10.0, 20.0), 1e-8)
    assert_near(result.measure("second angle"), (0.0, -5.0, -10.0), 1e-8)


def test_an_angle_that_starts_beyond_a_turn_is_closed_when_described() -> None:
    system = mb.System("lock")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=ORIGIN, axis=Z))
    system.add(mb.AngleTerm("lock", system.ground, body, at=ORIGIN, axis=Z, start=2.0 * TWO_PI))
    eq = mb.Equations(system)
    assert_near(eq.violation(0.0, eq.coordinates(eq.described()))[0], 0.0, 1e-14)


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "values"), [(mb.RollingDisk, {"radius": 0.5}), (mb.KnifeEdge, {})])
def test_axis_along_the_normal_is_refused(kind: type[mb.Joint], values: dict[str, float]) -> None:
    system = mb.System("flat")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    with pytest.raises(mb.ModelError, match=f"{kind.__name__} 'flat', axis: is parallel to the normal"):
        kind("flat", system.ground, body, at=ORIGIN, axis=-2.0 * Z, **values)


def test_axes_of_a_cross_must_be_perpendicular() -> None:
    system = mb.System("cross")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    with pytest.raises(mb.ModelError, match="UniversalJoint 'cross', axis_j: stands at 45 degrees"):
        mb.UniversalJoint("cross", system.ground, body, at=ORIGIN, axis_i=X, axis_j=X + Y)


def test_rod_without_length_is_refused() -> None:
    system = mb.System("rod")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    with pytest.raises(mb.ModelError, match="DistanceJoint 'rod', at_j: coincides with at_i"):
        mb.DistanceJoint("rod", system.ground, body, at_i=X, at_j=X)


def test_couplings_ask_for_two_joints_of_their_kinds() -> None:
    system = parallel_gears(1.0, -1.0)
    first, second = system["first bearing"], system["second bearing"]
    ball = mb.SphericalJoint("ball", system.ground, system["first"], at=ORIGIN)
    with pytest.raises(mb.ModelError, match=r"GearJoint 'gear', first: found .*RevoluteJoint or CylindricalJoint"):
        mb.GearJoint("gear", ball, second, ratio=1.0)
    with pytest.raises(mb.ModelError, match=r"RackAndPinionJoint 'rack', second: .*TranslationalJoint"):
        mb.RackAndPinionJoint("rack", first, second, radius=1.0)
    with pytest.raises(mb.ModelError, match="GearJoint 'gear', second: is the first joint too"):
        mb.GearJoint("gear", first, first, ratio=1.0)


def test_couplings_ask_for_joints_of_the_system() -> None:
    system = parallel_gears(1.0, -1.0)
    loose = mb.RevoluteJoint("loose", system.ground, system["first"], at=ORIGIN, axis=(0.0, 0.0, 1.0))
    with pytest.raises(mb.ModelError, match="GearJoint 'other', first: found RevoluteJoint 'loose', which is not in"):
        system.add(mb.GearJoint("other", loose, system["second bearing"], ratio=1.0))


# --- the same in every formulation ------------------------------------------------------------------------------------

INSTANTS = np.linspace(0.0, 5.0, 26)


OWN: dict[type[mb.Joint], dict[str, Any]] = {  # what a joint of the chain needs beside its point and axis
    mb.ScrewJoint: {"pitch": 0.4},
    mb.RollingDisk: {"radius": 0.5, "crown_radius": 0.1},
    mb.RollingSphere: {"radius": 0.5},
    mb.KnifeEdge: {"normal": (0.0, 0.0, 1.0)},
}


def link(kind: type[mb.Joint], one: mb.Body, other: mb.Body, at: Array) -> mb.Joint:
    """A joint of the chain at a point."""
    name = kind.__name__
    if kind is mb.UniversalJoint:
        return kind(name, one, other, at=at, axis_i=(1.0, 2.0, -1.0), axis_j=(1.0, 0.0, 1.0))
    if kind is mb.DistanceJoint:
        return kind(name, one, other, at_i=at - 0.2 * X, at_j=at + np.array([0.2, 0.1, -0.3]))
    joint = kind(name, one, other, at=at, axis=OBLIQUE, **OWN.get(kind, {}))
    if isinstance(joint, mb.RollingDisk | mb.RollingSphere):
        lean = np.sqrt(1.0 - OBLIQUE[2] ** 2) if isinstance(joint, mb.RollingDisk) else 1.0
        joint.plane_point = at - (joint.radius * lean + getattr(joint, "crown_radius", 0.0)) * Z + 0.3 * X
    return joint


CHAIN = [
    mb.RollingDisk,
    mb.RevoluteJoint,
    mb.UniversalJoint,
    mb.CylindricalJoint,
    mb.SphericalJoint,
    mb.TranslationalJoint,
    mb.ConstantVelocityJoint,
    mb.ScrewJoint,
    mb.PointOnLineJoint,
    mb.PlanarJoint,
    mb.FixedJoint,
    mb.DistanceJoint,
    mb.RollingSphere,
    mb.KnifeEdge,
    mb.PointOnAxisJoint,
    mb.SleeveJoint,
    mb.KeyedSleeveJoint,
]


def chain() -> mb.System:
    """Every joint once, from the ground body to body, with gears between two of them; no weight, a slow motion."""
    rng = np.random.default_rng(3)
    system = mb.System("chain of all joints", gravity=WEIGHTLESS)
    previous: mb.Body = system.ground
    for k, kind in enumerate(CHAIN):
        body = system.add(
            mb.RigidBody(
                f"body {k + 1}",
                mass=rng.uniform(1.0, 2.0),
                inertia=rng.uniform(0.4, 0.6, 3),
                center_of_mass=rng.uniform(-0.1, 0.1, 3),
                position=(float(k), 0.2 * (k % 3), 0.1 * (k % 2)),
                velocity=0.3 * rng.normal(size=3),
                angular_velocity=0.3 * rng.normal(size=3),
            )
        )
        system.add(link(kind, previous, body, body.position - 0.4 * X))
        previous = body
    system.add(mb.GearJoint("gear", system["RevoluteJoint"], system["CylindricalJoint"], ratio=-1.5))
    system.add(mb.RackAndPinionJoint("rack", system["CylindricalJoint"], system["TranslationalJoint"], radius=0.4))
    return system


# Sequences of angles that stay regular: the crank turns about y, the disk about its own z axis.
MECHANISMS = {
    "chain": (chain, "ZXY"),
    "spatial slider-crank": (mb.examples.spatial_slider_crank, "YXZ"),
    "rolling disk": (mb.examples.rolling_disk, "ZXZ"),
}


@cache
def run(mechanism: str, formulation: mb.Formulation) -> mb.Result:
    system = MECHANISMS[mechanism][0]()
    state = mb.assemble(system)  # one start for all, whose velocities the joints allow
    return mb.simulate(system, 5.0, initial=state, formulation=formulation, **PRECISE, t_eval=INSTANTS)


def test_chain_has_every_joint() -> None:
    kinds = {type(joint) for joint in chain().joints}
    assert kinds == {k for k in built_in(mb.Joint).values() if not issubclass(k, Drive)}
    assert len(kinds) == len(CHAIN) + len(built_in(Coupling))


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", ["NaturalAbsolute", "EulerParameters", "EulerAngles"])
def test_same_motion_and_reactions(mechanism: str, name: str) -> None:
    other = mb.EulerAngles(MECHANISMS[mechanism][1]) if name == "EulerAngles" else getattr(mb, name)()
    expected, found = run(mechanism, mb.NewtonEuler()), run(mechanism, other)
    for body in (b.name for b in expected.system.bodies):
        for point in (ORIGIN, np.array([0.3, -0.2, 0.1])):
            assert_near(found.position(body, point), expected.position(body, point), 1e-9)
    for joint in (j.name for j in expected.system.joints):
        assert_near(found.reaction(joint).force, expected.reaction(joint).force, 1e-8)
        assert_near(found.reaction(joint).torque, expected.reaction(joint).torque, 1e-8)
    assert np.ptp(found.energy.total) <= 1e-9 * found.energy.kinetic.max()
    assert not found.info.warnings


def test_chain_moves_and_every_joint_works() -> None:
    result = run("chain", mb.NewtonEuler())
    for body in result.system.bodies:
        assert np.abs(result.position(body) - result.position(body)[0]).max() > 0.05
    for joint in result.system.joints:
        reaction = result.reaction(joint)
        assert max(np.abs(reaction.force).max(), np.abs(reaction.torque).max()) > 1e-3
