"""A simulation that is stepped from outside: the same motion as `simulate`, and all that can be done between steps."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import mbframe as mb

FIXED = [mb.RungeKutta4(), mb.AdamsBashforth(order=4), mb.GeneralizedAlpha()]
ADAPTIVE = [mb.DormandPrince(), mb.DormandPrince(order=5), mb.RadauIIA()]
STEPS = 12
STIFF = ("andrews_squeezer", "flexible_slider_crank", "flexible_four_bar", "flyball_governor", "crane_trolley")


def oscillator(**values: float) -> mb.System:
    """A mass of 2 kg on a spring along x, x(0) = 1 m at rest: x = cos(w t) with w^2 = k/m."""
    system = mb.System("oscillator", gravity=(0, 0, 0))
    mass = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0)))
    spring = {"stiffness": 18.0, "free_length": 0.0} | values
    system.add(mb.SpringDamper("spring", system.ground, mass, at_i=(0, 0, 0), at_j=(1, 0, 0), **spring))
    return system


def same(a: mb.Result, b: mb.Result) -> bool:
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("t", "q", "v", "z"))


# --- the same motion --------------------------------------------------------------------------------------------------


@pytest.mark.sample(12)
@pytest.mark.parametrize("integrator", FIXED, ids=lambda i: type(i).__name__)
@pytest.mark.parametrize("name", mb.examples.names())
def test_steps_are_those_of_simulate_to_the_last_bit(name: str, integrator: mb.Integrator) -> None:
    """One step at a time, with a snapshot taken and restored between them, and all at once."""
    system = getattr(mb.examples, name)()
    dt = 1e-6 if name in STIFF else 1e-3
    expected = mb.simulate(system, STEPS * dt, dt=dt, integrator=integrator)
    with mb.Simulation(system, dt, integrator=integrator) as sim:
        sim.step()
        sim.step(4)
        mark = sim.snapshot()
        sim.step(3)
        sim.quantity("energy.total")
        sim.restore(mark)
        sim.advance(to=STEPS * dt)
        stepped = sim.result()
        sim.reset()
        sim.advance(to=STEPS * dt)
        again = sim.result()
    assert same(stepped, expected)
    assert same(again, expected)
    assert stepped.info.steps == expected.info.steps


@pytest.mark.parametrize("integrator", [*FIXED, *ADAPTIVE], ids=repr)
def test_a_snapshot_is_exact_after_a_thousand_steps(integrator: mb.Integrator) -> None:
    dt = None if integrator.adaptive else 1e-3
    with mb.Simulation(mb.examples.four_bar(), dt, integrator=integrator) as sim:
        sim.step(5)
        mark = sim.snapshot()
        sim.step(1000 if dt else 100)
        first, reached = sim.state, sim.time
        whole = sim.result()
        sim.restore(mark)
        assert len(sim.result()) == 6
        sim.step(1000 if dt else 100)
        assert sim.time == reached
        assert same(sim.result(), whole)
        for name, motion in sim.state.motions.items():
            np.testing.assert_array_equal(motion.position, first.motions[name].position)


def test_snapshots_may_be_restored_in_any_order() -> None:
    with mb.Simulation(oscillator(), dt=1e-2) as sim:
        sim.step(3)
        early = sim.snapshot()
        sim.step(4)
        late, whole = sim.snapshot(), sim.result()
        sim.restore(early)
        sim.parameters["spring", "stiffness"] = 500.0
        sim.step(20)
        sim.restore(late)
        assert sim.parameters["spring", "stiffness"] == 18.0
        assert same(sim.result(), whole)


@pytest.mark.parametrize("integrator", ADAPTIVE, ids=repr)
def test_an_adaptive_step_is_one_accepted_step(integrator: mb.Integrator) -> None:
    with mb.Simulation(oscillator(), integrator=integrator) as sim:
        for count in range(1, 6):
            sim.step()
            assert sim.result().info.steps == count
        sim.advance(to=0.7)
        assert sim.time == 0.7
        sim.advance(to=0.7)
        assert sim.quantity("mass.position.x") == pytest.approx(np.cos(2.1), abs=1e-4)


def test_loads_that_jump_are_heeded_however_far_one_goes() -> None:
    """The force jumps at 25 s, beyond what is looked at first: v = t - 25 behind it."""
    system = mb.System("jump", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("push", body, at=(0, 0, 0), force=("if(t > 25.003, 1, 0)", 0, 0)))
    for options in ({}, {"dt": 0.01}, {"dt": 0.01, "integrator": mb.AdamsBashforth()}):
        with mb.Simulation(system, **options) as sim:
            while sim.time < 26.0:
                sim.step()
            assert sim.quantity("body.velocity.x") == pytest.approx(sim.time - 25.003, abs=1e-9)


# --- what is done between steps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", FIXED, ids=lambda i: type(i).__name__)
def test_a_parameter_that_is_changed_acts_from_then_on(integrator: mb.Integrator) -> None:
    """As a run that begins there with the other value, history and all; the system that was given stays."""
    system, dt = oscillator(), 1e-3
    with mb.Simulation(system, dt, integrator=integrator) as sim:
        sim.step(100)
        middle = sim.state
        sim.parameters["spring", "stiffness"] = 50.0
        assert sim.parameters[system["spring"], "stiffness"] == 50.0
        assert sim.quantity("spring.force.x") == pytest.approx(-50.0 * sim.quantity("mass.position.x"))
        sim.step(100)
        end = sim.state
        assert any("spring.stiffness" in warning for warning in sim.result().info.warnings)
    assert system["spring"].stiffness == 18.0
    expected = mb.simulate(oscillator(stiffness=50.0), 0.2, dt=dt, integrator=integrator, initial=middle).state(-1)
    np.testing.assert_allclose(end.position("mass"), expected.position("mass"), atol=1e-14)
    np.testing.assert_allclose(end.velocity("mass"), expected.velocity("mass"), atol=1e-13)


def test_masses_gravity_and_drivers_can_be_changed() -> None:
    system = mb.System("drop")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 1, 1)))
    system.add(mb.PointForce("lift", body, at=(0, 0, 0), force=(0, 0, 9.81)))
    wheel = system.add(mb.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, wheel, at=(5, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Driver("motor", hinge, angle="0"))
    with mb.Simulation(system, dt=1e-2) as sim:
        sim.step(10)
        assert sim.quantity("body.velocity.z") == pytest.approx(0.0, abs=1e-14)
        sim.parameters["body", "mass"] = 2.0
        assert sim.quantity("body.acceleration.z") == pytest.approx(-9.81 / 2)
        sim.parameters["drop", "gravity"] = (0, 0, -4.905)
        assert sim.quantity("body.acceleration.z") == pytest.approx(0.0, abs=1e-12)
        sim.parameters["motor", "angle"] = "step(t, 0.1, 0, 0.3, 1)"
        sim.advance(to=0.3)
        assert sim.quantity("wheel.quaternion.3") == pytest.approx(np.sin(0.5), abs=1e-9)


@pytest.mark.parametrize(
    ("element", "field", "value", "message"),
    [
        ("spring", "stiff", 1.0, "there is no such parameter"),
        ("spring", "stiffness", -1.0, "stiffness"),
        ("spring", "at_j", (0, 0, 0), "decides where the force acts"),
        ("spring", "damping", 2.0, None),
        ("mass", "position", (0, 0, 0), "describes where the body was"),
        ("rope", "stiffness", 1.0, "there is no element 'rope'"),
    ],
)
def test_what_decides_on_the_structure_stays(element: str, field: str, value: Any, message: str | None) -> None:
    with mb.Simulation(oscillator(damping=1.0), dt=1e-2) as sim:
        before = sim.state.position("mass")
        if message is None:
            sim.parameters[element, field] = value
        else:
            with pytest.raises(mb.ModelError, match=message):
                sim.parameters[element, field] = value
        sim.step(50)
        reference = mb.simulate(oscillator(damping=value if message is None else 1.0), 0.5, dt=1e-2)
        np.testing.assert_array_equal(sim.result().q, reference.q)
        assert not np.array_equal(before, sim.state.position("mass"))


def test_recording_can_be_switched_off() -> None:
    with mb.Simulation(oscillator(), dt=0.1, recording=False) as sim:
        sim.step(3)
        sim.recording = True
        sim.step(2)
        sim.recording = False
        sim.step(5)
        result = sim.result()
    np.testing.assert_allclose(result.t, [0.3, 0.4, 0.5], atol=1e-15)
    assert sim.time == pytest.approx(1.0)


def test_instants_and_events() -> None:
    turned = mb.Event(lambda t, state: state.position("mass")[0], terminal=True, direction=-1, name="middle")
    with mb.Simulation(oscillator(), t_eval=[0.1, 0.25, 4.0], events=[turned]) as sim:
        while not sim.finished:
            sim.step()
        assert sim.time == pytest.approx(np.pi / 6, abs=1e-6)
        assert [event.name for event in sim.events] == ["middle"]
        assert sim.quantity("mass.position.x") == pytest.approx(0.0, abs=1e-9)
        with pytest.raises(mb.SimulationError, match="finished: a terminal event"):
            sim.step()
        np.testing.assert_array_equal(sim.result().t, [0.1, 0.25])
        sim.reset()
        sim.step()
        assert not sim.finished


def test_quantities_are_those_of_the_result() -> None:
    system = mb.examples.four_bar()
    with mb.Simulation(system, dt=1e-3) as sim:
        sim.step(200)
        result = sim.result()
        for name in result.quantities():
            expected = result.quantity(name).values[-1]
            assert sim.quantity(name) == pytest.approx(expected, rel=1e-12, abs=1e-12), name
        with pytest.raises(mb.ModelError, match="did you mean"):
            sim.quantity("energy.totl")


def test_reset_begins_at_a_state_and_its_time() -> None:
    run = mb.simulate(oscillator(), 1.0, dt=0.01)
    with mb.Simulation(oscillator(), dt=0.01) as sim:
        sim.step(7)
        sim.reset(run.state(50))
        assert sim.time == run.t[50]
        sim.advance(to=1.0)
        np.testing.assert_allclose(sim.state.position("mass"), run.position("mass")[-1], atol=1e-14)
        assert len(sim.result()) == 51


# --- what goes wrong --------------------------------------------------------------------------------------------------


def test_fixed_steps_end_on_their_grid() -> None:
    with mb.Simulation(oscillator(), dt=0.1) as sim:
        sim.advance(to=0.3)  # 3 * 0.1 is a little more
        assert sim.time == 0.3
        for wrong, message in ((0.35, "ends of steps of 0.1 s"), (0.2, "from now on"), ("1", "give a number")):
            with pytest.raises(mb.ModelError, match=message):
                sim.advance(to=wrong)
        for wrong in (0, -1, 1.5, True):
            with pytest.raises(mb.ModelError, match="positive number of steps"):
                sim.step(wrong)
        sim.step()
        assert sim.time == pytest.approx(0.4)


class Rope(mb.ForceElement):
    """A force that raises an error after half a second."""

    def wrench(self, t, i, j):
        if t > 0.5:
            raise RuntimeError("the rope broke")
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)


def test_a_failure_keeps_what_was_computed_and_can_be_left() -> None:
    system = oscillator()
    system.add(Rope("rope", system.ground, system["mass"], at_i=(0, 0, 0), at_j=(1, 0, 0)))
    with mb.Simulation(system, dt=0.125) as sim:
        sim.step(2)
        mark = sim.snapshot()
        with pytest.raises(mb.SimulationError, match="the rope broke") as raised:
            sim.step(5)
        assert len(raised.value.result) == 5
        assert sim.time == 0.5
        assert sim.state.t == 0.5
        with pytest.raises(mb.SimulationError, match="has failed before"):
            sim.step()
        assert not sim.result().info.completed
        sim.restore(mark)
        sim.step(2)
        assert sim.time == 0.5


def test_a_closed_simulation_says_so() -> None:
    with mb.Simulation(oscillator(), dt=0.1) as sim:
        sim.step()
    for use in (sim.step, sim.result, sim.snapshot):
        with pytest.raises(mb.SimulationError, match="closed"):
            use()


def test_one_thread_at_a_time() -> None:
    """A thread that asks while another one is within a step is told so; the step goes on."""
    inside, go_on, told = threading.Event(), threading.Event(), []

    def wait(t: float, state: mb.State) -> float:
        if t > 0.15:
            inside.set()
            assert go_on.wait(10.0)
        return t - 100.0

    with mb.Simulation(oscillator(), dt=0.1, events=[wait]) as sim:
        worker = threading.Thread(target=lambda: sim.step(2))
        worker.start()
        assert inside.wait(10.0)
        for use in (sim.step, lambda: sim.quantity("energy.total"), sim.snapshot):
            with pytest.raises(mb.SimulationError, match="another thread") as raised:
                use()
            told.append(raised)
        go_on.set()
        worker.join()
        assert sim.time == pytest.approx(0.2)
    assert len(told) == 3


def test_a_file_can_be_written_and_then_there_is_no_way_back(tmp_path: Any) -> None:
    expected = mb.simulate(oscillator(), 0.5, dt=0.01)
    with mb.Simulation(oscillator(), dt=0.01, output=tmp_path / "run.h5") as sim:
        sim.step(50)
        with pytest.raises(mb.ModelError, match="leave output= out"):
            sim.snapshot()
        result = sim.result()
    assert same(result, expected)
    assert same(mb.load_result(tmp_path / "run.h5"), expected)


def test_snapshots_belong_to_their_simulation() -> None:
    one, other = mb.Simulation(oscillator(), dt=0.1), mb.Simulation(oscillator(), dt=0.1)
    with pytest.raises(mb.ModelError, match="no snapshot of this simulation"):
        one.restore(other.snapshot())
    with pytest.raises(mb.ModelError, match="system"):
        mb.Simulation("four_bar")
    with pytest.raises(mb.ModelError, match="fixed step"):
        mb.Simulation(oscillator(), integrator=mb.RungeKutta4())


def test_one_strategy_serves_several_simulations() -> None:
    integrator = mb.AdamsBashforth()
    one, other = (mb.Simulation(oscillator(), dt, integrator=integrator) for dt in (0.01, 0.02))
    for _ in range(50):
        one.step(2)
        other.step()
    alone = mb.simulate(oscillator(), 1.0, dt=0.02, integrator=mb.AdamsBashforth())
    assert same(other.result(), alone)


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize("force", ["if(t>0.3, 1, 0)", mb.Function.table([0.0, 0.3, 0.6], [0.0, 1.0, 0.0])])
def test_one_comes_back_over_a_jump_of_a_load(force: Any, adaptive: bool) -> None:
    system = mb.System("switched", gravity=(0, 0, 0))
    body = system.add(mb.PointMass("body", mass=1.0))
    system.add(mb.PointForce("load", body, at=(0, 0, 0), force=(force, 0, 0)))
    with mb.Simulation(system, **({} if adaptive else {"dt": 0.01})) as sim:
        sim.advance(to=0.2)
        mark = sim.snapshot()
        sim.advance(to=0.5)
        once = sim.quantity("body.velocity.x")
        sim.restore(mark)
        sim.advance(to=0.5)
        assert sim.quantity("body.velocity.x") == once
        sim.reset()
        assert sim.time == 0.0
        sim.advance(to=0.5)
        np.testing.assert_allclose(sim.quantity("body.velocity.x"), once, rtol=1e-9)


def sprung(damping: float) -> mb.System:
    system = mb.System("sprung", gravity=(0, 0, 0))
    body = system.add(mb.PointMass("body", mass=1.0, position=(1.5, 0, 0)))
    spring = mb.SpringDamper("spring", system.ground, body, at_i=(0, 0, 0), at_j=(1.5, 0, 0))
    spring.update(stiffness=4.0, damping=damping, free_length=1.0)
    system.add(spring)
    return system


@pytest.mark.parametrize(("first", "then"), [(0.0, 3.0), (3.0, 0.0)])
def test_whether_a_force_does_work_beside_its_energy_stays(first: float, then: float) -> None:
    with mb.Simulation(sprung(first)) as sim:
        sim.advance(to=0.5)
        with pytest.raises(mb.ModelError, match=r"SpringDamper 'spring', damping: .*very small value"):
            sim.parameters["spring", "damping"] = then
        assert sim.parameters["spring", "damping"] == first
        sim.advance(to=1.0)
        assert np.abs(sim.result().energy.balance).max() < 1e-5


def test_a_joint_is_not_changed_where_that_would_open_it() -> None:
    system = mb.System("driven")
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.Driver("motor", hinge, angle="0.5*t"))
    with mb.Simulation(system, dt=1e-3) as sim:
        sim.advance(to=0.5)
        with pytest.raises(mb.ModelError, match=r"Driver 'motor', angle: would open it at once: its position misses"):
            sim.parameters["motor", "angle"] = "2*t"
        with pytest.raises(mb.ModelError, match="its velocity misses"):
            sim.parameters["motor", "angle"] = "0.25 + 2*(t - 0.5)"
        sim.parameters["motor", "angle"] = "0.25 + 0.5*(t - 0.5) + (t - 0.5)**2"
        sim.advance(to=1.0)
        np.testing.assert_allclose(sim.quantity("hinge.angle"), 0.75, atol=1e-6)
