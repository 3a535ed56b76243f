"""The simulation: instants, steps, events, progress, interruption, failures, and the state it starts from."""

from __future__ import annotations

import dataclasses
import signal

import numpy as np
import pytest

import mbframe as mb
from mbframe.solvers import output, run

GRAVITY = 9.81
PRECISE = mb.DormandPrince(rtol=1e-12)
FORMULATIONS = [mb.NewtonEuler(), mb.NaturalAbsolute()]
INTEGRATORS = {"adaptive": {"integrator": PRECISE}, "fixed": {"dt": 1e-2}}


def ball(height: float = 1.0, velocity=(0.0, 0.0, 0.0), **values) -> mb.System:
    """A free body: its origin flies z = height + v t - g t^2/2, which every integrator here computes exactly."""
    system = mb.System("throw")
    inertia = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    system.add(mb.RigidBody("ball", position=(0, 0, height), velocity=velocity, **(inertia | values)))
    return system


def pendulum(**values) -> mb.System:
    system = mb.System("pendulum")
    inertia = {"mass": 1.0, "inertia": (0.1, 0.4, 0.4), "position": (1, 0, 0)}
    bar = system.add(mb.RigidBody("bar", **(inertia | values)))
    system.add(mb.SphericalJoint("pin", system.ground, bar, at=(0, 0, 0)))
    return system


def orbit() -> mb.System:
    """A mass on a spring of no free length, without gravity: x = cos(w t), y = 2 sin(w t)/w with w = 3."""
    system = mb.System("orbit", gravity=(0, 0, 0))
    mass = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0), velocity=(0, 2, 0)))
    system.add(mb.SpringDamper("spring", system.ground, mass, stiffness=18.0, free_length=0.0))
    return system


OMEGA = 3.0


class Rope(mb.ForceElement):
    """A force that raises an error, or is no number any more, after half a second."""

    breaks = mb.parameter(True)

    def wrench(self, t, i, j):
        if t > 0.5 and self.breaks:
            raise RuntimeError("the rope broke")
        return (0.0, 0.0, np.nan if t > 0.5 else 0.0), (0.0, 0.0, 0.0)


# --- instants and steps ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", INTEGRATORS.values(), ids=INTEGRATORS)
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_t_eval_gives_exactly_those_instants(options, formulation):
    instants = np.array([0.0, 1e-9, 0.1, 0.123456789, 0.5, 0.999999999, 1.0])
    result = mb.simulate(orbit(), 1.0, t_eval=instants, formulation=formulation, **options)
    np.testing.assert_array_equal(result.t, instants)
    position = result.position("mass")
    closed = np.column_stack([np.cos(OMEGA * instants), 2.0 / OMEGA * np.sin(OMEGA * instants), 0 * instants])
    np.testing.assert_allclose(position, closed, atol=1e-9 if options is INTEGRATORS["adaptive"] else 1e-6)
    np.testing.assert_array_equal(position[0], (1, 0, 0))


def test_t_eval_without_the_ends():
    result = mb.simulate(orbit(), 1.0, t_eval=[0.25, 0.75], integrator=PRECISE)
    np.testing.assert_array_equal(result.t, [0.25, 0.75])
    np.testing.assert_allclose(result.position("mass")[:, 0], np.cos(OMEGA * result.t), atol=1e-9)


def test_t_eval_does_not_change_the_steps():
    every = mb.simulate(orbit(), 1.0, integrator=PRECISE)
    chosen = mb.simulate(orbit(), 1.0, integrator=PRECISE, t_eval=np.append(np.linspace(0, 0.9, 40), 1.0))
    assert chosen.info.steps == every.info.steps
    np.testing.assert_array_equal(chosen.q[-1], every.q[-1])


def test_instants_between_steps_satisfy_the_constraints():
    result = mb.simulate(pendulum(), 2.0, t_eval=np.linspace(0, 2, 101), stabilization=mb.DirectCorrection())
    assert result.info.steps < 60
    assert result.violation.position.max() <= 1e-12
    assert result.violation.velocity.max() <= 1e-11


def test_every_accepted_step_is_stored_without_t_eval():
    result = mb.simulate(pendulum(), 1.0)
    assert result.t[0] == 0.0
    assert result.t[-1] == 1.0
    assert np.all(np.diff(result.t) > 0)
    assert len(result.t) == result.info.steps + 1


