"""One style for all figures: made without pyplot, so that they work in any program and leave no global state."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ..disk.atomic import FilePath, refused, replacing
from ..errors import MbframeError, ModelError, Problem

try:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise MbframeError("plots need matplotlib, which is not installed: pip install matplotlib") from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Array = NDArray[np.float64]

DASHES: Final = ("-", "--", ":", "-.")
"""For what a second distinction is needed, such as x, y, z; and for more lines than colours."""
SUFFIXES: Final = (".png", ".svg", ".pdf")
WIDTH, PANEL_HEIGHT, MARGIN = 9.0, 2.3, 0.9  # inches
LEGEND_ROWS: Final = 11
MOST_POINTS: Final = 8000  # of a line; more cannot be told apart on paper


@dataclass(frozen=True)
class Theme:
    """Colours of a figure. Those of lines are told apart by the colour-blind too (after Okabe and Ito)."""

    background: str
    text: str
    grid: str
    lines: tuple[str, ...]


THEMES: Final = {
    "light": Theme(
        background="#ffffff",
        text="#222222",
        grid="#e3e3e3",
        lines=("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D46", "#6A3D9A"),
    ),
    "dark": Theme(
        background="#1e2126",
        text="#e2e4e8",
        grid="#3a3f47",
        lines=("#4FA8DC", "#F08A4B", "#2FC79A", "#E3A0C6", "#F0C04A", "#A5DCFA", "#C7A77C", "#B79AE0"),
    ),
}


class Plot(Figure):
    """A matplotlib figure with a theme; saves itself whole or not at all, and shows itself in notebooks."""

    theme = THEMES["light"]

    def save(self, path: FilePath, dpi: float = 150.0) -> None:
        """Write PNG, SVG or PDF, by the suffix."""
        suffix = str(path)[-4:].lower()
        if suffix not in SUFFIXES:
            raise refused(path, f"a plot can be written as {', '.join(SUFFIXES)}; choose one of these suffixes")
        with replacing(path) as temporary:
            self.savefig(temporary, format=suffix[1:], dpi=dpi)

    def _repr_png_(self) -> bytes:
        content = io.BytesIO()
        self.savefig(content, format="png", dpi=96)
        return content.getvalue()


def figure(
    labels: Sequence[str],
    *,
    title: str | None = None,
    x_label: str = "time (s)",
    theme: str = "light",
    heights: Sequence[float] | None = None,
    size: tuple[float, float] | None = None,
) -> tuple[Plot, list[Axes]]:
    """A figure with a panel for each label of a vertical axis, one below the other over a common horizontal axis."""
    if theme not in THEMES:
        raise ModelError([Problem("plot", "theme", f"found {theme!r}; allowed are {', '.join(THEMES)}")])
    colors = THEMES[theme]
    shares = list(heights or [1.0] * len(labels))
    picture = Plot(figsize=size or (WIDTH, PANEL_HEIGHT * sum(shares) + MARGIN), layout="constrained")
    picture.get_layout_engine().set(w_pad=0.12, h_pad=0.08)  # type: ignore[union-attr, call-arg]
    picture.theme = colors
    picture.set_facecolor(colors.background)
    if title:
        picture.suptitle(title, fontsize=13, fontweight="bold", color=colors.text)
    grid = picture.subplots(len(labels), 1, sharex=True, squeeze=False, height_ratios=shares)
    panels = list(grid[:, 0])
    for axes, label in zip(panels, labels, strict=True):
        axes.set_facecolor(colors.background)
        axes.set_ylabel(label, color=colors.text)
        axes.grid(color=colors.grid, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(colors.text)
        axes.tick_params(colors=colors.text, which="both")
        axes.yaxis.get_offset_text().set_color(colors.text)
        axes.margins(x=0.0)
        axes.yaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10]))
    panels[-1].set_xlabel(x_label, color=colors.text)
    picture.align_ylabels(panels)
    return picture, panels


def draw(axes: Axes, x: Array, y: Array, number: int = 0, **options: Any) -> Line2D:
    """Draw a line in the colour of its number; a very long one is thinned out so that its extremes stay."""
    x, y = thinned(x, y)
    colors = theme_of(axes).lines
    chosen = {"color": colors[number % len(colors)], "linestyle": DASHES[number // len(colors) % len(DASHES)]}
    (line,) = axes.plot(x, y, **{"linewidth": 1.5, "solid_joinstyle": "round", **chosen, **options})
    return line


def legend(axes: Axes, rows: int = LEGEND_ROWS) -> None:
    """A legend beside the panel, where it hides nothing, with so many rows at most."""
    _, labels = axes.get_legend_handles_labels()
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.0, 1.02),
        frameon=False,
        labelcolor=theme_of(axes).text,
        handlelength=1.8,
        ncols=-(-len(labels) // rows) or 1,
    )


def theme_of(axes: Axes) -> Theme:
    """The theme of the figure that axes belong to."""
    return axes.figure.theme if isinstance(axes.figure, Plot) else THEMES["light"]


def thinned(x: Array, y: Array) -> tuple[Array, Array]:
    """At most about `MOST_POINTS` points: of each stretch of samples the lowest and the highest."""
    stretch = 2 * len(y) // MOST_POINTS
    if stretch < 2:
        return x, y
    count = len(y) // stretch
    table = y[: count * stretch].reshape(count, stretch)
    ends = np.sort([table.argmin(axis=1), table.argmax(axis=1)], axis=0) + stretch * np.arange(count)
    kept = np.unique(np.concatenate([[0], ends.ravel(), np.arange(count * stretch, len(y)), [len(y) - 1]]))
    return x[kept], y[kept]
