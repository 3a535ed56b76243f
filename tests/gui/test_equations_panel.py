"""The equations tab: formulas of docstrings, live numbers of the selected element, copies."""

from __future__ import annotations

import re

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

import mbframe as mb
from gui.base.units import DisplayUnits
from gui.document.runs import Run
from gui.panels.equations.formulas import documented, headline, printed
from gui.panels.equations.grid import HEADS, NumberGrid, number_text
from gui.panels.equations.number_tables import as_latex, as_numpy, as_text, tables_of
from gui.panels.equations.panel import EMPTY, EquationsPanel
from gui.widgets import theme
from mbframe.registry import built_in


def pendulum() -> mb.System:
    """A bar that hangs at rest, with a spring beside it."""
    system = mb.System("pendulum", dimension=2, gravity=(0.0, -10.0))
    bar = system.add(mb.PlanarBody("bar", mass=2.0, inertia=0.5, position=(0.0, -0.5)))
    system.add(mb.RevoluteJoint("pivot", system.ground, bar, at=(0.0, 0.0)))
    system.add(
        mb.SpringDamper(
            "spring", system.ground, bar, at_i=(2.0, -0.5), at_j=(0.0, -0.5), stiffness=3.0, free_length=1.0
        )
    )
    return system


@pytest.fixture
def panel(qtbot, document, solver):
    document.open_system(pendulum())
    made = EquationsPanel(document, solver)
    qtbot.addWidget(made)
    made.resize(1000, 300)
    made.show()
    qtbot.waitExposed(made)
    return made


def shown(panel, qtbot, name: str):
    """Select an element and wait for its numbers."""
    with qtbot.waitSignal(panel.shown):
        panel.document.select(panel.document.system[name])
    return panel.found


def cell(grid: NumberGrid, row: int, column: int) -> str:
    return grid.item(HEADS + row, 1 + column).text()


# --- formulas --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "expected"),
    [
        (mb.Coincident, "C = r_j - r_i"),
        (mb.CoincidentInPlane, "C = (x_j - x_i, y_j - y_i)"),
        (mb.Perpendicular, "C = d_a . e_b - constant"),
        (mb.FixedDistance, "C = (|r_j - r_i|^2 - L^2) / (2 L)"),
        (mb.DiskOnPlane, "C = n . (r_j - r_i) - R s - rho"),
        (mb.SpringDamper, "s = k x + f(x) + c x' + g(x')"),
        (mb.Bushing, "s = A_i^T (r_j - r_i)"),
        (mb.ConstantVelocityJoint, "C_4 = d_x . e_y - d_y . e_x"),
        (mb.PIDActuator, "e = w - x"),
        (mb.RevoluteJoint, ""),
    ],
)
def test_the_formula_comes_from_the_docstring(cls, expected):
    assert headline(documented(cls)) == expected


def test_a_number_of_equations_that_is_another_in_the_plane_is_left_out():
    """Beside two equations of a hinge in the plane there was "five equations"."""
    joints = built_in(mb.Joint)
    assert "RevoluteJoint" in joints
    for name, cls in joints.items():
        assert not re.search(r"\b(two|three|four|five|six) equations\b", documented(cls)), name
    assert "the axes stay parallel" in documented(mb.RevoluteJoint)


def test_formulas_are_printed():
    assert printed("C = d_a . (r_j - r_i)") == "C = d<sub>a</sub> · (r<sub>j</sub> − r<sub>i</sub>)"
    assert printed("s = pitch theta / (2 pi)") == "s = pitch θ / (2 π)"
    assert printed("k x^2/2 < x'' and the body's point") == "k x<sup>2</sup>/2 &lt; x″ and the body's point"
    assert printed("`crown_radius`") == "<i>crown_radius</i>"


def test_every_constraint_says_its_law():
    for name, cls in built_in(mb.BasicConstraint).items():
        text = documented(cls)
        assert headline(text) or text.startswith("c ("), name


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_nothing_is_selected(panel):
    assert panel.pages.currentWidget() is panel.empty
    assert panel.empty.text() == EMPTY
    panel.document.select(panel.document.system["bar"])
    assert panel.pages.currentWidget() is panel.empty


def test_a_joint(panel, qtbot):
    """A pivot 0.5 m above the centre: dx/dtheta = -0.5 m; it carries the weight, 20 N."""
    found = shown(panel, qtbot, "pivot")
    np.testing.assert_allclose(found.jacobian["bar"], [[1.0, 0.0, -0.5], [0.0, 1.0, 0.0]], atol=1e-15)
    (title, equations), (_, reaction) = panel.grids
    assert title.text().startswith("Constraint equations")
    assert [cell(equations, 0, k) for k in range(7)][:2] == ["0", "0"]
    assert [cell(equations, 0, k) for k in (2, 3, 4)] == ["1", "0", "−0.5"]
    assert cell(reaction, 0, 1) == "20"
    assert "C = (x" in panel.law.text()
    assert "as it is described" in panel.where.text()