def test_a_fixed_step_ends_with_a_shorter_one():
    result = mb.simulate(ball(), 1.0, dt=0.3)
    np.testing.assert_allclose(result.t, [0, 0.3, 0.6, 0.9, 1.0], atol=1e-15)
    assert result.t[-1] == 1.0
    np.testing.assert_allclose(result.position("ball")[:, 2], 1 - GRAVITY / 2 * result.t**2, atol=1e-13)


def test_a_step_that_divides_the_interval_leaves_no_splinter():
    result = mb.simulate(ball(), 1.0, dt=0.1)
    assert len(result.t) == 11
    np.testing.assert_allclose(result.t, np.linspace(0, 1, 11), rtol=1e-15)
    assert result.t[-1] == 1.0


def test_a_step_longer_than_the_interval_is_the_interval():
    np.testing.assert_array_equal(mb.simulate(ball(), 1.0, dt=5.0).t, [0.0, 1.0])


def test_dt_alone_means_the_classical_runge_kutta_method():
    alone, named = mb.simulate(orbit(), 1.0, dt=0.05), mb.simulate(orbit(), 1.0, dt=0.05, integrator=mb.RungeKutta4())
    np.testing.assert_array_equal(alone.q, named.q)
    assert alone.info.settings["integrator"] == "RungeKutta4()"
    # of order four: half the step, a sixteenth of the error
    end = np.array([np.cos(OMEGA), 2.0 / OMEGA * np.sin(OMEGA), 0.0])
    coarse, fine = (np.linalg.norm(mb.simulate(orbit(), 1.0, dt=h).position("mass")[-1] - end) for h in (0.02, 0.01))
    assert coarse / fine == pytest.approx(16.0, rel=0.05)


def test_dt_is_the_first_step_of_an_adaptive_integrator():
    result = mb.simulate(orbit(), 1.0, dt=1e-3, integrator=mb.DormandPrince(rtol=1e-6))
    assert result.t[1] == pytest.approx(1e-3)
    assert np.diff(result.t).max() > 0.01


def test_the_info_tells_what_was_done():
    result = mb.simulate(pendulum(), 1.0, dt=0.01, formulation=mb.NaturalAbsolute())
    info = result.info
    assert info.steps == 100
    assert info.rejected == 0
    assert info.evaluations >= 400
    assert info.factorizations >= 400
    assert info.wall_time > 0.0
    assert info.completed
    assert info.warnings == []
    assert info.settings == {
        "t_end": 1.0,
        "dt": 0.01,
        "formulation": "NaturalAbsolute()",
        "integrator": "RungeKutta4()",
        "acceleration": "AugmentedFormulation()",
        "stabilization": "DirectCorrection(tolerance=1e-10)",
    }


def test_chunks_and_buffers_do_not_show(monkeypatch):
    reference = (
        mb.simulate(pendulum(), 2.0, dt=1e-3),
        mb.simulate(pendulum(), 60.0),
        mb.simulate(pendulum(), 2.0, t_eval=np.linspace(0, 2, 400)),
    )
    assert len(reference[1]) > 3 * 64
    for name in ("BUFFER_NUMBERS", "LARGEST_BUFFER_NUMBERS"):
        monkeypatch.setattr(output, name, 0)  # the smallest buffer, of 64 instants
    for seconds in (0.0, 1e-5, 1e3):
        monkeypatch.setattr(run, "CHUNK_SECONDS", seconds)
        found = (
            mb.simulate(pendulum(), 2.0, dt=1e-3),
            mb.simulate(pendulum(), 60.0),
            mb.simulate(pendulum(), 2.0, t_eval=np.linspace(0, 2, 400)),
        )
        for a, b in zip(found, reference, strict=True):
            np.testing.assert_array_equal(a.t, b.t)
            np.testing.assert_array_equal(a.q, b.q)
            np.testing.assert_array_equal(a.v, b.v)
            assert a.info.steps == b.info.steps


# --- events ----------------------------------------------------------------------------------------------------------


def height(t, state):
    return state.position("ball")[2]


