"""Fields for one line of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from mbframe.parameters import Parameter

from ..widgets.field_keys import claimed
from .base import PLAIN, Field, Surroundings, show


class TextEdit(QLineEdit):
    """A line edit that says when it is typed into, confirmed (Enter, or left after a change) and escaped."""

    typed = Signal()
    confirmed = Signal()
    escaped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = ""
        self.textEdited.connect(lambda _: self.typed.emit())

    def show_text(self, text: str) -> None:
        """Show a text; it counts as unchanged."""
        self._shown = text
        show(self, text)

    @property
    def changed(self) -> bool:
        return self.text() != self._shown

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.confirmed.emit()
        elif event.key() == Qt.Key.Key_Escape and self.changed:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason and self.changed:
            self.confirmed.emit()

    def event(self, event: QEvent) -> bool:
        return (self.changed and claimed(event, Qt.Key.Key_Escape)) or super().event(event)


class TextField(Field):
    """One line of text; subclasses say how a value is written and read."""

    placeholder = ""

    def __init__(
        self,
        parameter: Parameter,
        surroundings: Surroundings = PLAIN,
        parent: QWidget | None = None,
        convert: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(parameter, surroundings, parent, convert)
        self.edit = self._new_edit()
        self.edit.setObjectName(f"{parameter.name}_edit")
        self.edit.setPlaceholderText(self.placeholder)
        self.line = QHBoxLayout(self)
        self.line.setContentsMargins(0, 0, 0, 0)
        self.line.setSpacing(4)
        self.line.addWidget(self.edit, 1)
        self.setFocusProxy(self.edit)
        self.edit.typed.connect(self.validate)
        self.edit.confirmed.connect(self.commit)
        self.edit.escaped.connect(self.restore)

    def _new_edit(self) -> TextEdit:
        """The line edit."""
        return TextEdit()

    def editors(self) -> list[QWidget]:
        return [self.edit]
