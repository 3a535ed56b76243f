"""Elements of a living system made anew with the classes that are known by now.

A system that was read without the classes of its file gets its elements when these are given, and one whose classes
were defined again follows them. Objects stay who they are: who holds one, such as a step to undo, holds it still.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..constraints.base import BasicConstraint
from ..parameters import Element
from ..registry import name_of, registered
from ..system import System
from ..unknown import Unknown, UnknownFormulation, UnknownShape
from .model import document, system_from


def renew(system: System, classes: Iterable[type[Any]] = ()) -> list[Element]:
    """Make elements of unknown classes, and those whose class was defined again, with the classes of now.

    Returns those that are other than before. What a class refuses is a `ModelError` and leaves the system as it was.
    """
    if not any(is_outdated(element) for element in system):
        return []
    made = system_from(document(system), classes)
    changed = [element for element in system if _differs(element, made[element.name])]
    for element in changed:
        twin = made[element.name]
        values = {name: _of(system, value) for name, value in vars(twin).items()}
        observers = vars(element)["_observers"]
        element.__class__ = type(twin)
        vars(element).clear()
        vars(element).update(values | {"_observers": observers})
        if isinstance(twin, BasicConstraint) and isinstance(element, BasicConstraint) and twin.given_markers:
            bodies: Mapping[str, Any] = {body.name: body for body in (system.ground, *system.bodies)}
            i, j = (type(m).placed(bodies[m.body.name], m.at, m.axes) for m in twin.given_markers)
            element.attach(i, j)
    return changed


def is_outdated(element: Element) -> bool:
    """Whether an element is of an unknown class, has a part of one, or is of a class that was defined again."""
    if isinstance(element, Unknown) or isinstance(getattr(element, "formulation", None), UnknownFormulation):
        return True
    parts = (element, getattr(element, "formulation", None), *getattr(element, "shapes", ()))
    return any(isinstance(part, UnknownShape) or _was_defined_again(part) for part in parts if part is not None)


def _was_defined_again(part: Any) -> bool:
    kind = type(part)
    known = registered(object).get(name_of(kind))
    return known is not None and known is not kind


def _differs(element: Element, made: Element) -> bool:
    return is_outdated(element) and not (isinstance(element, Unknown) and isinstance(made, Unknown))


def _of(system: System, value: Any) -> Any:
    """A value of a twin's element, with elements of the system in place of the twin's."""
    if isinstance(value, Element):
        return system[value.name]
    if isinstance(value, list | tuple) and any(isinstance(one, Element) for one in value):
        return type(value)(_of(system, one) for one in value)
    return value
