"""The table of a comparison, sorted by any column; the mark of a row is that of its curve."""

from __future__ import annotations

import re
from typing import Any, Final

import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import renderSymbol
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

import mbframe as mb
from mbframe.analysis.laboratory.comparison import COLUMNS, Table, formatted
from mbframe.analysis.laboratory.methods import CHOICES
from mbframe.registry import built_in, strategy_base

from ...base.words import class_label
from ...widgets import theme

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

SYMBOLS: Final = ("o", "s", "d", "t1", "t", "p", "star")
"""One fewer than colours, so that neighbours in number share neither."""
ORDER: Final = (*CHOICES, "error", "wall_time")
"""The columns that come first."""
FIRST_SORTED: Final = "error"
WIDEST: Final = 230


def in_words(text: str) -> str:
    """Strategies as they are called on the screen: "RungeKutta4" is "Runge-Kutta 4"."""

    named = {name: cls for role in CHOICES for name, cls in built_in(strategy_base(role)).items()}

    def label(match: re.Match[str]) -> str:
        cls = named.get(match[0])
        return match[0] if cls is None else class_label(cls) + (" " if match[1] else "")

    return re.sub(r"\b[A-Z]\w+(?=(\()?)", label, text)


def color_of(family: int) -> str:
    """The colour of a family of methods."""
    series = theme.current().series
    return series[family % len(series)]


class _Rows(QAbstractTableModel):
    """The rows of a comparison for a view; `UserRole` has what to sort by."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.table: Table = Table([])
        self.names: list[str] = []
        self.families: list[int] = []

    def show(self, comparison: mb.Comparison | None) -> None:
        self.beginResetModel()
        self.table = Table([]) if comparison is None else comparison.table()
        shown = self.table.shown() if self.table else []
        self.names = sorted(shown, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))
        self.families = [] if comparison is None else families_of(comparison)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self.table)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.names)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return None
        column = COLUMNS[self.names[section]]
        if role == Role.DisplayRole:
            return column.title[:1].upper() + column.title[1:]
        if role == Role.ToolTipRole:
            return column.help[:1].upper() + column.help[1:]
        return None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        name = self.names[index.column()]
        row = self.table[index.row()]
        if role == Role.DisplayRole:
            return in_words(formatted(name, row[name]))
        if role == Role.UserRole:
            value = row[name]
            return (value is None, value if value is not None else 0.0)
        if role == Role.ToolTipRole:
            return row["failure"] or None
        if role == Role.TextAlignmentRole and COLUMNS[name].format:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Role.ForegroundRole and row["failure"]:
            return theme.current().color("muted")
        if role == Role.DecorationRole and index.column() == 0:
            return _mark(self.families[index.row()])
        return None


class _Sorted(QSortFilterProxyModel):
    """Numbers by size; what has none comes last in ascending order."""

    def lessThan(self, left: QModelIndex | QPersistentModelIndex, right: QModelIndex | QPersistentModelIndex) -> bool:
        return bool(left.data(Role.UserRole) < right.data(Role.UserRole))


class CompareTable(QTableView):
    """Methods and what was measured of them; a row can be chosen to stand out in the plot."""

    family_chosen = Signal(int)
    """The family of the chosen row; -1 if there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compare_table")
        self.setAccessibleName("Methods and what was measured")
        self.rows, self._sorted = _Rows(self), _Sorted(self)
        self._sorted.setSourceModel(self.rows)
        self.setModel(self._sorted)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSortingEnabled(True)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setStretchLastSection(True)
        self.selectionModel().currentRowChanged.connect(self._chosen)
        theme.changed().connect(self._repaint)

    def _repaint(self, *_: object) -> None:
        self.viewport().update()

    def show_comparison(self, comparison: mb.Comparison | None) -> None:
        """Show another comparison, the most accurate methods first."""
        self.rows.show(comparison)
        if FIRST_SORTED in self.rows.names:
            self.sortByColumn(self.rows.names.index(FIRST_SORTED), Qt.SortOrder.AscendingOrder)
        self.resizeColumnsToContents()
        for column in range(len(self.rows.names)):
            self.setColumnWidth(column, min(self.columnWidth(column) + 6, WIDEST))

    def _chosen(self, current: QModelIndex, _: QModelIndex) -> None:
        row = self._sorted.mapToSource(current).row()
        self.family_chosen.emit(self.rows.families[row] if 0 <= row < len(self.rows.families) else -1)


def families_of(comparison: mb.Comparison) -> list[int]:
    """The number of the family of each outcome; -1 for those that failed."""
    found = {id(o): number for number, group in enumerate(comparison.families().values()) for o in group}
    return [found.get(id(outcome), -1) for outcome in comparison.outcomes]


def _mark(family: int) -> QIcon:
    if family < 0:
        blank = QPixmap(13, 13)
        blank.fill(Qt.GlobalColor.transparent)
        return QIcon(blank)
    drawn = renderSymbol(SYMBOLS[family % len(SYMBOLS)], 11, pg.mkPen(None), pg.mkBrush(color_of(family)))
    return QIcon(QPixmap.fromImage(drawn))
