"""Fields for the look of bodies: a list of shapes, each with the fields that its class declares."""

from __future__ import annotations

import copy
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import (
    QColorDialog,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb
from mbframe.parameters import Parameter, parameter
from mbframe.registry import built_in, defined

from ..base.mesh_units import LARGEST_MESH, MESH_UNITS, mesh_size
from ..base.names import one_line, unformatted
from ..base.words import class_label, parameter_label, unit_label
from ..widgets.icons import set_icon
from .base import PLAIN, Field, Surroundings
from .numbers import short
from .texts import TextField

FIRST_SIZES = {"size": (0.1, 0.1, 0.1), "radius": 0.05, "length": 0.2}
"""Sizes of a new shape, m."""


def shape_classes() -> list[type[mb.Shape]]:
    """All kinds of shape, users' included."""
    return [*built_in(mb.Shape).values(), *defined(mb.Shape).values()]


def summary(shape: mb.Shape, units: Any) -> str:
    """A shape in a few words: its kind and what must be given of it."""
    parts = []
    for entry in fields(shape):
        if entry.default is not MISSING:
            continue
        value, declared = getattr(shape, entry.name), entry.metadata.get("parameter")
        if isinstance(value, str):
            parts.append(value.replace("\\", "/").rsplit("/", 1)[-1])
        elif declared is not None:
            numbers = value if isinstance(value, tuple) else (value,)
            shown = " × ".join(short(float(units.to_display(n, declared.unit))) for n in numbers)
            parts.append(f"{entry.name} {shown} {unit_label(units.label(declared.unit))}".strip())
    return f"{class_label(type(shape))}, {', '.join(parts)}" if parts else class_label(type(shape))


class ColorField(TextField):
    """A colour by name or code; empty leaves the choice to the viewer."""

    placeholder = "automatic"

    def __init__(self, parameter: Parameter, surroundings: Surroundings, parent: QWidget, convert: Any) -> None:
        super().__init__(parameter, surroundings, parent, convert)
        self.button = QToolButton(self)
        self.button.setObjectName(f"{parameter.name}_choose")
        self.button.setText("…")
        self.button.setToolTip("Choose a colour")
        self.line.addWidget(self.button)
        self.button.clicked.connect(self._choose)

    def _display(self, value: Any) -> None:
        self.edit.show_text(color_text(value))

    def _read(self) -> Any:
        text = self.edit.text().strip()
        if text == color_text(self._value):
            return self._value
        if not text:
            return None
        if not QColor.isValidColorName(text):
            raise ValueError(f"“{text}” is not a colour; write a name such as steelblue, or #rrggbb")
        return text

    def _choose(self) -> None:
        start = QColor(color_text(self._value) or "#7f8fa6")
        color = QColorDialog.getColor(start, self, "Colour of the shape")
        if color.isValid():
            self._offer(color.name(), None)


def color_text(value: Any) -> str:
    """A colour as it is typed."""
    if value is None:
        return ""
    return value if isinstance(value, str) else QColor.fromRgbF(*value).name()


class PathField(TextField):
    """The path of a mesh file."""

    def __init__(self, parameter: Parameter, surroundings: Surroundings, parent: QWidget, convert: Any) -> None:
        super().__init__(parameter, surroundings, parent, convert)
        self.button = QToolButton(self)
        self.button.setText("…")
        self.button.setToolTip("Choose a file")
        self.line.addWidget(self.button)
        self.button.clicked.connect(self._choose)

    def _display(self, value: str | None) -> None:
        self.edit.show_text(value or "")

    def _read(self) -> str:
        text = self.edit.text().strip()
        if not text:
            raise ValueError("the field is empty; write the path of a mesh file, such as wheel.stl")
        return text

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Mesh file", self._value or "", MESH_FILES)
        if path:
            self._offer(path, None)


PADDING = 10  # pixels beside the text of a header
MESH_FILES = "Meshes (*.stl *.obj *.ply *.vtp *.vtk *.glb *.gltf);;All files (*)"


class FoldHeader(QPushButton):
    """A button whose text ends with an ellipsis where there is no room for it; the tooltip has all of it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = ""

    def set_words(self, words: str) -> None:
        self.words = one_line(words)
        self.setToolTip(unformatted(words))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.width() - self.iconSize().width() - 2 * PADDING
        self.setText(self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, max(room, 0)))


class ShapeEditor(QFrame):
    """One shape of the list: a header that opens and closes, and the fields of its class."""

    def __init__(self, owner: ShapesField, index: int) -> None:
        super().__init__(owner)
        self.setObjectName(f"shape_{index}")
        self.setProperty("role", "card")
        self.owner, self.index = owner, index
        self.fields: dict[str, Field] = {}
        self.header = FoldHeader(self)
        self.header.setObjectName(f"shape_{index}_header")
        self.header.setCheckable(True)
        self.header.setProperty("role", "fold")
        self.header.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_icon(self.header, "chevron_right", "muted")
        remove = QToolButton(self)
        remove.setObjectName(f"shape_{index}_remove")
        remove.setProperty("role", "small")
        remove.setToolTip("Remove this shape")
        set_icon(remove, "close", "muted")
        top = QHBoxLayout()
        top.setContentsMargins(0, 0, 0, 0)
        top.addWidget(self.header, 1)
        top.addWidget(remove)
        self._form = QVBoxLayout()
        self._form.setContentsMargins(8, 0, 4, 0)
        self._form.setSpacing(4)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2, 1, 4, 1)
        layout.setSpacing(2)
        layout.addLayout(top)
        layout.addLayout(self._form)
        self.header.toggled.connect(self._open)
        remove.clicked.connect(lambda: owner.remove(self.index))

    def show_shape(self, shape: mb.Shape) -> None:
        """Bring header and fields up to date."""
        self.header.set_words(summary(shape, self.owner.surroundings.units))
        for name, field in self.fields.items():
            field.show_value(getattr(shape, name))

    def _open(self, opened: bool) -> None:
        set_icon(self.header, "chevron_down" if opened else "chevron_right", "muted")
        if opened and not self.fields:
            self._build(self.owner.value[self.index])
        for k in range(self._form.count()):
            if (item := self._form.itemAt(k)) is not None and (widget := item.widget()) is not None:
                widget.setVisible(opened)

    def _build(self, shape: mb.Shape) -> None:
        from . import field_for

        for entry in sorted(fields(shape), key=lambda entry: entry.default is not MISSING):
            declared = _declared(entry)
            if entry.metadata.get("parameter") is None:
                kind = ColorField if entry.name == "color" else PathField
                field: Field = kind(declared, self.owner.surroundings, self, entry.metadata["convert"])
            else:
                field = field_for(declared, self.owner.surroundings, self)
            field.show_value(getattr(shape, entry.name))
            field.committed.connect(
                lambda value, gesture, name=entry.name: self.owner.change(self.index, gesture, **{name: value})
            )
            field.problem_changed.connect(self.owner.problem_changed)
            unit = f" ({field.unit})" if field.unit else ""
            caption = QLabel(parameter_label(entry.name) + unit, self)
            caption.setProperty("role", "caption")
            caption.setToolTip(declared.help)
            caption.setBuddy(field)
            self._form.addWidget(caption)
            self._form.addWidget(field)
            self.fields[entry.name] = field


def _declared(entry: Any) -> Parameter:
    """The parameter of a shape's field, with its name."""
    declared = copy.copy(entry.metadata.get("parameter") or parameter(None, kind="list"))
    declared.name = entry.name
    return declared


class ShapesField(Field):
    """The shapes of a body; each can be opened, changed and removed, and others added."""

    wide = True

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.shapes: list[ShapeEditor] = []
        self._filled = False
        self._list = QVBoxLayout()
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(4)
        self.add = QPushButton("Add a shape", self)
        self.add.setObjectName(f"{parameter.name}_add")
        menu = QMenu(self.add)
        for cls in shape_classes():
            action = menu.addAction(class_label(cls))
            action.setObjectName(f"add_{cls.__name__}")
            action.triggered.connect(lambda _=False, cls=cls: self.append(cls))
        self.add.setMenu(menu)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(self._list)
        layout.addWidget(self.add, 0, Qt.AlignmentFlag.AlignLeft)

    def append(self, cls: type[mb.Shape]) -> None:
        """Add a shape of a kind, of a size to begin with."""
        required = [entry.name for entry in fields(cls) if entry.default is MISSING]
        values: dict[str, Any] = {}
        for name in required:
            if name in FIRST_SIZES:
                values[name] = FIRST_SIZES[name]
            else:
                path, _ = QFileDialog.getOpenFileName(self, "Mesh file", "", MESH_FILES)
                if not path:
                    return
                values |= {name: path, "scale": self._scale_of(path)}
        self._offer((*self.value, cls(**values)), None)

    def _scale_of(self, path: str) -> float:
        """Metres per unit of a mesh file, which does not say its unit: the user does."""
        try:
            size = mesh_size(path)
        except (mb.MbframeError, OSError):  # the view says so when it draws it
            return 1.0
        choices = {f"{unit}: {size * metres:.3g} m long": metres for unit, metres in MESH_UNITS.items()}
        likely = 0 if size > LARGEST_MESH else 1
        text, taken = QInputDialog.getItem(
            self, "Unit of the file", f"{Path(path).name} was drawn in", list(choices), likely, False
        )
        return choices[text] if taken else list(choices.values())[likely]

    def change(self, index: int, gesture: object, **values: Any) -> None:
        """Change fields of one shape."""
        shapes = list(self.value)
        try:
            shapes[index] = replace(shapes[index], **values)
        except mb.ModelError as error:
            self.refuse("; ".join(problem.message for problem in error.problems))
            return
        self._offer(tuple(shapes), gesture)

    def remove(self, index: int) -> None:
        """Take one shape out of the list."""
        self._offer(tuple(shape for k, shape in enumerate(self.value) if k != index), None)

    def _display(self, value: Any) -> None:
        shapes = list(value or ())
        kinds = [type(shape) for shape in shapes]
        if [editor.property("kind") for editor in self.shapes] != [kind.__name__ for kind in kinds]:
            opened = [editor.header.isChecked() for editor in self.shapes]
            for editor in self.shapes:
                self._list.removeWidget(editor)
                editor.hide()
                editor.deleteLater()
            self.shapes = [ShapeEditor(self, k) for k in range(len(shapes))]
            for editor, kind in zip(self.shapes, kinds, strict=True):
                editor.setProperty("kind", kind.__name__)
                self._list.addWidget(editor)
            if self._filled and len(opened) == len(shapes) - 1:  # one was added: show it
                opened.append(True)
            for editor, is_open in zip(self.shapes, opened, strict=False):
                editor.header.setChecked(is_open)
        for editor, shape in zip(self.shapes, shapes, strict=True):
            editor.show_shape(shape)
        self._filled = True

    def _read(self) -> Any:
        return self._value
