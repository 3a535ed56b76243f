"""Additions to the mechanism in the view: paths of bodies, arrows for velocities, forces and reactions, other runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PySide6.QtGui import QColor

import mbframe as mb

from ..document.runs import Run
from ..solving.computing import Computation
from ..solving.tasks import Model
from .tasks import VectorsTask

if TYPE_CHECKING:
    from .view import View

SAMPLES: Final = 40
"""States of a motion that tell how much room it takes."""
KINDS: Final = ("velocity", "force", "reaction")

Kinds = set[str]  # `set` is a method below


class Trails:
    """Paths of points of bodies, up to the instant that is shown."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._points: dict[str, Any] = {}

    def __contains__(self, body: str) -> bool:
        return body in self._points

    def __iter__(self) -> Any:
        return iter(self._points)

    def items(self) -> Any:
        """Bodies with the points whose paths are drawn; None is the origin."""
        return self._points.items()

    def set(self, body: str, shown: bool, point: Any = None) -> None:
        """Draw the path of a body, or do not."""
        if shown:
            self._points[body] = point
        elif self._points.pop(body, self) is not self:
            self._erase(body)

    def clear(self) -> None:
        """Draw none."""
        self._points.clear()

    def keep(self, names: Collection[str]) -> None:
        """Forget bodies that are no longer there."""
        self._points = {body: point for body, point in self._points.items() if body in names}

    def show(self, state: mb.State | None) -> None:
        """Draw the paths up to a state; none where it does not belong to the run."""
        scene, track = self._view.scene, self._view.player.track
        if scene is None:
            return
        played = state is not None and track is not None and state.t == self._view.document.time
        for body, point in self._points.items():
            if played and track is not None and state is not None and body in track.names:
                scene.trail(body, track.path(body, state.t, local_point=point))
            else:
                scene.trail(body, None)

    def _erase(self, body: str) -> None:
        scene = self._view.scene
        if scene is not None and body in scene.system:
            scene.trail(body, None)


class Ghosts:
    """The other runs of the document, seen through and in their colours, at the instant that is shown."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.on = False
        self._drawn: list[tuple[Run, Any]] = []

    def draw(self, scene: mb.render.Scene) -> None:
        """Draw those that are visible into a new scene."""
        self._drawn.clear()
        runs = self._view.document.runs
        for run in runs if self.on else ():
            if run is not runs.current and run.visible and run.track is not None:
                color = QColor(run.color)
                shade = color.redF(), color.greenF(), color.blueF()
                system, motion = run.result.described, run.track.sampled(SAMPLES)
                self._drawn.append((run, scene.add_ghost(system, motion, shade)))

    def show(self, state: mb.State | None) -> None:
        """Move them to the instant of a state; to where they are described without one."""
        for run, ghost in self._drawn:
            track = run.track
            ghost.show(ghost.described if state is None or track is None else track.state(state.t))


class Arrows:
    """Vectors at bodies, forces and joints. Forces and reactions need the equations, so another process finds them."""

    def __init__(self, view: View, solver: Any) -> None:
        self._view, self._solver = view, solver
        self.shown: Kinds = set()
        self._vectors: dict[str, mb.render.Vectors] = {}
        self._wanted: dict[str, Any] = {}
        self._of: Any = None

    def set(self, kind: str, shown: bool) -> None:
        """Draw arrows of a kind, or do not."""
        if kind not in KINDS:
            raise ValueError(f"there are no arrows {kind!r}; known are {', '.join(KINDS)}")
        if shown:
            self.shown.add(kind)
            self._ask(kind)
        else:
            self.shown.discard(kind)
            if self._view.scene is not None:  # also one that is about to be replaced
                self._view.scene.arrows(kind, np.zeros((0, 3)), np.zeros((0, 3)))

    def clear(self) -> None:
        """Draw none."""
        self.shown.clear()
        self.refresh()

    def forget(self) -> None:
        """Ignore what is still being computed."""
        self._wanted.clear()

    def refresh(self) -> None:
        """The current run may be another one, or complete now."""
        run = self._view.document.runs.current
        result = run.result if run is not None else None
        if result is not self._of:
            self._of = result
            self._vectors.clear()
            self._wanted.clear()
        for kind in self.shown:
            self._ask(kind)

    def _ask(self, kind: str) -> None:
        """Have forces or reactions of the current run computed, once, when it is complete."""
        run = self._view.document.runs.current
        ready = run is not None and run.result is not None and not run.computing
        if kind == "velocity" or not ready or kind in self._wanted or run is None:
            return
        if self._solver is None:
            result = run.result
            job: Any = Computation(lambda _: mb.render.vectors(result, kind), self._view)
        elif run.path is None:
            return
        else:
            model = Model.of(self._view.document.system) if self._view.document.unsavable() else None
            job = self._solver.submit(VectorsTask(str(run.path), kind, model))
        self._of = run.result
        self._wanted[kind] = job
        job.finished.connect(lambda found: self._found(kind, job, found))
        if isinstance(job, Computation):
            job.start()

    def _found(self, kind: str, job: Any, vectors: mb.render.Vectors) -> None:
        if self._wanted.get(kind) is job:
            self._vectors[kind] = vectors
            self._view.show_again()

    def show(self, state: mb.State | None) -> None:
        """Draw the arrows of a state."""
        scene = self._view.scene
        if scene is None:
            return
        for kind in self.shown:
            if kind == "velocity":
                points, values = self._velocities(state)
                scale = None
            else:
                points, values, scale = self._interpolated(kind, state)
            scene.arrows(kind, points, values, scale)

    def _velocities(self, state: mb.State | None) -> tuple[Any, Any]:
        """Those of the centres of mass."""
        from mbframe.render.placement import point3

        points, values = [], []
        for body in self._view.document.system.bodies:
            motion = state.motions.get(body.name) if state is not None else None
            if motion is None:
                continue
            arm = motion.rotation @ point3(getattr(body, "center_of_mass", np.zeros(3)))
            points.append(motion.position + arm)
            values.append(motion.velocity + np.cross(motion.angular_velocity, arm))
        return np.array(points).reshape(-1, 3), np.array(values).reshape(-1, 3)

    def _interpolated(self, kind: str, state: mb.State | None) -> tuple[Any, Any, float | None]:
        """Forces or reactions between the stored instants; none for a state that is not one of the run."""
        found, track, scene = self._vectors.get(kind), self._view.player.track, self._view.scene
        played = state is not None and track is not None and state.t == self._view.document.time
        if found is None or not played or track is None or state is None or scene is None:
            return np.zeros((0, 3)), np.zeros((0, 3)), 1.0
        i, j, _, s = track.around(state.t)
        longest = float(np.linalg.norm(found.values, axis=2).max(initial=0.0))
        scale = 0.3 * scene.sketch.extent / longest if longest > 0.0 else 1.0
        return (
            (1.0 - s) * found.points[i] + s * found.points[j],
            (1.0 - s) * found.values[i] + s * found.values[j],
            scale,
        )
