"""The list of all keys, made from the actions of the window, and of what the mouse does in fields and plots."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ..widgets.icons import icon
from ..widgets.items import children

ELSEWHERE: Final = (
    ("In number fields", "Take the number", "Enter"),
    ("In number fields", "Back to the last valid number", "Esc"),
    ("In number fields", "A step up or down", "Up, Down, Ctrl+Wheel"),
    ("In number fields", "Ten steps, or a tenth of one", "Shift, Alt with these"),
    ("In the model tree", "Rename", "F2"),
    ("In plots", "Go to an instant", "Click, or drag the cursor"),
    ("In plots", "Zoom", "Wheel, right drag"),
    ("In plots", "Move", "Left drag"),
    ("In plots", "Show all", "Double click"),
)
"""Shortcuts that are no actions: where, what, and how."""
BESIDE: Final = 60
"""Pixels beside the texts: margins and a scroll bar."""
WIDEST: Final = 720


class ShortcutList(QDialog):
    """Shows keys by menu; typing filters.

    Parameters
    ----------
    shortcuts
        Menu, what is done, and the keys, for each action that has any.
    """

    def __init__(self, shortcuts: Iterable[tuple[str, str, str]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcut_list")
        self.setWindowTitle("Keys and mouse")
        self.search = QLineEdit(self)
        self.search.setObjectName("shortcut_search")
        self.search.setPlaceholderText("Search")
        self.search.setClearButtonEnabled(True)
        self.search.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.tree = QTreeWidget(self)
        self.tree.setObjectName("shortcut_tree")
        self.tree.setColumnCount(2)
        self.tree.setHeaderHidden(True)
        self.tree.setRootIsDecorated(False)
        self.tree.setSelectionMode(QTreeWidget.SelectionMode.NoSelection)
        self.tree.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.tree.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.tree.header().setStretchLastSection(False)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.addWidget(self.search)
        layout.addWidget(self.tree, 1)
        layout.addWidget(buttons)
        self._fill([*shortcuts, *ELSEWHERE])
        columns = sum(self.tree.sizeHintForColumn(column) for column in range(2))
        self.resize(min(max(480, columns + BESIDE), WIDEST), 560)
        self.search.textChanged.connect(self._filter)

    def _fill(self, entries: list[tuple[str, str, str]]) -> None:
        groups: dict[str, QTreeWidgetItem] = {}
        for group, text, keys in entries:
            if group not in groups:
                groups[group] = QTreeWidgetItem(self.tree, [group])
                font = groups[group].font(0)
                font.setBold(True)
                groups[group].setFont(0, font)
                groups[group].setFirstColumnSpanned(True)
            QTreeWidgetItem(groups[group], [text, keys])
        self.tree.expandAll()

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        for group in children(self.tree):
            shown = 0
            for item in children(group):
                content = f"{group.text(0)} {item.text(0)} {item.text(1)}".casefold()
                item.setHidden(not all(word in content for word in words))
                shown += not item.isHidden()
            group.setHidden(not shown)
