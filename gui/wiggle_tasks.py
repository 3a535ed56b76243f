"""What the constraints leave free, as motions that can be shown. Computed in the solver process; no widgets here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np

import mbframe as mb

from .tasks import Model

Report = Callable[..., None]

WIDE: Final = 0.35
"""rad: the largest turn of a motion that is shown."""
FAR: Final = 0.15
"""Of the model's size: the largest displacement."""
CLOSED: Final = 1e-8
"""Gaps that count as closed, relative to the model."""
QUARTER: Final = 12
"""Pictures from the middle to the farthest place."""
ALIGNED: Final = 0.999
"""Share of a direction that counts as along an axis."""
NOTICEABLE: Final = 0.3
"""Bodies that move less than this share of the one that moves most are not named."""
NAMED: Final = 2


@dataclass(frozen=True)
class FreeMotion:
    """A direction in which the mechanism can move: velocities of all bodies, and what they look like.

    `twists` has the velocity of each body's origin (m/s) and its angular velocity (rad/s), both global.
    """

    twists: dict[str, tuple[Any, Any]]
    words: str


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
        levels = [space.motions(space.start, slipping) for slipping in (True, False)]
        return ConstraintsFound(freedom, space.state, *levels, closed)


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


class FreeSpace:
    """The null space of the constraint Jacobian around a state.

    With `slipping` only constraints of positions count; without, those of velocities (rolling without slip) as well.
    """

    def __init__(self, system: mb.System, state: Any = None) -> None:
        from mbframe.analysis.assemble import Assembler
        from mbframe.equations.equations import Equations

        self.eq = Equations(system, mb.NewtonEuler() if system.dimension == 3 else mb.PlanarAngle())
        self.state = state.checked(system.bodies) if state is not None else self.eq.described()
        self.assembler = Assembler(self.eq, self.state, set(), 1e-10)
        self.start = self.assembler.q
        self.size = max(float(self.assembler.size), 1e-9)
        self.dimension = system.dimension

    def basis(self, q: Any, slipping: bool) -> Any:
        """Columns that span the free velocities at q, orthonormal with the mass matrix."""
        from mbframe.analysis.freedom import Rank

        rank = Rank(self.eq, self.state.t, q, np.zeros(self.eq.n_v), self.assembler.z)
        if not slipping:
            return rank.free
        places = rank.places[: self.eq.tables.n_holonomic]
        return rank.free_of(places[places >= 0])

    def motions(self, q: Any, slipping: bool) -> list[FreeMotion]:
        """Free motions that span all of them, each with a velocity of its own in which the others have no part."""
        from mbframe.analysis.null_space import readable

        found = []
        for direction in readable(self.basis(q, slipping), 1e-9):
            twists = self.twists(q, direction)
            found.append(FreeMotion(twists, in_words(twists, self.size, self.dimension)))
        return found

    def twists(self, q: Any, v: Any) -> dict[str, tuple[Any, Any]]:
        """Velocity and angular velocity of each body."""
        motions = self.eq.state(self.state.t, np.concatenate([q, v, self.assembler.z])).motions
        return {name: (m.velocity, m.angular_velocity) for name, m in motions.items()}

    def swing(self, motion: FreeMotion, slipping: bool, scale: float = 1.0) -> list[Any]:
        """States from one end of the motion to the other; the middle one is the state itself.

        The path follows the direction p as straight as the constraints allow: at each step p becomes F F^T M p, with
        F^T M F = 1 spanning the free velocities there, and the joints are closed with the least change.
        """
        towards = self._way(motion, slipping, scale)
        back = self._way(motion, slipping, -scale)
        return [*reversed(back), self.state, *towards]

    def _way(self, motion: FreeMotion, slipping: bool, scale: float) -> list[Any]:
        q = self.start
        direction = self._direction(motion)
        reach = scale * amplitude(motion.twists, self.size)
        far = [np.sin(0.5 * np.pi * k / QUARTER) for k in range(QUARTER + 1)]
        states: list[Any] = []
        for length in np.diff(far):
            after, gap = self.assembler.close(self.eq.displaced(q, reach * length * direction))
            if gap > CLOSED * max(1.0, self.size):
                break  # joints end the way
            direction = self._carried(q, after, direction, slipping)
            q = after
            states.append(self.eq.state(self.state.t, np.concatenate([q, np.zeros(self.eq.n_v), self.assembler.z])))
        return states

    def _direction(self, motion: FreeMotion) -> Any:
        """The velocities of the coordinates at the start that belong to a motion."""
        moving = {
            name: replace(m, velocity=motion.twists[name][0], angular_velocity=motion.twists[name][1])
            for name, m in self.state.motions.items()
        }
        return self.eq.split(self.eq.coordinates(replace(self.state, motions=moving)))[1].copy()

    def _carried(self, before: Any, q: Any, direction: Any, slipping: bool) -> Any:
        """The free direction at q that is nearest to that of a neighbouring position, as long as it was."""
        size = self.assembler.span(before, direction)
        free = self.basis(q, slipping)
        mass = self.eq.evaluate(self.state.t, q, np.zeros(self.eq.n_v), self.assembler.z).mass
        found = free @ (free.T @ (mass @ direction))
        return found * (size / max(self.assembler.span(q, found), 1e-12))


def amplitude(twists: dict[str, tuple[Any, Any]], size: float) -> float:
    """How long to follow a motion so that it is seen well, s."""
    turn = max((float(np.linalg.norm(w)) for _, w in twists.values()), default=0.0)
    shift = max((float(np.linalg.norm(v)) for v, _ in twists.values()), default=0.0)
    return min(WIDE / max(turn, 1e-12), FAR * size / max(shift, 1e-12))


def in_words(twists: dict[str, tuple[Any, Any]], size: float, dimension: int = 3) -> str:
    """The bodies that move most, and how: "crank turns about z, slider moves along x"."""
    found: list[tuple[float, str]] = []
    for name, (velocity, turn) in twists.items():
        turned, shifted = float(np.linalg.norm(turn)), float(np.linalg.norm(velocity)) / size
        if turned > 1e-9 and turned >= NOTICEABLE * shifted:
            found.append((max(turned, shifted), f"{name} turns{f' about {_axis(turn)}' if dimension == 3 else ''}"))
        else:
            found.append((shifted, f"{name} moves along {_axis(velocity)}"))
    found.sort(key=lambda entry: -entry[0])
    return ", ".join(words for share, words in found[:NAMED] if share >= NOTICEABLE * found[0][0])


def _axis(vector: Any) -> str:
    unit = np.asarray(vector) / max(float(np.linalg.norm(vector)), 1e-300)
    for letter, share in zip("xyz", np.abs(unit), strict=False):
        if share >= ALIGNED:
            return letter
    sign = -1.0 if unit[np.argmax(np.abs(unit))] < 0.0 else 1.0
    return "(" + ", ".join(f"{round(sign * x, 2) + 0.0:g}" for x in unit) + ")"
