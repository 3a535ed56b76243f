"""A block that slides down a rail with friction."""

from __future__ import annotations

import numpy as np

from ..bodies import RigidBody
from ..forces import Friction
from ..joints import TranslationalJoint
from ..shapes import Box
from ..system import System


def sliding_block(slope: float = 0.5, friction: float = 0.3, speed: float = 0.0) -> System:
    """A block on a rail inclined by `slope` (rad) with a coefficient of friction, started with `speed` (m/s) down it.

    It slides with g (sin(slope) - friction cos(slope)).
    """
    down = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    system = System("sliding block")
    block = system.add(
        RigidBody(
            "block",
            mass=1.0,
            inertia=(0.01, 0.01, 0.01),
            rotation=np.column_stack([down, [0.0, 1.0, 0.0], np.cross(down, [0.0, 1.0, 0.0])]),
            velocity=speed * down,
            shapes=[Box(size=(0.3, 0.2, 0.15))],
        )
    )
    rail = system.add(TranslationalJoint("rail", system.ground, block, at=(0.0, 0.0, 0.0), axis=down))
    system.add(Friction("friction", rail, coefficient=friction))
    return system
