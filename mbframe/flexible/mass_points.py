"""Inertia as points: what integrals over a moving, deforming body need to know of its mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class MassPoints:
    """The mass of a component as p points that move and turn, coupled by a symmetric form.

    A point g at X_g has a velocity u_g' and an angular velocity θ_g'; the kinetic energy is ½ wᵀ inertia w with
    w = (u_0', θ_0', u_1', θ_1', …). Small displacements d of the component's freedoms give the points' own by
    ``displacement @ d``, so ``displacement.T @ inertia @ displacement`` is the mass matrix. In a floating frame that
    moves with v_0 and turns with ω the points have u_g' = v_0 + ω x (X_g + u_g) + du_g/dt and θ_g' = ω + dθ_g/dt, all
    in the axes of the frame. For points within elements (beams) and for nodes with translations (solids) that is the
    motion of the interpolated material itself.

    Parameters
    ----------
    positions
        (p, 3): where the points are undeformed, m.
    inertia
        (6p, 6p) sparse, symmetric; kg, kg m, kg m².
    displacement
        (6p, n) sparse: displacement and rotation of each point for the n freedoms.
    """

    positions: np.ndarray
    inertia: sparse.csr_array
    displacement: sparse.csr_array

    def mass_matrix(self) -> sparse.csr_array:
        """The consistent mass matrix, (n, n)."""
        matrix = self.displacement.T @ self.inertia @ self.displacement
        return sparse.csr_array(0.5 * (matrix + matrix.T))

    def with_nodes(self, nodes: np.ndarray, inertia: sparse.csr_array) -> MassPoints:
        """These points and the nodes themselves, which carry an inertia (n, n) in their six freedoms each."""
        displacement = sparse.vstack([self.displacement, sparse.eye_array(inertia.shape[0])])
        return MassPoints(
            np.concatenate([self.positions, nodes]),
            sparse.csr_array(sparse.block_diag([self.inertia, inertia])),
            sparse.csr_array(displacement),
        )

    def rigid_fields(self) -> np.ndarray:
        """(6p, 6): unit translations along, and unit turns about, x, y and z through the origin."""
        return rigid_fields(self.positions).reshape(-1, 6)


def rigid_fields(positions: np.ndarray) -> np.ndarray:
    """(p, 6, 6): displacement and rotation of points for unit translations and unit turns about the origin."""
    fields = np.zeros((len(positions), 6, 6))
    fields[:, :3, :3] = fields[:, 3:, 3:] = np.eye(3)
    fields[:, (1, 2, 0), (5, 3, 4)] = positions[:, (0, 1, 2)]
    fields[:, (2, 0, 1), (4, 5, 3)] = -positions[:, (0, 1, 2)]
    return fields
