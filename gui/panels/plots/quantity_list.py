"""The searchable list of quantities: elements, what can be asked of them, components; a mark for what is plotted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLabel, QLineEdit, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from ...base.names import one_line, unformatted
from ...base.quantity_names import split
from ...base.turns import single_shot
from ...base.words import unit_label
from ...widgets.icons import icon
from ...widgets.items import children
from ...widgets.theme import changed as theme_changed

NAME = Qt.ItemDataRole.UserRole
MOST_OPENED: Final = 60
"""A search that leaves no more than this is shown unfolded."""


class QuantityList(QWidget):
    """Shows names; a check mark plots one. Typing filters: every word must occur somewhere in the name."""

    toggled = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("quantity_list")
        self._units: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._leaves: dict[str, QTreeWidgetItem] = {}
        self._filling = False
        self.search = QLineEdit(self)
        self.search.setObjectName("quantity_search")
        self.search.setPlaceholderText("Search quantities")
        self.search.setClearButtonEnabled(True)
        self._found = self.search.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.tree = _Tree(self)
        self.tree.setObjectName("quantity_tree")
        self.tree.setHeaderHidden(True)
        self.tree.setColumnCount(1)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(14)
        self.tree.setIconSize(QSize(16, 16))
        self.nothing = QLabel("No quantity has these words. Forces in bearings are reaction forces of joints.", self)
        self.nothing.setProperty("role", "muted")
        self.nothing.setWordWrap(True)
        self.nothing.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.search)
        layout.addWidget(self.nothing)
        layout.addWidget(self.tree, 1)
        self._later = single_shot(self, self._filter, 120)
        self.search.textChanged.connect(lambda _: self._later.start())
        self.search.returnPressed.connect(self._take_first)
        self.tree.itemChanged.connect(self._on_changed)
        self.tree.itemDoubleClicked.connect(self._on_double_click)
        theme_changed().connect(self._recolor)

    def show_names(self, units: dict[str, str], kinds: dict[str, str], plotted: Iterable[str]) -> None:
        """Show quantities with their units; `kinds` are icons of elements by name."""
        if units != self._units or kinds != self._kinds:
            self._units, self._kinds = dict(units), dict(kinds)
            self._fill()
            self._filter()
        self.mark(plotted)

    def mark(self, plotted: Iterable[str]) -> None:
        """Set the marks of what is plotted."""
        chosen = set(plotted)
        self._filling = True
        for name, leaf in self._leaves.items():
            state = Qt.CheckState.Checked if name in chosen else Qt.CheckState.Unchecked
            if leaf.checkState(0) != state:
                leaf.setCheckState(0, state)
        self._filling = False

    def reveal(self, element: str) -> None:
        """Open what belongs to an element and scroll there."""
        self.search.clear()
        self._later.stop()
        self._filter()
        for item in children(self.tree):
            if item.text(0) == element:
                item.setExpanded(True)
                self.tree.setCurrentItem(item)
                self.tree.scrollToItem(item, QTreeWidget.ScrollHint.PositionAtTop)

    def visible_names(self) -> list[str]:
        """The names that pass the filter."""
        return [name for name, leaf in self._leaves.items() if not leaf.isHidden()]

    def _fill(self) -> None:
        self._filling = True
        self.tree.clear()
        self._leaves = {}
        tops: dict[str, QTreeWidgetItem] = {}
        groups: dict[tuple[str, str], QTreeWidgetItem] = {}
        for name, unit in self._units.items():
            if name == "t":
                continue
            owner, kind, component = split(name, self._kinds)
            if owner not in tops:
                tops[owner] = QTreeWidgetItem(self.tree, [one_line(owner)])
                tops[owner].setIcon(0, icon(self._kinds.get(owner, "table"), "muted"))
            parent, label = tops[owner], one_line(kind).replace("_", " ").replace(".", " ") or "value"
            shown = f" ({unit_label(unit)})" if unit else ""
            if component:
                if (owner, kind) not in groups:
                    groups[owner, kind] = QTreeWidgetItem(parent, [label + shown])
                parent, label, shown = groups[owner, kind], component, ""
            leaf = QTreeWidgetItem(parent, [label + shown])
            leaf.setFlags(leaf.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            leaf.setCheckState(0, Qt.CheckState.Unchecked)
            leaf.setData(0, NAME, name)
            leaf.setToolTip(0, unformatted(f"{name}{f', {unit_label(unit)}' if unit else ''}"))
            self._leaves[name] = leaf
        self._filling = False

    def _filter(self) -> None:
        words = self.search.text().casefold().split()
        count = 0
        for name, leaf in self._leaves.items():
            text = f"{name} {name.replace('_', ' ').replace('.', ' ')}".casefold()
            hidden = not all(word in text for word in words)
            leaf.setHidden(hidden)
            count += not hidden
        self.nothing.setVisible(bool(self._leaves) and not count)
        opened = bool(words) and count <= MOST_OPENED
        for item in children(self.tree):
            self._close(item, opened)

    def _close(self, item: QTreeWidgetItem, opened: bool) -> bool:
        """Hide branches without anything to show; whether this one has something."""
        if item.data(0, NAME) is not None:
            return not item.isHidden()
        shown = [self._close(child, opened) for child in children(item)]
        item.setHidden(not any(shown))
        if self.search.text().strip():
            item.setExpanded(opened)
        return any(shown)

    def _take_first(self) -> None:
        """Enter in the search plots the first quantity found."""
        self._later.stop()
        self._filter()
        if self.search.text().strip() and (names := self.visible_names()):
            self.toggled.emit(names[0], True)

    def _on_changed(self, item: QTreeWidgetItem, _: int) -> None:
        name = item.data(0, NAME)
        if not self._filling and name is not None:
            self.toggled.emit(name, item.checkState(0) == Qt.CheckState.Checked)

    def _on_double_click(self, item: QTreeWidgetItem, _: int) -> None:
        if item.data(0, NAME) is not None:
            checked = item.checkState(0) == Qt.CheckState.Checked
            item.setCheckState(0, Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked)

    def _recolor(self, _: object) -> None:
        self._found.setIcon(icon("search", "muted"))
        for item in children(self.tree):
            item.setIcon(0, icon(self._kinds.get(item.text(0), "table"), "muted"))


class _Tree(QTreeWidget):
    """Enter and Space mark the current quantity, or open a branch."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        item = self.currentItem()
        if item is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            if item.data(0, NAME) is None:
                item.setExpanded(not item.isExpanded())
            else:
                checked = item.checkState(0) == Qt.CheckState.Checked
                item.setCheckState(0, Qt.CheckState.Unchecked if checked else Qt.CheckState.Checked)
            return
        super().keyPressEvent(event)
