"""The three passes of the articulated-body recursion: outwards, inwards, outwards.

[Featherstone2008], chapter 7, written about the points of the joints in global axes. Symmetric blocks are stored once,
so that rounding cannot make them unsymmetric: of recursions on long chains of balls that is what makes errors grow.
"""

from __future__ import annotations

import math

from ..compiler.backend import inner
from ..compiler.memory import part, records
from .layout import BALL, HINGE, MOVING, NODE, SLIDE


@inner
def place_node(nodes, moving, q, v, i):
    """Place and motion of a node from those of its parent."""
    node, s = nodes[i], moving[i]
    parent = moving[node.parent]
    p, t, f = parent.axes, node.turn, node.offset
    p00, p01, p02 = p[0, 0], p[0, 1], p[0, 2]
    p10, p11, p12 = p[1, 0], p[1, 1], p[1, 2]
    p20, p21, p22 = p[2, 0], p[2, 1], p[2, 2]
    w0, w1, w2 = parent.spin[0], parent.spin[1], parent.spin[2]
    d0 = p00 * f[0] + p01 * f[1] + p02 * f[2]
    d1 = p10 * f[0] + p11 * f[1] + p12 * f[2]
    d2 = p20 * f[0] + p21 * f[1] + p22 * f[2]
    x0 = p00 * t[0, 0] + p01 * t[1, 0] + p02 * t[2, 0]
    x1 = p10 * t[0, 0] + p11 * t[1, 0] + p12 * t[2, 0]
    x2 = p20 * t[0, 0] + p21 * t[1, 0] + p22 * t[2, 0]
    y0 = p00 * t[0, 1] + p01 * t[1, 1] + p02 * t[2, 1]
    y1 = p10 * t[0, 1] + p11 * t[1, 1] + p12 * t[2, 1]
    y2 = p20 * t[0, 1] + p21 * t[1, 1] + p22 * t[2, 1]
    z0 = p00 * t[0, 2] + p01 * t[1, 2] + p02 * t[2, 2]
    z1 = p10 * t[0, 2] + p11 * t[1, 2] + p12 * t[2, 2]
    z2 = p20 * t[0, 2] + p21 * t[1, 2] + p22 * t[2, 2]
    out = s.axes
    n0, n1, n2 = w0, w1, w2
    b0 = b1 = b2 = g0 = g1 = g2 = u0 = u1 = u2 = 0.0
    if node.kind == HINGE:
        angle, rate = q[node.q], v[node.v]
        sine, cosine = math.sin(angle), math.cos(angle)
        x0, y0 = cosine * x0 + sine * y0, cosine * y0 - sine * x0
        x1, y1 = cosine * x1 + sine * y1, cosine * y1 - sine * x1
        x2, y2 = cosine * x2 + sine * y2, cosine * y2 - sine * x2
        g0, g1, g2 = rate * (w1 * z2 - w2 * z1), rate * (w2 * z0 - w0 * z2), rate * (w0 * z1 - w1 * z0)
        n0, n1, n2 = w0 + rate * z0, w1 + rate * z1, w2 + rate * z2
    elif node.kind == SLIDE:
        way, rate = q[node.q], v[node.v]
        d0, d1, d2 = d0 + way * z0, d1 + way * z1, d2 + way * z2
        u0, u1, u2 = rate * z0, rate * z1, rate * z2
        b0, b1, b2 = 2.0 * (w1 * u2 - w2 * u1), 2.0 * (w2 * u0 - w0 * u2), 2.0 * (w0 * u1 - w1 * u0)
    elif node.kind == BALL:
        e0, e1, e2, e3 = q[node.q], q[node.q + 1], q[node.q + 2], q[node.q + 3]
        scale = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
        f1, f2, f3 = scale * e1, scale * e2, scale * e3
        r00, r01, r02 = 1.0 - f2 * e2 - f3 * e3, f1 * e2 - f3 * e0, f1 * e3 + f2 * e0
        r10, r11, r12 = f1 * e2 + f3 * e0, 1.0 - f1 * e1 - f3 * e3, f2 * e3 - f1 * e0
        r20, r21, r22 = f1 * e3 - f2 * e0, f2 * e3 + f1 * e0, 1.0 - f1 * e1 - f2 * e2
        h0, h1, h2 = x0 * r00 + y0 * r10 + z0 * r20, x1 * r00 + y1 * r10 + z1 * r20, x2 * r00 + y2 * r10 + z2 * r20
        k0, k1, k2 = x0 * r01 + y0 * r11 + z0 * r21, x1 * r01 + y1 * r11 + z1 * r21, x2 * r01 + y2 * r11 + z2 * r21
        z0, z1, z2 = x0 * r02 + y0 * r12 + z0 * r22, x1 * r02 + y1 * r12 + z1 * r22, x2 * r02 + y2 * r12 + z2 * r22
        x0, x1, x2, y0, y1, y2 = h0, h1, h2, k0, k1, k2
        r0, r1, r2 = v[node.v], v[node.v + 1], v[node.v + 2]
        h0, h1, h2 = x0 * r0 + y0 * r1 + z0 * r2, x1 * r0 + y1 * r1 + z1 * r2, x2 * r0 + y2 * r1 + z2 * r2
        g0, g1, g2 = w1 * h2 - w2 * h1, w2 * h0 - w0 * h2, w0 * h1 - w1 * h0
        n0, n1, n2 = w0 + h0, w1 + h1, w2 + h2
    out[0, 0], out[0, 1], out[0, 2] = x0, y0, z0
    out[1, 0], out[1, 1], out[1, 2] = x1, y1, z1
    out[2, 0], out[2, 1], out[2, 2] = x2, y2, z2
    # w x d: what the turning of the parent adds to the velocity; and its centripetal acceleration
    c0, c1, c2 = w1 * d2 - w2 * d1, w2 * d0 - w0 * d2, w0 * d1 - w1 * d0
    s.bias[0], s.bias[1], s.bias[2] = (
        b0 + w1 * c2 - w2 * c1,
        b1 + w2 * c0 - w0 * c2,
        b2 + w0 * c1 - w1 * c0,
    )
    s.spin_bias[0], s.spin_bias[1], s.spin_bias[2] = g0, g1, g2
    s.arm[0], s.arm[1], s.arm[2] = d0, d1, d2
    s.spin[0], s.spin[1], s.spin[2] = n0, n1, n2
    a, u = parent.position, parent.velocity
    s.position[0], s.position[1], s.position[2] = a[0] + d0, a[1] + d1, a[2] + d2
    s.velocity[0], s.velocity[1], s.velocity[2] = u[0] + c0 + u0, u[1] + c1 + u1, u[2] + c2 + u2


