"""Short loads are not stepped over: random ones against integrals and SciPy, and those that users would try first."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.functions import evaluate

from .random_pulses import TOLERANCE, allowed, cases

SEED = 20261117
ADAPTIVE = [mb.DormandPrince(), mb.DormandPrince(order=5), mb.RadauIIA(), mb.BDF()]


def needed(integrator: mb.Integrator) -> None:
    if isinstance(integrator, mb.BDF):
        pytest.importorskip("sksundae", reason="needs the extra 'bdf'")


def resting(force: Any) -> tuple[mb.System, mb.RigidBody]:
    system = mb.System("mass", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("hit", body, at=(0, 0, 0), force=(force, 0, 0)))
    return system, body


@pytest.mark.sample(6)
@pytest.mark.parametrize("case", cases(SEED, 24), ids=str)
def test_random_pulses(case: Any) -> None:
    error, warnings = case.error()
    assert allowed(case, error, warnings), (error, warnings)


@pytest.mark.sample
@pytest.mark.parametrize("integrator", ADAPTIVE, ids=repr)
@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 10.0, 11)], ids=["steps", "instants"])
def test_a_push_of_half_a_second_in_a_run_of_ten(integrator: mb.Integrator, t_eval: Any) -> None:
    needed(integrator)
    system, body = resting("if(t>7.3, if(t<7.8, 100, 0), 0)")
    run = mb.simulate(system, 10, integrator=integrator, t_eval=t_eval)
    np.testing.assert_allclose(run.velocity(body)[-1], (50.0, 0.0, 0.0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.position(body)[-1, 0], 50.0 * (10.0 - 7.55), rtol=1e-9)
    assert not run.info.warnings


@pytest.mark.parametrize(("text", "side"), [("if(t > 3, 6*t, 0)", ">"), ("if(t >= 3, 6*t, 0)", ">=")])
@pytest.mark.parametrize("integrator", ADAPTIVE[:3], ids=repr)
def test_no_stage_sees_the_other_side(integrator: mb.Integrator, text: str, side: str) -> None:
    """A polynomial on each side: a method of order five or more has no error but rounding, if it keeps them apart."""
    system, body = resting(text)
    run = mb.simulate(system, 4.0, integrator=integrator)
    assert 3.0 in run.t
    np.testing.assert_allclose(run.velocity(body)[-1, 0], 3.0 * (16.0 - 9.0), rtol=1e-13)
    np.testing.assert_allclose(run.velocity(body)[run.t <= 3.0, 0], 0.0, atol=1e-300)


def test_a_run_that_starts_or_ends_at_a_jump() -> None:
    system, body = resting("if(t > 3, if(t < 4, 100, 0), 0)")
    before = mb.simulate(system, 3.0)
    assert before.velocity(body)[-1, 0] == 0.0
    during = mb.simulate(system, 4.0, initial=before.state(-1))
    np.testing.assert_allclose(during.velocity(body)[-1, 0], 100.0, rtol=1e-12)
    after = mb.simulate(system, 40.0, initial=during.state(-1))
    np.testing.assert_allclose(after.velocity(body)[-1, 0], 100.0, rtol=1e-12)


def test_an_event_within_a_pulse() -> None:
    system, body = resting("100*exp(-((t - 7.3)/0.01)**2)")
    speed = 50.0 * 0.01 * math.sqrt(math.pi)  # half of the impulse

    def half(t: float, state: mb.State) -> float:
        return float(state.motion(body).velocity[0]) - speed

    run = mb.simulate(system, 10.0, events=[half])
    assert [round(event.t, 6) for event in run.events] == [7.3]


@pytest.mark.parametrize(
    ("text", "impulse"),
    [
        ("100*exp(-((t - 7.3)/1e-6)**2)", 1e-4 * math.sqrt(math.pi)),
        ("100*(tanh((t - 3)/1e-7) - tanh((t - 3.00001)/1e-7))", 2e-3),
        ("100/(1 + ((t - 3)/1e-6)**2)", 1e-4 * (math.atan(7e6) + math.atan(3e6))),
        ("1 + 0.01*exp(-((t - 3)/1e-3)**2) + exp(-((t - 8)/0.1)**2)", 10.0 + math.sqrt(math.pi) * (0.1 + 1e-5)),
    ],
)
def test_smooth_pulses_narrower_than_samples(text: str, impulse: float) -> None:
    """Exponents and arguments of tanh show where they are, however short they are in a run of ten seconds."""
    system, body = resting(text)
    np.testing.assert_allclose(mb.simulate(system, 10.0).velocity(body)[-1, 0], impulse, rtol=1e-4)


@pytest.mark.parametrize("integrator", ADAPTIVE[:3], ids=repr)
def test_a_hammer_blow_on_a_swinging_pendulum(integrator: mb.Integrator) -> None:
    """20 ms at the lowest point of a small swing: x'' = -w² x + f/m, so that f t adds f/m sin(w t)/w to the speed."""
    length, mass, w, speed = 1.0, 1.0, math.sqrt(9.81), 0.05
    at, blow = 3.0 * 2.0 * math.pi / w, 0.02
    system = mb.System("pendulum")
    bob = system.add(mb.PointMass("bob", mass=mass, position=(0, 0, -length), velocity=(speed, 0, 0)))
    system.add(mb.DistanceJoint("rope", system.ground, bob, at_i=(0, 0, 0), at_j=(0, 0, -length)))
    system.add(mb.PointForce("blow", bob, force=(f"if(t > {at!r}, if(t < {at + blow!r}, 50, 0), 0)", 0, 0)))
    run = mb.simulate(system, at + blow, integrator=integrator)
    expected = speed * math.cos(w * blow) + 50.0 / mass * math.sin(w * blow) / w
    np.testing.assert_allclose(run.velocity(bob)[-1, 0], expected, rtol=1e-4)  # the swing is 0.01 rad wide by then


def test_a_setpoint_that_goes_and_returns() -> None:
    """A controller on a mass, critically damped: its answer to a step and back by hand."""
    system = mb.System("servo", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("cart", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    servo = mb.PIDActuator("servo", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0), quantity="displacement")
    servo.update(setpoint="if(t > 6, if(t < 6.001, 1, 0), 0)", proportional=100.0, derivative=20.0)
    system.add(servo)
    run = mb.simulate(system, 6.1, t_eval=[6.0, 6.1])

    # x'' + 20 x' + 100 x = 100 w, w being 1 from 6 to 6.001: a jump has no rate on either side.
    def step(s: float) -> float:
        return 1.0 - (1.0 + 10.0 * s) * math.exp(-10.0 * s)

    np.testing.assert_allclose(run.position(body)[-1, 0], step(0.1) - step(0.099), rtol=1e-5)


@pytest.mark.parametrize("integrator", ADAPTIVE, ids=repr)
def test_a_bump_under_a_tire(integrator: mb.Integrator) -> None:
    """A mass on a tire at rest in equilibrium, and a bump of 5 cm that passes under it after seconds of nothing.

    z'' = -w² (z - h(x)), w = 20/s, so z is an integral over the bump; x = v t. The tire never leaves the road.
    """
    needed(integrator)
    mass, stiffness, speed, radius = 10.0, 4000.0, 20.0, 0.3
    system = mb.System("road")
    height = radius - mass * 9.81 / stiffness
    wheel = system.add(mb.RigidBody("wheel", mass=mass, inertia=(1, 1, 1), position=(0, 0, height)))
    system.add(mb.TranslationalJoint("rail", system.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    bump = "if(x > 90, if(x < 90.4, 0.01*sin(pi*(x - 90)/0.4)**2, 0), 0)"
    system.add(mb.Tire("tire", system.ground, wheel, radius=radius, stiffness=stiffness, profile=bump, speed=speed))
    end = 5.0
    run = mb.simulate(system, end, integrator=integrator, t_eval=[0.0, end])
    w = math.sqrt(stiffness / mass)
    t, weights = np.polynomial.legendre.leggauss(40)
    t = 4.51 + 0.01 * t
    road = 0.01 * np.sin(math.pi * (speed * t - 90.0) / 0.4) ** 2
    moved = 0.01 * np.sum(weights * w * road * np.sin(w * (end - t)))
    rising = 0.01 * np.sum(weights * w**2 * road * np.cos(w * (end - t)))
    size = math.hypot(w * moved, rising)
    np.testing.assert_allclose(run.position(wheel)[-1, 2] - run.position(wheel)[0, 2], moved, atol=TOLERANCE * size / w)
    np.testing.assert_allclose(run.velocity(wheel)[-1, 2], rising, atol=TOLERANCE * size)


def flying(law: Any) -> tuple[mb.System, mb.RigidBody]:
    """A mass of 2 kg at 10 m/s on a rail, and a spring from the origin to it."""
    system = mb.System("flight", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(10, 0, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    spring = mb.SpringDamper("law", system.ground, body, at_i=(0, 0, 0), at_j=(1, 0, 0), free_length=0.0, force=law)
    system.add(spring)
    return system, body


@pytest.mark.parametrize("width", [0.1, 0.01, 0.003, 1e-6])
@pytest.mark.parametrize("integrator", ADAPTIVE[:3], ids=repr)
def test_a_smooth_law_that_the_motion_passes(integrator: mb.Integrator, width: float) -> None:
    """The law takes its integral, 20 J, out of 100 J."""
    law = f"20/{width!r}/sqrt(pi)*exp(-((x - 7.77)/{width!r})**2)"
    system, body = flying(mb.Function(law, variables=("x",)))
    run = mb.simulate(system, 3.0, integrator=integrator)
    np.testing.assert_allclose(run.velocity(body)[-1, 0], math.sqrt(100.0 - 20.0), rtol=1e-4)


def test_narrow_laws_of_other_forms() -> None:
    """Two steps of tanh that make a narrow hill, and a narrow rectangle far from another one."""
    hill = "1e4*(tanh((x - 7.77)/1e-4) - tanh((x - 7.771)/1e-4))/2"
    system, body = flying(mb.Function(hill, variables=("x",)))
    np.testing.assert_allclose(mb.simulate(system, 3.0).velocity(body)[-1, 0], math.sqrt(90.0), rtol=1e-4)
    pair = "1e5*(x > 7.77)*(x < 7.7701) + (x > 25)*(x < 30)*2"
    system, body = flying(mb.Function(pair, variables=("x",)))
    np.testing.assert_allclose(mb.simulate(system, 4.0).velocity(body)[-1, 0], math.sqrt(80.0), rtol=1e-3)


def test_a_torque_that_an_angle_passes() -> None:
    """The same for an angle: 0.5 J w² loses the integral of the torque, 20 J of 100 J."""
    system = mb.System("rotor", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("rotor", mass=1.0, inertia=(1, 1, 2), angular_velocity=(0, 0, 10)))
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    law = mb.Function("20/0.01/sqrt(pi)*exp(-((x - 7.77)/0.01)**2)", variables=("x",))
    spring = mb.TorsionalSpringDamper("law", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), torque=law)
    system.add(spring)
    run = mb.simulate(system, 3.0)
    np.testing.assert_allclose(run.angular_velocity(body)[-1, 2], math.sqrt(80.0), rtol=1e-4)


@pytest.mark.parametrize("integrator", [mb.DormandPrince, mb.RadauIIA, mb.BDF])
def test_no_step_is_longer_than_max_step(integrator: Callable[..., mb.Integrator]) -> None:
    needed(integrator())
    system, _ = resting(0.0)
    assert np.diff(mb.simulate(system, 3.0, integrator=integrator()).t).max() > 0.5
    run = mb.simulate(system, 3.0, integrator=integrator(max_step=0.05))
    assert np.diff(run.t).max() <= 0.05 * (1 + 1e-9)
    with pytest.raises(mb.ModelError, match="max_step"):
        integrator(max_step=0.0)


def test_what_a_user_writes_is_seen_too() -> None:
    """A function among the declared parameters of a user's element."""

    class Gust(mb.ForceElement):
        load = mb.parameter(0.0, kind="function", unit="N", help="force along x")

        def wrench(self, t, i, j):  # type: ignore[no-untyped-def]
            return np.array([evaluate(self.load, t), 0.0, 0.0]), np.zeros(3)

    system = mb.System("mass", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=1.0, inertia=(1, 1, 1)))
    system.add(Gust("gust", system.ground, body, load="if(t > 7.3, if(t < 7.301, 100, 0), 0)"))
    np.testing.assert_allclose(mb.simulate(system, 10.0).velocity(body)[-1, 0], 0.1, rtol=1e-9)


