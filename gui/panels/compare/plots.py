"""Pictures of a comparison: work and precision, violation and energy over time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

import mbframe as mb

from ...widgets import theme
from ...widgets.plot import GRID, Plot
from .table import SYMBOLS, color_of

SMALLEST: Final = 1e-17
"""Floor of logarithmic axes, so that an exact zero can be drawn."""
KINDS: Final = {
    "work": ("Work and precision", "time of computation, s", "error, m or rad"),
    "violation": ("Violation", "time, s", "|C|, m or rad"),
    "energy": ("Energy", "time, s", "|E − E(0)|, J"),
}
"""Title and axes of each picture."""
MARGIN: Final = 0.06
"""Around the lines, of their size."""
SHORT: Final = 2.5
"""Decades of an axis, below which not only they are named."""
TICK: Final = 52
"""Pixels that the name of a tick needs."""
RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class DecadeAxis(pg.AxisItem):
    """Names decades, and in short ranges their 2 and 5 as well, as many as there is room for; otherwise as usual."""

    def logTickValues(self, minVal: float, maxVal: float, size: float, stdTicks: Any) -> list[tuple[float, Any]]:
        decades = np.arange(np.floor(minVal), np.ceil(maxVal) + 1.0)
        marks = np.add.outer(decades, np.log10((1.0, 2.0, 5.0))).ravel() if maxVal - minVal < SHORT else decades
        marks = marks[(marks >= minVal) & (marks <= maxVal)]
        every = int(np.ceil(len(marks) * TICK / max(size, 1.0))) or 1
        return [(1.0, marks[::every])]

    def logTickStrings(self, values: Any, scale: float, spacing: float) -> list[str]:
        return [power_of_ten(10.0 ** float(value)) for value in np.asarray(values) * scale]


def power_of_ten(number: float) -> str:
    """A number with one digit: "10⁻³", "2·10⁻⁴"; those near one as they are."""
    if 0.01 <= number < 1000.0:
        return f"{number:.1g}" if number < 1.0 else f"{number:.0f}"
    digit, exponent = f"{number:.0e}".split("e")
    power = f"10{str(int(exponent)).translate(RAISED)}"
    return power if digit == "1" else f"{digit}·{power}"


class ComparePlot(Plot):
    """One picture at a time, a line for each family of methods; over time it is that of the finest steps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.getPlotItem().setAxisItems({"bottom": DecadeAxis("bottom")})
        self.getPlotItem().showGrid(x=True, y=True, alpha=GRID)
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
        """Show everything, with room for the names of the axes."""
        drawn = [np.array(line.getOriginalDataset(), float) for line in self.lines]
        if not drawn:
            return
        x, y = np.concatenate(drawn, axis=1)
        x, y = np.log10(x) if self.kind == "work" else x, np.log10(y)
        seen = np.isfinite(x) & np.isfinite(y)
        if seen.any():
            wide, high = ((float(one[seen].min()), float(one[seen].max())) for one in (x, y))
            self.show_range(wide, high, MARGIN)

    def redraw(self) -> None:
        for line in self.lines:
            self.removeItem(line)
        self.lines = []
        _, below, beside = KINDS[self.kind]
        self.label("bottom", below)
        self.label("left", beside)
        self.getPlotItem().setLogMode(x=self.kind == "work", y=True)
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