@inner
def weigh_node(node, s):
    """Inertia of the body of a node, and what holds it where its point does not accelerate: m w x (w x c), w x I w."""
    m, h, inertia = node.mass, node.moment, node.inertia
    for k in range(6):
        s.a[k] = 0.0
    for k in range(3):
        s.b[k, k] = 0.0
    s.a[0] = s.a[3] = s.a[5] = m
    a = s.axes
    x0, y0, z0 = a[0, 0], a[0, 1], a[0, 2]
    x1, y1, z1 = a[1, 0], a[1, 1], a[1, 2]
    x2, y2, z2 = a[2, 0], a[2, 1], a[2, 2]
    c0, c1, c2 = (
        x0 * h[0] + y0 * h[1] + z0 * h[2],
        x1 * h[0] + y1 * h[1] + z1 * h[2],
        x2 * h[0] + y2 * h[1] + z2 * h[2],
    )
    s.b[0, 1], s.b[0, 2], s.b[1, 0] = -c2, c1, c2
    s.b[1, 2], s.b[2, 0], s.b[2, 1] = -c0, -c1, c0
    xx, xy, xz, yy, yz, zz = inertia[0], inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]
    # A I, then (A I) A^T
    i00, i01, i02 = x0 * xx + y0 * xy + z0 * xz, x0 * xy + y0 * yy + z0 * yz, x0 * xz + y0 * yz + z0 * zz
    i10, i11, i12 = x1 * xx + y1 * xy + z1 * xz, x1 * xy + y1 * yy + z1 * yz, x1 * xz + y1 * yz + z1 * zz
    i20, i21, i22 = x2 * xx + y2 * xy + z2 * xz, x2 * xy + y2 * yy + z2 * yz, x2 * xz + y2 * yz + z2 * zz
    j00, j01, j02 = i00 * x0 + i01 * y0 + i02 * z0, i00 * x1 + i01 * y1 + i02 * z1, i00 * x2 + i01 * y2 + i02 * z2
    j11, j12, j22 = i10 * x1 + i11 * y1 + i12 * z1, i10 * x2 + i11 * y2 + i12 * z2, i20 * x2 + i21 * y2 + i22 * z2
    s.c[0], s.c[1], s.c[2], s.c[3], s.c[4], s.c[5] = j00, j01, j02, j11, j12, j22
    w0, w1, w2 = s.spin[0], s.spin[1], s.spin[2]
    h0, h1, h2 = j00 * w0 + j01 * w1 + j02 * w2, j01 * w0 + j11 * w1 + j12 * w2, j02 * w0 + j12 * w1 + j22 * w2
    r0, r1, r2 = w1 * c2 - w2 * c1, w2 * c0 - w0 * c2, w0 * c1 - w1 * c0
    s.load[0], s.load[1], s.load[2] = w1 * r2 - w2 * r1, w2 * r0 - w0 * r2, w0 * r1 - w1 * r0
    s.moment[0], s.moment[1], s.moment[2] = w1 * h2 - w2 * h1, w2 * h0 - w0 * h2, w0 * h1 - w1 * h0


