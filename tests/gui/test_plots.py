"""Plots: quantities are found, read without holding up the window, overlaid, tied to the time, and exported."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPushButton, QToolButton

import mbframe as mb
from gui.base.quantity_names import in_words, shortened, split
from gui.base.units import DisplayUnits
from gui.document.document import Document
from gui.document.runs import Run, RunSettings
from gui.panels.plots.export import table
from gui.panels.plots.panel import PlotsPanel
from gui.panels.plots.quantity_list import QuantityList
from gui.solving.curves import Curves
from gui.widgets import theme


def pendulum(mass=1.0):
    system = mb.System("pendulum", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=mass, inertia=0.1, position=(0.5, 0.0)))
    system.add(mb.RevoluteJoint("pin", system.ground, bar, at=(0, 0)))
    return system


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two results of a pendulum, in files."""
    folder = tmp_path_factory.mktemp("results")
    paths = []
    for name, instants in (("one", 101), ("two", 51)):
        path = folder / f"{name}.h5"
        mb.simulate(pendulum(), 1.0, t_eval=np.linspace(0, 1, instants), output=path)
        paths.append(path)
    return paths


@pytest.fixture
def panel(qtbot, results):
    def make(solver=None, runs=1):
        document = Document(pendulum())
        for k, path in enumerate(results[:runs]):
            run = Run(f"Run {k + 1}", RunSettings(), document.model_text(), mb.load_result(path), path=path)
            document.runs.add(run)
        shown = PlotsPanel(document, solver)
        qtbot.addWidget(shown)
        shown.resize(900, 400)
        shown.show()
        with qtbot.waitActive(shown):
            shown.activateWindow()
        qtbot.waitUntil(lambda: not shown._redraw.isActive())
        return shown

    return make


def settled(qtbot, shown):
    qtbot.waitUntil(lambda: not shown.curves.busy and not shown._redraw.isActive())
    shown.refresh()


# ---- Names ----------------------------------------------------------------------------------------------------------


def test_names_are_split_at_the_longest_element():
    elements = ["bar", "bar.2", "rear wheel"]
    assert split("bar.2.position.x", elements) == ("bar.2", "position", "x")
    assert split("bar.reaction.force.x", elements) == ("bar", "reaction.force", "x")
    assert split("energy.total", elements) == ("energy", "total", "")
    assert split("bar.quaternion.0", elements) == ("bar", "quaternion", "0")
    assert in_words("rear wheel.angular_velocity.z", elements) == "rear wheel angular velocity z"


def test_what_names_share_is_told_once():
    assert shortened(["crank pin reaction force magnitude", "slide reaction force magnitude"]) == (
        "reaction force magnitude",
        ["crank pin", "slide"],
    )
    assert shortened(["box position x", "box position y"]) == ("box position", ["x", "y"])
    assert shortened(["bar", "bar 2"]) == ("", ["bar", "bar 2"])
    assert shortened(["energy total"]) == ("", ["energy total"])
    assert shortened([]) == ("", [])


def test_the_search_needs_every_word(qtbot):
    names = QuantityList()
    qtbot.addWidget(names)
    names.show()
    system = mb.examples.whipple_bicycle()
    from mbframe.quantities import units_of

    names.show_names(units_of(system), {e.name: "body" for e in system}, [])
    qtbot.keyClicks(names.search, "fork vel z")
    qtbot.waitUntil(lambda: len(names.visible_names()) < 10)
    assert names.visible_names() == ["fork.velocity.z", "fork.angular_velocity.z"]
    names.search.clear()
    qtbot.keyClicks(names.search, "no such thing")
    qtbot.waitUntil(lambda: names.visible_names() == [])
    assert names.nothing.isVisible()
    chosen = []
    names.toggled.connect(lambda name, on: chosen.append((name, on)))
    names.search.clear()
    qtbot.keyClicks(names.search, "energy kin")
    qtbot.keyClick(names.search, Qt.Key.Key_Return)
    assert chosen == [("energy.kinetic", True)]
    assert not names.nothing.isVisible()


