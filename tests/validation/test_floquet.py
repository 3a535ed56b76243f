"""Floquet multipliers against Hill determinants, exponentials, Liouville's formula and small independent models."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

import mbframe as mb

FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles()]


# --- Mathieu's chart --------------------------------------------------------------------------------------------------


def mathieu(a: float, q: float) -> mb.System:
    """A pendulum of length 1 on a pivot that moves as q/2 cos 2t: x'' + (a - 2 q cos 2t) x = 0 for small x."""
    system = mb.System("Mathieu", dimension=2, gravity=(0, -a))
    slider = system.add(mb.PlanarBody("slider", mass=1.0, inertia=0.1))
    bob = system.add(mb.PlanarBody("bob", mass=1.0, inertia=1e-10, position=(0, -1)))
    rail = system.add(mb.TranslationalJoint("rail", system.ground, slider, at=(0, 0), axis=(0, 1)))
    system.add(mb.RevoluteJoint("pin", slider, bob, at=(0, 0)))
    system.add(mb.Driver("drive", rail, displacement=f"{0.5 * q!r}*(cos(2*t) - 1)"))
    return system


def hill(a: float, q: float, odd: bool) -> float:
    """Hill's determinant, truncated: zero where there is a motion with the period pi, or twice that if `odd`."""
    n = np.arange(-20, 21) + (0.5 if odd else 0.0)
    n = n[:-1] if odd else n
    rows = np.diag(a - 4.0 * n**2) - q * (np.eye(len(n), k=1) + np.eye(len(n), k=-1))
    return float(np.linalg.det(rows / (1.0 + 4.0 * n**2)[:, None]))


@pytest.mark.parametrize(
    ("q", "bracket", "trace"),
    [
        (1.0, (-0.3, 0.2), -2.0),
        (1.0, (1.5, 2.2), -2.0),
        (2.0, (3.5, 3.8), 2.0),
        (2.0, (-1.8, -1.2), 2.0),  # upside down: a pendulum that its vibrating pivot holds upright
    ],
)
def test_the_boundaries_of_mathieus_chart(q, bracket, trace):
    exact = brentq(lambda a: hill(a, q, trace < 0.0), *bracket, xtol=1e-13)
    step = 1e-4
    sides = []
    for a in (exact - step, exact + step):
        system = mathieu(a, q)
        orbit = mb.periodic(system, mb.assemble(system), np.pi, segments=1)
        sides.append(orbit.multipliers.sum().real)
        assert (orbit.stability == "unstable") == (abs(sides[-1]) > 2.0)
    assert abs(2.0 * step * (trace - sides[0]) / (sides[1] - sides[0]) - step) < 1e-7


# --- constant coefficients --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: type(f).__name__)
def test_multipliers_of_a_bicycle_are_exponentials_of_its_roots(formulation):
    system, period = mb.examples.whipple_bicycle(speed=5.0), 0.7
    orbit = mb.periodic(system, mb.assemble(system), period, segments=1, formulation=formulation)
    roots = [mode.eigenvalue for mode in mb.linearize(system).modes if not mode.ignorable]
    assert len(roots) == 4
    for root in roots:
        assert np.abs(orbit.multipliers - np.exp(root * period)).min() < 1e-9


