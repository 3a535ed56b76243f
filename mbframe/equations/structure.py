"""Which entries a sparse system matrix has, in which order it is eliminated, and what each elimination updates.

Works on blocks (the velocities of a body, the equations of a constraint) to find the order and on scalars to find the
fill. The order is greedy minimum degree with a rule that keeps pivots regular without pivoting. A constraint may be
eliminated

- on a body that is eliminated and has not yet carried a constraint: any regular joint has full rank on a free body; or
- when all its bodies are eliminated and have freedoms left for its equations. Each eliminated body brings its
  velocities as freedoms, each eliminated equation uses one; bodies joined by eliminated constraints share theirs.

On a tree this is the elimination from the leaves to the root, with cost linear in the number of bodies; loops need no
special case. The intrinsic constraints of a body come directly after it: they never depend on others, so that if
equations do, joints have the lost pivots.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Block:
    """Consecutive unknowns: `size` velocities of a body, or `size` equations of a constraint between `bodies`."""

    first: int
    size: int
    bodies: tuple[int, ...] | None = None  # blocks a constraint couples; None for a body
    intrinsic: bool = False  # a constraint among the coordinates of one body


def elimination_order(blocks: Sequence[Block], edges: list[set[int]]) -> list[int]:
    """Order of the blocks. `edges[b]` are the blocks that share an entry with block b."""
    neighbours = [set(e) for e in edges]
    sizes = [b.size for b in blocks]
    eliminated = [False] * len(blocks)
    cluster = list(range(len(blocks)))  # union-find over bodies
    capacity = [0] * len(blocks)
    free = list(sizes)  # of a body by itself: 0 once it has carried a constraint

    def root(b: int) -> int:
        while cluster[b] != b:
            cluster[b] = cluster[cluster[b]]
            b = cluster[b]
        return b

    def carrier(b: int) -> int | None:
        """An eliminated body that has carried no constraint yet and can carry this one."""
        return next((x for x in blocks[b].bodies or () if eliminated[x] and free[x] >= sizes[b]), None)

    def eligible(b: int) -> bool:
        bodies = blocks[b].bodies
        if bodies is None or carrier(b) is not None:
            return True
        if not bodies or not all(eliminated[x] for x in bodies):
            return False
        return sum(capacity[r] for r in {root(x) for x in bodies}) >= sizes[b]

    def degree(b: int) -> tuple[bool, int]:
        """Small for what is to be eliminated early."""
        return not blocks[b].intrinsic, sum(sizes[n] for n in neighbours[b])

    heap = [(degree(b), b) for b in range(len(blocks)) if blocks[b].bodies is None]
    heapq.heapify(heap)
    waiting = {b for b in range(len(blocks)) if blocks[b].bodies is not None}
    order: list[int] = []
    while len(order) < len(blocks):
        if not heap:  # equations beyond the freedoms: redundant, and eliminated last
            heap = [(degree(b), b) for b in sorted(waiting)]
            heapq.heapify(heap)
            waiting.clear()
        d, b = heapq.heappop(heap)
        if eliminated[b] or d != degree(b):
            continue
        bodies = blocks[b].bodies
        if bodies is not None and b in waiting:
            if not eligible(b):
                continue
            waiting.discard(b)
        carrying = carrier(b) if bodies is not None else None
        if carrying is not None:
            free[carrying] = free[carrying] - sizes[b] if blocks[b].intrinsic else 0
        eliminated[b] = True
        order.append(b)
        if bodies is None:
            capacity[root(b)] += sizes[b]
        else:
            first, *others = sorted({root(body) for body in bodies})
            for other in others:
                cluster[other] = first
                capacity[first] += capacity[other]
            capacity[first] -= sizes[b]
        around = neighbours[b]
        for n in around:
            neighbours[n].discard(b)
        for n in around:
            neighbours[n].update(around)
            neighbours[n].discard(n)
        for n in around:
            if n not in waiting or eligible(n):
                heapq.heappush(heap, (degree(n), n))
    return order


@dataclass(frozen=True)
class Structure:
    """The static schedule of a factorization; see `kernels.linear_algebra.factorization` for how it is read."""

    n: int
    n_plain: int
    order: NDArray[np.uint32]
    start: NDArray[np.uint32]
    rows: NDArray[np.uint32]
    targets: NDArray[np.uint32]
    source: NDArray[np.uint32]
    slot: NDArray[np.uint32]
    source_row: NDArray[np.uint32]
    source_column: NDArray[np.uint32]

    @property
    def multiplications(self) -> int:
        """Multiply-adds of one symmetric factorization."""
        return len(self.targets)

    @cached_property
    def n_entries(self) -> int:
        """Numbers that entries are read from."""
        return int(self.source.max(initial=0)) + 1

    @cached_property
    def addresses(self) -> dict[str, tuple[NDArray[np.uint32], int]]:
        """What factorizations read, and where it is: all that share this structure read the same."""
        named = ("start", "rows", "targets", "order", "source", "slot", "source_row", "source_column")
        return {name: (array := np.ascontiguousarray(getattr(self, name)), array.ctypes.data) for name in named}


def analyze(
    blocks: list[Block],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    source: NDArray[np.int64],
    n_plain: int,
    order: NDArray[np.uint32] | None = None,
) -> Structure:
    """Structure of the symmetric matrix whose entries stand at (rows, columns), each pair given once.

    `source` says which number each entry is read from; `order`, if given, in which order unknowns are eliminated.
    Systems of the same structure, as in a sweep over parameters, share the result.
    """
    given = None if order is None else order.astype(np.int64).tobytes()
    entries = (part.astype(np.int64).tobytes() for part in (rows, columns, source))
    return _analyzed(tuple(blocks), *entries, n_plain, given)


@lru_cache(maxsize=16)
def _analyzed(blocks: tuple[Block, ...], *entries: Any) -> Structure:
    rows, columns, source = (np.frombuffer(part, np.int64) for part in entries[:3])
    n_plain: int = entries[3]
    given: bytes | None = entries[4]
    n = sum(b.size for b in blocks)
    order = _scalar_order(blocks, rows, columns, n) if given is None else np.frombuffer(given, np.int64)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)

    low, high = place[rows], place[columns]
    low, high = np.minimum(low, high), np.maximum(low, high)
    columns_of = _fill(n, low, high)

    counts = np.array([len(c) for c in columns_of], np.int64)
    start = n + np.concatenate([[0], np.cumsum(counts)])
    row_list = np.concatenate(columns_of) if n else np.empty(0, np.int64)
    keys = np.repeat(np.arange(n), counts) * n + row_list  # increasing, so a slot is found by bisection

    def slots(column: NDArray[np.int64], row: NDArray[np.int64]) -> NDArray[np.int64]:
        found = n + np.searchsorted(keys, column * n + row)
        return np.where(column == row, column, found)

    pairs_column, pairs_row = [], []
    triangles: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
    for column in columns_of:
        m = len(column)
        if m not in triangles:
            triangles[m] = np.triu_indices(m)
        a, b = triangles[m]
        pairs_column.append(column[a])
        pairs_row.append(column[b])
    empty = np.empty(0, np.int64)
    targets = slots(np.concatenate(pairs_column or [empty]), np.concatenate(pairs_row or [empty]))
    return Structure(
        n=n,
        n_plain=n_plain,
        order=order.astype(np.uint32),
        start=start.astype(np.uint32),
        rows=row_list.astype(np.uint32),
        targets=targets.astype(np.uint32),
        source=source.astype(np.uint32),
        slot=slots(low, high).astype(np.uint32),
        source_row=rows.astype(np.uint32),
        source_column=columns.astype(np.uint32),
    )


def _scalar_order(
    blocks: Sequence[Block], rows: NDArray[np.int64], columns: NDArray[np.int64], n: int
) -> NDArray[np.uint32]:
    """Order in which the unknowns are eliminated, block by block."""
    owner = np.empty(n, np.int64)
    for k, block in enumerate(blocks):
        owner[block.first : block.first + block.size] = k
    edges: list[set[int]] = [set() for _ in blocks]
    for a, b in set(zip(owner[rows].tolist(), owner[columns].tolist(), strict=True)):
        if a != b:
            edges[a].add(b)
            edges[b].add(a)
    sequence = elimination_order(blocks, edges)
    return np.concatenate(
        [np.arange(blocks[b].first, blocks[b].first + blocks[b].size) for b in sequence] or [np.empty(0, np.int64)]
    ).astype(np.uint32)


def _fill(n: int, low: NDArray[np.int64], high: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows below the diagonal of each column of the factor, fill included (columns merge into their parents)."""
    patterns: list[set[int]] = [set() for _ in range(n)]
    for a, b in zip(low.tolist(), high.tolist(), strict=True):
        if a != b:
            patterns[a].add(b)
    result = []
    for k in range(n):
        rows = np.array(sorted(patterns[k]), np.int64)
        result.append(rows)
        if len(rows):
            parent = int(rows[0])
            patterns[parent].update(patterns[k])
            patterns[parent].discard(parent)
        patterns[k] = set()
    return result
