"""The main window: pages, menus, panels, running, themes, files, layout, and closing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QToolButton,
    QWidget,
)

import mbframe as mb
from gui.document.document import Document
from gui.modelling.bodies import PRESETS
from gui.view.tools import pixels
from gui.widgets import icons, theme
from gui.widgets.hint import Hint
from gui.window.files import dropped_file
from gui.window.window import MainWindow

from .hands import type_into

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def shared_canvas():
    """One canvas for all windows: each would ask the driver for a context of its own."""
    if not mb.render.can_draw():
        yield None
        return
    canvas = mb.render.Canvas((480, 320))
    close, canvas.close = canvas.close, canvas.clear
    yield canvas
    close()


@pytest.fixture
def make_window(solver, settings, qtbot, shared_canvas, monkeypatch):
    """Make a window with all its panels."""
    if shared_canvas is not None:
        monkeypatch.setattr(mb.render, "Canvas", lambda size: shared_canvas)
    settings.theme = "light"
    documents = []

    def made(document: Document | None = None) -> MainWindow:
        documents.append(document or Document())
        window = MainWindow(documents[-1], solver, settings)
        qtbot.addWidget(window, before_close_func=lambda w: w.document.abandon())
        with qtbot.waitSignal(window.panels_ready):
            window.show()
        return window

    yield made
    for document in documents:
        document.close()


@pytest.fixture
def window(make_window, qtbot) -> MainWindow:
    window = make_window()
    window.resize(1200, 800)
    return window


@pytest.fixture
def answer(monkeypatch):
    """Answer the question about unsaved changes."""
    asked = []

    def answering(choice: QMessageBox.StandardButton) -> list[QMessageBox]:
        monkeypatch.setattr(QMessageBox, "exec", lambda box: (asked.append(box.text()), choice)[1])
        return asked

    return answering


def dialogs(name: str) -> list[QDialog]:
    return [w for w in QApplication.topLevelWidgets() if w.objectName() == name and w.isVisible()]


# --- pages ------------------------------------------------------------------------------------------------------------


def test_it_begins_with_the_gallery(window):
    assert window.pages.currentWidget() is window.gallery
    assert not window.model_shown
    assert window.windowTitle() == "mbframe"
    assert not any(window.docks[name].isVisible() for name in ("model", "run", "inspector", "results"))
    for name in ("run", "save", "undo", "fit", "play"):
        assert not window.actions_[name].isEnabled(), name
    for name in ("open", "new_spatial", "help", "theme_dark"):
        assert window.actions_[name].isEnabled(), name


def test_a_card_opens_a_model_that_plays_at_once(window, qtbot):
    card = next(card for card in window.gallery.cards if card.exhibit.name == "four_bar")
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton)
    assert window.model_shown
    assert window.document.example == "four_bar"
    assert all(window.docks[name].isVisible() for name in ("model", "run", "inspector", "results"))
    assert "bar 2" in window.view.trails
    assert window.run_button.isEnabled()
    assert window.run_button.property("primary")
    assert window.actions_["play"].isEnabled()
    assert "Space" in window.hint.label.text()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert window.focusWidget() is window.view
    assert window.player.playing
    qtbot.waitUntil(lambda: window.document.time > 0.0)
    qtbot.keyClick(window.view, Qt.Key.Key_Space)
    assert not window.player.playing
    qtbot.keyClick(window.view, Qt.Key.Key_Space)
    assert window.player.playing
    window.show_gallery()
    assert not window.model_shown


def test_the_largest_value_is_shown_and_not_played_past(window, qtbot):
    window.open_example("four_bar")
    window.player.play()
    assert window.player.playing
    plots = window.panels["plots"]
    qtbot.waitUntil(lambda: bool(plots.plots and plots.plots[0].traces))
    trace = max(plots.plots[0].traces, key=lambda trace: trace.largest)
    plots.plots[0].peak_button.click()
    assert not window.player.playing
    assert window.document.time == trace.t[np.argmax(np.abs(trace.values))]


def test_the_bicycle_is_followed(window):
    window.open_example("whipple_bicycle")
    assert window.view.followed == "frame"
    assert window.actions_["follow"].isChecked()


def test_new_models(window):
    for name, dimension in (("new_planar", 2), ("new_spatial", 3)):
        window.actions_[name].trigger()
        assert window.model_shown
        assert window.document.system.dimension == dimension


def test_all_panels_are_there(window):
    results = {"plots", "stability", "constraints", "equations", "compare", "checks", "script", "messages"}
    assert set(window.panels) == {"model", "run", "inspector"} | results
    titles = [window.docks.tabs.tabText(k) for k in range(window.docks.tabs.count())]
    assert titles == ["Plots", "Stability", "Check", "Equations", "Compare", "Script"]
    window.open_example("slider_crank")
    for name in ("messages", "compare", "equations", "constraints", "stability", "checks", "script", "plots"):
        window.actions_[name].trigger()
        assert window.docks.front_panel is window.panels[name]
        assert window.panels[name].isVisible()


def test_keys_have_the_order_of_the_tabs(window):
    window.open_example("four_bar")
    for number in range(window.docks.tabs.count()):
        action = next(one for one in window.actions() if one.shortcut() == QKeySequence(f"Ctrl+{number + 1}"))
        action.trigger()
        assert window.docks.tabs.currentIndex() == number


def test_there_is_one_button_that_runs(window):
    window.open_example("four_bar")
    words = [b for b in window.findChildren(QAbstractButton) if b.text() == "Run" and b.isVisible()]
    assert words == [window.run_button]


def test_messages_that_nobody_has_seen_are_counted(window):
    window.open_example("four_bar")
    button = window.findChild(QPushButton, "page_messages")
    window.document.messages.post("All is well.")
    assert button.text() == "Messages"
    window.document.messages.post("Something is wrong.", "error")
    assert button.text() == "Messages (1)"
    window.actions_["messages"].trigger()
    assert button.text() == "Messages"


@pytest.mark.parametrize("example", ["slider_crank", "whipple_bicycle"])
def test_nothing_is_clipped_in_a_window_of_1280_by_800(window, example):
    """No panel needs more than it has, but for lists, tables and the inspector, which scroll."""
    window.resize(1280, 800)
    window.open_example(example)
    for name in ("plots", "stability", "checks", "constraints", "messages", "equations", "compare", "script"):
        window.show_tab(name)
        if hasattr(window.panels[name], "banner"):
            advice = [("Find equilibrium", lambda: None), ("Find steady motion", lambda: None)]
            window.panels[name].banner.say("This is no equilibrium; it would accelerate. " * 8, "error", advice)
        QApplication.processEvents()
        tab = window.docks.tabs.currentWidget()
        need, room = tab.widget().minimumSizeHint(), tab.viewport().size()
        assert (need.width() <= room.width(), need.height() <= room.height()) == (True, True), (name, need, room)
    for name in ("run", "model"):
        panel = window.docks[name].widget()
        assert panel.minimumSizeHint().width() <= panel.width(), name
        assert panel.minimumSizeHint().height() <= panel.height(), name


def test_a_message_does_not_make_the_status_bar_higher(window):
    """Nor the view smaller, which would be drawn anew for it."""
    window.open_example("four_bar")
    QApplication.processEvents()  # the bar measures itself anew
    before = window.status.sizeHint().height()
    window.document.messages.post("Something happened.", "warning")
    QApplication.processEvents()
    assert window.status.sign.isVisible()
    assert window.status.sizeHint().height() == before


def test_no_text_sets_the_width_of_the_window(window):
    """Messages, names and files may be as long as they like; the window stays on its screen."""
    window.open_example("four_bar")
    document, width = window.document, window.width()
    least = window.minimumSizeHint().width()
    long = "an_extraordinarily_long_name_without_a_space_" * 12
    bar, joint = document.system.bodies[0], document.system.joints[0]
    document.rename(bar, long)
    document.rename(joint, f"{long}2")
    document.runs.current.name = long
    document.runs.report_change(document.runs.current)
    for element in (bar, joint):
        document.select(element)
        document.messages.post(f"{long} did not work because of " + "reasons, " * 200, "error", element)
        for name in window.panels:
            if name not in ("model", "run", "inspector"):
                window.show_tab(name)
                QApplication.processEvents()
                assert window.minimumSizeHint().width() <= least, name
    assert window.width() == width
    assert window.status.text.shown[0].endswith("…")


# --- actions ----------------------------------------------------------------------------------------------------------


def test_facts_of_a_former_model_are_not_shown(window):
    window.open_example("four_bar")
    window.status.freedoms.setText("17 freedoms")
    document = window.document
    document.remove(document.system["bar 3"])
    assert window.status.freedoms.text() == "Counting freedoms…"
    mass = window.panels["inspector"].page.findChild(QLabel, "derived_total_mass")
    fewer = mass.text()
    document.undo()
    assert mass.text() != fewer
    window.status.freedoms.setText("17 freedoms")
    window.open_example("slider_crank")
    assert window.status.freedoms.text() == "Counting freedoms…"
    assert window.panels["checks"].summary.text() == "Looking at the model…"


def test_actions_are_complete(window):
    titles = [action.text().replace("&", "") for action in window.menuBar().actions()]
    assert [title for title in titles if title != "Model"] == ["File", "Edit", "View", "Run", "Analysis", "Help"]
    known = set(icons.names())
    for name, entry in window.actions_.entries.items():
        assert not entry.icon or entry.icon in known, name
        assert window.actions_[name].statusTip(), name


def test_no_key_has_two_meanings(window):
    keys = [QKeySequence(key).toString() for entry in window.actions_.entries.values() for key in entry.keys]
    assert len(keys) == len(set(keys))
    listed = list(window.actions_.shortcuts())
    assert ("Run", "Compute the motion", "F5, Ctrl+R") in listed
    assert all(menu and what and key for menu, what, key in listed)


def test_letters_belong_to_a_field_that_has_the_focus(window, qtbot):
    window.open_example("four_bar")
    field = window.findChild(QLineEdit, "tree_search")
    window.activateWindow()
    field.setFocus()
    qtbot.keyClicks(field, "f 1.")
    assert field.text() == "f 1."
    assert not window.player.playing


def test_undo_says_what_it_takes_back(window):
    window.open_example("four_bar")
    window.document.set(window.document.system["bar 1"], mass=7.0)
    assert window.actions_["undo"].isEnabled()
    assert window.actions_["undo"].text() == "&Undo Change mass of bar 1"
    assert window.isWindowModified()
    window.actions_["undo"].trigger()
    assert not window.actions_["undo"].isEnabled()
    assert window.actions_["redo"].text() == "&Redo Change mass of bar 1"
    assert not window.isWindowModified()


def test_there_is_one_undo_wherever_the_focus_is(window, qtbot):
    window.open_example("four_bar")
    document, control = window.document, Qt.KeyboardModifier.ControlModifier
    bar = document.system["bar 1"]
    document.select(bar)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    mass, field, end = bar.mass, window.findChild(QLineEdit, "mass_edit"), window.findChild(QLineEdit, "t_end_edit")
    shown = field.text()
    type_into(qtbot, field, "4")
    assert bar.mass == 4.0
    qtbot.keyClick(field, Qt.Key.Key_Z, control)
    assert (bar.mass, field.text()) == (mass, shown), "Enter has made it a change of the model"
    qtbot.keyClick(field, Qt.Key.Key_Y, control)
    assert (bar.mass, field.text()) == (4.0, "4")
    end.setFocus()
    assert document.undo_stack.index() == 1, "leaving the field is no change"
    before = document.runs.settings.t_end
    type_into(qtbot, end, "3.5")
    assert document.runs.settings.t_end == 3.5
    qtbot.keyClick(end, Qt.Key.Key_Z, control)
    assert (document.runs.settings.t_end, bar.mass) == (before, 4.0)
    field.setFocus()
    qtbot.keyClicks(field, "77")
    assert field.text() == "477"
    window.actions_["undo"].trigger()
    assert (field.text(), bar.mass) == ("4", 4.0), "letters that are being typed come first"
    qtbot.keyClick(field, Qt.Key.Key_Z, control)
    assert (field.text(), bar.mass) == (shown, mass)
    name = window.panels["inspector"].name
    type_into(qtbot, name, "lever")
    assert bar.name == "lever"
    qtbot.keyClick(name, Qt.Key.Key_Z, control)
    assert (bar.name, name.text()) == ("bar 1", "bar 1")


def test_a_click_on_a_button_leaves_the_space_bar_to_the_motion(window, qtbot):
    window.open_example("four_bar")
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.mouseClick(window.findChild(QPushButton, "method"), Qt.MouseButton.LeftButton)
    (dialog,) = [w for w in QApplication.topLevelWidgets() if w.objectName() == "method_dialog" and w.isVisible()]
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(window.isActiveWindow)
    playing = window.player.playing
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Space)
    assert window.player.playing is not playing
    assert not dialogs("method_dialog")


def test_entries_that_are_switched_show_a_tick(window):
    for name in ("labels", "trail", "follow", "loop", "arrows_velocity"):
        assert window.actions_[name].isCheckable()
        assert not window.actions_[name].isIconVisibleInMenu(), "an icon would stand where the tick does"


def test_delete_and_duplicate_what_is_selected(window):
    window.open_example("four_bar")
    assert not window.actions_["delete"].isEnabled()
    system = window.document.system
    window.document.select(system["bar 3"])
    window.actions_["duplicate"].trigger()
    assert "bar 4" in system
    window.document.select(system["bar 3"])
    window.modelling.confirm_delete = lambda element: True  # what depends on it goes along
    window.actions_["delete"].trigger()
    assert "bar 3" not in system
    assert "C" not in system
    window.document.select(system.ground)
    assert not window.actions_["delete"].isEnabled()
    window.delete_selected()


def test_paths_and_following_of_the_selected_body(window):
    window.open_example("four_bar")
    assert window.actions_["trail"].isChecked()
    window.actions_["trail"].trigger()
    assert not list(window.view.trails)
    window.actions_["trail"].trigger()
    assert "Select a body first" in window.document.messages[-1].text
    assert not window.actions_["trail"].isChecked()
    window.document.select(window.document.system["bar 1"])
    window.actions_["trail"].trigger()
    window.actions_["follow"].trigger()
    assert list(window.view.trails) == ["bar 1"]
    assert window.view.followed == "bar 1"
    window.actions_["follow"].trigger()
    assert window.view.followed is None


def test_the_view_is_switched_by_actions(window):
    window.open_example("four_bar")
    window.actions_["labels"].trigger()
    assert window.view.labels
    window.actions_["arrows_velocity"].trigger()
    assert window.view.arrows.shown == {"velocity"}
    window.document.open_example("slider_crank")
    assert window.view.arrows.shown == set()
    assert not window.actions_["arrows_velocity"].isChecked()
    window.actions_["loop"].trigger()
    assert not window.player.loop
    assert not window.timeline.loop_button.isChecked()
    for name in ("fit", "view_top", "view_iso"):
        window.actions_[name].trigger()


# --- running ----------------------------------------------------------------------------------------------------------


def test_run_computes_and_offers_to_keep_it(window, qtbot):
    window.open_example("four_bar")
    window.document.runs.settings = window.document.runs.settings.changed(t_end=0.2)
    with qtbot.waitSignal(window.runner.ended):
        window.run_button.click()
        assert window.run_button.text() == "Cancel"
        assert window.actions_["cancel"].isEnabled()
    assert window.run_button.text() == "Run"
    assert [run.name for run in window.document.runs] == ["Stored", "Run 1"]
    assert window.player.span[1] == pytest.approx(0.2)
    assert window.hint.name == "keep it"
    captions = {button.text() for button in window.hint.findChildren(QPushButton)}
    qtbot.waitUntil(lambda: window.hint.width() >= window.hint.sizeHint().width())  # nothing is cut off
    assert {"Save a copy", "Export video"} <= captions


def test_a_window_with_its_frame_stays_on_the_screen(window, monkeypatch):
    screen = window.screen().availableGeometry().size()
    window.resize(screen)
    frame = window.geometry().adjusted(-2, -24, 2, 2)  # as a desktop would add
    monkeypatch.setattr(window, "frameGeometry", lambda: frame)
    window._stay_on_screen()
    assert window.size() == screen - QSize(4, 26)


@pytest.mark.parametrize("width", [700, 300])
def test_a_hint_is_placed_and_then_at_rest(settings, qtbot, monkeypatch, width):
    """On one line or wrapped: placing it must not ask for a layout that places it again, forever."""
    over = QWidget()
    qtbot.addWidget(over)
    over.resize(width, 400)
    over.show()
    hint = Hint(over, settings)
    hint.offer("test", "A sentence that needs one line in a wide window and two in a narrow one.", [("Do", print)])
    qtbot.wait(200)
    assert hint.x() >= 0
    assert hint.geometry().right() < width
    assert hint.label.height() >= hint.label.heightForWidth(hint.label.width())
    placed = []
    monkeypatch.setattr(hint, "_place", lambda: placed.append(True))
    qtbot.wait(200)
    assert not placed


def test_freedoms_are_counted_in_the_background(window, qtbot):
    window.open_example("bricard")
    qtbot.waitUntil(lambda: "freedom " in window.status.freedoms.text())
    assert window.status.freedoms.text() == "1 freedom · 1 redundant equation"
    assert "hinge 1" in window.status.freedoms.toolTip()
    window.document.new()
    qtbot.waitUntil(lambda: window.status.freedoms.text() == "No bodies")


def test_the_status_bar_tells_of_the_solver_time_and_messages(window):
    window.status._show_solver("preparing")
    assert window.status.solver_state.text() == "Preparing solver… (once)"
    window.open_example("four_bar")
    window.player.seek(1.25)
    assert window.status.clock.text() == "t = 1.2500 s"
    window.document.messages.post("Something is wrong.\nIn two lines.", "error")
    assert window.status.text.text() == "Something is wrong."
    window.document.new()
    assert window.status.text.text() == ""
    assert window.status.clock.isHidden()


def test_what_has_no_room_in_the_toolbar_is_behind_a_sign(window, qtbot):
    """The margins of other buttons left a dot of the sign."""
    window.resize(820, 640)
    rest = window.toolbar.findChild(QToolButton, "qt_toolbar_ext_button")
    qtbot.waitUntil(rest.isVisible)
    picture = rest.grab().toImage()
    ground = picture.pixelColor(0, picture.height() - 1).lightness()
    spots = [(x, y) for x in range(picture.width()) for y in range(picture.height())]
    assert sum(abs(picture.pixelColor(x, y).lightness() - ground) > 25 for x, y in spots) > 8
    assert rest.toolTip()


def test_the_status_bar_tells_what_was_undone(window):
    """That undo brings a run back was still told after it had."""
    window.open_example("four_bar")
    run = window.document.runs.current
    window.document.runs.remove(run)
    assert window.status.text.text() == f"{run.name} was removed; undo brings it back."
    told = len(window.document.messages)
    window.actions_["undo"].trigger()
    assert window.status.text.text() == f"Undone: Remove {run.name}."
    window.actions_["redo"].trigger()
    assert window.status.text.text() == f"Done again: Remove {run.name}."
    assert len(window.document.messages) == told


# --- look -------------------------------------------------------------------------------------------------------------


def test_themes_change_while_it_runs(window, settings):
    window.open_example("four_bar")
    window.theme_button.click()
    assert theme.current() is theme.DARK
    assert settings.theme == "dark"
    assert window.actions_["theme_dark"].isChecked()
    window.grab()
    window.actions_["theme_light"].trigger()
    assert theme.current() is theme.LIGHT
    window.actions_["theme_light"].trigger()
    assert window.actions_["theme_light"].isChecked()


def test_units_are_chosen_per_document(window, settings):
    window.actions_["units_mm/deg"].trigger()
    assert window.document.units.name == "mm/deg"
    assert window.actions_["units_mm/deg"].isChecked()
    assert not window.actions_["units_SI"].isChecked()
    assert settings.units().name == "mm/deg"


@pytest.mark.parametrize("size", [(1280, 800), (1300, 850)])
def test_the_hint_does_not_cover_the_mechanism(window, qtbot, size):
    """The first hint lay over the lower half of the four-bar linkage; without it there is more room."""
    window.resize(*size)
    window.open_example("four_bar")
    view = window.view
    qtbot.waitUntil(lambda: view.scene is not None and view.drawing.image is not None, timeout=60_000)
    view.rebuild_now()

    def lowest() -> float:
        return max(spot.y() for spot in pixels(view, view.scene._corners) if spot is not None)

    assert window.hint.isVisible()
    assert lowest() < window.hint.y()
    near = view.camera.pose.metres_per_pixel(view.height())
    window.hint.dismiss()
    assert view.camera.pose.metres_per_pixel(view.height()) < near


def test_the_hint_does_not_cover_what_is_typed(window, qtbot):
    window.open_example("four_bar")
    assert window.hint.isVisible()
    window.modelling.add_body(PRESETS[0])
    assert window.modelling.placing.active
    assert not window.hint.isVisible()
    window.modelling.cancel()


def test_the_hint_is_dismissed_for_good(window, qtbot, settings):
    window.open_example("four_bar")
    assert window.hint.isVisible()
    qtbot.mouseClick(window.hint.findChild(QToolButton, "hint_close"), Qt.MouseButton.LeftButton)
    assert not window.hint.isVisible()
    window.open_example("slider_crank")
    assert not window.hint.isVisible()
    assert settings.hint_dismissed("first steps")


def test_the_layout_is_remembered(make_window, settings, qtbot):
    first = make_window()
    first.open_example("four_bar")
    first.docks["inspector"].hide()
    first.resize(1090, 707)
    first.close()
    second = make_window()
    second.open_example("four_bar")
    assert second.size().width() == 1090
    assert second.docks["inspector"].isHidden()
    second.actions_["reset_layout"].trigger()
    assert second.docks["inspector"].isVisible()
    assert settings.layout("docks") is None


def test_it_fits_on_a_small_screen(window):
    window.open_example("whipple_bicycle")
    for name in ("plots", "stability", "constraints", "equations", "compare", "messages"):
        window.show_tab(name)
        assert window.minimumSizeHint().width() <= 1100, name
        assert window.minimumSizeHint().height() <= 700, name


def test_panels_can_be_hidden_and_shown(window):
    assert not window._panels_menu.isEnabled()
    window.open_example("four_bar")
    window.docks["run"].close()
    window.show_gallery()
    window.open_example("four_bar")
    assert window.docks["run"].isHidden()
    (shown,) = [action for action in window._panels_menu.actions() if action.text() == "Run"]
    shown.trigger()
    assert window.docks["run"].isVisible()


# --- files ------------------------------------------------------------------------------------------------------------


def test_save_and_open_again(window, tmp_path, monkeypatch, settings):
    window.open_example("four_bar")
    window.document.set(window.document.system["bar 1"], mass=7.0)
    target = tmp_path / "model.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.actions_["save"].trigger()
    assert target.is_file()
    assert not window.document.dirty
    assert window.windowTitle() == "model.json[*] – mbframe"
    assert settings.recent_files() == [target]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(target), ""))
    window.document.new()
    window.actions_["open"].trigger()
    assert window.document.system["bar 1"].mass == 7.0
    window._fill_recent()
    assert str(target) in [action.text() for action in window._recent_menu.actions()]


def test_a_broken_file_changes_nothing(window, tmp_path, qtbot):
    window.open_example("four_bar")
    system = window.document.system
    broken = tmp_path / "broken.json"
    broken.write_text('{"format": "mbframe model", ')
    window.files.open(broken)
    (box,) = dialogs("failure_dialog")
    assert "broken.json could not be opened" in box.text()
    box.close()
    assert window.document.system is system
    assert window.document.messages[-1].level == "error"
    window.files.open(tmp_path / "missing.json")
    for box in dialogs("failure_dialog"):
        box.close()
    assert window.document.system is system


def test_a_folder_that_cannot_be_written_is_a_message(window, tmp_path, monkeypatch):
    window.open_example("four_bar")
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(blocked / "model.json"), ""))
    assert not window.files.save()
    (box,) = dialogs("failure_dialog")
    assert "could not be saved" in box.text()
    box.close()
    assert window.document.path is None


def test_unsaved_changes_are_asked_about(window, answer, tmp_path, monkeypatch):
    window.open_example("four_bar")
    window.document.set(window.document.system["bar 1"], mass=7.0)
    asked = answer(QMessageBox.StandardButton.Cancel)
    window.open_example("slider_crank")
    assert window.document.example == "four_bar"
    assert not window.close()
    assert len(asked) == 2
    answer(QMessageBox.StandardButton.Save)
    target = tmp_path / "kept.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    window.open_example("slider_crank")
    assert target.is_file()
    assert window.document.example == "slider_crank"
    window.document.set(window.document.system["rod"], mass=7.0)
    answer(QMessageBox.StandardButton.Discard)
    assert window.close()


def test_files_are_dropped_onto_the_window(window, tmp_path, qtbot):
    target = tmp_path / "dropped.json"
    mb.save(mb.examples.bricard(), target)
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/a.json"), QUrl.fromLocalFile(str(target))])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(50, 50), Qt.DropAction.CopyAction, data, buttons, keys)
    window.dragEnterEvent(enter)
    assert enter.isAccepted()
    window.dropEvent(QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, data, buttons, keys))
    qtbot.waitUntil(lambda: window.document.path == target)
    other = QMimeData()
    other.setUrls([QUrl.fromLocalFile("/somewhere/picture.png")])
    assert dropped_file(other) is None


def test_results_are_opened_with_their_model(window):
    from gui.base.showcase import exhibit

    window.files.open(exhibit("slider_crank").result)
    assert window.model_shown
    assert window.document.system.name == "slider-crank mechanism"
    assert window.player.can_play


def test_pictures_of_the_view_are_saved(window, tmp_path, monkeypatch):
    window.open_example("four_bar")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "view"), ""))
    window.actions_["picture"].trigger()
    assert (tmp_path / "view.png").stat().st_size > 500
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no" / "view.png"), ""))
    window.actions_["picture"].trigger()
    for box in dialogs("failure_dialog"):
        box.close()
    assert "could not be written" in window.document.messages[-1].text


# --- dialogs ----------------------------------------------------------------------------------------------------------


def test_nothing_plays_behind_the_export_dialog(window, qtbot):
    window.open_example("four_bar")
    window.player.play()
    window.actions_["export"].trigger()
    (dialog,) = dialogs("export_dialog")
    assert not window.player.playing
    dialog.close()


def test_dialogs_open_and_close(window):
    window.open_example("four_bar")
    for name, opened in (("about", "about_dialog"), ("export", "export_dialog"), ("help", "help_window")):
        window.actions_[name].trigger()
        (dialog,) = dialogs(opened)
        dialog.close()
    window.actions_["shortcuts"].trigger()
    QApplication.activeModalWidget().close()


# --- beginning and end ------------------------------------------------------------------------------------------------


def run_python(program: str, folder: Path) -> subprocess.CompletedProcess:
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program, str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )


BEGIN = """
import sys
from gui.app.application import make_qt_application
qt = make_qt_application()
from PySide6.QtCore import QSettings
from gui.document.document import Document
from gui.modelling.bodies import PRESETS
from gui.base.settings import Settings
from gui.solving.solver import Solver
from gui.window.window import MainWindow

