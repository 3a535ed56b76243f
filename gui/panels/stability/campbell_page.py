"""The Campbell page: frequencies of a rotor over its speed, whirl, critical speeds, ranges that are not stable."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSpinBox, QWidget

import mbframe as mb

from ...document.document import Document
from ...widgets import theme
from ...widgets.arranging import stack
from ...widgets.labels import ElidedLabel
from ...widgets.plot import Plot
from .motion_pages import MotionPage
from .motion_tasks import CampbellFound, CampbellTask
from .range_bar import RangeBar

SPEEDS: Final = 25
STYLES: Final = {"forward": Qt.PenStyle.SolidLine, "backward": Qt.PenStyle.DashLine, "": Qt.PenStyle.DotLine}
TO_RPM: Final = 30.0 / np.pi


class CampbellPlot(Plot):
    """Frequencies over speed: forward whirl solid, backward dashed, neither dotted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("campbell_plot")
        self.setAccessibleName("Campbell diagram")
        self.found: CampbellFound | None = None
        self._drawn: list[Any] = []
        self._dress()

    def show_diagram(self, found: CampbellFound | None) -> None:
        """Show another diagram."""
        self.found = found
        self.redraw()
        self.fit()

    def fit(self) -> None:
        if self.found is None:
            return
        top = float(np.nanmax(self.found.frequencies, initial=1e-9))
        self.show_range((float(self.found.speeds[0]), float(self.found.speeds[-1])), (0.0, 1.05 * top), 0.03)

    def redraw(self) -> None:
        for item in self._drawn:
            self.removeItem(item)
        self._drawn = []
        self.label("bottom", "speed (rad/s)")
        self.label("left", "frequency (Hz)")
        found, look = self.found, theme.current()
        if found is None:
            return
        shade = QColor(look.bad)
        shade.setAlpha(30)
        for low, high in found.unstable:
            region = pg.LinearRegionItem((low, high), movable=False, brush=shade)
            for line in region.lines:
                line.setPen(pg.mkPen(None))
            self._put(region, -20)
        top = float(np.nanmax(found.frequencies, initial=1e-9))
        for multiple in sorted({c[1] for c in found.critical} | {1.0}):
            end = min(float(found.speeds[-1]), 2.0 * np.pi * top * 1.1 / multiple)
            line = pg.PlotCurveItem(
                [0.0, end], [0.0, multiple * end / (2.0 * np.pi)], pen=pg.mkPen(look.muted, width=1)
            )
            self._put(line, -5)
        for mode in range(found.frequencies.shape[1]):
            color = look.series[mode % len(look.series)]
            y = found.frequencies[:, mode]
            for k in range(len(y) - 1):  # the whirl may change along a mode
                if np.isfinite(y[k : k + 2]).all():
                    style = STYLES.get(str(found.whirl[k + 1, mode]), Qt.PenStyle.DotLine)
                    pen = pg.mkPen(QColor(color), width=2, style=style)
                    self._put(pg.PlotCurveItem(found.speeds[k : k + 2], y[k : k + 2], pen=pen), 0)
        for speed, multiple, _, _ in found.critical:
            spot = pg.ScatterPlotItem(
                [speed],
                [multiple * speed / (2.0 * np.pi)],
                size=11,
                brush=pg.mkBrush(look.warning),
                pen=pg.mkPen(look.surface),
            )
            self._put(spot, 10)

    def _put(self, item: Any, depth: int) -> None:
        item.setZValue(depth)
        self.addItem(item, ignoreBounds=True)
        self._drawn.append(item)


class CampbellPage(MotionPage):
    """A Campbell diagram of the document's model."""

    def __init__(self, document: Document, solver: Any, parent: QWidget | None = None) -> None:
        super().__init__(document, solver, "campbell_page", parent)
        self.range = RangeBar(document, "campbell")
        self.range.parameter.setToolTip("The number that is the speed of the rotor, rad/s; type to search")
        self.count = QSpinBox()
        self.count.setObjectName("campbell_count")
        self.count.setRange(5, 200)
        self.count.setValue(SPEEDS)
        self.count.setSuffix(" speeds")
        self.button = QPushButton("Campbell diagram")
        self.button.setObjectName("campbell_button")
        self.button.setProperty("primary", True)
        self.button.clicked.connect(self.draw)
        self.plot = CampbellPlot()
        self.plot.setMinimumSize(160, 60)
        self.words = ElidedLabel(lines=2)
        self.words.setObjectName("campbell_words")
        self.words.setProperty("role", "muted")
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 3)
        row.setSpacing(6)
        row.addWidget(self.button)
        row.addWidget(self.range, 1)
        row.addWidget(self.count)
        below = QHBoxLayout()
        below.setContentsMargins(8, 0, 8, 4)
        below.addWidget(self.words, 1)
        below.addWidget(self.waiting, 1)
        stack(self, row, self.banner, self.plot, below, growing=self.plot)
        self.forget()
        self.show_busy()

    def forget(self) -> None:
        self.range.prefer("speed")
        if self.range.low < 0.0 < self.range.high:
            self.range.set_range(0.0, self.range.high)
        self.plot.show_diagram(None)
        self.words.setText(
            "Frequencies of a rotor over its speed: lines are unbalance and multiples, dots critical speeds."
        )

    def show_busy(self) -> None:
        super().show_busy()
        self.button.setEnabled(not self.busy and self.range.variation is not None)
        self.words.setVisible(not self.busy)

    def draw(self) -> None:
        """Follow the modes over the range."""
        variation = self.range.variation
        if variation is None:
            return
        speeds = tuple(np.linspace(self.range.low, self.range.high, self.count.value()).tolist())
        try:
            task = CampbellTask(self.subject(variation), speeds)
        except mb.ModelError as error:
            self.banner.say(str(error), "error")
            return
        self.compute(task, "Following the modes…", self._show)

    def _show(self, found: CampbellFound) -> None:
        self.plot.show_diagram(found)
        parts = [f"{c[0]:.5g} rad/s ({c[0] * TO_RPM:.4g} rpm{', ' + c[3] if c[3] else ''})" for c in found.critical]
        text = f"Critical speeds: {', '.join(parts)}." if parts else "No critical speed in this range."
        if found.unstable:
            text += " Unstable: " + ", ".join(f"{a:.5g} to {b:.5g} rad/s" for a, b in found.unstable) + "."
        self.words.setText(text)
        if found.warnings:
            self.banner.say(" ".join(found.warnings), "warning")
