"""A bar at the lower edge of the view in which the next point is typed: coordinates, or length and angle from the last.

What is not typed follows the mouse, so a length alone is kept while the mouse gives the direction. Two numbers fix a
point in a plane, whichever they are: a length and a height, for instance. A third one takes the place of the oldest.
Digits that are typed into the view go here; Enter places the point.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from ..fields.numbers import NumberEdit, short

Array = NDArray[np.float64]

UNITS: Final = {"x": "m", "y": "m", "z": "m", "length": "m", "angle": "rad"}
WIDTH: Final = 80
WIDEST: Final = 190
"""Pixels that a calculation may take while it is typed."""
MARGINS: Final = 22
"""Pixels of a field beside its text."""
ABOVE: Final = 34
"""Pixels below it, where the view writes the size of its grid."""
STARTS: Final = "0123456789.-"
"""Signs with which a number begins."""


class Measuring(QFrame):
    """The numbers of the point that is placed next."""

    entered = Signal()
    """Enter: the point is meant."""
    changed = Signal()
    """Another number was typed."""
    cancelled = Signal()

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self.setObjectName("measuring")
        self.setAttribute(Qt.WidgetAttribute.WA_NoMousePropagation)  # a click beside a number is none into the view
        self._over = over
        self._units: Any = None
        self._typed: list[str] = []
        """What was typed, the oldest first."""
        self._start: Array | None = None
        self._normal = np.array([0.0, 0.0, 1.0])
        self._labels: dict[str, QLabel] = {}
        self.edits: dict[str, NumberEdit] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 4)
        layout.setSpacing(4)
        for name, unit in UNITS.items():
            self._labels[name] = QLabel(name, self)
            edit = self.edits[name] = NumberEdit(unit, parent=self)
            edit.setObjectName(f"measuring_{name}")
            edit.setAccessibleName(name)
            edit.setFixedWidth(WIDTH)
            edit.textChanged.connect(self._widen)
            edit.typed.connect(lambda name=name: self._on_typed(name))
            edit.confirmed.connect(lambda gesture: self.entered.emit() if gesture is None else self.changed.emit())
            edit.escaped.connect(self.cancelled)
            layout.addWidget(self._labels[name])
            layout.addWidget(edit)
        self.hint = QLabel("Enter places it", self)
        self.hint.setProperty("role", "muted")
        layout.addWidget(self.hint)
        over.installEventFilter(self)
        self.hide()

    def begin(self, units: Any, dimension: int, start: Array | None, normal: Array) -> None:
        """Ask for a point; `start` is the one before, from which length and angle in the plane of `normal` count."""
        self._units, self._start, self._normal = units, start, np.asarray(normal, float)
        self._typed.clear()
        for name, edit in self.edits.items():
            shown = (name != "z" or dimension == 3) and (name in "xyz" or start is not None)
            edit.set_unit(UNITS[name], units)
            edit.setText("")
            edit.set_value(None)
            self._labels[name].setText(f"{name}, {units.label(UNITS[name])}")
            self._labels[name].setVisible(shown)
            edit.setVisible(shown)
        typing = self.isVisible() and self.focusWidget() is not None and self.focusWidget().hasFocus()
        self.show()
        self._place()
        self.raise_()
        if typing:  # the last point was typed: the next one may be, too
            self._first.setFocus()

    @property
    def _first(self) -> NumberEdit:
        """Where typing begins."""
        return self.edits["length" if self._start is not None else "x"]

    def end(self) -> None:
        """No point is asked for any more."""
        if self.focusWidget() is not None and self.focusWidget().hasFocus():
            self._over.setFocus()
        self._typed.clear()
        self.hide()

    @property
    def typed(self) -> bool:
        """Whether any number was typed."""
        return bool(self._typed)

    @property
    def finished(self) -> bool:
        """Whether all that was typed can be read: not so in the middle of `0.1*cos(60 deg)`."""
        try:
            for name in self._typed:
                self.edits[name].read()
        except ValueError:
            return False
        return True

    def follow(self, point: Array) -> None:
        """The mouse is at a point: numbers that were not typed are those of the point that is meant then."""
        try:
            meant = self.point(point)
        except ValueError:
            return
        for name, value in zip("xyz", meant, strict=True):
            self._show(name, float(value))
        if self._start is not None:
            length, angle = self._polar(meant - self._start)
            self._show("length", length)
            self._show("angle", angle)

    def point(self, free: Array) -> Array:
        """The point that is meant where the mouse is at `free`.

        A text that is no number, and numbers that no point has, are a `ValueError`.
        """
        given = {name: value for name in self._typed if (value := self.edits[name].read()) is not None}
        meant = np.array(free, float)
        from_start = self._start is not None and not given.keys().isdisjoint(("length", "angle"))
        if from_start:
            out = self._out_of_plane
            meant[out] = self._start[out]  # type: ignore[index]
        for k, name in enumerate("xyz"):
            meant[k] = given.get(name, meant[k])
        return self._from_start(meant, given) if from_start else meant

    def _from_start(self, meant: Array, given: dict[str, float]) -> Array:
        """A point of which the length or the angle from the start is given, and perhaps a coordinate in the plane."""
        assert self._start is not None
        e1, e2 = plane_axes(self._normal)
        arm = meant - self._start
        across, length, angle = arm @ (e1 + 1j * e2), given.get("length"), given.get("angle")
        reach, out = float(abs(across)), arm[self._out_of_plane]
        if length is not None:
            if length < abs(out):
                raise ValueError(f"A length of {self._shown('length', length)} does not reach that far.")
            reach = float(np.sqrt(length**2 - out**2))
        fixed = next((axis for axis in (e1, e2) if "xyz"[int(np.argmax(axis))] in given), None)
        if fixed is None:
            turn = float(np.angle(across)) if angle is None else angle
            return meant + (reach * np.cos(turn) - arm @ e1) * e1 + (reach * np.sin(turn) - arm @ e2) * e2
        other, offset = (e2 if fixed is e1 else e1), float(arm @ fixed)
        name = "xyz"[int(np.argmax(fixed))]
        if angle is None:
            if reach < abs(offset):
                at, far = self._shown(name, given[name]), self._shown("length", float(length or 0.0))
                raise ValueError(f"A length of {far} does not reach {name} = {at}.")
            side = float(np.copysign(np.sqrt(reach**2 - offset**2), arm @ other))
        else:
            along = np.array([np.cos(angle), np.sin(angle)])[:: 1 if fixed is e1 else -1]
            if offset * along[0] < 0.0 or abs(along[0]) < 1e-12 < abs(offset):
                raise ValueError(f"In that direction there is no {name} = {self._shown(name, given[name])}.")
            side = float(offset / along[0] * along[1]) if offset else 0.0
        return meant + (side - float(arm @ other)) * other

    @property
    def _out_of_plane(self) -> int:
        """The axis that points out of the plane."""
        return int(np.argmax(np.abs(self._normal)))

    def _shown(self, name: str, value: float) -> str:
        """A number with its unit, for a sentence."""
        assert self._units is not None
        return f"{short(self._units.to_display(value, UNITS[name]))} {self._units.label(UNITS[name])}"

    def _polar(self, arm: Array) -> tuple[float, float]:
        e1, e2 = plane_axes(self._normal)
        return float(np.linalg.norm(arm)), float(np.arctan2(arm @ e2, arm @ e1)) if np.any(arm) else 0.0

    def _show(self, name: str, value: float) -> None:
        if name not in self._typed:
            self.edits[name].set_value(round(value, 12) + 0.0)  # no rounding errors
            if self.edits[name].hasFocus():
                self.edits[name].selectAll()  # what is typed replaces it

    def _on_typed(self, name: str) -> None:
        self._typed = [other for other in self._typed if other != name]
        if self.edits[name].text().strip():
            self._typed.append(name)
        in_plane = [other for other in self._typed if other != "xyz"[self._out_of_plane]]
        if len(in_plane) > 2:
            self._typed.remove(in_plane[0])
        self.changed.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click on a name goes to its number."""
        under = self.childAt(event.position().toPoint())
        name = next((name for name, label in self._labels.items() if label is under), None)
        if name is not None:
            self.edits[name].setFocus(Qt.FocusReason.TabFocusReason)

    def focusNextPrevChild(self, onwards: bool) -> bool:
        """Tab goes from number to number, and from the last one to the first."""
        shown = [edit for edit in self.edits.values() if edit.isVisible()]
        at = next((k for k, edit in enumerate(shown) if edit.hasFocus()), None)
        if at is None:
            return super().focusNextPrevChild(onwards)
        reason = Qt.FocusReason.TabFocusReason if onwards else Qt.FocusReason.BacktabFocusReason
        shown[(at + (1 if onwards else -1)) % len(shown)].setFocus(reason)
        return True

    # --- where it is, and keys of the view ---------------------------------------------------------------------------

    def _widen(self) -> None:
        """Give each number the room of its text: a calculation can be read while it is typed."""
        for edit in self.edits.values():
            needed = edit.fontMetrics().horizontalAdvance(edit.text()) + MARGINS
            edit.setFixedWidth(min(max(WIDTH, needed if edit.text() else 0), WIDEST))
        if self.isVisible():
            self._place()

    def _place(self) -> None:
        self.adjustSize()
        self.move(max(8, (self._over.width() - self.width()) // 2), self._over.height() - self.height() - ABOVE)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not self.isVisible():
            return False
        if event.type() == QEvent.Type.Resize:
            self._place()
        elif event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) and isinstance(event, QKeyEvent):
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        """A number that is begun in the view goes on here; its digits are no shortcuts meanwhile."""
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if not plain or not event.text() or event.text() not in STARTS:
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress:
            self._first.setFocus()
            self._first.setText(event.text())
            self._first.textEdited.emit(event.text())
        return True


def plane_axes(normal: Array) -> tuple[Array, Array]:
    """The axes of a plane from which and towards which angles count: x and y, x and z, or y and z."""
    fixed = int(np.argmax(np.abs(normal)))
    first, second = (k for k in range(3) if k != fixed)
    return np.eye(3)[first], np.eye(3)[second]
