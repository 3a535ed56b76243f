"""A small finite-element model of rotors in fixed axes: round shafts and disks with their gyroscopic matrices.

The deflection of the axis is the complex number v + i w over x, the tilt of a section β = θ_z - i θ_y; without shear
it is the slope. Two freedoms a node, real symmetric matrices, and for motions exp(i ω t) at the speed Ω

    (K + ω Ω G - ω² M) r = 0

with ω > 0 forward and ω < 0 backward whirl. Nothing of mbframe is used.
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
