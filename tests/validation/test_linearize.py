"""Linearization against closed forms, in every formulation."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import mbframe as mb
from mbframe.examples.cart_pendulum import CART_MASS, POLE_LENGTH, POLE_MASS
from mbframe.examples.rolling_disk import RADIUS
from mbframe.examples.watt_governor import ARM, BALL_INERTIA, BALL_MASS, SPINDLE_INERTIA

Array = NDArray[np.float64]

GRAVITY = 9.81
FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles("XYZ")]
Y, Z = np.eye(3)[1], np.eye(3)[2]


def balance_roots(lin: mb.Linearization) -> Array:
    return np.array([mode.eigenvalue for mode in lin.modes if not mode.ignorable])


def assert_same_roots(found: Array, expected: Array, tolerance: float = 1e-10) -> None:
    """Each root has its own partner."""
    assert len(found) == len(expected)
    left = list(expected)
    for root in found:
        nearest = min(left, key=lambda other: abs(other - root))
        assert abs(nearest - root) <= tolerance * max(1.0, abs(root))
        left.remove(nearest)


def second_order_roots(M: Array, C: Array, K: Array) -> Array:
    """Roots of M q'' + C q' + K q = 0."""
    n = len(M)
    below = np.linalg.solve(M, np.hstack([-K, -C]))
    return np.linalg.eigvals(np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), below]))


# --- double pendulum --------------------------------------------------------------------------------------------------

MASSES, LENGTHS, INERTIAS = (1.3, 0.8), (0.7, 1.1), (0.09, 0.05)  # kg, m (of the bars), kg m^2 about the centres


def double_pendulum(first: float, second: float, formulation: mb.Formulation | None = None) -> mb.System:
    """Two bars in the x-z plane; `first`, `second` are 1 for a bar that hangs, -1 for one that stands."""
    system = mb.System("double pendulum")
    joint, previous = np.zeros(3), system.ground
    for k, (side, mass, length, inertia) in enumerate(zip((first, second), MASSES, LENGTHS, INERTIAS, strict=True), 1):
        center = joint - side * 0.5 * length * Z
        bar = mb.RigidBody(f"bar {k}", mass=mass, inertia=(inertia, inertia, 0.01), position=center)
        bar.formulation = formulation
        system.add(bar)
        system.add(mb.RevoluteJoint(f"hinge {k}", previous, bar, at=joint, axis=Y))
        joint, previous = joint - side * length * Z, bar
    return system


def double_pendulum_roots(first: float, second: float) -> Array:
    """With absolute angles from the described directions a_1, a_2 (both about y): M q'' + K q = 0."""
    (m1, m2), (l1, l2), (i1, i2) = MASSES, LENGTHS, INERTIAS
    coupling = first * second * m2 * l1 * l2 / 2.0
    M = np.array([[i1 + m1 * l1**2 / 4 + m2 * l1**2, coupling], [coupling, i2 + m2 * l2**2 / 4]])
    K = GRAVITY * np.diag([first * (m1 / 2 + m2) * l1, second * m2 * l2 / 2])
    return second_order_roots(M, np.zeros((2, 2)), K)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
@pytest.mark.parametrize(("first", "second"), [(1, 1), (-1, -1), (1, -1), (-1, 1)])
def test_double_pendulum(first: float, second: float, formulation: mb.Formulation) -> None:
    lin = mb.linearize(double_pendulum(first, second), formulation=formulation)
    assert_same_roots(lin.eigenvalues, double_pendulum_roots(first, second))
    assert lin.stability == ("marginal" if first == second == 1 else "unstable")
    assert not lin.ignorable
    assert lin.residuals.max() < 1e-13


def test_formulations_may_be_mixed_and_matrices_are_the_same_in_all() -> None:
    plain = mb.linearize(double_pendulum(1, 1))
    mixed = double_pendulum(1, 1, mb.NaturalAbsolute())
    mixed["bar 2"].formulation = mb.EulerParameters()  # type: ignore[attr-defined]
    other = mb.linearize(mixed)
    for name in ("mass", "damping", "stiffness"):
        np.testing.assert_allclose(getattr(other, name), getattr(plain, name), rtol=0, atol=1e-12)


