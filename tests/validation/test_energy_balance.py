"""The energy balance of runs: work by element against closed forms, and in all integrators and coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb

TIGHT = {"integrator": mb.DormandPrince(rtol=1e-10, atol=1e-12)}


def oscillator(damping: float = 1.0, stiffness: float = 100.0, elongation: float = 0.5) -> mb.System:
    """A mass of 2 kg on a spring and damper, without gravity."""
    system = mb.System("oscillator", gravity=(0, 0, 0))
    mass = system.add(mb.PointMass("mass", mass=2.0, position=(0, 0, 1.0 + elongation)))
    system.add(mb.SpringDamper("spring", system.ground, mass, stiffness=stiffness, damping=damping, free_length=1.0))
    return system


def arm(mass: float = 2.0) -> tuple[mb.System, mb.RevoluteJoint]:
    """A rod of 1 m that turns about the y axis at its end, described horizontal."""
    system = mb.System("arm")
    rod = system.add(mb.RigidBody("rod", mass=mass, inertia=(0.01, mass / 12, mass / 12), position=(0.5, 0, 0)))
    return system, system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))


def machine() -> mb.System:
    """A driven rod with a second one that hangs on it, a damped spring, and a load."""
    system, hinge = arm()
    system.add(mb.Driver("motor", hinge, angle="0.5*sin(3*t)"))
    inertia = (0.02, 0.02, 0.02)
    bob = system.add(
        mb.RigidBody("bob", mass=1.0, inertia=inertia, position=(1.0, 0, -0.5), angular_velocity=(0, 1.5, 0))
    )
    bob.update(velocity=(-0.75, 0, -1.5))
    system.add(mb.RevoluteJoint("pin", system["rod"], bob, at=(1.0, 0, 0), axis=(0, 1, 0)))
    spring = system.add(mb.SpringDamper("spring", system.ground, bob, stiffness=20.0, damping=1.0, free_length=1.0))
    spring.update(at_i=(2.0, 0, 1.0), at_j=(1.0, 0, -0.5))
    system.add(mb.PointForce("load", bob, force=("2*sin(5*t)", 0, 0)))
    return system


def off(result: mb.Result) -> float:
    """The largest imbalance."""
    return float(np.abs(result.energy.balance).max())


# ---- By element, against closed forms ------------------------------------------------------------------------------


def test_a_damper_takes_what_an_oscillation_loses():
    """x = x0 exp(-d t) (cos w t + d/w sin w t) with d = c/2m, w^2 = k/m - d^2."""
    m, c, k, x0 = 2.0, 1.0, 100.0, 0.5
    t = np.linspace(0.0, 3.0, 61)
    result = mb.simulate(oscillator(c, k, x0), 3.0, t_eval=t, **TIGHT)
    d = c / (2 * m)
    w = np.sqrt(k / m - d * d)
    x = x0 * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))
    v = -x0 * np.exp(-d * t) * (d * d / w + w) * np.sin(w * t)
    energy = 0.5 * k * x**2 + 0.5 * m * v**2
    work = result.energy.work
    assert list(work) == ["spring"]
    np.testing.assert_allclose(work["spring"], energy - energy[0], atol=1e-8)
    assert np.all(np.diff(work["spring"]) <= 1e-9)
    assert off(result) < 1e-8
    np.testing.assert_array_equal(result.quantity("spring.work").values, work["spring"])
    np.testing.assert_array_equal(result.quantity("energy.balance").values, result.energy.balance)
    assert result.quantities()["spring.work"] == result.quantities()["energy.balance"] == "J"


def test_a_motor_does_what_a_prescribed_motion_needs(formulation):
    """theta = a sin w t, downwards from the horizontal: E = m l^2 theta'^2/6 - m g l sin(theta)/2."""
    system, hinge = arm(mass=2.0)
    system.add(mb.Driver("motor", hinge, angle="0.7*sin(3*t)"))
    t = np.linspace(0.0, 2.0, 41)
    result = mb.simulate(system, 2.0, t_eval=t, formulation=formulation, **TIGHT)
    theta, rate = 0.7 * np.sin(3 * t), 2.1 * np.cos(3 * t)
    energy = 0.5 * (2.0 / 3.0) * rate**2 - 2.0 * 9.81 * 0.5 * np.sin(theta)
    np.testing.assert_allclose(result.energy.work["motor"], energy - energy[0], atol=2e-7)
    np.testing.assert_allclose(result.energy.total - result.energy.total[0], energy - energy[0], atol=1e-9)


def test_two_drivers_of_one_hinge_share_its_work():
    """Which of them does it is not unique; their sum is."""
    system, hinge = arm()
    for name in ("left", "right"):
        system.add(mb.Driver(name, hinge, angle="0.7*sin(3*t)"))
    result = mb.simulate(system, 1.0, **TIGHT)
    single, hinge = arm()
    single.add(mb.Driver("motor", hinge, angle="0.7*sin(3*t)"))
    expected = mb.simulate(single, 1.0, **TIGHT).energy.work["motor"][-1]
    assert result.energy.work["left"][-1] + result.energy.work["right"][-1] == pytest.approx(expected, abs=1e-7)
    assert off(result) < 1e-7


