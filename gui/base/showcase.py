"""Exhibits of the gallery: `assets/gallery` holds words, pictures and stored results of each example.

`scripts/assets gallery` makes pictures and results anew; the words are written by hand in `gallery.json`. An exhibit
shows an example in a motion worth looking at: with other arguments than the example has by itself, or with a push.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import mbframe as mb

from .places import ASSETS

FOLDER = ASSETS / "gallery"
DURATION = 5.0
"""Of a motion for which neither the exhibit nor the example says another, s."""


@dataclass(frozen=True)
class Push:
    """A force that acts on a body for a moment and is gone: it swells to `force` and ebbs away.

    It acts at the centre of mass. A `PointForce` of that name that the example has is set; otherwise one is added, so
    the push is part of the model that is opened, to be seen, changed and run again.
    """

    body: str
    force: tuple[float, ...]
    start: float = 0.5
    end: float = 0.8
    name: str = "push"

    def add(self, system: mb.System) -> None:
        """Let it act in a system."""
        peak = 0.5 * (self.start + self.end)
        course = f"(step(t, {self.start:g}, 0, {peak:g}, 1) - step(t, {peak:g}, 0, {self.end:g}, 1))"
        force = tuple(f"{part:g}*{course}" if part else 0.0 for part in self.force)
        if self.name in system:
            system[self.name].update(force=force)
            return
        body: Any = system[self.body]
        at = body.position + body.rotation @ body.center_of_mass
        system.add(mb.PointForce(self.name, body, at=at, force=force))


@dataclass(frozen=True)
class Exhibit:
    """An example in the gallery.

    Parameters
    ----------
    name
        Unique in the gallery; also that of its files.
    title, text
        What it is called, and a sentence about it.
    example, arguments, push
        The function in `mbframe.examples` (by default the one of that name), what it is called with, and what sets it
        in motion if the example is at rest or runs steadily.
    duration
        Of the motion, s; 0 is that of the example, or 5 s.
    speed
        Seconds of the motion per second on the wall; 0 leaves it to the player.
    view
        From where it is looked at first: the name of a view, or a direction in (right, towards the
        viewer, up) of the front view.
    trail, trail_point
        The body whose path is drawn when it is opened (empty for none), and the point of it in body axes, if it is not
        the origin.
    follow
        The body that the camera moves along with; empty if it stands still.
    picture_at
        The instant of its picture, as a share of the stored motion; the path until then is in it.
    instants
        How many of its stored motion there are; 0 leaves it to the maker of the gallery.
    """

    name: str
    title: str
    text: str
    example: str = ""
    arguments: Mapping[str, float] = field(default_factory=dict)
    push: Push | None = None
    duration: float = 0.0
    speed: float = 0.0
    view: str | tuple[float, ...] = "iso"
    trail: str = ""
    trail_point: tuple[float, ...] | None = None
    follow: str = ""
    picture_at: float = 0.0
    instants: int = 0

    def picture(self, theme: str) -> Path:
        """The file of its picture for a light or a dark background."""
        return FOLDER / f"{self.name}_{theme}.webp"

    @property
    def result(self) -> Path:
        """The file of the motion that ships with it."""
        return FOLDER / f"{self.name}.h5"

    @property
    def source(self) -> str:
        """The name of the function that builds it."""
        return self.example or self.name

    @property
    def t_end(self) -> float:
        """How long the motion lasts, s."""
        return self.duration or mb.examples.DURATIONS.get(self.source, DURATION)

    def system(self) -> mb.System:
        """The system, with what sets it in motion."""
        system = getattr(mb.examples, self.source)(**self.arguments)
        if self.push is not None:
            self.push.add(system)
        return system


@cache
def exhibits() -> tuple[Exhibit, ...]:
    """The gallery, in the order of its file; an example that the file does not describe goes by its name."""
    words: dict[str, dict[str, Any]] = json.loads((FOLDER / "gallery.json").read_text(encoding="utf-8"))
    plain = {name: {"title": name.replace("_", " ").capitalize(), "text": ""} for name in mb.examples.names()}
    return tuple(
        _exhibit(name, told) for name, told in {**words, **{n: plain[n] for n in plain.keys() - words}}.items()
    )


def _exhibit(name: str, words: dict[str, Any]) -> Exhibit:
    push, point, view = words.get("push"), words.get("trail_point"), words.get("view", "iso")
    return Exhibit(
        name,
        **{
            **words,
            "push": None if push is None else Push(**{**push, "force": tuple(push["force"])}),
            "view": view if isinstance(view, str) else tuple(view),
            "trail_point": None if point is None else tuple(point),
        },
    )


def exhibit(name: str) -> Exhibit | None:
    """The exhibit of that name; None if there is none."""
    return next((one for one in exhibits() if one.name == name), None)
