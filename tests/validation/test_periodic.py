"""Periodic motions and their multipliers against closed forms, published digits and independent integrations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.special import ellipk

import mbframe as mb


def pendulum(angle: float) -> mb.System:
    system = mb.System("pendulum", dimension=2, gravity=(0, -9.81))
    at = (np.sin(angle), -np.cos(angle))
    bob = system.add(mb.PlanarBody("bob", mass=1.0, inertia=0.02, position=at))
    system.add(mb.RevoluteJoint("pin", system.ground, bob, at=(0, 0)))
    return system


class VanDerPol(mb.ForceElement):
    mu = mb.parameter(1.0, unit="N s/m", help="size of the damping that changes its sign")

    def wrench(self, t, i, j):
        x, v = j.position[0] - i.position[0], j.velocity[0]
        return np.array([self.mu * (1.0 - x * x) * v - x, 0.0, 0.0]), np.zeros(3)


def on_rail(name: str, x: float, mass: float = 1.0) -> tuple[mb.System, mb.PointMass]:
    system = mb.System(name, gravity=(0, 0, 0))
    body = system.add(mb.PointMass("mass", mass=mass, position=(x, 0, 0)))
    system.add(mb.PointOnLineJoint("rail", system.ground, body, at=(x, 0, 0), axis=(1, 0, 0)))
    return system, body


def van_der_pol() -> tuple[float, float]:
    """Period and amplitude for mu = 1, from an integration of its own that ends where the velocity is zero."""

    def rate(t, y):
        return [y[1], (1.0 - y[0] ** 2) * y[1] - y[0]]

    def turning(t, y):
        return y[1]

    turning.direction = -1.0
    run = solve_ivp(rate, (0.0, 80.0), [2.0, 0.0], rtol=1e-13, atol=1e-14, method="DOP853", events=turning)
    ends, widest = run.t_events[0], run.y_events[0][-1, 0]
    return float(ends[-1] - ends[-2]), float(widest)


def test_a_limit_cycle_found_from_a_run():
    system, body = on_rail("Van der Pol", 1.5)
    system.add(VanDerPol("force", system.ground, body, at_i=(0, 0, 0), at_j=(1.5, 0, 0)))
    orbit = mb.periodic(system, mb.simulate(system, 14.0))
    period, widest = van_der_pol()
    assert abs(orbit.period - period) < 1e-9
    amplitude = orbit.motion.position(body)[:, 0]
    k = int(np.argmax(amplitude))
    fine = mb.simulate(
        system,
        orbit.motion.t[k + 1],
        t_eval=np.linspace(*orbit.motion.t[[k - 1, k + 1]], 401),
        initial=orbit.state,
        integrator=mb.DormandPrince(rtol=1e-12, atol=1e-13),
    )
    assert abs(fine.position(body)[:, 0].max() - widest) < 1e-8
    assert orbit.stability == "asymptotic"
    # Liouville: the product of multipliers is exp of the integral of the divergence mu (1 - x^2).
    t = orbit.motion.t
    from scipy.integrate import simpson

    expected = np.exp(simpson(1.0 - amplitude**2, x=t))
    np.testing.assert_allclose(np.prod(orbit.multipliers).real, expected, rtol=1e-6)
    assert [one.explanation for one in orbit.ignorable] == ["time: the same motion, later or earlier"]
    assert orbit.error < 1e-9


def test_swings_of_a_pendulum_are_a_family():
    system = pendulum(1.0)
    orbit = mb.periodic(system, system_state := mb.assemble(system))
    assert system_state.t == 0.0
    widest = np.abs(orbit.motion.angle("bob")).max()
    swing = orbit.motion.position("bob")
    angle = np.arctan2(swing[:, 0], -swing[:, 1])
    expected = 4.0 * np.sqrt(1.02 / 9.81) * ellipk(np.sin(0.5 * np.abs(angle).max()) ** 2)
    assert widest > 0.5
    assert abs(orbit.period - expected) < 1e-4 * expected  # the widest angle lies between stored instants
    energy = 9.81 * (1.0 - np.cos(angle[0])) + 0.5 * 1.02 * orbit.motion.angular_velocity("bob")[0] ** 2
    exact = 4.0 * np.sqrt(1.02 / 9.81) * ellipk(0.5 * energy / 9.81)
    assert abs(orbit.period - exact) < 1e-8
    assert orbit.stability == "marginal"
    np.testing.assert_allclose(orbit.multipliers, 1.0, atol=1e-6)


def test_a_driven_oscillator():
    """m x'' + c x' + k x = sin(w t): the multipliers are those of the free vibration, exp(lambda T)."""
    m, c, k, w = 2.0, 0.4, 30.0, 3.0
    system, body = on_rail("driven", 0.0, m)
    spring = {"at_i": (-5, 0, 0), "at_j": (0, 0, 0), "free_length": 5.0}
    system.add(mb.SpringDamper("spring", system.ground, body, stiffness=k, damping=c, **spring))
    system.add(mb.PointForce("load", body, at=(0, 0, 0), force=(f"sin({w}*t)", 0, 0)))
    period = 2.0 * np.pi / w
    orbit = mb.periodic(system, mb.assemble(system), period)
    roots = np.roots([m, c, k])
    np.testing.assert_allclose(np.sort_complex(orbit.multipliers), np.sort_complex(np.exp(roots * period)), atol=1e-9)
    gain = 1.0 / (k - m * w**2 + 1j * c * w)
    x = orbit.motion.position(body)[:, 0]
    np.testing.assert_allclose(x, (gain * np.exp(1j * w * orbit.motion.t)).imag, atol=1e-9)
    assert orbit.stable
    assert not orbit.ignorable
    with pytest.raises(mb.ModelError, match="changes with the time"):
        mb.periodic(system, mb.assemble(system))
    with pytest.raises(mb.AnalysisError, match=r"no periodic motion|loads or drivers have not come back"):
        mb.periodic(system, mb.assemble(system), 1.1 * period)


