"""The equations of an element, computed in the solver process, which keeps those of the model for the next request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import mbframe as mb

from ...solving.tasks import Model

_kept: dict[Model, mb.Equations] = {}


@dataclass(frozen=True)
class EquationsTask:
    """Residual, Jacobian and right-hand side of an element at a state. Only the last one asked for matters."""

    model: Model
    element: str
    state: mb.State | None = None
    latest: ClassVar[str] = "equations"

    def run(self, report: Callable[..., None]) -> Any:
        if self.model not in _kept:
            _kept.clear()
            _kept[self.model] = mb.Equations(self.model.system())
        return mb.equations_of(_kept[self.model], self.element, self.state)
