"""The dialog that describes a flexible body: section and material of a beam, or the files of a component."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb

from ..base.words import parameter_label
from ..document.document import Document
from ..fields import Surroundings, field_for
from ..fields.base import sentence
from ..solving.latest import Latest
from ..widgets import theme
from ..widgets.labels import ProblemLabel
from .flexible import BeamData, ComponentData, ModesTask

Array = NDArray[np.float64]

BEND: Final = 0.18
"""Largest displacement in the picture of a shape, relative to the length of the body."""
LISTED: Final = 12
FILES: Final = {
    "component": "Component file",
    "nodes": "Or its nodes",
    "mass": "Mass matrix",
    "stiffness": "Stiffness matrix",
}
LABELS: Final = {"vibrations": "Vibration shapes", "elements": "Finite elements", "interfaces": "Nodes with joints"}


class ShapePicture(QWidget):
    """A component from the side on which the chosen shape bends it most: at rest, and bent."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shape_picture")
        self.setAccessibleName("Shape of the body")
        self.setMinimumSize(QSize(280, 150))
        self.modes: Any = None
        self.number = 0

    def show_shape(self, modes: Any, number: int) -> None:
        """Show another shape, or nothing."""
        self.modes, self.number = modes, number
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.modes is None:
            return
        rest, bent, lines = outline(self.modes, self.number)
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        room, middle = self.rect().adjusted(14, 14, -14, -14), QPointF(self.rect().center())
        both = np.vstack([rest, bent])
        centre = 0.5 * (both.min(axis=0) + both.max(axis=0))
        scale = min(room.width() / max(np.ptp(both[:, 0]), 1e-12), room.height() / max(np.ptp(both[:, 1]), 1e-12))
        for points, color, width in ((rest, "muted", 1.2), (bent, "accent", 2.4)):
            places = [middle + QPointF(scale * (x - centre[0]), -scale * (y - centre[1])) for x, y in points]
            painter.setPen(QPen(look.color(color), width))
            for a, b in lines:
                painter.drawLine(places[a], places[b])
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(look.color(color))
            for place in places if len(places) <= 60 or not len(lines) else ():
                painter.drawEllipse(place, 1.2 * width, 1.2 * width)


def outline(modes: Any, number: int) -> tuple[Array, Array, Array]:
    """Nodes at rest and bent, (n, 2) each, and pairs of node numbers to connect; x is along the longest extent."""
    part, moves = modes.component, modes.translations[:, :, number]
    points = part.nodes - part.nodes.mean(axis=0)
    along = np.linalg.svd(points, full_matrices=False)[2][0]
    along = along if along[np.argmax(np.abs(along))] > 0.0 else -along
    across = moves - np.outer(moves @ along, along)
    if not np.linalg.norm(across) > 1e-6 * np.linalg.norm(moves):  # it stretches or twists
        across = points - np.outer(points @ along, along) + np.eye(3)[int(np.argmin(np.abs(along)))] * 1e-9
        across = across - np.outer(across @ along, along)
    up = np.linalg.svd(across, full_matrices=False)[2][0]
    up = up if up[np.argmax(np.abs(up))] > 0.0 else -up
    plane = np.column_stack([along, up])
    rest, shift = points @ plane, moves @ plane
    size = float(np.abs(shift).max()) or 1.0
    triangles = part.triangles
    lines = part.lines if len(part.lines) else triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    return rest, rest + shift * (BEND * max(float(np.ptp(rest[:, 0])), 1e-12) / size), lines


