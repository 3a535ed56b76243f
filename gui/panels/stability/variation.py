"""Numbers for the slider of the stability tab: those of elements, and arguments of examples. No widgets here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import mbframe as mb
from mbframe.analysis.parameters.number import Number

from ...base.names import one_line

VECTORS = ("vector", "free vector")
AXES = "xyz"


@dataclass(frozen=True)
class ElementNumber(Number):
    """A number of a model with its unit."""

    component: int | None = None
    unit: str = ""

    @property
    def label(self) -> str:
        owner = f"{one_line(self.element)} · " if self.element is not None else ""
        part = f" {AXES[self.component]}" if self.component is not None else ""
        return f"{owner}{self.parameter.replace('_', ' ')}{part}"

    def bounds(self, system: Any) -> tuple[float, float]:
        """A range to start with: around the value, within what is allowed."""
        declared = type(self.owner(system)).parameters()[self.parameter]
        value = self.value(system)
        low, high = around(value)
        if declared.above is not None:
            low = max(low, declared.above + 0.05 * (value - declared.above))
        if declared.minimum is not None:
            low = max(low, declared.minimum)
        if declared.maximum is not None:
            high = min(high, declared.maximum)
        return low, high


@dataclass(frozen=True)
class ExampleArgument:
    """An argument of the function that builds an example, such as the speed of the bicycle.

    What the argument changes in the example is changed in the model; everything else there, edits included, stays.
    """

    example: str
    argument: str
    default: float
    unit: str = ""

    @property
    def label(self) -> str:
        return self.argument.replace("_", " ")

    def build(self, value: float) -> Any:
        """The example with this argument."""
        return getattr(mb.examples, self.example)(**{self.argument: float(value)})

    def value(self, system: Any) -> float:
        """What the argument is in the example."""
        return self.default

    def changes(self, system: Any, value: float) -> list[tuple[Any, dict[str, Any]]]:
        """The elements of a model and the parameters that the argument decides."""
        wanted = self.build(value)
        return [
            (system[name], {field: getattr(wanted[name], field) for field in fields})
            for name, fields in _affected(self.example, self.argument, self.default).items()
            if name in system and type(system[name]) is type(wanted[name])
        ]

    def applied(self, system: Any, value: float) -> Any:
        """The system, changed in place."""
        for element, values in self.changes(system, value):
            element.update(**values)
        return system

    def bounds(self, system: Any) -> tuple[float, float]:
        return around(self.default)


@cache
def _affected(example: str, argument: str, default: float) -> dict[str, tuple[str, ...]]:
    """The parameters of an example's elements that an argument decides, by the names of the elements.

    Points and axes on a body that it moves are among them even if they stay: they do not go with the body.
    """
    build = getattr(mb.examples, example)
    one, other = (build(**{argument: value}) for value in (default, 1.07 * default + 0.01))
    found: dict[str, tuple[str, ...]] = {}
    moved: list[Any] = []
    for element in one:  # bodies come before what is attached to them
        if element.name not in other:
            continue
        attached = any(getattr(element, side, None) in moved for side in ("body_i", "body_j"))
        fields = tuple(
            field
            for field, declared in type(element).parameters().items()
            if declared.kind not in ("reference", "shape", "shapes", "list")
            and getattr(element, field) is not None
            and (
                (attached and declared.kind in ("point", "axis"))
                or not np.array_equal(getattr(element, field), getattr(other[element.name], field))
            )
        )
        if isinstance(element, mb.Body) and {"position", "rotation", "angle"} & set(fields):
            moved.append(element)
        if fields:
            found[element.name] = fields
    return found


Variation = ElementNumber | ExampleArgument


def around(value: float) -> tuple[float, float]:
    """Zero to twice a value; -1 to 1 around zero."""
    if value == 0.0:
        return -1.0, 1.0
    return (0.0, 2.0 * value) if value > 0.0 else (2.0 * value, 0.0)


def example_arguments(example: str, given: Mapping[str, float] | None = None) -> list[ExampleArgument]:
    """The numbers that an example is built from; its docstring says their units, as "`speed` (m/s)".

    `given` are those that are not what they are by default.
    """
    build = getattr(mb.examples, example, None)
    if build is None:
        return []
    words = inspect.getdoc(build) or ""
    found = []
    for name, argument in inspect.signature(build).parameters.items():
        if isinstance(argument.default, float):
            unit = re.search(rf"`{name}`\s+\(([^)]*)\)", words) or re.search(rf"`{name}`\s+is\s+in\s+([^\s.]+)", words)
            value = (given or {}).get(name, argument.default)
            found.append(ExampleArgument(example, name, value, unit[1] if unit else ""))
    return found


def element_numbers(system: Any) -> Iterator[ElementNumber]:
    """All numbers in a system, those of forces first: they are what is tuned most often."""
    elements = sorted(
        (element for element in system if element is not system.ground),
        key=lambda element: _order(system, element),
    )
    for element in elements:
        yield from _numbers(element, element.name)
    yield from _numbers(system, None)


def _order(system: Any, element: Any) -> int:
    return next(
        (k for k, group in enumerate((system.forces, system.bodies, system.joints)) if element in list(group)), 3
    )


def _numbers(owner: Any, name: str | None) -> Iterator[ElementNumber]:
    values = {field: (declared, getattr(owner, field, None)) for field, declared in type(owner).parameters().items()}
    for field, (declared, value) in values.items():
        if declared.kind == "number" and isinstance(value, float):
            yield ElementNumber(name, field, None, declared.unit)
    for field, (declared, value) in values.items():
        if declared.kind in VECTORS and isinstance(value, np.ndarray) and value.shape in ((2,), (3,)):
            for component in range(len(value)):
                yield ElementNumber(name, field, component, declared.unit)


def variations(system: Any, example: str | None, given: Mapping[str, float] | None = None) -> list[Variation]:
    """Everything that can be varied; arguments of an example only while the model is the example."""
    arguments: list[Variation] = list(example_arguments(example, given)) if example else []
    return [*arguments, *element_numbers(system)]