@inner
def clear_node(s):
    """A node without mass carries nothing of its own."""
    for k in range(6):
        s.a[k] = s.c[k] = 0.0
    for k in range(3):
        s.load[k] = s.moment[k] = 0.0
        for c in range(3):
            s.b[k, c] = 0.0


@inner
def move(tree, r):
    """Place and motion of all nodes."""
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    q, v = part(r.y, 0, r.n_q), part(r.y, r.n_q, r.n_v)
    for i in range(1, tree.n_nodes):
        place_node(nodes, moving, q, v, i)


@inner
def weigh(tree):
    """Inertias and loads of all nodes by themselves."""
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    for i in range(1, tree.n_nodes):
        if nodes[i].mass > 0.0:
            weigh_node(nodes[i], moving[i])
        else:
            clear_node(moving[i])


@inner
def decompose(s, c0, c1, c2, c3, c4, c5):
    """C = L L^T of a ball."""
    l00 = 1.0 / math.sqrt(c0)
    l10, l20 = c1 * l00, c2 * l00
    l11 = 1.0 / math.sqrt(c3 - l10 * l10)
    l21 = (c4 - l10 * l20) * l11
    l22 = 1.0 / math.sqrt(c5 - l20 * l20 - l21 * l21)
    f = s.lower
    f[0], f[1], f[2], f[3], f[4], f[5] = l00, l10, l11, l20, l21, l22
    return l00, l10, l11, l20, l21, l22


