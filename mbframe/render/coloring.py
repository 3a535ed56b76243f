"""What colours of flexible bodies show: a field of the run at their nodes, its range, palette and legend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..errors import ModelError, Problem
from .style import Color, rgb

if TYPE_CHECKING:
    from ..results import Result

Array = NDArray[np.float64]

FIELDS = ("stress",)
LABELS = {"stress": "von Mises stress"}
# Dark to light in even steps, told apart by all kinds of colour vision and in grey: nine colours of "viridis" by
# S. van der Walt and N. Smith (2015, CC0).
PALETTE = np.array(
    [
        rgb(code)
        for code in (
            "#440154",
            "#472d7b",
            "#3b528b",
            "#2c728e",
            "#21918c",
            "#28ae80",
            "#5ec962",
            "#addc30",
            "#fde725",
        )
    ]
)
PLAIN = rgb("#a9b0b8")  # of what has no such field
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
AT_ONCE = 256  # instants whose stresses are found together
TICKS = 5
STEPS = (1.0, 1.2, 1.6, 2.0, 2.4, 3.2, 4.0, 5.0, 6.0, 8.0, 10.0)  # of which quarters are short numbers


@dataclass(frozen=True, eq=False)
class Coloring:
    """A field at the nodes of some bodies at some instants of a result.

    Parameters
    ----------
    field
        "stress": von Mises' stress at nodes, Pa.
    times
        (k,): the instants, s; between them values are interpolated.
    values
        By body (k, nodes).
    low, high
        The values of the first and the last colour.
    by_frame
        Whether colours go up to the largest value of each instant instead, rounded up.
    """

    field: str
    times: Array
    values: Mapping[str, Array]
    low: float
    high: float
    by_frame: bool = False

    @classmethod
    def of(cls, result: Result, field: str, times: Array, limits: Sequence[float] | None = None) -> Coloring:
        """That of a result, at its stored instants around some `times`.

        `limits` are the values of the first and the last colour; without them zero and the largest value,
        rounded up.
        """
        if field not in FIELDS:
            message = f"found {field!r}; allowed is 'stress', or None for the usual colours; choose one"
            raise ModelError([Problem("export", "color", message)])
        if limits is not None and not (np.shape(limits) == (2,) and np.all(np.isfinite(limits)) and np.ptp(limits) > 0):
            message = f"found {limits!r}; allowed are two different numbers, Pa: of the first and last colour"
            raise ModelError([Problem("export", "color_range", message)])
        told = [body for body in result.described.bodies if knows_stress(body)]
        if not told:
            message = (
                "found 'stress', but no body of this result tells its stress: solids do, and beams that say where in "
                "their sections it is taken (fibres, or sections of mb.flexible); make such, or leave the colours out"
            )
            raise ModelError([Problem("export", "color", message)])
        after = np.clip(np.searchsorted(result.t, times), 0, len(result.t) - 1)
        rows = np.unique(np.concatenate([np.maximum(after - 1, 0), after]))
        instants = np.asarray(result.t, float)[rows]
        values = {body.name: _stresses(result, body.name, instants) for body in told}
        largest = max(float(np.nanmax(part, initial=0.0)) for part in values.values())
        low, high = (0.0, rounded_up(largest)) if limits is None else (float(limits[0]), float(limits[1]))
        return cls(field, instants, values, low, high)

    def at(self, body: str, t: float) -> Array:
        """(nodes,): the values of a body at an instant."""
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, max(len(self.times) - 2, 0)))
        course = self.values[body]
        if len(self.times) == 1:
            return course[0]
        share = float(np.clip((t - self.times[k]) / (self.times[k + 1] - self.times[k]), 0.0, 1.0))
        return (1.0 - share) * course[k] + share * course[k + 1]

    def limits(self, t: float) -> tuple[float, float]:
        """The values of the first and the last colour at an instant."""
        if not self.by_frame:
            return self.low, self.high
        return 0.0, rounded_up(max(float(np.nanmax(self.at(body, t), initial=0.0)) for body in self.values))

    def shown(self, body: str, t: float) -> Array:
        """(nodes, 3): the colours of a body at an instant."""
        return self.colors(self.at(body, t), self.limits(t))

    def colors(self, values: Array, limits: tuple[float, float] | None = None) -> Array:
        """(n, 3): red, green, blue of some values; grey where one is not known."""
        low, high = (self.low, self.high) if limits is None else limits
        place = np.clip((values - low) / (high - low), 0.0, 1.0) * (len(PALETTE) - 1)
        found = np.column_stack([np.interp(place, np.arange(len(PALETTE)), channel) for channel in PALETTE.T])
        return np.where(np.isnan(values)[:, None], PLAIN, found)

    @property
    def plain(self) -> Color:
        """Colour of bodies without such values, so that these stand out."""
        return PLAIN

    def largest(self, t: float) -> tuple[str, int, float]:
        """The largest value at an instant: in which body, at which node, and how large."""
        found = []
        for body in self.values:
            now = np.nan_to_num(self.at(body, t), nan=-np.inf)
            found.append((body, int(now.argmax()), float(now.max())))
        return max(found, key=lambda one: one[2])

    def peak(self) -> tuple[str, int, float, float]:
        """The largest value: in which body, at which node, when (s), and how large."""
        found = []
        for body, course in self.values.items():
            row, node = np.unravel_index(int(np.argmax(np.nan_to_num(course, nan=-np.inf))), course.shape)
            found.append((body, int(node), float(self.times[row]), float(course[row, node])))
        return max(found, key=lambda one: one[3])

    @property
    def scale(self) -> tuple[float, str]:
        """What values are divided by for the legend, and its unit."""
        size = max(abs(self.low), abs(self.high))
        return next(((factor, f"{prefix}Pa") for factor, prefix in PREFIXES if size >= factor), (1.0, "Pa"))

    def words(self, value: float) -> str:
        """A value with its unit."""
        return f"{value / self.scale[0]:.3g} {self.scale[1]}"

    @property
    def title(self) -> str:
        """Name and unit of the legend."""
        return f"{LABELS[self.field]}, {self.scale[1]}"

    @property
    def ticks(self) -> list[str]:
        """The numbers beside the legend, from the first colour to the last."""
        return self.ticks_of((self.low, self.high))

    def ticks_of(self, limits: tuple[float, float]) -> list[str]:
        """The numbers beside a legend with other limits."""
        return [f"{value:.3g}" for value in np.linspace(*limits, TICKS) / self.scale[0]]


def knows_stress(body: Any) -> bool:
    """Whether stresses of a body can be asked for."""
    return isinstance(body, FlexibleBody) and body.knows_stress


def rounded_up(value: float) -> float:
    """A value at least as large whose quarters are short numbers; 1 for zero."""
    if not value > 0.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * next(step for step in STEPS if step * power >= value * (1.0 - 1e-12)))


def _stresses(result: Any, body: str, instants: Array) -> Array:
    parts = np.array_split(instants, -(-len(instants) // AT_ONCE))
    return np.concatenate([result.stress(body, t=part) for part in parts])
