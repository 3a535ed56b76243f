"""Small plots of a run over time: how far joints are open, and the energy."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtWidgets import QWidget

from ...solving.curves import Curve
from ...widgets import theme
from ...widgets.plot import Plot

MARGIN: Final = 0.06
"""Around a curve, of its size."""
SMALLEST: Final = 1e-17
"""Floor of logarithmic axes, so that an exact zero can be drawn."""


class HistoryPlot(Plot):
    """One quantity of a run over time; `from_start` shows how it differs from its first value."""

    def __init__(
        self,
        name: str,
        words: str,
        logarithmic: bool = False,
        from_start: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(words)
        self.words, self.logarithmic, self.from_start = words, logarithmic, from_start
        self.curve: Curve | None = None
        self.coming = False
        self._line: Any = None
        self.getPlotItem().setLogMode(y=logarithmic)
        self._dress()

    def show_curve(self, curve: Curve | None, coming: bool = False) -> None:
        """Show another curve, or none; `coming` says that one is being computed."""
        self.curve, self.coming = curve, coming
        self.redraw()
        self.fit()

    def fit(self) -> None:
        if self._line is not None:
            x, y = (values[np.isfinite(values)] for values in self._line.getOriginalDataset())
            y = np.log10(y) if self.logarithmic else y
            low, high = float(y.min()), float(y.max())
            if high <= low:  # a line that is level is drawn in the middle
                low, high = low - 1.0, high + 1.0
            self.show_range((float(x[0]), float(x[-1])), (low, high), MARGIN)

    def redraw(self) -> None:
        if self._line is not None:
            self.removeItem(self._line)
            self._line = None
        there = self.curve is not None and len(self.curve.t) > 0
        missing = "is being computed…" if self.coming else "appears after a run"
        self.label("left", self.words if there else f"{self.words}: {missing}")
        self.label("bottom", "time, s" if there else "")
        for side in ("left", "bottom"):  # numbers beside nothing would mean nothing
            self.getPlotItem().getAxis(side).setStyle(showValues=there)
        if self.curve is None or not there:
            return
        values = self.curve.values - (self.curve.values[0] if self.from_start else 0.0)
        if self.logarithmic:
            values = np.maximum(np.abs(values), SMALLEST)
        self._line = pg.PlotDataItem(self.curve.t, values, pen=pg.mkPen(theme.current().accent, width=1.5))
        self._line.setDownsampling(auto=True, method="peak")
        self.addItem(self._line)
