"""The table of modes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from mbframe.analysis.linear.root_words import (
    DECAYS,
    GROWS,
    IGNORABLE,
    NEUTRAL,
    Roots,
    Row,
    damping_text,
    frequency_text,
    root_text,
    time_text,
    tooltip,
)

from ...base.names import one_line, unformatted
from ...widgets import theme
from ...widgets.arranging import letters
from .tasks import Shares

Index = QModelIndex | QPersistentModelIndex

COLUMNS = (
    ("Root λ (1/s)", root_text, "Eigenvalue: real part is the rate of growth, imaginary part the angular frequency"),
    ("What moves most", lambda row: row.moving_briefly, "The bodies with the largest part in the mode"),
    ("Frequency", frequency_text, "Im λ / 2π"),
    ("Damping", damping_text, "Damping ratio −Re λ/|λ|: 1 without vibration, 0 undamped, negative if it grows"),
    ("Time", time_text, "Time constant, in which the motion decays to 37 %, or (↑) grows to 2.7 times its size"),
    (
        "Energy",
        lambda row: "",
        "The element with most of the kinetic and potential energy of the mode; the tooltip has all",
    ),
)
TIME, ENERGY = 4, 5
"""The columns of times, and of shares, which the linearization itself does not have."""
MOVING = 1
"""The column of words: it comes second, so that it is seen where there is no room for all, and has what is left."""
LETTERS = 14
"""Of the words that are seen at least."""
SPARED = (3, 2, 5)
"""Columns that go where there is no room for all, one after the other: their numbers follow from the root."""
LEAST = 0.005
"""Smallest share of an energy that is told."""
BESIDE = 10
"""Pixels on both sides of a title."""
WORDS = {
    DECAYS: "dies out",
    GROWS: "grows",
    NEUTRAL: "neither grows nor dies out",
    IGNORABLE: "says nothing about stability",
}


class ModeModel(QAbstractTableModel):
    """The rows of `Roots` for a view."""

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.roots: Roots | None = None
        self.shares: Mapping[int, Shares] = {}
        self._marks: dict[tuple[str, str], QIcon] = {}

    def show(self, roots: Roots | None) -> None:
        """Show other roots; rows that stay are changed in place, so that a selection survives."""
        before, after = self.rowCount(), 0 if roots is None else len(roots.rows)
        none = QModelIndex()
        if after > before:
            self.beginInsertRows(none, before, after - 1)
        elif after < before:
            self.beginRemoveRows(none, after, before - 1)
        self.roots = roots
        if after > before:
            self.endInsertRows()
        elif after < before:
            self.endRemoveRows()
        if after:
            self.dataChanged.emit(self.index(0, 0), self.index(after - 1, len(COLUMNS) - 1))

    def row(self, number: int) -> Row:
        assert self.roots is not None
        return self.roots.rows[number]

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() or self.roots is None else len(self.roots.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section][0]
        if role == Qt.ItemDataRole.ToolTipRole:
            return COLUMNS[section][2]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self.roots is None or index.row() >= len(self.roots.rows):
            return None
        row = self.row(index.row())
        if role == Qt.ItemDataRole.DisplayRole and index.column() == ENERGY:
            return energy_words(self.shares.get(row.index, {}))
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[index.column()][1](row)
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            return self._mark(row.behaviour)
        if role == Qt.ItemDataRole.ToolTipRole:
            return "\n".join(filter(None, (tooltip(row), energy_tooltip(self.shares.get(row.index, {})))))
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return WORDS[row.behaviour]
        if row.behaviour == IGNORABLE:
            if role == Qt.ItemDataRole.ForegroundRole:
                return theme.current().color("muted")
            if role == Qt.ItemDataRole.FontRole and index.column() == MOVING:
                font = QFont()
                font.setItalic(True)
                return font
        return None

    def _mark(self, behaviour: str) -> QIcon:
        key = (theme.current().name, behaviour)
        if key not in self._marks:
            self._marks[key] = QIcon(mark(behaviour, 28))
        return self._marks[key]


def energy_words(shares: Shares) -> str:
    """The element that has most of the energy of a mode, the mean of kinetic and potential."""
    total: dict[str, float] = {}
    for kind in ("kinetic", "potential"):
        for name, share in shares.get(kind, {}).items():
            total[name] = total.get(name, 0.0) + 0.5 * abs(share)
    if not total:
        return ""
    name, share = max(total.items(), key=lambda item: item[1])
    return f"{one_line(name)} {100.0 * share:.0f} %"


def energy_tooltip(shares: Shares) -> str:
    """All shares that count, a line for each kind of energy."""
    lines = []
    for kind, parts in shares.items():
        counted = sorted(((n, s) for n, s in parts.items() if abs(s) > LEAST), key=lambda item: -abs(item[1]))
        if counted:
            words = ", ".join(f"{one_line(name)} {100.0 * share:.0f} %" for name, share in counted[:6])
            lines.append(f"{kind.capitalize()}{'' if kind == 'dissipation' else ' energy'}: {words}")
    return unformatted("\n".join(lines))


def mark(behaviour: str, size: int) -> QPixmap:
    """The symbol of a root as in the plane."""
    from .plane import behaviour_color

    picture = QPixmap(size, size)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    color = QColor(behaviour_color(behaviour))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    a, m, b = 0.18 * size, 0.5 * size, 0.82 * size
    if behaviour == DECAYS:
        painter.drawEllipse(picture.rect().adjusted(*[round(s * a) for s in (1, 1, -1, -1)]))
    elif behaviour == GROWS:
        painter.drawPolygon(QPolygonF.fromList(_points((m, a), (b, b), (a, b))))
    elif behaviour == NEUTRAL:
        painter.drawPolygon(QPolygonF.fromList(_points((m, a), (b, m), (m, b), (a, m))))
    else:
        pen = painter.pen()
        pen.setStyle(Qt.PenStyle.SolidLine)
        pen.setColor(color)
        pen.setWidthF(0.1 * size)
        painter.setPen(pen)
        painter.drawLine(*_points((a, a), (b, b)))
        painter.drawLine(*_points((a, b), (b, a)))
    painter.end()
    return picture


def _points(*pairs: tuple[float, float]) -> list[Any]:
    from PySide6.QtCore import QPointF

    return [QPointF(x, y) for x, y in pairs]


class ModeTable(QTableView):
    """Modes to choose from, by mouse or arrow keys."""

    row_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("mode_table")
        self.setAccessibleName("Modes")
        self.modes = ModeModel(self)
        self.setModel(self.modes)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(max(26, self.fontMetrics().height() + 8))
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        self._widths = [0] * len(COLUMNS)
        self._fit_columns()
        self._quiet = False
        self.selectionModel().currentRowChanged.connect(self._chosen)
        theme.changed().connect(self._repaint)

    def _repaint(self, *_: object) -> None:
        self.viewport().update()

    def show_roots(
        self, roots: Roots | None, selected: int = -1, shares: Mapping[int, Shares] = MappingProxyType({})
    ) -> None:
        """Show other roots with one of them selected, without a signal; `shares` are those of `RootsFound`."""
        self._quiet = True
        self.modes.shares = shares
        self.modes.show(roots)
        self._quiet = False
        self.select(selected)
        if roots is None:
            self._widths = [0] * len(COLUMNS)
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        """Give numbers the room that they need, words what is left; columns do not shrink while a slider moves."""
        # Qt's own hint for a header leaves room for bold letters and an arrow, which are not there.
        metrics = self.horizontalHeader().fontMetrics()
        titles = [metrics.horizontalAdvance(title) + 2 * BESIDE for title, _, _ in COLUMNS]
        others = [column for column in range(len(COLUMNS)) if column != MOVING]
        for column in others:
            self._widths[column] = max(self._widths[column], self.sizeHintForColumn(column), titles[column])
        least = max(letters(self, LETTERS), titles[MOVING])
        for count in range(len(SPARED) + 1):
            spared = SPARED[:count]
            left = self.viewport().width() - sum(self._widths[column] for column in others if column not in spared)
            if left >= least:
                break
        self._widths[MOVING] = max(left, least)
        for column, width in enumerate(self._widths):
            self.setColumnHidden(column, column in spared)
            self.setColumnWidth(column, width)

    def select(self, row: int) -> None:
        """Select a row without a signal; -1 selects none."""
        self._quiet = True
        selection = self.selectionModel()
        if 0 <= row < self.modes.rowCount():
            flags = QItemSelectionModel.SelectionFlag
            selection.setCurrentIndex(self.modes.index(row, 0), flags.ClearAndSelect | flags.Rows)
        else:
            selection.clear()
        self._quiet = False

    def _chosen(self, current: QModelIndex, _: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.row_chosen.emit(current.row())
