"""The actions of a view: from where one looks, and what is drawn beside the mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from ..widgets.actions import Entry
from .menu import PRESETS

if TYPE_CHECKING:
    from .options import ViewOptions
    from .view import View

ARROWS: Final = {
    "velocity": ("&Velocities", ("V",), "Arrows for the velocities of bodies"),
    "force": ("&Forces", (), "Arrows for the forces of springs, dampers and loads"),
    "reaction": ("&Reactions", (), "Arrows for the forces that joints exert"),
}

model = partial(Entry, model_only=True)
"""An action that needs a model."""


def looking(view: View, options: ViewOptions, menu: str) -> Iterator[Entry]:
    """The entries of a menu, in order."""
    yield model("fit", menu, "&Fit all", view.camera.fit, ("F",), "fit", "Bring everything into view")
    for number, name in enumerate(PRESETS, 1):
        text, tip = ("&Oblique", "Look from the side and above") if name == "iso" else (name.capitalize(), "")
        yield model(
            f"view_{name}",
            f"{menu}/&Direction",
            text,
            partial(view.camera.look, name),
            (str(number),),
            "",
            tip or f"Look at the {name}",
        )
    yield model(
        "labels",
        menu,
        "&Names",
        view.set_labels,
        ("N",),
        "labels",
        "Write the names of bodies and joints",
        checkable=True,
        separated=True,
    )
    yield model(
        "trail",
        menu,
        "&Path of the selected body",
        options.toggle_trail,
        ("T",),
        "trail",
        "Draw the path of the selected body",
        checkable=True,
    )
    yield model(
        "follow",
        menu,
        "F&ollow the selected body",
        options.toggle_follow,
        ("G",),
        "follow",
        "Let the camera move along with the selected body",
        checkable=True,
    )
    for kind, (text, keys, tip) in ARROWS.items():
        yield model(
            f"arrows_{kind}",
            f"{menu}/&Arrows",
            text,
            partial(view.set_arrows, kind),
            keys,
            kind,
            tip,
            checkable=True,
        )
    yield model(
        "stress",
        menu,
        "Str&ess",
        view.set_stress,
        (),
        "",
        "Let the colours of flexible bodies show their stress",
        checkable=True,
    )
    yield model(
        "parallel",
        menu,
        "Ort&hographic",
        view.set_parallel,
        ("O",),
        "",
        "Draw without perspective",
        checkable=True,
    )
    yield model("shadows", menu, "&Shadows", view.set_shadows, (), "", "Shadows on the floor", checkable=True)
