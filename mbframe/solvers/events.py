"""Events: what a run looks for while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SimulationError
from ..state import State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """Something to look for during a run: a zero of `function(t, state)`.

    direction: +1 only where it increases, -1 only where it decreases, 0 both; terminal: the run ends there. A plain
    function with attributes `terminal` and `direction` is accepted as well. Zeros are found by the sign before and
    after each step: two of them within one step go unnoticed.
    """

    function: Callable[[float, State], float]
    terminal: bool = False
    direction: int = 0
    name: str = "event"

    @classmethod
    def of(cls, given: Any) -> Event:
        """The event that an entry of `simulate(events=...)` means."""
        if isinstance(given, cls):
            return given
        return cls(
            given,
            bool(getattr(given, "terminal", False)),
            int(getattr(given, "direction", 0)),
            getattr(given, "__name__", "event"),
        )

    def value(self, state: State) -> float:
        """The function at a state; what it raises becomes the cause of a `SimulationError`."""
        try:
            return float(self.function(state.t, state))
        except Exception as error:
            message = f"raised {type(error).__name__}: {error}"
            raise SimulationError(message, state.t, f"event {self.name!r}") from error

    def crossed(self, before: float, after: float) -> bool:
        """Whether the function passed zero in the wanted direction."""
        rises, falls = before < 0.0 <= after, before > 0.0 >= after
        return (rises and self.direction >= 0) or (falls and self.direction <= 0)