def test_friction_takes_force_times_way():
    """A block of 3 kg that slides with 4 m/s: mu m g s, far above the velocity scale."""
    system = mb.System("block")
    block = system.add(mb.RigidBody("block", mass=3.0, inertia=(1, 1, 1), velocity=(4.0, 0, 0)))
    guide = system.add(mb.TranslationalJoint("guide", system.ground, block, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mb.Friction("rub", guide, coefficient=0.2, velocity_scale=1e-3))
    result = mb.simulate(system, 1.0, **TIGHT)
    way = 4.0 * result.t - 0.5 * 0.2 * 9.81 * result.t**2
    np.testing.assert_allclose(result.energy.work["rub"], -0.2 * 3.0 * 9.81 * way, atol=1e-7)
    assert off(result) < 1e-7


def test_an_impact_takes_what_its_restitution_says():
    """m v^2 (1 - e^2)/2 in one bounce; the weight, which is left out, would change it by its work on the way."""
    system = mb.System("ball", gravity=(0, 0, 0))
    ball = system.add(mb.RigidBody("ball", mass=1.5, inertia=(1, 1, 1), position=(0, 0, 0.3), velocity=(0, 0, -2.0)))
    system.add(
        mb.SpherePlaneContact(
            "floor", system.ground, ball, radius=0.1, stiffness=1e5, restitution=0.6, impact_speed=2.0
        )
    )
    result = mb.simulate(system, 0.5, **TIGHT)
    assert result.velocity("ball")[-1, 2] == pytest.approx(1.2, rel=1e-6)
    assert result.energy.work["floor"][-1] == pytest.approx(-0.5 * 1.5 * 4.0 * (1 - 0.36), rel=1e-6)
    assert off(result) < 1e-7


def test_a_controller_does_the_integral_of_its_effort():
    """Against equations of its own: x'' = u/m, z' = w - x, W' = u x' with u = P (w - x) + I z + D (w' - x')."""
    from scipy.integrate import solve_ivp

    system = mb.System("cart", gravity=(0, 0, 0))
    cart = system.add(mb.RigidBody("cart", mass=2.0, inertia=(1, 1, 1)))
    system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0)))
    pid = mb.PIDActuator("pid", system.ground, cart, at=(0, 0, 0), axis=(1, 0, 0), quantity="displacement")
    pid.update(setpoint="sin(2*t)", proportional=50.0, integral=10.0, derivative=8.0)
    system.add(pid)

    def rates(t, y):
        x, v, z, _ = y
        u = 50.0 * (np.sin(2 * t) - x) + 10.0 * z + 8.0 * (2 * np.cos(2 * t) - v)
        return [v, u / 2.0, np.sin(2 * t) - x, u * v]

    t = np.linspace(0.0, 2.0, 21)
    expected = solve_ivp(rates, (0.0, 2.0), [0, 0, 0, 0], t_eval=t, rtol=1e-11, atol=1e-12, method="DOP853").y[3]
    result = mb.simulate(system, 2.0, t_eval=t, **TIGHT)
    np.testing.assert_allclose(result.energy.work["pid"], expected, atol=1e-7)
    assert off(result) < 1e-7


def test_loads_and_torques(formulation):
    system = mb.System("free", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(0.5, 0.5, 0.5)))
    system.add(mb.PointForce("push", body, force=(3.0, 0, 0)))
    system.add(mb.Torque("twist", body, torque=(0, 0, "4*t")))
    result = mb.simulate(system, 1.0, formulation=formulation, **TIGHT)
    np.testing.assert_allclose(result.energy.work["push"], 3.0 * 0.75 * result.t**2, atol=1e-8)
    np.testing.assert_allclose(result.energy.work["twist"], 0.25 * (4 * result.t**2) ** 2, atol=1e-7)


