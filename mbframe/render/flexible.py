"""How flexible bodies look: tubes along their beams or the surface of their solid, deformed and coloured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bodies.flexible import FlexibleBody
from ..rotations import frame_with_axis
from .parts import Part, Sketch
from .placement import Anchor, Fixed
from .style import Color, rgb
from .surfaces import Surface

Array = NDArray[np.float64]

SIDES = 16
FULL = 0.02  # displacement, relative to the body's extent, at which the last colour is reached
COLORS = np.array([rgb(c) for c in ("#3b6fb6", "#5fb3a8", "#e8c547", "#d0502f")])


@dataclass(frozen=True)
class Skin:
    """Vertices that follow nodes: node number and offset from it, in body axes, of each."""

    surface: Surface
    nodes: NDArray[np.int64]
    offsets: Array


def flexible_parts(body: FlexibleBody, sketch: Sketch, color: Color) -> list[Part]:
    """The body as one part that deforms; none if its component says nothing about how it looks."""
    part = body.modes.component
    if len(part.triangles):
        skin = _solid(part.nodes, part.triangles)
    elif len(part.lines):
        skin = _tubes(part, sketch)
    else:
        return []
    shapes = body.shapes_in_frame
    moves = shapes.translations[skin.nodes]
    turns = shapes.rotations[skin.nodes] if np.any(skin.offsets) and part.freedoms_per_node == 6 else None
    bends = None if body.curves is None else body.curves[skin.nodes]
    rest = np.asarray(skin.surface.vertices, float)

    def displacement(state: Any) -> Array:
        modal = state.motions[body.name].modal_coordinates
        if not len(modal):
            return np.zeros_like(rest)
        shift = moves @ modal
        if bends is not None:
            shift = shift + 0.5 * (bends @ modal) @ modal
        return shift if turns is None else shift + np.cross(turns @ modal, skin.offsets)

    def colors(state: Any) -> Array:
        if (told := sketch.coloring) is not None:
            if body.name in told.values:
                return told.shown(body.name, state.t)[skin.nodes]
            return np.tile(told.plain, (len(rest), 1))
        size = np.linalg.norm(displacement(state), axis=1) / (FULL * part.extent)
        place = np.minimum(np.sqrt(size), 1.0) * (len(COLORS) - 1)  # small deflections show too
        return np.column_stack([np.interp(place, np.arange(len(COLORS)), channel) for channel in COLORS.T])

    return [
        Part(
            f"{body.name}/shape 1",
            body.name,
            skin.surface,
            Fixed(Anchor(body.name, np.zeros(3))),
            color,
            deformed=lambda state: rest + displacement(state),
            colored=colors,
        )
    ]


def _tubes(part: Any, sketch: Sketch) -> Skin:
    """A round tube of the area of its section along each line, at least as thick as can be seen."""
    areas = part.beams.area if part.beams is not None else np.zeros(len(part.lines))
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(SIDES)])
    ends = np.bincount(part.lines.ravel(), minlength=len(part.nodes)) == 1
    vertices, normals, faces, nodes, offsets = [], [], [], [], []
    count = 0

    def add(node: int, offset: Array, normal: Array) -> None:
        nonlocal count
        vertices.append(part.nodes[node] + offset)
        normals.append(normal)
        nodes.append(np.full(len(offset), node))
        offsets.append(offset)
        count += len(offset)

    around = np.arange(SIDES)
    for (a, b), area in zip(part.lines, areas, strict=True):
        axes = frame_with_axis(part.nodes[b] - part.nodes[a])
        radius = float(np.clip(np.sqrt(area / np.pi), 0.25 * sketch.bar, sketch.bar))
        ring = circle @ axes.T
        start = count
        for node in (a, b):
            add(node, radius * ring, ring)
        low, high = start + around, start + SIDES + around
        after_low, after_high = start + (around + 1) % SIDES, start + SIDES + (around + 1) % SIDES
        faces += [np.column_stack([low, after_low, after_high]), np.column_stack([low, after_high, high])]
        for node, side in ((a, -1.0), (b, 1.0)):
            if ends[node]:
                cap = count
                add(node, radius * ring, np.tile(side * axes[:, 2], (SIDES, 1)))
                inner, outer = cap + np.arange(1, SIDES - 1), cap + np.arange(2, SIDES)
                corners = (inner, outer) if side > 0.0 else (outer, inner)
                faces.append(np.column_stack([np.full(SIDES - 2, cap), *corners]))
    surface = Surface.of(np.concatenate(vertices), np.concatenate(normals), np.concatenate(faces))
    return Skin(surface, np.concatenate(nodes), np.concatenate(offsets))


def _solid(nodes: Array, triangles: NDArray[np.int64]) -> Skin:
    """The triangles between nodes, with normals that are means over neighbours."""
    used, faces = np.unique(triangles, return_inverse=True)
    faces = faces.reshape(-1, 3)
    points = nodes[used]
    a, b, c = (points[faces[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    normals = np.zeros_like(points)
    for k in range(3):
        np.add.at(normals, faces[:, k], across)
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    surface = Surface.of(points, normals / np.where(size > 0.0, size, 1.0), faces)
    return Skin(surface, used, np.zeros_like(points))
