"""A user who does anything: menus, keys, clicks, drags, edits, undo and redo, runs, other models. From a seed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QMessageBox

import mbframe as mb

EXAMPLES = ("four_bar", "slider_crank", "simple_pendulum", "rolling_disk", "bricard")
LEFT_OUT = {
    *("quit", "open", "save", "save_as", "export", "picture", "method", "help", "shortcuts", "about", "gallery"),
    *("colour", "add_mesh", "reset_layout", "run", "new_spatial", "new_planar", "rename"),
}
"""Actions that open dialogs, or that the monkey does in its own way."""
PATIENCE = 200
"""Milliseconds after which it leaves a question that an action waits for."""


class Monkey:
    """Acts at random on a window; `log` is what it did, `pauses` how long the event loop stood still, s.

    `busy` is how long the window's thread computed in each pause: less where other programs had the processor.
    """

    def __init__(self, window: Any, seed: int) -> None:
        self.window, self.document, self.view = window, window.document, window.view
        self.random = random.Random(seed)
        self.log: list[str] = []
        self.pauses: list[float] = []
        self.busy: list[float] = []
        self._done: list[int] = []
        self._last, self._spent = time.monotonic(), time.thread_time()
        self._heart = QTimer(window)
        self._heart.timeout.connect(self._beat)
        self._heart.start(20)
        self._impatience = QTimer(window)  # an action that waits for an answer would wait forever
        self._impatience.timeout.connect(self._leave_questions)
        self._impatience.start(PATIENCE)
        window.modelling.confirm_delete = lambda element: True
        window.panels["model"].confirm_delete = lambda element: True

    def _beat(self) -> None:
        now, spent = time.monotonic(), time.thread_time()
        self.pauses.append(now - self._last)
        self.busy.append(spent - self._spent)
        self._done.append(len(self.log))
        self._last, self._spent = now, spent

    def before_longest(self, count: int = 3) -> list[str]:
        """What it did last when the window had computed for longest."""
        done = self._done[self.busy.index(max(self.busy))]
        return self.log[max(0, done - count) : done]

    def act(self, count: int, each: Callable[[], None] = lambda: None) -> None:
        """Do so many things."""
        deeds = [
            *[self.trigger] * 6,
            *[self.click] * 5,
            *[self.drag] * 2,
            *[self.pull] * 2,
            *[self.edit] * 4,
            *[self.select] * 3,
            *[self.undo_or_redo] * 4,
            self.escape,
            self.run_or_cancel,
            self.another_model,
        ]
        for _ in range(count):
            deed = self.random.choice(deeds)
            self.log.append(deed.__name__)
            deed()
            QTest.qWait(self.random.choice((1, 1, 5, 20)))
            self._leave_dialogs()
            each()

    def _leave_dialogs(self) -> None:
        """Close menus, and leave dialogs one way or the other."""
        for widget in QApplication.topLevelWidgets():
            if widget.isVisible() and widget.inherits("QMenu"):
                widget.close()  # as Escape and a click beside it do
            elif widget.isVisible() and isinstance(widget, QDialog):
                self.random.choice((widget.accept, widget.reject, lambda: None))()

    def _leave_questions(self) -> None:
        """Say no to what waits for an answer: no file is written, and nothing is lost."""
        asking = QApplication.activeModalWidget()
        if isinstance(asking, QFileDialog | QMessageBox):
            self.log.append(f"left {asking.windowTitle()!r}")
            asking.reject()

    # ---- Deeds ----------------------------------------------------------------------------------------------------

    def trigger(self) -> None:
        """An action of the menus."""
        names = [name for name in self.window.actions_.entries if name not in LEFT_OUT and not name.startswith("theme")]
        action = self.window.actions_[self.random.choice(names)]
        self.log[-1] += f" {action.objectName()}"
        if action.isEnabled():
            action.trigger()

    def _place(self) -> QPoint:
        """A pixel of the view, more often one of a body."""
        bodies = list(self.document.system.bodies)
        if bodies and self.view.canvas is not None and self.random.random() < 0.6:
            from gui.view.tools import pixels

            (spot,) = pixels(self.view, [self.random.choice(bodies).motion.position])
            if spot is not None and self.view.rect().contains(spot.toPoint()):
                return spot.toPoint()
        return QPoint(self.random.randrange(self.view.width()), self.random.randrange(self.view.height()))

    def click(self) -> None:
        if self.window.model_shown:
            button = self.random.choice((Qt.MouseButton.LeftButton,) * 4 + (Qt.MouseButton.RightButton,))
            place = self._place()
            QTest.mouseMove(self.view, place)
            QTest.mouseClick(self.view, button, Qt.KeyboardModifier.NoModifier, place)

    def drag(self, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        if not self.window.model_shown:
            return
        start, end = self._place(), self._place()
        QTest.mousePress(self.view, Qt.MouseButton.LeftButton, modifier, start)
        for k in range(1, 6):
            QTest.mouseMove(self.view, start + (end - start) * k / 5)
            QTest.qWait(2)
        QTest.mouseRelease(self.view, Qt.MouseButton.LeftButton, modifier, end)

    def pull(self) -> None:
        self.drag(Qt.KeyboardModifier.AltModifier)

    def edit(self) -> None:
        """A number of an element becomes another one; what is refused stays."""
        elements = [element for element in self.document.system if element is not self.document.system.ground]
        if not elements:
            return
        element = self.random.choice(elements)
        names = [name for name, p in element.parameters().items() if p.kind in ("number", "point")]
        if not names:
            return
        name = self.random.choice(names)
        value = getattr(element, name)
        factor = self.random.choice((0.5, 0.9, 1.1, 2.0, -1.0))
        with suppress(mb.ModelError):
            self.document.set(element, **{name: None if value is None else np.multiply(value, factor).tolist()})

    def select(self) -> None:
        things = [None, self.document.system, *self.document.system]
        self.document.select(self.random.choice(things))

    def undo_or_redo(self) -> None:
        self.random.choice((self.document.undo, self.document.redo))()

    def escape(self) -> None:
        self.window.modelling.escape()

    def run_or_cancel(self) -> None:
        if self.window.runner.running:
            self.window.runner.cancel()
        else:
            self.document.runs.settings = self.document.runs.settings.changed(t_end=0.2)
            self.window.run()

    def another_model(self) -> None:
        self.document.abandon()  # so that nobody asks whether to save
        if self.random.random() < 0.3:
            self.window.files.new(self.random.choice((2, 3)))
        else:
            self.window.open_example(self.random.choice(EXAMPLES))
