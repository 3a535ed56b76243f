"""How the nodes of a flexible body move in its floating frame, over many instants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .formulations.node_rotation import coefficients, turn, twist, twist_change

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NodeMotion:
    """A node at n instants, in the axes of the frame.

    displacement, velocity, acceleration
        (n, 3): of the node relative to where it is undeformed, and the rates that an observer on the frame sees.
    rotation
        (n, 3, 3): exp(e~), e being its small rotation.
    angular_velocity, angular_acceleration
        (n, 3): relative to the frame.
    """

    displacement: Array
    velocity: Array
    acceleration: Array
    rotation: Array
    angular_velocity: Array
    angular_acceleration: Array

    @classmethod
    def of(cls, shape: Array, modal: Array, rate: Array, second: Array) -> NodeMotion:
        """From the node's shape and the modal coordinates (n, modes) with their two derivatives.

        The shape has 6 rows psi and, of bodies with geometric stiffening, 6 more for each mode: g of psi eta + 1/2
        eta^T g eta.
        """
        curves = shape[6:].reshape(-1, 6, shape.shape[1])
        now = shape[:6] + np.einsum("nk,krl->nrl", modal[:, : len(curves)], curves)
        moved = np.einsum("nrl,nl->nr", 0.5 * (shape[:6] + now), modal)
        velocity, acceleration = np.einsum("nrl,nl->nr", now, rate), np.einsum("nrl,nl->nr", now, second)
        acceleration += np.einsum("nk,krl,nl->nr", rate[:, : len(curves)], curves, rate)
        turned = np.empty((len(modal), 3, 3))
        spin, change = np.empty((len(modal), 3)), np.empty((len(modal), 3))
        for k, (e, e_rate, e_second) in enumerate(zip(moved[:, 3:], velocity[:, 3:], acceleration[:, 3:], strict=True)):
            a, b, a_rate, b_rate = coefficients(e @ e)
            turned[k] = np.transpose([turn(a, b, e, axis) for axis in np.eye(3)])
            spin[k] = twist(a, b, e, e_rate)
            bent = twist_change(a, b, a_rate, b_rate, e, e_rate, e_rate)
            change[k] = np.add(bent, twist(a, b, e, e_second))
        return cls(moved[:, :3], velocity[:, :3], acceleration[:, :3], turned, spin, change)
