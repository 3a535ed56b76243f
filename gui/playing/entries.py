"""The actions of a player."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

from ..widgets.actions import Entry


class Playing(Protocol):
    """What plays: a player, or who decides what the keys mean at the moment."""

    def toggle(self) -> None: ...

    def step(self, count: int) -> None: ...

    def rewind(self) -> None: ...


model = partial(Entry, model_only=True)
"""An action that needs a model."""


def playing(player: Playing, set_loop: Callable[[bool], object], menu: str) -> Iterator[Entry]:
    """The entries of a menu, in order."""
    yield model(
        "play", menu, "&Play or pause", player.toggle, ("Space",), "play", "Play or pause the motion", separated=True
    )
    yield model("step_forward", menu, "Step &on", partial(player.step, 1), (".",), "step_forward", "On by one instant")
    yield model("step_back", menu, "Step &back", partial(player.step, -1), (",",), "step_back", "Back by one instant")
    yield model("rewind", menu, "To the be&ginning", player.rewind, ("Home",), "rewind", "To the beginning of the run")
    yield model("loop", menu, "&Loop", set_loop, ("L",), "loop", "Begin again at the end", checkable=True)
