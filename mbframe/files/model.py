"""Models as JSON: `document` describes a system in plain values, `system_from` makes it again.

    {"format": "mbframe model", "version": 2, "name": "pendulum", "gravity": [0.0, 0.0, -9.81],
     "elements": [{"type": "RigidBody", "name": "bar", "mass": 2.0, "inertia": [0.053, 2.693, 2.693]},
                  {"type": "SphericalJoint", "name": "A", "i": "ground", "j": "bar", "at": [0.0, 0.0, 0.0]}],
     "simulation": {"t_end": 5.0, "integrator": {"type": "DormandPrince", "rtol": 1e-08}}}

Elements stand in the order in which they were added (one that refers to a later one stands behind it); keys are the
arguments of their classes, and parameters that have their default are left out. Numbers are exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..bodies.base import Ground
from ..constraints.base import BasicConstraint
from ..disk.atomic import FilePath, refused, writable, write_text
from ..disk.inputs import contents
from ..errors import ModelError, Problem, check_kinds
from ..limits import within_time
from ..markers import Marker
from ..parameters import Element
from ..plane import lowered
from ..registry import file_of, is_public, module_of, name_of
from ..signals import named_by
from ..system import System
from ..unknown import Unknown, UnknownFormulation, UnknownShape, UnknownStrategy
from .catalogue import Catalogue, fields, has_own_constructor, takes_formulation
from .constructors import remade
from .json_text import dumps, most_bytes, one_line, parse, problems_of
from .meshes import MeshNotice, gather_meshes, place_meshes
from .order import by_dependency
from .reader import FORMAT, SETTINGS, STRATEGY_SETTINGS, VERSION, Reader
from .values import compacted, encoded, encoded_strategy, is_default

GROUND: Final = Ground("ground")
HDF5: Final = b"\x89HDF\r\n\x1a\n"  # how such a file begins


def save(
    system: System, path: FilePath, *, simulation: Mapping[str, Any] | None = None, copy_meshes: bool = False
) -> None:
    """Write a model as JSON, whole or not at all.

    Meshes in the folder of the file, or below it, are named relative to it, so that both can be moved together. Those
    elsewhere are told (`MeshNotice`), because `load` follows no path out of the folder.

    Parameters
    ----------
    system
        What to write. A Python callable in it is refused by a `ModelError` that names the element.
    path
        The file; one that exists is replaced.
    simulation
        Arguments of `simulate` to keep with the model: t_end, dt, t_eval, formulation, acceleration, stabilization,
        integrator. `load_settings` returns them.
    copy_meshes
        Copy meshes that lie elsewhere to the folder ``NAME meshes`` beside the file.
    """
    check_kinds("save", system=(system, System))
    content = document(system, simulation)
    for notice in described_in(content, path, copy_meshes):
        warnings.warn(f"{str(path)!r}: {notice}", MeshNotice, stacklevel=2)
    write_text(path, text_of(content, f"file {str(path)!r}"))


def described_in(content: dict[str, Any], path: FilePath, copy_meshes: bool = False) -> list[str]:
    """Write a document's meshes as a file of this path names them; returns sentences about those that lie elsewhere."""
    file = Path(path).expanduser().absolute()
    if copy_meshes:
        writable(path)
        gather_meshes(content, file)
    return place_meshes(content, file.parent)


def load(path: FilePath, *, classes: Iterable[type[Any]] = ()) -> System:
    """Read a model that `save` wrote, or a person.

    Parameters
    ----------
    path
        The file.
    classes
        Your own classes that the file may name. Nothing is imported or executed because a file asks for it.

    Meshes that the file names outside of its folder stay in the model but are not read (`MeshNotice`); allow their
    folders with `import_limits(mesh_folders=[...])`.

    Raises
    ------
    ModelError
        With all problems of the file: where (JSON path), what was found, what is allowed.
    """
    notices: list[str] = []
    folder = Path(path).expanduser().absolute().parent
    system = within_time(f"file {str(path)!r}", lambda: system_from(read(path), classes, folder, notices))
    for notice in notices:
        warnings.warn(f"{str(path)!r}: {notice}", MeshNotice, stacklevel=2)
    return system


def load_settings(path: FilePath, *, classes: Iterable[type[Any]] = ()) -> dict[str, Any]:
    """The arguments of `simulate` that were saved with a model: ``simulate(load(path), **load_settings(path))``."""
    return within_time(f"file {str(path)!r}", lambda: settings_from(read(path), classes))


