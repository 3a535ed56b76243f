"""Tasks in other processes: results, progress, cancelling, failures, and processes that end."""

from __future__ import annotations

import os
import pickle
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QTimer

import mbframe as mb
from gui.document.runs import Run, RunSettings
from gui.panels.stability.tasks import EQUILIBRIUM, About, LocusTask, RootsTask, Subject
from gui.panels.stability.variation import ElementNumber
from gui.solving.solver import FOLDER_PREFIX, READY, Solver
from gui.solving.tasks import FreedomTask, Model, QuantitiesTask, SimulateTask


def outcome(qtbot, job):
    """What a job ends with: its state and value."""
    qtbot.waitUntil(lambda: job.done)
    return job.state, job.value


@dataclass
class Stubborn:
    """Reports nothing for a long time."""

    seconds: float = 3600.0

    def run(self, report):
        time.sleep(self.seconds)
        return self.seconds


@dataclass
class Counting:
    """Reports often, for a long time, and returns how often."""

    most: int = 10**6

    def run(self, report):
        for count in range(self.most):
            report(count / self.most, count)
            time.sleep(0.005)
        return self.most


@dataclass
class Dying:
    """Ends its process."""

    def run(self, report):
        os._exit(7)


@dataclass
class Raising:
    """Has a fault."""

    def run(self, report):
        return 1 // 0


@dataclass
class Telling:
    """Returns what it was given."""

    value: object
    latest = "telling"

    def run(self, report):
        return self.value


@dataclass
class Unsendable:
    """Returns what cannot travel."""

    def run(self, report):
        return lambda: None


def test_a_run_streams_into_a_file_and_says_how_far_it_is(qtbot, solver, document):
    document.open_example("four_bar")
    settings = RunSettings("fast", 2.0)
    path = solver.temporary_file()
    job = solver.submit(SimulateTask(Model.of(document.system), settings, str(path)))
    reported = []
    job.progressed.connect(lambda fraction, t: reported.append((fraction, t)))
    state, value = outcome(qtbot, job)
    assert state == "finished"
    assert value.completed
    assert reported[-1] == (1.0, 2.0)
    run = Run("Run 1", settings, document.model_text(), path=path)
    assert run.reload()
    assert not run.reload()  # nothing new
    assert len(run.result) == 501
    assert run.t_last == 2.0
    expected = mb.simulate(document.system, **settings.keywords())
    np.testing.assert_allclose(run.result.position("bar 2"), expected.position("bar 2"), atol=1e-12)


def test_quantities_that_need_the_equations_are_computed_elsewhere(qtbot, solver, document):
    document.open_example("simple_pendulum")
    path = solver.temporary_file()
    job = solver.submit(SimulateTask(Model.of(document.system), RunSettings("fast", 0.5), str(path)))
    assert outcome(qtbot, job)[0] == "finished"
    state, value = outcome(qtbot, solver.submit(QuantitiesTask(str(path), ("energy.total",))))
    assert state == "finished"
    values, unit = value["energy.total"]
    assert unit == "J"
    np.testing.assert_allclose(values, mb.load_result(path).energy.total, rtol=1e-12)


def test_a_failed_run_says_why_and_keeps_what_it_has(qtbot, solver):
    system = mb.System("fall")
    ball = system.add(mb.PointMass("ball", mass=1.0))
    # The force has no value after one second.
    system.add(mb.PointForce("push", ball, force=("sqrt(1 - t)", 0.0, 0.0)))
    path = solver.temporary_file()
    state, failure = outcome(qtbot, solver.submit(SimulateTask(Model.of(system), RunSettings("fast", 2.0), str(path))))
    assert state == "failed"
    assert failure.expected
    assert failure.time == pytest.approx(1.0, abs=0.05)
    assert failure.message
    partial = mb.load_result(path)
    assert 0.9 < partial.t[-1] <= 1.0
    assert not partial.info.completed


def test_an_impossible_model_fails_with_its_problems(qtbot, solver, document):
    document.open_example("four_bar")
    document.system["B"].update(at=(1.0, 1.0))  # the bars do not meet there, but the joint holds them as they are
    document.system["bar 1"].update(velocity=(5.0, 5.0))
    task = SimulateTask(Model.of(document.system), RunSettings(t_end=-1.0), str(solver.temporary_file()))
    state, failure = outcome(qtbot, solver.submit(task))
    assert state == "failed"
    assert failure.problems[0].field == "t_end"
    assert "later time" in failure.message


