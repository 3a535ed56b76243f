"""From where the view is looked at: by hand, from preset directions, at all of it, along with a body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation, Signal

import mbframe as mb

from ..playing.playback import Player
from . import navigation as nav
from .cube import Zone
from .drawing import Drawing
from .surface import Surface

TURN: Final = 220
"""Milliseconds in which the camera goes to a preset view."""


class ViewCamera(QObject):
    """Moves the camera of a drawing. One that sees all of it goes on doing so, until it is moved by hand or held."""

    moved = Signal()

    def __init__(
        self,
        drawing: Drawing | Surface,
        player: Player,
        covered: Callable[[], tuple[float, float]] = lambda: (0.0, 0.0),
    ) -> None:
        """`covered` tells which shares of the height, above and below, bars lie over: what is fitted stays clear."""
        super().__init__(drawing)
        self._drawing, self._player, self._covered = drawing, player, covered
        self.followed: str | None = None
        """The body along with which the camera moves."""
        self.fitted = True
        """Whether it sees all of it, and goes on doing so when the view changes its size."""
        self.by_hand = False
        """Whether a person chose where it is: then nothing else moves it, not even to bring a motion into view."""
        self.first_view: str | tuple[float, ...] = "iso"
        """From where a model is looked at first."""
        self.next_pose: nav.Pose | None = None
        """From where the next scene is looked at; None leaves it as it is."""
        self._fit_next = True
        self._turning: QVariantAnimation | None = None

    @property
    def pose(self) -> nav.Pose | None:
        """Where the camera is; None as long as nothing can be drawn."""
        canvas = self._drawing.canvas
        return None if canvas is None else nav.Pose.of(canvas.plotter.camera)

    @property
    def pose_as_described(self) -> nav.Pose | None:
        """Where the camera would be if what it goes along with were where it is described; None without a scene."""
        scene, pose = self._scene, self.pose
        if scene is None or pose is None:
            return None
        if scene.followed is None or scene.followed not in scene.system:  # which may have changed since it was drawn
            return pose
        return pose.moved(-scene.shift(scene.followed))

    @property
    def placement(self) -> tuple[tuple[float, ...], ...] | None:
        """Position, focus and upward direction, as `mbframe.render.export` takes them."""
        pose = self.pose_as_described
        return None if pose is None else tuple(map(tuple, (pose.position, pose.focus, pose.up)))

    @property
    def _scene(self) -> mb.render.Scene | None:
        """What is looked at."""
        return self._drawing.scene

    # --- scenes -------------------------------------------------------------------------------------------------------

    def begin_anew(self, view: str = "iso") -> None:
        """See all of the next scene, from a direction of its own, and follow nothing."""
        self.followed = self.next_pose = None
        self.first_view = view
        self._fit_next = True
        self.by_hand = False

    def look_again(self, scene: mb.render.Scene, before: nav.Pose | None) -> None:
        """The scene was drawn anew: look at it from where the last one was looked at, or at all of it."""
        if before is not None and not self._fit_next:
            before.give(scene.plotter.camera)
            if self.fitted:
                self._fitting(scene).give(scene.plotter.camera)
        else:
            scene.covered = self._covered()
            scene.view(self.first_view)
        self.fitted |= self._fit_next
        self._fit_next = False
        if self.next_pose is not None:
            self._keep()
            self.next_pose.give(scene.plotter.camera)
            self.next_pose = None
        self.moved.emit()

    def resized(self) -> None:
        """The view has another size, or bars cover another part of it: what was seen as a whole still is."""
        if (scene := self._scene) is not None and self.fitted:
            self._drawing.resize()
            self.put(self._fitting(scene))

    # --- at all of it -------------------------------------------------------------------------------------------------

    def fit(self) -> None:
        """Bring all of it into view, from the same direction."""
        if (scene := self._scene) is not None:
            self._go(_now(scene), self._fitting(scene))
            self.see_all()

    def look(self, name: str) -> None:
        """Look from a preset direction at all of it: one of `view_menu.PRESETS`."""
        if (scene := self._scene) is not None:
            start = _now(scene)
            scene.covered = self._covered()
            scene.view(name)
            self._go(start, _now(scene))
            self.see_all()

    def follow(self, body: str | None) -> None:
        """Go along with a body; None stands still. A camera that sees all of it now sees all that moves from there."""
        self.followed = body
        if (scene := self._scene) is not None and (body is None or body in scene.system):
            scene.follow(body)
            if self.fitted:
                self.put(self._fitting(scene))

    def see_all(self) -> None:
        """See all of what is drawn next, from the same direction."""
        self.fitted, self.by_hand = True, False

    def _fitting(self, scene: mb.render.Scene) -> nav.Pose:
        """The pose that sees all of it from the present direction."""
        pose = _now(scene)
        scene.covered = self._covered()
        scene.view_from(pose.towards, pose.frame[:, 1])
        return _now(scene)

    # --- by hand ------------------------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Leave the camera where it is, whatever is drawn next."""
        self.fitted = False

    def _keep(self) -> None:
        """A person chose where it is."""
        self.hold()
        self.by_hand = True

    def orbit(self, dx: float, dy: float) -> None:
        """Turn about what is looked at by a drag of so many pixels, y downwards."""
        if (scene := self._scene) is not None:
            self.move(nav.orbited(_now(scene), dx, dy, scene.sketch.up))

    def pan(self, dx: float, dy: float) -> None:
        """Let what is looked at follow a drag of so many pixels."""
        if (scene := self._scene) is not None:
            self.move(nav.panned(_now(scene), dx, dy, self._drawing.size[1]))

    def zoom(self, factor: float, x: float, y: float) -> None:
        """Go nearer (factor < 1) or farther, with what is under a pixel staying there."""
        if (scene := self._scene) is not None:
            self.move(nav.zoomed(_now(scene), factor, x, y, self._drawing.size, scene.sketch.extent))

    def centre(self, point: ArrayLike) -> None:
        """Make a point the middle, about which dragging turns."""
        if (scene := self._scene) is not None:
            start = _now(scene)
            self._keep()
            self._go(start, start.moved(np.asarray(point, float) - start.focus))

    def look_from(self, zone: Zone) -> None:
        """Look from a side, an edge or a corner of the view cube at the same point."""
        if (scene := self._scene) is not None:
            start, front = _now(scene), self.front
            self._keep()
            self._go(start, nav.looking(start, front @ np.array(zone, float), front[:, 2], front[:, 1]))

    @property
    def front(self) -> NDArray[np.float64]:
        """The axes of the view cube: right, towards who looks from the front, and upwards as columns."""
        from mbframe.render.camera import front_frame

        return front_frame(self._scene.sketch.up) if self._scene is not None else np.eye(3)

    # --- moving -------------------------------------------------------------------------------------------------------

    def move(self, pose: nav.Pose) -> None:
        """Move the camera by hand: it ends a turn, and stays where it is when the window changes its size."""
        self._stop()
        self._keep()
        self.put(pose)

    def put(self, pose: nav.Pose) -> None:
        """Move the camera, whether it is held or sees all of it."""
        if self._drawing.canvas is not None:
            pose.give(self._drawing.canvas.plotter.camera)
            self.moved.emit()

    def _stop(self) -> None:
        """End a turn to another pose where it is."""
        if self._turning is not None:
            self._turning.stop()
            self._turning.deleteLater()
            self._turning = None

    def _go(self, start: nav.Pose, end: nav.Pose) -> None:
        """Let the camera go from one pose to another; at once where frames take long."""
        self._stop()
        if not self._drawing.seen or self._drawing.slow or self._player.playing:
            self.put(end)
            return
        motion = QVariantAnimation(self)
        motion.setDuration(TURN)
        motion.setStartValue(0.0)
        motion.setEndValue(1.0)
        motion.setEasingCurve(QEasingCurve.Type.InOutCubic)
        motion.valueChanged.connect(lambda share: self.put(nav.between(start, end, share) if share < 1.0 else end))
        motion.finished.connect(self._stop)
        self.put(start)
        self._turning = motion
        motion.start(QVariantAnimation.DeletionPolicy.KeepWhenStopped)


def _now(scene: mb.render.Scene) -> nav.Pose:
    """Pose of the camera of a scene."""
    return nav.Pose.of(scene.plotter.camera)