def test_a_slow_callable_is_told_and_the_remedies_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbframe.features.CALLABLE_SECONDS", -1.0)

    def slow(t: float) -> float:
        return 100.0 if 7.3 < t < 7.301 else 0.0

    system, body = resting(slow)
    (warning,) = [w for w in mb.simulate(system, 10.0).info.warnings if "looked at" in w]
    assert warning.startswith("PointForce 'hit', force: ")
    assert "breakpoints=" in warning
    assert "max_step" in warning
    fixed = mb.simulate(system, 10.0, dt=0.5, integrator=mb.RungeKutta4()).info.warnings
    assert [w for w in fixed if w.startswith("PointForce 'hit', force: ") and "steps of 0.5 s" in w]
    system, body = resting(mb.Function(slow, breakpoints=[7.3, 7.301]))
    run = mb.simulate(system, 10.0)
    assert not [w for w in run.info.warnings if "looked at" in w]
    np.testing.assert_allclose(run.velocity(body)[-1, 0], 0.1, rtol=1e-9)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("if(t > 0.5002, if(t < 0.5007, 100*sin(pi*(t - 0.5002)/5e-4), 0), 0)", True),
        ("100*exp(-((t - 0.5)/1e-4)**2)", True),
        ("if(t > 0.5002, if(t < 0.5007, 100, 0), 0)", False),
        ("if(t < 0.0005, 100, 0)", False),
        ("if(t > 0.5, 100, 0)", False),
        ("if(t > 0.4, if(t < 0.6, 100, 0), 0)", False),
        ("100*sin(500*t)", False),
        ("100*exp(-((t - 0.5)/0.05)**2)", False),
    ],
)
def test_a_fixed_step_says_what_it_does_not_see(text: str, told: bool) -> None:
    system, _ = resting(text)
    found = [w for w in mb.simulate(system, 1.0, dt=1e-3).info.warnings if "comes and goes" in w]
    assert len(found) == told
    if told:
        assert found[0].startswith("PointForce 'hit', force: ")
        assert "reduce dt" in found[0]


