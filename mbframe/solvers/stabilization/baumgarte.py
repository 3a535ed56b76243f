"""Baumgarte's stabilization."""

from __future__ import annotations

from ...equations.equations import Equations, Strategy
from ...kernels.stages.dynamics import no_correction
from ...parameters import parameter
from .base import Stabilization


class Baumgarte(Stabilization):
    """Violations of the constraints die away like a damped oscillator: C'' + 2 alpha C' + beta^2 C = 0.

    [Baumgarte1972]; [MarquesSoutoFlores2017], eqs. 12-13. The right-hand side of J v' = gamma becomes
    gamma - 2 alpha C' - beta^2 C, for the intrinsic constraints of the bodies too; for nonholonomic ones it becomes
    gamma - 2 alpha D, so that D' + 2 alpha D = 0. States are never corrected, so violations stay bounded but not
    small. With alpha = beta they decay fastest without oscillation; the step limits both, to about 1/dt.

    It acts through `feedback`, so it goes with every acceleration and integrator. Accelerations and reactions of a
    result are those with which the motion was computed: they include the feedback.
    """

    corrects = False

    alpha = parameter(5.0, unit="1/s", minimum=0.0, help="decay of the violations")
    beta = parameter(5.0, unit="1/s", minimum=0.0, help="undamped angular frequency of the violations")

    @property
    def feedback(self) -> tuple[float, float]:
        return 2.0 * self.alpha, self.beta**2

    def stage(self, eq: Equations) -> Strategy:
        return Strategy(no_correction.address)
