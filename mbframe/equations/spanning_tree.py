"""Which joints make a tree of the bodies, and the pieces of which their freedoms consist."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..joints.library import (
    CylindricalJoint,
    FixedJoint,
    PlanarJoint,
    RevoluteJoint,
    SphericalJoint,
    TranslationalJoint,
    UniversalJoint,
)
from ..kernels.tree.layout import BALL, FIXED, HINGE, SLIDE
from .tables import Tables

Array = NDArray[np.float64]
Piece = tuple[int, Array]
"""Kind of a node, and its axes in those of the piece before it."""

SAME: Final = np.eye(3)
NEXT: Final = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Axes whose z is the x before: three turns of this kind are none."""

IN_PLANE: Final[list[Piece]] = [(SLIDE, NEXT), (SLIDE, NEXT), (HINGE, NEXT)]
FREE: Final[list[Piece]] = [(SLIDE, NEXT), (SLIDE, NEXT), (SLIDE, NEXT), (BALL, SAME)]
PIECES: Final[dict[type, list[Piece]]] = {
    FixedJoint: [(FIXED, SAME)],
    RevoluteJoint: [(HINGE, SAME)],
    TranslationalJoint: [(SLIDE, SAME)],
    CylindricalJoint: [(SLIDE, SAME), (HINGE, SAME)],
    UniversalJoint: [(HINGE, SAME), (HINGE, NEXT)],
    PlanarJoint: IN_PLANE,
    SphericalJoint: [(BALL, SAME)],
}
"""Joints of which a tree may consist; their equations hold by themselves in its coordinates. All others cut loops."""

SIZES: Final = {HINGE: (1, 1), SLIDE: (1, 1), BALL: (4, 3), FIXED: (0, 0)}
"""Coordinates and velocities of each kind."""


@dataclass(frozen=True)
class Branch:
    """A body on its parent (-1: the ground), by a joint or, without one, free. Markers by number; -1 for none."""

    body: int
    parent: int
    pieces: list[Piece]
    joint: Any = None
    on_parent: int = -1
    on_body: int = -1


def spanning_tree(tables: Tables, refused: Collection[str] = ()) -> list[Branch]:
    """Branches in an order in which parents come first, with the joints that leave the least freedoms.

    Of these the ones nearest to the ground, so that paths are short. A part that no joint of the tree holds to the
    ground has a free body: the heaviest. `refused` are names of joints that must cut loops.
    """
    owner = tables.marker_bodies()
    edges: dict[int, list[tuple[int, Any, int, int, int]]] = defaultdict(list)
    for joint in tables.system.joints:
        if type(joint) not in PIECES or joint.name in refused:
            continue
        i, j = tables.place(joint.i), tables.place(joint.j)
        a, b = owner[i], owner[j]
        if a == b or (tables.planar and type(joint) is SphericalJoint):
            continue
        freedoms = sum(SIZES[kind][1] for kind, _ in PIECES[type(joint)])
        edges[a].append((freedoms, joint, b, i, j))
        edges[b].append((freedoms, joint, a, j, i))
    free = IN_PLANE if tables.planar else FREE
    heaviest = sorted(range(len(tables.bodies)), key=lambda k: -tables.bodies[k].body.mass_properties()[0])
    branches: list[Branch] = []
    depth = {-1: 0}
    heap: list[tuple[int, int, int, int, Any, int, int, int]] = []
    count = 0

    def grow(body: int) -> None:
        nonlocal count
        for freedoms, joint, other, mine, its in edges[body]:
            if other not in depth:
                count += 1
                heapq.heappush(heap, (freedoms, depth[body], count, other, joint, body, mine, its))

    grow(-1)
    while len(branches) < len(tables.bodies):
        if heap:
            _, _, _, body, joint, parent, mine, its = heapq.heappop(heap)
            if body in depth:
                continue
            depth[body] = depth[parent] + 1
            branches.append(Branch(body, parent, PIECES[type(joint)], joint, mine, its))
        else:
            body = next(k for k in heaviest if k not in depth)
            depth[body] = 1
            branches.append(Branch(body, -1, free))
        grow(body)
    return branches
