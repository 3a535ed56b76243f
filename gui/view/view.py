"""The 3D view: the system of the document, drawn by `mbframe.render` and moved by what the document shows.

The picture is drawn off-screen and painted like any other image. So labels, the view cube and hints are ordinary
widgets on top of it, and no OpenGL context belongs to the window.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QHelpEvent,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QToolTip, QWidget

import mbframe as mb

from ..base.names import one_line, unformatted
from ..base.turns import single_shot
from ..document.document import Document
from ..document.track import Track
from ..playing.playback import Player
from ..widgets import theme
from .additions import Arrows, Ghosts, Trails
from .camera import ViewCamera
from .cube import ViewCube
from .drawing import Drawing
from .labels import paint_labels, paint_scale
from .menu import menu_for
from .stress import StressColors
from .surface import Surface
from .tools import ViewTool

UNSEEN: Final = frozenset({"stiffness", "damping", "velocity", "angular_velocity"})
"""Parameters that do not change the picture: sliders over them must not build the scene anew."""
CLICK: Final = 4
"""Pixels that the mouse may move between press and release of a click."""
DETAIL: Final = ((8, 0.8), (30, 0.5), (10**9, 0.25))
"""Up to so many bodies, this share of the usual number of triangles."""
MANY: Final = 60
"""Bodies, from which on there are no shadows."""
MOMENTS: Final = 12
"""Instants at which is looked whether a motion leaves the picture."""
MARGIN: Final = 10
MOST_COVERED: Final = 0.25
"""Share of the height that bars at an edge may take from what is brought into view."""


class View(QWidget):
    """Shows the document's system, and lets the mouse look at it from anywhere and select."""

    options_changed = Signal()
    """Labels, trails, arrows or what is followed changed."""
    first_shown = Signal()
    """The first picture was painted."""

    def __init__(
        self,
        document: Document,
        player: Player,
        solver: Any = None,
        parent: QWidget | None = None,
        surface: type[Drawing | Surface] = Drawing,
    ) -> None:
        """`surface` says how the picture comes into the window: off-screen and painted, or by OpenGL itself."""
        super().__init__(parent)
        self.setObjectName("view")
        self.setMinimumSize(240, 180)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setAccessibleName("3D view")
        self.document, self.player = document, player
        self.drawing: Drawing | Surface = surface(self, self._is_moving, solver)
        self.camera = ViewCamera(self.drawing, player, self.covered)
        self.message = "Preparing the view…"
        """Shown in the place of the picture; empty if there is one."""
        self.labels = False
        self.shadows = True
        self.hidden: set[str] = set()
        """Names of elements that are not drawn."""
        self.parallel = False
        """Whether it is drawn without perspective: by default in the plane."""
        self.transparent: set[str] = set()
        """Names of elements that one sees through."""
        self.menu_extensions: list[Callable[[QMenu, Any], object]] = []
        """Called with the context menu and its element, to add to it."""
        self.trails = Trails(self)
        self.arrows = Arrows(self, solver)
        self.ghosts = Ghosts(self)
        self.stress = StressColors(self, solver)
        self.tools: list[ViewTool] = [self.stress]
        """Asked before the mouse looks around or selects."""
        self._described = True
        self._floor: Any = None  # stays under what is put on it
        self._framed: Any = None
        self._first = True
        self._tool: ViewTool | None = None
        self._pressed: QMouseEvent | None = None
        self._last = QPointF()
        self._dragged = False
        self.cube = ViewCube(self)
        self.cube.hide()
        self._rebuilding = single_shot(self, self._rebuild)
        self._connect()

    def _connect(self) -> None:
        document = self.document
        document.replaced.connect(self._replaced)
        document.structure_changed.connect(self._structure_changed)
        document.element_changed.connect(self._element_changed)
        document.selection_changed.connect(self._highlight)
        document.state_shown.connect(self._show_state)
        document.runs.current_changed.connect(self._run_chosen)
        document.runs.changed.connect(self._runs_changed)
        theme.changed().connect(self._theme_changed)
        self.cube.chosen.connect(self.camera.look_from)
        self.cube.dragged.connect(self.camera.orbit)
        self.camera.moved.connect(self._camera_moved)

    def covered(self) -> tuple[float, float]:
        """Shares of the height over which bars lie, at the upper and at the lower edge."""
        above = below = 0
        for bar in self.findChildren(QFrame, options=Qt.FindChildOption.FindDirectChildrenOnly):
            if bar.isVisible() and bar.geometry().center().y() < self.height() / 2:
                above = max(above, bar.geometry().bottom())
            elif bar.isVisible():
                below = max(below, self.height() - bar.y())
        most = MOST_COVERED * max(self.height(), 1)
        return min(above, most) / max(self.height(), 1), min(below, most) / max(self.height(), 1)

    def cover_changed(self) -> None:
        """Bars cover another part of it: what was seen as a whole still is. A scene that is drawn anew asks itself."""
        if not self._rebuilding.isActive():
            self.camera.resized()

    # --- beginning and end --------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the canvas; this imports VTK. Where nothing can be drawn the view says so and stays that way."""
        if self.canvas is not None:
            return
        try:
            self.drawing.open()
        except Exception as error:  # drivers fail in many ways, and the rest of the window works without pictures
            self._fail(f"The 3D view is not available here: {error}")
            return
        self.cube.show()
        self._rebuild()

    def close_canvas(self) -> None:
        """Free what VTK holds; called when the window closes."""
        self._rebuilding.stop()
        self.arrows.forget()
        self.drawing.close()

    def _fail(self, message: str) -> None:
        self.message = message
        self.cube.hide()
        self.drawing.image = None
        self.update()

    # --- the document -------------------------------------------------------------------------------------------------

    @property
    def canvas(self) -> mb.render.Canvas | None:
        """What VTK draws on; None before `prepare`."""
        return self.drawing.canvas

    @property
    def scene(self) -> mb.render.Scene | None:
        """What is drawn; None as long as there is no picture."""
        return self.drawing.scene

    @property
    def followed(self) -> str | None:
        """The body along with which the camera moves."""
        return self.camera.followed

    def rebuild_now(self) -> None:
        """Do at once what waits to be rebuilt."""
        if self._rebuilding.isActive():
            self._rebuilding.stop()
            self._rebuild()

    def _replaced(self) -> None:
        self._floor = None
        self.hidden.clear()
        self.transparent.clear()
        self.trails.clear()
        self.arrows.clear()
        empty_plane = self.document.system.dimension == 2 and not self.document.system.bodies
        self.camera.begin_anew("front" if empty_plane else "iso")  # where one draws, paper is not askew
        self._described = True
        self.parallel = self.document.system.dimension == 2
        self._rebuilding.start()
        self.options_changed.emit()

    def _structure_changed(self) -> None:
        names = {body.name for body in self.document.system.bodies}
        self.trails.keep(names)
        if self.followed not in names:
            self.camera.followed = None
        self._described = True
        self._rebuilding.start()
        self.options_changed.emit()

    def _element_changed(self, element: Any, parameter: str) -> None:
        if parameter not in UNSEEN:
            self._described = True
            self._rebuilding.start()

    def _run_chosen(self, run: Any) -> None:
        self._runs_changed()
        if run is None:  # the same scene, where it is described; to draw it anew would take as long as ten frames
            self._show_state(None)

    def _runs_changed(self) -> None:
        self.arrows.refresh()
        self.stress.refresh()
        run = self.document.runs.current
        if run is None or run.track is None or run.computing or run is self._framed:
            return
        self._framed = run
        if self.scene is not None and not self.camera.by_hand and self.followed is None and self._leaves(run.track):
            self.camera.see_all()
            self._rebuilding.start()

    def _leaves(self, track: Track) -> bool:
        """Whether a body leaves the picture in a motion."""
        if self.canvas is None or self._rebuilding.isActive() or self._strange(track) or not track.names:
            return False
        pixels, depth = self.canvas.project(track.places(MOMENTS))
        inside = (pixels >= 0.0).all(axis=1) & (pixels <= self.canvas.size).all(axis=1) & (depth > 0.0)
        return not inside.all()

    def _theme_changed(self, _: object) -> None:
        self._rebuilding.start()

    def _rebuild(self) -> None:
        """Draw the system anew, from where it was looked at before."""
        if self.canvas is None:
            return
        before = self.camera.pose_as_described
        system, track = self.document.system, self.player.track
        motion = track.sampled(40) if track is not None and not self._strange(track) else None
        try:
            scene = self.canvas.draw_system(
                system,
                motion=motion,
                theme=theme.current().name,
                shadows=self.shadows and len(system.bodies) <= MANY,
                tolerant=True,
                hidden=self.hidden,
                transparent=self.transparent,
                follow=self.followed,
                parallel=self.parallel,
                detail=next(share for most, share in DETAIL if len(system.bodies) <= most),
                floor=self._floor,
                coloring=None if track is None or self._strange(track) else self.stress.coloring,
            )
        except mb.MbframeError as error:
            self.canvas.clear()
            self._fail(f"The model cannot be drawn: {error}")
            return
        self._floor = scene.floor
        self.message = "" if len(system.bodies) else "This model is empty. Add a body to begin."
        self.cube.show()
        self.ghosts.draw(scene)
        self.camera.look_again(scene, before)
        self._highlight(self.document.selection)
        self.show_again()

    def _strange(self, track: Track) -> bool:
        """Whether a motion is one of other bodies than the model has."""
        return set(track.names) != {body.name for body in self.document.system.bodies}

    def _show_state(self, state: mb.State | None) -> None:
        """Move everything to a state, or to where the model is described."""
        scene = self.scene
        self._described = state is None
        if scene is None or self._rebuilding.isActive():  # the new scene will show it
            return
        shown: Any = mb.render.Poses.described(self.document.system)
        if state is not None:
            missing = [body for body in self.document.system.bodies if body.name not in state.motions]
            shown = state
            if missing:
                moved = mb.render.Poses.of_state(state).bodies
                shown = mb.render.Poses({**mb.render.Poses.described(self.document.system).bodies, **moved})
        scene.show(shown)
        self.trails.show(state)
        self.arrows.show(state)
        self.ghosts.show(state)
        self.drawing.changed()

    def _highlight(self, element: Any) -> None:
        scene = self.scene
        if scene is None or self._rebuilding.isActive():
            return
        known = element is not None and element is not self.document.system and element in self.document.system
        scene.highlight(element if known else None)
        self.drawing.changed()

    # --- what is shown ------------------------------------------------------------------------------------------------

    def set_labels(self, shown: bool) -> None:
        """Write the names of elements."""
        self.labels = shown
        self.options_changed.emit()
        self.update()

    def set_shadows(self, shown: bool) -> None:
        """Draw shadows on the floor."""
        self.shadows = shown
        self._rebuilding.start()

    def set_parallel(self, on: bool) -> None:
        """Draw without perspective, so that lengths are not shortened by distance, or with it."""
        self.parallel = on
        if self.scene is not None:
            self.scene.set_parallel(on)
            self._camera_moved()
        self.options_changed.emit()

    def hide_elements(self, names: set[str]) -> None:
        """Draw all but these elements."""
        self.hidden = set(names)
        self._draw_others()

    def see_through(self, names: set[str]) -> None:
        """Draw these elements so that one sees what is in and behind them."""
        self.transparent = set(names)
        self._draw_others()

    def _draw_others(self) -> None:
        self.camera.hold()
        self._rebuilding.start()
        self.options_changed.emit()

    def set_trail(self, body: str, shown: bool, point: Any = None) -> None:
        """Draw the path of a body's origin, or of a point of it."""
        self.trails.set(body, shown, point)
        self.show_again()
        self.options_changed.emit()

    def set_arrows(self, kind: str, shown: bool) -> None:
        """Draw arrows of a kind: "velocity", "force" or "reaction"."""
        self.arrows.set(kind, shown)
        self.show_again()
        self.options_changed.emit()

    def set_stress(self, on: bool) -> None:
        """Let colours show stress."""
        self.stress.set(on)
        self.options_changed.emit()

    def redraw(self) -> None:
        """Draw the scene anew, as when colours mean something else."""
        self.camera.hold()
        self._rebuilding.start()

    def follow(self, body: str | None) -> None:
        """Let the camera move along with a body; None lets it stand still."""
        self.camera.follow(body)
        self.options_changed.emit()

    def show_again(self) -> None:
        """Draw the state that is shown once more: what is added to it changed."""
        self._show_state(None if self._described else self.document.shown_state)

    # --- drawing ------------------------------------------------------------------------------------------------------

    def _camera_moved(self) -> None:
        if (pose := self.camera.pose) is not None and self.scene is not None:
            self.cube.turn(pose.frame, self.camera.front)
        self.drawing.changed()

    def _is_moving(self) -> bool:
        return self.player.playing or self._dragged or self.document.animation_owner is not None

    def picture(self) -> QImage:
        """The view as an image of its own, with labels, drawn at its best."""
        self.drawing.draw_at_its_best()
        picture = QImage(self.size() * self.devicePixelRatioF(), QImage.Format.Format_RGB32)
        picture.setDevicePixelRatio(self.devicePixelRatioF())
        painter = QPainter(picture)
        self._paint(painter)
        painter.end()
        return picture

    def paintEvent(self, event: QPaintEvent) -> None:
        self.drawing.draw_if_changed()
        painter = QPainter(self)
        try:
            self._paint(painter)
        finally:  # a painter that is left open takes the process down
            painter.end()
        if self._first and self.drawing.image is not None:
            self._first = False
            self.first_shown.emit()

    def _paint(self, painter: QPainter) -> None:
        look = theme.current()
        if self.drawing.image is None or self.scene is None:
            painter.fillRect(self.rect(), look.color("surface"))
            self._paint_message(painter, look.color("muted"))
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self.drawing.paint(painter)
        self.paint_over(painter)

    def paint_over(self, painter: QPainter) -> None:
        """Paint what lies over the picture: scale, tools, names, a message."""
        look = theme.current()
        paint_scale(self, painter)
        for tool in self.tools:
            tool.paint(painter)
        if self.labels:
            paint_labels(self, painter)
        if self.message and not any(tool.active for tool in self.tools):
            self._paint_message(painter, look.color("muted"))

    def _paint_message(self, painter: QPainter, color: QColor) -> None:
        painter.setPen(color)
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 1.15)
        painter.setFont(font)
        area = self.rect().adjusted(40, 40, -40, -40)
        painter.drawText(area, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message)

    # --- events -------------------------------------------------------------------------------------------------------

    def sizeHint(self) -> QSize:
        return QSize(800, 500)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.cube.move(self.width() - self.cube.width() - MARGIN, MARGIN)
        self.camera.resized()
        self.drawing.changed()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.drawing.changed()
        super().changeEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            self._tell_name(event)
            return True
        return super().event(event)

    def _tell_name(self, event: QHelpEvent) -> None:
        """Say what the mouse rests on; while a tool is used that says it itself."""
        resting = not (self._is_moving() or any(tool.active for tool in self.tools))
        element = self.element_at(QPointF(event.pos())) if resting else None
        QToolTip.showText(event.globalPos(), "" if element is None else unformatted(one_line(element.name)), self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._tool = next((tool for tool in self.tools if tool.press(event)), None)
        if self._tool is not None:
            return
        self._pressed = event.clone()
        self._last, self._dragged = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._tool is not None:
            self._tool.drag(event)
            return
        if not event.buttons():
            for tool in self.tools:
                tool.hover(event)
        if self._pressed is None or self.scene is None:
            return
        if not self._dragged:
            if (event.position() - self._pressed.position()).manhattanLength() <= CLICK:
                return
            self._dragged = True
            self._last = self._pressed.position()
        moved = event.position() - self._last
        self._last = event.position()
        if self._pans(event):
            self.camera.pan(moved.x(), moved.y())
        else:
            self.camera.orbit(moved.x(), moved.y())

    def _pans(self, event: QMouseEvent) -> bool:
        held = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        return held or bool(event.buttons() & Qt.MouseButton.RightButton)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._tool is not None:
            tool, self._tool = self._tool, None
            tool.release(event)
            return
        pressed, dragged = self._pressed, self._dragged
        self._pressed, self._dragged = None, False
        if pressed is None:
            return
        if dragged:
            self.drawing.settle()
        elif event.button() == Qt.MouseButton.LeftButton:
            if not any(tool.click(event) for tool in self.tools):
                self.document.select(self.element_at(event.position()))
        elif event.button() == Qt.MouseButton.RightButton:
            self._context_menu(event.position(), event.globalPosition().toPoint())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._context_menu(QPointF(self.rect().center()), self.mapToGlobal(self.rect().center()))
        event.accept()  # the mouse opens it when the button comes up, because dragging with it pans

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self.scene is None:
            return
        if any(tool.active for tool in self.tools):  # two quick clicks in one place, such as an end and the next begin
            self.mousePressEvent(event)
            return
        found = self.pick(event.position())
        if found is None:
            self.camera.fit()
        else:
            self.camera.centre(found.point)

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.pixelDelta().y()
        if self.scene is None or not turned:
            return
        self.camera.zoom(0.85 ** (turned / 120.0), event.position().x(), event.position().y())
        event.accept()

    # --- selecting ----------------------------------------------------------------------------------------------------

    def pick(self, place: QPointF) -> mb.render.Pick | None:
        """What is drawn under a pixel: its element and the point of its surface; None beside the mechanism."""
        if self.canvas is None:
            return None
        scale = self.canvas.size[0] / max(self.width(), 1)
        return self.canvas.pick(place.x() * scale, place.y() * scale)

    def element_at(self, place: QPointF) -> Any:
        """The element under a pixel; None beside the mechanism."""
        found = self.pick(place)
        return None if found is None else found.element

    def _context_menu(self, place: QPointF, globally: QPoint) -> None:
        element = self.element_at(place)
        if element is not None:
            self.document.select(element)
        menu_for(self, element).popup(globally)
