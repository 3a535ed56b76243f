"""The Whipple bicycle with the parameters of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..bodies import RigidBody
from ..errors import ModelError, Problem
from ..joints import RevoluteJoint, RollingDisk
from ..rotations import frame_with_axis
from ..shapes import Box, Cylinder
from ..system import System

# [Meijaard2007], Table 1: x forward, y to the right and z down, from the rear contact. The model turns these axes by pi
# about x: heights z and the tensor elements Ixz change their signs.
PARAMETERS: dict[str, float] = {
    "wheel_base": 1.02,  # w, m
    "trail": 0.08,  # c, m
    "steer_axis_tilt": np.pi / 10,  # lambda, rad
    "gravity": 9.81,  # g, m/s^2
    "rear_radius": 0.3,
    "rear_mass": 2.0,
    "rear_Ixx": 0.0603,
    "rear_Iyy": 0.12,
    "frame_x": 0.3,
    "frame_z": -0.9,
    "frame_mass": 85.0,
    "frame_Ixx": 9.2,
    "frame_Ixz": 2.4,
    "frame_Iyy": 11.0,
    "frame_Izz": 2.8,
    "fork_x": 0.9,
    "fork_z": -0.7,
    "fork_mass": 4.0,
    "fork_Ixx": 0.05892,
    "fork_Ixz": -0.00756,
    "fork_Iyy": 0.06,
    "fork_Izz": 0.00708,
    "front_radius": 0.35,
    "front_mass": 3.0,
    "front_Ixx": 0.1405,
    "front_Iyy": 0.28,
}


def whipple_bicycle(speed: float = 5.0, parameters: Mapping[str, float] | None = None) -> System:
    """The bicycle of [Meijaard2007], running straight along x at `speed` (m/s): two frames and two knife-edge wheels.

    x points forward, z up, and the origin is the first contact of the rear wheel. `parameters` replaces some of the
    benchmark's; their names are the keys of `PARAMETERS`, with the signs of the paper (z down). Between the weave
    speed, 4.29 m/s, and the capsize speed, 6.02 m/s, the bicycle balances itself.

    Bodies `rear wheel`, `frame`, `fork` and `front wheel`; joints `rear hub`, `steering`, `front hub`, `rear contact`,
    `front contact`.
    """
    if unknown := set(parameters or {}) - set(PARAMETERS):
        message = f"there is no {', '.join(sorted(unknown))}; there are {', '.join(PARAMETERS)}"
        raise ModelError([Problem("whipple_bicycle", "parameters", message)])
    p = PARAMETERS | dict(parameters or {})
    system = System("Whipple bicycle", gravity=(0.0, 0.0, -p["gravity"]))
    axle = (0.0, 1.0, 0.0)
    rear_center = np.array([0.0, 0.0, p["rear_radius"]])
    front_center = np.array([p["wheel_base"], 0.0, p["front_radius"]])
    tilt = p["steer_axis_tilt"]
    # The paper's steer axis passes through (w + c, 0, 0) along (sin, 0, cos) with z down.
    axis = np.array([-np.sin(tilt), 0.0, np.cos(tilt)])
    ground_point = np.array([p["wheel_base"] + p["trail"], 0.0, 0.0])
    crown = ground_point + 0.9 * axis

    rear = _wheel(system, "rear wheel", rear_center, "rear", p, speed)
    frame = _part(system, "frame", "frame", p, speed)
    fork = _part(system, "fork", "fork", p, speed)
    front = _wheel(system, "front wheel", front_center, "front", p, speed)
    head = frame.position + 0.5 * (crown - frame.position)
    frame.shapes = [_tube(frame, rear_center, head), _tube(frame, head, crown), Box(size=(0.25, 0.35, 0.6))]
    fork.shapes = [_tube(fork, front_center, crown), _tube(fork, crown, crown + 0.35 * axis)]

    system.add(RevoluteJoint("rear hub", frame, rear, at=rear_center, axis=axle))
    system.add(RevoluteJoint("steering", frame, fork, at=crown, axis=axis))
    system.add(RevoluteJoint("front hub", fork, front, at=front_center, axis=axle))
    for name, body, center in (("rear", rear, rear_center), ("front", front, front_center)):
        radius = p[f"{name}_radius"]
        system.add(RollingDisk(f"{name} contact", system.ground, body, at=center, axis=axle, radius=radius))
    return system


def _wheel(
    system: System, name: str, center: NDArray[np.float64], key: str, p: Mapping[str, float], speed: float
) -> RigidBody:
    radius, across = p[f"{key}_radius"], p[f"{key}_Ixx"]
    return system.add(
        RigidBody(
            name,
            mass=p[f"{key}_mass"],
            inertia=(across, p[f"{key}_Iyy"], across),
            position=center,
            velocity=(speed, 0.0, 0.0),
            angular_velocity=(0.0, speed / radius, 0.0),
        )
    )


def _part(system: System, name: str, key: str, p: Mapping[str, float], speed: float) -> RigidBody:
    ixx, iyy, izz, ixz = (p[f"{key}_{element}"] for element in ("Ixx", "Iyy", "Izz", "Ixz"))
    return system.add(
        RigidBody(
            name,
            mass=p[f"{key}_mass"],
            inertia=(ixx, iyy, izz, 0.0, -ixz, 0.0),
            position=(p[f"{key}_x"], 0.0, -p[f"{key}_z"]),
            velocity=(speed, 0.0, 0.0),
        )
    )


def _tube(body: RigidBody, start: NDArray[np.float64], end: NDArray[np.float64]) -> Cylinder:
    """A tube between two global points of a body whose axes are parallel to the global ones."""
    return Cylinder(
        radius=0.015,
        length=float(np.linalg.norm(end - start)),
        position=0.5 * (start + end) - body.position,
        rotation=frame_with_axis(end - start),
    )
