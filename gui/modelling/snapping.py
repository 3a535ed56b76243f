"""Points to which the mouse snaps: markers, centres of mass, origins, corners, ends and faces of shapes. No widgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.plane import lifted
from mbframe.shapes import END

Array = NDArray[np.float64]

MOST_NODES: Final = 300
"""Of a flexible body that are offered one by one; the surface leads to the others."""


@dataclass(frozen=True)
class Snap:
    """A point that means something: what it is, on which body (None: none), and a direction that goes with it."""

    point: Array
    label: str
    body: str | None = None
    axis: Array | None = None

    @property
    def preferred(self) -> bool:
        """Whether it is meant where others are near: an end of a link, or a point in which something is joined."""
        return self.label == END or self.label.startswith("point of ")


def candidates(system: mb.System, bodies: Iterable[mb.Body] | None = None) -> list[Snap]:
    """The points of some bodies, or of all of them and of the ground; those in the same place once, the first wins."""
    chosen = [*system.bodies, system.ground] if bodies is None else list(bodies)
    found: list[Snap] = []
    seen: dict[tuple[float, ...], int] = {}
    for snap in _all(system, chosen):
        point = np.array(snap.point, float)
        if system.dimension == 2:
            point[2] = 0.0
        key = (snap.body, *np.round(point, 9))
        if key in seen:
            before = found[seen[key]]
            if before.axis is None and snap.axis is not None:
                found[seen[key]] = Snap(before.point, before.label, before.body, snap.axis)
            continue
        seen[key] = len(found)
        found.append(Snap(point, snap.label, snap.body, snap.axis))
    return found


def _all(system: mb.System, bodies: list[mb.Body]) -> Iterator[Snap]:
    names = {body.name for body in bodies}
    for element in system:
        yield from _of_connection(element, names)
    for body in bodies:
        motion = body.motion
        if body is system.ground:
            yield Snap(np.zeros(3), "origin", body.name)
            continue
        if places := body.attachments():
            yield from (Snap(place, name, body.name) for name, place in places[:MOST_NODES])
            continue
        center = lifted(getattr(body, "center_of_mass", np.zeros(3)))
        yield Snap(motion.position + motion.rotation @ center, "centre of mass", body.name)
        yield Snap(motion.position, "origin of the body", body.name)
        for shape in body.shapes:
            for local, label, axis in shape.features():
                direction = None if axis is None else motion.rotation @ axis
                yield Snap(motion.position + motion.rotation @ local, label, body.name, direction)


def nearest_attachment(body: mb.Body, point: Array) -> Snap | None:
    """The point at which a body can be held that is nearest to a global point; None if it can be held anywhere."""
    places = body.attachments()
    if not places:
        return None
    name, place = min(places, key=lambda one: float(np.linalg.norm(one[1] - point)))
    return Snap(place, name, body.name)


def _of_connection(element: Any, names: set[str]) -> Iterator[Snap]:
    """The points of a joint or force, once for each of the bodies."""
    if isinstance(element, mb.Body) or not hasattr(element, "body_j"):
        return
    for own, owners in (("at", ("body_i", "body_j")), ("at_i", ("body_i",)), ("at_j", ("body_j",))):
        point = None if element.is_local else getattr(element, own, None)
        if point is None or own not in element.parameters():
            continue
        axis = getattr(element, "axis", None)
        direction = lifted(axis) / np.linalg.norm(axis) if axis is not None and np.size(axis) == 3 else None
        for owner in owners:
            body = getattr(element, owner, None)
            if body is not None and body.name in names:
                yield Snap(lifted(point), f"point of {element.name}", body.name, direction)


def grid_step(metres_per_pixel: float, pixels: float = 12.0) -> float:
    """A round step (1, 2 or 5 times a power of ten) of about so many pixels, to which free points are rounded."""
    wanted = metres_per_pixel * pixels
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next(power * k for k in (1.0, 2.0, 5.0, 10.0) if power * k >= 0.999 * wanted))


def on_grid(point: Array, normal: Array, step: float) -> Array:
    """A point of a plane along two global axes, rounded in that plane."""
    snapped = np.round(point / step) * step
    fixed = int(np.argmax(np.abs(normal)))
    snapped[fixed] = point[fixed]
    return snapped
