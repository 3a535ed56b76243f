"""A free rigid body: momentum, energy, and the motion of the asymmetric top in closed form."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from scipy.special import ellipj

import mbframe as mb

Array = NDArray[np.float64]

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
# In natural coordinates momentum is kept as well as the intrinsic constraints are.
EXACT = PRECISE | {"stabilization": mb.DirectCorrection(tolerance=1e-14)}
TURNED = Rotation.from_euler("ZXZ", [0.7, 1.1, -2.3])
MOMENTS = np.array([0.2, 0.35, 0.5])


def weightless(**values: object) -> mb.System:
    system = mb.System("space", gravity=(0.0, 0.0, 0.0))
    system.add(mb.RigidBody("body", **({"mass": 2.0, "inertia": MOMENTS, "rotation": TURNED} | values)))
    return system


def test_momentum_and_energy_are_kept(formulation: mb.Formulation) -> None:
    """Products of inertia, the origin apart from the centre of mass, and a tumbling start."""
    system = weightless(
        inertia=(0.3, 0.5, 0.6, 0.02, -0.03, 0.05),
        center_of_mass=(0.1, -0.2, 0.05),
        position=(0.3, 0.1, -0.2),
        velocity=(0.4, -0.3, 0.2),
        angular_velocity=(1.0, -5.0, 0.7),
    )
    result = mb.simulate(system, 10.0, formulation=formulation, **EXACT)
    momentum, energy = result.momentum, result.energy
    assert np.abs(momentum.linear - momentum.linear[0]).max() <= 1e-11
    assert np.abs(momentum.angular - momentum.angular[0]).max() <= 1e-11
    assert np.abs(energy.total / energy.total[0] - 1.0).max() <= 1e-11


def test_momentum_starts_as_defined(formulation: mb.Formulation) -> None:
    """p = m v_c and L = r_c x m v_c + A I A^T omega, by hand."""
    center, velocity, omega = np.array([0.1, -0.2, 0.05]), np.array([0.4, -0.3, 0.2]), np.array([1.0, -5.0, 0.7])
    position = np.array([0.3, 0.1, -0.2])
    system = weightless(center_of_mass=center, position=position, velocity=velocity, angular_velocity=omega)
    momentum = mb.evaluate(system, formulation=formulation).momentum
    frame = TURNED.as_matrix()
    arm = frame @ center
    linear = 2.0 * (velocity + np.cross(omega, arm))
    angular = np.cross(position + arm, linear) + frame @ np.diag(MOMENTS) @ frame.T @ omega
    np.testing.assert_allclose(momentum.linear[0], linear, rtol=1e-14)
    np.testing.assert_allclose(momentum.angular[0], angular, rtol=1e-14)


def euler_top(t: Array, first: float, third: float) -> Array:
    """Body angular velocity of the torque-free top that starts with (first, 0, third), I1 < I2 < I3.

    Landau, Lifshitz, Mechanics (3rd ed., 1976), section 37, eq. 37.10; where M^2 < 2 E I2 the axes 1 and 3 change their
    roles. The second component grows first in both cases: I2 omega2' = (I3 - I1) omega3 omega1.
    """
    energy2 = MOMENTS[0] * first**2 + MOMENTS[2] * third**2  # 2 E
    square = (MOMENTS[0] * first) ** 2 + (MOMENTS[2] * third) ** 2  # M^2
    swapped = square < energy2 * MOMENTS[1]
    i1, i2, i3 = MOMENTS[::-1] if swapped else MOMENTS
    rate = np.sqrt((i3 - i2) * (square - energy2 * i1) / (i1 * i2 * i3))
    modulus = (i2 - i1) * (energy2 * i3 - square) / ((i3 - i2) * (square - energy2 * i1))
    sn, cn, dn, _ = ellipj(rate * t, modulus)
    one = np.sqrt((energy2 * i3 - square) / (i1 * (i3 - i1))) * cn
    two = np.sqrt((energy2 * i3 - square) / (i2 * (i3 - i2))) * sn
    three = np.sqrt((square - energy2 * i1) / (i3 * (i3 - i1))) * dn
    return np.column_stack([three, two, one] if swapped else [one, two, three])


@pytest.mark.parametrize(("first", "third"), [(2.0, 3.0), (3.0, 1.0)], ids=["about the longest", "about the shortest"])
def test_asymmetric_top_follows_elliptic_functions(formulation: mb.Formulation, first: float, third: float) -> None:
    system = weightless(angular_velocity=TURNED.apply([first, 0.0, third]))
    t = np.linspace(0.0, 10.0, 101)
    result = mb.simulate(system, 10.0, formulation=formulation, **PRECISE, t_eval=t)
    local = result.rotation("body").inv().apply(result.angular_velocity("body"))
    np.testing.assert_allclose(local, euler_top(t, first, third), rtol=0.0, atol=1e-10)


def test_angular_acceleration_satisfies_eulers_equations(formulation: mb.Formulation) -> None:
    system = weightless(angular_velocity=TURNED.apply([1.0, -2.0, 3.0]))
    alpha = mb.evaluate(system, formulation=formulation).angular_acceleration("body")[0]
    i1, i2, i3 = MOMENTS
    expected = np.array([(i2 - i3) * -2.0 * 3.0 / i1, (i3 - i1) * 3.0 * 1.0 / i2, (i1 - i2) * 1.0 * -2.0 / i3])
    np.testing.assert_allclose(TURNED.inv().apply(alpha), expected, rtol=1e-13)


def test_spin_about_an_axis_of_symmetry_precesses_regularly(formulation: mb.Formulation) -> None:
    """The axis of a free symmetric top turns about its angular momentum at the rate L / I1."""
    transverse, axial = 0.4, 0.25
    omega = np.array([1.2, 0.0, 5.0])
    system = weightless(inertia=(transverse, transverse, axial), angular_velocity=omega, rotation=np.eye(3))
    t = np.linspace(0.0, 8.0, 41)
    result = mb.simulate(system, 8.0, formulation=formulation, **PRECISE, t_eval=t)
    momentum = np.array([transverse * 1.2, 0.0, axial * 5.0])
    turn = Rotation.from_rotvec(np.outer(t, momentum / transverse))
    np.testing.assert_allclose(result.rotation("body").apply([0, 0, 1]), turn.apply([0, 0, 1]), rtol=0.0, atol=1e-10)


def test_centre_of_mass_flies_a_parabola(formulation: mb.Formulation) -> None:
    center, gravity = np.array([0.3, -0.1, 0.2]), np.array([0.5, 0.0, -9.81])
    position, velocity, omega = np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0, 6.0]), np.array([4.0, -3.0, 5.0])
    system = mb.System("thrown", gravity=gravity)
    body = system.add(
        mb.RigidBody(
            "body",
            mass=1.5,
            inertia=(0.3, 0.5, 0.6, 0.02, -0.03, 0.05),
            center_of_mass=center,
            position=position,
            rotation=TURNED,
            velocity=velocity,
            angular_velocity=omega,
        )
    )
    t = np.linspace(0.0, 2.0, 41)
    result = mb.simulate(system, 2.0, formulation=formulation, **PRECISE, t_eval=t)
    arm = TURNED.apply(center)
    launch = velocity + np.cross(omega, arm)
    column = t[:, None]
    path = position + arm + launch * column + 0.5 * gravity * column**2
    np.testing.assert_allclose(result.position(body, center), path, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.velocity(body, center), launch + gravity * column, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(result.acceleration(body, center), np.tile(gravity, (len(t), 1)), rtol=0.0, atol=1e-10)
    energy = result.energy
    assert np.ptp(energy.total) <= 1e-10 * energy.kinetic.max()


def test_tennis_racket_flips() -> None:
    """The example: a spin about the intermediate axis is unstable, and reverses as seen from the body."""
    result = mb.simulate(mb.examples.free_body(), 10.0, **PRECISE)
    along = result.rotation("racket").inv().apply(result.angular_velocity("racket"))[:, 1]
    assert along.max() > 5.9
    assert along.min() < -5.9
    angular = result.momentum.angular
    assert np.abs(angular - angular[0]).max() <= 1e-11