# ---- Curves ---------------------------------------------------------------------------------------------------------


def test_what_is_stored_is_there_at_once(panel):
    shown = panel()
    run = shown.document.runs[0]
    curve = shown.curves.get(run, "bar.position.x")
    assert np.array_equal(curve.values, run.result.position("bar")[:, 0])
    assert curve.unit == "m"


@pytest.mark.parametrize("where", ["thread", "process"])
def test_what_must_be_computed_comes_later(panel, qtbot, where, request):
    solver = request.getfixturevalue("solver") if where == "process" else None
    shown = panel(solver)
    run = shown.document.runs[0]
    assert shown.curves.get(run, "pin.reaction.force.y") is None
    qtbot.waitUntil(lambda: not shown.curves.busy and shown.curves.get(run, "pin.reaction.force.y") is not None)
    expected = mb.load_result(run.path).reaction("pin").force[:, 1]
    assert np.allclose(shown.curves.get(run, "pin.reaction.force.y").values, expected, rtol=1e-12)


def test_reading_quantities_does_not_hold_up_the_window(panel, qtbot, solver, monkeypatch):
    """What follows from the equations of motion is computed in another process, while the event loop turns."""
    shown = panel(solver)
    asked, here, beats = [], [], [0]
    submit, of = solver.submit, mb.Result.quantity
    monkeypatch.setattr(solver, "submit", lambda task: asked.extend(task.names) or submit(task))
    monkeypatch.setattr(mb.Result, "quantity", lambda result, name: here.append(name) or of(result, name))

    def beat():
        beats[0] += 1

    heart = QTimer()
    heart.timeout.connect(beat)
    heart.start(0)
    for name in ("pin.reaction.force.x", "pin.reaction.torque", "energy.total", "bar.acceleration.x"):
        shown.add(name)
    before = beats[0]
    settled(qtbot, shown)
    heart.stop()
    assert [len(plot.traces) for plot in shown.plots] == [2, 1, 1, 1, 1]
    assert set(asked) >= {"pin.reaction.force.x", "energy.total", "bar.acceleration.x"}
    assert not set(asked) & set(here)
    assert beats[0] > before


def test_a_quantity_that_another_model_lacks_is_said(panel):
    shown = panel()
    curve = shown.curves.get(shown.document.runs[0], "wheel.position.x")
    assert "no quantity" in curve.problem
    shown.add("wheel.position.x")
    assert shown.document.messages[-1].level == "warning"


def test_without_runs_the_names_come_from_the_model(qtbot):
    curves = Curves(Document(pendulum()), None)
    assert curves.units(None)["bar.position.x"] == "m"


def test_states_that_count_turns_are_no_quantities(qtbot):
    """The list had one called "driver, equation 8, angle 0"."""
    system = pendulum()
    system.add(mb.Driver("motor", system["pin"], angle="2*t"))
    result = mb.simulate(system, 0.1, t_eval=np.linspace(0.0, 0.1, 3))
    assert any(", equation " in name for name, _ in result.states.columns["z"])
    document = Document(system)
    document.runs.add(Run("Run 1", result=result))
    names = Curves(document, None).units(document.runs[0])
    assert "motor.reaction.torque" in names
    assert not [name for name in names if "equation" in name]


# ---- Plots ----------------------------------------------------------------------------------------------------------


def test_there_is_something_to_see_at_first(panel):
    shown = panel()
    assert shown.names == ["bar.position.x", "bar.position.y"]
    assert len(shown.plots) == 1


def test_one_plot_for_each_unit(panel, qtbot):
    shown = panel()
    shown.add("bar.velocity.x")
    shown.add("bar.velocity.y")
    shown.add("bar.angle")
    assert [plot.unit for plot in shown.plots] == ["m", "m/s", "rad"]
    shown.remove("bar.angle")
    assert [plot.unit for plot in shown.plots] == ["m", "m/s"]
    qtbot.mouseClick(shown.plots[0].close_button, Qt.MouseButton.LeftButton)
    assert shown.names == ["bar.velocity.x", "bar.velocity.y"]
    shown.add("bar.velocity.magnitude", separate=True)
    assert [plot.unit for plot in shown.plots] == ["m/s", "m/s"]


