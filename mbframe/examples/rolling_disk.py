"""A thin disk that rolls on the ground."""

from __future__ import annotations

import numpy as np

from ..bodies import RigidBody
from ..joints import RollingDisk
from ..shapes import Box, Cylinder
from ..system import System

MASS, RADIUS = 1.0, 0.5


def rolling_disk(speed: float = 3.0, lean: float = 0.2) -> System:
    """A thin disk started with `speed` (m/s) along x, leaning by `lean` (rad): it rolls without slip in a curve.

    Rolling upright is stable above sqrt(g r / 3), 1.28 m/s for this disk.
    """
    axle = np.array([0.0, np.cos(lean), np.sin(lean)])
    forward = np.array([1.0, 0.0, 0.0])
    up = np.cross(forward, axle)  # from the contact to the centre
    center = np.array([0.0, 0.0, RADIUS * up[2]])
    spin = speed / RADIUS * axle
    system = System("rolling disk")
    disk = system.add(
        RigidBody(
            "disk",
            mass=MASS,
            inertia=(MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 4, MASS * RADIUS**2 / 2),
            position=center,
            rotation=np.column_stack([forward, np.cross(axle, forward), axle]),
            velocity=np.cross(spin, RADIUS * up),
            angular_velocity=spin,
            shapes=[
                Cylinder(radius=RADIUS, length=0.03),
                Cylinder(radius=0.3 * RADIUS, length=0.034, color="#f2f4f7"),
                Box(size=(1.9 * RADIUS, 0.06, 0.033), color="#f2f4f7"),  # shows that it turns
            ],
        )
    )
    system.add(RollingDisk("contact", system.ground, disk, at=center, axis=axle, radius=RADIUS))
    return system
