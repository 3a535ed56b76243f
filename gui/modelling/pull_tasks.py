"""Pulling in the solver process, where the equations are compiled and kept from one update to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import mbframe as mb

from ..solving.tasks import Model

_kept: dict[str, tuple[int, mb.Puller]] = {}


@dataclass(frozen=True)
class PullTask:
    """One update of a pull: where the mechanism is when a point of a body is pulled to a target.

    `gesture` names the pull and `serial` counts its updates, so that a process goes on with what it has; one that has
    not seen the update before begins at `state`.
    """

    gesture: str
    serial: int
    model: Model
    state: mb.State
    body: str
    point: tuple[float, ...]
    target: tuple[float, ...]
    latest: ClassVar[str] = "pull"

    def run(self, report: Callable[..., None]) -> mb.State:
        last, puller = _kept.pop(self.gesture, (-1, None))
        if puller is None or last != self.serial - 1:
            _kept.clear()
            puller = mb.Puller(self.model.system(), self.state)
        reached = puller.to(self.body, self.point, self.target)
        _kept[self.gesture] = (self.serial, puller)
        return reached
