"""What a hand does in many tests."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt


def type_into(qtbot: Any, edit: Any, text: str, enter: bool = True) -> None:
    """Replace the text of a line edit, and confirm it."""
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClick(edit, Qt.Key.Key_Delete)
    qtbot.keyClicks(edit, text)
    if enter:
        qtbot.keyClick(edit, Qt.Key.Key_Return)
