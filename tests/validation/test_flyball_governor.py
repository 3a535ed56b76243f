"""The stiff flyball governor against an independent model in its symmetric coordinates."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

import mbframe as mb

# m, kg, N/m, N s/m: [Gonzalez2006], problem A05
A, L, G = 0.05, 1.0, 9.81
ROD, BALL, SLIDER = 0.3, 5.0, 3.0
STIFFNESS, DAMPING, FREE = 8e5, 4e4, 0.5
THIN = ROD * 0.01**2 / 6  # of a rod about its own axis
WIDE = ROD * (1.0 + 0.01**2) / 12  # of a rod across
HINGE = WIDE + ROD * L**2 / 4 + BALL * L**2  # of rod and ball about the hinge
SHAFT = THIN + SLIDER * 0.1**2 / 6  # shaft and slider about the vertical


def turning_inertia(beta: float) -> tuple[float, float]:
    """Moment of inertia of everything about the vertical, rods at the angle beta below the horizontal; derivative."""
    c, s = np.cos(beta), np.sin(beta)
    one = ROD * (A + L / 2 * c) ** 2 + BALL * (A + L * c) ** 2 + WIDE * c**2 + THIN * s**2
    by_beta = -2 * ROD * (A + L / 2 * c) * L / 2 * s - 2 * BALL * (A + L * c) * L * s - 2 * (WIDE - THIN) * c * s
    return SHAFT + 2 * one, 2 * by_beta


def rates(t: float, y: np.ndarray, momentum: float) -> list[float]:
    """Slider height s and rod angle beta; the angular momentum about the vertical is constant."""
    s, beta, s_rate, beta_rate = y
    x, z = L / 2 * np.cos(beta), L - L / 2 * np.sin(beta) - s  # from the slider's side to the rod's middle
    length = np.hypot(x, z)
    by_s, by_beta = -z / length, (-x * L / 2 * np.sin(beta) - z * L / 2 * np.cos(beta)) / length
    tension = STIFFNESS * (length - FREE) + DAMPING * (by_s * s_rate + by_beta * beta_rate)
    inertia, by_angle = turning_inertia(beta)
    omega = momentum / inertia
    weight = 2 * G * (ROD * L / 2 + BALL * L) * np.cos(beta)  # the rods sink as beta grows
    return [
        s_rate,
        beta_rate,
        -G - 2 * tension * by_s / SLIDER,
        (0.5 * by_angle * omega**2 + weight - 2 * tension * by_beta) / (2 * HINGE),
    ]


def test_motion_is_that_of_the_symmetric_model() -> None:
    system = mb.examples.flyball_governor()
    assert mb.degrees_of_freedom(system).count == 4
    times = np.linspace(0.0, 0.5, 26)
    result = mb.simulate(system, 0.5, t_eval=times, integrator=mb.DormandPrince(order=5, rtol=1e-8))
    momentum = turning_inertia(np.pi / 6)[0] * 2 * np.pi
    start = [0.5, np.pi / 6, 0.0, 0.0]
    exact = solve_ivp(rates, (0.0, 0.5), start, "Radau", times, args=(momentum,), rtol=1e-10, atol=1e-12)
    s, beta = exact.y[:2]
    assert np.ptp(s) > 0.05  # it moves
    assert np.abs(result.position("slider")[:, 2] - s).max() < 1e-6
    for name, side in (("right rod", 1.0), ("left rod", -1.0)):
        ball = result.position(name, local_point=(1.0, 0.0, 0.0))
        assert np.abs(np.hypot(ball[:, 0], ball[:, 1]) - A - np.cos(beta)).max() < 1e-6
        assert np.abs(ball[:, 2] - 1.0 + np.sin(beta)).max() < 1e-6
        assert np.sign(ball[0, 0]) == side
    assert np.abs(result.momentum.angular[:, 2] - momentum).max() < 1e-8 * momentum
    assert np.all(np.diff(result.energy.total) < 1e-9)  # lost in the dampers only
