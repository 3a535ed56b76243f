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
                Cylinder(radius=0.115, length=0.024, position=(0.15, 0.0, 0.0), color="#f2f4f7"),
                Box(size=(0.12, 0.022, 0.018), position=(-0.03, 0.0, 0.0)),
                Box(size=(0.20, 0.032, 0.028), position=(-0.18, 0.0, 0.0), color="#343a41"),
            ],
        )
    )
    return system
