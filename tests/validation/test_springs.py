"""Masses on springs and dampers in closed form."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import simpson

import mbframe as mb

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
MASS, STIFFNESS, FREE_LENGTH, GRAVITY = 2.5, 180.0, 0.8, 9.81
STATIC = FREE_LENGTH + MASS * GRAVITY / STIFFNESS  # length at rest


def hanging(length: float, speed: float = 0.0, damping: float = 0.0) -> mb.System:
    """A mass on a vertical spring-damper below the point (0.3, -0.2, 2); `speed` lengthens the spring."""
    system = mb.System("hanging mass")
    mass = system.add(
        mb.RigidBody(
            "mass",
            mass=MASS,
            inertia=(0.1, 0.2, 0.25),
            position=(0.3, -0.2, 2.0 - length),
            velocity=(0.0, 0.0, -speed),
        )
    )
    law = {"stiffness": STIFFNESS, "damping": damping, "free_length": FREE_LENGTH}
    system.add(mb.SpringDamper("spring", system.ground, mass, at_i=(0.3, -0.2, 2.0), **law))
    return system


def damped(t: Array, start: float, speed: float, damping: float) -> tuple[Array, Array]:
    """x and x' of m x'' + c x' + k x = 0, by its two (complex) roots."""
    roots = np.roots([MASS, damping, STIFFNESS]).astype(complex)
    first, second = np.linalg.solve([[1.0, 1.0], roots], [start, speed])
    terms = np.exp(np.outer(t, roots)) * [first, second]
    return terms.sum(axis=1).real, (terms @ roots).real


@pytest.mark.parametrize("damping", [0.0, 4.0, 70.0], ids=["undamped", "oscillating", "creeping"])
def test_damped_oscillation(formulation: mb.Formulation, damping: float) -> None:
    t = np.linspace(0.0, 4.0, 81)
    system = hanging(STATIC + 0.2, 0.5, damping)
    result = mb.simulate(system, 4.0, formulation=formulation, **PRECISE, t_eval=t)
    x, rate = damped(t, 0.2, 0.5, damping)
    expected = np.column_stack([np.full_like(t, 0.3), np.full_like(t, -0.2), 2.0 - STATIC - x])
    np.testing.assert_allclose(result.position("mass"), expected, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.velocity("mass")[:, 2], -rate, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity("mass"), 0.0, atol=1e-12)


def test_static_elongation(formulation: mb.Formulation) -> None:
    """At the length l0 + m g / k nothing moves; and a damped mass comes to rest there."""
    still = mb.evaluate(hanging(STATIC), formulation=formulation)
    np.testing.assert_allclose(still.acceleration("mass"), 0.0, atol=1e-13)
    moving = mb.simulate(hanging(FREE_LENGTH, damping=20.0), 10.0, formulation=formulation)
    np.testing.assert_allclose(moving.position("mass")[-1, 2], 2.0 - STATIC, rtol=0.0, atol=1e-6)


def test_spring_energy_is_potential(formulation: mb.Formulation) -> None:
    system = hanging(STATIC + 0.2, 0.5)
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE)
    length = 2.0 - result.position("mass")[:, 2]
    potential = 0.5 * STIFFNESS * (length - FREE_LENGTH) ** 2 + MASS * GRAVITY * (2.0 - length)
    np.testing.assert_allclose(result.energy.potential, potential, rtol=1e-13)
    assert np.ptp(result.energy.total) <= 1e-10 * result.energy.kinetic.max()


def test_damper_takes_the_energy_that_is_lost(formulation: mb.Formulation) -> None:
    """dE/dt = -c l'^2, integrated by Simpson's rule."""
    t = np.linspace(0.0, 2.0, 2001)
    system = hanging(STATIC + 0.2, 0.5, damping=6.0)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=t)
    lost = simpson(6.0 * result.velocity("mass")[:, 2] ** 2, x=t)
    assert lost > 3.0
    np.testing.assert_allclose(result.energy.total[0] - result.energy.total[-1], lost, rtol=1e-9)


def test_two_free_masses_oscillate_with_their_reduced_mass(formulation: mb.Formulation) -> None:
    """Along an oblique line: length l0 + a cos(w t) with w^2 = k (1/m1 + 1/m2); momentum is kept."""
    along = np.array([2.0, -1.0, 2.0]) / 3.0
    m1, m2, stretch = 1.5, 4.0, 0.25
    system = mb.System("two masses", gravity=(0.0, 0.0, 0.0))
    one = system.add(mb.RigidBody("one", mass=m1, inertia=(0.1, 0.1, 0.1), velocity=(0.1, 0.2, 0.3)))
    place = (FREE_LENGTH + stretch) * along
    two = system.add(mb.RigidBody("two", mass=m2, inertia=(0.2, 0.2, 0.2), position=place, velocity=(0.1, 0.2, 0.3)))
    system.add(mb.SpringDamper("spring", one, two, stiffness=STIFFNESS, free_length=FREE_LENGTH))
    t = np.linspace(0.0, 3.0, 61)
    result = mb.simulate(system, 3.0, formulation=formulation, **PRECISE, t_eval=t)
    frequency = np.sqrt(STIFFNESS * (1.0 / m1 + 1.0 / m2))
    between = np.outer(FREE_LENGTH + stretch * np.cos(frequency * t), along)
    np.testing.assert_allclose(result.position(two) - result.position(one), between, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.momentum.linear, np.tile((m1 + m2) * one.velocity, (61, 1)), rtol=0.0, atol=1e-11)


def test_eccentric_spring_turns_the_bodies(formulation: mb.Formulation) -> None:
    """Attached off the centres the spring tumbles both bodies; nothing outside acts, so all momentum is kept."""
    system = mb.System("tumbling", gravity=(0.0, 0.0, 0.0))
    one = system.add(mb.RigidBody("one", mass=1.0, inertia=(0.1, 0.2, 0.25), angular_velocity=(1.0, 0.0, 0.0)))
    two = system.add(mb.RigidBody("two", mass=2.0, inertia=(0.3, 0.2, 0.15), position=(2.0, 0.0, 0.0)))
    law = {"stiffness": 40.0, "damping": 0.5, "free_length": 1.0}
    system.add(mb.SpringDamper("spring", one, two, at_i=(0.3, 0.4, 0.1), at_j=(1.8, -0.5, 0.2), **law))
    methods = PRECISE | {"stabilization": mb.DirectCorrection(tolerance=1e-14)}
    result = mb.simulate(system, 3.0, formulation=formulation, **methods)
    assert np.abs(result.angular_velocity(two)[-1]).max() > 0.5
    angular = result.momentum.angular
    np.testing.assert_allclose(result.momentum.linear, 0.0, atol=1e-11)
    np.testing.assert_allclose(angular, np.tile(angular[0], (len(angular), 1)), rtol=0.0, atol=1e-11)
    assert np.all(np.diff(result.energy.total) <= 1e-11), "a damper never adds energy"


def test_spring_moment_on_a_held_body(formulation: mb.Formulation) -> None:
    """A spring that pulls a hinged bar: angular acceleration e . (r x F) / I, by hand."""
    system = mb.System("flap", gravity=(0.0, 0.0, 0.0))
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.01, 0.17, 0.17), position=(0.5, 0.0, 0.0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(
        mb.SpringDamper(
            "spring", system.ground, bar, at_i=(0.7, 1.2, 0.0), at_j=(1.0, 0.0, 0.0), stiffness=50.0, free_length=0.5
        )
    )
    pull = np.array([0.7, 1.2]) - [1.0, 0.0]
    tension = 50.0 * (np.hypot(*pull) - 0.5)
    moment = 1.0 * tension * pull[1] / np.hypot(*pull)
    alpha = mb.evaluate(system, formulation=formulation).angular_acceleration(bar)[0]
    np.testing.assert_allclose(alpha, [0.0, 0.0, moment / (0.17 + 2.0 * 0.25)], rtol=1e-12, atol=1e-12)
