"""Counting degrees of freedom: joints one by one, dependent equations, singular positions."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb

FORMULATIONS = [mb.NewtonEuler(), mb.NaturalAbsolute(), mb.EulerParameters(), mb.EulerAngles("ZXY")]
EQUATIONS = {
    mb.ConstantVelocityJoint: 4,
    mb.CylindricalJoint: 4,
    mb.DistanceJoint: 1,
    mb.FixedJoint: 6,
    mb.KeyedSleeveJoint: 5,
    mb.KnifeEdge: 1,
    mb.PlanarJoint: 3,
    mb.PointOnAxisJoint: 2,
    mb.PointOnLineJoint: 2,
    mb.RevoluteJoint: 5,
    mb.RollingDisk: 3,
    mb.RollingSphere: 3,
    mb.ScrewJoint: 5,
    mb.SleeveJoint: 4,
    mb.SphericalJoint: 3,
    mb.TranslationalJoint: 5,
    mb.UniversalJoint: 4,
}


@pytest.fixture(params=FORMULATIONS, ids=lambda f: type(f).__name__)
def formulation(request: pytest.FixtureRequest) -> mb.Formulation:
    return request.param


def body(name: str, position=(0.0, 0.0, 0.0), mass: float = 1.0, size: float = 1.0, **values) -> mb.RigidBody:
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5])
    inertia = mass * size**2 * np.array([0.2, 0.3, 0.4])
    return mb.RigidBody(name, mass=mass, inertia=inertia, position=position, rotation=turn, **values)


def linkage(points, kinds=None, masses=(1.0, 2.0, 1.5), scale: float = 1.0) -> mb.System:
    """Bars between consecutive points of the plane z = 0, hinged about z to each other and, at both ends, to the
    ground.
    """
    corners = [scale * np.array([*p, 0.0]) for p in points]
    system = mb.System("linkage")
    bodies = [system.ground]
    for k, mass in zip(range(1, len(corners)), masses, strict=False):
        bodies.append(system.add(body(f"bar {k}", (corners[k - 1] + corners[k]) / 2.0, mass, scale)))
    bodies.append(system.ground)
    for name, kind, i, j, at in zip("ABCD", kinds or [mb.RevoluteJoint] * 4, bodies, bodies[1:], corners, strict=False):
        system.add(kind(name, i, j, at=at, axis=(0.0, 0.0, 1.0)))
    return system


FOUR_BAR = [(0.0, 0.0), (0.3, 0.9), (2.2, 1.6), (2.5, 0.0)]


def shaken(system: mb.System, state: mb.State, size: float) -> mb.State:
    """The state with all bodies displaced and turned at random."""
    values = np.random.default_rng(3)
    motions = {
        name: dataclasses.replace(
            m,
            position=m.position + size * values.normal(size=3),
            rotation=Rotation.from_rotvec(size * values.normal(size=3)).as_matrix() @ m.rotation,
        )
        for name, m in state.motions.items()
    }
    return mb.State(state.t, motions)


@pytest.mark.parametrize("kind", EQUATIONS, ids=lambda kind: kind.__name__)
def test_a_joint_takes_as_many_freedoms_as_it_has_equations(kind: type[mb.Joint]) -> None:
    for formulation in FORMULATIONS[:2]:
        system = mb.System("pair")
        one, other = system.add(body("one", (0.1, 0.2, 0.3))), system.add(body("other", (-0.4, 0.1, 0.9)))
        joint = system.add(kind.example(one, other))
        freedom = mb.degrees_of_freedom(system, formulation=formulation)
        assert (freedom.count, freedom.rank) == (12 - EQUATIONS[kind], EQUATIONS[kind])
        assert (freedom.equations, freedom.redundant) == (EQUATIONS[kind], 0)
        assert freedom.joints_involved == freedom.dependencies == []
        assert freedom.unique_reactions == [joint.name]
        assert not freedom.singular


def test_gears_couple_joints() -> None:
    system = mb.System("gears")
    one, other = system.add(body("one")), system.add(body("other", (1.0, 0.0, 0.0)))
    hinges = [
        system.add(mb.RevoluteJoint(b.name + " hinge", system.ground, b, at=b.position, axis=(0.0, 0.0, 1.0)))
        for b in (one, other)
    ]
    assert mb.degrees_of_freedom(system).count == 2
    system.add(mb.GearJoint("gears", *hinges, ratio=-2.0))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant, freedom.equations) == (1, 0, 11)


def test_free_bodies_have_all_their_freedoms(formulation: mb.Formulation) -> None:
    system = mb.System("free")
    system.add(body("one"))
    system.add(mb.PointMass("point", mass=1.0))
    freedom = mb.degrees_of_freedom(system, formulation=formulation)
    assert (freedom.count, freedom.equations, freedom.rank, freedom.redundant) == (9, 0, 0, 0)
    assert str(freedom) == "9 degrees of freedom: 0 equations, 0 independent"


def test_a_rolling_disk_has_three_velocities(formulation: mb.Formulation) -> None:
    system = mb.System("disk")
    disk = system.add(body("disk", (0.0, 0.0, 0.48)))
    system.add(mb.RollingDisk("contact", system.ground, disk, at=disk.position, axis=(0.0, 0.96, 0.28), radius=0.5))
    freedom = mb.degrees_of_freedom(system, formulation=formulation)
    assert (freedom.count, freedom.redundant, freedom.equations) == (3, 0, 3)


def test_planar_four_bar_of_spatial_hinges(formulation: mb.Formulation) -> None:
    """Two moments about axes of the plane and one force across it can be shared at will around the loop."""
    freedom = mb.degrees_of_freedom(linkage(FOUR_BAR), formulation=formulation)
    assert (freedom.count, freedom.redundant, freedom.rank, freedom.equations) == (1, 3, 17, 20)
    assert freedom.joints_involved == ["A", "B", "C", "D"]
    assert freedom.unique_reactions == []
    assert len(freedom.dependencies) == 3
    for parts in freedom.dependencies:
        assert max(parts.values()) == 1.0
    assert not freedom.singular


def test_dependencies_are_those_of_the_equations() -> None:
    """The multipliers of each dependency exert no force: checked with one that is known, a joint given twice."""
    system = linkage(FOUR_BAR[:3], masses=(1.0, 2.0), kinds=[mb.RevoluteJoint, mb.SphericalJoint])
    assert mb.degrees_of_freedom(system).count == 4
    system.add(mb.SphericalJoint("B again", system["bar 1"], system["bar 2"], at=(0.3, 0.9, 0.0)))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant) == (4, 3)
    assert freedom.joints_involved == ["B", "B again"]
    assert freedom.unique_reactions == ["A"]
    for parts in freedom.dependencies:
        assert parts == pytest.approx({"B": 1.0, "B again": 1.0})
    assert str(freedom).splitlines() == [
        "4 degrees of freedom: 11 equations, 8 independent",
        "3 dependencies between equations of the joints:",
        "  3 x  B (1), B again (1)",
        "unique reactions: A",
    ]


def test_every_joint_of_the_triple_pendulum_twice(formulation: mb.Formulation) -> None:
    system = mb.examples.triple_pendulum()
    for joint in list(system.joints):
        system.add(mb.SphericalJoint(f"{joint.name} again", joint.body_i, joint.body_j, at=joint.at))
    freedom = mb.degrees_of_freedom(system, formulation=formulation)
    assert (freedom.count, freedom.redundant, freedom.equations) == (9, 9, 18)
    assert freedom.joints_involved == ["A", "B", "C", "A again", "B again", "C again"]
    assert freedom.unique_reactions == []
    pairs = [tuple(parts) for parts in freedom.dependencies]
    assert pairs == [(name, f"{name} again") for name in "ABC" for _ in range(3)]


class Twice(mb.Joint):
    """A ball joint that says one thing twice."""

    def constraints(self) -> list[mb.BasicConstraint]:
        return [mb.Coincident(self.i, self.j), mb.PointInPlane(self.i.z, self.j)]


def test_a_dependency_within_a_joint_leaves_its_reaction_unique() -> None:
    system = mb.System("one")
    pendulum = system.add(body("pendulum", (1.0, 0.0, 0.0)))
    system.add(Twice("pin", system.ground, pendulum, at=(0.0, 0.0, 0.0), axis=(0.0, 0.6, 0.8)))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant, freedom.joints_involved) == (3, 1, ["pin"])
    assert freedom.unique_reactions == ["pin"]


def test_equations_without_effect_are_redundant() -> None:
    system = mb.System("point")
    point = system.add(mb.PointMass("point", mass=2.0))
    system.add(mb.RevoluteJoint("hinge", system.ground, point, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant, freedom.rank) == (0, 2, 3)


@pytest.mark.parametrize("masses", [(1e-6, 1.0, 1e6), (1e6, 1e-6, 1.0)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_masses_and_units_do_not_matter(masses, scale, formulation: mb.Formulation) -> None:
    system = linkage(FOUR_BAR, masses=masses, scale=scale)
    freedom = mb.degrees_of_freedom(system, formulation=formulation)
    assert (freedom.count, freedom.redundant) == (1, 3)
    independent = [mb.RevoluteJoint, mb.RevoluteJoint, mb.SphericalJoint, mb.PointOnLineJoint]
    system = linkage(FOUR_BAR, kinds=independent, masses=masses, scale=scale)
    freedom = mb.degrees_of_freedom(system, formulation=formulation)
    assert (freedom.count, freedom.redundant) == (18 - 15, 0)


@pytest.mark.parametrize("drift", [1e-12, 1e-9, 1e-6])
def test_drift_does_not_hide_dependencies(drift: float, formulation: mb.Formulation) -> None:
    system = linkage(FOUR_BAR)
    state = shaken(system, mb.Equations(system).described(), drift)
    assert np.linalg.norm(mb.Equations(system).violation(0.0, mb.Equations(system).coordinates(state))[0]) > drift
    freedom = mb.degrees_of_freedom(system, state, formulation=formulation)
    assert (freedom.count, freedom.redundant) == (1, 3)
    assert freedom.joints_involved == ["A", "B", "C", "D"]


def test_an_open_position_is_refused() -> None:
    system = linkage(FOUR_BAR)
    state = shaken(system, mb.Equations(system).described(), 0.1)
    with pytest.raises(mb.AnalysisError, match=r"RevoluteJoint '[ABCD]' is open by 0\.\d+ .*mb\.assemble"):
        mb.degrees_of_freedom(system, state)
    assert mb.degrees_of_freedom(system, mb.assemble(system, state)).count == 1


def test_a_folded_parallelogram_is_singular() -> None:
    """Where all four bars lie in one line it may go on as a parallelogram or as an antiparallelogram."""
    folded = mb.degrees_of_freedom(linkage([(0.0, 0.0), (1.0, 0.0), (3.0, 0.0), (2.0, 0.0)]))
    assert (folded.count, folded.redundant) == (2, 4)
    assert "nearby" in folded.singular
    assert "1 degree of freedom" in folded.singular
    assert "singular position" in str(folded)
    upright = mb.degrees_of_freedom(linkage([(0.0, 0.0), (0.0, 1.0), (2.0, 1.0), (2.0, 0.0)]))
    assert (upright.count, upright.redundant, upright.singular) == (1, 3, "")


def test_stretched_bars_move_only_infinitesimally() -> None:
    freedom = mb.degrees_of_freedom(linkage([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)], masses=(1.0, 1.0)))
    assert (freedom.count, freedom.redundant) == (1, 4)
    assert freedom.singular
    bent = mb.degrees_of_freedom(linkage([(0.0, 0.0), (1.0, 0.5), (2.0, 0.0)], masses=(1.0, 1.0)))
    assert (bent.count, bent.redundant, bent.singular) == (0, 3, "")


def test_where_else_than_described() -> None:
    """The folded position of a parallelogram, reached from an upright description."""
    system = linkage([(0.0, 0.0), (0.0, 1.0), (2.0, 1.0), (2.0, 0.0)])
    described = mb.Equations(system).described().motions
    quarter = Rotation.from_rotvec([0.0, 0.0, -np.pi / 2]).as_matrix()
    turned = {
        "bar 1": dataclasses.replace(
            described["bar 1"], position=np.array([0.5, 0.0, 0.0]), rotation=quarter @ described["bar 1"].rotation
        ),
        "bar 2": dataclasses.replace(described["bar 2"], position=np.array([2.0, 0.0, 0.0])),
        "bar 3": dataclasses.replace(
            described["bar 3"], position=np.array([2.5, 0.0, 0.0]), rotation=quarter @ described["bar 3"].rotation
        ),
    }
    assert mb.degrees_of_freedom(system).count == 1
    assert mb.degrees_of_freedom(system, mb.State(0.0, turned)).count == 2


@pytest.mark.parametrize("bodies", [1, 4])
@pytest.mark.parametrize("inertia", [1e-2, 1e-10, 1e-16, 1e-20])
def test_bodies_like_points_on_arms_are_counted_as_others(
    inertia: float, bodies: int, formulation: mb.Formulation
) -> None:
    system = mb.System("bobs")
    before: mb.Body | mb.Ground = system.ground
    for k in range(bodies):
        bob = system.add(mb.RigidBody(f"bob {k}", mass=1.0, inertia=(inertia,) * 3, position=(k + 1.0, 0.0, 0.0)))
        system.add(mb.RevoluteJoint(f"pin {k}", before, bob, at=(float(k), 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        before = bob
    freedom = mb.degrees_of_freedom(system, formulation=formulation)
    assert (freedom.count, freedom.redundant) == (bodies, 0)


def test_a_disk_like_a_point_rolls_as_others() -> None:
    system = mb.System("disk")
    disk = system.add(mb.RigidBody("disk", mass=1.0, inertia=(1e-20,) * 3, position=(0.0, 0.0, 0.48)))
    system.add(mb.RollingDisk("contact", system.ground, disk, at=disk.position, axis=(0.0, 0.96, 0.28), radius=0.5))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant) == (3, 0)


def test_a_light_body_between_heavy_ones_is_no_dependency() -> None:
    system = mb.System("light")
    light = system.add(mb.RigidBody("light", mass=1e-20, inertia=(1e-20,) * 3, position=(0.5, 0.0, 0.0)))
    heavy = system.add(mb.RigidBody("heavy", mass=1.0, inertia=(1.0,) * 3, position=(2.0, 0.0, 0.0)))
    system.add(mb.RevoluteJoint("A", system.ground, light, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(mb.RevoluteJoint("B", light, heavy, at=(1.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant) == (2, 0)
