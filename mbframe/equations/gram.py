"""The tables behind `kernels.stages.gauss`: where the products of blocks of J go in K = J M^-1 J^T, and its factors."""

from __future__ import annotations

from itertools import groupby, product

import numpy as np

from ..kernels.stages.gauss import GAUSS, PRODUCT
from .bodywise import touches_of
from .structure import Block, analyze
from .tables import Tables
from .workspace import Record, factor_record


def gauss_record(tables: Tables) -> Record:
    """The record with which `accelerate_by_gauss` works."""
    touches = touches_of(tables)
    sizes = {t.row: t.equations for t in touches}
    places: dict[tuple[int, int], int] = {}  # of the lower blocks of K, by their first rows
    products: list[tuple[int, int, int, int]] = []
    n_gram = 0
    for body, group in groupby(enumerate(touches), key=lambda pair: pair[1].body):
        for (left, a), (right, b) in product(list(group), repeat=2):
            if a.row < b.row:
                continue
            if (a.row, b.row) not in places:
                places[a.row, b.row] = n_gram
                n_gram += a.equations * b.equations
            products.append((left, right, tables.bodies[body].formulation.n_v, places[a.row, b.row]))

    rows, columns, source = [], [], []
    for (first, second), offset in places.items():
        block = np.ones((sizes[first], sizes[second]), bool)
        r, c = np.nonzero(np.tril(block) if first == second else block)
        rows.append(first + r)
        columns.append(second + c)
        source.append(offset + r * sizes[second] + c)
    none = [np.empty(0, np.int64)]
    at, beside, read = (np.concatenate(part or none) for part in (rows, columns, source))
    blocks = [Block(row, size) for row, size in sorted(sizes.items())]

    n = tables.n_rows
    data = Record(GAUSS)
    data["factor"] = factor_record(analyze(blocks, at, beside, read, n_plain=n))
    data["products"], data["n_products"], data["n_gram"] = np.array(products, PRODUCT), len(products), n_gram
    rooms = {"gram": n_gram, "dense": n * n, "normal": n * n, "weight": n, "error": n, "work": n}
    for field, size in rooms.items():
        data[field] = np.zeros(max(size, 1))
    data["order"] = np.zeros(max(n, 1), np.int64)
    return data
