"""The state space of reduced linear equations with inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from .inputs import Inputs
from .linear_equations import LinearEquations
from .outputs import Outputs
from .reduction import Reduction

Array = NDArray[np.float64]

REACHED = 1e-9  # what drivers may leave of their equations


@dataclass(frozen=True)
class StateSpace:
    """y' = A y + B inputs, outputs = C y + D inputs.

    The states are those of `Reduction`, y = (x, u, zeta). Where drivers are inputs they are followed by the changes w
    of the drivers' functions and their rates w'; the inputs are the accelerations w''.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    inputs: list[str]
    outputs: list[str]


def state_space(r: Reduction, e: LinearEquations, inputs: Inputs, outputs: Outputs) -> StateSpace:
    """The state space of reduced equations.

    A driver moves the bodies by X w: J X = driven, with V^T M X = 0. Then xi = V x + X w and x' = N u - S x - S_0 w -
    S_1 w' with S_0 = (G V)^+ W X, S_1 = (G V)^+ G X. The equations of motion contain w and w' alone, because X w'' does
    no work on admissible motions; accelerations and reactions contain w'' too.
    """
    if not inputs.names and not outputs.names:
        n = len(r.A)
        return StateSpace(r.A, np.zeros((n, 0)), np.zeros((0, n)), np.zeros((0, 0)), [], [])
    X = _driven(r, e, inputs)
    n, drivers = len(r.A), X.shape[1]
    slip = np.linalg.pinv(e.nonholonomic @ r.V, rcond=1e-9)
    S_0, S_1 = slip @ e.drift @ X, slip @ e.nonholonomic @ X
    # rates of small motions by w and by w'
    by_w, by_rate = -r.V @ S_0, X - r.V @ S_1
    free = (r.V @ r.N).T
    A = np.zeros((n + 2 * drivers, n + 2 * drivers))
    A[:n, :n] = r.A
    A[:n, n : n + drivers] = np.vstack(
        [-S_0, -free @ (e.stiffness @ X + e.damping @ by_w), e.own_position @ X + e.own_velocity @ by_w]
    )
    A[:n, n + drivers :] = np.vstack([-S_1, -free @ e.damping @ by_rate, e.own_velocity @ by_rate])
    A[n : n + drivers, n + drivers :] = np.eye(drivers)
    B = np.zeros((len(A), len(inputs.names)))
    B[:n] = r.B @ inputs.loads.T
    B[r.n_x + r.n_u : n] += inputs.own.T
    for k, number in enumerate(inputs.driven):
        B[n + drivers + k, number] = 1.0
    motion = np.hstack([r.motion, X, np.zeros_like(X)])
    velocity = np.hstack([r.velocity, by_w, by_rate])
    own = np.zeros((len(e.own_feedback), len(A)))
    own[:, r.n_x + r.n_u : n] = np.eye(len(own))
    rows = outputs.rows
    by_acceleration = rows.acceleration @ velocity
    C = rows.position @ motion + rows.velocity @ velocity + by_acceleration @ A + rows.own @ own
    D = by_acceleration @ B + rows.load @ inputs.loads.T
    return StateSpace(A, B, C, D, inputs.names, outputs.names)


def _driven(r: Reduction, e: LinearEquations, inputs: Inputs) -> Array:
    """X: the small motions (columns) that follow the drivers and no admissible motion."""
    right = np.zeros((len(e.holonomic), len(inputs.driven)))
    for k, (equation, coefficient) in enumerate(inputs.driven.values()):
        right[equation, k] = coefficient
    X = np.linalg.lstsq(e.holonomic, right, rcond=1e-9)[0] if right.size else np.zeros((e.size, right.shape[1]))
    missed = np.abs(e.holonomic @ X - right).max(axis=0, initial=0.0)
    for number, left in zip(inputs.driven, missed, strict=True):
        if left > REACHED:
            raise AnalysisError(
                f"input {inputs.names[number]!r}: other constraints hold what it drives, it cannot move; remove one of "
                "the dependent constraints, which mb.degrees_of_freedom names"
            )
    return X - r.V @ (r.weights @ X)
