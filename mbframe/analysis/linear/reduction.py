"""From constrained linear equations to independent states: the motions and velocities that the constraints allow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from ..mobility.null_space import null_space
from .linear_equations import LinearEquations

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Reduction:
    """xi = V x, x' = N u - S x: independent coordinates x, independent velocities u, and own states zeta.

    V spans the null space of J with V^T M V = 1, N that of G V; S = (G V)^+ W V. The state y = (x, u, zeta) obeys y' =
    A y + B f, where f are loads on the bodies in the directions of xi; that V is normalized by the mass matrix makes
    the norm of y that of an energy, the same in every formulation.
    """

    V: Array
    N: Array
    S: Array
    A: Array
    B: Array
    weights: Array  # V^T M, which gives x = V^T M xi
    pace: float  # 1/s, see `LinearEquations`

    @property
    def n_x(self) -> int:
        return self.V.shape[1]

    @property
    def n_u(self) -> int:
        return self.N.shape[1]

    @property
    def motion(self) -> Array:
        """xi of a state."""
        return np.hstack([self.V, np.zeros((len(self.V), len(self.A) - self.n_x))])

    @property
    def velocity(self) -> Array:
        """xi' of a state."""
        own = len(self.A) - self.n_x - self.n_u
        return self.V @ np.hstack([-self.S, self.N, np.zeros((self.n_x, own))])

    @cached_property
    def units(self) -> Array:
        """Units of the states in which the blocks of the state matrix are of one size, a rate: see `balanced`.

        Without them a stiffness, which is the square of a rate, would hide what happens to slow motions.
        """
        x, u, z = self.A[: self.n_x], self.A[self.n_x : self.n_x + self.n_u], self.A[self.n_x + self.n_u :]
        parts = [slice(self.n_x), slice(self.n_x, self.n_x + self.n_u), slice(self.n_x + self.n_u, None)]
        size = np.linalg.norm
        rate = max(np.sqrt(size(u[:, parts[0]])), size(u[:, parts[1]]), size(x[:, parts[0]]), self.pace) or 1.0
        out, into = size(u[:, parts[2]]), size(z[:, parts[0]]) / rate + size(z[:, parts[1]])
        own = np.sqrt(out / into) if out and into else 1.0
        return np.concatenate([np.full(len(x), 1.0 / rate), np.ones(len(u)), np.full(len(z), 1.0 / own)])

    @cached_property
    def balanced(self) -> Array:
        """The state matrix of y/units."""
        return self.A * self.units / self.units[:, None]

    def state(self, motion: Array, velocity: Array) -> Array:
        """The state y/units of admissible small motions and their velocities (columns)."""
        x, u = self.weights @ motion, self.N.T @ self.weights @ velocity
        y = np.concatenate([x, u, np.zeros((len(self.A) - len(x) - len(u), *x.shape[1:]))])
        return y / self.units[:, None]


def normalized(e: LinearEquations, basis: Array) -> Array:
    """V: a basis of the same motions with V^T M V = 1."""
    # In units in which every motion has the mass 1: where masses differ by many orders of magnitude, as those of the
    # shapes of a light shaft with a heavy disk, the small ones would be lost in the rounding of the others.
    masses = np.diag(e.mass)
    sizes = np.sqrt(np.where(masses > 0.0, masses, 1.0))
    basis = np.linalg.qr(sizes[:, None] * basis)[0] / sizes[:, None]
    try:
        half = np.linalg.cholesky(basis.T @ e.mass @ basis)
    except np.linalg.LinAlgError:
        raise AnalysisError(
            "a motion that the constraints allow moves no mass; give every body mass and inertia in all directions in "
            "which it can move"
        ) from None
    return np.asarray(np.linalg.solve(half, basis.T).T, float)


def reduce(e: LinearEquations, basis: Array) -> Reduction:
    """The independent states of linear equations; `basis` spans the admissible motions."""
    V = normalized(e, basis)
    rows = e.nonholonomic @ V
    N = null_space(rows, float(np.linalg.norm(e.nonholonomic) * np.linalg.norm(V)))
    S = np.linalg.lstsq(rows, e.drift @ V, rcond=1e-9)[0]
    K, R = V.T @ e.stiffness @ V, V.T @ e.damping @ V
    L, H, F = e.own_position @ V, e.own_velocity @ V, V.T @ e.own_force
    n_x, n_u = N.shape
    x, u, z = slice(n_x), slice(n_x, n_x + n_u), slice(n_x + n_u, None)
    A = np.zeros((n_x + n_u + len(e.own_feedback),) * 2)
    # X M V S of the general recipe vanishes: with V^T M V = 1 the rows of S are orthogonal to N.
    A[x, x], A[x, u] = -S, N
    A[u, x], A[u, u], A[u, z] = -N.T @ (K - R @ S), -N.T @ R @ N, -N.T @ F
    A[z, x], A[z, u], A[z, z] = L - H @ S, H @ N, e.own_feedback
    B = np.zeros((len(A), e.size))
    B[u] = (V @ N).T
    return Reduction(V, N, S, A, B, V.T @ e.mass, e.pace)
