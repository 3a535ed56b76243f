"""A sleigh on a blade."""

from __future__ import annotations

from ..bodies import RigidBody
from ..joints import KnifeEdge, PlanarJoint
from ..shapes import Box
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
            shapes=[Box(size=(0.8, 0.3, 0.1), position=(0.3, 0.0, 0.05))],
        )
    )
    system.add(PlanarJoint("ice", system.ground, sleigh, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    system.add(KnifeEdge("blade", system.ground, sleigh, at=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system