def assert_cancelled(qtbot, job):
    """A job ends because it is cancelled: none of those it is used for would end by itself before the test does."""
    job.cancel()
    qtbot.waitUntil(lambda: job.done)
    assert job.state == "cancelled"


def test_cancelling_keeps_what_was_computed(qtbot, solver, document):
    document.open_example("n_four_bar")
    path = solver.temporary_file()
    settings = RunSettings("custom", 500.0, dt=1e-4, every=0.01)
    job = solver.submit(SimulateTask(Model.of(document.system), settings, str(path)))
    qtbot.waitSignal(job.progressed).wait()
    # On a busy machine the process is ended before it has heard; what it had written until then stays.
    qtbot.waitUntil(lambda: len(mb.load_result(path)) > 1)
    assert_cancelled(qtbot, job)
    partial = mb.load_result(path)
    assert not partial.info.completed
    assert 0.0 < partial.t[-1] < 500.0


def test_a_task_that_does_not_listen_is_ended_with_its_process(qtbot, solver):
    job = solver.submit(Stubborn())
    qtbot.waitUntil(lambda: job.state == "running")
    (process,) = [worker.process for worker in solver._workers if worker.job is job]
    qtbot.wait(100)
    assert_cancelled(qtbot, job)
    assert process.exitcode == -signal.SIGKILL
    assert outcome(qtbot, solver.submit(Telling("still here"))) == ("finished", "still here")


def test_a_waiting_job_is_cancelled_at_once(qtbot, solver):
    busy = [solver.submit(Counting()) for _ in range(3)]
    third = busy[2]
    assert third.state == "waiting"
    with qtbot.waitSignal(third.cancelled):
        third.cancel()
    assert third not in solver.jobs


def test_a_newer_request_replaces_one_that_waits(qtbot, solver):
    busy = [solver.submit(Counting()) for _ in range(2)]
    qtbot.waitUntil(lambda: all(job.state == "running" for job in busy))
    jobs = [solver.submit(Telling(k)) for k in range(5)]
    assert [job.state for job in jobs] == ["cancelled"] * 4 + ["waiting"]
    for job in busy:
        job.cancel()
    assert outcome(qtbot, jobs[-1]) == ("finished", 4)


def test_faults_come_back_as_sentences_with_details(qtbot, solver):
    state, failure = outcome(qtbot, solver.submit(Raising()))
    assert state == "failed"
    assert not failure.expected
    assert "ZeroDivisionError" in failure.message
    assert "1 // 0" in failure.details
    state, failure = outcome(qtbot, solver.submit(Unsendable()))
    assert state == "failed"
    task = Telling(lambda: None)
    state, failure = outcome(qtbot, solver.submit(task))
    assert state == "failed"
    assert "cannot be given" in failure.message


def test_a_process_that_ends_is_reported_and_replaced(qtbot, solver):
    with qtbot.waitSignal(solver.broke) as told:
        job = solver.submit(Dying())
    assert "ended unexpectedly (with status 7)" in told.args[0]
    assert job.state == "failed"
    assert outcome(qtbot, solver.submit(Telling(1))) == ("finished", 1)


def test_a_long_run_does_not_keep_an_analysis_waiting(qtbot, solver, document):
    document.open_example("simple_pendulum")
    run = solver.submit(Counting())
    qtbot.waitUntil(lambda: run.state == "running")
    state, freedom = outcome(qtbot, solver.submit(FreedomTask(Model.of(document.system))))
    assert state == "finished"
    assert freedom.count == mb.degrees_of_freedom(document.system).count
    assert run.state == "running"


