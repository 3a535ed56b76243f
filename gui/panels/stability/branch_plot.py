"""The bifurcation diagram: a branch of solutions over the parameter, solid where stable, dashed where not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from ...widgets import theme
from ...widgets.plot import RING, Plot
from .motion_tasks import BranchFound, Mark, Point

REACH: Final = 18
"""Pixels from the branch at which a click still means it."""
KINDS: Final = {
    "fold": ("fold", "t"),
    "branch": ("branch point", "s"),
    "Hopf": ("Hopf point", "star"),
    "period doubling": ("period doubling", "d"),
    "torus": ("torus", "p"),
}
"""Words and symbols of the places where something changes."""
ROUNDING: Final = 1e-9
Measure = Callable[[Point], tuple[float, float]]
"""The least and the largest value of what is shown of a point."""


class BranchPlot(Plot):
    """Branches over the parameter; a click chooses a solution, and dragging goes along the branch."""

    point_chosen = Signal(int, int)
    """Branch and point."""
    mark_chosen = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("branch_plot")
        self.setAccessibleName("Bifurcation diagram")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.branches: Sequence[BranchFound] = ()
        self.measure: Measure = lambda point: (point.value, point.value)
        self.factor, self.across, self.up = 1.0, "parameter", ""
        self.selected = (-1, -1)
        self._drawn: list[pg.GraphicsObject] = []
        self._places: list[tuple[int, int, float, float]] = []
        self._mark_places: list[tuple[int, int, float, float]] = []
        self._dragging = False
        self._dress()

    def show_branches(
        self, branches: Sequence[BranchFound], measure: Measure, factor: float, across: str, up: str
    ) -> None:
        """Show branches; `factor` shown units make one SI unit of the parameter, `across` and `up` name the axes."""
        self.branches, self.measure, self.factor, self.across, self.up = branches, measure, factor, across, up
        self._work_out()
        self.redraw()
        self.fit()

    def select(self, branch: int, point: int) -> None:
        """Mark a solution."""
        self.selected = (branch, point)
        self.redraw()

    def _work_out(self) -> None:
        self._places, self._mark_places = [], []
        for b, branch in enumerate(self.branches):
            for p, point in enumerate(branch.points):
                for y in self._heights(point):
                    self._places.append((b, p, self.factor * point.value, y))
            for m, mark in enumerate(branch.marks):
                self._mark_places.append((b, m, self.factor * mark.point.value, self._heights(mark.point)[-1]))

    def _heights(self, point: Point) -> tuple[float, ...]:
        low, high = self.measure(point)
        return (low,) if low == high else (low, high)

    def fit(self) -> None:
        if not self._places:
            return
        x, y = np.array([(x, y) for _, _, x, y in self._places]).T
        x, y = x[np.isfinite(y)], y[np.isfinite(y)]
        if not len(y):
            return
        size = float(np.ptp(y))
        if size < ROUNDING * max(1.0, float(np.abs(y).max())):  # it is flat, but for rounding
            size = max(0.1, float(np.abs(y).max()))
        middle = 0.5 * float(y.min() + y.max())
        self.show_range((float(x.min()), float(x.max())), (middle - 0.5 * size, middle + 0.5 * size), 0.05)

    # --- drawing -----------------------------------------------------------------------------------------------------

    def redraw(self) -> None:
        for item in self._drawn:
            self.removeItem(item)
        self._drawn = []
        look = theme.current()
        self.label("bottom", self.across)
        self.label("left", self.up)
        for b, branch in enumerate(self.branches):
            color = look.series[b % len(look.series)]
            for side in (0, -1):
                self._draw_side(branch, side, color)
            for mark in branch.marks:
                self._draw_mark(mark)
        b, p = self.selected
        if 0 <= b < len(self.branches) and 0 <= p < len(self.branches[b].points):
            point = self.branches[b].points[p]
            heights = self._heights(point)
            ring = pg.ScatterPlotItem(
                [self.factor * point.value] * len(heights),
                list(heights),
                size=RING / 2,
                pen=pg.mkPen(look.accent, width=2),
                brush=pg.mkBrush(theme.mixed(look.accent, look.surface, 0.4)),
            )
            self._put(ring, 20)

    def _draw_side(self, branch: BranchFound, side: int, color: str) -> None:
        """The line of least, or of largest values, in pieces of one stability."""
        x = np.array([self.factor * point.value for point in branch.points])
        y = np.array([self._heights(point)[side] for point in branch.points])
        stable = [point.stability != "unstable" for point in branch.points]
        for first, last, solid in pieces(stable):
            style = Qt.PenStyle.SolidLine if solid else Qt.PenStyle.DashLine
            pen = pg.mkPen(QColor(color), width=2.2 if style == Qt.PenStyle.SolidLine else 1.6, style=style)
            self._put(pg.PlotCurveItem(x[first : last + 1], y[first : last + 1], pen=pen), 0)

    def _draw_mark(self, mark: Mark) -> None:
        look = theme.current()
        words, symbol = KINDS.get(mark.kind, (mark.kind, "o"))
        x, y = self.factor * mark.point.value, self._heights(mark.point)[-1]
        spot = pg.ScatterPlotItem(
            [x], [y], symbol=symbol, size=13, brush=pg.mkBrush(look.warning), pen=pg.mkPen(look.surface, width=1)
        )
        text = pg.TextItem(words, color=look.text, anchor=(0.5, 1.25))
        text.setPos(x, y)
        self._put(spot, 15)
        self._put(text, 16, bounds=False)

    def _put(self, item: pg.GraphicsObject, depth: int, bounds: bool = True) -> None:
        item.setZValue(depth)
        self.addItem(item, ignoreBounds=not bounds)
        self._drawn.append(item)

    # --- mouse and keys ----------------------------------------------------------------------------------------------

    def _nearest(self, position: QPointF, places: list[tuple[int, int, float, float]], reach: float) -> tuple[int, int]:
        nearest, found = reach, (-1, -1)
        box = self.getPlotItem().vb
        for b, k, x, y in places:
            away = QPointF(self.mapFromScene(box.mapViewToScene(QPointF(x, y)))) - position
            distance = float(np.hypot(away.x(), away.y()))
            if distance < nearest:
                nearest, found = distance, (b, k)
        return found

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            super().mousePressEvent(event)
            return
        mark = self._nearest(event.position(), self._mark_places, REACH / 1.5)
        point = self._nearest(event.position(), self._places, REACH)
        if mark[0] < 0 and point[0] < 0:
            super().mousePressEvent(event)
            return
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self._dragging = True
        if mark[0] >= 0:
            self.mark_chosen.emit(*mark)
        else:
            self._choose(point)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragging:
            point = self._nearest(event.position(), self._places, float("inf"))
            if point != self.selected:
                self._choose(point)
            event.accept()
            return
        super().mouseMoveEvent(event)
        mark = self._nearest(event.position(), self._mark_places, REACH / 1.5)
        near = mark[0] >= 0 or self._nearest(event.position(), self._places, REACH)[0] >= 0
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if near else Qt.CursorShape.ArrowCursor)
        if mark[0] >= 0:
            words = self.branches[mark[0]].marks[mark[1]].said
            QToolTip.showText(event.globalPosition().toPoint(), words, self)
        else:
            QToolTip.hideText()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._dragging:
            self._dragging = False
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def _choose(self, point: tuple[int, int]) -> None:
        self.selected = point
        self.redraw()
        self.point_chosen.emit(*point)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Up: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Down: -1}
        b, p = self.selected
        if event.key() in steps and self.branches:
            b = max(b, 0)
            last = len(self.branches[b].points) - 1
            self._choose((b, min(max(p + steps[Qt.Key(event.key())], 0), last)))
            event.accept()
        else:
            super().keyPressEvent(event)


def pieces(flags: Sequence[bool]) -> Iterator[tuple[int, int, bool]]:
    """First and last place of the stretches of a line, and whether both ends of all that is in them are so."""
    both = [a and b for a, b in pairwise(flags)]
    first = 0
    for k in range(1, len(both) + 1):
        if k == len(both) or both[k] != both[first]:
            yield first, k, both[first]
            first = k
