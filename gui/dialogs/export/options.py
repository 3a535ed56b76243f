"""Options of an export: which run, how fast, how large, from where it is seen; which quantities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSpinBox,
    QWidget,
)

from ...base.names import one_line
from ...document.document import Document
from ...document.runs import Run
from ...widgets import theme
from ...widgets.arranging import stack
from .formats import CAMERAS, FASTEST_GIF, RATES, SIZES, SPEEDS, Format, frame_count

FROM_VIEW = "from where the view looks"
AS_SHOWN = "exactly as in the view"
WHAT_MOVES = "what moves"
OWN_SIZE = "Own size"
DECIMALS = 3
"""Of instants; of a run that is shorter than a second, more."""
PARTS = {
    "size": ("picture",),
    "quality": ("picture",),
    "shown": ("picture",),
    "camera": ("camera", "picture"),
    "follow": ("camera", "picture"),
}
"""Rows that belong to options of a format with another name."""


class ExportOptions(QWidget):
    """A form with the options of a format; `view` gives the camera that is shown, None if there is none."""

    changed = Signal()
    run_changed = Signal()

    def __init__(self, document: Document, view: Any = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document, self.view = document, view
        self._build()
        self.run.currentIndexChanged.connect(lambda _: self._run_changed())
        self.size_choice.currentIndexChanged.connect(lambda _: self._size_chosen())
        for choice in (self.camera, self.follow, self.look):
            choice.currentIndexChanged.connect(lambda _: self.changed.emit())
        for box in (self.start, self.end, self.fps, self.pixel_width, self.pixel_height):
            box.valueChanged.connect(lambda _: self.changed.emit())
        self.speed.currentIndexChanged.connect(lambda _: self.changed.emit())
        self._size_chosen()

    def _build(self) -> None:
        self.run = QComboBox()
        self.run.setObjectName("export_run")
        self.start, self.end = (_seconds(f"export_{name}") for name in ("start", "end"))
        speeds = {"real time" if speed == 1.0 else f"{speed:g} × real time": speed for speed in SPEEDS}
        self.speed = _choice("export_speed", speeds)
        played = getattr(getattr(self.view, "player", None), "speed", 1.0)  # the film is as fast as it was played
        self.speed.setCurrentIndex(SPEEDS.index(min(SPEEDS, key=lambda speed: abs(math.log(speed / played)))))
        self.fps = QSpinBox()
        self.fps.setObjectName("export_fps")
        self.fps.setRange(1, 120)
        self.fps.setValue(30)
        self.fps.setSuffix(" frames/s")
        self.size_choice = _choice("export_size", {**SIZES, OWN_SIZE: None})
        self.pixel_width, self.pixel_height = (_pixels(f"export_{name}") for name in ("width", "height"))
        shown = self.view is not None and self.view.camera.placement is not None
        names = (FROM_VIEW, AS_SHOWN, *CAMERAS) if shown else CAMERAS
        self.camera = _choice("export_camera", {name if name != "iso" else "from an angle": name for name in names})
        self.camera.setToolTip("All but the picture exactly as in the view come as near as they can")
        bodies = {body.name: body.name for body in self.document.system.bodies}
        self.follow = _choice("export_follow", {"what moves": WHAT_MOVES, "nothing: stand still": None, **bodies})
        self.follow.setToolTip("What the camera goes along with")
        self.follow.setMaximumWidth(180)
        if (followed := getattr(self.view, "followed", None)) in bodies:  # as the view does
            self.follow.setCurrentIndex(self.follow.findText(str(followed)))
        self.look = _choice("export_theme", {name: name for name in ("light", "dark")})
        self.look.setCurrentText(theme.current().name)
        self.quality = _choice("export_quality", {"fine: smooth edges": True, "draft: three times as fast": False})
        self.show_time = _tick("export_show_time", "time")
        self.show_title = _tick("export_show_title", "name of the model")
        self.rows = {
            "run": ("Run", self.run),
            "time": ("Time", _side_by_side(self.start, QLabel("to"), self.end, self.speed)),
            "rate": ("Rate", self.fps),
            "size": ("Size", _side_by_side(self.size_choice, self.pixel_width, QLabel("×"), self.pixel_height)),
            "camera": ("Camera", _side_by_side(self.camera, self.look)),
            "follow": ("Follow", self.follow),
            "quality": ("Quality", self.quality),
            "shown": ("Show", _side_by_side(self.show_time, self.show_title)),
        }
        self.form = QFormLayout(self)
        self.form.setContentsMargins(0, 0, 0, 0)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.FieldsStayAtSizeHint)
        for words, widget in self.rows.values():
            self.form.addRow(words, widget)

    # --- what is chosen -----------------------------------------------------------------------------------------------

    @property
    def chosen_run(self) -> Run | None:
        """The run to export; None if there is none."""
        return self.run.currentData()

    @property
    def ends_before_it_starts(self) -> bool:
        """Whether the range of time is none."""
        return self.end.value() < self.start.value()

    @property
    def span(self) -> tuple[float, float]:
        """First and last instant to export, s: the boxes show the ends of a run rounded, and mean its own."""
        start, end = (self._meant(box) for box in (self.start, self.end))
        return start, end

    def _meant(self, box: QDoubleSpinBox) -> float:
        run, value = self.chosen_run, box.value()
        if run is None:
            return value
        ends = {box.minimum(): run.result.t[0], box.maximum(): run.result.t[-1]}
        return float(ends.get(value, value))

    def settings(self) -> dict[str, Any]:
        """What is set, for `export_formats.keywords`."""
        camera = self.camera.currentData()
        start, end = self.span
        return {
            "start": start,
            "end": end,
            "speed": self.speed.currentData(),
            "fps": self.fps.value(),
            "size": (self.pixel_width.value(), self.pixel_height.value()),
            "camera": camera if camera in CAMERAS else self._shown_camera(whole=camera == AS_SHOWN),
            "follow": self.follow.currentData(),
            "theme": self.look.currentData(),
            "smooth": self.quality.currentData(),
            "show_time": self.show_time.isChecked(),
            "title": self.document.called if self.show_title.isChecked() else "",
        }

    def _shown_camera(self, whole: bool) -> Any:
        """The camera of the view, or only its direction, as `mbframe.render.export` takes it."""
        position, focus, up = self.view.camera.placement
        return (position, focus, up) if whole else (tuple(p - f for p, f in zip(position, focus, strict=True)), up)

    def summary(self) -> str:
        """How much that is, in words."""
        if self.chosen_run is None or self.ends_before_it_starts:
            return ""
        (start, end), speed = self.span, self.speed.currentData()
        return f"{frame_count(start, end, self.fps.value(), speed)} frames, {(end - start) / speed:.3g} s to watch"

    # --- what can be chosen -------------------------------------------------------------------------------------------

    def show_format(self, chosen: Format) -> None:
        """Show the options of a format."""
        for name, (_, widget) in self.rows.items():
            self.form.setRowVisible(widget, any(part in chosen.options for part in PARTS.get(name, (name,))))
        if chosen.key in RATES:
            self.fps.setValue(RATES[chosen.key])
        self.fps.setMaximum(FASTEST_GIF if chosen.key == "gif" else 120)

    def fill_runs(self) -> None:
        """List the runs; what was chosen stays if it is still there."""
        before = self.chosen_run
        self.run.blockSignals(True)
        self.run.clear()
        usable = [run for run in self.document.runs if run.result is not None and len(run.result)]
        for run in reversed(usable):
            marks = [word for word, holds in (("outdated", run.stale), ("not finished", not run.complete)) if holds]
            self.run.addItem(f"{one_line(run.name)} ({', '.join(marks)})" if marks else one_line(run.name), run)
        wanted = before if before in usable else self.document.runs.current
        self.run.setCurrentIndex(max(0, self.run.findData(wanted)) if usable else -1)
        self.run.blockSignals(False)
        self._run_changed()

    def _run_changed(self) -> None:
        run = self.chosen_run
        if run is not None:
            first, last = float(run.result.t[0]), float(run.result.t[-1])
            for box, value in ((self.start, first), (self.end, last)):
                box.setDecimals(DECIMALS + max(0, -math.floor(math.log10(last - first or 1.0))))
                box.setRange(first, last)
                box.setValue(value)
        self.run_changed.emit()
        self.changed.emit()

    def _size_chosen(self) -> None:
        size = self.size_choice.currentData()
        for box in (self.pixel_width, self.pixel_height):
            box.setEnabled(size is None)
        if size is not None:
            self.pixel_width.setValue(size[0])
            self.pixel_height.setValue(size[1])
        self.changed.emit()


class QuantityTicks(QWidget):
    """Quantities with a box to tick, found by typing."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.search = QLineEdit()
        self.search.setObjectName("export_search")
        self.search.setPlaceholderText("Search quantities")
        self.search.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setObjectName("export_quantities")
        self.list.setAccessibleName("Quantities to write")
        self.list.setSpacing(1)
        self.list.setUniformItemSizes(True)
        hint = QLabel("Nothing ticked: positions, rotations and velocities of all bodies.")
        hint.setProperty("role", "muted")
        stack(self, self.search, self.list, hint, growing=self.list, spacing=6)
        self.search.textChanged.connect(self._filter)

    @property
    def filled(self) -> bool:
        """Whether there is anything to tick."""
        return self.list.count() > 0

    def fill(self, units: Mapping[str, str]) -> None:
        """List quantities, given with their units."""
        self.list.clear()
        for name, unit in units.items():
            item = QListWidgetItem(name)
            item.setToolTip(unit)
            item.setSizeHint(QSize(0, 22))
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsSelectable)
            item.setCheckState(Qt.CheckState.Unchecked)
            self.list.addItem(item)
        self._filter(self.search.text())

    def clear(self) -> None:
        """List none."""
        self.list.clear()

    def ticked(self) -> list[str]:
        """The names of those that are ticked."""
        items = (self.list.item(k) for k in range(self.list.count()))
        return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        for k in range(self.list.count()):
            item = self.list.item(k)
            item.setHidden(not all(word in item.text().lower() for word in words))


def _choice(name: str, entries: Mapping[str, Any]) -> QComboBox:
    """A box with words to choose from, and what they mean."""
    box = QComboBox()
    box.setObjectName(name)
    for words, value in entries.items():
        box.addItem(words, value)
    return box


def _tick(name: str, words: str) -> QCheckBox:
    box = QCheckBox(words)
    box.setObjectName(name)
    box.setChecked(True)
    return box


def _seconds(name: str) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setObjectName(name)
    box.setDecimals(DECIMALS)
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
