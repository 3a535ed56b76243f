"""A user for tests and scripts: finds widgets by name, moves the mouse and types, in the process of the application.

With `real=True` events come from the X server, sent by xdotool, as those of a person do; otherwise from Qt itself.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFileDialog,
    QLineEdit,
    QTabWidget,
    QToolBar,
    QWidget,
)

SECONDS = 120.0
KEYS = {"Return": Qt.Key.Key_Return, "Escape": Qt.Key.Key_Escape, "space": Qt.Key.Key_Space, "Tab": Qt.Key.Key_Tab}


class NotFoundError(AssertionError):
    """There is no such widget, or not yet."""


class Robot:
    """Drives the windows of this process."""

    def __init__(self, window: QWidget, *, real: bool = False) -> None:
        self.window = window
        self.real = real
        self._mouse: QPoint | None = None

    # ---- Waiting --------------------------------------------------------------------------------------------------

    def pause(self, seconds: float = 0.05) -> None:
        """Let the event loop run for a while."""
        QTest.qWait(max(1, round(1000 * seconds)))

    def until(self, condition: Callable[[], Any], seconds: float = SECONDS, what: str = "") -> Any:
        """Let the event loop run until something is so; returns what the condition gave."""
        end = time.monotonic() + seconds
        while True:
            found = condition()
            if found:
                return found
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds:g} s: {what or getattr(condition, '__name__', 'a condition')}")
            QTest.qWait(10)

    # ---- Finding --------------------------------------------------------------------------------------------------

    def find(self, name: str, seconds: float = SECONDS) -> Any:
        """The visible widget with an object name; waits until there is one."""
        try:
            return self.until(lambda: self._visible(name), seconds)
        except TimeoutError:
            raise NotFoundError(f"there is no visible widget {name!r}") from None

    def _visible(self, name: str) -> QWidget | None:
        for top in [self.window, *QApplication.topLevelWidgets()]:
            candidates = [top, *top.findChildren(QWidget, name)]
            for widget in candidates:
                if widget.objectName() == name and widget.isVisible():
                    return widget
        return None

    # ---- Mouse ----------------------------------------------------------------------------------------------------

    def click(self, target: str | QWidget, at: QPoint | None = None, *, double: bool = False) -> Any:
        """Click a widget in its middle, or at a point of it."""
        widget = self.find(target) if isinstance(target, str) else target
        place = at if at is not None else widget.rect().center()
        if self.real:
            self._move(widget, place)
            self._x("click", "--repeat", "2" if double else "1", "--delay", "60", "1")
        elif double:
            QTest.mouseDClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        else:
            QTest.mouseClick(widget, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        self.pause()
        return widget

    def drag(self, target: str | QWidget, start: QPoint, end: QPoint, steps: int = 8) -> None:
        """Press at a point of a widget, move to another, and release."""
        widget = self.find(target) if isinstance(target, str) else target
        points = [start + (end - start) * k / steps for k in range(1, steps + 1)]
        if self.real:
            self._move(widget, start)
            self._x("mousedown", "1")
            for point in points:
                self._move(widget, point)
            self._x("mouseup", "1")
        else:
            left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
            QTest.mousePress(widget, left, none, start)
            for point in points:
                QTest.mouseMove(widget, point)
                QTest.qWait(5)
            QTest.mouseRelease(widget, left, none, end)
        self.pause()

    def move(self, widget: QWidget, place: QPoint) -> None:
        """Point at a place of a widget."""
        if self.real:
            self._move(widget, place)
        else:
            QTest.mouseMove(widget, place)
        self.pause()

    def _move(self, widget: QWidget, place: QPoint) -> None:
        there = widget.mapToGlobal(place)
        if there != self._mouse:  # it would wait for a motion that does not come
            self._x("mousemove", "--sync", str(there.x()), str(there.y()))
            self._mouse = there
        self.pause(0.03)

    # ---- Keyboard -------------------------------------------------------------------------------------------------

    def key(self, name: str, target: QWidget | None = None) -> None:
        """Press a key, by its X name: "Return", "ctrl+z", "F5"."""
        if self.real:
            self._focus()
            self._x("key", name)
        else:
            from PySide6.QtGui import QKeySequence

            sequence = QKeySequence("+".join(part.capitalize() for part in name.split("+")))
            combination = sequence[0]
            widget = target or QApplication.focusWidget() or self.window
            QTest.keyClick(widget, KEYS.get(name, combination.key()), combination.keyboardModifiers())
        self.pause(0.08)

    def write(self, text: str, target: QWidget) -> None:
        """Replace the text of a field."""
        if self.real:
            self._focus()
            self._x("key", "ctrl+a")
            self._x("type", "--delay", "8", "--", text)
        else:
            target.setFocus()
            if hasattr(target, "selectAll"):
                target.selectAll()
            QTest.keyClicks(target, text)
        self.pause()

    def _focus(self) -> None:
        """Without a window manager nobody gives a window the keyboard."""
        active = QApplication.activeModalWidget() or QApplication.activeWindow() or self.window
        if QApplication.activeWindow() is None:
            self._x("windowfocus", "--sync", str(int(active.window().winId())))

    # ---- Dialogs, bars, lists -------------------------------------------------------------------------------------

    def answer_file_dialog(self, path: Path, seconds: float = SECONDS) -> None:
        """Give a file dialog that is about to open its answer. Its call waits for it, so the answer is prepared."""
        end = time.monotonic() + seconds
        answered: list[QFileDialog] = []

        def answer() -> None:
            dialog = QApplication.activeModalWidget()
            if isinstance(dialog, QFileDialog):
                answered.append(dialog)
                field = dialog.findChild(QLineEdit, "fileNameEdit")
                self.click(field)
                field.selectAll()
                self.write(str(path), field)
                self.key("Return", field)
                QTimer.singleShot(1000, once_more)
            elif time.monotonic() < end:
                QTimer.singleShot(50, answer)

        def once_more() -> None:
            """A list of completions that opens in between takes the key."""
            if QApplication.activeModalWidget() in answered:
                answer()

        QTimer.singleShot(50, answer)

    def tab(self, tabs: QTabWidget, title: str) -> None:
        """Click a tab."""
        index = next(k for k in range(tabs.count()) if tabs.tabText(k) == title)
        self.click(tabs.tabBar(), tabs.tabBar().tabRect(index).center())

    def tool(self, bar: QToolBar, action: QAction) -> None:
        """Click an action in a toolbar."""
        self.click(bar.widgetForAction(action))

    def item(self, view: QAbstractItemView, text: str) -> None:
        """Click the row with a text in a list or tree."""
        model = view.model()
        flags = Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive
        found = model.match(model.index(0, 0), Qt.ItemDataRole.DisplayRole, text, 1, flags)
        if not found:
            raise NotFoundError(f"there is no row {text!r} in {view.objectName()!r}")
        view.scrollTo(found[0])
        self.pause()
        self.click(view.viewport(), view.visualRect(found[0]).center())

    # ---- Looking --------------------------------------------------------------------------------------------------

    def shot(self, path: Path) -> Path:
        """A picture of the screen, as a person sees it."""
        self.pause(0.1)
        path.parent.mkdir(parents=True, exist_ok=True)
        geometry = self.window.frameGeometry()
        picture = self.window.screen().grabWindow(0, geometry.x(), geometry.y(), geometry.width(), geometry.height())
        if not picture.save(str(path)):
            raise OSError(f"{path} could not be written")
        return path

    def _x(self, *arguments: str) -> None:
        subprocess.run(["xdotool", *arguments], check=True, timeout=120)
        self.pause(0.02)
