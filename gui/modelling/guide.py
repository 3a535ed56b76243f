"""A bar at the upper edge of the view that says what to do next while something is picked, placed or pulled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from ..widgets import theme
from ..widgets.icons import set_icon
from ..widgets.items import clear

CUBE: Final = 120
"""Pixels that the cube of the view takes on the right."""


class Guide(QFrame):
    """Steps, one of them the present one; choices; a cross that cancels; a fact on the right."""

    cancelled = Signal()

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setObjectName("guide")
        self.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)  # a click beside its buttons is none into the view
        self._over = over
        self._steps: list[str] = []
        self._present = 0
        over.installEventFilter(self)
        self.sign = QToolButton(self)
        self.sign.setEnabled(True)
        self.sign.setProperty("role", "small")
        self.text = QLabel(self)
        self.text.setObjectName("guide_text")
        self.fact = QLabel(self)
        self.fact.setObjectName("guide_fact")
        self.fact.setProperty("role", "muted")
        self.cross = QToolButton(self)
        self.cross.setObjectName("guide_cancel")
        self.cross.setIconSize(QSize(14, 14))
        self.cross.setToolTip("Cancel (Esc)")
        self.cross.setAccessibleName("Cancel")
        set_icon(self.cross, "close", "muted")
        self.cross.clicked.connect(self.cancelled.emit)
        layout = self._row = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 6, 4)
        layout.setSpacing(8)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(4)
        # The fact comes while one is about to press a button, which must not move then: it is behind the buttons.
        for part in (self.sign, self.text):
            layout.addWidget(part)
        layout.addLayout(self._buttons)
        layout.addWidget(self.cross)
        layout.addWidget(self.fact)
        self.hide()

    def tell(self, icon: str, steps: Sequence[str], present: int = 0, fact: str = "") -> None:
        """Show steps with the present one in bold; those before are done."""
        set_icon(self.sign, icon, "accent")
        self._steps, self._present = list(steps), present
        self.set_fact(fact)
        self.show()
        self._place()
        self.raise_()

    def end(self) -> None:
        """Nothing is under way any more."""
        self._give_focus_back()
        self.hide()

    def _give_focus_back(self) -> None:
        """The keyboard goes back to the view: from what is hidden it would go into the next field of the window."""
        focus = QApplication.focusWidget()
        if focus is not None and self.isAncestorOf(focus):
            self._over.setFocus()

    def set_fact(self, fact: str) -> None:
        """What is to be known meanwhile, such as the freedoms that are left."""
        self.fact.setText(fact)
        self.fact.setVisible(bool(fact))
        self._place(self.isVisible())

    def set_buttons(self, buttons: Sequence[QWidget]) -> None:
        """Widgets for choices, before the cross; those of before go."""
        if self._buttons.count():
            self._give_focus_back()
        clear(self._buttons)
        for button in buttons:
            self._buttons.addWidget(button)
            button.show()
        self._place()

    def _write(self, only_present: bool) -> None:
        muted = theme.current().muted
        parts = []
        for number, step in enumerate(self._steps):
            shown = f"{number + 1}&nbsp;{step}" if len(self._steps) > 1 else step
            if number == self._present:
                parts.append(f"<b>{shown}</b>")
            elif not only_present:
                parts.append(f"<span style='color:{muted}'>{shown}</span>")
        self.text.setText("&nbsp; – &nbsp;".join(parts))

    def _place(self, keep_left: bool = False) -> None:
        """In the middle of the upper edge, beside the cube; where there is little room, the present step only.

        `keep_left` leaves it where it begins, if there is room for that.
        """
        room = self._over.width() - 2 * CUBE
        for only_present in (False, True):
            self._write(only_present)
            self._row.activate()
            width = self.sizeHint().width()
            if width <= room:
                break
        width = min(width, self._over.width() - CUBE - 24)
        left = self.x() if keep_left else (self._over.width() - width) // 2
        left = max(12, min(left, self._over.width() - CUBE - width))
        self.setGeometry(left, 10, width, self.sizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False
