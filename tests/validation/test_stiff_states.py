"""Own states of force elements in implicit integrators: differentiated, so that steps follow the slow motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbframe as mb

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-10, atol=1e-12)}


def slider(name: str, mass: float, position: float, dimension: int = 3) -> tuple[mb.System, Any]:
    """A mass that slides along x."""
    if dimension == 2:
        system = mb.System(name, dimension=2, gravity=(0, 0))
        body: Any = system.add(mb.PlanarBody("mass", mass=mass, inertia=1.0, position=(position, 0)))
        system.add(mb.TranslationalJoint("guide", system.ground, body, at=(0, 0), axis=(1, 0)))
        return system, body
    system = mb.System(name, gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=mass, inertia=(1, 1, 1), position=(position, 0, 0)))
    system.add(mb.TranslationalJoint("guide", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    return system, body


class LaggedSpring(mb.ForceElement):
    """A spring and a swinging load whose force follows with a lag: z' = (F sin 2t - k x - z)/tau."""

    states = 1
    tau = mb.parameter(1e-2, unit="s", above=0.0, help="lag")
    stiffness = mb.parameter(40.0, unit="N/m", help="k")
    damping = mb.parameter(2.0, unit="N s/m", help="c")
    swing = mb.parameter(1.0, unit="N", help="F")

    def wrench(self, t, i, j, z):  # type: ignore[override]
        return (z[0] - self.damping * j.velocity[0], 0.0, 0.0), (0.0, 0.0, 0.0)

    def state_rate(self, t, i, j, z):
        return ((self.swing * np.sin(2.0 * t) - self.stiffness * j.position[0] - z[0]) / self.tau,)


class PlanarLaggedSpring(LaggedSpring):
    """The same in the plane."""

    def wrench(self, t, i, j, z):  # type: ignore[override]
        return (z[0] - self.damping * j.velocity[0], 0.0), 0.0


def lagged(tau: float, dimension: int = 3, x: float = 0.3) -> mb.System:
    system, body = slider("lag", 1.0, x, dimension)
    kind, at = (PlanarLaggedSpring, (x, 0)) if dimension == 2 else (LaggedSpring, (x, 0, 0))
    system.add(kind("spring", system.ground, body, at_i=at, at_j=at, tau=tau))
    return system


