"""Pulling a mechanism: the point comes as near to its target as the joints admit, with the least motion."""

import dataclasses

import numpy as np
import pytest

import mbframe as mb


def violation(system: mb.System, state: mb.State) -> tuple[float, float]:
    """Largest violation of positions and of rates, by the equations in other coordinates than those of the puller."""
    other = mb.EulerParameters() if system.dimension == 3 else mb.PlanarNatural()
    eq = mb.Equations(system, other)
    residual, rate = eq.violation(state.t, eq.coordinates(state))
    return float(np.abs(residual).max()), float(np.abs(rate).max())


@pytest.mark.parametrize("target", [(0.3, -0.4), (-2.0, 0.7), (0.3, 0.2)])
def test_a_pendulum_lands_on_its_circle_at_the_nearest_angle(target):
    system = mb.examples.simple_pendulum()
    puller = mb.Puller(system)
    for _ in range(5):
        state = puller.to("mass", (0.0, 0.0), target)
    assert state.position("mass") == pytest.approx(np.array(target) / np.hypot(*target), abs=1e-5)


def test_a_pendulum_in_space_turns_about_its_axis_only():
    system = mb.System("pendulum")
    rod = system.add(mb.RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0.0, 0.0, -0.5)))
    system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    puller = mb.Puller(system)
    for _ in range(4):
        state = puller.to(rod, (0.0, 0.0, -0.5), (0.6, 0.9, -0.4))  # the tip; its circle has the radius 1
    assert state.position(rod, (0.0, 0.0, -0.5)) == pytest.approx([0.6 / 0.52**0.5, 0.0, -0.4 / 0.52**0.5], abs=1e-5)
    assert violation(system, state)[0] < 1e-8


def test_a_free_body_moves_as_its_mass_and_inertia_want():
    """Pulled by delta across its arm r it turns by delta r / I / (1/m + r^2/I), and shifts by delta / m / (...)."""
    mass, inertia, arm, delta = 2.0, 0.3, 0.4, 1e-5
    system = mb.System("free")
    body = system.add(mb.RigidBody("body", mass=mass, inertia=(inertia, inertia, inertia)))
    state = mb.Puller(system).to(body, (arm, 0.0, 0.0), (arm, delta, 0.0))
    mobility = 1.0 / mass + arm**2 / inertia
    assert state.position(body, (arm, 0.0, 0.0))[1] == pytest.approx(delta, rel=1e-4)
    assert state.position(body)[1] == pytest.approx(delta / mass / mobility, rel=1e-3)
    assert state.rotation(body).as_rotvec()[2] == pytest.approx(delta * arm / inertia / mobility, rel=1e-3)


def test_a_rod_takes_the_other_mass_along_but_not_aside():
    system = mb.System("dumbbell")
    masses = [system.add(mb.PointMass(name, mass=1.0, position=(x, 0.0, 0.0))) for name, x in (("a", 0.0), ("b", 1.0))]
    system.add(mb.DistanceJoint("rod", *masses, at_i=(0.0, 0.0, 0.0), at_j=(1.0, 0.0, 0.0)))
    state = mb.Puller(system).to("a", (0.0, 0.0, 0.0), (-0.2, 0.0, 0.0))
    assert state.position("b") == pytest.approx([0.8, 0.0, 0.0], abs=1e-5)
    aside = mb.Puller(system).to("a", (0.0, 0.0, 0.0), (0.0, 0.01, 0.0))
    assert aside.position("a") == pytest.approx([0.0, 0.01, 0.0], abs=1e-6)
    assert np.linalg.norm(aside.position("b") - [1.0, 0.0, 0.0]) == pytest.approx(0.01**2 / 2, rel=0.1)


def test_the_coupler_of_a_parallelogram_goes_to_the_nearest_point_of_its_circle():
    system = mb.examples.four_bar()  # bars of 4 m, pivots at (0, 0) and (4, 0)
    puller = mb.Puller(system)
    center = np.array([2.0, 0.0])
    for angle in np.radians([-50.0, -80.0, -110.0, -130.0, -100.0, -40.0]):
        direction = np.array([np.cos(angle), np.sin(angle)])
        for _ in range(3):
            state = puller.to("bar 2", (0.0, 0.0), center + 5.0 * direction)
            assert violation(system, state)[0] < 1e-6 * 4.0
        assert state.position("bar 2") == pytest.approx(center + 4.0 * direction, abs=1e-4)
        assert state.angle("bar 2") == pytest.approx(0.0, abs=1e-6)


