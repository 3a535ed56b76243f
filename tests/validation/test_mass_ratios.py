"""Bodies whose masses differ by eight orders of magnitude: accelerations in closed form, and energy."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb

GRAVITY, LENGTH = 9.81, 1.0
SHAPE = np.array([0.01, 0.02, 0.015])  # inertia of each bar, per kg, m^2


def double_pendulum(first: float, second: float) -> mb.System:
    """Two bars of 1 m, held horizontally along x, with their centres of mass in the middle."""
    system = mb.System("double pendulum", gravity=(0.0, 0.0, -GRAVITY))
    upper = system.add(mb.RigidBody("upper", mass=first, inertia=first * SHAPE, position=(0.5, 0, 0)))
    lower = system.add(mb.RigidBody("lower", mass=second, inertia=second * SHAPE, position=(1.5, 0, 0)))
    system.add(mb.RevoluteJoint("A", system.ground, upper, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.RevoluteJoint("B", upper, lower, at=(1, 0, 0), axis=(0, 1, 0)))
    return system


# A pseudoinverse loses as many digits as the masses differ by: with less than 1e-7 its noise would rule the steps.
@pytest.mark.parametrize(
    ("acceleration", "rtol"),
    [(mb.AugmentedFormulation(), 1e-10), (mb.ProjectionMatrix(), 1e-10), (mb.UdwadiaKalaba(), 1e-7)],
)
@pytest.mark.parametrize("masses", [(1e-4, 1e4), (1e4, 1e-4)])
def test_a_mass_ratio_of_1e8(
    formulation: mb.Formulation, acceleration: mb.Acceleration, rtol: float, masses: tuple[float, float]
) -> None:
    """Unknown are both angles from the horizontal; the equation of the lower bar is divided by its mass."""
    first, second = masses
    half, spin = LENGTH / 2.0, SHAPE[1]
    matrix = [
        [first * (spin + half**2) + second * LENGTH**2, second * LENGTH * half],
        [LENGTH * half, spin + half**2],
    ]
    expected = np.linalg.solve(matrix, GRAVITY * np.array([first * half + second * LENGTH, half]))
    system = double_pendulum(first, second)
    found = mb.evaluate(system, formulation=formulation)
    for body, value in zip(("upper", "lower"), expected, strict=True):
        np.testing.assert_allclose(found.angular_acceleration(body)[0], (0.0, value, 0.0), rtol=1e-9, atol=1e-9)
    integrator = mb.DormandPrince(order=8, rtol=rtol, atol=rtol / 100.0)
    result = mb.simulate(system, 1.0, formulation=formulation, acceleration=acceleration, integrator=integrator)
    assert np.ptp(result.energy.total) < 10.0 * rtol * np.max(result.energy.kinetic)
    assert result.violation.position.max() < 1e-9


@pytest.mark.parametrize("body", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_udwadia_kalaba_says_where_masses_leave_it_no_digits(body: mb.Formulation) -> None:
    """A light bar between the ground and a heavy one: its two hinges are not redundant, as the warning once said."""
    system = double_pendulum(1.0, 1e10)
    result = mb.simulate(system, 0.1, dt=1e-3, formulation=body, acceleration=mb.UdwadiaKalaba())
    words = "; ".join(result.info.warnings)
    assert "masses differ so much that the equations of RevoluteJoint 'A' and RevoluteJoint 'B'" in words
    assert "use acceleration=mb.AugmentedFormulation()" in words
    assert "constraints depend on each other" not in words


def test_redundant_hinges_of_light_and_heavy_doors_are_still_called_redundant() -> None:
    system = double_pendulum(1.0, 1e6)
    system.add(mb.RevoluteJoint("A2", system.ground, system["upper"], at=(0, 0.3, 0), axis=(0, 1, 0)))
    result = mb.simulate(system, 0.1, dt=1e-3, acceleration=mb.UdwadiaKalaba())
    assert any("constraints depend on each other" in warning for warning in result.info.warnings)
    assert not any("masses" in warning for warning in result.info.warnings)
