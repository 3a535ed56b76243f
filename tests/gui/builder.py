"""Builds models in the window with the mouse, as a user does: actions of the menu, and clicks into the view."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gui.view.tools import pixels


class Builder:
    """Clicks through the window; points are global, bodies and joints are named."""

    def __init__(self, window: Any) -> None:
        self.window, self.view, self.document = window, window.view, window.document

    def spot(self, point: Any) -> QPoint:
        """The pixel of a global point."""
        full = np.zeros(3)
        full[: len(point)] = point
        self.view.rebuild_now()
        (found,) = pixels(self.view, [full])
        assert found is not None
        return found.toPoint()

    def click(self, point: Any) -> None:
        """Move to a point and click."""
        place = self.spot(point)
        QTest.mouseMove(self.view, place)
        QTest.mouseClick(self.view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        QApplication.processEvents()

    def start(self, action: str) -> None:
        """Choose an action of the menu."""
        entry = self.window.actions_[f"add_{action}"]
        assert entry.isEnabled(), action
        entry.trigger()
        assert self.window.modelling.placing.active

    def last(self) -> Any:
        """What was added."""
        assert not self.window.modelling.placing.active, self.window.modelling.guide.text.text()
        return self.document.selection

    def link(self, one: Any, other: Any) -> Any:
        self.start("link")
        self.click(one)
        self.click(other)
        return self.last()

    def body(self, preset: str, at: Any) -> Any:
        self.start(preset)
        self.click(at)
        return self.last()

    def joint(self, name: str, first: Any, second: Any, at: Any, axis: str | None = None) -> Any:
        """Bodies are clicked by points on them (beside all is the ground)."""
        self.start(name)
        self.click(first)
        self.click(second)
        self.click(at)
        self.choose_axis(axis)
        return self.last()

    def two_points(self, name: str, first: Any, second: Any, axis: str | None = None) -> Any:
        self.start(name)
        self.click(first)
        self.click(second)
        self.choose_axis(axis)
        return self.last()

    def choose_axis(self, axis: str | None) -> None:
        """Take the proposed axis, or another."""
        placing = self.window.modelling.placing
        if not placing.active or placing.pick != "axis":
            return
        choice = self.window.modelling.guide.findChild(object, "axis_choice")
        if axis is not None:
            choice.setCurrentIndex(choice.findText(f"Axis: {axis}"))
        button = self.window.modelling.guide.findChild(object, "add_element")
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def slider_crank(builder: Builder) -> None:
    """A slider-crank in the plane, from nothing: crank from (0, 0) to (0.2, 0.2), rod to a block at (0.6, 0)."""
    builder.link((0.0, 0.0), (0.2, 0.2))
    builder.link((0.2, 0.2), (0.6, 0.0))
    builder.body("box", (0.6, 0.0))
    beside = (0.0, -0.25)
    builder.joint("RevoluteJoint", beside, (0.1, 0.1), (0.0, 0.0))
    builder.joint("RevoluteJoint", (0.1, 0.1), (0.4, 0.1), (0.2, 0.2))
    builder.joint("RevoluteJoint", (0.4, 0.1), (0.62, 0.0), (0.6, 0.0))
    builder.joint("TranslationalJoint", beside, (0.62, 0.0), (0.6, 0.0), axis="x")
