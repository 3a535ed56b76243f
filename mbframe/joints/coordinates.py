"""Coordinates of joints: the angles and displacements that they leave free, zero where they are described."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..measures import angle, angle_rate, displacement, displacement_rate
from .library import UniversalJoint

UNITS: Final = {"angle": "rad", "displacement": "m", "angle_1": "rad", "angle_2": "rad"}
RATES: Final = {"rad": "rad/s", "m": "m/s"}


def coordinates_of(joint: Any) -> tuple[str, ...]:
    """The names of the coordinates of a joint: "angle" about its axis, "displacement" along it.

    A universal joint has "angle_1", by which its cross turns about `axis_i` of the first body, and "angle_2", by which
    the second body turns about `axis_j` of the cross.
    """
    if isinstance(joint, UniversalJoint):
        return ("angle_1", "angle_2")
    return tuple(getattr(joint, "freedoms", ()))


def coordinate(name: str, i: Any, j: Any) -> tuple[float, float]:
    """A coordinate of a joint and its rate for states of its markers; angles are between -pi and pi.

    Of a universal joint, with a = z_i and b = z_j perpendicular to each other: the cross turns about a by the angle of
    b from x_i towards y_i; the second body turns about b by minus the angle of a from x_j towards y_j, since the cross
    stays behind when it turns. w_j - w_i = a angle_1' + b angle_2'.
    """
    if name == "angle":
        return float(angle(i, j)[0]), float(angle_rate(i, j))
    if name == "displacement":
        return float(displacement(i, j)[0]), float(displacement_rate(i, j))
    a, b = np.asarray(i.axes)[:, 2], np.asarray(j.axes)[:, 2]
    turning = np.asarray(j.angular_velocity) - np.asarray(i.angular_velocity)
    if name == "angle_1":
        x, y, _ = np.asarray(i.axes).T @ b
        return float(np.arctan2(y, x)), float(a @ turning)
    x, y, _ = np.asarray(j.axes).T @ a
    return float(-np.arctan2(y, x)), float(b @ turning)
