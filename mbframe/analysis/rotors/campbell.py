"""The Campbell diagram: frequencies, damping and whirl of a rotor over its speed, and its critical speeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, Problem
from .whirl import Rotor, Whirls, alike, apart, turned_towards

if TYPE_CHECKING:
    from ...plots.style import Plot

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

SURE: Final = 0.7
"""Likeness of two modes that are the same with certainty."""
HALVINGS: Final = 12
"""Of the step between two speeds, where modes change so much in it that they are not recognized."""
BETWEEN: Final = 8
"""Speeds looked at between two given ones, on average."""
TIGHT: Final = 1e-10
"""Relative error of critical speeds."""
FASTEST: Final = 1e-4
"""Part of the largest speed within which a critical speed counts as the same."""
LOCKED: Final = 1e-7
"""Part of the speed within which a frequency is that of the speed."""
UNNOTICED: Final = 1e-6
"""Part of a mode that goes forward and is rounding: unbalance does not excite it."""
NARROW: Final = 1e-6
"""Relative distance of two frequencies at which modes that meet count as crossing."""
BESIDE: Final = (1e-8, 1e-6, 1e-4)
"""Parts of half an unstable range: how far inside its end modes are looked for that are hidden at the end."""
BESIDE_END: Final = 0.01
"""Part of the way to where a growth would vanish, by which that place is missed to close in on it from both sides."""
INSIDE: Final = (0.02, 0.98)
LISTED: Final = 5


@dataclass(frozen=True)
class CriticalSpeed:
    """A speed at which a load that turns with the rotor, or a multiple of that, meets a mode.

    Attributes
    ----------
    speed
        rad/s.
    multiple
        Frequency of the load in terms of the speed: 1 for unbalance.
    mode
        Column of the diagram.
    whirl
        "forward", "backward" or "".
    damping
        Damping ratio of the mode there.
    """

    speed: float
    multiple: float
    mode: int
    whirl: str
    damping: float


@dataclass(frozen=True)
class Campbell:
    """The modes of a rotor over its speed, seen from the fixed frame: see `mb.campbell`.

    Attributes
    ----------
    speeds
        (n,): rad/s.
    frequencies
        (n, m): Hz, a column for each mode; nan where it does not vibrate.
    damping
        (n, m): damping ratios -Re/|root|, with the root that has the frequency as imaginary part.
    whirl
        (n, m): "forward", "backward", or "" at rest and where the motion goes to and fro, or along or about the axis.
    stable
        (n,): whether no mode grows.
    multiples
        What is asked of `critical_speeds`.
    warnings
        Where modes could not be followed with certainty, in words.
    """

    speeds: Array
    frequencies: Array
    damping: Array
    whirl: NDArray[np.str_]
    stable: NDArray[np.bool_]
    multiples: tuple[float, ...]
    warnings: list[str]
    points: list[Whirls] = field(repr=False)
    columns: list[list[int]] = field(repr=False)  # of each point, the column of each of its modes
    follower: Follower = field(repr=False)

    @cached_property
    def critical_speeds(self) -> list[CriticalSpeed]:
        """Speeds at which a mode has the frequency of unbalance, or a multiple of the speed; located by Brent's method.

        Unbalance (multiple 1) turns forward, so purely backward modes do not count for it. Where a rotor that is not
        round is unstable between two of them, its frequency is that of the speed; then both ends of that range are
        critical speeds.
        """
        found = [c for multiple in self.multiples for c in self._crossings(multiple)]
        if 1.0 in self.multiples:
            ends = [(one, 0.5 * (other - one)) for a, b in self.unstable_ranges for one, other in ((a, b), (b, a))]
            found += [critical for end in ends if (critical := self._edge(*end)) is not None]
        return sorted(found, key=lambda c: (c.multiple, c.speed))

    @cached_property
    def unstable_ranges(self) -> list[tuple[float, float]]:
        """Ranges of speed, rad/s, in which a mode grows; ends that are inside the diagram are located by bisection."""
        edges = [float(self.speeds[0])] if not self.stable[0] else []
        for k in np.flatnonzero(self.stable[:-1] != self.stable[1:]).tolist():
            edges.append(self.follower.edge(self.points[k], self.points[k + 1]))
        if len(edges) % 2:
            edges.append(float(self.speeds[-1]))
        return list(zip(edges[::2], edges[1::2], strict=True))

    def _crossings(self, multiple: float) -> list[CriticalSpeed]:
        """Where modes cross the line of a multiple."""
        found = []
        for column in range(self.frequencies.shape[1]):
            last: tuple[int, int, float] | None = None
            for k, point in enumerate(self.points):
                if column not in self.columns[k]:
                    last = None
                    continue
                n = self.columns[k].index(column)
                off = float(point.frequencies[n] - multiple * abs(point.speed))
                if abs(off) <= LOCKED * abs(point.speed):
                    continue
                if last is not None and off * last[2] < 0.0 and self.stable[last[0] + 1 : k].all():
                    at, place = self.follower.crossing(self.points[last[0]], last[1], point, n, multiple)
                    found.append(self._critical(at, place, multiple, column))
                last = k, n, off
        return [critical for critical in found if critical is not None]

    def _critical(self, at: Whirls, n: int, multiple: float, column: int) -> CriticalSpeed | None:
        """A critical speed, unless the mode does not notice unbalance."""
        forward, backward, _ = np.split(at.shapes[:, n], 3)
        if multiple == 1.0 and np.linalg.norm(forward if at.speed > 0.0 else backward) < UNNOTICED:
            return None
        root = at.roots[n]
        return CriticalSpeed(at.speed, multiple, column, at.whirl[n], float(-root.real / abs(root)))

    def _edge(self, speed: float, inwards: float) -> CriticalSpeed | None:
        """The end of an unstable range inside the diagram, if a mode has the frequency of the speed there.

        Two roots meet at the end, and are zero where they are seen by who turns along: rounding may hide them. Then
        they are looked for a little way inside the range, whose middle is at `speed + inwards`.
        """
        if speed in (float(self.speeds[0]), float(self.speeds[-1])):
            return None
        reach = FASTEST * float(np.abs(self.speeds).max())
        if any(abs(speed - c.speed) < reach for c in self._crossings(1.0)):
            return None
        for way in (0.0, *BESIDE):
            near = self.follower.rotor.at(speed + way * inwards, warned=True)
            off = np.abs(near.frequencies - abs(near.speed))
            if off.min(initial=np.inf) < FASTEST * abs(speed):
                break
        else:
            return None
        n = int(np.argmin(off))
        k = int(np.argmin(np.abs(self.speeds - speed)))
        column = int(np.nanargmin(np.abs(2.0 * np.pi * self.frequencies[k] - abs(speed))))
        return CriticalSpeed(speed, 1.0, column, near.whirl[n], float(-near.roots[n].real / abs(near.roots[n])))

    def plot(self, *, title: str | None = None, theme: str = "light") -> Plot:
        """Frequencies over the speed, with the lines of the multiples and the critical speeds; damping ratios below."""
        from ...plots.rotors import campbell_plot

        return campbell_plot(self, title, theme)

    def __repr__(self) -> str:
        n, m = self.frequencies.shape
        return f"<Campbell of {m} modes at {n} speeds, {self.speeds[0]:.6g} to {self.speeds[-1]:.6g} rad/s>"

    def __str__(self) -> str:
        lines = [f"{self.frequencies.shape[1]} modes from {self.speeds[0]:.6g} to {self.speeds[-1]:.6g} rad/s"]
        for c in self.critical_speeds:
            how = f", {c.whirl}" if c.whirl else ""
            lines.append(
                f"  critical speed {c.speed:.6g} rad/s ({c.speed * 30.0 / np.pi:.5g} rev/min), {c.multiple:g} x, mode "
                f"{c.mode + 1}{how}, damping ratio {c.damping:.3g}"
            )
        lines += [f"  unstable from {low:.6g} to {high:.6g} rad/s" for low, high in self.unstable_ranges]
        return "\n".join([*lines, *self.warnings])


def campbell(
    build: Callable[[float], Any],
    speeds: Iterable[float],
    *,
    multiples: Iterable[float] = (1.0,),
    progress: bool | Callable[[int, int], None] = False,
) -> Campbell:
    """Frequencies, damping and whirl of a rotor over its speed, as they are seen from the fixed frame.

    Where all that spins is round and rigid, or belongs to a flexible body that stands still, roots are those of the
    fixed frame; where what stands still is alike in all directions, those of the frame that turns with the rotor
    [Genta2005]; otherwise Floquet exponents of a turn. A mode that has several frequencies in the fixed frame, as an
    unsymmetric rotor has, gets that of its largest part. Real roots that are no vibration are left out.

    Modes are followed by their shapes. Where neighbouring speeds are too far apart for that, speeds between them are
    looked at as well.

    Parameters
    ----------
    build
        Makes the rotor for a speed: a system that is described as it spins, in an equilibrium or steady motion, or its
        linearization about a state of your own. Bodies on the shaft have `angular_velocity` of that size, rad/s.
    speeds
        rad/s, in rising order; the first may be 0.
    multiples
        Of the speed, at which `critical_speeds` are looked for; 1 is unbalance, 2 the weight of an unsymmetric shaft.
    progress
        True for a bar in the terminal, or a function that takes the number of finished speeds and that of all.
    """
    chosen = np.array(list(speeds), float)
    problems = []
    if chosen.ndim != 1 or len(chosen) < 2 or not np.all(np.isfinite(chosen)) or np.any(np.diff(chosen) <= 0.0):
        message = f"found {chosen.tolist()!r:.80}; allowed are at least two finite numbers in rising order (rad/s)"
        problems.append(Problem("campbell", "speeds", message))
    wanted = tuple(float(multiple) for multiple in multiples)
    if not all(np.isfinite(multiple) and multiple > 0.0 for multiple in wanted):
        message = f"found {wanted!r}; allowed are positive numbers, such as (1, 2)"
        problems.append(Problem("campbell", "multiples", message))
    if not callable(build):
        message = f"found {build!r}; allowed is a function of the speed, such as lambda speed: rotor(speed)"
        problems.append(Problem("campbell", "build", message))
    if problems:
        raise ModelError(problems)
    from ..parameters.executors import reported

    rotor = Rotor(build)
    moving = int(np.argmax(chosen != 0.0))
    early = rotor.at(chosen[moving])  # its axis is that at rest
    each = (early if k == moving else rotor.at(speed) for k, speed in enumerate(chosen.tolist()))
    points = list(reported(each, len(chosen), progress, "campbell"))
    return _diagram(Follower(rotor, BETWEEN * len(points)), points, wanted)


def _diagram(follower: Follower, points: list[Whirls], multiples: tuple[float, ...]) -> Campbell:
    points = [turned_towards(points[0], points[1]), *points[1:]]
    columns = [list(range(len(points[0].roots)))]
    count = len(columns[0])
    doubtful: list[float] = []
    for k in range(1, len(points)):
        a = points[k - 1]
        b = points[k] = turned_towards(points[k], a)
        pairs, sure = follower.pairs(a, b)
        if not sure:
            doubtful.append(b.speed)
        own = [-1] * len(b.roots)
        for i, j in pairs.items():
            own[j] = columns[-1][i]
        for j, column in enumerate(own):
            if column < 0:
                own[j], count = count, count + 1
        columns.append(own)
    shape = (len(points), count)
    frequencies, damping = np.full(shape, np.nan), np.full(shape, np.nan)
    whirl = np.full(shape, "", dtype="U8")
    for k, (point, own) in enumerate(zip(points, columns, strict=True)):
        frequencies[k, own] = point.frequencies / (2.0 * np.pi)
        damping[k, own] = -point.roots.real / np.abs(point.roots)
        whirl[k, own] = point.whirl
    speeds = np.array([point.speed for point in points])
    stable = np.array([point.stable for point in points])
    return Campbell(
        speeds, frequencies, damping, whirl, stable, multiples, _warnings(doubtful), points, columns, follower
    )


def _warnings(doubtful: list[float]) -> list[str]:
    if not doubtful:
        return []
    listed = ", ".join(f"{speed:.6g}" for speed in doubtful[:LISTED])
    more = f" and {len(doubtful) - LISTED} more" if len(doubtful) > LISTED else ""
    return [
        f"modes change too much to be followed with certainty up to {listed}{more} rad/s, however near to each other "
        "the speeds are that are looked at: modes begin or end there, or change from one frequency to another"
    ]


class Follower:
    """Recognizes modes from one speed to another, by way of speeds between them where that is needed."""

    def __init__(self, rotor: Rotor, budget: int) -> None:
        self.rotor, self.budget = rotor, budget

    def pairs(self, a: Whirls, b: Whirls, depth: int = 0) -> tuple[dict[int, int], bool]:
        """Which mode of b each mode of a is, and whether that is certain."""
        found, sure = _matched(a, b)
        part = _crossed(a, b, found) if sure else 0.5
        if part is None or depth == HALVINGS or self.budget <= 0:
            return found, sure
        self.budget -= 1
        middle = turned_towards(self.rotor.at(a.speed + part * (b.speed - a.speed), warned=True), a)
        first, sure_first = self.pairs(a, middle, depth + 1)
        second, sure_second = self.pairs(middle, b, depth + 1)
        return {i: second[j] for i, j in first.items() if j in second}, sure_first and sure_second

    def crossing(self, a: Whirls, mode: int, b: Whirls, same: int, multiple: float) -> tuple[Whirls, int]:
        """Where a mode has a multiple of the speed as its frequency, between a and b, and its place there."""
        from scipy.optimize import brentq

        known: dict[float, tuple[Whirls, int]] = {a.speed: (a, mode), b.speed: (b, same)}

        def off(speed: float) -> float:
            if speed not in known:
                near = min(known, key=lambda other: abs(other - speed))
                before, n = known[near]
                point = turned_towards(self.rotor.at(speed, warned=True), before)
                # Not by assignment: where a root is zero in the turning frame there may be one mode more.
                unlike = 1.0 - alike(before, point)[n] + np.abs(point.roots - before.roots[n]) / abs(before.roots[n])
                known[speed] = point, int(np.argmin(unlike))
            point, n = known[speed]
            return float(point.frequencies[n] - multiple * abs(speed))

        root = float(brentq(off, a.speed, b.speed, xtol=TIGHT * max(abs(a.speed), abs(b.speed)), rtol=TIGHT))
        off(root)
        return known[root]

    def edge(self, a: Whirls, b: Whirls) -> float:
        """The speed between a and b from which on a mode grows, or ceases to.

        Where two roots meet in zero the square of the growth is smooth, elsewhere the growth: the place where it would
        vanish is predicted from that at the last speeds, and closed in on from both sides. Where this gains little, the
        bracket is halved.
        """
        inside, outside = (b, a) if a.stable else (a, b)
        near, far = inside.speed, outside.speed
        outwards = np.sign(far - near)
        known, widths = [(near, inside.growth)], [np.inf]
        while (width := abs(far - near)) > (least := TIGHT * max(abs(near), abs(far))):
            place = 0.5 * (near + far)
            slow = width > 0.5 * widths[-min(2, len(widths))]
            if not slow and (expected := _vanishing(known)) is not None:
                aside = max(0.4 * least, BESIDE_END * abs(expected - near))
                beyond = aside if (far - expected) * outwards > 2.0 * aside else -aside
                if 0.0 < (expected + beyond * outwards - near) * outwards < width:
                    place = expected + beyond * outwards
            widths.append(width)
            there = self.rotor.at(place, warned=True)
            if there.stable:
                far = place
            else:
                near = place
                known.append((place, there.growth))
        return float(0.5 * (near + far))


def _vanishing(known: list[tuple[float, float]]) -> float | None:
    """Where a growth that is known at some speeds would vanish, as a root of the speed or linearly, as fits better."""
    if len(known) < 2:
        return None
    (x, g), (y, h) = known[-2:]
    found = []
    for power in (2, 1):
        slope = (h**power - g**power) / (y - x)
        if not slope:
            return None
        fits = abs(known[-3][1] ** power - h**power - slope * (known[-3][0] - y)) / h**power if len(known) > 2 else 0.0
        found.append((fits, y - h**power / slope))
    return float(min(found, key=lambda one: one[0])[1])


def _matched(a: Whirls, b: Whirls) -> tuple[dict[int, int], bool]:
    """The assignment with the least difference of shapes and roots, and whether all shapes are alike in it."""
    from scipy.optimize import linear_sum_assignment

    if not len(a.roots) or not len(b.roots):
        return {}, len(a.roots) == len(b.roots)
    likeness = alike(a, b)
    rows, columns = linear_sum_assignment(apart(a, b) + 1.0 - likeness)
    pairs = {int(i): int(j) for i, j in zip(rows, columns, strict=True)}
    sure = len(a.roots) == len(b.roots) and all(likeness[i, j] > SURE for i, j in pairs.items())
    return pairs, sure


def _crossed(a: Whirls, b: Whirls, pairs: dict[int, int]) -> float | None:
    """The part of the step after which two modes meet that change their order in it; None if none do.

    They may cross, or veer away from each other within the step and take over each other's shape: what happens there
    tells. Where they are nearer to each other than `NARROW`, they cross.
    """
    i, j = np.array(list(pairs)), np.array(list(pairs.values()))
    before, after = (np.subtract.outer(w, w) for w in (a.frequencies[i], b.frequencies[j]))
    near = NARROW * np.add.outer(a.frequencies[i], a.frequencies[i])
    swapped = (before * after < 0.0) & (np.abs(before) > near) & (np.abs(after) > near)
    if not swapped.any():
        return None
    first = np.unravel_index(np.argmax(swapped), swapped.shape)
    return float(np.clip(before[first] / (before[first] - after[first]), *INSIDE))
