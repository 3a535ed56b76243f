"""Roots over a parameter, with the values at which stability is gained or lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QWidget

from ...widgets import theme
from ...widgets.plot import Plot
from .plane import REACH
from .tasks import LocusFound


class ParameterPlot(Plot):
    """Real parts (solid) and imaginary parts (dashed) over the parameter; the stable range has a tinted ground.

    A line shows the present value; it can be dragged. Critical values are lines with a name; a click chooses one.
    """

    value_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("parameter_plot")
        self.setAccessibleName("Roots over the parameter")
        self.found: LocusFound | None = None
        self.factor = 1.0
        self.words = "parameter"
        self.value: float | None = None
        self._items: list[Any] = []
        self._line = pg.InfiniteLine(0.0, 90, movable=True)
        self._line.setZValue(20)
        self._line.sigDragged.connect(lambda line: self.value_chosen.emit(float(line.value()) / self.factor))
        self.addItem(self._line, ignoreBounds=True)
        self._dress()

    def show_locus(self, found: LocusFound | None, words: str = "parameter", factor: float = 1.0) -> None:
        """Show a root locus over a parameter called `words`; values are multiplied by `factor` to be shown."""
        self.found, self.words, self.factor = found, words, factor
        self.redraw()
        self.fit()

    def set_value(self, value: float | None) -> None:
        """Mark a value of the parameter."""
        self.value = value
        self._line.setVisible(value is not None)
        if value is not None:
            self._line.setValue(value * self.factor)

    def fit(self) -> None:
        if self.found is None:
            return
        values = self.found.locus.values * self.factor
        roots = self.found.locus.eigenvalues[np.isfinite(self.found.locus.eigenvalues)]
        if not len(roots):
            return
        # A fast root that decays anyway must not flatten the others.
        low = max(float(roots.real.min()), -1.5 * float(np.abs(roots.imag).max() or np.abs(roots.real).max()))
        high = max(float(roots.imag.max()), float(roots.real.max()))
        self.show_range((values[0], values[-1]), (low, high), 0.06)

    def redraw(self) -> None:
        look = theme.current()
        for item in self._items:
            self.removeItem(item)
        self._items = []
        self._line.setPen(pg.mkPen(look.accent, width=2))
        self._line.setHoverPen(pg.mkPen(look.accent_hover, width=4))
        self.label("bottom", self.words)
        self.label("left", "Re λ solid, Im λ dashed" if self.found is not None else "")
        if self.found is None:
            return
        locus = self.found.locus
        values = locus.values * self.factor
        zero = pg.InfiniteLine(0.0, 0, pen=pg.mkPen(look.muted, width=1))
        self._add(zero, -10, ignore=True)
        self._add_stable_ranges(values, locus.stable)
        for number, branch in enumerate(locus.eigenvalues.T):
            color = QColor(look.series[number % len(look.series)])
            there = np.isfinite(branch)
            curve = {"connect": "finite"}
            self._add(pg.PlotCurveItem(values[there], branch.real[there], pen=pg.mkPen(color, width=2), **curve), 0)
            above = np.where(there & (branch.imag > 0.0), branch.imag, np.nan)
            if np.isfinite(above).any():
                faint = pg.mkPen(theme.mixed(color.name(), look.surface, 0.7), width=1.5, style=Qt.PenStyle.DashLine)
                self._add(pg.PlotCurveItem(values, above, pen=faint, **curve), -1)
        for number, critical in enumerate(self.found.critical):
            self._add_critical(critical, number)

    def _add_stable_ranges(self, values: Any, stable: Any) -> None:
        """Tint the ground between critical values where nothing grows."""
        edges = [values[0], *(critical.value * self.factor for critical in self.found.critical), values[-1]]  # type: ignore[union-attr]
        shade = QColor(theme.current().good)
        shade.setAlpha(30)
        for left, right in pairwise(edges):
            inside = (values > left) & (values < right)
            if inside.any() and stable[inside].all():
                region = pg.LinearRegionItem((left, right), movable=False, brush=shade)
                for line in region.lines:
                    line.setPen(pg.mkPen(None))
                self._add(region, -20, ignore=True)

    def _add_critical(self, critical: Any, number: int) -> None:
        look = theme.current()
        line = pg.InfiniteLine(
            critical.value * self.factor,
            90,
            pen=pg.mkPen(look.text, width=1, style=Qt.PenStyle.DotLine),
            label=f"{critical.kind} {critical.value * self.factor:.3g}",
            labelOpts={
                "position": 0.22 + 0.14 * (number % 4),  # one above the other, so that they do not cover each other
                "color": look.text,
            },
        )
        self._add(line, 5, ignore=True)

    def _add(self, item: Any, depth: float, ignore: bool = False) -> None:
        item.setZValue(depth)
        self.addItem(item, ignoreBounds=ignore)
        self._items.append(item)

    def pixel_of(self, value: float) -> QPointF:
        """Where a value of the parameter is, in pixels of this widget, half way up."""
        box = self.getPlotItem().vb
        middle = box.viewRect().center().y()
        return QPointF(self.mapFromScene(box.mapViewToScene(QPointF(value * self.factor, middle))))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click near a critical value chooses it."""
        if event.button() == Qt.MouseButton.LeftButton and self.found is not None:
            x = event.position().x()
            near = [(abs(self.pixel_of(c.value).x() - x), c.value) for c in self.found.critical]
            if near and min(near)[0] < REACH / 2:
                self.value_chosen.emit(min(near)[1])
                event.accept()
                return
        super().mousePressEvent(event)
