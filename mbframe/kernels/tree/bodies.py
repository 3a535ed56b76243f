"""From joint coordinates to the coordinates and velocities of the bodies, and back."""

from __future__ import annotations

import math

import numpy as np

from ..compiler.backend import inner
from ..compiler.memory import clear, part, records, vector
from .layout import BALL, CARRIED, HINGE, MOVING, NODE, SLIDE
from .passes import place_node


@inner
def quaternion(a, e):
    """Euler parameters of a rotation matrix, of the two the one nearer to e; the result is written to e."""
    t = a[0] + a[4] + a[8]
    if t > 0.0:
        s = math.sqrt(1.0 + t)
        k = 0.5 / s
        e0, e1, e2, e3 = 0.5 * s, (a[7] - a[5]) * k, (a[2] - a[6]) * k, (a[3] - a[1]) * k
    elif a[0] >= a[4] and a[0] >= a[8]:
        s = math.sqrt(1.0 + a[0] - a[4] - a[8])
        k = 0.5 / s
        e0, e1, e2, e3 = (a[7] - a[5]) * k, 0.5 * s, (a[1] + a[3]) * k, (a[2] + a[6]) * k
    elif a[4] >= a[8]:
        s = math.sqrt(1.0 + a[4] - a[0] - a[8])
        k = 0.5 / s
        e0, e1, e2, e3 = (a[2] - a[6]) * k, (a[1] + a[3]) * k, 0.5 * s, (a[5] + a[7]) * k
    else:
        s = math.sqrt(1.0 + a[8] - a[0] - a[4])
        k = 0.5 / s
        e0, e1, e2, e3 = (a[3] - a[1]) * k, (a[2] + a[6]) * k, (a[5] + a[7]) * k, 0.5 * s
    if e0 * e[0] + e1 * e[1] + e2 * e[2] + e3 * e[3] < 0.0:
        e0, e1, e2, e3 = -e0, -e1, -e2, -e3
    e[0], e[1], e[2], e[3] = e0, e1, e2, e3


@inner
def product(a, b):
    """Two matrices, row by row."""
    return (
        a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0] + a[0, 2] * b[2, 0],
        a[0, 0] * b[0, 1] + a[0, 1] * b[1, 1] + a[0, 2] * b[2, 1],
        a[0, 0] * b[0, 2] + a[0, 1] * b[1, 2] + a[0, 2] * b[2, 2],
        a[1, 0] * b[0, 0] + a[1, 1] * b[1, 0] + a[1, 2] * b[2, 0],
        a[1, 0] * b[0, 1] + a[1, 1] * b[1, 1] + a[1, 2] * b[2, 1],
        a[1, 0] * b[0, 2] + a[1, 1] * b[1, 2] + a[1, 2] * b[2, 2],
        a[2, 0] * b[0, 0] + a[2, 1] * b[1, 0] + a[2, 2] * b[2, 0],
        a[2, 0] * b[0, 1] + a[2, 1] * b[1, 1] + a[2, 2] * b[2, 1],
        a[2, 0] * b[0, 2] + a[2, 1] * b[1, 2] + a[2, 2] * b[2, 2],
    )


@inner
def turned(a, x):
    """A matrix times a vector."""
    return (
        a[0, 0] * x[0] + a[0, 1] * x[1] + a[0, 2] * x[2],
        a[1, 0] * x[0] + a[1, 1] * x[1] + a[1, 2] * x[2],
        a[2, 0] * x[0] + a[2, 1] * x[1] + a[2, 2] * x[2],
    )


@inner
def expand(tree, w):
    """q and v of the bodies from the motion of the nodes that carry them."""
    moving = records(tree.moving, tree.n_nodes, MOVING)
    carried = records(tree.carried, tree.n_carried, CARRIED)
    y, first = vector(w.y, w.n_y), w.n_q
    for k in range(tree.n_carried):
        body = carried[k]
        s = moving[body.node]
        a = product(s.axes, body.axes)
        x, y0, z = turned(s.axes, body.point)
        u, spin, at = s.velocity, s.spin, s.position
        w0, w1, w2 = spin[0], spin[1], spin[2]
        q, v = body.q, first + body.v
        y[q], y[q + 1] = at[0] + x, at[1] + y0
        y[v], y[v + 1] = u[0] + w1 * z - w2 * y0, u[1] + w2 * x - w0 * z
        if body.n_v == 3:
            angle = math.atan2(a[3], a[0])
            y[q + 2] = angle + 2.0 * math.pi * math.floor((y[q + 2] - angle) / (2.0 * math.pi) + 0.5)
            y[v + 2] = w2
            continue
        y[q + 2] = at[2] + z
        y[v + 2] = u[2] + w0 * y0 - w1 * x
        quaternion(a, y[q + 3 : q + 7])
        y[v + 3] = a[0] * w0 + a[3] * w1 + a[6] * w2
        y[v + 4] = a[1] * w0 + a[4] * w1 + a[7] * w2
        y[v + 5] = a[2] * w0 + a[5] * w1 + a[8] * w2


