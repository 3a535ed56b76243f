"""Branches of periodic motions against independent computations: folds, and limit cycles of a shimmy."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve, minimize_scalar

import mbframe as mb

TURN = 2.0 * np.pi


def duffing(omega: float) -> mb.System:
    """x'' + 0.1 x' + x + 0.1 x^3 = 0.5 cos(omega t)."""
    system = mb.System("Duffing", gravity=(0, 0, 0))
    mass = system.add(mb.PointMass("mass", mass=1.0))
    system.add(mb.PointOnLineJoint("rail", system.ground, mass, at=(0, 0, 0), axis=(1, 0, 0)))
    law = {"stiffness": 1.0, "damping": 0.1, "force": "0.1*x**3", "free_length": 10.0}
    system.add(mb.SpringDamper("spring", system.ground, mass, at_i=(-10, 0, 0), at_j=(0, 0, 0), **law))
    system.add(mb.PointForce("load", mass, at=(0, 0, 0), force=(f"0.5*cos({float(omega)!r}*t)", 0, 0)))
    return system


def duffing_fold(phase: float, amplitude: float, omega: float, sign: float) -> float:
    """The extremum of omega over the phase of the first harmonic, by harmonic balance with odd harmonics up to 25."""
    order = np.arange(1, 26, 2)
    angle = np.arange(128) * TURN / 128
    cosines, sines = np.cos(np.outer(angle, order)), np.sin(np.outer(angle, order))
    guess = np.zeros(2 * len(order))
    guess[:2] = amplitude, omega

    def frequency(at: float) -> float:
        nonlocal guess

        def left(unknown: np.ndarray) -> np.ndarray:
            w, a, b = unknown[1], *np.zeros((2, len(order)), complex)
            a[0], b[0] = unknown[0] * np.cos(at), unknown[0] * np.sin(at)
            a[1:], b[1:] = unknown[2 : len(order) + 1], unknown[len(order) + 1 :]
            x = cosines @ a + sines @ b
            rate = w * (sines @ (-order * a) + cosines @ (order * b))
            bent = -(w**2) * (cosines @ (order**2 * a) + sines @ (order**2 * b))
            rest = bent + 0.1 * rate + x + 0.1 * x**3 - 0.5 * np.cos(angle)
            return np.concatenate([cosines.T @ rest, sines.T @ rest]) / 64.0

        for _ in range(30):  # Newton's method with complex steps, since `left` is a polynomial
            steps = 1e-30j * np.eye(len(guess))
            change = np.linalg.solve(
                np.transpose([left(guess + step).imag / 1e-30 for step in steps]), left(guess).real
            )
            guess = guess - change
            if np.abs(change).max() < 1e-12:
                break
        else:
            raise AssertionError("harmonic balance did not converge")
        return float(guess[1])

    found = minimize_scalar(lambda at: sign * frequency(at), bounds=(phase - 0.3, phase + 0.3), options={"xatol": 1e-7})
    return frequency(found.x)


def _first_harmonic(x: np.ndarray) -> complex:
    return complex(2.0 * np.mean(x * np.exp(-1j * TURN * np.arange(len(x)) / len(x))))


def _lag(bend: mb.Bifurcation) -> float:
    return float(-np.angle(_first_harmonic(bend.point.motion.position("mass")[:-1, 0])))


