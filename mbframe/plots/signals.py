"""Quantities of a result over time or over each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError, Problem
from ..quantities import Quantity, select
from .style import DASHES, Plot, draw, figure, legend, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..results import Result

Array = NDArray[np.float64]

SMALLEST_SHOWN: Final = 1e-17
"""Floor of logarithmic axes, below the rounding of numbers near one, so that an exact zero can be drawn."""
MOST_NAMED: Final = 8
"""Bodies that a legend names."""
CONSERVED: Final = 1e-3
"""Changes of the energy below this share of the largest kinetic energy are called a drift."""


def plot(
    result: Result, names: Sequence[str], *, against: str = "t", title: str | None = None, theme: str = "light"
) -> Plot:
    """Quantities over time or over another quantity; those of one unit share a panel. See `Result.plot`."""
    overviews = {"energy": energy, "violation": violation}
    if len(names) == 1 and names[0] in overviews and against == "t":
        return overviews[names[0]](result, title=title, theme=theme)
    if not names:
        message = "found no name; pass some, such as 'bar.position.x'; result.quantities() lists them"
        raise ModelError([Problem("plot", "", message)])
    over, *signals = select(result, [against, *names])
    if over.columns:
        message = f"found the vector {against!r}; choose one of its components, such as {against + '.x'!r}"
        raise ModelError([Problem("plot", "against", message)])
    panels: dict[str, list[Quantity]] = {}
    for signal in signals:
        for component in signal.components():
            panels.setdefault(component.unit, []).append(component)
    in_time = against == "t"
    picture, grid = figure(
        [_axis_label(members) for members in panels.values()],
        title=result.states.name if title is None else title,
        x_label="time (s)" if in_time else f"{over.label}{_unit(over.unit)}",
        theme=theme,
        size=None if in_time else (7.0, 5.5 * len(panels)),
    )
    for axes, members in zip(grid, panels.values(), strict=True):
        for number, signal in enumerate(members):
            if in_time:
                draw(axes, over.values, signal.values, number, label=_line_label(signal, members))
            else:
                _path(axes, over.values, signal.values, number, _line_label(signal, members))
        if not in_time:
            axes.margins(x=0.05)
        if len(members) > 1:
            legend(axes)
    return picture


def energy(result: Result, *, title: str | None = None, theme: str = "light") -> Plot:
    """Kinetic, potential and total energy, and the change of the total."""
    labels = ["energy (J)", _change_label(result)]
    picture, (levels, change) = figure(labels, title=_title(result, title), theme=theme, heights=(1.5, 1.0))
    for number, kind in enumerate(("kinetic", "potential", "total")):
        draw(levels, result.t, getattr(result.energy, kind), number, label=kind)
    legend(levels)
    draw_energy_change(change, result)
    legend(change)
    return picture


def violation(result: Result, *, title: str | None = None, theme: str = "light") -> Plot:
    """Norms of the constraints' residuals and of their rates, logarithmic."""
    picture, (axes,) = figure(["violation (m, m/s)"], title=_title(result, title), theme=theme)
    draw_violation(axes, result)
    legend(axes)
    return picture


def overview(result: Result, *, title: str | None = None, theme: str = "light") -> Plot:
    """The paths of the bodies, the change of the energy and, where there are constraints, their violation."""
    labels = ["centre of mass (m)", _change_label(result)]
    constrained = result.states.tables.n_rows > 0
    if constrained:
        labels.append("violation (m, m/s)")
    heights = (2.0, 1.0, 1.0)[: len(labels)]
    picture, (paths, change, *rest) = figure(labels, title=_title(result, title), theme=theme, heights=heights)
    draw_paths(paths, result)
    draw_energy_change(change, result)
    if constrained:
        draw_violation(rest[0], result)
    for axes in (paths, change, *rest):
        legend(axes)
    return picture


def draw_paths(axes: Axes, result: Result) -> None:
    """The global coordinates of the bodies' centres of mass: a colour per body, a line style per coordinate."""
    for number, (b, (_, center, _)) in enumerate(result.masses()):
        for dash, values in zip(DASHES, result.position(b.body.name, center[: result.dimension]).T, strict=False):
            draw(axes, result.t, values, number, linestyle=dash)
        if number < MOST_NAMED:
            axes.plot([], [], color=theme_of(axes).lines[number], linewidth=3.0, label=b.body.name)
    if (others := len(result.states.tables.bodies) - MOST_NAMED) > 0:
        axes.plot([], [], " ", label=f"… and {others} more")
    for component, dash in zip("xyz"[: result.dimension], DASHES, strict=False):
        axes.plot([], [], dash, color="0.5", linewidth=1.5, label=component)


def draw_energy_change(axes: Axes, result: Result) -> None:
    """The change of the total energy relative to the largest kinetic energy of the motion."""
    draw(axes, result.t, _energy_change(result), 2, label="$(E - E_0)\\,/\\,\\max K$")


def draw_violation(axes: Axes, result: Result) -> None:
    """Euclidean norms of the residuals of position and velocity."""
    axes.set_yscale("log")
    norms = (("position $|C|$", result.violation.position), ("velocity $|\\dot{C}|$", result.violation.velocity))
    for number, (label, norm) in enumerate(norms):
        draw(axes, result.t, np.maximum(norm, SMALLEST_SHOWN), number, label=label, linewidth=1.0)


def _energy_change(result: Result) -> Array:
    total = result.energy.total
    return (total - total[0]) / (np.max(result.energy.kinetic, initial=0.0) or 1.0)


def _change_label(result: Result) -> str:
    """Where energy is conserved its change is an error of the integration."""
    return (
        "energy drift (-)" if np.max(np.abs(_energy_change(result)), initial=0.0) < CONSERVED else "energy change (-)"
    )


def _title(result: Result, title: str | None) -> str:
    return result.states.name if title is None else title


def _path(axes: Axes, x: Array, y: Array, number: int, label: str) -> None:
    """A line through the plane, with a mark at its start."""
    line = draw(axes, x, y, number, label=label)
    if len(x):
        axes.plot(x[:1], y[:1], "o", color=line.get_color(), markersize=5.0)


def _unit(unit: str) -> str:
    return f" ({unit.replace('^2', '²')})" if unit else " (-)"


def _axis_label(members: Sequence[Quantity]) -> str:
    """What the signals of a panel have in common, and their unit."""
    kinds = dict.fromkeys(member.kind_in_words for member in members)
    if len(members) == 1:
        return f"{members[0].label}{_unit(members[0].unit)}"
    return f"{', '.join(kinds) if len(kinds) <= 2 else ''}{_unit(members[0].unit)}".strip()


def _line_label(signal: Quantity, members: Sequence[Quantity]) -> str:
    """The name without what the axis says already."""
    alike = len({member.kind for member in members}) == 1
    own = " ".join(part for part in ("" if alike else signal.kind_in_words, signal.component) if part)
    return " · ".join(part for part in (signal.element, own) if part)
