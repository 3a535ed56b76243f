"""The constraints tab: freedoms and the motions they allow, dependencies, violation and energy of the run."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QSlider,
    QSplitter,
    QToolButton,
    QWidget,
)

import mbframe as mb
from mbframe.analysis.mobility.free_motions import FreeMotion

from ...base.turns import single_shot
from ...document.document import Document
from ...solving.curves import Curves
from ...solving.latest import Latest
from ...solving.tasks import Model
from ...widgets import icons, theme
from ...widgets.arranging import scrolled, stack
from ...widgets.banner import Banner
from ...widgets.labels import ElidedLabel
from .history_plots import HistoryPlot
from .tasks import ConstraintsFound, ConstraintsTask, WiggleTask
from .wiggle import WigglePlayer
from .words import details, verdict

PAUSE: Final = 250
"""Milliseconds after a change, when freedoms are counted again."""
NO_BODIES: Final = "There are no bodies yet. How they can move, and which joints repeat each other, will be told here."
INFINITESIMAL: Final = "The mechanism cannot be moved along this motion: it is free for infinitely small steps only."
VIOLATION, ENERGY = "violation.position", "energy.total"


class ConstraintsPanel(QWidget):
    """Freedoms that the constraints of the document's model leave, at the state that is shown."""

    counted = Signal(object)
    """The `ConstraintsFound` that is shown now."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("constraints_panel")
        self.document = document
        self.found: ConstraintsFound | None = None
        self._model: Model | None = None
        self._fresh = False
        self.counting, self.swinging = Latest(solver, self), Latest(solver, self)
        self.curves = Curves(document, solver, self)
        self.player = WigglePlayer(document, self)
        self._soon = single_shot(self, self.count, PAUSE)
        self._build()
        self._connect()
        self._show(None)

    # --- widgets -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.banner = Banner("constraints_banner")
        self.verdict = ElidedLabel()
        self.verdict.setObjectName("constraints_verdict")
        self.verdict.setContentsMargins(10, 5, 8, 3)
        self.details = QLabel()
        self.details.setObjectName("constraints_details")
        self.details.setWordWrap(True)
        self.details.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.details.setContentsMargins(10, 0, 8, 4)
        self.details.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.violation = HistoryPlot("violation_plot", "violation |C|", logarithmic=True)
        self.energy = HistoryPlot("energy_plot", "change of energy, J", from_start=True)
        for plot in (self.violation, self.energy):
            plot.setMinimumSize(QSize(120, 60))
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        for widget in (self._motions(), scrolled(self.details), stack(QWidget(), self.violation, self.energy)):
            self.splitter.addWidget(widget)
        for number, share in enumerate((3, 3, 4)):
            self.splitter.setStretchFactor(number, share)
        self.splitter.setSizes([3000, 3000, 4000])
        self.splitter.setChildrenCollapsible(False)
        stack(self, self.banner, self.verdict, self.splitter, growing=self.splitter)

    def _motions(self) -> QWidget:
        self.levels = QButtonGroup(self)
        self.level_row = QWidget()
        row = QHBoxLayout(self.level_row)
        row.setContentsMargins(8, 0, 8, 2)
        row.setSpacing(2)
        for name, words in (("positions", "Where it can get to"), ("velocities", "How it can move without slip")):
            button = QPushButton()
            button.setObjectName(f"level_{name}")
            button.setProperty("role", "segment")
            button.setToolTip(words)
            button.setCheckable(True)
            button.clicked.connect(self._show_motions)
            self.levels.addButton(button)
            row.addWidget(button)
        self.list = QListWidget()
        self.list.setObjectName("free_motions")
        self.list.setAccessibleName("Free motions")
        self.list.setMinimumSize(QSize(140, 60))
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setSpacing(2)
        self.play = QToolButton()
        self.play.setObjectName("wiggle")
        self.play.setText("Wiggle")
        self.play.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.play.setToolTip("Let the mechanism swing along the chosen free motion, with closed joints")
        icons.set_icon(self.play, "play")
        self.swing_size = QSlider(Qt.Orientation.Horizontal)
        self.swing_size.setObjectName("wiggle_size")
        self.swing_size.setAccessibleName("How far the bodies move")
        self.swing_size.setToolTip("How far the bodies move")
        self.swing_size.setRange(10, 300)
        self.swing_size.setValue(100)
        controls = QHBoxLayout()
        controls.setContentsMargins(8, 2, 8, 4)
        controls.setSpacing(6)
        for widget in (self.play, QLabel("Size"), self.swing_size):
            controls.addWidget(widget)
        return stack(QWidget(), self.level_row, self.list, controls)

    def _connect(self) -> None:
        document = self.document
        document.replaced.connect(self._renew)
        document.structure_changed.connect(self._model_changed)
        document.element_changed.connect(self._model_changed)
        document.time_changed.connect(self._outdated)
        document.runs.current_changed.connect(self._run_changed)
        document.animation_owner_changed.connect(self._outdated)
        self.counting.finished.connect(self._counted)
        self.counting.failed.connect(self._failed)
        self.swinging.finished.connect(self._swing_found)
        self.swinging.failed.connect(lambda failure: self.banner.say(str(failure), "error"))
        self.swinging.busy_changed.connect(lambda _: self._show_playing(self.player.playing))
        self.curves.changed.connect(lambda *_: self._show_history())
        self.list.currentRowChanged.connect(self._motion_chosen)
        self.list.itemClicked.connect(lambda _: self.wiggle())
        self.list.itemActivated.connect(lambda _: self.wiggle())
        self.play.clicked.connect(self.toggle)
        self.swing_size.sliderReleased.connect(self._resized)
        self.player.playing_changed.connect(self._show_playing)
        self.details.linkActivated.connect(self._select)
        theme.changed().connect(self._show_details)
        self._motion_chosen(-1)

    def showEvent(self, event: QShowEvent) -> None:
        """Freedoms are counted when somebody looks here."""
        super().showEvent(event)
        self._show_history()
        if not self._fresh:
            self._soon.start(0)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.player.stop()

    # --- the model ---------------------------------------------------------------------------------------------------

    def _renew(self) -> None:
        """There is another model: nothing is known of it."""
        self.counting.drop()
        self.found = None
        self.list.clear()
        self.verdict.clear()
        self.details.clear()
        self.banner.say("")
        self._run_changed()
        self._model_changed()

    def _model_changed(self, *_: object) -> None:
        self._model = None
        self.swinging.drop()
        self.player.stop()
        self._outdated()

    def _run_changed(self, *_: object) -> None:
        if self.isVisible():
            self._show_history()
        self._outdated()

    def _outdated(self, *_: object) -> None:
        """Freedoms belong to a state; while bodies move there is no point in counting."""
        self._fresh = False
        if self.isVisible() and self.document.animation_owner is None:
            self._soon.start(PAUSE)

    def _shown_state(self) -> Any:
        """The stored state nearest to the time of the document; None (the described state) without a run."""
        run = self.document.runs.current
        return None if run is None or run.stale else run.state_near(self.document.time)

    def count(self) -> None:
        """Count freedoms at the state that is shown."""
        self._fresh = True
        if not self.document.system.bodies:
            self._show(None)
            self.verdict.setText(NO_BODIES)
            return
        try:
            if self._model is None:
                self._model = Model.of(self.document.system)
            self.counting.ask(ConstraintsTask(self._model, self._shown_state()))
            if self.found is None:
                self.verdict.setText("Counting freedoms…")
        except mb.ModelError as error:
            self._failed(error)

    def _counted(self, found: ConstraintsFound) -> None:
        self.banner.say("")
        self._show(found)
        self.counted.emit(found)

    def _failed(self, failure: Any) -> None:
        self._show(None)
        self.banner.say(str(failure), "error")

    def _show(self, found: ConstraintsFound | None) -> None:
        self.found = found
        text = "" if found is None else verdict(found)
        self.verdict.setText(text)
        self.verdict.setToolTip(text)
        self._show_details()
        self.level_row.setVisible(found is not None and found.nonholonomic)
        if found is not None:
            positions, velocities = self.levels.buttons()
            positions.setText(f"Positions ({len(found.positions)})")
            velocities.setText(f"Velocities ({len(found.velocities)})")
            if not (found.nonholonomic and positions.isChecked()):
                velocities.setChecked(True)
        self._show_motions()

    def _show_details(self, *_: object) -> None:
        self.details.setText("" if self.found is None else details(self.found, theme.current().accent))

    # --- free motions ------------------------------------------------------------------------------------------------

    @property
    def slipping(self) -> bool:
        """Whether motions of the level of positions are shown."""
        return self.levels.buttons()[0].isChecked()

    def motions(self) -> list[FreeMotion]:
        """The free motions that are listed."""
        if self.found is None:
            return []
        return self.found.positions if self.slipping else self.found.velocities

    def _show_motions(self, *_: object) -> None:
        row = max(self.list.currentRow(), 0)
        self.swinging.drop()
        self.player.stop()
        self.list.clear()
        for motion in self.motions():
            self.list.addItem(motion.words)
            self.list.item(self.list.count() - 1).setToolTip(motion.words)
        self.list.setCurrentRow(min(row, self.list.count() - 1))

    def _motion_chosen(self, row: int) -> None:
        self.play.setEnabled(row >= 0)
        self.swing_size.setEnabled(row >= 0)
        if row >= 0 and self.player.playing:
            self.wiggle()

    def toggle(self) -> None:
        """Begin to swing, or stop."""
        self.player.stop() if self.player.playing else self.wiggle()

    def wiggle(self) -> None:
        """Let the mechanism swing along the chosen motion."""
        row = self.list.currentRow()
        if self.found is None or self._model is None or not 0 <= row < len(self.motions()):
            return
        task = WiggleTask(
            self._model, self.found.state, self.motions()[row], self.slipping, self.swing_size.value() / 100.0
        )
        self.swinging.ask(task)

    def _swing_found(self, states: list[Any]) -> None:
        if len(states) < 2:
            self.banner.say(INFINITESIMAL)
            return
        if self.found is not None and self.isVisible():
            self.banner.say("")
            self.player.play(states, self.found.state)

    def _resized(self) -> None:
        if self.player.playing:
            self.wiggle()

    def _show_playing(self, playing: bool) -> None:
        self.play.setText("Stop" if playing else "Preparing…" if self.swinging.busy else "Wiggle")
        icons.set_icon(self.play, "pause" if playing else "play")

    # --- run and joints ----------------------------------------------------------------------------------------------

    def _show_history(self) -> None:
        run = self.document.runs.current
        for plot, name in ((self.violation, VIOLATION), (self.energy, ENERGY)):
            plot.show_curve(None if run is None else self.curves.get(run, name), coming=run is not None)

    def _select(self, name: str) -> None:
        if name in {element.name for element in self.document.system}:
            self.document.select(self.document.system[name])
