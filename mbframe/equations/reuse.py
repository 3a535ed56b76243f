"""Equations that serve one system after the other where these differ in some values only, as the systems of a sweep do.

To number a system, to fill its tables and to choose its stages takes longer than to linearize it. `borrowed` therefore
keeps equations, each with a twin of the system that they were made for. A system whose values are those of the twin,
bit by bit, gets these equations as they are; where they differ, twin and tables are brought up to date:

- velocities of bodies stand in no table;
- mass properties and gravity stand in the rows of the bodies;
- parameters of a force stand in its row, unless they move its markers.

All else (points, axes, poses, functions, a formulation) may change the numbering, what constraints read or which
entries a matrix has, and the equations are made anew. So are those of classes that are not ours, which may depend on
what is not declared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from ..abilities import functions_of
from ..bodies.base import Body
from ..bodies.formulations import Formulation
from ..forces.base import ForceElement
from ..functions import Function
from ..parameters import Element
from ..plane import lifted
from ..registry import is_ours
from ..shapes import Shape
from ..system import System
from .equations import Equations

SEEN = 16  # outlines remembered: one that comes again is worth keeping
KEPT = 4  # equations at rest
BESIDE = ("_name", "_observers", "formulation")  # attributes of elements that are no parameters
MOTION = {"velocity", "angular_velocity"}  # of a body: not in tables
INERTIA = {"mass", "inertia", "center_of_mass", "shapes"}  # of a body: in its row

_seen: deque[Hashable] = deque(maxlen=SEEN)
_resting: deque[Shared] = deque(maxlen=KEPT)
_lock = Lock()


@contextmanager
def borrowed(system: System, formulation: Formulation | None = None) -> Iterator[Equations]:
    """Equations of a system, as good as new, for the length of a block in which nobody else has them.

    What the block computes must not keep them. `Equations.system` may be a twin of the system, with its values.
    """
    outline = _outline(system, formulation)
    if outline is None or not _known(outline):
        yield Equations(system, formulation)
        return
    shared = _taken(outline)
    if shared is None or not shared.adopts(system):
        shared = Shared(outline, system, formulation)
    try:
        yield shared.equations
    finally:
        with _lock:
            _resting.append(shared)


def _outline(system: System, formulation: Formulation | None) -> Hashable | None:
    """Classes and names of all elements; None if they may depend on more than their parameters."""
    if type(system) is not System:
        return None
    found: list[Any] = [formulation, system.name, system.dimension]
    for element in system:
        kind: Any = type(element)
        if not is_ours(kind) or not vars(element).keys() <= _attributes(kind):
            return None
        found += (kind, element.name)
    return tuple(found)


@cache
def _attributes(kind: Any) -> frozenset[str]:
    return frozenset([*kind.parameters(), *BESIDE])


@cache
def _references(kind: Any) -> list[str]:
    return [name for name, p in kind.parameters().items() if p.kind == "reference"]


@cache
def _values(kind: Any) -> list[str]:
    return [name for name, p in kind.parameters().items() if p.kind != "reference"]


def _known(outline: Hashable) -> bool:
    """Whether such a system was there before; what comes once is not kept."""
    with _lock:
        if outline in _seen:
            return True
        _seen.append(outline)
        return False


def _taken(outline: Hashable) -> Shared | None:
    with _lock:
        for shared in _resting:
            if shared.outline == outline:
                _resting.remove(shared)
                return shared
    return None


class Shared:
    """Equations with a twin of the system that they were made for."""

    def __init__(self, outline: Hashable, system: System, formulation: Formulation | None) -> None:
        self.outline = outline
        self.twin = system.as_described()
        self.equations = Equations(self.twin, formulation)
        self._new = [(array, array.copy()) for array in self.equations.work.numbers()]

    def adopts(self, system: System) -> bool:
        """Make the equations those of a system of the same outline. If not, they are of no more use."""
        bodies: set[str] = set()
        forces: set[str] = set()
        if not _same(self.twin.gravity, system.gravity):
            vars(self.twin)["gravity"] = system.gravity
            self.equations.tables.gravity = lifted(system.gravity)
            bodies.update(body.name for body in system.bodies)
        for mine, given in zip(self.twin, system, strict=True):
            changed = _differences(mine, given, system)
            if changed is None:
                return False
            if not changed:
                continue
            if isinstance(mine, Body) and changed.keys() <= MOTION | INERTIA:
                bodies.update([mine.name] if changed.keys() & INERTIA else ())
            elif isinstance(given, ForceElement) and self._keeps_markers(given):
                forces.add(mine.name)
            else:
                return False
            vars(mine).update(changed)
        return self._refilled(bodies, forces)

    def _keeps_markers(self, force: ForceElement) -> bool:
        """Whether a force acts where its equivalent in the twin did, so that nothing but its row depends on it."""
        tables = self.equations.tables
        numbered = next(f for f in tables.forces if f.force.name == force.name)
        if force.reactive or functions_of([force, numbered.force]):
            return False
        try:
            return (tables.place(force.i), tables.place(force.j)) == (numbered.i, numbered.j)
        except KeyError:
            return False

    def _refilled(self, bodies: set[str], forces: set[str]) -> bool:
        """Write the rows of some elements again; False if a mass matrix has entries elsewhere then."""
        for array, new in self._new:
            array[...] = new
        tables = self.equations.tables
        for table in tables.body_tables:
            for row, b in zip(table.rows, table.elements, strict=True):
                if b.body.name not in bodies:
                    continue
                pattern = b.formulation.mass_pattern(row)
                _write(row, b.formulation.row(b.body, tables.gravity))
                if not np.array_equal(b.formulation.mass_pattern(row), pattern):
                    return False
        for table in tables.force_tables:
            for row, f in zip(table.rows, table.elements, strict=True):
                if f.force.name in forces:
                    _write(row, f.force.row_values())
        if bodies:
            self.equations.write_constants()
            self._new = [(array, array.copy()) for array, _ in self._new]
        return True


def _write(row: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if name in row.dtype.names:
            row[name] = value


def _differences(mine: Element, given: Element, system: System) -> dict[str, Any] | None:
    """Parameters of an element in which it differs from another, with their values; None if they cannot be compared."""
    a, b = vars(mine), vars(given)
    kind: Any = type(mine)
    if a.get("formulation") != b.get("formulation"):
        return None
    for name in _references(kind):
        old, new = a[name], b[name]
        if (old is None) != (new is None):
            return None
        if new is not None and (old.name != new.name or new.name not in system or system[new.name] is not new):
            return None
    return {name: b[name] for name in _values(kind) if not _same(a[name], b[name])}


def _same(a: Any, b: Any) -> bool:
    """Whether two values are the same, bit by bit; False also if that cannot be told."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return a.hex() == b.hex()
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, int | str | Function | Shape) and a == b