@pytest.mark.parametrize("options", [{"integrator": PRECISE}, {"dt": 0.07}, {}], ids=["precise", "fixed", "default"])
def test_an_event_is_located_where_it_happens(options):
    result = mb.simulate(ball(height=2.0, velocity=(1, 0, 3)), 2.0, events=[height], **options)
    hit = (3.0 + np.sqrt(9.0 + 4.0 * GRAVITY)) / GRAVITY
    (event,) = result.events
    assert event.name == "height"
    assert event.t == pytest.approx(hit, abs=1e-10)
    assert event.state.t == event.t
    np.testing.assert_allclose(event.state.position("ball"), (hit, 0, 0), atol=1e-9)
    np.testing.assert_allclose(event.state.velocity("ball")[2], 3.0 - GRAVITY * hit, atol=1e-9)
    assert result.t[-1] == 2.0


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_events_on_a_curved_motion(formulation):
    """x = cos 3t passes zero at odd multiples of pi/6, downwards at the 1st, 5th, 9th."""
    zeros = np.pi / 6 * np.arange(1, 20, 2)

    def x(t, state):
        return state.position("mass")[0]

    for direction, expected in ((0, zeros), (-1, zeros[::2]), (1, zeros[1::2])):
        event = mb.Event(x, direction=direction, name="crossing")
        result = mb.simulate(orbit(), 10.0, events=[event], integrator=PRECISE, formulation=formulation)
        np.testing.assert_allclose([e.t for e in result.events], expected[expected < 10.0], atol=1e-10)
        assert {e.name for e in result.events} == {"crossing"}


def test_events_on_a_constrained_motion_satisfy_the_constraints():
    """The pendulum is lowest after a quarter of its period."""

    def side(t, state):
        return state.position("bar")[0]

    result = mb.simulate(
        pendulum(), 3.0, events=[side], integrator=PRECISE, stabilization=mb.DirectCorrection(tolerance=1e-13)
    )
    quarter = 1.8540746773013719 * np.sqrt((0.4 + 1.0) / GRAVITY)  # K(1/sqrt 2), released from the horizontal
    np.testing.assert_allclose([e.t for e in result.events], [quarter, 3 * quarter], atol=1e-10)
    for event in result.events:
        assert abs(np.linalg.norm(event.state.position("bar")) - 1.0) < 1e-12
        assert abs(event.state.velocity("bar", (-1, 0, 0))).max() < 1e-11


def test_a_terminal_event_ends_the_run_there():
    result = mb.simulate(ball(), 5.0, events=[mb.Event(height, terminal=True)])
    hit = np.sqrt(2.0 / GRAVITY)
    assert result.t[-1] == pytest.approx(hit, abs=1e-10)
    assert result.position("ball")[-1, 2] == pytest.approx(0.0, abs=1e-9)
    assert np.all(np.diff(result.t) > 0)
    assert np.all(result.position("ball")[:, 2] >= -1e-12)
    assert result.t[-1] == result.events[0].t
    assert result.info.completed


def test_a_plain_function_may_carry_the_attributes():
    def ground(t, state):
        return state.position("ball")[2]

    ground.terminal = True
    ground.direction = 1
    assert mb.simulate(ball(), 1.0, events=[ground]).events == []  # it only falls
    ground.direction = -1
    assert mb.simulate(ball(), 1.0, events=[ground]).t[-1] == pytest.approx(np.sqrt(2.0 / GRAVITY), abs=1e-10)


def test_a_terminal_event_cuts_t_eval():
    instants = np.linspace(0, 1, 21)
    result = mb.simulate(ball(), 1.0, t_eval=instants, events=[mb.Event(height, terminal=True)])
    np.testing.assert_array_equal(result.t, instants[instants < np.sqrt(2.0 / GRAVITY)])


def test_several_events_within_one_step_come_in_order_and_end_at_the_terminal_one():
    def below(limit):
        return lambda t, state: state.position("ball")[2] - limit

    levels = (0.2, 0.8, 0.5)
    events = [mb.Event(below(z), name=f"{z}") for z in levels]
    options = {"dt": 0.5, "integrator": mb.RungeKutta4()}  # falls through all of them in the first step
    result = mb.simulate(ball(), 0.5, events=events, **options)
    assert [e.name for e in result.events] == ["0.8", "0.5", "0.2"]
    times = np.sqrt(2.0 * (1.0 - np.array([0.8, 0.5, 0.2])) / GRAVITY)
    np.testing.assert_allclose([e.t for e in result.events], times, atol=1e-10)
    events[2] = dataclasses.replace(events[2], terminal=True)
    result = mb.simulate(ball(), 0.5, events=events, **options)
    assert [e.name for e in result.events] == ["0.8", "0.5"]
    np.testing.assert_allclose(result.t, [0.0, times[1]], atol=1e-10)


