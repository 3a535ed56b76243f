"""Pulling a body with the mouse: the mechanism follows, and the release keeps where it is.

The solver process finds each position. One request is under way at a time, and the newest target follows it, so that
the window never waits and the mechanism is never behind by more than one update.
"""

from __future__ import annotations

import uuid
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPen

import mbframe as mb
from mbframe.analysis.states.describing import described_state, description
from mbframe.plane import lowered

from ..document.document import Document
from ..solving.tasks import Model
from ..view.tools import ViewTool, facing, on_plane, pixels
from ..view.view import View
from ..widgets import theme
from .guide import Guide
from .pull_tasks import PullTask

Array = NDArray[np.float64]

EDGE_ON: Final = 0.15
"""Cosine of the angle of sight to a plane below which the plane of a planar model cannot be pulled in."""


class Pull(ViewTool):
    """The tool of the view that pulls: while `on`, or while Alt is held."""

    updated = Signal(object)
    """A new position was found and is shown."""
    changed = Signal()
    """It was switched on or off."""

    def __init__(self, document: Document, solver: Any, view: View, guide: Guide) -> None:
        super().__init__(view)
        self.document, self.solver, self.guide = document, solver, guide
        self.on = False
        self.body: str | None = None
        """The body in the hand."""
        self.reached: mb.State | None = None
        self._gesture, self._serial = "", 0
        self._model: Model | None = None
        self._point = np.zeros(3)
        self._grip = np.zeros(3)
        self._normal = np.zeros(3)
        self._target: Array | None = None
        self._job: Any = None
        self._pending = False
        self._releasing = False
        document.replaced.connect(self.cancel)
        document.structure_changed.connect(self.cancel)

    # --- switching ----------------------------------------------------------------------------------------------------

    def set_on(self, on: bool) -> None:
        """Let the mouse pull bodies, or only with Alt."""
        if on == self.on:
            return
        self.on = on
        if on:
            self._show_described()
            self.guide.tell("pull", ["Drag a body: the mechanism follows. Drag beside it to turn the view."])
        else:
            self.cancel()
            self.guide.end()
        self.view.setCursor(Qt.CursorShape.OpenHandCursor if on else Qt.CursorShape.ArrowCursor)
        self.changed.emit()

    def _show_described(self) -> None:
        """A run that is looked at is left: what is pulled is the model as it is described."""
        self.document.animation_owner = None
        if self.document.runs.current is not None:
            self.view.camera.hold()
            self.document.runs.choose(None)
            self.view.rebuild_now()

    @property
    def active(self) -> bool:
        return self.body is not None or self.on

    # --- the mouse ----------------------------------------------------------------------------------------------------

    def press(self, event: QMouseEvent) -> bool:
        held = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        if event.button() != Qt.MouseButton.LeftButton or not (self.on or held) or self.view.scene is None:
            return False
        self._show_described()
        found = self.view.pick(event.position())
        body = body_to_pull(found.element, self.document.system) if found is not None else None
        if found is None or body is None:
            return False
        self.begin(body, found.point)
        return True

    def drag(self, event: QMouseEvent) -> None:
        target = on_plane(self.view, event.position(), self._grip, self._normal)
        if target is not None:
            self.pull_to(target)

    def release(self, event: QMouseEvent) -> None:
        if self.body is not None:
            self.drag(event)
            self._releasing = True
            self._next()

    # --- pulling ------------------------------------------------------------------------------------------------------

    def begin(self, body: mb.Body, grip: Array) -> None:
        """Take a body at a global point of it."""
        try:
            self._model = Model.of(self.document.system)
        except mb.ModelError as error:
            self.document.messages.post_error(error)
            return
        self.document.select(body)
        self.body = body.name
        self.reached = described_state(self.document.system)
        self._gesture, self._serial = uuid.uuid4().hex, 0
        planar = self.document.system.dimension == 2
        motion = self.reached.motions[body.name]
        self._grip = np.array(grip)
        self._normal = np.array([0.0, 0.0, 1.0]) if planar else facing(self.view)
        if planar:
            self._grip[2] = 0.0
            if abs(facing(self.view)[2]) < EDGE_ON:
                self._normal = facing(self.view)
        self._point = motion.rotation.T @ (self._grip - motion.position)
        self._target = None
        self._releasing = self._pending = False
        self.document.animation_owner = self
        self.view.setCursor(Qt.CursorShape.ClosedHandCursor)
        self.guide.tell("pull", [f"Pulling {body.name}: release keeps it there, Esc returns"])

    def pull_to(self, target: Array) -> None:
        """Pull to a global point."""
        if self.body is None:
            return
        self._target = np.asarray(target, float)
        self._pending = True
        self.view.update()
        self._next()

    def _next(self) -> None:
        """Ask for the next position, if none is under way; after the last one, keep it."""
        if self.body is None or self._job is not None:
            return
        if self._pending and self._target is not None and self._model is not None and self.reached is not None:
            self._pending = False
            self._serial += 1
            dimension = self.document.system.dimension
            task = PullTask(
                self._gesture,
                self._serial,
                self._model,
                self.reached,
                self.body,
                tuple(lowered(self._point, dimension)),
                tuple(lowered(self._target, dimension)),
            )
            self._job = self.solver.submit(task)
            self._job.finished.connect(self._found)
            self._job.failed.connect(self._failed)
            self._job.cancelled.connect(self._failed)
        elif self._releasing:
            self._keep()

    def _found(self, state: Any) -> None:
        if self.sender() is not self._job:
            return
        self._job = None
        self.reached = state
        self.document.show(state)
        self.updated.emit(state)
        self._next()

    def _failed(self, failure: Any = None) -> None:
        if self.sender() is not self._job:
            return
        self._job = None
        if failure is not None:
            self.document.messages.post(f"The mechanism cannot be pulled: {failure.message}", "error")
        self.cancel()

    def _keep(self) -> None:
        """Describe the model where it was pulled to: one step to undo."""
        name, state = self.body, self.reached
        self._end()
        if name is None or state is None:
            return
        try:
            changes = description(self.document.system, state)
            if not changes:
                self._return()
                return
            self.document.set_many(changes, text=f"Pull {name}")
        except mb.ModelError as error:
            self._return()
            self.document.messages.post_error(error)
            return
        moved = [element for element, _ in changes if isinstance(element, mb.Body)]
        if counted := _counted_from_here(self.document.system, moved):
            listed = ", ".join(counted[:3]) + (", …" if len(counted) > 3 else "")
            self.document.messages.post(f"{listed}: angles and displacements count from the new position now.", "info")

    def cancel(self) -> None:
        """Back to where the pull began; a second time it is switched off."""
        if self.body is not None:
            self._end()
            self._return()
        elif self.on:
            self.set_on(False)

    def _return(self) -> None:
        self.document.show(described_state(self.document.system))

    def _end(self) -> None:
        self.body, self._target = None, None
        self._job, self._pending, self._releasing = None, False, False
        if self.document.animation_owner is self:
            self.document.animation_owner = None
        self.view.setCursor(Qt.CursorShape.OpenHandCursor if self.on else Qt.CursorShape.ArrowCursor)
        if self.on:
            self.guide.tell("pull", ["Drag a body: the mechanism follows. Drag beside it to turn the view."])
        else:
            self.guide.end()

    # --- painting -----------------------------------------------------------------------------------------------------

    def paint(self, painter: QPainter) -> None:
        """The band between the point in the hand and where it is pulled to."""
        if self.body is None or self._target is None or self.reached is None:
            return
        motion = self.reached.motions[self.body]
        held, target = pixels(self.view, [motion.position + motion.rotation @ self._point, self._target])
        if held is None or target is None:
            return
        accent = theme.current().color("accent")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(accent, 2.0, Qt.PenStyle.DashLine))
        painter.drawLine(held, target)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(accent)
        painter.drawEllipse(held, 5.0, 5.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(accent, 2.0))
        painter.drawEllipse(target, 6.0, 6.0)


def _counted_from_here(system: mb.System, moved: list[mb.Body]) -> list[str]:
    """Elements on moved bodies whose angle or displacement counts from the described configuration."""
    return [
        element.name
        for element in system.forces
        if element.counts_from_description and (element.body_i in moved or element.body_j in moved)
    ]


def body_to_pull(element: Any, system: mb.System) -> mb.Body | None:
    """The body to pull at a picked element: itself, or a body of the joint or force."""
    candidates = (
        [element] if isinstance(element, mb.Body) else [getattr(element, n, None) for n in ("body_j", "body_i")]
    )
    return next((body for body in candidates if body is not None and body is not system.ground), None)
