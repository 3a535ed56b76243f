"""Events: what a run looks for while it goes on."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SimulationError
from ..state import State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """Something to look for during a run: a zero of `function(t, state)`.

    direction: +1 only where it increases, -1 only where it decreases, 0 both; terminal: the run ends there. A plain
    function with attributes `terminal` and `direction` is accepted as well.

    Zeros are found by the signs at the ends of each step and at three instants inside; where the function only turns
    back between them its extreme value is looked for, so that two zeros within a step are found too. Where two more
    values between do not lie on the curve through these the step is halved, up to six times. A function that passes
    zero a hundred times within a step needs a shorter one (`max_step`, or `dt`), as the run then says.
    """

    function: Callable[[float, State], float]
    terminal: bool = False
    direction: int = 0
    name: str = "event"

    @classmethod
    def of(cls, given: Any) -> Event:
        """The event that an entry of `simulate(events=...)` means."""
        if isinstance(given, cls):
            return given
        return cls(
            given,
            bool(getattr(given, "terminal", False)),
            int(getattr(given, "direction", 0)),
            getattr(given, "__name__", "event"),
        )

    def value(self, state: State) -> float:
        """The function at a state; what it raises becomes the cause of a `SimulationError`."""
        try:
            given = self.function(state.t, state)
            found = float(given)
        except Exception as error:
            message = f"raised {type(error).__name__}: {error}"
            raise SimulationError(message, state.t, f"event {self.name!r}") from error
        if isinstance(given, bool | np.bool_):
            message = f"returned {given}, which never passes through zero; give a number that does, such as t - 0.5"
            raise SimulationError(message, state.t, f"event {self.name!r}")
        if math.isnan(found):
            message = (
                "has no value (nan), so that its zeros cannot be found; look for a root of a negative number or 0/0"
            )
            raise SimulationError(message, state.t, f"event {self.name!r}")
        return found

    def crossed(self, before: float, after: float) -> bool:
        """Whether the function passed zero in the wanted direction."""
        rises, falls = before < 0.0 <= after, before > 0.0 >= after
        return (rises and self.direction >= 0) or (falls and self.direction <= 0)

    def crossings(self, t: list[float], f: list[float], value: Callable[[float], float]) -> list[tuple[float, float]]:
        """Intervals with one zero in the wanted direction, from values f at five instants t; `value` gives more."""
        t, f = resolved(t, f, value)
        times, values = list(t), list(f)
        for k in range(len(t) - 2, 0, -1):
            if (turn := _turning_point(t[k - 1 : k + 2], f[k - 1 : k + 2], value)) is not None:
                place = next(n for n, time in enumerate(times) if time > turn[0])
                times.insert(place, turn[0])
                values.insert(place, turn[1])
        pairs = zip(pairwise(times), pairwise(values), strict=True)
        return [interval for interval, ends in pairs if self.crossed(*ends)]


ROUGH = 0.1  # part of the range of some values by which others may differ from the curve through them
NOISE = 1e-9  # range of some values, as part of their size, below which they are constant
DEPTH = 6  # how often a step is halved to follow what swings in it
BETWEEN = (0.1459, 0.6180)  # parts of an interval at which the curve through five instants is checked: like no wave's
CURVE = np.vander(np.array(BETWEEN), 5) @ np.linalg.inv(np.vander(np.linspace(0.0, 1.0, 5)))
"""What gives the values there of the polynomial through five values."""
Values = tuple[list[float], list[float]]


def resolved(t: list[float], f: list[float], value: Callable[[float], float], depth: int = DEPTH) -> Values:
    """Instants and values: five at equal distances, some between, and more where they lie on no smooth curve."""
    between = [t[0] + part * (t[4] - t[0]) for part in BETWEEN]
    checks = [value(time) for time in between]
    if depth == 0 or not rough(f, checks):
        order = sorted(zip([*t, *between], [*f, *checks], strict=True))
        return [time for time, _ in order], [number for _, number in order]
    halves = []
    for k in (0, 2):
        middles = [0.5 * (a + b) for a, b in pairwise(t[k : k + 3])]
        a, b = (value(time) for time in middles)
        times = [t[k], middles[0], t[k + 1], middles[1], t[k + 2]]
        halves.append(resolved(times, [f[k], a, f[k + 1], b, f[k + 2]], value, depth - 1))
    (first, at_first), (second, at_second) = halves
    return first + second[1:], at_first + at_second[1:]


def rough(f: list[float], checks: list[float]) -> bool:
    """Whether values at five equal distances, and those between, lie on no smooth curve that could pass zero."""
    extent, size = max(*f, *checks) - min(*f, *checks), max(map(abs, [*f, *checks]))
    if not NOISE * size < extent < np.inf or min(map(abs, [*f, *checks])) > 4.0 * extent:
        return False
    fourth = abs(f[0] - 4.0 * f[1] + 6.0 * f[2] - 4.0 * f[3] + f[4])
    return max(fourth, *np.abs(CURVE @ f - checks).tolist()) > ROUGH * extent


NEAR = 0.5  # of the smallest of three values: a parabola that turns back closer to zero is followed


def _turning_point(t: list[float], f: list[float], value: Callable[[float], float]) -> tuple[float, float] | None:
    """Where a function that keeps its sign at three instants turns back beyond zero between them, if it does."""
    side = 1.0 if f[1] > 0.0 else -1.0
    a, b, c = (side * number for number in f)
    if not (a > 0.0 and b > 0.0 and c > 0.0):
        return None
    left, right = (b - a) / (t[1] - t[0]), (c - b) / (t[2] - t[1])
    bend = (right - left) / (t[2] - t[0])
    if not bend > 0.0:
        return None
    vertex = 0.5 * (t[0] + t[1]) - 0.5 * left / bend
    if not (t[0] < vertex < t[2] and b - bend * (t[1] - vertex) ** 2 < NEAR * min(a, b, c)):
        return None
    from scipy.optimize import minimize_scalar

    found: list[tuple[float, float]] = []

    def measured(time: float) -> float:
        found.append((time, value(time)))
        return side * found[-1][1]

    minimize_scalar(measured, bounds=(t[0], t[2]), method="bounded", options={"maxiter": 20})
    return next(((time, number) for time, number in found if side * number < 0.0), None)
