"""Classes from outside the library: of a Python file, of a module, or of installed packages that offer them.

Importing runs code. It is done for what a person names, and for packages that say by an entry point of the group
`mbframe.elements` that they have classes: installing them was consent. What a file says is compared with names that are
known so, and is never imported.
"""

from __future__ import annotations

import importlib
import importlib.util
import keyword
import sys
import traceback
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import mbframe

from .errors import ModelError, Problem
from .registry import BASES, is_concrete, is_ours, register

GROUP: Final = "mbframe.elements"
"""The entry points of installed packages: ``mypackage = "mypackage.elements"``, a module, or a class in it."""


def import_classes(source: str) -> list[type[Any]]:
    """Import a Python file (a path that ends with .py) or a module, and register the classes that it has.

    The file is a module of its name afterwards, and its folder the last on the path of modules: it may import others
    beside it, and other processes find it.
    """
    label = f"classes {source!r}"
    is_file = source.endswith(".py") or "/" in source or "\\" in source
    name = _module_of_file(source, label) if is_file else source
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split(".")):
        message = "found no name of a module; allowed are my_elements.py, a file, and my_package.elements, a module"
        raise ModelError([Problem(label, "", message)])
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        lacking = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
        if not is_file and lacking and f"{name}.".startswith(f"{lacking}."):
            meant = f"did you mean the file {name}.py? " if Path(f"{name}.py").is_file() else ""
            message = f"there is no such module here; {meant}a file is given with its path, such as folder/{name}.py"
            raise ModelError([Problem(label, "", message)]) from None
        raise ModelError([Problem(label, "", f"could not be imported: {_raised(error)}")]) from error
    return _registered(module, label)


def _module_of_file(source: str, label: str) -> str:
    """The name of the module that a file is, which can be imported from now on."""
    path = Path(source).expanduser().absolute()
    name, message = path.stem, ""
    if not path.is_file():
        message = "is a folder; give a file in it" if path.is_dir() else "there is no such file; check the path"
    elif path.suffix != ".py":
        message = "is no Python file; allowed are files that end with .py"
    elif not name.isidentifier() or keyword.iskeyword(name):
        message = "cannot be imported under its name; rename it to letters, digits and _, such as my_elements.py"
    if message:
        raise ModelError([Problem(label, "", message)])
    folder = str(path.parent)
    is_new = folder not in sys.path
    if is_new:
        sys.path.append(folder)
    importlib.invalidate_caches()
    origin = _origin(name)
    if origin is None or not Path(origin).exists() or not path.samefile(origin):
        if is_new:
            sys.path.remove(folder)
        other = f" ({origin})" if origin else ""
        raise ModelError([Problem(label, "", f"has the name of another module, {name}{other}; rename your file")])
    return name


def _origin(name: str) -> str | None:
    """The file that is imported under a name of no dots."""
    if name in sys.modules:
        return getattr(sys.modules[name], "__file__", None)
    found = importlib.util.find_spec(name)
    return found.origin if found is not None else None


def _raised(error: BaseException) -> str:
    """An exception of a user's module in words, with the line that raised it."""
    said = f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
    if isinstance(error, SyntaxError) and error.filename:
        place, line, text = error.filename, error.lineno, (error.text or "").strip()
    else:
        inside = str(Path(__file__).parent)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
        theirs = [frame for frame in frames if not frame.filename.startswith(inside)]
        if not theirs:
            return said
        place, line, text = theirs[-1].filename, theirs[-1].lineno, theirs[-1].line or ""
    return f"line {line} of {Path(place).name}{f', {text}' if text else ''}: {said}"


def _registered(found: ModuleType | Any, label: str) -> list[type[Any]]:
    """The classes of a module, or a single one, which were made known by name."""
    given = list(vars(found).values()) if isinstance(found, ModuleType) else [found]
    bases = tuple(getattr(mbframe, name) for name in BASES)
    classes = [
        thing
        for thing in dict.fromkeys(thing for thing in given if isinstance(thing, type) and issubclass(thing, bases))
        if not is_ours(thing) and is_concrete(thing)
    ]
    if not classes:
        remedy = "write one in it, such as class Magnet(mb.ForceElement)"
        raise ModelError([Problem(label, "", f"has no classes of elements, shapes or strategies; {remedy}")])
    try:
        register(*classes)
    except ModelError as error:
        raise ModelError(
            [Problem(f"{label}, {one.element}", one.field, one.message) for one in error.problems]
        ) from None
    return classes


# ---- Installed packages ---------------------------------------------------------------------------------------------


def offered() -> list[tuple[str, EntryPoint]]:
    """What installed packages say that they have, with the packages' names. Read from their metadata: none is imported.

    One whose metadata cannot be read offers nothing. They are read once for each path of modules: a file may name
    hundreds of classes that nobody knows.
    """
    return list(_offered(tuple(sys.path)))


@cache
def _offered(path: tuple[str, ...]) -> tuple[tuple[str, EntryPoint], ...]:
    return tuple(_read(path))


def _read(path: tuple[str, ...]) -> Iterator[tuple[str, EntryPoint]]:
    for distribution in distributions(path=list(path)):
        try:
            for point in distribution.entry_points:
                if point.group == GROUP:
                    yield _name(distribution), point
        except Exception:  # of one package; the others are as good as before
            continue


def _name(distribution: Distribution) -> str:
    return distribution.metadata["Name"] or "?"


def import_offered(package: str | None = None) -> list[Problem]:
    """Import and register what installed packages offer; returns what is wrong with those that cannot be.

    With the name of a top-level package only what lies in this one.
    """
    problems: list[Problem] = []
    for distribution, point in offered():
        if package is not None and point.value.partition(":")[0].partition(".")[0].strip() != package:
            continue
        label = f"installed package {distribution!r}"
        try:
            _registered(point.load(), f"{label}, entry point {point.name!r}")
        except ModelError as error:
            problems += error.problems
        except (Exception, SystemExit) as error:
            message = f"entry point {point.name!r} could not be imported: {_raised(error)}; mend or remove the package"
            problems.append(Problem(label, "", message))
    return problems
