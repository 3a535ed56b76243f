"""A model as Python that a person could have written: one call per element, only what differs from the defaults."""

from __future__ import annotations

import builtins
import keyword
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from ..bodies.base import Ground
from ..errors import ModelError, Problem, check_kinds
from ..functions import Function
from ..packed import listed
from ..parameters import Parameter
from ..registry import module_of, name_of
from ..shapes import Shape
from ..system import System
from ..unknown import UNKNOWN, UnknownFormulation, UnknownShape
from .catalogue import ADDED, Catalogue, arguments, fields
from .model import document, used_classes
from .values import FUNCTION_KINDS, SEVERAL_FUNCTIONS

WIDTH: Final = 100
LONG: Final = 12
"""Lists of so many numbers are filled line by line instead of one number a line."""


def to_python(system: System, *, simulation: Mapping[str, Any] | None = None) -> str:
    """Python that rebuilds a system, bound to the name `system`.

    Parameters
    ----------
    system
        What to write. A Python callable in it is refused by a `ModelError` that names the element.
    simulation
        Arguments of `simulate`, to be written as a call at the end.
    """
    check_kinds("to_python", system=(system, System))
    _refuse_unknown(system, simulation)
    content, classes = document(system, simulation), used_classes(system, simulation)
    return _Writer(Catalogue(classes), classes).script(content)


def _refuse_unknown(system: System, simulation: Mapping[str, Any] | None) -> None:
    """What is of an unknown class has no call: which of its parameters are arguments is not known."""
    found: list[tuple[str, str, Any]] = [(one.name, "", one) for one in system.unknown]
    found += [
        (body.name, "formulation", one)
        for body in system.bodies
        if isinstance(one := getattr(body, "formulation", None), UnknownFormulation)
    ]
    found += [("simulation", key, one) for key, one in (simulation or {}).items() if isinstance(one, UNKNOWN)]
    problems = [Problem(name, field, f"cannot be written as Python: {one.reason}") for name, field, one in found]
    problems += [
        Problem(body.name, "shapes", f"cannot be written as Python: {shape.type} is not known; give its class")
        for body in (system.ground, *system.bodies)
        for shape in body.shapes
        if isinstance(shape, UnknownShape)
    ]
    if problems:
        raise ModelError(problems)


def element_to_python(system: System, name: str) -> str:
    """Python that adds an element to a system bound to the name `system`; others are found there by name."""
    writer, content = _writer_within(system)
    data = next(entry for entry in content["elements"] if entry["name"] == name)
    return "\n".join(writer._element(data, set()))


def assignment_to_python(system: System, name: str, parameters: Iterable[str]) -> str:
    """Python that gives parameters of an element (of the system itself for "") the values that they have now."""
    writer, content = _writer_within(system)
    owner: Any
    if name == "":
        owner, place, data = system, "system", content
    elif name == system.ground.name:
        owner, place, data = system.ground, "system.ground", content.get("ground", {})
    else:
        owner, place = system[name], writer._variables[name]
        data = next(entry for entry in content["elements"] if entry["name"] == name)
    known = fields(type(owner))
    given = {key: writer._value(known[key], data[key]) if key in data else _default(owner, key) for key in parameters}
    return "\n".join(_call(f"{place}.update", **given).lines("", 0))


def _writer_within(system: System) -> tuple[_Writer, dict[str, Any]]:
    """A writer of lines that go on with a system that is there already, and the content of its file."""
    classes = used_classes(system)
    writer, content = _Writer(Catalogue(classes), classes), document(system)
    writer._variables = {entry["name"]: f"system[{_text(entry['name'])}]" for entry in content["elements"]}
    writer._variables[system.ground.name] = "system.ground"
    return writer, content


def _default(owner: Any, key: str) -> str | Group:
    """A value that a file leaves out because it is the default."""
    value = getattr(owner, key)
    if isinstance(value, Function):
        return repr(float(value(*([0.0] * len(value.variables)))))  # defaults are constants
    return _literal(value.tolist() if hasattr(value, "tolist") else list(value) if isinstance(value, tuple) else value)


