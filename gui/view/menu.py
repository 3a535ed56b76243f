"""The context menu of the view."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

import mbframe as mb

from ..base.names import one_line

if TYPE_CHECKING:
    from .view import View

PRESETS: Final = ("iso", "front", "back", "left", "right", "top", "bottom")
"""Directions to look from."""


def menu_for(view: View, element: Any) -> QMenu:
    """The context menu of an element, or of the view itself."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    system = view.document.system
    if isinstance(element, mb.Body) and element is not system.ground:
        name = element.name
        menu.addSection(one_line(name))
        trail = menu.addAction("Draw its path")
        trail.setCheckable(True)
        trail.setChecked(name in view.trails)
        trail.toggled.connect(lambda on: view.set_trail(name, on))
        follow = menu.addAction("Follow with the camera")
        follow.setCheckable(True)
        follow.setChecked(view.followed == name)
        follow.toggled.connect(lambda on: view.follow(name if on else None))
        menu.addSeparator()
    for extend in view.menu_extensions:
        extend(menu, element)
    menu.addAction("Fit all", view.camera.fit)
    for preset in PRESETS:
        menu.addAction(f"View: {preset}", partial(view.camera.look, preset))
    return menu