class Midpoint(mb.Integrator):
    """A user's integrator."""

    order = 2

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        v_middle = v + 0.5 * h * eq.accelerate(t, q, v)[0]
        q_middle = q + 0.5 * h * eq.coordinate_rates(q, v)
        rate = eq.accelerate(t + 0.5 * h, q_middle, v_middle)[0]
        return q + h * eq.coordinate_rates(q_middle, v_middle), v + h * rate


FIXED = [mb.RungeKutta4(), mb.AdamsBashforth(order=4), mb.AdamsBashforth(order=6), mb.GeneralizedAlpha(), Midpoint()]


@pytest.mark.parametrize("begin", [0.03, 0.5, 0.53])
@pytest.mark.parametrize("integrator", FIXED, ids=repr)
def test_fixed_steps_are_divided_where_a_load_jumps(integrator: mb.Integrator, begin: float) -> None:
    """A force of 10 N, 5 N after 0.21 s: exact for every method, on and between its instants, which stay as they are.

    AdamsBashforth was 0.17 and 1.5 m off, RungeKutta4 0.08 m, without a word.
    """
    end = begin + 0.21
    system, body = resting(f"if(t > {begin}, 10, 0) - if(t >= {end}, 5, 0)")
    for t_eval in (None, np.linspace(0.0, 1.0, 37)):
        run = mb.simulate(system, 1.0, dt=0.1, integrator=integrator, t_eval=t_eval)
        assert run.info.warnings == []
        assert run.info.steps == 10
        assert len(run.t) == (11 if t_eval is None else 37)
        first, second = np.maximum(run.t - begin, 0.0), np.maximum(run.t - end, 0.0)
        np.testing.assert_allclose(run.velocity(body)[:, 0], 10.0 * first - 5.0 * second, atol=1e-11)
        np.testing.assert_allclose(run.position(body)[:, 0], 5.0 * first**2 - 2.5 * second**2, atol=1e-11)
        np.testing.assert_allclose(run.energy.balance, 0.0, atol=1e-11)