def test_looking_for_events_does_not_change_the_motion():
    plain = mb.simulate(pendulum(), 3.0)
    watched = mb.simulate(pendulum(), 3.0, events=[lambda t, s: s.position("bar")[0], lambda t, s: np.sin(20 * t)])
    assert len(watched.events) > 15
    np.testing.assert_array_equal(watched.t, plain.t)
    np.testing.assert_allclose(watched.q, plain.q, atol=1e-12)


def test_a_run_goes_on_from_an_event():
    """A ball that bounces without loss comes back to its height: each flight lasts twice the fall."""
    fall = np.sqrt(2.0 / GRAVITY)
    system, times, state = ball(), [], None
    for _ in range(4):
        result = mb.simulate(system, 10.0, initial=state, events=[mb.Event(height, terminal=True, direction=-1)])
        times.append(result.t[-1])
        state = result.state(-1)
        bounced = dataclasses.replace(state.motion("ball"), velocity=-state.velocity("ball"))
        state = dataclasses.replace(state, motions={"ball": bounced})
    np.testing.assert_allclose(times, fall * np.array([1, 3, 5, 7]), atol=1e-9)


def test_an_error_in_an_event_names_it_and_keeps_the_partial_result():
    def broken(t, state):
        if t > 0.5:
            raise ZeroDivisionError("of no use")
        return 1.0

    with pytest.raises(mb.SimulationError, match="event 'broken': raised ZeroDivisionError: of no use") as caught:
        mb.simulate(ball(), 1.0, dt=0.1, events=[broken])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.time == pytest.approx(0.6)
    assert len(caught.value.result) >= 6


# --- progress and interruption ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("events", [(), (height,)], ids=["free", "events"])
def test_progress_is_reported_up_to_the_end(events):
    times: list[float] = []
    result = mb.simulate(ball(), 3.0, dt=1e-3, events=events, progress=times.append)
    assert len(times) > 5
    assert times == sorted(times)
    assert times[-1] == 3.0
    np.testing.assert_array_equal(result.q, mb.simulate(ball(), 3.0, dt=1e-3).q)


def test_a_progress_bar_changes_nothing(capsys):
    result = mb.simulate(pendulum(), 0.5, progress=True)
    np.testing.assert_array_equal(result.q, mb.simulate(pendulum(), 0.5).q)
    assert capsys.readouterr().err == ""


def test_the_bar_shows_the_time():
    from mbframe.solvers.progress import Bar

    bar = Bar(1.0, 3.0)
    bar.at(2.0)
    (task,) = bar._bar.tasks
    assert task.percentage == 50.0
    assert task.fields["t"] == "t = 2 of 3 s"


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal, also where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("place", ["append", "_write_block", "_count"])
def test_ctrl_c_while_rows_are_written_loses_none(place, tmp_path, monkeypatch):
    """Not those in hand, and it is heard afterwards."""
    from mbframe.files.result_layout import Rows

    usual, calls = getattr(Rows, place), []

    def interrupted(self, *arguments):
        calls.append(place)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return usual(self, *arguments)

    monkeypatch.setattr(Rows, place, interrupted)
    result = mb.simulate(ball(), 1e5, dt=1e-3, output=tmp_path / "run.h5")
    assert not result.info.completed
    assert result.info.warnings == [f"stopped by the user at t = {result.info.steps * 1e-3:.6g} s"]
    assert result.t[-1] == pytest.approx(result.info.steps * 1e-3)
    assert len(result.t) == result.info.steps + 1


@pytest.mark.usefixtures("ctrl_c")
def test_a_run_that_is_stopped_before_it_begins_gives_its_file_back(tmp_path, monkeypatch):
    from mbframe.solvers import run

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run, "Output", stop)
        with pytest.raises(KeyboardInterrupt):
            mb.simulate(ball(), 0.1, dt=1e-2, output=tmp_path / "run.h5")
    assert mb.simulate(ball(), 0.1, dt=1e-2, output=tmp_path / "run.h5").info.completed


