"""Springs and dampers: between two points, about an axis, and in all six directions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..connections import NEEDED_AXIS, Fact
from ..errors import Problem
from ..kernels.layout import AXES_AT, MOTION_J, MOTIONS, PLACE, SPIN_AT, VELOCITY_AT
from ..measures import angle, angle_rate, distance, distance_rate
from ..parameters import derived, parameter
from ..proposals import Scale, rounded
from ..vectors import column, cross, dot, minus, plus, scaled, seen, times, triple, unit
from .base import AtPoint, ForceElement
from .measured import angle_gradient, distance_gradient, load, load_slopes, stored

if TYPE_CHECKING:
    from ..bodies.base import Body


class SpringDamper(ForceElement):
    """Spring and damper along the line between two points.

    Tension s = k x + f(x) + c x' + g(x') (positive pulls the points together) of the elongation x = l - l0, with the
    distance l > 0. Without a `free_length` l0 is the length in which the spring is described. The force on the second
    body is s e, e being the unit vector from its point to the first body's point. Energy k x^2/2 + the integral of f
    from 0 to x, computed to rounding by quadrature (f(0) must be finite).
    """

    symbol = "spring"
    outputs: ClassVar = {"length": "m", "length_rate": "m/s", "tension": "N"}

    stiffness = parameter(0.0, unit="N/m", minimum=0.0, help="k")
    damping = parameter(0.0, unit="N s/m", minimum=0.0, help="c")
    free_length = parameter(
        None,
        kind="number",
        unit="m",
        minimum=0.0,
        help="l0: length from which the elongation counts; left out, the length as described",
    )
    force = parameter(None, kind="function", variables=("x",), unit="N", help="f: further tension by elongation")
    damping_force = parameter(None, kind="function", variables=("v",), unit="N", help="g: further tension by its rate")

    def check(self) -> Iterator[Problem]:
        found = list(super().check())
        yield from found
        if not found and self.free_length is None and not math.dist(self.point_i, self.point_j):
            yield self.problem(
                "free_length",
                "left out, it is the length as described, but its points coincide: give free_length or move a point",
            )

    @derived
    def rest_length(self) -> float:
        """l0 as it is used: `free_length`, or the length as described."""
        return math.dist(self.point_i, self.point_j) if self.free_length is None else self.free_length

    def implied(self) -> dict[str, float]:
        """The length of another description is not the free length."""
        return {} if self.free_length is not None else {"free_length": self.rest_length}

    @property
    def conservative(self) -> bool:
        """Whether nothing damps."""
        return self.damping == 0.0 and self.damping_force is None

    def wrench(self, t, i, j):
        length, x, y, z = distance(i, j)
        elongation, rate = length - self.rest_length, distance_rate(i, j)
        s = load(self.stiffness, self.damping, self.force, self.damping_force, elongation, rate)
        return (s * x, s * y, s * z), (0.0, 0.0, 0.0)

    def energy(self, t, i, j):
        length, _, _, _ = distance(i, j)
        return stored(self.stiffness, self.force, length - self.rest_length)

    def wrench_gradient(self, t, i, j, g):
        length, _, _, _ = distance(i, j)
        elongation, rate = length - self.rest_length, distance_rate(i, j)
        s = load(self.stiffness, self.damping, self.force, self.damping_force, elongation, rate)
        by_x, by_rate = load_slopes(self.stiffness, self.damping, self.force, self.damping_force, elongation, rate)
        distance_gradient(i, j, s, by_x, by_rate, g)

    def length(self, t, i, j):
        """l."""
        return distance(i, j)[0]

    def length_rate(self, t, i, j):
        """l'."""
        return distance_rate(i, j)

    def tension(self, t, i, j):
        """s."""
        elongation, rate = distance(i, j)[0] - self.rest_length, distance_rate(i, j)
        return load(self.stiffness, self.damping, self.force, self.damping_force, elongation, rate)

    def facts(self) -> list[Fact]:
        length = math.dist(self.point_i, self.point_j)
        facts: list[Fact] = [("Length as described", [length], "m")]
        if self.force is None:
            facts.append(("Tension as described", [self.stiffness * (length - self.rest_length)], "N"))
        return facts

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        values = super().proposed(scale, picked)
        return values | {"damping": rounded(0.2 * math.sqrt(values["stiffness"] * scale.mass))}

    @classmethod
    def example(cls, *bodies: Body) -> SpringDamper:
        spring = cls("spring", *bodies, stiffness=120.0, damping=3.0, free_length=0.7)
        spring.update(at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6), force="40*x**3", damping_force="2*tanh(3*v)")
        return spring


