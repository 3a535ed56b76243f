"""A flyball governor with stiff links: a stiff benchmark."""

from __future__ import annotations

import numpy as np

from ..bodies import RigidBody
from ..forces import SpringDamper
from ..joints import RevoluteJoint, TranslationalJoint
from ..shapes import Box, Sphere
from ..system import System

# [Gonzalez2006], problem A05 of the IFToMM library: m, kg/m^3, kg, N/m, N s/m, rad/s
LENGTH, WIDTH = 1.0, 0.01  # of the shaft and of the rods, which have square sections
SLIDER_SIZE, SLIDER_HEIGHT = 0.1, 0.5
DENSITY, BALL_MASS = 3000.0, 5.0
HINGE_DISTANCE = 0.05  # of the rods from the shaft's axis
ROD_ANGLE = np.deg2rad(30.0)  # below the horizontal
STIFFNESS, DAMPING, FREE_LENGTH = 8e5, 4e4, 0.5
SPEED = 2.0 * np.pi


def flyball_governor() -> System:
    """Watt's governor, problem A05 of the benchmark library of [Gonzalez2006]: four freedoms, 20 equations.

    A shaft turns freely about the vertical, started with one turn per second. Two rods with balls hang on its top in
    hinges; springs and dampers in the place of coupler rods connect their middles with a slider on the shaft. The balls
    rise, lift the slider by a quarter of a metre, and sink again, about once a second. The couplers are so strongly
    damped, with times of a fraction of a millisecond, that stability and not accuracy limits the steps of explicit
    integrators.
    """
    mass, across, along = bar()
    system = System("flyball governor")
    spin = (0.0, 0.0, SPEED)
    shaft = system.add(
        RigidBody(
            "shaft",
            mass=mass,
            inertia=(across, across, along),
            position=(0.0, 0.0, LENGTH / 2.0),
            angular_velocity=spin,
            shapes=[Box(size=(WIDTH, WIDTH, LENGTH))],
        )
    )
    slider_mass = DENSITY * SLIDER_SIZE**3
    slider = system.add(
        RigidBody(
            "slider",
            mass=slider_mass,
            inertia=np.full(3, slider_mass * SLIDER_SIZE**2 / 6.0),
            position=(0.0, 0.0, SLIDER_HEIGHT),
            angular_velocity=spin,
            shapes=[Box(size=(SLIDER_SIZE,) * 3)],
        )
    )
    system.add(RevoluteJoint("bearing", system.ground, shaft, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(TranslationalJoint("guide", shaft, slider, at=(0.0, 0.0, SLIDER_HEIGHT), axis=(0.0, 0.0, 1.0)))
    # A rod and its ball are one body, with its origin in the hinge and the rod along x.
    total = mass + BALL_MASS
    center = (mass * LENGTH / 2.0 + BALL_MASS * LENGTH) / total
    moment = across + mass * (center - LENGTH / 2.0) ** 2 + BALL_MASS * (LENGTH - center) ** 2
    for name, side in (("right", 1.0), ("left", -1.0)):
        hinge = np.array([side * HINGE_DISTANCE, 0.0, LENGTH])
        x = np.array([side * np.cos(ROD_ANGLE), 0.0, -np.sin(ROD_ANGLE)])
        y = np.array([0.0, side, 0.0])
        rod = system.add(
            RigidBody(
                f"{name} rod",
                mass=total,
                inertia=(along, moment, moment),
                center_of_mass=(center, 0.0, 0.0),
                position=hinge,
                rotation=np.column_stack([x, y, np.cross(x, y)]),
                velocity=np.cross(spin, hinge),
                angular_velocity=spin,
                shapes=[
                    Box(size=(LENGTH, WIDTH, WIDTH), position=(LENGTH / 2.0, 0.0, 0.0)),
                    Sphere(radius=0.05, position=(LENGTH, 0.0, 0.0)),
                ],
            )
        )
        system.add(RevoluteJoint(f"{name} hinge", shaft, rod, at=hinge, axis=(0.0, 1.0, 0.0)))
        system.add(
            SpringDamper(
                f"{name} coupler",
                slider,
                rod,
                at_i=(side * SLIDER_SIZE / 2.0, 0.0, SLIDER_HEIGHT),
                at_j=hinge + x * LENGTH / 2.0,
                stiffness=STIFFNESS,
                damping=DAMPING,
                free_length=FREE_LENGTH,
            )
        )
    return system


def bar() -> tuple[float, float, float]:
    """Mass of shaft and rods, and their moments of inertia across and along."""
    mass = DENSITY * LENGTH * WIDTH**2
    return mass, mass * (LENGTH**2 + WIDTH**2) / 12.0, mass * WIDTH**2 / 6.0
