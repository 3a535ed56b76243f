"""A pendulum on a cart."""

from __future__ import annotations

import numpy as np

from ..bodies import RigidBody
from ..forces import PointForce
from ..joints import RevoluteJoint, TranslationalJoint
from ..measures import Angle, Displacement
from ..shapes import Box, Cylinder
from ..system import System

CART_MASS, POLE_MASS, POLE_LENGTH = 2.0, 0.5, 1.2  # kg, kg, m


def cart_pendulum(inverted: bool = True) -> System:
    """A slender pole hinged on a cart that slides along x; `inverted` stands it on the hinge.

    The force `push` on the cart (zero as described) serves as an input, the measures `position` (of the cart, m) and
    `angle` (of the pole about -y, rad, positive towards +x when inverted) as outputs.
    """
    system = System("inverted pendulum on a cart" if inverted else "pendulum on a cart")
    up = 1.0 if inverted else -1.0
    cart = system.add(
        RigidBody("cart", mass=CART_MASS, inertia=(0.02, 0.05, 0.05), shapes=[Box(size=(0.4, 0.2, 0.15))])
    )
    across = POLE_MASS * POLE_LENGTH**2 / 12.0
    pole = system.add(
        RigidBody(
            "pole",
            mass=POLE_MASS,
            inertia=(across, across, 1e-4),
            position=(0.0, 0.0, up * 0.5 * POLE_LENGTH),
            shapes=[Cylinder(radius=0.02, length=POLE_LENGTH)],
        )
    )
    system.add(TranslationalJoint("rail", system.ground, cart, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add(RevoluteJoint("hinge", cart, pole, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(PointForce("push", cart, at=(0.0, 0.0, 0.0), force=(0.0, 0.0, 0.0)))
    at = np.zeros(3)
    system.add(Displacement("position", system.ground, cart, at_i=at, at_j=at, axis=(1.0, 0.0, 0.0)))
    system.add(Angle("angle", cart, pole, at_i=at, at_j=at, axis=(0.0, 1.0, 0.0)))
    return system