def test_a_force_follows_edits(panel, qtbot):
    shown(panel, qtbot, "spring")
    measured = panel.grids[0][1]
    assert [cell(measured, 0, k) for k in range(3)] == ["2", "0", "3"]  # length, rate, tension k (l - l0)
    with qtbot.waitSignal(panel.shown):
        panel.document.set(panel.document.system["spring"], stiffness=5.0)
    assert cell(measured, 0, 2) == "5"
    panel.document.units = DisplayUnits("mm/deg")
    assert cell(measured, 0, 0) == "2000"
    generalized = panel.found.generalized["bar"]
    np.testing.assert_allclose(generalized, [5.0, 0.0, 0.0], atol=1e-15)


def test_numbers_follow_the_instant_that_is_played(panel, qtbot):
    document = panel.document
    result = mb.simulate(pendulum(), 1.0, dt=0.01)
    run = Run("Run 1", document.runs.settings, document.model_text(), result)
    document.runs.add(run)
    found = shown(panel, qtbot, "spring")
    with qtbot.waitSignal(panel.shown):
        document.set_time(0.7)
        document.show(run.track.state(0.7))
    assert panel.found.t == pytest.approx(0.7)
    length = panel.found.outputs[0][1]
    assert length == pytest.approx(np.interp(0.7, result.t, result.output("spring", "length")), abs=1e-6)
    assert length != pytest.approx(found.outputs[0][1], abs=1e-3)
    assert "Run 1, t = 0.7 s" in panel.where.text()
    np.testing.assert_allclose(shown(panel, qtbot, "pivot").residual, 0.0, atol=1e-6)


def test_what_is_not_seen_is_not_computed(panel, qtbot):
    panel.hide()
    panel.document.select(panel.document.system["pivot"])
    QTest.qWait(100)
    assert not panel.asking.busy
    assert panel.found is None


def test_an_element_that_goes_while_it_is_computed(panel, qtbot):
    document = panel.document
    document.select(document.system["spring"])
    panel.ask()
    document.remove(document.system["spring"])
    qtbot.waitUntil(lambda: not panel.asking.busy)
    assert panel.pages.currentWidget() is panel.empty


# --- copies ----------------------------------------------------------------------------------------------------------


def test_copies(panel, qtbot):
    found = shown(panel, qtbot, "pivot")
    panel.copy_as("numpy")
    names: dict = {}
    exec(QGuiApplication.clipboard().text(), names)
    np.testing.assert_array_equal(names["jacobian"]["bar"], found.jacobian["bar"])
    np.testing.assert_array_equal(names["gamma"], found.gamma)
    panel.copy_as("latex")
    assert (
        r"J_{\text{bar}} = \begin{bmatrix} 1 & 0 & -0.5 \\ 0 & 1 & 0 \end{bmatrix}"
        in QGuiApplication.clipboard().text()
    )
    panel.copy_as("text")
    lines = QGuiApplication.clipboard().text().splitlines()
    row = lines[2].split("\t")
    assert float(row[lines[1].split("\t").index("bar ω")]) == found.jacobian["bar"][0, 2]


def test_a_selection_is_copied(panel, qtbot):
    shown(panel, qtbot, "pivot")
    grid = panel.grids[0][1]
    grid.setFocus()
    for k in (2, 3, 4):
        grid.item(HEADS, 1 + k).setSelected(True)
    QTest.keyClick(grid, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "1\t0\t-0.5"


def test_spatial_tables_name_every_column():
    system = mb.examples.car_suspension()
    for element in (*system.joints, *system.forces):
        found = mb.equations_of(system, element)
        for table in tables_of(found, element):
            assert table.values.shape == (len(table.rows), len(table.columns)) == np.shape(table.units)
        assert as_latex(found).count(r"\begin{bmatrix}") == as_latex(found).count(r"\end{bmatrix}") > 2
        exec(as_numpy(found), {})
        assert as_text(tables_of(found, element))


def test_zeros_are_pale_in_both_themes(panel, qtbot):
    shown(panel, qtbot, "pivot")
    grid = panel.grids[0][1]
    for name in ("dark", "light"):
        theme.apply(name)
        one, zero = grid.item(HEADS, 3), grid.item(HEADS, 4)
        assert (one.text(), zero.text()) == ("1", "0")
        assert one.foreground().color() == theme.current().color("text") != zero.foreground().color()


def test_number_text():
    assert [number_text(x) for x in (0.5, -1.23456789, 1e-7, -2.5e12)] == ["0.5", "−1.2346", "1e−7", "−2.5e12"]
