"""The eigenvalue plane: roots told apart by shape and colour, the root locus behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from mbframe.analysis.linear.root_words import DECAYS, GROWS, IGNORABLE, NEUTRAL, Roots, tooltip

from ...widgets import theme
from ...widgets.plot import RING, Plot

SYMBOLS = {DECAYS: "o", NEUTRAL: "d", GROWS: "t1", IGNORABLE: "x"}
SIZES = {DECAYS: 11, NEUTRAL: 12, GROWS: 13, IGNORABLE: 9}
REACH = 14  # pixels from a root at which a click still means it
MARGIN = 0.12


def behaviour_color(behaviour: str) -> QColor:
    """The colour of a root; its shape says the same."""
    look = theme.current()
    return QColor({DECAYS: look.good, NEUTRAL: look.warning, GROWS: look.bad, IGNORABLE: look.muted}[behaviour])


class EigenvaluePlane(Plot):
    """Roots in the complex plane; a click or an arrow key chooses one."""

    row_chosen = Signal(int)
    step_asked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("eigenvalue_plane")
        self.setAccessibleName("Eigenvalue plane")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.roots: Roots | None = None
        self.selected = -1
        self.locus: Any = None
        self.color_by = "parameter"
        self._unstable = pg.LinearRegionItem((0.0, 1.0), movable=False)
        for line in self._unstable.lines:
            line.setPen(pg.mkPen(None))
        self.getPlotItem().vb.sigXRangeChanged.connect(self._cover_unstable)
        self._axes = [pg.InfiniteLine(0.0, angle) for angle in (90, 0)]
        self._branches: list[Any] = []
        self._ring = pg.ScatterPlotItem(pxMode=True)
        self._dots = pg.ScatterPlotItem(pxMode=True)
        for depth, item in ((-20, self._unstable), (-10, self._axes[0]), (-10, self._axes[1])):
            item.setZValue(depth)
            self.addItem(item, ignoreBounds=True)
        for depth, item in ((5, self._ring), (10, self._dots)):
            item.setZValue(depth)
            self.addItem(item)
        self._dress()
        self.setRange(xRange=(-1.0, 1.0), yRange=(-1.0, 1.0))

    # --- what is shown -----------------------------------------------------------------------------------------------

    def show_roots(self, roots: Roots | None, selected: int = -1, keep_range: bool = False) -> None:
        """Show roots; `keep_range` leaves the section alone as long as they are in it."""
        self.roots, self.selected = roots, selected
        self._draw_roots()
        if roots is not None and not (keep_range and self._inside()):
            self.fit()

    def select(self, row: int) -> None:
        """Mark a row."""
        self.selected = row
        self._draw_roots()

    def show_locus(self, locus: Any, color_by: str = "parameter") -> None:
        """Show the branches of a root locus (None: none), coloured by "parameter" or "branch"."""
        fresh = locus is not self.locus
        self.locus, self.color_by = locus, color_by
        self._draw_locus()
        if fresh:
            self.fit()

    def points(self) -> list[tuple[int, complex]]:
        """Row and place of every point that is drawn."""
        if self.roots is None:
            return []
        found = []
        for number, row in enumerate(self.roots.rows):
            found.append((number, row.root))
            if row.pair:
                found.append((number, row.root.conjugate()))
        return found

    def pixel(self, root: complex) -> QPointF:
        """Where a root is drawn, in pixels of this widget."""
        scene = self.getPlotItem().vb.mapViewToScene(QPointF(root.real, root.imag))
        return QPointF(self.mapFromScene(scene))

    def fit(self) -> None:
        values = np.array([root for _, root in self.points()], complex)
        if self.locus is not None:
            everything = self.locus.eigenvalues[np.isfinite(self.locus.eigenvalues)]
            values = np.concatenate([values, everything, everything.conj()])
        if not len(values):
            return
        size = float(np.abs(values).max()) or 1.0
        low, high = min(values.real.min(), -0.15 * size), max(values.real.max(), 0.15 * size)
        top = max(float(np.abs(values.imag).max()), 0.3 * size)
        self.show_range((low, high), (-top, top), MARGIN)

    def _cover_unstable(self, *_: object) -> None:
        """Tint the half plane of growth as far as it is seen; a plot does not draw much larger rectangles well."""
        right = self.getPlotItem().viewRange()[0][1]
        self._unstable.setVisible(bool(right > 0.0))
        self._unstable.setRegion((0.0, max(right, 1e-12)))

    def _inside(self) -> bool:
        (left, right), (bottom, top) = self.getPlotItem().viewRange()
        return all(left <= p.real <= right and bottom <= p.imag <= top for _, p in self.points())

    # --- drawing -----------------------------------------------------------------------------------------------------

    def redraw(self) -> None:
        look = theme.current()
        shade = QColor(look.bad)
        shade.setAlpha(22)
        self._unstable.setBrush(shade)
        for line in self._axes:
            line.setPen(pg.mkPen(look.muted, width=1))
        self.label("bottom", "Re λ, growth (1/s)")
        self.label("left", "Im λ (rad/s)")
        self._draw_roots()
        self._draw_locus()

    def _draw_roots(self) -> None:
        look = theme.current()
        spots = []
        for number, root in self.points():
            behaviour = self.roots.rows[number].behaviour  # type: ignore[union-attr]
            color = behaviour_color(behaviour)
            open_ = behaviour == IGNORABLE
            spots.append(
                {
                    "pos": (root.real, root.imag),
                    "symbol": SYMBOLS[behaviour],
                    "size": SIZES[behaviour],
                    "brush": pg.mkBrush(color),
                    "pen": pg.mkPen(color if open_ else look.surface, width=1.5 if open_ else 1.0),
                }
            )
        self._dots.setData(spots)
        marked = [root for number, root in self.points() if number == self.selected]
        self._ring.setData(
            [r.real for r in marked],
            [r.imag for r in marked],
            symbol="o",
            size=RING,
            pen=pg.mkPen(look.accent, width=2),
            brush=pg.mkBrush(theme.mixed(look.accent, look.surface, 0.25)),
        )

    def _draw_locus(self) -> None:
        for item in self._branches:
            self.removeItem(item)
        self._branches = []
        if self.locus is None:
            return
        look = theme.current()
        shades = parameter_brushes(len(self.locus.values))
        for number, branch in enumerate(self.locus.eigenvalues.T):
            there = np.isfinite(branch)
            if not there.any():
                continue
            color = theme.mixed(look.series[number % len(look.series)], look.surface, 0.8)
            by_branch = self.color_by == "branch"
            line = pg.PlotCurveItem(
                branch.real[there],
                branch.imag[there],
                pen=pg.mkPen(color if by_branch else look.border, width=2.0 if by_branch else 1.2),
            )
            self._branches.append(line)
            if not by_branch:
                brushes = [shades[k] for k in np.flatnonzero(there)]
                self._branches.append(
                    pg.ScatterPlotItem(
                        branch.real[there], branch.imag[there], size=4.5, pen=pg.mkPen(None), brush=brushes
                    )
                )
        for item in self._branches:
            item.setZValue(-5)
            self.addItem(item)

    # --- mouse and keys ----------------------------------------------------------------------------------------------

    def row_at(self, position: QPointF) -> int:
        """The row of the root nearest to a place in pixels, -1 if none is near."""
        nearest, row = float(REACH), -1
        for number, root in self.points():
            away = self.pixel(root) - position
            distance = float(np.hypot(away.x(), away.y()))
            # Ignorable roots lie on top of one another and never hide one that counts.
            distance += 4.0 if self.roots.rows[number].behaviour == IGNORABLE else 0.0  # type: ignore[union-attr]
            if distance < nearest:
                nearest, row = distance, number
        return row

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and (row := self.row_at(event.position())) >= 0:
            self.setFocus(Qt.FocusReason.MouseFocusReason)
            self.row_chosen.emit(row)
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        row = self.row_at(event.position())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor)
        if row >= 0 and self.roots is not None:
            QToolTip.showText(event.globalPosition().toPoint(), tooltip(self.roots.rows[row]), self)
        else:
            QToolTip.hideText()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Right: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Left: -1}
        if event.key() in steps:
            self.step_asked.emit(steps[Qt.Key(event.key())])
            event.accept()
        elif event.key() == Qt.Key.Key_Home:
            self.fit()
        else:
            super().keyPressEvent(event)


def parameter_brushes(count: int) -> list[Any]:
    """Colours along a parameter, from the first value to the last."""
    look = theme.current()
    ends = ("#7fd0e0", "#3f6fd0", "#c04fa0") if not look.dark else ("#9be3e6", "#5f8ff0", "#f07fc0")
    stops = [QColor(code) for code in ends]
    brushes = []
    for share in np.linspace(0.0, 1.0, max(count, 2)):
        half = min(int(share * 2.0), 1)
        brushes.append(pg.mkBrush(theme.mixed(stops[half + 1].name(), stops[half].name(), share * 2.0 - half)))
    return brushes
