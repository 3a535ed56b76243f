"""Pseudo-arclength: a curve of solutions over a value is followed by its tangent, also where it turns back.

A family of states x over a value p obeys F(x, p) = 0. At a solution the tangent (x', p') spans the null space of
[F_x F_p]; a step goes along it and is corrected by Newton's method in the plane across it, which stays regular at a
fold where F_x is singular [Keller1977]. Changes of states are small motions, so nothing depends on coordinates: each
state has a chart of its own, and a tangent is handed over as motions of the bodies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError, ModelError, SimulationError
from ..parameters.critical import Crossings

Array = NDArray[np.float64]

# Sizes of changes are lengths of the model, radians, and parts of the range of values.
ARRIVED: Final = 1e-8
"""A last correction; the next would be its square."""
CORRECTIONS: Final = 8
SLOW: Final = 0.5
"""Part of a correction that the next one may be."""
FARTHEST: Final = 0.5
"""What a correction may be."""
RANK: Final = 1e-9
"""Relative size of singular values that count as zero."""
LEVEL: Final = 0.1
"""Part of the value in null vectors below which a branch turns back there."""


class LostError(Exception):
    """A step from which Newton's method does not come back to the branch."""


@dataclass(frozen=True)
class Near:
    """The equations of a family near a state: rows x + by_value p + left = 0, in a chart of n coordinates x.

    A change (x, p) of state and value moves what there is by directions x + drift p + closing, in places that mean the
    same at all states of the family; the columns of `directions` are orthonormal and orthogonal to `drift`.
    """

    state: Any
    value: float
    directions: Array
    drift: Array
    closing: Array
    rows: Array
    by_value: Array
    left: Array
    source: Any = None  # what the family needs again

    def moved(self, x: Array, p: float) -> Array:
        """The change in all places."""
        return np.asarray(self.directions @ x + self.drift * p + self.closing, float)


class Family(ABC):
    """States over a value: what differs between equilibria, steady motions and periodic motions."""

    words: str
    """What its states are called."""
    rank: float = RANK
    """Relative size of singular values that count as zero: how exactly the equations are known."""
    loose: float = 0.0
    """Relative size of singular values, by what is left, that may be directions along which a first one is chosen."""
    exact: float = 1e-11
    """How exactly places on the arc are found."""

    @abstractmethod
    def near(self, state: Any, value: float, beside: Near | None = None) -> Near:
        """The equations near a state that need not be a solution.

        How they depend on the value may be taken from those `beside`, at a state and value that are nearly the same.
        """

    @abstractmethod
    def displaced(self, near: Near, change: Array, value: float) -> Any:
        """The state after a change in all places, at another value."""

    @abstractmethod
    def spectrum(self, near: Near) -> Any:
        """How small disturbances of a solution grow."""

    @abstractmethod
    def point(self, near: Near, state: Any) -> Any:
        """A solution as users get it."""

    @abstractmethod
    def difference(self, near: Near, state: Any) -> Array:
        """What leads to a state, in all places."""

    @abstractmethod
    def check(self, near: Near, state: Any) -> None:
        """Refuse a first solution whose stability cannot be told, with the reason."""

    def crossings(self, spectrum: Callable[[float], Any], tolerance: float) -> Any:
        """A search for places of the arc at which disturbances begin to grow."""
        return Crossings(spectrum, tolerance, doubting=False)


@dataclass(frozen=True)
class Station:
    """A solution on a curve, with the tangent there."""

    state: Any
    value: float
    near: Near
    along: Array  # the tangent in all places
    rising: float  # and its part of the value; both together have length 1
    arc: float
    spectrum: Any  # of roots or of multipliers
    corrections: int

    def ahead(self, other: Station) -> float:
        """Cosine of the angle between the tangents of two solutions."""
        return float(self.along @ other.along + self.rising * other.rising)


