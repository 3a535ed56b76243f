"""What the gallery says and shows of each example: `assets/gallery` holds words, pictures and stored results.

`scripts/gallery` makes pictures and results anew; the words are written by hand in `gallery.json`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import mbframe as mb

from .places import ASSETS

FOLDER = ASSETS / "gallery"


@dataclass(frozen=True)
class Exhibit:
    """An example in the gallery.

    Parameters
    ----------
    name
        Of the function in `mbframe.examples`.
    title, text
        What it is called, and a sentence about it.
    trail, trail_point
        The body whose path is drawn when it is opened (empty for none), and the point of it in body axes, if it is not
        the origin.
    follow
        The body that the camera moves along with; empty if it stands still.
    picture_at
        The instant of its picture, as a share of the stored motion; the path until then is in it.
    """

    name: str
    title: str
    text: str
    trail: str = ""
    trail_point: tuple[float, ...] | None = None
    follow: str = ""
    picture_at: float = 0.0

    def picture(self, theme: str) -> Path:
        """The file of its picture for a light or a dark background."""
        return FOLDER / f"{self.name}_{theme}.webp"

    @property
    def result(self) -> Path:
        """The file of the motion that ships with it."""
        return FOLDER / f"{self.name}.h5"

    def system(self) -> mb.System:
        """The system itself."""
        return getattr(mb.examples, self.name)()


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """All examples in the order of the gallery; one that the file does not describe goes by its name."""
    words: dict[str, dict[str, Any]] = json.loads((FOLDER / "gallery.json").read_text(encoding="utf-8"))
    plain = {name: {"title": name.replace("_", " ").capitalize(), "text": ""} for name in mb.examples.names()}
    return tuple(_exhibit(name, words.get(name) or plain[name]) for name in plain)


def _exhibit(name: str, words: dict[str, Any]) -> Exhibit:
    point = words.get("trail_point")
    return Exhibit(name, **{**words, "trail_point": None if point is None else tuple(point)})


def exhibit(name: str) -> Exhibit | None:
    """The exhibit of an example; None if there is no such example."""
    return next((one for one in exhibits() if one.name == name), None)