def test_a_tire_on_a_moving_road_stores_and_works():
    """Without damping its energy depends on time: the work is what a standing wheel gets from the road."""
    system = mb.System("wheel")
    wheel = system.add(mb.PointMass("wheel", mass=20.0, position=(0, 0, 0.29)))
    system.add(mb.TranslationalJoint("guide", system.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    tire = mb.Tire("tire", system.ground, wheel, radius=0.3, stiffness=1e5, profile="0.01*sin(3*x)", speed=4.0)
    system.add(tire)
    result = mb.simulate(system, 1.0, **TIGHT)
    assert np.ptp(result.energy.work["tire"]) > 1.0
    assert off(result) < 1e-6
    tire.speed = 0.0
    assert mb.simulate(system, 0.2, **TIGHT).energy.work == {}


def test_the_damping_of_a_flexible_body(formulation):
    """-eta' D eta' is all that takes energy; D from the damping ratio of the one mode, 2 zeta w for mass one."""
    system = mb.examples.flexible_pendulum()
    (beam,) = [body for body in system.bodies if isinstance(body, mb.FlexibleBody)]
    beam.damping_ratios = 0.02
    t = np.linspace(0.0, 0.05, 401)
    result = mb.simulate(system, 0.05, t_eval=t, **TIGHT)
    damping = beam.formulation_for(None).inertia_data.damping
    rate = result.modal_velocity(beam)
    power = -np.einsum("nk,kl,nl->n", rate, damping, rate)
    from scipy.integrate import cumulative_simpson

    expected = cumulative_simpson(power, x=t, initial=0.0)
    np.testing.assert_allclose(result.energy.work[beam.name], expected, atol=1e-4 * np.abs(expected).max())
    assert off(result) < 1e-6 * np.ptp(result.energy.kinetic)


def test_what_stores_all_of_its_energy_does_no_work():
    system = oscillator(damping=0.0)
    mass = system["mass"]
    system.add(
        mb.DistanceLimit("stop", system.ground, mass, at_i=(0, 0, 0), at_j=mass.position, stiffness=1e4, upper=1.2)
    )
    system.add(mb.Bushing("bushing", system.ground, mass, at=mass.position, stiffness=(5, 5, 5, 0, 0, 0)))
    result = mb.simulate(system, 1.0, **TIGHT)
    assert result.energy.work == {}
    assert result.z.shape[1] == 0
    np.testing.assert_array_equal(result.energy.balance, result.energy.total - result.energy.total[0])
    assert off(result) < 1e-4  # of 12.5 J; the force of a stop has a kink


# ---- Elements of users ----------------------------------------------------------------------------------------------


class Drag(mb.ForceElement):
    """Quadratic drag: no energy."""

    coefficient = mb.parameter(0.5)

    def wrench(self, t, i, j):
        v = j.velocity - i.velocity
        return -self.coefficient * np.sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2) * v, np.zeros(3)


class Interpreted(Drag):
    """The same, in a way that cannot be compiled."""

    def wrench(self, t, i, j):
        v = np.array([float(str(x)) for x in j.velocity - i.velocity])
        return -self.coefficient * np.linalg.norm(v) * v, np.zeros(3)


class Lossy(mb.ForceElement):
    """A spring to the origin of i that stores, and loses."""

    def wrench(self, t, i, j):
        return 30.0 * (i.position - j.position) - 2.0 * (j.velocity - i.velocity), np.zeros(3)

    def energy(self, t, i, j):
        d = j.position - i.position
        return 15.0 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])


@pytest.mark.parametrize("kind", [Drag, Interpreted])
def test_users_forces(kind):
    """Drag alone: v = v0/(1 + c v0 t/m), and it takes what the body loses."""
    system = mb.System("drag", gravity=(0, 0, 0))
    body = system.add(mb.PointMass("body", mass=2.0, velocity=(3.0, 0, 0)))
    system.add(kind("drag", system.ground, body))
    result = mb.simulate(system, 1.0, dt=0.02)
    v = 3.0 / (1.0 + 0.5 * 3.0 * result.t / 2.0)
    np.testing.assert_allclose(result.energy.work["drag"], v**2 - 9.0, atol=1e-6)


def test_users_energy_counts():
    """What a force stores is energy, the rest is work: minus the integral of 2 v^2."""
    system = mb.System("lossy", gravity=(0, 0, 0))
    body = system.add(mb.PointMass("body", mass=1.0, position=(0.4, 0, 0)))
    system.add(Lossy("lossy", system.ground, body, at_i=(0, 0, 0)))
    t = np.linspace(0.0, 2.0, 401)
    result = mb.simulate(system, 2.0, t_eval=t, **TIGHT)
    from scipy.integrate import cumulative_simpson

    lost = cumulative_simpson(2.0 * result.velocity("body")[:, 0] ** 2, x=t, initial=0.0)
    np.testing.assert_allclose(result.energy.work["lossy"], -lost, atol=1e-6)
    assert off(result) < 1e-8


class Shaken(mb.BasicConstraint):
    """The second marker's height is a function of time."""

    equations = 1

    def residual(self, t, i, j):
        return [j.position[2] - i.position[2] - 0.1 * np.sin(5.0 * t)]


class Conveyed(mb.BasicConstraint):
    """The velocity along x is a function of time: a nonholonomic constraint that drives."""

    equations = 1

    def velocity_residual(self, t, i, j):
        return [j.velocity[0] - i.velocity[0] - 2.0 * np.sin(3.0 * t)]


def test_users_constraints_that_depend_on_time():
    """A mass that is lifted and conveyed: m g dz + m (z'^2 + x'^2)/2, each by its own element."""
    system = mb.System("shaken")
    body = system.add(mb.PointMass("body", mass=2.0, velocity=(0, 0, 0.5)))
    marker, base = mb.Marker(body, at=(0, 0, 0)), mb.Marker(system.ground, at=(0, 0, 0))
    lift, belt = Shaken(base, marker), Conveyed(base, marker)
    system.add(lift)
    system.add(belt)
    result = mb.simulate(system, 1.0, **TIGHT)
    t = result.t
    up = 2.0 * 9.81 * 0.1 * np.sin(5 * t) + (0.5 * np.cos(5 * t)) ** 2 - 0.25
    np.testing.assert_allclose(result.energy.work[lift.name], up, atol=1e-7)
    np.testing.assert_allclose(result.energy.work[belt.name], (2.0 * np.sin(3 * t)) ** 2, atol=1e-7)