def window():
    solver = Solver(warm=False)
    return MainWindow(Document(), solver, Settings(QSettings(sys.argv[-1] + "/s.ini", QSettings.Format.IniFormat)))

def turn(seconds):
    import time
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        qt.processEvents()
        time.sleep(0.002)
"""


def test_the_window_and_a_rigid_example_are_there_before_anything_heavy_is_imported(tmp_path):
    program = BEGIN + (
        "w = window()\n"
        "w.show()\n"
        "heavy = ('vtkmodules', 'pyvista', 'pyqtgraph', 'numba', 'h5py', 'matplotlib', 'scipy')\n"
        "print([name for name in heavy if name in sys.modules], flush=True)\n"
        "w.document.open_example('four_bar')\n"
        "heavy = ('scipy.linalg', 'scipy.sparse', 'matplotlib', 'mbframe.flexible')\n"
        "print([name for name in heavy if name in sys.modules], flush=True)\n"
        "print(*sorted(name for name in sys.modules if name.startswith('mbframe.analysis.')), flush=True)\n"
        "import os; os._exit(0)\n"
    )
    done = run_python(program, tmp_path)
    described = ["mbframe.analysis.states", "mbframe.analysis.states.describing"]  # what an edit takes along; not heavy
    assert done.stdout.split() == ["[]", "[]", *described], done.stderr[-2000:]


def test_opening_and_closing_again_and_again_never_crashes(tmp_path):
    """Whatever it is doing: on the start page, with a model, while it plays, before the view is ready."""
    program = BEGIN + (
        "for k in range(6):\n"
        "    w = window()\n"
        "    w.show()\n"
        "    turn(0.05 * k)\n"
        "    if k % 3:\n"
        "        w.open_example(('four_bar', 'bricard')[k % 2])\n"
        "        if k > 2:\n"
        "            w.view.prepare()\n"
        "        turn(0.05 * k)\n"
        "        w.player.play()\n"
        "        turn(0.1)\n"
        "    w.close()\n"
        "    w.solver.close()\n"
        "    w.deleteLater()\n"
        "    del w\n"
        "    turn(0.05)\n"
        "print('closed')\n"
    )
    done = run_python(program, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("closed")
    assert "Traceback" not in done.stderr, done.stderr[-3000:]


def test_an_example_of_the_start_page_plays_at_once(window, qtbot):
    """With its speed, its view, its path and its followed body; the run settings are those of what is played."""
    card = next(card for card in window.gallery.cards if card.exhibit.name == "heavy_top")
    card.click()
    assert window.player.playing
    assert window.player.speed == card.exhibit.speed == 0.1
    assert window.document.runs.settings.t_end == card.exhibit.t_end == 1.2
    window.player.pause()
    next(card for card in window.gallery.cards if card.exhibit.name == "whipple_bicycle_slow").click()
    assert window.view.followed == "frame"
    assert window.document.example == "whipple_bicycle"
    assert window.document.arguments == {"speed": 3.5}
    assert "push" in window.document.system
    window.player.pause()


def test_that_a_step_was_undone_is_said_until_the_next_one(window):
    """Undo, and add it again: "Undone: Add bar." would be wrong beside the bar."""
    window.files.new(2)
    document, status = window.document, window.status.text
    document.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1))
    document.undo()
    assert status.text() == "Undone: Add bar."
    document.redo()
    assert status.text() == "Done again: Add bar."
    document.add(mb.PlanarBody("rod", mass=1.0, inertia=0.1))
    assert status.text() == ""


def test_the_picture_of_a_model_that_is_opened_at_once_comes_before_the_panels(
    qtbot, document, solver, settings, monkeypatch
):
    """Who clicks a card while the program is still loading waits for the picture; panels follow it."""
    monkeypatch.setattr("gui.window.window.LATEST_PANELS", 100_000)
    window = MainWindow(document, solver, settings)
    qtbot.addWidget(window, before_close_func=lambda w: w.document.abandon())
    order: list[str] = []
    window.view.first_shown.connect(lambda: order.append("picture"))
    window.panels_ready.connect(lambda: order.append("panels"))
    window.first_painted.connect(lambda: window.open_example("four_bar"))
    with qtbot.waitSignal(window.panels_ready):
        window.show()
    if window.view.canvas is None:
        pytest.skip(window.view.message)
    assert order == ["picture", "panels"]


def test_panels_wait_for_a_picture_that_takes_long_to_come(qtbot, document, solver, settings, monkeypatch):
    """On a busy machine they were made first, a second after the start: then the picture came still later."""
    monkeypatch.setattr("gui.window.window.LATEST_PANELS", 1)
    go_on, prepare = threading.Event(), mb.render.prepare
    monkeypatch.setattr(mb.render, "prepare", lambda: go_on.wait(60) and prepare())
    window = MainWindow(document, solver, settings)
    qtbot.addWidget(window, before_close_func=lambda w: w.document.abandon())
    window.first_painted.connect(lambda: window.open_example("four_bar"))
    window.show()
    qtbot.waitUntil(lambda: window.model_shown)
    qtbot.wait(100)
    assert len(window.panels) == 0
    with qtbot.waitSignal(window.panels_ready):
        go_on.set()