def test_the_bricard_mechanism_moves_on_its_one_path_in_spite_of_the_redundant_equation():
    """Its angles a and b fulfil (1 + cos a) (1 + cos b) = 1, [ChenYouTarnai2005]."""
    system = mb.examples.bricard()
    puller = mb.Puller(system)
    tip = (0.5, 0.0, 0.0)
    start = puller.state.position("rod 3", tip)
    for k in range(1, 15):
        state = puller.to("rod 3", tip, start + 0.04 * k * np.array([1.0, -1.0, 0.3]))
        assert violation(system, state)[0] < 1e-6
        ends = {n: state.rotation(f"rod {n}").as_matrix()[:, 0] for n in range(1, 6)}
        a, b = ends[1] @ ends[2], ends[2] @ ends[3]
        assert (1.0 + a) * (1.0 + b) == pytest.approx(1.0, abs=1e-6)
    assert np.linalg.norm(state.position("rod 3", tip) - start) > 0.1


def test_rolling_does_not_hold_a_disk_back_but_the_ground_does():
    system = mb.examples.rolling_disk(speed=0.0, lean=0.2)
    puller = mb.Puller(system)
    target = np.array([0.3, 0.8, 0.45])  # aside, along the axle
    for _ in range(3):
        state = puller.to("disk", (0.0, 0.0, 0.0), target)
    assert state.position("disk") == pytest.approx(target, abs=1e-5)
    axle = state.rotation("disk").as_matrix()[:, 2]
    assert state.position("disk")[2] == pytest.approx(0.5 * np.hypot(*axle[:2]), abs=1e-6)  # it leans
    for _ in range(20):
        state = puller.to("disk", (0.0, 0.0, 0.0), target + np.array([0.0, 0.0, 0.4]))
    assert state.position("disk") == pytest.approx([0.3, 0.8, 0.5], abs=1e-3)  # upright; higher it cannot be


def test_velocities_fit_the_position():
    system = mb.examples.whipple_bicycle()
    puller = mb.Puller(system)
    frame = puller.state.position("frame")
    state = puller.to("frame", (0.0, 0.0, 0.0), frame + np.array([0.1, 0.2, -0.05]))
    gap, rate = violation(system, state)
    assert gap < 1e-6
    assert rate < 1e-6
    assert np.linalg.norm(state.velocity("frame")) > 1.0  # it still rides


def test_a_driven_crank_stays_and_says_nothing_wrong():
    system = mb.System("driven")
    rod = system.add(mb.RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, -0.5)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(mb.Driver("motor", hinge, angle="2*t"))
    state = mb.Puller(system).to(rod, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert state.position(rod) == pytest.approx([0.0, 0.0, -0.5], abs=1e-9)


def test_open_joints_are_closed_by_the_first_pull():
    system = mb.System("open")
    rod = system.add(mb.RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, -0.5)))
    system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    shifted = mb.Equations(system).described()
    motion = shifted.motions["rod"]
    aside = dataclasses.replace(motion, position=motion.position + np.array([0.01, 0.02, 0.0]))
    moved = mb.State(0.0, {"rod": aside})
    state = mb.Puller(system, moved).to(rod, (0.0, 0.0, 0.0), (0.3, 0.0, -0.4))
    assert violation(system, state)[0] < 1e-8


def test_unknown_bodies_and_bad_points_are_named():
    puller = mb.Puller(mb.examples.four_bar())
    with pytest.raises(mb.ModelError, match="there is no body 'bar 7'; did you mean"):
        puller.to("bar 7", (0.0, 0.0), (1.0, 0.0))
    with pytest.raises(mb.ModelError, match="target"):
        puller.to("bar 1", (0.0, 0.0), (1.0, 0.0, 0.0))


@pytest.mark.parametrize("name", ["whipple_bicycle", "bricard", "andrews_squeezer", "car_suspension", "quick_return"])
def test_wild_pulls_never_open_a_joint(name):
    system = getattr(mb.examples, name)()
    puller = mb.Puller(system)
    values = np.random.default_rng(1)
    for _ in range(12):
        body = values.choice(system.bodies)
        target = puller.state.position(body) + puller.size * values.normal(size=system.dimension)
        state = puller.to(body, 0.1 * puller.size * values.normal(size=system.dimension), target)
        assert violation(system, state)[0] < 1e-6 * puller.size
