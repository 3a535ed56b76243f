"""The panels around the view: which there are, and when they are made.

Panels that are seen, or that work unseen, are made one per turn of the event loop when the window is visible. Those
that wait behind a tab are made when they are first shown or asked for: they cost as much as all the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from .check_pages import CheckPages
from .turns import Turns

if TYPE_CHECKING:
    from .window import MainWindow


class Panels(Mapping[str, Any]):
    """The panels of a window by name."""

    def __init__(self, window: MainWindow) -> None:
        self._window, self._turns = window, Turns(window)
        self._made: dict[str, QWidget] = {}
        self._makers: dict[str, Callable[[], QWidget]] = {}

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
        """What makes or announces each panel; tabs in their order."""
        window = self._window
        document, solver, runner = window.document, window.solver, window.runner
        yield self._in_dock("model", "tree", "tree.ModelTree", document)
        yield self._in_dock("run", "run", "run_controls.RunControls", document, solver, runner)
        yield self._in_dock("inspector", "inspector", "inspector.Inspector", document, solver)
        yield self._in_tab("Plots", "plots", "plots.PlotsPanel", document, solver)
        yield self._behind_tab("Stability", "stability", "stability.panel.StabilityPanel", document, solver)
        yield from self._check_pages()
        yield self._behind_tab("Equations", "equations", "equations.panel.EquationsPanel", document, solver)
        yield self._behind_tab("Compare", "compare", "compare_panel.ComparePanel", document, solver)
        yield self._in_tab("Script", "script", "modelling.script_panel.ScriptPanel", document)

    def _check_pages(self) -> Iterator[Callable[[], object]]:
        """One tab for problems, freedoms and messages. Problems are marked in the view, seen or not."""
        window = self._window
        document, solver, pages = window.document, window.solver, CheckPages(window.document)
        places = {
            "checks": ("modelling.check_panel.ChecksPanel", document, solver, window.modelling),
            "constraints": ("constraints_panel.ConstraintsPanel", document, solver),
            "messages": ("messages.MessagesPanel", document),
        }
        for name, (place, *arguments) in places.items():
            self._makers[name] = partial(self._on_page, pages, name, place, *arguments)
        pages.first_shown.connect(lambda name: self[name])
        yield lambda: window.docks.add_tab("Check").setWidget(pages)
        yield lambda: self["checks"]
        yield lambda: self["messages"]

    def _on_page(self, pages: CheckPages, name: str, place: str, *arguments: Any) -> QWidget:
        panel = _made(place, *arguments)
        pages.put(name, panel)
        return panel

    def _in_dock(self, dock: str, name: str, place: str, *arguments: Any) -> Callable[[], object]:
        self._makers[name] = partial(_made, place, *arguments)
        return lambda: self._window.docks.put(dock, self[name])

    def _in_tab(self, title: str, name: str, place: str, *arguments: Any) -> Callable[[], object]:
        self._makers[name] = partial(_made, place, *arguments)
        return lambda: self._window.docks.add_tab(title).setWidget(self[name])

    def _behind_tab(self, title: str, name: str, place: str, *arguments: Any) -> Callable[[], object]:
        def announce() -> None:
            tab = self._window.docks.add_tab(title)

            def fill() -> QWidget:
                panel = _made(place, *arguments)
                tab.setWidget(panel)
                return panel

            self._makers[name] = fill
            tab.first_shown.connect(lambda: self[name])

        return announce


def _made(place: str, *arguments: Any) -> QWidget:
    """A panel of a class that is imported for it: "module.Class"."""
    module, _, name = place.rpartition(".")
    panel: QWidget = getattr(import_module(f".{module}", __package__), name)(*arguments)
    for button in panel.findChildren(QPushButton):
        # A click does not take the keyboard: the space bar goes on to play, instead of pressing the button again.
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return panel
