"""What a picture is made of: parts with a surface, a colour and a placement, and the measures they are sized by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..connections import Connection
from ..errors import ModelError, Problem
from ..measures import Measure
from ..shapes import Box, Cylinder, Shape, Sphere
from .coloring import Coloring
from .placement import Anchor, Placement, Poses, Transform, point3, rotation3
from .style import BODIES, GROUND, Color
from .surfaces import Surface

Array = NDArray[np.float64]
_DIRECTIONS = np.array([d for d in np.ndindex(3, 3, 3) if d != (1, 1, 1)], float) - 1.0
VertexMotion = Callable[[Any], Array]  # state -> vertices (n, 3) in the part's coordinates


@dataclass(frozen=True)
class Part:
    """A surface of one colour that is placed by one transform.

    Parameters
    ----------
    name
        Unique in its drawing.
    element
        Name of the element that it shows; picking the part selects it.
    surface
        Vertices, normals and triangles in the part's own coordinates, m.
    placement
        On a body or between two: `part.transform(poses)` gives translation, rotation and scale.
    color, opacity
        Red, green, blue between 0 and 1; 1 is solid.
    role
        "body", "joint", "force", "ground", or "road", on which shadows fall.
    deformed
        For a body that deforms: its vertices at a state; the placement stays that of its frame.
    colored
        Colours (n, 3) of the vertices at a state, instead of one colour for all.
    """

    name: str
    element: str
    surface: Surface
    placement: Placement
    color: Color
    opacity: float = 1.0
    role: str = "body"
    deformed: VertexMotion | None = None
    colored: VertexMotion | None = None

    @property
    def body(self) -> str | None:
        """Name of the body that carries it; None for the ground, and for what is placed between two bodies."""
        return self.placement.body

    def transform(self, poses: Poses) -> Transform:
        """Where it is, at one instant or at many."""
        return self.placement.transform(poses)


LARGEST = 1e12
"""m: what reaches farther from the origin is not drawn, since numbers of pictures are single and squares overflow."""
SMALLEST = 1e-12
"""m: what is smaller than this is drawn as a point."""


def _check_reach(element: str, field: str, points: Sequence[Array]) -> None:
    reach = float(np.abs(points).max(initial=0.0))
    if not reach <= LARGEST:
        message = f"reaches {reach:.3g} m far, with its shapes or the box of its inertia; pictures show {LARGEST:g} m"
        raise ModelError([Problem(element, field, f"{message}; check its numbers and their units")])


@dataclass(frozen=True)
class Port:
    """One side of a connection: its point and axes, in the axes of its body (None: the ground)."""

    element: Connection
    body: str | None
    point: Array
    axes: Array

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.body, self.point)


@dataclass(frozen=True)
class Sketch:
    """A system as a draughtsman sees it: lifted into space, with its ports, directions and sizes.

    `motion` are poses that it will pass through, if they are known: rails are made as long as they need to be. A
    tolerant sketch leaves out meshes that cannot be read. With a `coloring` flexible bodies show its field.
    """

    system: Any
    motion: Poses | None = None
    tolerant: bool = False
    coloring: Coloring | None = None
    described: Poses = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "described", Poses.described(self.system))

    @cached_property
    def planar(self) -> bool:
        """Whether the system lives in the x-y plane."""
        return int(getattr(self.system, "dimension", 3)) == 2

    @cached_property
    def up(self) -> Array:
        """Against gravity; without gravity z, in the plane y."""
        gravity = point3(self.system.gravity)
        gravity = gravity / (np.abs(gravity).max() or 1.0)  # the square of a very large one is infinite
        size = float(np.linalg.norm(gravity))
        if size > 0.0:
            return -gravity / size
        return np.array([0.0, 1.0, 0.0]) if self.planar else np.array([0.0, 0.0, 1.0])

    @cached_property
    def connections(self) -> list[Connection]:
        """Joints, constraints and forces."""
        return [e for e in self.system if isinstance(e, Connection) and not isinstance(e, Measure)]

    @cached_property
    def ports(self) -> Mapping[str, tuple[Port, Port]]:
        """First and second side of each connection by its name."""
        return {c.name: (self._port(c, c.i), self._port(c, c.j)) for c in self.connections}

    def _port(self, element: Connection, marker: Any) -> Port:
        body = None if marker.body is self.system.ground else marker.body.name
        origin, rotation = self.described.of(body)
        point = rotation.T @ (point3(marker.at) - origin)
        return Port(element, body, point, rotation.T @ rotation3(marker.axes))

    def ports_of(self, body: str | None) -> list[Port]:
        """The ports on a body."""
        return list(self._ports_by_body.get(body, ()))

    @cached_property
    def _ports_by_body(self) -> Mapping[str | None, list[Port]]:
        found: dict[str | None, list[Port]] = {}
        for pair in self.ports.values():
            for port in pair:
                found.setdefault(port.body, []).append(port)
        return found

    def center_of_mass(self, body: Any) -> Array:
        """In body axes; the origin where a body does not tell."""
        return point3(getattr(body, "center_of_mass", np.zeros(3)))

    def color(self, body: str | None) -> Color:
        """The colour of a body that does not choose one."""
        if self.coloring is not None and body is not None:
            return self.coloring.plain
        return GROUND if body is None else self._colors[body]

    @cached_property
    def _colors(self) -> Mapping[str, Color]:
        return {body.name: BODIES[k % len(BODIES)] for k, body in enumerate(self.system.bodies)}

    # --- sizes --------------------------------------------------------------------------------------------------------

    @cached_property
    def extent(self) -> float:
        """Diagonal of the box around all ports, centres of mass and shapes when described, m; 1 if there is none.

        A body that is drawn as the box of its inertia counts with that. What no picture can show is a `ModelError`.
        """
        points = []
        for name, pair in self.ports.items():
            found = [self.described.point(port.body, port.point) for port in pair]
            _check_reach(str(self.system[name]), "at", found)
            points += found
        for body in self.system.bodies:
            center = self.center_of_mass(body)
            local = [center, *shape_corners(body)]
            if not body.shapes and len(distinct([port.point for port in self.ports_of(body.name)], 0.0)) < 2:
                edges, axes = box_of_inertia(body)
                local += [center + axes @ (0.5 * edges * sign) for sign in (-1.0, 1.0)]
            found = [self.described.point(body.name, point) for point in local]
            _check_reach(str(body), "position", found)
            points += found
        size = float(np.linalg.norm(np.ptp(points, axis=0))) if points else 0.0
        return size if size > SMALLEST else 1.0

    @cached_property
    def bar(self) -> float:
        """Thickness of bars drawn without a shape, m."""
        return 0.035 * self.extent

    def bar_of(self, body: str | None) -> float:
        """Thickness of a body drawn without a shape, m: that of all bars, or less if its points are near together."""
        return self.bar if body is None else self._bars[body]

    @cached_property
    def _bars(self) -> Mapping[str, float]:
        """A body is at most a seventh as thick as its centre of mass and the points of its joints are apart."""
        found = {}
        for body in self.system.bodies:
            ports = [port.point for port in self._ports_by_body.get(body.name, [])]
            apart = float(np.linalg.norm(np.ptp([self.center_of_mass(body), *ports], axis=0)))
            found[body.name] = min(self.bar, 0.14 * apart) if apart > 1e-3 * self.bar else self.bar
        return found

    def fineness(self, element: str) -> float:
        """How thin the bars of an element are, or of the bodies that it holds, as a share of those usual here."""
        ports = self.ports.get(element)
        bodies = [element] if ports is None else [port.body for port in ports if port.body is not None]
        return min((self.bar_of(body) for body in bodies if body in self._bars), default=self.bar) / self.bar

    @cached_property
    def layers(self) -> Mapping[str, float]:
        """Heights over the plane at which the bodies of a planar system are drawn, m: bodies that meet have others.

        At most a bar apart in all, so that the pins and supports of the spatial glyphs reach over them.
        """
        if not self.planar:
            return {}
        chosen: dict[str, int] = {}
        for body in self.system.bodies:
            near = {p.body for pair in self.ports.values() if body.name in {q.body for q in pair} for p in pair}
            taken = {chosen[name] for name in near if name is not None and name in chosen}
            chosen[body.name] = next(k for k in range(len(taken) + 1) if k not in taken)
        top = max([1, *chosen.values()])
        bar = max(self._bars.values(), default=self.bar)
        return {name: (k / top - 0.5) * bar for name, k in chosen.items()}

    @cached_property
    def back(self) -> float:
        """Height over the plane behind which there is no body of a planar system, but for thick ones, m (negative)."""
        thickest = max((self.thickness(body.name) for body in self.system.bodies), default=self.bar)
        return min(self.layers.values(), default=0.0) - 0.5 * thickest

    def thickness(self, body: str | None) -> float:
        """How thick a body is where something is attached, bounded so that glyphs stay in proportion, m."""
        if body is None:
            return 0.0
        shapes = self.system[body].shapes
        bar = self.bar_of(body)
        sizes = [_thin(shape) for shape in shapes if _thin(shape) > 0.0]
        return float(np.clip(min(sizes, default=bar), 0.4 * bar, 2.0 * bar)) if shapes else bar

    def span(self, body: str | None) -> float:
        """Diagonal of the box around a body's shapes, m; 0 if it has none."""
        corners = list(shape_corners(self.system[body])) if body is not None else []
        return float(np.linalg.norm(np.ptp(corners, axis=0))) if corners else 0.0

    def joint_size(self, element: Connection) -> float:
        """Half the thickness of the thickest body that an element holds, m: the radius of its pin or ball."""
        bodies = [port.body for port in self.ports[element.name] if port.body is not None]
        least = 0.7 * min(map(self.bar_of, bodies), default=self.bar)
        return 0.5 * max([*map(self.thickness, bodies), least])

    def cover(self, element: Connection) -> float:
        """How far along its z axis the bodies that an element holds reach over its point, m: a pin shows beyond.

        Counted are their shapes through which the axis goes, and in the plane the layers of the bodies.
        """
        found = [0.0]
        for port in self.ports[element.name]:
            if port.body is None:
                continue
            layer = abs(self.layers.get(port.body, 0.0))
            if self.planar:
                found.append(layer + 0.5 * self.thickness(port.body))
            found += [layer + _reach_along(shape, port) for shape in self.system[port.body].shapes]
        return min(max(found), 0.1 * self.extent)

    def reach(self, i: Port, j: Port, axis: int = 2) -> tuple[float, float]:
        """The lowest and highest displacement of the second port along an axis of the first, by default z, m."""
        poses = self.motion or self.described
        _, rotation = poses.of(i.body)
        along = rotation @ i.axes[:, axis]
        shift = np.sum(along * (poses.point(j.body, j.point) - poses.point(i.body, i.point)), axis=-1)
        return float(np.min(shift)), float(np.max(shift))


