"""Continuation: solutions followed over a parameter, through folds, with all that changes on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np

from ...errors import AnalysisError, ModelError, Problem
from ...solvers.interrupts import interrupts_passed_on
from ...state import State
from ...system import System
from ..linear.linear_equations import TurningFrame
from ..linear.linearize import linearize
from ..linear.steadiness import advanced
from ..motions.floquet import PeriodicMotion
from ..motions.periodic import changing_with_time
from ..motions.shooting import Cut, Shooting
from ..statics.steady import SteadyMotion
from .arclength import FAILURES, Curve, Family, Station
from .branch import Bifurcation, Branch
from .equilibria import Equilibria, built
from .following import Found, Walk
from .orbits import Orbits, first_cut
from .steady_motions import SteadyMotions

STEP: Final = 0.05
POINTS: Final = 200
SMALL: Final = 0.002
"""m or rad: the size of the first limit cycle beside a Hopf point."""


def continuation(
    build: Callable[[float], System],
    start: Any,
    interval: tuple[float, float],
    at: float | None = None,
    period: float | Callable[[float], float] | None = None,
    *,
    step: float = STEP,
    points: int = POINTS,
    progress: bool | Callable[[int, float], Any] = False,
) -> Branch:
    """Follow equilibria, steady motions or periodic motions over the values of a parameter.

    From a solution at one value the branch through it is followed both ways by pseudo-arclength: steps are measured
    along the branch, so it may turn back at folds. Small motions of all bodies that close all joints are unknowns
    beside the value, so nothing depends on coordinates. Steps become shorter where the branch bends and longer where it
    does not.

    Parameters
    ----------
    build
        Makes a system from a value; all systems have the same elements.
    start
        An equilibrium of `build(at)`, a steady motion (or another state that moves), or a periodic motion. Quantities
        that were given to `mb.steady` are kept along the branch.
    interval
        Lowest and highest value.
    at
        The value at which `start` is a solution; by default the lowest.
    period
        Of the drive of periodic motions: a number, or a function of the value. None for a free motion, whose period is
        found.
    step
        The longest step, in lengths of the model, radians and parts of the interval.
    points
        How many points there may be on either side of the start.
    progress
        True for a line in the terminal, or a function that takes the number of points and the value of the last; if it
        returns False the branch ends there, with all that was found.

    Returns
    -------
    Branch
        An `AnalysisError` tells if there is no solution near the start.
    """
    low, high = _interval(interval)
    value = low if at is None else _number("at", at)
    if not low <= value <= high:
        message = f"found {value:g}; allowed are values from {low:g} to {high:g}; widen the interval"
        raise ModelError([Problem("continuation", "at", message)])
    if not (np.isfinite(step) and step > 0.0) or points != int(points) or points < 2:
        message = f"found {step!r} and {points!r}; allowed are a positive step and at least two points"
        raise ModelError([Problem("continuation", "step", message)])
    if not callable(build):
        message = f"found {build!r}; allowed is a function that makes a system from a value"
        raise ModelError([Problem("continuation", "build", message)])
    family, first = _family(build, start, value, high - low, period)
    with interrupts_passed_on():
        return Course(build, (low, high), step, int(points), Told(progress)).both_ways(family, first, value)


def _family(
    build: Callable[[float], System],
    start: Any,
    value: float,
    scale: float,
    period: float | Callable[[float], float] | None,
) -> tuple[Family, Any]:
    """The family that a start belongs to, and the state to begin with."""
    if isinstance(start, PeriodicMotion):
        return _orbits(build, start, value, scale, period)
    if period is not None:
        message = "found a period, but the start is no periodic motion; start from one that mb.periodic found"
        raise ModelError([Problem("continuation", "period", message)])
    if not isinstance(start, State):
        message = f"found {start!r}; allowed are an equilibrium, a steady or a periodic motion"
        raise ModelError([Problem("continuation", "start", message)])
    first = start.checked(built(build, value).bodies)
    moves = any(np.any(m.velocity) or np.any(m.angular_velocity) for m in start.motions.values())
    if isinstance(start, SteadyMotion) or moves:
        return SteadyMotions(build, scale, start), first
    return Equilibria(build, scale), first


def _orbits(
    build: Callable[[float], System],
    start: PeriodicMotion,
    value: float,
    scale: float,
    period: float | Callable[[float], float] | None,
) -> tuple[Family, Any]:
    """The family of a periodic motion, and its cut."""
    system = built(build, value)
    changing = changing_with_time(system)
    if period is None and changing:
        message = f"found nothing, but {changing}; give the period of that, or a function of the value that gives it"
        raise ModelError([Problem("continuation", "period", message)])
    given = period if period is None or callable(period) else _constant(_number("period", period))
    begin = start.state.checked(system.bodies)
    first = first_cut(system, begin, start.period, given is None, bool(changing))
    return Orbits(build, scale, first, given), Cut(first.states, start.period, first.shift)


def _constant(value: float) -> Callable[[float], float]:
    return lambda _: value


@dataclass(frozen=True)
class Course:
    """Where and how far a branch is followed."""

    build: Callable[[float], System]
    limits: tuple[float, float]
    step: float
    points: int
    told: Told

    @property
    def scale(self) -> float:
        return self.limits[1] - self.limits[0]

    def both_ways(self, family: Family, state: Any, value: float) -> Branch:
        """The branch through a state."""
        curve = Curve(family, self.scale)
        try:
            start = curve.start(state, value)
        except FAILURES as error:
            raise AnalysisError(
                f"there is no {family.words} of the system at {value:.6g} near the start: {error}; give a start that "
                "is one, and its value with at="
            ) from error
        family.check(start.near, start.state)
        up, down = self._walk(curve), self._walk(curve)
        up.go(start)
        if up.closed:
            return self._branch(family, up.stations, up.changes(), (up.end, up.end), True)
        down.go(reversed_station(start))
        stations = [*down.stations[:0:-1], *up.stations]
        return self._branch(family, stations, [*down.changes()[::-1], *up.changes()], (down.end, up.end))

    def away(self, family: Family, state: Any, value: float, along: Any) -> Branch:
        """The branch that begins at a bifurcation, from a state on it in a direction."""
        curve = Curve(family, self.scale)
        try:
            start = curve.beginning(state, value, along)
        except FAILURES as error:
            raise AnalysisError(
                f"no {family.words} was found beside the bifurcation at {value:.6g}: {error}"
            ) from error
        walk = self._walk(curve)
        walk.go(start)
        begun = f"it begins at the bifurcation at {value:.6g}"
        return self._branch(family, walk.stations, walk.changes(), (begun, walk.end))

    def _walk(self, curve: Curve) -> Walk:
        return Walk(curve, self.limits, self.step, self.points, self.told)

    def _branch(
        self, family: Family, stations: list[Station], found: list[Found], ends: tuple[str, str], closed: bool = False
    ) -> Branch:
        return Branch(
            values=np.array([one.value for one in stations]),
            points=[family.point(one.near, one.state) for one in stations],
            stability=[one.spectrum.stability for one in stations],
            bifurcations=[self._bifurcation(family, one) for one in found],
            closed=closed,
            ends=ends,
        )

    def _bifurcation(self, family: Family, found: Found) -> Bifurcation:
        one = found.station
        point = family.point(one.near, one.state)
        begin = partial(self.cycles, point, one.value, found.eigenvalue) if found.kind == "Hopf" else None
        return Bifurcation(found.kind, one.value, point, found.eigenvalue, begin)

    def cycles(self, point: State, value: float, root: complex) -> Branch:
        """The limit cycles that begin at a Hopf point."""
        system = built(self.build, value)
        changing = changing_with_time(system)
        if changing:
            raise AnalysisError(f"limit cycles have a period of their own, but {changing}; make it constant")
        modes = [mode for mode in linearize(system, point).modes if not mode.ignorable]
        mode = min(modes, key=lambda one: abs(one.eigenvalue - root))
        period = 2.0 * np.pi / abs(mode.eigenvalue.imag)
        beside = mode.state(SMALL)
        first = first_cut(system, beside, period, True, False)
        family = Orbits(self.build, self.scale, first, None)
        away = [first.difference(a, b) for a, b in zip(first.states, self._plain(first, point, period), strict=True)]
        along = np.append(np.concatenate(away), 0.0)
        cut = Cut(first.states, period, first.shift)
        return self.away(family, cut, value, along / np.linalg.norm(along))

    @staticmethod
    def _plain(first: Shooting, point: State, period: float) -> list[State]:
        """The undisturbed motion at the beginnings of segments."""
        frame = getattr(point, "frame", TurningFrame())
        return [advanced(point, frame, k * period / len(first.states)) for k in range(len(first.states))]


def reversed_station(start: Station) -> Station:
    """The same solution, to be left the other way."""
    return replace(start, along=-start.along, rising=-start.rising)


class Told:
    """Word of each point to whom it may concern."""

    def __init__(self, progress: bool | Callable[[int, float], Any]) -> None:
        self.progress, self.count = progress, 0

    def __call__(self, station: Station) -> bool:
        """Whether to go on."""
        self.count += 1
        if callable(self.progress):
            return self.progress(self.count, station.value) is not False
        if self.progress:
            import sys

            sys.stderr.write(f"\rcontinuation: {self.count} points, at {station.value:.6g}  ")
            sys.stderr.flush()
        return True


def _interval(interval: Any) -> tuple[float, float]:
    try:
        low, high = map(float, interval)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (np.isfinite([low, high]).all() and low < high):
        message = f"found {interval!r}; allowed are the lowest and the highest value; give a pair: (low, high)"
        raise ModelError([Problem("continuation", "interval", message)])
    return low, high


def _number(name: str, value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = np.nan
    if not np.isfinite(found):
        raise ModelError([Problem("continuation", name, f"found {value!r}; allowed is a finite number")])
    return found
