"""The panels around the view, a folder each. They share the document and do not know each other.

A folder declares its panel as `PANEL`, without importing any widget; the window, its menus and the help find it there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


@dataclass(frozen=True)
class Panel:
    """A panel as it is declared.

    Parameters
    ----------
    name
        Of its folder; by it `window.panels` finds the widget, and the menu its action.
    widget
        The class, as "module.Class" of the folder.
    needs
        What the class is called with: attributes of the window.
    title
        On its dock, tab or page.
    place
        "left" or "right" of the view in a dock, in a "tab" below, or on a page of the "check" tab.
    order
        Place among the others, in menus and tabs.
    early
        Whether it is made with the window, as docks are. Others are made when they are first seen or asked for.
    entry, key
        Text and shortcut in the menu; empty for none.
    icon
        Of `assets/icons`.
    tip
        What it shows, for the menu and for its page.
    help
        The page of `assets/help` about it; empty for none.
    """

    name: str
    widget: str
    needs: tuple[str, ...]
    title: str
    place: str
    order: int
    early: bool = True
    entry: str = ""
    key: str = ""
    icon: str = ""
    tip: str = ""
    help: str = ""

    def load(self) -> Any:
        """The class of the widget; this imports it."""
        module, _, name = self.widget.rpartition(".")
        return getattr(import_module(f"{__name__}.{self.name}.{module}"), name)


@cache
def declared() -> dict[str, Panel]:
    """All panels by name, in their order."""
    found = [import_module(f"{__name__}.{folder.name}").PANEL for folder in iter_modules(__path__)]
    return {panel.name: panel for panel in sorted(found, key=lambda panel: panel.order)}
