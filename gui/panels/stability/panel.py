"""The stability tab."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QWidget
from shiboken6 import isValid

import mbframe as mb
from mbframe.analysis.linear.root_words import IGNORABLE, Roots
from mbframe.analysis.states.describing import describe, description

from ...base.turns import single_shot
from ...document.document import Document
from ...solving.latest import Latest
from ...solving.tasks import Model
from ...widgets.arranging import stack
from ...widgets.banner import Banner
from ...widgets.labels import ElidedLabel
from .campbell_page import CampbellPage
from .heading import EmptyPage, Heading
from .mode_controls import ModeControls
from .mode_player import ModePlayer
from .motion_pages import FollowPage, PeriodicPage
from .parameter_plot import ParameterPlot
from .plane import EigenvaluePlane
from .preload import Preload
from .remedies import explained, what_is_left_out, what_moved
from .sweep_bar import SweepBar
from .table import ModeTable
from .tasks import EQUILIBRIUM, SHOWN, STEADY, About, LocusFound, LocusTask, RootsFound, RootsTask, Subject
from .views import Views

LOCUS_POINTS = 81
LOW = 16
"""Lines of text below which there is no room for remarks."""
SAME = 1e-6  # relative difference of roots that are the same
PRELOAD = 300  # ms after the tab was first shown, when what it needs is loaded
NOT_APPLIED = (
    "This state cannot become the described one: an element measures from the described state (a torsional spring, a "
    "driver or a bushing), and its load would change. The state is still used for the roots."
)


class StabilityPanel(QWidget):
    """Roots and modes of the document's model, and how they change with a parameter."""

    linearized = Signal(object)
    """The `Roots` that are shown now."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("stability_panel")
        self.document, self.solver = document, solver
        self.about = About()
        self.roots: Roots | None = None
        self.locus: LocusFound | None = None
        self.selected = -1
        self.value: float | None = None
        """Of the parameter at which the roots hold; None is the model as it is."""
        self._model: Model | None = None
        self._locus_job: Any = None
        self._asked_by_hand = False
        self._ignored = 0
        self.preload = Preload(self)
        self.live = Latest(solver, self)
        self.player = ModePlayer(document, self)
        self._build()
        self._connect()
        self._renew()

    def showEvent(self, event: QShowEvent) -> None:
        """What roots need is loaded when somebody looks here."""
        super().showEvent(event)
        QTimer.singleShot(PRELOAD, self, self.preload.start)

    # --- widgets -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.empty, self.heading = EmptyPage(), Heading()
        self.plane, self.over = EigenvaluePlane(), ParameterPlot()
        self.table, self.controls = ModeTable(), ModeControls(self.player)
        self.ignored = ElidedLabel()
        self.ignored.setObjectName("ignorable_roots")
        self.ignored.setProperty("role", "muted")
        self.ignored.setContentsMargins(10, 0, 8, 0)
        self.sweep = SweepBar(self.document)
        self.banner = Banner("stability_banner")
        right = stack(QWidget(), self.table, self.ignored, self.controls, growing=self.table, spacing=2)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        for widget, stretch in ((self.plane, 2), (self.over, 2), (right, 5)):
            self.splitter.addWidget(widget)
            self.splitter.setStretchFactor(self.splitter.count() - 1, stretch)
        self._share_room()
        self.splitter.setChildrenCollapsible(False)
        for widget in (self.plane, self.over):
            widget.setMinimumSize(QSize(130, 60))
        self.table.setMinimumHeight(48)  # with a banner above, it scrolls before the panel does
        self.over.hide()
        self.pages = QStackedWidget()
        self.pages.addWidget(self.empty)
        self.pages.addWidget(stack(QWidget(), self.heading, self.splitter, self.sweep, growing=self.splitter))
        roots = stack(QWidget(), self.banner, self.pages, growing=self.pages)
        self.periodic = PeriodicPage(self.document, self.solver)
        self.follow = FollowPage(self.document, self.solver)
        self.campbell = CampbellPage(self.document, self.solver)
        self.periodic.found.connect(self.follow.take_orbit)
        self.views = Views(
            {"Roots": roots, "Periodic": self.periodic, "Follow": self.follow, "Campbell": self.campbell}
        )
        stack(self, self.views, growing=self.views)

    def _share_room(self) -> None:
        """The table has the most of it."""
        self.splitter.setSizes([2000, 2000, 5000])

    def _connect(self) -> None:
        document, heading, sweep = self.document, self.heading, self.sweep
        for asker in (self.empty, heading):
            asker.asked.connect(lambda kind: self.linearize(self.about_of(kind)))
        heading.turn_asked.connect(lambda rate: self.linearize(About(STEADY, rate=rate)))
        heading.cancelled.connect(self._cancel_locus)
        heading.critical_chosen.connect(sweep.set_value)
        self.plane.row_chosen.connect(self.choose)
        self.plane.step_asked.connect(self.step)
        self.table.row_chosen.connect(self.choose)
        self.over.value_chosen.connect(sweep.set_value)
        sweep.value_changed.connect(self._value_changed)
        sweep.variation_changed.connect(self._variation_changed)
        sweep.locus_asked.connect(self.draw_locus)
        sweep.locus_recolored.connect(self._recolor)
        sweep.locus_dropped.connect(self.drop_locus)
        sweep.apply_asked.connect(self.apply_value)
        sweep.refused.connect(lambda words: self.banner.say(words, "warning"))
        self.live.finished.connect(self._found)
        self.live.failed.connect(self._failed)
        self.live.busy_changed.connect(self.empty.set_busy)
        # Several parameters may change at once; the roots follow when they all have.
        self._later = single_shot(self, self._follow_model)
        document.replaced.connect(self._renew)
        document.structure_changed.connect(self._model_changed)
        document.element_changed.connect(self._model_changed)

    # --- the model ---------------------------------------------------------------------------------------------------

    def _renew(self) -> None:
        """There is another model: nothing is known of it."""
        self.live.drop()
        self.player.forget()
        self._model, self.value, self.roots, self.selected = None, None, None, -1
        self._show_about(About())
        self.drop_locus()
        self.banner.say("")
        self.plane.show_roots(None)
        self.table.show_roots(None)
        self.pages.setCurrentIndex(0)
        self.empty.button.setEnabled(bool(self.document.system.bodies))

    def _model_changed(self, *_: object) -> None:
        self._model = None
        self.empty.button.setEnabled(bool(self.document.system.bodies))
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

    def about_of(self, kind: str) -> About:
        """The reference state of a kind, as things are now."""
        return About(kind, self._shown_state()) if kind == SHOWN else About(kind)

    def _shown_state(self) -> Any:
        """The stored state nearest to the time of the document; None (the described state) without a run."""
        run = self.document.runs.current
        return None if run is None else run.state_near(self.document.time)

    def _show_about(self, about: About) -> None:
        self.about = about
        self.empty.about.show_kind(about.kind)
        self.heading.show_about(about)

    # --- roots -------------------------------------------------------------------------------------------------------

    def linearize(self, about: About | None = None) -> None:
        """Compute the roots about a state."""
        self._show_about(about or self.about)
        self._asked_by_hand = True
        self._ask()

    def _ask(self) -> None:
        try:
            task = RootsTask(Subject(self.model, self.about, self.sweep.variation), self.value)
        except mb.ModelError as error:
            self.banner.say(str(error), "error")
            return
        self.preload.then(lambda: self.live.ask(task))

    def _found(self, found: RootsFound) -> None:
        before, fresh = self.roots, self.roots is None or self._asked_by_hand
        self.roots, self.value = Roots(found.linearization), found.value
        self._asked_by_hand = False
        self.pages.setCurrentIndex(1)
        row = self.roots.following(before, self.selected) if before is not None else None
        self.selected = -1 if row is None else row
        self.plane.show_roots(self.roots, self.selected, keep_range=not fresh)
        self.table.show_roots(self.roots, self.selected, found.shares)
        self.heading.show_verdict(self.roots)
        self._show_ignored()
        self._show_what_moved(found)
        self._move_on(fresh)
        self.linearized.emit(self.roots)

    def _move_on(self, fresh: bool) -> None:
        """Let the mode that moved go on with the new roots; otherwise show the reference state of fresh ones."""
        assert self.roots is not None
        playing = self.player.playing
        self.player.set_mode(self.roots.linearization, self._row())
        self.controls.setEnabled(self._row() is not None)
        if playing and self._row() is not None:
            self.player.play()
        elif fresh and not playing and self.document.animation_owner in (None, self.player):
            self.document.show(self.roots.linearization.state)

    def _failed(self, failure: Any) -> None:
        explanation = explained(str(failure), self.about)
        actions = [(label, partial(self.linearize, about)) for label, about in explanation.remedies]
        self._asked_by_hand = False
        self.banner.say(explanation.text, "error", actions)

    def _show_what_moved(self, found: RootsFound) -> None:
        left_out = what_is_left_out(found.left_out, found.linearization.state.t)
        if not self.about.searched:
            self.banner.say(left_out, "info")
            return
        text = f"{what_moved(self.about.kind, found.moved, found.state)} {left_out}".strip()
        moved = any(max(size) > 1e-9 for size in found.moved.values())
        actions = [("Apply to the model", self.apply_state)] if moved and found.value is None else []
        self.banner.say(text, "info", actions)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        """Where there is little, a remark goes before the controls have to scroll."""
        self.ignored.setVisible(self._ignored > 0 and self.height() >= LOW * self.fontMetrics().lineSpacing())

    def _show_ignored(self) -> None:
        assert self.roots is not None
        count = sum(row.behaviour == IGNORABLE for row in self.roots.rows)
        words = "root at zero says" if count == 1 else "roots at zero say"
        self._ignored = count
        self._make_room()
        self.ignored.setText(f"{count} {words} nothing about stability: nothing resists their motion.")
        self.ignored.setToolTip("\n".join(self.roots.explanations))

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
        describe(changed, reference.state)
        turn = (tuple(reference.frame.axis), reference.frame.rate) if reference.frame.rate else None
        job = self.solver.submit(RootsTask(Subject(Model.of(changed), About(turn=turn))))

        def check(found: RootsFound) -> None:
            if not isValid(self):
                return
            if not same_roots(reference, found.linearization):
                self.banner.say(NOT_APPLIED, "warning")
                return
            words = {EQUILIBRIUM: "Move to the equilibrium", STEADY: "Move to the steady motion"}
            changes = description(self.document.system, reference.state, velocities=True)
            self.document.set_many(changes, text=words.get(self.about.kind, "Assemble"))
            self._show_about(About(turn=turn))
            self.banner.say("The model is now described in this state. Undo takes it back.", "info")

        job.finished.connect(check)
        job.failed.connect(lambda _: self.banner.say(NOT_APPLIED, "warning") if isValid(self) else None)

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
        self.heading.show_progress(0.0)
        self.sweep.locus.setEnabled(False)
        job.progressed.connect(self.heading.show_progress)
        job.finished.connect(lambda found: self._locus_ended(job, found))
        job.failed.connect(lambda failure: self._locus_ended(job, failure=failure))
        job.cancelled.connect(lambda: self._locus_ended(job))

    def _cancel_locus(self) -> None:
        if self._locus_job is not None:
            self._locus_job.cancel()

    def _locus_ended(self, job: Any, found: LocusFound | None = None, failure: Any = None) -> None:
        if not isValid(self) or job is not self._locus_job:
            return
        self._locus_job = None
        self.heading.show_sentence()
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
            self.splitter.setSizes([round(share * width) for share in (0.25, 0.29, 0.46)])
        self.sweep.set_locus_shown(True)
        self.heading.show_critical(found, self.sweep.unit.text(), self.sweep.factor)
        if found.warning:
            self.banner.say(found.warning, "warning")

    def drop_locus(self) -> None:
        """Remove the root locus, and cancel one that is computed."""
        self._cancel_locus()
        self.locus = None
        self.plane.show_locus(None)
        self.over.show_locus(None)
        if not self.over.isHidden():
            self.over.hide()
            self._share_room()
        self.heading.show_sentence()
        self.sweep.set_locus_shown(False)

    def _recolor(self) -> None:
        if self.locus is not None:
            self.plane.show_locus(self.locus.locus, self.sweep.color_by)


def same_roots(one: mb.Linearization, other: mb.Linearization) -> bool:
    """Whether two linearizations have the same roots, ignorable ones apart."""
    a, b = (np.array([m.eigenvalue for m in lin.modes if not m.ignorable], complex) for lin in (one, other))
    return len(a) == len(b) and bool(np.abs(a - b).max(initial=0.0) <= SAME * max(np.abs(a).max(initial=0.0), 1e-9))
