"""A small finite-element model of rotors in fixed axes: round shafts and disks with their gyroscopic matrices.

The deflection of the axis is the complex number v + i w over x, the tilt of a section β = θ_z - i θ_y; without shear
it is the slope. Two freedoms a node, real symmetric matrices, and for motions exp(i ω t) at the speed Ω

    (K + ω Ω G - ω² M) r = 0

with ω > 0 forward and ω < 0 backward whirl. `turning_roots` has shafts and disks that are not round, in axes that turn
with them. Nothing of mbframe is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

Disk = tuple[int, float, float, float]  # node, mass, polar and diametral inertia


@dataclass
class Rotor:
    """A uniform round shaft of some elements with disks at nodes, held in v and w at the nodes `pinned`.

    `tilt` and `polar` are the inertias of the sections per length, ρ I and 2 ρ I unless they are neglected; `shear` is
    κ G A, infinite without shear.
    """

    length: float
    elements: int
    bending: float  # E I
    mass: float  # ρ A
    tilt: float = 0.0
    polar: float = 0.0
    shear: float = np.inf
    disks: Sequence[Disk] = ()
    pinned: Sequence[int] = field(default_factory=list)

    def matrices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M, G and K of the free freedoms."""
        n, h = self.elements + 1, self.length / self.elements
        M, G, K = np.zeros((3, 2 * n, 2 * n))
        # v = c0 + c1 x + c2 x² + c3 x³ and β = v' - γ with a constant shear angle γ = -6 E I c3 / (κ G A)
        gamma = -6.0 * self.bending / self.shear
        at = lambda x: np.array([[1, x, x**2, x**3], [0, 1, 2 * x, 3 * x**2 - gamma]])  # noqa: E731
        inverse = np.linalg.inv(np.vstack([at(0.0), at(h)]))
        points, weights = np.polynomial.legendre.leggauss(6)
        for e in range(self.elements):
            part = np.s_[2 * e : 2 * e + 4]
            for x, w in zip(0.5 * h * (points + 1), 0.5 * h * weights, strict=True):
                v, b = at(x) @ inverse
                curve = np.array([0, 0, 2, 6 * x]) @ inverse
                sheared = np.array([0, 0, 0, gamma]) @ inverse
                K[part, part] += w * self.bending * np.outer(curve, curve)
                if np.isfinite(self.shear):
                    K[part, part] += w * self.shear * np.outer(sheared, sheared)
                M[part, part] += w * (self.mass * np.outer(v, v) + self.tilt * np.outer(b, b))
                G[part, part] += w * self.polar * np.outer(b, b)
        for node, mass, polar, diametral in self.disks:
            M[2 * node, 2 * node] += mass
            M[2 * node + 1, 2 * node + 1] += diametral
            G[2 * node + 1, 2 * node + 1] += polar
        free = np.setdiff1d(np.arange(2 * n), 2 * np.array(self.pinned, int))
        return M[np.ix_(free, free)], G[np.ix_(free, free)], K[np.ix_(free, free)]

    def whirl(self, speed: float) -> np.ndarray:
        """All ω, rad/s, in order of size: positive ones are forward."""
        M, G, K = self.matrices()
        none, one = np.zeros_like(M), np.eye(len(M))
        left = np.block([[none, one], [K, speed * G]])
        omega = linalg.eigvals(left, linalg.block_diag(one, M))
        assert np.abs(omega.imag).max() < 1e-6 * np.abs(omega).max()
        return omega.real[np.argsort(np.abs(omega.real))]


def turning_roots(
    speed: float,
    length: float,
    elements: int,
    bending: tuple[float, float],
    mass: float,
    tilt: tuple[float, float],
    disks: Sequence[tuple[int, float, tuple[float, float, float]]],
    pinned: Sequence[int],
) -> np.ndarray:
    """All roots of a shaft with unlike planes and disks with three unlike inertias, in axes that turn with it.

    From a Lagrangian of the displacements v, w and the rotation vector (0, a, b) of nodes in these axes, where the
    shaft turns as exp(Ω t x~) exp((0, a, b)~): to second order the angular velocity of a section in its own axes is
    (Ω - Ω (a² + b²)/2 - (a b' - b a')/2, a' - Ω b, b' + Ω a), and the velocity of its centre (v' - Ω w, w' + Ω v). So

        T = m/2 |velocity|² + I_y/2 (a' - Ω b)² + I_z/2 (b' + Ω a)² - I_x Ω/2 (a b' - b a' + Ω (a² + b²))

    without shear, a = -∂w/∂x and b = ∂v/∂x. `bending` and `tilt` are E I and ρ I about y (of w) and about z (of v), and
    the polar inertia of a section is the sum of its two.
    """
    n, h = elements + 1, length / elements
    at = lambda x: np.array([[1, x, x**2, x**3], [0, 1, 2 * x, 3 * x**2]])  # noqa: E731
    inverse = np.linalg.inv(np.vstack([at(0.0), at(h)]))
    M, C, K = np.zeros((3, 4 * n, 4 * n))  # T = 1/2 u'Mu' + u'Cu - 1/2 u(K - elastic)u

    def add(fields: np.ndarray, mass: float, polar: float, about_y: float, about_z: float) -> None:
        v, w, a, b = fields
        for inertia, own, other in ((mass, v, -w), (mass, w, v), (about_y, a, -b), (about_z, b, a)):
            M[:] += inertia * np.outer(own, own)
            C[:] += inertia * speed * np.outer(own, other)
            K[:] -= inertia * speed**2 * np.outer(other, other)
        C[:] -= 0.5 * polar * speed * (np.outer(b, a) - np.outer(a, b))
        K[:] += polar * speed**2 * (np.outer(a, a) + np.outer(b, b))

    def rows(node: int) -> np.ndarray:
        return np.eye(4 * n)[4 * node : 4 * node + 4]

    points, weights = np.polynomial.legendre.leggauss(6)
    for e in range(elements):
        first, last = rows(e), rows(e + 1)
        along_v = np.array([first[0], first[3], last[0], last[3]])
        along_w = np.array([first[1], -first[2], last[1], -last[2]])
        for x, weight in zip(0.5 * h * (points + 1), 0.5 * h * weights, strict=True):
            shapes, curve = at(x) @ inverse, np.array([0, 0, 2, 6 * x]) @ inverse
            fields = np.array([shapes[0] @ along_v, shapes[0] @ along_w, -shapes[1] @ along_w, shapes[1] @ along_v])
            add(fields, *(weight * np.array([mass, tilt[0] + tilt[1], *tilt])))
            for stiffness, plane in zip(bending, (along_w, along_v), strict=True):
                K += weight * stiffness * np.outer(curve @ plane, curve @ plane)
    for node, heavy, (polar, about_y, about_z) in disks:
        add(rows(node), heavy, polar, about_y, about_z)
    free = np.setdiff1d(np.arange(4 * n), [4 * node + k for node in pinned for k in (0, 1)])
    M, C, K = (matrix[np.ix_(free, free)] for matrix in (M, C, K))
    none, one = np.zeros_like(M), np.eye(len(M))
    # d/dt (M u' + C u) = C^T u' - K u
    return linalg.eigvals(np.block([[none, one], [-K, C.T - C]]), linalg.block_diag(one, M))
