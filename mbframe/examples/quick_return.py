"""A quick return mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import PlanarBody
from ..forces import SpringDamper
from ..joints import RevoluteJoint, TranslationalJoint
from ..shapes import Box
from ..system import System

# [PappalardoGuida2018a], Table 4: mass in kg, moment of inertia in kg m^2
CRANK: dict[str, Any] = {"mass": 5.0, "inertia": 1.733}
BLOCK: dict[str, Any] = {"mass": 10.0, "inertia": 1.067}
ROCKER: dict[str, Any] = {"mass": 6.0, "inertia": 18.080}
ROD: dict[str, Any] = {"mass": 2.0, "inertia": 0.693}
SLIDER: dict[str, Any] = {"mass": 1.0, "inertia": 0.107}
# Lengths of the bars that have these moments of inertia, m
CRANK_LENGTH, ROCKER_LENGTH, ROD_LENGTH, WIDTH = 2.0, 6.0, 2.0, 0.4
# Table 9: crank at 60, rocker at 75 degrees, the block 1 m above the rocker's centre, the rod at 135 degrees
CRANK_ANGLE, ROCKER_ANGLE, ROD_ANGLE = np.pi / 3, np.radians(75.0), np.radians(135.0)
BLOCK_HEIGHT = 1.0
# Table 5: N/m, N s/m, m
SPRING: dict[str, Any] = {"stiffness": 100.0, "damping": 5.0, "free_length": 0.1}
# The figure that shows F is lost. Chosen: a point of the ground beside the rocker's upper end, out of its reach.
SPRING_POINT = (-4.0, 4.0)


def quick_return() -> System:
    """The quick return mechanism of [PappalardoGuida2018a], Tables 4, 5 and 9, from rest under gravity and a spring.

    The crank turns about A and carries at B the block, in which the rocker slides; the rocker turns about C on the
    ground, and its upper end D pulls the slider at E along x by a rod. C is taken to be the rocker's lower end, as all
    bars are joined at their ends. In the paper block and rocker have their axes downwards; here they point up. The
    spring is between D and F, see `SPRING_POINT`.
    """

    def along(angle: float) -> np.ndarray:
        return np.array([np.cos(angle), np.sin(angle)])

    system = System("quick return mechanism", dimension=2)
    a, b = np.zeros(2), CRANK_LENGTH * along(CRANK_ANGLE)
    centre = b - BLOCK_HEIGHT * along(ROCKER_ANGLE)
    c, d = centre - ROCKER_LENGTH / 2.0 * along(ROCKER_ANGLE), centre + ROCKER_LENGTH / 2.0 * along(ROCKER_ANGLE)
    e = d + ROD_LENGTH * along(ROD_ANGLE)

    def bar(name: str, values: dict[str, Any], start: np.ndarray, end: np.ndarray, angle: float) -> PlanarBody:
        size = (float(np.linalg.norm(end - start)), WIDTH, WIDTH)
        place: dict[str, Any] = {"position": (start + end) / 2.0, "angle": angle}
        return system.add(PlanarBody(name, **values, **place, shapes=[Box(size=size)]))

    crank = bar("crank", CRANK, a, b, CRANK_ANGLE)
    block = system.add(PlanarBody("block", **BLOCK, position=b, angle=ROCKER_ANGLE, shapes=[Box(size=(0.8, 0.8, 0.8))]))
    rocker = bar("rocker", ROCKER, c, d, ROCKER_ANGLE)
    rod = bar("rod", ROD, d, e, ROD_ANGLE)
    slider = system.add(PlanarBody("slider", **SLIDER, position=e, shapes=[Box(size=(0.8, 0.8, 0.8))]))
    system.add(RevoluteJoint("A", system.ground, crank, at=a))
    system.add(RevoluteJoint("B", crank, block, at=b))
    system.add(RevoluteJoint("C", system.ground, rocker, at=c))
    system.add(RevoluteJoint("D", rocker, rod, at=d))
    system.add(RevoluteJoint("E", rod, slider, at=e))
    system.add(TranslationalJoint("G2", rocker, block, at=b, axis=along(ROCKER_ANGLE)))
    system.add(TranslationalJoint("G5", system.ground, slider, at=e, axis=(1.0, 0.0)))
    system.add(SpringDamper("spring", system.ground, rocker, at_i=SPRING_POINT, at_j=d, **SPRING))
    return system
