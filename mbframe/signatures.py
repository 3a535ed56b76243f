"""Signatures of element classes and the section "Parameters" of their docstrings, made from what they declare."""

from __future__ import annotations

import inspect
from typing import Any, Final

import numpy as np

from .functions import Function
from .parameters import REQUIRED, Element, Parameter

ALIASES: Final = {"i": "body_i", "j": "body_j", "body": "body_j"}
"""Arguments of connections, and their parameters."""

TYPES: Final = {
    "number": "float",
    "angle": "float",
    "integer": "int",
    "flag": "bool",
    "text": "str",
    "vector": "Vector",
    "point": "Vector",
    "axis": "Vector",
    "free vector": "Vector",
    "numbers": "float | Vector",
    "matrix": "Vector | Matrix",
    "inertia": "Vector | Matrix",
    "rotation": "Rotation | Vector | Matrix",
    "function": "Law",
    "functions": "Sequence[Law]",
    "vector functions": "Sequence[Law]",
    "axial functions": "Law | Sequence[Law]",
    "reference": "Element",
    "shape": "Shape",
    "shapes": "Sequence[Shape]",
    "modes": "Any",
    "list": "Sequence[Any]",
    "seen": "Sequence[Any]",
    "units": "Mapping[str, str]",
    "state space": "Any",
}
"""How each kind of parameter is annotated: `Vector`, `Matrix` and `Law` (of time or another variable) are unions."""


def constructor(cls: Any) -> list[inspect.Parameter]:
    """The arguments of a class's constructor, itself left out; one with *args passes them on, so its base's count."""
    for owner in cls.__mro__:
        if "__init__" in vars(owner):
            own = list(inspect.signature(vars(owner)["__init__"]).parameters.values())[1:]
            if all(argument.kind is not argument.VAR_POSITIONAL for argument in own):
                return own
    return []


def positional(cls: Any) -> list[inspect.Parameter]:
    """What a class takes by position."""
    return [argument for argument in constructor(cls) if argument.kind is argument.POSITIONAL_OR_KEYWORD]


def declared(cls: Any) -> dict[str, Parameter]:
    """The parameters that are given by keyword, required ones first, as they are in the space of the class.

    Left out are those that are given by position, and the bodies of an element that takes them from elsewhere (a gear
    from its joints, a load from the ground).
    """
    own = getattr(cls, "dimension", 3)
    taken = {ALIASES.get(argument.name, argument.name) for argument in constructor(cls)} | {"body_i", "body_j"}
    found = {name: p.of(own if own == 2 else 3) for name, p in cls.parameters().items() if name not in taken}
    return dict(sorted(found.items(), key=lambda pair: pair[1].default is not REQUIRED))


def annotation(p: Parameter) -> str:
    """The type of what a parameter takes."""
    text = f"Literal[{', '.join(map(repr, p.choices or ()))}]" if p.kind == "choice" else TYPES[p.kind]
    if p.shape == (2,) and p.kind == "axial functions":
        text = "Law"
    return f"{text} | None" if p.optional else text


def default(p: Parameter) -> Any:
    """The default as one would write it: tuples for arrays, a number for a constant function.

    An axis that must be given in space has one in the plane: there it is the normal.
    """
    return _written(p.in_plane.default if p.default is REQUIRED else p.default)


def _written(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Function) and value.kind == "constant":
        return value(*(0.0,) * len(value.variables))
    return tuple(map(_written, value)) if isinstance(value, list | tuple) else value


def signature(cls: type[Element]) -> inspect.Signature:
    """The signature of a class: what its constructor names, and instead of ``**values`` its declared parameters."""
    named = constructor(cls)
    found = [argument for argument in named if argument.kind is not argument.VAR_KEYWORD]
    if len(found) < len(named):
        found += [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if default(p) is REQUIRED else default(p),
                annotation=annotation(p),
            )
            for name, p in declared(cls).items()
        ]
    return inspect.Signature(found)


def documented(cls: type[Element], text: str | None) -> str | None:
    """A docstring with a section that tells of every declared parameter; one that has such a section stays."""
    text = inspect.cleandoc(text or "")
    if HEADING in text:
        return text
    named = [a for a in constructor(cls) if a.kind is not a.VAR_KEYWORD]
    lines = [
        f"{a.name} : {a.annotation}{f', default {a.default!r}' if a.default is not a.empty else ''}" for a in named
    ]
    lines += [line for name, p in declared(cls).items() for line in _told(name, p)]
    return "\n".join([f"{text}\n" if text else "", HEADING, *lines]).lstrip("\n") if lines else text or None


HEADING: Final = "Parameters\n----------"


_IDENTITY: Final = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def _told(name: str, p: Parameter) -> list[str]:
    value = "the identity" if default(p) == _IDENTITY else repr(default(p))
    end = "" if default(p) is REQUIRED else ", optional" if p.optional else f", default {value}"
    if p.default is REQUIRED and end:
        end += " in the plane, none in space"
    return [f"{name} : {p.allowed()}{end}", *([f"    {p.help}."] if p.help else [])]