class TorsionalSpringDamper(AtPoint, ForceElement):
    """Spring and damper about the common axis of two bodies, such as that of a revolute joint.

    Torque m = k x + f(x) + c x' + g(x') with x = theta - theta0, theta being the angle of the second body about the
    axis (z of the first marker; `measures.Angle`), zero as described. It acts against theta: -m on the second body
    about the axis. Where the bodies' axes do not stay together it acts about a of `measures.angle`, so that its power
    is always -m theta'. Energy as in `SpringDamper`. Turns are counted.
    """

    symbol = "spring"
    outputs: ClassVar = {"angle": "rad", "angle_rate": "rad/s", "moment": "N m"}
    counts_from_description = True
    counts_turns = True
    only_turns = True
    planar_axis = "normal"

    axis = NEEDED_AXIS
    stiffness = parameter(0.0, unit="N m/rad", minimum=0.0, help="k")
    damping = parameter(0.0, unit="N m s/rad", minimum=0.0, help="c")
    free_angle = parameter(0.0, unit="rad", help="theta0: angle without torque, from the described configuration")
    torque = parameter(None, kind="function", variables=("x",), unit="N m", help="f: further torque by angle")
    damping_torque = parameter(
        None, kind="function", variables=("v",), unit="N m", help="g: further torque by its rate"
    )

    @property
    def conservative(self) -> bool:
        """Whether nothing damps."""
        return self.damping == 0.0 and self.damping_torque is None

    def wrench(self, t, i, j):
        theta, a = angle(i, j)
        m = load(
            self.stiffness, self.damping, self.torque, self.damping_torque, theta - self.free_angle, angle_rate(i, j)
        )
        return (0.0, 0.0, 0.0), (-m * a[0], -m * a[1], -m * a[2])

    def energy(self, t, i, j):
        theta, _ = angle(i, j)
        return stored(self.stiffness, self.torque, theta - self.free_angle)

    def wrench_gradient(self, t, i, j, g):
        theta, _ = angle(i, j)
        x, rate = theta - self.free_angle, angle_rate(i, j)
        m = load(self.stiffness, self.damping, self.torque, self.damping_torque, x, rate)
        by_x, by_rate = load_slopes(self.stiffness, self.damping, self.torque, self.damping_torque, x, rate)
        angle_gradient(i, j, -m, -by_x, -by_rate, g)

    def angle(self, t, i, j):
        """theta."""
        return angle(i, j)[0]

    def angle_rate(self, t, i, j):
        """theta'."""
        return angle_rate(i, j)

    def moment(self, t, i, j):
        """m."""
        x, rate = angle(i, j)[0] - self.free_angle, angle_rate(i, j)
        return load(self.stiffness, self.damping, self.torque, self.damping_torque, x, rate)

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        values = super().proposed(scale, picked)
        return values | {"damping": rounded(0.05 * values["stiffness"])}

    @classmethod
    def example(cls, *bodies: Body) -> TorsionalSpringDamper:
        spring = cls("torsion spring", *bodies, at=(0.3, -0.2, 0.5), axis=(1.0, 2.0, -1.0), stiffness=15.0, damping=0.8)
        spring.update(free_angle=0.4, torque="3*x**3", damping_torque="2*tanh(v)")
        return spring


