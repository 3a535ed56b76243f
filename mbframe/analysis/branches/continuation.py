"""Continuation: solutions followed over a parameter, through folds, with all that changes on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ...errors import AnalysisError, ModelError, Problem
from ...solvers.interrupts import interrupts_passed_on
from ...state import State
from ...system import System
from ..statics.steady import SteadyMotion
from .arclength import FAILURES, Curve, Family, Station
from .branch import Bifurcation, Branch
from .equilibria import Equilibria, built
from .following import Found, Walk
from .steady_motions import SteadyMotions

STEP: Final = 0.05
POINTS: Final = 200


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
    """Follow equilibria over the values of a parameter.

    From a solution at one value the branch through it is followed both ways by pseudo-arclength: steps are measured
    along the branch, so it may turn back at folds. Small motions of all bodies that close all joints are unknowns
    beside the value, so nothing depends on coordinates. Steps become shorter where the branch bends and longer where it
    does not.

    Parameters
    ----------
    build
        Makes a system from a value; all systems have the same elements.
    start
        An equilibrium of `build(at)`, or a state near it.
    interval
        Lowest and highest value.
    at
        The value at which `start` is a solution; by default the lowest.
    period
        Of the drive of periodic motions.
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
        return followed(Curve(family, high - low), first, value, (low, high), step, int(points), Told(progress))


def _family(
    build: Callable[[float], System],
    start: Any,
    value: float,
    scale: float,
    period: float | Callable[[float], float] | None,
) -> tuple[Family, Any]:
    """The family that a start belongs to, and the state to begin with."""
    if not isinstance(start, State):
        message = f"found {start!r}; allowed are an equilibrium or another state"
        raise ModelError([Problem("continuation", "start", message)])
    first = start.checked(built(build, value).bodies)
    moves = any(np.any(m.velocity) or np.any(m.angular_velocity) for m in start.motions.values())
    if isinstance(start, SteadyMotion) or moves:
        return SteadyMotions(build, scale, start), first
    return Equilibria(build, scale), first


def followed(
    curve: Curve,
    state: Any,
    value: float,
    limits: tuple[float, float],
    step: float,
    points: int,
    told: Told,
) -> Branch:
    """The branch through a state, both ways."""
    family = curve.family
    try:
        start = curve.start(state, value)
    except FAILURES as error:
        raise AnalysisError(
            f"there is no {family.words} of the system at {value:.6g} near the start: {error}; give a start that is "
            "one, and its value with at="
        ) from error
    family.check(start.near, start.state)
    walks = [Walk(curve, limits, step, points, told) for _ in range(2)]
    walks[0].go(start)
    if not walks[0].closed:
        walks[1].go(reversed_station(start))
    found = [one for walk in walks[::-1] for one in (walk.changes()[::-1] if walk is walks[1] else walk.changes())]
    stations = [*walks[1].stations[:0:-1], *walks[0].stations]
    ends = (walks[0].end, walks[0].end) if walks[0].closed else (walks[1].end, walks[0].end)
    return Branch(
        values=np.array([one.value for one in stations]),
        points=[family.point(one.near, one.state) for one in stations],
        stability=[one.spectrum.stability for one in stations],
        bifurcations=[_bifurcation(family, one) for one in found],
        closed=walks[0].closed,
        ends=ends,
    )


def _bifurcation(family: Family, found: Found) -> Bifurcation:
    one = found.station
    return Bifurcation(found.kind, one.value, family.point(one.near, one.state), found.eigenvalue)


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
