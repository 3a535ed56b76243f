"""Equilibria against closed forms, and what kind they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.state import Motion, State

from .mechanisms import FourBar, Z, bar, slider_crank

FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles("ZXY")]


def pendulum(angle: float = 0.0) -> tuple[mb.System, mb.RigidBody]:
    """A bar of 1 m in a hinge, at an angle from the horizontal."""
    system = mb.System("pendulum", gravity=(0.0, -9.81, 0.0))
    body = bar(system, "bar", 0.0, np.exp(1j * angle), 2.0)
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0.0, 0.0, 0.0), axis=Z))
    return system, body


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_a_pendulum_hangs_or_stands(formulation: mb.Formulation) -> None:
    """Stiffness (m g l/2)/(m l^2/3), and minus that."""
    for start, side, kind in ((-1.2, -1.0, "minimum"), (1.3, 1.0, "maximum")):
        system, body = pendulum(start)
        found = mb.equilibrium(system, formulation=formulation)
        assert np.abs(found.position(body) - [0.0, 0.5 * side, 0.0]).max() < 1e-12
        assert found.kind == kind
        assert found.minimum == (kind == "minimum")
        assert np.abs(found.stiffness + side * 1.5 * 9.81).max() < 1e-9
    system, body = pendulum(np.pi / 2)  # exactly upright
    assert mb.equilibrium(system).kind == "maximum"
    fallen = mb.equilibrium(system, minimum=True)
    assert fallen.minimum
    assert abs(fallen.position(body)[1] + 0.5) < 1e-12


@pytest.mark.parametrize("branch", [1, -1])
def test_all_equilibria_of_a_four_bar(branch: int) -> None:
    """Two in each branch: where V'(theta) = 0. Position, kind, and stiffness V''/m from the closed form."""
    mechanism = FourBar(branch=branch)
    theta = np.linspace(0.0, 2 * np.pi, 361)
    step = 1e-4

    def slope(x: float) -> float:
        v = mechanism.potential(x + step * np.array([-2.0, -1.0, 1.0, 2.0]))
        return float(v @ [1.0, -8.0, 8.0, -1.0]) / (12 * step)

    slopes = np.array([slope(x) for x in theta])
    roots = [brentq(slope, theta[k], theta[k + 1], xtol=1e-12) for k in np.flatnonzero(np.diff(np.sign(slopes)))]
    assert len(roots) == 2
    kinds = set()
    for root in roots:
        system = mechanism.system(root + 0.2)
        found = mb.equilibrium(system)
        curvature = (slope(root + 1e-3) - slope(root - 1e-3)) / 2e-3
        assert abs(found.position("crank") @ (1.0, 1j, 0.0) - 0.15 * np.exp(1j * root)) < 1e-8  # by differences
        assert found.kind == ("minimum" if curvature > 0.0 else "maximum")
        assert abs(found.stiffness[0] / (curvature / mechanism.inertia(np.array([root]))[0]) - 1.0) < 1e-5
        assert found.residual < 1e-12
        kinds.add(found.kind)
        for formulation in FORMULATIONS[1:]:
            other = mb.equilibrium(system, formulation=formulation)
            assert np.abs(other.position("rocker") - found.position("rocker")).max() < 1e-9
            assert other.kind == found.kind
            assert abs(other.stiffness[0] - found.stiffness[0]) < 1e-6
    assert kinds == {"minimum", "maximum"}


def test_saddle_of_a_double_pendulum() -> None:
    """Four equilibria: each bar hangs or stands; the mixed ones are saddles."""
    for upper, lower, kind in ((-1, -1, "minimum"), (-1, 1, "saddle"), (1, -1, "saddle"), (1, 1, "maximum")):
        system = mb.System("double pendulum", gravity=(0.0, -9.81, 0.0))
        joint = np.exp(1j * (upper * np.pi / 2 + 0.1))
        one = bar(system, "one", 0.0, joint, 1.0)
        two = bar(system, "two", joint, joint + np.exp(1j * (lower * np.pi / 2 - 0.1)), 1.0)
        system.add(mb.RevoluteJoint("A", system.ground, one, at=(0.0, 0.0, 0.0), axis=Z))
        system.add(mb.RevoluteJoint("B", one, two, at=(joint.real, joint.imag, 0.0), axis=Z))
        found = mb.equilibrium(system)
        assert np.abs(found.position(two) - [0.0, upper + 0.5 * lower, 0.0]).max() < 1e-12
        assert found.kind == kind


