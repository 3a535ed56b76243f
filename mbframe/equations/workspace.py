"""The arrays that the compiled stages work on, and the record that tells them where these are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.linear_algebra.factorization import PIVOT_LOST
from ..kernels.workspace import FACTOR, MARKER, SCRATCH, WORK
from .structure import Structure

Array = NDArray[np.float64]


class Record:
    """One structured record whose address stages get; arrays put into it are kept alive here."""

    def __init__(self, dtype: np.dtype) -> None:
        self._array = np.zeros(1, dtype)
        self._kept: dict[str, Any] = {}
        self.address = self._array.ctypes.data

    def __getitem__(self, field: str) -> Any:
        return self._array[field][0]

    def __setitem__(self, field: str, value: Any) -> None:
        if isinstance(value, Record):
            self._kept[field] = value
            value = value.address
        elif isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError(f"{field}: stages need contiguous arrays")
            self._kept[field] = value
            value = value.ctypes.data
        self._array[field] = value

    def view(self, field: str) -> NDArray[Any]:
        """One number as an array of one, to read it quickly again and again."""
        return self._array[field]

    def array(self, field: str) -> NDArray[Any]:
        """The array behind a field."""
        return self._kept[field]

    def numbers(self) -> Iterator[NDArray[Any]]:
        """What stages may write, as arrays: the record itself, and all that it leads to but for indices."""
        yield self._array
        for kept in self._kept.values():
            if isinstance(kept, Record):
                yield from kept.numbers()
            elif kept.dtype.kind not in "iu":
                yield kept


def factor_record(structure: Structure) -> Record:
    """The record of a factorization with room for its numbers."""
    record = Record(FACTOR)
    record["n"], record["n_plain"] = structure.n, structure.n_plain
    record["n_lower"], record["n_targets"] = len(structure.rows), len(structure.targets)
    record["n_sources"], record["n_entries"] = len(structure.source), int(structure.source.max(initial=0)) + 1
    record["values"] = np.zeros(structure.n + len(structure.rows))
    for field in ("start", "rows", "targets", "order", "source", "slot", "source_row", "source_column"):
        record[field] = getattr(structure, field)
    record["scale"] = np.zeros(structure.n)
    record["threshold"] = np.full(structure.n, PIVOT_LOST)
    record["weight"] = np.zeros(structure.n)
    record["work"] = np.zeros(6 * structure.n)
    record["valid"] = -1
    return record


class Workspace(Record):
    """State, rates, marker table, matrix entries: everything one evaluation reads and writes."""

    def __init__(
        self,
        n_q: int,
        n_v: int,
        n_z: int,
        n_followers: int,
        n_rows: int,
        n_holonomic: int,
        n_entries: int,
        markers: NDArray[Any],
        n_jacobians: int,
        n_scratch: int = 0,
    ) -> None:
        super().__init__(WORK)
        sizes = {
            "n_q": n_q,
            "n_v": n_v,
            "n_z": n_z,
            "n_y": n_q + n_v + n_z,
            "n_followers": n_followers,
            "n_rows": n_rows,
            "n_holonomic": n_holonomic,
        }
        for field, size in sizes.items():
            self[field] = size
        self["n_entries"], self["n_markers"] = n_entries, len(markers)
        self["low"], self["high"], self["next_sample"] = -np.inf, np.inf, np.inf
        if markers.dtype != MARKER:
            raise TypeError("the marker table has another layout")
        self.markers = markers
        self["markers"] = markers
        self.y, self.rates = np.zeros(n_q + n_v + n_z), np.zeros(n_q + n_v + n_z)
        self.q, self.v, self.z = np.split(self.y, [n_q, n_q + n_v])
        self.followers = self.z[n_z - n_followers :]
        self.q_rate, self.v_rate, self.z_rate = np.split(self.rates, [n_q, n_q + n_v])
        self.multipliers, self.force = np.zeros(n_rows), np.zeros(n_v)
        self.jacobians, self.entries = np.zeros(n_jacobians), np.zeros(n_entries)
        self.residual, self.constraint_rate, self.gamma = np.zeros(n_holonomic), np.zeros(n_rows), np.zeros(n_rows)
        self.drift, self.row_sizes = np.zeros(n_rows), np.ones(n_holonomic)
        self.right, self.solution = np.zeros(n_v + n_rows), np.zeros(n_v + n_rows)
        for field in (
            *("y", "rates", "multipliers", "force", "jacobians", "entries", "residual"),
            *("constraint_rate", "gamma", "drift", "right", "solution", "row_sizes"),
        ):
            self[field] = getattr(self, field)
        self["scratch"] = np.zeros(max(SCRATCH, n_scratch))
        self.groups, self._potentials = np.zeros(len(markers), np.int64), np.zeros(1)
        self["groups"] = self.groups
        self.make_groups(1)

    def make_groups(self, most: int) -> None:
        """Make room for the potential energies of so many groups."""
        self._potentials = np.zeros(most)
        self["potentials"] = self._potentials
        self.group(0, most)

    def group(self, groups: NDArray[np.int64] | int, count: int) -> None:
        """Let the potential energies of force elements be added in groups: those of their markers, -1 for none.

        In arrays that stay: the record may be put back to what it was before.
        """
        self.groups[:] = groups
        self.potentials = self._potentials[:count]
        self["n_groups"] = count