def lagged_reference(tau: float, t: np.ndarray) -> np.ndarray:
    """x at some instants, by SciPy's own implicit method on the three equations."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        x, v, z = y
        return [v, z - 2.0 * v, (np.sin(2.0 * t) - 40.0 * x - z) / tau]

    found = solve_ivp(rates, (0.0, t[-1]), [0.3, 0.0, 0.0], "Radau", t, rtol=1e-10, atol=1e-12)
    return found.y[0]


@pytest.fixture(scope="module")
def lag_steps() -> dict[float, int]:
    """Steps of RadauIIA by the lag, its motion checked."""
    t, steps = np.linspace(0.0, 5.0, 11), {}
    for tau in 10.0 ** -np.arange(2.0, 9.0):
        result = mb.simulate(lagged(tau), 5.0, integrator=mb.RadauIIA(rtol=1e-6), t_eval=t)
        np.testing.assert_allclose(result.position("mass")[:, 0], lagged_reference(tau, t), atol=2e-6)
        steps[tau] = result.info.steps
    return steps


@pytest.mark.boundscheck
def test_steps_of_radau_do_not_depend_on_how_stiff_an_own_state_is(lag_steps: dict[float, int]) -> None:
    assert max(lag_steps.values()) < 1.2 * min(lag_steps.values())


@pytest.mark.parametrize("tau", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("rho", [0.0, 0.8, 1.0])
def test_generalized_alpha_follows_stiff_own_states_with_order_two(tau: float, rho: float) -> None:
    """From a state on the slow motion, where there is nothing fast to resolve."""
    t = np.array([0.0, 1.0])
    system, x = lagged(tau), 0.3
    errors = []
    for dt in (4e-3, 2e-3, 1e-3):
        start = mb.assemble(system)
        start.element_states["spring"][:] = -40.0 * x
        result = mb.simulate(system, 1.0, dt=dt, integrator=mb.GeneralizedAlpha(rho_infinity=rho), initial=start)
        found = solve_ivp(
            lambda s, y: [y[1], y[2] - 2.0 * y[1], (np.sin(2.0 * s) - 40.0 * y[0] - y[2]) / tau],
            *((0.0, 1.0), [x, 0.0, -40.0 * x], "Radau", t),
            rtol=1e-10,
            atol=1e-12,
        )
        errors.append(abs(result.position("mass")[-1, 0] - found.y[0, -1]))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[-1] < 1e-5
    assert np.all(orders > 1.8)


@pytest.mark.parametrize("integrator", [mb.RadauIIA(rtol=1e-8), mb.GeneralizedAlpha()], ids=lambda i: type(i).__name__)
def test_own_states_in_the_plane(integrator: mb.Integrator) -> None:
    steps = {"dt": 5e-4} if isinstance(integrator, mb.GeneralizedAlpha) else {}
    found = mb.simulate(lagged(1e-4, 2), 1.0, integrator=integrator, **steps).position("mass")[-1, 0]
    assert found == pytest.approx(lagged_reference(1e-4, np.array([0.0, 1.0]))[-1], abs=2e-6)


@pytest.mark.parametrize("tau", [1e-2, 1e-8])
def test_a_lag_is_linearized_exactly(tau: float) -> None:
    """x'' + c x' = z, tau z' = -k x - z: tau s^3 + (1 + c tau) s^2 + c s + k = 0."""
    system = lagged(tau, x=0.0)
    system["spring"].swing = 0.0
    found = np.sort_complex(mb.linearize(system).eigenvalues)
    expected = np.sort_complex(np.roots([tau, 1.0 + 2.0 * tau, 2.0, 40.0]))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# --- friction with a memory -------------------------------------------------------------------------------------------


class LuGre(mb.ForceElement):
    """Friction of bristles that bend by z, the LuGre model: F = s0 z + s1 z' + s2 v, z' = v - s0 |v| z/g(v)."""

    states = 1
    bristles = mb.parameter(1e5, unit="N/m", help="s0")
    micro_damping = mb.parameter(316.227766, unit="N s/m", help="s1")
    viscosity = mb.parameter(0.4, unit="N s/m", help="s2")
    coulomb = mb.parameter(1.0, unit="N", help="F_c")
    stiction = mb.parameter(1.5, unit="N", help="F_s")
    stribeck = mb.parameter(1e-3, unit="m/s", help="v_s")

    def state_rate(self, t, i, j, z):
        v = j.velocity[0] - i.velocity[0]
        g = self.coulomb + (self.stiction - self.coulomb) * np.exp(-((v / self.stribeck) ** 2))
        return (v - self.bristles * abs(v) / g * z[0],)

    def wrench(self, t, i, j, z):  # type: ignore[override]
        v = j.velocity[0] - i.velocity[0]
        g = self.coulomb + (self.stiction - self.coulomb) * np.exp(-((v / self.stribeck) ** 2))
        rate = v - self.bristles * abs(v) / g * z[0]
        friction = self.bristles * z[0] + self.micro_damping * rate + self.viscosity * v
        return (-friction, 0.0, 0.0), (0.0, 0.0, 0.0)


def stick_slip() -> mb.System:
    """A mass of 1 kg pulled by a spring of 2 N/m whose end moves with 0.1 m/s."""
    system, body = slider("stick-slip", 1.0, 0.0)
    system.add(LuGre("bristles", system.ground, body, at_i=(0, 0, 0), at_j=(0, 0, 0)))
    system.add(mb.SpringDamper("spring", system.ground, body, at_i=(10, 0, 0), at_j=(0, 0, 0), free_length=10.0))
    system["spring"].update(stiffness=2.0)
    system.add(mb.PointForce("pull", body, at=(0, 0, 0), force=("0.2*t", 0, 0)))
    return system


@pytest.mark.full
def test_stick_and_slip_agree_with_explicit_steps() -> None:
    """The mass sticks until the spring pulls with 1.5 N, at 7.5 s, and then slips."""
    t = np.linspace(0.0, 12.0, 25)
    explicit = mb.simulate(stick_slip(), 12.0, t_eval=t, **PRECISE)
    implicit = mb.simulate(stick_slip(), 12.0, t_eval=t, integrator=mb.RadauIIA(rtol=1e-8))
    x = explicit.position("mass")[:, 0]
    assert x[14] < 1e-4  # at 7 s: bristles bend, and creep
    assert x[-1] > 0.5
    np.testing.assert_allclose(implicit.position("mass")[:, 0], x, atol=1e-6)
    assert implicit.info.steps < 0.2 * explicit.info.steps


# --- hydraulics -------------------------------------------------------------------------------------------------------


class Cylinder(mb.ForceElement):
    """A cylinder with two chambers of the pressures z, fed through a valve of constant conductance and with leakage.

    p_a' = B/V_a (G (p_s - p_a) - L (p_a - p_b) - A s'), p_b' = B/V_b (-G p_b + L (p_a - p_b) + A s'),
    F = A (p_a - p_b), with pressures in units of 1e5 Pa.
    """

    states = 2
    area = mb.parameter(1e-3, unit="m^2", help="A")
    bulk = mb.parameter(1.4e4, help="B, 1e5 Pa")
    dead = mb.parameter(5e-5, unit="m^3", help="volume of each chamber in the middle")
    supply = mb.parameter(100.0, help="p_s, 1e5 Pa")
    conductance = mb.parameter(1e-5, help="G, m^3/s per 1e5 Pa")
    leakage = mb.parameter(1e-7, help="L, m^3/s per 1e5 Pa")

    def state_rate(self, t, i, j, z):
        s, v = j.position[0] - i.position[0], j.velocity[0] - i.velocity[0]
        opening = self.conductance * np.sin(3.0 * t) ** 2
        leak = self.leakage * (z[0] - z[1])
        first = opening * (self.supply - z[0]) - leak - self.area * v
        second = -opening * z[1] + leak + self.area * v
        room = self.dead + self.area * s, self.dead - self.area * s
        return self.bulk / room[0] * first, self.bulk / room[1] * second

    def wrench(self, t, i, j, z):  # type: ignore[override]
        return (1e5 * self.area * (z[0] - z[1]), 0.0, 0.0), (0.0, 0.0, 0.0)

    def initial_states(self):
        return [50.0, 50.0]


def press() -> mb.System:
    """The cylinder moves 20 kg against a spring and a damper."""
    system, body = slider("press", 20.0, 0.0)
    system.add(Cylinder("cylinder", system.ground, body, at_i=(0, 0, 0), at_j=(0, 0, 0)))
    system.add(mb.SpringDamper("load", system.ground, body, at_i=(1, 0, 0), at_j=(0, 0, 0), free_length=1.0))
    system["load"].update(stiffness=3e5, damping=4e3)
    return system


def test_a_hydraulic_cylinder_agrees_with_explicit_steps() -> None:
    t = np.linspace(0.0, 1.0, 11)
    explicit = mb.simulate(press(), 1.0, t_eval=t, **PRECISE)
    implicit = mb.simulate(press(), 1.0, t_eval=t, integrator=mb.RadauIIA(rtol=1e-8))
    x = explicit.position("mass")[:, 0]
    assert np.abs(x).max() > 5e-3
    np.testing.assert_allclose(implicit.position("mass")[:, 0], x, atol=1e-6 * np.abs(x).max())
    for k in (3, 10):
        pair = (result.state(k).element_states["cylinder"] for result in (explicit, implicit))
        np.testing.assert_allclose(*pair, rtol=1e-6)
    fine = mb.simulate(press(), 1.0, dt=2e-4, t_eval=t, integrator=mb.GeneralizedAlpha())
    np.testing.assert_allclose(fine.position("mass")[:, 0], x, atol=1e-3 * np.abs(x).max())


# --- contacts ---------------------------------------------------------------------------------------------------------


def ball(friction: float) -> mb.System:
    system = mb.System("ball")
    body = system.add(mb.RigidBody("ball", mass=1.0, inertia=(4e-3,) * 3, position=(0, 0, 0.6), velocity=(0.5, 0, 0)))
    contact = mb.SpherePlaneContact("contact", system.ground, body, radius=0.1, stiffness=1e6, restitution=0.8)
    contact.update(friction=friction, slip_speed=1e-2)
    system.add(contact)
    return system


@pytest.mark.parametrize("dt", [1e-4, 1e-3])
@pytest.mark.parametrize("rho", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("friction", [0.0, 0.2])
def test_generalized_alpha_passes_impacts_with_restitution(friction: float, rho: float, dt: float) -> None:
    """With ten steps in a contact and with a hundred; friction turns from sliding to rolling within one."""
    result = mb.simulate(ball(friction), 0.6, dt=dt, integrator=mb.GeneralizedAlpha(rho_infinity=rho))
    exact = mb.simulate(ball(friction), 0.6, **PRECISE)
    np.testing.assert_allclose(result.position("ball")[-1], exact.position("ball")[-1], atol=0.01 * (dt / 1e-3))
    np.testing.assert_allclose(result.velocity("ball")[-1], exact.velocity("ball")[-1], atol=0.05 * (dt / 1e-3))


def test_generalized_alpha_passes_impacts_of_eight_corners() -> None:
    result = mb.simulate(mb.examples.bouncing_block(), 1.0, dt=1e-3, integrator=mb.GeneralizedAlpha())
    exact = mb.simulate(mb.examples.bouncing_block(), 1.0, integrator=mb.RadauIIA())
    assert result.energy.total[-1] == pytest.approx(exact.energy.total[-1], rel=1e-3)