class Curve:
    """The curve of a family through a start; values count in units of their range."""

    def __init__(self, family: Family, scale: float) -> None:
        self.family, self.scale = family, scale
        self.free = 1  # dimensions of solutions: more than one where they form families at each value
        self.counted = False

    def start(self, state: Any, value: float) -> Station:
        """The solution at a value, near a state, with a tangent towards higher values."""
        near, moved = self._corrected(state, value, None)
        if moved.far > LEVEL:
            raise LostError(f"the nearest one is {moved.far:.2g} lengths of the model or radians away")
        self._count(near)
        return self._station(near, moved, None, 0.0)

    def beginning(self, state: Any, value: float, along: Array) -> Station:
        """The solution near a state, in the plane across a direction, that is left in this direction."""
        across = Station(state, value, self.family.near(state, value), along, 0.0, 0.0, None, 0)
        near, moved = self._corrected(state, value, across)
        self._count(near)
        return self._station(near, moved, across, 0.0)

    def _count(self, near: Near) -> None:
        """How many directions solutions have."""
        sizes = np.linalg.svd(_scaled(near))[1]
        columns = near.rows.shape[1] + 1
        self.counted = True
        self.free = max(1, columns - int(np.sum(sizes > self.family.rank * sizes.max(initial=0.0))))

    def fixed(self, station: Station, value: float) -> Station:
        """The solution at a value near a station."""
        share = (value - station.value) / (station.rising * self.scale)
        if not np.isfinite(share):
            raise LostError("the branch turns back there")
        state = self.family.displaced(station.near, share * station.along, value)
        near, moved = self._corrected(state, value, None)
        return self._station(near, moved, station, station.arc + share)

    def after(self, station: Station, step: float, before: Station | None = None) -> Station:
        """The solution some way along the tangent of a station; another one before it tells how the curve bends."""
        change, rise = step * station.along, step * station.rising
        if before is not None and (gone := station.arc - before.arc):
            change = change + 0.5 * step**2 * (station.along - before.along) / gone
            rise += 0.5 * step**2 * (station.rising - before.rising) / gone
        value = station.value + rise * self.scale
        state = self.family.displaced(station.near, change, value)
        near, moved = self._corrected(state, value, station)
        return self._station(near, moved, station, station.arc + step)

    def _corrected(self, state: Any, value: float, across: Station | None) -> tuple[Near, Moved]:
        """Newton's method in the plane across a tangent, or at a value; the last equations and where they lead."""
        last, far, near = np.inf, 0.0, None
        for k in range(1, CORRECTIONS + 1):
            near = self.family.near(state, value, near)
            x, p = self._step(near, across)
            change = near.moved(x, p)
            size = float(np.hypot(np.linalg.norm(change), p))
            if not np.isfinite(size) or size > FARTHEST or (k > 2 and size > max(SLOW * last, ARRIVED)):
                break
            state, value = self.family.displaced(near, change, value + p * self.scale), value + p * self.scale
            last, far = size, far + size
            if size <= ARRIVED:
                return near, Moved(state, value, k, far)
        raise LostError("corrections do not become smaller")

    def _step(self, near: Near, across: Station | None) -> tuple[Array, float]:
        n = near.rows.shape[1]
        if across is None:
            row = np.concatenate([np.zeros(n), [1.0]])
            aside = 0.0
        else:
            row = np.concatenate([near.directions.T @ across.along, [near.drift @ across.along + across.rising]])
            aside = float(near.closing @ across.along)
        rows, left = _scaled(near, True)
        found = self._least(np.vstack([rows, row]), -np.append(left, aside), float(np.linalg.norm(left)))
        return found[:n], float(found[n])

    def _least(self, matrix: Array, right: Array, away: float) -> Array:
        """The least solution, without directions along which solutions may be chosen.

        Off a solution these directions are not quite free, and would be taken a long way for a little that is left.
        """
        left, sizes, directions = np.linalg.svd(matrix, full_matrices=False)
        kept = sizes > max(self.family.rank, 0.0 if self.counted else self.family.loose * away) * sizes[0]
        if self.counted:
            kept[matrix.shape[1] + 1 - self.free :] = False
        weights = np.where(kept, 1.0 / np.where(sizes > 0.0, sizes, 1.0), 0.0)
        return np.asarray(directions.T @ (weights * (left.T @ right)), float)

    def _station(self, near: Near, moved: Moved, before: Station | None, arc: float) -> Station:
        along, rising = self._tangent(near, before)
        spectrum = self.family.spectrum(near)
        return Station(moved.state, moved.value, near, along, rising, arc, spectrum, moved.corrections)

    def _tangent(self, near: Near, before: Station | None) -> tuple[Array, float]:
        """The direction in which solutions follow each other, as the one before; with least changes in a family."""
        n = near.rows.shape[1]
        null = np.linalg.svd(_scaled(near))[2][n + 1 - self.free :].T if n else np.ones((1, 1))
        steep = float(np.linalg.norm(null[n]))
        places = np.vstack([near.directions @ null[:n] + np.outer(near.drift, null[n]), null[n]])
        if self.free == 1:
            found = places[:, 0]
        elif before is None or steep > LEVEL:
            found = places @ null[n]
        else:
            within = np.linalg.qr(places)[0]
            found = within @ (within.T @ np.append(before.along, before.rising))
        found = found / np.linalg.norm(found)
        heading = found[-1] if before is None else found[:-1] @ before.along + found[-1] * before.rising
        if heading < 0.0:
            found = -found
        return found[:-1], float(found[-1])


@dataclass(frozen=True)
class Moved:
    """Where corrections led."""

    state: Any
    value: float
    corrections: int
    far: float


def _scaled(near: Near, both: bool = False) -> Any:
    """[rows by_value] with rows of length 1, and what is left."""
    whole = np.column_stack([near.rows, near.by_value])
    sizes = np.linalg.norm(whole, axis=1)
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    whole = whole / sizes[:, None]
    return (whole, near.left / sizes) if both else whole


FAILURES: Final = (LostError, AnalysisError, ModelError, SimulationError, np.linalg.LinAlgError)
"""What may happen on a step that is too long."""