@pytest.mark.parametrize("integrator", FIXED, ids=repr)
def test_fixed_steps_keep_their_order_over_jumps(integrator: mb.Integrator) -> None:
    """A pendulum that is pushed between two instants, against DormandPrince with a small tolerance."""
    system = mb.System("pendulum")
    body = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.1, 0.4, 0.3), position=(0.8, 0, 0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.Torque("push", body, torque=(0, "if(t > 0.3137, if(t < 0.4711, -30, 0), 0)", 0)))
    exact = mb.simulate(system, 1.0, integrator=mb.DormandPrince(rtol=1e-13)).position(body)[-1]
    errors = [
        float(np.linalg.norm(mb.simulate(system, 1.0, dt=dt, integrator=integrator).position(body)[-1] - exact))
        for dt in (0.01, 0.0025)
    ]
    assert errors[1] < 1e-9 or math.log(errors[0] / errors[1], 4.0) > integrator.order - 0.4


@pytest.mark.parametrize("integrator", [*FIXED, mb.DormandPrince()], ids=repr)
def test_a_pulse_an_event_and_a_restart_within_one_step(integrator: mb.Integrator) -> None:
    """10 N from 0.23 to 0.27 s: a run that ends within, one that goes on from there, and v = 0.3 m/s at 0.26 s."""
    system, body = resting("if(t > 0.23, if(t < 0.27, 10, 0), 0)")
    event = mb.Event(lambda t, state: state.velocity(body)[0] - 0.3, name="fast")
    first = mb.simulate(system, 0.25, dt=0.1, integrator=integrator, events=[event])
    second = mb.simulate(system, 1.0, dt=0.1, integrator=integrator, events=[event], initial=first.state(-1))
    assert first.events == []
    assert [e.t for e in second.events] == [pytest.approx(0.26, abs=1e-9)]
    np.testing.assert_allclose(first.velocity(body)[-1, 0], 0.2, rtol=1e-9)
    np.testing.assert_allclose(second.velocity(body)[-1, 0], 0.4, rtol=1e-9)
    np.testing.assert_allclose(second.position(body)[-1, 0], 0.4 * (1.0 - 0.25), rtol=1e-9)
    assert first.info.warnings + second.info.warnings == []


