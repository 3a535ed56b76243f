"""The timeline below the view: play, step, scrub, speed, and how far a run has got."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from ..document.document import Document
from ..widgets import theme
from ..widgets.icons import set_icon
from .playback import SPEEDS, Player

KNOB: Final = 7.0
EDGE: Final = 12.0
"""Pixels left and right of the track, where half the knob and half a number have room."""


class Scrubber(QWidget):
    """A line from the beginning to the end of a run with the instant that is shown; drag or use the arrow keys."""

    moved = Signal(float)
    stepped = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("scrubber")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setAccessibleName("Time")
        self._span = (0.0, 0.0)
        self._expected = 0.0
        self._time = 0.0
        self._hover: float | None = None

    def sizeHint(self) -> QSize:
        return QSize(300, 34)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 34)

    @property
    def end(self) -> float:
        """Where the line ends, s: with the run, or where it will end."""
        return max(self._span[1], self._expected)

    def set_span(self, start: float, end: float, expected: float | None = None) -> None:
        """The instants that are there, s, and the one at which a run that still computes will end."""
        self._span, self._expected = (start, end), end if expected is None else expected
        self.setEnabled(end > start)
        self.update()

    def set_time(self, t: float) -> None:
        """The instant that is shown, s."""
        if t != self._time:
            self._time = t
            self.update()

    def x_of(self, t: float) -> float:
        """The pixel of an instant."""
        start, end = self._span[0], self.end
        share = (t - start) / (end - start) if end > start else 0.0
        return EDGE + min(max(share, 0.0), 1.0) * (self.width() - 2.0 * EDGE)

    def time_at(self, x: float) -> float:
        """The instant of a pixel, of those that are there."""
        share = (x - EDGE) / max(self.width() - 2.0 * EDGE, 1.0)
        t = self._span[0] + share * (self.end - self._span[0])
        return min(max(t, self._span[0]), self._span[1])

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        y = 12.0
        track = QRectF(EDGE, y - 2.0, self.width() - 2.0 * EDGE, 4.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.color("hover"))
        painter.drawRoundedRect(track, 2.0, 2.0)
        if self._span[1] > self._span[0]:
            self._paint_ticks(painter, y)
            painter.setPen(Qt.PenStyle.NoPen)
            there = QRectF(track.left(), track.top(), self.x_of(self._span[1]) - track.left(), track.height())
            painter.setBrush(theme.mixed(look.muted, look.surface, 0.45))
            painter.drawRoundedRect(there, 2.0, 2.0)
            passed = QRectF(track.left(), track.top(), self.x_of(self._time) - track.left(), track.height())
            painter.setBrush(look.color("accent"))
            painter.drawRoundedRect(passed, 2.0, 2.0)
            rim = look.color("accent_hover") if self.hasFocus() else look.color("surface")
            painter.setPen(QPen(rim, 2.0))
            painter.drawEllipse(QPointF(self.x_of(self._time), y), KNOB, KNOB)
        painter.end()

    def _paint_ticks(self, painter: QPainter, y: float) -> None:
        """Numbers below the line, as many as have room."""
        font = self.font()
        font.setPointSizeF(max(6.5, font.pointSizeF() * 0.8))
        painter.setFont(font)
        painter.setPen(theme.current().color("muted"))
        for x, left, text in self.ticks(painter.fontMetrics()):
            painter.drawLine(QPointF(x, y + 5.0), QPointF(x, y + 7.5))
            painter.drawText(QPointF(left, y + 7.0 + painter.fontMetrics().ascent()), text)

    def ticks(self, metrics: QFontMetrics) -> Iterator[tuple[float, float, str]]:
        """Pixel of each mark, and its number with the pixel where that begins; none is cut at the end."""
        start, end = self._span[0], self.end
        count = max(1, int((self.width() - 2.0 * EDGE) / (metrics.horizontalAdvance("0.0000") + 26)))
        step = nice_step((end - start) / count)
        t = np.ceil(start / step - 1e-9) * step
        while t <= end + 1e-9 * step:
            x, text = self.x_of(float(t)), f"{t + 0.0:.6g}"
            width = metrics.horizontalAdvance(text)
            yield x, min(max(x - 0.5 * width, 0.0), self.width() - width), text
            t += step

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.moved.emit(self.time_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        t = self.time_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.moved.emit(t)
        self.setToolTip(f"{t:.4g} s")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageDown: -10, Qt.Key.Key_PageUp: 10}
        if event.key() in keys:
            self.stepped.emit(keys[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Home:
            self.moved.emit(self._span[0])
        elif event.key() == Qt.Key.Key_End:
            self.moved.emit(self._span[1])
        else:
            super().keyPressEvent(event)


def nice_step(raw: float) -> float:
    """The next of 1, 2, 5 times a power of ten that is not below a number."""
    power = 10.0 ** np.floor(np.log10(raw))
    return float(next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= raw * (1.0 - 1e-9)))


class Timeline(QWidget):
    """The controls of a `Player`."""

    def __init__(self, document: Document, player: Player, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.document, self.player = document, player
        self.scrubber = Scrubber(self)
        self.rewind_button = self._button("rewind", "To the beginning (Home)", player.rewind)
        self.back_button = self._button("step_back", "Back one instant (,)", lambda: player.step(-1))
        self.play_button = self._button("play", "Play or pause (Space)", player.toggle)
        self.forward_button = self._button("step_forward", "On by one instant (.)", lambda: player.step(1))
        self.loop_button = self._button("loop", "Begin again at the end (L)", self._set_loop)
        self.loop_button.setCheckable(True)
        self.loop_button.setChecked(player.loop)
        self.time_label = QLabel(self)
        self.time_label.setObjectName("time_label")
        self.time_label.setMinimumWidth(self.fontMetrics().horizontalAdvance("0000.000 s / 0000 s"))
        self.time_label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.speed_box = QComboBox(self)
        self.speed_box.setObjectName("speed")
        self.speed_box.setToolTip("How fast it is played: time in the run per second")
        self.speed_box.setAccessibleName("Playback speed")
        for speed in SPEEDS:
            self.speed_box.addItem(f"{speed:g}×", speed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 3, 10, 3)
        layout.setSpacing(2)
        for widget in (self.rewind_button, self.back_button, self.play_button, self.forward_button, self.loop_button):
            layout.addWidget(widget)
        layout.addSpacing(4)
        layout.addWidget(self.scrubber, 1)
        layout.addWidget(self.time_label)
        layout.addSpacing(8)
        layout.addWidget(self.speed_box)
        self._connect()
        self._refresh()

    def _connect(self) -> None:
        self.scrubber.moved.connect(self._scrub)
        self.scrubber.stepped.connect(self.player.step)
        self.speed_box.activated.connect(lambda index: self.player.set_speed(self.speed_box.itemData(index)))
        self.player.playing_changed.connect(lambda playing: set_icon(self.play_button, "pause" if playing else "play"))
        self.player.speed_changed.connect(self._show_speed)
        self.player.span_changed.connect(self._refresh)
        self.document.time_changed.connect(self._show_time)
        self.document.runs.current_changed.connect(self._refresh)
        self.document.runs.changed.connect(self._refresh)
        theme.changed().connect(self._refresh)

    def _button(self, name: str, tip: str, call: object) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(f"{name}_button")
        button.setToolTip(tip)
        button.setAccessibleName(tip.split(" (")[0])
        button.setIconSize(QSize(20, 20))
        set_icon(button, name)
        button.clicked.connect(call)
        return button

    def _set_loop(self) -> None:
        self.player.loop = self.loop_button.isChecked()

    def _scrub(self, t: float) -> None:
        self.player.pause()
        self.player.seek(t)

    def _refresh(self, *_: object) -> None:
        run = self.document.runs.current
        start, end = self.player.span
        expected = run.settings.t_end if run is not None and run.computing else end
        self.scrubber.set_span(start, end, max(expected, end))
        for widget in (self.rewind_button, self.back_button, self.play_button, self.forward_button):
            widget.setEnabled(self.player.can_play)
        self._show_speed(self.player.speed)
        self._show_time(self.document.time)

    def _show_speed(self, speed: float) -> None:
        index = self.speed_box.findData(speed)
        if index < 0:
            self.speed_box.addItem(f"{speed:g}×", speed)
            index = self.speed_box.count() - 1
        self.speed_box.setCurrentIndex(index)

    def _show_time(self, t: float) -> None:
        self.scrubber.set_time(t)
        if not self.player.can_play:
            self.time_label.setText("No motion yet")
            return
        end = self.scrubber.end
        digits = int(np.clip(3 - np.floor(np.log10(end)), 0, 6)) if end > 0.0 else 3
        self.time_label.setText(f"{t:.{digits}f} / {end:g} s")
