"""The menu that builds models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from mbframe.registry import name_of

from ..base.words import class_label, first_sentence
from ..modelling.bodies import PRESETS, Preset, own_presets
from ..modelling.catalogue import GROUP_ICONS, kinds, signals
from ..widgets.actions import Entry

if TYPE_CHECKING:
    from .window import MainWindow

model = partial(Entry, model_only=True)

KEYS: Final = {"link": ("K",), "RevoluteJoint": ("J",), "SpringDamper": ("S",)}


def model_menu(window: MainWindow) -> Iterator[Entry]:
    """Actions that build and change a model."""
    modelling, menu = window.modelling, "&Model"
    yield from _bodies(window, (*PRESETS, *own_presets()))
    yield from _connections(window)
    yield from _signals(window)
    yield model(
        "pull",
        menu,
        "&Pull",
        modelling.set_pull,
        ("P",),
        "pull",
        "Drag bodies with the mouse: the mechanism follows (or hold Alt)",
        checkable=True,
    )
    yield model(
        "assemble", menu, "A&ssemble", modelling.assemble, ("A",), "assemble", "Close the joints with the least motion"
    )
    yield Entry(
        "own_classes",
        menu,
        "Use my &classes…",
        window.own_classes.show,
        (),
        "script",
        "Use classes of your own, from a Python file or an installed package: bodies, joints, forces and methods",
        separated=True,
    )
    yield model(
        "rename", menu, "&Rename", window.rename_selected, ("F2",), "rename", "Rename what is selected", separated=True
    )
    yield model("colour", menu, "&Colour…", modelling.choose_color, (), "", "Paint the selected body")
    yield model("hide", menu, "&Hide", modelling.hide, ("H",), "eye_off", "Do not draw what is selected")
    yield model("isolate", menu, "&Isolate", modelling.isolate, ("I",), "", "Draw only what is selected")
    yield model(
        "transparent",
        menu,
        "&Transparent",
        modelling.set_transparent,
        ("X",),
        "",
        "See through what is selected",
        checkable=True,
    )
    yield model(
        "show_all", menu, "Show &all", modelling.show_all, ("Shift+H",), "eye", "Draw everything again, and solid"
    )


def _bodies(window: MainWindow, presets: Iterable[Preset]) -> Iterator[Entry]:
    for preset in presets:
        name, keys, call = f"add_{preset.name}", KEYS.get(preset.name, ()), partial(window.modelling.add_body, preset)
        tip = f"Add a body: {_lower(preset.tip)}"
        yield model(name, "&Model/&Add/&Body", preset.label, call, keys, preset.icon, tip)


def _connections(window: MainWindow) -> Iterator[Entry]:
    for group in GROUP_ICONS:
        for kind in kinds():
            if kind.group == group:
                name, call = f"add_{kind.name}", partial(window.modelling.add, kind)
                menu, keys = f"&Model/&Add/&{group[:-1]}", KEYS.get(kind.name, ())
                yield model(name, menu, kind.label, call, keys, kind.icon, kind.tip)


def _signals(window: MainWindow) -> Iterator[Entry]:
    menu = "&Model/&Add/&Input or controller"
    for cls in signals():
        label, tip = f"{class_label(cls)}…", first_sentence(cls)
        icon = "measure" if cls.symbol == "input" else "driver"
        yield model(f"add_{name_of(cls)}", menu, label, partial(window.modelling.add_signal, cls), (), icon, tip)


def add_own(window: MainWindow) -> None:
    """Put users' classes into the menu Add, or those that were defined again in the place of the former."""
    for entry in (*_bodies(window, own_presets()), *_connections(window), *_signals(window)):
        known = window.actions_.entries.get(entry.name)
        if known is None or known.call.args != entry.call.args:  # type: ignore[attr-defined]  # both are partial
            window.actions_.put(entry)
    window.modelling.renew_kinds()


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
