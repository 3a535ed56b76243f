"""Following a branch both ways: how long steps are, where it ends, and what changes between two points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ...errors import AnalysisError
from ..parameters.critical import CriticalValue
from .arclength import FAILURES, Curve, LostError, Station

FEW: Final = 3
"""Corrections after which the next step is longer."""
LONGER: Final = 1.5
STRAIGHT: Final = 0.97
"""Least cosine between tangents at both ends of a step."""
SHORTEST: Final = 1e-4
"""Part of the longest step below which a branch is lost."""
BACK: Final = 1e-6
"""How near to its start a closed branch comes."""
ON_FOLD: Final = 1e-3
"""Part of a step within which a root that passes zero belongs to a fold."""


NUDGES: Final = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Parts of a step by which a place is missed where it cannot be reached."""


@dataclass(frozen=True)
class Found:
    """A place between two stations where something changes."""

    kind: str
    station: Station
    eigenvalue: complex


class Walk:
    """Stations one behind the other from a start on, in one direction."""

    def __init__(
        self,
        curve: Curve,
        limits: tuple[float, float],
        step: float,
        points: int,
        told: Callable[[Station], bool],
    ) -> None:
        self.curve, self.limits, self.step, self.points, self.told = curve, limits, step, points, told
        self.stations: list[Station] = []
        self.closed = False
        self.end = ""

    def go(self, start: Station) -> None:
        """Follow the curve until the range ends, it is closed, there are enough points, or it is lost."""
        low, high = self.limits
        self.stations, step, why = [start], 0.25 * self.step, ""
        while len(self.stations) < self.points:
            here = self.stations[-1]
            before = self.stations[-2] if len(self.stations) > 1 else None
            try:
                found = self.curve.after(here, step, before)
                if found.ahead(here) < STRAIGHT:
                    raise LostError("the branch bends too sharply")
            except FAILURES as error:
                why = str(error)
                step *= 0.5
                if step < SHORTEST * self.step:
                    self.end = f"it is lost near {here.value:.6g}: {why}"
                    return
                continue
            if not low <= found.value <= high:
                limit = low if found.value < low else high
                if abs(limit - here.value) > 1e-9 * (high - low):
                    try:
                        self.stations.append(self.curve.fixed(here, limit))
                    except FAILURES:
                        step *= 0.5
                        if step >= SHORTEST * self.step:
                            continue
                self.end = f"the range ends at {limit:.6g}"
                return
            if (last := self._closing(start, here, found)) is not None:
                self.stations.append(last)
                self.closed, self.end = True, "it comes back to where it began"
                return
            self.stations.append(found)
            if not self.told(found):
                self.end = "it was stopped"
                return
            step = min(self.step, LONGER * step) if found.corrections <= FEW else max(0.7 * step, SHORTEST * self.step)
        self.end = f"{self.points} points are enough"

    def _closing(self, start: Station, here: Station, found: Station) -> Station | None:
        """Where the curve passes its start again between two stations; None if it does not."""
        if len(self.stations) < FEW or abs(found.value - start.value) > (found.arc - here.arc) * self.curve.scale:
            return None
        sides = [self._beyond(start, one) for one in (here, found)]
        near = min(self._away(start, here), self._away(start, found))
        if not sides[0] < 0.0 <= sides[1] or near > found.arc - here.arc:
            return None
        arc = self._zero(lambda one: self._beyond(start, one), here, found)
        last = self.curve.after(here, arc - here.arc)
        return last if self._away(start, last) <= BACK and last.ahead(start) > STRAIGHT else None

    def _beyond(self, start: Station, other: Station) -> float:
        """How far a station is beyond another one along its tangent."""
        change, rise = self._change(start, other)
        return float(change @ start.along + rise * start.rising)

    def _away(self, start: Station, other: Station) -> float:
        change, rise = self._change(start, other)
        return float(np.hypot(np.linalg.norm(change), rise))

    def _change(self, start: Station, other: Station) -> tuple[Any, float]:
        change = self.curve.family.difference(start.near, other.state)
        return change, (other.value - start.value) / self.curve.scale

    def _zero(self, function: Callable[[Station], float], a: Station, b: Station) -> float:
        """The arc at which a function of stations that changes its sign between two of them is zero."""
        from scipy.optimize import brentq

        known = {a.arc: function(a), b.arc: function(b)}

        def at(arc: float) -> float:
            if arc not in known:
                try:
                    known[arc] = function(self.curve.after(a, arc - a.arc))
                except FAILURES:  # too near to where branches cross
                    arcs = np.sort(list(known))
                    return float(np.interp(arc, arcs, [known[one] for one in arcs]))
            return known[arc]

        return float(brentq(at, a.arc, b.arc, xtol=self.curve.family.exact))

    # --- what changes ------------------------------------------------------------------------------------------------

    def changes(self) -> list[Found]:
        """Where the branch turns back and where disturbances begin to grow or to die out."""
        found: list[Found] = []
        for a, b in pairwise(self.stations):
            if b.arc - a.arc > self.curve.family.exact:
                found += self._between(a, b)
        return found

    def _between(self, a: Station, b: Station) -> list[Found]:
        crossings = self._crossings(a, b)
        here = []
        if a.rising * b.rising < 0.0:
            arc = self._zero(lambda one: one.rising, a, b)
            meeting = [
                c for c in crossings if c.kind == "divergence" and abs(c.value - arc) <= ON_FOLD * (b.arc - a.arc)
            ]
            # Where two solutions meet one of them is unstable more; else the branch begins on another one.
            here.append(Found("fold" if meeting else "branch", self._at(a, b, arc), 0j))
            crossings = [c for c in crossings if c not in meeting]
        for c in crossings:
            here.append(Found("branch" if c.kind == "divergence" else c.kind, self._at(a, b, c.value), c.eigenvalue))
        return sorted(here, key=lambda one: one.station.arc)

    def _crossings(self, a: Station, b: Station) -> list[CriticalValue]:
        known = {a.arc: a.spectrum, b.arc: b.spectrum}
        search = self.curve.family.crossings(lambda arc: self._at(a, b, arc).spectrum, self.curve.family.exact)
        search.known.update(known)
        try:
            return search.between(a.arc, b.arc)
        except FAILURES as error:
            raise AnalysisError(
                f"between {a.value:.6g} and {b.value:.6g} the stability changes, but not where: {error}"
            ) from error

    def _at(self, a: Station, b: Station, arc: float) -> Station:
        """The station at an arc between two others, or beside it: where branches cross there is no way along one."""
        whole = b.arc - a.arc
        for aside in NUDGES:
            for place in (arc + aside * whole, arc - aside * whole):
                if not a.arc < place < b.arc:
                    return a if place <= a.arc else b
                try:
                    return self.curve.after(a, place - a.arc)
                except FAILURES as error:
                    last = error
        raise last
