"""All that builds a model by hand, for the window to hold in one place."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QCursor
from PySide6.QtWidgets import QApplication, QColorDialog, QFileDialog, QMenu, QMessageBox, QToolButton, QWidget

import mbframe as mb
from mbframe.proposals import rounded

from ..base.names import unformatted
from ..document.document import Document
from ..playing.live import Live
from ..view.view import View
from ..widgets.actions import Actions
from ..widgets.icons import icon, set_icon
from .assembling import Assembling
from .bodies import PRESETS, Preset, flexible_pose, own_presets
from .catalogue import Kind, kinds
from .guide import Guide
from .live_pull import LivePull
from .placing import Placing
from .pull import Pull

MESHES = "Surfaces (*.stl *.obj *.ply *.off *.glb *.gltf *.vtp)"


class MenuButton(QToolButton):
    """A button that opens a menu."""

    def forget_mouse(self) -> None:
        """Look as if the mouse were elsewhere, if it is: Qt does not say that it left while the menu was open."""
        if not self.rect().contains(self.mapFromGlobal(QCursor.pos())):
            self.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
            QApplication.sendEvent(self, QEvent(QEvent.Type.Leave))
            self.update()


class Modelling(QObject):
    """The tools of the view that change the model, and the bar that leads through them."""

    changed = Signal()
    """A tool was taken up or put down."""

    def __init__(self, document: Document, solver: Any, view: View, live: Live | None = None) -> None:
        super().__init__(view)
        self.document, self.solver, self.view = document, solver, view
        self.kinds = {kind.name: kind for kind in kinds()}
        self.guide = Guide(view)
        self.placing = Placing(document, solver, view, self.guide)
        self.pull = Pull(document, solver, view, self.guide)
        self.assembling = Assembling(document, solver, self)
        view.tools[:0] = [self.placing, *([LivePull(document, live, view)] if live is not None else []), self.pull]
        view.menu_extensions.append(self._extend_menu)
        self.pull.changed.connect(self.changed)
        self.placing.changed.connect(self.changed)
        self.placing.flexible_placed.connect(self._describe_flexible)
        self.guide.cancelled.connect(self.cancel)

    def renew_kinds(self) -> None:
        """Users' classes came, or are others than before."""
        self.kinds = {kind.name: kind for kind in kinds()}
        self.changed.emit()

    # --- tools --------------------------------------------------------------------------------------------------------

    def add(self, kind: Kind) -> None:
        """Lead through adding a joint, force, driver or measure."""
        if self._can_point():
            self.pull.set_on(False)
            self.placing.begin(kind)

    def add_body(self, preset: Preset) -> None:
        """Lead through adding a body."""
        if not self._can_point():
            return
        self.pull.set_on(False)
        path = ""
        if preset.name == "mesh":
            path, _ = QFileDialog.getOpenFileName(self.view, "Surface of the body", "", MESHES)
            if not path:
                return
        try:
            self.placing.begin_body(preset, path)
        except (mb.MbframeError, OSError) as error:
            self.document.messages.post(f"The mesh cannot be read: {error}", "error")

    def add_signal(self, cls: type[Any]) -> None:
        """Ask for what an input or a controller is to be; neither has a place in the view."""
        from .signal_dialog import SignalDialog

        self.cancel()
        dialog = SignalDialog(self.document, cls, self.view.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _can_point(self) -> bool:
        """Whether there is a picture to point at; one that is being prepared, just after the start, is waited for."""
        self.view.prepare()
        if self.view.canvas is None:
            self.document.messages.post(self.view.message, "error")
        return self.view.canvas is not None

    def _describe_flexible(self, preset: Preset, place: tuple[list[Any], Any]) -> None:
        """Ask for section and material, or for files, of a flexible body at points that were clicked."""
        from .flexible import BeamData, ComponentData
        from .flexible_dialog import FlexibleDialog

        points, normal = place
        try:
            pose = flexible_pose(points, normal)
        except mb.ModelError as error:
            self.document.messages.post_error(error)
            return
        data: BeamData | ComponentData = ComponentData("component")
        if preset.name == "flexible beam":
            data = BeamData("beam", length=float(np.linalg.norm(points[1] - points[0])))
            side = rounded(0.03 * data.length)
            data.update(width=side, height=side, diameter=side, wall=0.1 * side)
        self.view.camera.hold()
        dialog = FlexibleDialog(self.document, self.solver, data, pose, self.view.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def set_pull(self, on: bool) -> None:
        """Switch pulling on or off; it ends adding."""
        if on:
            self.placing.cancel()
        self.pull.set_on(on and self._can_point())

    def assemble(self) -> None:
        """Close the joints with the least motion; a message says what moved."""
        self.cancel()
        self.view.camera.hold()
        self.assembling.start()

    def cancel(self) -> bool:
        """End what is under way; whether there was anything."""
        for tool in self.view.tools:
            if tool.active:
                tool.cancel()
                return True
        return False

    def escape(self) -> None:
        """The key: end what is under way, else select nothing."""
        if not self.cancel():
            self.document.select(None)

    def enable(self, actions: Actions, shown: bool) -> None:
        """Offer what fits the model: some joints have no meaning in the plane, and nothing connects no bodies."""
        system = self.document.system
        several = len(system.bodies) > 0
        for kind in self.kinds.values():
            actions[f"add_{kind.name}"].setEnabled(shown and several and kind.fits(system.dimension))
        for preset in (*PRESETS, *own_presets()):
            if (name := f"add_{preset.name}") in actions:  # classes are known before they are in the menu
                actions[name].setEnabled(shown and preset.fits(system.dimension))
        for name in ("pull", "assemble"):
            actions[name].setEnabled(shown and several)
        chosen = self.document.selection
        element = chosen is not None and chosen is not system and chosen is not system.ground
        for name in ("rename", "hide", "isolate", "transparent"):
            actions[name].setEnabled(shown and element)
        actions["colour"].setEnabled(shown and isinstance(chosen, mb.Body))
        actions["show_all"].setEnabled(shown and bool(self.view.hidden or self.view.transparent))

    def add_button(self, menu: QMenu, parent: QWidget) -> QToolButton:
        """The button of the toolbar."""
        button = MenuButton(parent)
        button.setObjectName("toolbar_add")
        button.setText("Add")
        button.setToolTip("Add a body, joint, force, driver or measure")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(menu)
        menu.aboutToHide.connect(lambda: QTimer.singleShot(0, button, button.forget_mouse))
        set_icon(button, "add")
        return button

    # --- what is selected ---------------------------------------------------------------------------------------------

    def confirm_delete(self, element: Any) -> bool:
        """Ask before other elements go with one; those are listed."""
        others = self.document.dependents(element) if element in self.document.system else []
        if not others:
            return True
        names = [other.name for other in others]
        box = QMessageBox(self.view.window())
        box.setObjectName("confirm_delete")
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Delete")
        count = "1 element depends" if len(names) == 1 else f"{len(names)} elements depend"
        box.setText(unformatted(f"Delete {element.name}? {count} on it and will be deleted too."))
        box.setInformativeText(", ".join(names[:12]) + (", …" if len(names) > 12 else "") + ". Undo brings all back.")
        box.setStandardButtons(QMessageBox.StandardButton.Ok | QMessageBox.StandardButton.Cancel)
        box.button(QMessageBox.StandardButton.Ok).setText("Delete")
        box.setDefaultButton(QMessageBox.StandardButton.Ok)
        return box.exec() == QMessageBox.StandardButton.Ok

    def hide(self, element: Any = None) -> None:
        """Do not draw an element (by default what is selected); the model stays as it is."""
        chosen = element or self.document.selection
        if chosen is not None:
            self.view.hide_elements(self.view.hidden | {chosen.name})

    def isolate(self, element: Any = None) -> None:
        """Draw an element only, with what connects it."""
        chosen = element or self.document.selection
        if chosen is None:
            return
        kept = {chosen.name} | {other.name for other in self.document.system.dependents(chosen)}
        names = {other.name for other in (*self.document.system, self.document.system.ground)}
        self.view.hide_elements(names - kept)

    def set_transparent(self, on: bool, element: Any = None) -> None:
        """See through an element (by default what is selected), or draw it solid again."""
        chosen = element or self.document.selection
        if chosen is not None:
            self.view.see_through(
                self.view.transparent | {chosen.name} if on else self.view.transparent - {chosen.name}
            )

    def show_all(self) -> None:
        """Draw everything again, and solid."""
        self.view.see_through(set())
        self.view.hide_elements(set())

    def choose_color(self, body: Any = None) -> None:
        """Ask for a colour and paint a body with it."""
        chosen = body or self.document.selection
        if not isinstance(chosen, mb.Body):
            return
        if not chosen.shapes:
            self.document.messages.post(
                f"{chosen.name} has no shape to paint; add one in the inspector.", "warning", chosen
            )
            return
        color = QColorDialog.getColor(QColor("#3f7fbf"), self.view.window(), f"Colour of {chosen.name}")
        if color.isValid():
            self.paint(chosen, color.name())

    def paint(self, body: mb.Body, color: str) -> None:
        """Give all shapes of a body a colour."""
        self.document.set(body, shapes=[replace(shape, color=color) for shape in body.shapes])

    def extend_menu(self, menu: QMenu, element: Any) -> None:
        """What context menus of the tree and of the view offer for the looks of an element."""
        system = self.document.system
        if element is not None and element is not system and element is not system.ground:
            if isinstance(element, mb.Body):
                menu.addAction("Colour…", partial(self.choose_color, element))
            menu.addAction(icon("eye_off"), "Hide", partial(self.hide, element))
            menu.addAction("Isolate", partial(self.isolate, element))
            through = menu.addAction("Transparent")
            through.setCheckable(True)
            through.setChecked(element.name in self.view.transparent)
            through.toggled.connect(lambda on: self.set_transparent(on, element))
        if self.view.hidden or self.view.transparent:
            menu.addAction(icon("eye"), "Show all", self.show_all)

    def _extend_menu(self, menu: QMenu, element: Any) -> None:
        """What the context menu of the view offers for an element."""
        self.extend_menu(menu, element)
        if element is not None and element is not self.document.system.ground:
            menu.addAction(icon("duplicate"), "Duplicate", lambda: self.document.duplicate(element))
            menu.addAction(
                icon("delete"),
                "Delete",
                lambda: self.document.remove(element) if self.confirm_delete(element) else None,
            )
        menu.addSeparator()
