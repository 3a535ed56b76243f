"""A slider-crank mechanism in space."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..joints import RevoluteJoint, SphericalJoint, TranslationalJoint, UniversalJoint
from ..shapes import Box, Cylinder
from ..system import System

# [MarquesSoutoFlores2017], Table 3: lengths in m, masses in kg, moments of inertia in kg m^2
CRANK_LENGTH, ROD_LENGTH = 0.10, 0.29
CRANK: dict[str, Any] = {"mass": 0.12, "inertia": (1e-4, 1e-4, 1e-5)}  # z along the crank
ROD: dict[str, Any] = {"mass": 0.50, "inertia": (4e-3, 4e-4, 4e-3)}  # y along the rod
SLIDER: dict[str, Any] = {"mass": 0.50, "inertia": (1e-4, 1e-4, 1e-4)}
HEIGHT = -0.15  # of the slider's path, m (Table 4)
SPEED = -2.0 * np.pi  # of the crank about y, rad/s (Table 4)


def spatial_slider_crank() -> System:
    """Crank, connecting rod and slider of [MarquesSoutoFlores2017], section 4: one freedom, 17 equations.

    The crank turns about the y axis at the origin and starts upright; a ball joint takes the rod. The figure is not
    part of the text at hand, so the following is chosen. The slider moves along y at x = 0, z = -0.15 m: along the
    crank's axis, as in the spatial slider-crank mechanism that is widely used as a benchmark. Beside the listed
    revolute, spherical and translational joints 17 equations need a fourth one, a universal joint between rod and
    slider. Its axes are y on the slider and x on the rod: then the rod's angular velocity in Table 4, which is along y,
    is the one that the joints ask for.

    Lengths and crank speed determine everything else in Table 4. It is computed here, because the rounded numbers of
    the table close only approximately.
    """
    pin = np.array([0.0, 0.0, CRANK_LENGTH])
    drop = CRANK_LENGTH - HEIGHT
    block = np.array([0.0, np.sqrt(ROD_LENGTH**2 - drop**2), HEIGHT])
    along = (block - pin) / ROD_LENGTH
    tilt = np.column_stack([[1.0, 0.0, 0.0], along, np.cross([1.0, 0.0, 0.0], along)])
    # The slider stands still as long as the rod is at right angles to the velocity of the pin.
    pin_speed = SPEED * CRANK_LENGTH

    system = System("spatial slider-crank")
    crank = system.add(
        RigidBody(
            "crank",
            **CRANK,
            position=pin / 2.0,
            velocity=(pin_speed / 2.0, 0.0, 0.0),
            angular_velocity=(0.0, SPEED, 0.0),
            shapes=[Box(size=(0.012, 0.012, CRANK_LENGTH))],
        )
    )
    rod = system.add(
        RigidBody(
            "rod",
            **ROD,
            position=(pin + block) / 2.0,
            rotation=tilt,
            velocity=(pin_speed / 2.0, 0.0, 0.0),
            angular_velocity=(0.0, pin_speed / drop, 0.0),
            # a cylinder's long axis is its z axis; turned to y
            shapes=[Cylinder(radius=0.006, length=ROD_LENGTH, rotation=((1, 0, 0), (0, 0, 1), (0, -1, 0)))],
        )
    )
    slider = system.add(RigidBody("slider", **SLIDER, position=block, shapes=[Box(size=(0.03, 0.05, 0.03))]))
    system.add(RevoluteJoint("A", system.ground, crank, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    system.add(SphericalJoint("B", crank, rod, at=pin))
    system.add(UniversalJoint("C", slider, rod, at=block, axis_i=(0.0, 1.0, 0.0), axis_j=(1.0, 0.0, 0.0)))
    system.add(TranslationalJoint("D", system.ground, slider, at=block, axis=(0.0, 1.0, 0.0)))
    return system
