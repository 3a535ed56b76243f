"""The check tab: what is wrong with the model, how it can move, and what was told so far, one page each."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from ..document.document import Document
from ..document.messages import Message
from ..panels import declared
from ..widgets.arranging import stack


class CheckPages(QWidget):
    """Holds the panels of the tab by name; one that has no panel yet asks for it when it is first seen."""

    first_shown = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("check_pages")
        self.document = document
        self.pages = QStackedWidget(self)
        self._declared = {name: panel for name, panel in declared().items() if panel.place == "check"}
        self.buttons: dict[str, QPushButton] = {}
        self.panels: dict[str, QWidget] = {}
        self._columns: dict[str, QVBoxLayout] = {}
        self._unread = 0
        group = QButtonGroup(self)
        row = QHBoxLayout()
        row.setContentsMargins(8, 4, 8, 2)
        row.setSpacing(4)
        for name, panel in self._declared.items():
            button = QPushButton(panel.title, self)
            button.setObjectName(f"page_{name}")
            button.setProperty("role", "segment")
            button.setToolTip(panel.tip)
            button.setCheckable(True)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, name=name: self.show_page(name))
            group.addButton(button)
            row.addWidget(button)
            self.buttons[name] = button
            self._columns[name] = QVBoxLayout()
            self.pages.addWidget(stack(QWidget(), self._columns[name]))
        row.addStretch(1)
        stack(self, row, self.pages, growing=self.pages)
        document.messages.posted.connect(self._count)
        self.show_page(next(iter(self._declared)))

    def put(self, name: str, panel: QWidget) -> None:
        """Give a page its panel."""
        self.panels[name] = panel
        self._columns[name].addWidget(panel)

    @property
    def front(self) -> QWidget | None:
        """The panel of the page that is seen."""
        return self.panels.get(self._front)

    def bring_to_front(self, panel: QWidget) -> None:
        """Show the page of a panel."""
        for name, one in self.panels.items():
            if one is panel:
                self.show_page(name)

    def show_page(self, name: str) -> None:
        """Bring a page to the front."""
        self._front = name
        self.buttons[name].setChecked(True)
        self.pages.setCurrentIndex(list(self._declared).index(name))
        if name == "messages":
            self._unread = 0
            self._show_count()
        if self.isVisible():
            self.first_shown.emit(name)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_page(self._front)

    def _count(self, message: Message) -> None:
        """Warnings and errors that nobody has seen are counted at their page."""
        seen = self._front == "messages" and self.isVisible()
        self._unread += message.level != "info" and not seen
        self._show_count()

    def _show_count(self) -> None:
        title = self._declared["messages"].title
        self.buttons["messages"].setText(f"{title} ({self._unread})" if self._unread else title)