@pytest.mark.parametrize("interrupt", [lambda: signal.raise_signal(signal.SIGINT), None], ids=["Ctrl-C", "raised"])
@pytest.mark.parametrize("t_eval", [None, np.linspace(0, 3, 3001)], ids=["steps", "t_eval"])
@pytest.mark.usefixtures("ctrl_c")
def test_an_interruption_keeps_what_was_computed(interrupt, t_eval):
    def stop(t: float) -> None:
        if t > 1.0:
            if interrupt is None:
                raise KeyboardInterrupt
            interrupt()

    result = mb.simulate(ball(), 5e3, dt=1e-3, progress=stop, t_eval=t_eval)
    assert not result.info.completed
    assert 1.0 < result.t[-1] < 4e3
    assert result.info.warnings == [f"stopped by the user at t = {result.info.steps * 1e-3:.6g} s"]
    assert t_eval is not None or result.t[-1] == pytest.approx(result.info.steps * 1e-3)
    fallen = result.t < 10.0
    np.testing.assert_allclose(
        result.position("ball")[fallen, 2], 1 - GRAVITY / 2 * result.t[fallen] ** 2, atol=1e-9, rtol=1e-9
    )


def test_another_error_in_the_progress_function_is_the_callers_own():
    def cancel(t: float) -> None:
        raise LookupError("window closed")

    with pytest.raises(LookupError, match="window closed"):
        mb.simulate(ball(), 1.0, progress=cancel)


# --- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"dt": 0.1}, {}], ids=["fixed", "adaptive"])
def test_a_failure_carries_time_culprit_and_partial_result(options):
    system = ball()
    system.add(Rope("rope", system.ground, system["ball"]))
    with pytest.raises(mb.SimulationError, match="'rope': wrench raised RuntimeError: the rope broke") as caught:
        mb.simulate(system, 1.0, **options)
    error = caught.value
    assert isinstance(error.__cause__, RuntimeError)
    assert error.culprit == "Rope 'rope'"
    assert 0.5 < error.time < 1.0
    assert not error.result.info.completed
    assert error.result.t[0] == 0.0
    assert 0.0 < error.result.t[-1] <= 0.5 + 1e-12
    t = error.result.t
    np.testing.assert_allclose(error.result.position("ball")[:, 2], 1 - GRAVITY / 2 * t**2, atol=1e-12)


def test_a_force_that_is_not_a_number_stops_a_run_with_a_fixed_step():
    system = ball()
    system.add(Rope("rope", system.ground, system["ball"], breaks=False))
    with pytest.raises(mb.SimulationError, match="Rope 'rope': wrench gives numbers that are not") as caught:
        mb.simulate(system, 1.0, dt=0.1)
    assert 0.5 < caught.value.time <= 0.6
    assert caught.value.result.t[-1] == pytest.approx(0.5)


class Runaway(mb.ForceElement):
    """z'' = 6 z^2, whose solution 1/(1 - t)^2 from z = 1, z' = 2 leaves every bound at t = 1."""

    def wrench(self, t, i, j):
        return (0.0, 0.0, 6.0 * j.position[2] ** 2), (0.0, 0.0, 0.0)


def test_an_adaptive_step_that_vanishes_stops_the_run_near_the_singularity():
    system = ball(velocity=(0, 0, 2))
    system.gravity = (0, 0, 0)
    system.add(Runaway("runaway", system.ground, system["ball"]))
    with pytest.raises(mb.SimulationError) as caught:
        mb.simulate(system, 2.0, integrator=mb.DormandPrince(rtol=1e-10))
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)
    t, z = caught.value.result.t, caught.value.result.position("ball")[:, 2]
    early = t < 0.9
    np.testing.assert_allclose(z[early], 1 / (1 - t[early]) ** 2, rtol=1e-7)


def test_a_mechanism_that_cannot_close_any_more_names_the_joint():
    """The end of a bar is drawn away from its support: the bar is stretched at t = 0.5, and there is no way on."""

    class Leaving(mb.BasicConstraint):
        equations = 1

        def residual(self, t, i, j):
            return [j.position[0] - 0.5 - t]

    system = pendulum(position=(0.5, 0, -np.sqrt(0.75)))
    system.add(Leaving("pull", system.ground, system["bar"], at=system["bar"].position))
    with pytest.raises(mb.SimulationError, match="cannot be closed") as caught:
        mb.simulate(system, 1.0, dt=0.02)
    assert caught.value.culprit in ("SphericalJoint 'pin'", "Leaving 'pull'")
    assert caught.value.time == pytest.approx(0.5, abs=0.1)
    np.testing.assert_allclose(caught.value.result.position("bar")[:, 0], 0.5 + caught.value.result.t, atol=1e-9)


