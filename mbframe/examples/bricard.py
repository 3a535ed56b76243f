"""The rectangular Bricard mechanism."""

from __future__ import annotations

import numpy as np

from ..bodies import Body, RigidBody
from ..joints import RevoluteJoint
from ..shapes import Box
from ..system import System

MASS, LENGTH, WIDTH = 1.0, 1.0, 0.1  # kg, m: rods of square section
# Corners of the ring of six links, along the edges of a cube, and the axes of the hinges there: each is perpendicular
# to both links that meet. The sixth link, from the last corner back to the first, is the ground.
CORNERS = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
AXES = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]


def bricard() -> System:
    """A ring of five rods and the ground with six hinges, released from rest; [Gonzalez2006], problem A04.

    Six velocities of each of five rods and five equations of each of six hinges would leave nothing free. But the axes
    at both ends of every link are at right angles, and the links have one length: one freedom is left, and one of the
    30 equations follows from the others. With a and b the angles, in turn, by which each link is turned against the one
    before it, the ring closes for (1 + cos a) (1 + cos b) = 1; see [ChenYouTarnai2005].

    The benchmark gives rods of 1 m and 1 kg with a square section of 0.1 m, gravity along -y, and the start along the
    edges of a cube (in a figure; corner P3, here `rod 3` at its local point (0.5, 0, 0), is the one that it plots). The
    inertia is that of homogeneous boxes; rods are named in order from the first corner.
    """
    system = System("Bricard mechanism", gravity=(0.0, -9.81, 0.0))
    last = add_rods(system)
    system.add(RevoluteJoint("hinge 6", last, system.ground, at=CORNERS[5], axis=AXES[5]))
    return system


def add_rods(system: System) -> Body:
    """Add the five rods with the hinges at their first ends, and return the last rod."""
    previous: Body = system.ground
    along_axis, across_axis = MASS * WIDTH**2 / 6.0, MASS * (LENGTH**2 + WIDTH**2) / 12.0
    for k in range(5):
        start, end = LENGTH * np.array(CORNERS[k], float), LENGTH * np.array(CORNERS[k + 1], float)
        along, across = (end - start) / LENGTH, np.array(AXES[k], float)
        rod = system.add(
            RigidBody(
                f"rod {k + 1}",
                mass=MASS,
                inertia=(along_axis, across_axis, across_axis),
                position=(start + end) / 2.0,
                rotation=np.column_stack([along, across, np.cross(along, across)]),
                shapes=[Box(size=(LENGTH, WIDTH, WIDTH))],
            )
        )
        system.add(RevoluteJoint(f"hinge {k + 1}", previous, rod, at=start, axis=AXES[k]))
        previous = rod
    return previous
