"""The 3D view: the system of the document, drawn by `mbframe.render` and moved by what the document shows.

The picture is drawn off-screen and painted like any other image. So labels, the view cube and hints are ordinary
widgets on top of it, and no OpenGL context belongs to the window.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEasingCurve, QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

import mbframe as mb

from . import navigation as nav
from . import theme
from .best_picture import BestPicture
from .document import Document
from .playback import Player
from .solver import BUSY
from .track import Track
from .view_additions import Arrows, Trails
from .view_cube import ViewCube, Zone
from .view_labels import paint_labels
from .view_menu import menu_for
from .view_tools import ViewTool

Array = NDArray[np.float64]

UNSEEN: Final = frozenset({"stiffness", "damping", "velocity", "angular_velocity"})
"""Parameters that do not change the picture: sliders over them must not build the scene anew."""
CLICK: Final = 4
"""Pixels that the mouse may move between press and release of a click."""
SLOW: Final = 0.055
"""Seconds per frame: moving pictures that take longer are drawn with fewer pixels."""
TOO_SLOW: Final = 0.08
"""Seconds per frame: pictures that take longer are not smoothed either, which takes eight of them."""
COARSE: Final = 0.6
DETAIL: Final = ((8, 0.8), (30, 0.5), (10**9, 0.25))
"""Up to so many bodies, this share of the usual number of triangles."""
MANY: Final = 60
"""Bodies, from which on there are no shadows."""
MOMENTS: Final = 12
"""Instants at which is looked whether a motion leaves the picture."""
TURN: Final = 220
"""Milliseconds in which the camera goes to a preset view."""
MARGIN: Final = 10


class View(QWidget):
    """Shows the document's system, and lets the mouse look at it from anywhere and select."""

    options_changed = Signal()
    """Labels, trails, arrows or what is followed changed."""
    first_shown = Signal()
    """The first picture was painted."""

    def __init__(self, document: Document, player: Player, solver: Any = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("view")
        self.setMinimumSize(240, 180)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.setAccessibleName("3D view")
        self.document, self.player, self._solver = document, player, solver
        self.canvas: mb.render.Canvas | None = None
        self.message = "Preparing the view…"
        """Shown in the place of the picture; empty if there is one."""
        self.labels = False
        self.shadows = True
        self.followed: str | None = None
        self.hidden: set[str] = set()
        """Names of elements that are not drawn."""
        self.menu_extensions: list[Callable[[QMenu, Any], object]] = []
        """Called with the context menu and its element, to add to it."""
        self.trails = Trails(self)
        self.arrows = Arrows(self, solver)
        self._image: QImage | None = None
        self._dirty = True
        self._described = True
        self._frame_time = 0.0
        self._fit_next = True
        self._fitted = True
        self._framed: Any = None
        self._first = True
        self.tools: list[ViewTool] = []
        """Asked before the mouse looks around or selects."""
        self._tool: ViewTool | None = None
        self._pressed: QMouseEvent | None = None
        self._last = QPointF()
        self._dragged = False
        self._turning: QVariantAnimation | None = None
        self.cube = ViewCube(self)
        self.cube.hide()
        self.cube.chosen.connect(self._look_from_zone)
        self.cube.dragged.connect(self._orbit)
        self._rebuild_timer = _single_shot(self, self._rebuild)
        self._draw_timer = _single_shot(self, self._draw_changed)
        self._best = BestPicture(self._begin_best, self._take_best, self)
        self._connect()

    def _connect(self) -> None:
        document = self.document
        document.replaced.connect(self._replaced)
        document.structure_changed.connect(self._structure_changed)
        document.element_changed.connect(self._element_changed)
        document.selection_changed.connect(self._highlight)
        document.state_shown.connect(self._show_state)
        document.current_run_changed.connect(self._run_chosen)
        document.runs_changed.connect(self._runs_changed)
        theme.changed().connect(self._theme_changed)

    # --- beginning and end --------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the canvas; this imports VTK. Where nothing can be drawn the view says so and stays that way."""
        if self.canvas is not None:
            return
        try:
            self.canvas = mb.render.Canvas(self._pixel_size())
        except Exception as error:  # drivers fail in many ways, and the rest of the window works without pictures
            self._fail(f"The 3D view is not available here: {error}")
            return
        self.cube.show()
        self._rebuild()

    def close_canvas(self) -> None:
        """Free what VTK holds; called when the window closes."""
        self._rebuild_timer.stop()
        self._draw_timer.stop()
        self._best.stop()
        self.arrows.forget()
        if self.canvas is not None:
            self.canvas.close()
            self.canvas = None
        self._image = None

    def _fail(self, message: str) -> None:
        self.message = message
        self.cube.hide()
        self._image = None
        self.update()

    # --- the document -------------------------------------------------------------------------------------------------

    @property
    def scene(self) -> mb.render.Scene | None:
        """What is drawn; None as long as there is no picture."""
        return self.canvas.scene if self.canvas is not None else None

    def rebuild_now(self) -> None:
        """Do at once what waits to be rebuilt."""
        if self._rebuild_timer.isActive():
            self._rebuild_timer.stop()
            self._rebuild()

    def _replaced(self) -> None:
        self.followed = None
        self.hidden.clear()
        self.trails.clear()
        self.arrows.clear()
        self._fit_next = True
        self._described = True
        self._rebuild_timer.start(0)
        self.options_changed.emit()

    def _structure_changed(self) -> None:
        names = {body.name for body in self.document.system.bodies}
        self.trails.keep(names)
        if self.followed not in names:
            self.followed = None
        self._described = True
        self._rebuild_timer.start(0)
        self.options_changed.emit()

    def _element_changed(self, element: Any, parameter: str) -> None:
        if parameter not in UNSEEN:
            self._described = True
            self._rebuild_timer.start(0)

    def _run_chosen(self, run: Any) -> None:
        self._runs_changed()
        if run is None:
            self._described = True
            self._rebuild_timer.start(0)

    def _runs_changed(self) -> None:
        self.arrows.refresh()
        run = self.document.current_run
        if run is None or run.track is None or run.computing or run is self._framed:
            return
        self._framed = run
        if self.scene is not None and self._fitted and self.followed is None and self._leaves(run.track):
            self._rebuild_timer.start(0)

    def _leaves(self, track: Track) -> bool:
        """Whether a body leaves the picture in a motion."""
        if self.canvas is None or self._rebuild_timer.isActive() or self._strange(track) or not track.names:
            return False
        pixels, depth = self.canvas.project(track.places(MOMENTS))
        inside = (pixels >= 0.0).all(axis=1) & (pixels <= self.canvas.size).all(axis=1) & (depth > 0.0)
        return not inside.all()

    def _theme_changed(self, _: object) -> None:
        self._rebuild_timer.start(0)

    def _rebuild(self) -> None:
        """Draw the system anew, from where it was looked at before."""
        if self.canvas is None:
            return
        pose = nav.Pose.of(self.canvas.plotter.camera) if self.scene is not None else None
        system, track = self.document.system, self.player.track
        motion = track.sampled(40) if track is not None and not self._strange(track) and not self.followed else None
        try:
            scene = self.canvas.draw_system(
                system,
                motion=motion,
                theme=theme.current().name,
                shadows=self.shadows and len(system.bodies) <= MANY,
                tolerant=True,
                hidden=self.hidden,
                detail=next(share for most, share in DETAIL if len(system.bodies) <= most),
            )
        except mb.MbframeError as error:
            self.canvas.clear()
            self._fail(f"The model cannot be drawn: {error}")
            return
        self.message = "" if len(system.bodies) else "This model is empty. Add a body to begin."
        self.cube.show()
        if self.followed is not None:
            scene.follow(self.followed)
        if pose is not None and not self._fit_next:
            pose.give(self.canvas.plotter.camera)
            if self._fitted:
                self._fitting_pose().give(self.canvas.plotter.camera)
        self._fitted |= self._fit_next
        self._fit_next = False
        self._highlight(self.document.selection)
        self._show_again()
        self._camera_moved()

    def _strange(self, track: Track) -> bool:
        """Whether a motion is one of other bodies than the model has."""
        return set(track.names) != {body.name for body in self.document.system.bodies}

    def _show_state(self, state: mb.State | None) -> None:
        """Move everything to a state, or to where the model is described."""
        scene = self.scene
        if scene is None or self._rebuild_timer.isActive():  # the new scene will show it
            return
        self._described = state is None
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
        self._changed()

    def _highlight(self, element: Any) -> None:
        scene = self.scene
        if scene is None or self._rebuild_timer.isActive():
            return
        known = element is not None and element is not self.document.system and element in self.document.system
        scene.highlight(element if known else None)
        self._changed()

    # --- what is shown ------------------------------------------------------------------------------------------------

    def set_labels(self, shown: bool) -> None:
        """Write the names of elements."""
        self.labels = shown
        self.options_changed.emit()
        self.update()

    def set_shadows(self, shown: bool) -> None:
        """Draw shadows on the floor."""
        self.shadows = shown
        self._rebuild_timer.start(0)

    def hide_elements(self, names: set[str]) -> None:
        """Draw all but these elements."""
        self.hidden = set(names)
        self.hold_camera()
        self._rebuild_timer.start(0)
        self.options_changed.emit()

    def set_trail(self, body: str, shown: bool, point: Any = None) -> None:
        """Draw the path of a body's origin, or of a point of it."""
        self.trails.set(body, shown, point)
        self._show_again()
        self.options_changed.emit()

    def set_arrows(self, kind: str, shown: bool) -> None:
        """Draw arrows of a kind: "velocity", "force" or "reaction"."""
        self.arrows.set(kind, shown)
        self._show_again()
        self.options_changed.emit()

    def follow(self, body: str | None) -> None:
        """Let the camera move along with a body; None lets it stand still."""
        self.followed = body
        if self.scene is not None and not self._rebuild_timer.isActive():
            self.scene.follow(body)
        self.options_changed.emit()

    def _show_again(self) -> None:
        self._show_state(None if self._described else self.document.shown_state)

    # --- the camera ---------------------------------------------------------------------------------------------------

    @property
    def camera(self) -> tuple[tuple[float, ...], ...] | None:
        """Position, focus and upward direction, as `mbframe.render.export` takes them."""
        if self.canvas is None:
            return None
        pose = nav.Pose.of(self.canvas.plotter.camera)
        return tuple(map(tuple, (pose.position, pose.focus, pose.up)))

    def fit(self) -> None:
        """Bring all of it into view, from the same direction."""
        if self.scene is None or self.canvas is None:
            return
        start = nav.Pose.of(self.canvas.plotter.camera)
        self._animate(start, self._fitting_pose())
        self._fitted = True

    def hold_camera(self) -> None:
        """Leave the camera where it is, whatever is drawn next."""
        self._fitted = False

    def _fitting_pose(self) -> nav.Pose:
        """The camera that sees all of it from the present direction."""
        assert self.canvas is not None
        assert self.scene is not None
        camera = self.canvas.plotter.camera
        pose = nav.Pose.of(camera)
        self.scene.view_from(pose.towards, pose.frame[:, 1])
        return self._kept_on_followed(nav.Pose.of(camera))

    def look(self, name: str) -> None:
        """Look from a preset direction at all of it: one of `view_menu.PRESETS`."""
        if self.scene is None or self.canvas is None:
            return
        start = nav.Pose.of(self.canvas.plotter.camera)
        self.scene.view(name)
        self._animate(start, self._kept_on_followed(nav.Pose.of(self.canvas.plotter.camera)))
        self._fitted = True

    def _kept_on_followed(self, pose: nav.Pose) -> nav.Pose:
        """A pose for the described mechanism, shifted to where the followed body is now."""
        if self.scene is None or self.followed is None:
            return pose
        return pose.moved(self.scene.shift(self.followed))

    def _look_from_zone(self, zone: Zone) -> None:
        if self.scene is None or self.canvas is None:
            return
        front = self._front()
        start = nav.Pose.of(self.canvas.plotter.camera)
        end = nav.looking(start, front @ np.array(zone, float), front[:, 2], -front[:, 1])
        self._fitted = False
        self._animate(start, end)

    def _front(self) -> Array:
        from mbframe.render.camera import front_frame

        return front_frame(self.scene.sketch.up) if self.scene is not None else np.eye(3)

    def _animate(self, start: nav.Pose, end: nav.Pose) -> None:
        """Let the camera go from one pose to another; at once where frames take long."""
        if self._turning is not None:
            self._turning.stop()
        self._turning = None
        if not self.isVisible() or self._frame_time > SLOW or self.player.playing:
            self._give_at_once(end)
            return
        motion = QVariantAnimation(self)
        motion.setDuration(TURN)
        motion.setStartValue(0.0)
        motion.setEndValue(1.0)
        motion.setEasingCurve(QEasingCurve.Type.InOutCubic)
        motion.valueChanged.connect(
            lambda share: self._give_at_once(nav.between(start, end, share) if share < 1.0 else end)
        )
        self._give_at_once(start)
        self._turning = motion
        motion.start(QVariantAnimation.DeletionPolicy.KeepWhenStopped)

    def _give(self, pose: nav.Pose) -> None:
        """Move the camera; from now on it stays where it is when the window changes its size."""
        self._fitted = False
        self._give_at_once(pose)

    def _give_at_once(self, pose: nav.Pose) -> None:
        if self.canvas is None:
            return
        pose.give(self.canvas.plotter.camera)
        self._camera_moved()

    def _camera_moved(self) -> None:
        if self.canvas is not None and self.scene is not None:
            self.cube.turn(nav.Pose.of(self.canvas.plotter.camera).frame, self._front())
        self._changed()

    def _orbit(self, dx: float, dy: float) -> None:
        if self.canvas is not None and self.scene is not None:
            pose = nav.Pose.of(self.canvas.plotter.camera)
            self._give(nav.orbited(pose, dx, dy, self.scene.sketch.up))

    # --- drawing ------------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """The picture has to be drawn again."""
        self._dirty = True
        self._draw_timer.start(0)
        self._best.later()

    def _draw_changed(self) -> None:
        """Draw in a turn of the event loop of its own: painting the rest of the window takes as long."""
        handle = self.window().windowHandle()
        if self.isVisible() and handle is not None and handle.isExposed():
            self._draw_if_dirty()
        self.update()

    def _draw_if_dirty(self) -> None:
        if self._dirty and self.canvas is not None and self.scene is not None:
            self._draw(COARSE if self._moving and self._frame_time > SLOW else 1.0)

    def _pixel_size(self, share: float = 1.0) -> tuple[int, int]:
        ratio = self.devicePixelRatioF() * share
        return max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio))

    def _draw(self, share: float = 1.0) -> None:
        assert self.canvas is not None
        begin = time.perf_counter()
        self.canvas.resize(*self._pixel_size(share))
        self._take(self.canvas.image())
        taken = time.perf_counter() - begin
        if share == 1.0:
            self._frame_time = taken if self._frame_time == 0.0 else 0.5 * (self._frame_time + taken)

    def _take(self, picture: NDArray[np.uint8]) -> None:
        """Show a picture from now on."""
        pixels = np.ascontiguousarray(picture[::-1])
        height, width, _ = pixels.shape
        # The format of the window: painting, and scaling where pixels were saved, takes half the time.
        self._image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBX8888).convertToFormat(
            QImage.Format.Format_RGB32
        )
        self._dirty = False

    @property
    def _moving(self) -> bool:
        return self.player.playing or self._dragged or self.document.animation_owner is not None

    def _begin_best(self) -> mb.render.Canvas | None:
        """Nothing happens: draw with all pixels, and have it smoothed if that does not take too long."""
        if self.canvas is None or self.scene is None or self._moving or not self.isVisible():
            return None
        if self._solver is not None and self._solver.state == BUSY:  # the window has to answer quickly now
            self._best.later()
            return None
        if self.canvas.size != self._pixel_size() or self._dirty:
            self._draw()
            self.update()
        return self.canvas if self._frame_time < TOO_SLOW else None

    def _take_best(self, picture: NDArray[np.uint8]) -> None:
        self._take(picture)
        self.update()

    def picture(self) -> QImage:
        """The view as an image of its own, with labels, drawn at its best."""
        if self.canvas is not None and self.scene is not None:
            self.canvas.resize(*self._pixel_size())
            self._take(self.canvas.smooth_image())
        picture = QImage(self.size() * self.devicePixelRatioF(), QImage.Format.Format_RGB32)
        picture.setDevicePixelRatio(self.devicePixelRatioF())
        painter = QPainter(picture)
        self._paint(painter)
        painter.end()
        return picture

    def paintEvent(self, event: QPaintEvent) -> None:
        self._draw_if_dirty()
        painter = QPainter(self)
        try:
            self._paint(painter)
        finally:  # a painter that is left open takes the process down
            painter.end()
        if self._first and self._image is not None:
            self._first = False
            self.first_shown.emit()

    def _paint(self, painter: QPainter) -> None:
        look = theme.current()
        if self._image is None or self.scene is None:
            painter.fillRect(self.rect(), look.color("surface"))
            self._paint_message(painter, look.color("muted"))
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(0.0, 0.0, self.width(), self.height()), self._image)
        for tool in self.tools:
            tool.paint(painter)
        if self.labels:
            paint_labels(self, painter)
        if self.message:
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
        if self.canvas is not None and self.scene is not None and self._fitted:
            self.canvas.resize(*self._pixel_size())
            self._give_at_once(self._fitting_pose())
        self._changed()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self._changed()
        super().changeEvent(event)

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
        if self._pressed is None or self.canvas is None or self.scene is None:
            return
        if not self._dragged:
            if (event.position() - self._pressed.position()).manhattanLength() <= CLICK:
                return
            self._dragged = True
            self._last = self._pressed.position()
        moved = event.position() - self._last
        self._last = event.position()
        if self._turning is not None:
            self._turning.stop()
        if self._pans(event):
            pose = nav.Pose.of(self.canvas.plotter.camera)
            self._give(nav.panned(pose, moved.x(), moved.y(), self.height()))
        else:
            self._orbit(moved.x(), moved.y())

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
            self._best.later()
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
        if event.button() != Qt.MouseButton.LeftButton or self.canvas is None or self.scene is None:
            return
        found = self._pick(event.position())
        pose = nav.Pose.of(self.canvas.plotter.camera)
        if found is None:
            self.fit()
        else:  # what was clicked becomes the middle, about which dragging turns
            self._fitted = False
            self._animate(pose, pose.moved(found.point - pose.focus))

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.pixelDelta().y()
        if self.canvas is None or self.scene is None or not turned:
            return
        pose = nav.Pose.of(self.canvas.plotter.camera)
        size, place = (self.width(), self.height()), event.position()
        factor = 0.85 ** (turned / 120.0)
        self._give(nav.zoomed(pose, factor, place.x(), place.y(), size, self.scene.sketch.extent))
        event.accept()

    # --- selecting ----------------------------------------------------------------------------------------------------

    def _pick(self, place: QPointF) -> mb.render.Pick | None:
        if self.canvas is None:
            return None
        scale = self.canvas.size[0] / max(self.width(), 1)
        return self.canvas.pick(place.x() * scale, place.y() * scale)

    def element_at(self, place: QPointF) -> Any:
        """The element under a pixel; None beside the mechanism."""
        found = self._pick(place)
        return None if found is None else found.element

    def _context_menu(self, place: QPointF, globally: QPoint) -> None:
        element = self.element_at(place)
        if element is not None:
            self.document.select(element)
        menu_for(self, element).popup(globally)


def _single_shot(parent: QWidget, call: Any) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.timeout.connect(call)
    return timer
