"""Direct correction of positions and velocities."""

from __future__ import annotations

from ...equations.equations import Equations, Strategy
from ...equations.workspace import Record, factor_record
from ...kernels.stages.dynamics import WEIGHTED, change_least, factor_weighted
from ...parameters import parameter
from .base import Stabilization, correction


class DirectCorrection(Stabilization):
    """Project positions and velocities onto the constraints after every step.

    dq = -W^-1 J^T (J W^-1 J^T)^-1 C, repeated until |C| <= tolerance, then the same for the velocities. The weight W is
    the mass matrix, so heavy bodies move least, or the identity (`mass_weighted=False`). [MarquesSoutoFlores2017], eqs.
    50-51, with the inverse of the mass matrix as the weight; [PappalardoGuida2018a], direct correction, with unit
    weights.

    Rounding limits what can be reached. A tolerance below 16 eps times the largest coordinate (or velocity) times the
    root of the number of rows is approached as long as a correction at least halves the violation.
    """

    tolerance = parameter(1e-12, above=0.0, help="largest norm of the constraint residuals, and of their rates")
    mass_weighted = parameter(True, help="weight of the correction: mass matrix, or identity")

    def stage(self, eq: Equations) -> Strategy:
        weighted = Record(WEIGHTED)
        weighted["n_mass"] = eq.tables.n_mass_entries
        if self.mass_weighted:
            weighted["factor"], weighted["entries"] = eq.factor_record, eq.work.entries
        else:
            weighted["factor"], weighted["entries"] = factor_record(eq.structure), eq.unit_weights()
        return correction(factor_weighted, change_least, weighted, self.tolerance, shares=self.mass_weighted)
