"""Two bars on a cart, one above the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import PlanarBody
from ..forces import SpringDamper
from ..joints import RevoluteJoint, TranslationalJoint
from ..shapes import Box
from ..system import System

# [PappalardoGuida2018a], Table 3: mass in kg, moment of inertia in kg m^2; cart, bar of 4 m, bar of 6 m
CART: dict[str, Any] = {"mass": 5.0, "inertia": 0.833}
LOWER: dict[str, Any] = {"mass": 3.0, "inertia": 4.040}
UPPER: dict[str, Any] = {"mass": 1.0, "inertia": 3.013}
LOWER_LENGTH, UPPER_LENGTH, WIDTH = 4.0, 6.0, 0.4
# Table 5: N/m, N s/m, m
SPRING: dict[str, Any] = {"stiffness": 400.0, "damping": 30.0, "free_length": 1.0}


def double_inverted_pendulum() -> System:
    """The double inverted pendulum of [PappalardoGuida2018a], Tables 3, 5 and 8, from rest under gravity and a spring.

    The cart slides along x. The lower bar lies level from A on the cart to B, the upper one stands on it from B to C.
    The spring of the paper is between B and C; as they are the ends of one rigid bar it could do nothing there. The
    figure that shows its true place is lost; here it joins B with that point of the ground at which C is at first, so
    that it lifts the lower bar.
    """
    system = System("double inverted pendulum", dimension=2)
    a, b = (0.0, 0.0), (LOWER_LENGTH, 0.0)
    c = (LOWER_LENGTH, UPPER_LENGTH)
    cart = system.add(PlanarBody("cart", **CART, position=a, shapes=[Box(size=(1.0, 1.0, 1.0))]))
    lower = system.add(
        PlanarBody(
            "lower bar", **LOWER, position=(LOWER_LENGTH / 2.0, 0.0), shapes=[Box(size=(LOWER_LENGTH, WIDTH, WIDTH))]
        )
    )
    upper = system.add(
        PlanarBody(
            "upper bar",
            **UPPER,
            position=(LOWER_LENGTH, UPPER_LENGTH / 2.0),
            angle=np.pi / 2,
            shapes=[Box(size=(UPPER_LENGTH, WIDTH, WIDTH))],
        )
    )
    system.add(TranslationalJoint("G1", system.ground, cart, at=a, axis=(1.0, 0.0)))
    system.add(RevoluteJoint("A", cart, lower, at=a))
    system.add(RevoluteJoint("B", lower, upper, at=b))
    system.add(SpringDamper("spring", system.ground, lower, at_i=c, at_j=b, **SPRING))
    return system
