"""What surrounds a mechanism: the floor with its grid, the shadow on it, the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..joints import KnifeEdge, PlanarJoint
from ..rotations import frame_with_axis
from .parts import Sketch
from .style import Color, rgb

Array = NDArray[np.float64]

AXIS_COLORS: tuple[Color, Color, Color] = (rgb("#d0502f"), rgb("#2a9474"), rgb("#2f6fb0"))
STRONG = 5  # so many cells lie between strong lines of the grid
# Where the light that makes the shadow comes from, in (right, back, up) of the floor: the left and the front; on the
# wall behind a planar mechanism the left and above.
LIGHT, LIGHT_ON_WALL = (-0.25, -0.2, 1.0), (-0.25, 0.2, 1.0)


@dataclass(frozen=True)
class Floor:
    """A plane with unit `normal` through `point`; `touched` if the mechanism rolls or slides on it."""

    point: Array
    normal: Array
    touched: bool = False
    light: tuple[float, float, float] = LIGHT

    def shadow_matrix(self, lift: float) -> Array:
        """Projects along the light onto the plane, lifted a little: x -> x - l n.(x - o)/(n.l)."""
        right, back = frame_with_axis(self.normal).T[:2]
        light = self.light[0] * right + self.light[1] * back + self.light[2] * self.normal
        matrix = np.eye(4)
        matrix[:3, :3] -= np.outer(light, self.normal) / (light @ self.normal)
        matrix[:3, 3] = light * (self.normal @ self.point) / (light @ self.normal) + lift * self.normal
        return matrix

    def grid(self, center: Array, radius: float, spacing: float) -> tuple[Array, NDArray[np.int64], Array, Array]:
        """Lines of a grid in a disk: points, lines as (2, start, end) rows, fading 0 to 1 and strong lines by point."""
        axes = frame_with_axis(self.normal)
        middle = axes[:, :2].T @ (center - self.point)
        first = np.round(middle / spacing) * spacing
        count = int(np.ceil(radius / spacing))
        steps = np.linspace(-1.0, 1.0, 33)
        points, strong = [], []
        for direction in (0, 1):
            for k in range(-count, count + 1):
                line = np.empty((len(steps), 2))
                line[:, direction] = first[direction] + steps * radius
                line[:, 1 - direction] = first[1 - direction] + k * spacing
                points.append(line)
                heavy = round(line[0, 1 - direction] / spacing) % STRONG == 0
                strong.append(np.full(len(steps), heavy))
        flat = np.concatenate(points)
        fade = np.clip(1.0 - np.linalg.norm(flat - middle, axis=1) / radius, 0.0, 1.0)
        starts = np.arange(len(flat)).reshape(-1, len(steps))
        pairs = np.column_stack([starts[:, :-1].ravel(), starts[:, 1:].ravel()])
        lines = np.column_stack([np.full(len(pairs), 2), pairs])
        return self.point + flat @ axes[:, :2].T, lines, fade, np.concatenate(strong)


def floor_of(sketch: Sketch, corners: Array, former: Floor | None = None) -> Floor:
    """The plane that the mechanism rolls or slides on; otherwise one below all of it, or behind it in the plane.

    A former floor stays as long as all is above it, or stands on it, and not far above: it must not sink under what is
    put on it.
    """
    for element in sketch.connections:
        i, _ = sketch.ports[element.name]
        if i.body is None and _has_plane(element):
            normal = i.axes[:, 2]
            return Floor(i.point, normal, touched=True)
    if sketch.planar:
        behind = float(corners[:, 2].min()) - 0.02 * sketch.extent
        return Floor(np.array([0.0, 0.0, behind]), np.array([0.0, 0.0, 1.0]), light=LIGHT_ON_WALL)
    lowest = float((corners @ sketch.up).min())
    above = lowest - former.point @ sketch.up if former is not None else np.inf
    if former is not None and np.array_equal(former.normal, sketch.up) and -1e-6 <= above / sketch.extent <= 0.1:
        return former
    return Floor((lowest - 0.03 * sketch.extent) * sketch.up, sketch.up)


def _has_plane(element: Any) -> bool:
    return hasattr(element, "plane_point") or isinstance(element, KnifeEdge | PlanarJoint)


def nice_spacing(extent: float) -> float:
    """About a tenth of an extent, as 1, 2 or 5 times a power of ten."""
    raw = extent / 10.0
    power = 10.0 ** np.floor(np.log10(raw))
    return float(next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= 0.7 * raw))