def read(path: FilePath) -> Any:
    """The content of a JSON file, parsed but not yet understood."""
    content = contents(path, most_bytes())
    if content.startswith(HDF5):
        raise refused(path, "is no model but an HDF5 file; of a result, mb.load_result(...).system is the model")
    return parse(content, f"file {str(path)!r}")


def text_of(content: dict[str, Any], source: str) -> str:
    """The text of a document, which was read back; a `ModelError` in the name of `source` if that cannot be done."""
    text = dumps(content)
    try:
        again = parse(text, source)
    except ModelError as error:
        message = "would be written but not read again: {}"
        problems = [Problem(one.element or source, one.field, message.format(one.message)) for one in error.problems]
        raise ModelError(problems) from None
    if one_line(again) != one_line(content):
        raise ModelError([Problem(source, "", "would be read as another model; report this as a fault of mbframe")])
    return text


# ---- From a system to its document --------------------------------------------------------------------------------


def document(system: System, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A model, and settings of its simulation, in plain JSON values; everything that cannot be stored is a problem."""
    problems: list[Problem] = []
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION, "name": system.name}
    content |= _parameters(system, system.dimension, problems, always=("gravity",))
    ground = _parameters(system.ground, system.dimension, problems)
    if system.ground.name != GROUND.name:
        ground = {"name": system.ground.name, **ground}
    if ground:
        content["ground"] = ground
    elements = [element for element in system if element is not system.ground]
    references = {element.name: _before(element) for element in elements}
    order = by_dependency(references)[0]
    content["elements"] = [_element(system[name], system.dimension, problems) for name in order]
    if settings is not None:
        content["simulation"] = _settings(settings, problems)
    if own := _origins(system, settings):
        content["classes"] = own
    problems += problems_of(content)
    if problems:
        raise ModelError(problems)
    return content


def _origins(system: System, settings: Mapping[str, Any] | None) -> dict[str, dict[str, str]]:
    """Where users' classes are defined, and where those that are not known were, as the file of the system said."""
    found: dict[str, dict[str, str]] = {}
    for part in _parts(system, settings):
        if isinstance(part, Unknown | UnknownFormulation | UnknownStrategy | UnknownShape):
            if part.origin:
                found.setdefault(part.type, dict(part.origin))
        elif not is_public(type(part)):
            found.setdefault(name_of(type(part)), _origin(type(part)))
    return found


def unknown_classes(system: System, settings: Mapping[str, Any] | None = None) -> dict[str, dict[str, str]]:
    """The classes of a model that are not known, with what its file says of where they came from."""
    kept = (Unknown, UnknownFormulation, UnknownStrategy, UnknownShape)
    parts = [part for part in _parts(system, settings) if isinstance(part, kept)]
    held = [part for part in parts if not (isinstance(part, Unknown) and "." not in part.type)]
    return {part.type: dict(part.origin) for part in held}


def _origin(cls: type[Any]) -> dict[str, str]:
    """Where a user's class is defined: its module and, if this is no part of a package, the name of its file."""
    file = file_of(cls)
    return {"module": module_of(cls)} | ({"file": file} if file else {})


def _parameters(
    element: Element, dimension: int, problems: list[Problem], always: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The parameters that are not the default, and those of `always`."""
    stored = {}
    cls: Any = type(element)
    try:
        described = fields(cls, dimension)
    except TypeError as error:
        problems.append(element.problem("", f"cannot be stored: {error}"))
        return {}
    for key, p in described.items():
        if key in ("type", "formulation"):
            problems.append(element.problem(key, "has a meaning of its own in files; give the parameter another name"))
            continue
        given = getattr(element, p.name)
        if (given is p.default or (given is None and p.unless)) and key not in always:
            continue
        try:
            value = encoded(p, given)
            if key in always or not is_default(p, value):
                stored[key] = value
        except ValueError as error:
            problems.append(element.problem(key, str(error)))
    return stored


def _element(element: Element, dimension: int, problems: list[Problem]) -> dict[str, Any]:
    if isinstance(element, Unknown):
        return _unknown(element, problems)
    cls: Any = type(element)
    before = len(problems)
    parameters = _parameters(element, dimension, problems)
    if len(problems) == before and has_own_constructor(cls):
        try:
            parameters = remade(element, fields(cls, dimension), parameters)
        except ValueError as error:
            problems.append(element.problem("", f"cannot be stored: {error}"))
    stored = {"type": name_of(cls), "name": element.name, **parameters}
    if isinstance(element, BasicConstraint) and (markers := element.given_markers):
        stored |= {side: _marker(marker) for side, marker in zip("ij", markers, strict=True)}
        if stored["at"] == stored["j"]["at"]:
            del stored["at"]
    if takes_formulation(cls) and (formulation := getattr(element, "formulation", None)) is not None:
        try:
            stored["formulation"] = encoded_strategy(formulation)
        except ValueError as error:
            problems.append(element.problem("formulation", str(error)))
    return stored


def _unknown(element: Unknown, problems: list[Problem]) -> dict[str, Any]:
    """As it was read."""
    if element.version != VERSION:
        older = f"is of a file of version {element.version}, whose defaults it may have"
        problems.append(element.problem("", f"cannot be stored: {older}; {element.reason}"))
    return {"type": element.type, "name": element.name, **compacted(element.parameters)}


def _marker(marker: Marker) -> dict[str, Any]:
    stored = {"body": marker.body.name, "at": lowered(marker.at, marker.body.dimension).tolist()}
    # Bytes, because a negative zero is another number.
    return stored if marker.axes.tobytes() == np.eye(3).tobytes() else stored | {"axes": marker.axes.tolist()}


def _before(element: Element) -> list[str]:
    """The elements that stand before one in a file: those that it refers to, and those whose values it names."""
    if isinstance(element, Unknown):
        return element.joined
    return [*(other.name for other in _references(element)), *_named(element)]


def _named(element: Element) -> list[str]:
    """The elements whose values the functions of an element name."""
    seen = [name for name, p in element.parameters().items() if p.kind == "seen"]
    names = [signal for signals in named_by(element).values() for signal in signals]
    names += [name for field in seen for name in getattr(element, field)]
    return [part for name in names for part in _owners(name)]


def _owners(name: str) -> list[str]:
    """The names of elements that a dotted name may begin with."""
    parts = name.split(".")
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


def _references(element: Element) -> list[Element]:
    found = [getattr(element, name) for name, p in type(element).parameters().items() if p.kind == "reference"]
    return [other for other in found if other is not None]


def _settings(settings: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    stored = {}
    for key, value in settings.items():
        try:
            if key not in (*SETTINGS, *STRATEGY_SETTINGS):
                raise ValueError(f"there is no such setting; allowed are {', '.join((*SETTINGS, *STRATEGY_SETTINGS))}")
            if value is not None:
                rule = SETTINGS.get(key)
                stored[key] = encoded(rule, rule.convert(value)) if rule else encoded_strategy(value)
        except ValueError as error:
            problems.append(Problem("simulation", key, str(error)))
    return stored


# ---- From a document to a system ----------------------------------------------------------------------------------


def system_from(
    document: Any,
    classes: Iterable[type[Any]] = (),
    folder: Path | None = None,
    notices: list[str] | None = None,
) -> System:
    """The system that a document describes; `classes` are those of users that it may name.

    `folder` is that of the file that the document was read from; `notices` takes sentences about meshes outside of it.
    Without a folder the document is one of our own, whose meshes may lie anywhere.
    """
    reader = Reader(Catalogue(classes), folder)
    system = reader.system(document)
    if notices is not None:
        notices += reader.notices
    return system


def settings_from(document: Any, classes: Iterable[type[Any]] = (), *, keep_unknown: bool = False) -> dict[str, Any]:
    """The arguments of `simulate` in a document; empty if there are none.

    A strategy of an unknown class is refused, or kept as an `UnknownStrategy` by whom does not compute.
    """
    settings = Reader(Catalogue(classes)).settings(document)
    unknown = [(key, value) for key, value in settings.items() if isinstance(value, UnknownStrategy)]
    if unknown and not keep_unknown:
        raise ModelError([Problem("simulation", key, value.reason) for key, value in unknown])
    return settings


def used_classes(system: System, settings: Mapping[str, Any] | None = None) -> list[type[Any]]:
    """The classes of a system's elements, formulations and shapes, and of strategies, that are not built in."""
    kept = (Unknown, UnknownFormulation, UnknownStrategy, UnknownShape)
    found = dict.fromkeys(type(part) for part in _parts(system, settings) if not isinstance(part, kept))
    return [cls for cls in found if not is_public(cls)]


def _parts(system: System, settings: Mapping[str, Any] | None) -> Iterator[Any]:
    """All objects that a file names the classes of."""
    for element in system:
        if element is not system.ground:  # which comes with its system
            yield element
        yield from getattr(element, "shapes", ())
        if (formulation := getattr(element, "formulation", None)) is not None:
            yield formulation
    for key in STRATEGY_SETTINGS:
        if settings and settings.get(key) is not None:
            yield settings[key]
