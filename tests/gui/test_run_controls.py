"""Run controls: settings, progress, cancelling, results that are kept and what becomes of them."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton

import mbframe as mb
from gui.document.document import Document
from gui.document.runs import Run, RunSettings
from gui.panels.run.panel import RunControls
from gui.panels.run.results import NAME, RUN, STATUS
from gui.solving.process import Failure
from gui.solving.runner import duration
from gui.solving.tasks import SimulationOutcome

from .hands import type_into


def pendulum():
    system = mb.System("pendulum", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.5, 0.0)))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    return system


class FakeJob(QObject):
    progressed = Signal(float, object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, task):
        super().__init__()
        self.task = task

    def cancel(self):
        self.cancelled.emit()


class FakeSolver(QObject):
    """A solver whose jobs do what the test says."""

    state_changed = Signal(str)

    def __init__(self, folder):
        super().__init__()
        self.state, self.folder, self.jobs = "ready", folder, []

    def temporary_file(self, suffix=".h5"):
        return self.folder / f"run{len(self.jobs)}{suffix}"

    def submit(self, task):
        self.jobs.append(FakeJob(task))
        return self.jobs[-1]


@pytest.fixture
def panel(qtbot, tmp_path):
    document = Document(pendulum())
    controls = RunControls(document, FakeSolver(tmp_path))
    controls.solver = controls.runner.solver
    qtbot.addWidget(controls)
    controls.resize(300, 420)
    controls.show()
    with qtbot.waitActive(controls):
        controls.activateWindow()
    return controls


def stored(panel, t_end=0.1):
    """What the solver would have written for the job that was submitted last."""
    task = panel.solver.jobs[-1].task
    mb.simulate(task.model.system(), t_end, t_eval=np.arange(0.0, 100 * t_end + 0.5) / 100, output=task.path)
    return SimulationOutcome(task.path, True, [], 0.01, 10, 0)


def concluded(panel):
    """Let the runner read what there is of a run that has ended."""
    let_go_on(lambda: not panel.runner.running)


def let_go_on(until):
    end = time.monotonic() + 300.0
    while not until():
        assert time.monotonic() < end
        QTest.qWait(1)


def computed(panel, **job):
    panel.runner.start()
    panel.solver.jobs[-1].finished.emit(stored(panel, **job))
    concluded(panel)
    return panel.document.runs[-1]


# ---- Settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["fast", "accurate", "stiff"])
def test_a_preset_is_one_click(panel, qtbot, name):
    qtbot.mouseClick(panel.findChild(QPushButton, f"preset_{name}"), Qt.MouseButton.LeftButton)
    assert panel.document.runs.settings == RunSettings(name, 5.0)
    assert [key for key, button in panel.buttons.items() if button.isChecked()] == [name]


def test_settings_of_the_document_are_shown(panel):
    panel.document.runs.settings = RunSettings("custom", 7.5, integrator=mb.RadauIIA())
    assert panel.method.isChecked()
    assert panel.t_end.edit.text() == "7.5"


@pytest.mark.parametrize("text", ["abc", "-1", "0", "nan", "1e999", "", "1e7"])
def test_a_bad_end_time_is_said_and_nothing_runs(panel, qtbot, text):
    type_into(qtbot, panel.t_end.edit, text, enter=False)
    assert panel.problem.isVisible()
    panel.runner.start()
    assert panel.document.runs.settings.t_end == 5.0
    assert panel.solver.jobs == []
    qtbot.keyClick(panel.t_end.edit, Qt.Key.Key_Escape)
    assert not panel.problem.isVisible()


def test_a_shortcut_takes_the_end_time_that_is_being_typed(panel, qtbot):
    type_into(qtbot, panel.t_end.edit, "3.5", enter=False)
    panel.runner.start()  # what F5 and the toolbar call; the focus stays in the field
    assert panel.solver.jobs[0].task.settings.t_end == 3.5


def test_a_shortcut_does_not_run_while_what_is_typed_is_wrong(panel, qtbot):
    type_into(qtbot, panel.t_end.edit, "soon", enter=False)
    panel.runner.start()
    assert panel.solver.jobs == []
    assert "not a number" in panel.problem.text()


# ---- Running --------------------------------------------------------------------------------------------------------


def test_progress_and_time_left(panel, qtbot, monkeypatch):
    now = iter([100.0, 102.0])
    monkeypatch.setattr("gui.solving.runner.time", SimpleNamespace(monotonic=lambda: next(now, 102.0)))
    panel.runner.start()
    assert panel.bar.isVisible()
    assert panel.progress.text() == "Starting…"
    job = panel.solver.jobs[0]
    job.progressed.emit(0.0, 0.0)
    job.progressed.emit(0.25, 1.25)
    assert panel.bar.value() == 250
    assert panel.progress.text() == "1.25 of 5 s, 6.0 s left"
    panel.runner.run.settings = panel.runner.run.settings.changed(t_end=200_000.0)
    job.progressed.emit(0.0617, 12_345.6)
    assert panel.progress.text().startswith("12,346 of 200,000 s, ")
    job.finished.emit(stored(panel))
    concluded(panel)
    assert not panel.bar.isVisible()


def test_compilation_is_announced(panel):
    panel.solver.state = "preparing"
    panel.runner.start()
    assert "Preparing" in panel.progress.text()
    panel.solver.state = "busy"
    panel.solver.state_changed.emit("busy")
    assert panel.progress.text() == "Starting…"


def test_a_run_is_there_as_soon_as_its_first_states_are(panel, qtbot):
    panel.runner.start()
    job = panel.solver.jobs[0]
    job.progressed.emit(0.1, 0.5)
    let_go_on(lambda: not panel.runner._turns.busy)
    assert list(panel.document.runs) == []
    stored(panel, t_end=0.1)
    panel.runner._reloaded = 0.0
    with qtbot.waitSignal(panel.runner.playable):
        job.progressed.emit(0.2, 1.0)
    (run,) = panel.document.runs
    assert run.computing
    assert panel.document.runs.current is run
    assert "computing" in panel.results.topLevelItem(0).text(STATUS)
    job.finished.emit(stored(panel, t_end=0.2))
    concluded(panel)
    assert (run.computing, run.complete, run.t_last) == (False, True, 0.2)


def test_a_failed_run_keeps_its_motion_and_says_why(panel):
    panel.runner.start()
    stored(panel, t_end=0.1)
    panel.solver.jobs[0].failed.emit(
        Failure("t = 0.1 s, pin: the joint broke", "SimulationError", time=0.1, culprit="pin")
    )
    concluded(panel)
    (run,) = panel.document.runs
    assert (run.complete, run.t_last) == (False, 0.1)
    assert "broke" in run.reason
    item = panel.results.topLevelItem(0)
    assert item.text(STATUS) == "stopped at 0.1 s"
    assert "broke" in item.toolTip(NAME)
    message = panel.document.messages[-1]
    assert (message.level, message.element) == ("error", panel.document.system["pin"])
    assert message.text == "Run 1 stopped at t = 0.1 s: pin: the joint broke. The motion until then is kept."


def test_a_run_that_does_not_start_leaves_messages_with_the_elements(panel):
    panel.runner.start()
    error = mb.ModelError([panel.document.system["pin"].problem("at", "does not close")])
    panel.solver.jobs[0].failed.emit(Failure.of(error))
    concluded(panel)
    assert list(panel.document.runs) == []
    assert panel.document.messages[-1].element is panel.document.system["pin"]
    assert not panel.bar.isVisible()


def test_a_model_without_bodies_says_what_to_do_in_the_window(panel):
    """It advised to write Python."""
    panel.document.new(2)
    panel.runner.start()
    assert not panel.runner.running
    assert "Add a body" in panel.document.messages[-1].text
    assert "mb." not in panel.document.messages[-1].text


def test_cancel_keeps_what_there_is(panel, qtbot):
    panel.runner.start()
    job = panel.solver.jobs[0]
    stored(panel, t_end=0.1)
    job.progressed.emit(0.02, 0.1)
    panel.runner.cancel()
    concluded(panel)
    (run,) = panel.document.runs
    assert run.reason == "cancelled at t = 0.1 s"
    assert panel.results.topLevelItem(0).text(STATUS) == "cancelled at 0.1 s"
    assert not panel.bar.isVisible()


def test_another_document_forgets_the_run(panel):
    panel.runner.start()
    job = panel.solver.jobs[0]
    panel.document.new()
    assert not panel.runner.running
    job.progressed.emit(0.5, 2.0)
    assert list(panel.document.runs) == []


def test_warnings_of_a_run_are_posted(panel):
    panel.runner.start()
    outcome = stored(panel)
    outcome.warnings.append("the initial position was assembled")
    panel.solver.jobs[0].finished.emit(outcome)
    concluded(panel)
    levels = [message.level for message in panel.document.messages]
    assert levels == ["warning", "info"]


def test_states_that_are_stored_too_rarely_are_told(panel):
    """100 s between two pictures of a pendulum."""
    document = panel.document
    document.runs.settings = document.runs.settings.changed(preset="custom", t_end=3000.0, every=100.0)
    panel.runner.start()
    task = panel.solver.jobs[-1].task
    mb.simulate(task.model.system(), 3000.0, t_eval=np.linspace(0.0, 3000.0, 31), output=task.path)
    panel.solver.jobs[-1].finished.emit(SimulationOutcome(task.path, True, [], 0.01, 10, 0))
    concluded(panel)
    said = [message.text for message in document.messages if message.level == "warning"]
    assert len(said) == 1
    assert "stores a state every 100 s" in said[0]
    assert "Method…" in said[0]


# ---- Results --------------------------------------------------------------------------------------------------------


def test_several_results_are_kept_and_chosen(panel, qtbot):
    first, second = computed(panel), computed(panel)
    assert [run.name for run in panel.document.runs] == ["Run 1", "Run 2"]
    assert panel.document.runs.current is second
    rectangle = panel.results.visualItemRect(panel.results.topLevelItem(0))
    qtbot.mouseClick(panel.results.viewport(), Qt.MouseButton.LeftButton, pos=rectangle.center())
    qtbot.waitUntil(lambda: panel.document.runs.current is first)


def test_an_edit_marks_results_as_stale_and_undo_takes_the_mark_away(panel):
    computed(panel)
    item = panel.results.topLevelItem(0)
    assert "older" not in item.text(STATUS)
    panel.document.set(panel.document.system["bar"], mass=2.0)
    assert "older model" in item.text(STATUS)
    assert "changed after" in item.toolTip(NAME)
    panel.document.undo()
    assert "older" not in item.text(STATUS)


def test_rename_hide_and_delete(panel, qtbot):
    run = computed(panel)
    item = panel.results.topLevelItem(0)
    item.setText(NAME, "light bar")
    assert run.name == "light bar"
    item.setText(NAME, "   ")
    assert run.name == "light bar"
    assert item.text(NAME) == "light bar"
    eye = panel.results.findChild(QToolButton, "run_visible")
    qtbot.mouseClick(eye, Qt.MouseButton.LeftButton)
    assert not run.visible
    qtbot.mouseClick(eye, Qt.MouseButton.LeftButton)
    assert run.visible
    panel.results.setFocus()
    qtbot.keyClick(panel.results, Qt.Key.Key_Delete)
    assert list(panel.document.runs) == []
    assert panel.empty.isVisible()
    panel.document.undo()
    assert list(panel.document.runs) == [run]


def test_the_context_menu_reuses_settings(panel):
    panel.document.runs.settings = RunSettings("stiff", 0.1)
    computed(panel)
    panel.document.runs.settings = RunSettings("fast", 1.0)
    menu = panel.results.menu_for(panel.results.topLevelItem(0))
    assert isinstance(menu, QMenu)
    next(action for action in menu.actions() if action.objectName() == "run_reuse").trigger()
    assert panel.document.runs.settings == RunSettings("stiff", 0.1)
    next(action for action in menu.actions() if action.objectName() == "run_delete").trigger()
    assert list(panel.document.runs) == []


def test_the_tooltip_tells_the_settings(panel):
    run = Run("old", RunSettings("accurate", 3.0), reason="cancelled at t = 1 s", complete=False)
    panel.document.runs.add(run)
    tip = panel.results.topLevelItem(0).toolTip(NAME)
    assert "Accurate" in tip
    assert "rtol=1e-10" in tip
    assert panel.results.topLevelItem(0).data(NAME, RUN) is run


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0004, "1 ms"), (0.25, "250 ms"), (3.21, "3.2 s"), (75, "1 min 15 s"), (7260, "2 h 1 min")]
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words


# ---- With the real solver -------------------------------------------------------------------------------------------


def test_a_real_run_to_its_motion(qtbot, solver):
    """A pendulum released from the horizontal is half a period later at the other side: energy is kept on the way."""
    document = Document(pendulum())
    controls = RunControls(document, solver)
    qtbot.addWidget(controls)
    controls.show()
    document.runs.settings = RunSettings("accurate", 1.0)
    with qtbot.waitSignal(controls.runner.ended):
        controls.runner.start()
    (run,) = document.runs
    assert run.complete
    energy = run.result.energy.total
    assert np.allclose(energy, energy[0], atol=1e-8)
    assert controls.results.topLevelItem(0).text(STATUS) == "1 s"


def test_a_real_run_is_cancelled_long_before_its_end_and_keeps_its_motion(qtbot, solver):
    document = Document(pendulum())
    controls = RunControls(document, solver)
    qtbot.addWidget(controls)
    controls.show()
    document.runs.settings = RunSettings("custom", 1e5, dt=1e-4, integrator=mb.RungeKutta4())
    with qtbot.waitSignal(controls.runner.playable):
        controls.runner.start()
    (run,) = document.runs
    qtbot.waitUntil(lambda: run.t_last > 0.0)  # on a busy machine the first state comes alone
    with qtbot.waitSignal(controls.runner.ended):
        controls.runner.cancel()
    assert run.reason.startswith("cancelled")
    assert 0.0 < run.t_last < 1e4  # 10^8 steps and more lie between this and the end
    document.close()


def test_a_run_whose_energy_does_not_balance_says_so(qtbot, solver):
    document = Document(pendulum())
    controls = RunControls(document, solver)
    qtbot.addWidget(controls)
    document.runs.settings = RunSettings("custom", 10.0, dt=0.7, integrator=mb.RungeKutta4())
    with qtbot.waitSignal(controls.runner.ended):
        controls.runner.start()
    said = [m.text for m in document.messages if m.level == "warning"]
    assert any("energy does not balance from t =" in text for text in said), said
    document.close()
