"""A table of numbers: groups of columns above, zeros pale, text that can be copied."""

from __future__ import annotations

from typing import Final

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QFrame, QSizePolicy, QTableWidget, QTableWidgetItem, QWidget

from ...base.units import DisplayUnits
from ...base.words import unit_label
from ...widgets import theme
from .number_tables import NumberTable

DIGITS: Final = 5
ZERO: Final = 1e-13
"""Relative to the largest number beside it: what is smaller is rounding."""
HEADS: Final = 2
"""Rows above the numbers: groups, and columns with their units."""
NARROWEST: Final = "−12.346"
"""Columns are at least as wide as this number."""


class NumberGrid(QTableWidget):
    """Shows a `NumberTable` in the units of the document. Numbers that change are written in place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table: NumberTable | None = None
        self.units = DisplayUnits()
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrap(False)
        self._cells: list[list[QTableWidgetItem]] = []
        self._widths: list[int] = []
        self._numbers_font = theme.fixed_font()
        self.verticalHeader().setDefaultSectionSize(QFontMetrics(self._numbers_font).height() + 7)
        theme.changed().connect(self._repaint)

    def show_table(self, table: NumberTable, units: DisplayUnits) -> None:
        """Show other numbers; the same rows and columns stay as they are."""
        before = self.table
        same = before is not None and (before.rows, before.columns) == (table.rows, table.columns)
        self.table = table
        if not same or units != self.units:
            self.units = units
            self._lay_out(table)
        self._fill(table)
        self._widen()

    def _repaint(self, *_: object) -> None:
        if self.table is not None:
            self._lay_out(self.table)
            self._fill(self.table)

    # --- layout ------------------------------------------------------------------------------------------------------

    def _lay_out(self, table: NumberTable) -> None:
        self.clear()
        self.clearSpans()
        self.setRowCount(HEADS + len(table.rows))
        self.setColumnCount(1 + len(table.columns))
        grouped = any(column.group for column in table.columns)
        self.setRowHidden(0, not grouped)
        start = 0
        while start < len(table.columns):
            group = table.columns[start].group
            end = start + 1
            while group and end < len(table.columns) and table.columns[end].group == group:
                end += 1
            units = {unit for row in table.units for unit in row[start:end]}
            common = f" {unit_label(self.units.label(*units))}" if group and len(units) == 1 else ""
            self._head(0, 1 + start, f"{group}{common}", "text")
            if end - start > 1:
                self.setSpan(0, 1 + start, 1, end - start)
            start = end
        for k, column in enumerate(table.columns):
            units = {row[k] for row in table.units}
            unit = unit_label(self.units.label(*units)) if len(units) == 1 and not column.group else ""
            self._head(1, 1 + k, f"{column.name} {unit}".strip(), "muted", column.tip)
        self._cells = []
        for number, name in enumerate(table.rows):
            self._cells.append([])
            item = self._head(HEADS + number, 0, name, "muted")
            item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            for k in range(len(table.columns)):
                cell = QTableWidgetItem()
                cell.setFont(self._numbers_font)
                cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.setItem(HEADS + number, 1 + k, cell)
                self._cells[-1].append(cell)
        self._widths = [0] + [QFontMetrics(self._numbers_font).horizontalAdvance(NARROWEST) + 12] * len(table.columns)

    def _head(self, row: int, column: int, text: str, color: str, tip: str = "") -> QTableWidgetItem:
        item = QTableWidgetItem(text)
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        item.setForeground(theme.current().color(color))
        item.setBackground(theme.current().color("raised"))
        item.setTextAlignment(Qt.AlignmentFlag.AlignCenter)
        item.setToolTip(tip)
        if color == "text":
            font = QFont(self.font())
            font.setWeight(QFont.Weight.DemiBold)
            item.setFont(font)
        self.setItem(row, column, item)
        return item

    def _widen(self) -> None:
        """Make columns as wide as their numbers, and never narrower than they were, so that they do not jump."""
        self.resizeColumnsToContents()
        for column, width in enumerate(self._widths):
            self._widths[column] = max(self.columnWidth(column), width)
            self.setColumnWidth(column, self._widths[column])
        rows = sum(self.rowHeight(row) for row in range(self.rowCount()) if not self.isRowHidden(row))
        self.setFixedHeight(rows + self.horizontalScrollBar().sizeHint().height() + 2)

    # --- numbers -----------------------------------------------------------------------------------------------------

    def _fill(self, table: NumberTable) -> None:
        text, pale = theme.current().color("text"), theme.current().color("border").darker(115)
        if theme.current().dark:
            pale = theme.current().color("border").lighter(150)
        sizes = np.nan_to_num(np.abs(table.values))
        largest: dict[str, float] = {}
        for row, units in zip(sizes, table.units, strict=True):
            for size, unit in zip(row, units, strict=True):
                largest[unit] = max(largest.get(unit, 0.0), float(size))
        if table.comparable:
            largest = dict.fromkeys(largest, float(sizes.max(initial=0.0)))
        for row, (numbers, units) in enumerate(zip(table.values, table.units, strict=True)):
            for column, (x, unit) in enumerate(zip(numbers, units, strict=True)):
                item = self._cells[row][column]
                nothing = abs(x) <= ZERO * largest[unit]
                shown = float(self.units.to_display(float(x), unit))
                item.setText("" if np.isnan(x) else "0" if nothing else number_text(shown))
                item.setForeground(pale if nothing else text)
                item.setToolTip("" if np.isnan(x) else f"{shown!r} {unit_label(self.units.label(unit))}".strip())

    # --- copying -----------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy what is selected, with tabs."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_selected()
            return
        super().keyPressEvent(event)

    def copy_selected(self) -> None:
        """Put the selected numbers on the clipboard."""
        chosen = sorted(self.selectedItems(), key=lambda item: (item.row(), item.column()))
        rows = sorted({item.row() for item in chosen})
        lines = ["\t".join(item.text().replace("−", "-") for item in chosen if item.row() == row) for row in rows]
        QGuiApplication.clipboard().setText("\n".join(lines))


def number_text(x: float) -> str:
    """A number with five digits and a minus sign as it is printed."""
    return f"{x:.{DIGITS}g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e").replace("-", "−")
