"""A slider below the number that is being edited, while the model runs live."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QLineEdit, QSlider, QWidget
from shiboken6 import isValid

from ...fields import Field
from ...fields.numbers import exact, is_number, read_number
from ...playing.live import Live
from .element_page import Row

HALF: Final = 500
"""Steps from the middle to an end."""
REACH: Final = 1.0
"""The ends are so many times the number away from it."""
FROM_ZERO: Final = 10.0


class NumberSlider(QSlider):
    """Moves the number of a line edit of a field: in the middle it is what it was when the slider came or was let go.

    A drag is one step to undo.
    """

    def __init__(self, edit: QLineEdit, field: Field, row: Row) -> None:
        super().__init__(Qt.Orientation.Horizontal, row)
        self.setObjectName("number_slider")
        self.setAccessibleName(f"Slider of {field.parameter.name}")
        self.setToolTip("Move the number while the model runs; a drag is one step to undo")
        self.setRange(-HALF, HALF)
        self.edit, self.field = edit, field
        self._gesture: object = object()
        self._middle = self._reach = 0.0
        self._center()
        self.sliderPressed.connect(self._center)
        self.sliderReleased.connect(self._center)
        self.valueChanged.connect(self._slid)

    def _center(self) -> None:
        try:
            self._middle = read_number(self.edit.text())
        except ValueError:  # it is being typed
            return
        self._gesture = object()
        self._reach = REACH * abs(self._middle) or FROM_ZERO
        if not self.isSliderDown():
            self.blockSignals(True)
            self.setValue(0)
            self.blockSignals(False)

    def _slid(self, place: int) -> None:
        number = self._middle + self._reach * place / HALF
        self.edit.setText(exact(float(f"{number:.5g}")))
        self.field.commit(self._gesture)


class NumberSliders(QObject):
    """Gives the number that has the focus a slider, while the model runs live."""

    def __init__(self, live: Live, inspector: QWidget) -> None:
        super().__init__(inspector)
        self.live, self.inspector = live, inspector
        self.slider: NumberSlider | None = None
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._focus_changed)
        live.changed.connect(self._follow)

    def _follow(self) -> None:
        if not self.live.on:
            self._drop()
        elif self.slider is None:
            self._focus_changed(None, QApplication.focusWidget())

    def _focus_changed(self, _: QWidget | None, now: QWidget | None) -> None:
        if not self.live.on or now is None or not isValid(self.inspector) or now is self.slider:
            return
        if not self.inspector.isAncestorOf(now):
            return
        field, row = _around(now, Field), _around(now, Row)
        if isinstance(now, QLineEdit) and isinstance(field, Field) and isinstance(row, Row):
            known = self.slider if self.slider is not None and isValid(self.slider) else None
            if is_number(now.text()) and (known is None or known.edit is not now):
                self._drop()
                self.slider = NumberSlider(now, field, row)
                layout = row.layout()
                assert layout is not None
                layout.addWidget(self.slider)
                self.slider.show()
                return
            if known is not None and known.edit is now:
                return
        self._drop()

    def _drop(self) -> None:
        slider, self.slider = self.slider, None
        if slider is not None and isValid(slider):
            slider.hide()
            slider.deleteLater()


def _around(widget: QWidget | None, kind: type) -> QWidget | None:
    """The widget of a class that a widget is in."""
    while widget is not None and not isinstance(widget, kind):
        widget = widget.parentWidget()
    return widget