# --- cart and pole ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
@pytest.mark.parametrize("inverted", [True, False])
def test_pendulum_on_a_cart(inverted: bool, formulation: mb.Formulation) -> None:
    """l' = 2 l / 3 for a slender pole of length l: lambda^2 = +-g (M + m) / (l' (M + m) - m l / 2)."""
    total = CART_MASS + POLE_MASS
    reduced = 2.0 / 3.0 * POLE_LENGTH * total - 0.5 * POLE_MASS * POLE_LENGTH
    root = np.sqrt(complex((1 if inverted else -1) * GRAVITY * total / reduced))
    lin = mb.linearize(mb.examples.cart_pendulum(inverted), formulation=formulation)
    assert_same_roots(balance_roots(lin), np.array([root, -root]))
    assert len(lin.eigenvalues) == 4
    assert [group.roots for group in lin.ignorable] == [(0j,), (0j,)]
    assert "along x" in lin.ignorable[0].explanation


# --- chains -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_chain_of_masses(formulation: mb.Formulation) -> None:
    n, stiffness, damping = 6, 80.0, 3.0
    lin = mb.linearize(mb.examples.mass_spring_damper_chain(n, 2.0, stiffness, damping), formulation=formulation)
    k = np.arange(1, n + 1)
    shapes = 4.0 * np.sin((2 * k - 1) * np.pi / (4 * n + 2)) ** 2
    expected = np.concatenate([np.roots([2.0, damping * s, stiffness * s]) for s in shapes])
    assert_same_roots(lin.eigenvalues, expected)
    assert lin.stability == "asymptotic"
    mode = lin.modes[-1]
    assert mode.frequency == pytest.approx(abs(mode.eigenvalue.imag) / (2 * np.pi))
    assert mode.damping_ratio == pytest.approx(-mode.eigenvalue.real / abs(mode.eigenvalue))
    assert mode.time_constant == pytest.approx(-1.0 / mode.eigenvalue.real)


# --- rolling disk -----------------------------------------------------------------------------------------------------


def upright_roots(speed: float) -> Array:
    """Of a thin disk: lambda^2 = 4 (g/r - 3 v^2/r^2) / 5."""
    root = np.sqrt(complex(0.8 * (GRAVITY / RADIUS - 3.0 * speed**2 / RADIUS**2)))
    return np.array([root, -root])


@pytest.mark.parametrize("speed", [0.0, 0.7, 1.2, 1.4, 4.0])
@pytest.mark.parametrize(
    "formulation", [mb.NewtonEuler(), mb.NaturalAbsolute(), mb.EulerParameters(), mb.EulerAngles("ZXZ")], ids=repr
)
def test_upright_disk(speed: float, formulation: mb.Formulation) -> None:
    lin = mb.linearize(mb.examples.rolling_disk(speed, lean=0.0), formulation=formulation)
    assert_same_roots(balance_roots(lin), upright_roots(speed))
    assert len(lin.eigenvalues) == 8


def test_critical_speed_of_the_upright_disk() -> None:
    """The square of the root is linear in v^2: its zero follows from two speeds, sqrt(g r / 3)."""

    def square(speed: float) -> float:
        return float((balance_roots(mb.linearize(mb.examples.rolling_disk(speed, lean=0.0)))[0] ** 2).real)

    a, b = 1.2, 1.4
    critical = np.sqrt((square(a) * b**2 - square(b) * a**2) / (square(a) - square(b)))
    assert critical == pytest.approx(np.sqrt(GRAVITY * RADIUS / 3.0), rel=1e-10)
    below, above = (mb.linearize(mb.examples.rolling_disk(critical + d, lean=0.0)) for d in (-1e-8, 1e-8))
    assert below.stability == "unstable"
    assert above.stability == "marginal"


