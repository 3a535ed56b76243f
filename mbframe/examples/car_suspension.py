"""A car's front suspension on a road with a bump."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..forces import DistanceLimit, SpringDamper, Tire
from ..functions import Function
from ..joints import DistanceJoint, RevoluteJoint, SphericalJoint
from ..rotations import matrix_from_quaternion
from ..shapes import Box
from ..system import System

# [MarquesSoutoFlores2017], Table 5: masses in kg, moments of inertia in kg m^2
WHEEL: dict[str, Any] = {"mass": 57.35, "inertia": (1.2402, 1.9080, 1.2402)}
ARM: dict[str, Any] = {"mass": 6.0, "inertia": (0.052099, 0.023235, 0.068864)}
# Table 6: centres in m, and the Euler parameter e1 of rotations about x
WHEEL_CENTER = (0.0, -0.6150, 0.3560)
ARM_CENTER, ARM_TILT = (0.0, -0.4155, 0.2655), 0.1143
LEAF_CENTER, LEAF_TILT = (0.0, -0.3233, 0.5655), 0.1030
TIE_ROD_CENTER, TIE_ROD_TILT = (-0.1400, -0.2590, 0.5655), 0.0902
# Eqs. 53 and 54: tension of the shock absorber in N by its length in m and the rate of that in m/s
SHOCK_SPRING = (-4.0092e6, 2.8397e7, -6.7061e7, 5.2796e7)
SHOCK_DAMPER = (
    "if(v < -0.2, -416.42 + 1844.3*v, if(v < 0.21, 9945.627*v + 33955.72*v**2 - 59832.25*v**3 - 395651*v**4, "
    "1919.1638 + 1634.727*v))"
)
LEAF_STIFFNESS, STOP_STIFFNESS, STOP_DEFLECTION = 35900.0, 1e7, 0.145  # N/m, N/m, m
TIRE: dict[str, Any] = {"radius": 0.364325, "stiffness": 460000.0}
SPEED = 5.0  # m/s
BUMP = "if(x < 15, 0, if(x > 20, 0, 0.1*(1 - cos(2*pi*(x - 15)/5))))"  # eq. 55: height in m by distance in m

# Chosen here: half lengths in m, and what else the text leaves open
ARM_HALF, LEAF_HALF, TIE_ROD_HALF = 0.145, 0.24, 0.24
LEAF: dict[str, Any] = {"mass": 0.5, "inertia": (9.6e-3, 1e-4, 9.6e-3)}
SHOCK_ON_ARM, SHOCK_ON_CAR = 0.046, (0.0, -0.36, 0.663)
LEAF_DEFLECTION, LEAF_SUPPORT = 0.08, 0.35


def car_suspension() -> System:
    """The right front suspension of [MarquesSoutoFlores2017], section 4: one freedom, 17 equations.

    An A-arm below and a transverse leaf spring above carry the wheel; a tie rod keeps its direction. The car moves
    along x with 5 m/s: here it stands still and the road passes by, with a bump of 0.2 m between 15 and 20 m, after
    3 s.

    Masses, centres, rotations and force laws are those of the paper. The figure with the joints is lost, so these are
    chosen: arm, leaf and tie rod are straight and joined at their ends, which lie symmetrically about the tabulated
    centres, 0.145 m (arm) and 0.24 m (leaf, tie rod) from them; arm and leaf turn about x on the car. The tie rod,
    which has no mass in the paper, is a distance joint, and the leaf has 0.5 kg. The shock absorber acts between a
    point of the arm 46 mm outside its centre and (0, -0.36, 0.663) m of the car; it is 0.42 m long as described. The
    leaf's stiffness acts vertically at its outer end, which is deflected by 80 mm as described; its stop is a second
    spring there, beyond 145 mm. The tire pushes normal to the road.
    """
    system = System("car suspension")
    wheel = system.add(RigidBody("wheel", **WHEEL, position=WHEEL_CENTER))
    arm_axes, leaf_axes, rod_axes = (tilted(e1) for e1 in (ARM_TILT, LEAF_TILT, TIE_ROD_TILT))
    arm = system.add(
        RigidBody(
            "A-arm",
            **ARM,
            position=ARM_CENTER,
            rotation=arm_axes,
            shapes=[Box(size=(0.2, 2 * ARM_HALF, 0.03))],
        )
    )
    leaf = system.add(
        RigidBody(
            "leaf spring",
            **LEAF,
            position=LEAF_CENTER,
            rotation=leaf_axes,
            shapes=[Box(size=(0.06, 2 * LEAF_HALF, 0.01))],
        )
    )
    ground, x = system.ground, (1.0, 0.0, 0.0)
    arm_inner, arm_outer = ends(ARM_CENTER, arm_axes, ARM_HALF)
    leaf_inner, leaf_outer = ends(LEAF_CENTER, leaf_axes, LEAF_HALF)
    rod_inner, rod_outer = ends(TIE_ROD_CENTER, rod_axes, TIE_ROD_HALF)
    system.add(RevoluteJoint("A-arm on car", ground, arm, at=arm_inner, axis=x))
    system.add(RevoluteJoint("leaf spring on car", ground, leaf, at=leaf_inner, axis=x))
    system.add(SphericalJoint("lower ball joint", arm, wheel, at=arm_outer))
    system.add(SphericalJoint("upper ball joint", leaf, wheel, at=leaf_outer))
    system.add(DistanceJoint("tie rod", ground, wheel, at_i=rod_inner, at_j=rod_outer))
    _, shock = ends(ARM_CENTER, arm_axes, SHOCK_ON_ARM)
    laws = {"force": Function.polynomial(SHOCK_SPRING, "x"), "damping_force": Function(SHOCK_DAMPER, ("v",))}
    system.add(SpringDamper("shock absorber", ground, arm, at_i=SHOCK_ON_CAR, at_j=shock, free_length=0.0, **laws))
    above = leaf_outer + np.array([0.0, 0.0, LEAF_SUPPORT])
    free = LEAF_SUPPORT + LEAF_DEFLECTION
    between: dict[str, Any] = {"at_i": above, "at_j": leaf_outer}
    system.add(SpringDamper("leaf", ground, leaf, **between, stiffness=LEAF_STIFFNESS, free_length=free))
    stop = {"lower": free - STOP_DEFLECTION, "stiffness": STOP_STIFFNESS}
    system.add(DistanceLimit("bump stop", ground, leaf, **between, **stop))
    system.add(Tire("tire", ground, wheel, **TIRE, profile=BUMP, speed=SPEED))
    return system


def tilted(e1: float) -> np.ndarray:
    """The axes of a body turned about x, from its Euler parameter e1."""
    return matrix_from_quaternion([np.sqrt(1.0 - e1**2), e1, 0.0, 0.0])


def ends(center: tuple[float, float, float], axes: np.ndarray, half: float) -> tuple[np.ndarray, np.ndarray]:
    """The inner and the outer end of a part along its y axis."""
    return np.array(center) + half * axes[:, 1], np.array(center) - half * axes[:, 1]
