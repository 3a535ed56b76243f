"""The tab that compares methods: choices, a comparison in the solver process, table, plots, report."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFileDialog, QPushButton

import mbframe as mb
from gui.panels.compare.choices import PRESELECTED, TOLERANCES
from gui.panels.compare.plots import DecadeAxis, points, power_of_ten
from gui.panels.compare.table import families_of, in_words
from gui.widgets import theme


@pytest.fixture
def panel(qtbot, document, solver):
    from gui.panels.compare.panel import ComparePanel

    document.open_example("simple_pendulum")
    panel = ComparePanel(document, solver)
    qtbot.addWidget(panel)
    panel.resize(1100, 320)
    panel.show()
    qtbot.waitExposed(panel)
    yield panel
    panel.cancel()


def tick(panel, *names: str) -> None:
    """Tick exactly these boxes, and bodies as described."""
    for box in panel.choices.findChildren(QCheckBox):
        box.setChecked(box.objectName().removeprefix("compare_") in ("AsDescribed", *names))


def compared(qtbot, panel):
    with qtbot.waitSignal(panel.compared):
        qtbot.mouseClick(panel.findChild(QPushButton, "compare_start"), Qt.MouseButton.LeftButton)
    return panel.comparison


def prepare(qtbot, panel, t_end: str = "0.2", steps: str = "0.02, 0.01") -> None:
    qtbot.mouseClick(panel.findChild(QPushButton, "compare_begin"), Qt.MouseButton.LeftButton)
    tick(panel, "AugmentedFormulation", "NoStabilization", "DirectCorrection", "RungeKutta4")
    panel.choices.t_end.setText(t_end)
    panel.choices.steps.setText(steps)
    panel.choices.repeats.setValue(1)


def test_an_empty_tab_explains_itself_and_has_one_button(panel):
    shown = [button for button in panel.findChildren(QPushButton) if button.isVisible()]
    assert [button.text() for button in shown] == ["Choose methods"]
    assert shown[0].isEnabled()
    panel.document.new()
    assert not panel.begin.isEnabled()  # nothing to simulate


def test_every_combination_is_counted(qtbot, panel):
    qtbot.mouseClick(panel.begin, Qt.MouseButton.LeftButton)
    # Three stabilizations with three steps of Runge-Kutta 4 and three tolerances of Dormand-Prince.
    ticked = {box.objectName() for box in panel.choices.findChildren(QCheckBox) if box.isChecked()}
    assert ticked == {"compare_AsDescribed", *(f"compare_{name}" for name in PRESELECTED)}
    assert panel.choices.experiment().count == 3 * (3 + len(TOLERANCES))
    assert panel.choices.says.text().startswith("18 runs")
    tick(panel, "AugmentedFormulation", "UdwadiaKalaba", "Baumgarte", "RungeKutta4")
    panel.choices.steps.setText("0.01")
    assert panel.choices.experiment().count == 2


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [("steps", "0.01, -1", "Steps"), ("steps", "", "Steps"), ("t_end", "0", "end"), ("t_end", "soon", "end")],
)
def test_wrong_numbers_are_explained_and_not_run(qtbot, panel, field, text, words):
    prepare(qtbot, panel)
    getattr(panel.choices, field).setText(text)
    assert words in panel.choices.says.text()
    assert not panel.choices.button.isEnabled()


def test_a_column_without_a_choice_is_explained(qtbot, panel):
    prepare(qtbot, panel)
    tick(panel, "AugmentedFormulation", "RungeKutta4")
    assert "Stabilization" in panel.choices.says.text()
    assert not panel.choices.button.isEnabled()


def test_methods_are_compared_sorted_drawn_and_reported(qtbot, panel, tmp_path, monkeypatch):
    prepare(qtbot, panel)
    comparison = compared(qtbot, panel)
    assert len(comparison.outcomes) == 4
    assert not comparison.failures()
    assert panel.pages.currentWidget() is panel.results

    table, names = panel.table, panel.table.rows.names
    column = names.index("error")
    errors = [float(table.model().index(row, column).data()) for row in range(4)]
    assert errors == sorted(errors)  # the most accurate first
    table.sortByColumn(names.index("dt"), Qt.SortOrder.DescendingOrder)
    steps = [table.model().index(row, names.index("dt")).data() for row in range(4)]
    assert steps == ["0.02", "0.02", "0.01", "0.01"]

    assert families_of(comparison) == [0, 0, 1, 1]
    assert len(panel.plot.lines) == 2
    for kind in ("violation", "energy", "work"):
        qtbot.mouseClick(panel.findChild(QPushButton, f"compare_{kind}"), Qt.MouseButton.LeftButton)
        assert panel.plot.kind == kind
        assert len(panel.plot.lines) == 2
    table.selectRow(0)
    assert panel.plot.chosen in (0, 1)
    for name in ("dark", "light"):
        theme.apply(name)
        assert len(panel.plot.lines) == 2

    path = tmp_path / "lab"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    qtbot.mouseClick(panel.export, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "lab.html" in panel.banner.text.text())
    assert "<html" in path.with_suffix(".html").read_text(encoding="utf-8")[:2000]

    body = panel.document.system.bodies[0]
    panel.document.set(body, mass=2.0 * body.mass)
    assert "changed" in panel.banner.text.text()
    panel.document.undo_stack.undo()
    assert not panel.banner.text.text()  # the compared model again
    panel.document.open_example("four_bar")
    assert panel.comparison is None
    assert panel.pages.currentWidget() is panel.empty


def test_a_change_while_methods_are_compared_is_told(qtbot, panel):
    prepare(qtbot, panel, "0.2", "0.01")
    qtbot.mouseClick(panel.choices.button, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(panel.compared):
        body = panel.document.system.bodies[0]
        panel.document.set(body, mass=2.0 * body.mass)
    assert "changed" in panel.banner.text.text()


def test_a_comparison_can_be_cancelled(qtbot, panel):
    prepare(qtbot, panel, "50", "0.0001")
    qtbot.mouseClick(panel.choices.button, Qt.MouseButton.LeftButton)
    assert panel.pages.currentWidget() is panel.waiting
    qtbot.mouseClick(panel.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.pages.currentWidget() is panel.choosing)
    assert panel.comparison is None
    assert not panel.banner.isVisible()


def test_failed_methods_come_last_and_have_no_line():
    pendulum = mb.examples.simple_pendulum()
    refused = mb.RungeKutta4()
    lab = mb.compare(pendulum, 0.1, integrators=[refused], steps=[0.05, 0.025], repeats=1, time_limit=1e-9)
    assert len(lab.failures()) == 2
    assert families_of(lab) == [-1, -1]


def test_pictures_show_the_finest_run():
    lab = mb.compare(mb.examples.simple_pendulum(), 0.1, integrators=[mb.RungeKutta4()], steps=[0.05, 0.01], repeats=1)
    (group,) = lab.families().values()
    t, norms = points(group, "violation")
    assert len(t) == len(norms) == 11
    cost, error = points(group, "work")
    assert len(cost) == len(error) == 2
    assert np.all(np.diff(error) < 0.0)  # from large steps to small ones


def test_strategies_are_in_words():
    assert in_words("RungeKutta4") == "Runge-Kutta 4"
    assert in_words("DormandPrince(rtol=1e-05)") == "Dormand-Prince (rtol=1e-05)"
    assert in_words("as described") == "as described"


@pytest.mark.parametrize(
    ("number", "words"),
    [(1e-4, "10⁻⁴"), (2e-4, "2·10⁻⁴"), (0.05, "0.05"), (0.5, "0.5"), (20.0, "20"), (1e3, "10³"), (5e12, "5·10¹²")],
)
def test_powers_of_ten_are_short(number, words):
    assert power_of_ten(number) == words


@pytest.mark.parametrize(("low", "high"), [(-4.2, -2.6), (-12.0, 3.0), (-3.1, -3.0)])
def test_names_of_ticks_have_room(qapp, low, high):
    axis = DecadeAxis("bottom")
    ((_, values),) = axis.logTickValues(low, high, 260.0, [])
    assert all(low <= value <= high for value in values)
    assert len(values) <= 260.0 / 52.0
