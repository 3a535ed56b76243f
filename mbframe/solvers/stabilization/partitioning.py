"""Generalized coordinate partitioning."""

from __future__ import annotations

from ...equations.equations import Equations, Strategy
from ...equations.partition import partition_record
from ...equations.workspace import Record
from ...kernels.partition import POSITIONS_AND_VELOCITIES, change_dependent, part_velocities
from ...parameters import parameter
from .base import Stabilization, correction


class CoordinatePartitioning(Stabilization):
    """After each step the dependent coordinates follow from the independent ones, which stay as integrated.

    The robust generalized coordinate partitioning algorithm, [PappalardoLettieriGuida2020], sections 3.3 and 3.4: the
    displacements of the bodies are parted into dependent and independent ones by a rank-revealing elimination of J,
    which also finds the rows that follow from others. The dependent ones are solved for by Newton's method,
    J[R, d] dq_d = -C[R], until |C| <= tolerance; then the velocities in the same way, J[R, d] dv_d = -(C', D)[R], with
    a partition of their own if there are nonholonomic constraints. Equations that are not linear in the velocities are
    iterated like the positions.

    `redundancy="start"` reveals the partition once and again when its block has become ten times worse conditioned;
    `"every step"` reveals it after each step.
    """

    tolerance = parameter(1e-9, above=0.0, help="largest norm of the constraint residuals; ten times that for rates")
    redundancy = parameter(
        "start", choices=("start", "every step"), help="when dependent coordinates and rows are chosen"
    )

    def stage(self, eq: Equations) -> Strategy:
        data = Record(POSITIONS_AND_VELOCITIES)
        holonomic = eq.tables.n_holonomic
        data["position"] = partition_record(eq, holonomic, self.redundancy == "every step")
        data["velocity"] = data.array("position")
        if eq.n_rows > holonomic:
            data["velocity"] = partition_record(eq, eq.n_rows, self.redundancy == "every step")
        return correction(part_velocities, change_dependent, data, self.tolerance)