def test_a_bicycle_wobbles_for_ever_at_its_weave_speed():
    """At the critical speed weave neither grows nor dies out; of finite size it is a motion in a family."""
    speed = mb.critical_values(mb.examples.whipple_bicycle, (4.0, 4.6), points=5)[0].value
    system = mb.examples.whipple_bicycle(speed=speed)
    weave = min(
        (m for m in mb.linearize(system).modes if not m.ignorable and m.eigenvalue.imag > 0.0),
        key=lambda m: abs(m.eigenvalue.real),
    )
    period = 2.0 * np.pi / weave.eigenvalue.imag
    orbit = mb.periodic(system, mb.simulate(system, 1.2 * period, initial=weave.state(0.02)))
    assert abs(orbit.period - period) < 1e-3 * period
    named = " | ".join(one.explanation for one in orbit.ignorable)
    for word in ("path", "heading", "spin", "time"):
        assert word in named
    assert abs(orbit.motion.position("frame")[-1, 0] - orbit.motion.position("frame")[0, 0] - speed * period) < 0.05
    # The frame comes back to its lean and the fork to its angle; where it is and how wheels have turned does not count.
    first, last = orbit.motion.state(0), orbit.motion.state(-1)
    np.testing.assert_allclose(first.rotation("frame").as_matrix()[2], last.rotation("frame").as_matrix()[2], atol=1e-8)


def test_multipliers_at_an_equilibrium_are_those_of_its_roots():
    system = mb.examples.whipple_bicycle(speed=5.0)
    period = 0.7
    orbit = mb.periodic(system, mb.assemble(system), period)
    for mode in mb.linearize(system).modes:
        if not mode.ignorable:
            assert np.abs(orbit.multipliers - np.exp(mode.eigenvalue * period)).min() < 1e-9
    assert orbit.stability == "asymptotic"


def test_a_mode_can_be_played():
    system, body = on_rail("played", 0.3)
    spring = {"at_i": (-5, 0, 0), "at_j": (0.3, 0, 0), "free_length": 5.0}
    system.add(mb.SpringDamper("spring", system.ground, body, stiffness=25.0, damping=1.0, **spring))
    system.add(mb.PointForce("load", body, at=(0.3, 0, 0), force=("2*sin(4*t)", 0, 0)))
    orbit = mb.periodic(system, mb.assemble(system), np.pi / 2.0)
    mode = orbit.modes[0]
    played = mode.play(1e-4, 2.0)
    start = orbit.motion.position(body)[0, 0]
    away = played.position(body)[[0, 100, 200], 0] - start
    A = np.array([[0.0, 1.0], [-25.0, -1.0]])
    velocity = played.velocity(body)[0, 0] - orbit.motion.velocity(body)[0, 0]
    expected = [(expm(A * k * np.pi / 2.0) @ [away[0], velocity])[0] for k in range(3)]
    np.testing.assert_allclose(away, expected, atol=1e-9)


