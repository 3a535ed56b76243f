"""The base class of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ..connections import Fact, PointConnection
from ..constraints.base import BasicConstraint, equation_count
from ..constraints.relations import MeasureRelation

if TYPE_CHECKING:
    from ..bodies.base import Body


class Joint(PointConnection):
    """A joint between two bodies: a list of basic constraints between its markers `self.i` and `self.j`.

    To write your own, give `constraints`:

        class OffsetHinge(mb.Joint):
            def constraints(self):
                i, j = self.i, self.j
                return [mb.Coincident(i, j), mb.Perpendicular(i.z, j.x), mb.Perpendicular(i.z, j.y)]

        system.add(OffsetHinge("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))

    The *reaction* of a joint is the force and moment that it exerts on its second body, at marker j, in global
    components.

    A joint that leaves the rotation about its axis free, or the displacement along it, says so by `freedoms`: that is
    what a `Driver` can drive.

    The `axis` of a class of your own is the global z axis if none is given. To let the class insist on one, declare it
    without a default: `axis = mb.parameter(kind="axis", help="...")`; the library's hinges and slides do.
    """

    symbol = "joint"
    freedoms: ClassVar[tuple[str, ...]] = ()  # "angle", "displacement": of the second body about, along `axis`

    def constraints(self) -> Sequence[BasicConstraint | MeasureRelation]:
        """The equations of the joint."""
        raise NotImplementedError(f"{type(self).__name__} does not define constraints(self)")

    def facts(self) -> list[Fact]:
        return [("Equations", [sum(equation_count(part, self.dimension_with({})) for part in self.constraints())], "")]

    @classmethod
    def example(cls, *bodies: Body) -> Joint:
        return cls("joint", *bodies, at=(0.2, 0.1, -0.3), axis=(1.0, 2.0, -1.0))
