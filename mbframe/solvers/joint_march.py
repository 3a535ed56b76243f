"""Steps in joint coordinates: when a run takes them, and what is said where it does not."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..equations.equations import Equations, Strategy
from ..equations.joint_coordinates import JointCoordinates, unsuited
from ..equations.workspace import Record
from ..kernels.stages.dynamics import WEIGHTED, change_least, factor_weighted, no_correction
from .acceleration import Acceleration, AugmentedFormulation
from .integrators import AdamsBashforth, Integrator
from .integrators.runge_kutta import RungeKutta
from .stabilization import DirectCorrection, Stabilization
from .stabilization.base import correction

Array = NDArray[np.float64]
NAME: Final = "Relative"
COSTLY: Final = 4.0
"""By how much the products for what cuts loops may exceed those of a factorization of the equations of the bodies: a
long chain with many loops has paths that all meet."""


class JointMarch:
    """The joint coordinates of a run, and how its strategies work on them."""

    def __init__(
        self,
        joints: JointCoordinates,
        integrator: Integrator,
        acceleration: Acceleration,
        stabilization: Stabilization,
    ) -> None:
        self.joints, self.notes = joints, list[str]()
        eq = joints.eq
        if reason := _asks_bodies(eq, acceleration):
            joints.record["present"] = 1
            self.notes.append(f"{NAME}: steps are taken in joint coordinates, but {reason}")
        joints.use("step", integrator.bound(joints))  # type: ignore[arg-type]
        dense = integrator.interpolation(joints)  # type: ignore[arg-type]
        self.interpolation = dense
        if dense is not None:
            joints.use("interpolate", dense)
        self.correction = self._corrected(eq, stabilization)

    def _corrected(self, eq: Equations, stabilization: Stabilization) -> Strategy:
        """How states are corrected: in joint coordinates, or, by methods that do not know these, as always."""
        joints = self.joints
        own = stabilization.bound(eq)
        if stabilization.corrects and type(stabilization) is not DirectCorrection:
            joints.record["corrects"] = 0
            return own
        if isinstance(stabilization, DirectCorrection) and joints.work["n_rows"]:
            weighted = Record(WEIGHTED)
            weighted["factor"], weighted["entries"] = joints.work.array("factor"), joints.work.entries
            joints.use("correct", correction(factor_weighted, change_least, weighted, stabilization.tolerance))
        else:
            joints.use("correct", Strategy(no_correction.address))
        return joints.strategy("correct", own.label, own.feedback)

    def bind(self) -> None:
        """Let the march of the bodies take its steps in joint coordinates."""
        eq = self.joints.eq
        eq.bind("correct", self.correction)
        eq.bind("step", self.joints.strategy("step"))

    def remarks(self) -> list[str]:
        """What is to be said at the end."""
        record = self.joints.record
        if not record["distrusted"]:
            return []
        return [
            f"{NAME}: at t = {record['at']:.6g} s the recursion differed by {record['difference']:.2g} from the "
            "equations of the bodies, which gave the accelerations from then on; the result is as accurate as in the "
            "coordinates of the bodies, in which such a run is faster"
        ]


def joint_march(
    eq: Equations,
    y: Array,
    integrator: Integrator,
    acceleration: Acceleration,
    stabilization: Stabilization,
) -> tuple[JointMarch | None, list[str]]:
    """The march in joint coordinates that `Relative` asks for, or None and why there is none."""
    if not eq.tables.relative:
        return None, []
    if reason := _unsuited(eq, integrator):
        return None, [f"{NAME}: {reason}; the run is computed in the coordinates of the bodies"]
    joints = JointCoordinates(eq, y)
    if joints.n_v == 0:
        reason = "the joints of its tree leave no freedom to step in"
        return None, [f"{NAME}: {reason}; the run is computed in the coordinates of the bodies"]
    if joints.products > COSTLY * eq.structure.multiplications:
        reason = "its loops are so long and so many that closing them costs more than the equations of the bodies"
        return None, [f"{NAME}: {reason}; the run is computed in the coordinates of the bodies"]
    march = JointMarch(joints, integrator, acceleration, stabilization)
    return march, march.notes


def _unsuited(eq: Equations, integrator: Integrator) -> str:
    if not isinstance(integrator, RungeKutta | AdamsBashforth) or "step" in vars(type(integrator)):
        return f"{integrator} has equations of its own for a step"
    return unsuited(eq.tables)


def _asks_bodies(eq: Equations, acceleration: Acceleration) -> str:
    """Why accelerations come from the equations of the bodies; empty if the recursion gives them."""
    if type(acceleration) is not AugmentedFormulation:
        return f"{acceleration} gives the accelerations, from the equations of the bodies"
    if eq.stages.reactive:
        names = ", ".join(sorted({f.name for f in eq.tables.forces if f.force.reactive}))
        return f"friction depends on reactions, so that accelerations come from the equations of the bodies ({names})"
    return ""
