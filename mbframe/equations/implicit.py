"""The system matrix of implicit integrators: where its entries come from, and the schedule of its factorization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..kernels import bindings
from ..kernels.compiler.compile import PythonStage
from ..kernels.integrators.implicit import NEWTON
from ..registry import is_ours
from .numbered import NumberedConstraint, NumberedForce
from .pattern import blocks, pattern
from .structure import Block, analyze
from .workspace import Record

if TYPE_CHECKING:
    from .equations import Equations

Indices = NDArray[np.int64]


class NewtonMatrix:
    """The matrix [c1 M + c2 R + c3 K, J^T; J, 0] of some equations for the compiled integrators.

    Its unknowns are changes of v, of own states (whose mass is 1) and of multipliers.

    record
        What their stages read.
    python
        The part that Python has in the tangent, if any: an error of a user's method waits there.
    """

    def __init__(self, eq: Equations) -> None:
        assembly = eq.tangent_assembly
        rows, columns, source = pattern(eq.tables)
        moving, n = eq.n_v + eq.n_own, eq.n_v + eq.n_own + eq.n_rows

        def unknown(k: Indices) -> Indices:
            """Own states come before the multipliers of the equations of motion."""
            return np.where(k < eq.n_v, k, k + eq.n_own)

        own = np.arange(eq.n_v, moving)
        tangent_source = np.flatnonzero(coupled(eq, rows, columns))
        tangent_row, tangent_column = (places[tangent_source] for places in assembly.places)
        pushed, reacting = assembly.reaction_places
        reacting = unknown(reacting + eq.n_v)
        all_rows = np.concatenate([unknown(rows), tangent_row, own, pushed])
        all_columns = np.concatenate([unknown(columns), tangent_column, own, reacting])
        low, high = np.minimum(all_rows, all_columns), np.maximum(all_rows, all_columns)
        pairs = np.unique(low * n + high)
        pair_rows, pair_columns = pairs % n, pairs // n
        # Couplings among bodies must not change the order, which is such that no pivot is lost. Own states go first:
        # their pivots 1 - f_z/s are their own affair, and what they couple their element couples anyway.
        order = np.concatenate([own, unknown(eq.structure.order.astype(np.int64))])
        all_blocks = [*blocks(eq.tables), *([Block(eq.n_v, eq.n_own)] if eq.n_own else [])]
        structure = analyze(all_blocks, pair_rows, pair_columns, np.arange(len(pairs)), moving, order)
        self.n, self.n_lower = structure.n, len(structure.rows)
        place = np.empty(n, np.int64)
        place[structure.order] = np.arange(n)
        slot = structure.slot.astype(np.int64)

        def slots(r: Indices, c: Indices) -> NDArray[np.uint32]:
            """Where the entries (r, c) are among D, L and U."""
            found = slot[np.searchsorted(pairs, np.minimum(r, c) * n + np.maximum(r, c))]
            return np.where(place[r] < place[c], found + self.n_lower, found).astype(np.uint32)

        record = Record(NEWTON)
        record["n"], record["n_lower"], record["n_targets"] = self.n, self.n_lower, len(structure.targets)
        for field in ("start", "rows", "targets", "order"):
            record[field] = getattr(structure, field)
        record["scale"], record["threshold"] = np.zeros(n), np.zeros(n)
        mass = rows < eq.n_v
        off = mass & (rows != columns)  # given once; both halves are wanted
        mass_row = np.concatenate([rows[mass], columns[off]])
        mass_column = np.concatenate([columns[mass], rows[off]])
        row, column = rows[~mass], columns[~mass]
        lists = {
            "mass_source": np.concatenate([source[mass], source[off]]),
            "mass_row": mass_row,
            "mass_column": mass_column,
            "mass_slot": slots(mass_row, mass_column),
            "jacobian_source": source[~mass],
            "jacobian_row": row - eq.n_v,
            "jacobian_column": column,
            "jacobian_slot": slots(unknown(row), column),
            "transposed_slot": slots(column, unknown(row)),
            "own_slot": slots(own, own),
            "tangent_source": tangent_source,
            "tangent_row": tangent_row,
            "tangent_column": tangent_column,
            "tangent_slot": slots(tangent_row, tangent_column),
            "reactive_slot": slots(pushed, reacting),
        }
        for field, values in lists.items():
            record[field] = values.astype(np.uint32)
        record["n_own"], record["n_moving"] = eq.n_own, moving
        record["n_mass"], record["n_jacobian"], record["n_tangent"] = len(mass_row), len(row), len(tangent_row)
        record["n_numbers"], record["n_reactive"] = assembly.size, len(pushed)
        for field in ("stiffness", "damping", "v_rate", "multipliers", "reactions", "by_reactions"):
            record[field] = getattr(assembly, field)
        self.python: PythonStage | None
        record["take"], self.python = assembly.stage()
        stages = [
            bindings.coordinate_rate_stages(table.type, is_ours(table.type), table.rows.dtype)
            for table in eq.tables.body_tables
        ]
        record["rates"] = np.array([there.address for there, _ in stages], np.int64)
        record["displacements"] = np.array([back.address for _, back in stages], np.int64)
        self.record = record

    @property
    def size(self) -> int:
        """How many numbers the factors have: D, L and U."""
        return self.n + 2 * self.n_lower


def coupled(eq: Equations, rows: Indices, columns: Indices) -> NDArray[np.bool_]:
    """Which numbers of the tangent can differ from zero, given the pattern of the system matrix.

    The multipliers of a joint couple velocities of two bodies only if both occur in one of its equations, and not at
    all if that is linear in the points that it joins. A body's own velocities, those that a force couples and those of
    bodies that roll on each other count as coupled. Every entry less makes the factors sparser.
    """
    from scipy import sparse

    tables, assembly = eq.tables, eq.tangent_assembly
    curved = np.zeros(eq.n_rows, bool)
    whole = {(k, k) for k in range(len(tables.bodies))}
    owner = tables.marker_bodies()
    links: list[NumberedConstraint | NumberedForce] = [*tables.constraints, *tables.forces]
    for link in links:
        if isinstance(link, NumberedConstraint) and not link.constraint.nonholonomic:
            curved[link.rows] |= not link.constraint.joins_points
        else:
            whole |= {(owner[link.i], owner[link.j]), (owner[link.j], owner[link.i])}
    read = rows >= eq.n_v
    read[read] = curved[rows[read] - eq.n_v]
    gradient = sparse.csr_array((np.ones(read.sum()), (rows[read], columns[read])), (eq.n_v + eq.n_rows, eq.n_v))
    pairs = (gradient.T @ gradient).tocoo()
    row, column = assembly.places
    sizes = [tables.bodies[a].formulation.n_v * tables.bodies[b].formulation.n_v for a, b in assembly.blocks]
    within = np.repeat([block in whole for block in assembly.blocks], sizes)
    within = np.concatenate([within, np.ones(assembly.size - len(within), bool)])  # with own states
    n = eq.n_v + eq.n_own
    return within | np.isin(row * n + column, pairs.row * n + pairs.col)
