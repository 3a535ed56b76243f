"""Colours and light: one place for how pictures look."""

from __future__ import annotations

from dataclasses import dataclass

Color = tuple[float, float, float]


def rgb(code: str) -> Color:
    """Red, green, blue between 0 and 1 from "#rrggbb"."""
    return tuple(int(code[k : k + 2], 16) / 255.0 for k in (1, 3, 5))  # type: ignore[return-value]


# Bodies, in the order in which they were added. Hues of Okabe and Ito's palette, which all kinds of colour vision tell
# apart, brought to similar weight; neighbours differ in lightness as well.
BODIES = tuple(
    map(rgb, ("#3f7fbf", "#e39a2d", "#2f9e83", "#cf5f3e", "#79b8e0", "#a9689a", "#d9c144", "#64748f", "#8fb04b"))
)

STEEL = rgb("#aab2bb")
IRON = rgb("#59626d")
GROUND = rgb("#8b949e")
SPRING = rgb("#c8433c")
DAMPER = rgb("#4d5661")
ROD = rgb("#c3cad1")
RUBBER = rgb("#343a41")
BRASS = rgb("#c9a24b")
MOTOR = rgb("#3c4a5e")
UNKNOWN = rgb("#b0579a")
SELECTED = rgb("#ff5a1f")

ARROWS = {"velocity": rgb("#1f9e6e"), "force": rgb("#c8433c"), "reaction": rgb("#7a5bb0")}


@dataclass(frozen=True)
class Theme:
    """Colours of what surrounds the mechanism."""

    background: Color
    background_top: Color
    grid: Color
    grid_strong: Color
    shadow: Color
    text: Color


THEMES = {
    "light": Theme(
        background=rgb("#fdfdfe"),
        background_top=rgb("#e6ebf1"),
        grid=rgb("#dbe0e6"),
        grid_strong=rgb("#c3cbd4"),
        shadow=rgb("#d8dee6"),
        text=rgb("#27303a"),
    ),
    "dark": Theme(
        background=rgb("#20262d"),
        background_top=rgb("#0f1317"),
        grid=rgb("#303840"),
        grid_strong=rgb("#434d58"),
        shadow=rgb("#13171b"),
        text=rgb("#e4e9ee"),
    ),
}
