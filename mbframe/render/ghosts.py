"""Other motions beside the one of a scene: the same or another mechanism, seen through, in one colour."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..state import State
from .actors import SurfaceActor, deformable_data, mapper_of, place_all, surface_data
from .geometry import parts_of
from .merging import merged
from .parts import Sketch, swept
from .placement import Fixed, Placements, Poses
from .style import Color

OPACITY = 0.28


class Ghost:
    """A mechanism that is drawn in one colour and seen through; made by `Scene.add_ghost`.

    What stands still with the ground is left out, since the mechanism of the scene has it as well.
    """

    def __init__(self, plotter: Any, system: Any, motion: Poses | None, color: Color) -> None:
        self._plotter = plotter
        sketch = Sketch(system, motion, tolerant=True)
        whole = [part for part in parts_of(sketch) if part.body or not isinstance(part.placement, Fixed)]
        self.corners: NDArray[np.float64] = swept(whole, motion or sketch.described, sketch.described)
        """Outermost points (n, 3) of the motion."""
        self._parts = merged(whole)
        self._placements = Placements([part.placement for part in self._parts])
        self._actors = []
        for part in self._parts:
            data = surface_data(part.surface) if part.deformed is None else deformable_data(part.surface)
            actor = SurfaceActor(plotter, mapper_of(data), color, OPACITY, pickable=False)
            actor.actor.GetProperty().BackfaceCullingOn()
            self._actors.append(actor)
        self.described = sketch.described
        self.show(self.described)

    def show(self, state: State | Poses) -> None:
        """Move it to a state."""
        poses = state if isinstance(state, Poses) else Poses.of_state(state)
        place_all(self._actors, self._placements.matrices(poses))
        if isinstance(state, State):
            for part, actor in zip(self._parts, self._actors, strict=True):
                if part.deformed is not None:
                    actor.deform(part.deformed(state))

    def remove(self) -> None:
        """Take it out of the picture."""
        for actor in self._actors:
            self._plotter.remove_actor(actor.actor, render=False)
        self._actors, self._parts = [], []
        self._placements = Placements([])