def shape_corners(body: Any) -> Iterator[Array]:
    """Corners of the boxes around a body's shapes, in body axes; meshes count with their position only."""
    for shape in body.shapes:
        half = _half_size(shape)
        shift = np.array([0.0, 0.0, half[2]]) if type(shape).__name__ in ("Cone", "Arrow") else np.zeros(3)
        for sign in np.ndindex(2, 2, 2):
            corner = shift + half * (2.0 * np.array(sign) - 1.0)
            yield point3(shape.position) + rotation3(shape.rotation) @ corner


def _half_size(shape: Shape) -> Array:
    if isinstance(shape, Box):
        return np.array(shape.size) / 2.0
    radius, length = getattr(shape, "radius", 0.0), getattr(shape, "length", 0.0)
    if isinstance(shape, Sphere):
        return np.full(3, radius)
    return np.array([radius, radius, length / 2.0])


def _reach_along(shape: Shape, port: Port) -> float:
    """How far a shape reaches over a port along its z axis, m; 0 if the axis does not go through it."""
    turn = rotation3(shape.rotation)
    at, axis, half = turn.T @ (port.point - point3(shape.position)), turn.T @ port.axes[:, 2], _half_size(shape)
    main = int(np.argmax(np.abs(axis)))
    across = [k for k in range(3) if k != main]
    if abs(axis[main]) < 0.9 or np.any(np.abs(at[across]) > half[across]) or not half.all():
        return 0.0
    return float(abs(at[main]) + half[main])


