"""The dialog that writes films, pictures, 3D models, pages, tables and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QElapsedTimer, QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

import mbframe as mb
from mbframe.files.atomic import write_text

from . import icons, theme
from .document import Document
from .export_formats import (
    CAMERAS,
    FASTEST_GIF,
    FORMATS,
    RATES,
    SIZES,
    SPEEDS,
    Format,
    file_name,
    file_size,
    frame_count,
    judged,
    keywords,
    spoken,
    with_suffix,
)
from .runs import Run
from .settings import Settings
from .tasks import ExportTask, Model, TableTask

AS_SHOWN = "as in the view"
OWN_SIZE = "Own size"
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
        document.runs_changed.connect(self._fill_runs)

    # --- widgets ------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.formats = QListWidget()
        self.formats.setObjectName("export_formats")
        self.formats.setAccessibleName("Format")
        self.formats.setFixedWidth(180)
        self.formats.setIconSize(QSize(20, 20))
        self.formats.setSpacing(1)
        for one in FORMATS:
            item = QListWidgetItem(icons.icon(one.icon), one.label)
            item.setToolTip(one.help)
            item.setSizeHint(QSize(0, 32))
            self.formats.addItem(item)
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.words.setProperty("role", "muted")
        self._build_options()
        self._build_quantities()
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
        right.addWidget(self.quantity_box, 100)
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
        self.resize(720, 520)
        self.progress.hide()
        self.open_folder.hide()

    def _build_options(self) -> None:
        self.options = QWidget()
        form = self.form = QFormLayout(self.options)
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        self.run = QComboBox()
        self.run.setObjectName("export_run")
        self.start, self.end = (_seconds(f"export_{name}") for name in ("start", "end"))
        self.speed = QComboBox()
        self.speed.setObjectName("export_speed")
        for speed in SPEEDS:
            self.speed.addItem("real time" if speed == 1.0 else f"{speed:g} × real time", speed)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self.fps = QSpinBox()
        self.fps.setObjectName("export_fps")
        self.fps.setRange(1, 120)
        self.fps.setValue(30)
        self.fps.setSuffix(" frames/s")
        self.size_choice = QComboBox()
        self.size_choice.setObjectName("export_size")
        for words, size in SIZES.items():
            self.size_choice.addItem(words, size)
        self.size_choice.addItem(OWN_SIZE, None)
        self.pixel_width, self.pixel_height = (_pixels(f"export_{name}") for name in ("width", "height"))
        self.camera = QComboBox()
        self.camera.setObjectName("export_camera")
        shown = self.view is not None and self.view.camera.placement is not None
        for name in (AS_SHOWN, *CAMERAS) if shown else CAMERAS:
            self.camera.addItem(name if name != "iso" else "whole motion, from an angle", name)
        if getattr(self.view, "followed", None):  # a camera that stands still would lose what it follows
            self.camera.setCurrentIndex(self.camera.findData("iso"))
        self.look = QComboBox()
        self.look.setObjectName("export_theme")
        for name in ("light", "dark"):
            self.look.addItem(name, name)
        self.look.setCurrentText(theme.current().name)
        self.quality = QComboBox()
        self.quality.setObjectName("export_quality")
        self.quality.addItem("fine: smooth edges", True)
        self.quality.addItem("draft: three times as fast", False)
        self.show_time = QCheckBox("time")
        self.show_time.setObjectName("export_show_time")
        self.show_time.setChecked(True)
        self.show_title = QCheckBox("name of the model")
        self.show_title.setObjectName("export_show_title")
        self.show_title.setChecked(True)
        self.rows = {
            "run": ("Run", self.run),
            "time": ("Time", _side_by_side(self.start, QLabel("to"), self.end, self.speed)),
            "rate": ("Rate", self.fps),
            "size": ("Size", _side_by_side(self.size_choice, self.pixel_width, QLabel("×"), self.pixel_height)),
            "camera": ("Camera", _side_by_side(self.camera, self.look)),
            "quality": ("Quality", self.quality),
            "shown": ("Show", _side_by_side(self.show_time, self.show_title)),
        }
        for words, widget in self.rows.values():
            form.addRow(words, widget)

    def _build_quantities(self) -> None:
        self.quantity_box = QWidget()
        self.search = QLineEdit()
        self.search.setObjectName("export_search")
        self.search.setPlaceholderText("Search quantities")
        self.search.setClearButtonEnabled(True)
        self.quantities = QListWidget()
        self.quantities.setObjectName("export_quantities")
        self.quantities.setAccessibleName("Quantities to write")
        self.quantities.setSpacing(1)
        self.quantities.setUniformItemSizes(True)
        hint = QLabel("Nothing ticked: positions, rotations and velocities of all bodies.")
        hint.setProperty("role", "muted")
        column = QVBoxLayout(self.quantity_box)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.search, self.quantities, hint):
            column.addWidget(widget)

    def _connect(self) -> None:
        self.formats.currentRowChanged.connect(lambda _: self._format_changed())
        self.run.currentIndexChanged.connect(lambda _: self._run_changed())
        self.size_choice.currentIndexChanged.connect(lambda _: self._size_chosen())
        for widget in (self.start, self.end, self.fps, self.pixel_width, self.pixel_height):
            widget.valueChanged.connect(lambda _: self._judge())
        self.speed.currentIndexChanged.connect(lambda _: self._judge())
        self.search.textChanged.connect(self._filter)
        self.path.textEdited.connect(self._path_edited)
        self.browse.clicked.connect(self._browse)
        self.button.clicked.connect(self.export)
        self.close_button.clicked.connect(self.reject)
        self.open_folder.clicked.connect(self._open_folder)
        self._fill_runs()
        self._size_chosen()

    # --- what is chosen -----------------------------------------------------------------------------------------------

    @property
    def format(self) -> Format:
        """The kind of file."""
        return FORMATS[max(0, self.formats.currentRow())]

    @property
    def chosen_run(self) -> Run | None:
        return self.run.currentData()

    @property
    def target(self) -> Path:
        """The file to write."""
        return with_suffix(Path(self.path.text()).expanduser(), self.format)

    def chosen_settings(self) -> dict[str, Any]:
        """What is set, for `keywords`."""
        camera = self.camera.currentData()
        return {
            "start": self.start.value(),
            "end": self.end.value(),
            "speed": self.speed.currentData(),
            "fps": self.fps.value(),
            "size": (self.pixel_width.value(), self.pixel_height.value()),
            "camera": self.view.camera.placement if camera == AS_SHOWN else camera,
            "theme": self.look.currentData(),
            "smooth": self.quality.currentData(),
            "show_time": self.show_time.isChecked(),
            "title": None if self.show_title.isChecked() else "",
        }

    def ticked(self) -> list[str]:
        """The quantities that are ticked."""
        items = (self.quantities.item(k) for k in range(self.quantities.count()))
        return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]

    def _fill_runs(self) -> None:
        if self.job is not None:
            return
        before = self.chosen_run
        self.run.blockSignals(True)
        self.run.clear()
        usable = [run for run in self.document.runs if run.result is not None and len(run.result)]
        for run in reversed(usable):
            marks = [word for word, holds in (("outdated", run.stale), ("not finished", not run.complete)) if holds]
            self.run.addItem(f"{run.name} ({', '.join(marks)})" if marks else run.name, run)
        wanted = before if before in usable else self.document.current_run
        self.run.setCurrentIndex(max(0, self.run.findData(wanted)) if usable else -1)
        self.run.blockSignals(False)
        self._run_changed()

    def _run_changed(self) -> None:
        run = self.chosen_run
        if run is not None:
            first, last = float(run.result.t[0]), float(run.result.t[-1])
            for box, value in ((self.start, first), (self.end, last)):
                box.setRange(first, last)
                box.setValue(value)
            self.quantities.clear()
        self._fill_quantities()
        self._judge()

    def _fill_quantities(self) -> None:
        """List the quantities when they are first needed: some thousand names for a large model."""
        run = self.chosen_run
        if run is None or "quantities" not in self.format.options or self.quantities.count():
            return
        for name, unit in run.result.quantities().items():
            item = QListWidgetItem(name)
            item.setToolTip(unit)
            item.setSizeHint(QSize(0, 22))
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable)
            item.setCheckState(Qt.CheckState.Unchecked)
            self.quantities.addItem(item)
        self._filter(self.search.text())

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        for k in range(self.quantities.count()):
            item = self.quantities.item(k)
            item.setHidden(not all(word in item.text().lower() for word in words))

    def _format_changed(self) -> None:
        chosen = self.format
        self.words.setText(chosen.help)
        parts = {"size": "picture", "quality": "picture", "shown": "picture"}
        for name, (_, widget) in self.rows.items():
            wanted = parts.get(name, name) in chosen.options or (name == "camera" and "picture" in chosen.options)
            self.form.setRowVisible(widget, wanted)
        self.quantity_box.setVisible("quantities" in chosen.options)
        if chosen.key in RATES:
            self.fps.setValue(RATES[chosen.key])
        self.fps.setMaximum(FASTEST_GIF if chosen.key == "gif" else 120)
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

    def _size_chosen(self) -> None:
        size = self.size_choice.currentData()
        for box in (self.pixel_width, self.pixel_height):
            box.setEnabled(size is None)
        if size is not None:
            self.pixel_width.setValue(size[0])
            self.pixel_height.setValue(size[1])
        self._judge()

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
        if chosen.needs_run and self.chosen_run is None:
            return "There is no run yet. Close this, press Run, and come back."
        if chosen.key == "view" and self.view is None:
            return "There is no view to take a picture of."
        if "time" in chosen.options and self.end.value() < self.start.value():
            return "The end of the time range is before its start."
        return judged(self.path.text(), chosen).problem

    def _judge(self) -> None:
        if self.job is not None or self.written:
            return
        problem = self._problem()
        self._say(problem or judged(self.path.text(), self.format).note, "bad" if problem else "muted")
        self.button.setEnabled(not problem)
        self.path.setProperty("invalid", bool(judged(self.path.text(), self.format).problem))
        self.path.style().polish(self.path)
        self.summary.setText(self._summary())

    def _summary(self) -> str:
        chosen = self.format
        if "time" not in chosen.options or self.chosen_run is None or self.end.value() < self.start.value():
            return ""
        speed = self.speed.currentData()
        playing = (self.end.value() - self.start.value()) / speed
        frames = frame_count(self.start.value(), self.end.value(), self.fps.value(), speed)
        return f"{frames} frames, {playing:.3g} s to watch"

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
                self._begin(self._task(chosen, target))
        except (mb.MbframeError, OSError) as error:
            self._failed(str(error))

    def _write_picture(self, target: Path) -> None:
        if self.view.picture().save(str(target)):
            self._succeeded([target])
        else:
            self._failed(f"{target} could not be written; check the free space and the permissions there.")

    def _task(self, chosen: Format, target: Path) -> Any:
        run = self.chosen_run
        assert run is not None
        place = run.path
        if place is None or not place.is_file():  # computed by a script, say
            place = self.solver.temporary_file()
            run.result.save(place)
        model = Model.of(self.document.system) if self.document.unsavable() else None
        if chosen.key == "csv":
            return TableTask(str(place), str(target), tuple(self.ticked()), model)
        return ExportTask(str(place), str(target), keywords(self.chosen_settings(), chosen), model)

    def _begin(self, task: Any) -> None:
        job = self.job = self.solver.submit(task)
        self._clock.start()
        self.progress.setRange(0, 0)
        self.progress.show()
        self.button.setText("Cancel")
        for widget in (self.formats, self.options, self.quantity_box, self.path, self.browse):
            widget.setEnabled(False)
        self._say("Preparing…", "muted")
        job.progressed.connect(self._progressed)
        job.finished.connect(lambda paths: self._ended(lambda: self._succeeded([Path(path) for path in paths])))
        job.failed.connect(lambda failure: self._ended(lambda: self._failed(str(failure))))
        job.cancelled.connect(lambda: self._ended(lambda: self._say("Cancelled; nothing was written.", "muted")))

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
        for widget in (self.formats, self.options, self.quantity_box, self.path, self.browse):
            widget.setEnabled(True)
        then()
        if self._closing:
            super().reject()

    def _succeeded(self, paths: list[Path]) -> None:
        self.written = paths
        first = paths[0]
        what = first.name if len(paths) == 1 else f"{len(paths)} pictures, {first.name} to {paths[-1].name}"
        self._say(f"Written: {what} ({file_size(paths)}) in {first.parent}.", "good")
        self.summary.setText("")
        self.open_folder.show()
        self.document.post(f"Exported {what} to {first.parent}.")
        if self.settings is not None:
            self.settings.last_folder = first.parent

    def _failed(self, message: str) -> None:
        self._say(message, "bad")
        self.document.post(f"The export failed: {message}", "error")

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


def _seconds(name: str) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setObjectName(name)
    box.setDecimals(3)
    box.setSingleStep(0.1)
    box.setSuffix(" s")
    return box


def _pixels(name: str) -> QSpinBox:
    box = QSpinBox()
    box.setObjectName(name)
    box.setRange(16, 8192)
    return box


def _side_by_side(*widgets: QWidget) -> QWidget:
    box = QWidget()
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return box
