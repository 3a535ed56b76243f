"""A field for what a controller sees: names chosen from a list."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from mbframe.parameters import Parameter

from ..base.names import one_line, unformatted
from .base import PLAIN, Field, Surroundings

NAME: Final = Qt.ItemDataRole.UserRole
ROWS: Final = 7
"""Names that are seen at once."""


class SeenField(Field):
    """What can be seen as a list to tick; what is ticked comes first, in the order of the numbers that belong to it."""

    wide = True

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.search = QLineEdit(self)
        self.search.setObjectName(f"{parameter.name}_search")
        self.search.setPlaceholderText("Search what can be seen")
        self.search.setClearButtonEnabled(True)
        self.list = QListWidget(self)
        self.list.setObjectName(f"{parameter.name}_list")
        self.list.setUniformItemSizes(True)
        self.list.setFixedHeight(ROWS * (self.list.fontMetrics().height() + 6))
        self.setFocusProxy(self.list)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        column.addWidget(self.search)
        column.addWidget(self.list)
        self.search.textChanged.connect(lambda _: self._filter())
        self.list.itemChanged.connect(lambda _: self.commit())

    def editors(self) -> list[QWidget]:
        return [self.list]

    def _display(self, value: tuple[str, ...] | None) -> None:
        chosen = list(value or ())
        candidates = [str(name) for name in self.surroundings.candidates(self.parameter, value)]
        scrolled = self.list.verticalScrollBar().value()
        with QSignalBlocker(self.list):
            self.list.clear()
            for name in [*chosen, *(name for name in candidates if name not in chosen)]:
                item = QListWidgetItem(one_line(name), self.list)
                item.setData(NAME, name)
                item.setToolTip(unformatted(name))
                item.setFlags(
                    Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsUserCheckable
                )
                item.setCheckState(Qt.CheckState.Checked if name in chosen else Qt.CheckState.Unchecked)
        self.list.verticalScrollBar().setValue(scrolled)
        self._filter()

    def _filter(self) -> None:
        words = self.search.text().casefold().split()
        for item in self._items():
            item.setHidden(not all(word in item.data(NAME).casefold() for word in words))

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(row) for row in range(self.list.count())]

    def _read(self) -> tuple[str, ...]:
        return tuple(item.data(NAME) for item in self._items() if item.checkState() == Qt.CheckState.Checked)
