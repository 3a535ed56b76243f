"""The tab that compares methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

import mbframe as mb

from ...document.document import Document
from ...solving.tasks import CompareTask, Model, ReportTask
from ...widgets import icons
from ...widgets.arranging import stack
from ...widgets.banner import Banner
from ...widgets.labels import ElidedLabel, explanation
from .choices import CompareChoices
from .plots import KINDS, ComparePlot
from .table import CompareTable, in_words

EXPLANATION: Final = (
    "Coordinates, solvers, stabilizations and integrators on this model, side by side: how accurate each of them is, "
    "how long it takes, how well it keeps joints closed and energy constant."
)
CHANGED: Final = "The model was changed since; these are the results of the model before."


class ComparePanel(QWidget):
    """Chooses methods, has them compared in the solver process, shows table and plots."""

    compared = Signal(object)
    """The `mbframe.Comparison` that is shown now."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compare_panel")
        self.document, self.solver = document, solver
        self.comparison: mb.Comparison | None = None
        self._job: Any = None
        self._compared_text = ""  # the model that is, or was, compared
        self._build()
        document.replaced.connect(self._renew)
        document.structure_changed.connect(self._model_changed)
        document.element_changed.connect(self._model_changed)
        self._renew()

    # --- widgets -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.banner = Banner("compare_banner")
        self.choices: CompareChoices | None = None
        self.pages = QStackedWidget()
        self.choosing = QWidget()
        QVBoxLayout(self.choosing).setContentsMargins(0, 0, 0, 0)
        self.empty, self.waiting, self.results = self._empty_page(), self._waiting_page(), self._results_page()
        for page in (self.empty, self.choosing, self.waiting, self.results):
            self.pages.addWidget(page)
        stack(self, self.banner, self.pages, growing=self.pages)

    def _empty_page(self) -> QWidget:
        self.begin = _button("compare_begin", "Choose methods", "compare", primary=True)
        self.begin.clicked.connect(self.choose)
        return _centred(explanation(EXPLANATION), self.begin)

    def _waiting_page(self) -> QWidget:
        self.progress = QProgressBar()
        self.progress.setObjectName("compare_progress")
        self.progress.setRange(0, 100)
        self.progress.setFixedWidth(360)
        self.stop = _button("compare_cancel", "Cancel", "stop")
        self.stop.clicked.connect(self.cancel)
        return _centred(self.progress, self.stop)

    def _results_page(self) -> QWidget:
        self.caption = ElidedLabel()
        self.caption.setObjectName("compare_caption")
        self.caption.setProperty("role", "muted")
        self.again = _button("compare_again", "Change methods", "method")
        self.again.clicked.connect(self.choose)
        self.export = _button("compare_export", "Export report…", "export")
        self.export.setToolTip("Table and plots as one HTML page that needs no other file")
        self.export.clicked.connect(self._ask_where_to_export)
        self.table, self.plot = CompareTable(), ComparePlot()
        self.table.family_chosen.connect(self.plot.choose)
        self.plot.setMinimumSize(QSize(180, 90))
        row = QHBoxLayout()
        row.setContentsMargins(10, 5, 8, 3)
        row.setSpacing(6)
        row.addWidget(self.caption, 1)
        for button in (self.again, self.export):
            row.addWidget(button)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.addWidget(self.table)
        self.splitter.addWidget(self._pictures())
        self.splitter.setStretchFactor(0, 5)
        self.splitter.setStretchFactor(1, 3)
        self.splitter.setSizes([5000, 3000])
        self.splitter.setChildrenCollapsible(False)
        return stack(QWidget(), row, self.splitter, growing=self.splitter)

    def _pictures(self) -> QWidget:
        self.kinds = QButtonGroup(self)
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 6, 2)
        row.setSpacing(2)
        for kind, (title, _, _) in KINDS.items():
            button = QPushButton(title)
            button.setObjectName(f"compare_{kind}")
            button.setProperty("role", "segment")
            button.setCheckable(True)
            button.setChecked(kind == self.plot.kind)
            button.clicked.connect(lambda _=False, kind=kind: self.plot.show_kind(kind))
            self.kinds.addButton(button)
            row.addWidget(button)
        return stack(QWidget(), row, self.plot, growing=self.plot)

    # --- the model ---------------------------------------------------------------------------------------------------

    def _renew(self) -> None:
        """There is another model: nothing is known of it."""
        self.cancel()
        self._job = None
        self._show(None)
        self.banner.say("")
        if self.choices is not None:
            self.choices.renew()
        self.pages.setCurrentWidget(self.empty)
        self._model_changed()

    def _model_changed(self, *_: object) -> None:
        self.begin.setEnabled(bool(self.document.system.bodies))
        if self.comparison is None:
            return
        if self.document.model_text() != self._compared_text:
            self.banner.say(CHANGED, "info", [("Compare again", self.compare)])
        elif self.banner.text.text() == CHANGED:
            self.banner.say("")

    # --- comparing ---------------------------------------------------------------------------------------------------

    def choose(self) -> None:
        """Show the methods to choose from."""
        if self.choices is None:
            self.choices = CompareChoices(self.document)
            self.choices.compare_asked.connect(self.compare)
            layout = self.choosing.layout()
            assert layout is not None
            layout.addWidget(self.choices)
        self.pages.setCurrentWidget(self.choosing)

    def compare(self) -> None:
        """Compare the chosen methods."""
        if self._job is not None or self.choices is None:
            return
        try:
            experiment = self.choices.experiment()
            task = CompareTask(Model.of(self.document.system), experiment.t_end, experiment.keywords)
        except (ValueError, mb.ModelError) as error:
            self.banner.say(str(error), "error")
            return
        self.banner.say("")
        self._compared_text = self.document.model_text()
        self.pages.setCurrentWidget(self.waiting)
        self._show_progress(0.0, (0, experiment.count))
        job = self._job = self.solver.submit(task)
        job.progressed.connect(lambda share, info: self._show_progress(share, info) if isValid(self) else None)
        job.finished.connect(lambda found: self._ended(job, found))
        job.failed.connect(lambda failure: self._ended(job, failure=failure))
        job.cancelled.connect(lambda: self._ended(job))

    def cancel(self) -> None:
        """Stop comparing."""
        if self._job is not None:
            self._job.cancel()

    def _show_progress(self, share: float, info: Any) -> None:
        self.progress.setValue(round(100 * share))
        done, count = info
        self.progress.setFormat(f"{done} of {count} runs" if done < count else "Computing the reference…")

    def _ended(self, job: Any, found: Any = None, failure: Any = None) -> None:
        if not isValid(self) or job is not self._job:
            return
        self._job = None
        if found is not None:
            self._show(found)
            self._model_changed()  # it may have changed meanwhile
            self.pages.setCurrentWidget(self.results)
            self.compared.emit(found)
            return
        self.pages.setCurrentWidget(self.choosing)
        if failure is not None:
            self.banner.say(str(failure), "error")

    def _show(self, comparison: mb.Comparison | None) -> None:
        self.comparison = comparison
        self.table.show_comparison(comparison)
        self.plot.show_comparison(comparison)
        if comparison is None:
            return
        failed = len(comparison.failures())
        words = [in_words(comparison.table().caption())]
        if failed:
            words.append(f"{failed} of {len(comparison.outcomes)} failed; the last column says why")
        words += [note[:1].upper() + note[1:] for note in comparison.notes]
        self.caption.setText(". ".join(words))
        self.caption.setToolTip("\n".join(words))

    # --- export ------------------------------------------------------------------------------------------------------

    def _ask_where_to_export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Export report", "comparison.html", "Pages (*.html)")
        if name:
            path = Path(name)
            self.write_report(path if path.suffix else path.with_suffix(".html"))

    def write_report(self, path: Path) -> None:
        """Write table and plots as a page."""
        if self.comparison is None:
            return
        self.export.setEnabled(False)
        job = self.solver.submit(ReportTask(self.comparison, str(path)))
        job.finished.connect(lambda _: self._written(f"Report written to {path}.", "info"))
        job.failed.connect(lambda failure: self._written(str(failure), "error"))
        job.cancelled.connect(lambda: self._written("", "info"))

    def _written(self, words: str, level: str) -> None:
        if isValid(self):
            self.export.setEnabled(True)
            self.banner.say(words, level)


def _button(name: str, text: str, icon: str, primary: bool = False) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName(name)
    button.setProperty("primary", primary)
    icons.set_icon(button, icon, "accent_text" if primary else "text")
    return button


def _centred(*widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.addStretch(1)
    for widget in widgets:
        column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
    column.addStretch(1)
    return page
