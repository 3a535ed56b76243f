"""Inputs and controllers by hand: added without the mouse in the view, seen in the inspector, undone, saved."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt

import mbframe as mb
from gui.document.document import Document
from gui.modelling.signal_dialog import SignalDialog
from gui.panels.inspector.panel import Inspector


def tick(field, *names):
    """Tick names in the list of what is seen."""
    for name in names:
        item = next(item for item in field._items() if item.text() == name)
        item.setCheckState(Qt.CheckState.Checked)


def added(document, cls, qtbot, name="", see=(), **texts):
    dialog = SignalDialog(document, cls)
    qtbot.addWidget(dialog)
    if name:
        dialog.name.setText(name)
    if see:
        tick(dialog.fields["measures"], *see)
    for field, text in texts.items():
        edit = dialog.fields[field].editors()[0]
        edit.setText(text)
        edit.textEdited.emit(text)
    dialog.accept()
    return dialog


def test_an_input_is_added_undone_and_named_by_forces(qtbot, document):
    document.open_system(mb.examples.cart_pendulum())
    before = document.model_text()
    added(document, mb.Input, qtbot, unit="N", upper="20")
    push = document.system["push2"]  # the force of the example is called "push" already
    assert (push.unit, push.upper, document.selection) == ("N", 20.0, push)
    document.set(document.system["push"], force=("push2", 0, 0))
    document.undo()
    document.undo()
    assert document.model_text() == before


def test_a_controller_sees_what_is_ticked_and_its_gains_follow(qtbot, document, tmp_path):
    document.open_system(mb.examples.cart_pendulum())
    added(document, mb.StateFeedback, qtbot, see=("position", "hinge.angle"))
    lqr = document.system["lqr"]
    assert lqr.measures == ("position", "hinge.angle")
    assert lqr.gain.shape == (1, 4)
    document.set(lqr, gain=[[1.0, 2.0, 3.0, 4.0]])
    inspector = Inspector(document)
    qtbot.addWidget(inspector)
    inspector.show()
    tick(inspector.rows["measures"].field, "cart.velocity.x")
    assert lqr.measures == ("position", "hinge.angle", "cart.velocity.x")
    np.testing.assert_array_equal(lqr.gain, [[1.0, 2.0, 0.0, 3.0, 4.0, 0.0]])
    document.undo()
    np.testing.assert_array_equal(lqr.gain, [[1.0, 2.0, 3.0, 4.0]])
    assert inspector.rows["measures"].field.value == ("position", "hinge.angle")
    document.set(document.system["push"], force=("lqr.force", 0, 0))
    document.save_as(tmp_path / "model.json")
    other = Document()
    other.open(tmp_path / "model.json")
    assert other.system["lqr"].measures == lqr.measures
    other.close()


def test_a_linear_controller_keeps_what_belongs_to_names_that_stay(qtbot, document):
    document.open_system(mb.examples.cart_pendulum())
    added(document, mb.LinearController, qtbot, see=("position", "angle"))
    one = document.system["linearcontroller"]
    one.update(system=([[-1.0]], [[1.0, 2.0]], [[3.0]], [[4.0, 5.0]]))
    inspector = Inspector(document)
    qtbot.addWidget(inspector)
    document.select(one)
    field = inspector.rows["measures"].field
    next(item for item in field._items() if item.text() == "position").setCheckState(Qt.CheckState.Unchecked)
    A, B, C, D = one.system
    assert (A.tolist(), B.tolist(), C.tolist(), D.tolist()) == ([[-1.0]], [[2.0]], [[3.0]], [[5.0]])


def test_what_is_wrong_is_said_in_the_dialog_and_adds_nothing(qtbot, document):
    document.open_system(mb.examples.cart_pendulum())
    count = len(list(document.system))
    for name, words in (("two words", "letters"), ("angle", "angle"), ("t", "meaning")):
        dialog = added(document, mb.Input, qtbot, name=name)
        assert words in dialog.problem.text()
    added(document, mb.Input, qtbot, name="low", lower="3")
    assert len(list(document.system)) == count


def test_a_copy_has_a_name_that_expressions_can_use(document):
    document.open_system(mb.System("one"))
    twin = document.duplicate(document.add(mb.Input("push")))
    assert twin.name == "push2"
    assert document.duplicate(twin).name == "push3"