@inner
def hand_on(s, o, a0, a1, a2, a3, a4, a5, b, c, p, m):
    """Add an inertia and a load at the point of a node to those of its parent, at the parent's point.

    With the arm r: B := B + r~ A, C := C + r~ B^T - B r~, m := m + r x p.
    """
    b00, b01, b02, b10, b11, b12, b20, b21, b22 = b
    c0, c1, c2, c3, c4, c5 = c
    r0, r1, r2 = s.arm[0], s.arm[1], s.arm[2]
    g00, g01, g02 = b00 - r2 * a1 + r1 * a2, b01 - r2 * a3 + r1 * a4, b02 - r2 * a4 + r1 * a5
    g10, g11, g12 = b10 + r2 * a0 - r0 * a2, b11 + r2 * a1 - r0 * a4, b12 + r2 * a2 - r0 * a5
    g20, g21, g22 = b20 - r1 * a0 + r0 * a1, b21 - r1 * a1 + r0 * a3, b22 - r1 * a2 + r0 * a4
    x = o.a
    x[0], x[1], x[2], x[3], x[4], x[5] = x[0] + a0, x[1] + a1, x[2] + a2, x[3] + a3, x[4] + a4, x[5] + a5
    x = o.b
    x[0, 0], x[0, 1], x[0, 2] = x[0, 0] + g00, x[0, 1] + g01, x[0, 2] + g02
    x[1, 0], x[1, 1], x[1, 2] = x[1, 0] + g10, x[1, 1] + g11, x[1, 2] + g12
    x[2, 0], x[2, 1], x[2, 2] = x[2, 0] + g20, x[2, 1] + g21, x[2, 2] + g22
    x = o.c
    x[0] += c0 - r2 * b01 + r1 * b02 - (g01 * r2 - g02 * r1)
    x[1] += c1 - r2 * b11 + r1 * b12 - (g02 * r0 - g00 * r2)
    x[2] += c2 - r2 * b21 + r1 * b22 - (g00 * r1 - g01 * r0)
    x[3] += c3 + r2 * b10 - r0 * b12 - (g12 * r0 - g10 * r2)
    x[4] += c4 + r2 * b20 - r0 * b22 - (g10 * r1 - g11 * r0)
    x[5] += c5 - r1 * b20 + r0 * b21 - (g20 * r1 - g21 * r0)
    p0, p1, p2 = p
    m0, m1, m2 = m
    x = o.load
    x[0], x[1], x[2] = x[0] + p0, x[1] + p1, x[2] + p2
    x = o.moment
    x[0] += m0 + r1 * p2 - r2 * p1
    x[1] += m1 + r2 * p0 - r0 * p2
    x[2] += m2 + r0 * p1 - r1 * p0


