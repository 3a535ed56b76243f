"""A sentence with buttons, inside a panel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from mbframe.errors import shown

from . import icons, theme
from .labels import WrappedLabel

COLORS = {"info": "accent", "warning": "warning", "error": "bad"}


class Banner(QFrame):
    """Says something at the place where it matters, and what can be done about it.

    It takes two lines at most, so that what is below stays in sight; a tooltip has all of a longer text.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.level = "info"
        self.icon = QLabel()
        self.text = WrappedLabel()
        self.text.setObjectName(f"{name}_text")
        self.buttons: list[QPushButton] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(10, 5, 8, 5)
        self._row.setSpacing(8)
        self._row.addWidget(self.icon)
        self._row.addWidget(self.text, 1)
        self._dress()
        theme.changed().connect(self._dress)
        self.hide()

    def say(self, text: str, level: str = "info", actions: Sequence[tuple[str, Callable[[], object]]] = ()) -> None:
        """Show a sentence, with a button for each action; an empty text hides the banner."""
        for button in self.buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self.buttons = []
        self.level = level
        self.text.setText(shown(text))
        for label, call in actions:
            button = QPushButton(label)
            button.setObjectName(f"{self.objectName()}_{label.lower().replace(' ', '_')}")
            button.clicked.connect(lambda _=False, call=call: call())
            self._row.addWidget(button)
            self.buttons.append(button)
        self._dress()
        self.setVisible(bool(text))

    def _dress(self, _: object = None) -> None:
        look = theme.current()
        color = getattr(look, COLORS[self.level])
        ground = theme.mixed(color, look.surface, 0.12).name()
        # Only this frame: a rule without a selector would reach the labels inside as well.
        self.setStyleSheet(
            f"#{self.objectName()} {{ background: {ground}; border: none; border-left: 3px solid {color}; }}"
        )
        self.icon.setPixmap(icons.pixmap(self.level, 18, color, self.devicePixelRatioF()))
