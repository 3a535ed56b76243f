"""A rotor whose shaft is stiffer in one direction than in the other, and unstable at some speeds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..bodies import FlexibleBody, RigidBody
from ..joints import FixedJoint, PointOnLineJoint, SphericalJoint
from ..shapes import Box, Cylinder
from ..system import System
from .rotor_with_disks import ALONG

if TYPE_CHECKING:
    from ..flexible import Modes

# In SI units; the shaft lies along x and begins in its first bearing.
LENGTH, ELEMENTS = 1.0, 16
WIDTH, HEIGHT = 0.03, 0.025  # of the section, along y and z of the shaft
RADIUS, THICKNESS = 0.15, 0.03  # of the disk in the middle
YOUNG, SHEAR, DENSITY = 2.1e11, 8.1e10, 7850.0  # steel
SPEED = 156.0


def unsymmetric_rotor(speed: float = SPEED) -> System:
    """A disk in the middle of a flexible shaft with a rectangular section, between two bearings.

    Seen by who turns with it, the shaft bends more easily about one axis than about the other. Between the two critical
    speeds that belong to these stiffnesses, 142 and 170 rad/s, the centrifugal load overcomes the softer one: however
    well it is balanced, the rotor runs out of true exponentially. Below and above it is stable; `mb.campbell` finds the
    range. The bearings are rigid and leave the tilt free, the spin is not driven, and nothing dissipates.

    Parameters
    ----------
    speed
        Of the rotor about its axis, rad/s.
    """
    spin, middle = (speed, 0.0, 0.0), (LENGTH / 2.0, 0.0, 0.0)
    system = System("unsymmetric rotor", gravity=(0.0, 0.0, 0.0))
    shaft = system.add(FlexibleBody("shaft", shaft_modes(), frame="mean", angular_velocity=spin))
    mass, polar, diametral = disk_inertia()
    disk = system.add(
        RigidBody(
            "disk",
            mass=mass,
            inertia=(polar, diametral, diametral),
            position=middle,
            angular_velocity=spin,
            shapes=[
                Cylinder(radius=RADIUS, length=THICKNESS, rotation=ALONG),
                # A key that weighs nothing, to see it turn
                Box(size=(2.0 * THICKNESS, 0.6 * RADIUS, 0.15 * RADIUS), position=(0.0, 0.6 * RADIUS, 0.0)),
            ],
        )
    )
    system.add(SphericalJoint("fixed bearing", system.ground, shaft, at=(0.0, 0.0, 0.0)))
    system.add(PointOnLineJoint("floating bearing", system.ground, shaft, at=(LENGTH, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    system.add(FixedJoint("seat", shaft, disk, at=middle))
    return system


@cache
def shaft_modes() -> Modes:
    """How the shaft may bend; made once, since they do not depend on the speed."""
    from ..flexible import beam, craig_bampton

    part = beam(
        length=LENGTH,
        elements=ELEMENTS,
        area=WIDTH * HEIGHT,
        second_moments=second_moments(),
        torsion=0.2 * WIDTH * HEIGHT**3,
        young=YOUNG,
        shear=SHEAR,
        density=DENSITY,
        rotary_inertia=True,
    )
    return craig_bampton(part, interfaces=[0, ELEMENTS // 2, ELEMENTS], n_modes=0)


def second_moments() -> tuple[float, float]:
    """Of the section's area about y and about z: the first belongs to bending along z, the softer one."""
    return WIDTH * HEIGHT**3 / 12.0, HEIGHT * WIDTH**3 / 12.0


def disk_inertia() -> tuple[float, float, float]:
    """Mass, polar and diametral moment of inertia of the disk."""
    mass = DENSITY * np.pi * RADIUS**2 * THICKNESS
    return mass, mass * RADIUS**2 / 2.0, mass * (3.0 * RADIUS**2 + THICKNESS**2) / 12.0
