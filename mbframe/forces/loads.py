"""Forces and torques on one body, constant or as functions of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..functions import components
from ..kernels.layout import AXES_AT, MOTION_J
from ..parameters import derived, parameter
from ..proposals import Scale, rounded
from ..vectors import times
from .base import ForceElement, OnBody

if TYPE_CHECKING:
    from ..bodies.base import Body


class PointForce(OnBody, ForceElement):
    """A force at a point of a body: PointForce("f", body, at=, force=(0, 0, "sin(2*t)")).

    Its components are numbers or functions of t, in the global axes or, with axes="body", in axes that turn with the
    body and are parallel to the global ones when described. The opposite force acts on the ground.
    """

    force = parameter(kind="vector functions", unit="N", help="components of the force")
    axes = parameter("global", choices=("global", "body"), help="axes of the components")

    @derived
    def follows(self) -> float:
        """1 for components in the axes of the body."""
        return float(self.axes == "body")

    def wrench(self, t, i, j):
        return times(j.axes if self.follows else i.axes, components(self.force, t)), (0.0, 0.0, 0.0)

    def wrench_gradient(self, t, i, j, g):
        fill_axes(components(self.force, t), MOTION_J + AXES_AT if self.follows else AXES_AT, 0, g)

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        up = (0.0, rounded(scale.weight)) if scale.dimension == 2 else (0.0, 0.0, rounded(scale.weight))
        return super().proposed(scale, picked) | {"force": up}

    @classmethod
    def example(cls, *bodies: Body) -> PointForce:
        return cls("force", bodies[-1], at=(1.1, 0.4, -0.6), force=(3.0, "2*cos(t)", -1.5), axes="body")


class Torque(OnBody, ForceElement):
    """A torque on a body: Torque("m", body, torque=(0, 0, "sin(2*t)")); components and axes as in `PointForce`.

    In a planar system it is one number or function: torque="sin(2*t)". A point mass, which does not turn, takes none.
    """

    only_turns = True

    torque = parameter(kind="axial functions", unit="N m", help="components of the torque")
    axes = parameter("global", choices=("global", "body"), help="axes of the components")

    @derived
    def follows(self) -> float:
        """1 for components in the axes of the body."""
        return float(self.axes == "body")

    def wrench(self, t, i, j):
        return (0.0, 0.0, 0.0), times(j.axes if self.follows else i.axes, components(self.torque, t))

    def wrench_gradient(self, t, i, j, g):
        fill_axes(components(self.torque, t), MOTION_J + AXES_AT if self.follows else AXES_AT, 3, g)

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        torque = rounded(0.1 * scale.weight * scale.length)
        return super().proposed(scale, picked) | {"torque": torque if scale.dimension == 2 else (0.0, 0.0, torque)}

    @classmethod
    def example(cls, *bodies: Body) -> Torque:
        return cls("torque", bodies[-1], torque=(0.5, -1.5, "2 + sin(3*t)"))


def fill_axes(f, first, row, g):
    """Derivatives of A f with respect to the axes A, whose numbers begin at column `first`."""
    for r in range(3):
        for k in range(3):
            g[row + r, first + 3 * r + k] = f[k]
