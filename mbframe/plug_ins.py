"""Classes from outside the library: of a Python file, of a module, or of installed packages that offer them.

Importing runs code. It is done for what a person names, and for packages that say by an entry point of the group
`mbframe.elements` that they have classes: installing them was consent. What a file says is compared with names that are
known so, and is never imported.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import keyword
import linecache
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import mbframe

from .errors import ModelError, Problem
from .registry import BASES, is_concrete, is_ours, register

GROUP: Final = "mbframe.elements"
"""The entry points of installed packages: ``mypackage = "mypackage.elements"``, a module, or a class in it."""

MOST_BYTES: Final = 10_000_000
"""Of a file with classes."""


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
    name = path.stem
    _check_file(path, label)
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


def _check_file(path: Path, label: str) -> None:
    """Refuse a path that is no Python file, or cannot be a module."""
    name, message = path.stem, ""
    if not path.is_file():
        message = "is a folder; give a file in it" if path.is_dir() else "there is no such file; check the path"
    elif path.suffix != ".py":
        message = "is no Python file; allowed are files that end with .py"
    elif not name.isidentifier() or keyword.iskeyword(name):
        message = "cannot be imported under its name; rename it to letters, digits and _, such as my_elements.py"
    if message:
        raise ModelError([Problem(label, "", message)])


# ---- Files as they were when somebody agreed ------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """A file with classes, and what was in it: exactly that is imported, and nothing after it was changed.

    name: of the module that it is. path: of the file. checksum: SHA-256 of its content.
    """

    name: str
    path: str
    checksum: str

    @classmethod
    def of(cls, source: str) -> Source:
        """The Python file, or the file of the module, that is named. It is read and not imported."""
        label = f"classes {source!r}"
        if source.endswith(".py") or "/" in source or "\\" in source:
            path = Path(source).expanduser().absolute()
            _check_file(path, label)
            return cls(path.stem, str(path), _checksum(_content(path, label)))
        found = _found(source)
        if found is None:
            message = "there is no such module here, or it is no Python file; give the path of a file instead"
            raise ModelError([Problem(label, "", message)])
        return cls(source, str(found), _checksum(_content(found, label)))

    def now(self) -> Source:
        """The file as it is now."""
        return Source(self.name, self.path, _checksum(_content(Path(self.path), f"classes {self.path!r}")))

    def load(self) -> list[type[Any]]:
        """Import the file and register its classes; again if it was imported with another content."""
        return _registered(self.module(), f"classes {self.path!r}")

    def module(self) -> ModuleType:
        """Import the file, which may be a program without classes.

        Others in its folder can be imported while it is, and not afterwards: what is missing later shall not be found
        there.
        """
        label = f"classes {self.path!r}"
        if _loaded.get(self.name) == self and self.name in sys.modules:
            return sys.modules[self.name]
        content = _content(Path(self.path), label)
        if _checksum(content) != self.checksum:
            raise ModelError([Problem(label, "", "is another file than the one that was allowed; look at it again")])
        with _importable(Path(self.path).parent if "." not in self.name else None):
            module = _run(self, content, label)
        _loaded[self.name] = self
        return module


_loaded: dict[str, Source] = {}


def _run(source: Source, content: bytes, label: str) -> ModuleType:
    before = sys.modules.get(source.name)
    if before is not None and source.name not in _loaded:
        origin = getattr(before, "__file__", None)
        if origin is None or not Path(origin).exists() or not Path(source.path).samefile(origin):
            raise ModelError([Problem(label, "", f"has the name of another module, {source.name}; rename your file")])
    linecache.checkcache(source.path)
    loader = _Loader(source.name, source.path)
    loader.content = content
    spec = importlib.util.spec_from_file_location(source.name, source.path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[source.name] = module
    try:
        if "." in source.name:
            importlib.import_module(source.name.rpartition(".")[0])
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        if before is None:
            sys.modules.pop(source.name, None)
        else:
            sys.modules[source.name] = before
        raise ModelError([Problem(label, "", f"could not be imported: {_raised(error)}")]) from error
    return module


class _Loader(SourceFileLoader):
    """Runs the content that was looked at: not what is in the file by now, nor what was compiled of it before."""

    content = b""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.content, self.path)


@contextmanager
def _importable(folder: Path | None) -> Iterator[None]:
    place = str(folder)
    is_new = folder is not None and place not in sys.path
    if is_new:
        sys.path.append(place)
        importlib.invalidate_caches()
    try:
        yield
    finally:
        if is_new:
            sys.path.remove(place)


def _found(name: str) -> Path | None:
    """The file of a module by its name; packages that it is in are found and not imported."""
    path, origin = None, None
    parts = name.split(".")
    for number in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: number + 1]), path)
        if spec is None:
            return None
        path, origin = spec.submodule_search_locations, spec.origin
    return Path(origin) if origin and origin.endswith(".py") else None


def _content(path: Path, label: str) -> bytes:
    try:
        content = path.read_bytes() if path.is_file() and path.stat().st_size <= MOST_BYTES else None
    except OSError as error:
        raise ModelError([Problem(label, "", f"cannot be read: {error.strerror}")]) from error
    if content is None:
        raise ModelError([Problem(label, "", "is no file, or too large to be a module; check the path")])
    return content


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
