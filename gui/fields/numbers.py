"""Fields for numbers: a line edit that shows display units, takes calculations and steps with the arrow keys."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStyle, QStyleOptionFrame, QToolTip, QWidget

from mbframe.parameters import Parameter

from ..base.turns import single_shot
from ..widgets.field_keys import claimed
from . import typed_units
from .base import PLAIN, Field, Surroundings, show
from .typed_calculations import PLAIN_NUMBER, Powers, is_sum, read_calculation

INSIDE = 2  # pixels that Qt leaves free on both sides of a text
DIGITS = 7
"""Of a number that is not edited, where there is room: micrometres of a metre can be read."""
GESTURE_PAUSE = 900  # ms without a step after which the next one is a gesture of its own


def read_number(text: str) -> float:
    """The number that a text means: plain, or a calculation such as 2*pi/3."""
    number, dimension = _read(text)
    if any(dimension):
        raise ValueError(f"“{text.strip()}” has a unit; write a plain number")
    return number


def _read(text: str) -> tuple[float, Powers]:
    text = text.strip()
    if not text:
        raise ValueError("the field is empty; write a number")
    try:
        number, dimension = float(text.replace("−", "-")), PLAIN_NUMBER
    except ValueError:
        number, dimension = read_calculation(text)
    if not math.isfinite(number):
        raise ValueError(f"“{text}” is not a finite number; write one such as 0.25 or 1e-3")
    return number, dimension


def is_number(text: str) -> bool:
    """Whether a text is a number or a calculation by itself: 2*e is not two of a unit."""
    try:
        read_number(text)
    except ValueError:
        return False
    return True


def read_quantity(text: str, unit: str, units: Any) -> float:
    """The number in an SI unit that a text means: with units of its own, such as 1500 mm, or in display units."""
    typed = typed_units.split(text)
    if typed is not None and is_number(typed[0]) and not is_sum(typed[0]) and not is_number(text):
        return read_number(typed[0]) * typed_units.factor(typed[1], unit)
    number, dimension = _read(text)
    if any(dimension):
        return number * typed_units.factor_of(dimension, unit, text)
    return float(units.from_display(number, unit)) if unit else number


def short(value: float, digits: int = 5) -> str:
    """A number for reading: five digits, or fewer."""
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")


NOISE = 1e-13
"""Of the largest number of its kind: what is smaller comes from rounding."""


def readable(value: float, scale: float = 0.0, digits: int = 5) -> str:
    """A number for reading beside others, of which the largest is `scale`; what is noise against that is nothing."""
    return "0" if abs(value) <= NOISE * scale else short(value, digits)


def exact(value: float) -> str:
    """A number for editing: all its digits, and none that only come from converting units."""
    rounded = float(f"{value:.14g}")
    text = repr(rounded if math.isclose(rounded, value, rel_tol=4e-16) else value).removesuffix(".0")
    zeros = len(text) - len(text.rstrip("0"))
    return f"{text[:-zeros]}e{zeros}" if zeros > 5 and "e" not in text and "." not in text else text


def fits(edit: QLineEdit, text: str) -> bool:
    """Whether all of a text is seen in an edit."""
    option = QStyleOptionFrame()
    edit.initStyleOption(option)
    room = edit.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, edit).width() - 2 * INSIDE
    return edit.fontMetrics().horizontalAdvance(text) <= room


class NumberEdit(QLineEdit):
    """A line edit for one number in display units. None is an empty text.

    The text has all digits while it is edited, else seven, or fewer if there is no room: an exponent is never cut. Up
    and Down (Ctrl and the wheel) step; a series of steps is one gesture. Shift steps ten times as far, Alt a tenth.
    """

    typed = Signal()
    confirmed = Signal(object)
    """By Enter or a step, with the key of the gesture."""
    left = Signal()
    """The focus has gone elsewhere and the text is another."""
    escaped = Signal()

    def __init__(self, unit: str = "", units: Any = None, parent: QWidget | None = None, whole: bool = False) -> None:
        super().__init__(parent)
        self._unit, self._units = unit, units or PLAIN.units
        self._whole = whole
        self._value: float | None = None
        self._scale = 0.0
        self._shown = ""
        self._gesture: object = None
        self._step = 1.0
        self._pause = single_shot(self, self.end_gesture, GESTURE_PAUSE)
        self.textEdited.connect(self._on_typed)
        self.setMinimumWidth(40)

    def set_unit(self, unit: str, units: Any = None) -> None:
        """Choose the SI unit of the number, and perhaps other display units."""
        self._unit, self._units = unit, units or self._units

    def set_value(self, value: float | None, scale: float = 0.0) -> None:
        """Show a number in SI units; `scale` is the largest of its kind, against which it may be noise."""
        self._value, self._scale = value, scale
        self._put()

    def _put(self) -> None:
        """Show the number that is in force: exactly while it is edited, else as well as there is room."""
        self._shown = self._text(exact) if self.hasFocus() else self._fitting()
        show(self, self._shown)

    def _fitting(self) -> str:
        factor = float(self._units.to_display(1.0, self._unit)) if self._unit else 1.0
        for digits in range(DIGITS, 0, -1):
            text = self._text(lambda number, digits=digits: readable(number, abs(factor) * self._scale, digits))
            if self._fits(text):
                break
        return text

    def read(self) -> float | None:
        """The number in SI units; a text that is still as shown is exactly the number that was shown."""
        text = self.text().strip()
        if not self.changed:
            return self._value
        if not text:
            return None
        number = read_quantity(text, self._unit, self._units)
        return int(number) if self._whole and number.is_integer() else number

    @property
    def changed(self) -> bool:
        """Whether the text is another than the one shown."""
        return self.text().strip() != self._shown

    def _text(self, style: Any) -> str:
        if self._value is None:
            return ""
        if self._whole:
            return str(self._value)
        return style(float(self._units.to_display(self._value, self._unit)) if self._unit else float(self._value))

    def _on_typed(self) -> None:
        self.end_gesture()
        self.typed.emit()

    # --- steps -------------------------------------------------------------------------------------------------------

    def step(self, count: float) -> None:
        """Go up or down by so many steps of about a hundredth of the number."""
        try:
            current = read_number(self.text()) if self.text().strip() else 0.0
        except ValueError:
            return
        if not math.isfinite(current):
            return
        if self._gesture is None:
            self._gesture = object()
            magnitude = 10.0 ** (math.floor(math.log10(abs(current))) - 1) if current else 0.1
            self._step = 1.0 if self._whole else magnitude
        self._pause.start()
        step = self._step * (math.copysign(max(1.0, abs(count)), count) if self._whole else count)
        digits = max(0, 1 - math.floor(math.log10(abs(step))))
        changed = round(current + step, digits)
        self.setText(str(int(changed)) if self._whole else exact(changed))
        self.typed.emit()
        self.confirmed.emit(self._gesture)

    def end_gesture(self) -> None:
        """The next step begins a new gesture."""
        self._gesture = None
        self._pause.stop()

    @property
    def is_cut(self) -> bool:
        """Whether the text is longer than what is seen of it."""
        return not self._fits(self.text())

    def _fits(self, text: str) -> bool:
        return fits(self, text)

    # --- events ------------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.step(_count(event.modifiers()) * (1.0 if key == Qt.Key.Key_Up else -1.0))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.end_gesture()
            self.confirmed.emit(None)
            self.selectAll()
        elif key == Qt.Key.Key_Escape and self.changed:
            self.end_gesture()
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if not (self.hasFocus() and event.modifiers() & Qt.KeyboardModifier.ControlModifier):
            event.ignore()  # the panel scrolls
            return
        turned = event.angleDelta().y() or event.angleDelta().x()
        if turned:
            self.step(_count(event.modifiers()) * (1.0 if turned > 0 else -1.0))
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if not self.changed:
            self._put()
            self.end(False)
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.selectAll()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.end_gesture()
        if event.reason() == Qt.FocusReason.PopupFocusReason:
            return
        if self.changed:
            self.left.emit()
        if not self.changed:
            self._put()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self.hasFocus() and not self.changed:
            self._put()

    def event(self, event: QEvent) -> bool:
        asked = event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent)
        if asked and not self.toolTip() and (self.is_cut or self.text() != self._text(exact)):
            words = self.text() if self.changed else self._text(exact)
            QToolTip.showText(event.globalPos(), words, self)  # type: ignore[attr-defined]
            return True
        own = (Qt.Key.Key_Up, Qt.Key.Key_Down, *((Qt.Key.Key_Escape,) if self.changed else ()))
        return claimed(event, *own) or super().event(event)


def _count(modifiers: Qt.KeyboardModifier) -> float:
    if modifiers & Qt.KeyboardModifier.ShiftModifier:
        return 10.0
    return 0.1 if modifiers & Qt.KeyboardModifier.AltModifier else 1.0


class NumberField(Field):
    """One number; for an optional parameter an empty text is none."""

    whole = False

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.edit = NumberEdit(parameter.unit, surroundings.units, self, self.whole)
        self.edit.setObjectName(f"{parameter.name}_edit")
        if parameter.optional:
            self.edit.setPlaceholderText("none")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.edit)
        self.setFocusProxy(self.edit)
        self.edit.typed.connect(self.validate)
        self.edit.confirmed.connect(self.commit)
        self.edit.left.connect(self.commit)
        self.edit.escaped.connect(self.restore)

    def editors(self) -> list[QWidget]:
        return [self.edit]

    def _display(self, value: float | None) -> None:
        self.edit.set_value(value, self.surroundings.scale(self.parameter.unit))

    def _read(self) -> float | None:
        number = self.edit.read()
        if number is None and not self.parameter.optional:
            raise ValueError("the field is empty; write a number")
        return number


class IntegerField(NumberField):
    """One whole number."""

    whole = True

    def _read(self) -> int | None:
        number = super()._read()
        if number is not None and not isinstance(number, int):
            raise ValueError(f"“{self.edit.text().strip()}” is not a whole number; write one such as 4")
        return number
