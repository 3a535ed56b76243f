"""The bar below the view while the model runs live: pause, step, factor, how fast it is; and what becomes of it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QToolButton, QWidget

from ..widgets.icons import set_icon
from ..widgets.labels import ElidedLabel
from .live import Live
from .playback import SPEEDS


class LiveBar(QWidget):
    """Controls of `Live`; seen while it is on, and until what was seen is kept or left."""

    def __init__(self, live: Live, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("live_bar")
        self.live = live
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 8, 2)
        row.setSpacing(4)
        self.pause = self._tool("live_pause", "pause", "Pause, or go on (Space)", live.toggle)
        self.step = self._tool("live_step", "step_forward", "One step of the solver (.)", live.step)
        self.again = self._tool("live_again", "rewind", "Begin again (Home)", live.begin_again)
        self.factor = QComboBox(self)
        self.factor.setObjectName("live_factor")
        self.factor.setToolTip("Time in the motion per time on the wall that is wanted")
        self.factor.setAccessibleName("Speed")
        for speed in SPEEDS:
            self.factor.addItem(f"{speed:g}×", speed)
        self.factor.activated.connect(lambda _: live.set_factor(self.factor.currentData()))
        self.words = ElidedLabel(self)
        self.words.setObjectName("live_words")
        self.keep = QPushButton("Keep as a run", self)
        self.keep.setObjectName("live_keep")
        self.keep.setProperty("primary", True)
        self.keep.setToolTip("Make a run of what was seen, to be played, plotted and saved")
        self.keep.clicked.connect(live.keep)
        self.leave = QPushButton("Leave it", self)
        self.leave.setObjectName("live_leave")
        self.leave.setToolTip("What was seen is not wanted")
        self.leave.clicked.connect(live.leave)
        self.end = QPushButton("End", self)
        self.end.setObjectName("live_end")
        self.end.setToolTip("End Live; what was seen can be kept then")
        self.end.clicked.connect(live.stop)
        for widget in (self.pause, self.step, self.again, self.factor):
            row.addWidget(widget)
        row.addSpacing(6)
        row.addWidget(self.words, 1)
        for button in (self.keep, self.leave, self.end):
            row.addWidget(button)
        live.changed.connect(self._show)
        live.framed.connect(self._show_frame)
        self._show()

    def _tool(self, name: str, picture: str, tip: str, call: Any) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setToolTip(tip)
        button.setAccessibleName(tip.split(" (")[0])
        button.setIconSize(QSize(20, 20))
        set_icon(button, picture)
        button.clicked.connect(lambda _: call())
        return button

    @property
    def wanted(self) -> bool:
        """Whether there is anything to be seen here."""
        return self.live.on or self.live.seen is not None

    def _show(self) -> None:
        live = self.live
        self.setVisible(self.wanted)
        for widget in (self.pause, self.step, self.again, self.factor, self.end):
            widget.setVisible(live.on)
        for button in (self.keep, self.leave):
            button.setVisible(live.seen is not None)
        set_icon(self.pause, "play" if live.paused else "pause")
        self.factor.setCurrentIndex(self.factor.findData(live.factor))
        if live.on and live.frame is None:
            self.words.setText("Starting…")
        elif live.on:
            self._show_frame()
        elif live.seen is not None:
            why = " It ended by itself; see Messages." if live.seen.reason else ""
            t = live.frame.t if live.frame is not None else 0.0
            self.words.setText(f"Seen live: {t:.4g} s.{why}")

    def _show_frame(self, _: object = None) -> None:
        frame = self.live.frame
        if frame is None:
            return
        pulled = f"   pulled with {frame.force:.3g} N" if frame.force is not None else ""
        speed = "pauses" if self.live.paused else told(frame.rate)
        self.words.setText(f"t = {frame.t:.2f} s   {speed}{pulled}")


def told(rate: float) -> str:
    """The real-time factor in words."""
    return f"{rate:.2f}× real time" if rate else "…× real time"