# ---- Layout -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """A call, a list or a tuple: its items are texts or further groups, each with what stands before it."""

    opening: str
    items: tuple[tuple[str, str | Group], ...]
    closing: str

    def __str__(self) -> str:
        one = len(self.items) == 1 and self.opening == "("  # a tuple of one
        return f"{self.opening}{self.inside}{',' if one else ''}{self.closing}"

    @property
    def inside(self) -> str:
        return ", ".join(f"{before}{item}" for before, item in self.items)

    @property
    def is_call(self) -> bool:
        return len(self.opening) > 1

    def lines(self, before: str, indent: int, after: str = "") -> Iterator[str]:
        """On one line if it fits, otherwise in the layout of the usual formatters."""
        pad, inner = " " * indent, indent + 4
        if indent + len(f"{before}{self}{after}") <= WIDTH:
            yield f"{pad}{before}{self}{after}"
            return
        yield f"{pad}{before}{self.opening}"
        numbers = not self.is_call and all(isinstance(item, str) and not before for before, item in self.items)
        if self.is_call and len(self.items) > 1 and inner + len(self.inside) <= WIDTH:
            yield f"{' ' * inner}{self.inside}"
        elif numbers and len(self.items) >= LONG:
            margin = " " * inner
            yield textwrap.fill(f"{self.inside},", WIDTH, initial_indent=margin, subsequent_indent=margin)
        else:
            comma = "," if len(self.items) > 1 or not self.is_call else ""
            for prefix, item in self.items:
                if isinstance(item, Group):
                    yield from item.lines(prefix, inner, comma)
                else:
                    yield f"{' ' * inner}{prefix}{item}{comma}"
        yield f"{pad}{self.closing}{after}"


def _call(function: str, *by_position: str | Group, **named: str | Group) -> Group:
    items = [("", item) for item in by_position] + [(f"{key}=", item) for key, item in named.items()]
    return Group(f"{function}(", tuple(items), ")")


def _text(value: str) -> str:
    """A literal in double quotes, if the text allows it."""
    plain = repr(value)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in value else plain


