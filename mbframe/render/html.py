"""One page that plays a motion in a browser, with plots beside it; it carries all it needs and fetches nothing."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import shown as escaped
from .style import BODIES, THEMES, Theme

Array = NDArray[np.float64]

MOST_POINTS = 5000  # of a curve; more than a screen can show


@dataclass(frozen=True)
class Signal:
    """Something to plot: a label with its unit, instants (n,), s, and one or several curves (n,)."""

    label: str
    times: Array
    curves: Sequence[Array]

    def within(self, start: float, end: float) -> dict[str, Any]:
        """What the page needs of it: the instants in a window, thinned out where they are more than can be seen."""
        inside = np.flatnonzero((self.times >= start) & (self.times <= end))
        shown = inside[:: max(1, -(-len(inside) // MOST_POINTS))]
        return {
            "label": escaped(self.label),
            "times": _rounded(self.times[shown]),
            "curves": [_rounded(curve[shown]) for curve in self.curves],
        }


def page(model: bytes, *, name: str, title: str, theme: str, settings: dict[str, Any], generator: str) -> str:
    """The page for an animated glTF model; `settings` are read by assets/viewer/viewer.js.

    `title` is shown in the picture; without it the browser still has the `name`.
    """
    folder = files("mbframe_assets") / "viewer"

    def asset(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8").strip()

    return Template(asset("page.html")).substitute(
        name=html.escape(escaped(title or name)),
        title=html.escape(escaped(title)),
        theme=theme,
        colors=_colors(THEMES[theme]),
        generator=html.escape(generator),
        style=asset("viewer.css"),
        # "<" could begin a tag that ends the script
        settings=json.dumps(
            {**settings, "palette": [code_of(c) for c in BODIES]}, separators=(",", ":"), allow_nan=False
        ).replace("<", "\\u003c"),
        motion=base64.b64encode(model).decode("ascii"),
        licence=asset("LICENSE-three.txt"),
        three=asset("three.min.js"),
        viewer=asset("viewer.js"),
    )


def _colors(theme: Theme) -> str:
    """The colours of the page, as variables of its style."""
    colors: dict[str, Sequence[float]] = {
        "background": theme.background,
        "background-top": theme.background_top,
        "text": theme.text,
        "faint": [0.65 * a + 0.35 * b for a, b in zip(theme.text, theme.background, strict=True)],
        "line": theme.grid,
        "accent": BODIES[0],
    }
    return " ".join(f"--{name}: {code_of(color)};" for name, color in colors.items())


def code_of(color: Sequence[float]) -> str:
    """A colour as "#rrggbb"."""
    return "#" + "".join(f"{round(255.0 * part):02x}" for part in color)


def _rounded(values: Array) -> list[float | None]:
    """Numbers as the page needs them, to seven digits; what is not finite leaves a gap."""
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values.tolist()]
