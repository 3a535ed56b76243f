"""The pages of the stability tab about motions: a periodic one with its multipliers, and branches of solutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QSplitter,
    QWidget,
)

import mbframe as mb

from ...base.names import one_line
from ...document.document import Document
from ...fields.numbers import NumberEdit
from ...solving.process import Failure
from ...solving.tasks import Model
from ...widgets.arranging import stack
from ...widgets.banner import Banner
from ...widgets.labels import ElidedLabel
from .branch_plot import KINDS, BranchPlot
from .circle import MultiplierPlane, words_of
from .motion_tasks import (
    PERIODIC,
    BranchFound,
    DisturbedTask,
    FollowTask,
    Orbit,
    PeriodicTask,
    Point,
)
from .range_bar import RangeBar
from .states_player import StatesPlayer
from .tasks import EQUILIBRIUM, SHOWN, STEADY, About, Subject

STABLE: Final = {
    "asymptotic": "Stable: every disturbance dies out.",
    "marginal": "Marginal: some disturbances neither grow nor die out.",
    "unstable": "Unstable: a disturbance grows.",
}
PERIOD: Final = "period"
AWAY: Final = "away"


class Waiting(QWidget):
    """What is computed, how far it is, and a button that ends it."""

    cancelled = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.bar = QProgressBar(self)
        self.bar.setObjectName(f"{name}_progress")
        self.bar.setMaximumHeight(18)
        self.cancel = QPushButton("Cancel", self)
        self.cancel.setObjectName(f"{name}_cancel")
        self.cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel)
        self.hide()

    def begin(self, words: str) -> None:
        """Something of unknown length has begun."""
        self.bar.setRange(0, 0)
        self.bar.setFormat(words)
        self.show()

    def show_progress(self, fraction: float, words: str) -> None:
        """So far it is."""
        self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * fraction))
        self.bar.setFormat(words)


class MotionPage(QWidget):
    """A page that has the solver compute something, one thing at a time, and plays what came of it."""

    def __init__(self, document: Document, solver: Any, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.document, self.solver = document, solver
        self.player = StatesPlayer(document, self)
        self.banner = Banner(f"{name}_banner")
        self.waiting = Waiting(name)
        self.waiting.cancelled.connect(self.cancel)
        self._job: Any = None
        self._then: Callable[[Any], None] = lambda found: None
        document.replaced.connect(self._renew)

    @property
    def busy(self) -> bool:
        """Whether something is computed."""
        return self._job is not None

    def compute(self, task: Any, words: str, then: Callable[[Any], None]) -> None:
        """Have a task computed; what was under way before is given up."""
        self.cancel()
        self._then = then
        job = self._job = self.solver.submit(task)
        job.progressed.connect(self._progressed)
        job.finished.connect(self._finished)
        job.failed.connect(self._failed)
        job.cancelled.connect(self._cancelled)
        self.banner.say("")
        self.waiting.begin(words)
        self.show_busy()

    def cancel(self) -> None:
        """Give up what is under way."""
        if self._job is not None:
            self._job.cancel()

    def subject(self, variation: Any = None, state: Any = None) -> Subject:
        """The document's model on its way to the solver."""
        return Subject(Model.of(self.document.system), About(SHOWN if state else "described", state), variation)

    def shown_state(self) -> Any:
        """The stored state nearest to the document's time; None without a run."""
        run = self.document.runs.current
        return None if run is None else run.state_near(self.document.time)

    def show_busy(self) -> None:
        """Show whether something is under way."""
        self.waiting.setVisible(self.busy)

    def forget(self) -> None:
        """There is another model: nothing is known."""

    def _renew(self) -> None:
        self.cancel()
        self._job = None
        self.player.forget()
        self.banner.say("")
        self.forget()
        self.show_busy()

    def _progressed(self, fraction: float, info: Any) -> None:
        words = f"{info[0]} solutions, at {info[1]:.4g}" if isinstance(info, tuple) else "%p %"
        self.waiting.show_progress(fraction, words)

    def _finished(self, found: Any) -> None:
        if self.sender() is self._job:
            self._job = None
            self.show_busy()
            self._then(found)

    def _failed(self, failure: Failure) -> None:
        if self.sender() is self._job:
            self._job = None
            self.show_busy()
            text = failure.message.strip()
            self.banner.say(f"{text[:1].upper()}{text[1:]}", "error")

    def _cancelled(self) -> None:
        if self.sender() is self._job:
            self._job = None
            self.show_busy()


