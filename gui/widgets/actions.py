"""All that can be done from menus, the toolbar and the keyboard, in one place; the list of shortcuts comes from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from .icons import set_icon


@dataclass(frozen=True)
class Entry:
    """An action as it is declared.

    Parameters
    ----------
    name
        By which `Actions` finds it; also its object name.
    menu
        Title of the menu it is in, with submenus after a "/"; empty for none.
    text
        In the menu; an ampersand marks the key.
    call
        What it does: without argument, or for a checkable one with its state.
    keys
        Shortcuts, such as "Ctrl+Z".
    icon
        Of `assets/icons`; empty for none.
    tip
        What it does in a sentence, for the status bar and tooltips.
    checkable
        Whether it is switched on and off.
    separated
        Whether a line precedes it in its menu.
    model_only
        Whether it makes sense only while a model is shown, not on the start page.
    """

    name: str
    menu: str
    text: str
    call: Callable[..., Any]
    keys: tuple[str, ...] = ()
    icon: str = ""
    tip: str = ""
    checkable: bool = False
    separated: bool = False
    model_only: bool = False


class Actions(QObject):
    """The actions by name: `actions["undo"]` is a QAction."""

    def __init__(self, entries: list[Entry], owner: QWidget) -> None:
        super().__init__(owner)
        self._owner = owner
        self._menus: dict[str, QMenu] = {}
        self.entries = {entry.name: entry for entry in entries}
        self._actions = {entry.name: self._made(entry, owner) for entry in entries}

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def __contains__(self, name: str) -> bool:
        return name in self._actions

    def _made(self, entry: Entry, owner: QWidget) -> QAction:
        action = QAction(entry.text, owner)
        action.setObjectName(entry.name)
        if entry.keys:
            action.setShortcuts([QKeySequence(key) for key in entry.keys])
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        plain = entry.text.replace("&", "").rstrip("…")
        tip = entry.tip or plain
        action.setStatusTip(tip)
        shown = QKeySequence(entry.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if entry.keys else ""
        action.setToolTip(f"{tip} ({shown})" if shown else tip)
        action.setCheckable(entry.checkable)
        if entry.icon:
            set_icon(action, entry.icon)
        if entry.checkable:
            action.toggled.connect(lambda on, name=entry.name: self.entries[name].call(on))
            action.setIconVisibleInMenu(False)  # the tick has its place
        else:
            action.triggered.connect(lambda _=False, name=entry.name: self.entries[name].call())
        owner.addAction(action)
        return action

    def fill(self, bar: QMenuBar) -> dict[str, QMenu]:
        """Put the actions into menus; returns them by title."""
        for entry in self.entries.values():
            if not entry.menu:
                continue
            menu = self._menu(entry.menu, bar, self._menus)
            if entry.separated:
                menu.addSeparator()
            menu.addAction(self._actions[entry.name])
        return self._menus

    def put(self, entry: Entry) -> None:
        """Add an entry at the end of its menu, which is there; one of that name gets another text and call."""
        known = self._actions.get(entry.name)
        self.entries[entry.name] = entry
        if known is not None:
            known.setText(entry.text)
            known.setStatusTip(entry.tip)
            known.setToolTip(entry.tip)
            return
        self._actions[entry.name] = self._made(entry, self._owner)
        self._menus[entry.menu].addAction(self._actions[entry.name])

    def _menu(self, title: str, bar: QMenuBar, menus: dict[str, QMenu]) -> QMenu:
        if title not in menus:
            parent, _, last = title.rpartition("/")
            above: Any = self._menu(parent, bar, menus) if parent else bar
            menus[title] = above.addMenu(last)
            menus[title].setToolTipsVisible(True)
        return menus[title]

    def check(self, name: str, on: bool) -> None:
        """Show whether something is switched on, without switching it."""
        action = self._actions[name]
        action.blockSignals(True)
        action.setChecked(on)
        action.blockSignals(False)

    def set_model_shown(self, shown: bool) -> None:
        """Enable what needs a model, or disable it on the start page."""
        for entry in self.entries.values():
            if entry.model_only:
                self._actions[entry.name].setEnabled(shown)

    def shortcuts(self) -> Iterator[tuple[str, str, str]]:
        """Menu, what is done, and the keys: for the list of shortcuts."""
        for entry in self.entries.values():
            keys = ", ".join(QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText) for key in entry.keys)
            if keys:
                menu = entry.menu.replace("&", "").split("/")[0] or "Window"
                yield menu, entry.tip or entry.text.replace("&", "").rstrip("…"), keys
