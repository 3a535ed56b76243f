"""The menu that builds models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..actions import Entry

if TYPE_CHECKING:
    from .workbench import Modelling

model = partial(Entry, model_only=True)


def model_menu(modelling: Modelling) -> Iterator[Entry]:
    """What builds and changes a model."""
    menu = "&Model"
    yield model(
        "pull",
        menu,
        "&Pull",
        modelling.pull.set_on,
        ("P",),
        "pull",
        "Drag bodies with the mouse: the mechanism follows (or hold Alt)",
        checkable=True,
    )
