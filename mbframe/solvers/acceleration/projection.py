"""The projection matrix method."""

from __future__ import annotations

from ...equations.equations import Equations, Strategy
from ...equations.partition import projection_record
from ...kernels.stages.partition import accelerate_by_projection
from .base import Acceleration


class ProjectionMatrix(Acceleration):
    """Accelerations from equations of motion without multipliers, projected on what the constraints admit.

    v' = R a + p, where the columns of R span the motions with J R = 0 and J p = gamma; then R^T M R a = R^T (Q - M p).
    [FlexibleNotes], eqs. 35-44. R follows from a partition of the velocities into dependent and independent ones, with
    unit values for one independent velocity at a time; the partition is revealed by complete pivoting and kept while it
    stays well conditioned. Multipliers follow afterwards from J^T lambda = Q - M v'; where constraints depend on each
    other they are those of minimum norm. All matrices are dense: the cost grows with the cube of the number of bodies.
    """

    def stage(self, eq: Equations) -> Strategy:
        return Strategy(accelerate_by_projection.address, projection_record(eq))
