"""The list of results: which run is looked at, which ones are plotted, what became of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QPoint, QSize, Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QSizePolicy,
    QToolButton,
    QTreeWidgetItem,
    QWidget,
)

from ...base.names import one_line, unformatted
from ...base.words import instant
from ...document.document import Document
from ...document.runs import Run
from ...widgets.deleting_tree import DeletingTree
from ...widgets.icons import dot, icon, set_icon
from ...widgets.theme import current as current_theme

NAME, STATUS, SHOWN = range(3)
RUN = Qt.ItemDataRole.UserRole


class ResultsList(DeletingTree):
    """The runs of a document: which one is looked at, which ones are plotted, what became of them."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("results")
        self.document = document
        self._refreshing = False
        self.setColumnCount(3)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(0)
        self.setUniformRowHeights(True)
        self.setIconSize(QSize(14, 14))
        self.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(70)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(STATUS, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(SHOWN, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(SHOWN, 30)
        self.currentItemChanged.connect(self._choose)
        self.itemChanged.connect(self._rename)
        self.itemDoubleClicked.connect(lambda item, column: self.editItem(item, NAME) if column == NAME else None)
        self.customContextMenuRequested.connect(self._open_menu)
        self.delete_pressed.connect(self.delete_current)

    def refresh(self) -> None:
        """Bring the list up to date; rows stay where they are, so that nothing flickers while a run grows."""
        self._refreshing = True
        runs = self.document.runs
        while self.topLevelItemCount() > len(runs):
            self.takeTopLevelItem(self.topLevelItemCount() - 1)
        for k, run in enumerate(runs):
            item = self.topLevelItem(k)
            if item is None:
                item = QTreeWidgetItem(self)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            self._fill(item, run)
            button = self.itemWidget(item, SHOWN)
            if button is None:
                self.setItemWidget(item, SHOWN, self._eye(run))
            else:
                self._set_eye(button, run)
            if run is self.document.runs.current:
                self.setCurrentItem(item)
        if self.document.runs.current is None:
            self.setCurrentIndex(QModelIndex())
        self._refreshing = False

    def _fill(self, item: QTreeWidgetItem, run: Run) -> None:
        look = current_theme()
        item.setData(NAME, RUN, run)
        item.setText(NAME, one_line(run.name))
        item.setIcon(NAME, dot(run.color, hollow=run.stale))
        item.setText(STATUS, status(run))
        color = look.bad if run.reason and not run.computing else look.muted
        item.setForeground(STATUS, QColor(color))
        item.setForeground(NAME, QColor(look.muted if run.stale else look.text))
        for column in (NAME, STATUS):
            item.setToolTip(column, unformatted(run.details()))

    def _eye(self, run: Run) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("run_visible")
        button.setProperty("role", "small")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.clicked.connect(lambda: self._toggle(button))
        self._set_eye(button, run)
        return button

    def _set_eye(self, button: QWidget, run: Run) -> None:
        assert isinstance(button, QToolButton)
        button.setProperty("run", id(run))
        set_icon(button, "eye" if run.visible else "eye_off", "text" if run.visible else "muted")
        button.setToolTip("Shown in plots; click to hide" if run.visible else "Hidden in plots; click to show")

    def _toggle(self, button: QToolButton) -> None:
        run = next((run for run in self.document.runs if id(run) == button.property("run")), None)
        if run is not None:
            self.set_visible(run, not run.visible)

    # --- what can be done with a run ---------------------------------------------------------------------------------

    def set_visible(self, run: Run, visible: bool) -> None:
        """Show or hide a run in the plots."""
        run.visible = visible
        self.document.runs.report_change(run)

    def delete_current(self) -> None:
        """Remove the run that is selected; undoing brings it back."""
        run = self.document.runs.current
        if run is not None and not run.computing:
            self.document.runs.remove(run)

    def use_settings(self, run: Run) -> None:
        """Let the next run be computed as this one was."""
        self.document.runs.choose_settings(run.settings)

    def _choose(self, item: QTreeWidgetItem | None, _: object) -> None:
        if item is not None and not self._refreshing:
            run = item.data(NAME, RUN)
            # The list may be refreshed by what follows; Qt is still inside its own change of the current item.
            QTimer.singleShot(0, lambda: self.document.runs.choose(run) if run in self.document.runs else None)

    def _rename(self, item: QTreeWidgetItem, column: int) -> None:
        if self._refreshing or column != NAME:
            return
        run, name = item.data(NAME, RUN), item.text(NAME).strip()
        if name and name != one_line(run.name):
            run.name = name
            run.unsaved |= self.document.is_project
        self.document.runs.report_change(run)

    def _open_menu(self, place: QPoint) -> None:
        item = self.itemAt(place)
        if item is not None:
            self.menu_for(item).exec(self.viewport().mapToGlobal(place))

    def menu_for(self, item: QTreeWidgetItem) -> QMenu:
        """The context menu of a run."""
        run: Run = item.data(NAME, RUN)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        entries: list[tuple[str, str, str, Callable[[], object], bool]] = [
            ("run_rename", "Rename", "rename", lambda: self.editItem(item, NAME), True),
            (
                "run_toggle",
                "Hide in plots" if run.visible else "Show in plots",
                "eye_off" if run.visible else "eye",
                lambda: self.set_visible(run, not run.visible),
                True,
            ),
            ("run_reuse", "Use its settings for the next run", "method", lambda: self.use_settings(run), True),
            ("run_delete", "Delete", "delete", lambda: self.document.runs.remove(run), not run.computing),
        ]
        for name, text, picture, slot, enabled in entries:
            action = menu.addAction(icon(picture), text)
            action.setObjectName(name)
            action.setEnabled(enabled)
            action.triggered.connect(lambda _=False, slot=slot: slot())
        return menu


def status(run: Run) -> str:
    """Outcome of a run, in a few words."""
    if run.computing:
        return f"computing, {instant(run.t_last)} s"
    parts = []
    if run.reason:
        parts.append(f"{'cancelled' if run.reason.startswith('cancelled') else 'stopped'} at {instant(run.t_last)} s")
    else:
        parts.append(f"{run.t_last:g} s")
    if run.stale:
        parts.append("older model")
    return ", ".join(parts)
