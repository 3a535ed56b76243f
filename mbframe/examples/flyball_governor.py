"""A flyball governor with stiff couplers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..forces import SpringDamper
from ..joints import RevoluteJoint, TranslationalJoint
from ..shapes import Box, Sphere
from ..system import System

# [Gonzalez2006], problem A05: lengths in m, density in kg/m^3, mass of a ball in kg
LENGTH, WIDTH, SLIDER_SIZE, DENSITY = 1.0, 0.01, 0.1, 3000.0
BALL = 5.0
# N/m, N s/m, m: they stand for the coupler rods, and make the system stiff
COUPLER: dict[str, Any] = {"stiffness": 8e5, "damping": 4e4, "free_length": 0.5}
SLOPE = np.radians(30.0)  # of the rods below the horizontal; the slider is then 0.5 m below their hinges
SPEED = 2.0 * np.pi  # rad/s about the shaft


def box(length: float, width: float) -> dict[str, Any]:
    """Mass and inertia of a prismatic part along its x axis."""
    mass = DENSITY * length * width**2
    across = mass * (length**2 + width**2) / 12.0
    return {"mass": mass, "inertia": (mass * width**2 / 6.0, across, across)}


def loaded_rod() -> dict[str, Any]:
    """Mass, centre of mass and inertia about it of a rod along x from the origin with a ball at its end."""
    rod = box(LENGTH, WIDTH)
    mass = rod["mass"] + BALL
    centre = (rod["mass"] * LENGTH / 2.0 + BALL * LENGTH) / mass
    along, across, _ = rod["inertia"]
    across += rod["mass"] * (centre - LENGTH / 2.0) ** 2 + BALL * (LENGTH - centre) ** 2
    return {"mass": mass, "center_of_mass": (centre, 0.0, 0.0), "inertia": (along, across, across)}


def flyball_governor() -> System:
    """The stiff flyball governor of [Gonzalez2006]: shaft, slider, and two rods with balls; four freedoms.

    The shaft turns freely about the vertical; two rods hang in hinges at its top, and springs of high stiffness and
    damping lead from their middles to a slider on the shaft. All turn as one at first. The figure is not part of the
    text at hand; the hinges are taken to lie on the shaft's axis, as the lengths then close: half a rod and a coupler
    at 30 degrees span the distance s = 0.5 m that is given for the slider.
    """
    system = System("flyball governor")
    turning: dict[str, Any] = {"angular_velocity": (0.0, 0.0, SPEED)}
    upright = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))  # takes x to -z
    top, middle = (0.0, 0.0, LENGTH), (0.0, 0.0, LENGTH - 2.0 * LENGTH / 2.0 * np.sin(SLOPE))
    shaft = system.add(
        RigidBody(
            "shaft",
            **box(LENGTH, WIDTH),
            position=(0.0, 0.0, LENGTH / 2.0),
            rotation=upright,
            shapes=[Box(size=(LENGTH, WIDTH, WIDTH))],
            **turning,
        )
    )
    slider = system.add(
        RigidBody(
            "slider",
            **box(SLIDER_SIZE, SLIDER_SIZE),
            position=middle,
            shapes=[Box(size=(SLIDER_SIZE,) * 3)],
            **turning,
        )
    )
    system.add(RevoluteJoint("bearing", system.ground, shaft, at=(0.0, 0.0, 0.0)))
    system.add(TranslationalJoint("guide", shaft, slider, at=middle, axis=(0.0, 0.0, 1.0)))
    for name, side in (("right", 1.0), ("left", -1.0)):
        along = np.array([side * np.cos(SLOPE), 0.0, -np.sin(SLOPE)])
        across = np.array([0.0, 1.0, 0.0])
        rod = system.add(
            RigidBody(
                f"{name} rod",
                **loaded_rod(),
                position=top,
                rotation=np.column_stack([along, across, np.cross(along, across)]),
                shapes=[
                    Box(size=(LENGTH, WIDTH, WIDTH), position=(LENGTH / 2.0, 0.0, 0.0)),
                    Sphere(radius=0.05, position=(LENGTH, 0.0, 0.0)),
                ],
                **turning,
            )
        )
        system.add(RevoluteJoint(f"{name} hinge", shaft, rod, at=top, axis=(0.0, 1.0, 0.0)))
        half = np.array(top) + LENGTH / 2.0 * along
        system.add(SpringDamper(f"{name} coupler", rod, slider, at_i=half, at_j=middle, **COUPLER))
    return system
