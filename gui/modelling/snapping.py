"""Points to which the mouse snaps: markers, centres of mass, origins, corners, ends and faces of shapes. No widgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.plane import lifted

Array = NDArray[np.float64]

END: Final = "end"
"""What the middle of an end of a slender shape is called: where links are joined."""
SLENDER: Final = 3.0
"""Length of a link over its width, at least."""
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
        if isinstance(body, mb.FlexibleBody):
            yield from _nodes(body)
            continue
        center = lifted(getattr(body, "center_of_mass", np.zeros(3)))
        yield Snap(motion.position + motion.rotation @ center, "centre of mass", body.name)
        yield Snap(motion.position, "origin of the body", body.name)
        for shape in body.shapes:
            for local, label, axis in features(shape):
                direction = None if axis is None else motion.rotation @ axis
                yield Snap(motion.position + motion.rotation @ local, label, body.name, direction)


def _nodes(body: mb.FlexibleBody) -> Iterator[Snap]:
    """Where joints can attach to a flexible body: its nodes and interface points, ends and interfaces first."""
    part, places = body.modes.component, _places(body)
    count = len(part.nodes)
    for number in (*body.modes.interfaces, *range(count, len(places)), *range(min(count, MOST_NODES))):
        label = f"node {number}" if number < count else part.interface_points[number - count].name or f"point {number}"
        yield Snap(places[number], label, body.name)


def _places(body: mb.FlexibleBody) -> Array:
    """Global positions of nodes and interface points as described."""
    motion = body.motion
    return motion.position + body.deformed_in_axes(motion.modal_coordinates) @ motion.rotation.T


def nearest_node(body: mb.FlexibleBody, point: Array) -> Snap:
    """The node or interface point of a flexible body that is nearest to a global point."""
    places = _places(body)
    number = int(np.argmin(np.linalg.norm(places - point, axis=1)))
    return Snap(places[number], f"node {number}", body.name)


def _of_connection(element: Any, names: set[str]) -> Iterator[Snap]:
    """The points of a joint or force, once for each of the bodies."""
    if isinstance(element, mb.Body) or not hasattr(element, "body_j"):
        return
    for own, owners in (("at", ("body_i", "body_j")), ("at_i", ("body_i",)), ("at_j", ("body_j",))):
        point = getattr(element, own, None)
        if point is None or own not in element.parameters():
            continue
        axis = getattr(element, "axis", None)
        direction = lifted(axis) / np.linalg.norm(axis) if axis is not None and np.size(axis) == 3 else None
        for owner in owners:
            body = getattr(element, owner, None)
            if body is not None and body.name in names:
                yield Snap(lifted(point), f"point of {element.name}", body.name, direction)


def features(shape: mb.Shape) -> Iterator[tuple[Array, str, Array | None]]:
    """Points of a shape in body axes: where, what, and the direction of a face or an axis."""
    turn, place = np.array(shape.rotation, float), np.array(shape.position, float)

    def on(x: float, y: float, z: float, label: str, axis: Any = None) -> tuple[Array, str, Array | None]:
        direction = None if axis is None else turn @ np.asarray(axis, float)
        return place + turn @ np.array([x, y, z]), label, direction

    if isinstance(shape, mb.Box):
        a, b, c = (0.5 * s for s in shape.size)
        yield on(0.0, 0.0, 0.0, "centre")
        for k, half in enumerate((a, b, c)):
            for sign in (-1.0, 1.0):
                normal = np.zeros(3)
                normal[k] = sign
                others = max(shape.size[m] for m in range(3) if m != k)
                label = END if shape.size[k] >= SLENDER * others else "centre of a face"
                yield on(*(half * normal), label, normal)
        for x, y, z in product((-a, a), (-b, b), (-c, c)):
            yield on(x, y, z, "corner")
        for x, y in product((-1.0, 1.0), (-1.0, 1.0)):
            yield on(x * a, y * b, 0.0, "middle of an edge")
            yield on(x * a, 0.0, y * c, "middle of an edge")
            yield on(0.0, x * b, y * c, "middle of an edge")
    elif isinstance(shape, mb.Cylinder):
        half = 0.5 * shape.length
        yield on(0.0, 0.0, 0.0, "centre", (0.0, 0.0, 1.0))
        for sign in (-1.0, 1.0):
            label = END if shape.length >= 2.0 * SLENDER * shape.radius else "centre of the end"
            yield on(0.0, 0.0, sign * half, label, (0.0, 0.0, sign))
        for x, y in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)):
            yield on(shape.radius * x, shape.radius * y, 0.0, "point of the rim", (x, y, 0.0))
    elif isinstance(shape, mb.Cone):
        yield on(0.0, 0.0, 0.0, "centre of the base", (0.0, 0.0, 1.0))
        yield on(0.0, 0.0, shape.length, "tip", (0.0, 0.0, 1.0))
    elif isinstance(shape, mb.Arrow):
        yield on(0.0, 0.0, 0.0, "tail", (0.0, 0.0, 1.0))
        yield on(0.0, 0.0, shape.length, "tip", (0.0, 0.0, 1.0))
    else:
        yield on(0.0, 0.0, 0.0, "centre")


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
