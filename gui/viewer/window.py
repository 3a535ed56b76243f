"""A window that shows motions: the view on a surface of OpenGL, the timeline, and plots below when they are wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMainWindow, QMenu, QSplitter, QToolBar, QToolButton, QWidget

from ..base.names import one_line
from ..document.document import Document
from ..playing.entries import playing
from ..playing.playback import Player
from ..playing.timeline import Timeline
from ..view.entries import looking
from ..view.menu import PRESETS
from ..view.options import ViewOptions
from ..view.surface import Surface
from ..view.view import View
from ..widgets import theme
from ..widgets.actions import Actions, Entry
from ..widgets.arranging import stack
from ..widgets.icons import application_icon, set_icon

if TYPE_CHECKING:
    from ..panels.plots.panel import PlotsPanel

TOOLS: Final = (
    "fit",
    "",
    "labels",
    "trail",
    "follow",
    "arrows_velocity",
    "arrows_force",
    "arrows_reaction",
    "",
    "plots",
)
PLOTS: Final = 0.35
"""Share of the height that plots begin with."""


class ViewerWindow(QMainWindow):
    """Shows the runs of a document: the current one, and the others as ghosts. Nothing can be changed in it."""

    closed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.setObjectName("viewer_window")
        self.setWindowIcon(application_icon())
        self.setWindowTitle(f"{one_line(document.system.name)} – mbframe")
        self.document = document
        document.setParent(self)
        self.player = Player(document, self)
        self.view = View(document, self.player, None, self, Surface)
        self.view.ghosts.on = True
        self.timeline = Timeline(document, self.player, self)
        self.timeline.setVisible(bool(document.runs))
        self.options = ViewOptions(document, self.view)
        self.plots: PlotsPanel | None = None
        self.parts = QSplitter(Qt.Orientation.Vertical, self)
        self.parts.setChildrenCollapsible(False)
        self.parts.addWidget(stack(QWidget(self), self.view, self.timeline, growing=self.view))
        self.setCentralWidget(self.parts)
        self.actions_ = Actions(list(self._entries()), self)
        self._add_toolbar()
        document.messages.posted.connect(lambda message: self.statusBar().showMessage(message.text, 8000))
        document.selection_changed.connect(self._show_options)
        self.view.options_changed.connect(self._show_options)
        self.player.playing_changed.connect(self._show_playing)
        self.timeline.loop_button.toggled.connect(self.actions_["loop"].setChecked)
        self.actions_["loop"].setChecked(self.player.loop)
        self.actions_["shadows"].setChecked(True)
        self.actions_["plots"].setVisible(any(run.result is not None for run in document.runs))
        # The picture is prepared before the window has a surface of its own: that takes its format from this one.
        self.view.prepare()

    def _entries(self) -> Iterator[Entry]:
        yield from looking(self.view, self.options, "")
        yield from playing(self.player, self._set_loop, "")
        yield Entry("plots", "", "&Plots", self.show_plots, ("P",), "plot", "Plot quantities below", checkable=True)
        yield Entry("theme", "", "&Theme", self.switch_theme, (), "theme", "Light or dark")
        yield Entry("close", "", "&Close", self.close, ("Ctrl+W", "Ctrl+Q"), "", "Close the window")

    def _add_toolbar(self) -> None:
        bar = QToolBar("Toolbar", self)
        bar.setObjectName("toolbar")
        bar.setMovable(False)
        bar.setIconSize(QSize(20, 20))
        bar.toggleViewAction().setEnabled(False)
        self.addToolBar(bar)
        directions = QToolButton(bar)
        directions.setObjectName("directions")
        directions.setToolTip("From where to look (1 to 7)")
        directions.setAccessibleName("From where to look")
        directions.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        set_icon(directions, "view")
        menu = QMenu(directions)
        menu.addActions([self.actions_[f"view_{name}"] for name in PRESETS])
        menu.addSeparator()
        menu.addActions([self.actions_[name] for name in ("parallel", "shadows")])
        directions.setMenu(menu)
        bar.addWidget(directions)
        for name in TOOLS:
            bar.addAction(self.actions_[name]) if name else bar.addSeparator()
        gap = QWidget(bar)
        gap.setSizePolicy(self.view.sizePolicy().Policy.Expanding, self.view.sizePolicy().Policy.Preferred)
        bar.addWidget(gap)
        bar.addAction(self.actions_["theme"])

    # --- what is shown ------------------------------------------------------------------------------------------------

    def plot(self, quantities: Sequence[str]) -> None:
        """Plot quantities by name, those of one unit together, below the view."""
        self.actions_["plots"].setChecked(True)
        if self.plots is not None:
            self.plots.restore([[name] for name in quantities])

    def show_plots(self, shown: bool) -> None:
        """Show the plots, which are made the first time, or do not."""
        if self.plots is None and shown:
            from ..panels.plots.panel import PlotsPanel

            self.plots = PlotsPanel(self.document, None, None, self)
            self.plots.time_requested.connect(self.player.seek)
            self.plots.peaked.connect(self.player.pause)
            self.parts.addWidget(self.plots)
            height = max(self.parts.height(), 1)
            self.parts.setSizes([round((1.0 - PLOTS) * height), round(PLOTS * height)])
        if self.plots is not None:
            self.plots.setVisible(shown)

    def switch_theme(self) -> None:
        """From light to dark, or back, for as long as the program runs."""
        theme.apply("light" if theme.current().dark else "dark")

    def _set_loop(self, on: bool) -> None:
        self.player.loop = on
        self.timeline.loop_button.setChecked(on)

    def _show_options(self, *_: object) -> None:
        self.options.show(self.actions_)

    def _show_playing(self, playing: bool) -> None:
        set_icon(self.actions_["play"], "pause" if playing else "play")

    def closeEvent(self, event: QCloseEvent) -> None:
        self.player.pause()
        self.view.close_canvas()
        self.document.close()
        event.accept()
        self.closed.emit()
        self.deleteLater()
