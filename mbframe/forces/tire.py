"""A tire on a road with a profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import Problem
from ..features import values_of
from ..functions import bend, evaluate, jumps, slope
from ..kernels.layout import AXES_AT, MOTION_J, MOTIONS, PLACE, SPIN_AT, VELOCITY_AT, VELOCITY_J
from ..markers import Marker
from ..parameters import parameter
from ..plane import lifted
from ..vectors import column, cross, dot, minus, plus, scaled, triple, unit
from .base import ForceElement

if TYPE_CHECKING:
    from ..bodies.base import Body

AHEAD = 100.0  # m of road on both sides of a wheel whose way is not known beforehand


class Tire(ForceElement):
    """A wheel's tire as a spring and damper between its centre and a road, which has a height h(x) along its direction.

    Tire("tire", ground, wheel, radius=0.36, stiffness=2e5, profile="0.05*sin(x)", speed=20.0). The road belongs to the
    first body: it passes through `plane_point`, e is its `direction`, n its `normal`. With the centre's position r from
    there and the distance x = e . r + speed t, the tire is compressed by d = R + h(x) - n . r. Where d > 0 it pushes
    with N = k d + c d', never pulling, and the force on the wheel is N (n - h'(x) e), at its centre: normal to the
    road, without friction. Energy k d^2/2.

    `speed` lets the road pass by under a vehicle that stands still; leave it out if the vehicle itself moves. A jump of
    h is an impact of infinite force rate: a run says so in its warnings.

    Results tell its `deflection` d, which is minus the gap where the wheel is off the road, and its `normal_force` N,
    the part of the force along n.
    """

    outputs: ClassVar = {"deflection": "m", "normal_force": "N"}

    at_i: Any = None
    at_j: Any = None
    at = parameter(
        None, kind="point", unit="m", on="j", help="global centre of the wheel when described; else its origin"
    )
    radius = parameter(kind="number", unit="m", above=0.0, help="R: radius of the unloaded tire")
    stiffness = parameter(kind="number", unit="N/m", above=0.0, help="k: radial stiffness")
    damping = parameter(0.0, unit="N s/m", minimum=0.0, help="c: radial damping")
    profile = parameter(
        0.0, kind="function", variables=("x",), unit="m", help="h: height of the road at the distance x"
    )
    speed = parameter(0.0, unit="m/s", help="speed at which the distance on the road grows under a standing vehicle")
    plane_point = parameter(
        (0.0, 0.0, 0.0), kind="point", unit="m", on="i", help="global point from which x and h count"
    )
    normal = parameter(
        (0.0, 0.0, 1.0),
        kind="axis",
        planar=(0.0, 1.0),
        on="i",
        help="n: global direction out of the road when described",
    )
    direction = parameter(
        (1.0, 0.0, 0.0),
        kind="axis",
        planar=(1.0, 0.0),
        on="i",
        help="e: global direction along the road when described",
    )

    def check(self) -> Iterator[Problem]:
        yield from super().check()
        size = np.linalg.norm(self.direction) * np.linalg.norm(self.normal)
        if abs(lifted(self.direction) @ lifted(self.normal)) > 1e-6 * size:
            yield self.problem("direction", "is not perpendicular to the normal of the road; make it so")

    @property
    def i(self) -> Marker:
        """At the beginning of the road: x along it, z out of it."""
        x, z = (lifted(axis) / np.linalg.norm(axis) for axis in (self.direction, self.normal))
        return Marker(self.body_i, at=self.plane_point, axes=np.column_stack([x, np.cross(z, x), z]))

    @property
    def j(self) -> Marker:
        return Marker(self.body_j, at=self.body_j.position if self.at is None else self.at, axes=self.frame)

    @property
    def conservative(self) -> bool:
        """Whether nothing damps and the road does not move."""
        return self.damping == 0.0 and self.speed == 0.0

    def wrench(self, t, i, j):
        push, height_slope, _ = compression(self, t, i, j)
        f = plus(column(i.axes, 2), -height_slope, column(i.axes, 0))
        return (push * f[0], push * f[1], push * f[2]), (0.0, 0.0, 0.0)

    def energy(self, t, i, j):
        d, _, _ = pressed(self, t, i, j)
        if d <= 0.0:
            return 0.0 * d
        return 0.5 * self.stiffness * d * d

    def deflection(self, t, i, j):
        """d."""
        return pressed(self, t, i, j)[0]

    def normal_force(self, t, i, j):
        """N."""
        return compression(self, t, i, j)[0]

    def wrench_gradient(self, t, i, j, g):
        push, height_slope, x = compression(self, t, i, j)
        if push <= 0.0:
            return
        curve = bend(self.profile, x)
        e, n = column(i.axes, 0), column(i.axes, 2)
        r, w = minus(j.position, i.position), triple(i.angular_velocity)
        u = minus(minus(j.velocity, i.velocity), cross(w, r))
        along = dot(e, u) + self.speed
        for c in range(MOTIONS):
            # One number of a marker changes by one: r, its rate u, and the axes e and n follow.
            turned = AXES_AT <= c < PLACE
            de = unit((c - AXES_AT) // 3) if turned and c % 3 == 0 else (0.0, 0.0, 0.0)
            dn = unit((c - AXES_AT) // 3) if turned and c % 3 == 2 else (0.0, 0.0, 0.0)
            dr = minus(unit(c - MOTION_J), unit(c))
            du = minus(
                minus(unit(c - VELOCITY_J), unit(c - VELOCITY_AT)), plus(cross(unit(c - SPIN_AT), r), 1.0, cross(w, dr))
            )
            dx = dot(de, r) + dot(e, dr)
            depth = height_slope * dx - dot(dn, r) - dot(n, dr)
            rate = curve * dx * along + height_slope * (dot(de, u) + dot(e, du)) - dot(dn, u) - dot(n, du)
            df = scaled(self.stiffness * depth + self.damping * rate, plus(n, -height_slope, e))
            df = plus(df, push, plus(plus(dn, -height_slope, de), -curve * dx, e))
            for a in range(3):
                g[a, c] = df[a]

    def way(self, name: str, start: float, end: float) -> tuple[float, float]:
        x = float(self.i.axes[:, 0] @ (self.j.at - self.i.at))
        ends = (x + self.speed * start, x + self.speed * end)
        own = float(np.linalg.norm(self.body_j.velocity)) * (end - start)
        around = AHEAD + 2.0 * own if self.speed == 0.0 else self.radius + 2.0 * own
        return min(ends) - around, max(ends) + around

    def remarks(self, start: float, end: float) -> Iterator[str]:
        x = float(self.i.axes[:, 0] @ (self.j.at - self.i.at))
        way = [x - AHEAD, x + AHEAD] if self.speed == 0.0 else [x + self.speed * start, x + self.speed * end]
        for place in jumps(values_of(self.profile), min(way), max(way)):
            yield (
                f"{self}, profile: the road jumps at x = {place:.6g} m, which no step size resolves; make it a ramp, "
                "such as step(x, x0, h0, x1, h1)"
            )

    @classmethod
    def example(cls, *bodies: Body) -> Tire:
        tire = cls("tire", *bodies, radius=3.0, stiffness=20.0, damping=2.0, profile="0.4*sin(2*x)")
        tire.update(at=(1.1, 0.4, -0.6), plane_point=(0.3, -0.2, 0.5), normal=(1.0, 2.0, -1.0), direction=(1, 0, 1))
        return tire


def pressed(tire, t, i, j):
    """The deflection d, x and r."""
    r = minus(j.position, i.position)
    x = dot(column(i.axes, 0), r) + tire.speed * t
    return tire.radius + evaluate(tire.profile, x) - dot(column(i.axes, 2), r), x, r


def compression(tire, t, i, j):
    """The force N, h'(x) and x."""
    e, n = column(i.axes, 0), column(i.axes, 2)
    d, x, r = pressed(tire, t, i, j)
    rise = slope(tire.profile, x)
    if d <= 0.0:
        return 0.0 * d, rise, x
    u = minus(minus(j.velocity, i.velocity), cross(triple(i.angular_velocity), r))
    push = tire.stiffness * d + tire.damping * (rise * (dot(e, u) + tire.speed) - dot(n, u))
    if push <= 0.0:
        return 0.0 * push, rise, x
    return push, rise, x