class FlexibleDialog(QDialog):
    """Describes a beam between two points, or a component at a point; Add puts it into the document.

    Modes are computed in the solver process while the numbers are typed; what is wrong is said below them.
    """

    def __init__(
        self,
        document: Document,
        solver: Any,
        data: BeamData | ComponentData,
        pose: tuple[Array, Array],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("flexible_dialog")
        self.setWindowTitle("Flexible beam" if isinstance(data, BeamData) else "Flexible component")
        self.document, self.data, self.pose = document, data, pose
        self.modes: Any = None
        self.asking = Latest(solver, self)
        self.asking.finished.connect(self._found)
        self.asking.failed.connect(self._failed)
        self._build()
        self._ask()

    # --- widgets -----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.form = QGridLayout()
        self.form.setHorizontalSpacing(8)
        self.form.setVerticalSpacing(4)
        self.rows: dict[str, list[QWidget]] = {}
        self.fields: dict[str, Any] = {}
        self.paths: dict[str, QLineEdit] = {}
        if isinstance(self.data, ComponentData):
            for name, label in FILES.items():
                self._add_file(name, label)
        for name in self.data.parameters():
            self._add_field(name)
        self.form.setRowStretch(self.form.rowCount(), 1)
        self.shape = QComboBox(self)
        self.shape.setObjectName("shape_choice")
        self.shape.setToolTip("Which shape is drawn")
        self.picture = ShapePicture(self)
        self.shape.currentIndexChanged.connect(lambda k: self.picture.show_shape(self.modes, max(k, 0)))
        self.facts = QLabel(self)
        self.facts.setObjectName("flexible_facts")
        self.facts.setWordWrap(True)
        self.facts.setProperty("role", "muted")
        self.problem = ProblemLabel("flexible_problem", self)
        buttons = QDialogButtonBox(self)
        self.add = buttons.addButton("Add", QDialogButtonBox.ButtonRole.AcceptRole)
        self.add.setObjectName("add_flexible")
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        right = QVBoxLayout()
        right.addWidget(self.shape)
        right.addWidget(self.picture, 1)
        right.addWidget(self.facts)
        both = QHBoxLayout()
        both.setSpacing(18)
        both.addLayout(self.form, 1)
        both.addLayout(right, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(16, 16, 16, 16)
        whole.setSpacing(10)
        whole.addLayout(both, 1)
        whole.addWidget(self.problem)
        whole.addWidget(buttons)
        self.resize(680, 380)

    def _add_field(self, name: str) -> None:
        declared = self.data.parameters()[name]
        field = field_for(declared, Surroundings(self.document.units), self)
        field.show_value(getattr(self.data, name))
        field.setToolTip(sentence(declared.help))
        label, unit = QLabel(LABELS.get(name, parameter_label(name)), self), QLabel(field.unit, self)
        wrong = ProblemLabel(f"problem_{name}", self)
        label.setBuddy(field)
        row = self.form.rowCount()
        self.form.addWidget(label, row, 0)
        self.form.addWidget(field, row, 1)
        self.form.addWidget(unit, row, 2)
        self.form.addWidget(wrong, row + 1, 1, 1, 2)
        field.committed.connect(lambda value, _: self._accept_value(name, value))
        field.problem_changed.connect(partial(self._say, wrong))
        self.fields[name], self.rows[name] = field, [label, field, unit]

    def _add_file(self, name: str, label: str) -> None:
        row = self.form.rowCount()
        edit, choose = QLineEdit(self), QPushButton("Choose…", self)
        edit.setObjectName(f"file_{name}")
        edit.setToolTip(ComponentData.files[name])
        edit.setPlaceholderText(ComponentData.files[name].partition("(")[2].rstrip(")").replace("*", ""))
        edit.setMinimumWidth(180)
        edit.editingFinished.connect(lambda: self._accept_path(name, edit.text().strip()))
        choose.setObjectName(f"choose_{name}")
        choose.setAutoDefault(False)
        choose.clicked.connect(lambda: self._choose_file(name))
        self.form.addWidget(QLabel(label, self), row, 0)
        self.form.addWidget(edit, row, 1)
        self.form.addWidget(choose, row, 2)
        self.paths[name] = edit

    def _choose_file(self, name: str) -> None:
        path, _ = QFileDialog.getOpenFileName(self, FILES[name], "", ComponentData.files[name])
        if path:
            self.paths[name].setText(path)
            self._accept_path(name, path)

    def _say(self, label: ProblemLabel, text: str) -> None:
        label.say(text)
        self._enable()

    # --- data --------------------------------------------------------------------------------------------------------

    def _accept_path(self, name: str, path: str) -> None:
        assert isinstance(self.data, ComponentData)
        if path != self.data.paths.get(name, ""):
            self.data.paths[name] = path
            self._ask()

    def _accept_value(self, name: str, value: Any) -> None:
        field = self.fields[name]
        try:
            self.data.update(**{name: value})
        except mb.ModelError as error:
            field.refuse(error.problems[0].message)
            return
        field.show_value(value)
        self._ask()

    def _ask(self) -> None:
        """Have the modes computed; until then there is nothing to add."""
        used = self.data.used() if isinstance(self.data, BeamData) else list(self.fields)
        for name, widgets in self.rows.items():
            for widget in widgets:
                widget.setVisible(name in used)
        self._show(None)
        self._say(self.problem, "")
        if isinstance(self.data, ComponentData) and not self.data.complete:
            self.facts.setText("Choose the file of a component, or those of its nodes, mass and stiffness.")
            return
        self.facts.setText("Computing its shapes…")
        self.asking.ask(ModesTask(self.data))

    def _found(self, modes: Any) -> None:
        self._show(modes)
        part = modes.component
        length = self.document.units.to_display(part.extent, "m")
        self.facts.setText(
            f"{part.mass:.4g} kg, {length:.4g} {self.document.units.label('m')} across, {len(part.nodes):,} nodes, "
            f"{modes.count} shapes from {min(modes.frequencies):.4g} to {max(modes.frequencies):.4g} Hz."
        )

    def _failed(self, failure: Any) -> None:
        self._show(None)
        self.facts.clear()
        self._say(self.problem, sentence(str(failure.message)))

    def _show(self, modes: Any) -> None:
        self.modes = modes
        chosen = max(self.shape.currentIndex(), 0)
        self.shape.blockSignals(True)
        self.shape.clear()
        for k, frequency in enumerate(modes.frequencies[:LISTED] if modes is not None else ()):
            self.shape.addItem(f"Shape {k + 1}: {frequency:.4g} Hz")
        self.shape.setCurrentIndex(min(chosen, self.shape.count() - 1))
        self.shape.blockSignals(False)
        self.shape.setVisible(modes is not None)
        self.picture.show_shape(modes, max(self.shape.currentIndex(), 0))
        self._enable()

    def _enable(self) -> None:
        wrong = any(field.problem for name, field in self.fields.items() if not self.rows[name][0].isHidden())
        self.add.setEnabled(self.modes is not None and not wrong)

    def accept(self) -> None:
        """Add the body: one step to undo."""
        if self.modes is None:
            return
        name = "beam"
        if isinstance(self.data, ComponentData):
            name = Path(next(filter(None, self.data.paths.values()))).stem or "component"
        position, rotation = self.pose
        try:
            body = mb.FlexibleBody(self.document.free_name(name), self.modes, position=position, rotation=rotation)
            body.damping_ratios = 0.01
            self.document.add(body)
        except mb.ModelError as error:
            self._say(self.problem, sentence(str(error)))
            return
        super().accept()
