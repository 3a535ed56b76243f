"""The classes that a model file may name, and how their objects are called into being.

Nothing is registered: the built-in classes are those that `mbframe` exports, found by walking subclasses. A user's
class goes by its qualified name, such as ``"my_parts.Magnet"``, and is known only if the caller hands it over.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeVar

import mbframe

from ..bodies.base import Body, Ground
from ..bodies.formulations import Formulation
from ..constraints.base import BasicConstraint
from ..errors import ModelError, Problem
from ..forces.base import ForceElement
from ..joints.base import Joint
from ..measures import Measure
from ..parameters import REQUIRED, Element
from ..shapes import Shape

ADDED: Final = (Body, Joint, BasicConstraint, ForceElement, Measure)
"""Bases of what can be added to a system."""
STRATEGIES: Final = ("Acceleration", "Stabilization", "Integrator")
"""Public names of the bases of strategies; their modules load the compiler, so they are looked up when needed."""
_COSTLY: Final = (
    "analysis",
    "equations",
    "files",
    "render",
    "results",
    "solvers",
)  # places without classes of a description
_ALIASES: Final = {"i": "body_i", "j": "body_j", "body": "body_j"}  # arguments of connections and their parameters

F = TypeVar("F", bound=Callable[..., Any])


def remembered(function: F) -> F:
    """`functools.cache`, but with the signature kept: to type checkers classes are not hashable."""
    return cache(function)  # type: ignore[return-value]


def strategy_base(setting: str) -> type[Any]:
    """The base class of a strategy setting of `simulate`, such as "integrator"."""
    return Formulation if setting == "formulation" else getattr(mbframe, setting.capitalize())


@remembered
def built_in(base: type[Any]) -> dict[str, type[Any]]:
    """The public, concrete classes of the library below `base`, by name in alphabetical order.

    A class is abstract as long as an attribute that it, or a base of it, only annotates has no value.
    """
    for place in mbframe._PLACES:
        if not place.startswith(_COSTLY) or (base.__name__ in STRATEGIES and place.startswith("solvers")):
            importlib.import_module(f"mbframe.{place}")
    found = {}
    for cls in _below(base):
        annotated = {name for owner in cls.__mro__ for name in inspect.get_annotations(owner)}
        concrete = all(hasattr(cls, name) for name in annotated) or issubclass(cls, Shape)
        if is_built_in(cls) and concrete and describable(cls) and cls not in (*ADDED, Ground):
            found[cls.__name__] = cls
    return dict(sorted(found.items()))


def _below(base: type[Any]) -> Iterator[type[Any]]:
    for cls in base.__subclasses__():
        yield cls
        yield from _below(cls)


@remembered
def is_built_in(cls: type[Any]) -> bool:
    """Whether `mbframe` exports the class."""
    return cls.__module__.startswith("mbframe.") and getattr(mbframe, cls.__name__, None) is cls


def name_of(cls: type[Any]) -> str:
    """The name of a class in files: its own for a class that `mbframe` exports, otherwise with module and owner."""
    return cls.__name__ if is_built_in(cls) else f"{cls.__module__}.{cls.__qualname__}"


class Catalogue:
    """The built-in classes and those that the caller made known."""

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

    def classes(self, *bases: type[Any]) -> dict[str, type[Any]]:
        """All classes below the bases, by their names in files."""
        if bases not in self._found:
            known: dict[str, type[Any]] = {}
            for base in bases:
                known |= built_in(base)
            self._found[bases] = known | {name: cls for name, cls in self._given.items() if issubclass(cls, bases)}
        return self._found[bases]


# ---- Calls --------------------------------------------------------------------------------------------------------


@remembered
def arguments(cls: type[Any]) -> dict[str, str]:
    """What an element's class takes by position after the name: argument and parameter, such as {"i": "body_i"}.

    A `TypeError` says that there is an argument which is no parameter: such an object does not follow from its
    description.
    """
    declared = cls.parameters()
    found: dict[str, str] = {}
    for argument in _positional(cls)[1:]:
        parameter = _ALIASES.get(argument.name, argument.name)
        if parameter in declared:
            found[argument.name] = parameter
        elif argument.default is argument.empty:
            raise TypeError(f"{cls.__name__} takes the argument {argument.name!r}, which is no declared parameter")
    return found


def describable(cls: type[Any]) -> bool:
    """Whether objects of a class follow from what a document says about them."""
    try:
        if issubclass(cls, Element):
            arguments(cls)
    except TypeError:
        return False
    return True


def _positional(cls: type[Any]) -> list[inspect.Parameter]:
    """Arguments by position; a constructor with *args passes them on, so that of its base tells their names."""
    for owner in cls.__mro__:
        if "__init__" in vars(owner):
            own = list(inspect.signature(vars(owner)["__init__"]).parameters.values())[1:]
            if all(argument.kind is not argument.VAR_POSITIONAL for argument in own):
                return [argument for argument in own if argument.kind is argument.POSITIONAL_OR_KEYWORD]
    return []


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
    others = [(n, p) for n, p in declared.items() if n not in implied and n not in by_position.values()]
    return first | dict(sorted(others, key=lambda pair: pair[1].default is not REQUIRED))


@remembered
def reference_keys(cls: type[Any]) -> list[str]:
    """The parameters of an element that are other elements, by their names in files."""
    return [key for key, p in fields(cls).items() if p.kind == "reference"]


@remembered
def shape_fields(cls: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    """The fields of a shape's class by name."""
    return {field.name: field for field in dataclasses.fields(cls)}


@remembered
def takes_formulation(cls: type[Any]) -> bool:
    """Whether a body can be given a formulation."""
    constructors = [vars(owner)["__init__"] for owner in cls.__mro__[:-1] if "__init__" in vars(owner)]
    return any("formulation" in inspect.signature(one).parameters for one in constructors)


@remembered
def settings_of(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """The arguments of a formulation's class."""
    return {} if cls.__init__ is object.__init__ else dict(inspect.signature(cls).parameters)
