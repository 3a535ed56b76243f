"""The records behind `kernels.stages.partition`."""

from __future__ import annotations

import numpy as np

from ..kernels.stages.partition import PARTITION, PROJECTION
from .equations import Equations
from .workspace import Record


def partition_record(eq: Equations, n_rows: int, every_step: bool) -> Record:
    """A partition of the velocities by the first `n_rows` constraint rows, not yet revealed."""
    data = Record(PARTITION)
    data["n_rows"], data["rank"], data["every_step"] = n_rows, -1, int(every_step)
    m, n = max(eq.n_rows, 1), eq.n_v
    data["rows"], data["columns"] = np.zeros(m, np.int64), np.zeros(n, np.int64)
    for field, size in (("row_place", m), ("column_place", n), ("lower_start", m + 1), ("upper_start", m + 1)):
        data[field] = np.zeros(size, np.uint32)
    data["lower"], data["upper"] = np.zeros(m * m, np.uint32), np.zeros(m * m, np.uint32)
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
