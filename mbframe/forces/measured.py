"""Laws on measures: loads that depend on a distance, a displacement or an angle and on its rate.

The functions `..._gradient` add to g (see `ForceElement`) the derivatives of a load that acts along a measure, from the
load and its derivatives with respect to the measure and to its rate.
"""

from __future__ import annotations

from ..functions import evaluate, given, integral, slope
from ..kernels.layout import AXES_AT, MOTION_J, SPIN_AT, SPIN_J, VELOCITY_AT, VELOCITY_J
from ..measures import angle, displacement, distance, distance_rate
from ..vectors import column, cross, dot, minus, plus, scaled, triple, unit


def load(stiffness, damping, elastic, viscous, x, rate):
    """k x + f(x) + c x' + g(x'), with the functions f and g that are given."""
    total = stiffness * x + damping * rate
    if given(elastic):
        total += evaluate(elastic, x)
    if given(viscous):
        total += evaluate(viscous, rate)
    return total


def load_slopes(stiffness, damping, elastic, viscous, x, rate):
    """Derivatives of `load` with respect to x and x'."""
    by_x, by_rate = stiffness, damping
    if given(elastic):
        by_x += slope(elastic, x)
    if given(viscous):
        by_rate += slope(viscous, rate)
    return by_x, by_rate


def stored(stiffness, elastic, x):
    """Energy of the elastic part of `load`: k x^2/2 + integral of f from 0 to x."""
    energy = 0.5 * stiffness * x * x
    if given(elastic):
        energy += integral(elastic, x)
    return energy


def distance_gradient(i, j, s, by_length, by_rate, g):
    """Of the force s e on the second body, e from its point to the first one's.

    dl = e . d, de = (d - e e.d)/l, dl' = de . u + e . u' for a change d of r_i - r_j, rate u.
    """
    length, x, y, z = distance(i, j)
    rate = distance_rate(i, j)
    e = (x, y, z)
    for a in range(3):
        for b in range(3):
            transverse = (1.0 if a == b else 0.0) - e[a] * e[b]
            u = i.velocity[b] - j.velocity[b]
            by_position = (
                by_length * e[a] * e[b] + s / length * transverse + by_rate * e[a] * (u - rate * e[b]) / length
            )
            by_velocity = by_rate * e[a] * e[b]
            g[a, b] += by_position
            g[a, MOTION_J + b] -= by_position
            g[a, VELOCITY_AT + b] += by_velocity
            g[a, VELOCITY_J + b] -= by_velocity


def displacement_gradient(i, j, f, by_displacement, by_rate, g):
    """Of the force f d on the second body, d being the first marker's z axis.

    With r = r_j - r_i: ds = dd . r + d . dr, ds' = dd . u + d . (du - w_i x dr - dw_i x r), u the rate of r against i.
    """
    _, d = displacement(i, j)
    w, r = triple(i.angular_velocity), minus(j.position, i.position)
    u = minus(minus(j.velocity, i.velocity), cross(w, r))
    turn, lever = cross(d, w), cross(r, d)
    for b in range(3):
        by_position = by_displacement * d[b] - by_rate * turn[b]
        by_axis = by_displacement * r[b] + by_rate * u[b]
        g[b, AXES_AT + 3 * b + 2] += f
        for a in range(3):
            g[a, b] -= d[a] * by_position
            g[a, MOTION_J + b] += d[a] * by_position
            g[a, AXES_AT + 3 * b + 2] += d[a] * by_axis
            g[a, VELOCITY_AT + b] -= d[a] * by_rate * d[b]
            g[a, VELOCITY_J + b] += d[a] * by_rate * d[b]
            g[a, SPIN_AT + b] -= d[a] * by_rate * lever[b]


def angle_gradient(i, j, m, by_angle, by_rate, g):
    """Of the torque m a on the second body, a being the axis of `measures.angle`.

    With (c, s, h) = e . (d_x, d_y, d_z), q = c^2 + s^2, b = (c d_x + s d_y)/q: a = d_z - h b, dtheta = (c ds - s dc)/q.
    """
    x, y, z, e = column(i.axes, 0), column(i.axes, 1), column(i.axes, 2), column(j.axes, 0)
    c, s, h = dot(e, x), dot(e, y), dot(e, z)
    q = c * c + s * s
    b = plus(scaled(c / q, x), s / q, y)
    _, a = angle(i, j)
    w = minus(j.angular_velocity, i.angular_velocity)
    for vector in range(4):  # x, y, z of the first marker, then e
        for r in range(3):
            d = unit(r)
            dc = x[r] if vector == 3 else (e[r] if vector == 0 else 0.0)
            ds = y[r] if vector == 3 else (e[r] if vector == 1 else 0.0)
            dh = z[r] if vector == 3 else (e[r] if vector == 2 else 0.0)
            db = plus(scaled(dc / q, x), ds / q, y)
            db = plus(db, (c if vector == 0 else (s if vector == 1 else 0.0)) / q, d)
            db = plus(db, -2.0 * (c * dc + s * ds) / q, b)
            da = plus(scaled(1.0 if vector == 2 else 0.0, d), -dh, b)
            da = plus(da, -h, db)
            dm = by_angle * (c * ds - s * dc) / q + by_rate * dot(da, w)
            place = MOTION_J + AXES_AT + 3 * r if vector == 3 else AXES_AT + 3 * r + vector
            for k in range(3):
                g[3 + k, place] += dm * a[k] + m * da[k]
    for r in range(3):
        for k in range(3):
            g[3 + k, SPIN_AT + r] -= by_rate * a[r] * a[k]
            g[3 + k, SPIN_J + r] += by_rate * a[r] * a[k]
