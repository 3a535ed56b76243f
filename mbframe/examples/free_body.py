"""A free body thrown with a spin about its intermediate axis."""

from __future__ import annotations

from ..bodies import RigidBody
from ..shapes import Box, Cylinder
from ..system import System


def free_body() -> System:
    """The tennis racket: rotation about the axis of the intermediate moment of inertia is unstable, and the body flips.

    There is no gravity, so that its momentum stays what it is. The spin of 6 rad/s is about y, disturbed by 0.01 rad/s.
    """
    system = System("tennis racket", gravity=(0.0, 0.0, 0.0))
    system.add(
        RigidBody(
            "racket",
            mass=0.35,
            inertia=(0.0012, 0.0130, 0.0142),
            velocity=(0.0, 0.0, 0.5),
            angular_velocity=(0.01, 6.0, 0.0),
            shapes=[
                Cylinder(radius=0.13, length=0.02, position=(0.15, 0.0, 0.0)),
                Box(size=(0.30, 0.03, 0.03), position=(-0.15, 0.0, 0.0)),
            ],
        )
    )
    return system
