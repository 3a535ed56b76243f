"""Contact of spheres and points with planes and with each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..connections import Connection
from ..kernels.layout import AXES_AT, MOTION_J, MOTIONS, PLACE, SPIN_AT, SPIN_J, VELOCITY_AT, VELOCITY_J
from ..markers import Marker
from ..parameters import derived, parameter
from ..vectors import column, cross, dot, minus, plus, scaled, triple, unit
from .base import ForceElement

if TYPE_CHECKING:
    from ..bodies.base import Body

Array = NDArray[np.float64]

APPROACH = 3.0  # the speed of approach follows the motion APPROACH times as fast as the gap closes


class Contact(Connection):
    """The law of all contacts: an elastic normal force that dissipates, and friction.

    With the penetration d > 0 and its rate d' the normal force is

        N = k d^n (1 + c d'/v0), and 0 where this is negative: a contact never pulls.

    A body that impacts with the speed v0 = d' then leaves with the speed e v0 if c (1 + e) = ln((1 + c)/(1 - c e)), as
    follows from m d' dd' = -N dd, whatever m, k and n are, as long as N is large against other forces (the weight makes
    slow rebounds slower). This exact c replaces the approximations 3 (1 - e)/2 of [HuntCrossley1975] and 3 (1 - e^2)/4
    of [LankaraniNikravesh1990], which hold for e near 1.

    With `impact_speed` v0 is that constant, as in [HuntCrossley1975]: e holds for it, slower impacts are more elastic.
    Without it v0 is the speed of each impact, as in [LankaraniNikravesh1990], and e holds for all that are faster than
    `rest_speed`. The element senses it by an own state z, which outside contact follows the speed of approach u:
    z' = 3 |u| (max(u, 0) - z)/(gap + `sensing_distance`), and keeps its value in contact. All contacts have this state,
    because it also lets adaptive integrators notice an impact that a long step would pass over.

    The energy k d^(n+1)/(n+1) is that of the elastic part. Friction is -mu N u_t/sqrt(u_t^2 + v_s^2), u_t being the
    tangential velocity of the touching point: Coulomb's law for |u_t| much above the slip speed v_s; below it, the
    bodies creep. In a planar system planes are lines (by default with the normal (0, 1)) and spheres are disks.

    Results tell its `gap` (-d in contact), its `normal_force` N, and its `slip` |u_t|, which is zero while the bodies
    are apart.
    """

    states = 1
    outputs: ClassVar[Mapping[str, str]] = {"gap": "m", "normal_force": "N", "slip": "m/s"}

    stiffness = parameter(kind="number", unit="N/m^n", above=0.0, help="k")
    exponent = parameter(1.5, minimum=1.0, help="n: 1.5 is Hertz's law for spheres")
    restitution = parameter(1.0, above=0.0, maximum=1.0, help="e: speed after an impact divided by that before it")
    impact_speed = parameter(None, kind="number", unit="m/s", above=0.0, help="v0, if it is not to be sensed")
    rest_speed = parameter(0.01, unit="m/s", above=0.0, help="impacts slower than this count as this fast")
    sensing_distance = parameter(1e-4, unit="m", above=0.0, help="gap at which the sensed speed of approach settles")
    friction = parameter(0.0, minimum=0.0, help="mu: coefficient of friction")
    slip_speed = parameter(1e-3, unit="m/s", above=0.0, help="v_s: speed over which friction sets in")

    @derived
    def dissipation(self) -> float:
        """c."""
        return dissipation(self.restitution)

    @derived
    def constant_speed(self) -> float:
        """v0, or 0 if it is sensed."""
        return self.impact_speed or 0.0


def lossless(contact: Any) -> bool:
    """Whether a contact gives back all energy."""
    return contact.restitution == 1.0 and contact.friction == 0.0


@lru_cache
def dissipation(e: float) -> float:
    """The root c of c (1 + e) = ln((1 + c)/(1 - c e)) between 0 and 1/e, by bisection."""
    if e == 1.0:
        return 0.0
    low, high = 0.0, 1.0 / e
    for _ in range(60):
        c = 0.5 * (low + high)
        rest = 1.0 - c * e
        if rest > 0.0 and c * (1.0 + e) > math.log1p(c) - math.log(rest):
            low = c
        else:
            high = c
    return low


# --- the law, shared by the geometries --------------------------------------------------------------------------------
# A touch is (gap, n, arm): the unit normal n from the first body to the second, the touching point relative to r_j.


def touch_velocity(i, j, arm):
    """Velocity of the touching point as a point of the second body against the first."""
    reach = plus(minus(j.position, i.position), 1.0, arm)
    own = plus(triple(j.velocity), 1.0, cross(triple(j.angular_velocity), arm))
    return minus(own, plus(triple(i.velocity), 1.0, cross(triple(i.angular_velocity), reach)))


def normal_force(contact, gap, rate, z):
    """N for the rate d' of the penetration, with its derivatives by d and d'."""
    if gap >= 0.0:
        return 0.0, 0.0, 0.0
    d, n = -gap, contact.exponent
    speed = contact.constant_speed if contact.constant_speed > 0.0 else max(z[0], contact.rest_speed)
    elastic = contact.stiffness * d**n
    factor = 1.0 + contact.dissipation * rate / speed
    if factor <= 0.0:
        return 0.0, 0.0, 0.0
    return elastic * factor, n * elastic / d * factor, elastic * contact.dissipation / speed


def contact_wrench(contact, i, j, z, touch):
    """Force and torque on the second body."""
    gap, n, arm = touch
    u = touch_velocity(i, j, arm)
    normal, _, _ = normal_force(contact, gap, -dot(n, u), z)
    slip = plus(u, -dot(n, u), n)
    grip = contact.friction * normal / np.sqrt(dot(slip, slip) + contact.slip_speed**2)
    force = plus(scaled(normal, n), -grip, slip)
    return force, cross(arm, force)


def touch_force(contact, i, j, z, touch):
    """N."""
    gap, n, arm = touch
    normal, _, _ = normal_force(contact, gap, -dot(n, touch_velocity(i, j, arm)), z)
    return normal


def touch_slip(i, j, touch):
    """|u_t|; 0 without contact."""
    gap, n, arm = touch
    if gap >= 0.0:
        return 0.0
    u = touch_velocity(i, j, arm)
    slip = plus(u, -dot(n, u), n)
    return np.sqrt(dot(slip, slip))


def contact_energy(contact, gap):
    """k d^(n+1)/(n+1)."""
    if gap >= 0.0:
        return 0.0
    return contact.stiffness * (-gap) ** (contact.exponent + 1.0) / (contact.exponent + 1.0)


def approach_rate(contact, i, j, z, touch):
    """z'."""
    gap, n, arm = touch
    if gap <= 0.0:
        return (0.0,)
    u = -dot(n, touch_velocity(i, j, arm))
    aim, speed = (u, u) if u > 0.0 else (0.0, -u)
    return (APPROACH * speed * (aim - z[0]) / (gap + contact.sensing_distance),)


def touch_velocity_change(i, j, arm, darm, c):
    """Derivative of `touch_velocity` by the c-th number of the motions, which changes the arm by `darm`."""
    dr = minus(unit(c - MOTION_J), unit(c))
    reach, dreach = plus(minus(j.position, i.position), 1.0, arm), plus(dr, 1.0, darm)
    w_i, w_j = triple(i.angular_velocity), triple(j.angular_velocity)
    du_j = plus(plus(unit(c - VELOCITY_J), 1.0, cross(unit(c - SPIN_J), arm)), 1.0, cross(w_j, darm))
    du_i = plus(plus(unit(c - VELOCITY_AT), 1.0, cross(unit(c - SPIN_AT), reach)), 1.0, cross(w_i, dreach))
    return minus(du_j, du_i)


def contact_change(contact, i, j, z, touch, change, c, g):
    """Column c of the derivatives of the wrench; `change` is that of the touch."""
    gap, n, arm = touch
    dgap, dn, darm = change
    u, du = touch_velocity(i, j, arm), touch_velocity_change(i, j, arm, darm, c)
    rate, drate = -dot(n, u), -dot(dn, u) - dot(n, du)
    normal, by_depth, by_rate = normal_force(contact, gap, rate, z)
    dnormal = -by_depth * dgap + by_rate * drate
    slip = plus(u, rate, n)
    dslip = plus(plus(du, drate, n), rate, dn)
    speed = np.sqrt(dot(slip, slip) + contact.slip_speed**2)
    grip = contact.friction * normal / speed
    dgrip = contact.friction * (dnormal - normal * dot(slip, dslip) / speed**2) / speed
    force = plus(scaled(normal, n), -grip, slip)
    dforce = plus(plus(plus(scaled(dnormal, n), normal, dn), -dgrip, slip), -grip, dslip)
    dtorque = plus(cross(darm, force), 1.0, cross(arm, dforce))
    for r in range(3):
        g[r, c] = dforce[r]
        g[3 + r, c] = dtorque[r]


def approach_change(contact, i, j, z, touch, change, c, g):
    """Column c of the derivatives of z'."""
    gap, n, arm = touch
    dgap, dn, darm = change
    if gap <= 0.0:
        return
    velocity = touch_velocity(i, j, arm)
    u, du = -dot(n, velocity), -dot(dn, velocity) - dot(n, touch_velocity_change(i, j, arm, darm, c))
    span = gap + contact.sensing_distance
    # |u| (max(u, 0) - z) is u (u - z) or u z.
    product, by_u = (u * (u - z[0]), 2.0 * u - z[0]) if u > 0.0 else (u * z[0], z[0])
    g[6, c] = APPROACH * (by_u * du - product * dgap / span) / span


def sensed_change(contact, i, j, z, touch, g):
    """The derivatives of the wrench and of z' by z."""
    gap, n, arm = touch
    velocity = touch_velocity(i, j, arm)
    u = -dot(n, velocity)
    if gap > 0.0:
        g[6, MOTIONS] = -APPROACH * abs(u) / (gap + contact.sensing_distance)
        return
    if contact.constant_speed > 0.0 or z[0] <= contact.rest_speed:
        return
    _, _, by_rate = normal_force(contact, gap, u, z)
    slip = plus(velocity, u, n)
    grip = contact.friction / np.sqrt(dot(slip, slip) + contact.slip_speed**2)
    force = scaled(-by_rate * u / z[0], plus(n, -grip, slip))  # by_rate is in inverse proportion to z
    torque = cross(arm, force)
    for r in range(3):
        g[r, MOTIONS] = force[r]
        g[3 + r, MOTIONS] = torque[r]


# --- planes -----------------------------------------------------------------------------------------------------------


def plane_touch(radius, i, j):
    """A sphere about r_j, or a point, and the plane through r_i normal to the first marker's z axis."""
    n = column(i.axes, 2)
    height = dot(n, minus(j.position, i.position))
    return height - radius, n, scaled(-height, n)


def plane_change(i, j, c):
    """Derivative of the touch by the c-th number of the motions."""
    n, r = column(i.axes, 2), minus(j.position, i.position)
    dn = unit((c - AXES_AT) // 3) if AXES_AT <= c < PLACE and c % 3 == 2 else (0.0, 0.0, 0.0)
    dheight = dot(dn, r) + dot(n, minus(unit(c - MOTION_J), unit(c)))
    return dheight, dn, plus(scaled(-dheight, n), -dot(n, r), dn)


def plane_gradient(contact, radius, i, j, z, g):
    touch = plane_touch(radius, i, j)
    for c in range(MOTIONS):
        contact_change(contact, i, j, z, touch, plane_change(i, j, c), c, g)


def plane_state_gradient(contact, radius, i, j, z, g):
    touch = plane_touch(radius, i, j)
    for c in range(MOTIONS):
        approach_change(contact, i, j, z, touch, plane_change(i, j, c), c, g)
    sensed_change(contact, i, j, z, touch, g)


class PlaneContact(Contact):
    """A contact with a plane of the first body."""

    at_i: Any = None
    at_j: Any = None
    at = parameter(
        None, kind="point", unit="m", on="j", help="global point of the second body when described; else its origin"
    )
    plane_point = parameter(
        (0.0, 0.0, 0.0), kind="point", unit="m", on="i", help="global point of the plane when described"
    )
    normal = parameter(
        (0.0, 0.0, 1.0),
        kind="axis",
        planar=(0.0, 1.0),
        on="i",
        help="global direction out of the first body when described",
    )

    @property
    def i(self) -> Marker:
        return self.marker(self.body_i, self.plane_point, self.normal)

    @property
    def j(self) -> Marker:
        return self.marker(self.body_j, self.body_j.position if self.at is None else self.at, self.normal)


class SpherePlaneContact(PlaneContact, ForceElement):
    """A sphere of the second body, with the centre `at`, on a plane of the first.

    SpherePlaneContact("c", ground, ball, radius=0.1, stiffness=1e6, restitution=0.8). Gap n . (r_j - r_i) - R; the
    bodies touch at the foot of the perpendicular on the plane. Law as in `Contact`.
    """

    radius = parameter(kind="number", unit="m", above=0.0, help="R")

    conservative = property(lossless)

    def wrench(self, t, i, j, z):  # type: ignore[override]
        return contact_wrench(self, i, j, z, plane_touch(self.radius, i, j))

    def state_rate(self, t, i, j, z):
        return approach_rate(self, i, j, z, plane_touch(self.radius, i, j))

    def energy(self, t, i, j):
        gap, _, _ = plane_touch(self.radius, i, j)
        return contact_energy(self, gap)

    def gap(self, t, i, j, z):
        """-d."""
        return plane_touch(self.radius, i, j)[0]

    def normal_force(self, t, i, j, z):
        """N."""
        return touch_force(self, i, j, z, plane_touch(self.radius, i, j))

    def slip(self, t, i, j, z):
        """|u_t|."""
        return touch_slip(i, j, plane_touch(self.radius, i, j))

    def wrench_gradient(self, t, i, j, z, g):
        plane_gradient(self, self.radius, i, j, z, g)

    def state_gradient(self, t, i, j, z, g):
        plane_state_gradient(self, self.radius, i, j, z, g)

    @classmethod
    def example(cls, *bodies: Body) -> SpherePlaneContact:
        contact = cls("contact", *bodies, stiffness=10.0, radius=4.0, restitution=0.8, friction=0.4, slip_speed=0.5)
        contact.update(at=(1.1, 0.4, -0.6), plane_point=(0.3, -0.2, 0.5), normal=(1.0, 2.0, -1.0))
        return contact


class PointPlaneContact(PlaneContact, ForceElement):
    """A point `at` of the second body on a plane of the first, such as the corner of a block.

    PointPlaneContact("c", ground, block, at=corner, stiffness=1e5, exponent=1.0). Gap n . (r_j - r_i). Law as in
    `Contact`.
    """

    conservative = property(lossless)

    def wrench(self, t, i, j, z):  # type: ignore[override]
        return contact_wrench(self, i, j, z, plane_touch(0.0, i, j))

    def state_rate(self, t, i, j, z):
        return approach_rate(self, i, j, z, plane_touch(0.0, i, j))

    def energy(self, t, i, j):
        gap, _, _ = plane_touch(0.0, i, j)
        return contact_energy(self, gap)

    def gap(self, t, i, j, z):
        """-d."""
        return plane_touch(0.0, i, j)[0]

    def normal_force(self, t, i, j, z):
        """N."""
        return touch_force(self, i, j, z, plane_touch(0.0, i, j))

    def slip(self, t, i, j, z):
        """|u_t|."""
        return touch_slip(i, j, plane_touch(0.0, i, j))

    def wrench_gradient(self, t, i, j, z, g):
        plane_gradient(self, 0.0, i, j, z, g)

    def state_gradient(self, t, i, j, z, g):
        plane_state_gradient(self, 0.0, i, j, z, g)

    @classmethod
    def example(cls, *bodies: Body) -> PointPlaneContact:
        contact = cls(
            "contact", *bodies, stiffness=20.0, impact_speed=5.0, restitution=0.7, friction=0.4, slip_speed=0.5
        )
        contact.update(at=(1.1, 0.4, -0.6), plane_point=(0.3, 2.5, 0.5), normal=(1.0, 2.0, -1.0))
        return contact


# --- two spheres ------------------------------------------------------------------------------------------------------


def sphere_touch(radius_i, radius_j, i, j):
    """Two spheres about r_i and r_j, which touch halfway between their surfaces."""
    r = minus(j.position, i.position)
    length = np.sqrt(dot(r, r))
    gap, n = length - radius_i - radius_j, scaled(1.0 / length, r)
    return gap, n, scaled(-radius_j - 0.5 * gap, n)


def sphere_change(contact, touch, c):
    """Derivative of the touch by the c-th number of the motions."""
    gap, n, _ = touch
    dr = minus(unit(c - MOTION_J), unit(c))
    dgap = dot(n, dr)
    dn = scaled(1.0 / (gap + contact.radius_i + contact.radius_j), plus(dr, -dgap, n))
    return dgap, dn, plus(scaled(-0.5 * dgap, n), -contact.radius_j - 0.5 * gap, dn)


class SphereSphereContact(Contact, ForceElement):
    """Two spheres with the centres `at_i` and `at_j`.

    SphereSphereContact("c", one, two, radius_i=0.1, radius_j=0.2, stiffness=1e6). Gap |r_j - r_i| - R_i - R_j; they
    touch halfway between their surfaces. Law as in `Contact`. The centres must not coincide.
    """

    radius_i = parameter(kind="number", unit="m", above=0.0, help="R_i")
    radius_j = parameter(kind="number", unit="m", above=0.0, help="R_j")

    conservative = property(lossless)

    def wrench(self, t, i, j, z):  # type: ignore[override]
        return contact_wrench(self, i, j, z, sphere_touch(self.radius_i, self.radius_j, i, j))

    def state_rate(self, t, i, j, z):
        return approach_rate(self, i, j, z, sphere_touch(self.radius_i, self.radius_j, i, j))

    def energy(self, t, i, j):
        gap, _, _ = sphere_touch(self.radius_i, self.radius_j, i, j)
        return contact_energy(self, gap)

    def gap(self, t, i, j, z):
        """-d."""
        return sphere_touch(self.radius_i, self.radius_j, i, j)[0]

    def normal_force(self, t, i, j, z):
        """N."""
        return touch_force(self, i, j, z, sphere_touch(self.radius_i, self.radius_j, i, j))

    def slip(self, t, i, j, z):
        """|u_t|."""
        return touch_slip(i, j, sphere_touch(self.radius_i, self.radius_j, i, j))

    def judged(self, t: Array, centres_i: Array, centres_j: Array) -> list[str]:
        """Where a motion presses the spheres deeper than the smaller one is; of their centres (n, 3) at the times t."""
        gaps = np.linalg.norm(centres_j - centres_i, axis=1) - self.radius_i - self.radius_j
        deep = np.flatnonzero(gaps < -min(self.radius_i, self.radius_j))
        if not len(deep):
            return []
        return [
            f"{self}: the spheres are pressed into each other by {-gaps[deep].min():.3g} m, more than the radius of "
            f"one of them, from t = {t[deep[0]]:.6g} s on: they may pass through each other, which no bodies do; "
            "increase stiffness"
        ]

    def wrench_gradient(self, t, i, j, z, g):
        touch = sphere_touch(self.radius_i, self.radius_j, i, j)
        for c in range(MOTIONS):
            contact_change(self, i, j, z, touch, sphere_change(self, touch, c), c, g)

    def state_gradient(self, t, i, j, z, g):
        touch = sphere_touch(self.radius_i, self.radius_j, i, j)
        for c in range(MOTIONS):
            approach_change(self, i, j, z, touch, sphere_change(self, touch, c), c, g)
        sensed_change(self, i, j, z, touch, g)

    @classmethod
    def example(cls, *bodies: Body) -> SphereSphereContact:
        contact = cls("contact", *bodies, stiffness=10.0, radius_i=2.0, radius_j=3.0, restitution=0.8, friction=0.4)
        contact.update(at_i=(0.3, -0.2, 0.5), at_j=(1.1, 0.4, -0.6), slip_speed=0.5)
        return contact
