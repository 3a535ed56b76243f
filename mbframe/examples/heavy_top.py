"""A symmetric top with its point fixed."""

from __future__ import annotations

import numpy as np

from ..bodies import RigidBody
from ..joints import SphericalJoint
from ..shapes import Box, Cone, Cylinder
from ..system import System

MASS, LENGTH = 0.5, 0.1  # kg; m from the point to the centre of mass
TRANSVERSE, AXIAL = 4.0e-4, 6.0e-4  # kg m^2 about the centre of mass


def heavy_top(spin: float = 150.0, lean: float = 0.4) -> System:
    """A spinning top on a fixed point, with its axis let go at the angle `lean` (rad) from the vertical.

    It precesses and nutates; energy, the vertical angular momentum and the spin about its axis are kept. `spin` is in
    rad/s.
    """
    axis = np.array([np.sin(lean), 0.0, np.cos(lean)])
    across = np.array([np.cos(lean), 0.0, -np.sin(lean)])
    system = System("heavy top")
    top = system.add(
        RigidBody(
            "top",
            mass=MASS,
            inertia=(TRANSVERSE, TRANSVERSE, AXIAL),
            center_of_mass=(0.0, 0.0, LENGTH),
            rotation=np.column_stack([across, [0.0, 1.0, 0.0], axis]),
            angular_velocity=spin * axis,
            shapes=[
                Cone(radius=0.06, length=0.11, position=(0.0, 0.0, 0.11), rotation=np.diag([1.0, -1.0, -1.0])),
                Cylinder(radius=0.06, length=0.02, position=(0.0, 0.0, 0.12), color="#e39a2d"),
                Cylinder(radius=0.008, length=0.05, position=(0.0, 0.0, 0.155), color="#59626d"),
                Box(size=(0.11, 0.012, 0.002), position=(0.0, 0.0, 0.1305), color="#f2f4f7"),  # shows that it spins
            ],
        )
    )
    system.add(SphericalJoint("point", system.ground, top, at=(0.0, 0.0, 0.0)))
    return system
