"""The panel of runs: how to simulate, how long, how far it is; and the list of results that are kept."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from mbframe.parameters import Parameter

from ...base.words import instant
from ...document.document import Document
from ...document.runs import Run, RunSettings
from ...fields.numbers import NumberField
from ...playing.live import Live
from ...solving.runner import Runner, duration
from ...solving.solver import Solver
from ...widgets.labels import ProblemLabel
from ...widgets.theme import changed as theme_changed
from .inputs import Inputs
from .results import ResultsList

PRESETS: Final = {
    "fast": ("Fast", "Adaptive steps (Dormand-Prince, tolerance 1e-6): right for most models"),
    "accurate": ("Accurate", "Adaptive steps with tolerance 1e-10: for reference and for long runs"),
    "stiff": ("Stiff", "Implicit steps (Radau IIA): for stiff springs, strong damping and contacts"),
}

END_TIME: Final = Parameter(5.0, kind="number", unit="s", above=0.0, maximum=1e6, help="how long to simulate")
END_TIME.name = "t_end"


class RunControls(QWidget):
    """Chooses how to simulate, shows how far a run is, and keeps the results. The toolbar's button runs and cancels."""

    method_requested = Signal()
    """Every strategy is to be chosen by hand."""

    def __init__(
        self,
        document: Document,
        solver: Solver,
        runner: Runner | None = None,
        live: Live | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("run_controls")
        self.document = document
        self.runner = runner or Runner(document, solver, self)
        self.inputs = Inputs(document, live, self)
        self._build()
        document.runs.settings_changed.connect(self._show_settings)
        document.replaced.connect(self._show_settings)
        document.runs.changed.connect(self._show_runs)
        document.runs.current_changed.connect(self._show_runs)
        solver.state_changed.connect(self._show_progress)
        self.runner.started.connect(self._on_started)
        self.runner.progressed.connect(self._on_progress)
        self.runner.ended.connect(self._on_ended)
        theme_changed().connect(self._show_runs)
        self._show_settings()
        self._show_runs()
        self._show_progress()

    # --- building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.setSpacing(8)
        layout.addLayout(self._build_presets())
        layout.addLayout(self._build_end_time())
        layout.addWidget(self.inputs)
        layout.addLayout(self._build_progress())
        self.results = ResultsList(self.document, self)
        self.empty = QLabel("Results are kept here, to be compared. There is none yet: press Run above, or F5.", self)
        self.empty.setProperty("role", "muted")
        self.empty.setWordWrap(True)
        layout.addWidget(self.empty)
        layout.addWidget(self.results, 1)
        layout.addStretch(0)

    def _build_presets(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        self.presets = QButtonGroup(self)
        self.buttons: dict[str, QPushButton] = {}
        for name, (label, tip) in PRESETS.items():
            button = QPushButton(label, self)
            button.setObjectName(f"preset_{name}")
            button.setCheckable(True)
            button.setToolTip(tip)
            button.setProperty("role", "segment")
            button.clicked.connect(lambda _=False, name=name: self._choose_preset(name))
            self.presets.addButton(button)
            self.buttons[name] = button
            row.addWidget(button, 1)
        self.method = QPushButton("Method…", self)
        self.method.setObjectName("method")
        self.method.setCheckable(True)
        self.method.setProperty("role", "segment")
        self.method.clicked.connect(lambda _: self._ask_for_method())
        self.presets.addButton(self.method)
        self.buttons["custom"] = self.method
        row.addWidget(self.method, 1)
        return row

    def _build_end_time(self) -> QVBoxLayout:
        block = QVBoxLayout()
        block.setSpacing(3)
        row = QHBoxLayout()
        row.setSpacing(6)
        label = QLabel("End time", self)
        self.t_end = NumberField(END_TIME, parent=self)
        self.t_end.setToolTip("How long to simulate")
        label.setBuddy(self.t_end)
        self.t_end.committed.connect(self._choose_end)
        row.addWidget(label)
        row.addWidget(self.t_end, 1)
        row.addWidget(QLabel("s", self))
        self.problem = ProblemLabel("problem_t_end", self)
        self.t_end.problem_changed.connect(self.problem.say)
        block.addLayout(row)
        block.addWidget(self.problem)
        return block

    def _build_progress(self) -> QVBoxLayout:
        block = QVBoxLayout()
        block.setSpacing(4)
        self.bar = QProgressBar(self)
        self.bar.setObjectName("progress")
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.progress = QLabel(self)
        self.progress.setObjectName("progress_text")
        self.progress.setProperty("role", "muted")
        self.progress.setWordWrap(True)
        block.addWidget(self.bar)
        block.addWidget(self.progress)
        return block

    # --- settings ----------------------------------------------------------------------------------------------------

    def _choose_end(self, t_end: float, gesture: object) -> None:
        self.document.runs.choose_settings(self.document.runs.settings.changed(t_end=t_end), gesture)

    def _choose_preset(self, name: str) -> None:
        self.document.runs.choose_settings(RunSettings(name, self.document.runs.settings.t_end))

    def _ask_for_method(self) -> None:
        self._show_settings()  # pressing the button is not yet a choice
        self.method_requested.emit()

    def _show_settings(self) -> None:
        settings = self.document.runs.settings
        for name, button in self.buttons.items():
            button.setChecked(name == settings.preset)
        by_hand = "Choose coordinates, solver, stabilization and integrator by hand"
        self.method.setToolTip(f"{by_hand}\n{settings.summary()}" if settings.preset == "custom" else by_hand)
        self.t_end.show_value(settings.t_end)

    # --- running -----------------------------------------------------------------------------------------------------

    def _on_started(self) -> None:
        self.bar.setRange(0, 0)
        self._show_progress()

    def _on_progress(self, fraction: float, left: float) -> None:
        if self.bar.maximum() == 0:
            self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * fraction))
        rest = f", {duration(left)} left" if left >= 0.0 else ""
        settings = self.runner.run.settings if self.runner.run is not None else self.document.runs.settings
        self.progress.setText(f"{instant(self.runner.reached)} of {settings.t_end:,g} s{rest}")

    def _on_ended(self, _: Run | None) -> None:
        self._show_progress()
        self.bar.reset()  # which would paint it, and all else that waits to be painted, at once if it was seen

    def _show_progress(self, _: object = None) -> None:
        running = self.runner.running
        self.bar.setVisible(running)
        self.progress.setVisible(running)
        if running and self.bar.maximum() == 0:
            waiting = "Preparing the solver; this takes a moment the first time…"
            self.progress.setText(waiting if self.runner.preparing else "Starting…")

    # --- results -----------------------------------------------------------------------------------------------------

    def _show_runs(self, _: object = None) -> None:
        self.empty.setVisible(not self.document.runs)
        self.results.setVisible(bool(self.document.runs))
        self.results.refresh()
