"""Fields: one widget for every kind of declared parameter."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget

from mbframe.parameters import Parameter

from .base import PLAIN, Field, Surroundings, same
from .choices import ChoiceField, FlagField, ReferenceField
from .functions import FunctionField
from .literal import ListField, MatricesField, ModesField, UnitsField, WordField
from .number_lists import ArrayField, NumbersField
from .numbers import IntegerField, NumberField
from .rotation import RotationField
from .seen import SeenField
from .shapes import ShapesField
from .vectors import AxisField, InertiaField, MatrixField, VectorField

__all__ = ["PLAIN", "Field", "Surroundings", "commit_focused", "field_class", "field_for", "same"]

_BY_KIND: dict[str, type[Field]] = {
    "number": NumberField,
    "angle": NumberField,
    "integer": IntegerField,
    "flag": FlagField,
    "choice": ChoiceField,
    "vector": VectorField,
    "point": VectorField,
    "free vector": VectorField,
    "axis": AxisField,
    "numbers": NumbersField,
    "matrix": MatrixField,
    "rotation": RotationField,
    "inertia": InertiaField,
    "function": FunctionField,
    "functions": FunctionField,
    "vector functions": FunctionField,
    "axial functions": FunctionField,
    "reference": ReferenceField,
    "shapes": ShapesField,
    "list": ListField,
    "seen": SeenField,
    "units": UnitsField,
    "state space": MatricesField,
    "text": WordField,
    "modes": ModesField,
}

LARGEST_GRID = 36
"""More numbers than this are one line of text."""


def field_class(parameter: Parameter) -> type[Field]:
    """The kind of field that a parameter gets."""
    found = _BY_KIND.get(parameter.kind, ListField)
    shape = parameter.shape or ()
    if found is VectorField and len(shape) == 2:
        found = MatrixField
    if found in (VectorField, MatrixField):
        size = 1
        for n in shape:
            size *= n if n is not None else LARGEST_GRID + 1
        if size > LARGEST_GRID or len(shape) > 2:
            return ArrayField
    return found


def field_for(parameter: Parameter, surroundings: Surroundings = PLAIN, parent: QWidget | None = None) -> Field:
    """A field for a declared parameter."""
    return field_class(parameter)(parameter, surroundings, parent)


def commit_focused() -> bool:
    """Take what is being typed at the moment, as before a run or a file; False if it is wrong, which the field says.

    A click on a button of the toolbar and a shortcut leave the focus in the field, and its text uncommitted.
    """
    widget = QApplication.focusWidget()
    while widget is not None:
        if isinstance(widget, Field):
            widget.commit()
            return not widget.problem
        widget = widget.parentWidget()
    return True
