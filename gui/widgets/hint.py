"""A hint over the view: one sentence, perhaps something to do, and a cross that takes it away for good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from ..base.names import unformatted
from ..base.settings import Settings
from .icons import set_icon
from .items import clear

SLACK: Final = 4
"""Pixels that a label takes besides its letters."""
ABOVE: Final = 36
"""Pixels below it, where the view writes the size of its grid."""


class Hint(QFrame):
    """Lies at the lower edge of a widget, in its middle."""

    came_or_went = Signal()
    """It covers something now, or no longer does."""

    def __init__(self, over: QWidget, settings: Settings) -> None:
        super().__init__(over)
        self.setObjectName("hint")
        self.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)
        self.settings = settings
        self.name = ""
        self._over = over
        over.installEventFilter(self)
        sign = QToolButton(self)
        sign.setEnabled(True)
        sign.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        sign.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        set_icon(sign, "bulb", "accent")
        self.label = QLabel(self)
        self.label.setObjectName("hint_text")
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(4)
        cross = QToolButton(self)
        cross.setObjectName("hint_close")
        cross.setIconSize(QSize(14, 14))
        cross.setToolTip("Got it: do not show this again")
        cross.setAccessibleName("Dismiss the hint")
        set_icon(cross, "close", "muted")
        cross.clicked.connect(self.dismiss)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 6, 4)
        layout.setSpacing(6)
        layout.addWidget(sign)
        layout.addWidget(self.label, 1)
        layout.addLayout(self._buttons)
        layout.addWidget(cross)
        self.hide()

    def offer(self, name: str, text: str, buttons: Sequence[tuple[str, Callable[[], object]]] = ()) -> None:
        """Show a hint, unless it was dismissed before."""
        if self.settings.hint_dismissed(name):
            return
        self.name = name
        self.label.setText(unformatted(text))
        clear(self._buttons)
        for caption, call in buttons:
            button = QPushButton(caption, self)
            button.setProperty("link", True)
            button.clicked.connect(call)
            self._buttons.addWidget(button)
            button.show()
        self.show()
        self.adjustSize()
        self._place()
        self.raise_()
        self.came_or_went.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.came_or_went.emit()

    def dismiss(self) -> None:
        """Take it away, and do not show it again."""
        self.settings.dismiss_hint(self.name)
        self.hide()

    def _place(self) -> None:
        room = self._over.width() - 24
        words = self.label.fontMetrics().horizontalAdvance(self.label.text()) + SLACK
        beside = self.sizeHint().width() - self.label.sizeHint().width()
        wrapped = words + beside > room
        if self.label.wordWrap() != wrapped:  # each call asks for a new layout, and so for this method again
            self.label.setWordWrap(wrapped)
        width = min(words + beside, room)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        self.setGeometry((self._over.width() - width) // 2, self._over.height() - height - ABOVE, width, height)

    def event(self, event: QEvent) -> bool:
        known = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():  # its text or buttons need another size
            self._place()
        return known

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False
