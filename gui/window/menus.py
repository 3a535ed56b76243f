"""The actions of the main window, menu by menu: what they are called, what they do, and their keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from ..base.units import SYSTEMS
from ..panels import declared
from ..playing.entries import playing
from ..view.entries import looking
from ..widgets.actions import Entry
from .model_menu import model_menu

if TYPE_CHECKING:
    from .window import MainWindow

THEMES: Final = {"system": "&As the desktop", "light": "&Light", "dark": "&Dark"}
UNITS: Final = {"SI": "SI: m and rad", "m/deg": "m and degrees", "mm/deg": "mm and degrees"}
model = partial(Entry, model_only=True)
"""An action that needs a model."""


def entries(window: MainWindow) -> list[Entry]:
    """All actions in the order of the menus."""
    return [
        *file_menu(window),
        *edit_menu(window),
        *model_menu(window),
        *view_menu(window),
        *run_menu(window),
        *analysis_menu(window),
        *help_menu(window),
    ]


def file_menu(window: MainWindow) -> Iterator[Entry]:
    files, menu = window.files, "&File"
    yield Entry(
        "gallery", menu, "S&tart page", window.show_gallery, ("Ctrl+Shift+H",), "gallery", "Examples and recent files"
    )
    yield Entry(
        "new_spatial", f"{menu}/&New", "In &space", lambda: files.new(3), ("Ctrl+N",), "new", "New model in space"
    )
    yield Entry(
        "new_planar",
        f"{menu}/&New",
        "In the &plane",
        lambda: files.new(2),
        ("Ctrl+Shift+N",),
        "new",
        "New model in the plane",
    )
    yield Entry(
        "open", menu, "&Open…", files.open_with_dialog, ("Ctrl+O",), "open", "Open a project, a model or a result"
    )
    yield model("save", menu, "&Save", files.save, ("Ctrl+S",), "save", "Save the model or the project", separated=True)
    yield model("save_as", menu, "Save &as…", files.save_as, ("Ctrl+Shift+S",), "", "Save under another name")
    yield model(
        "save_project",
        menu,
        "Save as pro&ject…",
        partial(files.save_as, project=True),
        (),
        "",
        "Save model, runs, view and plots in one file",
    )
    yield model(
        "export",
        menu,
        "&Export…",
        window.show_export,
        ("Ctrl+E",),
        "export",
        "Write a video, pictures, a 3D file or a table",
        separated=True,
    )
    yield model("picture", menu, "Save &picture…", window.save_picture, (), "camera", "Save what the view shows")
    if window.give_back is not None:
        tip = "Close the window; the program that opened it goes on with what was made of its system"
        yield Entry("return", menu, "Return to &Python", window.close, ("Ctrl+Return",), "script", tip, separated=True)
    yield Entry("quit", menu, "&Quit", window.close, ("Ctrl+Q",), "", "Close the window", separated=True)


def edit_menu(window: MainWindow) -> Iterator[Entry]:
    menu = "&Edit"
    yield model("undo", menu, "&Undo", window.undo, ("Ctrl+Z",), "undo", "Undo")
    yield model("redo", menu, "&Redo", window.redo, ("Ctrl+Shift+Z", "Ctrl+Y"), "redo", "Redo")
    yield model(
        "duplicate",
        menu,
        "&Duplicate",
        window.duplicate_selected,
        ("Ctrl+D",),
        "duplicate",
        "Add a copy of what is selected",
        separated=True,
    )
    yield model(
        "delete",
        menu,
        "De&lete",
        window.delete_selected,
        ("Del",),
        "delete",
        "Delete what is selected and what depends on it",
    )
    yield model(
        "deselect",
        menu,
        "Select &nothing",
        window.modelling.escape,
        ("Esc",),
        "",
        "End what was begun, or select nothing",
    )


def view_menu(window: MainWindow) -> Iterator[Entry]:
    menu = "&View"
    yield from looking(window.view, window.options, menu)
    for name, text in THEMES.items():
        tip = f"Colours: {text.replace('&', '').lower()}"
        call = partial(window.choose_theme, name)
        yield Entry(f"theme_{name}", f"{menu}/&Theme", text, call, (), "", tip, checkable=True)
    for name in SYSTEMS:
        text = UNITS.get(name, name)
        call = partial(window.choose_units, name)
        yield Entry(f"units_{name}", f"{menu}/&Units", text, call, (), "", f"Numbers in {text}", checkable=True)
    yield Entry(
        "reset_layout",
        menu,
        "Reset la&yout",
        window.reset_layout,
        (),
        "",
        "Put all panels back to their places",
        separated=True,
    )


def run_menu(window: MainWindow) -> Iterator[Entry]:
    menu = "&Run"
    yield model("run", menu, "&Run", window.run, ("F5", "Ctrl+R"), "run", "Compute the motion")
    yield model("cancel", menu, "&Cancel", window.runner.cancel, ("Shift+F5",), "stop", "Stop; what there is is kept")
    yield model(
        "method",
        menu,
        "&Method…",
        window.choose_method,
        ("Ctrl+M",),
        "method",
        "Choose coordinates, solver, stabilization and integrator",
    )
    tip = "Run the model in real time: pull at it, move its inputs and numbers while it runs"
    yield model("live", menu, "&Live", window.live_parts.switch, ("F6",), "live", tip, checkable=True)
    yield from playing(window.live_parts, window.set_loop, menu)


def analysis_menu(window: MainWindow) -> Iterator[Entry]:
    menu = "&Analysis"
    for name, panel in declared().items():
        if panel.entry:
            keys = (panel.key,) if panel.key else ()
            yield model(name, menu, panel.entry, partial(window.show_tab, name), keys, panel.icon, panel.tip)


def help_menu(window: MainWindow) -> Iterator[Entry]:
    menu = "&Help"
    yield Entry("help", menu, "&Help", window.show_help, ("F1",), "help", "How to use the application")
    yield Entry("shortcuts", menu, "&Shortcuts", window.show_shortcuts, ("Ctrl+/",), "keyboard", "All keys")
    yield Entry("about", menu, "&About mbframe", window.show_about, (), "info", "Version and licence", separated=True)
