"""The tables behind `kernels.gauss`: which blocks of J touch which body, and where their products go in J M^-1 J^T."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..kernels.gauss import BODY, GAUSS, PRODUCT, TOUCH
from .structure import Block, analyze
from .tables import Tables
from .workspace import Record, factor_record


def gauss_record(tables: Tables, system_factor: Record) -> Record:
    """The record with which `accelerate_by_gauss` works."""
    touches, of_body = _touches(tables)
    starts = {int(t["row"]): int(t["equations"]) for t in touches}
    blocks = [Block(row, size) for row, size in sorted(starts.items())]
    products, places, n_gram = _products(touches, of_body, [b.formulation.n_v for b in tables.bodies])
    rows, columns, source = [], [], []
    for (a, b), offset in places.items():
        block = np.ones((starts[a], starts[b]), bool)
        r, c = np.nonzero(np.tril(block) if a == b else block)
        rows.append(a + r)
        columns.append(b + c)
        source.append(offset + r * starts[b] + c)
    empty = np.empty(0, np.int64)
    entries = (np.concatenate(part or [empty]) for part in (rows, columns, source))
    structure = analyze(blocks, *entries, n_plain=tables.n_rows)
    n_rows, largest = tables.n_rows, max(b.formulation.n_v for b in tables.bodies)

    bodies = np.zeros(len(tables.bodies), BODY)
    first = 0
    for record, b, own in zip(bodies, tables.bodies, of_body, strict=True):
        f = b.formulation
        record["n"], record["v"], record["mass"] = f.n_v, b.v, b.mass_block
        record["row"], record["n_intrinsic"], record["row_block"] = b.row, f.n_intrinsic, b.row_block
        record["first"], record["n_touches"] = first, len(own)
        first += len(own)

    data = Record(GAUSS)
    for field, table in (("bodies", bodies), ("touches", touches), ("products", products)):
        data[field], data[f"n_{field}"] = table, len(table)
    data["n_gram"] = n_gram
    pools = {
        "solved": sum(int(t["equations"]) * b.formulation.n_v for t, b in _with_bodies(tables, touches, of_body)),
        "gram": n_gram,
        "dense": n_rows**2,
        "normal": n_rows**2,
        "weight": n_rows,
        "mass": largest**2,
        "free": tables.n_v,
        "error": n_rows,
        "work": n_rows,
    }
    for field, size in pools.items():
        data[field] = np.zeros(max(size, 1))
    data["order"] = np.zeros(max(n_rows, 1), np.int64)
    data["factor"], data["system"] = factor_record(structure), system_factor
    return data


def _touches(tables: Tables) -> tuple[np.ndarray, list[list[int]]]:
    """The blocks of J body by body, and which of them belong to each body."""
    owner = tables.marker_bodies()
    found: list[list[tuple[int, int, int]]] = [[] for _ in tables.bodies]
    for c in tables.constraints:
        for marker, block in ((c.i, c.block_i), (c.j, c.block_j)):
            if owner[marker] >= 0:
                found[owner[marker]].append((c.constraint.equations, c.row, block))
    for own, b in zip(found, tables.bodies, strict=True):
        if b.formulation.n_intrinsic:
            own.append((b.formulation.n_intrinsic, b.row, b.row_block))
    touches = np.zeros(sum(len(own) for own in found), TOUCH)
    of_body: list[list[int]] = []
    k = solved = 0
    for own, b in zip(found, tables.bodies, strict=True):
        of_body.append(list(range(k, k + len(own))))
        for equations, row, block in own:
            touches[k] = (equations, row, block, solved)
            solved += equations * b.formulation.n_v
            k += 1
    return touches, of_body


def _with_bodies(tables: Tables, touches: np.ndarray, of_body: list[list[int]]):
    return ((touches[k], b) for b, own in zip(tables.bodies, of_body, strict=True) for k in own)


def _products(
    touches: np.ndarray, of_body: list[list[int]], n_v: list[int]
) -> tuple[np.ndarray, dict[tuple[int, int], int], int]:
    """Products of touches of the same body, the places of the blocks of K (lower ones) by first rows, and their size."""
    places: dict[tuple[int, int], int] = {}
    products: list[tuple[int, int, int, int]] = []
    size = 0
    for own, n in zip(of_body, n_v, strict=True):
        for left, right in product(own, own):
            key = int(touches[left]["row"]), int(touches[right]["row"])
            if key[0] < key[1]:
                continue
            if key not in places:
                places[key] = size
                size += int(touches[left]["equations"] * touches[right]["equations"])
            products.append((left, right, n, places[key]))
    return np.array(products, PRODUCT) if products else np.zeros(0, PRODUCT), places, size