@inner
def pose(y, body, first):
    """Axes, origin, velocity and angular velocity of a body, all global."""
    q, v = body.q, first + body.v
    if body.n_v == 3:
        c, s = math.cos(y[q + 2]), math.sin(y[q + 2])
        return (
            (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0),
            (y[q], y[q + 1], 0.0),
            (y[v], y[v + 1], 0.0),
            (0.0, 0.0, y[v + 2]),
        )
    p0, p1, p2, p3 = y[q + 3], y[q + 4], y[q + 5], y[q + 6]
    s = 2.0 / (p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    a = (
        1.0 - s * (p2 * p2 + p3 * p3),
        s * (p1 * p2 - p3 * p0),
        s * (p1 * p3 + p2 * p0),
        s * (p1 * p2 + p3 * p0),
        1.0 - s * (p1 * p1 + p3 * p3),
        s * (p2 * p3 - p1 * p0),
        s * (p1 * p3 - p2 * p0),
        s * (p2 * p3 + p1 * p0),
        1.0 - s * (p1 * p1 + p2 * p2),
    )
    x, y0, z = y[v + 3], y[v + 4], y[v + 5]
    spin = a[0] * x + a[1] * y0 + a[2] * z, a[3] * x + a[4] * y0 + a[5] * z, a[6] * x + a[7] * y0 + a[8] * z
    return a, (y[q], y[q + 1], y[q + 2]), (y[v], y[v + 1], y[v + 2]), spin


@inner
def node_axes(a, f):
    """Axes of a node from those of its body: A F^T."""
    return (
        a[0] * f[0, 0] + a[1] * f[0, 1] + a[2] * f[0, 2],
        a[0] * f[1, 0] + a[1] * f[1, 1] + a[2] * f[1, 2],
        a[0] * f[2, 0] + a[1] * f[2, 1] + a[2] * f[2, 2],
        a[3] * f[0, 0] + a[4] * f[0, 1] + a[5] * f[0, 2],
        a[3] * f[1, 0] + a[4] * f[1, 1] + a[5] * f[1, 2],
        a[3] * f[2, 0] + a[4] * f[2, 1] + a[5] * f[2, 2],
        a[6] * f[0, 0] + a[7] * f[0, 1] + a[8] * f[0, 2],
        a[6] * f[1, 0] + a[7] * f[1, 1] + a[8] * f[1, 2],
        a[6] * f[2, 0] + a[7] * f[2, 1] + a[8] * f[2, 2],
    )


@inner
def along(m, k, x):
    """A column of a matrix that is given row by row, times a vector."""
    return m[k] * x[0] + m[3 + k] * x[1] + m[6 + k] * x[2]


@inner
def read(tree, r, w):
    """Joint coordinates and velocities at the state of the bodies: what the joints do not allow is left out."""
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    carried = records(tree.carried, tree.n_carried, CARRIED)
    y, q, v = vector(w.y, w.n_y), part(r.y, 0, r.n_q), part(r.y, r.n_q, r.n_v)
    for k in range(tree.n_carried):
        body = carried[k]
        a, origin, velocity, spin = pose(y, body, w.n_q)
        target = node_axes(a, body.axes)
        p = body.point
        x = target[0] * p[0] + target[1] * p[1] + target[2] * p[2]
        y0 = target[3] * p[0] + target[4] * p[1] + target[5] * p[2]
        z = target[6] * p[0] + target[7] * p[1] + target[8] * p[2]
        at = origin[0] - x, origin[1] - y0, origin[2] - z
        w0, w1, w2 = spin
        u = velocity[0] - (w1 * z - w2 * y0), velocity[1] - (w2 * x - w0 * z), velocity[2] - (w0 * y0 - w1 * x)
        base = moving[nodes[body.first].parent]
        s0, s1, s2 = base.spin[0], base.spin[1], base.spin[2]
        d0, d1, d2 = at[0] - base.position[0], at[1] - base.position[1], at[2] - base.position[2]
        slip = (
            u[0] - base.velocity[0] - (s1 * d2 - s2 * d1),
            u[1] - base.velocity[1] - (s2 * d0 - s0 * d2),
            u[2] - base.velocity[2] - (s0 * d1 - s1 * d0),
        )
        turning = w0 - s0, w1 - s1, w2 - s2
        for i in range(body.first, body.node + 1):
            node = nodes[i]
            parent = moving[node.parent]
            j = product(parent.axes, node.turn)
            if node.kind == SLIDE:
                f = turned(parent.axes, node.offset)
                gap = (
                    at[0] - parent.position[0] - f[0],
                    at[1] - parent.position[1] - f[1],
                    at[2] - parent.position[2] - f[2],
                )
                q[node.q], v[node.v] = along(j, 2, gap), along(j, 2, slip)
            elif node.kind == HINGE:
                if i == body.node:
                    x_axis = target[0], target[3], target[6]
                    q[node.q] = math.atan2(along(j, 1, x_axis), along(j, 0, x_axis))
                else:  # of a universal joint: the axis of the next one tells
                    z_axis, t = (target[2], target[5], target[8]), nodes[i + 1].turn
                    q[node.q] = math.atan2(along(j, 1, z_axis), along(j, 0, z_axis)) - math.atan2(t[1, 2], t[0, 2])
                v[node.v] = along(j, 2, turning)
            elif node.kind == BALL:
                x_axis, y_axis = (target[0], target[3], target[6]), (target[1], target[4], target[7])
                z_axis = target[2], target[5], target[8]
                e = (
                    *(along(j, 0, x_axis), along(j, 0, y_axis), along(j, 0, z_axis)),
                    *(along(j, 1, x_axis), along(j, 1, y_axis), along(j, 1, z_axis)),
                    *(along(j, 2, x_axis), along(j, 2, y_axis), along(j, 2, z_axis)),
                )
                quaternion(e, q[node.q : node.q + 4])
                for c in range(3):
                    v[node.v + c] = along(target, c, turning)
            place_node(nodes, moving, q, v, i)


@inner
def read_accelerations(tree, w, out):
    """out := v' of the joints for the accelerations of the bodies in `w.rates`, at the motion of the nodes."""
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    carried = records(tree.carried, tree.n_carried, CARRIED)
    rates = part(w.rates, w.n_q, w.n_v)
    ground = moving[0]
    for k in range(3):
        ground.acceleration[k] = ground.spin_rate[k] = 0.0
    for k in range(tree.n_carried):
        body = carried[k]
        s, v = moving[body.node], body.v
        x, y, z = turned(s.axes, body.point)
        w0, w1, w2 = s.spin[0], s.spin[1], s.spin[2]
        if body.n_v == 3:
            b0, b1, b2 = rates[v], rates[v + 1], 0.0
            g0, g1, g2 = 0.0, 0.0, rates[v + 2]
        else:
            a = product(s.axes, body.axes)
            b0, b1, b2 = rates[v], rates[v + 1], rates[v + 2]
            l0, l1, l2 = rates[v + 3], rates[v + 4], rates[v + 5]
            g0, g1, g2 = (
                a[0] * l0 + a[1] * l1 + a[2] * l2,
                a[3] * l0 + a[4] * l1 + a[5] * l2,
                a[6] * l0 + a[7] * l1 + a[8] * l2,
            )
        c0, c1, c2 = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
        b0 -= g1 * z - g2 * y + w1 * c2 - w2 * c1
        b1 -= g2 * x - g0 * z + w2 * c0 - w0 * c2
        b2 -= g0 * y - g1 * x + w0 * c1 - w1 * c0
        s.acceleration[0], s.acceleration[1], s.acceleration[2] = b0, b1, b2
        s.spin_rate[0], s.spin_rate[1], s.spin_rate[2] = g0, g1, g2
        base = moving[nodes[body.first].parent]
        f, h = base.spin_rate, base.acceleration
        d0, d1, d2 = (
            s.position[0] - base.position[0],
            s.position[1] - base.position[1],
            s.position[2] - base.position[2],
        )
        b0 -= h[0] + f[1] * d2 - f[2] * d1
        b1 -= h[1] + f[2] * d0 - f[0] * d2
        b2 -= h[2] + f[0] * d1 - f[1] * d0
        g0, g1, g2 = g0 - f[0], g1 - f[1], g2 - f[2]
        for i in range(body.first, body.node + 1):
            b0, b1, b2 = b0 - moving[i].bias[0], b1 - moving[i].bias[1], b2 - moving[i].bias[2]
            g0, g1, g2 = g0 - moving[i].spin_bias[0], g1 - moving[i].spin_bias[1], g2 - moving[i].spin_bias[2]
        for i in range(body.first, body.node + 1):
            node, axes = nodes[i], moving[i].axes
            if node.kind == SLIDE:
                out[node.v] = axes[0, 2] * b0 + axes[1, 2] * b1 + axes[2, 2] * b2
            elif node.kind == HINGE:
                out[node.v] = axes[0, 2] * g0 + axes[1, 2] * g1 + axes[2, 2] * g2
            elif node.kind == BALL:
                for c in range(3):
                    out[node.v + c] = axes[0, c] * g0 + axes[1, c] * g1 + axes[2, c] * g2


@inner
def hang_on(tree, w):
    """Take the generalized forces of the bodies over as loads of their nodes."""
    moving = records(tree.moving, tree.n_nodes, MOVING)
    carried = records(tree.carried, tree.n_carried, CARRIED)
    force = vector(w.force, w.n_v)
    for k in range(tree.n_carried):
        body = carried[k]
        s = moving[body.node]
        load = wrench_at_node(s, body, force, body.v)
        p, m = s.load, s.moment
        p[0], p[1], p[2] = p[0] - load[0], p[1] - load[1], p[2] - load[2]
        m[0], m[1], m[2] = m[0] - load[3], m[1] - load[4], m[2] - load[5]


@inner
def wrench_at_node(s, body, values, at):
    """Force and moment at the point of a node for generalized forces of its body."""
    x, y, z = turned(s.axes, body.point)
    f0, f1 = values[at], values[at + 1]
    if body.n_v == 3:
        return f0, f1, 0.0, -z * f1, z * f0, values[at + 2] + x * f1 - y * f0
    f2 = values[at + 2]
    l0, l1, l2 = values[at + 3], values[at + 4], values[at + 5]
    a = product(s.axes, body.axes)
    return (
        f0,
        f1,
        f2,
        a[0] * l0 + a[1] * l1 + a[2] * l2 + y * f2 - z * f1,
        a[3] * l0 + a[4] * l1 + a[5] * l2 + z * f0 - x * f2,
        a[6] * l0 + a[7] * l1 + a[8] * l2 + x * f1 - y * f0,
    )


@inner
def acceleration_of(s, body, gravity):
    """Accelerations of a body that its rows of J multiply: of its origin, then its angular acceleration in its axes.

    Those of the nodes are relative to a ground that falls upwards.
    """
    x, y, z = turned(s.axes, body.point)
    w0, w1, w2 = s.spin[0], s.spin[1], s.spin[2]
    g, b = s.spin_rate, s.acceleration
    c0, c1, c2 = w1 * z - w2 * y, w2 * x - w0 * z, w0 * y - w1 * x
    b0 = b[0] + gravity[0] + g[1] * z - g[2] * y + w1 * c2 - w2 * c1
    b1 = b[1] + gravity[1] + g[2] * x - g[0] * z + w2 * c0 - w0 * c2
    if body.n_v == 3:
        return b0, b1, g[2], 0.0, 0.0, 0.0
    b2 = b[2] + gravity[2] + g[0] * y - g[1] * x + w0 * c1 - w1 * c0
    a = product(s.axes, body.axes)
    return (
        b0,
        b1,
        b2,
        a[0] * g[0] + a[3] * g[1] + a[6] * g[2],
        a[1] * g[0] + a[4] * g[1] + a[7] * g[2],
        a[2] * g[0] + a[5] * g[1] + a[8] * g[2],
    )


@inner
def same(a, b, n):
    """Whether two states are the same."""
    k = 0
    while k < n and a[k] == b[k]:
        k += 1
    return k == n


@inner
def forget(values):
    """No state is the same as this one."""
    clear(values)
    values[0] = np.nan
