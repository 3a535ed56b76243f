"""A screw jack that runs down under its load."""

from __future__ import annotations

from ..bodies import RigidBody
from ..constraints import Perpendicular
from ..joints import RevoluteJoint, ScrewJoint
from ..shapes import Box, Cylinder
from ..system import System

LOAD, PITCH, SPINDLE_INERTIA = 200.0, 0.05, 0.4  # kg; m per turn; kg m^2


def screw_jack() -> System:
    """A load on a nut that a guide keeps from turning drives the spindle: a steep, frictionless thread.

    The load sinks by s with (m + J (2 pi / p)^2) s'' = -m g, and the spindle turns by 2 pi s / p.
    """
    system = System("screw jack")
    spindle = system.add(
        RigidBody(
            "spindle",
            mass=10.0,
            inertia=(1.0, 1.0, SPINDLE_INERTIA),
            position=(0.0, 0.0, 0.5),
            shapes=[Cylinder(radius=0.04, length=1.0)],
        )
    )
    load = system.add(
        RigidBody(
            "load", mass=LOAD, inertia=(8.0, 8.0, 8.0), position=(0.0, 0.0, 0.9), shapes=[Box(size=(0.4, 0.4, 0.2))]
        )
    )
    system.add(RevoluteJoint("bearing", system.ground, spindle, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(ScrewJoint("thread", spindle, load, at=(0.0, 0.0, 0.9), axis=(0.0, 0.0, 1.0), pitch=PITCH))
    # The thread holds the load on the spindle's axis; the guide only keeps it from turning.
    system.add(Perpendicular("guide", system.ground, load, at=(0.0, 0.0, 0.9), axis_i=0, axis_j=1))
    return system
