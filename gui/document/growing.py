"""Results in files that grow: what was read before is not read again."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.files.result_files import ResultFile

PIECE: Final = 2**20
"""Numbers that are read at once: some 50 ms."""
OF_THE_MODEL: Final = ("snapshot", "settings", "tables", "gravity", "mass_properties")
"""Parts that follow from the model, which does not change during a run."""


class Together(ResultFile):
    """Stored states that are read once, together.

    Panels ask for hundreds of columns one by one, and opening the file for each takes longer than reading all.
    `before` is what was read of the same run when it was shorter.
    """

    def __init__(self, path: Path, system: mb.System | None = None, before: Any = None) -> None:
        super().__init__(path, system=system)
        self._before: Together | None = before if self._continues(before) else None
        if self._before is not None:
            known = self._before.__dict__
            self.__dict__ |= {name: known[name] for name in OF_THE_MODEL if name in known}

    def _continues(self, other: Any) -> bool:
        return isinstance(other, Together) and other.content.run == self.content.run and len(other) <= len(self)

    @cached_property
    def _together(self) -> dict[str, NDArray[np.float64]]:
        *_, found = self._pieces()
        return found

    def preparation(self) -> Iterator[None]:
        """Read piece by piece what is read together otherwise."""
        if "_together" not in self.__dict__:
            found: dict[str, NDArray[np.float64]] = {}
            for piece in self._pieces():
                found = piece
                yield
            self.__dict__["_together"] = found

    def _pieces(self) -> Iterator[dict[str, NDArray[np.float64]]]:
        """All states, with more rows filled each time; what was read before is taken over."""
        before, self._before = self._before, None
        first = len(before) if before is not None else 0
        found = {name: np.empty((len(self), len(columns))) for name, columns in self.columns.items()}
        if before is not None:
            for name, values in found.items():
                values[:first] = before.part(name)
        yield found
        step = max(1, PIECE // max(1, sum(map(len, self.columns.values()))))
        for start in range(first, len(self), step):
            rows = slice(start, min(start + step, len(self)))
            for name, values in found.items():
                values[rows] = self.rows_of(name, rows, slice(0, values.shape[1]))
            yield found

    def part(self, name: str, columns: slice = slice(None)) -> NDArray[np.float64]:
        return self._together[name][:, columns]

    def since(self, first: int) -> Together:
        """The instants from one on, by themselves."""
        rest = copy(self)
        rest.__dict__ |= {
            "_length": len(self) - first,
            "t": self.t[first:],
            "_together": {name: values[first:] for name, values in self._together.items()},
        }
        return rest


def between(result: mb.Result, first: int, last: int) -> mb.Result:
    """Some instants of a result in a file, by themselves and in memory."""
    states: Any = result.states
    part = copy(states)
    part.__class__ = Together
    read = {
        name: states.rows_of(name, slice(first, last), slice(0, len(cols))) for name, cols in states.columns.items()
    }
    part.__dict__ |= {"_length": last - first, "t": states.t[first:last], "_together": read, "_before": None}
    return mb.Result.of(part, result.info, [])


def continues(result: mb.Result, before: mb.Result | None) -> bool:
    """Whether a result is the same run as another, which was shorter."""
    states = result.states
    if before is None or not isinstance(states, ResultFile) or not isinstance(before.states, ResultFile):
        return False
    return before.states.content.run == states.content.run and len(before) <= len(result)


def since(result: mb.Result, first: int) -> mb.Result:
    """The instants from one on, by themselves, of a result that continues another."""
    states = result.states
    assert isinstance(states, Together)
    return mb.Result.of(states.since(first), result.info, [])
