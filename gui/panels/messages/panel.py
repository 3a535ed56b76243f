"""The list of messages: what happened, what is wrong, where, and what can be done about it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from mbframe.errors import shown

from ...base.names import one_line
from ...document.document import Document
from ...document.messages import Message
from ...widgets.arranging import RowList, stack
from ...widgets.icons import LEVELS, pixmap, set_icon
from ...widgets.theme import changed as theme_changed
from ...widgets.theme import current as current_theme

MOST: Final = 100
"""Messages that are shown; older ones are dropped."""


class MessagesPanel(QWidget):
    """Shows the messages of a document, the newest below."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("messages_panel")
        self.document = document
        self.rows: list[MessageRow] = []
        self._build()
        for message in document.messages[-MOST:]:
            self._append(message)
        document.messages.posted.connect(self._append)
        document.structure_changed.connect(self._check_elements)
        document.replaced.connect(self._check_elements)
        theme_changed().connect(self._recolor)
        self._show_empty()

    def _build(self) -> None:
        self.empty = QLabel("Messages about runs, files and the model appear here.", self)
        self.empty.setProperty("role", "muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.copy_all = QPushButton("Copy all", self)
        self.copy_all.setObjectName("copy_messages")
        set_icon(self.copy_all, "copy")
        self.copy_all.clicked.connect(self.copy)
        self.clear_all = QPushButton("Clear", self)
        self.clear_all.setObjectName("clear_messages")
        set_icon(self.clear_all, "delete")
        self.clear_all.clicked.connect(self.clear)
        self.list = RowList(self)
        self.list.verticalScrollBar().rangeChanged.connect(self._scroll_down)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(8, 4, 8, 6)
        buttons.setSpacing(6)
        buttons.addStretch(1)
        buttons.addWidget(self.copy_all)
        buttons.addWidget(self.clear_all)
        stack(self, self.empty, self.list, buttons, growing=self.list)

    def _append(self, message: Message) -> None:
        row = MessageRow(message, self)
        self.rows.append(row)
        self.list.append(row)
        for old in self.rows[:-MOST]:
            self._drop(old)
        self._show_empty()

    def _drop(self, row: MessageRow) -> None:
        self.rows.remove(row)
        self.list.drop(row)

    def clear(self) -> None:
        """Forget all messages."""
        self.document.messages.clear()
        for row in list(self.rows):
            self._drop(row)
        self._show_empty()

    def copy(self) -> None:
        """Put all messages on the clipboard, one a line."""
        QGuiApplication.clipboard().setText("\n".join(as_text(row.message) for row in self.rows))

    def _show_empty(self) -> None:
        self.empty.setVisible(not self.rows)
        self.list.setVisible(bool(self.rows))
        self.copy_all.setEnabled(bool(self.rows))
        self.clear_all.setEnabled(bool(self.rows))

    def _scroll_down(self, _: int, lowest: int) -> None:
        self.list.verticalScrollBar().setValue(lowest)

    def _check_elements(self) -> None:
        for row in self.rows:
            row.check_element()

    def _recolor(self, _: object) -> None:
        for row in self.rows:
            row.recolor()


class MessageRow(QFrame):
    """One message: level, time and text; buttons to select its element and to do what it proposes, where there is any.

    There may be many rows, and every widget makes a change of theme slower: a row has no more of them than it needs.
    """

    def __init__(self, message: Message, panel: MessagesPanel) -> None:
        super().__init__(panel)
        self.setObjectName("message")
        self.message, self.document = message, panel.document
        self._icon = QLabel(self)
        self._icon.setAccessibleName(message.level)
        self._icon.setToolTip(f"{message.level.capitalize()}, {_clock(message)}")
        self.text = QLabel(shown(message.text), self)
        self.text.setObjectName("message_text")
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.text.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        copy = QAction("Copy this message", self.text)
        copy.setObjectName("copy_message")
        copy.triggered.connect(lambda _: QGuiApplication.clipboard().setText(message.text))
        self.text.addAction(copy)
        self._layout = QHBoxLayout(self)
        self._layout.setContentsMargins(2, 3, 2, 3)
        self._layout.setSpacing(8)
        self._layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._layout.addWidget(self.text, 1)
        self.select: QPushButton | None = None
        self.fix: QPushButton | None = None
        if message.element is not None:
            self.select = self._button("select_element", "Select this element", self._select)
            self.select.setProperty("link", True)
        if message.fix is not None:
            self.fix = self._button("fix", "Do this", self._fix)
            self.fix.setText(message.fix[0])
        self.check_element()
        self.recolor()

    def _button(self, name: str, tip: str, slot: Callable[[], None]) -> QPushButton:
        button = QPushButton(self)
        button.setObjectName(name)
        button.setToolTip(tip)
        button.clicked.connect(slot)
        self._layout.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def check_element(self) -> None:
        """Offer the element only while it is in the model."""
        if self.select is not None:
            element = self.message.element
            there = element is self.document.system or element in self.document.system
            self.select.setText(one_line(element.name))
            self.select.setVisible(there)

    def recolor(self) -> None:
        """Draw the icon in the colours of the theme."""
        picture, color = LEVELS[self.message.level]
        self._icon.setPixmap(pixmap(picture, 18, getattr(current_theme(), color), self.devicePixelRatioF()))

    def _select(self) -> None:
        self.document.select(self.message.element)

    def _fix(self) -> None:
        """Do what the message proposes, once."""
        assert self.fix is not None
        self.fix.setEnabled(False)
        self.message.fix[1]()


def _clock(message: Message) -> str:
    return time.strftime("%H:%M:%S", time.localtime(message.at))


def as_text(message: Message) -> str:
    """A message as a line of text."""
    return f"{_clock(message)} {message.level}: {message.text}"
