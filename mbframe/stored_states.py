"""Where a result has its states: in memory, or in a file; and what their columns are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .plane import lifted

if TYPE_CHECKING:
    from .equations import Equations
    from .equations.tables import Tables
    from .system import System

Array = NDArray[np.float64]
Columns = dict[str, list[tuple[str, str]]]
PARTS = ("q", "v", "z")
OF_THIS_PROCESS = ("equations", "tables")  # what holds addresses
STRATEGIES = {"accelerate": "acceleration", "correct": "stabilization"}
"""Settings that decide on accelerations and multipliers, by their part in the equations."""
ENERGY = "J"
DELIVERED = ".delivered"  # behind the names of columns with the energies that elements deliver
TURNS = re.compile(r", equation \d+, \w+ \d+\.state\.0$")  # columns of `equations.followers`


def is_work(name: str, unit: str) -> bool:
    """Whether a column of z is the energy that an element delivers."""
    return unit == ENERGY and name.endswith(DELIVERED)


class States(Protocol):
    """Stored states, in memory or in a file, and the equations that belong to them."""

    name: str
    """Of the system."""

    @property
    def columns(self) -> Columns:
        """Names and units of the columns of q, v and z."""

    def __len__(self) -> int: ...

    @property
    def t(self) -> Array:
        """The instants."""

    def span(self) -> tuple[float, float]:
        """The first and the last instant."""

    @property
    def system(self) -> Any:
        """The system that moved."""

    @property
    def snapshot(self) -> Snapshot:
        """The system as it was in the run."""

    @property
    def tables(self) -> Tables:
        """The numbered system: enough for all that follows from positions and velocities alone."""

    @property
    def equations(self) -> Equations:
        """The equations, with the strategies of the run."""

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of `simulate` in the run: formulation and strategies as objects."""

    @property
    def gravity(self) -> Array:
        """Acceleration of gravity in the run, three components."""

    @property
    def mass_properties(self) -> list[tuple[float, Array, Array]]:
        """Mass, centre of mass and inertia of each body in the run."""

    def part(self, name: str, columns: slice = slice(None)) -> Array:
        """Columns of "q", "v" or "z", a row per instant."""

    def whole(self, rows: slice = slice(None)) -> Array:
        """y = (q, v, z), a row per instant."""

    def stored(self, name: str) -> tuple[Array, str] | None:
        """Values and unit of a quantity that is stored under its name; None if it has to be computed."""

    def stored_units(self) -> dict[str, str]:
        """Units of the quantities that are stored under their names."""


class NamedColumns:
    """Stored states whose columns are quantities by themselves, such as "bar.position.x"."""

    columns: Columns

    def part(self, name: str, columns: slice = slice(None)) -> Array:
        raise NotImplementedError

    def stored(self, name: str) -> tuple[Array, str] | None:
        if (place := self._places.get(name)) is None:
            return None
        part, column, unit = place
        return self.part(part, slice(column, column + 1))[:, 0], unit

    def stored_units(self) -> dict[str, str]:
        # What elements deliver is for `Energy.work`, which adds what they store; turns of angles are for their drivers.
        return {
            name: unit
            for name, (part, _, unit) in self._places.items()
            if part != "z" or not (is_work(name, unit) or TURNS.search(name))
        }

    @cached_property
    def _places(self) -> dict[str, tuple[str, int, str]]:
        described = self.columns.items()
        return {name: (part, k, unit) for part, names in described for k, (name, unit) in enumerate(names)}


