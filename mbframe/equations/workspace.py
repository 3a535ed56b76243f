"""The arrays that the compiled stages work on, and the record that tells them where these are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.linear_algebra.factorization import PIVOT_LOST
from ..kernels.workspace import FACTOR, MARKER, SCRATCH, WORK
from .structure import Structure

Array = NDArray[np.float64]
LINE = 8  # numbers in a line of the processor's cache: arrays begin with one


class Record:
    """One structured record whose address stages get; arrays put into it are kept alive here."""

    def __init__(self, dtype: np.dtype) -> None:
        self._array = np.zeros(1, dtype)
        self._integers, self._reals = self._array.view(np.int64), self._array.view(np.float64)
        self._fields: Any = dtype.fields
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
        self._put(field, value)

    def _put(self, field: str, value: Any) -> None:
        """Write a number, at its place: a field of a record is found ten times slower."""
        kind, at = self._fields[field][:2]
        if kind.char == "d":
            self._reals[at >> 3] = value
        elif kind.char == "l":
            self._integers[at >> 3] = value
        else:
            self._array[field] = value

    def refer(self, field: str, array: NDArray[Any], address: int) -> None:
        """Put in an array whose address is known."""
        self._kept[field] = array
        self._put(field, address)

    def make_room(self, sizes: Mapping[str, int]) -> dict[str, Array]:
        """Put in arrays of zeros of some sizes: all in one piece, since to ask for an address takes a microsecond."""
        whole = np.zeros(sum(sizes.values()) + LINE * (len(sizes) + 1))
        address, found = whole.ctypes.data, {}
        first = -(address >> 3) % LINE
        for field, size in sizes.items():
            found[field] = whole[first : first + size]
            self.refer(field, found[field], address + 8 * first)
            first += -(-size // LINE) * LINE
        return found

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
    record["n_sources"], record["n_entries"] = len(structure.source), structure.n_entries
    for field, (array, address) in structure.addresses.items():
        record.refer(field, array, address)
    n = structure.n
    rooms = {"values": n + len(structure.rows), "scale": n, "threshold": n, "weight": n, "work": 6 * n}
    record.make_room(rooms)["threshold"][:] = PIVOT_LOST
    record["valid"] = -1
    return record


class Workspace(Record):
    """State, rates, marker table, matrix entries: everything one evaluation reads and writes."""

    y: Array
    rates: Array
    multipliers: Array
    force: Array
    jacobians: Array
    entries: Array
    residual: Array
    constraint_rate: Array
    gamma: Array
    drift: Array
    row_sizes: Array
    right: Array
    solution: Array

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
        n_y, rows = n_q + n_v + n_z, ("multipliers", "constraint_rate", "gamma", "drift")
        rooms = {"y": n_y, "rates": n_y, **dict.fromkeys(rows, n_rows), "force": n_v}
        rooms |= {"jacobians": n_jacobians, "entries": n_entries, "residual": n_holonomic, "row_sizes": n_holonomic}
        rooms |= {"right": n_v + n_rows, "solution": n_v + n_rows, "scratch": max(SCRATCH, n_scratch)}
        vars(self).update(self.make_room(rooms))
        self.q, self.v, self.z = self.y[:n_q], self.y[n_q : n_q + n_v], self.y[n_q + n_v :]
        self.followers = self.z[n_z - n_followers :]
        self.q_rate, self.v_rate, self.z_rate = (self.rates[:n_q], self.rates[n_q : n_q + n_v], self.rates[n_q + n_v :])
        self.row_sizes[:] = 1.0
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