class Bushing(AtPoint, ForceElement):
    """Elastic and damping bearing in all six directions, in the axes of the first marker.

    Displacement s = A_i^T (r_j - r_i) and rotation phi = 2 sin(theta/2) e for a relative rotation A_i^T A_j by theta
    about e: the rotation vector of small rotations. With x = (s, phi) the load is y = K x + C x'. On the second body
    act the force -A_i y_s and the torque -A_i H^T y_phi, where phi' = H w, H = p0 1 - p~, with the relative angular
    velocity w in A_i, p0 = cos(theta/2) and p = phi/2. So the power is -x' . y exactly: a symmetric K conserves the
    energy x . K x/2, a positive C dissipates; of an unsymmetric K the energy counts the symmetric part. A stiffness k
    about one axis gives the torque k sin(theta). Singular only for half a turn (p0 = 0).

    K and C are matrices (6 x 6) or their diagonals, in N/m, N (or N m/m), N m/rad and the same times seconds.
    """

    symbol = "spring"
    counts_from_description = True

    stiffness = parameter(np.zeros(6), kind="matrix", shape=(6, 6), help="K: displacements first, then rotations")
    damping = parameter(np.zeros(6), kind="matrix", shape=(6, 6), help="C: velocities first, then angular velocities")

    def remarks(self, start: float, end: float) -> Iterator[str]:
        turning = any(np.any(m[3:]) or np.any(m[:, 3:]) for m in (self.stiffness, self.damping))
        for field in self.unturned() if turning else ():
            yield (
                f"{self}: {getattr(self, field)} does not turn, so the torque of the bushing has no effect on it; "
                "use a RigidBody, or leave out the stiffness and damping of rotations"
            )

    @property
    def conservative(self) -> bool:
        """Whether nothing damps and the stiffness is symmetric."""
        return not np.any(self.damping) and bool(np.all(self.stiffness == self.stiffness.T))

    def wrench(self, t, i, j):
        p0, p = half_rotation(i, j)
        r = minus(j.position, i.position)
        u = minus(minus(j.velocity, i.velocity), cross(triple(i.angular_velocity), r))
        w = seen(i.axes, minus(j.angular_velocity, i.angular_velocity))
        turning = plus(scaled(p0, w), 1.0, cross(w, p))
        push, turn = bushing_load(self, seen(i.axes, r), scaled(2.0, p), seen(i.axes, u), turning)
        m = plus(scaled(p0, turn), 1.0, cross(p, turn))
        return times(i.axes, scaled(-1.0, push)), times(i.axes, scaled(-1.0, m))

    def energy(self, t, i, j):
        _, p = half_rotation(i, j)
        s, phi, rest = seen(i.axes, minus(j.position, i.position)), scaled(2.0, p), (0.0, 0.0, 0.0)
        push, turn = bushing_load(self, s, phi, rest, rest)
        return 0.5 * (dot(s, push) + dot(phi, turn))

    def wrench_gradient(self, t, i, j, g):
        p0, p = half_rotation(i, j)
        r = minus(j.position, i.position)
        u = minus(minus(j.velocity, i.velocity), cross(triple(i.angular_velocity), r))
        spin = minus(j.angular_velocity, i.angular_velocity)
        w = seen(i.axes, spin)
        turning = plus(scaled(p0, w), 1.0, cross(w, p))
        push, turn = bushing_load(self, seen(i.axes, r), scaled(2.0, p), seen(i.axes, u), turning)
        m = plus(scaled(p0, turn), 1.0, cross(p, turn))
        for c in range(MOTIONS):
            # One number of a marker changes by one: A_i, r, u and the relative angular velocity follow.
            side, k = c // MOTION_J, c % MOTION_J
            sign = 1.0 if side else -1.0
            dr = scaled(sign, unit(k))
            dspin = scaled(sign, unit(k - SPIN_AT))
            du = minus(scaled(sign, unit(k - VELOCITY_AT)), cross(triple(i.angular_velocity), dr))
            row, axis = (k - AXES_AT) // 3, (k - AXES_AT) % 3  # of the axes that change
            if side == 0:
                du = minus(du, cross(unit(k - SPIN_AT), r))
            ds, dv, dw = seen(i.axes, dr), seen(i.axes, du), seen(i.axes, dspin)
            dp0, dp = 0.0, (0.0, 0.0, 0.0)
            if AXES_AT <= k < PLACE:
                dp0, dp = half_rotation_change(i, j, p0, p, side, row, axis)
                if side == 0:
                    ds, dv, dw = scaled(r[row], unit(axis)), scaled(u[row], unit(axis)), scaled(spin[row], unit(axis))
            dturning = plus(plus(scaled(dp0, w), p0, dw), 1.0, plus(cross(dw, p), 1.0, cross(w, dp)))
            dpush, dturn = bushing_load(self, ds, scaled(2.0, dp), dv, dturning)
            dm = plus(plus(scaled(dp0, turn), p0, dturn), 1.0, plus(cross(dp, turn), 1.0, cross(p, dturn)))
            force, torque = times(i.axes, dpush), times(i.axes, dm)
            for a in range(3):
                g[a, c] = -force[a]
                g[3 + a, c] = -torque[a]
            if side == 0 and AXES_AT <= k < PLACE:
                g[row, c] -= push[axis]
                g[3 + row, c] -= m[axis]

    @classmethod
    def proposed(cls, scale: Scale, picked: Mapping[str, Any]) -> dict[str, Any]:
        along, about = rounded(100.0 * scale.weight / scale.length), rounded(scale.weight * scale.length)
        stiffness = np.array([along] * 3 + [about] * 3)
        return super().proposed(scale, picked) | {"stiffness": stiffness, "damping": 0.02 * stiffness}

    @classmethod
    def example(cls, *bodies: Body) -> Bushing:
        bushing = cls("bushing", *bodies, at=(0.3, -0.2, 0.5), axis=(1.0, 2.0, -1.0))
        values = np.random.default_rng(7)
        root = values.normal(size=(6, 6))
        bushing.update(stiffness=root @ root.T + 3.0 * np.eye(6), damping=values.normal(size=(6, 6)))
        return bushing


