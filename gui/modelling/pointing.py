"""Pointing while something is placed: the snapped point, the body under the mouse, and the plane worked in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

import mbframe as mb

from ..view.tools import facing, on_plane, paint_label, pixels
from ..view.view import View
from ..widgets import theme
from .snapping import Snap, candidates, grid_step, nearest_attachment, on_grid

if TYPE_CHECKING:
    from mbframe.render.surroundings import Floor

Array = NDArray[np.float64]

REACH: Final = 13.0
"""Pixels within which the mouse snaps."""


FLOOR: Final = "floor"
"""Label of a point of the floor; bodies stand on it."""


@dataclass(frozen=True)
class Pointed:
    """Target of the mouse: an element (None beside all), and a point with its meaning."""

    element: Any
    snap: Snap | None


FLAT: Final = 0.15
"""Sine of the angle under which the floor is seen, below which nobody points at it."""


def floor_seen(view: View, system: mb.System) -> Floor | None:
    """The floor of a scene in space, if it is seen from above."""
    scene = view.scene
    if system.dimension == 2 or scene is None or float(facing(view) @ scene.floor.normal) < FLAT:
        return None
    return scene.floor


def working_normal(view: View, system: mb.System) -> Array:
    """The normal of the plane in which free points lie.

    In the plane its own; in space upwards where the floor is seen, else the global axis that looks most at the camera.
    """
    if system.dimension == 2:
        return np.array([0.0, 0.0, 1.0])
    if (floor := floor_seen(view, system)) is not None:
        return np.asarray(floor.normal, float)
    towards = facing(view)
    axis = int(np.argmax(np.abs(towards)))
    return np.eye(3)[axis]


def pointed(
    view: View, system: mb.System, place: QPointF, bodies: list[mb.Body] | None = None, through: Array | None = None
) -> Pointed:
    """Find what is under a pixel; points are those of some bodies, or of all.

    The nearest point within reach wins; else the surface of a body; else a point of the working plane through
    `through` (by default the origin), on a grid.
    """
    found = view.pick(place)
    element = found.element if found is not None else None
    near = nearest(view, place, candidates(system, bodies), element)
    if near is not None:
        return Pointed(element, near)
    if found is not None and isinstance(element, mb.Body) and (bodies is None or element in bodies):
        point = np.array(found.point)
        if (held := nearest_attachment(element, point)) is not None:
            return Pointed(element, held)
        if system.dimension == 2:
            point[2] = 0.0
        return Pointed(element, Snap(point, "surface", element.name))
    normal = working_normal(view, system)
    floor = floor_seen(view, system)
    if through is None:
        through = np.zeros(3) if floor is None else np.asarray(floor.point, float)
    on_floor, pose = on_plane(view, place, through, normal), view.camera.pose
    if on_floor is None or pose is None:
        return Pointed(element, None)
    step = grid_step(pose.metres_per_pixel(view.height()))
    return Pointed(element, Snap(on_grid(on_floor, normal, step), "grid" if floor is None else FLOOR, None))


def nearest(view: View, place: QPointF, snaps: list[Snap], under: Any = None) -> Snap | None:
    """The point nearest to a pixel, within reach; of equal ones that of the body under it, else the first.

    Ends of links and points of joints come before corners and edges, which lie close to them.
    """
    preferred = [snap for snap in snaps if snap.preferred]
    if preferred and len(preferred) < len(snaps) and (found := nearest(view, place, preferred, under)) is not None:
        return found
    if not snaps:
        return None
    if isinstance(under, mb.Body):
        snaps = sorted(snaps, key=lambda snap: snap.body != under.name)
    spots = pixels(view, [snap.point for snap in snaps])
    best, least = None, REACH
    for snap, spot in zip(snaps, spots, strict=True):
        if spot is None:
            continue
        away = float(np.hypot(spot.x() - place.x(), spot.y() - place.y()))
        if away < least - 0.5:
            best, least = snap, away
    return best


# ---- Painting -------------------------------------------------------------------------------------------------------


def paint_snap(view: View, painter: QPainter, snap: Snap) -> None:
    """A ring and a cross at the point, and what it is."""
    (spot,) = pixels(view, [snap.point])
    if spot is None:
        return
    look = theme.current()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for color, width in ((QColor(look.surface), 5.0), (look.color("accent"), 2.2)):
        painter.setPen(QPen(color, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(spot, 8.0, 8.0)
        painter.drawLine(spot - QPointF(4.0, 0.0), spot + QPointF(4.0, 0.0))
        painter.drawLine(spot - QPointF(0.0, 4.0), spot + QPointF(0.0, 4.0))
    text = snap.label if snap.body is None else f"{snap.label} · {snap.body}"
    paint_label(painter, spot + QPointF(14.0, -10.0), text)


def paint_line(
    view: View, painter: QPainter, start: Array, end: Array, color: str = "accent", width: float = 3.0
) -> None:
    """A line in space."""
    a, b = pixels(view, [start, end])
    if a is not None and b is not None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.current().color(color), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawLine(a, b)


def paint_axis(view: View, painter: QPainter, point: Array, axis: Array, length: float) -> None:
    """An axis through a point: the preview of a joint."""
    direction = np.asarray(axis, float) / np.linalg.norm(axis)
    paint_line(view, painter, point - 0.5 * length * direction, point + 0.5 * length * direction, width=3.5)
    a, b = pixels(view, [point, point + 0.5 * length * direction])
    if a is None or b is None:
        return
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.current().color("accent"))
    painter.drawEllipse(b, 4.5, 4.5)
