"""Measures: values, gradients and rates of two moving markers."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe import jets, measures

RATES = {
    mb.Distance: measures.distance_rate,
    mb.Displacement: measures.displacement_rate,
    mb.Angle: measures.angle_rate,
}


def moving_markers(seed):
    """Two markers fixed to bodies in general motion, as a function of the displacement s along it."""
    rng = np.random.default_rng(seed)
    poses = [(rng.normal(size=3), Rotation.random(random_state=rng).as_matrix()) for _ in range(2)]
    rates = rng.normal(size=(2, 2, 3))

    def at(s):
        return [
            SimpleNamespace(
                turns=0.0,
                position=position + s * velocity,
                axes=axes + s * np.cross(omega, axes, axisb=0, axisc=0),
                velocity=velocity,
                angular_velocity=omega,
            )
            for (position, axes), (velocity, omega) in zip(poses, rates, strict=True)
        ]

    return at


def measure_of(cls):
    system = mb.System("measured")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    return cls("m", system.ground, body, axis=(0, 0, 1))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("cls", RATES)
def test_rate_is_the_derivative_along_the_motion(cls, seed):
    measure, at = measure_of(cls), moving_markers(seed)
    _, expected = jets.jacobian(lambda s: measure.value(0.0, *at(s)), [0.0])
    assert RATES[cls](*at(0.0)) == pytest.approx(expected[0], rel=1e-13)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("cls", RATES)
def test_gradient_is_the_derivative(cls, seed):
    measure = measure_of(cls)
    i, j = moving_markers(seed)(0.0)
    found = np.zeros((1, 24))
    measure.gradient(0.0, i, j, found)

    def value(position_i, axes_i, position_j, axes_j):
        i = SimpleNamespace(position=position_i, axes=axes_i)
        return [measure.value(0.0, i, SimpleNamespace(position=position_j, axes=axes_j, turns=0.0))]

    _, expected = jets.jacobian(value, [i.position, i.axes, j.position, j.axes])
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-13)


def test_axis_of_an_angle_is_z_in_a_revolute_joint():
    frame = Rotation.from_rotvec([0.3, -0.5, 0.9])
    i = SimpleNamespace(axes=frame.as_matrix())
    j = SimpleNamespace(turns=0.0, axes=(frame * Rotation.from_rotvec([0.0, 0.0, 2.5])).as_matrix())
    theta, axis = measures.angle(i, j)
    assert theta == pytest.approx(2.5, rel=1e-14)
    np.testing.assert_allclose(axis, i.axes[:, 2], rtol=0.0, atol=1e-14)
