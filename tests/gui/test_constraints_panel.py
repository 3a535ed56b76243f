"""The constraints tab: freedoms in words, dependencies, free motions that swing with closed joints, plots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

import mbframe as mb
from gui.panels.constraints.history_plots import HistoryPlot
from gui.panels.constraints.tasks import ConstraintsFound, ConstraintsTask, WiggleTask
from gui.panels.constraints.wiggle import WigglePlayer
from gui.panels.constraints.words import details, verdict
from gui.solving.curves import Curve
from gui.solving.tasks import Model
from gui.widgets import theme
from mbframe.analysis.mobility.free_motions import FAR, QUARTER, WIDE, FreeSpace, in_words
from mbframe.equations.equations import Equations


def found_in(system: mb.System) -> ConstraintsFound:
    return ConstraintsTask(Model.of(system)).run(lambda *_: None)


def swing(system: mb.System, found: ConstraintsFound, row: int, slipping: bool) -> list[mb.State]:
    motion = (found.positions if slipping else found.velocities)[row]
    return WiggleTask(Model.of(system), found.state, motion, slipping).run(lambda *_: None)


def gap(system: mb.System, states: list[mb.State]) -> float:
    """The largest residual of the constraints of positions, in coordinates other than those of the computation."""
    eq = Equations(system, mb.EulerParameters() if system.dimension == 3 else mb.PlanarNatural())
    return max(float(np.abs(eq.violation(s.t, eq.coordinates(s))[0]).max()) for s in states)


@pytest.fixture
def panel(qtbot, document, solver):
    from gui.panels.constraints.panel import ConstraintsPanel

    panel = ConstraintsPanel(document, solver)
    qtbot.addWidget(panel)
    panel.resize(1100, 320)
    yield panel
    panel.player.forget()


def opened(qtbot, panel, name: str) -> ConstraintsFound:
    panel.document.open_example(name)
    with qtbot.waitSignal(panel.counted):
        panel.show()
    return panel.found


# --- free motions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "positions", "velocities"),
    [("rolling_disk", 5, 3), ("whipple_bicycle", 7, 3), ("four_bar", 1, 1), ("bricard", 1, 1), ("free_body", 6, 6)],
)
def test_freedoms_of_position_and_velocity(name, positions, velocities):
    found = found_in(getattr(mb.examples, name)())
    assert (len(found.positions), len(found.velocities)) == (positions, velocities)
    assert found.freedom.count == velocities
    assert found.nonholonomic == (positions > velocities)


@pytest.mark.parametrize("name", ["slider_crank", "bricard"])
def test_a_swing_keeps_joints_closed_and_is_seen_well(name):
    system = getattr(mb.examples, name)()
    found = found_in(system)
    states = swing(system, found, 0, slipping=False)
    assert len(states) == 2 * QUARTER + 1
    assert gap(system, states) < 1e-8
    size = FreeSpace(system).size
    ends = [states[0].motions, states[-1].motions]
    middle = states[QUARTER].motions
    far = [max(np.linalg.norm(end[b].position - middle[b].position) for b in middle) for end in ends]
    assert all(0.01 * size < way < 1.5 * FAR * size for way in far)


def test_a_swing_of_velocities_rolls_without_slip():
    system = mb.examples.rolling_disk()
    found = found_in(system)
    (rolling,) = [m for m in found.velocities if max(abs(v[0]) for v, _ in m.twists.values()) > 1e-3]
    states = swing(system, found, found.velocities.index(rolling), slipping=False)
    # The centre of a disk that rolls on and turns by an angle about its axis goes the radius times that angle.
    first, last = states[QUARTER].motions["disk"], states[-1].motions["disk"]
    way = np.linalg.norm(last.position - first.position)
    angle = np.arccos(0.5 * (np.trace(last.rotation.T @ first.rotation) - 1.0))
    velocity, turn = rolling.twists["disk"]
    assert way / angle == pytest.approx(np.linalg.norm(velocity) / np.linalg.norm(turn), rel=0.02)
    assert angle <= WIDE * 1.01


def test_positions_may_slip_where_velocities_may_not():
    system = mb.examples.rolling_disk()
    found = found_in(system)
    sideways = [k for k, m in enumerate(found.positions) if m.words == "disk moves along y"]
    states = swing(system, found, sideways[0], slipping=True)
    assert gap(system, states) < 1e-9
    ways = np.ptp([s.motions["disk"].position for s in states], axis=0)
    assert ways[1] > 0.01
    assert ways[[0, 2]] == pytest.approx(0.0, abs=1e-9)
    assert states[0].motions["disk"].rotation == pytest.approx(states[-1].motions["disk"].rotation, abs=1e-9)


def test_open_joints_are_closed_first():
    system = mb.examples.bricard()
    state = Equations(system).described()
    rod = state.motions["rod 3"]
    opened = replace(state, motions={**state.motions, "rod 3": replace(rod, position=rod.position + 0.1)})
    found = ConstraintsTask(Model.of(system), opened).run(lambda *_: None)
    assert found.closed
    assert "closed for this" in verdict(found)
    assert gap(system, [found.state]) < 1e-9


def test_motions_are_told_in_words():
    still = np.zeros(3)
    twists = {"a": (still, np.array([0.0, 0.0, 2.0])), "b": (np.array([0.0, 1.0, 0.0]), still), "c": (still, still)}
    assert in_words(twists, size=1.0) == "a turns about z, b moves along y"
    assert in_words(twists, size=10.0) == "a turns about z"  # b moves little
    assert in_words({"a": (still, np.array([0.0, -1.0, -1.0]))}, 1.0) == "a turns about (0, 0.71, 0.71)"


def test_sentences():
    found = found_in(mb.examples.bricard())
    assert verdict(found) == "The mechanism has 1 freedom. 1 of 30 equations of its joints follows from the others."
    text = details(found, "#123456")
    assert "hinge 6" in text
    assert "not unique" in text
    disk = found_in(mb.examples.rolling_disk())
    assert verdict(disk).startswith("5 freedoms of position, 3 of velocity.")
    assert "without slip" in details(disk, "#123456")
    singular = replace(found, freedom=replace(found.freedom, singular="nearby <more>"))
    assert "Nearby &lt;more&gt;." in details(singular, "#123456")


# --- the panel --------------------------------------------------------------------------------------------------------


def test_the_tab_counts_when_it_is_looked_at(qtbot, panel):
    found = opened(qtbot, panel, "bricard")
    assert panel.verdict.text() == verdict(found)
    assert panel.list.count() == 1
    assert not panel.level_row.isVisible()
    panel.details.linkActivated.emit("hinge 2")
    assert panel.document.selection is panel.document.system["hinge 2"]
    with qtbot.waitSignal(panel.counted):
        panel.document.remove([panel.document.system["hinge 2"]])
    assert panel.found.freedom.count == 5
    assert panel.list.count() == 5


def test_levels_are_apart_where_there_is_rolling(qtbot, panel):
    opened(qtbot, panel, "rolling_disk")
    assert panel.level_row.isVisible()
    assert panel.list.count() == 3
    qtbot.mouseClick(panel.findChild(QPushButton, "level_positions"), Qt.MouseButton.LeftButton)
    assert panel.slipping
    assert panel.list.count() == 5


def test_a_motion_swings_until_it_is_stopped(qtbot, panel):
    opened(qtbot, panel, "slider_crank")
    document = panel.document
    shown: list[mb.State] = []
    document.state_shown.connect(shown.append)
    with qtbot.waitSignal(panel.player.playing_changed):
        qtbot.mouseClick(panel.play, Qt.MouseButton.LeftButton)
    assert document.animation_owner is panel.player
    qtbot.waitUntil(lambda: len(shown) > 12)
    angles = {round(float(s.motions["crank"].rotation[0, 1]), 6) for s in shown}
    assert len(angles) > 3
    assert panel.play.text() == "Stop"
    qtbot.mouseClick(panel.play, Qt.MouseButton.LeftButton)
    assert document.animation_owner is None
    assert shown[-1] is panel.player.rest_state
    assert panel.play.text() == "Wiggle"


def test_another_animation_ends_the_swing(qtbot, panel):
    found = opened(qtbot, panel, "slider_crank")
    panel.player.play([found.state, found.state], found.state)
    panel.document.animation_owner = other = object()
    assert not panel.player.playing
    assert panel.document.animation_owner is other
    panel.document.animation_owner = None


def test_the_swing_goes_there_and_back(document):
    player = WigglePlayer(document)
    player.states = list(range(25))
    assert [player.place(phase) for phase in (0.0, 0.25, 0.5, 0.75)] == [0, 12, 24, 12]


def test_violation_and_energy_of_the_run_are_drawn(qtbot, panel):
    opened(qtbot, panel, "four_bar")  # with its stored result
    result = panel.document.runs.current.result
    qtbot.waitUntil(lambda: panel.violation.curve is not None and panel.energy.curve is not None)
    assert len(panel.violation.curve.t) == len(result)
    assert panel.energy.curve.values == pytest.approx(result.quantity("energy.total").values)
    for name in ("dark", "light"):
        theme.apply(name)
    panel.document.new()
    assert panel.violation.curve is None
    qtbot.waitUntil(lambda: panel.verdict.text().startswith("There are no bodies yet."))


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_curve_does_not_lie_under_the_names_of_the_axes(qtbot, logarithmic):
    plot = HistoryPlot("plot", "words", logarithmic=logarithmic)
    qtbot.addWidget(plot)
    plot.resize(320, 160)
    plot.show()
    qtbot.waitExposed(plot)
    t = np.linspace(0.0, 5.0, 50)
    plot.show_curve(Curve(t, 10.0 ** (t - 3.0), "J"))
    (left, right), (bottom, top) = plot.getPlotItem().viewRange()
    low, high = (-3.0, 2.0) if logarithmic else (1e-3, 1e2)
    assert left <= 0.0 < 5.0 <= right < 7.0
    pixels = plot.getPlotItem().vb.height() / (top - bottom)
    words = plot._words["left"].boundingRect().height()
    assert (low - bottom) * pixels >= words
    assert (top - high) * pixels >= words