@inner
def carry(tree):
    """From the leaves to the root: articulated inertias, and what acts on each freedom.

    With S the freedom, U = [[A, B^T], [B, C]] S and D = S^T U, what a node hands on is its inertia without U D^-1 U^T.
    """
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    for k in range(tree.n_nodes - 1):
        i = tree.n_nodes - 1 - k
        node, s = nodes[i], moving[i]
        a, b, c = s.a, s.b, s.c
        a0, a1, a2, a3, a4, a5 = a[0], a[1], a[2], a[3], a[4], a[5]
        b00, b01, b02 = b[0, 0], b[0, 1], b[0, 2]
        b10, b11, b12 = b[1, 0], b[1, 1], b[1, 2]
        b20, b21, b22 = b[2, 0], b[2, 1], b[2, 2]
        c0, c1, c2, c3, c4, c5 = c[0], c[1], c[2], c[3], c[4], c[5]
        p0, p1, p2 = s.load[0], s.load[1], s.load[2]
        m0, m1, m2 = s.moment[0], s.moment[1], s.moment[2]
        f0, f1, f2 = s.bias[0], s.bias[1], s.bias[2]
        g0, g1, g2 = s.spin_bias[0], s.spin_bias[1], s.spin_bias[2]
        if node.kind == BALL:
            l00, l10, l11, l20, l21, l22 = decompose(s, c0, c1, c2, c3, c4, c5)
            # W = L^-1 B, so that A - W^T W stays symmetric, and C^-1 B = L^-T W
            w00, w01, w02 = b00 * l00, b01 * l00, b02 * l00
            w10, w11, w12 = (b10 - l10 * w00) * l11, (b11 - l10 * w01) * l11, (b12 - l10 * w02) * l11
            w20 = (b20 - l20 * w00 - l21 * w10) * l22
            w21 = (b21 - l20 * w01 - l21 * w11) * l22
            w22 = (b22 - l20 * w02 - l21 * w12) * l22
            u0 = -m0 * l00
            u1 = (-m1 - l10 * u0) * l11
            u2 = (-m2 - l20 * u0 - l21 * u1) * l22
            s.push[0], s.push[1], s.push[2] = u0, u1, u2
            k20, k21, k22 = w20 * l22, w21 * l22, w22 * l22
            k10, k11, k12 = (w10 - l21 * k20) * l11, (w11 - l21 * k21) * l11, (w12 - l21 * k22) * l11
            gain = s.gain
            gain[2, 0], gain[2, 1], gain[2, 2] = k20, k21, k22
            gain[1, 0], gain[1, 1], gain[1, 2] = k10, k11, k12
            gain[0, 0] = (w00 - l10 * k10 - l20 * k20) * l00
            gain[0, 1] = (w01 - l10 * k11 - l20 * k21) * l00
            gain[0, 2] = (w02 - l10 * k12 - l20 * k22) * l00
            if node.parent == 0:
                continue
            a0 -= w00 * w00 + w10 * w10 + w20 * w20
            a1 -= w00 * w01 + w10 * w11 + w20 * w21
            a2 -= w00 * w02 + w10 * w12 + w20 * w22
            a3 -= w01 * w01 + w11 * w11 + w21 * w21
            a4 -= w01 * w02 + w11 * w12 + w21 * w22
            a5 -= w02 * w02 + w12 * w12 + w22 * w22
            p0 += a0 * f0 + a1 * f1 + a2 * f2 + w00 * u0 + w10 * u1 + w20 * u2
            p1 += a1 * f0 + a3 * f1 + a4 * f2 + w01 * u0 + w11 * u1 + w21 * u2
            p2 += a2 * f0 + a4 * f1 + a5 * f2 + w02 * u0 + w12 * u1 + w22 * u2
            o = 0.0
            hand_on(
                s,
                moving[node.parent],
                *(a0, a1, a2, a3, a4, a5),
                (o, o, o, o, o, o, o, o, o),
                (o, o, o, o, o, o),
                (p0, p1, p2),
                (o, o, o),
            )
            continue
        u = 0.0
        if node.kind == HINGE or node.kind == SLIDE:
            x, y, z = s.axes[0, 2], s.axes[1, 2], s.axes[2, 2]
            if node.kind == HINGE:
                u0, u1, u2 = b00 * x + b10 * y + b20 * z, b01 * x + b11 * y + b21 * z, b02 * x + b12 * y + b22 * z
                t0, t1, t2 = c0 * x + c1 * y + c2 * z, c1 * x + c3 * y + c4 * z, c2 * x + c4 * y + c5 * z
                inverse = 1.0 / (x * t0 + y * t1 + z * t2)
                u = -(x * m0 + y * m1 + z * m2)
            else:
                u0, u1, u2 = a0 * x + a1 * y + a2 * z, a1 * x + a3 * y + a4 * z, a2 * x + a4 * y + a5 * z
                t0, t1, t2 = b00 * x + b01 * y + b02 * z, b10 * x + b11 * y + b12 * z, b20 * x + b21 * y + b22 * z
                inverse = 1.0 / (x * u0 + y * u1 + z * u2)
                u = -(x * p0 + y * p1 + z * p2)
            s.reach[0], s.reach[1], s.reach[2] = u0, u1, u2
            s.turning[0], s.turning[1], s.turning[2] = t0, t1, t2
            s.inverse, s.push[0] = inverse, u
            if node.parent == 0:
                continue
            e0, e1, e2, h0, h1, h2 = u0 * inverse, u1 * inverse, u2 * inverse, t0 * inverse, t1 * inverse, t2 * inverse
            a0, a1, a2, a3, a4, a5 = a0 - u0 * e0, a1 - u0 * e1, a2 - u0 * e2, a3 - u1 * e1, a4 - u1 * e2, a5 - u2 * e2
            b00, b01, b02 = b00 - t0 * e0, b01 - t0 * e1, b02 - t0 * e2
            b10, b11, b12 = b10 - t1 * e0, b11 - t1 * e1, b12 - t1 * e2
            b20, b21, b22 = b20 - t2 * e0, b21 - t2 * e1, b22 - t2 * e2
            c0, c1, c2, c3, c4, c5 = c0 - t0 * h0, c1 - t0 * h1, c2 - t0 * h2, c3 - t1 * h1, c4 - t1 * h2, c5 - t2 * h2
            p0, p1, p2, m0, m1, m2 = p0 + e0 * u, p1 + e1 * u, p2 + e2 * u, m0 + h0 * u, m1 + h1 * u, m2 + h2 * u
        elif node.parent == 0:
            continue
        p0 += a0 * f0 + a1 * f1 + a2 * f2 + b00 * g0 + b10 * g1 + b20 * g2
        p1 += a1 * f0 + a3 * f1 + a4 * f2 + b01 * g0 + b11 * g1 + b21 * g2
        p2 += a2 * f0 + a4 * f1 + a5 * f2 + b02 * g0 + b12 * g1 + b22 * g2
        m0 += b00 * f0 + b01 * f1 + b02 * f2 + c0 * g0 + c1 * g1 + c2 * g2
        m1 += b10 * f0 + b11 * f1 + b12 * f2 + c1 * g0 + c3 * g1 + c4 * g2
        m2 += b20 * f0 + b21 * f1 + b22 * f2 + c2 * g0 + c4 * g1 + c5 * g2
        hand_on(
            s,
            moving[node.parent],
            *(a0, a1, a2, a3, a4, a5),
            (b00, b01, b02, b10, b11, b12, b20, b21, b22),
            (c0, c1, c2, c3, c4, c5),
            (p0, p1, p2),
            (m0, m1, m2),
        )