def _thin(shape: Shape) -> float:
    """The smallest dimension of a shape; 0 if it is not known."""
    if isinstance(shape, Box):
        return min(shape.size)
    if isinstance(shape, Cylinder):
        return min(2.0 * shape.radius, shape.length)
    return 2.0 * getattr(shape, "radius", 0.0)


def unit_vector(value: ArrayLike, otherwise: ArrayLike) -> Array:
    """A vector of length one along `value`, or `otherwise` if that has no direction."""
    v = np.asarray(value, float)
    size = float(np.linalg.norm(v))
    return v / size if size > 1e-12 else np.asarray(otherwise, float)


def distinct(points: list[Array], tolerance: float) -> list[Array]:
    """Points that are further apart than a tolerance."""
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > tolerance for other in kept):
            kept.append(point)
    return kept


def box_of_inertia(body: Any) -> tuple[Array, Array]:
    """Edges and axes of the homogeneous box with the inertia of a body: a_x^2 = 6 (I_y + I_z - I_x) / m."""
    mass, _, inertia = body.mass_properties()
    moments, axes = np.linalg.eigh(np.asarray(inertia, float))
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    return np.sqrt(np.maximum(squares, 0.0)), axes


def swept(parts: Sequence[Part], *motions: Poses) -> Array:
    """Outermost points (n, 3) of all parts at all poses: what has to be in the picture."""
    points = []
    for part in parts:
        local = outermost(part.surface.vertices).T
        for poses in motions:
            matrix = part.transform(poses).matrix
            points.append(np.moveaxis(matrix[..., :3, :3] @ local + matrix[..., :3, 3:], -1, -2).reshape(-1, 3))
    return np.concatenate(points) if points else np.array([[-0.5, -0.5, -0.5], [0.5, 0.5, 0.5]])


def outermost(vertices: NDArray[np.float32]) -> Array:
    """The vertices that lie farthest out in 26 directions: what a camera has to bring into view."""
    return np.asarray(vertices, float)[np.unique(np.argmax(vertices @ _DIRECTIONS.T, axis=0))]
