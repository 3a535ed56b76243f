"""Triangle surfaces as plain arrays: the solids from which bodies and glyphs are put together.

Every surface carries a normal at each vertex; vertices are doubled where an edge is to look sharp. The long axis of a
solid is z, like that of a shape (`mbframe.shapes`), and its faces wind counterclockwise seen from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import pairwise, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..rotations import frame_with_axis

Array = NDArray[np.float64]

SHARP = np.radians(40.0)  # a profile that bends by more has an edge there
_detail: ContextVar[float] = ContextVar("detail", default=1.0)


@contextmanager
def detail(share: float) -> Iterator[None]:
    """Divide round surfaces into that share of the usual number of sides: for many bodies, or for slow machines."""
    before = _detail.set(share)
    try:
        yield
    finally:
        _detail.reset(before)


def _divisions(usual: int, fewest: int) -> int:
    return max(min(usual, fewest), round(_detail.get() * usual))


def _bevelled(bevel: float) -> float:
    """Edges are broken only where detail is shown."""
    return bevel if _detail.get() > 0.4 else 0.0


def alike(make: Callable[..., Surface]) -> Callable[..., Surface]:
    """A mechanism has many equal pins and balls: they share one surface, for each level of detail."""

    @lru_cache(maxsize=128)
    def kept(level: float, *arguments: float, **named: float) -> Surface:
        return make(*arguments, **named)

    @wraps(make)
    def shared(*arguments: float, **named: float) -> Surface:
        return kept(_detail.get(), *arguments, **named)

    return shared


@dataclass(frozen=True)
class Surface:
    """Vertices (n, 3), unit normals (n, 3), both float32, and triangles (m, 3), int32."""

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    faces: NDArray[np.int32]

    @classmethod
    def of(cls, vertices: ArrayLike, normals: ArrayLike, faces: ArrayLike) -> Surface:
        """A surface from arrays of any type, without the triangles that have no area."""
        points, triangles = np.asarray(vertices, float), np.asarray(faces, int).reshape(-1, 3)
        a, b, c = (points[triangles[:, k]] for k in range(3))
        area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        kept = triangles[area > 1e-12 * max(float(np.max(area, initial=0.0)), 1e-300)]
        return cls(points.astype(np.float32), np.asarray(normals).astype(np.float32), kept.astype(np.int32))

    def moved(self, position: ArrayLike = (0.0, 0.0, 0.0), axes: ArrayLike | None = None) -> Surface:
        """The surface turned by the rotation matrix `axes` and shifted to `position`."""
        a = np.eye(3) if axes is None else np.asarray(axes, float)
        vertices = self.vertices @ a.T + np.asarray(position, float)
        return Surface(vertices.astype(np.float32), (self.normals @ a.T).astype(np.float32), self.faces)

    def along(self, axis: ArrayLike, position: ArrayLike = (0.0, 0.0, 0.0)) -> Surface:
        """The surface with its z axis turned to `axis`."""
        return self.moved(position, frame_with_axis(axis))

    @property
    def bounds(self) -> Array:
        """Lower and upper corner, (2, 3)."""
        return np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)], float)


def joined(surfaces: Sequence[Surface]) -> Surface:
    """All surfaces as one."""
    starts = np.cumsum([0, *(len(s.vertices) for s in surfaces[:-1])])
    return Surface(
        np.concatenate([s.vertices for s in surfaces]),
        np.concatenate([s.normals for s in surfaces]),
        np.concatenate([s.faces + start for s, start in zip(surfaces, starts, strict=True)]).astype(np.int32),
    )


def _smooth_runs(points: Array, closed: bool) -> list[tuple[Array, Array]]:
    """A polyline in the plane cut at its edges: runs of points with the normals (t_y, -t_x) to their right."""
    ends = np.roll(points, -1, axis=0) if closed else points[1:]
    starts = points if closed else points[:-1]
    along = ends - starts
    keep = np.linalg.norm(along, axis=1) > 1e-12 * max(float(np.abs(points).max()), 1e-300)
    if not keep.any():  # a size that is no number, or that no picture can show: a point without triangles
        return [(np.zeros((2, 2)), np.array([[1.0, 0.0], [1.0, 0.0]]))]
    starts, ends, along = starts[keep], ends[keep], along[keep]
    normals = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    runs: list[tuple[Array, Array]] = []
    count = len(starts)
    bend = [float(np.arccos(np.clip(normals[k] @ normals[(k + 1) % count], -1.0, 1.0))) for k in range(count)]
    smooth = [angle < SHARP and (closed or k + 1 < count) for k, angle in enumerate(bend)]
    first = next((k + 1 for k in range(count) if not smooth[k]), 0) % count
    run: list[int] = []
    for k in [(first + k) % count for k in range(count)]:
        run.append(k)
        if not smooth[k] or len(run) == count:
            own = [normals[run[0]], *(normals[a] + normals[b] for a, b in pairwise(run))]
            own.append(normals[run[-1]])
            if smooth[k]:  # the whole outline is one smooth run: it closes on itself
                own[0] = own[-1] = normals[run[0]] + normals[run[-1]]
            stacked = np.array(own)
            stacked /= np.linalg.norm(stacked, axis=1)[:, None]
            runs.append((np.vstack([starts[run], ends[run[-1]]]), stacked))
            run = []
    return runs


def _strip(rows: int, columns: int) -> NDArray[np.int64]:
    """Triangles of a grid of vertices, row by row."""
    r, c = np.meshgrid(np.arange(rows - 1), np.arange(columns - 1), indexing="ij")
    corner = (r * columns + c).ravel()
    right, above = corner + 1, corner + columns
    return np.concatenate([np.column_stack([corner, right, above + 1]), np.column_stack([corner, above + 1, above])])


def revolved(profile: ArrayLike, sides: int = 40) -> Surface:
    """The surface that a profile of points (radius, z) makes about z; outside is to the right of its direction."""
    sides = _divisions(sides, fewest=10)
    turn = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    cos, sin = np.cos(turn), np.sin(turn)
    pieces = []
    for points, normals in _smooth_runs(np.asarray(profile, float), closed=False):
        r, z = points[:, :1], points[:, 1:]
        vertices = np.stack([r * cos, r * sin, np.broadcast_to(z, (len(points), sides + 1))], axis=-1)
        outward = np.stack(
            [
                normals[:, :1] * cos,
                normals[:, :1] * sin,
                np.broadcast_to(normals[:, 1:], (len(points), sides + 1)),
            ],
            axis=-1,
        )
        pieces.append(Surface.of(vertices.reshape(-1, 3), outward.reshape(-1, 3), _strip(len(points), sides + 1)))
    return joined(pieces)


@alike
def cylinder(radius: float, length: float, bevel: float = 0.0, sides: int = 40) -> Surface:
    """A cylinder about z, centred at the origin."""
    h, b = length / 2.0, min(_bevelled(bevel), 0.45 * radius, 0.45 * length)
    return revolved([(0, -h), (radius - b, -h), (radius, -h + b), (radius, h - b), (radius - b, h), (0, h)], sides)


@alike
def tube(outer: float, inner: float, length: float, bevel: float = 0.0, sides: int = 40) -> Surface:
    """A hollow cylinder about z, centred at the origin."""
    h, b = length / 2.0, min(_bevelled(bevel), 0.3 * (outer - inner), 0.3 * length)
    outside = [(inner, -h), (outer - b, -h), (outer, -h + b), (outer, h - b), (outer - b, h), (inner, h)]
    return revolved([*outside, (inner, -h)], sides)


@alike
def cone(radius: float, length: float, sides: int = 40) -> Surface:
    """A cone with its base at the origin and its tip on z."""
    return revolved([(0, 0), (radius, 0), (0, length)], sides)


def arc(radius: float, start: float, end: float, center: tuple[float, float] = (0.0, 0.0), steps: int = 20) -> Array:
    """Points of a circle (x, y) from an angle to another, for profiles and outlines."""
    steps = _divisions(steps, fewest=int(np.ceil(abs(end - start) / (0.8 * SHARP))))
    angle = np.linspace(start, end, steps + 1)
    return np.column_stack([center[0] + radius * np.cos(angle), center[1] + radius * np.sin(angle)])


@alike
def sphere(radius: float, sides: int = 40) -> Surface:
    """A sphere about the origin."""
    return revolved(arc(radius, -np.pi / 2.0, np.pi / 2.0, steps=sides // 2), sides)


@alike
def bowl(radius: float, thickness: float, sides: int = 40) -> Surface:
    """The lower half of a spherical shell, open towards z."""
    inner = arc(radius, 0.0, -np.pi / 2.0, steps=sides // 4)
    outer = arc(radius + thickness, -np.pi / 2.0, 0.0, steps=sides // 4)
    return revolved(np.vstack([outer, inner]), sides)


@alike
def torus(radius: float, section: float, sides: int = 48) -> Surface:
    """A ring about z with a round section."""
    return revolved(arc(section, -np.pi, np.pi, center=(radius, 0.0), steps=20), sides)


@alike
def arrow(length: float, radius: float, head: float | None = None) -> Surface:
    """An arrow from the origin along z; `head` is the length of its head."""
    tip = min(6.0 * radius if head is None else head, 0.6 * length)
    wide = 0.42 * tip
    return revolved([(0, 0), (radius, 0), (radius, length - tip), (wide, length - tip), (0, length)], 24)


def box(size: Sequence[float] | Array, bevel: float = 0.0) -> Surface:
    """A box about the origin. Its edges are rounded by interpolating the normals of the faces over a bevel."""
    half = np.asarray(size, float) / 2.0
    b = min(bevel, 0.4 * float(half.min()))
    signs = np.array(list(product((-1.0, 1.0), repeat=3)))
    vertices = np.concatenate([signs * (half - b * (1.0 - np.eye(3)[k])) for k in range(3)])
    normals = np.concatenate([signs * np.eye(3)[k] for k in range(3)])

    def at(corner: Sequence[int], face: int) -> int:
        return 8 * face + 4 * corner[0] + 2 * corner[1] + corner[2]

    quads, triangles = [], []
    for k in range(3):
        u, v = (k + 1) % 3, (k + 2) % 3
        for side in (0, 1):
            corners = []
            for a, c in ((0, 0), (1, 0), (1, 1), (0, 1)):
                corner = [0, 0, 0]
                corner[k], corner[u], corner[v] = side, a, c
                corners.append(at(corner, k))
            quads.append(corners if side else corners[::-1])
        for a, c in product((0, 1), repeat=2):  # the edge along k
            low, high = [0, 0, 0], [0, 0, 0]
            low[u] = high[u] = a
            low[v] = high[v] = c
            high[k] = 1
            quad = [at(low, u), at(high, u), at(high, v), at(low, v)]
            quads.append(quad[::-1] if a == c else quad)
    for outer in product((0, 1), repeat=3):
        triangle = [at(outer, k) for k in range(3)]
        triangles.append(triangle if sum(outer) % 2 else triangle[::-1])
    faces = [[q[0], q[1], q[2]] for q in quads] + [[q[0], q[2], q[3]] for q in quads] + triangles
    return Surface.of(vertices, normals, faces)


def extruded(outline: ArrayLike, height: float, bevel: float = 0.0) -> Surface:
    """A prism about the plane z = 0. The outline (n, 2) runs counterclockwise and is seen whole from its middle."""
    points = np.asarray(outline, float)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
    h, b = height / 2.0, min(_bevelled(bevel), 0.4 * height)
    radius = np.linalg.norm(points - middle, axis=1).min()
    shrink = 1.0 - min(b / max(radius, 1e-300), 0.5)
    inner = middle + shrink * (points - middle)
    pieces = []
    for z, up in ((h, 1.0), (-h, -1.0)):
        vertices = np.column_stack([np.vstack([middle, inner]), np.full(len(inner) + 1, z)])
        around = np.arange(1, len(inner) + 1)
        fan = np.column_stack([np.zeros_like(around), around, np.roll(around, -1)])
        normals = np.tile([0.0, 0.0, up], (len(vertices), 1))
        pieces.append(Surface.of(vertices, normals, fan if up > 0 else fan[:, ::-1]))
    slant = np.sqrt(0.5)
    for run, normals in _smooth_runs(points, closed=True):
        shrunk = middle + shrink * (run - middle)
        rings = [(run, -h + b, normals, 0.0), (run, h - b, normals, 0.0)]
        bevels = [[(shrunk, -h, normals, -1.0), (run, -h + b, normals, -1.0)]]
        bevels.append([(run, h - b, normals, 1.0), (shrunk, h, normals, 1.0)])
        for low, high in [rings, *(bevels if b > 0.0 else [])]:
            vertices = np.vstack([np.column_stack([p, np.full(len(p), z)]) for p, z, _, _ in (low, high)])
            outward = np.vstack(
                [
                    np.column_stack([n * (slant if up else 1.0), np.full(len(n), slant * up)])
                    for _, _, n, up in (low, high)
                ]
            )
            pieces.append(Surface.of(vertices, outward, _strip(2, len(run))))
    return joined(pieces)


def swept(path: ArrayLike, radius: float, sides: int = 12) -> Surface:
    """A round wire along a polyline (n, 3), with flat ends."""
    points, sides = np.asarray(path, float), _divisions(sides, fewest=5)
    tangent = np.gradient(points, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    across = np.empty_like(points)
    across[0] = frame_with_axis(tangent[0])[:, 0]
    for k in range(1, len(points)):  # carried along without twist
        across[k] = across[k - 1] - (across[k - 1] @ tangent[k]) * tangent[k]
        across[k] /= np.linalg.norm(across[k])
    third = np.cross(tangent, across)
    turn = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    normals = across[:, None] * np.cos(turn)[None, :, None] + third[:, None] * np.sin(turn)[None, :, None]
    vertices = points[:, None] + radius * normals
    pieces = [Surface.of(vertices.reshape(-1, 3), normals.reshape(-1, 3), _strip(len(points), sides + 1))]
    for k, sign in ((0, -1.0), (-1, 1.0)):
        ring = np.vstack([points[k], vertices[k, :-1]])
        around = np.arange(1, sides + 1)
        fan = np.column_stack([np.zeros_like(around), around, np.roll(around, -1)])
        pieces.append(Surface.of(ring, np.tile(sign * tangent[k], (sides + 1, 1)), fan if sign > 0 else fan[:, ::-1]))
    return joined(pieces)


def coil(radius: float, wire: float, turns: int, length: float = 1.0, straight: float = 0.12) -> Surface:
    """A helical spring from the origin along z, with a straight piece at both ends (a share of its length)."""
    turn = np.linspace(0.0, 2.0 * np.pi * turns, _divisions(20, fewest=10) * turns + 1)
    share = turn / turn[-1]
    z = straight + (1.0 - 2.0 * straight) * share
    swell = radius * np.minimum(1.0, np.minimum(share, 1.0 - share) * turns * 2.0)
    helix = np.column_stack([swell * np.cos(turn), swell * np.sin(turn), z * length])
    return swept(np.vstack([[0.0, 0.0, 0.0], helix, [0.0, 0.0, length]]), wire, sides=10)


def rounded_hull(points: ArrayLike, radius: float) -> Array:
    """Outline of all points within `radius` of the convex hull of points (n, 2), counterclockwise."""
    hull = convex_hull(np.asarray(points, float))
    if len(hull) == 1:
        return arc(radius, 0.0, 2.0 * np.pi, tuple(hull[0]), steps=32)[:-1]
    edges = np.roll(hull, -1, axis=0) - hull
    heading = np.arctan2(-edges[:, 0], edges[:, 1])  # of the outward normal
    outline = []
    for k in range(len(hull)):
        before, after = heading[k - 1], heading[k]
        bend = (after - before) % (2.0 * np.pi)
        outline.append(arc(radius, before, before + bend, tuple(hull[k]), steps=max(3, int(bend / 0.2))))
    return np.vstack(outline)


def convex_hull(points: Array) -> Array:
    """Corners of the convex hull of points in the plane, counterclockwise (Andrew's monotone chain)."""
    ordered = [np.array(p) for p in sorted({(float(x), float(y)) for x, y in points})]
    if len(ordered) < 3:
        return np.array(ordered)

    def half(chain: list[Array]) -> list[Array]:
        kept: list[Array] = []
        for p in chain:
            while len(kept) > 1:
                (ax, ay), (bx, by) = kept[-1] - kept[-2], p - kept[-2]
                if ax * by - ay * bx > 1e-9 * (abs(ax * by) + abs(ay * bx)):
                    break
                kept.pop()
            kept.append(p)
        return kept

    lower, upper = half(ordered), half(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])
