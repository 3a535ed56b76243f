"""The Campbell diagram of a rotor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import Plot, draw, figure, legend, theme_of

if TYPE_CHECKING:
    from ..analysis.rotors.campbell import Campbell

STYLES = {"forward": "-", "backward": "--", "": ":"}


def campbell_plot(found: Campbell, title: str | None, theme: str) -> Plot:
    """Frequencies over the speed: forward whirl solid, backward dashed, else dotted; damping ratios below."""
    picture, (upper, lower) = figure(
        ["frequency (Hz)", "damping ratio"],
        title=title or "Campbell diagram",
        x_label="speed (rad/s)",
        theme=theme,
        heights=(2.0, 1.0),
    )
    text = theme_of(upper).text
    for number in range(found.frequencies.shape[1]):
        words = [word for word in found.whirl[:, number] if word]
        style = STYLES[max(set(words), key=words.count)] if words else STYLES[""]
        draw(upper, found.speeds, found.frequencies[:, number], number, linestyle=style, label=f"mode {number + 1}")
        draw(lower, found.speeds, found.damping[:, number], number, linestyle=style)
    highest = 1.05 * float(np.nanmax(found.frequencies, initial=0.0))
    for multiple in found.multiples:
        line = multiple * np.abs(found.speeds) / (2.0 * np.pi)
        upper.plot(found.speeds, np.where(line <= highest, line, np.nan), color=text, linewidth=0.8)
    for critical in found.critical_speeds:
        height = critical.multiple * abs(critical.speed) / (2.0 * np.pi)
        upper.plot(critical.speed, height, "o", color=text, markersize=5)
    for low, high in found.unstable_ranges:
        for axes in (upper, lower):
            axes.axvspan(low, high, color=theme_of(axes).lines[1], alpha=0.15, linewidth=0.0)
    upper.set_ylim(0.0, highest)
    legend(upper)
    return picture
