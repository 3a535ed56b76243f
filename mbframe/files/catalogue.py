"""The classes that a model file may name, and how their objects are called into being.

The registry knows the built-in classes and those that were registered. Another class of a user goes by its qualified
name too, such as ``"my_parts.Magnet"``, and is known only if the caller hands it over.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, TypeVar

from ..bodies.base import Body
from ..bodies.formulations import Formulation
from ..constraints.base import BasicConstraint
from ..errors import ModelError, Problem
from ..forces.base import ForceElement
from ..joints.base import Joint
from ..measures import Measure
from ..parameters import REQUIRED, Element, Parameter
from ..plug_ins import import_offered
from ..registry import MAIN, built_in, is_ours, is_public, name_of, registered
from ..shapes import Shape
from ..signals import Signal
from ..signatures import ALIASES, positional

ADDED: Final = (Body, Joint, BasicConstraint, ForceElement, Measure, Signal)
"""Bases of what can be added to a system."""

F = TypeVar("F", bound=Callable[..., Any])


def remembered(function: F) -> F:
    """`functools.cache`, but with the signature kept: to type checkers classes are not hashable."""
    return cache(function)  # type: ignore[return-value]


class Catalogue:
    """The built-in classes, those that were registered and those that the caller hands over."""

    def __init__(self, classes: Iterable[type[Any]] = ()) -> None:
        given = list(classes)
        problems = [
            Problem("classes", "", f"found {cls!r}; allowed are classes of elements, shapes and strategies")
            for cls in given
            if not (isinstance(cls, type) and issubclass(cls, Element | Shape | Formulation))
        ]
        if problems:
            raise ModelError(problems)
        self._given = {name_of(cls): cls for cls in given}
        self._found: dict[tuple[type[Any], ...], dict[str, type[Any]]] = {}
        self._asked: dict[str, list[Problem]] = {}  # installed packages, and what is wrong with them

    def classes(self, *bases: type[Any]) -> dict[str, type[Any]]:
        """All classes below the bases, by their names in files."""
        if bases not in self._found:
            known: dict[str, type[Any]] = {}
            for base in bases:
                known |= built_in(base) | registered(base)
            self._found[bases] = known | {name: cls for name, cls in self._given.items() if issubclass(cls, bases)}
        return self._found[bases]

    def find(self, name: str, *bases: type[Any]) -> type[Any] | None:
        """The class of that name below the bases.

        One of an installed package that offers classes is imported. One of a program, such as ``"__main__.Magnet"`` of
        a notebook, may have been moved to a module: what follows the module in its name counts.
        """
        known = self.classes(*bases)
        if name in known:
            return known[name]
        module, _, rest = name.partition(".")
        if not rest:
            return None
        if module in MAIN:
            return next((cls for cls in known.values() if cls.__qualname__ == rest and not is_public(cls)), None)
        if module not in self._asked:
            self._asked[module] = import_offered(module)
            self._found.clear()
        return self.classes(*bases).get(name)

    def faults(self, name: str) -> list[Problem]:
        """What is wrong with the installed packages that would have the class of a name that was looked for."""
        return self._asked.get(name.partition(".")[0], [])


# ---- Calls --------------------------------------------------------------------------------------------------------


@remembered
def arguments(cls: type[Any]) -> dict[str, str]:
    """What an element's class takes by position after the name: argument and parameter, such as {"i": "body_i"}.

    A `TypeError` says that there is an argument which is no parameter: such an object does not follow from its
    description.
    """
    declared = cls.parameters()
    found: dict[str, str] = {}
    for argument in positional(cls)[1:]:
        parameter = ALIASES.get(argument.name, argument.name)
        if parameter in declared:
            found[argument.name] = parameter
        elif argument.default is argument.empty:
            raise TypeError(_undeclared(cls, argument.name))
    for name, argument in named(cls).items() if has_own_constructor(cls) else ():
        if argument.default is argument.empty and ALIASES.get(name, name) not in declared:
            raise TypeError(_undeclared(cls, name))
    return found


def _undeclared(cls: type[Any], name: str) -> str:
    remedy = f"declare it in the class: {name} = mb.parameter(...)"
    return f"{cls.__name__} takes the argument {name!r}, which is no declared parameter; {remedy}"


def has_own_constructor(cls: type[Any]) -> bool:
    """Whether a user wrote a constructor for the class or a base of it."""
    return any("__init__" in vars(owner) and not is_ours(owner) for owner in cls.__mro__[:-1])


@remembered
def named(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """What a class takes by name besides the name: a constructor with ``**values`` passes on what its base takes."""
    found: dict[str, inspect.Parameter] = {}
    for owner in cls.__mro__[:-1]:
        if "__init__" not in vars(owner):
            continue
        own = list(inspect.signature(vars(owner)["__init__"]).parameters.values())[1:]
        found = {a.name: a for a in own if a.kind not in (a.VAR_KEYWORD, a.VAR_POSITIONAL)} | found
        if is_ours(owner) or all(argument.kind is not argument.VAR_KEYWORD for argument in own):
            break
    return {name: argument for name, argument in found.items() if name != "name"}


@remembered
def fields(cls: type[Any], dimension: int = 3) -> dict[str, Any]:
    """The declared parameters that describe an element in a system of that dimension, by their names in files: by
    position, required, optional.

    The bodies of an element that takes them from elsewhere (a gear from its joints, a load from the ground) are left
    out. A body has the dimension of its class, whatever system it is put into.
    """
    own = cls.dimension if issubclass(cls, Body) else dimension
    declared = {name: p.of(own) for name, p in cls.parameters().items()}
    by_position = arguments(cls)
    implied = {"body_i", "body_j"} - set(by_position.values())
    first = {argument: declared[name] for argument, name in by_position.items()}
    if has_own_constructor(cls):  # which may pass on, by name, what its base takes by position
        passed = {argument: ALIASES[argument] for argument in named(cls) if argument in ALIASES}
        first |= {argument: declared[name] for argument, name in passed.items() if name in declared}
        by_position = by_position | passed
    others = [(n, p) for n, p in declared.items() if n not in implied and n not in by_position.values()]
    return first | dict(sorted(others, key=lambda pair: pair[1].default is not REQUIRED))


@remembered
def reference_keys(cls: type[Any]) -> list[str]:
    """The parameters of an element that are other elements, by their names in files."""
    return [key for key, p in fields(cls).items() if p.kind == "reference"]


@remembered
def shape_fields(cls: type[Any]) -> tuple[dict[str, Parameter | None], frozenset[str]]:
    """What an object that describes a shape may have: keys, with the parameters that check them; and those it needs."""
    found = dataclasses.fields(cls)
    needed = frozenset(one.name for one in found if one.default is one.default_factory is dataclasses.MISSING)
    return {"type": None, **{one.name: one.metadata.get("parameter") for one in found}}, needed


@remembered
def takes_formulation(cls: type[Any]) -> bool:
    """Whether a body can be given a formulation."""
    return "formulation" in named(cls)


@remembered
def settings_of(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """The arguments of a formulation's class."""
    return {} if cls.__init__ is object.__init__ else dict(inspect.signature(cls).parameters)
