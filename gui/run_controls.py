"""The panel that runs simulations: how, how long, how far; and the list of results that are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from mbframe.parameters import Parameter

from .document import Document
from .fields.numbers import NumberField
from .icons import icon, set_icon
from .runner import Runner, duration
from .runs import Run, RunSettings
from .solver import Solver
from .theme import changed as theme_changed
from .theme import current as current_theme

PRESETS: Final = {
    "fast": ("Fast", "Adaptive steps (Dormand-Prince, tolerance 1e-6): right for most models"),
    "accurate": ("Accurate", "Adaptive steps with tolerance 1e-10: for reference and for long runs"),
    "stiff": ("Stiff", "Implicit steps (Radau IIA): for stiff springs, strong damping and contacts"),
}
NAME, STATUS, SHOWN = range(3)
RUN = Qt.ItemDataRole.UserRole

END_TIME: Final = Parameter(5.0, kind="number", unit="s", above=0.0, maximum=1e6, help="how long to simulate")
END_TIME.name = "t_end"


class RunControls(QWidget):
    """Chooses how to simulate, runs, and keeps the results."""

    def __init__(
        self, document: Document, solver: Solver, runner: Runner | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("run_controls")
        self.document = document
        self.runner = runner or Runner(document, solver, self)
        self._build()
        document.run_settings_changed.connect(self._show_settings)
        document.replaced.connect(self._show_settings)
        document.runs_changed.connect(self._show_runs)
        document.current_run_changed.connect(self._show_runs)
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
        layout.addLayout(self._build_run())
        self.results = ResultsList(self.document, self)
        self.empty = QLabel("Results are kept here, to be compared. There is none yet: press Run.", self)
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
        self.method.clicked.connect(lambda _: self.choose_method())
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
        self.t_end.committed.connect(lambda value, _: self._change(t_end=value))
        row.addWidget(label)
        row.addWidget(self.t_end, 1)
        row.addWidget(QLabel("s", self))
        self.problem = QLabel(self)
        self.problem.setObjectName("problem_t_end")
        self.problem.setProperty("role", "bad")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.t_end.problem_changed.connect(self._show_problem)
        block.addLayout(row)
        block.addWidget(self.problem)
        return block

    def _build_run(self) -> QVBoxLayout:
        block = QVBoxLayout()
        block.setSpacing(4)
        self.run = QPushButton("Run", self)
        self.run.setObjectName("run")
        self.run.setProperty("primary", True)
        self.run.setToolTip("Simulate the model")
        set_icon(self.run, "run", "accent_text")
        self.run.clicked.connect(lambda _: self.start())
        self.bar = QProgressBar(self)
        self.bar.setObjectName("progress")
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(6)
        self.cancel = QPushButton("Cancel", self)
        self.cancel.setObjectName("cancel")
        set_icon(self.cancel, "stop")
        self.cancel.setToolTip("Stop the run and keep the motion until then")
        self.cancel.clicked.connect(lambda _: self.runner.cancel())
        self.progress = QLabel(self)
        self.progress.setObjectName("progress_text")
        self.progress.setProperty("role", "muted")
        self.progress.setWordWrap(True)
        block.addWidget(self.run)
        block.addWidget(self.cancel)
        block.addWidget(self.bar)
        block.addWidget(self.progress)
        return block

    # --- settings ----------------------------------------------------------------------------------------------------

    def _change(self, **values: object) -> None:
        self.document.run_settings = self.document.run_settings.changed(**values)

    def _choose_preset(self, name: str) -> None:
        self.document.run_settings = RunSettings(name, self.document.run_settings.t_end)

    def choose_method(self) -> None:
        """Let the user choose every strategy."""
        from .method_dialog import MethodDialog

        self._show_settings()  # pressing the button is not yet a choice
        MethodDialog(self.document, self).open()

    def _show_settings(self) -> None:
        settings = self.document.run_settings
        for name, button in self.buttons.items():
            button.setChecked(name == settings.preset)
        by_hand = "Choose coordinates, solver, stabilization and integrator by hand"
        self.method.setToolTip(f"{by_hand}\n{settings.summary()}" if settings.preset == "custom" else by_hand)
        self.t_end.show_value(settings.t_end)

    def _show_problem(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    # --- running -----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Run with the settings shown; an end time that is not a number is said, and nothing runs."""
        self.t_end.commit()
        if self.t_end.problem:
            self.t_end.setFocus()
            return
        self.runner.start()

    def _on_started(self) -> None:
        self.bar.setRange(0, 0)
        self._show_progress()

    def _on_progress(self, fraction: float, left: float) -> None:
        if self.bar.maximum() == 0:
            self.bar.setRange(0, 1000)
        self.bar.setValue(round(1000 * fraction))
        rest = f", {duration(left)} left" if left >= 0.0 else ""
        settings = self.runner.run.settings if self.runner.run is not None else self.document.run_settings
        self.progress.setText(f"{self.runner.reached:.3g} of {settings.t_end:g} s{rest}")

    def _on_ended(self, _: Run | None) -> None:
        self.bar.reset()
        self._show_progress()

    def _show_progress(self, _: object = None) -> None:
        running = self.runner.running
        self.run.setVisible(not running)
        self.cancel.setVisible(running)
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


