"""Redundant constraints never break a run: the motion is unique, and the reactions are those of minimum norm."""

import numpy as np
import pytest

import mbframe as mb

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}


def doubled_pendulum() -> mb.System:
    """The triple pendulum with a second copy of each joint."""
    system = mb.examples.triple_pendulum()
    for joint in list(system.joints):
        system.add(mb.SphericalJoint(f"{joint.name} again", joint.body_i, joint.body_j, at=joint.at))
    return system


@pytest.fixture(scope="module")
def moving() -> mb.Result:
    """The plain pendulum: it is well in motion after one second."""
    return mb.simulate(mb.examples.triple_pendulum(), 2.0, **PRECISE, t_eval=[1.0, 2.0])


def test_doubled_joints_leave_accelerations_and_share_reactions(moving: mb.Result, formulation: mb.Formulation) -> None:
    plain = mb.evaluate(mb.examples.triple_pendulum(), moving.state(0), formulation=formulation)
    doubled = mb.evaluate(doubled_pendulum(), moving.state(0), formulation=formulation)
    for bar in ("bar 1", "bar 2", "bar 3"):
        np.testing.assert_allclose(doubled.acceleration(bar), plain.acceleration(bar), rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(
            doubled.angular_acceleration(bar), plain.angular_acceleration(bar), rtol=0.0, atol=1e-9
        )
    for joint in "ABC":
        half = plain.reaction(joint).force / 2.0
        assert np.linalg.norm(half) > 10.0
        np.testing.assert_allclose(doubled.reaction(joint).force, half, rtol=0.0, atol=1e-8)
        np.testing.assert_allclose(doubled.reaction(f"{joint} again").force, half, rtol=0.0, atol=1e-8)


def test_doubled_joints_leave_the_motion(moving: mb.Result, formulation: mb.Formulation) -> None:
    result = mb.simulate(doubled_pendulum(), 2.0, formulation=formulation, **PRECISE, t_eval=moving.t)
    assert any("constraints depend" in w for w in result.info.warnings), result.info.warnings
    tip = ("bar 3", (2.0, 0.0, 0.0))
    np.testing.assert_allclose(result.position(*tip), moving.position(*tip), rtol=0.0, atol=1e-9)
    assert result.violation.position.max() <= 1e-12
    assert result.violation.velocity.max() <= 1e-11
    assert not moving.info.warnings


class UniversalJoint(mb.Joint):
    """Four equations: the points coincide and one axis of the second body stays perpendicular to `axis`."""

    def constraints(self) -> list[mb.BasicConstraint]:
        return [mb.Coincident(self.i, self.j), mb.Perpendicular(self.i.z, self.j.x)]


def four_bar(joints: tuple[type[mb.Joint], ...]) -> mb.System:
    """A crank-rocker in the plane y = 0: crank 1 m, coupler 2.2 m, rocker 1.8 m, pivots 2.5 m apart; at rest."""
    base, crank, coupler, rocker, start = 2.5, 1.0, 2.2, 1.8, 1.0
    b = crank * np.exp(1j * start)  # the plane as complex numbers x + i z
    line = base - b
    # law of cosines in the triangle of coupler and rocker
    inner = np.arccos((coupler**2 + abs(line) ** 2 - rocker**2) / (2.0 * coupler * abs(line)))
    c = b + coupler * line / abs(line) * np.exp(1j * inner)
    points = [np.array([p.real, 0.0, p.imag]) for p in (0j, b, c, complex(base))]
    system = mb.System("four-bar")
    bodies = [system.ground]
    for name, mass, one, two in zip(("crank", "coupler", "rocker"), (1.0, 2.0, 1.5), points, points[1:], strict=False):
        along = (two - one) / np.linalg.norm(two - one)
        slender = mass * np.linalg.norm(two - one) ** 2 / 12.0
        frame = np.column_stack([along, [0.0, 1.0, 0.0], np.cross(along, [0.0, 1.0, 0.0])])
        bodies.append(
            system.add(
                mb.RigidBody(
                    name, mass=mass, inertia=(0.01, slender, slender), position=(one + two) / 2.0, rotation=frame
                )
            )
        )
    bodies.append(system.ground)
    for name, kind, i, j, at in zip("ABCD", joints, bodies, bodies[1:], points, strict=False):
        system.add(kind(name, i, j, at=at, axis=(0.0, 1.0, 0.0)))
    return system


REVOLUTES = (mb.RevoluteJoint,) * 4  # 20 equations for 18 - 1 velocities: three too many
INDEPENDENT = (mb.RevoluteJoint, mb.RevoluteJoint, mb.SphericalJoint, UniversalJoint)  # 17


def test_planar_four_bar_of_spatial_hinges(formulation: mb.Formulation) -> None:
    t = np.linspace(0.0, 4.0, 81)
    result = mb.simulate(four_bar(REVOLUTES), 4.0, formulation=formulation, **PRECISE, t_eval=t)
    assert any("constraints depend" in w for w in result.info.warnings), result.info.warnings
    energy = result.energy
    assert energy.kinetic.max() > 5.0
    assert np.ptp(energy.total) <= 1e-9 * energy.kinetic.max()
    assert result.violation.position.max() <= 1e-12
    for body in ("crank", "coupler", "rocker"):
        np.testing.assert_allclose(result.position(body)[:, 1], 0.0, atol=1e-12)


def test_four_bar_without_redundancy_moves_the_same_way(formulation: mb.Formulation) -> None:
    """The forces in the plane are unique and agree too; across it nothing acts."""
    t = np.linspace(0.0, 2.0, 21)
    redundant, independent = (
        mb.simulate(four_bar(joints), 2.0, formulation=formulation, **PRECISE, t_eval=t)
        for joints in (REVOLUTES, INDEPENDENT)
    )
    assert not independent.info.warnings
    for body in ("crank", "coupler", "rocker"):
        np.testing.assert_allclose(redundant.position(body), independent.position(body), rtol=0.0, atol=1e-9)
    for joint in "ABCD":
        one, other = redundant.reaction(joint), independent.reaction(joint)
        np.testing.assert_allclose(one.force, other.force, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(one.torque, 0.0, atol=1e-6)


def error_after_two_seconds(system: mb.System, dt: float, stabilization: mb.Stabilization) -> float:
    """Of the Bricard mechanism's third rod (m), with fixed steps."""
    result = mb.simulate(system, 2.0, dt=dt, integrator=mb.RungeKutta4(), stabilization=stabilization, t_eval=[2.0])
    exact = mb.simulate(mb.examples.bricard(), 2.0, **PRECISE, t_eval=[2.0])
    return float(np.linalg.norm(result.position("rod 3") - exact.position("rod 3")))


@pytest.mark.parametrize("stabilization", [mb.DirectCorrection(), mb.NoStabilization()], ids=repr)
def test_stages_away_from_the_constraints_do_not_disturb(stabilization: mb.Stabilization) -> None:
    """There the redundant equation of the mechanism is independent, but must not count: order four remains."""
    coarse, fine = (error_after_two_seconds(mb.examples.bricard(), dt, stabilization) for dt in (0.04, 0.02))
    assert 1e-9 < fine < 1e-6
    assert np.log2(coarse / fine) > 3.7


def parallelogram(angle: float, joints: tuple[type[mb.Joint], ...]) -> mb.System:
    """Two cranks of 1 m, 2 m apart, at `angle` from the line between their pivots, turning with 1 rad/s; no weight."""
    system = mb.System("parallelogram", gravity=(0.0, 0.0, 0.0))
    spin, across, base = np.array([0.0, -1.0, 0.0]), np.array([0.0, 1.0, 0.0]), np.array([2.0, 0.0, 0.0])
    arm = np.array([np.cos(angle), 0.0, np.sin(angle)])
    end_velocity = np.cross(spin, arm)
    points = [0.0 * arm, arm, arm + base, base]
    bodies = [system.ground]
    for name, one, two, velocity, omega in (
        ("crank", points[0], points[1], end_velocity / 2.0, spin),
        ("coupler", points[1], points[2], end_velocity, 0.0 * spin),
        ("rocker", points[2], points[3], end_velocity / 2.0, spin),
    ):
        along = (two - one) / np.linalg.norm(two - one)
        body = mb.RigidBody(name, mass=1.0, inertia=(0.01, 0.3, 0.3), position=(one + two) / 2.0)
        body.update(rotation=np.column_stack([along, across, np.cross(along, across)]))
        body.update(velocity=velocity, angular_velocity=omega)
        bodies.append(system.add(body))
    bodies.append(system.ground)
    for name, kind, i, j, at in zip("ABCD", joints, bodies, bodies[1:], points, strict=False):
        system.add(kind(name, i, j, at=at, axis=across))
    return system


@pytest.mark.parametrize("joints", [REVOLUTES, INDEPENDENT], ids=["redundant", "independent"])
@pytest.mark.parametrize("miss", [0.0, 1e-6, 1e-3])
def test_through_the_flat_position(joints: tuple[type[mb.Joint], ...], miss: float) -> None:
    """A step ends `miss` (rad) before the position in which a further equation becomes dependent, for an instant only.

    Without weight the cranks turn uniformly, and every point of the coupler goes round a circle of 1 m.
    """
    start = np.pi - 1.0 - miss
    result = mb.simulate(
        parallelogram(start, joints),
        2.0,
        dt=1e-2,
        integrator=mb.RungeKutta4(),
        stabilization=mb.DirectCorrection(),
    )
    angle = start + result.t
    circle = np.column_stack([np.cos(angle), 0.0 * angle, np.sin(angle)])
    np.testing.assert_allclose(result.position("coupler"), circle + np.array([1.0, 0.0, 0.0]), rtol=0.0, atol=2e-8)
    np.testing.assert_allclose(result.acceleration("coupler"), -circle, rtol=0.0, atol=1e-6)
    # Half of the coupler's 1 kg m/s^2 and the 1/2 of a crank, whose centre is halfway; both cranks alike until flat.
    np.testing.assert_allclose(result.reaction("A").force[:90], -circle[:90], rtol=0.0, atol=1e-6)


class TwoRods(mb.DistanceJoint):
    """Two rods between the same points, one of them too long."""

    def constraints(self) -> list[mb.BasicConstraint]:
        return [mb.FixedDistance(self.i, self.j, distance=length) for length in (1.0, 1.001)]


def test_a_contradiction_is_no_redundancy() -> None:
    system = mb.System("contradiction")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, -1.0)))
    system.add(TwoRods("rods", system.ground, body, at_i=(0.0, 0.0, 0.0), at_j=(0.0, 0.0, -1.0)))
    with pytest.raises(mb.ModelError, match="TwoRods 'rods': the initial state cannot be made consistent"):
        mb.simulate(system, 0.1)