class Heun(mb.Integrator):
    """A user's method of order two: it knows q and v only."""

    order = 2

    def step(self, eq, t, q, v, h):
        a, q_rate = eq.accelerate(t, q, v)[0], eq.coordinate_rates(q, v)
        b = eq.accelerate(t + h, q + h * q_rate, v + h * a)[0]
        return q + 0.5 * h * (q_rate + eq.coordinate_rates(q + h * q_rate, v + h * a)), v + 0.5 * h * (a + b)


# ---- Integrators and coordinates ----------------------------------------------------------------------------------

ORDERS = {
    "RK4": (mb.RungeKutta4(), None, 0.02, 4),
    "AB3": (mb.AdamsBashforth(order=3), None, 0.01, 3),
    "AB5": (mb.AdamsBashforth(order=5), None, 0.01, 5),
    "GA": (mb.GeneralizedAlpha(), mb.NoStabilization(), 0.01, 2),
    "GA, velocities": (mb.GeneralizedAlpha(velocity_level=True), None, 0.01, 2),
    "Heun": (Heun(), None, 0.01, 2),
}


@pytest.mark.parametrize("name", ORDERS)
def test_the_balance_falls_with_the_order_of_the_integrator(name):
    integrator, stabilization, dt, order = ORDERS[name]
    chosen = {"integrator": integrator, "stabilization": stabilization}
    coarse, fine = (mb.simulate(machine(), 0.5, dt=dt / k, **chosen) for k in (1, 4))
    assert off(coarse) < 0.05
    assert off(coarse) / off(fine) > 0.5 * 4**order


@pytest.mark.parametrize("integrator", [mb.DormandPrince, mb.RadauIIA])
def test_the_balance_falls_with_the_tolerance(integrator):
    errors = [off(mb.simulate(machine(), 0.5, integrator=integrator(rtol=rtol))) for rtol in (1e-4, 1e-6, 1e-8)]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-6


def test_the_balance_of_bdf():
    pytest.importorskip("sksundae")
    result = mb.simulate(machine(), 0.2, integrator=mb.BDF(rtol=1e-7))
    assert off(result) < 1e-4


def test_the_works_agree_in_all_coordinates_and_methods(formulation):
    expected = mb.simulate(machine(), 0.5, **TIGHT).energy.work
    methods = [
        {},
        {"acceleration": mb.UdwadiaKalaba()},
        {"acceleration": mb.ProjectionMatrix()},
        {"acceleration": mb.AugmentedLagrangian()},
        {"stabilization": mb.Baumgarte(alpha=20.0, beta=20.0)},
        {"stabilization": mb.CoordinatePartitioning()},
    ]
    for method in methods:
        result = mb.simulate(machine(), 0.5, dt=2e-3, formulation=formulation, **method)
        assert off(result) < 1e-4
        for name, values in expected.items():
            assert result.energy.work[name][-1] == pytest.approx(values[-1], abs=1e-4)
        assert not [w for w in result.info.warnings if "balance" in w]


def test_planar_systems():
    system = mb.System("planar", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.5, 0.0)))
    hinge = system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    system.add(mb.Driver("motor", hinge, angle="t**2"))
    system.add(mb.Torque("brake", bar, torque="-3*t"))
    for formulation in (mb.PlanarAngle(), mb.PlanarNatural(), mb.PlanarEulerParameters()):
        result = mb.simulate(system, 1.0, formulation=formulation, **TIGHT)
        np.testing.assert_allclose(result.energy.work["brake"], -2.0 * result.t**3, atol=1e-7)
        energy = 0.5 * 0.35 * (2 * result.t) ** 2 + 9.81 * 0.5 * np.sin(result.t**2)
        np.testing.assert_allclose(result.energy.work["motor"], energy + 2.0 * result.t**3, atol=1e-6)


# ---- Parts of runs ------------------------------------------------------------------------------------------------


def test_each_run_counts_its_own_work():
    whole = mb.simulate(machine(), 1.0, **TIGHT)
    first = mb.simulate(machine(), 0.4, **TIGHT)
    rest = mb.simulate(machine(), 1.0, initial=first.state(-1), **TIGHT)
    assert "delivered" not in str(first.state(-1).element_states)
    for name in ("motor", "spring", "load"):
        assert rest.energy.work[name][0] == 0.0
        together = first.energy.work[name][-1] + rest.energy.work[name][-1]
        assert together == pytest.approx(whole.energy.work[name][-1], abs=1e-7)


