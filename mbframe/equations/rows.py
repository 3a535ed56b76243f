"""Rows of the tables: the link of an element to its markers and places, then its declared parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..abilities import functions_of
from ..errors import ModelError
from ..kernels.programs import overloads as programs
from ..registry import is_ours

if TYPE_CHECKING:
    from .tables import Tables


def rows_of(
    kind: Any,
    own: list[tuple[Any, ...]],
    elements: list[Any],
    links: list[dict[str, int]],
    dimension: int,
    values: list[dict[str, Any]] | None = None,
) -> np.recarray:
    """The rows of a type: the fields of the link, then the declared parameters (their `values` if at hand)."""
    declared = kind.parameters()
    parameters = [
        entry
        for entry in kind.row_fields()
        if is_ours(kind)
        or entry[0] not in declared
        or _means_the_same(declared[entry[0]], [getattr(e, entry[0]) for e in elements], dimension)
    ]
    fields = {entry[0] for entry in own + parameters}
    taken = {entry[0] for entry in own}
    for entry in parameters:
        if entry[0] in taken:
            raise ModelError(
                f"{kind.__name__}.{entry[0]}: this name is used by the tables; choose another parameter name"
            )
    plain = np.zeros(len(elements), np.dtype(own + parameters, align=True))
    values = [element.row_values() for element in elements] if values is None else values
    columns = {name: plain[name] for name in fields}
    for k, (given, link) in enumerate(zip(values, links, strict=True)):
        for name, value in (link | given).items():
            if name in columns:
                columns[name][k] = value
    rows = plain.view(np.recarray)
    if functions_of(elements):
        for name, parameter in declared.items():
            if name in fields and "function" in parameter.kind:
                rows[name]["run"] = programs.run.address
    return rows


def reaction_link(tables: Tables, force: Any) -> dict[str, Any]:
    """Where the reaction of a force's joint is found: rows, and places of the first columns of its blocks."""
    if tables.system[force.joint.name] is not force.joint:
        message = f"found {force.joint}, which is not in system {tables.system.name!r}; add it with system.add(...)"
        raise ModelError([force.problem("joint", message)])
    rows, entries = np.zeros(6, np.int64), np.zeros(6, np.int64)
    owner = tables.marker_bodies()
    k = 0
    sign = 1.0
    for c in tables.constraints:
        if c.owner is not force.joint:
            continue
        # What acts on the ground is the opposite of what acts on the first body.
        grounded = owner[c.j] < 0
        sign = -1.0 if grounded else 1.0
        first, marker = (c.block_i, c.i) if grounded else (c.block_j, c.j)
        for r in range(c.constraint.equations):
            rows[k] = c.row + r
            entries[k] = first + r * tables.bodies[owner[marker]].formulation.n_v
            k += 1
    return {
        "n_reactions": k,
        "reaction_sign": sign,
        "reaction_rows": rows,
        "reaction_entries": entries,
        "reaction_components": tables.system.dimension,
        "row": rows[0],
    }


def _means_the_same(parameter: Any, values: list[Any], dimension: int) -> bool:
    """Whether a user's method that reads a parameter means the same in a row.

    There a choice is a number, None is nan, and vectors always have three components. What does not is left out of the
    row: the method then does not compile and is called from Python.
    """
    if parameter.kind == "choice" or parameter.of(dimension) is not parameter:
        return False
    return not any(value is None for value in values)
