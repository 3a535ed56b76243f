"""The records behind `kernels.partition`."""

from __future__ import annotations

import numpy as np

from ..kernels.partition import PARTITION, PROJECTION
from .equations import Equations
from .workspace import Record


def partition_record(eq: Equations, n_rows: int, every_step: bool) -> Record:
    """A partition of the velocities by the first `n_rows` constraint rows, not yet revealed."""
    data = Record(PARTITION)
    data["n_rows"], data["rank"], data["every_step"] = n_rows, -1, int(every_step)
    m, n = max(eq.n_rows, 1), eq.n_v
    data["rows"], data["columns"], data["pivots"] = (np.zeros(size, np.int64) for size in (m, n, m))
    data["jacobian"], data["scaled"], data["factors"] = np.zeros(m * n), np.zeros(m * n), np.zeros(m * m)
    return data


def projection_record(eq: Equations) -> Record:
    """The record with which `accelerate_by_projection` works."""
    m, n = eq.n_rows, eq.n_v
    data = Record(PROJECTION)
    data["partition"] = partition_record(eq, m, every_step=False)
    rooms = {
        "basis": n * n,
        "product": n * n,
        "reduced": n * n,
        "particular": n,
        "load": n,
        "sharing": m * m,
        "normal": m * m,
    }
    for field, size in rooms.items():
        data[field] = np.zeros(max(size, 1))
    return data
