"""A four-bar linkage."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import PlanarBody
from ..forces import SpringDamper
from ..joints import RevoluteJoint
from ..shapes import Box
from ..system import System

# [PappalardoGuida2018a], Table 1: mass in kg, moment of inertia in kg m^2; it is that of a bar of 4 m by 0.4 m
MASS, INERTIA = 3.0, 4.040
LENGTH, WIDTH = 4.0, 0.4
# Table 5: N/m, N s/m, m
SPRING: dict[str, Any] = {"stiffness": 200.0, "damping": 15.0, "free_length": 4.0}


def four_bar() -> System:
    """The four-bar linkage of [PappalardoGuida2018a], Tables 1, 5 and 6, from rest under gravity.

    Table 6 is a parallelogram: its bars are 4 m long, the first slopes down by 45 degrees, the second is level, and the
    third leads back up to D = (4, 0). The spring of the paper is between B and C, which are the ends of one rigid bar:
    it could do nothing. The figure that shows its true place is lost; here it joins B with D on the ground.
    """
    system = System("four-bar linkage", dimension=2)
    a, d = np.zeros(2), np.array([LENGTH, 0.0])
    b = a + LENGTH * np.array([np.sqrt(0.5), -np.sqrt(0.5)])
    c = b + d
    bars = [
        system.add(
            PlanarBody(
                f"bar {k}",
                mass=MASS,
                inertia=INERTIA,
                position=(start + end) / 2.0,
                angle=angle,
                shapes=[Box(size=(LENGTH, WIDTH, WIDTH))],
            )
        )
        for k, (start, end, angle) in enumerate([(a, b, -np.pi / 4), (b, c, 0.0), (c, d, 3 * np.pi / 4)], 1)
    ]
    ends = [system.ground, *bars, system.ground]
    for name, at, first, second in zip("ABCD", (a, b, c, d), ends, ends[1:], strict=False):
        system.add(RevoluteJoint(name, first, second, at=at))
    system.add(SpringDamper("spring", system.ground, bars[0], at_i=d, at_j=b, **SPRING))
    return system
