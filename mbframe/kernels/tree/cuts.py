"""Constraints that close loops, in the place of J M^-1 J^T: M^-1 = W^T W is what the recursion is made of.

W J^T of one equation is found by carrying its unit force from the bodies that it touches to the ground; it is zero
away from their paths, so products of two such rows are sums over the nodes that both paths have in common.
"""

from __future__ import annotations

import math

from ..compiler.backend import inner
from ..compiler.memory import block, integers, matrix, part, records, vector
from ..linear_algebra.factorization import solve_with
from ..workspace import factorization
from .bodies import acceleration_of, wrench_at_node
from .layout import BALL, CARRIED, CUT, HINGE, MOVING, NODE, PAIR, PIECE, SLIDE, STEP, TOUCHED
from .passes import respond


@inner
def carry_unit(nodes, moving, steps, n_steps, loads, out):
    """out := W J^T of one equation, whose forces on the nodes of its path are in `loads`, with the opposite sign."""
    for k in range(n_steps):
        step, p = steps[k], loads[k]
        node, s = nodes[step.node], moving[step.node]
        p0, p1, p2, m0, m1, m2 = p[0], p[1], p[2], p[3], p[4], p[5]
        if node.kind == BALL:
            f, gain = s.lower, s.gain
            u0 = -m0 * f[0]
            u1 = (-m1 - f[1] * u0) * f[2]
            u2 = (-m2 - f[3] * u0 - f[4] * u1) * f[5]
            out[step.at], out[step.at + 1], out[step.at + 2] = u0, u1, u2
            # B^T C^-1 of the moment: the gain is C^-1 B
            p0 -= gain[0, 0] * m0 + gain[1, 0] * m1 + gain[2, 0] * m2
            p1 -= gain[0, 1] * m0 + gain[1, 1] * m1 + gain[2, 1] * m2
            p2 -= gain[0, 2] * m0 + gain[1, 2] * m1 + gain[2, 2] * m2
            m0 = m1 = m2 = 0.0
        elif node.kind == HINGE or node.kind == SLIDE:
            x, y, z = s.axes[0, 2], s.axes[1, 2], s.axes[2, 2]
            u = -(x * m0 + y * m1 + z * m2) if node.kind == HINGE else -(x * p0 + y * p1 + z * p2)
            out[step.at] = u * math.sqrt(s.inverse)
            u *= s.inverse
            reach, turning = s.reach, s.turning
            p0, p1, p2 = p0 + u * reach[0], p1 + u * reach[1], p2 + u * reach[2]
            m0, m1, m2 = m0 + u * turning[0], m1 + u * turning[1], m2 + u * turning[2]
        if step.up >= 0:
            o, r = loads[step.up], s.arm
            o[0], o[1], o[2] = o[0] + p0, o[1] + p1, o[2] + p2
            o[3] += m0 + r[1] * p2 - r[2] * p1
            o[4] += m1 + r[2] * p0 - r[0] * p2
            o[5] += m2 + r[0] * p1 - r[1] * p0


@inner
def mobility(node, f):
    """How much a load would accelerate a body along itself, about: by its mass, and its mean moment of inertia."""
    h, inertia = node.moment, node.inertia
    m = node.mass
    own = inertia[0] + inertia[3] + inertia[5] - 2.0 * (h[0] * h[0] + h[1] * h[1] + h[2] * h[2]) / m
    return (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) / m + 3.0 * (f[3] * f[3] + f[4] * f[4] + f[5] * f[5]) / own


