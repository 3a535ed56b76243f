"""A tree whose rows can be deleted with a key."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QTreeWidget

from .field_keys import claimed


class DeletingTree(QTreeWidget):
    """Tells when Delete or Backspace is pressed on it. Delete is then no shortcut of the window: it means the row."""

    delete_pressed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete_pressed.emit()
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        return claimed(event, Qt.Key.Key_Delete) or super().event(event)
