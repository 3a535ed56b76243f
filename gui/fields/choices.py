"""Fields to choose: flags, choices from a list, references to other elements."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QWidget

from mbframe.parameters import Parameter

from ..base.names import one_line
from .base import PLAIN, Field, Surroundings

NONE = "none"


class ComboBox(QComboBox):
    """A combo box that leaves the wheel to the panel it is in: scrolling must not change a model."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class FlagField(Field):
    """Yes or no."""

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.box = QCheckBox(self)
        self.box.setObjectName(f"{parameter.name}_box")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.box)
        layout.addStretch()
        self.setFocusProxy(self.box)
        self.box.clicked.connect(lambda _: self.commit())

    def editors(self) -> list[QWidget]:
        return [self.box]

    def _display(self, value: bool | None) -> None:
        with QSignalBlocker(self.box):
            self.box.setChecked(bool(value))

    def _read(self) -> bool:
        return self.box.isChecked()


class ChoiceField(Field):
    """One of several texts."""

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.combo = ComboBox(self)
        self.combo.setObjectName(f"{parameter.name}_combo")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.combo, 1)
        self.setFocusProxy(self.combo)
        if parameter.optional:
            self.combo.addItem(NONE, None)
        for choice in parameter.choices or ():
            self.combo.addItem(choice, choice)
        self.combo.activated.connect(lambda _: self.commit())

    def editors(self) -> list[QWidget]:
        return [self.combo]

    def _display(self, value: str | None) -> None:
        self.combo.setCurrentIndex(self.combo.findData(value))

    def _read(self) -> Any:
        return self.combo.currentData()


class ReferenceField(Field):
    """Another element of the model, chosen by its name."""

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.combo = ComboBox(self)
        self.combo.setObjectName(f"{parameter.name}_combo")
        self.combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.combo.setMinimumContentsLength(4)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.combo, 1)
        self.setFocusProxy(self.combo)
        self._elements: list[Any] = []
        self.combo.activated.connect(lambda _: self.commit())

    def editors(self) -> list[QWidget]:
        return [self.combo]

    def _display(self, value: Any) -> None:
        found = list(self.surroundings.candidates(self.parameter, value))
        if value is not None and not any(value is element for element in found):
            found.insert(0, value)
        self._elements = ([None] if self.parameter.optional else []) + found
        with QSignalBlocker(self.combo):
            self.combo.clear()
            for element in self._elements:
                self.combo.addItem(NONE if element is None else one_line(element.name))
            index = next((k for k, element in enumerate(self._elements) if element is value), -1)
            self.combo.setCurrentIndex(index)

    def _read(self) -> Any:
        index = self.combo.currentIndex()
        if index < 0:
            raise ValueError("nothing is chosen; choose an element of the model")
        return self._elements[index]
