"""One number of a model: a parameter of an element, or a component of one, to be read and set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ModelError, check_kinds
from ...parameters import Element, Parameter
from ...system import System

KINDS = ("number", "angle", "vector", "point", "axis", "free vector", "matrix", "inertia")


def numeric_parameter(system: System, element: Element | str, parameter: str) -> tuple[Element, Parameter]:
    """The element of a system, or the system itself, and its parameter, which must hold numbers."""
    check_kinds("numeric parameter", system=(system, System))
    name = element if isinstance(element, str) else element.name
    owner: Element = system if name == system.name and name not in system else system[name]
    declared = type(owner).parameters().get(parameter)
    if declared is None or declared.kind not in KINDS or getattr(owner, parameter) is None:
        allowed = [
            key for key, p in type(owner).parameters().items() if p.kind in KINDS and getattr(owner, key) is not None
        ]
        message = f"found {parameter!r}; allowed are the numbers and vectors that it has: {', '.join(allowed)}"
        raise ModelError([owner.problem(parameter, message)])
    return owner, declared


@dataclass(frozen=True)
class Number:
    """A parameter of an element, or with a `component` one of those; `element` None is the system itself."""

    element: str | None
    parameter: str
    component: int | tuple[int, ...] | None = None

    def owner(self, system: System) -> Element:
        """The element in a system."""
        return system if self.element is None else system[self.element]

    def value(self, system: System) -> Any:
        """What it is in a system."""
        value = getattr(self.owner(system), self.parameter)
        return value if self.component is None else float(value[self.component])

    def changes(self, system: System, value: Any) -> list[tuple[Element, dict[str, Any]]]:
        """What to assign to which elements so that it has a value; both elements of an inertia's tensor."""
        owner = self.owner(system)
        if self.component is not None:
            whole = np.array(getattr(owner, self.parameter), float)
            whole[self.component] = value
            if owner.parameters()[self.parameter].kind == "inertia" and isinstance(self.component, tuple):
                whole[self.component[::-1]] = value
            value = whole
        return [(owner, {self.parameter: value})]

    def applied(self, system: System, value: Any) -> System:
        """The system, changed in place."""
        for element, values in self.changes(system, value):
            element.update(**values)
        return system
