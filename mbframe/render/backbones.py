"""Lines along bodies that are thin against the whole mechanism: a chain of many links stays in sight from afar."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from .actors import add_lines, move_points
from .parts import Sketch, distinct
from .placement import Anchor, Fixed, Placements, Poses

THIN = 0.004
"""Bodies below this share of the extent have a line: with all in view they are a few pixels thick, or less than one."""
WIDTH = 2.0  # pixels


class Backbones:
    """One set of lines, as wide on the screen however far away. Seen from near, the bodies hide those inside them."""

    def __init__(self, plotter: Any, sketch: Sketch, hidden: Collection[str] = ()) -> None:
        anchors, colors = [], []
        for body in sketch.system.bodies:
            thin = sketch.thickness(body.name) < THIN * sketch.extent
            if not thin or body.name in hidden or isinstance(body, FlexibleBody):
                continue
            layer = np.array([0.0, 0.0, sketch.layers.get(body.name, 0.0)])
            ports = [port.point for port in sketch.ports_of(body.name)]
            points = distinct([*ports, sketch.center_of_mass(body)], 0.5 * sketch.bar_of(body.name))
            for start, end in pairwise(points):
                anchors += [Anchor(body.name, start + layer), Anchor(body.name, end + layer)]
                colors += [sketch.color(body.name)] * 2
        self._places = Placements([Fixed(anchor) for anchor in anchors])
        self._actor: Any = None
        if anchors:
            pairs = np.arange(len(anchors)).reshape(-1, 2)
            rows = np.column_stack([np.full(len(pairs), 2), pairs])
            ends = self.points(sketch.described)
            self._actor = add_lines(plotter, ends, rows, np.array(colors), np.ones(len(anchors)), WIDTH)

    def points(self, poses: Poses) -> NDArray[np.float64]:
        """Where the lines begin and end, pair by pair, m, (2 n, 3)."""
        return self._places.matrices(poses)[:, :3, 3]

    def place(self, poses: Poses) -> None:
        """Bring them where the bodies are."""
        if self._actor is not None:
            move_points(self._actor, self.points(poses))
