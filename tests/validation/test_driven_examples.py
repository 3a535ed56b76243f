"""The driven examples against small models of their own."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import mbframe as mb

# The packages' attributes of these names are the functions.
double = import_module("mbframe.examples.driven_double_pendulum")
mathieu = import_module("mbframe.examples.mathieu_pendulum")


def test_a_pendulum_stands_upright_on_a_pivot_that_vibrates_fast_enough():
    """The averaged stiffness (depth rate)^2/(2 length^2) - g/length, to the first order in the depth."""
    for upright, rate in ((True, 240.0), (True, 110.0), (False, 240.0)):
        system = mb.examples.mathieu_pendulum(rate=rate, upright=upright)
        orbit = mb.periodic(system, mb.assemble(system), 2.0 * np.pi / rate, segments=1)
        square = 0.5 * (0.02 * rate / mathieu.LENGTH) ** 2 - (1.0 if upright else -1.0) * 9.81 / mathieu.LENGTH
        assert (orbit.stability == "unstable") == (square < 0.0)
        if square > 0.0:
            np.testing.assert_allclose(np.abs(orbit.exponents.imag), np.sqrt(square), rtol=0.02)


def rates(t: float, y: np.ndarray, depth: float) -> np.ndarray:
    """Angles of two equal bars against the vertical, and their rates; the pivot is shaken along a slope."""
    mass, length, damping = double.MASS, double.LENGTH, double.DAMPING
    way = np.array([np.sin(double.SLOPE), np.cos(double.SLOPE)])
    gx, gy = np.array([0.0, 9.81]) - depth * double.RATE**2 * np.cos(double.RATE * t) * way
    (a, b, u, v) = y
    coupling = 0.5 * mass * length**2
    inertia = np.array([[4.0 / 3.0 * mass * length**2, coupling * np.cos(a - b)], [0.0, mass * length**2 / 3.0]])
    inertia[1, 0] = inertia[0, 1]
    loads = [
        -1.5 * mass * length * (gy * np.sin(a) + gx * np.cos(a)) - coupling * np.sin(a - b) * v**2,
        -0.5 * mass * length * (gy * np.sin(b) + gx * np.cos(b)) + coupling * np.sin(a - b) * u**2,
    ]
    damped = damping * np.array([u - (v - u), v - u])
    return np.concatenate([[u, v], np.linalg.solve(inertia, loads - damped)])


def test_the_period_of_a_double_pendulum_doubles():
    period, step = 2.0 * np.pi / double.RATE, 1e-5

    def after(start: np.ndarray, depth: float) -> np.ndarray:
        run = solve_ivp(rates, (0.0, period), start, args=(depth,), rtol=1e-11, atol=1e-12, method="DOP853")
        return run.y[:, -1]

    def left(unknown: np.ndarray) -> np.ndarray:
        start, depth = unknown[:4], unknown[4]
        columns = [(after(start + d, depth) - after(start - d, depth)) / (2.0 * step) for d in step * np.eye(4)]
        return np.append(after(start, depth) - start, np.linalg.det(np.transpose(columns) + np.eye(4)))

    build = mb.examples.driven_double_pendulum
    start = mb.periodic(build(0.02), mb.assemble(build(0.02)), period, segments=1)
    assert start.stability == "asymptotic"
    branch = mb.continuation(build, start, (0.02, 0.06), at=0.02, period=period, step=0.9)
    (bend,) = branch.bifurcations
    assert bend.kind == "period doubling"
    motions = bend.point.state.motions
    guess = [np.arctan2(motions[n].rotation[1, 0], motions[n].rotation[0, 0]) for n in ("upper", "lower")]
    guess += [motions[n].angular_velocity[2] for n in ("upper", "lower")]
    found = np.array([*guess, bend.value])
    np.testing.assert_allclose(found, fsolve(left, found, xtol=1e-10), atol=1e-7)
    assert bend.value > 0.025
    assert np.ptp(bend.point.motion.angle("lower")) > 0.05
