"""The stability tab."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb

from .. import icons, theme
from ..document import Document
from ..tasks import Model
from .applying import changes_to, same_roots
from .banner import Banner
from .labels import ElidedLabel
from .latest import Latest
from .mode_controls import ModeControls
from .mode_player import ModePlayer
from .modes import Roots
from .parameter_plot import ParameterPlot
from .plane import EigenvaluePlane
from .preload import Preload
from .remedies import explained, what_moved
from .sweep_bar import SweepBar
from .table import ModeTable
from .tasks import DESCRIBED, EQUILIBRIUM, SHOWN, STEADY, About, LocusFound, LocusTask, RootsFound, RootsTask, Subject

LOCUS_POINTS = 81
PRELOAD = 2000  # ms after which what the tab needs is loaded
ABOUT = (
    (DESCRIBED, "the described state"),
    (SHOWN, "the state at the current time"),
    (EQUILIBRIUM, "the nearest equilibrium"),
    (STEADY, "the nearest steady motion"),
)
VERDICTS = {"stable": "Stable", "marginal": "Marginally stable", "unstable": "Unstable"}
VERDICT_COLORS = {"stable": "good", "marginal": "warning", "unstable": "bad"}
EXPLANATION = (
    "Roots tell what becomes of a small disturbance of an equilibrium or a steady motion: whether it dies out or "
    "grows, how fast, and with which frequency. Click a root to see its motion; move a slider to see the roots change."
)


class StabilityPanel(QWidget):
    """Roots and modes of the document's model, and how they change with a parameter."""

    linearized = Signal(object)
    """The `Roots` that are shown now."""
    help_topic = "stability"

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stability_panel")
        self.document, self.solver = document, solver
        self.about = About()
        self.roots: Roots | None = None
        self.selected = -1
        self.value: float | None = None
        """Of the parameter at which the roots hold; None is the model as it is."""
        self._model: Model | None = None
        self._locus_job: Any = None
        self._asked_by_hand = False
        self.preload = Preload(self)
        QTimer.singleShot(PRELOAD, self, self.preload.start)
        self.live = Latest(solver, self)
        self.player = ModePlayer(document, self)
        self._build()
        self._connect()
        self._renew()

    # --- widgets -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.pages = QStackedWidget()
        self.pages.addWidget(self._empty_page())
        self.pages.addWidget(self._full_page())
        self.banner = Banner("stability_banner")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banner)
        column.addWidget(self.pages, 1)

    def _empty_page(self) -> QWidget:
        page = QWidget()
        words = QLabel(EXPLANATION)
        words.setWordWrap(True)
        words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        words.setFixedWidth(520)
        words.setProperty("role", "muted")
        self.first_about = _about_choice("linearize_about_first")
        self.first_button = QPushButton("Linearize")
        self.first_button.setObjectName("linearize_first")
        self.first_button.setProperty("primary", True)
        icons.set_icon(self.first_button, "stability", "accent_text")
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.first_button)
        about = QLabel("about")
        about.setProperty("role", "muted")
        row.addWidget(about)
        row.addWidget(self.first_about)
        row.addStretch(1)
        column = QVBoxLayout(page)
        column.addStretch(1)
        column.addWidget(words, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(10)
        column.addLayout(row)
        column.addStretch(1)
        return page

    def _full_page(self) -> QWidget:
        self.verdict = QLabel()
        self.verdict.setObjectName("stability_verdict")
        self.sentence = ElidedLabel()
        self.sentence.setObjectName("stability_sentence")
        self.about_choice = _about_choice("linearize_about")
        self.button = QPushButton("Linearize")
        self.button.setObjectName("linearize")
        self.button.setToolTip("Compute the roots again")
        self.find_equilibrium = _tool(
            "find_equilibrium", "equilibrium", "Find the nearest equilibrium and linearize there"
        )
        self.find_steady = _tool("find_steady", "steady", "Find the nearest steady motion and linearize there")
        self.find_steady.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        menu = QMenu(self.find_steady)
        menu.addAction("The nearest one", lambda: self.linearize(About(STEADY)))
        self.steady_turn = menu.addAction("With a given rate of turn…", self._ask_for_turn)
        self.find_steady.setMenu(menu)
        self.sentence.setProperty("role", "muted")
        self.middle = QStackedWidget()  # a sentence, the progress of a root locus, or its critical values
        self.middle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        for widget in (self.sentence, self._waiting_row(), self._critical_box()):
            self.middle.addWidget(widget)
        head = QHBoxLayout()
        head.setContentsMargins(8, 5, 8, 3)
        head.setSpacing(6)
        about = QLabel("about")
        about.setProperty("role", "muted")
        head.addWidget(self.verdict)
        head.addWidget(self.middle, 1)
        for widget in (self.button, about, self.about_choice):
            head.addWidget(widget)
        for widget in (self.find_equilibrium, self.find_steady):
            head.addWidget(widget)

        self.plane = EigenvaluePlane()
        self.over = ParameterPlot()
        self.table = ModeTable()
        self.controls = ModeControls(self.player)
        self.ignored = ElidedLabel()
        self.ignored.setObjectName("ignorable_roots")
        self.ignored.setProperty("role", "muted")
        self.ignored.setContentsMargins(10, 0, 8, 0)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.table, 1)
        column.addWidget(self.ignored)
        column.addWidget(self.controls)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        for widget, stretch in ((self.plane, 3), (self.over, 3), (right, 4)):
            self.splitter.addWidget(widget)
            self.splitter.setStretchFactor(self.splitter.count() - 1, stretch)
        self.splitter.setChildrenCollapsible(False)
        for widget in (self.plane, self.over):
            widget.setMinimumSize(QSize(150, 90))
        right.setMinimumWidth(260)

        self.sweep = SweepBar(self.document)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.splitter, 1)
        column.addWidget(self.sweep)
        self.over.hide()
        return page

    def _waiting_row(self) -> QWidget:
        self.progress = QProgressBar()
        self.progress.setObjectName("locus_progress")
        self.progress.setRange(0, 100)
        self.progress.setFormat("Root locus %p %")
        self.progress.setMaximumHeight(18)
        self.cancel = QPushButton("Cancel")
        self.cancel.setObjectName("locus_cancel")
        self.waiting = QWidget()
        row = QHBoxLayout(self.waiting)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.progress, 1)
        row.addWidget(self.cancel)
        return self.waiting

    def _critical_box(self) -> QWidget:
        self.critical = QWidget()
        self.critical.setObjectName("critical_values")
        self._critical_row = QHBoxLayout(self.critical)
        self._critical_row.setContentsMargins(0, 0, 0, 0)
        self._critical_row.setSpacing(2)
        return self.critical

    def _connect(self) -> None:
        document = self.document
        self.first_button.clicked.connect(lambda: self.linearize(self._chosen_about(self.first_about)))
        self.button.clicked.connect(lambda: self.linearize(self._chosen_about(self.about_choice)))
        self.about_choice.activated.connect(lambda _: self.linearize(self._chosen_about(self.about_choice)))
        self.find_equilibrium.clicked.connect(lambda: self.linearize(About(EQUILIBRIUM)))
        self.find_steady.clicked.connect(lambda: self.linearize(About(STEADY)))
        self.plane.row_chosen.connect(self.choose)
        self.plane.step_asked.connect(self.step)
        self.table.row_chosen.connect(self.choose)
        self.sweep.value_changed.connect(self._value_changed)
        self.sweep.variation_changed.connect(self._variation_changed)
        self.sweep.locus_asked.connect(self.draw_locus)
        self.sweep.apply_asked.connect(self.apply_value)
        self.sweep.refused.connect(lambda words: self.banner.say(words, "warning"))
        self.over.value_chosen.connect(self.sweep.set_value)
        self.sweep.locus_recolored.connect(self._recolor)
        self.sweep.locus_dropped.connect(self.drop_locus)
        self.cancel.clicked.connect(self._cancel_locus)
        self.live.finished.connect(self._found)
        self.live.failed.connect(self._failed)
        self.live.busy_changed.connect(self._busy)
        # Several parameters may change at once; the roots follow when they all have.
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._follow_model)
        document.replaced.connect(self._renew)
        document.structure_changed.connect(self._model_changed)
        document.element_changed.connect(lambda element, name: self._model_changed())
        theme.changed().connect(self._dress)

    # --- the model ---------------------------------------------------------------------------------------------------

    def _renew(self) -> None:
        """There is another model: nothing is known of it."""
        self.live.drop()
        self._cancel_locus()
        self.player.forget()
        self._model, self.value, self.roots, self.selected = None, None, None, -1
        self.about = About()
        for choice in (self.first_about, self.about_choice):
            choice.setCurrentIndex(0)
        self.drop_locus()
        self.banner.say("")
        self.plane.show_roots(None)
        self.table.show_roots(None)
        self.pages.setCurrentIndex(0)
        self.first_button.setEnabled(bool(self.document.system.bodies))

    def _model_changed(self) -> None:
        self._model = None
        self.first_button.setEnabled(bool(self.document.system.bodies))
        if self.roots is not None:
            self._later.start()

    def _follow_model(self) -> None:
        """The model was edited: its roots follow at once, and a root locus is out of date."""
        self.drop_locus()
        self.value = None
        if self.roots is not None and self.document.system.bodies:
            self._ask()

    @property
    def model(self) -> Model:
        """The model for the solver process."""
        if self._model is None:
            self._model = Model.of(self.document.system)
        return self._model

    def _chosen_about(self, choice: QComboBox) -> About:
        kind = choice.currentData()
        return About(kind, self._shown_state()) if kind == SHOWN else About(kind)

    def _shown_state(self) -> Any:
        """The stored state nearest to the time of the document; None (the described state) without a run."""
        run = self.document.current_run
        if run is None or run.result is None or not len(run.result):
            return None
        return run.result.state(int(np.argmin(np.abs(run.result.t - self.document.time))))

    # --- roots -------------------------------------------------------------------------------------------------------

    def linearize(self, about: About | None = None) -> None:
        """Compute the roots about a state."""
        self.about = about or self.about
        for choice in (self.first_about, self.about_choice):
            choice.setCurrentIndex(max(0, choice.findData(self.about.kind)))
        self._asked_by_hand = True
        self._ask()

    def _ask(self) -> None:
        try:
            model = self.model
        except mb.ModelError as error:
            self.banner.say(str(error), "error")
            return
        task = RootsTask(Subject(model, self.about, self.sweep.variation), self.value)
        self.preload.then(lambda: self.live.ask(task))

    def _found(self, found: RootsFound) -> None:
        before, fresh = self.roots, self.roots is None or self._asked_by_hand
        self.roots, self.value = Roots(found.linearization), found.value
        self.pages.setCurrentIndex(1)
        row = self.roots.following(before, self.selected) if before is not None else None
        self.selected = -1 if row is None else row
        self.plane.show_roots(self.roots, self.selected, keep_range=not fresh)
        self.table.show_roots(self.roots, self.selected)
        self._show_verdict()
        self._show_what_moved(found)
        self._asked_by_hand = False
        playing = self.player.playing
        self.player.set_mode(found.linearization, self._row())
        if playing and self._row() is not None:
            self.player.play()
        elif fresh and not playing and self.document.animation_owner in (None, self.player):
            self.document.show(found.linearization.state)
        self.controls.setEnabled(self._row() is not None)
        self.linearized.emit(self.roots)

    def _failed(self, failure: Any) -> None:
        explanation = explained(str(failure), self.about)
        actions = [(label, lambda about=about: self.linearize(about)) for label, about in explanation.remedies]
        self._asked_by_hand = False
        self.banner.say(explanation.text, "error", actions)

    def _show_what_moved(self, found: RootsFound) -> None:
        if not self.about.searched:
            self.banner.say("")
            return
        text = what_moved(self.about.kind, found.moved, found.state)
        moved = any(max(size) > 1e-9 for size in found.moved.values())
        actions = [("Apply to the model", self.apply_state)] if moved and found.value is None else []
        self.banner.say(text, "info", actions)

    def _show_verdict(self) -> None:
        assert self.roots is not None
        word, sentence = self.roots.verdict
        self.verdict.setText(VERDICTS[word])
        self.verdict.setToolTip(sentence)
        self.sentence.setText(sentence)
        reasons = self.roots.explanations
        count = sum(row.behaviour == "ignorable" for row in self.roots.rows)
        self.ignored.setVisible(bool(reasons))
        words = "root at zero says" if count == 1 else "roots at zero say"
        self.ignored.setText(f"{count} {words} nothing about stability: nothing resists their motion.")
        self.ignored.setToolTip("\n".join(reasons))
        self._dress()

    def _dress(self, _: object = None) -> None:
        look = theme.current()
        if self.roots is not None:
            color = getattr(look, VERDICT_COLORS[self.roots.verdict[0]])
            ground = theme.mixed(color, look.surface, 0.14).name()
            self.verdict.setStyleSheet(
                f"color: {color}; background: {ground}; border-radius: 9px; padding: 2px 10px; font-weight: 600;"
            )

    def _busy(self, busy: bool) -> None:
        self.first_button.setText("Linearizing…" if busy else "Linearize")

    def _ask_for_turn(self) -> None:
        words = "Rate of turn about the vertical, rad/s (0: straight on):"
        rate, given = QInputDialog.getDouble(self, "Steady motion", words, 0.2, -1e3, 1e3, 4)
        if given:
            self.linearize(About(STEADY, rate=rate))

    # --- modes -------------------------------------------------------------------------------------------------------

    def _row(self) -> Any:
        return self.roots.rows[self.selected] if self.roots is not None and self.selected >= 0 else None

    def choose(self, row: int) -> None:
        """Select a root and let its mode move."""
        if self.roots is None or not 0 <= row < len(self.roots.rows):
            return
        self.selected = row
        self.plane.select(row)
        self.table.select(row)
        self.player.set_mode(self.roots.linearization, self._row())
        self.player.phase = 0.0
        self.controls.new_mode()
        self.player.play()

    def step(self, count: int) -> None:
        """Select a neighbour of the selected root."""
        if self.roots is not None:
            self.choose(min(max(self.selected + count, 0), len(self.roots.rows) - 1))

    def apply_state(self) -> None:
        """Describe the model in the state that was found, if that leaves its mechanics as they are."""
        if self.roots is None:
            return
        reference = self.roots.linearization
        changed = copy.deepcopy(self.document.system)
        for element, values in changes_to(changed, reference.state):
            element.update(**values)
        frame = getattr(reference, "frame", None)
        turn = (tuple(frame.axis), frame.rate) if frame is not None and frame.rate else None
        job = self.solver.submit(RootsTask(Subject(Model.of(changed), About(turn=turn))))
        refusal = (
            "This state cannot become the described one: an element measures from the described state (a torsional "
            "spring, a driver or a bushing), and its load would change. The state is still used for the roots."
        )

        def check(found: RootsFound) -> None:
            if not same_roots(reference, found.linearization):
                self.banner.say(refusal, "warning")
                return
            words = {EQUILIBRIUM: "Move to the equilibrium", STEADY: "Move to the steady motion"}
            changes = changes_to(self.document.system, reference.state)
            self.document.set_many(changes, text=words.get(self.about.kind, "Assemble"))
            self.about = About(turn=turn)
            self.about_choice.setCurrentIndex(0)
            self.banner.say("The model is now described in this state. Undo takes it back.", "info")

        job.finished.connect(check)
        job.failed.connect(lambda _: self.banner.say(refusal, "warning"))

    # --- a parameter -------------------------------------------------------------------------------------------------

    def _variation_changed(self) -> None:
        self.drop_locus()
        if self.value is not None:
            self.value = None
            if self.roots is not None:
                self._ask()

    def _value_changed(self, value: float) -> None:
        self.value = value
        self.over.set_value(value)
        if self.roots is None:
            return
        if self.about.kind in (EQUILIBRIUM, STEADY):
            # The nearest one is not far from the last.
            self.about = replace(self.about, state=self.roots.linearization.state)
        self._ask()

    def apply_value(self) -> None:
        """Give the model the slider's value, as one step to undo."""
        variation = self.sweep.variation
        if variation is None:
            return
        value = self.sweep.value
        try:
            changes = variation.changes(self.document.system, value)
            self.document.set_many(changes, text=f"Set {variation.label} to {value:g}")
        except mb.ModelError as error:
            self.banner.say(str(error), "error")
            return
        self.sweep.accept()

    def draw_locus(self) -> None:
        """Compute the root locus over the range of the slider, with critical values."""
        variation = self.sweep.variation
        if variation is None or self._locus_job is not None:
            return
        values = tuple(np.linspace(self.sweep.low, self.sweep.high, LOCUS_POINTS).tolist())
        try:
            task = LocusTask(Subject(self.model, self.about, variation), values)
        except mb.ModelError as error:
            self.banner.say(str(error), "error")
            return
        self.preload.then(lambda: self._submit_locus(task))

    def _submit_locus(self, task: LocusTask) -> None:
        job = self._locus_job = self.solver.submit(task)
        self.progress.setValue(0)
        self.middle.setCurrentWidget(self.waiting)
        self.sweep.locus.setEnabled(False)
        job.progressed.connect(lambda fraction, _: self.progress.setValue(round(100 * fraction)))
        job.finished.connect(lambda found: self._locus_ended(job, found))
        job.failed.connect(lambda failure: self._locus_ended(job, failure=failure))
        job.cancelled.connect(lambda: self._locus_ended(job))

    def _cancel_locus(self) -> None:
        if self._locus_job is not None:
            self._locus_job.cancel()

    def _locus_ended(self, job: Any, found: LocusFound | None = None, failure: Any = None) -> None:
        if job is not self._locus_job:
            return
        self._locus_job = None
        self.middle.setCurrentWidget(self.sentence)
        self.sweep.locus.setEnabled(True)
        if failure is not None:
            self._failed(failure)
        elif found is not None:
            self._show_locus(found)

    def _show_locus(self, found: LocusFound) -> None:
        self.locus = found
        self.plane.show_locus(found.locus, self.sweep.color_by)
        self.over.show_locus(found, self.sweep.words, self.sweep.factor)
        self.over.set_value(self.sweep.value)
        if self.over.isHidden():
            width = self.splitter.width()
            self.over.show()
            self.splitter.setSizes([round(share * width) for share in (0.27, 0.3, 0.43)])
        self.sweep.set_locus_shown(True)
        self._show_critical(found)
        if found.warning:
            self.banner.say(found.warning, "warning")

    def _show_critical(self, found: LocusFound) -> None:
        _clear(self._critical_row)
        unit = self.sweep.unit.text()
        label = ElidedLabel()
        label.setText("Stability changes at" if found.critical else "Stability does not change in this range.")
        label.setToolTip(label.text())
        label.setProperty("role", "muted")
        self._critical_row.addWidget(label)
        for number, critical in enumerate(found.critical):
            at = f"{critical.value * self.sweep.factor:.4g} {unit}".strip()
            chip = QPushButton(f"{at} {critical.kind}")
            chip.setObjectName(f"critical_{number}")
            chip.setProperty("link", True)
            what = f"a vibration of {critical.frequency:.3g} Hz" if critical.kind == "Hopf" else "an aperiodic motion"
            chip.setToolTip(f"Above {at} {what} {critical.direction}. Click to go there.")
            chip.clicked.connect(lambda _=False, value=critical.value: self.sweep.set_value(value))
            self._critical_row.addWidget(chip)
        self._critical_row.addStretch(1)
        self.middle.setCurrentWidget(self.critical)

    def drop_locus(self) -> None:
        """Remove the root locus."""
        self._cancel_locus()
        self.locus: LocusFound | None = None
        self.plane.show_locus(None)
        self.over.show_locus(None)
        self.over.hide()
        self.middle.setCurrentWidget(self.sentence)
        self.sweep.set_locus_shown(False)

    def _recolor(self) -> None:
        if self.locus is not None:
            self.plane.show_locus(self.locus.locus, self.sweep.color_by)


def _about_choice(name: str) -> QComboBox:
    choice = QComboBox()
    choice.setObjectName(name)
    choice.setAccessibleName("Linearize about")
    choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    choice.setMinimumContentsLength(17)
    for kind, words in ABOUT:
        choice.addItem(words, kind)
    return choice


def _tool(name: str, icon: str, words: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setToolTip(words)
    button.setAccessibleName(words)
    icons.set_icon(button, icon)
    return button


def _clear(row: QHBoxLayout) -> None:
    while (item := row.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.deleteLater()