@inner
def accelerate(tree, out):
    """From the root to the leaves: out := v'. Gravity is an acceleration of the ground."""
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    ground = moving[0]
    for k in range(3):
        ground.acceleration[k] = -tree.gravity[k]
        ground.spin_rate[k] = 0.0
    for i in range(1, tree.n_nodes):
        node, s = nodes[i], moving[i]
        parent = moving[node.parent]
        r0, r1, r2 = s.arm[0], s.arm[1], s.arm[2]
        g0, g1, g2 = parent.spin_rate[0], parent.spin_rate[1], parent.spin_rate[2]
        l0 = parent.acceleration[0] + g1 * r2 - g2 * r1 + s.bias[0]
        l1 = parent.acceleration[1] + g2 * r0 - g0 * r2 + s.bias[1]
        l2 = parent.acceleration[2] + g0 * r1 - g1 * r0 + s.bias[2]
        g0, g1, g2 = g0 + s.spin_bias[0], g1 + s.spin_bias[1], g2 + s.spin_bias[2]
        if node.kind == BALL:
            f, gain, a = s.lower, s.gain, s.axes
            # L^-T of what acts, minus what the parent brings
            h2 = s.push[2] * f[5]
            h1 = (s.push[1] - f[4] * h2) * f[2]
            h0 = (s.push[0] - f[1] * h1 - f[3] * h2) * f[0]
            h0 -= gain[0, 0] * l0 + gain[0, 1] * l1 + gain[0, 2] * l2
            h1 -= gain[1, 0] * l0 + gain[1, 1] * l1 + gain[1, 2] * l2
            h2 -= gain[2, 0] * l0 + gain[2, 1] * l1 + gain[2, 2] * l2
            d0, d1, d2 = h0 - g0, h1 - g1, h2 - g2
            out[node.v] = a[0, 0] * d0 + a[1, 0] * d1 + a[2, 0] * d2
            out[node.v + 1] = a[0, 1] * d0 + a[1, 1] * d1 + a[2, 1] * d2
            out[node.v + 2] = a[0, 2] * d0 + a[1, 2] * d1 + a[2, 2] * d2
            g0, g1, g2 = h0, h1, h2
        elif node.kind == HINGE or node.kind == SLIDE:
            u, t = s.reach, s.turning
            rate = (s.push[0] - (u[0] * l0 + u[1] * l1 + u[2] * l2 + t[0] * g0 + t[1] * g1 + t[2] * g2)) * s.inverse
            out[node.v] = rate
            x, y, z = s.axes[0, 2], s.axes[1, 2], s.axes[2, 2]
            if node.kind == HINGE:
                g0, g1, g2 = g0 + x * rate, g1 + y * rate, g2 + z * rate
            else:
                l0, l1, l2 = l0 + x * rate, l1 + y * rate, l2 + z * rate
        s.acceleration[0], s.acceleration[1], s.acceleration[2] = l0, l1, l2
        s.spin_rate[0], s.spin_rate[1], s.spin_rate[2] = g0, g1, g2


