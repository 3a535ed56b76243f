"""Roots of random systems that spin and roll, against a dense reference; more by `scripts/stress endure spinning`."""

import numpy as np
import pytest

import mbframe as mb

from .random_spinning import X, Y, Z, problems_of


@pytest.mark.sample(6)
@pytest.mark.parametrize("number", range(30))
def test_all_roots_are_those_of_the_reference_and_of_the_state_matrix(number: int) -> None:
    assert problems_of(2026, number) == []


def test_two_skates_may_run_side_by_side() -> None:
    """Two skates, a link between them, in line: zeros without vectors of their own, beside weights that hinges carry.

    Parallel tracks and straight ones that part are steady to first order: a double zero that no symmetry explains, and
    that rounding of the weights splits into two real roots. These are neither growth nor decay.
    """
    assert problems_of(730219, 12) == []


def test_bodies_that_hang_in_their_centres_of_mass_leave_nothing() -> None:
    """Two bodies on ball joints in one point, their centres of mass: weights cancel, and no stiffness is left.

    What remains of it is rounding of the weights, so that residuals are measured by what gravity does to the model.
    """
    assert problems_of(550178, 6) == []


def test_a_flapping_arm_on_a_round_hub_flaps() -> None:
    """An arm of mass m and inertia I about its centre, hinged beside the axis of a held hub that turns with a rate w.

    A hinge at the distance e, the centre l farther out: (I + m l^2) b'' = -w^2 (m l (e + l) + I_a - I_b) b for an
    arm with moments I_a across to hinge and arm, I_b along the arm; the turn of the whole leaves two zeros.
    """
    rate, e, length, mass, inertia = 3.0, 0.2, 0.5, 0.7, 0.04
    system = mb.System("rotor", gravity=(0, 0, 0))
    hub = system.add(mb.RigidBody("hub", mass=1.0, inertia=(1, 1, 1), angular_velocity=rate * Z))
    place = (e + length) * X
    arm = mb.RigidBody("arm", mass=mass, inertia=(inertia,) * 3, position=place, angular_velocity=rate * Z)
    arm.update(velocity=np.cross(rate * Z, place))
    system.add(arm)
    system.add(mb.RevoluteJoint("shaft", system.ground, hub, at=(0, 0, 0), axis=Z))
    system.add(mb.RevoluteJoint("flapping", hub, arm, at=e * X, axis=Y))
    lin = mb.linearize(system, frame=mb.TurningFrame(Z, rate))
    expected = rate * np.sqrt(mass * length * (e + length) / (inertia + mass * length**2))
    np.testing.assert_allclose(np.sort(lin.eigenvalues.imag), [-expected, 0.0, 0.0, expected], atol=1e-12)
    assert len(lin.ignorable) == 2
    assert lin.stability == "marginal"


def test_a_weak_spring_beside_stiff_ones_is_no_symmetry() -> None:
    """Two bodies, tied by 1e10 N/m, on a spring of 1 N/m: they swing together with 1/sqrt(2) rad/s."""
    system = mb.System("weak", gravity=(0, 0, 0))
    first = system.add(mb.RigidBody("first", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0)))
    second = system.add(mb.RigidBody("second", mass=1.0, inertia=(1, 1, 1), position=(2, 0, 0)))
    for body in (first, second):
        system.add(mb.TranslationalJoint(f"rail of {body.name}", system.ground, body, at=(0, 0, 0), axis=X))
    system.add(mb.SpringDamper("weak", system.ground, first, at_i=(0, 0, 0), at_j=(1, 0, 0), stiffness=1.0))
    system["weak"].update(free_length=1.0)  # type: ignore[union-attr]
    system.add(mb.SpringDamper("stiff", first, second, at_i=(1, 0, 0), at_j=(2, 0, 0), stiffness=1e10))
    system["stiff"].update(free_length=1.0)  # type: ignore[union-attr]
    lin = mb.linearize(system)
    assert not lin.ignorable
    np.testing.assert_allclose(np.sort(lin.eigenvalues.imag)[[1, 2]], [-np.sqrt(0.5), np.sqrt(0.5)], rtol=1e-6)
