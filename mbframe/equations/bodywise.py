"""The tables behind `kernels.linear_algebra.bodywise`: which blocks of J touch which body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.linear_algebra.bodywise import BODY, BODYWISE, TOUCH
from .tables import Tables
from .workspace import Record


@dataclass(frozen=True)
class Touch:
    """A block of J: some equations, the velocities of one body."""

    body: int
    equations: int
    row: int
    entries: int


def touches_of(tables: Tables) -> list[Touch]:
    """The blocks of J, body by body."""
    owner = tables.marker_bodies()
    found: list[list[Touch]] = [[] for _ in tables.bodies]
    for c in tables.constraints:
        for marker, entries in ((c.i, c.block_i), (c.j, c.block_j)):
            if (k := owner[marker]) >= 0:
                found[k].append(Touch(k, c.constraint.equations, c.row, entries))
    for k, b in enumerate(tables.bodies):
        if b.formulation.n_intrinsic:
            found[k].append(Touch(k, b.formulation.n_intrinsic, b.row, b.row_block))
    return [touch for own in found for touch in own]


def bodywise_record(tables: Tables) -> Record:
    """The record with which the kernels solve for M^-1 J^T."""
    found = touches_of(tables)
    n_v = [b.formulation.n_v for b in tables.bodies]
    sizes = [t.equations * n_v[t.body] for t in found]
    solved = np.cumsum([0, *sizes])
    touches = np.array([(t.equations, t.row, t.entries, s) for t, s in zip(found, solved, strict=False)], TOUCH)
    counts = np.bincount([t.body for t in found], minlength=len(n_v))
    first = np.cumsum(counts) - counts
    squares = np.square(n_v)
    inverse = np.cumsum(squares) - squares
    bodies: NDArray[Any] = np.array(
        [
            (n, b.v, b.mass_block, i, f, c)
            for n, b, i, f, c in zip(n_v, tables.bodies, inverse, first, counts, strict=True)
        ],
        BODY,
    )
    data = Record(BODYWISE)
    data["bodies"], data["n_bodies"], data["touches"], data["n_touches"] = bodies, len(bodies), touches, len(touches)
    rooms = {"solved": solved[-1], "inverse": squares.sum(), "free": tables.n_v, "weight": tables.n_rows}
    made = data.make_room({field: max(int(size), 1) for field, size in (rooms | {"inverted": squares.sum()}).items()})
    made["inverted"][:] = np.nan
    return data