@inner
def carry_cuts(tree, w, factor, n_rows):
    """W J^T of all equations that cut loops, and how much each would move its bodies if these were free."""
    nodes, moving = records(tree.nodes, tree.n_nodes, NODE), records(tree.moving, tree.n_nodes, MOVING)
    carried, cuts = records(tree.carried, tree.n_carried, CARRIED), records(tree.cuts, tree.n_cuts, CUT)
    touched, path = records(tree.touched, tree.n_touched, TOUCHED), records(tree.path, tree.n_path, STEP)
    entries, sizes = vector(w.entries, w.n_entries), vector(factorization(factor).sizes, n_rows)
    for c in range(tree.n_cuts):
        cut = cuts[c]
        steps = path[cut.first_step : cut.first_step + cut.n_steps]
        loads = matrix(tree.loads, cut.n_steps, 6)
        for e in range(cut.n):
            for k in range(cut.n_steps):
                for x in range(6):
                    loads[k, x] = 0.0
            size = 0.0
            for k in range(cut.first_touch, cut.first_touch + cut.n_touches):
                t = touched[k]
                body = carried[t.body]
                f = wrench_at_node(moving[body.node], body, entries, t.entries + e * body.n_v)
                size += mobility(nodes[body.node], f)
                p = loads[t.step]
                p[0], p[1], p[2] = p[0] - f[0], p[1] - f[1], p[2] - f[2]
                p[3], p[4], p[5] = p[3] - f[3], p[4] - f[4], p[5] - f[5]
            sizes[cut.row + e] = size
            carry_unit(
                nodes, moving, steps, cut.n_steps, loads, part(tree.values, cut.values + e * cut.width, cut.width)
            )


@inner
def multiply_cuts(tree, r):
    """Entries of J M^-1 J^T."""
    cuts, pairs = records(tree.cuts, tree.n_cuts, CUT), records(tree.pairs, tree.n_pairs, PAIR)
    pieces = records(tree.pieces, tree.n_pieces, PIECE)
    values, entries = vector(tree.values, tree.n_values), vector(r.entries, r.n_entries)
    for k in range(tree.n_pairs):
        pair = pairs[k]
        a, b = cuts[pair.a], cuts[pair.b]
        for e in range(a.n):
            row = a.values + e * a.width
            for f in range(e + 1 if pair.a == pair.b else b.n):
                column = b.values + f * b.width
                total = 0.0
                for p in range(pair.first, pair.first + pair.n):
                    piece = pieces[p]
                    for x in range(piece.n):
                        total += values[row + piece.a + x] * values[column + piece.b + x]
                entries[pair.entries + e * b.n + f] = total


@inner
def accelerations_of_cuts(tree, r, w, out):
    """out := J times the accelerations of the bodies, minus gamma."""
    moving, carried = records(tree.moving, tree.n_nodes, MOVING), records(tree.carried, tree.n_carried, CARRIED)
    cuts, touched = records(tree.cuts, tree.n_cuts, CUT), records(tree.touched, tree.n_touched, TOUCHED)
    gamma, rows = vector(w.gamma, w.n_rows), integers(tree.rows, r.n_rows)
    for k in range(r.n_rows):
        out[k] = -gamma[rows[k]]
    for c in range(tree.n_cuts):
        cut = cuts[c]
        for k in range(cut.first_touch, cut.first_touch + cut.n_touches):
            body = carried[touched[k].body]
            a = acceleration_of(moving[body.node], body, tree.gravity)
            jacobian = block(w.entries, touched[k].entries, cut.n, body.n_v)
            for e in range(cut.n):
                total = jacobian[e, 0] * a[0] + jacobian[e, 1] * a[1] + jacobian[e, 2] * a[2]
                if body.n_v == 6:
                    total += jacobian[e, 3] * a[3] + jacobian[e, 4] * a[4] + jacobian[e, 5] * a[5]
                out[cut.row + e] += total


@inner
def balance(tree, r, wanted, multipliers, change):
    """Multipliers with J M^-1 J^T multipliers = wanted, and change := M^-1 J^T multipliers."""
    nodes = records(tree.nodes, tree.n_nodes, NODE)
    cuts, path = records(tree.cuts, tree.n_cuts, CUT), records(tree.path, tree.n_path, STEP)
    values = vector(tree.values, tree.n_values)
    f = factorization(r.factor)
    solve_with(f, vector(r.entries, r.n_entries), wanted, multipliers)
    combined = vector(tree.combined, r.n_v)
    for k in range(r.n_v):
        combined[k] = 0.0
    for c in range(tree.n_cuts):
        cut = cuts[c]
        for e in range(cut.n):
            load = multipliers[cut.row + e]
            if load == 0.0:
                continue
            row = cut.values + e * cut.width
            for k in range(cut.first_step, cut.first_step + cut.n_steps):
                node = nodes[path[k].node]
                at = row + path[k].at
                if node.kind == BALL:
                    for x in range(3):
                        combined[node.v + x] += load * values[at + x]
                elif node.kind == HINGE or node.kind == SLIDE:
                    combined[node.v] += load * values[at]
    respond(tree, combined, change)
