"""The model tree: what is in it, selecting, renaming, deleting with what depends, and its menu."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

import mbframe as mb
from gui.document.document import Document
from gui.document.runs import Run, RunSettings
from gui.panels.model.panel import THING, ModelTree
from gui.widgets import theme


@pytest.fixture
def tree(qtbot):
    document = Document(mb.examples.four_bar())
    shown = ModelTree(document)
    qtbot.addWidget(shown)
    shown.resize(260, 600)
    shown.show()
    with qtbot.waitActive(shown):
        shown.activateWindow()
    return shown


def item_of(tree, thing):
    return tree._items[id(thing)]


def click(qtbot, tree, item, button=Qt.MouseButton.LeftButton):
    qtbot.mouseClick(tree.tree.viewport(), button, pos=tree.tree.visualItemRect(item).center())


def rows(tree):
    """Texts of groups and of what is in them, as they are shown."""
    found = []
    for k in range(tree.tree.topLevelItemCount()):
        top = tree.tree.topLevelItem(k)
        if not top.isHidden():
            found.append(
                (top.text(0), [top.child(m).text(0) for m in range(top.childCount()) if not top.child(m).isHidden()])
            )
    return found


def action(menu, name):
    found = [a for a in menu.actions() if a.objectName() == name]
    for entry in menu.actions():
        if entry.menu() is not None:
            found += [a for a in [action(entry.menu(), name)] if a is not None]
    return found[0] if found else None


def test_all_elements_are_there_by_kind(tree):
    system = tree.document.system
    shown = dict(rows(tree))
    assert system.name in shown
    assert system.ground.name in shown
    assert shown[f"Bodies ({len(system.bodies)})"] == [body.name for body in system.bodies]
    assert shown[f"Joints ({len(system.joints)})"] == [joint.name for joint in system.joints]
    assert shown[f"Forces ({len(system.forces)})"] == [force.name for force in system.forces]


def test_drivers_and_measures_have_groups_of_their_own(tree):
    system = tree.document.system
    joint = system.joints[0]
    tree.document.add(mb.Driver("motor", joint, angle="t"))
    tree.document.add(mb.Distance("gap", system.ground, system.bodies[0]))
    shown = dict(rows(tree))
    assert shown["Drivers (1)"] == ["motor"]
    assert shown["Measures (1)"] == ["gap"]


def test_selecting_here_and_there(tree, qtbot):
    document = tree.document
    body = document.system.bodies[1]
    click(qtbot, tree, item_of(tree, body))
    assert document.selection is body
    document.select(document.system.joints[0])
    assert tree.tree.currentItem() is item_of(tree, document.system.joints[0])
    document.select(None)
    assert tree.tree.currentItem() is None
    click(qtbot, tree, item_of(tree, document.system))
    assert document.selection is document.system
    qtbot.mouseClick(tree.tree.viewport(), Qt.MouseButton.LeftButton, pos=tree.tree.viewport().rect().bottomRight())
    assert document.selection is None


def test_arrow_keys_select(tree, qtbot):
    bodies = tree.document.system.bodies
    tree.document.select(bodies[0])
    tree.tree.setFocus()
    qtbot.keyClick(tree.tree, Qt.Key.Key_Down)
    assert tree.document.selection is bodies[1]


def test_search(tree, qtbot):
    system = tree.document.system
    qtbot.keyClicks(tree.search, "spring")
    shown = dict(rows(tree))
    assert shown == {f"Forces ({len(system.forces)})": [force.name for force in system.forces]}
    qtbot.keyClick(tree.search, Qt.Key.Key_Return)
    assert tree.document.selection is system.forces[0]
    tree.search.clear()
    qtbot.keyClicks(tree.search, f"revolute {system.bodies[0].name}")
    (joints,) = rows(tree)
    attached = [j.name for j in system.joints if system.bodies[0] in (j.body_i, j.body_j)]
    assert joints[1] == attached, "what an element connects can be searched for"


def test_rename_in_place(tree, qtbot):
    document = tree.document
    body = document.system.bodies[0]
    document.select(body)
    tree.tree.setFocus()
    qtbot.keyClick(tree.tree, Qt.Key.Key_F2)
    editor = tree.tree.viewport().findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, "crank")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: body.name == "crank")
    assert item_of(tree, body).text(0) == "crank"
    document.undo()
    assert item_of(tree, body).text(0) != "crank"


@pytest.mark.parametrize("name", ["A", "   ", ""])
def test_bad_names_are_refused_in_place(tree, qtbot, name):
    body = tree.document.system.bodies[0]
    before = body.name
    item_of(tree, body).setText(0, name)
    qtbot.waitUntil(tree.problem.isVisible)
    assert body.name == before
    assert item_of(tree, body).text(0) == before


def test_delete_takes_what_depends_and_undo_brings_it_back(tree, qtbot):
    document = tree.document
    body = document.system.bodies[0]
    others = document.dependents(body)
    before = [element.name for element in document.system]
    click(qtbot, tree, item_of(tree, body))
    qtbot.keyClick(tree.tree, Qt.Key.Key_Delete)
    assert body not in document.system
    assert all(other not in document.system for other in others)
    message = document.messages[-1]
    assert all(other.name in message.text for other in others)
    label, undo = message.fix
    assert label == "Undo"
    undo()
    assert [element.name for element in document.system] == before


def test_the_ground_and_the_system_cannot_be_deleted(tree, qtbot):
    document = tree.document
    for thing in (document.system.ground, document.system):
        document.select(thing)
        tree.delete_selected()
    assert document.undo_stack.count() == 0
    assert "ground" in tree.problem.text()


def test_the_menu_of_a_body(tree):
    document = tree.document
    body = document.system.bodies[0]
    menu = tree.menu_for(body)
    others = document.dependents(body)
    assert str(len(others)) in action(menu, "delete").text()
    plotted, followed, listed = [], [], []
    tree.plot_requested.connect(plotted.append)
    tree.follow_requested.connect(followed.append)
    tree.quantities_requested.connect(listed.append)
    action(menu, f"plot_{body.name}.velocity.x").trigger()
    action(menu, "follow").trigger()
    action(menu, "quantities").trigger()
    assert (plotted, followed, listed) == ([f"{body.name}.velocity.x"], [body], [body.name])
    action(menu, "duplicate").trigger()
    assert document.selection is not body
    assert item_of(tree, document.selection).text(0) == document.selection.name


def test_the_menu_of_a_joint_plots_reactions(tree):
    joint = tree.document.system.joints[0]
    menu = tree.menu_for(joint)
    assert action(menu, f"plot_{joint.name}.reaction.force.x") is not None
    assert action(menu, "follow") is None
    assert action(tree.menu_for(tree.document.system.ground), "delete") is None


def test_results_are_listed_and_chosen(tree, qtbot):
    document = tree.document
    runs = [Run(name, RunSettings()) for name in ("one", "two")]
    for run in runs:
        document.runs.add(run)
    assert dict(rows(tree))["Results (2)"] == ["one", "two"]
    first = tree._results.child(0)
    assert first.data(0, THING) is runs[0]
    click(qtbot, tree, first)
    qtbot.waitUntil(lambda: document.runs.current is runs[0])
    first.setText(0, "renamed")
    qtbot.waitUntil(lambda: runs[0].name == "renamed")
    action(tree.menu_for(runs[0]), "delete_run").trigger()
    assert list(document.runs) == [runs[1]]
    tree.tree.setCurrentItem(tree._results.child(0))
    tree.delete_selected()
    assert tree._results.isHidden()


def test_what_was_closed_stays_closed(tree):
    system = tree.document.system
    header = item_of(tree, system.bodies[0]).parent()
    header.setExpanded(False)
    tree.document.rename(system.joints[0], "pivot")
    assert not item_of(tree, system.bodies[0]).parent().isExpanded()
    tree.document.new()
    assert all(tree.tree.topLevelItem(k).isExpanded() or not tree.tree.topLevelItem(k).childCount() for k in range(3))


def test_themes(tree):
    for name in ("dark", "light"):
        theme.apply(name)
        assert not item_of(tree, tree.document.system.bodies[0]).icon(0).isNull()


def test_the_tree_does_not_load_what_plots_need():
    """The window is filled before pyqtgraph is imported."""
    code = "import gui.panels.model.panel, sys; sys.exit('pyqtgraph' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