# --- the state it starts from ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_two_halves_are_one_whole(formulation):
    options = {"dt": 0.01, "formulation": formulation, "stabilization": mb.DirectCorrection(tolerance=1e-13)}
    system = mb.examples.triple_pendulum()
    whole = mb.simulate(system, 1.0, **options)
    first = mb.simulate(system, 0.5, **options)
    second = mb.simulate(system, 1.0, initial=first.state(-1), **options)
    assert second.t[0] == 0.5
    np.testing.assert_allclose(second.t, whole.t[50:], atol=1e-15)
    assert second.info.warnings == []
    for name in ("bar 1", "bar 3"):
        np.testing.assert_allclose(second.position(name), whole.position(name)[50:], atol=1e-11)
        np.testing.assert_allclose(second.velocity(name), whole.velocity(name)[50:], atol=1e-10)
        np.testing.assert_allclose(second.rotation(name).as_matrix(), whole.rotation(name).as_matrix()[50:], atol=1e-11)


def test_a_run_goes_on_in_other_coordinates():
    system = mb.examples.triple_pendulum()
    options = {"integrator": PRECISE, "stabilization": mb.DirectCorrection(tolerance=1e-13)}
    whole = mb.simulate(system, 1.0, **options)
    first = mb.simulate(system, 0.5, formulation=mb.NaturalAbsolute(), **options)
    second = mb.simulate(system, 1.0, initial=first.state(-1), **options)
    np.testing.assert_allclose(second.position("bar 3")[-1], whole.position("bar 3")[-1], atol=1e-9)


def test_an_initial_state_replaces_the_described_one_and_leaves_it_alone():
    system = ball()
    start = mb.simulate(system, 0.5).state(-1)
    result = mb.simulate(system, 0.7, initial=start, t_eval=[0.5, 0.7])
    np.testing.assert_allclose(result.position("ball")[:, 2], 1 - GRAVITY / 2 * np.array([0.25, 0.49]), atol=1e-12)
    np.testing.assert_array_equal(system["ball"].position, (0, 0, 1))


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_inconsistent_velocities_are_projected_with_a_warning(formulation):
    """The least change in kinetic energy: the impulse at the pin that stops its point."""
    system = pendulum(velocity=(1.0, 2.0, 3.0), center_of_mass=(0.0, 0.0, 0.0))
    result = mb.simulate(system, 0.1, formulation=formulation)
    # with arm r from the pin to the centre: I w = r x m v about the pin, v = w x r
    w = np.array([0.0, -3.0, 2.0]) * 1.0 / (0.4 + 1.0)
    np.testing.assert_allclose(result.angular_velocity("bar")[0], w, atol=1e-10)
    np.testing.assert_allclose(result.velocity("bar")[0], np.cross(w, (1, 0, 0)), atol=1e-10)
    (warning,) = result.info.warnings
    assert warning.startswith("the initial velocities violated SphericalJoint 'pin' by 3.74; they were projected")
    np.testing.assert_array_equal(system["bar"].velocity, (1, 2, 3))


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_a_small_gap_is_assembled_with_a_warning(formulation):
    system = pendulum()
    described = mb.Equations(system).described()
    moved = dataclasses.replace(described.motions["bar"], position=np.array([1.0 + 2e-3, 0.0, 0.0]))
    result = mb.simulate(system, 0.1, initial=mb.State(0.0, {"bar": moved}), formulation=formulation)
    np.testing.assert_allclose(result.position("bar")[0], (1, 0, 0), atol=1e-10)
    (warning,) = result.info.warnings
    assert warning == (
        "the initial position violated SphericalJoint 'pin' by 0.002; it was assembled, "
        "and 'bar' moved most, by 0.002 m"
    )


def test_a_consistent_state_is_taken_digit_for_digit():
    result = mb.simulate(mb.examples.triple_pendulum(), 0.01)
    eq = mb.Equations(mb.examples.triple_pendulum())
    np.testing.assert_array_equal(np.append(result.q[0], result.v[0]), eq.coordinates(eq.described()))
    assert result.info.warnings == []


