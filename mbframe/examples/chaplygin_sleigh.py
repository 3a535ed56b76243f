"""A sleigh on a blade."""

from __future__ import annotations

from ..bodies import RigidBody
from ..joints import KnifeEdge, PlanarJoint
from ..shapes import Box, Cylinder, Sphere
from ..system import System

MASS, INERTIA, OFFSET = 2.0, 0.3, 0.4  # kg; kg m^2 about the centre of mass; m from the blade forward to the centre


def chaplygin_sleigh(spin: float = 3.0) -> System:
    """A body that slides in the horizontal plane on a blade, started with a `spin` (rad/s) about it.

    Energy is kept, yet the sleigh ends in a straight run: with u the speed along the blade, w the spin, a the offset,
    u' = a w^2, (I + m a^2) w' = -m a u w, so that w = w_0 / cosh(k t), u = c w_0 tanh(k t) with c^2 = (I + m a^2) / m
    and k = a w_0 / c (Neimark and Fufaev, Dynamics of Nonholonomic Systems, 1972).
    """
    system = System("Chaplygin sleigh")
    sleigh = system.add(
        RigidBody(
            "sleigh",
            mass=MASS,
            inertia=(INERTIA, INERTIA, INERTIA),
            center_of_mass=(OFFSET, 0.0, 0.0),
            angular_velocity=(0.0, 0.0, spin),
            shapes=[
                Box(size=(0.9, 0.34, 0.05), position=(0.3, 0.0, 0.16)),
                Box(size=(0.05, 0.34, 0.2), position=(-0.12, 0.0, 0.26)),
                Box(size=(0.1, 0.06, 0.1), position=(0.0, 0.0, 0.1), color="#59626d"),
                Sphere(radius=0.03, position=(0.65, 0.12, 0.03), color="#59626d"),
                Sphere(radius=0.03, position=(0.65, -0.12, 0.03), color="#59626d"),
                Cylinder(radius=0.012, length=0.12, position=(0.65, 0.12, 0.09), color="#59626d"),
                Cylinder(radius=0.012, length=0.12, position=(0.65, -0.12, 0.09), color="#59626d"),
            ],
        )
    )
    system.add(PlanarJoint("ice", system.ground, sleigh, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(KnifeEdge("blade", system.ground, sleigh, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system
