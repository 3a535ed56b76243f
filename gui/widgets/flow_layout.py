"""A layout that fills rows from left to right, with columns of equal width."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """As many columns as have room; they share the width, so that the cards of a page stand in line.

    Parameters
    ----------
    narrowest, widest
        Bounds of the width of a column, pixels.
    gap
        Between columns and between rows, pixels.
    """

    def __init__(self, parent: QWidget | None = None, narrowest: int = 230, widest: int = 320, gap: int = 14) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._narrowest, self._widest, self._gap = narrowest, widest, gap

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        margins = self.contentsMargins()
        return QSize(self._narrowest + margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, move: bool) -> int:
        """Place the visible items, or only find the height that they need."""
        margins = self.contentsMargins()
        area = rect.marginsRemoved(margins)
        shown = [item for item in self._items if not item.isEmpty()]
        columns = max(1, (area.width() + self._gap) // (self._narrowest + self._gap))
        width = min(self._widest, (area.width() - (columns - 1) * self._gap) // columns)
        y = area.top()
        for start in range(0, len(shown), columns):
            row = shown[start : start + columns]
            height = max(self._height(item, width) for item in row)
            for k, item in enumerate(row):
                if move:
                    item.setGeometry(QRect(area.left() + k * (width + self._gap), y, width, height))
            y += height + self._gap
        return y - (self._gap if shown else 0) - rect.top() + margins.bottom()

    @staticmethod
    def _height(item: QLayoutItem, width: int) -> int:
        return item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