def test_what_switches_too_often_to_be_looked_for_is_told() -> None:
    """A million switches, of time, and of a place: looking for them took minutes, and found others."""
    system, _ = resting("if(sin(1e6*t) > 0, 10, 0)")
    for more in ({"dt": 1e-3}, {"integrator": mb.DormandPrince(rtol=0.1)}):
        (warning,) = [w for w in mb.simulate(system, 0.2, **more).info.warnings if "20,000 periods" in w]
        assert warning.startswith("PointForce 'hit', force: ")
    system, _ = flying(mb.Function("abs(sin(10*x))", variables=("x",)))
    (warning,) = [w for w in mb.simulate(system, 0.1).info.warnings if "with a wave of x" in w]
    assert warning.startswith("SpringDamper 'law', force: ")
    assert "max_step" in warning
    bounded = mb.simulate(system, 0.1, integrator=mb.DormandPrince(max_step=1e-3))
    assert bounded.info.warnings == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cos(2*pi*100*t)", True),
        ("1 + sin(2*pi*20*t)**2", True),
        ("sin(2*pi*20*t)", False),
        ("if(t < 0, sin(2*pi*100*t), 3)", False),
    ],
)
def test_a_fixed_step_says_that_it_takes_a_wave_for_another(text: str, told: bool) -> None:
    """The force of period dt has no impulse, but every step sees the same value."""
    system, _ = resting(text)
    found = [w for w in mb.simulate(system, 1.0, dt=0.01).info.warnings if "period" in w]
    assert len(found) == told
    if told:
        assert found[0].startswith("PointForce 'hit', force: ")
        assert "reduce dt" in found[0]