def test_the_resonance_of_a_duffing_oscillator_folds():
    start = mb.periodic(duffing(1.1), mb.assemble(duffing(1.1)), TURN / 1.1)
    branch = mb.continuation(duffing, start, (1.1, 1.5), at=1.1, period=lambda omega: TURN / omega, step=0.5)
    folds = [bend for bend in branch.bifurcations if bend.kind == "fold"]
    assert len(branch.bifurcations) == len(folds) == 2
    assert branch.ends == ("the range ends at 1.1", "the range ends at 1.5")
    for bend, sign in zip(folds, (-1.0, 1.0), strict=True):
        motion = bend.point.motion
        first = _first_harmonic(motion.position("mass")[:-1, 0])
        expected = duffing_fold(-np.angle(first), abs(first), bend.value, sign)
        assert abs(bend.value - expected) < 1e-6
    # How far the motion lags behind the load grows all along; its width is largest where the lag is a quarter of a
    # period, just before the upper fold, and not at the fold: there only the frequency has its extremum.
    widths = np.array([np.ptp(point.motion.position("mass")[:, 0]) for point in branch.points])
    lags = np.unwrap([-np.angle(_first_harmonic(point.motion.position("mass")[:-1, 0])) for point in branch.points])
    assert np.all(np.diff(lags) > 0.0)
    widest = int(np.argmax(widths))
    assert lags[widest - 1] < 0.25 * TURN < lags[widest + 1]
    assert _lag(folds[0]) > 0.25 * TURN
    between = (branch.values > folds[1].value) & (branch.values < folds[0].value)
    assert not np.all(branch.stable[between])
    assert np.all(branch.stable[~between])


def shimmy(t: float, y: np.ndarray, speed: float) -> list[float]:
    """The towed wheel in three states: how far the pivot is aside, its rate, and the angle of the arm."""
    q, w, angle = y
    s, c, trail = np.sin(angle), np.cos(angle), 0.3
    pivot_mass, arm_mass, offset = 1.0, 2.0, 0.12
    turn = (w * c - speed * s) / trail  # the wheel does not slip aside
    coupling = arm_mass * offset
    inertia = 0.06 + coupling * offset
    # turn' = (w' c - (w s + speed c) turn)/trail, and the multiplier of the wheel is eliminated
    bent = -(w * s + speed * c) * turn / trail
    torque = -0.2 * turn - 0.02 * turn**3
    push = -2000.0 * q - 0.5 * w - coupling * turn**2 * s
    # (m_p + m) w' - coupling c turn' = push + c p;  inertia turn' - coupling c w' = torque - trail p
    by_w = pivot_mass + arm_mass - 2.0 * coupling * c * c / trail + inertia * c * c / trail**2
    rest = push + c / trail * torque + coupling * c * bent - inertia * c / trail * bent
    return [w, rest / by_w, turn]


def test_a_towed_wheel_begins_to_shimmy():
    def build(speed: float) -> mb.System:
        return mb.examples.towed_wheel(speed=speed)

    straight = mb.continuation(build, mb.steady(build(4.0)), (3.0, 6.0), at=4.0, step=0.3)
    assert [bend.kind for bend in straight.bifurcations] == ["Hopf"]
    bend = straight.bifurcations[0]

    def growth(speed: float) -> float:
        step = 1e-6
        columns = [(np.array(shimmy(0, d, speed)) - shimmy(0, -d, speed)) / (2 * step) for d in step * np.eye(3)]
        values = np.linalg.eigvals(np.array(columns).T)
        return float(values[np.argmax(values.imag)].real)

    assert abs(bend.value - brentq(growth, 4.0, 5.0, xtol=1e-12)) < 1e-6
    np.testing.assert_array_equal(straight.stable, straight.values < bend.value)

    cycles = bend.switch()
    assert cycles.ends[1] == "the range ends at 6"
    assert np.all(cycles.stable)
    orbit = cycles.points[-1]
    assert orbit.error < 1e-8
    pivot, arm = orbit.state.motions["pivot"], orbit.state.motions["arm"]
    angle = np.arctan2(arm.rotation[1, 0], arm.rotation[0, 0])
    guess = [pivot.velocity[1], angle, orbit.period]
    begin = pivot.position[1]

    def left(unknown: np.ndarray) -> np.ndarray:
        y = np.array([begin, *unknown[:2]])
        ends = solve_ivp(shimmy, (0, unknown[2]), y, args=(6.0,), rtol=1e-11, atol=1e-13, method="DOP853").y[:, -1]
        return ends - y

    expected = fsolve(left, guess, xtol=1e-9)
    np.testing.assert_allclose(guess, expected, atol=1e-6)
    assert abs(begin) + abs(angle) > 1e-2  # and it is no straight run
