"""A shaft with two disks on elastic bearings."""

from __future__ import annotations

import numpy as np

from ..bodies import RigidBody
from ..forces import Bushing
from ..shapes import Cylinder
from ..system import System

# In SI units; the shaft lies along x and begins in the origin.
LENGTH, RADIUS, DENSITY = 1.0, 0.02, 7850.0  # steel
DISKS = ((0.4, 0.14), (0.95, 0.16))  # where along the shaft, radius
THICKNESS = 0.03  # of the disks
BEARINGS = {"inner bearing": (0.1, 4e5, 150.0), "outer bearing": (0.7, 2e5, 100.0)}  # where, stiffness, damping
THRUST = 1e6  # stiffness of the inner bearing along the shaft
SPEED = 60.0


def rotor_with_disks(speed: float = SPEED) -> System:
    """A rigid shaft with two disks, one of which overhangs its bearing, on two elastic bearings: for `mb.campbell`.

    Its gyroscopic moment parts the frequencies of forward and backward whirl more and more as the speed rises. The
    bearings are alike in all directions across the shaft and damp the whirl a little.

    Parameters
    ----------
    speed
        Of the rotor about its axis, rad/s.
    """
    system = System("rotor with disks", gravity=(0.0, 0.0, 0.0))
    shapes = [Cylinder(radius=RADIUS, length=LENGTH, position=(LENGTH / 2.0, 0.0, 0.0), rotation=ALONG)]
    for place, radius in DISKS:
        shapes.append(Cylinder(radius=radius, length=THICKNESS, position=(place, 0.0, 0.0), rotation=ALONG))
        shapes += bolts(place, 0.7 * radius)
    rotor = RigidBody.from_shapes("rotor", shapes, DENSITY, angular_velocity=(speed, 0.0, 0.0))
    system.add(rotor)
    for name, (place, stiffness, damping) in BEARINGS.items():
        bearing = Bushing(name, system.ground, rotor, at=(place, 0.0, 0.0))
        along = THRUST if name == "inner bearing" else 0.0
        bearing.update(stiffness=(along, stiffness, stiffness, 0.0, 0.0, 0.0))
        bearing.update(damping=(0.0, damping, damping, 0.0, 0.0, 0.0))
        system.add(bearing)
    return system


def bolts(place: float, circle: float) -> list[Cylinder]:
    """Four bolts through a disk, which leave it balanced and round and show how it turns."""
    return [
        Cylinder(radius=0.015, length=2.0 * THICKNESS, position=(place, circle * c, circle * s), rotation=ALONG)
        for c, s in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
    ]


ALONG = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # takes z to x