# --- Watt governor ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_governor_in_its_turning_frame(formulation: mb.Formulation) -> None:
    rate = 6.0
    lin = mb.linearize(
        mb.examples.watt_governor(rate), frame=mb.TurningFrame(axis=Z, rate=rate), formulation=formulation
    )
    moment = BALL_MASS * ARM**2
    cosine = GRAVITY / (ARM * rate**2)
    sine_square = 1.0 - cosine**2
    spindle = SPINDLE_INERTIA + 2 * BALL_INERTIA + 2 * moment * sine_square
    alone = moment / (moment + BALL_INERTIA) * sine_square * rate**2
    together = alone * (1.0 + 8.0 * moment * cosine**2 / spindle)
    expected = np.array([sign * 1j * np.sqrt(x) for x in (alone, together) for sign in (1, -1)])
    assert_same_roots(balance_roots(lin), expected)
    assert lin.stability == "marginal"
    assert sorted(group.explanation.split(":")[0] for group in lin.ignorable) == ["heading", "speed"]


# --- steady turns of a disk -------------------------------------------------------------------------------------------

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12, atol=1e-13), "stabilization": mb.DirectCorrection()}


def lean(state: mb.State) -> float:
    return float(np.arcsin(state.motion("disk").rotation[2, 2]))


@cache
def turning_disk() -> tuple[mb.System, mb.SteadyMotion]:
    system = mb.examples.rolling_disk(speed=3.0, lean=0.2)
    return system, mb.steady(system, given=[(lean, 0.35), (lambda s: float(np.linalg.norm(s.velocity("disk"))), 2.0)])


def test_steady_turn_of_a_disk_has_the_known_rate() -> None:
    """W^2 = g tan(lean) / (3/2 radius + R sin(lean) / 4) of a thin disk whose centre runs in a circle."""
    _, motion = turning_disk()
    speed = np.linalg.norm(motion.velocity("disk"))
    rate = abs(motion.frame.rate)
    assert lean(motion) == pytest.approx(0.35, abs=1e-10)
    assert speed == pytest.approx(2.0, abs=1e-10)
    expected = GRAVITY * np.tan(0.35) / (1.5 * speed / rate + 0.25 * RADIUS * np.sin(0.35))
    assert rate**2 == pytest.approx(expected, rel=1e-9)


def test_roots_of_a_turning_disk_are_those_of_its_motion() -> None:
    """The lean of a slightly disturbed turn oscillates with the frequency of the root, which stays the same."""
    system, motion = turning_disk()
    lin = mb.linearize(system, motion)
    wobble = next(mode for mode in lin.modes if mode.eigenvalue.imag > 0 and not mode.ignorable)
    assert lin.stability == "marginal"
    assert len(lin.eigenvalues) == 8
    carried = sorted(mode.eigenvalue.imag for mode in lin.modes if mode.explanation.startswith("path"))
    assert carried == pytest.approx([-abs(motion.frame.rate), abs(motion.frame.rate)], rel=1e-12)

    t = np.linspace(0.0, 2.0, 81)
    result = mb.simulate(system, 2.0, initial=wobble.state(1e-4), t_eval=t, **PRECISE)
    found = np.array([lean(result.state(k)) for k in range(len(t))]) - lean(motion)
    columns = np.column_stack([np.cos(wobble.eigenvalue.imag * t), np.sin(wobble.eigenvalue.imag * t), np.ones(len(t))])
    rest = found - columns @ np.linalg.lstsq(columns, found, rcond=None)[0]
    assert np.abs(rest).max() <= 1e-3 * np.ptp(found)
    assert np.ptp(found) > 1e-6

    later = mb.simulate(system, 1.3, initial=motion, **PRECISE).state(-1)
    again = mb.linearize(system, later, frame=motion.frame)
    assert_same_roots(balance_roots(again), balance_roots(lin), 1e-8)


# --- four-bar linkage -------------------------------------------------------------------------------------------------