def test_a_fixed_step_says_which_bump_it_passes() -> None:
    """A bump of 0.1 m at 20 m/s and 0.02 s, and a law of a spring; neither is told of with steps that see it."""
    for dt, told in ((0.02, True), (1e-4, False)):
        system = mb.System("road")
        wheel = system.add(mb.RigidBody("wheel", mass=10.0, inertia=(1, 1, 1), position=(0, 0, 0.3 - 0.024525)))
        system.add(mb.TranslationalJoint("rail", system.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
        bump = "if(x > 4, if(x < 4.1, 0.01*sin(pi*(x - 4)/0.1)**2, 0), 0)"
        system.add(mb.Tire("tire", system.ground, wheel, radius=0.3, stiffness=4000.0, profile=bump, speed=20.0))
        found = [w for w in mb.simulate(system, 0.5, dt=dt).info.warnings if w.startswith("Tire 'tire', profile: ")]
        assert len(found) == told
        system, _ = flying(mb.Function("2e3*exp(-((x - 4)/0.01)**2)", variables=("x",)))
        warnings = mb.simulate(system, 0.5, dt=dt).info.warnings
        assert len([w for w in warnings if w.startswith("SpringDamper 'law', force: ")]) == told


@pytest.mark.parametrize("integrator", ADAPTIVE[:3], ids=repr)
def test_no_adaptive_step_takes_a_wave_for_a_slower_one(integrator: mb.Integrator) -> None:
    """1 - cos has the mean one; steps of whole periods see another."""
    system, body = resting("1 - cos(2*pi*2000*t)")
    run = mb.simulate(system, 1.0, integrator=integrator)
    np.testing.assert_allclose(run.velocity(body)[-1, 0], 1.0, rtol=1e-4)
    assert np.diff(run.t).max() < 0.5 / 2000.0


@pytest.mark.parametrize("integrator", ADAPTIVE[:3], ids=repr)
def test_what_cannot_be_looked_at_along_the_motion_is_told(integrator: mb.Integrator) -> None:
    law = mb.Function(lambda x: 2e3 if 7.77 < x < 7.78 else 0.0, variables=("x",), breakpoints=[7.77, 7.78])
    system, _ = flying(law)
    (warning,) = [w for w in mb.simulate(system, 3.0, integrator=integrator).info.warnings if "Python function" in w]
    assert warning.startswith("SpringDamper 'law', force: ")
    assert "expression or a table" in warning
    run = mb.simulate(system, 1.0, integrator=type(integrator)(max_step=0.1))
    assert not [w for w in run.info.warnings if "Python function" in w]


@pytest.mark.parametrize("integrator", ADAPTIVE, ids=repr)
def test_a_callable_that_jumps_where_the_run_starts(integrator: mb.Integrator) -> None:
    needed(integrator)
    system, body = resting(mb.Function(lambda t: 4e4 if 0.0 < t < 1.2e-4 else 0.0))
    run = mb.simulate(system, 0.11465807, integrator=integrator)
    np.testing.assert_allclose(run.velocity(body)[-1, 0], 4.8, rtol=1e-6)


def with_time_in_its_wrench() -> tuple[mb.System, mb.RigidBody]:
    class Hit(mb.ForceElement):
        def wrench(self, t, i, j):  # type: ignore[no-untyped-def]
            push = 1000.0 if 7.3 < t < 7.301 else 0.0
            return (push, 0.0, 0.0), (0.0, 0.0, 0.0)

    system = mb.System("mass", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=1.0, inertia=(1, 1, 1)))
    system.add(Hit("hit", system.ground, body))
    return system, body


def test_what_a_user_writes_into_a_method_is_seen() -> None:
    system, body = with_time_in_its_wrench()
    for integrator in ADAPTIVE[:3]:
        run = mb.simulate(system, 10.0, integrator=integrator)
        assert not run.info.warnings
        assert math.isclose(run.velocity(body)[-1, 0], 1.0, rel_tol=1e-9)
    fixed = mb.simulate(system, 10.0, integrator=mb.RungeKutta4(), dt=0.1).info.warnings
    assert [w for w in fixed if w.startswith("Hit 'hit', wrench: ")]


class Brake(mb.ForceElement):
    """Acts for 0.2 s, on a velocity that is zero at the start."""

    def wrench(self, t, i, j):
        return (-10.0 if 7.3 < t < 7.5 else 0.0) * j.velocity, np.zeros(3)


class Filling(mb.ForceElement):
    """An own state that fills from zero, let out for 0.2 s."""

    states = 1

    def state_rate(self, t, i, j, z):
        return [1.0]

    def wrench(self, t, i, j, z):
        return np.array([z[0] if 7.3 < t < 7.5 else 0.0, 0.0, 0.0]), np.zeros(3)


@pytest.mark.parametrize("integrator", ADAPTIVE, ids=repr)
@pytest.mark.parametrize(("kind", "speed"), [(Brake, math.exp(-2.0)), (Filling, 1.0 + (7.5**2 - 7.3**2) / 2.0)])
def test_a_switch_of_what_is_zero_at_the_start_is_seen(kind: type, speed: float, integrator: mb.Integrator) -> None:
    needed(integrator)
    system, body = resting("if(t<1,1,0)")
    system.add(kind("switched", system.ground, body))
    run = mb.simulate(system, 10.0, integrator=integrator)
    np.testing.assert_allclose(run.velocity(body)[-1, 0], speed, rtol=1e-4)


class Nudge(mb.BasicConstraint):
    """x = 0.1 exp(-((t - 7.3)/0.01)^2)."""

    equations = 1

    def residual(self, t, i, j):
        return [j.position[0] - 0.1 * np.exp(-(((t - 7.3) / 0.01) ** 2))]


class Drawn(mb.BasicConstraint):
    """x' = 1 for 0.2 s."""

    equations = 1

    def velocity_residual(self, t, i, j):
        return [j.velocity[0] - (1.0 if 7.3 < t < 7.5 else 0.0)]


@pytest.mark.parametrize("integrator", ADAPTIVE, ids=repr)
def test_short_motions_of_a_users_constraint_are_seen(integrator: mb.Integrator) -> None:
    """A mass behind a spring gets the momentum of the nudge; what is drawn goes as far as it was drawn."""
    needed(integrator)
    for kind in (Nudge, Drawn):
        system = mb.System("masses", gravity=(0, 0, 0))
        first = system.add(mb.PointMass("first", mass=1.0))
        system.add(kind("moved", system.ground, first, at=(0, 0, 0)))
        second = system.add(mb.PointMass("second", mass=1.0, position=(1, 0, 0)))
        system.add(mb.SpringDamper("spring", first, second, stiffness=1.0, damping=0.0))
        run = mb.simulate(system, 10.0, integrator=integrator)
        if kind is Nudge:
            expected = 1e-3 * math.sqrt(math.pi) * math.exp(-(0.005**2)) * math.cos(2.7)
            np.testing.assert_allclose(run.velocity(second)[-1, 0], expected, rtol=1e-3)
        else:
            np.testing.assert_allclose(run.position(first)[-1, 0], 0.2, rtol=1e-4)


def test_a_slow_method_that_uses_the_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbframe.features.METHOD_SECONDS", -1.0)
    system, _ = with_time_in_its_wrench()
    (warning,) = [w for w in mb.simulate(system, 10.0).info.warnings if "uses the time itself" in w]
    assert warning.startswith("Hit 'hit', wrench: ")
    assert "max_step" in warning
    assert 'mb.parameter(kind="function")' in warning
    (fixed,) = [
        w for w in mb.simulate(system, 10.0, dt=0.5, integrator=mb.RungeKutta4()).info.warnings if w.startswith("Hit")
    ]
    assert "reduce dt = 0.5 s" in fixed
    bounded = mb.simulate(system, 10.0, integrator=mb.DormandPrince(max_step=0.5))
    assert not [w for w in bounded.info.warnings if "uses the time itself" in w]


def test_a_pulse_as_a_table_does_not_overshoot() -> None:
    x, y = [7.3, 7.4, 7.5], [0.0, 100.0, 0.0]
    system, body = resting(mb.Function.table(x, y))
    run = mb.simulate(system, 10.0)
    # Two parabolas of height 100: 2/3 of the rectangle around them.
    np.testing.assert_allclose(run.velocity(body)[-1, 0], 2.0 / 3.0 * 100.0 * 0.2, rtol=1e-9)
    assert run.velocity(body)[:, 0].min() > -1e-12


def test_drivers_need_a_table_with_two_derivatives() -> None:
    system = mb.System("crank")
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(1, 1, 1)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(mb.ModelError, match=r'Driver .motor., angle: .*curvature jumps.*interpolation="spline"'):
        mb.Driver("motor", hinge, angle=mb.Function.table([0, 1, 2], [0, 1, 0]))
    mb.Driver("motor", hinge, angle=mb.Function.table([0, 1, 2], [0, 1, 0], interpolation="spline"))
    length = mb.Distance("length", system.ground, arm, at_i=(1, 0, 0), at_j=(0, 0, 0))
    with pytest.raises(mb.ModelError, match=r"Prescribed .jack., value: .*spline"):
        mb.Prescribed("jack", length, value=mb.Function.table([0, 1, 2], [1, 2, 1]))


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_instants_just_behind_a_step_of_radau(name: str) -> None:
    """A shorter step of 1e-20 s is lost in rounding: the run failed there, where without instants it did not."""
    system = getattr(mb.examples, name)()
    steps = mb.simulate(system, 0.2, integrator=mb.RadauIIA())
    instants = np.unique(np.concatenate([np.nextafter(steps.t[:-1], 1.0), steps.t[:-1] + 1e-15, steps.t[1:]]))
    run = mb.simulate(system, 0.2, integrator=mb.RadauIIA(), t_eval=instants)
    assert run.info.steps == steps.info.steps
    assert run.violation.position.max() < 1e-9
    near = np.searchsorted(steps.t, run.t + 1e-12, side="right") - 1
    np.testing.assert_allclose(run.q, steps.q[near], atol=1e-10)


def test_a_table_is_looked_at_from_between_its_nodes() -> None:
    """With one node in what is looked at, the stretch around it ends where the look begins and ends."""
    table = mb.Function.table([0.0, 0.3, 0.6], [0.0, 1.0, 0.0])
    system, body = resting(table)
    start = mb.simulate(system, 0.2).state(-1)
    whole = mb.simulate(system, 0.5, integrator=mb.DormandPrince(rtol=1e-10))
    rest = mb.simulate(system, 0.5, initial=start, integrator=mb.DormandPrince(rtol=1e-10))
    np.testing.assert_allclose(rest.velocity(body)[-1], whole.velocity(body)[-1], rtol=1e-6)
