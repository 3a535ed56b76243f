"""The live check and Assemble: open joints, velocities, redundancy, missing mass and files, each with its fix."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from gui.base.units import DisplayUnits
from gui.modelling.assembling import Assembling, report
from gui.panels.checks.checks import gaps, listed, started_at_zero
from gui.panels.checks.panel import ChecksPanel
from gui.panels.checks.tasks import CheckTask, Findings
from gui.solving.tasks import Model

from .modelling_window import opened, window  # noqa: F401

SI = DisplayUnits()


def found(system: mb.System) -> Findings:
    return CheckTask(Model.of(system)).run(lambda *_: None)


def hinged(dimension: int = 3, **driver: str) -> mb.System:
    system = mb.System("hinged")
    rod = system.add(mb.RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.0, 0.0, -0.5)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, rod, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    if driver:
        system.add(mb.Driver("motor", hinge, **driver))
    return system


def test_a_good_model_has_nothing_to_tell():
    findings = found(hinged())
    assert listed(findings, hinged(), SI) == []
    assert findings.freedom.count == 1


def test_a_driver_that_jumps_is_told_and_begins_with_zero_then():
    system = hinged(angle="0.3 + 2*t")
    findings = found(system)
    assert findings.gaps["motor"] == pytest.approx(0.3)
    (check,) = listed(findings, system, SI)
    assert "begins with 0.3 rad" in check.text
    assert check.fix == "start at zero"
    system["motor"].update(**started_at_zero(system, system["motor"]))
    assert system["motor"].angle(0.0) == pytest.approx(0.0)
    assert system["motor"].angle.derivative(0.7) == pytest.approx(2.0)
    assert not found(system).gaps


def test_a_wheel_above_its_road_has_a_gap_that_assemble_closes():
    system = mb.System("wheel")
    wheel = system.add(mb.RigidBody("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2), position=(0.0, 0.0, 0.7)))
    system.add(mb.RollingDisk("road", system.ground, wheel, at=(0.0, 0.0, 0.7), axis=(0.0, 1.0, 0.0), radius=0.5))
    findings = found(system)
    (gap,) = gaps(findings, system, DisplayUnits("mm/deg"))
    assert gap.text == "road: 200 mm"
    assert gap.start == pytest.approx([0.0, 0.0, 0.2])
    assert gap.end == pytest.approx([0.0, 0.0, 0.0])
    (check,) = listed(findings, system, SI)
    assert check.text.startswith("road is open by 0.2 m.")
    assert check.fix == "assemble"


def test_redundancy_is_explained():
    (check,) = listed(found(mb.examples.bricard()), mb.examples.bricard(), SI)
    assert check.text.startswith("1 equation is redundant, between hinge 1")
    assert check.fix == "explain"
    assert "motion is unique" in check.detail


def test_velocities_masses_and_files_are_looked_at():
    system = hinged()
    system["rod"].update(velocity=(1.0, 0.0, 0.0))
    system.add(mb.RigidBody("dust", mass=1e-12, inertia=(1e-12, 1e-12, 1e-12), position=(1.0, 0.0, 0.0)))
    system["rod"].shapes = [mb.Mesh(path="nowhere.stl")]
    texts = [check.text for check in listed(found(system), system, SI)]
    assert any("velocities do not fit hinge" in text for text in texts)
    assert any(text.startswith("dust has hardly any mass") for text in texts)
    assert any("no mesh file 'nowhere.stl'" in text for text in texts)


def test_a_locked_mechanism_is_told():
    system = hinged()
    system.add(mb.FixedJoint("weld", system.ground, system["rod"], at=(0.0, 0.0, 0.0)))
    assert any("Nothing can move" in check.text for check in listed(found(system), system, SI))


def test_the_report_says_what_moved_in_the_units_of_the_document(document):
    document.units = DisplayUnits("mm/deg")
    moved = {"a": (0.001, 0.0), "b": (0.0, 0.0), "c": (0.25, np.pi / 2)}
    text = report(mb.Assembly(0.0, {}, moved=moved), document)
    assert text == "Assembled: moved c by 250 mm and 90 °, a by 1 mm."
    assert "nothing had to move" in report(mb.Assembly(0.0, {}, moved={"a": (0.0, 0.0)}), document)


def test_assemble_is_one_step(document, solver, qtbot):
    system = mb.System("jack")
    block = system.add(mb.RigidBody("block", mass=1.0, inertia=(1, 1, 1), position=(0.0, 0.0, 1.0)))
    system.add(mb.TranslationalJoint("slide", system.ground, block, at=(0.0, 0.0, 1.0), axis=(0.0, 0.0, 1.0)))
    length = system.add(mb.Distance("length", system.ground, block, at_i=(0, 0, 0), at_j=(0, 0, 1.0)))
    system.add(mb.Prescribed("ram", length, value="1.25 + 0.1*t"))
    document.open_system(system)
    before = document.model_text()
    assembling = Assembling(document, solver)
    with qtbot.waitSignal(assembling.done):
        assembling.start()
    assert system["block"].position == pytest.approx([0.0, 0.0, 1.25])
    assert system["slide"].at == pytest.approx([0.0, 0.0, 1.25])
    assert document.messages[-1].text == "Assembled: moved block by 0.25 m."
    assert document.undo_stack.count() == 1
    assert not found(system).gaps
    document.undo()
    assert document.model_text() == before


def test_what_cannot_be_closed_is_named(document, solver, qtbot):
    system = hinged()
    length = system.add(mb.Distance("length", system.ground, system["rod"], at_i=(0, 0, 5.0), at_j=(0, 0, -1.0)))
    system.add(mb.Prescribed("ram", length, value=9.0))
    document.open_system(system)
    assembling = Assembling(document, solver)
    with qtbot.waitSignal(assembling.done):
        assembling.start()
    assert document.messages[-1].level == "error"
    assert "cannot be closed" in document.messages[-1].text


def test_break_it_and_follow_the_fix(window, qtbot):  # noqa: F811
    opened(window, "slider_crank", qtbot)
    document = window.document
    panel: ChecksPanel = window.panels["checks"]
    qtbot.waitUntil(lambda: panel.findings is not None and panel._job is None)
    joint = next(joint for joint in document.system.joints if isinstance(joint, mb.RevoluteJoint))
    document.add(mb.Driver("motor", joint, angle="0.2 + t"))
    window.show_tab("checks")
    qtbot.waitUntil(lambda: any(check.fix == "start at zero" for check in panel.checks))
    assert panel.gaps.gaps
    row = next(row for row in panel.rows if row.check.fix == "start at zero")
    row.select.click()
    assert document.selection is document.system["motor"]
    row.fix.click()
    qtbot.waitUntil(lambda: not any(check.level == "error" for check in panel.checks))
    assert not panel.gaps.gaps
    assert document.system["motor"].angle(0.0) == pytest.approx(0.0)
