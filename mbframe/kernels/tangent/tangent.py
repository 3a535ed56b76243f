"""The tangent: exact derivatives of F = M v' - Q + J^T lambda, assembled from derivatives per element.

Taken along the velocities: a change of configuration is dq = T d, so that a marker's x changes by B d and its x' by Y
d + B dv. K d + R dv is the change of F at fixed v' and lambda. Elements add what the change of their own load does
and leave the load itself with the markers; a last pass over the bodies adds what the change of B does to it.

Own states z with z' = f are like velocities with the mass 1: their equation z' - f = 0 belongs to F, their changes dz
to dv. So -Q_z and -f_z are numbers of R, and -f along d and dv are numbers of K and R.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, copy, integers, part, record, records, vector
from ..compiler.templates import template
from ..free import (
    COUNTS,
    EQUATIONS,
    N_FRAME,
    N_INTRINSIC,
    N_Q,
    N_V,
    ROW,
    STATES,
    gradient,
    hessian,
    inertia_tangent,
    intrinsic_tangent,
    load_tangent,
    place_tangent,
    prepare,
    state_gradient,
    wrench,
    wrench_gradient,
)
from ..layout import AXES_AT, MOTION_J, MOTIONS, PLACE, PLACES, POSITION_J, SPIN_AT, VELOCITY_AT
from ..stages.counters import turns_of
from ..stages.loops import hand_over
from ..workspace import GRADIENT_AT, HESSIAN_AT, LINK, LINK_FIELDS, MARKER, OK, WRENCH_AT, workspace

TANGENT = np.dtype(
    [
        ("stiffness", "i8"),  # pool of the blocks of K
        ("damping", "i8"),  # pool of the blocks of R
        ("rate_tangents", "i8"),  # pool of Y, at the places of B
        ("loads", "i8"),  # 12 numbers per marker
        ("v_rate", "i8"),
        ("multipliers", "i8"),
        ("add_constraint", "i8"),  # stages that all types share
        ("add_force", "i8"),
        ("add_own", "i8"),
        ("own_gradient", "i8"),  # room for the derivatives of one force by and of its own states
        ("add_velocity_constraint", "i8"),
        ("velocity_stiffness", "i8"),  # dD along dq = T d, a row for each nonholonomic equation
        ("velocity_given", "i8"),  # room for one nonholonomic constraint: its derivatives as given (complex), by 48
        ("velocity_gradient", "i8"),  # numbers, and its weighted second derivatives
        ("velocity_hessian", "i8"),
        ("reactions", "i8"),  # multipliers by which forces that depend on reactions are taken
        ("by_reactions", "i8"),  # pool of their derivatives by the multipliers of their joints
        ("n_by_reactions", "i8"),
        ("reaction_stiffness", "i8"),  # rooms, as large as the pool of K and the loads, for one joint by itself, ...
        ("reaction_loads", "i8"),
        ("reaction_gradient", "i8"),  # ... for derivatives of a wrench by the reaction, 6 x 3, ...
        ("reaction_push", "i8"),  # ... and for those of the load, 3 for each velocity of the body that has most
        ("add_reactive", "i8"),
        ("size", "i8"),  # numbers in each pool of blocks
        ("n_stages", "i8"),  # what fills them, in order
        ("stages", "i8"),
        ("tables", "i8"),
        ("counts", "i8"),
    ],
    align=True,
)


def constraint_fields(equations: int, numbers: int) -> list[tuple]:
    """Rows of a user's constraint in the tangent: first derivatives, and second ones weighted by the multipliers."""
    return [*LINK_FIELDS, ("gradient", "f8", (equations, numbers)), ("hessian", "f8", (numbers, numbers))]


def force_fields(states: int) -> list[tuple]:
    """Rows of a force that Python fills: its wrench, with derivatives by the motions and by own states."""
    fields = [*LINK_FIELDS, ("force", "f8", 3), ("torque", "f8", 3), ("gradient", "f8", (6, MOTIONS))]
    return [*fields, ("own_gradient", "f8", (6 + states, MOTIONS + states))] if states else fields


@inner
def tangent_record(w):
    return record(w.tangent, TANGENT)


@Stage
def take(t, work, data, n):
    """Fill the blocks at the state of the last evaluation, for the v' and multipliers in the record."""
    w = workspace(work)
    a = tangent_record(w)
    clear(vector(a.stiffness, a.size))
    clear(vector(a.damping, a.size))
    clear(vector(a.loads, PLACE * w.n_markers))
    clear(vector(a.by_reactions, a.n_by_reactions))
    clear(vector(a.velocity_stiffness, (w.n_rows - w.n_holonomic) * w.n_v))
    stages, tables = integers(a.stages, a.n_stages), integers(a.tables, a.n_stages)
    counts = integers(a.counts, a.n_stages)
    for s in range(a.n_stages):
        status = call(stages[s], t, work, tables[s], counts[s])
        if status != OK:
            return status
    return OK


