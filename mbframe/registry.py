"""The registry of classes: every class of elements, shapes and strategies, by name, and whether it is ours.

Files, the schema, the menus of the application, documentation and tests ask here. Nothing of the library is listed by
hand: its classes are found below their base once the rooms that define them are imported, and the public ones are those
that `mbframe` exports. A user's class is found the same way as soon as it is defined; `register` makes it known by
name, to files and menus too.

This module stands below all others, so that any of them may ask; what it needs of them it takes from the public names.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cache
from pathlib import PurePath
from typing import Any, Final

import mbframe

from .errors import ModelError, Problem

ADDED: Final = ("Body", "Joint", "BasicConstraint", "ForceElement", "Measure", "Controller")
"""Bases of what can be added to a system."""
STRATEGIES: Final = ("Acceleration", "Stabilization", "Integrator")
"""Bases of strategies; their rooms load the compiler, so they are imported only when these are asked for."""
BASES: Final = (*ADDED, *STRATEGIES, "Formulation", "Shape")

_DESCRIBING: Final = ("bodies", "constraints", "controllers", "forces", "joints", "measures", "shapes")
"""Rooms of a model's classes."""
_SOLVING: Final = ("solvers.acceleration", "solvers.integrators", "solvers.stabilization")
MAIN: Final = ("__main__", "__mp_main__")
"""The module of a program, and of what its processes make of it."""
_NEVER_NAMED: Final = ("Ground", "PlanarGround")  # a system has one of its own

_registered: dict[str, type[Any]] = {}


# ---- Of one class ---------------------------------------------------------------------------------------------------


def is_ours(thing: Any) -> bool:
    """Whether a class or function belongs to the library: it does not raise, and what is compiled of it may be kept."""
    return (thing.__module__ or "").startswith("mbframe.")  # code run by exec may belong to no module


def is_public(cls: type[Any]) -> bool:
    """Whether `mbframe` exports the class."""
    return is_ours(cls) and cls.__name__ in mbframe.__all__ and getattr(mbframe, cls.__name__) is cls


def is_concrete(cls: type[Any]) -> bool:
    """Whether there can be objects of a class: every attribute that it, or a base of it, annotates has a value.

    Fields of a dataclass get their values when an object is made.
    """
    if inspect.isabstract(cls) or cls.__name__.startswith("_"):
        return False
    return is_dataclass(cls) or all(hasattr(cls, name) for c in cls.__mro__ for name in inspect.get_annotations(c))


def name_of(cls: type[Any]) -> str:
    """The name of a class in files: its own for a class that `mbframe` exports, otherwise with module and owner."""
    return cls.__name__ if is_public(cls) else f"{module_of(cls)}.{cls.__qualname__}"


def module_of(cls: type[Any]) -> str:
    """The module from which a class can be imported elsewhere: that of the main program has its file's name there."""
    if cls.__module__ not in MAIN:
        return cls.__module__
    main = sys.modules.get(cls.__module__)
    if (spec := getattr(main, "__spec__", None)) is not None:  # python -m
        return str(spec.name)
    file = PurePath(getattr(main, "__file__", None) or "")
    return file.stem if file.suffix == ".py" and file.stem.isidentifier() else cls.__module__


def file_of(cls: type[Any]) -> str | None:
    """The name, without folders, of the file that is the module of a class; None if it is a part of a package."""
    file = PurePath(getattr(sys.modules.get(cls.__module__), "__file__", None) or "")
    return file.name if module_of(cls) == file.stem and file.suffix == ".py" else None


# ---- Of families ----------------------------------------------------------------------------------------------------


def strategy_base(setting: str) -> type[Any]:
    """The base class of a strategy setting of `simulate`, such as "integrator"."""
    return getattr(mbframe, setting.capitalize())


def below(base: type[Any]) -> Iterator[type[Any]]:
    """All concrete classes below a base, however deep: public and internal ones of the library, and users'."""
    described = tuple(getattr(mbframe, name) for name in BASES if name not in STRATEGIES)
    for room in _DESCRIBING if issubclass(base, described) else (*_DESCRIBING, *_SOLVING):
        importlib.import_module(f"mbframe.{room}")
    return (cls for cls in dict.fromkeys(_subclasses(base)) if is_concrete(cls))


