"""The model tree: the system, its ground, bodies, joints, drivers, forces and measures, and the results."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Final

from PySide6.QtCore import QModelIndex, QPoint, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QMenu,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb
from mbframe.quantities import units_of

from ...base.kinds import GROUPS, group_of, icon_name
from ...base.names import one_line, unformatted
from ...base.quantity_names import split
from ...base.words import class_label
from ...document.document import Document
from ...document.runs import Run
from ...fields.base import sentence
from ...widgets.deleting_tree import DeletingTree
from ...widgets.icons import dot, icon
from ...widgets.items import children
from ...widgets.labels import ProblemLabel
from ...widgets.theme import changed as theme_changed
from ...widgets.theme import current as current_theme

THING = Qt.ItemDataRole.UserRole
RESULTS: Final = "Results"


class ModelTree(QWidget):
    """Shows what the document consists of; selecting here is selecting in the document."""

    plot_requested = Signal(str)
    """The name of a quantity to plot."""
    quantities_requested = Signal(str)
    """The name of an element whose quantities are to be listed."""
    follow_requested = Signal(object)
    trail_requested = Signal(object)
    confirm_delete: Callable[[Any], bool] = staticmethod(lambda element: True)
    """Asked before an element is deleted."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("model_tree")
        self.document = document
        self.menu_extensions: list[Callable[[QMenu, Any], object]] = []
        """Called with the context menu and its element, to add to it."""
        self._items: dict[int, QTreeWidgetItem] = {}
        self._closed: set[str] = set()
        self._hidden: set[str] = set()
        self._build()
        document.replaced.connect(self._on_replaced)
        document.structure_changed.connect(self.rebuild)
        document.runs.changed.connect(self._show_runs)
        document.runs.current_changed.connect(self._show_runs)
        document.selection_changed.connect(self._show_selection)
        theme_changed().connect(self.rebuild)
        self.rebuild()

    def _build(self) -> None:
        self.search = QLineEdit(self)
        self.search.setObjectName("tree_search")
        self.search.setPlaceholderText("Search the model")
        self.search.setClearButtonEnabled(True)
        self._glass = self.search.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.tree = _Tree(self)
        self.tree.setObjectName("tree")
        self.problem = ProblemLabel("problem_tree", self)
        self.problem.setContentsMargins(6, 2, 6, 4)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 4, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.search)
        layout.addWidget(self.tree, 1)
        layout.addWidget(self.problem)
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._take_first)
        self.tree.currentItemChanged.connect(self._on_current)
        self.tree.itemChanged.connect(self._on_renamed)
        self.tree.itemExpanded.connect(lambda item: self._closed.discard(item.text(0).split(" (")[0]))
        self.tree.itemCollapsed.connect(lambda item: self._closed.add(item.text(0).split(" (")[0]))
        self.tree.customContextMenuRequested.connect(self._open_menu)
        self.tree.nothing_clicked.connect(lambda: self.document.select(None))
        self.tree.delete_pressed.connect(self.delete_selected)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def _on_replaced(self) -> None:
        self.search.clear()
        self.problem.say("")
        self._closed.clear()
        self.rebuild()

    def rebuild(self, _: object = None) -> None:
        """Fill the tree anew; what was closed stays closed."""
        with QSignalBlocker(self.tree):
            self.tree.clear()
            self._items = {}
            self._glass.setIcon(icon("search", "muted"))
            system = self.document.system
            self._add(self.tree, system)
            self._add(self.tree, system.ground)
            for group in GROUPS:
                members = [element for element in system if group_of(element) == group]
                if members or group in ("Bodies", "Joints", "Forces"):
                    header = self._header(group, len(members))
                    for element in members:
                        self._add(header, element)
            self._results = self._header(RESULTS, 0)
        self._show_runs()
        self._filter()
        self._show_selection(self.document.selection)

    def _header(self, title: str, count: int) -> QTreeWidgetItem:
        item = QTreeWidgetItem(self.tree, [f"{title} ({count})" if count else title])
        item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        font = QFont(self.font())
        font.setBold(True)
        item.setFont(0, font)
        item.setForeground(0, QColor(current_theme().muted))
        item.setExpanded(title not in self._closed)
        return item

    def _add(self, parent: Any, element: Any) -> QTreeWidgetItem:
        item = QTreeWidgetItem(parent, [one_line(element.name)])
        item.setData(0, THING, element)
        self._dress(item)
        if element is not self.document.system.ground:
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
        self._items[id(element)] = item
        return item

    def _show_runs(self, _: object = None) -> None:
        runs = self.document.runs
        with QSignalBlocker(self.tree):
            self._results.setText(0, f"{RESULTS} ({len(runs)})" if runs else RESULTS)
            self._results.setHidden(not runs)
            for left_over in children(self._results)[len(runs) :]:
                self._results.removeChild(left_over)
            for k, run in enumerate(runs):
                item = self._results.child(k) or QTreeWidgetItem(self._results)
                item.setData(0, THING, run)
                item.setText(0, one_line(run.name))
                item.setIcon(0, dot(run.color, hollow=run.stale))
                item.setToolTip(0, unformatted(run.details()))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
                font = QFont(self.font())
                font.setBold(run is self.document.runs.current)
                item.setFont(0, font)
                item.setForeground(0, QColor(current_theme().muted if run.stale else current_theme().text))

    def mark_hidden(self, names: Collection[str]) -> None:
        """Mark the elements that the view does not draw."""
        if set(names) != self._hidden:
            self._hidden = set(names)
            with QSignalBlocker(self.tree):
                for item in self._items.values():
                    self._dress(item)

    def _dress(self, item: QTreeWidgetItem) -> None:
        """The sign of an element; of one that is not drawn it is an eye that is closed."""
        element = item.data(0, THING)
        unseen = element.name in self._hidden and element is not self.document.system
        item.setIcon(0, icon("eye_off" if unseen else icon_name(element), "muted" if unseen else "text"))
        item.setForeground(0, QColor(current_theme().muted if unseen else current_theme().text))
        words = describe(element) + ("\nIt is hidden: Shift+H draws everything again." if unseen else "")
        item.setToolTip(0, unformatted(words))

    def _show_selection(self, element: Any) -> None:
        item = self._items.get(id(element)) if element is not None else None
        with QSignalBlocker(self.tree):
            if item is None:
                self.tree.setCurrentIndex(QModelIndex())
                self.tree.clearSelection()
            else:
                self.tree.setCurrentItem(item)
        if item is not None:
            self.tree.scrollToItem(item)

    def _filter(self, _: object = None) -> None:
        words = self.search.text().casefold().split()
        for top in children(self.tree):
            if top.data(0, THING) is not None:
                top.setHidden(not _matches(top, words))
                continue
            shown = 0
            for child in children(top):
                child.setHidden(not _matches(child, words))
                shown += not child.isHidden()
            top.setHidden(not shown if words or top is self._results else False)
            if words and shown:
                with QSignalBlocker(self.tree):
                    top.setExpanded(True)

    def _take_first(self) -> None:
        """Enter in the search selects the first element found."""
        for item in self._items.values():
            if self.search.text().strip() and not item.isHidden():
                self.document.select(item.data(0, THING))
                return

    # --- what the user does ------------------------------------------------------------------------------------------

    def _on_current(self, item: QTreeWidgetItem | None, _: object) -> None:
        thing = item.data(0, THING) if item is not None else None
        if isinstance(thing, Run):
            # Qt is still inside its own change of the current item, and the rows of runs are about to change.
            QTimer.singleShot(0, lambda: self.document.runs.choose(thing) if thing in self.document.runs else None)
        elif thing is not None:
            self.document.select(thing)

    def _on_renamed(self, item: QTreeWidgetItem, _: int) -> None:
        thing, name = item.data(0, THING), item.text(0).strip()
        if thing is not None and name not in (thing.name, one_line(thing.name)):
            # The editor of the row is still open, and a new name fills the tree anew.
            QTimer.singleShot(0, lambda: self._rename(thing, name))

    def _rename(self, thing: Any, name: str) -> None:
        if isinstance(thing, Run):
            thing.name = name or thing.name
            self.document.runs.report_change(thing)
            return
        try:
            self.document.rename(thing, name)
        except mb.ModelError:
            taken = f"“{name}” is the name of another element; choose another."
            self.problem.say(taken if name else "A name cannot be empty.")
            self.rebuild()
        else:
            self.problem.say("")

    def rename(self, thing: Any) -> None:
        """Let the user type another name in place."""
        item = self._items.get(id(thing))
        if item is not None:
            self.tree.editItem(item, 0)

    def delete_selected(self) -> None:
        """Delete what is selected, and with it what depends on it; undo brings all of it back."""
        item = self.tree.currentItem()
        thing = item.data(0, THING) if item is not None else None
        if isinstance(thing, Run):
            if not thing.computing:
                self.document.runs.remove(thing)
        elif isinstance(thing, mb.Element) and thing is not self.document.system:
            self.delete(thing)

    def delete(self, element: mb.Element) -> None:
        """Delete an element and what depends on it."""
        if not self.confirm_delete(element):
            return
        others = self.document.dependents(element)
        try:
            self.document.remove(element)
        except mb.ModelError as error:
            self.problem.say(sentence("; ".join(problem.message for problem in error.problems)))
            return
        self.problem.say("")
        if others:
            names = ", ".join(other.name for other in others)
            self.document.messages.post(
                f"{element.name} was deleted, and with it {names}.", fix=("Undo", self.document.undo)
            )

    def duplicate(self, element: mb.Element) -> None:
        """Add a copy of an element."""
        try:
            self.document.duplicate(element)
        except mb.ModelError as error:
            self.problem.say(sentence("; ".join(problem.message for problem in error.problems)))

    # --- context menu ------------------------------------------------------------------------------------------------

    def _open_menu(self, place: QPoint) -> None:
        item = self.tree.itemAt(place)
        thing = item.data(0, THING) if item is not None else None
        if thing is not None and (menu := self.menu_for(thing)) is not None:
            menu.exec(self.tree.viewport().mapToGlobal(place))

    def menu_for(self, thing: Any) -> QMenu | None:
        """The context menu of an element or a run."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if isinstance(thing, Run):
            _action(menu, "choose_run", "Look at it", "eye", lambda: self.document.runs.choose(thing))
            delete = _action(menu, "delete_run", "Delete", "delete", lambda: self.document.runs.remove(thing))
            delete.setEnabled(not thing.computing)
            return menu
        system = self.document.system
        if thing is not system.ground:
            _action(menu, "rename", "Rename", "rename", lambda: self.rename(thing))
        if thing is not system and thing is not system.ground:
            _action(menu, "duplicate", "Duplicate", "duplicate", lambda: self.duplicate(thing))
            others = self.document.dependents(thing)
            text = (
                f"Delete, with {len(others)} that depend{'s' if len(others) == 1 else ''} on it" if others else "Delete"
            )
            delete = _action(menu, "delete", text, "delete", lambda: self.delete(thing))
            delete.setToolTip(unformatted(", ".join(other.name for other in others)))
            menu.setToolTipsVisible(True)
            menu.addSeparator()
            self._add_quantities(menu, thing)
        if isinstance(thing, mb.Body) and thing is not system.ground:
            _action(menu, "follow", "Follow with the camera", "follow", lambda: self.follow_requested.emit(thing))
            _action(menu, "trail", "Draw its path", "trail", lambda: self.trail_requested.emit(thing))
        for extend in self.menu_extensions:
            extend(menu, thing)
        return menu

    def _add_quantities(self, menu: QMenu, element: mb.Element) -> None:
        names = [n for n in units_of(self.document.system) if split(n, self._names())[0] == element.name]
        if not names:
            return
        sub = menu.addMenu(icon("plot"), "Plot")
        sub.setObjectName("plot_menu")
        kinds: dict[str, list[tuple[str, str]]] = {}
        for name in names:
            _, kind, component = split(name, self._names())
            kinds.setdefault(kind, []).append((name, component))
        for kind, entries in kinds.items():
            words = kind.replace("_", " ").replace(".", " ").capitalize() or "Value"
            if len(entries) == 1 and not entries[0][1]:
                self._add_quantity(sub, words, entries[0][0])
                continue
            inner = sub.addMenu(words)
            for name, component in entries:
                self._add_quantity(inner, component, name)
        sub.addSeparator()
        _action(sub, "quantities", "Show in the list", "search", lambda: self.quantities_requested.emit(element.name))

    def _add_quantity(self, menu: QMenu, text: str, name: str) -> None:
        action = menu.addAction(text)
        action.setObjectName(f"plot_{name}")
        action.triggered.connect(lambda _=False: self.plot_requested.emit(name))

    def _names(self) -> list[str]:
        return [element.name for element in self.document.system]


class _Tree(DeletingTree):
    """A tree in which a click beside everything selects nothing."""

    nothing_clicked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setUniformRowHeights(True)
        self.setIconSize(QSize(18, 18))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        triggers = QAbstractItemView.EditTrigger
        self.setEditTriggers(triggers.EditKeyPressed | triggers.DoubleClicked)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.itemAt(event.position().toPoint()) is None:
            self.nothing_clicked.emit()
        super().mousePressEvent(event)


def _action(menu: QMenu, name: str, text: str, picture: str, slot: Callable[[], object]) -> Any:
    action = menu.addAction(icon(picture), text)
    action.setObjectName(name)
    action.triggered.connect(lambda _=False: slot())
    return action


def _matches(item: QTreeWidgetItem, words: list[str]) -> bool:
    text = f"{item.text(0)} {item.toolTip(0)}".casefold()
    return all(word in text for word in words)


def describe(element: Any) -> str:
    """An element in a line: what it is, and between which bodies."""
    kind = class_label(type(element))
    one, other = getattr(element, "body_i", None), getattr(element, "body_j", None)
    if one is not None and other is not None:
        return f"{kind} between {one.name} and {other.name}"
    return kind
