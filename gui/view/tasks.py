"""Tasks of the view for the solver process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import mbframe as mb

from ..solving.tasks import Model


@dataclass(frozen=True)
class VectorsTask:
    """Forces or reactions of a stored result at all its instants, for arrows (`mbframe.render.vectors`)."""

    path: str
    kind: str
    model: Model | None = None

    def run(self, report: Callable[..., None]) -> mb.render.Vectors:
        result = mb.load_result(self.path, system=self.model.system() if self.model is not None else None)
        return mb.render.vectors(result, self.kind)


@dataclass(frozen=True)
class StressTask:
    """Stresses of a stored result at all its instants, for colours."""

    path: str
    model: Model | None = None

    def run(self, report: Callable[..., None]) -> mb.render.Coloring:
        result = mb.load_result(self.path, system=self.model.system() if self.model is not None else None)
        return mb.render.Coloring.of(result, "stress", result.t)