def test_marks_in_the_list_and_plots_agree(panel, qtbot):
    shown = panel()
    leaf = shown.list._leaves["bar.velocity.x"]
    leaf.setCheckState(0, Qt.CheckState.Checked)
    assert "bar.velocity.x" in shown.names
    shown.remove("bar.velocity.x")
    assert leaf.checkState(0) == Qt.CheckState.Unchecked


def test_runs_are_overlaid_and_stale_ones_dashed(panel, qtbot):
    shown = panel(runs=2)
    shown.clear()
    shown.add("bar.position.x")
    (plot,) = shown.plots
    assert [trace.run.name for trace in plot.traces] == ["Run 1", "Run 2"]
    assert [trace.color for trace in plot.traces] == [run.color for run in shown.document.runs]
    shown.document.set(shown.document.system["bar"], mass=3.0)
    shown.refresh()
    styles = {trace.item.opts["pen"].style() for trace in plot.traces}
    assert styles == {Qt.PenStyle.DashLine}
    assert "older&nbsp;model" in plot.title.text()
    shown.document.undo()
    shown.document.runs[0].visible = False
    shown.document.runs.report_change(shown.document.runs[0])
    shown.refresh()
    assert [trace.run.name for trace in plot.traces] == ["Run 2"]


def test_runs_of_several_quantities_differ_by_their_lines(panel):
    """Colours tell the quantities apart there."""
    shown = panel(runs=2)
    shown.clear()
    for name in ("bar.position.x", "bar.position.y"):
        shown.add(name)
    (plot,) = shown.plots
    looks = {(trace.color, trace.item.opts["pen"].style()): (trace.name, trace.run.name) for trace in plot.traces}
    assert len(looks) == len(plot.traces) == 4
    assert "Run&nbsp;1" in plot.title.text()
    assert "Run&nbsp;2" in plot.title.text()


def test_values_at_the_cursor_are_never_cut(panel, qtbot):
    shown = panel()
    shown.clear()
    for component in ("x", "y"):
        shown.add(f"bar.position.{component}")
    (plot,) = shown.plots
    plot.traces[1].values = np.full_like(plot.traces[1].values, -1.3878e-17)
    plot.set_time(0.1)
    assert ", 0 m" in plot.readout.text()
    plot.traces[1].__dict__.pop("largest", None)
    plot.traces[1].values = np.full_like(plot.traces[1].values, -2.0283e-3)
    for width in (400, 260, 220, 180):
        plot.readout.setFixedWidth(width)
        plot._show_values(0.1)
        assert plot.readout.shown == [" ".join(plot.readout.text().split())], width  # nothing cut; spaces may be one
        assert "-2" not in plot.readout.text() or "e-" in plot.readout.text() or "-0.002" in plot.readout.text()


def test_display_units(panel):
    shown = panel()
    before = shown.plots[0].traces[0].values
    shown.document.units = DisplayUnits("mm/deg")
    shown.refresh()
    assert np.allclose(shown.plots[0].traces[0].values, 1000.0 * before)
    assert shown.plots[0].shown_unit == "mm"


def test_the_cursor_follows_the_time_and_sets_it(panel, qtbot):
    shown = panel()
    shown.document.set_time(0.4)
    qtbot.waitUntil(lambda: shown.plots[0].time_line.value() == 0.4)
    told = []
    shown.time_requested.connect(told.append)
    plot = shown.plots[0]
    plot.time_line.setValue(0.7)
    plot.time_line.sigDragged.emit(plot.time_line)
    assert shown.document.time == 0.7
    assert told == [0.7]
    plot.time_chosen.emit(99.0)
    assert shown.document.time == 1.0, "not beyond the run"


def test_a_click_in_the_plot_goes_there(panel, qtbot):
    shown = panel()
    qtbot.wait(50)
    plot = shown.plots[0]
    view = plot.graph.getPlotItem().vb
    place = view.mapViewToScene(QPointF(0.5, float(np.mean(view.viewRange()[1]))))
    qtbot.mouseClick(plot.graph.viewport(), Qt.MouseButton.LeftButton, pos=plot.graph.mapFromScene(place))
    qtbot.waitUntil(lambda: shown.document.time == pytest.approx(0.5, abs=0.02))