def test_a_comparison_of_methods_says_that_reactions_are_not_unique() -> None:
    compared = mb.compare(doubled_pendulum(), 0.05, dt=1e-2, integrators=[mb.RungeKutta4()], steps=[1e-2])
    assert any("reactions are those of minimum norm" in note for note in compared.notes)


@pytest.mark.parametrize("off", [0.005, 0.02, 0.08])
def test_hinges_out_of_line_that_lock_a_door_are_named(off: float) -> None:
    """Rigid hinges with different axes leave a door no motion: that is right, and hardly what was meant."""
    system = mb.System("door")
    door = system.add(mb.RigidBody("door", mass=20.0, inertia=(3, 1, 2), position=(0.5, 0, 0)))
    system.add(mb.RevoluteJoint("lower", system.ground, door, at=(0, 0, -0.8), axis=(0, 0, 1)))
    system.add(mb.RevoluteJoint("upper", system.ground, door, at=(0, 0, 0.8), axis=(off, 0, 1)))
    system.add(mb.PointForce("push", door, at=(1, 0, 0), force=(0, 10, 0)))
    result = mb.simulate(system, 0.1, dt=1e-2)
    assert np.abs(result.position(door) - (0.5, 0, 0)).max() < 1e-9
    said = [warning for warning in result.info.warnings if "hold RigidBody 'door' fast" in warning]
    assert len(said) == 1
    assert "'lower'" in said[0]
    assert "'upper'" in said[0]


def test_hinges_across_each_other_lock_on_purpose() -> None:
    """A second hinge about another axis, and hinges in line, are not spoken of as a mistake."""
    for axis, locked in (((1, 0, 0), True), ((0, 0, 1), False)):
        system = mb.System("door")
        door = system.add(mb.RigidBody("door", mass=20.0, inertia=(3, 1, 2), position=(0.5, 0, 0)))
        system.add(mb.RevoluteJoint("lower", system.ground, door, at=(0, 0, -0.8), axis=(0, 0, 1)))
        system.add(mb.RevoluteJoint("upper", system.ground, door, at=(0, 0, 0.8), axis=axis))
        system.add(mb.PointForce("push", door, at=(1, 0, 0), force=(0, 10, 0)))
        result = mb.simulate(system, 0.1, dt=1e-2)
        assert (np.abs(result.position(door) - (0.5, 0, 0)).max() < 1e-9) == locked
        assert not any("fast" in warning for warning in result.info.warnings)