@template(ROW, N_Q, N_V, N_FRAME, N_INTRINSIC, prepare, inertia_tangent, place_tangent, intrinsic_tangent)
def bodies(t, work, table, n):
    """Inertia, intrinsic constraints and Y of all bodies of one formulation."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        body = rows[k]
        n_q, n_v = N_Q or body.n_q, N_V or body.n_v
        q, v = part(w.y, body.q, n_q), part(w.y, w.n_q + body.v, n_v)
        frame = block(w.scratch, 0, 3, N_FRAME or body.n_frame)
        stiffness = block(a.stiffness, body.tangent_block, n_v, n_v)
        damping = block(a.damping, body.tangent_block, n_v, n_v)
        prepare(body, q, frame)
        inertia_tangent(body, q, v, part(a.v_rate, body.v, n_v), frame, stiffness, damping)
        for m in range(body.marker, body.marker + body.n_markers):
            place_tangent(body, v, frame, markers[m], block(a.rate_tangents, markers[m].jacobian, PLACE, n_v))
        if N_INTRINSIC > 0:
            intrinsic_tangent(q, part(a.multipliers, body.row, N_INTRINSIC), stiffness)
    return OK


@template(ROW, N_Q, N_V, N_FRAME, prepare, load_tangent)
def loads(t, work, table, n):
    """What the change of B does to the loads of the markers."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        body = rows[k]
        n_q, n_v = N_Q or body.n_q, N_V or body.n_v
        frame = block(w.scratch, 0, 3, N_FRAME or body.n_frame)
        prepare(body, part(w.y, body.q, n_q), frame)
        stiffness = block(a.stiffness, body.tangent_block, n_v, n_v)
        for m in range(body.marker, body.marker + body.n_markers):
            load_tangent(body, frame, markers[m], part(a.loads, PLACE * m, PLACE), stiffness)
    return OK