def test_the_readout_has_the_values_at_the_cursor(panel):
    shown = panel()
    plot = shown.plots[0]
    plot.set_time(0.5)
    x, y = (float(np.interp(0.5, trace.t, trace.values)) for trace in plot.traces)
    assert plot.readout.text() == f"t = 0.5 s:  {x:.5g}, {y:.5g} m"


def test_a_button_finds_the_largest_value(panel, qtbot):
    """Who looks for the largest bearing force reads it, without hunting for the peak with the cursor."""
    shown = panel()
    shown.clear()
    shown.add("pin.reaction.force.magnitude")
    shown.add("pin.reaction.force.x")
    (plot,) = shown.plots
    qtbot.waitUntil(lambda: len(plot.traces) == 2)
    trace = plot.traces[0]
    peak = int(np.argmax(trace.values))
    plot.peak_button.click()
    assert shown.document.time == trace.t[peak]
    told = shown.document.messages[-1].text
    assert told.startswith("Largest: pin reaction force magnitude = ")
    assert f"= {trace.values[peak]:.5g} N at t = {trace.t[peak]:.5g} s." in told


def test_long_legends_do_not_cut_plots(panel, qtbot):
    """Their column scrolls instead: a legend of three lines left the graph 45 pixels, without its time axis."""
    shown = panel()
    shown.resize(620, 260)
    for component in ("x", "y", "magnitude"):
        shown.add(f"pin.reaction.force.{component}")
    qtbot.waitUntil(lambda: not shown._redraw.isActive() and len(shown.plots[-1].traces) == 3)
    qtbot.wait(50)
    for plot in shown.plots:
        assert plot.title.height() >= plot.title.heightForWidth(plot.title.width())
        assert plot.graph.height() >= 90
        assert plot.graph.geometry().bottom() <= plot.height()


def test_a_legend_tells_once_what_is_computed_and_what_its_curves_share(panel, qtbot):
    """Four forces took seven lines of the panel, and left the graph a fifth of it."""
    shown = panel()
    shown.clear()
    for component in ("x", "y", "magnitude"):
        shown.add(f"pin.reaction.force.{component}")
    (plot,) = shown.plots
    assert plot.legend().count("pin&nbsp;reaction&nbsp;force") == 1
    assert plot.legend().count("computing…") == 1
    assert "x, y, magnitude: computing…" in plot.legend()
    settled(qtbot, shown)
    assert plot.legend().count("pin&nbsp;reaction&nbsp;force") == 1
    assert plot.legend().count("href") == 3
    assert "computing" not in plot.legend()


def test_a_logarithmic_axis_leaves_out_what_is_not_positive(panel, qtbot):
    shown = panel()
    plot = shown.plots[0]
    qtbot.mouseClick(plot.log_button, Qt.MouseButton.LeftButton)
    assert plot.log
    below = plot.traces[1].values <= 0.0
    assert np.any(below)
    drawn = plot.traces[1].item.yData
    assert np.all(np.isnan(drawn[below]))
    qtbot.mouseClick(plot.log_button, Qt.MouseButton.LeftButton)
    assert np.array_equal(plot.traces[1].item.yData, plot.traces[1].values)


def test_long_curves_are_thinned_when_drawn(panel, qtbot):
    shown = panel()
    item = shown.plots[0].traces[0].item
    t = np.linspace(0.0, 1.0, 400_000)
    item.setData(t, np.sin(300.0 * t))
    qtbot.wait(50)
    drawn, _ = item.getData()
    assert len(drawn) < 20_000


def test_an_empty_panel_says_what_it_is_for(qtbot):
    document = Document(pendulum())
    shown = PlotsPanel(document)
    qtbot.addWidget(shown)
    shown.show()
    shown.refresh()
    assert "Run (F5)" in shown.empty.text()
    assert not shown.findChild(QPushButton, "plots_fill").isVisible(), "there is one button that runs: the toolbar's"


