"""One plot: curves of one unit over time, for all runs that are shown, with a cursor tied to the document's time."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from ...base.names import one_line
from ...base.quantity_names import shortened
from ...base.words import unit_label
from ...document.runs import Run
from ...fields.numbers import readable
from ...solving.curves import Curve
from ...widgets.arranging import stack
from ...widgets.icons import set_icon
from ...widgets.labels import ElidedLabel
from ...widgets.theme import changed as theme_changed
from ...widgets.theme import current as current_theme

GAP: Final = " &nbsp; "
LINES: Final = (
    (Qt.PenStyle.SolidLine, "━"),
    (Qt.PenStyle.DashLine, "╌╌"),
    (Qt.PenStyle.DotLine, "┈┈"),
    (Qt.PenStyle.DashDotLine, "╌·"),
)
"""By run where colours tell quantities apart; of one quantity colours tell runs apart, and older models are dashed."""
MARGIN: Final = 58
"""Width of the axis at the left, so that the plots of a column line up, px."""


@dataclass
class Trace:
    """A curve on the screen: of which quantity and run, its data in display units, and its item."""

    name: str
    label: str
    run: Run
    t: Any
    values: Any
    item: Any
    color: str
    line: tuple[Any, str]
    """Style of the pen, and the dash that stands for it in the legend."""

    @cached_property
    def largest(self) -> float:
        """The largest magnitude of its values."""
        return float(np.nanmax(np.abs(self.values), initial=0.0))

    def at(self, t: float) -> float:
        """The value at an instant, between stored ones on the straight line; NaN outside."""
        if not len(self.t):
            return float("nan")
        return float(np.interp(t, self.t, self.values, left=np.nan, right=np.nan))


class Legend(QLabel):
    """Takes the lines that it needs: the column of plots scrolls before anything is cut."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)

    def show_legend(self, text: str) -> None:
        """Write it."""
        self.setText(text)
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        self.setMinimumHeight(max(0, self.heightForWidth(self.width())))


