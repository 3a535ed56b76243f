"""The field for a rotation, entered as Euler angles, as axis and angle, as a quaternion or as a matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from mbframe.parameters import Parameter
from mbframe.rotations import matrix_from_quaternion, matrix_from_vector, quaternion_from_matrix

from .base import PLAIN, Field, Surroundings
from .choices import ComboBox
from .vectors import NumberGrid

SINGULAR = 1e-12  # of the cosine of the middle angle: nearer to zero the two others cannot be told apart
TIDY = 1e-15  # smaller numbers come from rounding in the conversion and are shown as zero


@dataclass(frozen=True)
class Form:
    """One way to write a rotation: captions and units of its numbers, and the conversions."""

    label: str
    captions: tuple[str, ...]
    columns: int
    units: tuple[str, ...]
    numbers: Callable[[Any], np.ndarray]
    rotation: Callable[[np.ndarray], Any]


def euler_angles(matrix: Any) -> np.ndarray:
    """Angles of A = Rx(a) Ry(b) Rz(c), rad. At b = ±90 degrees only a ± c matters, and c is zero."""
    A = np.asarray(matrix, float)
    cosine = math.hypot(A[0, 0], A[0, 1])
    b = math.atan2(A[0, 2], cosine)
    if cosine < SINGULAR:
        return np.array([math.atan2(A[2, 1], A[1, 1]), b, 0.0])
    return np.array([math.atan2(-A[1, 2], A[2, 2]), b, math.atan2(-A[0, 1], A[0, 0])])


def from_euler_angles(angles: Any) -> np.ndarray:
    """Rx(a) Ry(b) Rz(c)."""
    turns = [matrix_from_vector(angle * axis) for angle, axis in zip(angles, np.eye(3), strict=True)]
    return turns[0] @ turns[1] @ turns[2]


def axis_and_angle(matrix: Any) -> np.ndarray:
    """The axis (three numbers) and the angle, 0 to pi; no rotation is one about z."""
    w, *vector = quaternion_from_matrix(matrix)
    length = float(np.linalg.norm(vector))
    axis = np.array(vector) / length if length > 0.0 else np.array([0.0, 0.0, 1.0])
    return np.array([*axis, 2.0 * math.atan2(length, w)])


def from_axis_and_angle(numbers: Any) -> np.ndarray:
    """The rotation about an axis of any length."""
    length = float(np.linalg.norm(numbers[:3]))
    if length == 0.0:
        raise ValueError("the axis needs a length other than zero; at least one of its numbers must differ from 0")
    return matrix_from_vector(numbers[3] / length * np.asarray(numbers[:3]))


def from_quaternion(numbers: Any) -> np.ndarray:
    """The rotation of a quaternion of any length."""
    if not np.any(numbers):
        raise ValueError("the quaternion needs a length other than zero; no rotation is 1, 0, 0, 0")
    return matrix_from_quaternion(numbers)


FORMS = (
    Form("Angles about x, y′, z″", ("x", "y′", "z″"), 3, ("rad",) * 3, euler_angles, from_euler_angles),
    Form(
        "Axis and angle",
        ("axis x", "axis y", "axis z", "angle"),
        4,
        ("", "", "", "rad"),
        axis_and_angle,
        from_axis_and_angle,
    ),
    Form("Quaternion (w, x, y, z)", ("w", "x", "y", "z"), 4, ("",) * 4, quaternion_from_matrix, from_quaternion),
    Form("Matrix", (), 3, ("",) * 9, np.ravel, lambda numbers: np.reshape(numbers, (3, 3))),
)


class RotationField(Field):
    """A rotation matrix; angles are in the units of the document."""

    wide = True

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.form = ComboBox(self)
        self.form.setObjectName(f"{parameter.name}_form")
        self.form.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.form.setMinimumContentsLength(12)
        self.pages = QStackedWidget(self)
        self.grids: list[NumberGrid] = []
        for form in FORMS:
            self.form.addItem(form.label)
            sign = surroundings.units.label("rad")
            captions = [f"{c} ({sign})" if u == "rad" else c for c, u in zip(form.captions, form.units, strict=False)]
            rows = -(-len(form.units) // form.columns)
            grid = NumberGrid(rows, form.columns, "", surroundings.units, captions, parameter.name, self)
            for edit, unit in zip(grid.edits, form.units, strict=True):
                edit.set_unit(unit)
            grid.typed.connect(self.validate)
            grid.confirmed.connect(self.commit)
            grid.escaped.connect(self.restore)
            self.grids.append(grid)
            self.pages.addWidget(grid)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        top = QHBoxLayout()
        top.addWidget(self.form, 1)
        layout.addLayout(top)
        layout.addWidget(self.pages)
        self.form.currentIndexChanged.connect(self._change_form)
        self.setFocusProxy(self.form)
        self._change_form(0)

    @property
    def grid(self) -> NumberGrid:
        """The numbers of the form in use."""
        return self.grids[self.form.currentIndex()]

    def editors(self) -> list[QWidget]:
        return list(self.grid.edits)

    def _change_form(self, index: int) -> None:
        self._say("")
        for k, grid in enumerate(self.grids):  # the stack is as high as the form in use
            grid.setVisible(k == index)
        self.pages.setCurrentIndex(index)
        self.pages.setFixedHeight(self.grids[index].sizeHint().height())
        if self._value is not None:
            self._display(self._value)

    def _numbers(self, value: Any) -> list[float]:
        numbers = np.asarray(FORMS[self.form.currentIndex()].numbers(np.asarray(value)), float)
        return [0.0 if abs(n) < TIDY else float(n) for n in numbers]

    def _display(self, value: Any) -> None:
        self.grid.set_values(None if value is None else self._numbers(value))

    def _read(self) -> Any:
        numbers = self.grid.read()
        if numbers is None:
            raise ValueError("the fields are empty; write the numbers, or choose another form")
        if self._value is not None and numbers == self._numbers(self._value):
            return self._value
        return FORMS[self.form.currentIndex()].rotation(np.array(numbers))