def flexible_pendulum() -> mb.System:
    """A bar that bends, with a bob at its end, hanging from a hinge."""
    steel = {"young": 2e9, "shear": 1e9, "density": 2000.0}
    section = {"area": 4e-4, "second_moments": (1.33e-8, 1.33e-8), "torsion": 2e-8}
    part = mb.flexible.beam(length=1.0, elements=4, **section, **steel)
    system = mb.System("flexible pendulum")
    down = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 4], n_modes=0)
    rod = system.add(mb.FlexibleBody("rod", modes, rotation=down, damping_ratios=0.02, geometric_stiffening=True))
    bob = system.add(mb.RigidBody("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, -1.1)))
    system.add(mb.RevoluteJoint("pin", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.FixedJoint("seat", rod, bob, at=(0, 0, -1)))
    return system


@pytest.mark.parametrize("formulation", [FORMULATIONS[0], FORMULATIONS[2]], ids=lambda f: type(f).__name__)
def test_multipliers_of_flexible_bodies_are_exponentials_of_their_roots(formulation):
    """Natural coordinates are never quite at rest: their rounding was taken for jumps of a load."""
    system, period = flexible_pendulum(), 0.03
    rest = mb.equilibrium(system)
    roots = [mode.eigenvalue for mode in mb.linearize(system, rest).modes]
    assert max(abs(root) for root in roots) > 500.0
    orbit = mb.periodic(system, rest, period, segments=1, formulation=formulation)
    for root in roots:
        assert np.abs(orbit.multipliers - np.exp(root * period)).min() < 1e-9


# --- volumes and pairs ------------------------------------------------------------------------------------------------


def double_pendulum(damping: float = 0.0) -> mb.System:
    """Two unlike bars under a torque 2 cos(3 t) about the first hinge."""
    system = mb.System("double pendulum", dimension=2, gravity=(0, -9.81))
    first = system.add(mb.PlanarBody("first", mass=1.0, inertia=0.1, position=(0, -0.5)))
    second = system.add(mb.PlanarBody("second", mass=0.6, inertia=0.04, position=(0, -1.4)))
    system.add(mb.RevoluteJoint("A", system.ground, first, at=(0, 0)))
    system.add(mb.RevoluteJoint("B", first, second, at=(0, -1)))
    system.add(mb.TorsionalSpringDamper("damper", system.ground, first, at=(0, 0), damping=damping))
    system.add(mb.Torque("drive", first, torque="2*cos(6*t)"))
    return system


def test_multipliers_of_a_reversible_motion_come_in_pairs():
    system, period = double_pendulum(), np.pi / 3.0
    orbit = mb.periodic(system, mb.assemble(system), period, segments=1)
    assert np.ptp(orbit.motion.angle("second")) > 0.05  # it does move
    for multiplier in orbit.multipliers:
        assert np.abs(multiplier * orbit.multipliers - 1.0).min() < 1e-8
    assert orbit.stability == "marginal"


def test_liouville_tells_the_product_of_multipliers():
    """d ln(volume)/dt = -tr(M^-1 C): with bars that swing far the mass matrix changes along the motion."""
    damping, period = 0.3, np.pi / 3.0
    system = double_pendulum(damping)
    orbit = mb.periodic(system, mb.assemble(system), period, segments=1)
    bend = orbit.motion.angle("second")[:-1] - orbit.motion.angle("first")[:-1]
    # The inertia about the first hinge with the second bar free to turn: J = det M / M22
    steiner = 0.04 + 0.6 * 0.4**2
    m11 = 0.1 + 0.25 + 0.6 + steiner + 2.0 * 0.6 * 0.4 * np.cos(bend)
    m12 = steiner + 0.6 * 0.4 * np.cos(bend)
    rate = -damping * np.mean(steiner / (m11 * steiner - m12**2))  # the trapezoidal rule of a period is exact
    assert abs(np.prod(orbit.multipliers).real - np.exp(rate * period)) < 1e-9


# --- period doubling --------------------------------------------------------------------------------------------------

DAMPING, RATE, WAY = 0.1, 2.0, (np.sin(0.5), np.cos(0.5))


def shaken(depth: float) -> mb.System:
    """A damped pendulum of length 1 in a gravity of 1, whose pivot moves as depth cos 2t along a slope."""
    system = mb.System("shaken pendulum", dimension=2, gravity=(0, -1.0))
    slider = system.add(mb.PlanarBody("slider", mass=1.0, inertia=0.1))
    bob = system.add(mb.PlanarBody("bob", mass=1.0, inertia=1e-9, position=(0, -1)))
    rail = system.add(mb.TranslationalJoint("rail", system.ground, slider, at=(0, 0), axis=WAY))
    system.add(mb.RevoluteJoint("pin", slider, bob, at=(0, 0)))
    system.add(mb.TorsionalSpringDamper("damper", slider, bob, at=(0, 0), damping=DAMPING))
    system.add(mb.Driver("drive", rail, displacement=f"{float(depth)!r}*(cos({RATE}*t) - 1)"))
    return system


def pendulum_rate(t: float, y: np.ndarray, depth: float) -> np.ndarray:
    """Angle, rate, and a matrix of small changes."""
    x, z = -depth * RATE**2 * np.cos(RATE * t) * np.array(WAY)
    s, c = np.sin(y[0]), np.cos(y[0])
    change = np.array([[0.0, 1.0], [x * s - (1.0 + z) * c, -DAMPING]]) @ y[2:].reshape(2, 2)
    return np.concatenate([[y[1], -(1.0 + z) * s - x * c - DAMPING * y[1]], change.ravel()])


def test_the_period_of_a_shaken_pendulum_doubles():
    period = 2.0 * np.pi / RATE

    def left(unknown: np.ndarray) -> np.ndarray:
        begin = np.array([*unknown[:2], 1.0, 0.0, 0.0, 1.0])
        run = solve_ivp(pendulum_rate, (0, period), begin, args=(unknown[2],), rtol=1e-11, atol=1e-12, method="DOP853")
        end = run.y[:, -1]
        return np.array([*(end[:2] - unknown[:2]), np.linalg.det(end[2:].reshape(2, 2) + np.eye(2))])

    expected = fsolve(left, [0.0, 0.0, 0.06], xtol=1e-12)
    start = mb.periodic(shaken(0.05), mb.assemble(shaken(0.05)), period, segments=2)
    branch = mb.continuation(shaken, start, (0.05, 0.065), at=0.05, period=period, step=0.7)
    (bend,) = branch.bifurcations
    assert bend.kind == "period doubling"
    assert abs(bend.value - expected[2]) < 1e-8
    np.testing.assert_array_equal(branch.stable, branch.values < bend.value)
    np.testing.assert_allclose(np.abs(bend.point.multipliers + 1.0).min(), 0.0, atol=1e-6)
    swing = bend.point.motion.angle("bob")
    assert np.ptp(swing) > 0.05
    assert abs(swing[0] - expected[0]) < 1e-8
