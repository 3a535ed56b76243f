"""Answers of the solver process about an element that is not added yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import mbframe as mb

from ..solving.tasks import Model


@dataclass(frozen=True)
class PreviewTask:
    """Freedoms that are left with one more element, given by its class, the names it refers to and its values."""

    model: Model
    cls: type
    references: tuple[str, ...]
    values: dict[str, Any] = field(default_factory=dict)
    latest: ClassVar[str] = "preview"

    def run(self, report: Callable[..., None]) -> mb.Freedom:
        system = self.model.system()
        named = [system.ground if name == system.ground.name else system[name] for name in self.references]
        system.add(self.cls("the new one", *named, **self.values))
        return mb.degrees_of_freedom(system)
