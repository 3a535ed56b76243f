"""Every step as Python: the lines, run on the model of the beginning, give the model of the end."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication

import mbframe as mb
from gui.panels.script.panel import ScriptPanel
from mbframe.files import model as model_files
from mbframe.files.json_text import dumps


def text(system: mb.System) -> str:
    return dumps(model_files.document(system))


def replayed(start: str, lines: list[str]) -> str:
    from mbframe.files.json_text import parse

    system = model_files.system_from(parse(start, "start"))
    exec("\n".join(lines), {"mb": mb, "system": system})
    return text(system)


@pytest.fixture
def panel(qtbot, document):
    panel = ScriptPanel(document)
    qtbot.addWidget(panel)
    return panel


def test_steps_are_lines_that_do_them(document, panel):
    document.open_example("four_bar")
    start = document.model_text()
    system = document.system
    document.set(system["bar 1"], mass=7.5)
    document.add(
        mb.SpringDamper(
            "second spring", system.ground, system["bar 3"], at_i=(1.0, 0.5), stiffness=12.0, free_length=0.0
        )
    )
    document.rename(system["bar 2"], 'the "coupler"')
    document.duplicate(system["bar 3"])
    document.set(system, gravity=(0.0, -1.62))
    document.set(system["spring"], stiffness=0.0)  # its default, which a file leaves out
    document.remove(system["second spring"])
    document.set(system["bar 1"], position=system["bar 1"].position + np.array([0.1, 0.0]))
    assert len(panel.script.lines) == 8
    assert panel.script.lines[0] == 'system["bar 1"].update(mass=7.5)'
    assert panel.script.lines[2] == """system["bar 2"].name = 'the "coupler"'"""
    assert replayed(start, panel.script.lines) == document.model_text()


def test_undo_takes_lines_away_and_redo_brings_them_back(document, panel):
    document.open_example("four_bar")
    start = document.model_text()
    for mass in (4.0, 5.0, 6.0):
        document.set(document.system["bar 1"], mass=mass)
    lines = list(panel.script.lines)
    document.undo()
    document.undo()
    assert panel.script.lines == lines[:1]
    document.redo()
    assert panel.script.lines == lines[:2]
    document.set(document.system["bar 2"], mass=9.0)
    assert panel.script.lines == [*lines[:2], 'system["bar 2"].update(mass=9.0)']
    assert replayed(start, panel.script.lines) == document.model_text()
    document.undo()
    document.set(document.system["bar 3"], mass=8.0)
    assert panel.script.lines[-1] == 'system["bar 3"].update(mass=8.0)'
    assert len(panel.script.lines) == 3
    while document.undo_stack.canUndo():
        document.undo()
    assert panel.script.lines == []


def test_a_slider_is_one_line_with_its_last_value(document, panel):
    document.open_example("four_bar")
    for stiffness in (10.0, 20.0, 30.0):
        document.set(document.system["spring"], gesture="slider", stiffness=stiffness)
    assert panel.script.lines == ['system["spring"].update(stiffness=30.0)']


def test_a_step_that_cannot_be_written_says_so(document, panel):
    document.open_example("four_bar")
    document.set(document.system["spring"], force=lambda x: -x)
    assert panel.script.lines[0].startswith("# Change force of spring")


def test_copy_as_script_builds_the_model_again(document, panel):
    document.open_example("slider_crank")
    panel.copy_script.click()
    scope: dict = {}
    exec(QGuiApplication.clipboard().text(), scope)
    assert text(scope["system"]) == document.model_text()
    document.set(document.system.bodies[0], mass=3.0)
    panel.copy_steps.click()
    assert QGuiApplication.clipboard().text().startswith("import mbframe as mb\n")
