"""Watt's centrifugal governor."""

from __future__ import annotations

import numpy as np

from ..bodies import RigidBody
from ..errors import ModelError, Problem
from ..joints import RevoluteJoint
from ..rotations import frame_with_axis
from ..shapes import Cylinder, Sphere
from ..system import System

GRAVITY = 9.81
ARM, BALL_MASS, BALL_RADIUS, SPINDLE_INERTIA = 0.5, 1.0, 0.06, 0.2  # m, kg, m, kg m^2
BALL_INERTIA = 0.4 * BALL_MASS * BALL_RADIUS**2


def watt_governor(rate: float = 6.0) -> System:
    """Two balls on light arms, hinged on the axis of a spindle that turns freely with `rate` (rad/s) about z.

    The arms stand at the angle theta to the vertical with cos(theta) = g / (l rate^2); they leave it above
    sqrt(g/l) = 4.43 rad/s. The described motion is steady in `mb.TurningFrame(axis=(0, 0, 1), rate=rate)`.
    """
    cosine = GRAVITY / (ARM * rate**2) if rate else np.inf
    if not cosine < 1.0:
        slowest = np.sqrt(GRAVITY / ARM)
        message = f"found {rate}; the balls leave the spindle above {slowest:.4g} rad/s; give a higher rate"
        raise ModelError([Problem("watt_governor", "rate", message)])
    sine = np.sqrt(1.0 - cosine**2)
    spin = np.array([0.0, 0.0, rate])
    system = System("Watt governor", gravity=(0.0, 0.0, -GRAVITY))
    spindle = system.add(
        RigidBody(
            "spindle",
            mass=4.0,
            inertia=(0.3, 0.3, SPINDLE_INERTIA),
            angular_velocity=spin,
            shapes=[Cylinder(radius=0.02, length=0.9)],
        )
    )
    system.add(RevoluteJoint("bearing", system.ground, spindle, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    for name, side in (("left", -1.0), ("right", 1.0)):
        center = ARM * np.array([side * sine, 0.0, -cosine])
        rod = Cylinder(radius=0.01, length=ARM, position=tuple(-0.5 * center), rotation=frame_with_axis(center))
        ball = system.add(
            RigidBody(
                f"{name} ball",
                mass=BALL_MASS,
                inertia=3 * (BALL_INERTIA,),
                position=center,
                velocity=np.cross(spin, center),
                angular_velocity=spin,
                shapes=[Sphere(radius=BALL_RADIUS), rod],
            )
        )
        system.add(RevoluteJoint(f"{name} hinge", spindle, ball, at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system