def test_events_and_instants():
    stopped = mb.simulate(oscillator(), 3.0, events=[mb.Event(lambda t, state: t - 1.234, terminal=True)], **TIGHT)
    assert stopped.t[-1] == pytest.approx(1.234)
    some = mb.simulate(oscillator(), 3.0, t_eval=[0.7, 1.234, 3.0], **TIGHT)
    assert some.energy.work["spring"][1] == pytest.approx(stopped.energy.work["spring"][-1], rel=1e-6)
    assert off(some) < 1e-7
    assert off(stopped) < 1e-7


def test_energies_count_from_the_start_whatever_is_stored(tmp_path):
    """A force of 1 N on 1 kg has done t²/2 by t."""
    system = mb.System("pushed", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("push", body, at=(0, 0, 0), force=(1.0, 0, 0)))
    result = mb.simulate(system, 2.0, t_eval=[1.0, 2.0])
    result.save(tmp_path / "run.h5")
    streamed = mb.simulate(system, 2.0, t_eval=[1.0, 2.0], output=tmp_path / "stream.h5")
    for one in (result, mb.load_result(tmp_path / "run.h5"), streamed, mb.load_result(tmp_path / "stream.h5")):
        np.testing.assert_allclose(one.energy.work["push"], [0.5, 2.0], rtol=1e-9)
        np.testing.assert_allclose(one.energy.balance, 0.0, atol=1e-9)
    coarse = {"dt": 0.3, "integrator": mb.GeneralizedAlpha()}
    whole = mb.simulate(oscillator(), 3.0, **coarse)
    last = mb.simulate(oscillator(), 3.0, t_eval=[3.0], **coarse)
    assert abs(whole.energy.balance[-1]) > 1e-3
    assert last.energy.balance[0] == pytest.approx(whole.energy.balance[-1], rel=1e-9)


def test_kinematics_knows_no_work():
    system, hinge = arm()
    system.add(mb.Driver("motor", hinge, angle="t"))
    result = mb.kinematics(system, np.linspace(0.0, 1.0, 11))
    with pytest.raises(mb.ModelError, match=r"does not have the work of elements.*simulate"):
        _ = result.energy.balance
    assert "energy.balance" not in result.quantities()
    assert "energy.total" in result.quantities()


def test_files_keep_the_work(tmp_path):
    result = mb.simulate(machine(), 0.5)
    result.save(tmp_path / "run.h5", quantities=["spring.work"])
    loaded = mb.load_result(tmp_path / "run.h5")
    np.testing.assert_array_equal(loaded.energy.balance, result.energy.balance)
    assert list(loaded.energy.work) == ["spring", "load", "motor"]
    for name, values in result.energy.work.items():
        np.testing.assert_array_equal(loaded.energy.work[name], values)
    streamed = mb.simulate(machine(), 0.5, output=tmp_path / "stream.h5")
    np.testing.assert_array_equal(streamed.energy.balance, result.energy.balance)
    loaded.export(tmp_path / "works.csv", "energy.balance", "motor.work")
    assert "motor.work" in (tmp_path / "works.csv").read_text().splitlines()[0]


# ---- The warning --------------------------------------------------------------------------------------------------


def warned(result: mb.Result) -> list[str]:
    return [w for w in result.info.warnings if "energy" in w]


def test_a_pendulum_with_far_too_large_steps():
    system, _ = arm()
    (text,) = warned(mb.simulate(system, 10.0, dt=0.7))
    assert "from t = 0.7 s on" in text
    assert "reduce dt" in text
    assert not warned(mb.simulate(system, 10.0, dt=0.05))
    assert not warned(mb.simulate(system, 10.0))


@pytest.mark.parametrize(
    ("dt", "said"), [(0.1, ""), (0.15, "inaccurate"), (0.2, "The motion is wrong")], ids=["fine", "inaccurate", "wrong"]
)
def test_a_pendulum_with_steps_that_are_somewhat_too_large(dt, said):
    """Of 9.8 J of a swing 1.5, 9 and 27 % are lost in 10 s; nothing was said of the 9 %."""
    result = mb.simulate(mb.examples.simple_pendulum(), 10.0, dt=dt)
    assert (0.01, 0.08, 0.25)[(0.1, 0.15, 0.2).index(dt)] < np.abs(result.energy.balance).max() / 9.81
    texts = warned(result)
    assert len(texts) == bool(said)
    assert all(said in text for text in texts)


def test_a_loose_tolerance_is_as_inaccurate_as_was_asked_for():
    """6 % of a swing lost at rtol=1e-3 in 20 s; of a tolerance of 1e-6 it would be told."""
    loose = mb.simulate(mb.examples.simple_pendulum(), 20.0, integrator=mb.DormandPrince(order=5, rtol=1e-3))
    assert 0.02 < np.abs(loose.energy.balance).max() / 9.81 < 0.1
    assert not warned(loose)


@pytest.mark.parametrize("instants", [[0.0, 7.0], [7.0], [6.3, 7.0]])
def test_few_instants_do_not_silence_the_warning(instants):
    system, _ = arm()
    (text,) = warned(mb.simulate(system, 7.0, dt=0.7, t_eval=instants))
    assert "from t = 0.7 s on" in text


