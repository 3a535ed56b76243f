"""The widgets of the panels around the view, and when they are made.

Panels that are seen, or that work unseen, are made one per turn of the event loop when the window is visible. Those
that wait behind a tab are made when they are first shown or asked for: they cost as much as all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from ..base.turns import Turns
from ..panels import Panel, declared
from .check_pages import CheckPages

if TYPE_CHECKING:
    from .window import MainWindow


class Panels(Mapping[str, Any]):
    """The panels of a window by name."""

    def __init__(self, window: MainWindow) -> None:
        self._window, self._turns = window, Turns(window)
        self._made: dict[str, QWidget] = {}
        self._makers: dict[str, Callable[[], QWidget]] = {}
        self._pages: CheckPages | None = None

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def make(self, then: Callable[[], object]) -> None:
        """Make those that are needed from the beginning, one per turn of the event loop, and call a function."""
        self._turns.start(step() for step in [*self._plan(), then])

    def _plan(self) -> Iterator[Callable[[], object]]:
        """What makes or announces each panel, in their order."""
        for panel in declared().values():
            yield from self._page(panel) if panel.place == "check" else self._dock_or_tab(panel)

    def _dock_or_tab(self, panel: Panel) -> Iterator[Callable[[], object]]:
        docks = self._window.docks
        if panel.place != "tab":
            self._makers[panel.name] = partial(_made, panel, self._window)
            yield lambda: docks.put(panel.name, self[panel.name])
        elif panel.early:
            self._makers[panel.name] = partial(_made, panel, self._window)
            yield lambda: docks.add_tab(panel.title).setWidget(self[panel.name])
        else:
            yield lambda: self._announce(panel)

    def _announce(self, panel: Panel) -> None:
        """Add a tab that gets its panel when it is first seen."""
        tab = self._window.docks.add_tab(panel.title)

        def fill() -> QWidget:
            widget = _made(panel, self._window)
            tab.setWidget(widget)
            return widget

        self._makers[panel.name] = fill
        tab.first_shown.connect(lambda: self[panel.name])

    def _page(self, panel: Panel) -> Iterator[Callable[[], object]]:
        """A page of the check tab, which comes with its first page."""
        if self._pages is None:
            pages = self._pages = CheckPages(self._window.document)
            pages.first_shown.connect(lambda name: self[name])
            yield lambda: self._window.docks.add_tab("Check").setWidget(pages)
        self._makers[panel.name] = partial(self._on_page, self._pages, panel)
        if panel.early:
            yield lambda: self[panel.name]

    def _on_page(self, pages: CheckPages, panel: Panel) -> QWidget:
        widget = _made(panel, self._window)
        pages.put(panel.name, widget)
        return widget


def _made(panel: Panel, window: MainWindow) -> QWidget:
    """The widget of a panel, imported for it."""
    widget: QWidget = panel.load()(*(attrgetter(name)(window) for name in panel.needs))
    widget.setProperty("help", panel.help)
    for button in widget.findChildren(QPushButton):
        # A click does not take the keyboard: the space bar goes on to play, instead of pressing the button again.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return widget
