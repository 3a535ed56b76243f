"""Pictures of a comparison: work and precision, violation and energy over time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

import mbframe as mb

from . import theme
from .compare_table import SYMBOLS, color_of
from .stability.plane import Plot

SMALLEST: Final = 1e-17
"""Floor of logarithmic axes, so that an exact zero can be drawn."""
KINDS: Final = {
    "work": ("Work and precision", "time of computation, s", "error, m or rad"),
    "violation": ("Violation", "time, s", "|C|, m or rad"),
    "energy": ("Energy", "time, s", "|E − E(0)|, J"),
}
"""Title and axes of each picture."""


class ComparePlot(Plot):
    """One picture at a time, a line for each family of methods; over time it is that of the finest steps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compare_plot")
        self.setAccessibleName("Picture of the comparison")
        self.comparison: mb.Comparison | None = None
        self.kind = "work"
        self.chosen = -1
        self.lines: list[Any] = []
        self._dress()

    def show_comparison(self, comparison: mb.Comparison | None) -> None:
        self.comparison, self.chosen = comparison, -1
        self.redraw()
        self.fit()

    def show_kind(self, kind: str) -> None:
        self.kind = kind
        self.redraw()
        self.fit()

    def choose(self, family: int) -> None:
        """Let a family stand out; -1 is none."""
        self.chosen = family
        self.redraw()

    def fit(self) -> None:
        self.getPlotItem().vb.autoRange(padding=0.06)

    def redraw(self) -> None:
        for line in self.lines:
            self.removeItem(line)
        self.lines = []
        _, below, beside = KINDS[self.kind]
        self.label("bottom", below)
        self.label("left", beside)
        self.getPlotItem().setLogMode(x=self.kind == "work", y=True)
        self.getPlotItem().getAxis("bottom").setStyle(maxTextLevel=0 if self.kind == "work" else 2)  # decades have room
        if self.comparison is None:
            return
        for number, group in enumerate(self.comparison.families().values()):
            x, y = points(group, self.kind)
            if len(x):
                self.lines.append(self._line(number, x, y))

    def _line(self, number: int, x: Any, y: Any) -> Any:
        look = theme.current()
        faded = self.chosen not in (-1, number)
        color = theme.mixed(color_of(number), look.surface, 0.3) if faded else QColor(color_of(number))
        line = pg.PlotDataItem(
            x, np.maximum(y, SMALLEST), pen=pg.mkPen(color, width=3 if number == self.chosen else 1.5)
        )
        if self.kind == "work":
            line.setSymbol(SYMBOLS[number % len(SYMBOLS)])
            line.setSymbolSize(9)
            line.setSymbolBrush(color)
            line.setSymbolPen(pg.mkPen(None))
        else:
            line.setDownsampling(auto=True, method="peak")
        line.setZValue(5 if number == self.chosen else 0)
        self.addItem(line)
        return line


def points(group: list[Any], kind: str) -> tuple[Any, Any]:
    """The line of a family of methods in a picture."""
    if kind == "work":
        found = sorted((o.steps, o.wall_time, o.error) for o in group if o.error is not None)
        return np.array([cost for _, cost, _ in found]), np.array([error for _, _, error in found])
    history = max(group, key=lambda outcome: outcome.steps or 0).history
    if kind == "violation":
        return history.t, history.position_violation
    return history.t[1:], np.abs(history.energy - history.energy[0])[1:]