def bouncing(restitution: float) -> mb.System:
    system = mb.System("ball")
    ball = system.add(mb.RigidBody("ball", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1.0)))
    floor = mb.SpherePlaneContact("floor", system.ground, ball, radius=0.1, stiffness=1e6, restitution=restitution)
    system.add(floor)
    return system


def test_a_stiff_contact_with_too_large_steps(tmp_path):
    result = mb.simulate(bouncing(0.8), 3.0, dt=0.02, output=tmp_path / "run.h5")
    assert result.energy.total[-1] > 10 * result.energy.total[0]
    (text,) = warned(result)
    assert "have appeared" in text
    assert "SpherePlaneContact 'floor'" in text
    assert warned(mb.load_result(tmp_path / "run.h5")) == [text]
    assert warned(mb.simulate(bouncing(1.0), 3.0, dt=0.02))
    for settings in ({}, {"dt": 1e-4}, {"integrator": mb.DormandPrince(rtol=1e-3)}, {"integrator": mb.RadauIIA()}):
        assert not warned(mb.simulate(bouncing(0.8), 1.0, **settings))


@pytest.mark.parametrize("energy", [1e2, 1e4])
def test_a_body_that_moves_fast_does_not_hide_what_happens_beside_it(energy):
    system = bouncing(0.8)
    system.add(mb.PointMass("train", mass=1.0, position=(3, 0, 0), velocity=(np.sqrt(2 * energy), 0, 0)))
    system.add(mb.PointOnLineJoint("rail", system.ground, system["train"], at=(3, 0, 0), axis=(1, 0, 0)))
    (text,) = warned(mb.simulate(system, 3.0, dt=0.02))
    assert "have appeared" in text


def swinging(**neighbour: float) -> mb.System:
    """A rod of 1 kg that swings by 4.9 J, in the plane; beside it a wheel that spins, or is driven."""
    system = mb.System("swinging", dimension=2)
    rod = system.add(mb.PlanarBody("rod", mass=1.0, inertia=1 / 12, position=(0.5, 0)))
    system.add(mb.RevoluteJoint("pin", system.ground, rod, at=(0, 0)))
    if neighbour:
        wheel = system.add(mb.PlanarBody("wheel", mass=10.0, inertia=1.0, position=(5, 0)))
        wheel.update(angular_velocity=neighbour.get("rate", 0.0))
        system.add(mb.RevoluteJoint("axle", system.ground, wheel, at=(5, 0)))
        system.add(mb.Torque("motor", wheel, torque=neighbour.get("torque", 0.0)))
    return system


@pytest.mark.parametrize("neighbour", [{"rate": 50.0}, {"rate": 100.0}, {"torque": 20.0}], ids=str)
@pytest.mark.parametrize("settings", [{"dt": 0.7}, {"dt": 0.1, "integrator": mb.AdamsBashforth(order=4)}], ids=str)
def test_energy_of_bodies_that_are_not_connected_hides_nothing(neighbour, settings):
    (text,) = warned(mb.simulate(swinging(**neighbour), 10.0, **settings))
    assert "the energy of PlanarBody 'rod' does not balance" in text
    assert "motor" not in text
    assert not warned(mb.simulate(swinging(**neighbour), 10.0, dt=0.05))


