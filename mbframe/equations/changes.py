"""Parameters of elements that change under equations which are in use: the rows of the tables follow.

What stands in a row may change: mass properties, the parameters of forces and of joints, gravity. What decides on the
numbering, on markers or on which stage runs may not: points and axes, poses, references, flags that add states.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..abilities import functions_of, is_conservative
from ..bodies.base import Body
from ..constraints.base import BasicConstraint
from ..constraints.relations import MeasureRelation
from ..errors import ModelError
from ..forces.base import ForceElement
from ..joints.base import Joint
from ..kernels.programs import overloads as programs
from ..parameters import Element
from ..plane import lifted
from ..registry import is_ours
from ..signals import named_by
from ..system import System
from .equations import Equations
from .numbered import NumberedConstraint, NumberedForce

INERTIA: Final = {"mass", "inertia", "center_of_mass"}
"""Of a body: all that its row has but what depends on its pose or its shape."""


class UnchangeableError(Exception):
    """A parameter on which the structure of the equations depends; the text says why."""


def rewrite(eq: Equations, element: Element, field: str) -> None:
    """Bring the rows of the tables up to date after a parameter of an element was assigned."""
    if isinstance(element, System):
        _gravity(eq, field)
    elif isinstance(element, Body):
        _body(eq, element, field)
    elif isinstance(element, ForceElement):
        _force(eq, element, field)
    elif isinstance(element, Joint | BasicConstraint):
        _joint(eq, element)
    else:
        raise UnchangeableError("is read when a result is asked for, and is in no equation")
    eq.changed()


def _gravity(eq: Equations, field: str) -> None:
    if field != "gravity":
        raise UnchangeableError("decides on the structure of the equations")
    eq.tables.gravity = lifted(eq.system.gravity)
    for b in eq.tables.bodies:
        _inertia(eq, b.body.name)


def _body(eq: Equations, body: Body, field: str) -> None:
    if field not in INERTIA:
        raise UnchangeableError("describes where the body was at the beginning; change its state: reset(state)")
    _inertia(eq, body.name)


def _inertia(eq: Equations, name: str) -> None:
    for table in eq.tables.body_tables:
        for row, b in zip(table.rows, table.elements, strict=True):
            if b.body.name == name:
                pattern = b.formulation.mass_pattern(row)
                _write(row, b.formulation.row(b.body, eq.tables.gravity))
                if np.any(b.formulation.mass_pattern(row) & ~pattern):
                    raise UnchangeableError("couples velocities that were not coupled when the simulation began")
    eq.write_constants(name)


def _force(eq: Equations, force: ForceElement, field: str) -> None:
    places = ((t, k) for t in eq.tables.force_tables for k in range(len(t.elements)))
    table, k = next((t, k) for t, k in places if t.elements[k].force.name == force.name)
    f: NumberedForce = table.elements[k]
    if not _at(eq, force, (f.i, f.j)):
        raise UnchangeableError("decides where the force acts, which stays")
    if type(force.as_evaluated) is not type(f.force):
        raise UnchangeableError("gives the force another number of own states")
    if bool(force.counts_turns) != bool(f.counter):
        raise UnchangeableError("decides whether turns are counted, which stays")
    if eq.tables.keeps_works and is_conservative(force) != (f.work_at < 0):
        had, has = ("no work", "does some") if f.work_at < 0 else ("work", "does none")
        raise UnchangeableError(
            f"makes the force, which did {had} beside its energy when the simulation began, one that {has}, and its "
            "work is kept from the start; begin with a very small value instead of none, or end with one"
        )
    if field in named_by(force):
        raise UnchangeableError("names inputs, and what is named stays; let an input change instead")
    # A function that names inputs has a program of its own in its row.
    values = {name: value for name, value in force.row_values().items() if name not in named_by(force)}
    if f.force is not force:  # a twin whose programs get the values of inputs
        vars(f.force)[field] = getattr(force, field)
    _write_functions(table, k, f.force, values)


def _joint(eq: Equations, joint: Joint | BasicConstraint) -> None:
    old = [c for c in eq.tables.constraints if c.owner is joint]
    new: list[Any] = []
    for part in joint.constraints() if isinstance(joint, Joint) else [joint]:
        if isinstance(part, MeasureRelation):
            new += part.terms
        elif (kept := part.in_plane() if eq.tables.planar else part) is not None:
            new.append(kept)
    if [type(part) for part in new] != [type(c.constraint) for c in old]:
        raise UnchangeableError("gives the joint other equations")
    if not all(is_ours(type(part)) and _at(eq, part, (c.i, c.j)) for part, c in zip(new, old, strict=True)):
        raise UnchangeableError("decides where the joint is, which stays")
    for part, c in zip(new, old, strict=True):
        fresh = NumberedConstraint(part, c.owner, c.owner_name, c.row, c.i, c.j)
        if np.any(fresh.gradient_pattern & ~c.gradient_pattern):
            raise UnchangeableError("lets the joint depend on what it did not depend on when the simulation began")
    for part, c in zip(new, old, strict=True):
        table = next(table for table in eq.tables.constraint_tables if c in table.elements)
        k = next(k for k, other in enumerate(table.elements) if other is c)
        _write_functions(table, k, part, part.row_values())
        c.constraint = part


def _at(eq: Equations, element: Any, markers: tuple[int, int]) -> bool:
    """Whether an element is where it was."""
    try:
        return (eq.tables.place(element.i), eq.tables.place(element.j)) == markers
    except KeyError:
        return False


def _write_functions(table: Any, k: int, element: Any, values: dict[str, Any]) -> None:
    """Write a row that may hold functions, which stay alive with the table."""
    functions = functions_of([element])
    if any(function.program is None for function in functions):
        raise UnchangeableError(
            "is a Python function, which compiled steps do not take up; give an expression or a table"
        )
    _write(table.rows[k], values)
    table.kept += functions
    for name, parameter in type(element).parameters().items():
        if functions and name in values and name in table.rows.dtype.names and "function" in parameter.kind:
            table.rows[name]["run"][k] = programs.run.address


def _write(row: Any, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if name in row.dtype.names:
            row[name] = value


def refused(element: Element, field: str, why: str) -> ModelError:
    """The error for a parameter that has to stay."""
    return ModelError([element.problem(field, f"{why}; make a new Simulation for another value")])
