"""Structure of the system matrix [M J^T; J 0]: its blocks of unknowns, and which entries can differ from zero."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from ..kernels.layout import PLACE, PLACES
from .axes import bending
from .structure import Block
from .tables import Tables

MOST_ENTRIES = 16
_ENTRIES: dict[Hashable, tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = {}  # of whole systems


def blocks(tables: Tables) -> list[Block]:
    """Bodies, then constraints, then intrinsic rows, as blocks of unknowns."""
    owner = tables.marker_bodies()
    blocks = [Block(b.v, b.formulation.n_v) for b in tables.bodies]
    coupled: dict[int, tuple[int, set[int]]] = {}
    for c in tables.constraints:
        _, bodies = coupled.setdefault(c.row, (c.constraint.equations, set()))
        bodies |= {owner[m] for m in (c.i, c.j) if owner[m] >= 0}
    blocks += [Block(tables.n_v + row, size, tuple(sorted(bodies))) for row, (size, bodies) in coupled.items()]
    for k, b in enumerate(tables.bodies):
        if b.formulation.n_intrinsic:
            blocks.append(Block(tables.n_v + b.row, b.formulation.n_intrinsic, (k,), intrinsic=True))
    return blocks


def pattern(tables: Tables) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Row, column and source of every entry of [M J^T; J 0] that can differ from zero, each pair once.

    Systems that differ only in the values of their parameters, as in a sweep, share the result.
    """
    masses = [
        b.formulation.mass_pattern(row)
        for table in tables.body_tables
        for row, b in zip(table.rows, table.elements, strict=True)
    ]
    owner = tables.marker_bodies()
    jacobians = {
        m: tables.bodies[k].formulation.jacobian_pattern(tables.markers[m]) for m, k in enumerate(owner) if k >= 0
    }
    gradients = [
        c.gradient_pattern
        if tables.gives_derivatives(type(c.constraint))
        else np.ones((c.constraint.equations, PLACES), bool)
        for table in tables.constraint_tables
        for c in table.elements
    ]
    bends = [bending(tables, c) for table in tables.constraint_tables for c in table.elements]
    key = (
        *((b.formulation, b.row) for b in tables.bodies),
        *(mask.tobytes() for mask in (*masses, *jacobians.values(), *gradients)),
        *(None if mask is None else mask.tobytes() for mask in bends),
        *((c.i, c.j, c.row, c.block_i, c.block_j) for table in tables.constraint_tables for c in table.elements),
        tuple(owner),
    )
    if (known := _ENTRIES.get(key)) is None:
        known = _ENTRIES[key] = _entries(tables, masses, jacobians, gradients, bends)
        while len(_ENTRIES) > MOST_ENTRIES:
            del _ENTRIES[next(iter(_ENTRIES))]
    return known


def _entries(
    tables: Tables,
    masses: list[NDArray[np.bool_]],
    jacobians: dict[int, NDArray[np.bool_]],
    gradients: list[NDArray[np.bool_]],
    bends: list[NDArray[np.bool_] | None],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The pattern from those of the mass blocks, of the markers' B, of the constraints' derivatives and of axes."""
    rows: list[NDArray[np.int64]] = []
    columns: list[NDArray[np.int64]] = []
    sources: list[NDArray[np.int64]] = []

    def take(mask: NDArray[np.bool_], first_row: int, first_column: int, offset: int) -> None:
        r, c = np.nonzero(mask)
        rows.append(first_row + r)
        columns.append(first_column + c)
        sources.append(offset + r * mask.shape[1] + c)

    for b, mass in zip((b for table in tables.body_tables for b in table.elements), masses, strict=True):
        take(np.tril(mass), b.v, b.v, b.mass_block)
        if b.formulation.n_intrinsic:
            take(b.formulation.intrinsic_pattern(), tables.n_v + b.row, b.v, b.row_block)
    owner = tables.marker_bodies()
    numbered = (c for table in tables.constraint_tables for c in table.elements)
    for c, g, bend in zip(numbered, gradients, bends, strict=True):
        for marker, half, offset in ((c.i, g[:, :PLACE], c.block_i), (c.j, g[:, PLACE:], c.block_j)):
            if owner[marker] >= 0:
                mask = (half.astype(int) @ jacobians[marker].astype(int)) > 0
                if bend is not None and marker == c.i:
                    mask[:, mask.shape[1] - bend.shape[1] :] |= bend
                take(mask, tables.n_v + c.row, tables.bodies[owner[marker]].v, offset)
    empty = np.empty(0, np.int64)
    return np.concatenate(rows or [empty]), np.concatenate(columns or [empty]), np.concatenate(sources or [empty])