def test_bad_arguments():
    system = pendulum(1.0)
    with pytest.raises(mb.ModelError, match="a state, or a run"):
        mb.periodic(system, 3.0)  # type: ignore[arg-type]
    with pytest.raises(mb.ModelError, match="positive number of seconds"):
        mb.periodic(system, mb.assemble(system), -1.0)
    falling, _ = on_rail("falling", 0.0)
    falling.gravity = (1.0, 0, 0)
    with pytest.raises(mb.AnalysisError, match="does not come back"):
        mb.periodic(falling, mb.simulate(falling, 1.0))


def test_a_towed_wheel_runs_on():
    """A caster that swings beside a pivot towed along v t: time and path together are what it does not notice."""
    v, trail, offset, stiffness = 2.0, 0.3, 0.05, 40.0
    system = mb.System("caster", gravity=(0, 0, 0))
    pivot = system.add(mb.RigidBody("pivot", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(v, 0, 0)))
    blade = system.add(
        mb.RigidBody(
            "blade",
            mass=2.0,
            inertia=(0.1, 0.1, 0.2),
            position=(-trail, 0, 0),
            velocity=(v, 0, 0),
            center_of_mass=(offset, 0, 0),
        )
    )
    rail = system.add(mb.TranslationalJoint("rail", system.ground, pivot, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mb.RevoluteJoint("pin", pivot, blade, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Driver("tow", rail, displacement=f"{v}*t"))
    system.add(mb.TorsionalSpringDamper("spring", pivot, blade, at=(0, 0, 0), axis=(0, 0, 1), stiffness=stiffness))
    swing = mb.linearize(system).modes[0]
    inertia = 0.2 + 2.0 * (trail - offset) ** 2
    period = 2.0 * np.pi * np.sqrt(inertia / stiffness)
    assert abs(swing.frequency - 1.0 / period) < 1e-9
    orbit = mb.periodic(system, mb.simulate(system, 1.5 * period, initial=swing.state(0.2)))
    assert abs(orbit.period - period) < 1e-6 * period  # a linear spring and no other load about the pin
    assert any("path" in one.explanation and "time" in one.explanation for one in orbit.ignorable)
    travelled = orbit.motion.position(pivot)[-1, 0] - orbit.motion.position(pivot)[0, 0]
    assert abs(travelled - v * orbit.period) < 1e-9


class Bearing(mb.ForceElement):
    """The same stiffness and damping in all directions."""

    stiffness = mb.parameter(300.0, unit="N/m")
    damping = mb.parameter(2.0, unit="N s/m")

    def wrench(self, t, i, j):
        return -self.stiffness * (j.position - i.position) - self.damping * j.velocity, np.zeros(3)


def test_an_unsymmetric_rotor_has_the_roots_of_its_turning_frame():
    """Seen from a frame that turns with it the coefficients are constant; a full turn later both views agree."""
    rate = 9.0
    system = mb.System("rotor", gravity=(0, 0, 0))
    rotor = system.add(mb.RigidBody("rotor", mass=2.0, inertia=(0.3, 0.5, 0.6), angular_velocity=(0, 0, rate)))
    for k, z in enumerate((-0.2, 0.3)):
        system.add(Bearing(f"bearing {k}", system.ground, rotor, at_i=(0, 0, z), at_j=(0, 0, z)))
    turn = 2.0 * np.pi / rate
    orbit = mb.periodic(system, mb.assemble(system), turn)
    lin = mb.linearize(system, frame=mb.TurningFrame(axis=(0, 0, 1), rate=rate))
    for root in (m.eigenvalue for m in lin.modes if not m.ignorable):
        assert np.abs(orbit.multipliers - np.exp(root * turn)).min() < 1e-8


def test_what_stands_still_has_no_period():
    with pytest.raises(mb.AnalysisError, match=r"equilibrium, which has no period of its own; use mb\.equilibrium"):
        mb.periodic(pendulum(np.pi), mb.assemble(pendulum(np.pi)))
    spinning = mb.System("spinning", gravity=(0, 0, 0))
    spinning.add(mb.RigidBody("top", mass=1.0, inertia=(0.1, 0.1, 0.2), angular_velocity=(0, 0, 4)))
    with pytest.raises(mb.AnalysisError, match=r"steady motion, which has no period of its own"):
        mb.periodic(spinning, mb.assemble(spinning))
