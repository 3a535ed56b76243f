"""The planar four-bar mechanism on which constraint methods are compared."""

from __future__ import annotations

import numpy as np

from ..bodies import PlanarBody
from ..joints import RevoluteJoint
from ..shapes import Box
from ..system import System

# [MarquesSoutoFlores2017], Table 1: lengths in m, masses in kg, moments of inertia in kg m^2
GROUND = 2.5
CRANK, COUPLER, FOLLOWER = 2.0, 4.0, 4.0
MASSES = {"crank": 1.00, "coupler": 2.25, "follower": 2.20}
INERTIAS = {"crank": 0.30, "coupler": 2.00, "follower": 1.35}
CRANK_ANGLE = np.pi / 3
WIDTH = 0.1


def four_bar_marques() -> System:
    """Crank, coupler and follower of [MarquesSoutoFlores2017], Table 1, from rest under gravity.

    Lengths and the crank's angle of 60 degrees determine the rest of the table. The coupler's angle is printed as
    0.4332 rad, which does not close the loop; 0.4233 does, and agrees with the tabulated centres.
    """
    a, d = np.zeros(2), np.array([GROUND, 0.0])
    b = CRANK * np.array([np.cos(CRANK_ANGLE), np.sin(CRANK_ANGLE)])
    # C lies above the line from B to D, at the lengths of coupler and follower.
    reach = d - b
    distance = float(np.linalg.norm(reach))
    along = (COUPLER**2 - FOLLOWER**2 + distance**2) / (2.0 * distance)
    height = np.sqrt(COUPLER**2 - along**2)
    c = b + (along * reach + height * np.array([-reach[1], reach[0]])) / distance

    system = System("four-bar mechanism", dimension=2)
    bars = []
    for name, start, end in (("crank", a, b), ("coupler", b, c), ("follower", d, c)):
        x, y = end - start
        bars.append(
            system.add(
                PlanarBody(
                    name,
                    mass=MASSES[name],
                    inertia=INERTIAS[name],
                    position=(start + end) / 2.0,
                    angle=np.arctan2(y, x),
                    shapes=[Box(size=(float(np.hypot(x, y)), WIDTH, WIDTH))],
                )
            )
        )
    crank, coupler, follower = bars
    system.add(RevoluteJoint("A", system.ground, crank, at=a))
    system.add(RevoluteJoint("B", crank, coupler, at=b))
    system.add(RevoluteJoint("C", coupler, follower, at=c))
    system.add(RevoluteJoint("D", system.ground, follower, at=d))
    return system