def _subclasses(base: type[Any]) -> Iterator[type[Any]]:
    for cls in base.__subclasses__():
        yield cls
        yield from _subclasses(cls)


def ours(base: type[Any]) -> list[type[Any]]:
    """The concrete classes of the library below a base, internal ones too, by name."""
    return sorted((cls for cls in below(base) if is_ours(cls)), key=lambda cls: cls.__qualname__)


def built_in(base: type[Any]) -> dict[str, type[Any]]:
    """The public classes of the library below a base that a model or a run can name, by name."""
    return dict(_built_in(base))  # type: ignore[arg-type]  # to type checkers classes are not hashable


@cache
def _built_in(base: type[Any]) -> dict[str, type[Any]]:
    return {cls.__name__: cls for cls in ours(base) if is_public(cls) and cls.__name__ not in _NEVER_NAMED}


def registered(*bases: type[Any]) -> dict[str, type[Any]]:
    """The classes below the bases that `register` made known, by their names in files."""
    return {name: cls for name, cls in _registered.items() if issubclass(cls, bases)}


def defined(base: type[Any]) -> dict[str, type[Any]]:
    """The classes below a base that users have defined so far, by their names in files; the last of a name counts."""
    return {name_of(cls): cls for cls in below(base) if not is_ours(cls)}


# ---- Registering ----------------------------------------------------------------------------------------------------


def register(*classes: type[Any]) -> None:
    """Make classes of your own known by name: to files that are loaded, to the menus of the application.

    A class is refused if it is no element, shape or strategy, if another class has its name, or if its `example()`,
    where it has one of its own, cannot be built. A class that is defined again, as in a notebook, replaces the former.
    """
    problems = [problem for cls in classes for problem in _problems(cls)]
    if problems:
        raise ModelError(problems)
    _registered.update({name_of(cls): cls for cls in classes})


def _problems(cls: Any) -> Iterator[Problem]:
    bases = tuple(getattr(mbframe, name) for name in BASES)
    if not (isinstance(cls, type) and issubclass(cls, bases)) or cls in bases:
        allowed = f"a class below one of {', '.join(BASES)}; write class Magnet(mb.ForceElement), for example"
        yield Problem("register", "", f"found {cls!r}; allowed is {allowed}")
        return
    label = cls.__name__
    if not is_concrete(cls):
        lacking = [name for c in cls.__mro__ for name in inspect.get_annotations(c) if not hasattr(cls, name)]
        yield Problem(label, "", f"is only a base: give it {', '.join(dict.fromkeys(lacking)) or 'a public name'}")
        return
    taken = [other for name, other in _registered.items() if other.__name__ == label and name != name_of(cls)]
    taken += [getattr(mbframe, label)] if label in mbframe.__all__ and not is_public(cls) else []
    for other in taken:
        yield Problem(label, "", f"found the name of {other.__module__}.{other.__qualname__}; rename your class")
    try:
        _build_example(cls)
    except Exception as error:
        message = f"its example() cannot be built: {type(error).__name__}: {error}"
        yield Problem(label, "example", f"{message}; mend it, or leave it out")


def _build_example(cls: Any) -> None:
    """Build the example that a user's class gives, and put it into a system of two bodies."""
    giver = next((c for c in cls.__mro__ if "example" in vars(c)), None)
    if giver is None or is_ours(giver):
        return
    if not issubclass(cls, tuple(getattr(mbframe, name) for name in ADDED)):
        cls.example()
        return
    if issubclass(cls, mbframe.Body):
        mbframe.System("example", dimension=cls.dimension).add(cls.example())
        return
    system = mbframe.System("example")
    first, second = (system.add(mbframe.RigidBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1))) for name in ("a", "b"))
    joined: list[Any] = [first, second]
    if hasattr(cls, "first_kind"):  # a coupling joins two joints
        joined = [
            system.add(kind[0](f"guide of {body.name}", system.ground, body, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
            for kind, body in zip((cls.first_kind, cls.second_kind), (first, second), strict=True)
        ]
    example = cls.example(*joined)
    for value in example.values().values():  # what it acts on
        if isinstance(value, mbframe.Joint | mbframe.Measure) and value not in joined:
            system.add(value)
    system.add(example)
