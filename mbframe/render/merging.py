"""Parts that move together drawn as one: what a picture costs is mostly the number of its actors, not of triangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .parts import Part
from .placement import Anchor, Fixed, Poses
from .style import STEEL, Color
from .surfaces import joined


@dataclass(frozen=True)
class Piece:
    """A part within a merged one: its element, colour, vertices and triangles."""

    element: str
    color: Color
    vertices: slice
    faces: slice


@dataclass(frozen=True)
class MergedPart(Part):
    """Solid parts of one body as a single surface in body axes, with a colour at each vertex."""

    pieces: tuple[Piece, ...] = ()

    def colors(self) -> NDArray[np.uint8]:
        """Red, green and blue (n, 3) of the vertices."""
        found = np.empty((len(self.surface.vertices), 3), np.uint8)
        for piece in self.pieces:
            found[piece.vertices] = np.round(255.0 * np.array(piece.color))
        return found

    def element_at(self, face: int) -> str | None:
        """The element that a triangle belongs to."""
        return next((p.element for p in self.pieces if p.faces.start <= face < p.faces.stop), None)


def merged(parts: Sequence[Part]) -> list[Part]:
    """The parts with those of each body that move with it as one; the others stay as they are."""
    together: dict[tuple[str | None, bool], list[Part]] = {}
    alone: list[Part] = []
    for part in parts:
        fixed = isinstance(part.placement, Fixed) and part.placement.turns
        if fixed and part.opacity >= 1.0 and part.deformed is None:
            together.setdefault((part.body, part.role == "road"), []).append(part)
        else:
            alone.append(part)
    return [_one(members) if len(members) > 1 else members[0] for members in together.values()] + alone


def _one(parts: Sequence[Part]) -> MergedPart:
    body = parts[0].body
    at_origin = Poses({body: (np.zeros(3), np.eye(3))})
    surfaces, pieces = [], []
    vertices = faces = 0
    for part in parts:
        place = part.transform(at_origin)
        surfaces.append(part.surface.moved(place.translation, place.rotation))
        n, m = len(part.surface.vertices), len(part.surface.faces)
        pieces.append(Piece(part.element, part.color, slice(vertices, vertices + n), slice(faces, faces + m)))
        vertices, faces = vertices + n, faces + m
    placement = Fixed(Anchor(body, np.zeros(3)))
    name = " + ".join(part.name for part in parts[:2]) + (" …" if len(parts) > 2 else "")
    return MergedPart(name, "", joined(surfaces), placement, STEEL, role=parts[0].role, pieces=tuple(pieces))
