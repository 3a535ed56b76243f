"""Generalized coordinate partitioning."""

from __future__ import annotations

from dataclasses import replace

from ...equations.equations import Equations, Strategy
from ...equations.partition import partition_record
from ...equations.workspace import Record
from ...kernels.stages.partition import (
    INDEPENDENT,
    POSITIONS_AND_VELOCITIES,
    accelerate_independent,
    change_dependent,
    part_velocities,
)
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

    `redundancy="start"` reveals the partition once and again when its block has become twice as badly conditioned;
    `"every step"` reveals it after each step.

    `integrate="independent"` is [MarquesSoutoFlores2017], eqs. 14-15: only the independent displacements and velocities
    are integrated, and the dependent ones are solved for wherever accelerations are evaluated, within a step too. With
    `"all"` accelerations are evaluated where the integrator leads, a little off the constraints.
    """

    tolerance = parameter(1e-9, above=0.0, help="largest norm of the constraint residuals, and of their rates")
    redundancy = parameter(
        "start", choices=("start", "every step"), help="when dependent coordinates and rows are chosen"
    )

    integrate = parameter(
        "all", choices=("all", "independent"), help="what is integrated; dependent coordinates then follow"
    )

    def stage(self, eq: Equations) -> Strategy:
        data = Record(POSITIONS_AND_VELOCITIES)
        holonomic = eq.tables.n_holonomic
        data["position"] = partition_record(eq, holonomic, self.redundancy == "every step")
        data["velocity"] = data.array("position")
        if eq.n_rows > holonomic:
            data["velocity"] = partition_record(eq, eq.n_rows, self.redundancy == "every step")
        return correction(part_velocities, change_dependent, data, self.tolerance)

    def accelerating(self, acceleration: Strategy, correction: Strategy) -> Strategy:
        if self.integrate == "all":
            return acceleration
        assert correction.data is not None
        data = Record(INDEPENDENT)
        data["partitions"] = correction.data.array("data")
        data["correct"], data["correct_data"] = correction.address, correction.data
        data["accelerate"], data["accelerate_data"] = acceleration.address, acceleration.data or 0
        return replace(acceleration, address=accelerate_independent.address, data=data)