def test_a_bar_that_stands_in_a_ball_joint_is_a_saddle() -> None:
    """It may fall in two directions, and turn freely about itself."""
    system = mb.System("stick", gravity=(0.0, -9.81, 0.0))
    body = bar(system, "bar", 0.0, 1j, 2.0)
    system.add(mb.SphericalJoint("ball", system.ground, body, at=(0.0, 0.0, 0.0)))
    found = mb.equilibrium(system)
    assert found.kind == "saddle"
    assert np.abs(found.stiffness - [-1.5 * 9.81, -1.5 * 9.81, 0.0]).max() < 1e-9
    assert mb.equilibrium(system, minimum=True).kind == "indifferent"


def test_mass_on_a_spring_and_as_an_initial_state() -> None:
    """Deflection m g/k, stiffness k/m along the spring, m g / l' sideways; a run from there stays at rest."""
    system = mb.System("mass")
    mass = system.add(mb.PointMass("mass", mass=2.0, position=(0.0, 0.0, -1.0)))
    system.add(mb.SpringDamper("spring", system.ground, mass, at_i=(0.0, 0.0, 0.0), stiffness=400.0, free_length=1.0))
    found = mb.equilibrium(system)
    length = 1.0 + 2.0 * 9.81 / 400.0
    assert abs(found.position(mass)[2] + length) < 1e-13
    sideways = 9.81 / length
    assert np.abs(found.stiffness - [sideways, sideways, 200.0]).max() < 1e-9
    run = mb.simulate(system, 1.0, initial=found)
    assert np.abs(run.position(mass) - found.position(mass)).max() < 1e-10
    assert run.info.warnings == []
    assert "minimum" in str(found)


