"""A triple pendulum of three bars joined by spherical joints."""

from __future__ import annotations

import numpy as np

from ..bodies import Body, RigidBody
from ..joints import SphericalJoint
from ..shapes import Box
from ..system import System

HALF_LENGTH, BREADTH, WIDTH = 2.0, 0.2, 0.2
# [PappalardoGuida2018b], Table 1: mass in kg; Ixx, Iyy, Izz in kg m^2, x along the bar
BARS = [(2.0, (0.053, 2.693, 2.693)), (3.0, (0.080, 4.040, 4.040)), (4.0, (0.107, 5.387, 5.387))]
# The figure with the initial configuration is not part of the text at hand: the bars zig-zag along +x, +y, +x, from
# rest.
DIRECTIONS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]


def triple_pendulum() -> System:
    """The triple pendulum of [PappalardoGuida2018b], released from rest: a chaotic motion in space.

    Body `bar 3` carries the tip D at its local point (2, 0, 0).
    """
    system = System("triple pendulum")
    previous: Body = system.ground
    start = np.zeros(3)
    for number, ((mass, inertia), direction, joint) in enumerate(zip(BARS, DIRECTIONS, "ABC", strict=True), 1):
        along = np.array(direction)
        across = np.cross([0.0, 0.0, 1.0], along)
        bar = system.add(
            RigidBody(
                f"bar {number}",
                mass=mass,
                inertia=inertia,
                position=start + HALF_LENGTH * along,
                rotation=np.column_stack([along, across, [0.0, 0.0, 1.0]]),
                shapes=[Box(size=(2 * HALF_LENGTH, BREADTH, WIDTH))],
            )
        )
        system.add(SphericalJoint(joint, previous, bar, at=start))
        previous, start = bar, start + 2 * HALF_LENGTH * along
    return system
