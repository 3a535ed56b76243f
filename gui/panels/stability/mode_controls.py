"""Play a mode: how far, how fast, with or without its growth."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QSlider, QToolButton, QWidget

from ...widgets import icons
from ...widgets.arranging import letters
from .mode_player import ModePlayer

OCTAVES = 6
"""The speed goes from 2^-6 to 2^6 times real time."""
PART = 4  # slider steps per octave
WIDE, NARROW = 64, 46  # letters: below the first the names of the sliders are left away, below the second it scrolls


class ModeControls(QWidget):
    """Buttons and sliders of a `ModePlayer`."""

    def __init__(self, player: ModePlayer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.player = player
        self.play = QToolButton()
        self.play.setObjectName("mode_play")
        self.play.setCheckable(True)
        self.play.setToolTip("Let the selected mode move, or stop it")
        self.play.setAccessibleName("Play the mode")
        icons.set_icon(self.play, "play")
        self.amplitude = _slider("mode_amplitude", "How far the bodies move", 5, 300, 100)
        self.speed = _slider("mode_speed", "How fast the mode is shown", -PART * OCTAVES, PART * OCTAVES, 0)
        self.speed_label = QLabel()
        self.speed_label.setObjectName("mode_speed_label")
        self.speed_label.setProperty("role", "muted")
        self.speed_label.setMinimumWidth(self.speed_label.fontMetrics().horizontalAdvance("0.125× real"))
        self.growth = QCheckBox("Growth")
        self.growth.setObjectName("mode_growth")
        self.growth.setToolTip("Let the motion grow or die out as the root says; otherwise it keeps its size")

        row = QHBoxLayout(self)
        row.setContentsMargins(8, 2, 4, 2)
        row.setSpacing(4)
        row.addWidget(self.play)
        self._captions = [_caption(text) for text in ("Size", "Speed")]
        row.addWidget(self._captions[0])
        row.addWidget(self.amplitude, 1)
        row.addWidget(self._captions[1])
        row.addWidget(self.speed, 1)
        row.addWidget(self.speed_label)
        row.addWidget(self.growth)
        self.setMinimumWidth(letters(self, NARROW))

        self.play.clicked.connect(lambda: player.toggle())
        self.amplitude.valueChanged.connect(lambda percent: player.set_scale(percent / 100.0))
        self.speed.valueChanged.connect(self._speed_moved)
        self.growth.toggled.connect(player.set_growth)
        player.playing_changed.connect(self._playing)
        self._speed_moved(0)
        self.setEnabled(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room the sliders do without their names, which tooltips say as well."""
        super().resizeEvent(event)
        narrow = self.width() < letters(self, WIDE)
        for caption in self._captions:
            caption.setHidden(narrow)

    def new_mode(self) -> None:
        """Another mode was selected: a speed at which it is seen well."""
        self.setEnabled(self.player.row is not None)
        self.speed.setValue(round(PART * math.log2(self.player.suitable_speed())))

    def _speed_moved(self, step: int) -> None:
        self.player.speed = 2.0 ** (step / PART)
        self.speed_label.setText("real time" if step == 0 else f"{self.player.speed:.3g}× real")

    def _playing(self, playing: bool) -> None:
        self.play.setChecked(playing)
        icons.set_icon(self.play, "pause" if playing else "play")


def _slider(name: str, words: str, low: int, high: int, value: int) -> QSlider:
    slider = QSlider(Qt.Orientation.Horizontal)
    slider.setObjectName(name)
    slider.setToolTip(words)
    slider.setAccessibleName(words)
    slider.setRange(low, high)
    slider.setValue(value)
    slider.setMinimumWidth(30)
    return slider


def _caption(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "muted")
    return label
