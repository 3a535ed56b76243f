"""What of the window follows a model that runs live: its button, the bar below the view, and what plays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QToolBar, QToolButton

from ..playing.live_bar import LiveBar
from ..widgets.icons import set_icon

if TYPE_CHECKING:
    from .window import MainWindow


class LiveParts(QObject):
    """Live in the main window. The keys that play a run are those of the model that runs live while it does."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.window, self.live = window, window.live
        self.bar = LiveBar(self.live)
        self.button = QToolButton()
        self.button.setObjectName("toolbar_live")
        self.button.setText("Live")
        self.button.setToolTip("Run the model in real time: pull at it, move its numbers (F6)")
        self.button.clicked.connect(self.switch)

    def follow(self) -> None:
        """All parts of the window are there."""
        self.live.changed.connect(self._follow)
        self.window.status.follow_live(self.live)
        self._follow()

    def add_button(self, bar: QToolBar) -> None:
        """Put the button into the toolbar."""
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setCheckable(True)
        set_icon(self.button, "live")
        bar.addWidget(self.button)

    def switch(self) -> None:
        """Begin, or end."""
        if self.live.on:
            self.live.stop()
        elif self.window.model_shown and not self.window.runner.running:
            self.window.modelling.cancel()
            self.window.modelling.set_pull(False)
            self.live.start()
        self._follow()

    def _follow(self) -> None:
        on = self.live.on
        self.button.setChecked(on)
        self.window.timeline.setVisible(not self.bar.wanted)
        self.window.actions_.check("live", on)
        set_icon(self.window.actions_["play"], "pause" if self.live.running or self.window.player.playing else "play")
        self.window.show_what_can_be_done()

    # --- the keys that play -------------------------------------------------------------------------------------------

    def toggle(self) -> None:
        """Pause, or go on."""
        self.live.toggle() if self.live.on else self.window.player.toggle()

    def step(self, count: int) -> None:
        """By one step on; a model that runs does not go back."""
        if not self.live.on:
            self.window.player.step(count)
        elif count > 0:
            self.live.step()

    def rewind(self) -> None:
        """To the beginning."""
        self.live.begin_again() if self.live.on else self.window.player.rewind()
