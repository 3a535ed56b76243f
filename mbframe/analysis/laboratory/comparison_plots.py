"""Pictures of a comparison: work and precision, violation and energy over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ...errors import ModelError, Problem
from ...plots import Plot, draw, figure, legend
from ...plots.signals import SMALLEST_SHOWN

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .comparison import Comparison, History, Outcome

MARKERS: Final = "osD^vPX"  # one fewer than colours, so that no line shares both with its neighbours in number
MOST_LINES: Final = 16
"""Methods in a figure; of more than these the most accurate are drawn."""
COSTS: Final = {
    "wall_time": "time of computation (s)",
    "evaluations": "evaluations of the equations of motion",
}


def work_precision(comparison: Comparison, against: str, theme: str) -> Plot:
    """Error over cost, both logarithmic: a line for each method, a mark for each step size or tolerance."""
    if against not in COSTS:
        raise ModelError([Problem("plot", "against", f"found {against!r}; allowed are {', '.join(COSTS)}")])
    picture, (axes,) = figure(
        ["error (m, rad)"],
        title=f"{comparison.name}: work and precision",
        x_label=COSTS[against],
        theme=theme,
        size=(11.0, 5.0),
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    for number, (label, outcomes) in enumerate(_drawn(comparison).items()):
        points = [(getattr(o, against), o.error) for o in outcomes if o.error is not None]
        if points:
            cost, error = np.array(sorted(points)).T
            marker = MARKERS[number % len(MARKERS)]
            draw(axes, cost, np.maximum(error, SMALLEST_SHOWN), number, label=label, marker=marker, markersize=5.0)
    axes.margins(x=0.05, y=0.05)
    _legend(axes, comparison)
    return picture


def violation(comparison: Comparison, theme: str) -> Plot:
    """Norms of the constraints' residuals and of their rates over time, logarithmic, at the finest steps."""
    picture, panels = figure(
        ["position |C|", "velocity |C'|"],
        title=f"{comparison.name}: constraint violation",
        theme=theme,
        size=(11.0, 6.5),
    )
    for axes, level in zip(panels, ("position_violation", "velocity_violation"), strict=True):
        axes.set_yscale("log")
        for number, (label, history) in enumerate(_finest(comparison)):
            norms = np.maximum(getattr(history, level), SMALLEST_SHOWN)
            draw(axes, history.t, norms, number, label=label, linewidth=1.0)
    _legend(panels[0], comparison)
    return picture


def energy(comparison: Comparison, theme: str) -> Plot:
    """The size of the change of the total energy since the start, over time, logarithmic, at the finest steps."""
    picture, (axes,) = figure(
        ["energy change |E - E(0)| (J)"],
        title=f"{comparison.name}: mechanical energy",
        theme=theme,
        size=(11.0, 4.5),
    )
    axes.set_yscale("log")
    for number, (label, history) in enumerate(_finest(comparison)):
        change = np.abs(history.energy - history.energy[0])[1:]
        draw(axes, history.t[1:], np.maximum(change, SMALLEST_SHOWN), number, label=label, linewidth=1.0)
    _legend(axes, comparison)
    return picture


def _finest(comparison: Comparison) -> list[tuple[str, History]]:
    """Of each method the run with most steps."""

    def fineness(outcome: Outcome) -> int:
        return outcome.steps or 0

    best = {label: max(outcomes, key=fineness) for label, outcomes in _drawn(comparison).items()}
    return [(label, outcome.history) for label, outcome in best.items() if outcome.history is not None]


def _drawn(comparison: Comparison) -> dict[str, list[Outcome]]:
    """The methods of a figure, in the order of the table."""
    families = comparison.families()
    errors = {label: min(np.inf if o.error is None else o.error for o in group) for label, group in families.items()}
    best = set(sorted(families, key=lambda label: errors[label])[:MOST_LINES])
    return {label: group for label, group in families.items() if label in best}


def _legend(axes: Axes, comparison: Comparison) -> None:
    if (others := len(comparison.families()) - MOST_LINES) > 0:
        axes.plot([], [], " ", label=f"… and {others} less accurate")
    legend(axes, MOST_LINES + 1)