class Snapshot:
    """A system as it is now, and what its elements are called: a result belongs to that, whatever becomes of them."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.described = system.as_described()
        self._names([(element, element.name) for element in system])

    def _names(self, named: list[tuple[Any, str]]) -> None:
        self._named = {id(element): (element, name) for element, name in named}  # keeps them, and so their ids

    def __getstate__(self) -> tuple[System, System, list[tuple[Any, str]]]:
        return self.system, self.described, list(self._named.values())

    def __setstate__(self, state: tuple[System, System, list[tuple[Any, str]]]) -> None:
        self.system, self.described, named = state
        self._names(named)

    def knows(self, element: object) -> bool:
        """Whether an object was in the system."""
        return id(element) in self._named

    def name_of(self, element: Any) -> Any:
        """The name that an element had then; of others, such as those of a copy of the system, the one they have."""
        return self._named[id(element)][1] if self.knows(element) else getattr(element, "name", element)


def columns_of(tables: Tables) -> Columns:
    """Name and unit of each column of q, v and z."""
    columns: Columns = {part: [] for part in PARTS}
    for body, b in zip(tables.index, tables.bodies, strict=True):
        kinds = (("q", b.formulation.q_names, b.formulation.n_q), ("v", b.formulation.v_names, b.formulation.n_v))
        for part, given, count in kinds:
            names = given or [(f"{part}.{k}", "") for k in range(count)]
            columns[part] += [(f"{body}.{name}", unit) for name, unit in names]
    for one in tables.stateful:
        columns["z"] += [(f"{one.name}.state.{k}", "") for k in range(one.element.states)]
    columns["z"] += [follower.column for follower in tables.followers]
    columns["z"] += [(f"{work.owner_name}{DELIVERED}", ENERGY) for work in tables.works]
    return columns


def equations_with(described: System, settings: Mapping[str, Any], works: bool) -> Equations:
    """Equations of a run as it had them: in its formulation, with its acceleration and its stabilization."""
    from .equations import Equations  # late: it loads the compiler, which nobody needs who only looks at positions

    equations = Equations(described, settings.get("formulation"), works)
    for role, setting in STRATEGIES.items():
        if (strategy := settings.get(setting)) is not None:
            equations.bind(role, strategy.bound(equations))
    return equations


class StatesInMemory(NamedColumns):
    """States that were just computed. Where they are sent to other processes their equations are made anew there."""

    def __init__(self, equations: Equations, t: Array, y: Array, settings: Mapping[str, Any]) -> None:
        self.equations, self.tables = equations, equations.tables
        self.system, self.name = equations.system, equations.system.name
        self.t, self._y = t, y
        self.settings = {**settings, "formulation": equations.formulation}
        ends = np.cumsum([0, equations.n_q, equations.n_v, equations.n_z]).tolist()
        self._slices = {part: slice(*ends[k : k + 2]) for k, part in enumerate(PARTS)}
        self._works = equations.tables.keeps_works
        # The system may be changed after the run; the motion belongs to these numbers.
        self.snapshot = Snapshot(self.system)
        self.gravity = lifted(self.system.gravity)
        self.mass_properties = [b.body.mass_properties() for b in self.tables.bodies]

    @classmethod
    def none(cls, equations: Equations, settings: Mapping[str, Any]) -> StatesInMemory:
        """What there is before the first instant."""
        return cls(equations, np.zeros(0), np.zeros((0, equations.n_q + equations.n_v + equations.n_z)), settings)

    def at(self, t: Array, y: Array) -> StatesInMemory:
        """Other states of the same system."""
        other = StatesInMemory.__new__(StatesInMemory)
        vars(other).update(vars(self), t=t, _y=y)
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in OF_THIS_PROCESS}

    @cached_property
    def equations(self) -> Equations:
        return equations_with(self.snapshot.described, self.settings, self._works)

    @cached_property
    def tables(self) -> Tables:
        return self.equations.tables

    def __len__(self) -> int:
        return len(self.t)

    def span(self) -> tuple[float, float]:
        return self.t[0], self.t[-1]

    def part(self, name: str, columns: slice = slice(None)) -> Array:
        return self._y[:, self._slices[name]][:, columns]

    def whole(self, rows: slice = slice(None)) -> Array:
        return self._y[rows]

    @cached_property
    def columns(self) -> Columns:  # type: ignore[override]
        return columns_of(self.tables)
