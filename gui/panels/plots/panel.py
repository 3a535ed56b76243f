"""The panel of plots: a list of quantities at the left, plots with a common time axis at the right."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QStandardPaths, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QLabel,
    QPushButton,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb

from ...base.kinds import icon_name
from ...base.quantity_names import in_words
from ...base.turns import single_shot
from ...document.document import Document
from ...document.runs import Run
from ...playing.live import Live
from ...solving.curves import Curves
from ...solving.solver import Solver
from ...widgets.theme import changed as theme_changed
from .export import export
from .plot import Plot
from .quantity_list import QuantityList

CURSOR_MS: Final = 40
"""The cursor moves 25 times a second at most: every move paints the curves again."""
REFRESH_MS: Final = 60
FILES: Final = {"png": "Pictures (*.png)", "svg": "Drawings (*.svg)", "csv": "Tables (*.csv)"}

CHOOSE: Final = "Mark quantities in the list to plot them over time."
NO_RUN: Final = (
    "Quantities of a run are plotted here over time: positions, forces, reactions, energy. Run (F5) computes one."
)


class PlotsPanel(QWidget):
    """Plots quantities of the document's runs."""

    time_requested = Signal(float)
    """The cursor of a plot was moved: who plays the run goes there."""
    peaked = Signal(str)
    """The cursor stands at the largest value: who plays the run stays there."""

    def __init__(
        self,
        document: Document,
        solver: Solver | None = None,
        live: Live | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("plots_panel")
        self.document, self.live = document, live
        self.curves = Curves(document, solver, self)
        self.plots: list[Plot] = []
        self._scrolls = False
        self._listed_live: list[str] = []
        self._named_live: list[str] = []
        self.active: Plot | None = None
        self._opened_default = True
        self._build()
        self._cursor = single_shot(self, self._move_cursor, CURSOR_MS)
        self._redraw = single_shot(self, self.refresh, REFRESH_MS)
        document.replaced.connect(self._on_replaced)
        document.structure_changed.connect(self._later)
        document.runs.changed.connect(self._later)
        document.runs.current_changed.connect(self._later)
        document.units_changed.connect(self._later)
        document.time_changed.connect(self._on_time)
        self.curves.changed.connect(self._later)
        if live is not None:
            live.changed.connect(self._later)
            live.framed.connect(self._later)
        theme_changed().connect(self._later)
        self._on_replaced()

    def _build(self) -> None:
        self.list = QuantityList(self)
        self.list.setMinimumWidth(150)
        self.list.toggled.connect(self._on_toggled)
        self.column = QSplitter(Qt.Orientation.Vertical, self)
        self.column.setObjectName("plot_column")
        self.column.setChildrenCollapsible(False)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(self.column)
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self._build_empty())
        self.pages.addWidget(scroll)
        splitter = QSplitter(Qt.Orientation.Horizontal, self)
        splitter.setObjectName("plots_splitter")
        splitter.addWidget(self.list)
        splitter.addWidget(self.pages)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([220, 800])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 0, 0)
        layout.addWidget(splitter)

    def _build_empty(self) -> QWidget:
        page = QWidget(self)
        self.empty = QLabel(page)
        self.empty.setObjectName("plots_empty")
        self.empty.setProperty("role", "muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setWordWrap(True)
        self.fill = QPushButton("Plot the energy", page)
        self.fill.hide()
        self.fill.setObjectName("plots_fill")
        self.fill.clicked.connect(self._on_fill)
        layout = QVBoxLayout(page)
        layout.addStretch(1)
        layout.addWidget(self.empty)
        layout.addWidget(self.fill, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)
        return page

    # --- what is plotted ---------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """All quantities that are plotted."""
        return [name for plot in self.plots for name in plot.names]

    def add(self, name: str, separate: bool = False) -> None:
        """Plot a quantity: in the active plot or another one of its unit, or in a plot of its own."""
        if name in self.names and not separate:
            return
        unit = self.curves.units(self._reference()).get(name)
        if unit is None:
            self.document.messages.post(f"There is no quantity {name!r} to plot.", "warning")
            return
        candidates = [self.active, *self.plots] if not separate else []
        plot = next((p for p in candidates if p is not None and p.unit == unit), None) or self._new_plot(unit)
        plot.names.append(name)
        self.active = plot
        self.refresh()

    def remove(self, name: str) -> None:
        """Take a quantity out of all plots; a plot that is empty then goes."""
        for plot in list(self.plots):
            if name in plot.names:
                plot.names.remove(name)
            if not plot.names:
                self._drop(plot)
        self.refresh()

    def clear(self) -> None:
        """Remove all plots."""
        for plot in list(self.plots):
            self._drop(plot)
        self.refresh()

    def layout_names(self) -> list[list[str]]:
        """The quantities of each plot, from the top."""
        return [list(plot.names) for plot in self.plots]

    def restore(self, groups: list[list[str]]) -> None:
        """Show these quantities, a plot for each group; those that the runs do not have are left out."""
        for plot in list(self.plots):
            self._drop(plot)
        units = self.curves.units(self._reference())
        for group in groups:
            if names := [name for name in dict.fromkeys(group) if name in units]:
                self._new_plot(units[names[0]]).names += [name for name in names if units[name] == units[names[0]]]
        self._opened_default = True
        self._later()

    def plot_element(self, element: str) -> None:
        """Show the quantities of an element in the list."""
        self.list.reveal(element)

    def _new_plot(self, unit: str) -> Plot:
        plot = Plot(unit, self)
        plot.time_chosen.connect(self._on_time_chosen)
        plot.peaked.connect(self.document.messages.post)
        plot.peaked.connect(self.peaked)
        plot.activated.connect(self._activate)
        plot.closed.connect(self._close)
        plot.name_removed.connect(self._on_name_removed)
        plot.export_requested.connect(self._export)
        if self.plots:
            plot.graph.setXLink(self.plots[0].graph)
        self.plots.append(plot)
        self.column.addWidget(plot)
        plot.set_time(self.document.time)
        return plot

    def _drop(self, plot: Plot) -> None:
        self.plots.remove(plot)
        if self.active is plot:
            self.active = None
        plot.graph.setXLink(None)
        for other in self.plots[1:]:
            other.graph.setXLink(self.plots[0].graph)
        if self.plots:
            self.plots[0].graph.setXLink(None)
        plot.hide()
        plot.setParent(None)
        plot.deleteLater()

    def _close(self, plot: Plot) -> None:
        self._drop(plot)
        self.refresh()

    def _activate(self, plot: Plot) -> None:
        self.active = plot

    def _on_toggled(self, name: str, wanted: bool) -> None:
        self.add(name) if wanted else self.remove(name)

    def _on_name_removed(self, plot: Plot, name: str) -> None:
        plot.names.remove(name)
        if not plot.names:
            self._drop(plot)
        self.refresh()

    # --- following the document --------------------------------------------------------------------------------------

    def _reference(self) -> Run | None:
        """The run whose quantities are listed."""
        document = self.document
        if self._runs_live:
            return None
        return document.runs.current or (document.runs[-1] if document.runs else None)

    def _later(self, *_: object) -> None:
        if not self._redraw.isActive():
            self._redraw.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._later()
        self._move_cursor()

    def _on_replaced(self) -> None:
        for plot in list(self.plots):
            self._drop(plot)
        self._opened_default = False
        self._later()

    def refresh(self) -> None:
        """Bring list and plots up to date. While nobody looks, nothing is read."""
        if not self.isVisible():
            return
        if self._runs_live:
            self._show_live()
            return
        if self._scrolls:
            self._scrolls = False
            for plot in self.plots:
                plot.fit()
        document, reference = self.document, self._reference()
        runs = [run for run in document.runs if run.result is not None and (run.visible or run is reference)]
        if not self._opened_default and reference is not None and reference.result is not None:
            self._opened_default = True
            for name in self._first_names(reference):
                plot = self.plots[0] if self.plots else self._new_plot(self.curves.units(reference)[name])
                plot.names.append(name)
        kinds = {element.name: icon_name(element) for element in document.system}
        self.list.show_names(self.curves.units(reference), kinds, self.names)
        elements = list(kinds)
        for plot in self.plots:
            plot.show_curves(runs, reference, self.curves.get, lambda name: in_words(name, elements), document.units)
            plot.show_time_axis(plot is self.plots[-1])
        self._show_empty()
        self._move_cursor()

    @property
    def _runs_live(self) -> bool:
        return self.live is not None and self.live.on

    def _show_live(self) -> None:
        """The curves of what runs live, which scroll."""
        live = self.live
        assert live is not None
        run = live.run
        assert run is not None
        units, elements = (
            self.curves.units(None),
            {element.name: icon_name(element) for element in self.document.system},
        )
        if not self._opened_default:
            self._opened_default = True
            for name in self._first_names(None):
                plot = self.plots[0] if self.plots else self._new_plot(units[name])
                plot.names.append(name)
        self._scrolls = True
        live.watch("plots", {name: units[name] for name in self.names if name in units})
        if list(units) != self._listed_live or self.names != self._named_live:
            self._listed_live, self._named_live = list(units), self.names
            self.list.show_names(units, elements, self.names)
            self._show_empty()

        for plot in self.plots:
            plot.show_curves(
                [run],
                run,
                lambda _, name: live.curve(name),
                lambda name: in_words(name, list(elements)),
                self.document.units,
            )
            plot.show_time_axis(plot is self.plots[-1])
            plot.show_span(*live.window)
        self._move_cursor()

    def _first_names(self, run: Run | None) -> list[str]:
        """What is plotted at first, so that there is something to see: where the last body is."""
        bodies = [body.name for body in self.document.system.bodies]
        units = self.curves.units(run)
        found = [[n for c in "xyz" if (n := f"{body}.position.{c}") in units] for body in reversed(bodies)]
        return next((names for names in found if names), [])

    def _show_empty(self) -> None:
        self.pages.setCurrentIndex(1 if self.plots else 0)
        there = bool(self.document.runs) or self._scrolls
        self.fill.setVisible(there)
        self.empty.setText(CHOOSE if there else NO_RUN)

    def _on_fill(self) -> None:
        for kind in ("kinetic", "potential", "total"):
            self.add(f"energy.{kind}")

    # --- time --------------------------------------------------------------------------------------------------------

    def _on_time(self, _: float) -> None:
        if self.isVisible() and not self._cursor.isActive() and not self._runs_live:  # there it moves with the curves
            self._cursor.start()

    def _move_cursor(self) -> None:
        for plot in self.plots:
            plot.set_time(self.document.time)

    def _on_time_chosen(self, t: float) -> None:
        run = self.document.runs.current
        if run is None or run.result is None:
            return
        t = min(max(t, float(run.result.t[0])), run.t_last)
        self.document.set_time(t)
        self.time_requested.emit(t)
        self._move_cursor()

    # --- export ------------------------------------------------------------------------------------------------------

    def _export(self, plot: Plot, kind: str) -> None:
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        name = "_".join(plot.names[0].replace(" ", "_").split(".")) + f".{kind}"
        path, _ = QFileDialog.getSaveFileName(self, "Save the plot", str(Path(folder) / name), FILES[kind])
        if path:
            self.save(plot, Path(path if Path(path).suffix else f"{path}.{kind}"))

    def save(self, plot: Plot, path: Path) -> None:
        """Write a plot to a file and say so; what speaks against it is said as well."""
        try:
            export(plot, path)
        except mb.ModelError as error:
            self.document.messages.post_error(error)
        else:
            self.document.messages.post(f"The plot was saved as {path}.")
