"""Tasks of the tab: freedoms and free motions, computed in the solver process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import mbframe as mb
from mbframe.analysis.mobility.free_motions import FreeMotion, FreeSpace

from ...solving.tasks import Model

Report = Callable[..., None]


@dataclass(frozen=True)
class ConstraintsFound:
    """The freedoms at a state.

    `positions` are free motions that joints allow, `velocities` those that rolling without slip allows as well: fewer
    where there are nonholonomic constraints. `closed` says that joints were open and have been closed first.
    """

    freedom: Any
    state: Any
    positions: list[FreeMotion]
    velocities: list[FreeMotion]
    closed: bool = False

    @property
    def nonholonomic(self) -> bool:
        return len(self.velocities) < len(self.positions)


@dataclass(frozen=True)
class ConstraintsTask:
    """Count freedoms, find dependencies and free motions. Only the last one asked for matters."""

    model: Model
    state: Any = None
    latest: ClassVar[str] = "constraints"

    def run(self, report: Report) -> ConstraintsFound:
        system, state, closed = self.model.system(), self.state, False
        try:
            freedom = mb.degrees_of_freedom(system, state)
        except mb.AnalysisError:
            state, closed = mb.assemble(system, state), True
            freedom = mb.degrees_of_freedom(system, state)
        space = FreeSpace(system, state)
        positions, velocities = (space.motions(space.start, slipping) for slipping in (True, False))
        return ConstraintsFound(freedom, space.state, positions, velocities, closed)


@dataclass(frozen=True)
class WiggleTask:
    """States along a free motion, from one side to the other, with closed joints."""

    model: Model
    state: Any
    motion: FreeMotion
    slipping: bool
    scale: float = 1.0
    latest: ClassVar[str] = "wiggle"

    def run(self, report: Report) -> list[Any]:
        return FreeSpace(self.model.system(), self.state).swing(self.motion, self.slipping, self.scale)
