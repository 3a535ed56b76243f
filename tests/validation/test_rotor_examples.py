"""The rotors among the examples against small computations of their own and closed forms."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from scipy.optimize import brentq

import mbframe as mb

from .rotor_model import turning_roots

# The package's attributes of these names are the functions.
disks = import_module("mbframe.examples.rotor_with_disks")
unsymmetric = import_module("mbframe.examples.unsymmetric_rotor")


def matrices(rotor: mb.RigidBody) -> tuple[np.ndarray, ...]:
    """M, G, C and K of the deflection of the centre of mass, y + i z, and of the tilt θz - i θy.

    M r'' + (C - i Ω G) r' + K r = 0 has roots i ω with ω > 0 in forward whirl.
    """
    center = rotor.center_of_mass[0]
    across, along = rotor.inertia[1, 1], rotor.inertia[0, 0]
    C, K = np.zeros((2, 2, 2))
    for place, stiffness, damping in disks.BEARINGS.values():
        arm = np.array([1.0, place - center])
        K += stiffness * np.outer(arm, arm)
        C += damping * np.outer(arm, arm)
    return np.diag([rotor.mass, across]), np.diag([0.0, along]), C, K


def whirl(speed: float, rotor: mb.RigidBody) -> np.ndarray:
    """Roots, 1/s."""
    M, G, C, K = matrices(rotor)
    none, one = np.zeros((2, 2)), np.eye(2)
    right = np.block([[none, one], [-np.linalg.solve(M, K), -np.linalg.solve(M, C - 1j * speed * G)]])
    return np.linalg.eigvals(right)


def test_rotor_with_disks_weighs_what_its_parts_weigh() -> None:
    """Steel cylinders of the shaft and of the disks; the bolts add up to 5 %. It is round and in balance."""
    rotor = mb.examples.rotor_with_disks()["rotor"]
    np.testing.assert_allclose(rotor.center_of_mass[1:], 0.0, atol=1e-12)
    np.testing.assert_allclose(rotor.inertia, np.diag(np.diag(rotor.inertia)), atol=1e-12)
    assert rotor.inertia[1, 1] == pytest.approx(rotor.inertia[2, 2], rel=1e-12)
    mass = disks.DENSITY * np.pi * disks.RADIUS**2 * disks.LENGTH
    polar = 0.5 * mass * disks.RADIUS**2
    for _, radius in disks.DISKS:
        disk = disks.DENSITY * np.pi * radius**2 * disks.THICKNESS
        mass, polar = mass + disk, polar + 0.5 * disk * radius**2
    assert mass < rotor.mass < 1.08 * mass
    assert polar < rotor.inertia[0, 0] < 1.1 * polar


def test_rotor_with_disks_whirls_as_two_complex_equations_say() -> None:
    rotor = mb.examples.rotor_with_disks()["rotor"]
    diagram = mb.campbell(mb.examples.rotor_with_disks, np.linspace(0.0, 400.0, 9))
    assert not diagram.warnings
    assert diagram.stable.all()
    for k, speed in enumerate(diagram.speeds):
        for root in whirl(speed, rotor):
            near = np.abs(2.0 * np.pi * diagram.frequencies[k] - abs(root.imag)) < 1e-6 * abs(root)
            assert near.any()
            assert np.abs(diagram.damping[k, near] + root.real / abs(root)).min() < 1e-6
            if speed:
                assert ("forward" if root.imag > 0.0 else "backward") in diagram.whirl[k, near]
    # Without gyroscopic moments the two lowest whirls would be equally fast
    lowest = sorted(whirl(400.0, rotor).imag, key=abs)[:2]
    assert lowest[1] > 1.15 * -lowest[0] > 0.0
    # Critical speeds: where a root is i Ω. Without damping Ω² are eigenvalues of K r = Ω² (M - G) r
    M, G, _, K = matrices(rotor)
    squares = np.linalg.eigvals(np.linalg.solve(M - G, K)).real
    expected = [
        brentq(lambda speed, n=n: np.sort(whirl(speed, rotor).imag)[n] - speed, 0.8 * near, 1.2 * near, xtol=1e-10)
        for n, near in zip((2, 3), np.sort(np.sqrt(squares)), strict=True)
    ]
    assert [c.whirl for c in diagram.critical_speeds] == ["forward", "forward"]
    np.testing.assert_allclose([c.speed for c in diagram.critical_speeds], expected, rtol=1e-6)


def growth(speed: float) -> float:
    """Of the fastest motion, 1/s, from finite elements in axes that turn."""
    mass = unsymmetric.DENSITY * np.pi * unsymmetric.RADIUS**2 * unsymmetric.THICKNESS
    diametral = mass * (unsymmetric.RADIUS**2 / 4.0 + unsymmetric.THICKNESS**2 / 12.0)
    inertias = (mass * unsymmetric.RADIUS**2 / 2.0, diametral, diametral)
    moments = np.array(unsymmetric.second_moments())
    middle, end = unsymmetric.ELEMENTS // 2, unsymmetric.ELEMENTS
    roots = turning_roots(
        speed,
        unsymmetric.LENGTH,
        end,
        tuple(unsymmetric.YOUNG * moments),
        unsymmetric.DENSITY * unsymmetric.WIDTH * unsymmetric.HEIGHT,
        tuple(unsymmetric.DENSITY * moments),
        [(middle, mass, inertias)],
        (0, end),
    )
    return float(roots.real.max())


def edges() -> list[float]:
    """Where the finite elements begin and cease to be unstable: growth rises there like a square root."""
    return [brentq(lambda speed: growth(speed) - 0.1, *pair, rtol=1e-12) for pair in ((120.0, 156.0), (156.0, 200.0))]


def test_unsymmetric_rotor_is_unstable_between_its_critical_speeds() -> None:
    diagram = mb.campbell(mb.examples.unsymmetric_rotor, np.linspace(120.0, 200.0, 5))
    np.testing.assert_array_equal(diagram.stable, [growth(speed) < 1e-3 for speed in diagram.speeds])
    (found,) = diagram.unstable_ranges
    np.testing.assert_allclose(found, edges(), rtol=2e-4)  # the example has the static shapes of the shaft only
    np.testing.assert_allclose([c.speed for c in diagram.critical_speeds], found, rtol=1e-8)
    # 48 E I / L³ carries the disk and 17/35 of the shaft (Rayleigh's quotient of its deflection under a load there)
    mass = unsymmetric.DENSITY * np.pi * unsymmetric.RADIUS**2 * unsymmetric.THICKNESS
    mass += 17.0 / 35.0 * unsymmetric.DENSITY * unsymmetric.WIDTH * unsymmetric.HEIGHT * unsymmetric.LENGTH
    stiffness = 48.0 * unsymmetric.YOUNG * np.array(unsymmetric.second_moments()) / unsymmetric.LENGTH**3
    np.testing.assert_allclose(found, np.sqrt(stiffness / mass), rtol=2e-3)


@pytest.mark.parametrize("speed", [130.0, 156.0, 190.0])
def test_unsymmetric_rotor_grows_as_finite_elements_do(speed: float) -> None:
    frame = mb.TurningFrame(axis=(1.0, 0.0, 0.0), rate=speed)
    found = mb.linearize(mb.examples.unsymmetric_rotor(speed), frame=frame).eigenvalues.real.max()
    assert found == pytest.approx(growth(speed), rel=2e-4, abs=1e-3)
    assert (found > 1.0) == (speed == 156.0)
