"""What a file names and nobody here knows: kept as it stands there, so that a model opens and nothing of it is lost.

An element whose class is not known has its name, the name of its class and its parameters as plain values; so has one
of a known class that is attached to such an element. They are saved again as they were read. Nothing can be computed of
a model that has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from .bodies.formulations import Formulation
from .errors import ModelError, Problem
from .parameters import Element
from .shapes import Shape

SIDES: Final = ("i", "j", "body")
"""Parameters that name a body, or a marker on one, whatever the class."""
_WORD: Final = re.compile(r"[^\W\d]\w*")


class Unknown(Element):
    """An element of a file whose class is not known: `system.unknown` lists them.

    Parameters
    ----------
    name
        Name of the element.
    type
        Name of its class, as the file has it.
    parameters
        Its parameters, plain values as the file has them; other elements stand there by their names.
    reason
        Why it is not known, and the remedy, in words.
    sides
        The parameters that name other elements.
    origin
        Where the class was defined, as the file says: module, and file if it is known.
    version
        Of the format of the file.
    """

    symbol = "unknown"
    parameters: Any  # of an object its values; of the class, as of every other, what it declares: nothing

    def __init__(
        self,
        name: str,
        type: str,
        parameters: Mapping[str, Any],
        reason: str,
        *,
        sides: Iterable[str] = SIDES,
        origin: Mapping[str, str] | None = None,
        version: int = 0,
    ) -> None:
        super().__init__(name)
        self.type, self.reason, self.version = type, reason, version
        vars(self)["parameters"] = dict(parameters)
        self.sides, self.origin = tuple(sides), dict(origin or {})

    def __str__(self) -> str:
        return f"{self.type} {self.name!r}"

    def __repr__(self) -> str:
        return f"<{self}, of an unknown class>"

    @property
    def joined(self) -> list[str]:
        """Names of the bodies, and of other elements, that it is attached to."""
        return joined(self.parameters, self.sides)

    def mentions(self, name: str, is_signal: bool) -> bool:
        """Whether it may mean the element of that name, beside being attached to it; a signal is named within texts."""
        others = {key: value for key, value in self.parameters.items() if key not in self.sides}
        return mentions(others, name, is_signal)

    def rename_joined(self, old: str, new: str) -> None:
        """Follow the new name of an element that it is attached to."""
        values = dict(self.parameters)
        for side in self.sides:
            if values.get(side) == old:
                values[side] = new
            elif isinstance(marker := values.get(side), dict) and marker.get("body") == old:
                values[side] = {**marker, "body": new}
        vars(self)["parameters"] = values


def joined(parameters: Mapping[str, Any], sides: Iterable[str] = SIDES) -> list[str]:
    """The elements that an element is attached to, by its parameters as a file has them."""
    found: dict[str, None] = {}
    for side in sides:
        value = parameters.get(side)
        name = value.get("body") if isinstance(value, dict) else value
        if isinstance(name, str):
            found[name] = None
    return list(found)


def mentions(parameters: Mapping[str, Any], name: str, is_signal: bool) -> bool:
    """Whether a text of parameters names an element, or a quantity of it; a signal is named within texts."""
    texts = list(_texts(parameters))
    if is_signal and any(name in _WORD.findall(text) for text in texts):
        return True
    return any(text == name or text.startswith(f"{name}.") for text in texts)


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, Mapping):
            waiting += found.values()
        elif isinstance(found, list | tuple):
            waiting += found


class UnknownFormulation(Formulation):
    """A formulation of a file whose class is not known; the body that has it can be computed in another one."""

    def __init__(self, stored: Any, reason: str, dimension: int, origin: Mapping[str, str] | None = None) -> None:
        self.stored, self.reason, self.origin = stored, reason, dict(origin or {})
        vars(self)["dimension"] = dimension

    @property
    def type(self) -> str:
        """Name of the class, as the file has it."""
        return _type(self.stored)

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        return f"<{self.type}, an unknown formulation>"


@dataclass(frozen=True)
class UnknownStrategy:
    """An integrator, or another strategy, of a file whose class is not known."""

    stored: Any
    reason: str
    origin: Mapping[str, str] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """Name of the class, as the file has it."""
        return _type(self.stored)

    def __repr__(self) -> str:
        return f"<{self.type}, an unknown strategy: {self.reason}>"


UNKNOWN: Final = (Unknown, UnknownFormulation, UnknownStrategy)
"""Kinds that have a reason."""


def _type(stored: Any) -> str:
    return str(stored["type"] if isinstance(stored, dict) else stored)


@dataclass(frozen=True, kw_only=True)
class UnknownShape(Shape):
    """A shape of a file whose class is not known; nothing is drawn of it. text: its JSON."""

    text: str = field(default="{}")
    place: tuple[tuple[str, str], ...] = ()
    """Where the class was defined, as the file says."""

    @classmethod
    def of(cls, stored: Mapping[str, Any], origin: Mapping[str, str]) -> UnknownShape:
        """The shape that a file describes."""
        return cls(text=json.dumps(stored, default=np.ndarray.tolist), place=tuple(origin.items()))

    @property
    def type(self) -> str:
        """Name of the class, as the file has it."""
        return _type(self.stored)

    @property
    def origin(self) -> dict[str, str]:
        """Where the class was defined, as the file says."""
        return dict(self.place)

    @property
    def stored(self) -> dict[str, Any]:
        """What the file says of it."""
        return dict(json.loads(self.text))


def refuse_unknown_classes(elements: Iterable[Element]) -> None:
    """Refuse to compute a model that has elements of unknown classes; each class is named once."""
    named: dict[str, list[Unknown]] = {}
    for element in elements:
        if isinstance(element, Unknown):
            named.setdefault(element.reason, []).append(element)
    if named:
        raise ModelError([Problem(_listed(found), "", f"cannot be computed: {why}") for why, found in named.items()])


def _listed(elements: list[Unknown], most: int = 5) -> str:
    text = ", ".join(map(str, elements[:most]))
    return f"{text} and {len(elements) - most} more" if len(elements) > most else text