def _literal(value: Any) -> str | Group:
    """A JSON value: rows of numbers are tuples, everything above them a list."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return Group("{", tuple((f"{_text(key)}: ", _literal(part)) for key, part in value.items()), "}")
    if not isinstance(value, list):
        return repr(value)
    nested = any(isinstance(entry, list) for entry in value)
    return Group("[" if nested else "(", tuple(("", _literal(v)) for v in value), "]" if nested else ")")


def _list(values: list[Any]) -> Group:
    return Group("[", tuple(("", _literal(value)) for value in values), "]")


# ---- Content ------------------------------------------------------------------------------------------------------


class _Writer:
    def __init__(self, catalogue: Catalogue, classes: list[type[Any]]) -> None:
        self._elements = catalogue.classes(*ADDED)
        self._shapes = catalogue.classes(Shape)
        self._imported = {name_of(cls): cls for cls in classes}
        problems = [
            Problem(cls.__qualname__, "", "is defined inside a function, where no script can reach it; move it out")
            for cls in classes
            if "<locals>" in cls.__qualname__
        ]
        if problems:
            raise ModelError(problems)
        tops = {cls.__qualname__.partition(".")[0] for cls in classes}
        self._taken = {"mb", "system", "ground", "result", *tops, *keyword.kwlist, *dir(builtins)}
        self._variables: dict[str, str] = {}

    def script(self, content: dict[str, Any]) -> str:
        """The whole file."""
        ground = content.get("ground", {})
        self._variables[ground.get("name", "ground")] = "ground"
        used = {other for data in content["elements"] for other in self._references(data)}
        parameters = self._given(fields(System), content)
        head = [f'"""{self._title(content["name"])}"""', "", *self._imports(), ""]
        head += _call("mb.System", _text(content["name"]), **parameters).lines("system = ", 0)
        if self._variables.keys() & used or ground:
            head.append("ground = system.ground")
        if "name" in ground:
            head.append(f"ground.name = {_text(ground['name'])}")
        looks = self._given(fields(Ground), ground)
        if looks:
            head += _call("ground.update", **looks).lines("", 0)
        body: list[str] = []
        for data in content["elements"]:
            body += self._element(data, used)
        if given := content.get("simulation"):
            settings = {key: self._strategy(value) for key, value in given.items()}
            body += ["", *_call("mb.simulate", "system", **settings).lines("result = ", 0)]
        return "\n".join([*head, "", *body] if body else head) + "\n"

    def _title(self, name: str) -> str:
        plain = re.sub(r"[^\w .,:;()+-]", " ", name)
        return f"The model {plain!r}." if plain.strip() else "A model."

    def _imports(self) -> list[str]:
        own = sorted({(module_of(cls), cls.__qualname__.partition(".")[0]) for cls in self._imported.values()})
        return ["import mbframe as mb", *([""] if own else []), *(f"from {m} import {name}" for m, name in own)]

    def _class(self, name: str) -> str:
        return self._imported[name].__qualname__ if name in self._imported else f"mb.{name}"

    def _references(self, data: Mapping[str, Any]) -> list[str]:
        known = fields(self._elements[data["type"]])
        found = [data[key] for key, p in known.items() if p.kind == "reference" and key in data]
        return [value["body"] if isinstance(value, dict) else value for value in found]

    def _element(self, data: Mapping[str, Any], used: set[str]) -> list[str]:
        cls = self._elements[data["type"]]
        given = self._given(fields(cls), data)
        if "formulation" in data:
            given["formulation"] = self._strategy(data["formulation"])
        by_position = [given.pop(key) for key in takewhile(given.__contains__, arguments(cls))]
        name, made = data["name"], self._class(data["type"])
        if any(isinstance(data.get(side), dict) for side in "ij"):
            variable = self._variable(name, cls)
            later: dict[str, str | Group] = {"name": _text(name)}
            later |= {"at": given.pop("at")} if "at" in given else {}
            lines = [*_call(made, *by_position, **given).lines(f"{variable} = ", 0)]
            return [*lines, *(f"{variable}.{key} = {value}" for key, value in later.items()), f"system.add({variable})"]
        bound = f"{self._variable(name, cls)} = " if name in used else ""
        return [*_call("system.add", _call(made, _text(name), *by_position, **given)).lines(bound, 0)]

    def _variable(self, name: str, cls: type[Any]) -> str:
        """An identifier that resembles the name of an element and is not taken."""
        ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
        word = re.sub(r"\W+", "_", ascii_name).strip("_").lower()
        if not word or word[0].isdigit():
            kind = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
            word = f"{kind}_{word}".strip("_")
        variable, number = word, 2
        while variable in self._taken:
            variable, number = f"{word}_{number}", number + 1
        self._taken.add(variable)
        self._variables[name] = variable
        return variable

    def _given(self, known: Mapping[str, Parameter], data: Mapping[str, Any]) -> dict[str, str | Group]:
        return {key: self._value(p, data[key]) for key, p in known.items() if key in data}

    def _value(self, p: Parameter, value: Any) -> str | Group:
        if value is None:
            return "None"
        if p.kind == "reference":
            return self._marker(value) if isinstance(value, dict) else self._variables[value]
        if p.kind == "function" or (p.kind in SEVERAL_FUNCTIONS and not isinstance(value, list)):
            return self._function(value, p.variables)
        if p.kind in SEVERAL_FUNCTIONS:
            return Group("(", tuple(("", self._function(part, p.variables)) for part in value), ")")
        if p.kind == "modes":
            return _call("mb.flexible.Modes.from_values", _literal(value))
        value = listed(value)
        if p.kind == "shape":
            return self._shape(value)
        if p.kind == "shapes":
            return Group("[", tuple(("", self._shape(part)) for part in value), "]")
        return _list(value) if p.kind == "list" else _literal(value)

    def _marker(self, value: Mapping[str, Any]) -> Group:
        axes = {"axes": _literal(value["axes"])} if "axes" in value else {}
        return _call("mb.Marker", self._variables[value["body"]], at=_literal(value["at"]), **axes)

    def _function(self, value: Any, variables: tuple[str, ...]) -> str | Group:
        if not isinstance(value, dict):
            return _literal(value)
        (kind,) = [key for key in value if key in FUNCTION_KINDS]
        own = tuple(value.get("variables", variables))
        if kind in ("constant", "expression"):
            given = {} if own == ("t",) and "breakpoints" in value else {"variables": _literal(list(own))}
            if "breakpoints" in value:
                given["breakpoints"] = _literal(value["breakpoints"])
            return _call("mb.Function", _literal(value[kind]), **given)
        lists = [listed(one) for one in ([value[kind]] if kind == "polynomial" else value[kind])]
        variable = {} if own == ("t",) else {"variable": _text(own[0])}
        if value.get("interpolation") == "spline":
            variable["interpolation"] = _text("spline")
        return _call(f"mb.Function.{kind}", *(_list(one) for one in lists), **variable)

    def _shape(self, value: Mapping[str, Any]) -> Group:
        given = {key: _literal(part) for key, part in value.items() if key != "type"}
        return _call(self._class(value["type"]), **given)

    def _strategy(self, value: Any) -> str | Group:
        """A setting: a number, instants, or a strategy by name or with parameters."""
        value = listed(value)
        if isinstance(value, str):
            return f"{self._class(value)}()"
        if not isinstance(value, dict):
            return _literal(value)
        given = {key: _literal(part) for key, part in value.items() if key != "type"}
        return _call(self._class(value["type"]), **given)