def half_rotation(i, j):
    """p0 = cos(theta/2) and p = sin(theta/2) e, in the axes of i, of the rotation R = A_i^T A_j by theta about e.

    4 p0^2 = 1 + tr R, 4 p0 p = (R_zy - R_yz, R_xz - R_zx, R_yx - R_xy).
    """
    x, y, z = column(i.axes, 0), column(i.axes, 1), column(i.axes, 2)
    a, b, c = column(j.axes, 0), column(j.axes, 1), column(j.axes, 2)
    p0 = 0.5 * np.sqrt(1.0 + dot(x, a) + dot(y, b) + dot(z, c))
    f = 0.25 / p0
    return p0, (f * (dot(z, b) - dot(y, c)), f * (dot(x, c) - dot(z, a)), f * (dot(y, a) - dot(x, b)))


def half_rotation_change(i, j, p0, p, side, row, axis):
    """Change of p0 and p when the component `row` of an axis of i (side 0) or j (side 1) changes by one.

    From e.g. an axis x of i: R_xk changes by the component of the axis k of j.
    """
    other = (i if side else j).axes
    sign = -1.0 if side else 1.0
    dp0 = other[row, axis] / (8.0 * p0)
    dp = cross(unit(axis), (other[row, 0], other[row, 1], other[row, 2]))
    return dp0, plus(scaled(-sign * 0.25 / p0, dp), -dp0 / p0, p)


def bushing_load(bushing, s, phi, s_rate, phi_rate):
    """K (s, phi) + C (s', phi'), as two triples."""
    return bushing_rows(bushing, 0, s, phi, s_rate, phi_rate), bushing_rows(bushing, 3, s, phi, s_rate, phi_rate)


def bushing_rows(bushing, first, s, phi, s_rate, phi_rate):
    return (
        bushing_row(bushing, first, s, phi, s_rate, phi_rate),
        bushing_row(bushing, first + 1, s, phi, s_rate, phi_rate),
        bushing_row(bushing, first + 2, s, phi, s_rate, phi_rate),
    )


def bushing_row(bushing, r, s, phi, s_rate, phi_rate):
    total = 0.0
    for c in range(3):
        total += bushing.stiffness[r, c] * s[c] + bushing.stiffness[r, 3 + c] * phi[c]
        total += bushing.damping[r, c] * s_rate[c] + bushing.damping[r, 3 + c] * phi_rate[c]
    return total
