"""What has to be in the picture of a motion: all that is drawn, or what moves; and how a camera goes along with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from .camera import distance_for, fitted, narrowed, seen_size, view_axes
from .parts import Part, Sketch, outermost, swept
from .placement import Between, Poses

Array = NDArray[np.float64]

LEAST = 0.4
"""Of the width or the height of the picture: what moves is never smaller, where that can be avoided."""
ROOM = 1.08
"""How much more than needed is in view."""
STILL = 2e-3
"""Share of the mechanism's extent by which a body may move and still counts as one that stands."""
SPANS = (0.6, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03)
"""Parts of a film over which the camera looks ahead and back: the longer, the calmer."""


@dataclass(frozen=True)
class Shot:
    """How a camera sees a motion from one direction: what it looks at (n, 3), and from how far (n,), at n instants."""

    towards: Array
    up: Array
    centers: Array
    distances: Array

    @property
    def still(self) -> bool:
        """Whether the camera stands still."""
        return not (np.ptp(self.centers, axis=0).any() or np.ptp(self.distances))

    def between(self, known: Array, wanted: Array) -> Shot:
        """The shot at other instants than the known ones, which are in order."""
        centers = np.column_stack([np.interp(wanted, known, course) for course in self.centers.T])
        return Shot(self.towards, self.up, centers, np.interp(wanted, known, self.distances))


@dataclass(frozen=True)
class Framing:
    """Chooses what a camera shows of a motion.

    Parameters
    ----------
    sketch, parts
        The mechanism and all that is drawn of it.
    motion
        The poses that it passes through, as stacks.
    """

    sketch: Sketch
    parts: Sequence[Part]
    motion: Poses

    @cached_property
    def moving(self) -> list[str]:
        """The bodies that move or deform; all if none does."""
        names = [body.name for body in self.sketch.system.bodies]
        found = [
            name
            for name in names
            if isinstance(self.sketch.system[name], FlexibleBody)
            or self._change(self.way(name)[:, None]) > STILL
            or any(self._change(self.course(part)) > STILL for part in self.parts if part.body == name)
        ]
        return found or names

    def _change(self, places: Array) -> float:
        """How far points (instants, points, 3) get from where they are at first, as a share of the extent."""
        return float(np.linalg.norm(places - places[:1], axis=-1).max(initial=0.0)) / self.sketch.extent

    def way(self, body: str) -> Array:
        """Where the centre of mass of a body is (instants, 3)."""
        origin, rotation = self.motion.of(body)
        center = self.sketch.center_of_mass(self.sketch.system[body])
        return np.atleast_2d(origin) + np.atleast_2d(rotation @ center)

    def shifts(self, body: str) -> Array:
        """How far the centre of mass of a body is from where it is described (instants, 3)."""
        center = self.sketch.center_of_mass(self.sketch.system[body])
        return self.way(body) - self.sketch.described.point(body, center)

    def course(self, part: Part) -> Array:
        """Outermost points of a part (instants, points, 3)."""
        matrix = part.transform(self.motion).matrix.reshape(-1, 4, 4)
        return np.moveaxis(matrix[:, :3, :3] @ outermost(part.surface.vertices).T + matrix[:, :3, 3:], -1, -2)

    @cached_property
    def group(self) -> Array:
        """Outermost points of the bodies that move and of rods and springs between them (instants, points, 3)."""
        between = [self.course(part) for part in self.parts if isinstance(part.placement, Between)]
        return np.concatenate(
            [
                *(self.way(body)[:, None] for body in self.moving),
                *(self.course(part) for part in self.parts if part.body in self.moving),
                *(places for places in between if self._change(places) > STILL),
            ],
            axis=1,
        )

    @cached_property
    def whole(self) -> Array:
        """Outermost points of all parts at all instants (n, 3)."""
        return swept(self.parts, self.motion)

    def relative(self, body: str) -> Array:
        """Outermost points (n, 3) of all that moves for one who goes along with a body, where that is described."""
        return (self.group - self.shifts(body)[:, None]).reshape(-1, 3)

    # --- shots --------------------------------------------------------------------------------------------------------

    def following(self, body: str, towards: Array, up: Array, aspect: float) -> Shot:
        """The camera goes along with a body, and sees all that moves with it."""
        shifts = self.shifts(body)
        center, distance = fitted(self.relative(body), towards, up, aspect, ROOM)
        return Shot(towards, up, center + shifts, np.full(len(shifts), distance))

    def standing(self, towards: Array, up: Array, aspect: float) -> Shot:
        """The camera stands still and sees all of it; if what moves would be small, only what moves."""
        sweep = self.group.reshape(-1, 3)
        shots = [self._static(points, towards, up, aspect) for points in (self.whole, sweep)]
        return next((shot for shot in shots if self.smallest(shot, aspect) >= LEAST), shots[-1])

    def calm(self, towards: Array, up: Array, aspect: float) -> Shot:
        """The camera stands still if what moves is large enough all the time; otherwise it goes along, gently.

        Where going along does not help either, as with a long beam that turns about its end, it stands still, unless
        what moves would be lost.
        """
        standing = self.standing(towards, up, aspect)
        size = self.smallest(standing, aspect)
        best, largest = standing, size
        for span in SPANS:
            if largest >= LEAST:
                return best
            shot = self._along(span, towards, up, aspect)
            if (found := self.smallest(shot, aspect)) > largest:
                best, largest = shot, found
        return best if largest >= LEAST or size < 0.5 * LEAST else standing

    def smallest(self, shot: Shot, aspect: float) -> float:
        """The least share of the picture's width or height, whichever is more, that what moves has at an instant."""
        places = zip(self.group, shot.centers, shot.distances, strict=True)
        return min(max(seen_size(at, center, shot.towards, shot.up, far, aspect)) for at, center, far in places)

    def _static(self, points: Array, towards: Array, up: Array, aspect: float) -> Shot:
        center, distance = fitted(points, towards, up, aspect, ROOM)
        n = len(self.group)
        return Shot(towards, up, np.tile(center, (n, 1)), np.full(n, distance))

    def _along(self, span: float, towards: Array, up: Array, aspect: float) -> Shot:
        """The camera sees at each instant what moves in a part of the film before and after it.

        The boxes around that are averaged over the same part. Each of them holds the box of the instant itself, so
        their mean does.
        """
        axes = view_axes(towards, up)
        seen = self.group @ axes
        low, high = seen.min(axis=1), seen.max(axis=1)
        n = len(seen)
        reach = round(0.5 * span * n)  # nothing in a film of a few pictures, each of which is framed by itself then
        around = [slice(max(0, k - reach), k + reach + 1) for k in range(n)]
        low, high = (
            np.array([edge(side[at], axis=0) for at in around]) for edge, side in ((np.min, low), (np.max, high))
        )
        low, high = (np.array([side[at].mean(axis=0) for at in around]) for side in (low, high))
        centers = 0.5 * (low + high) @ axes.T
        corners = np.array(list(np.ndindex(2, 2, 2)), float) - 0.5
        distances = [
            distance_for(c + (corners * size) @ axes.T, towards, up, c, narrowed(ROOM), aspect)
            for c, size in zip(centers, high - low, strict=True)
        ]
        return Shot(towards, up, centers, np.array(distances))
