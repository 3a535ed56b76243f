"""The penalty method and the augmented Lagrangian method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations, Strategy
from ...equations.workspace import Record, factor_record
from ...errors import ModelError
from ...kernels.stages.penalty import PENALTY, accelerate_by_penalties
from ...parameters import parameter
from .base import Acceleration


class Penalty(Acceleration):
    """Constraints as stiff springs, dampers and inertias: lambda = alpha (C'' + 2 omega mu C' + omega^2 C).

    (M + J^T alpha J) v' = Q - J^T alpha (-gamma + 2 omega mu C' + omega^2 C); [MarquesSoutoFlores2017], eqs. 21-22,
    [FlexibleNotes], eqs. 30-31. A nonholonomic constraint D has lambda = alpha (D' + 2 omega mu D). Alpha is counted in
    units of 1 / diag(J M^-1 J^T), the mass that a row feels, taken at the first state of a run: one number then suits
    all rows of any model, and the error of v' falls as 1/alpha. The violation decays like a critically damped
    oscillator for mu = 1, but for an error of order 1/alpha.

    Each of alpha, omega and mu is a number, or one for each equation in the order of `Result.multipliers`: joints as
    they were added, then the bodies' intrinsic constraints.

    Constraints may depend on each other. Solved as a sparse system with -1/alpha on the diagonal of the multipliers,
    which large alpha do not spoil.
    """

    iterations = 1

    alpha = parameter(1e7, kind="numbers", above=0.0, help="penalty, in units of the mass that a constraint feels")
    omega = parameter(10.0, kind="numbers", unit="rad/s", minimum=0.0, help="natural frequency of the violations")
    mu = parameter(1.0, kind="numbers", minimum=0.0, help="damping ratio of the violations")

    def stage(self, eq: Equations) -> Strategy:
        alpha, omega, mu = self._by_row(eq)
        data = Record(PENALTY)
        data["alpha"], data["rate_gain"], data["position_gain"] = alpha, 2.0 * omega * mu, omega**2
        data["limit"], data["factor"], data["target"] = (
            self.iterations,
            factor_record(eq.structure),
            np.zeros(eq.n_rows),
        )
        return Strategy(accelerate_by_penalties.address, data)

    def _by_row(self, eq: Equations) -> list[NDArray[np.float64]]:
        """alpha, omega and mu of each equation."""
        given = {field: np.asarray(getattr(self, field)) for field in ("alpha", "omega", "mu")}
        problems = [
            self.problem(
                field, f"found {len(values)} numbers for {eq.n_rows} equations; give one number, or one for each"
            )
            for field, values in given.items()
            if values.ndim and len(values) != eq.n_rows
        ]
        if problems:
            raise ModelError(problems)
        return [np.full(eq.n_rows, values) for values in given.values()]


class AugmentedLagrangian(Penalty):
    """The penalty method, repeated with the multipliers it gave until v' no longer changes.

    lambda_i+1 = lambda_i + alpha (C'' + 2 omega mu C' + omega^2 C); [MarquesSoutoFlores2017], eqs. 23-25,
    [FlexibleNotes], eqs. 32-34. Each repetition divides the error by alpha, so that two or three do; v' then satisfies
    C'' + 2 omega mu C' + omega^2 C = 0 exactly. Where constraints depend on each other the multipliers are those of
    minimum norm.
    """

    iterations = 60

    tolerance = parameter(1e-12, above=0.0, help="largest change of v' in the last repetition, relative to v'")

    def stage(self, eq: Equations) -> Strategy:
        strategy = super().stage(eq)
        assert strategy.data is not None
        strategy.data["tolerance"] = self.tolerance
        return strategy
