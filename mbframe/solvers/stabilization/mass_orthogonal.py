"""Mass-orthogonal projections."""

from __future__ import annotations

import numpy as np

from ...equations.equations import Equations, Strategy
from ...equations.workspace import Record, factor_record
from ...kernels.stages.penalty import PENALIZED, change_by_penalties, factor_penalized
from ...parameters import parameter
from .base import Stabilization, correction


class MassOrthogonalProjection(Stabilization):
    """Positions and velocities are projected on the constraints by penalties, in the norm of the mass matrix.

    (M + J^T alpha J) dq = -J^T alpha C, repeated until |C| <= tolerance, then the same for the velocities;
    [MarquesSoutoFlores2017], eqs. 26-30, the multipliers started with alpha C. Each repetition divides the violation by
    alpha, which is counted in units of 1 / diag(J M^-1 J^T), the mass that a row feels, at the first state of a run.
    Dependent constraints need no special care.
    """

    penalty = parameter(1e7, above=0.0, help="alpha, in units of the mass that a constraint feels")
    tolerance = parameter(1e-12, above=0.0, help="largest norm of the constraint residuals, and of their rates")

    def stage(self, eq: Equations) -> Strategy:
        data = Record(PENALIZED)
        data["alpha"], data["factor"] = np.full(eq.n_rows, self.penalty), factor_record(eq.structure)
        return correction(factor_penalized, change_by_penalties, data, self.tolerance)