def test_the_button_plots_the_energy(panel, qtbot):
    shown = panel()
    shown.clear()
    qtbot.mouseClick(shown.findChild(QPushButton, "plots_fill"), Qt.MouseButton.LeftButton)
    assert shown.names == ["energy.kinetic", "energy.potential", "energy.total"]
    settled(qtbot, shown)
    kinetic, potential, total = (trace.values for trace in shown.plots[0].traces)
    assert np.allclose(kinetic + potential, total)


def test_themes(panel):
    for name in ("dark", "light"):
        theme.apply(name)
        shown = panel()
        assert shown.plots[0].graph.backgroundBrush().color().name() == theme.current().surface


def test_another_model_begins_without_plots(panel, qtbot):
    shown = panel()
    shown.document.new()
    shown.refresh()
    assert shown.plots == []


def test_a_run_that_grows_is_drawn_further(panel, qtbot, results):
    shown = panel()
    run = shown.document.runs[0]
    shown.document.runs.remove(run)
    short = mb.load_result(results[1])
    growing = Run("growing", RunSettings(), "", short, computing=True)
    shown.document.runs.add(growing)
    shown.refresh()
    assert len(shown.plots[0].traces[0].t) == 51
    growing.result = mb.load_result(results[0])
    shown.document.runs.report_change(growing)
    shown.refresh()
    assert len(shown.plots[0].traces[0].t) == 101


# ---- Export ---------------------------------------------------------------------------------------------------------


def test_csv_has_all_digits(panel, tmp_path):
    shown = panel()
    shown.save(shown.plots[0], tmp_path / "plot.csv")
    rows = list(csv.reader((tmp_path / "plot.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["t [s]", "bar.position.x [m]", "bar.position.y [m]"]
    values = np.array(rows[1:], float)
    run = shown.document.runs[0]
    assert np.array_equal(values[:, 1:], run.result.position("bar"))
    assert "saved" in shown.document.messages[-1].text


def test_csv_of_runs_with_other_instants(panel):
    shown = panel(runs=2)
    shown.clear()
    shown.add("bar.position.x")
    rows = list(csv.reader(io.StringIO(table(shown.plots[0]))))
    assert rows[0] == ["Run 1: t [s]", "Run 1: bar.position.x [m]", "Run 2: t [s]", "Run 2: bar.position.x [m]"]
    assert len(rows) == 102
    assert rows[-1][2:] == ["", ""]


def test_pictures_and_drawings(panel, tmp_path):
    shown = panel()
    shown.save(shown.plots[0], tmp_path / "plot.png")
    image = QImage(str(tmp_path / "plot.png"))
    assert (image.width(), image.height()) == (2 * shown.plots[0].width(), 2 * shown.plots[0].height())
    colors = {image.pixelColor(x, y).name() for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}
    assert theme.current().series[0] in colors, "the curve is there"
    shown.save(shown.plots[0], tmp_path / "plot.svg")
    root = ElementTree.parse(tmp_path / "plot.svg").getroot()
    assert root.tag.endswith("svg")
    assert any(node.tag.endswith(("polyline", "path")) for node in root.iter())


def test_a_place_that_cannot_be_written_is_said(panel, tmp_path):
    shown = panel()
    shown.save(shown.plots[0], tmp_path / "no such folder" / "plot.png")
    assert shown.document.messages[-1].level == "error"
    assert "folder" in shown.document.messages[-1].text
    shown.save(shown.plots[0], tmp_path / "plot.xyz")
    assert ".png" in shown.document.messages[-1].text


def test_closing_while_something_is_computed_does_no_harm(panel, qtbot, solver):
    shown = panel(solver)
    shown.add("pin.reaction.force.x")
    qtbot.wait(20)
    shown.close()
    shown.deleteLater()
    qtbot.wait(500)


def test_buttons_have_names_and_tooltips(panel):
    shown = panel()
    for button in shown.plots[0].findChildren(QToolButton):
        assert button.toolTip(), button.objectName()
