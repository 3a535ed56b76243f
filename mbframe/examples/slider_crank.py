"""A slider-crank mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import PlanarBody
from ..forces import SpringDamper
from ..joints import RevoluteJoint, TranslationalJoint
from ..shapes import Box
from ..system import System

# [PappalardoGuida2018a], Table 2: mass in kg, moment of inertia in kg m^2
CRANK: dict[str, Any] = {"mass": 2.0, "inertia": 2.693}
ROD: dict[str, Any] = {"mass": 3.0, "inertia": 29.896}
SLIDER: dict[str, Any] = {"mass": 4.0, "inertia": 1.667}
# Table 7: the crank is 4 m long and stands at 45 degrees, the rod slopes down by 15 degrees to the slider on the x axis
CRANK_LENGTH, WIDTH = 4.0, 0.4
ROD_LENGTH = CRANK_LENGTH * np.sin(np.pi / 4) / np.sin(np.pi / 12)
# Table 5: N/m, N s/m, m
SPRING: dict[str, Any] = {"stiffness": 300.0, "damping": 40.0, "free_length": 0.0}
# The figure that shows D is lost. Chosen: a point of the ground above the crank's pivot, out of reach of B.
SPRING_POINT = (0.0, 6.0)


def slider_crank() -> System:
    """The slider-crank mechanism of [PappalardoGuida2018a], Tables 2, 5 and 7, from rest under gravity and a spring.

    The spring is between B (crank and rod) and D; where D lies is chosen, see `SPRING_POINT`.
    """
    system = System("slider-crank mechanism", dimension=2)
    b = CRANK_LENGTH * np.array([np.cos(np.pi / 4), np.sin(np.pi / 4)])
    c = b + ROD_LENGTH * np.array([np.cos(np.pi / 12), -np.sin(np.pi / 12)])
    crank = system.add(
        PlanarBody("crank", **CRANK, position=b / 2.0, angle=np.pi / 4, shapes=[Box(size=(CRANK_LENGTH, WIDTH, WIDTH))])
    )
    rod = system.add(
        PlanarBody(
            "rod", **ROD, position=(b + c) / 2.0, angle=-np.pi / 12, shapes=[Box(size=(ROD_LENGTH, WIDTH, WIDTH))]
        )
    )
    slider = system.add(PlanarBody("slider", **SLIDER, position=c, shapes=[Box(size=(2.0, 1.0, 1.0))]))
    system.add(RevoluteJoint("A", system.ground, crank, at=(0.0, 0.0)))
    system.add(RevoluteJoint("B", crank, rod, at=b))
    system.add(RevoluteJoint("C", rod, slider, at=c))
    system.add(TranslationalJoint("G3", system.ground, slider, at=c, axis=(1.0, 0.0)))
    system.add(SpringDamper("spring", system.ground, crank, at_i=SPRING_POINT, at_j=b, **SPRING))
    return system
