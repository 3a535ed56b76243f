"""A block that falls on the ground."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..bodies import RigidBody
from ..forces import PointPlaneContact
from ..shapes import Box
from ..system import System

SIZE = np.array([0.4, 0.3, 0.2])
MASS = 2.0


def bouncing_block(restitution: float = 0.6, friction: float = 0.3) -> System:
    """A block dropped with a tilt: its corners hit the ground one after the other, and it comes to rest bouncing."""
    tilt = 0.3
    rotation = np.array([[np.cos(tilt), 0.0, np.sin(tilt)], [0.0, 1.0, 0.0], [-np.sin(tilt), 0.0, np.cos(tilt)]])
    position = np.array([0.0, 0.0, 0.5])
    x, y, z = SIZE**2
    system = System("bouncing block")
    block = system.add(
        RigidBody(
            "block",
            mass=MASS,
            inertia=(MASS * (y + z) / 12, MASS * (x + z) / 12, MASS * (x + y) / 12),
            position=position,
            rotation=rotation,
            velocity=(0.5, 0.0, 0.0),
            shapes=[Box(size=tuple(SIZE))],
        )
    )
    for number, corner in enumerate(product((-0.5, 0.5), repeat=3), 1):
        point = position + rotation @ (SIZE * corner)
        system.add(
            PointPlaneContact(
                f"corner {number}",
                system.ground,
                block,
                at=point,
                stiffness=1e6,
                restitution=restitution,
                friction=friction,
            )
        )
    return system
