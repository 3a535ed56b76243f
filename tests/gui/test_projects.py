"""Work is not lost without a question: runs come back, projects hold everything, closing asks once."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox

import mbframe as mb
from gui.document.autosave import Autosave, leftovers, offer
from gui.document.document import Document
from gui.document.opening import stored_run
from gui.window.window import MainWindow


@pytest.fixture
def with_run(document):
    """A document with a run that was computed, as `Runner` leaves it."""

    def computed(document=document, t_end=0.2):
        path = document.session.run_file()
        mb.simulate(document.system, t_end, t_eval=np.linspace(0.0, t_end, 21), output=path)
        run = stored_run(path, document.runs.next_name(), text=document.model_text())
        run.temporary = run.unsaved = True
        document.runs.add(run)
        return run

    return computed


@pytest.fixture
def window(qtbot, document, solver, settings):
    window = MainWindow(document, solver, settings)
    with qtbot.waitSignal(window.panels_ready):
        window.show()
    yield window
    document.abandon()
    window.close()


@pytest.fixture
def asked(monkeypatch):
    """The questions that were asked; `answer` is what is said to them."""

    class Asked(list):
        answer = QMessageBox.StandardButton.Cancel

    asked = Asked()
    monkeypatch.setattr(QMessageBox, "exec", lambda box: (asked.append(box.text()), asked.answer)[1])
    return asked


# --- removing runs ----------------------------------------------------------------------------------------------------


def test_a_run_that_is_removed_comes_back(document, with_run):
    document.open_example("four_bar")
    first, second = with_run(), with_run(t_end=0.1)
    path, before = second.path, second.result.position("bar 2")
    names = [run.name for run in document.runs]
    document.runs.remove(second)
    assert document.runs.current is first
    assert path.is_file()
    assert second.result is None  # its memory is given back
    assert document.undo_stack.undoText() == f"Remove {second.name}"
    assert not document.dirty  # the model is the same
    document.undo()
    assert [run.name for run in document.runs] == names
    assert document.runs.current is second
    np.testing.assert_array_equal(second.result.position("bar 2"), before)
    document.redo()
    assert second not in document.runs
    document.new()
    assert not path.exists()


def test_backspace_in_the_list_is_undone(window, with_run, qtbot):
    from PySide6.QtCore import Qt

    window.open_example("four_bar")
    run = with_run()
    results = window.panels["run"].findChild(object, "results")
    qtbot.waitUntil(lambda: results.topLevelItemCount() == 2)
    qtbot.keyClick(results, Qt.Key.Key_Backspace)
    assert run not in window.document.runs
    assert "Remove Run 1" in window.actions_["undo"].text()
    window.actions_["undo"].trigger()
    assert window.document.runs.current is run
    assert run.track is not None


# --- projects ---------------------------------------------------------------------------------------------------------


def test_a_project_holds_model_runs_and_looks(document, with_run, tmp_path):
    document.open_example("four_bar")
    first, second = with_run(), with_run(t_end=0.1)
    first.name, first.visible = "Slow", False
    document.set(document.system["bar 1"], mass=7.0)
    document.runs.choose(first)
    document.looks = lambda: {"time": 0.1}
    document.save_as(tmp_path / "crank.mbproject")
    assert not document.unsaved
    other, told = Document(), []
    other.looks_restored.connect(told.append)
    other.open(tmp_path / "crank.mbproject")
    assert other.model_text() == document.model_text()
    assert [run.name for run in other.runs] == [run.name for run in document.runs]
    assert other.runs.current.name == "Slow"
    assert [(run.visible, run.color, run.stale) for run in other.runs] == [
        (run.visible, run.color, run.stale) for run in document.runs
    ]
    np.testing.assert_array_equal(other.runs.current.result.position("bar 2"), first.result.position("bar 2"))
    assert told == [{"time": 0.1}]
    assert other.path == tmp_path / "crank.mbproject"
    assert not other.unsaved
    files = [run.path for run in other.runs]
    other.close()
    assert not any(file.exists() for file in files)
    assert second.path.is_file()


def test_what_is_done_to_runs_of_a_project_is_unsaved(document, with_run, tmp_path):
    document.open_example("four_bar")
    run = with_run()
    document.save_as(tmp_path / "a.mbproject")
    document.runs.remove(run)
    assert document.unsaved
    document.undo()
    assert not document.unsaved
    document.runs.remove(run)
    document.save()
    document.undo()
    assert document.runs.unsaved == [run]  # it is in no file now


def test_looks_survive_a_project(window, with_run, tmp_path, qtbot):
    window.open_example("four_bar")
    window.view.prepare()
    with_run()
    view = window.view
    view.set_labels(True)
    view.set_trail("bar 3", True, (0.1, 0.0))
    view.set_arrows("velocity", True)
    view.hide_elements({"bar 2"})
    view.see_through({"bar 1"})
    qtbot.waitUntil(lambda: view.scene is not None)
    view.rebuild_now()
    view.camera.orbit(40.0, 10.0)
    view.camera.zoom(0.7, 100.0, 100.0)
    pose = view.camera.pose
    window.panels["plots"].restore([["bar 1.position.x"], ["energy.kinetic", "energy.total"]])
    window.choose_units("mm/deg")
    window.player.seek(0.15)
    window.document.save_as(tmp_path / "a.mbproject")
    window.files.new(2)
    assert view.labels  # as it was: a new model does not change it
    view.set_labels(False)
    window.choose_units("SI")
    window.files.open(tmp_path / "a.mbproject")
    view.rebuild_now()
    assert view.labels
    assert dict(view.trails.items())["bar 3"] == [0.1, 0.0]
    assert view.arrows.shown == {"velocity"}
    assert (view.hidden, view.transparent) == ({"bar 2"}, {"bar 1"})
    np.testing.assert_allclose(view.camera.pose.position, pose.position)
    np.testing.assert_allclose(view.camera.pose.focus, pose.focus)
    assert window.panels["plots"].layout_names() == [["bar 1.position.x"], ["energy.kinetic", "energy.total"]]
    assert window.document.units.name == "mm/deg"
    assert window.document.time == 0.15


@pytest.mark.parametrize("name", ["front", "top"])
def test_the_side_from_which_all_is_seen_survives(window, tmp_path, qtbot, name):
    """A model that was seen from the front was seen askew when it was opened again, or recovered."""
    window.open_example("four_bar")
    view = window.view
    qtbot.waitUntil(lambda: view.scene is not None, timeout=60_000)
    view.rebuild_now()
    view.camera.look(name)
    view.camera._stop()
    view.camera.resized()
    view.scene.view(name)
    pose = view.camera.pose
    found = window.document.looks()
    window.open_example("slider_crank")
    view.rebuild_now()
    window.open_example("four_bar")
    window.document.looks_restored.emit(found)
    view.rebuild_now()
    np.testing.assert_allclose(view.camera.pose.towards, pose.towards, atol=1e-6)
    np.testing.assert_allclose(view.camera.pose.up, pose.up, atol=1e-6)


@pytest.mark.parametrize(
    "looks",
    [
        {"view": 1, "plots": {}, "time": "x", "units": []},
        {"view": {"camera": {"position": [0, 0, 0], "focus": [0, 0, 0], "up": [0, 0, 1]}, "trails": [1, {"body": []}]}},
        {"view": {"trails": [{"body": "bar 1", "point": [0.1, 0.2, 0.3]}]}},
        {"view": {"side": [0, 0, 0]}},
        {"view": {"side": [1, "front"]}},
        {"view": {"camera": {"position": [0, 1], "focus": [0, 0], "up": [0, 0, 1]}}},
        {"view": {"camera": {"position": [1e308, 1e308, 1e308], "focus": [-1e308, 0, 0], "up": [0, 0, 1]}}},
        {"view": {"camera": {"position": [0, 0, 1]}, "hidden": [3], "followed": [], "arrows": 7}, "plots": [1, ["no"]]},
    ],
)
def test_looks_that_make_no_sense_are_left_out(window, looks):
    window.open_example("four_bar")
    window.document.looks_restored.emit(looks)
    assert window.panels["plots"].layout_names() == []
    assert window.view.followed is None
    assert "bar 1" not in window.view.trails


# --- closing asks once ------------------------------------------------------------------------------------------------


def test_runs_are_asked_about_once(window, with_run, asked, tmp_path, monkeypatch):
    window.open_example("four_bar")
    with_run()
    window.open_example("slider_crank")
    assert window.document.example == "four_bar"
    assert asked == ["Save the run “Run 1” of “four-bar linkage” in a project?"]
    assert window.isWindowModified()
    window.document.set(window.document.system["bar 1"], mass=7.0)
    assert not window.close()
    assert "changes" in asked[1]
    assert "run “Run 1”" in asked[1]
    asked.answer = QMessageBox.StandardButton.Save
    proposed = []

    def choose(_, __, start, *rest):
        proposed.append(start)
        return str(tmp_path / "kept"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose)
    window.open_example("slider_crank")
    assert proposed[0].endswith(".mbproject")
    assert (tmp_path / "kept.mbproject").is_file()
    assert window.document.example == "slider_crank"
    assert len(asked) == 3
    assert window.settings.recent_files() == [tmp_path / "kept.mbproject"]


def test_saving_a_model_says_that_runs_are_not_in_it(window, with_run, tmp_path, monkeypatch):
    window.open_example("four_bar")
    with_run()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "a.json"), ""))
    assert window.files.save_as(project=False)
    assert "Run 1: not in it" in window.document.messages[-1].text
    assert window.document.unsaved


# --- recovery ---------------------------------------------------------------------------------------------------------


def test_runs_survive_a_crash(qtbot, document, with_run, tmp_path):
    autosave = Autosave(document, tmp_path, delay_ms=10)
    document.open_example("four_bar")
    with qtbot.waitSignal(autosave.written):
        run = with_run()
    assert run.path.parent == autosave.session.runs
    expected, path = run.result.position("bar 2"), run.path
    autosave._pool.waitForDone()
    autosave.session._lock.unlock()
    (recovery,) = leftovers(tmp_path)
    assert recovery.what == "a run, not saved, of"
    other = Document()
    later = Autosave(other, tmp_path, delay_ms=10)
    with qtbot.waitSignal(later.written):
        assert offer(other, tmp_path, lambda _: True) is not None
    recovery.discard()
    assert not path.exists()
    (found,) = [run for run in other.runs if run.unsaved]
    assert found.name == "Run 1"
    assert not other.dirty  # the model is that of the example
    assert other.unsaved
    np.testing.assert_array_equal(found.result.position("bar 2"), expected)
    later.close()
    assert list((tmp_path / "recovery").iterdir()) == []


def test_runs_of_nobody_are_removed(tmp_path):
    (tmp_path / "recovery" / "abc").mkdir(parents=True)
    (tmp_path / "recovery" / "abc" / "run.h5").write_bytes(b"x")
    assert leftovers(tmp_path) == []
    assert list((tmp_path / "recovery").iterdir()) == []


def test_a_recovery_does_not_take_files_from_elsewhere(document, with_run, tmp_path, qtbot):
    autosave = Autosave(document, tmp_path, delay_ms=10)
    document.open_example("four_bar")
    with qtbot.waitSignal(autosave.written):
        run = with_run()
    autosave._pool.waitForDone()
    outside = tmp_path / "outside.h5"
    outside.write_bytes(run.path.read_bytes())
    text = autosave.file.read_text().replace(run.path.name, "../../outside.h5")
    autosave.file.write_text(text)
    autosave.session._lock.unlock()
    (recovery,) = leftovers(tmp_path)
    other = Document()
    recovery.restore(other)
    assert list(other.runs) == []
    assert outside.is_file()
    other.close()


def test_what_another_window_has_saved_is_not_replaced_unasked(window, with_run, tmp_path, asked):
    path = tmp_path / "shared.mbproject"
    window.open_example("four_bar")
    with_run()
    assert window.files._save(path)
    assert window.files._save(path)  # which nobody else has touched
    assert asked == []
    other = Document()
    other.open(path)
    other.set(other.system.bodies[0], mass=7.0)
    other.save()
    before = path.read_bytes()
    assert not window.files._save(path)
    assert len(asked) == 1
    assert "changed by another window" in asked[0]
    assert path.read_bytes() == before
    asked.answer = QMessageBox.StandardButton.Yes
    assert window.files._save(path)
    assert path.read_bytes() != before
    assert window.files._save(path)
    assert len(asked) == 2
    other.close()


def test_a_model_opened_and_changed_elsewhere_is_asked_about(window, tmp_path, asked):
    path = tmp_path / "model.json"
    mb.save(mb.examples.four_bar(), path)
    window.files.open(path)
    mb.save(mb.examples.slider_crank(), path)
    assert not window.files._save(path)
    assert mb.load(path).name == mb.examples.slider_crank().name
    path.unlink()  # nothing is left that could be lost
    assert window.files._save(path)
    assert len(asked) == 1
