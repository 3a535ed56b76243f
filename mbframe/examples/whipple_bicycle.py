"""The Whipple bicycle with the parameters of the benchmark."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..bodies import RigidBody
from ..errors import ModelError, Problem
from ..joints import RevoluteJoint, RollingDisk
from ..rotations import frame_with_axis
from ..shapes import Box, Cylinder, Shape, Sphere
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


DARK, RIDER, SKIN, HELMET = "#343a41", "#3f6f9f", "#c99a76", "#d9c144"  # colours of the rider and what he sits on


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
    frame.shapes = _frame_and_rider(frame, rear_center, crown, axis)
    fork.shapes = _fork(fork, front_center, crown, axis)

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


def _frame_and_rider(
    frame: RigidBody, hub: NDArray[np.float64], crown: NDArray[np.float64], axis: NDArray[np.float64]
) -> list[Shape]:
    """What the rear frame looks like: tubes, saddle, cranks, and a rider who does not move on them. Looks only."""
    cranks, seat = hub + np.array([0.43, 0.0, -0.02]), hub + np.array([0.25, 0.0, 0.58])
    top, low = crown - 0.02 * axis, crown - 0.14 * axis
    shapes: list[Shape] = [
        _tube(frame, cranks, seat, 0.018),
        _tube(frame, seat + 0.2 * (cranks - seat), top, 0.018),
        _tube(frame, cranks, low, 0.02),
        _tube(frame, low - 0.02 * axis, top + 0.03 * axis, 0.024),
        Box(size=(0.26, 0.12, 0.05), position=seat + np.array([0.0, 0.0, 0.04]) - frame.position, color=DARK),
        _tube(frame, cranks + np.array([0.0, -0.09, 0.0]), cranks + np.array([0.0, 0.09, 0.0]), 0.03, DARK),
    ]
    hip, shoulder = seat + np.array([0.02, 0.0, 0.13]), seat + np.array([0.27, 0.0, 0.58])
    for side in (-1.0, 1.0):
        beside = np.array([0.0, 0.06 * side, 0.0])
        shapes.append(_tube(frame, hub + beside, cranks + 0.3 * beside, 0.011))
        shapes.append(_tube(frame, hub + beside, seat + 0.3 * beside, 0.01))
        pedal = cranks + np.array([0.12 * side, 0.1 * side, -0.12 * side])
        knee = pedal + np.array([0.1 - 0.06 * side, 0.02 * side, 0.46])
        shapes.append(_tube(frame, cranks + np.array([0.0, 0.08 * side, 0.0]), pedal, 0.012, DARK))
        joints = (hip + np.array([0.0, 0.09 * side, 0.0]), knee, pedal + np.array([0.0, 0.02 * side, 0.05]))
        hand = crown + 0.18 * axis + np.array([-0.02, 0.24 * side, 0.0])
        arm = shoulder + np.array([0.0, 0.17 * side, -0.02])
        elbow = 0.5 * (arm + hand) + np.array([-0.05, 0.03 * side, -0.05])
        for start, end, thick, color in (
            (joints[0], joints[1], 0.062, RIDER),
            (joints[1], joints[2], 0.045, SKIN),
            (arm, elbow, 0.04, RIDER),
            (elbow, hand, 0.032, SKIN),
        ):
            shapes.append(_tube(frame, start, end, thick, color))
            shapes.append(Sphere(radius=thick, position=end - frame.position, color=color))
        shapes.append(Sphere(radius=0.075, position=arm - frame.position, color=RIDER))
    chest = shoulder + np.array([-0.02, 0.0, -0.03])
    shapes += [
        _tube(frame, hip, chest, 0.12, RIDER),
        Sphere(radius=0.125, position=hip - frame.position, color=RIDER),
        Sphere(radius=0.125, position=chest - frame.position, color=RIDER),
        _tube(frame, shoulder, shoulder + np.array([0.06, 0.0, 0.16]), 0.045, SKIN),
        Sphere(radius=0.1, position=shoulder + np.array([0.08, 0.0, 0.22]) - frame.position, color=SKIN),
        Sphere(radius=0.108, position=shoulder + np.array([0.065, 0.0, 0.245]) - frame.position, color=HELMET),
    ]
    return shapes


def _fork(
    fork: RigidBody, hub: NDArray[np.float64], crown: NDArray[np.float64], axis: NDArray[np.float64]
) -> list[Shape]:
    """What the front frame looks like: two blades beside the wheel, the stem and the handlebar."""
    low, grip = crown - 0.17 * axis, crown + 0.18 * axis
    across = np.array([0.0, 1.0, 0.0])
    blades = [
        _tube(fork, start, end, 0.013)
        for side in (-0.05, 0.05)
        for start, end in ((hub + side * across, low + side * across), (low + side * across, low))
    ]
    stem = _tube(fork, low, grip, 0.016)
    bar = _tube(fork, grip - 0.27 * across, grip + 0.27 * across, 0.014, DARK)
    return [*blades, stem, bar]


def _tube(
    body: RigidBody,
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    radius: float = 0.015,
    color: str | None = None,
) -> Cylinder:
    """A tube between two global points of a body whose axes are parallel to the global ones."""
    return Cylinder(
        radius=radius,
        length=float(np.linalg.norm(end - start)),
        position=0.5 * (start + end) - body.position,
        rotation=frame_with_axis(end - start),
        color=color,
    )
