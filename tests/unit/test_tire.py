"""Tires, roads, and stops of distances."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from mbframe import jets
from mbframe.equations.user import motion, wrench_function
from mbframe.forces.tire import jumps


def quarter_car(**values: object) -> tuple[mb.System, mb.RigidBody]:
    """A wheel that moves up and down over a road."""
    system = mb.System("quarter car")
    wheel = system.add(mb.RigidBody("wheel", mass=40.0, inertia=(1.0, 2.0, 1.0), position=(0.0, 0.0, 0.3)))
    system.add(mb.TranslationalJoint("guide", system.ground, wheel, at=(0.0, 0.0, 0.3), axis=(0.0, 0.0, 1.0)))
    system.add(mb.Tire("tire", system.ground, wheel, radius=0.3, stiffness=2e5, **values))
    return system, wheel


def test_rest_on_a_flat_road() -> None:
    system, wheel = quarter_car()
    rest = mb.equilibrium(system)
    assert abs(rest.position(wheel)[2] - 0.3 + 40.0 * 9.81 / 2e5) < 1e-12
    assert abs(rest.stiffness[0] - 2e5 / 40.0) < 1e-6


def test_a_passing_road_shakes_the_wheel() -> None:
    """m z'' = k (R + h(v t) - z) + c (h' v - z') - m g for a harmonic road: the closed form of the steady vibration."""
    system, wheel = quarter_car(damping=4000.0, profile="0.001*sin(4*x)", speed=5.0, plane_point=(0.0, 0.0, 0.0))
    result = mb.simulate(system, 3.0, t_eval=np.linspace(2.5, 3.0, 51), integrator=mb.DormandPrince(rtol=1e-10))
    omega = 20.0
    gain = (2e5 + 4000j * omega) / (2e5 + 4000j * omega - 40.0 * omega**2)
    expected = 0.3 - 40.0 * 9.81 / 2e5 + (0.001 * gain * np.exp(1j * omega * result.t)).imag
    assert np.abs(result.position(wheel)[:, 2] - expected).max() < 1e-9
    guide = result.reaction("guide").force  # which takes up the force along the road: -h'(x) N
    push = 40.0 * (result.acceleration(wheel)[:, 2] + 9.81)
    assert np.abs(guide[:, 0] - 0.004 * np.cos(omega * result.t) * push).max() < 1e-6


def test_a_moving_wheel_on_a_frictionless_road_keeps_its_energy() -> None:
    """The road stands still: the force is normal to it, so what is lost in height is gained in speed."""
    system = mb.System("hill")
    wheel = system.add(mb.PointMass("wheel", mass=5.0, position=(0.0, 0.0, 0.32), velocity=(3.0, 0.0, 0.0)))
    system.add(mb.Tire("tire", system.ground, wheel, radius=0.3, stiffness=1e4, profile="0.1*sin(x)"))
    result = mb.simulate(system, 2.0, integrator=mb.DormandPrince(rtol=1e-10))
    energy = result.energy.total
    assert np.ptp(result.velocity(wheel)[:, 0]) > 0.2
    assert np.abs(energy - energy[0]).max() < 1e-6 * abs(energy[0])


def test_derivatives_with_speed_and_damping() -> None:
    system, wheel = quarter_car(damping=300.0, profile="0.2*sin(2*x)", speed=7.0)
    tire = system["tire"]
    rng = np.random.default_rng(3)
    eq = mb.Equations(system)
    i, j = (eq.tables.markers[eq.tables.place(m)].copy() for m in (tire.i, tire.j))
    for marker in (i, j):
        marker.axes[:] = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
        marker.velocity[:], marker.angular_velocity[:] = rng.normal(size=3), rng.normal(size=3)
    j.position[:] = (0.2, 0.1, 0.1)
    found = np.zeros((6, 36))
    tire.wrench_gradient(0.3, i, j, found)
    expected = jets.jacobian(wrench_function(tire, 0.3), [*motion(i), *motion(j)])[1]
    assert np.abs(expected).max() > 1e3
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    assert wheel.name == "wheel"


def test_it_never_pulls() -> None:
    system, wheel = quarter_car(damping=1e5)
    wheel.position = (0.0, 0.0, 0.299)
    i, j = (type("marker", (), {})() for _ in range(2))
    for marker, z, rise in ((i, 0.0, 0.0), (j, 0.299, 1.0)):
        marker.position, marker.axes = np.array([0.0, 0.0, z]), np.eye(3)
        marker.velocity, marker.angular_velocity = np.array([0.0, 0.0, rise]), np.zeros(3)
    force, _ = system["tire"].wrench(0.0, i, j)
    assert np.all(np.array(force) == 0.0)
    j.velocity[2] = 0.0
    assert abs(system["tire"].wrench(0.0, i, j)[0][2] - 200.0) < 1e-9


# --- bad roads --------------------------------------------------------------------------------------------------------


def test_a_jump_is_warned_of() -> None:
    system, _ = quarter_car(profile="if(x < 2, 0, 0.01)", speed=5.0, damping=2000.0)
    (warning,) = mb.simulate(system, 0.5, dt=1e-3).info.warnings
    assert warning.startswith("Tire 'tire', profile: the road jumps at x = 2 m")
    assert "step(x, x0, h0, x1, h1)" in warning
    assert mb.simulate(system, 0.3, dt=1e-3).info.warnings == []  # it does not come that far
    system["tire"].profile = "step(x, 2, 0, 2.01, 0.01)"
    assert mb.simulate(system, 0.5, dt=1e-3).info.warnings == []


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("0.1*sin(50*x)", []),
        ("abs(x - 1)", []),
        ("if(x < 1, 0, if(x < 3, 0.5, 0.2)) + 0.1*sin(9*x)", [1.0, 3.0]),
        ("sign(x - 2.5)", [2.5]),
    ],
)
def test_jumps_are_told_from_slopes(text: str, places: list[float]) -> None:
    found = jumps(mb.Function(text, ("x",)), 0.0, 5.0)
    assert found == pytest.approx(places, abs=1e-9)


def test_bad_parameters() -> None:
    system, wheel = quarter_car()
    with pytest.raises(mb.ModelError, match="Tire 't', direction: is not perpendicular to the normal"):
        mb.Tire("t", system.ground, wheel, radius=0.3, stiffness=1.0, direction=(1.0, 0.0, 1.0))
    with pytest.raises(mb.ModelError, match=r"Function.table, x: x\[1\] = 0.0 follows 0.0"):
        mb.Tire("t", system.ground, wheel, radius=0.3, stiffness=1.0, profile=mb.Function.table([0, 0], [0, 1], "x"))
    with pytest.raises(
        mb.ModelError, match=r"DistanceLimit 's', upper: found 0.5; allowed is a number above lower = 1"
    ):
        mb.DistanceLimit("s", system.ground, wheel, lower=1.0, upper=0.5, stiffness=1.0)


# --- stops ------------------------------------------------------------------------------------------------------------


def test_bump_stop_and_rope() -> None:
    """At rest: m g = k d on a bump stop below, and on a rope above."""
    for at, limits, expected in (
        ((0.0, 0.0, -1.0), {"lower": 0.8}, -1.0 + 0.8 - 2.0 * 9.81 / 1e5),
        ((0.0, 0.0, 1.0), {"upper": 1.5}, 1.0 - 1.5 - 2.0 * 9.81 / 1e5),
    ):
        system = mb.System("stop")
        mass = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1.0, 1.0, 1.0)))
        system.add(mb.TranslationalJoint("guide", system.ground, mass, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
        system.add(mb.DistanceLimit("stop", system.ground, mass, at_i=at, stiffness=1e5, damping=0.1, **limits))
        assert abs(mb.equilibrium(system).position(mass)[2] - expected) < 1e-10