def test_the_window_stays_responsive(qtbot, solver, document):
    """The event loop turns while a run computes: it runs in another process, and nothing waits for it."""
    document.open_example("n_four_bar")
    beats, reports = [0], []
    timer = QTimer()
    timer.setInterval(0)  # beats in every turn of the event loop

    def beat():
        beats[0] += 1

    timer.timeout.connect(beat)
    settings = RunSettings("custom", 500.0, dt=1e-4, every=0.01)
    job = solver.submit(SimulateTask(Model.of(document.system), settings, str(solver.temporary_file())))
    job.progressed.connect(lambda fraction, t: reports.append((beats[0], t)))
    assert not job.done  # whoever submits a task does not wait for it
    timer.start()
    qtbot.waitUntil(lambda: len({count for count, _ in reports}) >= 4)
    timer.stop()
    assert job.state == "running"
    (worker,) = [worker for worker in solver._workers if worker.job is job]
    assert worker.process.pid != os.getpid()
    assert np.all(np.diff([t for _, t in reports]) >= 0.0)
    assert 0.0 < reports[-1][1] < 500.0
    assert_cancelled(qtbot, job)


def test_stability_tasks_agree_with_the_library(qtbot, solver, document):
    document.open_example("whipple_bicycle")
    subject = Subject(Model.of(document.system), variation=ElementNumber("frame", "mass"))
    mass = document.system["frame"].mass
    expected = mb.linearize(document.system)
    for value in (None, mass):  # None leaves the model as it is
        state, found = outcome(qtbot, solver.submit(RootsTask(subject, value)))
        assert state == "finished"
        assert found.value == value
        np.testing.assert_allclose(found.linearization.eigenvalues, expected.eigenvalues, atol=1e-9)
    state, found = outcome(qtbot, solver.submit(LocusTask(subject, (mass, 1.05 * mass, 1.1 * mass))))
    assert state == "finished"
    assert found.locus.eigenvalues.shape[0] == 3
    assert found.critical == []  # so small a change of mass does not make the bicycle stable


def test_equilibria_come_back_as_states(qtbot, solver, document):
    document.open_example("four_bar")
    task = RootsTask(Subject(Model.of(document.system), About(EQUILIBRIUM)))
    state, found = outcome(qtbot, solver.submit(task))
    assert state == "finished"
    expected = mb.equilibrium(document.system).position("bar 2")
    np.testing.assert_allclose(found.state.position("bar 2"), expected, atol=1e-9)


def test_a_model_that_no_file_can_hold_travels_pickled():
    system = mb.System("pushed")
    ball = system.add(mb.PointMass("ball", mass=1.0))
    system.add(mb.PointForce("push", ball, force=(np.sin, 0.0, 0.0)))
    packed = Model.of(system)
    assert not packed.text
    assert pickle.loads(pickle.dumps(packed)).system()["push"].force[0](0.5) == pytest.approx(np.sin(0.5))


def test_closing_while_computing_ends_processes_and_removes_files(qtbot):
    solver = Solver(warm=False)
    job = solver.submit(Stubborn())
    qtbot.waitUntil(lambda: job.state == "running")
    process = solver._workers[0].process
    (solver.folder / "left.h5").touch()
    solver.close()
    assert job.state == "cancelled"
    assert process.exitcode == -signal.SIGKILL  # an hour before the task would have ended
    assert not solver.folder.exists()
    late = solver.submit(Telling(1))
    assert outcome(qtbot, late)[0] == "cancelled"
    solver.close()  # twice does no harm


def test_files_of_killed_applications_are_removed(qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead = tmp_path / f"{FOLDER_PREFIX}{2**22 + 1}-abc"
    alive = tmp_path / f"{FOLDER_PREFIX}{os.getppid()}-abc"
    for folder in (dead, alive):
        folder.mkdir()
    solver = Solver(warm=False)
    assert not dead.exists()
    assert alive.exists()
    assert Path(solver.folder).is_dir()
    solver.close()


def test_a_solver_that_cannot_start_gives_up(qtbot, monkeypatch):
    monkeypatch.setattr("gui.solving.solver.serve", os._exit)  # which refuses two arguments, and so ends with an error
    solver = Solver(warm=False)
    said = []
    solver.broke.connect(said.append)
    job = solver.submit(Telling(1))
    qtbot.waitUntil(lambda: bool(said))
    assert "cannot be started" in said[-1]
    assert job.state == "failed"
    assert solver.state == "broken"
    solver.close()


def test_states_are_announced(qtbot):
    solver = Solver(warm=False)
    states = []
    solver.state_changed.connect(states.append)
    solver.start()
    qtbot.waitUntil(lambda: solver.state == READY)
    job = solver.submit(Telling(1))
    outcome(qtbot, job)
    assert states == ["preparing", "ready", "busy", "ready"]
    solver.close()
