"""Joint coordinates of a spanning tree, in which steps are taken."""

from __future__ import annotations

from typing import ClassVar

from .base import Formulation
from .newton_euler import NewtonEuler
from .planar_angle import PlanarAngle


class Relative(Formulation):
    """Steps in the freedoms of the joints of a spanning tree, while loops are closed by constraints.

    A choice for a whole system, in space or in the plane:
    `mb.simulate(system, t_end=1.0, dt=1e-3, formulation=mb.Relative())`. Revolute, translational, cylindrical,
    universal, planar, spherical and fixed joints make a spanning tree, the ones with the fewest freedoms first; a part
    that none of them holds to the ground has a free body. In its coordinates the joints of the tree are closed exactly,
    so nothing drifts and nothing is corrected. All other joints, drivers, gears and own constraints cut loops:

        v' = M^-1 (Q - J^T lambda),    J M^-1 J^T lambda = J M^-1 Q - gamma,

    with the mass matrix M of the joint coordinates, which is never formed: M^-1 is an articulated-body recursion
    [Featherstone2008], chapter 7, whose cost grows linearly with the number of bodies. Without cuts these are the
    minimal coordinates of [PappalardoLettieriGuida2020], eq. 1.

    Integrators without own equations (`RungeKutta4`, `DormandPrince`, `AdamsBashforth`) take their steps so. States
    are kept, stored and evaluated in the coordinates of the bodies, `NewtonEuler` or `PlanarAngle`; all else (implicit
    and own integrators, `linearize`, reactions, energies) is computed with these. Where the recursion does not apply
    or is less accurate than 1e-10, a run goes on with the equations of the bodies and says so in `info.warnings`.
    """

    n_q = n_v = 0  # bodies have those of their own coordinates
    dimension: ClassVar[int] = 0  # systems in space and in the plane

    def of_bodies(self, dimension: int) -> Formulation:
        return NewtonEuler() if dimension == 3 else PlanarAngle()
