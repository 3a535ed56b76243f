"""Free motions: what the constraints leave free, as directions with words for them and as motions to be shown.

What computes is imported where it is used: a window that only shows them need not load it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...bodies.formulations import NewtonEuler, PlanarAngle

if TYPE_CHECKING:
    from ...state import State
    from ...system import System

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


class FreeSpace:
    """The null space of the constraint Jacobian around a state.

    With `slipping` only constraints of positions count; without, those of velocities (rolling without slip) as well.
    """

    def __init__(self, system: System, state: State | None = None) -> None:
        from ...equations.equations import Equations
        from ..states.assemble import Assembler

        self.eq = Equations(system, NewtonEuler() if system.dimension == 3 else PlanarAngle())
        self.state = state.checked(system.bodies) if state is not None else self.eq.described()
        self.assembler = Assembler(self.eq, self.state, set(), 1e-10)
        self.start = self.assembler.q
        self.size = max(float(self.assembler.size), 1e-9)
        self.dimension = system.dimension

    def basis(self, q: Any, slipping: bool) -> Any:
        """Columns that span the free velocities at q, orthonormal with the mass matrix."""
        from .freedom import Rank

        rank = Rank(self.eq, self.state.t, q, np.zeros(self.eq.n_v), self.assembler.z)
        if not slipping:
            return rank.free
        places = rank.places[: self.eq.tables.n_holonomic]
        return rank.free_of(places[places >= 0])

    def motions(self, q: Any, slipping: bool) -> list[FreeMotion]:
        """Free motions that span all of them, each with a velocity of its own in which the others have no part."""
        from .null_space import readable

        all_twists = [self.twists(q, direction) for direction in readable(self.basis(q, slipping), 1e-9)]
        return [FreeMotion(twists, in_words(twists, self.size, self.dimension)) for twists in all_twists]

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
        nearest = free @ (free.T @ (mass @ direction))
        return nearest * (size / max(self.assembler.span(q, nearest), 1e-12))


def amplitude(twists: dict[str, tuple[Any, Any]], size: float) -> float:
    """How long to follow a motion so that it is seen well, s."""
    turn = max((float(np.linalg.norm(w)) for _, w in twists.values()), default=0.0)
    shift = max((float(np.linalg.norm(v)) for v, _ in twists.values()), default=0.0)
    return min(WIDE / max(turn, 1e-12), FAR * size / max(shift, 1e-12))


def in_words(twists: dict[str, tuple[Any, Any]], size: float, dimension: int = 3) -> str:
    """The bodies that move most, and how: "crank turns about z, slider moves along x"."""
    phrases: list[tuple[float, str]] = []
    for name, (velocity, turn) in twists.items():
        turned, shifted = float(np.linalg.norm(turn)), float(np.linalg.norm(velocity)) / size
        if turned > 1e-9 and turned >= NOTICEABLE * shifted:
            phrases.append((max(turned, shifted), f"{name} turns{f' about {_axis(turn)}' if dimension == 3 else ''}"))
        else:
            phrases.append((shifted, f"{name} moves along {_axis(velocity)}"))
    phrases.sort(key=lambda entry: -entry[0])
    return ", ".join(words for share, words in phrases[:NAMED] if share >= NOTICEABLE * phrases[0][0])


def _axis(vector: Any) -> str:
    unit = np.asarray(vector) / max(float(np.linalg.norm(vector)), 1e-300)
    for letter, share in zip("xyz", np.abs(unit), strict=False):
        if share >= ALIGNED:
            return letter
    sign = -1.0 if unit[np.argmax(np.abs(unit))] < 0.0 else 1.0
    return "(" + ", ".join(f"{round(sign * x, 2) + 0.0:g}" for x in unit) + ")"