@pytest.mark.parametrize(("mass", "speed"), [(10.0, 0.0), (1000.0, 0.0), (1000.0, 3.0)])
def test_a_heavy_body_that_rests_or_moves_steadily_hides_nothing(mass, speed):
    """Of the pendulum on it: 40 J where it swings by 5 J."""
    system = mb.System("cart")
    cart = system.add(mb.RigidBody("cart", mass=mass, inertia=(1, 1, 1), velocity=(0, speed, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0, 0, 0), axis=(0, 1, 0)))
    rod = system.add(mb.RigidBody("rod", mass=1.0, inertia=(1 / 12,) * 3, position=(0.5, 0, 0)))
    rod.update(velocity=(0, speed, 0))
    system.add(mb.RevoluteJoint("pin", cart, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    loose = mb.simulate(system, 10.0, integrator=mb.DormandPrince(order=5, rtol=1e-2, atol=1e-2))
    (text,) = warned(loose)
    assert "reduce rtol" in text
    assert not warned(mb.simulate(system, 10.0))


def test_a_blow_up_at_the_end_does_not_make_the_alarm_late():
    """Half of the swing was passed at 3.45 s; 2e7 J in the last steps made that nothing."""
    result = mb.simulate(swinging(), 10.0, dt=0.05, integrator=mb.AdamsBashforth(order=2))
    (text,) = warned(result)
    passed = result.t[np.argmax(np.abs(result.energy.balance) > 0.5 * 4.9)]
    assert float(text.split("from t = ")[1].split(" s on")[0]) <= passed < 4.0


@pytest.mark.parametrize("push", ["100", "1e-12"])
def test_the_tail_of_a_load_moves_nothing(push):
    """1e-38 J and less: slower than any tolerance or rounding."""
    pytest.importorskip("sksundae")
    system = mb.System("tail", gravity=(0, 0, 0))
    body = system.add(mb.PointMass("body", mass=1.0))
    system.add(mb.PointForce("push", body, force=(f"{push}*exp(-((t-5)/0.3)**2)", 0, 0)))
    assert not warned(mb.simulate(system, 3.0, integrator=mb.BDF()))


def test_joints_that_drift_apart_are_told():
    """By 0.21 m of 1 m, with hardly a tenth of the energy lost."""
    system = swinging()
    free = {"stabilization": mb.NoStabilization(), "formulation": mb.PlanarNatural()}
    result = mb.simulate(system, 10.0, dt=0.05, **free)
    (text,) = (w for w in result.info.warnings if "are open by" in w)
    assert text.startswith(("the equations of RevoluteJoint 'pin'", "the equations of PlanarBody 'rod'"))
    assert "DirectCorrection" in text
    assert not mb.simulate(system, 10.0, dt=0.01, **free).info.warnings


def test_the_instant_is_the_first_at_which_it_does_not_balance():
    result = mb.simulate(mb.examples.andrews_squeezer(), 0.5, dt=1e-3)
    (text,) = warned(result)
    instant = float(text.split("from t = ")[1].split(" s on")[0])
    part, sizes = np.abs(result.energy.balance), np.maximum.accumulate(result.energy.kinetic)
    assert result.t[np.argmax(part > 0.02 * sizes)] <= instant <= 0.05


@pytest.mark.parametrize("integrator", [mb.DormandPrince(), mb.RadauIIA(), mb.BDF()], ids=repr)
def test_a_motion_that_begins_and_ends_at_rest_balances(integrator):
    if isinstance(integrator, mb.BDF):
        pytest.importorskip("sksundae")
    system, hinge = arm()
    system.add(mb.Driver("motor", hinge, angle="exp(-((t - 0.5)/0.02)**2)"))
    result = mb.simulate(system, 1.0, integrator=integrator)
    assert not warned(result)
    assert off(result) < 1e-4 * result.energy.kinetic.max()


@pytest.mark.parametrize("rtol", [1e-6, 1e-8])
def test_the_work_of_a_driver_that_leaves_no_freedom_follows_the_tolerance(rtol):
    """theta = 3 t^2 of a rod of 2 kg: m l^2 theta'^2/6 - m g l sin(theta)/2."""
    system, hinge = arm(mass=2.0)
    system.add(mb.Driver("motor", hinge, angle="3*t**2"))
    result = mb.simulate(system, 1.0, integrator=mb.RadauIIA(rtol=rtol))
    expected = 2.0 / 6.0 * 36.0 - 9.81 * np.sin(3.0)
    assert result.energy.work["motor"][-1] == pytest.approx(expected, abs=300 * rtol)


def test_a_narrow_peak_in_the_law_of_a_spring_is_no_imbalance():
    """Its energy, the integral of the law, passes between the points of a plain quadrature: 300 N over 10 mm."""
    system = mb.System("detent", gravity=(0, 0, 0))
    mass = system.add(mb.PointMass("mass", mass=1.0, position=(0, 0, 1.0), velocity=(0, 0, 1.5)))
    law = "300*exp(-((x - 0.6)/0.005)**2)"
    system.add(mb.SpringDamper("spring", system.ground, mass, force=law, free_length=1.0))
    result = mb.simulate(system, 2.0, integrator=mb.DormandPrince(order=5))
    assert not warned(result)
    assert off(result) < 1e-4  # of 1.1 J, most of which the peak takes: it throws the mass back
    assert result.velocity(mass)[-1, 2] == pytest.approx(-1.5, rel=1e-4)


def test_a_run_that_fails_tells_it_too():
    system, _ = arm()
    with pytest.raises(mb.SimulationError) as caught:
        mb.simulate(system, 20.0, dt=0.1, integrator=mb.AdamsBashforth(order=1))
    assert warned(caught.value.result)


class Growing(mb.ForceElement):
    """Accelerates what moves, faster and faster."""

    def wrench(self, t, i, j):
        return 500.0 * j.velocity, np.zeros(3)


def test_energies_beyond_all_numbers():
    system = mb.System("growing", gravity=(0, 0, 0))
    body = system.add(mb.PointMass("body", mass=1.0, velocity=(1.0, 0, 0)))
    system.add(Growing("engine", system.ground, body))
    (text,) = warned(mb.simulate(system, 1.0, dt=1e-3))
    assert "beyond all numbers" in text


def test_numerical_damping_is_no_fault_but_a_tenth_of_the_energy_is_told():
    system, _ = arm()
    for dt in (0.2, 0.1):
        (text,) = warned(mb.simulate(system, 10.0, dt=dt, integrator=mb.GeneralizedAlpha()))
        assert "have disappeared" in text
        assert "GeneralizedAlpha damps what its steps do not resolve" in text
        assert "reduce dt" in text
    assert not warned(mb.simulate(system, 10.0, dt=0.05, integrator=mb.GeneralizedAlpha()))
    (text,) = warned(mb.simulate(system, 20.0, dt=0.1, integrator=mb.GeneralizedAlpha(rho_infinity=0.0)))
    assert "have disappeared" in text


def test_rest_and_steady_motion_are_balanced():
    """Nothing is exchanged but rounding errors, which do not balance."""
    resting = bouncing(0.5)
    resting["ball"].position = (0, 0, 0.1 - (9.81 / 1e6) ** (2 / 3))
    assert not warned(mb.simulate(resting, 5.0))
    spinning = mb.System("spinning", gravity=(0, 0, 0))
    spinning.add(mb.RigidBody("body", mass=1.0, inertia=(1, 2, 3), angular_velocity=(0.1, 5, 0.1)))
    for settings in ({"dt": 0.05}, {}, {"integrator": mb.DormandPrince(rtol=1e-3)}):
        assert not warned(mb.simulate(spinning, 20.0, **settings))


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", mb.examples.names())
def test_no_example_is_warned_of(name):
    t_end = mb.examples.DURATIONS.get(name, 5.0)
    result = mb.simulate(getattr(mb.examples, name)(), 0.1 * t_end)
    assert not warned(result)
    energy = result.energy
    size = max(energy.kinetic.max(), np.ptp(energy.potential), *(np.ptp(w) for w in energy.work.values()))
    assert off(result) <= 1e-4 * size


def test_a_tolerance_explains_a_quarter_of_the_energy_at_most() -> None:
    """A pendulum that lost three quarters of its energy was not told of, since so loose a tolerance explains that."""
    system = mb.System("pendulum")
    position = (float(np.sin(2.0)), 0.0, -float(np.cos(2.0)))
    bob = system.add(mb.RigidBody("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), position=position))
    system.add(mb.RevoluteJoint("hinge", system.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    result = mb.simulate(system, 30.0, integrator=mb.DormandPrince(order=5, rtol=1e-2))
    energy = result.energy
    assert np.abs(energy.balance).max() > 0.25 * np.ptp(energy.potential)
    assert any("the energy does not balance" in w and "reduce rtol" in w for w in result.info.warnings)


def test_the_kink_of_a_driver_is_no_matter_of_tolerance() -> None:
    system = mb.System("jolt", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Driver("motor", hinge, angle="max(0, t - 1)"))
    (said,) = (w for w in mb.simulate(system, 2.0).info.warnings if "does not balance" in w)
    assert "jump of Driver 'motor'" in said
    assert "rtol" not in said


class Shoved(mb.BasicConstraint):
    """Moves a body along x at 2 m/s, from t = 1 s on for a tenth of a second."""

    nonholonomic = True
    equations = 1

    def velocity_residual(self, t, i, j):
        return [j.velocity[0] - (2.0 if 1.0 < t < 1.1 else 0.0)]


def test_the_jump_of_a_users_velocity_is_no_matter_of_tolerance() -> None:
    """The motion is right; its work is that of an infinite force in no time."""
    system = mb.System("shoved", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    system.add(Shoved("shove", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    result = mb.simulate(system, 2.0)
    assert result.position(body)[-1, 0] == pytest.approx(0.2, abs=1e-9)
    (said,) = (w for w in result.info.warnings if "does not balance" in w)
    assert "the jump of Shoved 'shove'" in said
    assert "rtol" not in said


class Overstated(mb.ForceElement):
    """A spring to the origin of i that claims to store all it does, and tells twice as much."""

    conservative = True
    factor = mb.parameter(2.0)

    def wrench(self, t, i, j):
        return 10.0 * (i.position - j.position), np.zeros(3)

    def energy(self, t, i, j):
        d = j.position - i.position
        return self.factor * 5.0 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])


def overstating(factor: float) -> mb.System:
    system = mb.System("overstating", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(1, 0, 0)))
    system.add(Overstated("spring", system.ground, body, at_i=(0, 0, 0), at_j=(1, 0.1, 0), factor=factor))
    return system


def test_a_users_energy_that_is_wrong_is_named():
    (warning,) = warned(mb.simulate(overstating(2.0), 2.0))
    assert "Overstated 'spring' says conservative = True" in warning
    assert "mend energy or wrench" in warning
    assert "The motion is wrong" not in warning


def test_a_users_energy_that_is_right_is_not_blamed():
    assert not warned(mb.simulate(overstating(1.0), 2.0))
    (warning,) = warned(mb.simulate(overstating(1.0), 30.0, dt=1.0))
    assert "The motion is wrong: reduce dt" in warning


def test_an_origin_far_from_the_centre_of_mass_hides_nothing():
    """Half of the energy is lost, which the large speed of the body's origin once hid."""
    system = mb.System("swing")
    body = {"mass": 1.0, "inertia": (1e-5, 1e-5, 1e-5), "position": (1, 0, 0), "center_of_mass": (-0.9, 0, 0)}
    bar = system.add(mb.RigidBody("bar", **body))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    warnings = mb.simulate(system, 20.0, dt=0.05).info.warnings
    assert any("does not balance" in warning for warning in warnings)
    assert mb.simulate(system, 20.0, dt=0.01).info.warnings == []
