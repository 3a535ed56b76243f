"""The panels around the view: where they are at first, and how their places are remembered."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDockWidget, QFrame, QMainWindow, QScrollArea, QTabWidget, QWidget

from ..base.settings import Settings
from ..panels import declared
from .check_pages import CheckPages

VERSION: Final = 1
"""Of the arrangement; one that was remembered under another version is not restored."""
NARROWEST: Final = 360
"""Width of the tabs, pixels."""
_AREAS = Qt.DockWidgetArea
_SIDES: Final = {"left": _AREAS.LeftDockWidgetArea, "right": _AREAS.RightDockWidgetArea}


def places() -> dict[str, tuple[str, Qt.DockWidgetArea]]:
    """Title and area of each dock: one for every panel beside the view, and one below for tabs."""
    beside = {name: (panel.title, _SIDES[panel.place]) for name, panel in declared().items() if panel.place in _SIDES}
    return beside | {"results": ("Results", _AREAS.BottomDockWidgetArea)}


class Tab(QScrollArea):
    """Holds a panel; one that needs more room than there is must not widen the window."""

    first_shown = Signal()
    """It is seen, and has no panel yet."""

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setMinimumWidth(NARROWEST)

    def setWidget(self, panel: QWidget) -> None:
        _give_background(panel)
        super().setWidget(panel)

    def showEvent(self, event: QShowEvent) -> None:
        if self.widget() is None:
            self.first_shown.emit()
        super().showEvent(event)


class Docks:
    """The docks of a window by name; "results" holds tabs."""

    def __init__(self, window: QMainWindow, settings: Settings) -> None:
        self._window, self._settings = window, settings
        self.shown = False
        self.docks = {name: self._made(name) for name in places()}
        self.tabs = QTabWidget(window)
        self.tabs.setObjectName("result_tabs")
        self.tabs.setDocumentMode(True)
        results = self.docks["results"]
        results.setWidget(self.tabs)
        results.setTitleBarWidget(QWidget(results))  # the tabs say what it is
        window.setCorner(Qt.Corner.BottomLeftCorner, _AREAS.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, _AREAS.RightDockWidgetArea)

    def __getitem__(self, name: str) -> QDockWidget:
        return self.docks[name]

    def _made(self, name: str) -> QDockWidget:
        title, area = places()[name]
        dock = QDockWidget(title, self._window)
        dock.setObjectName(f"{name}_dock")
        features = QDockWidget.DockWidgetFeature
        dock.setFeatures(features.DockWidgetClosable | features.DockWidgetMovable)
        self._window.addDockWidget(area, dock)
        return dock

    def put(self, name: str, panel: QWidget) -> None:
        """Give a dock its panel."""
        _give_background(panel)
        self.docks[name].setWidget(panel)

    def add_tab(self, title: str) -> Tab:
        """Add a tab, which waits for its panel."""
        tab = Tab()
        self.tabs.addTab(tab, title)
        return tab

    def bring_to_front(self, panel: QWidget) -> None:
        """Show the tab of a panel."""
        self.docks["results"].show()
        for index in range(self.tabs.count()):
            tab = self.tabs.widget(index)
            if isinstance(tab, Tab) and tab.isAncestorOf(panel):
                self.tabs.setCurrentIndex(index)
                if isinstance(pages := tab.widget(), CheckPages):
                    pages.bring_to_front(panel)

    @property
    def front_panel(self) -> QWidget | None:
        """The panel whose tab is shown."""
        area = self.tabs.currentWidget()
        panel = area.widget() if isinstance(area, Tab) else None
        return panel.front if isinstance(panel, CheckPages) else panel

    def show(self) -> None:
        """Show the docks, where they were last."""
        self.shown = True
        for dock in self.docks.values():
            dock.show()
        state = self._settings.layout("docks")
        if state is None or not self._window.restoreState(state, VERSION):
            self._arrange()

    def hide(self) -> None:
        """Hide all of them; where they are is remembered."""
        self.remember()
        self.shown = False
        for dock in self.docks.values():
            dock.hide()

    def remember(self) -> None:
        """Keep for the next start where they are."""
        if self.shown:
            self._settings.set_layout("docks", QByteArray(self._window.saveState(VERSION)))

    def reset(self) -> None:
        """Put them where they are at first."""
        self._settings.clear_layout()
        if not self.shown:
            return
        for name, (_, area) in places().items():
            self.docks[name].setFloating(False)
            self._window.addDockWidget(area, self.docks[name])
            self.docks[name].show()
        self._arrange()

    def _arrange(self) -> None:
        docks, window = self.docks, self._window
        horizontal, vertical = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        window.splitDockWidget(docks["model"], docks["run"], vertical)
        left, right = min(max(0.19 * window.width(), 255), 290), min(max(0.22 * window.width(), 262), 340)
        window.resizeDocks([docks["model"], docks["inspector"]], [round(left), round(right)], horizontal)
        window.resizeDocks([docks["results"]], [max(250, round(0.32 * window.height()))], vertical)
        window.resizeDocks([docks["model"], docks["run"]], [430, 270], vertical)


def _give_background(panel: QWidget) -> None:
    """Let the style sheet paint a panel as a surface."""
    panel.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    panel.setProperty("panel", True)
