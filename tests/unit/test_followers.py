"""Followers: numbers that are integrated along with the motion, and that nothing else takes notice of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbframe as mb


class Heun(mb.Integrator):
    """A user's method, which knows q and v only."""

    order = 2

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        a, r = eq.accelerate(t, q, v)[0], eq.coordinate_rates(q, v)
        middle_q, middle_v = q + 0.5 * h * r, v + 0.5 * h * a
        a, r = eq.accelerate(t + 0.5 * h, middle_q, middle_v)[0], eq.coordinate_rates(middle_q, middle_v)
        return q + h * r, v + h * a


def driven_shaft(motion: str) -> mb.System:
    system = mb.System("shaft")
    shaft = system.add(mb.RigidBody("shaft", mass=1.0, inertia=(0.1, 0.1, 0.2)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Driver("motor", hinge, angle=motion))
    return system


def geared_shafts() -> mb.System:
    """A motor turns one shaft, which turns the other through a gear, thrice as fast and backwards."""
    system = driven_shaft("t**2")
    other = system.add(mb.RigidBody("other", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(1, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("far hinge", system.ground, other, at=(1, 0, 0), axis=(0, 0, 1)))
    system.add(mb.GearJoint("gear", system["hinge"], hinge, ratio=-1.0 / 3.0))
    return system


def test_a_users_integrator_counts_turns_of_drivers() -> None:
    result = mb.simulate(driven_shaft("8*t"), 3.0, dt=0.01, integrator=Heun())
    np.testing.assert_allclose(result.z[:, 0], 8.0 * result.t, atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity("shaft")[:, 2], 8.0, atol=1e-9)


def test_a_users_integrator_takes_steps_of_more_than_half_a_turn() -> None:
    """0.6 turns a step: the nearest turn to that of the step before would be the wrong one."""
    planar = mb.System("wheel", dimension=2)
    wheel = planar.add(mb.PlanarBody("wheel", mass=1.0, inertia=0.3, angular_velocity=1.2 * np.pi))
    hinge = planar.add(mb.RevoluteJoint("hinge", planar.ground, wheel, at=(0, 0)))
    planar.add(mb.Driver("motor", hinge, angle=f"{1.2 * np.pi!r}*t"))
    result = mb.simulate(planar, 10.0, dt=1.0, integrator=Heun())
    np.testing.assert_allclose(result.z[:, 0], 1.2 * np.pi * result.t, atol=1e-9)


def test_a_users_integrator_follows_gears() -> None:
    """theta_2 = -3 theta_1 = -3 t^2."""
    result = mb.simulate(geared_shafts(), 4.0, dt=0.005, integrator=Heun())
    angles = sorted(float(value[0]) for value in result.state(-1).element_states.values())
    np.testing.assert_allclose(angles, [-48.0, 16.0, 16.0], atol=1e-9)
    np.testing.assert_allclose(result.angular_velocity("other")[-1, 2], -24.0, atol=1e-9)


@pytest.mark.parametrize("integrator", [mb.DormandPrince(order=5), mb.RadauIIA()])
def test_the_step_size_does_not_depend_on_followers(integrator: mb.Integrator) -> None:
    """An error norm that sees a counter has a tolerance relative to it, and allows larger steps after many turns."""
    system = geared_shafts()
    plain = mb.simulate(system, 2.0, integrator=integrator)
    start = mb.assemble(system)
    turned = dict(start.element_states)
    one, other = (name for name in turned if name.startswith("gear"))
    turned[one], turned[other] = turned[one] + 2e3 * np.pi, turned[other] - 6e3 * np.pi
    far = mb.simulate(system, 2.0, integrator=integrator, initial=mb.State(0.0, start.motions, turned))
    np.testing.assert_allclose(far.t, plain.t, rtol=1e-6)
    np.testing.assert_allclose(far.z[:, 1:] - plain.z[:, 1:], [[2e3 * np.pi, -6e3 * np.pi]] * len(plain), atol=1e-6)


@pytest.mark.parametrize("integrator", [mb.RungeKutta4(), mb.RadauIIA()])
def test_a_motor_that_has_turned_far_goes_on(integrator: mb.Integrator) -> None:
    """After 1e6 rad the rounding of the angle exceeds the tolerance of constraints: that is no gap."""
    system = driven_shaft("1e6 + 3*t")
    described = mb.assemble(driven_shaft("3*t")).motions
    turn = 1e6 % (2.0 * np.pi)
    c, s = np.cos(turn), np.sin(turn)
    motion = replace(described["shaft"], rotation=np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]))
    (name,) = mb.evaluate(system, mb.State(0.0, {"shaft": motion})).state(0).element_states
    start = mb.State(0.0, {"shaft": motion}, {name: np.array([1e6])})
    dt = None if integrator.adaptive else 0.01
    result = mb.simulate(system, 2.0, dt, initial=start, integrator=integrator, t_eval=[1e-6, 0.5, 2.0])
    np.testing.assert_allclose(result.z[:, 0], 1e6 + 3.0 * result.t, atol=1e-8)
    np.testing.assert_allclose(result.angular_velocity("shaft")[:, 2], 3.0, atol=1e-8)


def spinning_wheel(spin: float) -> tuple[mb.System, mb.RigidBody]:
    system = mb.System("wheel", gravity=(0, 0, 0))
    wheel = system.add(mb.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, spin)))
    system.add(mb.RevoluteJoint("pin", system.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    return system, wheel


def test_turns_that_a_state_cannot_tell_are_named() -> None:
    system, wheel = spinning_wheel(20.0)
    state = mb.simulate(system, 1.0).state(-1)
    system.add(mb.TorsionalSpringDamper("late", system.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), stiffness=2.0))
    first = mb.simulate(system, 1.1, initial=state)
    assert any("'late'" in text and "turned" in text for text in first.info.warnings)
    assert not mb.simulate(system, 1.2, initial=first.state(-1)).info.warnings


def test_bodies_that_turn_too_far_in_a_fixed_step_are_named() -> None:
    system, _ = spinning_wheel(40.0)
    (text,) = mb.simulate(system, 1.0, dt=0.1).info.warnings
    assert "'wheel' turns by up to 4 rad in a step" in text
    assert not mb.simulate(system, 1.0, dt=0.01).info.warnings
