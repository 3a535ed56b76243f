"""Andrews' squeezing mechanism."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..bodies import PlanarBody
from ..forces import SpringDamper, Torque
from ..joints import RevoluteJoint
from ..system import System

Array = NDArray[np.float64]

# [HairerWanner1996], section VII.7; [MazziaMagherini2008], problem "andrews". Masses in kg, inertias in kg m^2.
MASSES: Final = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS: Final = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
# Points of the ground, m: A carries K5 and K7, B carries K3, C holds the spring; the crank K1 turns about the origin.
A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
# Lengths, m: of the bars, and of the places of their centres of mass
D, DA, E, EA, RR, RA = 0.028, 0.0115, 0.020, 0.01421, 0.007, 0.00092
SS, SA, SB, SC, SD = 0.035, 0.01874, 0.01043, 0.018, 0.020
TA, TB, U, UA, UB = 0.02308, 0.00916, 0.040, 0.01228, 0.00449
ZF, ZT, FA = 0.020, 0.040, 0.01421
DRIVE: Final = 0.033  # N m, on the crank
SPRING: dict[str, Any] = {"stiffness": 4530.0, "free_length": 0.07785}  # N/m, m
# Initial angles, rad: beta, Theta, gamma, Phi, delta, Omega, epsilon. Theta is chosen, the others close the loops.
ANGLES: Final = (
    -0.0617138900142764496358948458001,
    0.0,
    0.455279819163070380255912382449,
    0.222668390165885884674473185609,
    0.487364979543842550225598953530,
    -0.222668390165885884674473185609,
    1.23054744454982119249735015568,
)


def turned(angle: float, x: float, y: float) -> Array:
    """The vector (x, y) turned by an angle."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * x - s * y, s * x + c * y])


def andrews_squeezer() -> System:
    """The squeezing mechanism of seven bodies K1 ... K7 from rest, driven by a constant torque: one freedom.

    It moves in a level plane, without gravity; results are published for 0.03 s, in which the crank makes two and a
    half turns. The angles of the bodies are beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon and epsilon
    of the reference.
    """
    beta, theta, gamma, phi, delta, omega, epsilon = ANGLES
    turns = [beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon]
    crank_pin = turned(turns[0], RR, 0.0)
    hub = crank_pin - turned(turns[1], D, 0.0)  # where K2, K3, K4 and K6 meet
    knee, elbow = A + turned(delta, ZT, 0.0), A + turned(epsilon, 0.0, -U)  # of K4 and K5, of K6 and K7
    centres = [
        turned(turns[0], RA, 0.0),
        crank_pin - turned(turns[1], DA, 0.0),
        B + turned(turns[2], SB, -SA),
        knee + turned(turns[3], 0.0, -(E - EA)),
        A + turned(turns[4], TA, TB),
        elbow + turned(turns[5], ZF - FA, 0.0),
        A + turned(turns[6], -UB, -UA),
    ]
    system = System("Andrews' squeezing mechanism", dimension=2, gravity=(0.0, 0.0))
    k = [
        system.add(PlanarBody(f"K{n}", mass=m, inertia=i, position=centre, angle=angle))
        for n, (m, i, centre, angle) in enumerate(zip(MASSES, INERTIAS, centres, turns, strict=True), 1)
    ]
    ground = system.ground
    for name, first, second, at in (
        ("O", ground, k[0], np.zeros(2)),
        ("pin", k[0], k[1], crank_pin),
        ("hub 3", k[1], k[2], hub),
        ("hub 4", k[1], k[3], hub),
        ("hub 6", k[1], k[5], hub),
        ("B", ground, k[2], B),
        ("A 5", ground, k[4], A),
        ("A 7", ground, k[6], A),
        ("knee", k[3], k[4], knee),
        ("elbow", k[5], k[6], elbow),
    ):
        system.add(RevoluteJoint(name, first, second, at=at))
    system.add(SpringDamper("spring", ground, k[2], at_i=C, at_j=B + turned(gamma, SD, -SC), **SPRING))
    system.add(Torque("drive", k[0], torque=DRIVE))
    return system
