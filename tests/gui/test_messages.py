"""The list of messages, and the list of shortcuts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QLabel

import mbframe as mb
from gui.dialogs.shortcuts import ELSEWHERE, ShortcutList
from gui.document.document import Document
from gui.panels.messages.panel import MOST, MessagesPanel
from gui.widgets import theme


@pytest.fixture
def panel(qtbot):
    document = Document(mb.examples.four_bar())
    document.messages.post("before the panel was there")
    shown = MessagesPanel(document)
    qtbot.addWidget(shown)
    shown.resize(700, 200)
    shown.show()
    return shown


def texts(panel):
    return [row.findChild(QLabel, "message_text").text() for row in panel.rows]


def test_messages_appear_in_order(panel):
    panel.document.messages.post("second", "warning")
    panel.document.messages.post("third", "error")
    assert texts(panel) == ["before the panel was there.", "second.", "third."]
    assert [row.message.level for row in panel.rows] == ["info", "warning", "error"]
    assert not panel.empty.isVisible()


def test_the_element_is_a_link(panel, qtbot):
    joint = panel.document.system.joints[0]
    panel.document.messages.post("does not close", "error", joint)
    row = panel.rows[-1]
    assert row.select.text() == joint.name
    qtbot.mouseClick(row.select, Qt.MouseButton.LeftButton)
    assert panel.document.selection is joint
    panel.document.rename(joint, "pivot")
    assert row.select.text() == "pivot"
    panel.document.remove(joint)
    assert not row.select.isVisible(), "what is gone cannot be selected"
    panel.document.undo()
    assert row.select.isVisible()


def test_a_fix_is_one_click(panel, qtbot):
    done = []
    panel.document.messages.post("a gap", "warning", fix=("Assemble", lambda: done.append(1)))
    row = panel.rows[-1]
    assert row.fix.text() == "Assemble"
    qtbot.mouseClick(row.fix, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(row.fix, Qt.MouseButton.LeftButton)
    assert done == [1], "once"


def test_problems_of_an_error_are_messages_with_their_elements(panel):
    joint = panel.document.system.joints[0]
    panel.document.messages.post_error(
        mb.ModelError([joint.problem("at", "does not close"), joint.problem("", "is redundant")])
    )
    assert [row.message.element for row in panel.rows[-2:]] == [joint, joint]


def test_copy_and_clear(panel, qtbot):
    panel.document.messages.post("second <b>message</b>", "error")
    assert texts(panel)[-1] == "second <b>message</b>.", "plain text, whatever it contains"
    panel.rows[-1].findChild(QAction, "copy_message").trigger()
    assert QGuiApplication.clipboard().text() == "second <b>message</b>."
    qtbot.mouseClick(panel.copy_all, Qt.MouseButton.LeftButton)
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 2
    assert lines[1].endswith("error: second <b>message</b>.")
    qtbot.mouseClick(panel.clear_all, Qt.MouseButton.LeftButton)
    assert panel.rows == []
    assert list(panel.document.messages) == []
    assert panel.empty.isVisible()


def test_there_are_never_too_many(panel):
    for k in range(MOST + 20):
        panel.document.messages.post(str(k))
    assert len(panel.rows) == MOST
    assert texts(panel)[-1] == f"{MOST + 19}."


def test_the_newest_is_in_view(panel, qtbot):
    for k in range(40):
        panel.document.messages.post(f"message {k}")
    bar = panel.list.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())


def test_themes(panel):
    for name in ("dark", "light"):
        theme.apply(name)
        assert not panel.rows[0]._icon.pixmap().isNull()


def test_the_list_of_shortcuts_is_made_from_actions(qtbot):
    dialog = ShortcutList([("File", "Save the model", "Ctrl+S"), ("Edit", "Undo", "Ctrl+Z")])
    qtbot.addWidget(dialog)
    dialog.show()
    tree = dialog.tree
    groups = {tree.topLevelItem(k).text(0): tree.topLevelItem(k) for k in range(tree.topLevelItemCount())}
    assert list(groups)[:2] == ["File", "Edit"]
    assert {group for group, _, _ in ELSEWHERE} <= set(groups)
    assert groups["Edit"].child(0).text(1) == "Ctrl+Z"
    qtbot.keyClicks(dialog.search, "save")
    assert not groups["File"].isHidden()
    assert groups["Edit"].isHidden()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
