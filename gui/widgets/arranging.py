"""Arrangements of parts in panels: one below the other, in a list of rows, or in an area that scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QVBoxLayout, QWidget


def stack(owner: QWidget, *parts: QWidget | QLayout, growing: QWidget | None = None, spacing: int = 0) -> QWidget:
    """Put the parts of a widget one below the other, to its edges; `growing` takes the room that is left."""
    column = QVBoxLayout(owner)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(spacing)
    for part in parts:
        if isinstance(part, QLayout):
            column.addLayout(part)
        else:
            column.addWidget(part, 1 if part is growing else 0)
    return owner


def letters(widget: QWidget, count: int) -> int:
    """The width of so many letters in the font of a widget, pixels: what has to fit follows the user's font."""
    return count * widget.fontMetrics().averageCharWidth()


def scrolled(widget: QWidget) -> QScrollArea:
    """An area in which a widget scrolls if it needs more room than there is; the ground of the panel shows through."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    area.setWidget(widget)
    for ground in (area.viewport(), widget):
        ground.setAutoFillBackground(False)
    return area


class RowList(QScrollArea):
    """Widgets that come and go, one below the other; they wrap their texts instead of scrolling sideways."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        page = QWidget(self)
        page.setObjectName("rows")
        self._rows = QVBoxLayout(page)
        self._rows.setContentsMargins(8, 4, 8, 4)
        self._rows.setSpacing(0)
        self._rows.addStretch(1)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(page)

    def append(self, row: QWidget) -> None:
        """Show a row below the others."""
        self._rows.insertWidget(self._rows.count() - 1, row)
        row.show()

    def drop(self, row: QWidget) -> None:
        """Take a row away for good."""
        self._rows.removeWidget(row)
        row.hide()
        row.deleteLater()