@template(ROW, EQUATIONS, gradient, hessian)
def constraints(t, work, table, n):
    """Constraints of a type that gives its derivatives."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g, h = block(w.scratch, GRADIENT_AT, EQUATIONS, PLACES), block(w.scratch, HESSIAN_AT, PLACES, PLACES)
    for k in range(n):
        e = rows[k]
        clear(g)
        clear(h)
        gradient(e, t, markers[e.i], markers[e.j], g)
        hessian(e, t, markers[e.i], markers[e.j], part(a.multipliers, e.row, EQUATIONS), h)
        call(a.add_constraint, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


@template(ROW, EQUATIONS)
def constraint_rows(t, work, table, n):
    """Constraints whose derivatives Python filled in."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    g, h = block(w.scratch, GRADIENT_AT, EQUATIONS, PLACES), block(w.scratch, HESSIAN_AT, PLACES, PLACES)
    for k in range(n):
        e = rows[k]
        copy(e.gradient, g)
        copy(e.hessian, h)
        call(a.add_constraint, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


@Stage
def add_constraint(t, work, link, n):
    """K += B^T (sum lambda C_xx) B, and the load g^T lambda for the markers, of one constraint with n equations."""
    w = workspace(work)
    a = tangent_record(w)
    e = record(link, LINK)
    g, h = block(w.scratch, GRADIENT_AT, n, PLACES), block(w.scratch, HESSIAN_AT, PLACES, PLACES)
    multipliers = part(a.multipliers, e.row, n)
    load_i, load_j = part(a.loads, PLACE * e.i, PLACE), part(a.loads, PLACE * e.j, PLACE)
    for x in range(PLACE):
        for r in range(n):
            load_i[x] += multipliers[r] * g[r, x]
            load_j[x] += multipliers[r] * g[r, POSITION_J + x]
    for left in range(2):
        for right in range(2):
            if left:
                offset = e.tangent_jj if right else e.tangent_ji
            else:
                offset = e.tangent_ij if right else e.tangent_ii
            add_product(
                w, a.stiffness, offset, e.j if left else e.i, e.j if right else e.i, h, PLACE * left, PLACE * right
            )
    return OK


@inner
def add_product(w, pool, offset, left, right, h, first, second):
    """Block += B_left^T h B_right with the 12 x 12 part of h at (first, second). Most of h is zero and skipped."""
    markers = records(w.markers, w.n_markers, MARKER)
    p, q = markers[left], markers[right]
    b, c = block(w.jacobians, p.jacobian, PLACE, p.n), block(w.jacobians, q.jacobian, PLACE, q.n)
    out = block(pool, offset, p.n, q.n)
    for x in range(PLACE):
        for y in range(PLACE):
            s = h[first + x, second + y]
            if s != 0.0:
                for row in range(p.n):
                    f = s * b[x, row]
                    if f != 0.0:
                        for column in range(q.n):
                            out[row, column] += f * c[y, column]


@template(ROW, STATES, COUNTS, wrench, wrench_gradient, state_gradient)
def forces(t, work, table, n):
    """Forces of a type that gives its derivatives."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g = block(w.scratch, GRADIENT_AT, 6, MOTIONS)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        if COUNTS:
            j.turns = turns_of(w, e.counter)
        clear(g)
        if STATES == 0:
            force, torque = wrench(e, t, i, j)
            wrench_gradient(e, t, i, j, g)
        else:
            z = part(w.y, w.n_q + w.n_v + e.z, STATES)
            force, torque = wrench(e, t, i, j, z)
            wrench_gradient(e, t, i, j, z, g)
        hand_over(w, force, torque)
        call(a.add_force, t, work, table + k * rows.itemsize, 0)
        if STATES > 0:
            own = block(a.own_gradient, 0, 6 + STATES, MOTIONS + STATES)
            clear(own)
            state_gradient(e, t, i, j, part(w.y, w.n_q + w.n_v + e.z, STATES), own)
            call(a.add_own, t, work, table + k * rows.itemsize, STATES)
    return OK


@template(ROW, STATES)
def force_rows(t, work, table, n):
    """Forces whose values and derivatives Python filled in."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    g = block(w.scratch, GRADIENT_AT, 6, MOTIONS)
    for k in range(n):
        e = rows[k]
        copy(e.gradient, g)
        hand_over(w, e.force, e.torque)
        call(a.add_force, t, work, table + k * rows.itemsize, 0)
        if STATES > 0:
            copy(e.own_gradient, block(a.own_gradient, 0, 6 + STATES, MOTIONS + STATES))
            call(a.add_own, t, work, table + k * rows.itemsize, STATES)
    return OK


@Stage
def add_force(t, work, link, n):
    """K and R of one force, whose wrench (F, M) and derivatives are in the scratch.

    In F its generalized force is -B^T f with f_j = (F, M x d_k / 2), f_i = (-F, N x e_k / 2), N = -M - (r_j - r_i) x F.
    """
    w = workspace(work)
    a = tangent_record(w)
    e = record(link, LINK)
    markers = records(w.markers, w.n_markers, MARKER)
    i, j = markers[e.i], markers[e.j]
    g, given = block(w.scratch, GRADIENT_AT, 6, MOTIONS), part(w.scratch, WRENCH_AT, 6)
    f = (given[0], given[1], given[2])
    m = (given[3], given[4], given[5])
    arm = (j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2])
    lever = cross(arm, f)
    opposite = (-m[0] - lever[0], -m[1] - lever[1], -m[2] - lever[2])
    load_i, load_j = part(a.loads, PLACE * e.i, PLACE), part(a.loads, PLACE * e.j, PLACE)
    for x in range(3):
        load_i[x] += f[x]
        load_j[x] -= f[x]
    for k in range(3):
        turn_i, turn_j = cross(opposite, axis(i, k)), cross(m, axis(j, k))
        for x in range(3):
            load_i[AXES_AT + 3 * x + k] -= 0.5 * turn_i[x]
            load_j[AXES_AT + 3 * x + k] -= 0.5 * turn_j[x]
    change_i, change_j = part(w.scratch, HESSIAN_AT, PLACE), part(w.scratch, HESSIAN_AT + PLACE, PLACE)
    moves = part(w.scratch, HESSIAN_AT + 2 * PLACE, MOTION_J)
    for second in range(2):
        source = j if second else i
        jacobian = block(w.jacobians, source.jacobian, PLACE, source.n)
        tangents = block(a.rate_tangents, source.jacobian, PLACE, source.n)
        for kind in range(2):  # a change of configuration, then one of velocity
            pool = a.damping if kind else a.stiffness
            for c in range(source.n):
                dr, _, _ = moved(moves, source, jacobian, tangents, kind, c)
                df, dm = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                first = MOTION_J * second
                for x in range(VELOCITY_AT if kind else 0, MOTION_J):
                    df = add(df, moves[x], column(g, 0, 1, first + x))
                    dm = add(dm, moves[x], column(g, 3, 1, first + x))
                swing = cross(dr, f)
                sign = -1.0 if second else 1.0
                turned = cross(arm, df)
                dn = (
                    -dm[0] - turned[0] + sign * swing[0],
                    -dm[1] - turned[1] + sign * swing[1],
                    -dm[2] - turned[2] + sign * swing[2],
                )
                for x in range(3):
                    change_i[x] = -df[x]
                    change_j[x] = df[x]
                for k in range(3):
                    turn_i, turn_j = cross(dn, axis(i, k)), cross(dm, axis(j, k))
                    if kind == 0:
                        dd = column(jacobian, AXES_AT + k, 3, c)
                        if second:
                            turn_j = add(turn_j, 1.0, cross(m, dd))
                        else:
                            turn_i = add(turn_i, 1.0, cross(opposite, dd))
                    for x in range(3):
                        change_i[AXES_AT + 3 * x + k] = 0.5 * turn_i[x]
                        change_j[AXES_AT + 3 * x + k] = 0.5 * turn_j[x]
                subtract_column(w, i, change_i, block(pool, e.tangent_ij if second else e.tangent_ii, i.n, source.n), c)
                subtract_column(w, j, change_j, block(pool, e.tangent_jj if second else e.tangent_ji, j.n, source.n), c)
    return OK


