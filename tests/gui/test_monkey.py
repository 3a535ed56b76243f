"""Anything in any order: no exception, and the document can be undone to its beginning."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QTest

from .modelling_window import opened, window  # noqa: F401
from .monkey import Monkey


@pytest.mark.full
def test_a_monkey(window, qtbot):  # noqa: F811
    opened(window, "four_bar", qtbot)
    monkey = Monkey(window, seed=7)
    monkey.act(150)
    document = window.document
    window.modelling.escape()
    window.modelling.escape()
    QTest.qWait(50)
    end, steps = document.model_text(), document.undo_stack.index()
    while document.undo_stack.canUndo():
        document.undo()
    start = document.model_text()
    while document.undo_stack.index() < steps:
        document.redo()
    assert document.model_text() == end
    while document.undo_stack.canUndo():
        document.undo()
    assert document.model_text() == start
