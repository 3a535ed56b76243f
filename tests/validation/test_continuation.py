"""Branches of equilibria against closed forms: folds, forks, flutter, closed loops, both directions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import mbframe as mb

WIDTH, HEIGHT, STIFFNESS = 1.0, 0.5, 1000.0
LENGTH = np.hypot(WIDTH, HEIGHT)


def von_mises_truss(load: float) -> mb.System:
    """Half of it: a bar from a wall to an apex on a vertical rail, pressed down by a load."""
    system = mb.System("von Mises truss", gravity=(0, 0, 0))
    apex = system.add(mb.RigidBody("apex", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, HEIGHT)))
    at = (0, 0, HEIGHT)
    system.add(mb.TranslationalJoint("rail", system.ground, apex, at=at, axis=(0, 0, 1)))
    bar = {"stiffness": STIFFNESS, "damping": 1.0, "free_length": LENGTH}
    system.add(mb.SpringDamper("bar", system.ground, apex, at_i=(-WIDTH, 0, 0), at_j=at, **bar))
    system.add(mb.PointForce("load", apex, at=at, force=(0, 0, -load)))
    return system


def carried(z: np.ndarray) -> np.ndarray:
    """The load that the truss carries with its apex at a height z."""
    return STIFFNESS * (LENGTH / np.hypot(WIDTH, z) - 1.0) * z


FOLD_AT = np.sqrt((LENGTH * WIDTH**2) ** (2.0 / 3.0) - WIDTH**2)
FOLD = float(carried(FOLD_AT))


def heights(branch: mb.Branch) -> np.ndarray:
    return np.array([point.motions["apex"].position[2] for point in branch.points])


@pytest.mark.parametrize(("start", "height"), [(-40.0, 0.6), (40.0, -0.6)])
def test_a_truss_snaps_through_both_folds(start, height):
    system = von_mises_truss(start)
    guess = mb.equilibrium(system, mb.assemble(system, joints={"rail": height - HEIGHT}))
    branch = mb.continuation(von_mises_truss, guess, (-60.0, 60.0), at=start)
    z = heights(branch)
    np.testing.assert_allclose(branch.values, carried(z), atol=1e-9)
    assert {branch.values[0], branch.values[-1]} == {-60.0, 60.0}
    assert np.all(np.diff(np.sign(start) * z) > 0.0) or np.all(np.diff(np.sign(start) * z) < 0.0)
    folds = sorted(branch.bifurcations, key=lambda bend: bend.value)
    assert [bend.kind for bend in folds] == ["fold", "fold"]
    np.testing.assert_allclose([bend.value for bend in folds], [-FOLD, FOLD], rtol=1e-10)
    np.testing.assert_allclose(
        [bend.point.motions["apex"].position[2] for bend in folds], [-FOLD_AT, FOLD_AT], atol=1e-6
    )
    np.testing.assert_array_equal(branch.stable, np.abs(z) > FOLD_AT)
    kinds = {point.kind for point in branch.points}
    assert kinds == {"minimum", "maximum"}


def column(load: float) -> mb.System:
    """A rigid column on a torsion spring under a dead load: k angle = P L sin(angle)."""
    system = mb.System("column", gravity=(0, 0, 0))
    post = system.add(mb.RigidBody("post", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.5)))
    system.add(mb.RevoluteJoint("foot", system.ground, post, at=(0, 0, 0), axis=(0, 1, 0)))
    spring = {"stiffness": 100.0, "damping": 1.0}
    system.add(mb.TorsionalSpringDamper("spring", system.ground, post, at=(0, 0, 0), axis=(0, 1, 0), **spring))
    system.add(mb.PointForce("load", post, at=(0, 0, 1), force=(0, 0, -load)))
    return system


def test_a_column_forks():
    upright = mb.continuation(column, mb.assemble(column(0.0)), (50.0, 150.0), at=60.0)
    assert [bend.kind for bend in upright.bifurcations] == ["branch"]
    assert abs(upright.bifurcations[0].value - 100.0) < 1e-8
    np.testing.assert_array_equal(upright.stable, upright.values < 100.0)
    leaning = mb.equilibrium(column(120.0), mb.assemble(column(120.0), joints={"foot": 1.0}))
    across = mb.continuation(column, leaning, (50.0, 150.0), at=120.0)
    angle = np.array([np.arctan2(p.motions["post"].position[0], p.motions["post"].position[2]) for p in across.points])
    np.testing.assert_allclose(100.0 * angle, across.values * np.sin(angle), atol=1e-6)
    assert angle[0] * angle[-1] < 0.0  # through the fork to the other side
    assert [bend.kind for bend in across.bifurcations] == ["branch"]
    assert abs(across.bifurcations[0].value - 100.0) < 1e-5
    assert np.all(across.stable)


def ziegler(load: float, damping: float = 0.0) -> mb.System:
    """Two bars with masses 2 and 1 at their ends, springs 1 in the hinges, and a force that follows the second bar."""
    system = mb.System("Ziegler", dimension=2, gravity=(0, 0))
    before = system.ground
    for k, mass in enumerate((2.0, 1.0)):
        bar = system.add(mb.PlanarBody(f"bar {k}", mass=mass, inertia=1e-9, position=(k + 1.0, 0)))
        system.add(mb.RevoluteJoint(f"hinge {k}", before, bar, at=(k, 0)))
        spring = {"stiffness": 1.0, "damping": damping}
        system.add(mb.TorsionalSpringDamper(f"spring {k}", before, bar, at=(k, 0), **spring))
        before = bar
    system.add(mb.PointForce("follower", before, at=(2, 0), force=(-load, 0), axes="body"))
    return system


@pytest.mark.parametrize(
    ("damping", "expected"),
    [
        (0.0, 7.0 / 2.0 - np.sqrt(2.0)),  # without damping [Ziegler1952]
        (1e-3, 41.0 / 28.0),  # and with a little of it in both hinges, which destabilizes
    ],
)
def test_flutter_under_a_follower_force(damping, expected):
    branch = mb.continuation(lambda load: ziegler(load, damping), mb.assemble(ziegler(0.5)), (0.5, 3.0), at=1.0)
    assert [bend.kind for bend in branch.bifurcations] == ["Hopf"]
    flutter = branch.bifurcations[0]
    assert abs(flutter.value - expected) < 1e-6 + 0.51 * damping**2
    assert flutter.frequency > 0.05
    np.testing.assert_array_equal(branch.stable, branch.values < flutter.value)
    assert "Hopf" in str(branch)


def loaded_crank(torque: float) -> mb.System:
    """A heavy crank under a torque: m g l sin(angle) = M, all the way round."""
    system = mb.System("crank", dimension=2, gravity=(0, -10.0))
    crank = system.add(mb.PlanarBody("crank", mass=1.0, inertia=0.1, position=(0, -1)))
    system.add(mb.RevoluteJoint("pin", system.ground, crank, at=(0, 0)))
    system.add(mb.Torque("load", crank, torque=torque))
    return system


def test_a_closed_branch_returns_to_its_start():
    branch = mb.continuation(loaded_crank, mb.equilibrium(loaded_crank(3.0)), (-12.0, 12.0), at=3.0)
    assert branch.closed
    first, last = (branch.points[k].motions["crank"] for k in (0, -1))
    assert abs(branch.values[-1] - branch.values[0]) < 1e-9
    np.testing.assert_allclose(first.position, last.position, atol=1e-9)
    np.testing.assert_allclose(first.rotation, last.rotation, atol=1e-9)
    x = np.array([point.motions["crank"].position[0] for point in branch.points])
    np.testing.assert_allclose(10.0 * x, branch.values, atol=1e-9)
    assert [bend.kind for bend in branch.bifurcations] == ["fold", "fold"]
    np.testing.assert_allclose(np.sort([bend.value for bend in branch.bifurcations]), [-10.0, 10.0], atol=1e-9)


def test_a_four_bar_whose_length_changes():
    """The parameter moves a joint: constraints depend on it, and loops stay closed."""

    def four_bar(base: float) -> mb.System:
        system = mb.System("four-bar", gravity=(0, 0, -9.81))
        points = [(0.0, 0, 0), (0.2, 0, 0.4), (1.0, 0, 0.7), (base, 0, 0)]
        bodies = [system.ground]
        for k, (a, b) in enumerate(pairwise(points)):
            middle = 0.5 * (np.array(a) + np.array(b))
            bodies.append(system.add(mb.RigidBody(f"bar {k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=middle)))
        for k, (i, j) in enumerate(zip(bodies, [*bodies[1:], system.ground], strict=True)):
            system.add(mb.RevoluteJoint(f"hinge {k}", i, j, at=points[k], axis=(0, 1, 0)))
        spring = {"stiffness": 40.0, "damping": 1.0}
        system.add(mb.TorsionalSpringDamper("spring", system.ground, bodies[1], at=(0, 0, 0), axis=(0, 1, 0), **spring))
        return system

    branch = mb.continuation(four_bar, mb.equilibrium(four_bar(1.2)), (1.0, 1.4), at=1.2, points=12)
    for value, point in list(zip(branch.values, branch.points, strict=True))[::4]:
        there = mb.equilibrium(four_bar(float(value)), point)
        for name, motion in point.motions.items():
            np.testing.assert_allclose(motion.position, there.motions[name].position, atol=1e-8)


def test_own_states_come_to_rest_too():
    """An integrating controller holds a load at its setpoint; the parameter is the setpoint."""

    def held(setpoint: float) -> mb.System:
        system = mb.System("held")
        mass = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1)))
        system.add(mb.TranslationalJoint("rail", system.ground, mass, at=(0, 0, 0), axis=(0, 0, 1)))
        lift = mb.PIDActuator("lift", system.ground, mass, at=(0, 0, 0), axis=(0, 0, 1), quantity="displacement")
        lift.update(proportional=80.0, integral=30.0, derivative=20.0, setpoint=setpoint)
        system.add(lift)
        return system

    branch = mb.continuation(held, mb.equilibrium(held(0.1)), (-0.5, 0.5), at=0.1)
    z = [point.motions["mass"].position[2] for point in branch.points]
    np.testing.assert_allclose(z, branch.values, atol=1e-9)
    assert np.all(branch.stable)


def test_progress_may_stop_it():
    seen = []

    def enough(count: int, value: float) -> bool:
        seen.append(value)
        return count < 5

    branch = mb.continuation(von_mises_truss, mb.assemble(von_mises_truss(0.0)), (-60.0, 60.0), at=0.0, progress=enough)
    assert branch.ends[1] == "it was stopped"
    assert len(branch) <= 8
    assert set(seen) <= set(branch.values)


def test_bad_arguments():
    start = mb.assemble(column(0.0))
    with pytest.raises(mb.ModelError, match="lowest and the highest"):
        mb.continuation(column, start, (3.0, 1.0))
    with pytest.raises(mb.ModelError, match="allowed are values from 0 to 1"):
        mb.continuation(column, start, (0.0, 1.0), at=2.0)
    with pytest.raises(mb.ModelError, match="allowed are an equilibrium"):
        mb.continuation(column, 3.0, (0.0, 1.0))  # type: ignore[arg-type]
    with pytest.raises(mb.ModelError, match="must return a system"):
        mb.continuation(lambda value: value, start, (0.0, 1.0))  # type: ignore[arg-type,return-value]
    with pytest.raises(mb.ModelError, match="positive step"):
        mb.continuation(column, start, (0.0, 1.0), step=-1.0)
    with pytest.raises(mb.AnalysisError, match="no equilibrium of the system at 10 near the start"):
        mb.continuation(loaded_crank, mb.assemble(loaded_crank(0.0)), (0.0, 20.0), at=10.0)
    upright = mb.continuation(column, start, (50.0, 150.0), at=60.0)
    with pytest.raises(mb.AnalysisError, match="switching is for Hopf points"):
        upright.bifurcations[0].switch()