def test_buckled_toggle_has_two_stable_sides() -> None:
    """Two bars of 1 m, a spring pulls their ends together: straight is a maximum of V, buckled a minimum.

    V = k (2 c)^2/2 + m g s (both bars, middles at half height) with c, s of the angle: V' = 0 at s = m g/(4 k), c = 0.
    """
    system = mb.System("toggle", gravity=(0.0, -9.81, 0.0))
    middle = np.exp(0.1j)
    one = bar(system, "one", 0.0, middle, 1.0)
    two = bar(system, "two", middle, 2 * middle.real, 1.0)
    system.add(mb.RevoluteJoint("A", system.ground, one, at=(0.0, 0.0, 0.0), axis=Z))
    system.add(mb.RevoluteJoint("B", one, two, at=(middle.real, middle.imag, 0.0), axis=Z))
    system.add(mb.PointOnLineJoint("C", system.ground, two, at=(2 * middle.real, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    spring = {"at_i": (0.0, 0.0, 0.0), "at_j": (2 * middle.real, 0.0, 0.0), "stiffness": 20.0, "free_length": 0.0}
    system.add(mb.SpringDamper("spring", system.ground, two, **spring))
    found = mb.equilibrium(system)
    assert found.kind == "maximum"
    assert abs(found.position(one)[1] - 0.5 * 9.81 / (4 * 20.0)) < 1e-12
    assert mb.equilibrium(system, minimum=True).minimum


def test_contact_is_reached_from_above() -> None:
    """Newton's method has nothing to work with in free fall; the descent finds the ground. k d^n = m g."""
    system = mb.System("drop")
    ball = system.add(mb.RigidBody("ball", mass=3.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, 0.7)))
    system.add(mb.SpherePlaneContact("contact", system.ground, ball, radius=0.1, stiffness=1e6, exponent=1.5))
    found = mb.equilibrium(system)
    assert abs(found.position(ball)[2] - 0.1 + (3.0 * 9.81 / 1e6) ** (2.0 / 3.0)) < 1e-10
    assert found.kind == "indifferent"  # it may lie anywhere, turned in any way
    assert found.stiffness.max() > 1e3


def test_own_states_come_to_rest_too() -> None:
    """An integral controller holds a bar at its setpoint: I z = m g l/2 cos(setpoint), whatever P."""
    system, body = pendulum(0.3)
    system.add(
        mb.PIDActuator(
            "pid", system.ground, body, at=(0.0, 0.0, 0.0), axis=Z, setpoint=-0.5, proportional=50.0, integral=8.0
        )
    )
    found = mb.equilibrium(system)
    angle = 0.3 - 0.5
    assert np.abs(found.position(body) - [0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.0]).max() < 1e-10
    assert abs(8.0 * found.element_states["pid"][0] - 2.0 * 9.81 * 0.5 * np.cos(angle)) < 1e-8
    assert found.kind == "without potential"


def test_follower_force_has_no_potential() -> None:
    """A double pendulum with a follower force: its stiffness matrix is not symmetric."""
    system = mb.System("follower", gravity=(0.0, -9.81, 0.0))
    one, two = bar(system, "one", 0.0, -1j, 1.0), bar(system, "two", -1j, -2j, 1.0)
    system.add(mb.RevoluteJoint("A", system.ground, one, at=(0.0, 0.0, 0.0), axis=Z))
    system.add(mb.RevoluteJoint("B", one, two, at=(0.0, -1.0, 0.0), axis=Z))
    system.add(mb.PointForce("push", two, at=(0.0, -2.0, 0.0), force=(0.0, 3.0, 0.0), axes="body"))
    found = mb.equilibrium(system)
    assert found.kind == "without potential"
    assert not found.minimum


def test_a_loaded_ball_rolls_to_rest() -> None:
    """Its centre of mass off its middle: it rolls, without slip, until the heavy side is below."""
    turn = 0.8
    down = np.array([np.sin(turn), 0.0, -np.cos(turn)])
    system = mb.System("ball")
    ball = mb.RigidBody(
        "ball", mass=2.0, inertia=(0.05, 0.05, 0.05), position=(0.0, 0.0, 0.3), center_of_mass=0.1 * down
    )
    system.add(ball)
    system.add(mb.RollingSphere("contact", system.ground, ball, at=(0.0, 0.0, 0.3), radius=0.3))
    found = mb.equilibrium(system)
    heavy = found.position(ball, ball.center_of_mass) - found.position(ball)
    assert np.abs(heavy - [0.0, 0.0, -0.1]).max() < 1e-10
    assert np.abs(found.position(ball) - [0.3 * turn, 0.0, 0.3]).max() < 1e-3  # the way is one of finite steps
    assert np.all(found.stiffness > -1e-9)


def test_drivers_hold_their_position() -> None:
    system = slider_crank()
    system.add(mb.Driver("motor", system["A"], angle="0.7*t"))
    start = mb.kinematics(system, [1.0]).state(0)
    found = mb.equilibrium(system, start)
    assert found.t == 1.0
    assert len(found.stiffness) == 0
    assert found.minimum
    assert "no freedom" in str(found)
    assert np.abs(found.position("slider") - start.position("slider")).max() < 1e-12
    assert np.all(found.motion("slider").velocity == 0.0)


def test_starts_that_violate_the_constraints_are_assembled() -> None:
    system, body = pendulum(-1.0)
    described = mb.evaluate(system).state(0)
    m = described.motion(body)
    moved = State(0.0, {body.name: Motion(m.position + 0.2, m.rotation, np.ones(3), np.ones(3))})
    found = mb.equilibrium(system, moved)
    assert np.abs(found.position(body) - [0.0, -0.5, 0.0]).max() < 1e-12
    assert np.all(found.motion(body).velocity == 0.0)


def test_nothing_to_find_is_an_error_that_names_the_body() -> None:
    system = mb.System("falling")
    system.add(mb.RigidBody("stone", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    with pytest.raises(mb.AnalysisError, match=r"no equilibrium was found; 'stone' would still start with 9.81 m/s\^2"):
        mb.equilibrium(system)
    spun, body = pendulum()
    spun.add(mb.Torque("wind", body, torque=(0.0, 0.0, 100.0)))
    with pytest.raises(mb.AnalysisError, match="'bar' would still start"):
        mb.equilibrium(spun)


def test_an_equilibrium_is_a_state() -> None:
    system, _ = pendulum(-1.0)
    found = mb.equilibrium(system)
    assert isinstance(found, State)
    assert replace(found, t=2.0).t == 2.0
    assert mb.evaluate(system, found).acceleration("bar")[0] == pytest.approx(np.zeros(3), abs=1e-10)


def four_bar_height(crank: complex, branch: float) -> tuple[complex, list[tuple[complex, complex, complex]]]:
    """Potential energy of `four_bar_marques` for a crank angle, C on one side of BD; centre and angle of each bar."""
    b = 2.0 * np.cos(crank), 2.0 * np.sin(crank)
    reach = 2.5 - b[0], -b[1]
    square = reach[0] ** 2 + reach[1] ** 2  # coupler and follower are equally long, so C is above the middle of BD
    lift = branch * np.sqrt(16.0 / square - 0.25)
    c = b[0] + 0.5 * reach[0] - lift * reach[1], b[1] + 0.5 * reach[1] + lift * reach[0]
    bars = [((0.0, 0.0), b), (b, c), ((2.5, 0.0), c)]
    places = [
        ((p[0] + q[0]) / 2, (p[1] + q[1]) / 2, np.arctan2(np.real(q[1] - p[1]), np.real(q[0] - p[0]))) for p, q in bars
    ]
    return 9.81 * sum(m * place[1] for m, place in zip((1.00, 2.25, 2.20), places, strict=True)), places


def four_bar_slope(crank: float, branch: float) -> float:
    return four_bar_height(crank + 1e-30j, branch)[0].imag / 1e-30


@pytest.mark.parametrize("branch", [1.0, -1.0])
def test_all_equilibria_of_the_four_bar_of_marques(branch: float) -> None:
    """On the branch on which it is described there are four, and their mirror images on the other one."""
    turns = np.linspace(-np.pi, np.pi, 721)
    signs = np.sign([four_bar_slope(a, branch) for a in turns])
    exact = [brentq(four_bar_slope, turns[k], turns[k + 1], (branch,), 1e-15) for k in np.flatnonzero(np.diff(signs))]
    assert len(exact) == 4
    system = mb.examples.four_bar_marques()
    kinds = []
    for crank in exact:
        bent = (four_bar_slope(crank + 1e-5, branch) - four_bar_slope(crank - 1e-5, branch)) / 2e-5
        motions = {}
        for body, (x, y, angle) in zip(system.bodies, four_bar_height(crank + 0.05, branch)[1], strict=True):
            turned = Rotation.from_rotvec((0.0, 0.0, angle)).as_matrix()
            motions[body.name] = Motion(np.array([np.real(x), np.real(y), 0.0]), turned, np.zeros(3), np.zeros(3))
        found = mb.equilibrium(system, State(0.0, motions, dimension=2))
        assert np.angle(np.exp(1j * (found.angle("crank") - crank))) == pytest.approx(0.0, abs=1e-8)
        assert found.kind == ("minimum" if bent > 0.0 else "maximum")
        kinds.append(found.kind)
    assert sorted(kinds) == ["maximum", "maximum", "minimum", "minimum"]


@pytest.mark.parametrize("frame", ["node", "mean"])
def test_slender_cantilever_under_an_end_load(frame: str) -> None:
    """I / (A L^2) = 1e-7: bending by 0.05 in a frame that turns stretches it by what is of second order, stiffly.

    The tip sinks by F L^3 / 3 E I; in mean axes deflections are of second order off, here 2e-4.
    """
    area, young, ratio = 1e-4, 2.1e11, 1e-7
    second = ratio * area
    part = mb.flexible.beam(
        length=1.0,
        elements=10,
        area=area,
        second_moments=(second, second),
        torsion=2 * second,
        young=young,
        shear=8.1e10,
        density=7850.0,
    )
    system = mb.System("cantilever", gravity=(0, 0, 0))
    rod = system.add(
        mb.FlexibleBody("rod", mb.flexible.craig_bampton(part, interfaces=[0, 10], n_modes=2), frame=frame)
    )
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    force = 0.05 * young * second
    system.add(mb.PointForce("load", rod, at=(1, 0, 0), force=(0, 0, force)))
    found = mb.equilibrium(system)
    tip = mb.evaluate(system, found).position(rod, local_point=(1, 0, 0))[0]
    assert tip[2] == pytest.approx(force / (3 * young * second), rel=3e-4)
    assert found.minimum
    assert found.iterations < 10


def test_a_slender_cantilever_bent_as_far_as_its_theory_holds() -> None:
    """The elastica with P L^2 / E I = 0.8 and I / (A L^2) = 1e-7, stiffened: Newton's method alone goes astray."""
    area, young = 1e-4, 2.1e11
    second = 1e-7 * area
    section = {"area": area, "second_moments": (second, second), "torsion": 2 * second}
    part = mb.flexible.beam(length=1.0, elements=8, young=young, shear=8.1e10, density=7850.0, **section)
    modes = mb.flexible.free_modes(part, n_modes=part.n_freedoms - 6)
    system = mb.System("cantilever", gravity=(0, 0, 0))
    rod = system.add(mb.FlexibleBody("rod", modes, geometric_stiffening=True))
    system.add(mb.FixedJoint("wall", system.ground, rod, at=(0, 0, 0)))
    system.add(mb.PointForce("load", rod, at=(1, 0, 0), force=(0, 0, 0.8 * young * second)))
    found = mb.equilibrium(system)
    tip = found.position(rod, local_point=(1, 0, 0))
    exact = solve_bvp(
        lambda s, y: np.array([y[1], -0.8 * np.cos(y[0]), np.sin(y[0]), np.cos(y[0])]),
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        np.linspace(0.0, 1.0, 41),
        np.zeros((4, 41)),
        tol=1e-8,
    ).y[2:, -1]
    assert found.residual < 1e-10
    assert tip[2] == pytest.approx(exact[0], rel=0.01)
    assert 1.0 - tip[0] == pytest.approx(1.0 - exact[1], rel=0.02)


def test_an_integral_that_acts_on_nothing_may_drift() -> None:
    """A PD controller holds a bar off its setpoint, P (w - x) = m g l/2 cos(0.2 + x), and its unused state goes on."""
    system, bar = pendulum(0.2)
    motor = mb.PIDActuator("motor", system.ground, bar, at=(0, 0, 0), axis=Z)
    motor.update(setpoint=0.3, proportional=50.0, derivative=2.0)
    system.add(motor)
    angle = 0.2 + brentq(lambda x: 50.0 * (0.3 - x) - 2.0 * 9.81 * 0.5 * np.cos(0.2 + x), -1.0, 1.0, xtol=1e-14)
    found = mb.equilibrium(system)
    np.testing.assert_allclose(found.position(bar)[:2] @ [np.sin(angle), -np.cos(angle)], 0.0, atol=1e-12)
    lin = mb.linearize(system, found)
    # I x'' + D x' + (P - m g l/2 sin) x = 0 with I = m l^2/3
    expected = np.roots([2.0 / 3.0, 2.0, 50.0 - 9.81 * np.sin(angle)])
    np.testing.assert_allclose(np.sort_complex(lin.eigenvalues), np.sort_complex(expected), rtol=1e-9)
    assert lin.stability == "asymptotic"
    motor.update(integral=1.0)  # now it does act, and rests only at the setpoint
    assert len(mb.linearize(system, mb.equilibrium(system)).eigenvalues) == 3


@pytest.mark.parametrize("free_angle", [5.0, 20.0])
@pytest.mark.parametrize("coupling", ["gears", "screw", "rack"])
def test_a_spring_rests_many_turns_away_from_what_it_drives(coupling: str, free_angle: float) -> None:
    system = mb.System("wound", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 2.0)))
    if coupling == "screw":
        system.add(mb.ScrewJoint("screw", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), pitch=0.1))
    else:
        hinge = system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
        other = system.add(mb.RigidBody("other", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 2.0, 0.0)))
        if coupling == "gears":
            second = system.add(mb.RevoluteJoint("second", system.ground, other, at=(0, 2, 0), axis=(0, 0, 1)))
            system.add(mb.GearJoint("gears", second, hinge, ratio=-7.3))
        else:
            slide = system.add(mb.TranslationalJoint("slide", system.ground, other, at=(0, 2, 0), axis=(1, 0, 0)))
            system.add(mb.RackAndPinionJoint("rack", hinge, slide, radius=0.1))
    spring = {"at": (0, 0, 0), "axis": (0, 0, 1), "stiffness": 3.0, "free_angle": free_angle}
    system.add(mb.TorsionalSpringDamper("spring", system.ground, body, **spring))
    found = mb.equilibrium(system)
    assert found.kind == "minimum"
    assert found.angle("spring") == pytest.approx(free_angle, abs=1e-9)
