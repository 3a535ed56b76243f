"""Controlled actuators: force elements with own states."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..connections import NEEDED_AXIS
from ..errors import ModelError, Problem
from ..functions import evaluate, jumps, slope
from ..kernels.layout import MOTION_J, MOTIONS
from ..measures import angle, angle_rate, angle_row, displacement, displacement_rate, displacement_row
from ..parameters import derived, parameter
from ..proposals import Scale, rounded
from ..vectors import dot
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
    error would drive it further (I e u > 0), so that it does not wind up. There z' jumps, and the instant is not looked
    for: adaptive integrators resolve it to their tolerance, a fixed step that holds it has an error of order one in it.
    Results tell its `error` e.

    With a `rate_limit` r it exerts f, which follows u: f' = (u - f)/T between both signs of r. f is a second own state
    and begins at zero. The time constant T is the `lag`: as r goes to infinity f does not become u, but what is left is
    a filter of first order, f' = (u - f)/T, which delays u by T and takes a phase of atan(w T) from the loop at the
    frequency w. Choose T well below the time constants of the loop; it costs `RadauIIA` no steps. Where f is behind by
    more than r T and the error would drive u further (I e (u - f) > 0), z' falls, to zero from 2 r T on. `linearize`
    takes it inside its limits, where it is at rest; along a motion, small changes do not act on f where |f'| = r. Steps
    of explicit integrators have to be shorter than 2 T.
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
    rate_limit = parameter(
        None, kind="number", above=0.0, unit="N m/s or N/s", help="largest rate of its output; none by default"
    )
    lag = parameter(0.01, above=0.0, unit="s", help="T: time constant of an output that has a rate limit")

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        if self.rate_limit is not None and type(self) not in (PIDActuator, _RateLimited):
            yield self.problem(
                "rate_limit", "is for a PIDActuator itself; give this class a law with it, or leave it out"
            )

    @property
    def as_evaluated(self) -> ForceElement:
        if self.rate_limit is None:
            return self
        twin = copy.copy(self)
        twin.__class__ = _RateLimited
        return twin

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
        load_gradient(self, i, j, u, -free * self.proportional, -free * self.derivative, g)

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


class _RateLimited(PIDActuator):
    """A PID actuator with a limit to the rate of its output: f is the second of its own states (z, f)."""

    states = 2
    at_rest = {"rate_limit": math.inf}  # noqa: RUF012  # beyond a limit Newton's method has no slopes to go by

    def __str__(self) -> str:
        return f"{PIDActuator.__name__} {self.name!r}"

    def state_rate(self, t, i, j, z):
        x, rate, _ = driven(self, i, j)
        error, wanted = evaluate(self.setpoint, t) - x, effort(self, t, x, rate, z)
        lead = (limited(self, wanted) - z[1]) / self.lag
        most = 0.0 * lead + (self.rate_limit if lead > 0.0 else -self.rate_limit)
        followed = lead if abs(lead) < self.rate_limit else most
        return (0.0 * error if stopped(self, error, wanted) else share(self, error, lead) * error), followed

    def wrench(self, t, i, j, z):  # type: ignore[override]
        _, _, d = driven(self, i, j)
        push, turn = (0.0, z[1]) if self.turns else (z[1], 0.0)
        return (push * d[0], push * d[1], push * d[2]), (turn * d[0], turn * d[1], turn * d[2])

    def wrench_gradient(self, t, i, j, z, g):
        load_gradient(self, i, j, z[1], 0.0, 0.0, g)

    def state_gradient(self, t, i, j, z, g):
        x, rate, d = driven(self, i, j)
        error, wanted = evaluate(self.setpoint, t) - x, effort(self, t, x, rate, z)
        lead, free = (limited(self, wanted) - z[1]) / self.lag, 0.0 if beyond(self, wanted) else 1.0 / self.lag
        by_error, by_lead = 0.0, 0.0  # of z'
        if not stopped(self, error, wanted):
            by_error = share(self, error, lead)
            by_lead = -error * np.sign(lead) / self.rate_limit if 0.0 < by_error < 1.0 else 0.0
        follows = 1.0 if abs(lead) < self.rate_limit else 0.0
        if self.turns:
            angle_row(i, j, -by_error, MOTION_J, g[6])
        else:
            displacement_row(i, j, -by_error, MOTION_J, g[6])
        # A load along d whose size changes as the lead does: its rows are d times the row of the lead.
        load_gradient(self, i, j, 0.0, -free * self.proportional, -free * self.derivative, g)
        first, square = 3 if self.turns else 0, dot(d, d)
        for k in range(MOTIONS):
            change = 0.0
            for r in range(3):
                change += d[r] * g[first + r, k] / square
                g[first + r, k] = 0.0
            g[6, k] += by_lead * change
            g[7, k] = follows * change
        for r in range(3):
            g[first + r, MOTIONS + 1] = d[r]
        g[6, MOTIONS], g[6, MOTIONS + 1] = by_lead * free * self.integral, -by_lead / self.lag
        g[7, MOTIONS], g[7, MOTIONS + 1] = follows * free * self.integral, -follows / self.lag


def load_gradient(actuator, i, j, load, by_x, by_rate, g):
    """Add the derivatives of a load that acts on what is driven, and changes with that and with its rate."""
    if actuator.turns:
        angle_gradient(i, j, load, by_x, by_rate, g)
    else:
        displacement_gradient(i, j, load, by_x, by_rate, g)


def share(actuator, error, lead):
    """By what part of the error the integral changes while the output cannot follow: 1 to 0 between r and 2 r."""
    if actuator.integral * error * lead <= 0.0:
        return 1.0 + 0.0 * lead
    part = 2.0 - (lead if lead > 0.0 else -lead) / actuator.rate_limit
    return 0.0 * part + (1.0 if part > 1.0 else 0.0) if part <= 0.0 or part >= 1.0 else part


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
