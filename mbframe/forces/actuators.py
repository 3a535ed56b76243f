"""Controlled actuators: force elements with own states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..connections import NEEDED_AXIS
from ..errors import ModelError
from ..functions import evaluate, jumps, slope
from ..kernels.layout import MOTION_J, MOTIONS
from ..measures import angle, angle_rate, angle_row, displacement, displacement_rate, displacement_row
from ..parameters import derived, parameter
from ..proposals import Scale, rounded
from .base import AtPoint, ForceElement
from .measured import angle_gradient, displacement_gradient

if TYPE_CHECKING:
    from ..bodies.base import Body


class PIDActuator(AtPoint, ForceElement):
    """A motor that follows a setpoint w(t) by proportional, integral and derivative control.

    It drives the second body's displacement along the axis or angle about it (z of the first marker;
    `measures.Displacement`, `measures.Angle`), both zero as described: with the error e = w - x it exerts
    u = P e + I z + D e' along or about that axis on the second body, where z' = e is its own state. Turns of an
    angle are counted. With a `limit` u stays between both of its signs, and z stands still while u is beyond and the
    error would drive it further (I e u > 0), so that it does not wind up. Results tell its `error` e.
    """

    states = 1
    counts_from_description = True

    axis = NEEDED_AXIS
    quantity = parameter("angle", choices=("angle", "displacement"), help="what is driven")
    setpoint = parameter(0.0, kind="function", unit="rad or m", help="w: the value to follow")
    proportional = parameter(0.0, unit="N m/rad or N/m", help="P")
    integral = parameter(0.0, unit="N m/(rad s) or N/(m s)", help="I")
    derivative = parameter(0.0, unit="N m s/rad or N s/m", help="D")
    limit = parameter(
        None, kind="number", above=0.0, unit="N m or N", help="largest size of its output; none by default"
    )

    @property
    def counts_turns(self) -> bool:
        return self.quantity == "angle"

    @property
    def only_turns(self) -> bool:
        return self.counts_turns

    @property
    def outputs(self) -> Mapping[str, str]:  # type: ignore[override]
        return {"error": "rad" if self.counts_turns else "m"}

    def remarks(self, start: float, end: float) -> Iterator[str]:
        w = self.setpoint
        try:
            known = w.bent or (w.kind == "callable" and len(w.breakpoints(start, end)))
            places = jumps(w, start, end) if self.derivative and known else []
        except ModelError:  # it has no value somewhere: the run says so if it gets there
            return
        if places:
            yield (
                f"{self}, setpoint: it jumps at t = {places[0]:.6g} s, and the kick D times the jump is "
                "left out; make it smooth, such as step(t, t0, h0, t1, h1), or set derivative=0"
            )

    @derived
    def turns(self) -> float:
        """1 for an angle."""
        return float(self.counts_turns)

    @derived
    def most(self) -> float:
        """The limit; 0 for none."""
        return 0.0 if self.limit is None else self.limit

    def state_rate(self, t, i, j, z):
        x, rate, _ = driven(self, i, j)
        error = evaluate(self.setpoint, t) - x
        return (0.0 * error,) if stopped(self, error, effort(self, t, x, rate, z)) else (error,)

    def wrench(self, t, i, j, z):  # type: ignore[override]
        x, rate, d = driven(self, i, j)
        u = limited(self, effort(self, t, x, rate, z))
        push, turn = (0.0, u) if self.turns else (u, 0.0)
        return (push * d[0], push * d[1], push * d[2]), (turn * d[0], turn * d[1], turn * d[2])

    def error(self, t, i, j, z):
        """e."""
        x, _, _ = driven(self, i, j)
        return evaluate(self.setpoint, t) - x

    def wrench_gradient(self, t, i, j, z, g):
        x, rate, _ = driven(self, i, j)
        wanted = effort(self, t, x, rate, z)
        u, free = limited(self, wanted), 0.0 if beyond(self, wanted) else 1.0
        if self.turns:
            angle_gradient(i, j, u, -free * self.proportional, -free * self.derivative, g)
        else:
            displacement_gradient(i, j, u, -free * self.proportional, -free * self.derivative, g)

    def state_gradient(self, t, i, j, z, g):
        x, rate, d = driven(self, i, j)
        wanted = effort(self, t, x, rate, z)
        first = 3 if self.turns else 0
        for r in range(0 if beyond(self, wanted) else 3):
            g[first + r, MOTIONS] = self.integral * d[r]
        if stopped(self, evaluate(self.setpoint, t) - x, wanted):
            return
        if self.turns:
            angle_row(i, j, -1.0, MOTION_J, g[6])
        else:
            displacement_row(i, j, -1.0, MOTION_J, g[6])

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        gain = rounded(scale.weight * scale.length)
        return super().proposed(scale, picked) | {"proportional": gain, "derivative": rounded(0.1 * gain)}

    @classmethod
    def example(cls, *bodies: Body) -> PIDActuator:
        actuator = cls("actuator", *bodies, at=(0.3, -0.2, 0.5), axis=(1.0, 2.0, -1.0), quantity="displacement")
        actuator.update(setpoint="0.3*sin(2*t)", proportional=20.0, integral=5.0, derivative=1.5)
        return actuator


def driven(actuator, i, j):
    """The driven quantity, its rate, and the axis along or about which it is driven."""
    if actuator.turns:
        x, d = angle(i, j)
        return x, angle_rate(i, j), d
    x, d = displacement(i, j)
    return x, displacement_rate(i, j), d


def beyond(actuator, wanted):
    """Whether an output is larger than it may be; without a limit it is not."""
    return actuator.most > 0.0 and abs(wanted) > actuator.most


def stopped(actuator, error, wanted):
    """Whether the integral stands still: the error would drive an output farther that is at its limit."""
    return beyond(actuator, wanted) and actuator.integral * error * wanted > 0.0


def limited(actuator, wanted):
    """The output that is wanted, or the limit with its sign."""
    if not beyond(actuator, wanted):
        return wanted
    return 0.0 * wanted + (actuator.most if wanted > 0.0 else -actuator.most)


def effort(actuator, t, x, rate, z):
    """P e + I z + D e'."""
    error = evaluate(actuator.setpoint, t) - x
    error_rate = slope(actuator.setpoint, t) - rate
    return actuator.proportional * error + actuator.integral * z[0] + actuator.derivative * error_rate
