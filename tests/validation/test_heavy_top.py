"""The heavy symmetric top: conserved quantities, steady precession, nutation.

Formulas: Goldstein, Poole, Safko, Classical Mechanics (3rd ed., 2002), section 5.7.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.examples.heavy_top import AXIAL, LENGTH, MASS, TRANSVERSE

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
A = TRANSVERSE + MASS * LENGTH**2  # about the fixed point
WEIGHT = MASS * 9.81
LEAN = 0.4


def axis_of(result: mb.Result) -> Array:
    return result.rotation("top").apply([0.0, 0.0, 1.0])


def test_energy_vertical_angular_momentum_and_spin_are_kept(formulation: mb.Formulation) -> None:
    result = mb.simulate(mb.examples.heavy_top(), 3.0, formulation=formulation, **PRECISE)
    energy, vertical = result.energy.total, result.momentum.angular[:, 2]
    spin = np.sum(result.angular_velocity("top") * axis_of(result), axis=1)
    assert np.abs(energy / energy[0] - 1.0).max() <= 1e-10
    assert np.abs(vertical / vertical[0] - 1.0).max() <= 1e-10
    assert np.abs(spin / 150.0 - 1.0).max() <= 1e-10


def precession_rates(spin: float, lean: float) -> tuple[float, float]:
    """Slow and fast rates of steady precession: A cos(lean) p^2 - C spin p + m g l = 0."""
    slow, fast = sorted(np.roots([A * np.cos(lean), -AXIAL * spin, WEIGHT * LENGTH]).real)
    return slow, fast


def steady_top(spin: float, rate: float, lean: float = LEAN) -> mb.System:
    """The example's top in steady precession: `rate` about z, and about its axis what remains of `spin`."""
    system = mb.examples.heavy_top(spin, lean)
    top = system["top"]
    axis = top.rotation[:, 2]
    top.angular_velocity = rate * np.array([0.0, 0.0, 1.0]) + (spin - rate * np.cos(lean)) * axis
    return system


@pytest.mark.parametrize("which", [0, 1], ids=["slow", "fast"])
def test_steady_precession(formulation: mb.Formulation, which: int) -> None:
    spin = 220.0
    rate = precession_rates(spin, LEAN)[which]
    system = steady_top(spin, rate)
    t = np.linspace(0.0, 2.0, 81)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=t)
    axis = axis_of(result)
    assert np.abs(np.arccos(axis[:, 2]) - LEAN).max() <= 1e-9
    expected = Rotation.from_rotvec(np.outer(rate * t, [0.0, 0.0, 1.0])).apply(axis[0])
    np.testing.assert_allclose(axis, expected, rtol=0.0, atol=1e-8)


def test_point_carries_weight_and_centripetal_force(formulation: mb.Formulation) -> None:
    """The centre of mass runs in a circle of radius l sin(lean): F = m g z - m p^2 l sin(lean) e."""
    spin = 220.0
    rate = precession_rates(spin, LEAN)[1]
    t = np.linspace(0.0, 0.2, 11)
    result = mb.simulate(steady_top(spin, rate), 0.2, formulation=formulation, **PRECISE, t_eval=t)
    outward = np.column_stack([np.cos(rate * t), np.sin(rate * t), np.zeros_like(t)])
    expected = -MASS * rate**2 * LENGTH * np.sin(LEAN) * outward + [0.0, 0.0, WEIGHT]
    reaction = result.reaction("point")
    np.testing.assert_allclose(reaction.force, expected, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(reaction.torque, 0.0, atol=1e-9)


def test_nutation_turns_at_the_roots_of_the_cubic(formulation: mb.Formulation) -> None:
    """u = cos(lean) moves between two roots of (1 - u^2)(alpha - beta u) - (b - a u)^2, from a pushed start."""
    spin, push = 150.0, np.array([3.0, 1.0, 2.0])
    system = mb.examples.heavy_top(spin, LEAN)
    top = system["top"]
    axis = top.rotation[:, 2]
    across = push - (push @ axis) * axis
    top.angular_velocity = spin * axis + across
    energy = 0.5 * A * across @ across + WEIGHT * LENGTH * axis[2]  # without the constant part of the spin
    vertical = AXIAL * spin * axis[2] + A * across[2]
    a, b = AXIAL * spin / A, vertical / A
    alpha, beta = 2.0 * energy / A, 2.0 * WEIGHT * LENGTH / A
    u = np.polynomial.Polynomial([0.0, 1.0])
    roots = np.sort(((1.0 - u**2) * (alpha - beta * u) - (b - a * u) ** 2).roots().real)
    low, high = roots[0], roots[1]
    assert -1.0 < low < high < 1.0 < roots[2]

    def climbing(t: float, state: mb.State) -> float:
        return state.velocity("top", (0.0, 0.0, 1.0))[2]

    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, events=[climbing])
    turns = [(e.t, float(e.state.rotation("top").apply([0.0, 0.0, 1.0])[2])) for e in result.events]
    assert len(turns) >= 6
    heights = np.array([height for _, height in turns])
    lower = heights < 0.5 * (low + high)
    assert np.all(lower[1:] != lower[:-1]), "upper and lower turning points alternate"
    np.testing.assert_allclose(heights, np.where(lower, low, high), rtol=0.0, atol=1e-9)
    cosine = axis_of(result)[:, 2]
    assert low - 1e-9 <= cosine.min() <= cosine.max() <= high + 1e-9


def test_sleeping_top_stays_upright_only_if_it_spins_fast_enough() -> None:
    """Upright spin is stable for (C spin)^2 > 4 A m g l."""
    critical = np.sqrt(4.0 * A * WEIGHT * LENGTH) / AXIAL
    leans = []
    for factor in (0.9, 1.1):
        result = mb.simulate(mb.examples.heavy_top(factor * critical, 1e-4), 4.0, **PRECISE)
        leans.append(np.arccos(np.clip(axis_of(result)[:, 2], -1.0, 1.0)).max())
    assert leans[0] > 0.3
    assert leans[1] < 1e-3
