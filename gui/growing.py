"""Results in files that grow: what was read before is not read again."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.files.result_files import ResultFile

OF_THE_MODEL: Final = ("snapshot", "settings", "tables", "gravity", "mass_properties")
"""What follows from the model, which does not change during a run."""


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
        before, self._before = self._before, None
        first = len(before) if before is not None else 0
        new = {
            name: self._rows(name, slice(first, len(self)), slice(0, len(columns)))
            for name, columns in self.columns.items()
        }
        return new if before is None else {name: np.concatenate([before.part(name), new[name]]) for name in new}

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


def continues(result: mb.Result, before: mb.Result | None) -> bool:
    """Whether a result is the same run as another, which was shorter."""
    states = result._states
    return before is not None and isinstance(states, Together) and states._continues(before._states)


def since(result: mb.Result, first: int) -> mb.Result:
    """The instants from one on, by themselves, of a result that continues another."""
    states = result._states
    assert isinstance(states, Together)
    return mb.Result.of(states.since(first), result.info, [])