LINKS, BASE = (0.4, 0.9, 0.7), 1.0  # m: crank, coupler, rocker; distance of the fixed pivots
LINK_MASSES, LINK_INERTIAS = (0.8, 1.7, 1.1), (0.02, 0.15, 0.06)  # centres of mass in the middle of the links
HINGE_STIFFNESS, HINGE_DAMPING = 2.5, 0.3  # of the crank's hinge, at rest where it is described


class FourBar:
    """The loop a e^(i theta) + b e^(i phi) = d + c e^(i psi), closed for a crank angle theta, with its derivatives."""

    def __init__(self, theta: float) -> None:
        a, b, c = LINKS
        end = a * np.exp(1j * theta) - BASE  # from the rocker's pivot to the coupler's first end
        reach = abs(end)
        # The triangle of the rocker, the coupler and that line; the rocker hangs down on the side of the crank.
        inside = np.arccos((c**2 + reach**2 - b**2) / (2.0 * c * reach))
        psi = float(np.angle(end) + inside)
        phi = float(np.angle(c * np.exp(1j * psi) - end))
        self.angles = np.array([theta, phi, psi])
        assert abs(a * np.exp(1j * theta) + b * np.exp(1j * phi) - BASE - c * np.exp(1j * psi)) < 1e-14
        # (a e^(i theta), b e^(i phi), -c e^(i psi)) (theta', phi', psi') = 0, and once more with e' = i angle' e
        sides = np.array([a, b, -c]) * np.exp(1j * self.angles)
        columns = np.array([sides[1:].real, sides[1:].imag])
        slopes = np.linalg.solve(columns, [-sides[0].real, -sides[0].imag])
        self.slopes = np.array([1.0, *slopes])
        turning = np.sum(1j * self.slopes**2 * sides)
        self.bends = np.array([0.0, *np.linalg.solve(columns, [-turning.real, -turning.imag])])

    @property
    def centers(self) -> NDArray[np.complex128]:
        a, b, c = 0.5 * np.array(LINKS) * np.exp(1j * self.angles)
        return np.array([a, 2.0 * a + b, BASE + c])

    def centers_after(self, order: int) -> NDArray[np.complex128]:
        """First or second derivatives of the centres by theta."""
        e = 0.5 * np.array(LINKS) * np.exp(1j * self.angles)
        a, b, c = 1j * self.slopes * e if order == 1 else (1j * self.bends - self.slopes**2) * e
        return np.array([a, 2.0 * a + b, c])

    @property
    def inertia(self) -> float:
        return float(LINK_MASSES @ np.abs(self.centers_after(1)) ** 2 + LINK_INERTIAS @ self.slopes**2)

    def weight(self, order: int) -> float:
        """First or second derivative of the potential energy by theta."""
        return float(GRAVITY * np.array(LINK_MASSES) @ self.centers_after(order).imag)


def hanging_four_bar() -> FourBar:
    """The crank angle at which the weights are in balance, by Newton's method."""
    theta = -1.2
    for _ in range(30):
        at = FourBar(theta)
        theta -= at.weight(1) / at.weight(2)
    assert abs(at.weight(1)) < 1e-13
    assert at.weight(2) > 1.0
    return at