@pytest.mark.parametrize("size", [1e-6, 1e3, 1e6], ids=["micrometre", "kilometre", "megametre"])
@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_pendulums_of_any_size_swing_alike(size, formulation):
    """Positions are divided by the length, times by its root. Of a long one rounding alone opens the joint by 1e-10 m.

    Compared with the exact motion of a pendulum: sin(angle/2) = k sn(K - w t) (k = sin(0.1)).
    """
    from scipy.special import ellipj, ellipk

    system = mb.System("pendulum")
    bar = mb.RigidBody("bar", mass=1.0, inertia=0.01 * size**2 * np.ones(3))
    bar.position = size * np.array([np.sin(0.2), 0.0, -np.cos(0.2)])
    system.add(bar)
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    w = np.sqrt(9.81 / (1.01 * size))
    times = np.linspace(0.0, 20.0 / w, 21)
    integrator = mb.DormandPrince(rtol=1e-9, atol=1e-11 * size)
    result = mb.simulate(system, times[-1], t_eval=times, formulation=formulation, integrator=integrator)
    m = np.sin(0.1) ** 2
    angle = 2.0 * np.arcsin(np.sin(0.1) * ellipj(ellipk(m) - w * times, m)[0])
    np.testing.assert_allclose(result.position("bar")[:, 0] / size, np.sin(angle), atol=1e-7)


def test_instants_that_rounding_carries_beyond_the_end_are_the_end():
    """0.1 * 7 is a little more than 0.7."""
    system = mb.System("fall")
    stone = system.add(mb.PointMass("stone", mass=1.0))
    times = 0.1 * np.arange(8)
    assert times[-1] > 0.7
    result = mb.simulate(system, 0.7, t_eval=times)
    np.testing.assert_allclose(result.t, times, rtol=1e-15)
    np.testing.assert_allclose(result.position(stone)[:, 2], -9.81 / 2 * times**2, atol=1e-9)


@pytest.mark.parametrize("integrator", [mb.DormandPrince(), mb.RadauIIA()], ids=repr)
def test_all_zeros_of_an_event_that_swings_within_a_step(integrator: mb.Integrator) -> None:
    """Steps of seconds: of 38 zeros 6 were found, without a word; of 955 not all are, and that is told."""
    system = mb.System("flight", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 0)))

    def times(rate: float) -> tuple[list[float], list[str]]:
        wave = mb.Event(lambda t, state: np.sin(rate * state.position(body)[0] + 0.3), name="wave")
        run = mb.simulate(system, 10.0, integrator=integrator, events=[wave])
        return [event.t for event in run.events], run.info.warnings

    for rate in (3.0, 12.0):
        found, warnings = times(rate)
        np.testing.assert_allclose(
            found, (np.pi * np.arange(1, int((10.0 * rate + 0.3) / np.pi) + 1) - 0.3) / rate, atol=1e-10
        )
        assert warnings == []
    _, (warning,) = times(300.0)
    assert warning.startswith("event 'wave': it passes zero so often")
    assert "max_step=" in warning


@pytest.mark.parametrize("rate", [300.0, 3000.0])
def test_zeros_of_an_event_in_implicit_steps_are_found_or_told(rate: float) -> None:
    """Steps of RadauIIA have a course of their own within: 16 of 1,909 zeros were lost, without a word."""
    system = pendulum()
    wave = mb.Event(lambda t, state: np.sin(rate * t + 0.3), name="wave")
    run = mb.simulate(system, 1.0, integrator=mb.RadauIIA(), events=[wave])
    told = any("others may be missed" in warning for warning in run.info.warnings)
    assert len(run.events) == int((rate + 0.3) / np.pi) or told


def test_partitioning_with_generalized_alpha_tells_of_the_lost_order() -> None:
    """It leaves order one, which nothing else would show."""
    system, settings = mb.examples.simple_pendulum(), {"stabilization": mb.CoordinatePartitioning()}
    (warning,) = mb.simulate(system, 0.01, 1e-3, integrator=mb.GeneralizedAlpha(), **settings).info.warnings
    assert "makes GeneralizedAlpha" in warning
    assert "order one" in warning
    assert "velocity_level=True" in warning
    for integrator in (mb.GeneralizedAlpha(velocity_level=True), mb.RungeKutta4()):
        assert mb.simulate(system, 0.01, 1e-3, integrator=integrator, **settings).info.warnings == []