class Plot(QWidget):
    """Curves of quantities with the same unit."""

    time_chosen = Signal(float)
    """The cursor was moved."""
    peaked = Signal(str)
    """The cursor was sent to the largest value: which one, in words."""
    activated = Signal(object)
    closed = Signal(object)
    name_removed = Signal(object, str)
    export_requested = Signal(object, str)

    def __init__(self, unit: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("plot")
        self.unit = unit
        self.names: list[str] = []
        self.traces: list[Trace] = []
        self.log = False
        self._remarks: list[str] = []
        self._missing: set[str] = set()
        self._label: Callable[[str], str] = str
        self._current: Run | None = None
        self.shown_unit = unit
        """The unit of the numbers on the screen."""
        self._build()
        theme_changed().connect(self._recolor)
        self._recolor()

    def _build(self) -> None:
        self.title = Legend(self)
        self.title.setObjectName("plot_legend")
        self.title.linkActivated.connect(self._on_link)
        self.readout = ElidedLabel(self)
        self.readout.setObjectName("plot_readout")
        self.readout.setProperty("role", "muted")
        self.readout.setTextFormat(Qt.TextFormat.PlainText)
        self.readout.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.readout.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.log_button = self._tool("log_axis", "log", "Logarithmic axis", checkable=True)
        self.log_button.toggled.connect(self.set_log)
        self.peak_button = self._tool("plot_peak", "max", "Go to the largest value")
        self.peak_button.clicked.connect(self.go_to_peak)
        self.fit_button = self._tool("fit_plot", "", "Show all of it", "fit")
        self.fit_button.clicked.connect(self.fit)
        self.export_button = self._tool("export_plot", "", "Save this plot", "export")
        menu = QMenu(self.export_button)
        for kind, words in (("png", "Picture (PNG)…"), ("svg", "Drawing (SVG)…"), ("csv", "Table (CSV)…")):
            action = menu.addAction(words)
            action.setObjectName(f"export_{kind}")
            action.triggered.connect(lambda _=False, kind=kind: self.export_requested.emit(self, kind))
        self.export_button.setMenu(menu)
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.close_button = self._tool("close_plot", "", "Remove this plot", "close")
        self.close_button.clicked.connect(lambda: self.closed.emit(self))
        self.graph = pg.PlotWidget(self, background=None, enableMenu=False)
        self.graph.setObjectName("graph")
        self.graph.setMinimumHeight(90)
        self.graph.hideButtons()
        item = self.graph.getPlotItem()
        item.setDownsampling(auto=True, mode="peak")
        item.setClipToView(True)
        # Lines of its own instead of those of the axes: an axis that has them is painted with every move of the cursor.
        self.grid = pg.GridItem(pen=None, textPen=None)
        self.grid.setTickSpacing(x=[None, None], y=[None, None])
        self.grid.setZValue(-10)
        item.addItem(self.grid, ignoreBounds=True)
        item.getAxis("left").setWidth(MARGIN)
        item.getAxis("left").enableAutoSIPrefix(False)
        item.getAxis("bottom").enableAutoSIPrefix(False)
        self.time_line = pg.InfiniteLine(0.0, angle=90, movable=True)
        self.time_line.setZValue(10)
        self.cross = pg.InfiniteLine(0.0, angle=90, movable=False)
        self.cross.setZValue(5)
        self.cross.hide()
        self.graph.addItem(self.time_line, ignoreBounds=True)
        self.graph.addItem(self.cross, ignoreBounds=True)
        self.time_line.sigDragged.connect(lambda line: self.time_chosen.emit(float(line.value())))
        self.graph.scene().sigMouseMoved.connect(self._on_hover)
        self.graph.scene().sigMouseClicked.connect(self._on_click)
        top = QHBoxLayout()
        top.setContentsMargins(8, 2, 4, 0)
        top.setSpacing(2)
        top.addWidget(self.title, 5)
        top.addWidget(self.readout, 4)
        for button in (self.peak_button, self.log_button, self.fit_button, self.export_button, self.close_button):
            top.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        stack(self, top, self.graph, growing=self.graph)

    def _tool(self, name: str, text: str, tip: str, picture: str = "", checkable: bool = False) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setText(text)
        button.setToolTip(tip)
        button.setCheckable(checkable)
        button.setProperty("role", "small")
        if picture:
            set_icon(button, picture, "muted")
        return button

    # --- curves ------------------------------------------------------------------------------------------------------

    def show_curves(
        self,
        runs: Sequence[Run],
        current: Run | None,
        curve: Callable[[Run, str], Curve | None],
        label: Callable[[str], str],
        units: Any,
    ) -> None:
        """Draw all quantities of all runs; those that are not there yet are named in the legend."""
        look = current_theme()
        self.shown_unit = unit_label(units.label(self.unit)) if self.unit else ""
        self.graph.setLabel("left", self.shown_unit or "1", color=look.muted)
        old = {(trace.name, id(trace.run)): trace.item for trace in self.traces}
        self.traces, self._remarks, self._missing, self._current, self._label = [], [], set(), current, label
        for k, name in enumerate(self.names):
            for run in runs:
                found = curve(run, name)
                if found is None:
                    self._missing.add(name)
                    continue
                if found.problem:
                    self._remarks.append(found.problem)
                    continue
                color = run.color if len(self.names) == 1 and len(runs) > 1 else look.series[k % len(look.series)]
                values = units.to_display(found.values, self.unit) if self.unit else found.values
                item = old.pop((name, id(run)), None)
                number = runs.index(run) if min(len(self.names), len(runs)) > 1 else int(run.stale)
                trace = Trace(name, label(name), run, found.t, values, item, color, LINES[number % len(LINES)])
                self._draw(trace, current)
                self.traces.append(trace)
        for item in old.values():
            self.graph.removeItem(item)
        self.title.show_legend(self.legend())

    def _draw(self, trace: Trace, current: Run | None) -> None:
        color = QColor(trace.color)
        other = current is not None and trace.run is not current
        if trace.run.stale:
            color.setAlpha(130)
        elif other:
            color.setAlpha(190)
        # Wide pens are drawn several times slower than cosmetic ones of one pixel.
        pen = pg.mkPen(color, width=1.6 if not other else 1.2, style=trace.line[0])
        values = trace.values
        if self.log:
            values = np.where(values > 0.0, values, np.nan)
        if trace.item is None:
            trace.item = self.graph.plot(trace.t, values, pen=pen, connect="finite", skipFiniteCheck=False)
        else:
            trace.item.setData(trace.t, values)
            trace.item.setPen(pen)

    def legend(self, links: bool = True) -> str:
        """The curves in words, each after a dash in its colour; `links` take quantities out of the plot."""
        look = current_theme()
        several = len({id(trace.run) for trace in self.traces}) > 1
        shared, rest = shortened([self._label(name) for name in self.names])
        parts = [f"<b>{_escaped(shared)}</b>"] if shared else []
        missing = []
        for name, label in zip(self.names, rest, strict=True):
            mine = [trace for trace in self.traces if trace.name == name]
            if name in self._missing:
                missing.append(label)
            if not mine:
                continue
            if several and len(self.names) == 1:
                words = [f"{_dash(trace)}&nbsp;{_escaped(_run_words(trace.run))}" for trace in mine]
                parts.append(f"<b>{_escaped(label)}</b>{GAP}{GAP.join(words)}")
                continue
            remove = f'<a style="color:{look.muted}; text-decoration:none" href="{html.escape(name)}">×</a>'
            parts.append(
                f"{_dash(mine[0])}&nbsp;{_escaped(label)}{f'&nbsp;{remove}' if links and self.names[1:] else ''}"
            )
        if several and len(self.names) > 1:
            runs = {id(trace.run): trace for trace in self.traces}.values()
            parts += [f"{_dash(trace, look.muted)}&nbsp;{_escaped(_run_words(trace.run))}" for trace in runs]
        remarks = [f"{', '.join(missing)}: computing…"] if missing else []
        remarks += dict.fromkeys(self._remarks)
        return GAP.join(parts + [f'<span style="color:{look.muted}">{html.escape(r)}</span>' for r in remarks])

    def _on_link(self, name: str) -> None:
        self.name_removed.emit(self, name)

    # --- cursor and readout ------------------------------------------------------------------------------------------

    def set_time(self, t: float) -> None:
        """Move the cursor, and show the values there."""
        if self.time_line.value() != t:
            self.time_line.setValue(t)
        if not self.cross.isVisible():
            self._show_values(t)

    def _show_values(self, t: float) -> None:
        mine = [trace for trace in self.traces if trace.run is self._current] or self.traces
        scale = max((trace.largest for trace in self.traces), default=0.0)
        values = [value for trace in mine if np.isfinite(value := trace.at(t))]
        # Numbers are rounded, then go without the time, then are left out, before one of them would be cut.
        fits = self.readout.fontMetrics().horizontalAdvance
        time = f"t = {t:.4g} s"
        for count, digits, timed in ((3, 5, 1), (3, 4, 1), (3, 3, 1), (3, 4, 0), (3, 3, 0), (2, 4, 0), (1, 4, 0)):
            words = [readable(value, scale, digits) for value in values[:count]]
            words += ["…"] if len(values) > count else []
            numbers = f"{', '.join(words)} {self.shown_unit}".rstrip()
            text = (f"{time}:  {numbers}" if timed else numbers) if words else time
            if fits(text) <= self.readout.width():
                break
        self.readout.setText(text)

    def go_to_peak(self) -> None:
        """Put the cursor where a curve of the present run, or of any, has the largest magnitude, and say so."""
        mine = [trace for trace in self.traces if trace.run is self._current] or self.traces
        if not any(trace.largest for trace in mine):
            return
        trace = max(mine, key=lambda trace: trace.largest)
        k = int(np.nanargmax(np.abs(trace.values)))
        self.time_chosen.emit(float(trace.t[k]))
        value = f"{readable(float(trace.values[k]))} {self.shown_unit}".rstrip()
        self.peaked.emit(f"Largest: {trace.label} = {value} at t = {trace.t[k]:.5g} s.")

    def _on_hover(self, place: QPointF) -> None:
        view = self.graph.getPlotItem().vb
        inside = view.sceneBoundingRect().contains(place)
        self.cross.setVisible(inside)
        t = float(view.mapSceneToView(place).x()) if inside else float(self.time_line.value())
        if inside:
            self.cross.setValue(t)
        self._show_values(t)

    def leaveEvent(self, event: Any) -> None:
        self.cross.hide()
        self._show_values(float(self.time_line.value()))
        super().leaveEvent(event)

    def _on_click(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self.activated.emit(self)
        view = self.graph.getPlotItem().vb
        if event.double():
            self.fit()
        elif view.sceneBoundingRect().contains(event.scenePos()):
            self.time_chosen.emit(float(view.mapSceneToView(event.scenePos()).x()))

    # --- looks -------------------------------------------------------------------------------------------------------

    def set_log(self, log: bool) -> None:
        """Choose a logarithmic axis; what is not positive has no place there."""
        self.log = log
        if self.log_button.isChecked() != log:
            self.log_button.setChecked(log)
        self.graph.setLogMode(x=False, y=log)
        self.grid.setVisible(not log)  # its lines are at equal distances
        for trace in self.traces:
            values = np.where(trace.values > 0.0, trace.values, np.nan) if log else trace.values
            trace.item.setData(trace.t, values)
        self.fit()

    def fit(self) -> None:
        """Show all of the curves."""
        self.graph.getPlotItem().vb.enableAutoRange(x=True, y=True)

    def show_span(self, start: float, end: float) -> None:
        """Show the values between two instants, and follow them."""
        box = self.graph.getPlotItem().vb
        box.setXRange(start, end, padding=0.0)
        box.enableAutoRange(y=True)
        box.setAutoVisible(y=True)

    def show_time_axis(self, shown: bool) -> None:
        """Write numbers at the time axis: the lowest plot of a column has them for all."""
        axis = self.graph.getPlotItem().getAxis("bottom")
        axis.setStyle(showValues=shown)
        self.graph.setLabel("bottom", "t / s" if shown else None, color=current_theme().muted)
        axis.setHeight(None if shown else 6)

    def _recolor(self, _: object = None) -> None:
        look = current_theme()
        self.graph.setBackground(look.surface)
        font = QFont(self.font())
        font.setPointSizeF(max(7.0, font.pointSizeF() - 1.5))
        for side in ("left", "bottom"):
            axis = self.graph.getPlotItem().getAxis(side)
            axis.setPen(pg.mkPen(look.border))
            axis.setTextPen(pg.mkPen(look.muted))
            axis.setStyle(tickFont=font)
        lines = QColor(look.muted)
        lines.setAlpha(40)
        self.grid.setPen(pg.mkPen(lines))
        self.time_line.setPen(pg.mkPen(look.accent, width=1.5))
        self.time_line.setHoverPen(pg.mkPen(look.accent, width=3))
        self.cross.setPen(pg.mkPen(look.muted, width=1, style=Qt.PenStyle.DotLine))


def _dash(trace: Trace, color: str = "") -> str:
    return f'<span style="color:{color or trace.color}">{trace.line[1]}</span>'


def _run_words(run: Run) -> str:
    return f"{run.name} (older model)" if run.stale else run.name


def _escaped(text: str) -> str:
    return html.escape(one_line(text)).replace(" ", "&nbsp;")