class ResultsList(QTreeWidget):
    """The runs of a document: which one is looked at, which ones are plotted, what became of them."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results")
        self.document = document
        self._refreshing = False
        self.setColumnCount(3)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setUniformRowHeights(True)
        self.setIconSize(QSize(14, 14))
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(70)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(STATUS, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(SHOWN, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(SHOWN, 30)
        self.currentItemChanged.connect(self._choose)
        self.itemChanged.connect(self._rename)
        self.itemDoubleClicked.connect(lambda item, column: self.editItem(item, NAME) if column == NAME else None)
        self.customContextMenuRequested.connect(self._open_menu)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_current()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        # A shortcut of the window must not take the key of the run that has the focus.
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Delete:
            event.accept()
            return True
        return super().event(event)

    def refresh(self) -> None:
        """Bring the list up to date; rows stay where they are, so that nothing flickers while a run grows."""
        self._refreshing = True
        runs = self.document.runs
        while self.topLevelItemCount() > len(runs):
            self.takeTopLevelItem(self.topLevelItemCount() - 1)
        for k, run in enumerate(runs):
            item = self.topLevelItem(k)
            if item is None:
                item = QTreeWidgetItem(self)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self._fill(item, run)
            button = self.itemWidget(item, SHOWN)
            if button is None:
                self.setItemWidget(item, SHOWN, self._eye(run))
            else:
                self._set_eye(button, run)
            if run is self.document.current_run:
                self.setCurrentItem(item)
        if self.document.current_run is None:
            self.setCurrentItem(None)
        self._refreshing = False

    def _fill(self, item: QTreeWidgetItem, run: Run) -> None:
        look = current_theme()
        item.setData(NAME, RUN, run)
        item.setText(NAME, run.name)
        item.setIcon(NAME, dot(run.color, hollow=run.stale))
        item.setText(STATUS, status(run))
        color = look.bad if run.reason and not run.computing else look.muted
        item.setForeground(STATUS, QColor(color))
        item.setForeground(NAME, QColor(look.muted if run.stale else look.text))
        for column in (NAME, STATUS):
            item.setToolTip(column, details(run))

    def _eye(self, run: Run) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("run_visible")
        button.setProperty("role", "small")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda: self._toggle(button))
        self._set_eye(button, run)
        return button

    def _set_eye(self, button: QWidget, run: Run) -> None:
        assert isinstance(button, QToolButton)
        button.setProperty("run", id(run))
        set_icon(button, "eye" if run.visible else "eye_off", "text" if run.visible else "muted")
        button.setToolTip("Shown in plots; click to hide" if run.visible else "Hidden in plots; click to show")

    def _toggle(self, button: QToolButton) -> None:
        run = next((run for run in self.document.runs if id(run) == button.property("run")), None)
        if run is not None:
            self.set_visible(run, not run.visible)

    # --- what can be done with a run ---------------------------------------------------------------------------------

    def set_visible(self, run: Run, visible: bool) -> None:
        """Show or hide a run in the plots."""
        run.visible = visible
        self.document.run_changed(run)

    def delete_current(self) -> None:
        """Forget the run that is selected."""
        run = self.document.current_run
        if run is not None and not run.computing:
            self.document.remove_run(run)

    def use_settings(self, run: Run) -> None:
        """Let the next run be computed as this one was."""
        self.document.run_settings = run.settings

    def _choose(self, item: QTreeWidgetItem | None, _: object) -> None:
        if item is not None and not self._refreshing:
            run = item.data(NAME, RUN)
            # The list may be refreshed by what follows; Qt is still inside its own change of the current item.
            QTimer.singleShot(0, lambda: self.document.choose_run(run) if run in self.document.runs else None)

    def _rename(self, item: QTreeWidgetItem, column: int) -> None:
        if self._refreshing or column != NAME:
            return
        run, name = item.data(NAME, RUN), item.text(NAME).strip()
        if name:
            run.name = name
        self.document.run_changed(run)

    def _open_menu(self, place: QPoint) -> None:
        item = self.itemAt(place)
        if item is not None:
            self.menu_for(item).exec(self.viewport().mapToGlobal(place))

    def menu_for(self, item: QTreeWidgetItem) -> QMenu:
        """The context menu of a run."""
        run: Run = item.data(NAME, RUN)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries: list[tuple[str, str, str, Callable[[], object], bool]] = [
            ("run_rename", "Rename", "rename", lambda: self.editItem(item, NAME), True),
            (
                "run_toggle",
                "Hide in plots" if run.visible else "Show in plots",
                "eye_off" if run.visible else "eye",
                lambda: self.set_visible(run, not run.visible),
                True,
            ),
            ("run_reuse", "Use its settings for the next run", "method", lambda: self.use_settings(run), True),
            ("run_delete", "Delete", "delete", lambda: self.document.remove_run(run), not run.computing),
        ]
        for name, text, picture, slot, enabled in entries:
            action = menu.addAction(icon(picture), text)
            action.setObjectName(name)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _=False, slot=slot: slot())
        return menu


def status(run: Run) -> str:
    """What became of a run, in a few words."""
    if run.computing:
        return f"computing, {run.t_last:.3g} s"
    parts = []
    if run.reason:
        parts.append(f"{'cancelled' if run.reason.startswith('cancelled') else 'stopped'} at {run.t_last:.3g} s")
    else:
        parts.append(f"{run.t_last:g} s")
    if run.stale:
        parts.append("older model")
    return ", ".join(parts)


def details(run: Run) -> str:
    """A run at length, for its tooltip."""
    lines = [run.settings.summary()]
    if run.stale:
        lines.append("The model was changed after this run.")
    if run.reason:
        lines.append(f"Ended early: {run.reason}")
    lines += run.warnings
    return "\n".join(lines)


def dot(color: str, hollow: bool = False) -> QIcon:
    """The mark of a run's colour; a ring if the run is stale."""
    picture = QPixmap(28, 28)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = painter.pen()
    pen.setColor(QColor(color))
    pen.setWidth(4)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush if hollow else QColor(color))
    painter.drawEllipse(6, 6, 16, 16)
    painter.end()
    found = QIcon(picture)
    found.addPixmap(picture, QIcon.Mode.Selected)  # Qt would tint it
    return found