class PeriodicPage(MotionPage):
    """A periodic motion near a state, its multipliers, and what a disturbance of each kind becomes."""

    found = Signal(object)
    """An `Orbit`."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(document, solver, "periodic_page", parent)
        self.orbit: Orbit | None = None
        self._subject: Subject | None = None
        self.near = QComboBox()
        self.near.setObjectName("periodic_near")
        self.near.setToolTip("Where to look for it")
        self.near.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.near.setMinimumContentsLength(10)
        self.near.addItem("near the described state", "described")
        self.near.addItem("near the state at the current time", SHOWN)
        self.period = NumberEdit("s", document.units)
        self.period.setObjectName("periodic_period")
        self.period.setPlaceholderText("free")
        self.period.setFixedWidth(80)
        self.period.setToolTip("Period of the drive or the loads; leave it out for a free motion")
        self.button = QPushButton("Find periodic motion")
        self.button.setObjectName("periodic_find")
        self.button.setProperty("primary", True)
        self.button.clicked.connect(self.look_for_motion)
        self.sentence = ElidedLabel()
        self.sentence.setObjectName("periodic_sentence")
        self.play = QPushButton("Play it")
        self.play.setObjectName("periodic_play")
        self.play.clicked.connect(self.play_motion)
        self.plane = MultiplierPlane()
        self.list = QListWidget()
        self.list.setObjectName("multiplier_list")
        self.list.setUniformItemSizes(True)
        self.plane.chosen.connect(self.choose)
        self.list.currentRowChanged.connect(self._row_changed)
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 3)
        row.setSpacing(6)
        for widget in (self.button, self.near, _muted("Period, s"), self.period):
            row.addWidget(widget)
        row.setStretchFactor(self.near, 1)
        row.addWidget(self.play)
        below = QHBoxLayout()
        below.setContentsMargins(8, 0, 8, 4)
        below.addWidget(self.sentence, 1)
        below.addWidget(self.waiting, 1)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.plane)
        splitter.addWidget(self.list)
        splitter.setStretchFactor(0, 1)
        splitter.setStretchFactor(1, 1)
        splitter.setChildrenCollapsible(False)
        self.plane.setMinimumSize(120, 60)
        self.list.setMinimumSize(120, 60)
        splitter.setSizes([300, 420])
        stack(self, row, self.banner, splitter, below, growing=splitter)
        self.show_busy()

    def forget(self) -> None:
        self.orbit = None
        self.plane.show_multipliers(())
        self.list.clear()

    def show_busy(self) -> None:
        super().show_busy()
        self.button.setEnabled(not self.busy and bool(self.document.system.bodies))
        self.sentence.setVisible(not self.busy)
        self.play.setEnabled(self.orbit is not None)
        if self.orbit is None:
            self.sentence.setText("A motion that repeats itself, and what becomes of its disturbances in a period.")

    def look_for_motion(self) -> None:
        """Look for one."""
        try:
            period = self.period.read()
            if period is not None and not period > 0.0:
                raise ValueError("the period must be above 0")
            state = self.shown_state() if self.near.currentData() == SHOWN else None
            self._subject = self.subject(state=state)
        except (ValueError, mb.ModelError) as error:
            self.banner.say(str(error), "error")
            return
        self.compute(PeriodicTask(self._subject, period), "Looking for a periodic motion…", self._show)

    def _show(self, orbit: Orbit) -> None:
        self.orbit = orbit
        self.plane.show_multipliers(orbit.multipliers)
        self.list.blockSignals(True)
        self.list.clear()
        for one in orbit.multipliers:
            item = QListWidgetItem(words_of(one), self.list)
            item.setToolTip(words_of(one))
        self.list.blockSignals(False)
        self.sentence.setText(f"Period {orbit.point.period:.6g} s. {STABLE[orbit.point.stability]}")
        if orbit.left_out:
            self.banner.say(f"Without {', '.join(orbit.left_out)}, zero at the beginning.", "info")
        self.show_busy()
        self.play_motion()
        self.found.emit(orbit)

    def play_motion(self) -> None:
        """Play the motion itself."""
        if self.orbit is not None:
            self.plane.select(-1)
            self.player.show_states(self.orbit.point.states, self.orbit.point.period)

    def _row_changed(self, row: int) -> None:
        if row >= 0 and row != self.plane.selected:
            self.choose(row)

    def choose(self, number: int) -> None:
        """Show what becomes of a disturbance: it grows or dies out over three periods."""
        if self.orbit is None or self._subject is None:
            return
        self.plane.select(number)
        self.list.blockSignals(True)
        self.list.setCurrentRow(number)
        self.list.blockSignals(False)
        self.compute(DisturbedTask(self._subject, self.orbit, number), "Disturbing it…", self._show_disturbed)

    def _show_disturbed(self, point: Point) -> None:
        self.player.show_states(point.states, point.period)


class FollowPage(MotionPage):
    """Follows equilibria, steady motions or periodic motions over a number of the model: a bifurcation diagram."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(document, solver, "follow_page", parent)
        self.branches: list[BranchFound] = []
        self.orbit: Orbit | None = None
        self._task: FollowTask | None = None
        self.start = QComboBox()
        self.start.setObjectName("follow_start")
        self.start.setToolTip("What is followed")
        self.start.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.start.setMinimumContentsLength(9)
        for kind, words in ((EQUILIBRIUM, "the equilibrium"), (STEADY, "the steady motion")):
            self.start.addItem(words, kind)
        self.range = RangeBar(document, "follow")
        self.button = QPushButton("Follow")
        self.button.setObjectName("follow_button")
        self.button.setProperty("primary", True)
        self.button.clicked.connect(self.follow)
        self.cycles = QPushButton("Limit cycles")
        self.cycles.setObjectName("follow_cycles")
        self.cycles.setToolTip("Follow the limit cycles that begin at the chosen Hopf point")
        self.cycles.clicked.connect(self.switch)
        self.shown = QComboBox()
        self.shown.setObjectName("follow_shown")
        self.shown.setToolTip("What the diagram shows of each solution; of a motion its least and largest value")
        self.shown.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.shown.setMinimumContentsLength(9)
        self.shown.activated.connect(lambda _: self._draw())
        self.plot = BranchPlot()
        self.plot.setMinimumSize(160, 60)
        self.plot.point_chosen.connect(self._play_point)
        self.plot.mark_chosen.connect(self._choose_mark)
        self.words = ElidedLabel()
        self.words.setObjectName("follow_words")
        self.words.setProperty("role", "muted")
        self._hopf = (-1, -1)
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 3)
        row.setSpacing(6)
        for widget in (self.button, self.start, _muted("over")):
            row.addWidget(widget)
        row.addWidget(self.range, 1)
        below = QHBoxLayout()
        below.setContentsMargins(8, 0, 8, 4)
        below.setSpacing(6)
        below.addWidget(_muted("Shows"))
        below.addWidget(self.shown)
        below.addWidget(self.words, 1)
        below.addWidget(self.waiting, 1)
        below.addWidget(self.cycles)
        stack(self, row, self.banner, self.plot, below, growing=self.plot)
        document.structure_changed.connect(self._list_shown)
        self._list_shown()
        self.show_busy()

    def forget(self) -> None:
        self.branches, self.orbit, self._task, self._hopf = [], None, None, (-1, -1)
        if (place := self.start.findData(PERIODIC)) >= 0:
            self.start.removeItem(place)
        self.start.setCurrentIndex(0)
        self._list_shown()
        self._draw()

    def show_busy(self) -> None:
        super().show_busy()
        self.button.setEnabled(not self.busy and self.range.variation is not None)
        self.words.setVisible(not self.busy)
        self.cycles.setEnabled(not self.busy and self._hopf[0] == 0)
        if not self.branches:
            self.words.setText("Click the branch to see a solution, drag along it to see them change.")

    def take_orbit(self, orbit: Orbit) -> None:
        """A periodic motion was found: it can be followed."""
        self.orbit = orbit
        if self.start.findData(PERIODIC) < 0:
            self.start.addItem("the periodic motion", PERIODIC)
        self.start.setCurrentIndex(self.start.findData(PERIODIC))

    # --- computing ----------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Follow the chosen kind of solution over the range."""
        variation = self.range.variation
        if variation is None:
            return
        start, drive = self.start.currentData(), None
        if start == PERIODIC and self.orbit is not None:
            drive = self.orbit.drive
        try:
            subject = self.subject(variation)
        except mb.ModelError as error:
            self.banner.say(str(error), "error")
            return
        interval = (self.range.low, self.range.high)
        self._task = FollowTask(
            subject, start, self.range.value, interval, drive, self.orbit if start == PERIODIC else None
        )
        self._hopf = (-1, -1)
        self.compute(self._task, "Looking for the first solution…", self._show)

    def switch(self) -> None:
        """Follow the limit cycles that begin at a Hopf point."""
        if self._task is not None and self._hopf[0] == 0:
            task = replace(self._task, switch=self._hopf[1])
            self.compute(task, "Following the limit cycles…", self._show_more)

    def _show(self, found: BranchFound) -> None:
        self.branches = [found]
        self._tell(found)
        self._draw()

    def _show_more(self, found: BranchFound) -> None:
        self.branches = [*self.branches[:1], found]
        self._tell(found)
        self._draw()

    def _tell(self, found: BranchFound) -> None:
        marks = [f"{KINDS.get(m.kind, (m.kind,))[0]} at {self.range.factor * m.point.value:.5g}" for m in found.marks]
        listed = ", ".join(marks) if marks else "no bifurcation in this range"
        self.words.setText(f"{len(found.points)} solutions: {listed}.")
        self.words.setToolTip("\n".join([m.said for m in found.marks] + [f"Ends: {end}" for end in found.ends]))

    # --- showing ------------------------------------------------------------------------------------------------------

    def _list_shown(self) -> None:
        before = self.shown.currentData()
        self.shown.clear()
        self.shown.addItem("distance from the first", AWAY)
        axes = "xy" if self.document.system.dimension == 2 else "xyz"
        for body in self.document.system.bodies:
            for k, axis in enumerate(axes):
                self.shown.addItem(f"{one_line(body.name)} {axis}", (body.name, k))
        self.shown.addItem("period", PERIOD)
        place = next((k for k in range(self.shown.count()) if self.shown.itemData(k) == before), 0)
        self.shown.setCurrentIndex(place)

    def _draw(self) -> None:
        chosen = self.shown.currentData() or AWAY
        words = {AWAY: "distance (m, rad)", PERIOD: "period (s)"}.get(chosen if isinstance(chosen, str) else "", "")
        factor = 1.0
        if not words:
            unit = self.document.units.label("m")
            words, factor = f"{self.shown.currentText()} ({unit})", self.document.units.factor("m")
        first = self.branches[0].points[0].states[0] if self.branches else None

        def measure(point: Point) -> tuple[float, float]:
            values = [factor * value for value in _values(point, chosen, first)]
            return min(values), max(values)

        self.plot.show_branches(self.branches, measure, self.range.factor, self.range.words, words)

    def _play_point(self, branch: int, number: int) -> None:
        point = self.branches[branch].points[number]
        self._hopf = (-1, -1)
        self.show_busy()
        self.words.setText(f"At {self.range.factor * point.value:.6g}: {STABLE[point.stability or 'marginal'].lower()}")
        self.player.show_states(point.states, point.period)

    def _choose_mark(self, branch: int, number: int) -> None:
        mark = self.branches[branch].marks[number]
        self._hopf = (branch, number) if mark.kind == "Hopf" and branch == 0 else (-1, -1)
        self.words.setText(mark.said)
        self.show_busy()
        self.player.show_states(mark.point.states, mark.point.period)


def _values(point: Point, chosen: Any, first: Any) -> list[float]:
    """What the diagram shows of the states of a solution, SI."""
    if chosen == PERIOD:
        return [point.period]
    if chosen == AWAY:
        return [distance(state, first) for state in point.states]
    body, axis = chosen
    return [float(state.motions[body].position[axis]) for state in point.states]


def distance(state: Any, first: Any) -> float:
    """How far the bodies are from where they are in another state: displacements and turns together."""
    total = 0.0
    for name, motion in state.motions.items():
        other = first.motions[name]
        total += float(np.sum((motion.position - other.position) ** 2))
        total += 3.0 - float(np.trace(other.rotation.T @ motion.rotation))  # 2 (1 - cos a), near a^2
    return float(np.sqrt(max(total, 0.0)))


def _muted(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "muted")
    return label
