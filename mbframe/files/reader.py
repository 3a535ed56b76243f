"""From plain JSON values to a system: every problem of a document is found and named before anything is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..bodies.formulations import Formulation
from ..constraints.base import BasicConstraint
from ..errors import ModelError
from ..markers import Marker
from ..parameters import REQUIRED, Element, Parameter
from ..registry import is_public, strategy_base
from ..shapes import OUTSIDE, Mesh, Shape
from ..system import System
from ..unknown import Unknown, UnknownFormulation, UnknownShape, UnknownStrategy, joined, mentions
from .catalogue import (
    ADDED,
    Catalogue,
    arguments,
    fields,
    has_own_constructor,
    named,
    reference_keys,
    remembered,
    settings_of,
    shape_fields,
    takes_formulation,
)
from .json_text import child
from .meshes import located, names_a_mesh, outside
from .old_versions import completed
from .order import by_dependency
from .plain_values import (
    allowed_for,
    array_of,
    brief,
    digest,
    function_of,
    is_array,
    is_numeric,
    is_plain_law,
    is_short,
    modes_of,
)
from .problems import Problems
from .values import SEVERAL_FUNCTIONS

FORMAT: Final = "mbframe model"
VERSION: Final = 2
"""Version of the files that this module writes; it reads all up to this one."""
MOST_ENTRIES: Final = 1000
"""A longer list is no vector or matrix of a fixed size, whatever is in it."""
FEW: Final = 20
"""More names than that are not listed beside a proposal."""

SETTINGS: Final[dict[str, Parameter]] = {
    "t_end": Parameter(kind="number", unit="s", help="end of the simulation"),
    "dt": Parameter(kind="number", unit="s", above=0.0, help="step, or first step of an adaptive integrator"),
    "t_eval": Parameter(kind="vector", shape=(None,), unit="s", help="instants at which the state is stored"),
}
STRATEGY_SETTINGS: Final = ("formulation", "acceleration", "stabilization", "integrator")

_TOP: Final = ("format", "version", "name", "ground", "elements", "simulation", "classes", "$schema")
_MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_FILE: Final = re.compile(r"[^\W\d]\w*\.py")
_NAMELESS: Final = "?"
_HEAD: Final = frozenset({"type", "name"})
_TAKEN_AS_GIVEN: Final = frozenset({"number", "integer", "flag", "choice", "angle", "text"})
_LAWS: Final = ("function", *SEVERAL_FUNCTIONS)
_NUMERIC: Final = ("vector", "numbers", "point", "axis", "free vector", "matrix", "rotation", "inertia")


@dataclass
class Entry:
    """An element of a document that has a class and a name."""

    path: str
    cls: type[Any]
    name: str
    data: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.cls.__name__} {self.name!r}"

    def references(self) -> list[str]:
        """Names of the elements that it refers to."""
        return joined(self.data) if self.cls is Unknown else joined(self.data, reference_keys(self.cls))


class Reader(Problems):
    """Reads one document and collects what is wrong with it."""

    def __init__(self, catalogue: Catalogue, folder: Path | None = None) -> None:
        """`folder` is that of the document's file: meshes that it names elsewhere are marked, and told in `notices`."""
        super().__init__()
        self.catalogue = catalogue
        self.folder = folder
        self.notices: list[str] = []
        self.dimension = 3  # of the system, until its document says otherwise
        self.version = VERSION  # of the document
        self._modes: dict[bytes, Any] = {}  # by what describes them
        self._origins: Mapping[str, Any] = {}  # of users' classes, by their names
        self._held: dict[str, Unknown] = {}  # by name

    # --- what is asked for -------------------------------------------------------------------------------------------

    def system(self, document: Any) -> System:
        """The system of a document."""
        return self.finish(self._system, document)

    def settings(self, document: Any) -> dict[str, Any]:
        """The arguments of `simulate` in a document."""
        return self.finish(self._settings, document)

    def strategy(self, setting: str, value: Any) -> Any:
        """The formulation or strategy that a JSON value describes, for one setting of `simulate`."""
        return self.finish(lambda given: self._strategy(strategy_base(setting), given, setting, ""), value)

    # --- the document ------------------------------------------------------------------------------------------------

    def _checked(self, document: Any) -> bool:
        """Whether this is a model of a version that can be read."""
        if not isinstance(document, dict):
            self.refuse("$", f"found {brief(document)}; allowed is an object {{...}} that describes a model")
            return False
        form, version = document.get("format"), document.get("version")
        if form != FORMAT:
            self.refuse("$.format", f"found {brief(form)}; allowed is {FORMAT!r}: is this a model of mbframe?")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            self.refuse("$.version", f"found {brief(version)}; allowed is a whole number from 1 to {VERSION}")
        elif version > VERSION:
            self.problems.clear()
            message = f"found {version}; this mbframe reads versions up to {VERSION}; install a newer one"
            self.refuse("$.version", message)
            return False
        else:
            self.version = version
        self._origins = self._checked_origins(document.get("classes", {}))
        return True

    def _checked_origins(self, data: Any) -> Mapping[str, Any]:
        """Where users' classes came from. It is told to people and used for nothing else."""
        path, allowed = "$.classes", 'an object {"parts.Magnet": {"module": "parts", "file": "parts.py"}}'
        found = data if isinstance(data, dict) else {"": data}
        for name, origin in found.items():
            given = origin if isinstance(origin, dict) else {"": origin}
            if any(key not in ("module", "file") or not isinstance(value, str) for key, value in given.items()):
                self.refuse(child(path, name) if name else path, f"found {brief(origin)}; allowed is {allowed}")
                return {}
        return found

    def _system(self, document: Any) -> System | None:
        if not self._checked(document):
            return None
        self.dimension = 2 if document.get("dimension") == 2 else 3
        self.keys(document, (*_TOP, *fields(System)), "$", "")
        if "simulation" in document:
            self._settings_of(document["simulation"])
        name = self._name(document, "$", "")
        values = self._values(fields(System, self.dimension), document, "$", "", {})
        try:
            system = System(name or "system", **values | {"dimension": self.dimension})
        except ModelError as error:
            self.take_over(error, "$", "", {})
            system = System(name or "system", dimension=self.dimension)
        self._ground(system, document.get("ground", {}))
        self._elements(system, document.get("elements"))
        return system

    def _ground(self, system: System, data: Any) -> None:
        label, path = "ground", "$.ground"
        if not isinstance(data, dict):
            self.refuse(path, f"found {brief(data)}; allowed is an object {{...}}", label)
            return
        known = fields(type(system.ground))
        self.keys(data, ("name", *known), path, label)
        try:
            if "name" in data and (name := self._name(data, path, label)):
                system.ground.name = name
            system.ground.update(**self._values(known, data, path, label, {}))
        except ModelError as error:
            self.take_over(error, path, label, {})

    def _elements(self, system: System, listed: Any) -> None:
        if not isinstance(listed, list):
            self.refuse("$.elements", f"found {brief(listed)}; allowed is a list [...] of elements")
            return
        entries: dict[str, Entry] = {}
        nameless: list[Entry] = []
        # The names of elements with problems are known too, so that references to them are no further problem.
        built: dict[str, Element | None] = {system.ground.name: system.ground}
        for number, data in enumerate(listed):
            path = f"$.elements[{number}]"
            cls, name = self._head(path, data, built)
            if cls is not None and name is not None:
                entries[name] = Entry(path, cls, name, data)
            elif cls is not None:
                nameless.append(Entry(path, cls, _NAMELESS, data))
        order, circular = by_dependency({name: entry.references() for name, entry in entries.items()})
        for name in circular:
            self.refuse(entries[name].path, "refers to itself, directly or through others", str(entries[name]))
        for name in order:
            element = self._element(entries[name], built)
            built[name] = element
            if element is not None:
                try:
                    system.add(element)
                except ModelError as error:
                    self.take_over(error, entries[name].path, str(entries[name]), _keys(entries[name].cls))
        for entry in nameless:  # what else is wrong with them
            self._element(entry, built)

    def _head(self, path: str, data: Any, names: dict[str, Element | None]) -> tuple[type[Any] | None, str | None]:
        """The class and the name of an element, if they are right, and the name noted."""
        if not isinstance(data, dict):
            self.refuse(path, f"found {brief(data)}; allowed is an object {{...}} with type and name")
            return None, None
        cls: Any = Unknown
        if not self.is_unknown(data.get("type")):
            cls = self._class(data.get("type"), path, "an element", *ADDED)
        if cls is not None and cls is not Unknown:
            try:
                fields(cls, self.dimension)
            except TypeError as error:
                self.refuse(child(path, "type"), f"cannot be read: {error}")
                cls = None
        name = self._name(data, path, cls.__name__ if cls else "")
        if name in names:
            self.refuse(child(path, "name"), f"found {brief(name)}, which is taken; choose another name")
            return cls, None
        if name is not None:
            names[name] = None
        return cls, name

    def _class(self, name: Any, path: str, what: str, *bases: type[Any]) -> type[Any] | None:
        if isinstance(name, str) and (cls := self.catalogue.find(name, *bases)) is not None:
            return cls
        known = self.catalogue.classes(*bases)
        place = child(path, "type")
        if not isinstance(name, str):
            self.refuse(
                place, f"found {brief(name)}; allowed is the name of {what}'s class, such as {next(iter(known))!r}"
            )
        else:
            meant = self.nearest(name, known)
            listed = f"the {len(known)} names of the schema" if meant and len(known) > FEW else ", ".join(known)
            self.refuse(place, f"found {brief(name)}; {meant}allowed are {listed}, and your own in classes=[...]")
        return None

    def is_unknown(self, name: Any) -> bool:
        """Whether a class is one of a user that nobody here knows: what the file says of its objects is kept."""
        return isinstance(name, str) and "." in name and self.catalogue.find(name, Element, Shape, Formulation) is None

    def _reason(self, name: str) -> str:
        """Why a class of a user is not known: where it came from, and how it is given."""
        if faults := self.catalogue.faults(name):
            return f"{brief(name)} is not known: {'; '.join(map(str, faults))}"
        origin = self._origins.get(name, {})
        module, file = origin.get("module", ""), origin.get("file", "")
        module, file = (module if _MODULE.fullmatch(module) else ""), (file if _FILE.fullmatch(file) else "")
        came = f" from the {f'file {file}' if file else f'module {module}'}" if module else ""
        ways = f"--classes {file or module or 'FILE_OR_MODULE'}, classes=[...] or mb.register"
        in_window = "in the window Model → Use my classes…"
        return f"{brief(name)} is a class of a user{came}; hand it over if you trust it: {ways}, {in_window}"

    def _unknown(self, entry: Entry) -> Unknown | None:
        """An element that is kept as it is: of an unknown class, or attached to such a one."""
        if entry.cls is Unknown:
            kind = str(entry.data["type"])
            reason, sides, data = self._reason(kind), {}, entry.data
            origin = self._origins.get(kind, {})
        elif not self._held:
            return None
        else:
            naming = {key: entry.data[key] for key in _naming_keys(entry.cls) if key in entry.data}
            joined_to = entry.references()
            needed = (one for name, one in self._held.items() if name in joined_to or mentions(naming, name, True))
            holder = next(needed, None)
            if holder is None:
                return None
            kind, origin = str(entry.data["type"]), {}
            reason, sides = holder.reason, {"sides": reference_keys(entry.cls)}
            data = completed(entry.cls, entry.data, self.version, self.dimension)
        kept = {key: value for key, value in data.items() if key not in ("type", "name")}
        self._place_meshes(entry.name, kept)
        version = self.version if entry.cls is Unknown else VERSION
        held = Unknown(entry.name, kind, kept, reason, origin=origin, version=version, **sides)
        self._held[entry.name] = held
        return held

    def _place_meshes(self, name: str, data: dict[str, Any]) -> None:
        """Paths of meshes, as elements that are known have them."""
        for key, value in data.items() if self.folder is not None else ():
            shapes = value if isinstance(value, list) else [value]
            if any(map(names_a_mesh, shapes)):
                found = [self._placed(name, f"{key}", shape) for shape in shapes]
                data[key] = found if isinstance(value, list) else found[0]

    def _placed(self, label: str, field: str, shape: Any) -> Any:
        if not names_a_mesh(shape) or self.folder is None:
            return shape
        path = located(shape["path"], self.folder)
        if path.startswith(OUTSIDE):
            self.notices.append(f"{label} {field}: {outside(path, self.folder)}")
        return {**shape, "path": path}

    def _name(self, data: Mapping[str, Any], path: str, label: str) -> str | None:
        name = data.get("name")
        if isinstance(name, str) and name.strip():
            return name
        found = brief(name) if "name" in data else "nothing"
        self.refuse(child(path, "name"), f"found {found}; allowed is a text that is not empty", label)
        return None

    def _element(self, entry: Entry, built: Mapping[str, Element | None]) -> Element | None:
        if entry.name is not _NAMELESS and (held := self._unknown(entry)) is not None:
            return held
        if entry.cls is Unknown:
            return None
        data = completed(entry.cls, entry.data, self.version, self.dimension)
        known = fields(entry.cls, self.dimension)
        element = self._made_at_once(entry, known, data, built)
        if element is not None:
            return element
        label, path, before = str(entry), entry.path, len(self.problems)
        optional = ("formulation",) if takes_formulation(entry.cls) else ()
        self.keys(data, ("type", "name", *known, *optional), path, label)
        if issubclass(entry.cls, BasicConstraint) and any(isinstance(data.get(side), dict) for side in "ij"):
            return self._between_markers(entry, built)
        values = self._values(known, data, path, label, built)
        if optional and "formulation" in data:
            values["formulation"] = self._strategy(Formulation, data["formulation"], child(path, "formulation"), label)
        needed = set(named(entry.cls)) if has_own_constructor(entry.cls) else set(known)  # others it may set itself
        for key, p in known.items():
            if p.default is REQUIRED and key in needed and key not in data and not p.is_lifted(data):
                self.refuse(child(path, key), f"found nothing; allowed is {allowed_for(p)}; add it", label)
        if len(self.problems) > before or any(value is _BROKEN for value in values.values()):
            return None
        return self._made(entry, (entry.name,), values)

    def _made_at_once(
        self, entry: Entry, known: Mapping[str, Parameter], data: Mapping[str, Any], built: Mapping[str, Element | None]
    ) -> Element | None:
        """The element, whose constructor converts and checks its values; None, with nothing noted, if something is
        wrong with them, or if they are of a kind that needs more.

        Converting each value before, to name its place if it is wrong, takes several times as long.
        """
        problems, notices = len(self.problems), len(self.notices)
        taken = _taken(entry.cls, self.dimension)
        values: dict[str, Any] = {}
        for key, value in data.items():
            how = taken.get(key)
            if how == "as given" or (how == "numbers" and is_short(value)) or (how == "laws" and is_plain_law(value)):
                values[key] = value
            elif how == "reference":
                values[key] = built.get(value) if isinstance(value, str) else None
                if values[key] is None and not (value is None and known[key].optional):
                    break
            elif how == "head":
                continue
            elif how is None:
                break  # a formulation, or what has no meaning
            else:
                p = known[key]
                try:
                    values[key] = self._value(p, value, child(entry.path, key), str(entry))
                except (ValueError, _Refused):
                    break
        else:
            if len(self.problems) == problems:
                with suppress(Exception):
                    return entry.cls(entry.name, **values)
        del self.problems[problems:], self.notices[notices:]
        return None

    def _between_markers(self, entry: Entry, built: Mapping[str, Element | None]) -> Element | None:
        """A constraint that was made from two markers: its sides are objects with body, at and axes."""
        before, markers = len(self.problems), []
        for side in "ij":
            markers.append(self._marker(entry.data.get(side), child(entry.path, side), str(entry), built))
        known = {key: p for key, p in fields(entry.cls, self.dimension).items() if key not in ("i", "j")}
        values = self._values(known, entry.data, entry.path, str(entry), built)
        if len(self.problems) > before or None in markers:
            return None
        at = values.pop("at", None)
        element = self._made(entry, tuple(markers), values)
        if element is not None:
            element.name = entry.name
            if at is not None:
                element.update(at=at)
        return element

    def _marker(self, data: Any, path: str, label: str, built: Mapping[str, Element | None]) -> Marker | None:
        if not isinstance(data, dict):
            self.refuse(path, f"found {brief(data)}; allowed is an object {{...}} with body, at and axes", label)
            return None
        self.keys(data, ("body", "at", "axes"), path, label)
        body = self._reference(data.get("body"), child(path, "body"), label, built)
        if body is _BROKEN:
            return None
        try:
            return Marker(body, at=data.get("at"), axes=data.get("axes", np.eye(3)))  # type: ignore[arg-type]
        except ModelError as error:
            self.take_over(error, path, label, {})
            return None

    def _made(self, entry: Entry, by_position: tuple[Any, ...], values: dict[str, Any]) -> Element | None:
        """Call the class of an element."""
        try:
            return entry.cls(*by_position, **values)
        except ModelError as error:
            self.take_over(error, entry.path, str(entry), _keys(entry.cls))
        except Exception as error:  # what a user's constructor or check may raise
            self.refuse(entry.path, f"could not be made: {type(error).__name__}: {error}", str(entry))
        return None

    # --- values ------------------------------------------------------------------------------------------------------

    def _values(
        self,
        known: Mapping[str, Parameter],
        data: Mapping[str, Any],
        path: str,
        label: str,
        built: Mapping[str, Element | None],
    ) -> dict[str, Any]:
        """The values of the parameters that a document gives, converted and checked; refused ones are left out."""
        found = {}
        for key, p in known.items():
            if key not in data:
                continue
            place = child(path, key)
            if p.kind == "reference":
                found[key] = self._reference(data[key], place, label, built, p.optional)
                continue
            try:
                found[key] = p.convert(self._value(p, data[key], place, label))
            except _Refused:
                pass
            except ValueError as error:
                self.refuse(place, str(error), label)
        return found

    def _value(self, p: Parameter, value: Any, path: str, label: str) -> Any:
        """A JSON value as the parameter takes it; a `ValueError` says why it does not."""
        fixed = p.kind in _NUMERIC and p.shape is not None and None not in p.shape
        if fixed and isinstance(value, list) and len(value) > MOST_ENTRIES:
            raise ValueError(f"found a list of {len(value):,} entries; allowed is {allowed_for(p)}")
        if p.kind in _NUMERIC and is_array(value):
            return array_of(value)
        if p.kind in _NUMERIC and not is_numeric(value) and not (value is None and p.optional):
            raise p.refuse(value, "give plain numbers in brackets: [...]")
        if p.kind in SEVERAL_FUNCTIONS and isinstance(value, list):
            return [function_of(p, part) for part in value]
        if p.kind in ("function", "axial functions"):
            return function_of(p, value)
        if p.kind == "modes" and isinstance(value, dict):
            described = digest(value)  # bodies that share them, as copies do, shall share them again
            if described not in self._modes:
                self._modes[described] = modes_of(value)
            return self._modes[described]
        if p.kind in ("shape", "shapes") and value is not None:
            several = p.kind == "shapes" and isinstance(value, list)
            parts = [(f"{path}[{n}]", part) for n, part in enumerate(value)] if several else [(path, value)]
            shapes = [self._shape(part, place, label) for place, part in parts]
            if any(shape is _BROKEN for shape in shapes):
                raise _Refused
            return shapes if several else shapes[0]
        return value

    def _reference(
        self, name: Any, path: str, label: str, built: Mapping[str, Element | None], optional: bool = False
    ) -> Any:
        """The element of that name, or `_BROKEN`."""
        if name is None and optional:
            return None
        if not isinstance(name, str):
            self.refuse(path, f"found {brief(name)}; allowed is the name of an element", label)
        elif name not in built:
            known = ", ".join(list(built)[:20]) + (", ..." if len(built) > 20 else "")
            meant = self.nearest(name, built)
            self.refuse(path, f"there is no element {brief(name)}; {meant}known are {known}", label)
        return built.get(name) or _BROKEN if isinstance(name, str) else _BROKEN

    def _shape(self, data: Any, path: str, label: str) -> Any:
        if not isinstance(data, dict):
            self.refuse(path, f"found {brief(data)}; allowed is an object {{...}} that describes a shape", label)
            return _BROKEN
        before, kind = len(self.problems), data.get("type")
        if self.is_unknown(kind):
            return UnknownShape.of(self._placed(label, path, data), self._origins.get(str(kind), {}))
        cls = self._class(kind, path, "a shape", Shape)
        if cls is None:
            return _BROKEN
        known, needed = shape_fields(cls)
        if not data.keys() <= known.keys() or not needed <= data.keys():
            self.keys(data, known, path, label)
            for name in known:
                if name in needed and name not in data:
                    self.refuse(child(path, name), f"found nothing; {cls.__name__} needs it: add it", label)
        values = {key: value for key, value in data.items() if key in known and key != "type"}
        for key, value in values.items():
            p = known[key]
            if p is not None and p.kind in _NUMERIC and not is_numeric(value):
                message = f"found {brief(value)}; allowed is {allowed_for(p)}; give plain numbers in brackets: [...]"
                self.refuse(child(path, key), message, label)
        if len(self.problems) > before:
            return _BROKEN
        if self.folder is not None and issubclass(cls, Mesh) and isinstance(values["path"], str):
            values["path"] = located(values["path"], self.folder)
            if values["path"].startswith(OUTSIDE):
                self.notices.append(f"{label} {child(path, 'path')}: {outside(values['path'], self.folder)}")
        return self._constructed(cls, values, path, label, _BROKEN)

    def _constructed(
        self, cls: type[Any], values: Mapping[str, Any], path: str, label: str, otherwise: Any = None
    ) -> Any:
        """The shape or strategy of these values; where there is none, the problem is noted."""
        try:
            return cls(**values)
        except ModelError as error:
            self.take_over(error, path, label, {})
        except Exception as error:
            self.refuse(path, f"could not be made: {type(error).__name__}: {error}", label)
        return otherwise

    # --- strategies and settings -------------------------------------------------------------------------------------

    def _settings(self, document: Any) -> dict[str, Any]:
        return self._settings_of(document.get("simulation", {})) if self._checked(document) else {}

    def _settings_of(self, data: Any) -> dict[str, Any]:
        label, path = "simulation", "$.simulation"
        if not isinstance(data, dict):
            self.refuse(path, f"found {brief(data)}; allowed is an object {{...}} of settings", label)
            return {}
        self.keys(data, (*SETTINGS, *STRATEGY_SETTINGS), path, label)
        found = self._values(SETTINGS, data, path, label, {})
        for key in STRATEGY_SETTINGS:
            if key in data:
                found[key] = self._strategy(strategy_base(key), data[key], child(path, key), label)
        return found

    def _strategy(self, base: type[Any], data: Any, path: str, label: str) -> Any:
        """A formulation or strategy: its name, or an object with its type and parameters."""
        if isinstance(data, str):
            data = {"type": data}
        if not isinstance(data, dict):
            message = f"found {brief(data)}; allowed is a name, or an object {{...}} with type and parameters"
            self.refuse(path, message, label)
            return None
        before, kind = len(self.problems), data.get("type")
        if self.is_unknown(kind):
            stored, reason = (data if len(data) > 1 else kind), self._reason(str(kind))
            origin = self._origins.get(str(kind), {})
            if base is Formulation:
                return UnknownFormulation(stored, reason, self.dimension, origin)
            return UnknownStrategy(stored, reason, origin)
        cls = self._class(kind, path, f"a {base.__name__.lower()}", base)
        if cls is None:
            return None
        if issubclass(cls, Element):
            known: Mapping[str, Any] = fields(cls)
            values = self._values(known, data, path, label, {})
        else:
            known = settings_of(cls)
            values = {key: value for key, value in data.items() if key in known}
        self.keys(data, ("type", *known), path, label)
        if len(self.problems) > before:
            return None
        return self._constructed(cls, values, path, label)


class _Refused(Exception):  # noqa: N818 (a signal, no error)
    """The problem of this value is already on the list."""


_BROKEN: Final = object()
"""Stands for what could not be read and is already on the list."""


@remembered
def _taken(cls: type[Any], dimension: int) -> dict[str, str]:
    """How the values of an element's keys are taken, if nothing is wrong with them; of users' classes nothing."""
    if not is_public(cls):
        return {}
    ways = dict.fromkeys(_TAKEN_AS_GIVEN, "as given") | dict.fromkeys(_NUMERIC, "numbers") | {"reference": "reference"}
    ways |= dict.fromkeys(_LAWS, "laws")
    return dict.fromkeys(_HEAD, "head") | {key: ways.get(p.kind, "more") for key, p in fields(cls, dimension).items()}


@remembered
def _naming_keys(cls: type[Any]) -> list[str]:
    """The parameters of an element that may name others: functions, and what it sees."""
    return [key for key, p in fields(cls).items() if "function" in p.kind or p.kind == "seen"]


def _keys(cls: type[Any]) -> dict[str, str]:
    """Keys in files by names of parameters, where they differ."""
    return {parameter: argument for argument, parameter in arguments(cls).items()}
