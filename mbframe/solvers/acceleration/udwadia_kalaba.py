"""The equations of Udwadia and Kalaba."""

from __future__ import annotations

from ...equations.equations import Equations, Strategy
from ...equations.gram import gauss_record
from ...kernels.stages.gauss import accelerate_by_gauss
from .base import Acceleration


class UdwadiaKalaba(Acceleration):
    """Accelerations in closed form: v' = a - M^-1 J^T K^+ (J a - gamma) with a = M^-1 Q and K = J M^-1 J^T.

    [PappalardoGuida2018a], eq. 77; [PappalardoGuida2018b], eqs. 28-30, for a singular mass matrix, in weighted form:
    M + J_i^T W J_i with the intrinsic constraints J_i of the bodies, and Q + J_i^T W gamma_i. Multipliers are
    lambda = K^+ (J a - gamma). K is factored sparsely; where constraints depend on each other its pseudoinverse is
    taken in rows scaled to a unit diagonal of K, so that accelerations stay exact and multipliers are those of minimum
    norm. The pseudoinverse is dense: its cost grows with the cube of the number of equations.
    """

    def stage(self, eq: Equations) -> Strategy:
        return Strategy(accelerate_by_gauss.address, gauss_record(eq.tables))
