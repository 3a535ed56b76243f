"""Fields for several numbers: vectors, directions, matrices, inertia tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from mbframe.parameters import Parameter

from ..widgets.arranging import stack
from .base import PLAIN, Field, Surroundings
from .numbers import NumberEdit

COMPONENTS = "xyz"


class NumberGrid(QWidget):
    """Number edits in rows and columns, each with a caption if one is given.

    It is confirmed by Enter, or when the focus leaves all of them: in between a direction may be zero for a moment.
    """

    typed = Signal()
    confirmed = Signal(object)
    escaped = Signal()

    def __init__(
        self,
        rows: int,
        columns: int,
        unit: str,
        units: Any,
        captions: Sequence[str] = (),
        name: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.rows, self.columns = rows, columns
        self.edits: list[NumberEdit] = []
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(3)
        layout.setVerticalSpacing(3)
        beside = bool(captions) and columns <= 3 and max(map(len, captions)) <= 3  # short captions need no line
        for k in range(rows * columns):
            edit = NumberEdit(unit, units, self)
            if columns > 4:
                edit.setProperty("dense", True)
                edit.setMinimumWidth(28)
            edit.setObjectName(f"{name}_{k}")
            row, column = divmod(k, columns)
            if k < len(captions):
                caption = QLabel(captions[k], self)
                caption.setProperty("role", "caption")
                caption.setBuddy(edit)
                if not beside:
                    caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
                layout.addWidget(caption, *((row, 2 * column) if beside else (2 * row, 2 * column + 1)))
            layout.addWidget(edit, row if beside else 2 * row + 1, 2 * column + 1)
            layout.setColumnStretch(2 * column + 1, 1)
            edit.typed.connect(self.typed)
            edit.confirmed.connect(self.confirmed)
            edit.left.connect(self._on_left)
            edit.escaped.connect(self.escaped)
            self.edits.append(edit)
        if self.edits:
            self.setFocusProxy(self.edits[0])

    def _on_left(self) -> None:
        if QApplication.focusWidget() not in self.edits:
            self.confirmed.emit(None)

    def set_values(self, values: Sequence[float] | None, scale: float = 0.0) -> None:
        """Show numbers in SI units, row by row; None leaves all empty. What is noise beside the largest is nothing."""
        scale = max([scale, *(abs(float(value)) for value in (values if values is not None else ()))])
        for k, edit in enumerate(self.edits):
            edit.set_value(None if values is None else float(values[k]), scale)

    def read(self) -> list[float] | None:
        """The numbers row by row; None if all are empty."""
        numbers = [edit.read() for edit in self.edits]
        if all(number is None for number in numbers):
            return None
        if any(number is None for number in numbers):
            raise ValueError(f"a number is missing; fill in all {len(numbers)}")
        return numbers  # type: ignore[return-value]


class GridField(Field):
    """Base of the fields that consist of one grid of numbers."""

    wide = True

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self.grid: NumberGrid | None = None
        self._row = QHBoxLayout()
        self._row.setSpacing(2)
        self._column = QVBoxLayout()
        self._column.setSpacing(3)
        self._column.addLayout(self._row)
        stack(self, self._column)

    def editors(self) -> list[QWidget]:
        return list(self.grid.edits) if self.grid is not None else []

    def _build(self, rows: int, columns: int, captions: Sequence[str] = (), unit: str | None = None) -> NumberGrid:
        """Replace the grid by one of another size."""
        if self.grid is not None:
            self._row.removeWidget(self.grid)
            self.grid.deleteLater()
        unit = self.parameter.unit if unit is None else unit
        self.grid = NumberGrid(rows, columns, unit, self.surroundings.units, captions, self.parameter.name, self)
        self._row.insertWidget(0, self.grid, 1)
        self.grid.typed.connect(self.validate)
        self.grid.confirmed.connect(self.commit)
        self.grid.escaped.connect(self.restore)
        self.setFocusProxy(self.grid)
        return self.grid

    def _numbers(self) -> list[float] | None:
        assert self.grid is not None
        numbers = self.grid.read()
        if numbers is None and not self.parameter.optional:
            raise ValueError(f"the fields are empty; write {len(self.grid.edits)} numbers")
        return numbers


class VectorField(GridField):
    """A vector of fixed length."""

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self._build_for(int((parameter.shape or (3,))[0] or 3))

    def _build_for(self, n: int) -> None:
        captions = list(COMPONENTS[:n]) if n <= 3 else [str(k) for k in range(n)]
        grid = self._build(-(-n // 6) if n > 3 else 1, min(n, 6), captions)
        if self.parameter.optional:
            for edit in grid.edits:
                edit.setPlaceholderText("origin" if self.parameter.kind == "point" else "none")

    def _display(self, value: Any) -> None:
        assert self.grid is not None
        if value is not None and len(value) != len(self.grid.edits):
            self._build_for(len(value))
        self.grid.set_values(value, self.surroundings.scale(self.parameter.unit))

    def _read(self) -> Any:
        numbers = self._numbers()
        return self._value if same_numbers(numbers, self._value) else numbers


class AxisField(VectorField):
    """A direction: a vector with buttons for the global axes."""

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        n = int((parameter.shape or (3,))[0] or 3)
        for k in range(n):
            button = QToolButton(self)
            button.setText(COMPONENTS[k].upper())
            button.setObjectName(f"{parameter.name}_along_{COMPONENTS[k]}")
            button.setProperty("role", "small")
            button.setFixedWidth(18)
            button.setToolTip(f"Along the global {COMPONENTS[k]} axis; again for the opposite direction")
            button.clicked.connect(lambda _=False, k=k: self._along(k))
            self._row.addWidget(button, 0, Qt.AlignmentFlag.AlignBottom)

    def _along(self, k: int) -> None:
        direction = np.eye(int((self.parameter.shape or (3,))[0] or 3))[k]
        if self._value is not None and np.array_equal(self._value, direction):
            direction = 0.0 - direction
        self._offer(self._convert(direction), None)

    def _read(self) -> Any:
        numbers = super()._read()
        if numbers is not None and not np.any(np.asarray(numbers, float)):
            raise ValueError("a direction needs a length other than zero; at least one number must differ from 0")
        return numbers


class MatrixField(GridField):
    """A matrix, entered by its diagonal as long as the rest is zero and not asked for."""

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        rows, columns = (int(n or 1) for n in (parameter.shape or (3, 3)))
        self._shape = rows, columns
        self._full = False
        self._all = QCheckBox("all entries", self)
        self._all.setObjectName(f"{parameter.name}_all_entries")
        self._all.setToolTip("Show all entries of the matrix, not only its diagonal")
        self._all.toggled.connect(self._show_all)
        self._column.addWidget(self._all)  # below, because a large matrix needs the whole width
        self._all.setVisible(rows == columns and parameter.kind == "matrix")
        self._arrange(full=parameter.kind != "matrix")

    def _arrange(self, full: bool) -> None:
        self._full = full
        rows, columns = self._shape
        if full:
            self._build(rows, columns)
        else:
            self._build(-(-rows // 3), min(rows, 3), [str(k + 1) for k in range(rows)])
        if self._all.isChecked() != full:
            self._all.blockSignals(True)
            self._all.setChecked(full)
            self._all.blockSignals(False)

    def _show_all(self, full: bool) -> None:
        if not full and self._value is not None and not is_diagonal(self._value):
            self._all.blockSignals(True)
            self._all.setChecked(True)
            self._all.blockSignals(False)
            return
        self._arrange(full)
        self.restore()

    def _display(self, value: Any) -> None:
        assert self.grid is not None
        if value is None:
            self.grid.set_values(None)
            return
        if not self._full and not is_diagonal(value):
            self._arrange(full=True)
        self.grid.set_values((np.ravel(value) if self._full else np.diag(value)).tolist())

    def _read(self) -> Any:
        numbers = self._numbers()
        if numbers is None:
            return None
        matrix = np.reshape(numbers, self._shape) if self._full else np.diag(numbers)
        return self._value if self._value is not None and np.array_equal(matrix, self._value) else matrix


class InertiaField(GridField):
    """An inertia tensor: moments above, products (tensor elements) below, and the principal moments for reading."""

    PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))

    def __init__(self, parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> None:
        super().__init__(parameter, surroundings, parent)
        self._build(2, 3, [f"I{COMPONENTS[i]}{COMPONENTS[j]}" for i, j in self.PLACES])
        for i, j in self.PLACES[3:]:
            k = self.PLACES.index((i, j))
            axes = f"{COMPONENTS[i]} {COMPONENTS[j]}"
            self.grid.edits[k].setToolTip(f"Tensor element: minus the product of inertia ∫ {axes} dm")  # type: ignore[union-attr]

    def _display(self, value: Any) -> None:
        assert self.grid is not None
        self.grid.set_values(None if value is None else [value[place] for place in self.PLACES])

    def _read(self) -> Any:
        numbers = self._numbers()
        if self._value is not None and numbers == [self._value[place] for place in self.PLACES]:
            return self._value
        return numbers

    def _checked(self) -> Any:
        try:
            return super()._checked()
        except ValueError as error:
            raise ValueError(_without_forms(str(error))) from None


def _without_forms(message: str) -> str:
    """The remedy alone: how a tensor may be written in Python does not concern who fills in a form."""
    return message.rsplit("; ", 1)[-1] if message.startswith("found") else message


def is_diagonal(matrix: Any) -> bool:
    """Whether a matrix is zero outside its diagonal."""
    array = np.asarray(matrix)
    return array.ndim == 2 and array.shape[0] == array.shape[1] and not np.any(array - np.diag(np.diag(array)))


def same_numbers(numbers: Any, value: Any) -> bool:
    """Whether a list of numbers is a stored vector."""
    if numbers is None or value is None:
        return numbers is value
    return len(numbers) == len(value) and all(float(a) == float(b) for a, b in zip(numbers, value, strict=True))