@inner
def moved(out, marker, jacobian, tangents, kind, c):
    """Change of the 18 numbers of a marker along the c-th unit d (kind 0) or dv (kind 1) of its body.

    Returns those of its point, of its velocity and of its angular velocity.
    """
    dr = (0.0, 0.0, 0.0) if kind else (jacobian[0, c], jacobian[1, c], jacobian[2, c])
    du = column(jacobian, 0, 1, c) if kind else column(tangents, 0, 1, c)
    spin = (0.0, 0.0, 0.0)
    for k in range(3):
        dd = (0.0, 0.0, 0.0) if kind else column(jacobian, AXES_AT + k, 3, c)
        dd_rate = column(jacobian, AXES_AT + k, 3, c) if kind else column(tangents, AXES_AT + k, 3, c)
        spin = add(spin, 0.5, cross(axis(marker, k), dd_rate))
        if kind == 0:
            spin = add(spin, 0.5, cross(dd, axis_rate(marker, k)))
        for x in range(3):
            out[AXES_AT + 3 * x + k] = dd[x]
    for x in range(3):
        out[x] = dr[x]
        out[VELOCITY_AT + x] = du[x]
        out[SPIN_AT + x] = spin[x]
    return dr, du, spin


@Stage
def add_own(t, work, link, n):
    """K and R of the n own states of one force from its derivatives g: rows F, M and z', columns both motions and z.

    The generalized force of a change of the wrench follows from its power on unit velocities.
    """
    w = workspace(work)
    a = tangent_record(w)
    e = record(link, LINK)
    markers = records(w.markers, w.n_markers, MARKER)
    i, j = markers[e.i], markers[e.j]
    g, feedback = block(a.own_gradient, 0, 6 + n, MOTIONS + n), block(a.damping, e.own, n, n)
    arm = (j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2])
    moves = part(w.scratch, HESSIAN_AT, MOTION_J)
    for r in range(n):
        for c in range(n):
            feedback[r, c] -= g[6 + r, MOTIONS + c]
    for second in range(2):
        source, offset, first = j if second else i, e.own_j if second else e.own_i, MOTION_J * second
        jacobian = block(w.jacobians, source.jacobian, PLACE, source.n)
        tangents = block(a.rate_tangents, source.jacobian, PLACE, source.n)
        loads = block(a.damping, offset, source.n, n)
        for kind in range(2):
            rates = block(a.damping if kind else a.stiffness, offset + source.n * n, n, source.n)
            for c in range(source.n):
                _, du, spin = moved(moves, source, jacobian, tangents, kind, c)
                for r in range(n):
                    for x in range(MOTION_J):
                        rates[r, c] -= g[6 + r, first + x] * moves[x]
                for s in range(n if kind else 0):
                    f, m = column(g, 0, 1, MOTIONS + s), column(g, 3, 1, MOTIONS + s)
                    if second:
                        loads[c, s] -= dot(f, du) + dot(m, spin)
                    else:
                        loads[c, s] += dot(f, du) + dot(add(m, 1.0, cross(arm, f)), spin)
    return OK


@inner
def subtract_column(w, marker, change, out, c):
    jacobian = block(w.jacobians, marker.jacobian, PLACE, marker.n)
    for row in range(marker.n):
        for x in range(PLACE):
            out[row, c] -= jacobian[x, row] * change[x]


@inner
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inner
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inner
def add(a, s, b):
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@inner
def column(matrix, first, stride, c):
    return matrix[first, c], matrix[first + stride, c], matrix[first + 2 * stride, c]


@inner
def axis(marker, k):
    return marker.axes[0, k], marker.axes[1, k], marker.axes[2, k]


@inner
def axis_rate(marker, k):
    return marker.axes_rate[0, k], marker.axes_rate[1, k], marker.axes_rate[2, k]
