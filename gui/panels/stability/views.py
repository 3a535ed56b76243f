"""The views of the stability tab, one at a time, and the buttons that choose one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QHBoxLayout,
    QLayout,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ...widgets.arranging import letters

LEAST: Final = 110
"""Letters of a line that are left to a view beside the buttons; with less they go above it."""
TIPS: Final = {
    "Roots": "Roots and modes of an equilibrium or a steady motion",
    "Periodic": "A periodic motion, and its Floquet multipliers on the unit circle",
    "Follow": "Follow solutions over a number of the model: bifurcation diagram",
    "Campbell": "Frequencies of a rotor over its speed",
}


class Views(QWidget):
    """Buttons at the left, where there is room, and what was chosen beside them."""

    def __init__(self, views: Mapping[str, QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.buttons: dict[str, QPushButton] = {}
        self.stack = QStackedWidget()
        group = QButtonGroup(self)
        column = QVBoxLayout()
        column.setContentsMargins(3, 6, 0, 4)
        column.setSpacing(3)
        for title, view in views.items():
            self.stack.addWidget(view)
            button = self.buttons[title] = QPushButton(title)
            button.setObjectName(f"stability_{title.lower()}")
            button.setCheckable(True)
            button.setProperty("role", "segment")
            button.setToolTip(TIPS.get(title, ""))
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda _=False, view=view: self.stack.setCurrentWidget(view))
            group.addButton(button)
            column.addWidget(button)
        column.addStretch(1)
        self._column = column
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)  # the buttons go above before anything scrolls
        row.addLayout(column)
        row.addWidget(self.stack, 1)
        self.show_view(next(iter(views)))

    def minimumSizeHint(self) -> QSize:
        shown = self.stack.currentWidget()
        return self.stack.minimumSizeHint() if shown is None else shown.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        needed = max(self.stack.minimumSizeHint().width(), letters(self, LEAST))
        beside = self.width() >= needed + self._column.minimumSize().width()
        across, down = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        wanted = across if beside else down
        if self._row.direction() != wanted:
            self._row.setDirection(wanted)
            self._column.setDirection(down if beside else across)

    def hasHeightForWidth(self) -> bool:
        """A banner that wraps must not make the tab higher than it is: plots and tables give way, controls stay."""
        return False

    def show_view(self, title: str) -> None:
        """Show a view by its title."""
        self.buttons[title].click()
