"""Signals: named scalars that come from outside of the equations, and that expressions of time may name."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from .errors import ModelError, Problem
from .expressions import reserved
from .functions import Function
from .parameters import Element, parameter

_IDENTIFIER = re.compile(r"[A-Za-z]\w*", re.ASCII)


class Signal(Element):
    """What has values that expressions may name; its own name is an identifier with no other meaning there."""

    symbol = "input"

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if not _IDENTIFIER.fullmatch(self.name):
            yield self.problem(
                "name",
                f"found {self.name!r}; expressions name it, so give letters, digits and underscores, a letter first",
            )
        elif self.name == "t" or reserved(self.name):
            yield self.problem(
                "name", f"found {self.name!r}, which has a meaning of its own in expressions; choose another"
            )

    @property
    def signals(self) -> dict[str, str]:
        """The names by which expressions call its values, with their units."""
        raise NotImplementedError


class Input(Signal):
    """A scalar from outside: mb.Input("push", value=0.0, unit="N"), for expressions such as "2*push + 0.1*t".

    It keeps its value until another one is given: `sim.inputs["push"] = 3.0` between the steps of a `Simulation`; in a
    run of `simulate` it has its `value`. Results store it, as the quantity of its name; `linearize(inputs=["push"])`
    tells how the motion follows from it.
    """

    value = parameter(0.0, unit="that of the input", help="value at the beginning")
    unit = parameter("", kind="text", help="unit of the value, to be shown")
    lower = parameter(None, kind="number", unit="that of the input", help="least value that is taken; none by default")
    upper = parameter(
        None, kind="number", unit="that of the input", help="largest value that is taken; none by default"
    )

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if self.lower is not None and self.upper is not None and not self.lower <= self.upper:
            yield self.problem("lower", f"found {self.lower:g} above upper = {self.upper:g}; exchange them")
        elif message := self.refusal(self.value):
            yield self.problem("value", message)

    def refusal(self, value: float) -> str:
        """Why it does not take a value; empty if it does."""
        low, high = self.lower, self.upper
        if (low is None or value >= low) and (high is None or value <= high):
            return ""
        above, below = "" if low is None else f"from {low:g}", "" if high is None else f"to {high:g}"
        between = " ".join(part for part in (above, below, self.unit) if part)
        return f"found {value:g}; allowed are values {between}; give another one"

    @property
    def signals(self) -> dict[str, str]:
        return {self.name: self.unit}


def named_by(element: Element) -> dict[str, list[str]]:
    """The parameters of an element whose functions name signals, with these."""
    kind: Any = type(element)
    found = {}
    for field in _function_fields(kind):
        value = getattr(element, field)
        parts = value if isinstance(value, tuple) else (value,)
        names = [name for part in parts if isinstance(part, Function) for name in part.signals]
        if names:
            found[field] = list(dict.fromkeys(names))
    return found


@cache
def _function_fields(kind: Any) -> tuple[str, ...]:
    return tuple(name for name, p in kind.parameters().items() if "function" in p.kind)


def with_signals(element: Any, values: Mapping[str, float]) -> Any:
    """An element whose functions have the values of signals in them; itself if it names none."""
    fields = named_by(element)
    if not fields:
        return element
    twin = copy.copy(element)
    for field in fields:
        value = getattr(element, field)
        bound = tuple(f.bound(values) for f in value) if isinstance(value, tuple) else value.bound(values)
        vars(twin)[field] = bound
    return twin


def prefixed(element: Element, prefix: str) -> dict[str, Any]:
    """The functions of an element that name signals, for names with a prefix."""
    found: dict[str, Any] = {}
    for field in named_by(element):
        value = getattr(element, field)
        several = isinstance(value, tuple)
        parts = [f.renamed({name: prefix + name for name in f.signals}) for f in (value if several else (value,))]
        found[field] = tuple(parts) if several else parts[0]
    kind: Any = type(element)
    for name, p in kind.parameters().items():
        if p.kind == "seen":
            found[name] = tuple(prefix + seen for seen in getattr(element, name))
    return found


def refuse_unknown(element: Element, known: Mapping[str, str], field: str = "") -> None:
    """Refuse an element that names a signal which is not there."""
    problems = []
    for name, signals in named_by(element).items():
        unknown = [signal for signal in signals if signal not in known]
        if unknown and field in ("", name):
            there = f"there are t, {', '.join(known)}" if known else "there is t alone"
            message = (
                f"names {', '.join(map(repr, unknown))}, but {there}; correct it, or add an input first: "
                f'system.add(mb.Input("{unknown[0].partition(".")[0]}"))'
            )
            problems.append(element.problem(name, message))
    if problems:
        raise ModelError(problems)
