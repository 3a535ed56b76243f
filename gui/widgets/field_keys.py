"""Keys of a field or button that has the focus, and those that are shortcuts nevertheless.

Keys without modifiers belong to the field. Undo and redo belong to a text only while it is being typed: otherwise they
are the window's, so that there is one undo wherever the focus is.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

TEXTS = QLineEdit | QPlainTextEdit | QTextEdit | QAbstractSpinBox
BUTTONS = QAbstractButton | QComboBox


def typed_undo(widget: QWidget | None, *, redo: bool = False) -> bool:
    """Whether a text is being typed in a widget, so that undo (or redo) is about its letters.

    Fields forget what was typed when it is taken over (`setText` does so), and belong to the model from then on.
    """
    if not isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
        return False
    text: Any = widget if isinstance(widget, QLineEdit) else widget.document()
    return bool(text.isUndoAvailable() or (redo and text.isRedoAvailable()))


def claimed(event: QEvent, *keys: Qt.Key) -> bool:
    """Keep keys for a widget that has the focus, in its `event`: whether this asks if one of them is a shortcut."""
    asked = event.type() == QEvent.Type.ShortcutOverride
    if asked and isinstance(event, QKeyEvent) and event.key() in keys:
        event.accept()
        return True
    return False


class FieldKeys(QObject):
    """Watches the widget that has the focus, and no other: a filter of all events would cost more than the rest."""

    def __init__(self, application: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        application.focusChanged.connect(self._focus_moved)

    def _focus_moved(self, before: QWidget | None, now: QWidget | None) -> None:
        if before is not None:
            before.removeEventFilter(self)
        if isinstance(now, TEXTS | BUTTONS):
            now.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            typing = isinstance(watched, TEXTS) and event.key() not in (Qt.Key.Key_F1, Qt.Key.Key_F5)
            pressing = isinstance(watched, BUTTONS) and event.key() == Qt.Key.Key_Space
            plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
            if plain and (pressing or typing):
                event.accept()
                return True
            undo, redo = (event.matches(key) for key in (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo))
            if (undo or redo) and isinstance(watched, QWidget) and not typed_undo(watched, redo=redo):
                event.ignore()  # which Qt takes for the leave to look for a shortcut
                return True
        return False