@pytest.mark.parametrize("formulation", [mb.PlanarAngle(), mb.PlanarEulerParameters(), mb.PlanarNatural()], ids=repr)
@pytest.mark.parametrize("sprung", [False, True])
def test_four_bar_about_its_equilibrium(sprung: bool, formulation: mb.Formulation) -> None:
    """I(theta) s^2 + d s + V''(theta) + k = 0 with the effective inertia I and the potential V of the weights."""
    at = hanging_four_bar()
    system = mb.System("hanging four-bar", dimension=2)
    links = [
        system.add(
            mb.PlanarBody(name, mass=mass, inertia=inertia, position=(center.real, center.imag), angle=float(angle))
        )
        for name, mass, inertia, center, angle in zip(
            ("crank", "coupler", "rocker"), LINK_MASSES, LINK_INERTIAS, at.centers, at.angles, strict=True
        )
    ]
    crank, coupler, rocker = links
    elbow = 2.0 * at.centers[0]
    knee = BASE + 2.0 * (at.centers[2] - BASE)
    system.add(mb.RevoluteJoint("A", system.ground, crank, at=(0, 0)))
    system.add(mb.RevoluteJoint("B", crank, coupler, at=(elbow.real, elbow.imag)))
    system.add(mb.RevoluteJoint("C", coupler, rocker, at=(knee.real, knee.imag)))
    system.add(mb.RevoluteJoint("D", system.ground, rocker, at=(BASE, 0)))
    stiffness, damping = (HINGE_STIFFNESS, HINGE_DAMPING) if sprung else (0.0, 0.0)
    system.add(
        mb.TorsionalSpringDamper("spring", system.ground, crank, at=(0, 0), stiffness=stiffness, damping=damping)
    )
    lin = mb.linearize(system, formulation=formulation)
    assert_same_roots(lin.eigenvalues, np.roots([at.inertia, damping, at.weight(2) + stiffness]).astype(complex))
    assert lin.stability == ("asymptotic" if sprung else "marginal")
    # The mode moves the bodies as the loop does.
    shape = lin.modes[-1].shape
    turns = np.array([shape[link.name].rotation[2] for link in links])
    np.testing.assert_allclose(turns / turns[0], at.slopes, atol=1e-10)
    shifts = np.array([shape[link.name].translation @ [1.0, 1j, 0.0] for link in links]) / turns[0]
    np.testing.assert_allclose(shifts, at.centers_after(1), atol=1e-10)


# --- relations whose terms meet in one body --------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_nut_on_a_screw_with_a_spring(formulation: mb.Formulation) -> None:
    """(m + I (2 pi/p)^2) s'' + c s' + k s = 0: the nut turns by 2 pi/p for every metre. Its origin is off the axis."""
    mass, inertia, pitch, stiffness, damping = 2.0, 0.1, 0.5, 30.0, 4.0
    axis = np.array([0.0, 0.6, 0.8])
    system = mb.System("screw", gravity=-GRAVITY * axis)
    nut = mb.RigidBody(
        "nut", mass=mass, inertia=inertia * np.ones(3), position=(0.4, 0.3, 0), center_of_mass=(-0.4, -0.3, 0)
    )
    system.add(nut)
    system.add(mb.ScrewJoint("thread", system.ground, nut, at=(0, 0, 0), axis=axis, pitch=pitch))
    spring = mb.SpringDamper("spring", system.ground, nut, at_i=2 * axis, at_j=(0, 0, 0), free_length=0.0)
    spring.update(stiffness=stiffness, damping=damping, free_length=2.0 - mass * GRAVITY / stiffness)
    system.add(spring)
    found = mb.linearize(system, formulation=formulation).eigenvalues
    assert_same_roots(found, np.roots([mass + inertia * (2.0 * np.pi / pitch) ** 2, damping, stiffness]))


@pytest.mark.parametrize("ratio", [-2.0, 0.7])
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_gear_between_hinges_of_one_body(formulation: mb.Formulation, ratio: float) -> None:
    """A hanging double pendulum whose gear makes the second angle a, against the first bar, a = first/ratio."""
    system = double_pendulum(1.0, 1.0)
    system.add(mb.GearJoint("gear", system["hinge 1"], system["hinge 2"], ratio=ratio))
    (m1, m2), (l1, l2), (i1, i2) = MASSES, LENGTHS, INERTIAS
    M = np.array([[i1 + m1 * l1**2 / 4 + m2 * l1**2, m2 * l1 * l2 / 2], [m2 * l1 * l2 / 2, i2 + m2 * l2**2 / 4]])
    K = np.diag([(m1 / 2 + m2) * l1 * GRAVITY, m2 * l2 / 2 * GRAVITY])
    turn = np.array([1.0, 1.0 + 1.0 / ratio])  # of both bars in space, for a unit of the first angle
    frequency = np.sqrt((turn @ K @ turn) / (turn @ M @ turn))
    found = mb.linearize(system, formulation=formulation).eigenvalues
    assert_same_roots(found, np.array([1j * frequency, -1j * frequency]))
