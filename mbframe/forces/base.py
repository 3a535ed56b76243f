"""The base class of forces, and how to write one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ..bodies.base import Body
from ..bodies.point_mass import PointMass
from ..connections import Connection, PointConnection, TwoPointConnection
from ..errors import Problem
from ..markers import Marker
from ..parameters import Element, parameter


class ForceElement(TwoPointConnection):
    """A force between two markers.

    To write your own, declare its parameters and give `wrench`; nothing else is needed:

        class Magnet(mb.ForceElement):
            strength = mb.parameter(1.0, unit="N m^2", minimum=0.0, help="attraction at one metre")

            def wrench(self, t, i, j):
                d = i.position - j.position
                return self.strength * d / np.linalg.norm(d) ** 3, np.zeros(3)

    `i`, `j` are marker states: `position`, `velocity`, `angular_velocity` (3,) and `axes` (3, 3; columns), all
    global. `wrench` returns force and torque on j's body at j; the opposite acts on i's body at the same point, so
    momentum is kept. The method is compiled unchanged if it can be, and called by Python otherwise. In a planar system
    vectors have two components, axes are 2 x 2, and `angular_velocity` and the torque are numbers.

    Give `energy(self, t, i, j)` if the force, or a part of it, is conservative: its potential, so that the power on the
    bodies is minus its rate. What else it does is its work (`result.energy.work`), which a run integrates unless
    `conservative = True` says that there is none.

    The angle between both markers is `angle(i, j)[0]` of `mbframe.measures`. A class that sets `counts_turns = True`
    gets it counted over turns: `j.turns` is then the number of full turns besides the angle between -pi and pi.
    Subclasses of `TorsionalSpringDamper` and `AngleLimit` have it so.

    Elements with own first-order states set `states` to their number; then `wrench(self, t, i, j, z)` takes them,
    `state_rate(self, t, i, j, z)` returns z', and `initial_states(self)` their start (zeros by default).

    A force may give its derivatives itself: `wrench_gradient(self, t, i, j, g)` fills g (6 x 36), rows force then
    torque, columns (position_i, axes_i row by row, velocity_i, angular_velocity_i) and the same for j; g comes filled
    with zeros. Elements with own states take them here too, `wrench_gradient(self, t, i, j, z, g)`, and give what
    concerns these as well: `state_gradient(self, t, i, j, z, g)` fills the other numbers of g (6 + states x 36 +
    states), whose further rows are z' and whose further columns z.

    A parameter of kind "function" is called as `evaluate(self.law, x)`, its derivative as `slope(self.law, x)`, and
    `given(self.law)` says whether an optional one was given (all from `mbframe.functions`): this compiles too.

    Scalars worth plotting are methods like `length(self, t, i, j)`, announced by name and unit: outputs = {"length":
    "m"}. With own states they take z too. They are read from results only: `result.quantity("spring.length")`. Where a
    unit depends on a parameter `outputs` is a property, as in `PIDActuator`.
    """

    states: ClassVar[int] = 0
    outputs: ClassVar[Mapping[str, str]] = {}
    conservative: Any = False  # True: `energy` tells all of its work
    only_turns: Any = False  # True: it exerts a torque and nothing else, which a point mass cannot take
    at_rest: ClassVar[Mapping[str, float]] = {}  # of a twin: parameters with which an equilibrium is looked for
    # True: `reactive_wrench(t, i, j, reaction)` depends on the reaction of `self.joint`. `reactive_gradient(t, i, j,
    # reaction, g, h)` fills its derivatives by the motions, as `wrench_gradient`, and by the reaction (6 x 3).
    reactive: ClassVar[bool] = False

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if self.only_turns:
            for field in self.unturned():
                body = getattr(self, field)
                yield self.problem(field, f"{body} does not turn, so a torque has no effect; use a RigidBody")

    def unturned(self) -> list[str]:
        """Which of `body_i` and `body_j` are point masses, on which a torque has no effect."""
        return [field for field in ("body_i", "body_j") if isinstance(getattr(self, field), PointMass)]

    @property
    def as_evaluated(self) -> ForceElement:
        """What the equations have for it: itself, or a twin of another class, whose law has other own states."""
        return self

    def wrench(self, t, i, j):
        """Force and torque on the body of j, at j."""
        raise NotImplementedError(f"{type(self).__name__} does not define wrench(self, t, i, j)")

    def way(self, name: str, start: float, end: float) -> tuple[float, float] | None:
        """Where the argument of one of its functions may get to in a run; None if the element does not know."""
        return None

    def remarks(self, start: float, end: float) -> Iterator[str]:
        """What is doubtful about this element in a run from one time to another; shown in the run's warnings."""
        yield from ()

    def initial_states(self) -> list[float]:
        """Own states at the start."""
        return [0.0] * self.states

    @classmethod
    def example(cls, *bodies: Body) -> ForceElement:
        return cls("force", *bodies, at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6))


class AtPoint(PointConnection):
    """For forces whose two markers lie at one point, like those of a joint: `class Bushing(AtPoint, ForceElement)`."""

    at_i: Any = None
    at_j: Any = None
    frame = PointConnection.frame


class OnBody(Connection):
    """For loads on one body: `class PointForce(OnBody, ForceElement)`, called as `PointForce(name, body, ...)`.

    The first marker belongs to the ground, which takes up the opposite load; its axes are the global ones. An element
    gets the ground of the system to which it is added.
    """

    at_i: Any = None
    at_j: Any = None
    body_i = parameter(None, kind="reference", help="the ground")
    body_j = parameter(kind="reference", help="the body")
    frame = Connection.frame.lying_on("j")
    at = parameter(
        None, kind="point", unit="m", on="j", help="global point when described; left out, the body's origin"
    )

    def __init__(self, name: str, body: Body, **values: Any) -> None:
        Element.__init__(self, name, body_j=body, **values)

    @property
    def i(self) -> Marker:
        return self._marker(self.body_i)

    @property
    def j(self) -> Marker:
        return self._marker(self.body_j)

    def _marker(self, body: Body) -> Marker:
        return Marker(body, at=self.body_j.position if self.at is None else self.at, axes=self.frame)
