"""The base class of constraints between two markers, and how to write one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ..connections import Fact, PointConnection
from ..markers import Marker
from ..plane import lowered

if TYPE_CHECKING:
    from ..bodies.base import Body


class BasicConstraint(PointConnection):
    """Equations C(t, i, j) = 0 between two markers.

    To write your own, set `equations` and give `residual`; nothing else is needed:

        class Orthogonal(mb.BasicConstraint):
            equations = 1
            def residual(self, t, i, j):
                return [i.axes[:, 0] @ j.axes[:, 1]]

    `i` and `j` are marker states with `position` (3,), `axes` (3, 3; columns are the axes x, y, z), global. The
    method is compiled unchanged if it can be, and called by Python otherwise; its derivatives are then taken
    automatically.

    A constraint may give its derivatives itself, in the 24 numbers x = (position_i, axes_i row by row, position_j,
    axes_j):

        gradient(self, t, i, j, g)         g[k, :] = dC_k/dx; g comes filled with zeros
        curvature(self, t, i, j)           x'^T (d2C_k/dx2) x', from `velocity` and `axes_rate` of the markers
        hessian(self, t, i, j, weights, h) h += sum_k weights[k] d2C_k/dx2 (24 x 24)
        time_rate(self, t, i, j)           dC/dt at fixed markers, only of one that depends on t itself; then curvature
                                           is all of C'' for x'' = 0

    A nonholonomic constraint D(t, i, j) = 0 gives `velocity_residual` instead of `residual`; its markers have
    `velocity` and `angular_velocity` (3,) as well. It need not be linear in them (Pfaffian). Its derivatives, if it
    gives them:

        velocity_gradient(self, t, i, j, g)  g[k, :] = dD_k/d(...), columns (position_i, axes_i row by row, velocity_i,
                                             angular_velocity_i) and the same for j; g comes filled with zeros

    In a planar system the markers of a user's method have `position` and `velocity` (2,), `axes` (2, 2) and a number
    as `angular_velocity`; derivatives are then always taken automatically.

    It is used in two ways: as a named element, `system.add(Orthogonal("name", i, j, at=..., axis=...))`, or inside a
    joint between the joint's markers, `Orthogonal(self.i, self.j)`.
    """

    symbol = "constraint"
    equations: ClassVar[int]
    unit: ClassVar[str] = ""  # of the residual, that of a nonholonomic one times s; only for display
    joins_points: ClassVar[bool] = False  # the residual is r_j - r_i, or its first components: nothing need be summed
    nonholonomic: ClassVar[bool] = False  # follows from whether there is a velocity_residual
    _markers: tuple[Marker, Marker] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.nonholonomic = hasattr(cls, "velocity_residual")

    def __init__(self, *args: Any, **values: Any) -> None:
        if args and isinstance(args[0], Marker):
            i, j = args
            self._markers = (i, j)
            known = {"body_i": i.body, "body_j": j.body, "at": lowered(j.at, j.body.dimension)}
            self._begin(type(self).__name__, values, known)
        else:
            super().__init__(*args, **values)

    @property
    def given_markers(self) -> tuple[Marker, Marker] | None:
        """The two markers it was made from, if it was; otherwise they follow from `at` and `axis`."""
        return self._markers

    @property
    def i(self) -> Marker:
        return self._markers[0] if self._markers else super().i

    @property
    def j(self) -> Marker:
        return self._markers[1] if self._markers else super().j

    def attach(self, i: Marker, j: Marker) -> None:
        """Let it act between other markers than those it was made from."""
        self._markers = (i, j)

    def in_plane(self) -> BasicConstraint | None:
        """What stands for this constraint in a planar system; None if it holds there by itself."""
        return self

    def in_general(self) -> BasicConstraint:
        """The constraint where no derivative is zero by chance, from which the pattern of its Jacobian is found."""
        return self

    def facts(self) -> list[Fact]:
        return [("Equations", [equation_count(self, self.dimension_with({}))], "")]

    def residual(self, t, i, j):
        """The `equations` values C; zero when the constraint is met."""
        raise NotImplementedError(f"{type(self).__name__} does not define residual(self, t, i, j)")

    @classmethod
    def example(cls, *bodies: Body) -> BasicConstraint:
        return cls("constraint", *bodies, at=(0.2, 0.1, -0.3), axis=(1.0, 2.0, -1.0))


def equation_count(part: Any, dimension: int) -> int:
    """How many equations a part of a joint is in a system of that dimension; a relation of measures is one."""
    if not isinstance(part, BasicConstraint):
        return 1
    kept = part.in_plane() if dimension == 2 else part
    return 0 if kept is None else kept.equations