@inner
def respond(tree, given, out):
    """From the root to the leaves: out := W^T times what is given per velocity, with M^-1 = W^T W."""
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    ground = moving[0]
    for k in range(3):
        ground.acceleration[k] = ground.spin_rate[k] = 0.0
    for i in range(1, tree.n_nodes):
        node, s = nodes[i], moving[i]
        parent = moving[node.parent]
        r0, r1, r2 = s.arm[0], s.arm[1], s.arm[2]
        g0, g1, g2 = parent.spin_rate[0], parent.spin_rate[1], parent.spin_rate[2]
        l0 = parent.acceleration[0] + g1 * r2 - g2 * r1
        l1 = parent.acceleration[1] + g2 * r0 - g0 * r2
        l2 = parent.acceleration[2] + g0 * r1 - g1 * r0
        if node.kind == BALL:
            f, gain, a = s.lower, s.gain, s.axes
            h2 = given[node.v + 2] * f[5]
            h1 = (given[node.v + 1] - f[4] * h2) * f[2]
            h0 = (given[node.v] - f[1] * h1 - f[3] * h2) * f[0]
            h0 -= gain[0, 0] * l0 + gain[0, 1] * l1 + gain[0, 2] * l2
            h1 -= gain[1, 0] * l0 + gain[1, 1] * l1 + gain[1, 2] * l2
            h2 -= gain[2, 0] * l0 + gain[2, 1] * l1 + gain[2, 2] * l2
            d0, d1, d2 = h0 - g0, h1 - g1, h2 - g2
            out[node.v] = a[0, 0] * d0 + a[1, 0] * d1 + a[2, 0] * d2
            out[node.v + 1] = a[0, 1] * d0 + a[1, 1] * d1 + a[2, 1] * d2
            out[node.v + 2] = a[0, 2] * d0 + a[1, 2] * d1 + a[2, 2] * d2
            g0, g1, g2 = h0, h1, h2
        elif node.kind == HINGE or node.kind == SLIDE:
            u, t = s.reach, s.turning
            rate = given[node.v] * math.sqrt(s.inverse)
            rate -= (u[0] * l0 + u[1] * l1 + u[2] * l2 + t[0] * g0 + t[1] * g1 + t[2] * g2) * s.inverse
            out[node.v] = rate
            x, y, z = s.axes[0, 2], s.axes[1, 2], s.axes[2, 2]
            if node.kind == HINGE:
                g0, g1, g2 = g0 + x * rate, g1 + y * rate, g2 + z * rate
            else:
                l0, l1, l2 = l0 + x * rate, l1 + y * rate, l2 + z * rate
        s.acceleration[0], s.acceleration[1], s.acceleration[2] = l0, l1, l2
        s.spin_rate[0], s.spin_rate[1], s.spin_rate[2] = g0, g1, g2


@inner
def coordinate_rates(tree, q, v, out):
    """out := q' of the joints for the velocities v."""
    nodes = records(tree.nodes, tree.n_nodes, NODE)
    for i in range(1, tree.n_nodes):
        node = nodes[i]
        if node.kind == BALL:
            e0, e1, e2, e3 = q[node.q], q[node.q + 1], q[node.q + 2], q[node.q + 3]
            w0, w1, w2 = v[node.v], v[node.v + 1], v[node.v + 2]
            out[node.q] = -0.5 * (e1 * w0 + e2 * w1 + e3 * w2)
            out[node.q + 1] = 0.5 * (e0 * w0 + e2 * w2 - e3 * w1)
            out[node.q + 2] = 0.5 * (e0 * w1 + e3 * w0 - e1 * w2)
            out[node.q + 3] = 0.5 * (e0 * w2 + e1 * w1 - e2 * w0)
        elif node.kind == HINGE or node.kind == SLIDE:
            out[node.q] = v[node.v]


@inner
def normalize(tree, q):
    """Angles between -pi and pi, Euler parameters of length one. Returns whether anything changed."""
    nodes = records(tree.nodes, tree.n_nodes, NODE)
    changed = False
    for i in range(1, tree.n_nodes):
        node = nodes[i]
        if node.kind == BALL:
            e0, e1, e2, e3 = q[node.q], q[node.q + 1], q[node.q + 2], q[node.q + 3]
            scale = 1.0 / math.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
            for k in range(4):
                q[node.q + k] *= scale
            changed = True
        elif node.kind == HINGE and abs(q[node.q]) > math.pi:
            q[node.q] -= 2.0 * math.pi * math.floor(q[node.q] / (2.0 * math.pi) + 0.5)
            changed = True
    return changed
