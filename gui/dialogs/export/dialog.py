"""The dialog that writes films, pictures, 3D models, pages, tables and scripts."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

import mbframe as mb
from mbframe.disk.atomic import sweep, write_text

from ...base.settings import Settings
from ...document.document import Document
from ...solving.tasks import ExportTask, Model, TableTask
from ...widgets import icons
from .formats import FORMATS, Format, file_name, file_size, judged, keywords, spoken, with_suffix
from .options import ExportOptions, QuantityTicks
from .preview import ExportPreview

BESIDE = 48  # pixels beside the name of a format: its icon and margins
SWEEPS, SWEEP_MS = 4, 400  # how often, and after how many milliseconds, one looks for what a cancelled export left
SETTLED = 0.03  # fraction from which on the time left can be told


class ExportDialog(QDialog):
    """Choose what to write and where; the work is done in another process and can be cancelled."""

    def __init__(
        self,
        document: Document,
        solver: Any,
        view: Any = None,
        parent: QWidget | None = None,
        settings: Settings | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("export_dialog")
        self.setWindowTitle("Export")
        self.document, self.solver, self.view, self.settings = document, solver, view, settings
        self.job: Any = None
        self.written: list[Path] = []
        self._named = False  # whether the user has chosen a name
        self._clock = QElapsedTimer()
        self._closing = False
        self._build()
        self._connect()
        self.formats.setCurrentRow(0)
        document.runs.changed.connect(self._fill_runs)

    # --- widgets ------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.formats = QListWidget()
        self.formats.setObjectName("export_formats")
        self.formats.setAccessibleName("Format")
        metrics = self.formats.fontMetrics()
        widest = max(metrics.horizontalAdvance(one.label) for one in FORMATS)
        self.formats.setFixedWidth(max(180, widest + BESIDE))
        self.formats.setIconSize(QSize(20, 20))
        self.formats.setSpacing(1)
        for one in FORMATS:
            item = QListWidgetItem(icons.icon(one.icon), one.label)
            item.setToolTip(one.help)
            item.setSizeHint(QSize(0, max(32, metrics.height() + 12)))
            self.formats.addItem(item)
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setProperty("role", "muted")
        self.options, self.quantities = ExportOptions(self.document, self.view), QuantityTicks()
        self.preview = ExportPreview(self.solver)
        self.path = QLineEdit()
        self.path.setObjectName("export_path")
        self.path.setAccessibleName("File")
        self.browse = QPushButton("Browse…")
        self.browse.setObjectName("export_browse")
        self.browse.setAutoDefault(False)
        place = QHBoxLayout()
        place.addWidget(QLabel("File"))
        place.addWidget(self.path, 1)
        place.addWidget(self.browse)
        self.note = QLabel()
        self.note.setObjectName("export_note")
        self.note.setWordWrap(True)
        self.note.setMinimumHeight(self.note.fontMetrics().height() * 2 + 2)
        self.note.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.progress = QProgressBar()
        self.progress.setObjectName("export_progress")
        self.progress.setRange(0, 1000)
        self.progress.setTextVisible(False)
        self.progress.setMaximumHeight(8)
        self.summary = QLabel()
        self.summary.setObjectName("export_summary")
        self.summary.setProperty("role", "muted")
        self.open_folder = QPushButton("Open folder")
        self.open_folder.setObjectName("export_open_folder")
        self.open_folder.setProperty("link", True)
        self.open_folder.setAutoDefault(False)
        self.close_button = QPushButton("Close")
        self.close_button.setObjectName("export_close")
        self.close_button.setAutoDefault(False)
        self.button = QPushButton("Export")
        self.button.setObjectName("export_button")
        self.button.setDefault(True)
        self.button.setProperty("primary", True)
        foot = QHBoxLayout()
        foot.addWidget(self.summary)
        foot.addWidget(self.open_folder)
        foot.addStretch(1)
        foot.addWidget(self.close_button)
        foot.addWidget(self.button)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(self.words)
        right.addWidget(self.options)
        right.addWidget(self.quantities, 100)
        right.addWidget(self.preview)
        right.addStretch(1)
        right.addLayout(place)
        right.addWidget(self.note)
        right.addWidget(self.progress)
        right.addLayout(foot)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 12, 12, 12)
        row.setSpacing(14)
        row.addWidget(self.formats)
        row.addLayout(right, 1)
        self.resize(720, 600)
        self.progress.hide()
        self.open_folder.hide()

    def _connect(self) -> None:
        self.formats.currentRowChanged.connect(lambda _: self._format_changed())
        self.options.run_changed.connect(self._run_changed)
        self.options.changed.connect(self._judge)
        self.path.textEdited.connect(self._path_edited)
        self.browse.clicked.connect(self._browse)
        self.button.clicked.connect(self.export)
        self.close_button.clicked.connect(self.reject)
        self.open_folder.clicked.connect(self._open_folder)
        self._fill_runs()

    # --- what is chosen -----------------------------------------------------------------------------------------------

    @property
    def format(self) -> Format:
        """The kind of file."""
        return FORMATS[max(0, self.formats.currentRow())]

    @property
    def target(self) -> Path:
        """The file to write."""
        return with_suffix(Path(self.path.text()).expanduser(), self.format)

    def _fill_runs(self) -> None:
        if self.job is None:
            self.options.fill_runs()

    def _run_changed(self) -> None:
        if self.options.chosen_run is not None:
            self.quantities.clear()
        self._fill_quantities()

    def _fill_quantities(self) -> None:
        """List the quantities when they are first needed: some thousand names for a large model."""
        run = self.options.chosen_run
        if run is not None and "quantities" in self.format.options and not self.quantities.filled:
            self.quantities.fill(run.result.quantities())

    def _format_changed(self) -> None:
        chosen = self.format
        self.words.setText(chosen.help)
        self.options.show_format(chosen)
        self.quantities.setVisible("quantities" in chosen.options)
        self._fill_quantities()
        if self._named:
            self.path.setText(str(with_suffix(Path(self.path.text()), chosen)))
        else:
            self.path.setText(str(self._folder() / file_name(self.document.title, chosen)))
        self._forget_written()
        self._judge()

    def _folder(self) -> Path:
        if self.document.path is not None:
            return self.document.path.parent
        return self.settings.last_folder if self.settings is not None else Path.home()

    def _path_edited(self, _: str) -> None:
        self._named = True
        self._forget_written()
        self._judge()

    def _browse(self) -> None:
        chosen = self.format
        name, _ = QFileDialog.getSaveFileName(
            self,
            f"Export {chosen.label.lower()}",
            self.path.text(),
            f"{chosen.label} (*{chosen.suffix})",
            options=QFileDialog.Option.DontConfirmOverwrite,  # said below the name
        )
        if name:
            self._named = True
            self.path.setText(str(with_suffix(Path(name), chosen)))
            self._forget_written()
            self._judge()

    # --- what can be done ---------------------------------------------------------------------------------------------

    def _problem(self) -> str:
        """Why nothing can be exported now; empty if something can."""
        chosen = self.format
        if chosen.needs_run and self.options.chosen_run is None:
            return "There is no run yet. Close this, press Run, and come back."
        if chosen.key == "view" and self.view is None:
            return "There is no view to take a picture of."
        if "time" in chosen.options and self.options.ends_before_it_starts:
            return "The end of the time range is before its start."
        return judged(self.path.text(), chosen).problem

    def _judge(self) -> None:
        self._preview()
        if self.job is not None or self.written:
            return
        problem = self._problem()
        self._say(problem or judged(self.path.text(), self.format).note, "bad" if problem else "muted")
        self.button.setEnabled(not problem)
        self.path.setProperty("invalid", bool(judged(self.path.text(), self.format).problem))
        self.path.style().polish(self.path)
        self.summary.setText(self.options.summary() if "time" in self.format.options else "")

    def _preview(self) -> None:
        """Show what the export will look like, if it is one of pictures of a run."""
        run, chosen = self.options.chosen_run, self.format
        drawn = bool({"picture", "camera"} & set(chosen.options))
        self.preview.setVisible(drawn)
        if self.job is not None:
            return
        if not drawn or run is None or self.options.ends_before_it_starts:
            self.preview.forget()
            return
        model = Model.of(self.document.system) if self.document.unsavable() else None
        self.preview.ask(str(self._stored(run)), keywords(self.options.settings(), chosen), model)

    def _stored(self, run: Any) -> Path:
        """The file of a run; one that was computed by a script, say, gets one."""
        if run.path is None or not run.path.is_file():
            run.path = self.solver.temporary_file()
            run.temporary = True
            run.result.save(run.path)
        return run.path

    def _say(self, text: str, role: str) -> None:
        self.note.setText(text)
        self.note.setProperty("role", role)
        self.note.style().polish(self.note)

    # --- exporting ----------------------------------------------------------------------------------------------------

    def export(self) -> None:
        """Write the file, or cancel the export that is under way."""
        if self.job is not None:
            self.button.setEnabled(False)
            self.job.cancel()
            return
        self._forget_written()
        if problem := self._problem():
            self._say(problem, "bad")
            return
        chosen, target = self.format, self.target
        try:
            if chosen.key == "py":
                write_text(target, mb.to_python(self.document.system))
                self._succeeded([target])
            elif chosen.key == "view":
                self._write_picture(target)
            else:
                self._begin(self._task(chosen, target), target)
        except (mb.MbframeError, OSError) as error:
            self._failed(str(error))

    def _write_picture(self, target: Path) -> None:
        if self.view.picture().save(str(target)):
            self._succeeded([target])
        else:
            self._failed(f"{target} could not be written; check the free space and the permissions there.")

    def _task(self, chosen: Format, target: Path) -> Any:
        run = self.options.chosen_run
        assert run is not None
        place = self._stored(run)
        model = Model.of(self.document.system) if self.document.unsavable() else None
        if chosen.key == "csv":
            return TableTask(str(place), str(target), tuple(self.quantities.ticked()), model)
        return ExportTask(str(place), str(target), keywords(self.options.settings(), chosen), model)

    def _begin(self, task: Any, target: Path) -> None:
        self.preview.give_way()
        job = self.job = self.solver.submit(task)
        self._clock.start()
        self.progress.setRange(0, 0)
        self.progress.show()
        self.button.setText("Cancel")
        for widget in (self.formats, self.options, self.quantities, self.path, self.browse):
            widget.setEnabled(False)
        self._say("Preparing…", "muted")
        job.progressed.connect(self._progressed)
        job.finished.connect(lambda paths: self._ended(lambda: self._succeeded([Path(path) for path in paths])))
        job.failed.connect(lambda failure: self._ended(lambda: self._failed(str(failure))))
        job.cancelled.connect(lambda: self._ended(lambda: self._say("Cancelled; nothing was written.", "muted")))
        job.cancelled.connect(lambda: _sweep(target))

    def _progressed(self, fraction: float, _: Any) -> None:
        self.progress.setRange(0, 1000)
        self.progress.setValue(round(1000 * fraction))
        elapsed = self._clock.elapsed() / 1000.0
        left = f", {spoken(elapsed * (1.0 - fraction) / fraction)} left" if fraction > SETTLED else ""
        self._say(f"{fraction:.0%} drawn{left}" if fraction < 1.0 else "Writing the file…", "muted")

    def _ended(self, then: Any) -> None:
        if not isValid(self):
            return  # the window is closed
        self.job = None
        self.progress.hide()
        self.button.setText("Export")
        self.button.setEnabled(True)
        for widget in (self.formats, self.options, self.quantities, self.path, self.browse):
            widget.setEnabled(True)
        then()
        if self._closing:
            super().reject()
        else:
            self._preview()

    def _succeeded(self, paths: list[Path]) -> None:
        self.written = paths
        first = paths[0]
        what = first.name if len(paths) == 1 else f"{len(paths)} pictures, {first.name} to {paths[-1].name}"
        self._say(f"Written: {what} ({file_size(paths)}) in {first.parent}.", "good")
        self.summary.setText("")
        self.open_folder.show()
        self.document.messages.post(f"Exported {what} to {first.parent}.")
        if self.settings is not None:
            self.settings.last_folder = first.parent

    def _failed(self, message: str) -> None:
        self._say(message, "bad")
        self.document.messages.post(f"The export failed: {message}", "error")

    def _forget_written(self) -> None:
        self.written = []
        self.open_folder.hide()

    def _open_folder(self) -> None:
        if self.written:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.written[0].parent)))

    def reject(self) -> None:
        """Close; an export that is under way is cancelled first."""
        if self.job is not None:
            self._closing = True
            self.job.cancel()
            return
        super().reject()


def _sweep(target: Path, tries: int = SWEEPS) -> None:
    """Remove what a cancelled export had written: it was killed, perhaps in the middle, and may still be ending."""
    with suppress(OSError):
        sweep(target)
    if tries > 1:
        QTimer.singleShot(SWEEP_MS, lambda: _sweep(target, tries - 1))
