"""Tasks about motions: periodic ones, branches of solutions, rotors over their speed. No widgets here.

What comes back is plain: numbers, words, and states to be shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb

from ...document.track import Track
from ...solving.process import Cancelled
from .tasks import EQUILIBRIUM, STEADY, Report, Subject, leave_out_idle_loads

Array = NDArray[np.float64]

SAMPLES: Final = 48
"""States over a period."""
DISTURBED: Final = 3.0
"""Periods over which a disturbance is shown."""
AMPLITUDE: Final = 0.02
"""Of a disturbance at its largest, in lengths of the model or radians, about."""
POINTS: Final = 120
"""Of a branch, on either side of its start."""
PERIODIC: Final = "periodic"


@dataclass(frozen=True)
class Multiplier:
    """A Floquet multiplier in numbers and words; `side` is 1 outside the unit circle, -1 inside, 0 on it."""

    value: complex
    exponent: complex
    side: int
    explanation: str

    @property
    def said(self) -> str:
        """What becomes of a disturbance of this kind."""
        return self.explanation or {1: "grows", 0: "neither grows nor dies out", -1: "dies out"}[self.side]


@dataclass(frozen=True)
class Point:
    """A solution of a branch: one state of an equilibrium, or states over the period of a motion."""

    value: float
    stability: str
    states: tuple[mb.State, ...]
    period: float = 0.0


@dataclass(frozen=True)
class Orbit:
    """A periodic motion: its states over a period, and its multipliers."""

    point: Point
    multipliers: tuple[Multiplier, ...]
    error: float
    drive: float | None = None
    """The period that was given, s."""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class PeriodicTask:
    """Find a periodic motion near a state; `period` is that of the drive, None if nothing drives."""

    subject: Subject
    period: float | None
    value: float | None = None

    def run(self, report: Report) -> Orbit:
        system = self.subject.system(self.value)
        left_out = leave_out_idle_loads(system, 0.0) if self.period is None else ()
        orbit = mb.periodic(system, begin(self.subject, system), self.period)
        return Orbit(point_of(orbit, self.value or 0.0), multipliers_of(orbit), orbit.error, self.period, left_out)


@dataclass(frozen=True)
class DisturbedTask:
    """Play a periodic motion with one of its perturbations, which grows or dies out: states over some periods."""

    subject: Subject
    orbit: Orbit
    number: int
    value: float | None = None

    def run(self, report: Report) -> Point:
        system = self.subject.system(self.value)
        for name in self.orbit.left_out:
            system.remove(name)
        point = self.orbit.point
        orbit = mb.periodic(system, point.states[0], self.orbit.drive)
        mode = orbit.modes[self.number]
        growth = max(1.0, abs(mode.multiplier) ** DISTURBED)
        result = mode.play(AMPLITUDE / growth if abs(mode.multiplier) > 1.0 else AMPLITUDE, DISTURBED)
        t = np.linspace(result.t[0], result.t[-1], round(SAMPLES * DISTURBED))
        states = tuple(map(Track(result).state, t.tolist()))
        return Point(point.value, point.stability, states, DISTURBED * orbit.period)


def begin(subject: Subject, system: Any) -> mb.State:
    """The state from which a motion is looked for: the given one, or the described one."""
    from mbframe.equations.equations import Equations

    return subject.about.state if subject.about.state is not None else Equations(system).described()


def plain(state: mb.State) -> mb.State:
    """A state without what belongs to the analysis that has found it."""
    return mb.State(state.t, state.motions, state.element_states, state.dimension)


def point_of(solution: Any, value: float, stability: str = "") -> Point:
    """A solution as it travels."""
    if not isinstance(solution, mb.PeriodicMotion):
        return Point(value, stability, (plain(solution),))
    t = solution.motion.t[0] + solution.period * np.arange(SAMPLES) / SAMPLES
    states = tuple(map(Track(solution.motion).state, t.tolist()))
    return Point(value, stability or solution.stability, states, solution.period)


def multipliers_of(orbit: mb.PeriodicMotion) -> tuple[Multiplier, ...]:
    """The multipliers of a periodic motion."""
    return tuple(Multiplier(m.multiplier, m.exponent, m.side, m.explanation) for m in orbit.modes)


# ---- Branches -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """A place of a branch where solutions or their stability change in kind."""

    kind: str
    point: Point
    frequency: float
    said: str


@dataclass(frozen=True)
class BranchFound:
    """A branch of solutions over a parameter."""

    start: str
    points: tuple[Point, ...]
    marks: tuple[Mark, ...]
    ends: tuple[str, str]


@dataclass(frozen=True)
class FollowTask:
    """Follow the solution at a value over a range: the nearest equilibrium, steady motion or periodic motion.

    With `switch`, the number of a Hopf point, the limit cycles that begin there are followed.
    """

    subject: Subject
    start: str
    value: float
    interval: tuple[float, float]
    period: float | None = None
    orbit: Orbit | None = None
    switch: int | None = None

    def run(self, report: Report) -> BranchFound:
        key = (self.subject, self.start, self.value, self.interval)
        if self.switch is None or _kept.get("key") != repr(key):
            _kept.clear()
            _kept.update(key=repr(key), branch=self._followed(report))
        branch = _kept["branch"]
        if self.switch is not None:
            branch = branch.bifurcations[self.switch].switch()
        return found(branch, PERIODIC if self.switch is not None else self.start)

    def build(self, value: float) -> Any:
        """The system at a value."""
        system = self.subject.system(value)
        if self.period is None:
            leave_out_idle_loads(system, 0.0)
        return system

    def _followed(self, report: Report) -> Any:
        system = self.build(self.value)
        if self.start == EQUILIBRIUM:
            first: Any = mb.equilibrium(system, self.subject.about.state)
        elif self.start == STEADY:
            first = mb.steady(system, self.subject.about.state)
        else:
            first = mb.periodic(
                system, self.orbit.point.states[0] if self.orbit else begin(self.subject, system), self.period
            )
        return mb.continuation(
            self.build,
            first,
            self.interval,
            at=self.value,
            period=self.period if self.start == PERIODIC else None,
            points=POINTS,
            progress=listener(report),
        )


_kept: dict[str, Any] = {}
"""The branch that was followed last, from which limit cycles can begin."""


def listener(report: Report) -> Callable[[int, float], bool]:
    """Tells how far a branch is; a cancel ends it with what was found."""

    def told(count: int, value: float) -> bool:
        try:
            report(1.0 - 1.0 / (1.0 + count / 40.0), (count, value))
        except Cancelled:
            return False
        return True

    return told


def found(branch: Any, start: str) -> BranchFound:
    """A branch as it travels."""
    points = [
        point_of(solution, float(value), word)
        for value, solution, word in zip(branch.values, branch.points, branch.stability, strict=True)
    ]
    marks = [
        Mark(one.kind, point_of(one.point, one.value, "marginal"), one.frequency, str(one))
        for one in branch.bifurcations
    ]
    return BranchFound(start, tuple(points), tuple(marks), branch.ends)


# ---- Rotors ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CampbellFound:
    """Frequencies, Hz, of the modes of a rotor (n, m) over its speed (n,), rad/s, with whirl and stability."""

    speeds: Array
    frequencies: Array
    damping: Array
    whirl: Any
    stable: Any
    critical: tuple[tuple[float, float, int, str], ...]
    """Speed, multiple, mode and whirl of each critical speed."""
    unstable: tuple[tuple[float, float], ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class CampbellTask:
    """Follow the modes of a rotor over its speed, which is the number that varies."""

    subject: Subject
    speeds: tuple[float, ...]

    def run(self, report: Report) -> CampbellFound:
        diagram = mb.campbell(
            self.subject.system, self.speeds, progress=lambda done, count: report(0.9 * done / count, None)
        )
        critical = tuple((c.speed, c.multiple, c.mode, c.whirl) for c in diagram.critical_speeds)
        return CampbellFound(
            diagram.speeds,
            diagram.frequencies,
            diagram.damping,
            diagram.whirl,
            diagram.stable,
            critical,
            tuple(diagram.unstable_ranges),
            tuple(diagram.warnings),
        )
