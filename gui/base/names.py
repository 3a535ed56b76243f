"""Names as they are shown: files of strangers give them, and they may hold anything."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import Qt

from mbframe.errors import shown


def one_line(name: str) -> str:
    """A name in a line, with escapes for characters that control, break lines or turn the direction of writing."""
    return shown(name).replace("\n", "\\n").replace("\t", "\\t")


def unformatted(text: str) -> str:
    """A text for hints, labels and boxes, which take what looks like HTML for it, and would load its pictures."""
    safe = shown(text)
    return f"<qt>{escape(safe)}</qt>".replace("\n", "<br>") if Qt.mightBeRichText(safe) else safe
