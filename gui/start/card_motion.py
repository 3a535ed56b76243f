"""The motion of an example on its card, drawn while the mouse rests there: nothing of it is stored as a film."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PySide6.QtCore import QElapsedTimer, QObject, QTimer
from PySide6.QtGui import QImage

import mbframe as mb

from ..base.turns import Turns, single_shot
from ..document.runs import load
from ..document.track import Track
from ..playing.playback import fitting_speed
from ..widgets import theme

if TYPE_CHECKING:
    from .gallery import Card

PAUSE: Final = 150
"""Milliseconds that the mouse rests on a card before its motion begins."""
INTERVAL: Final = 50
"""Milliseconds between pictures."""
FINER: Final = 2
"""Pictures have so many pixels for each of the card, each way: that smooths their edges."""
MOMENTS: Final = 20
"""Instants that the frame of the pictures has to hold."""
DETAIL: Final = 0.5
"""Share of the usual number of triangles: the pictures are small."""


class CardMotion(QObject):
    """Plays the motion of one card at a time, again and again, in pictures that the card paints.

    It goes on from the card's picture, which is framed like those of the motion.
    It is prepared piece by piece, so that the page can be scrolled meanwhile. Nothing happens before `enabled`: what
    draws is imported beside the window.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.enabled = False
        self.card: Card | None = None
        self._canvas: mb.render.Canvas | None = None
        self._track: Track | None = None
        self._clock = QElapsedTimer()
        self._turns = Turns(self)
        self._soon = single_shot(self, self._begin, PAUSE)
        self._timer = QTimer(self)
        self._timer.setInterval(INTERVAL)
        self._timer.timeout.connect(self._draw)

    def play(self, card: Card) -> None:
        """The mouse came to a card."""
        self.stop()
        if self.enabled:
            self.card = card
            self._soon.start()

    def stop(self) -> None:
        """It left: the card shows its picture again."""
        self._soon.stop()
        self._turns.stop()
        self._timer.stop()
        card, self.card, self._track = self.card, None, None
        if card is not None:
            card.show_motion(None)

    def close(self) -> None:
        """Free what VTK holds."""
        self.stop()
        if self._canvas is not None:
            self._canvas.close()
            self._canvas = None

    def _begin(self) -> None:
        self._turns.start(self._preparation())

    def _preparation(self) -> Iterator[None]:
        card = self.card
        assert card is not None
        one = card.exhibit
        try:
            track = Track(load(one.result))
            yield
            yield from track.preparation()
            motion = track.sampled(MOMENTS)
            yield
            if self._canvas is None:
                self._canvas = mb.render.Canvas()
                yield
            width, height = card.picture_size()
            self._canvas.resize(FINER * width, FINER * height)
            options: dict[str, Any] = {"theme": theme.current().name, "follow": one.follow or None, "detail": DETAIL}
            scene = self._canvas.draw_system(track.result.described, motion=motion, **options)
            scene.view(one.view)
        except (mb.MbframeError, OSError) as error:  # the card keeps its picture
            print(f"mbframe: the motion of {one.name} is not shown: {error}", file=sys.stderr)
            return
        yield
        self._track = track
        self._clock.invalidate()
        self._timer.start()

    def _draw(self) -> None:
        if self._track is None or self._canvas is None or self._canvas.scene is None or self.card is None:
            return
        if not self._clock.isValid():  # the first picture, however late it comes, is at the instant of the card's
            self._clock.start()
        start, end = self._track.span
        one, length = self.card.exhibit, end - start
        passed = self._clock.elapsed() / 1000.0 * (one.speed or fitting_speed(length))
        self._canvas.scene.show(self._track.state(start + (one.picture_at * length + passed) % length))
        pixels = np.ascontiguousarray(self._canvas.image()[::-1])
        height, width, _ = pixels.shape
        self.card.show_motion(QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBX8888).copy())
