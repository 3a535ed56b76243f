"""The loops over all elements of one type: templates, whose free names are bound to methods and sizes of the type."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import address_of, block, clear, integers, part, record, records, vector
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
    curvature,
    energy,
    gradient,
    inertia,
    intrinsic,
    loss,
    normalize,
    place,
    prepare,
    rates,
    reactive_wrench,
    regular,
    residual,
    state_rate,
    time_rate,
    velocity_gradient,
    velocity_residual,
    wrench,
)
from ..layout import AXES_AT, MOTION_J, MOTIONS, PLACE, PLACES, SPIN_AT, VELOCITY_AT
from ..workspace import (
    BIAS_AT,
    DYNAMICS,
    GRADIENT_AT,
    HESSIAN_AT,
    LINK,
    MARKER,
    OK,
    POSITION,
    RATE_AT,
    SINGULAR_POSE,
    VALUE_AT,
    WRENCH_AT,
    workspace,
)
from .counters import turns_of


@template(ROW, N_Q, N_V, N_FRAME, N_INTRINSIC, prepare, regular, place, inertia, rates, intrinsic)
def bodies(t, work, table, n):
    """All bodies of one formulation: marker table, mass, inertia forces and gravity, q', intrinsic constraints."""
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        body = rows[k]
        n_q, n_v = N_Q or body.n_q, N_V or body.n_v
        q, v = part(w.y, body.q, n_q), part(w.y, w.n_q + body.v, n_v)
        frame = block(w.scratch, 0, 3, N_FRAME or body.n_frame)
        prepare(body, q, frame)
        if not regular(body, q, frame):
            w.culprit = body.v
            return SINGULAR_POSE
        for m in range(body.marker, body.marker + body.n_markers):
            marker = markers[m]
            place(body, q, v, frame, marker, block(w.jacobians, marker.jacobian, PLACE, n_v), w.level)
        if w.level == DYNAMICS:
            rates(body, q, v, part(w.rates, body.q, n_q))
            inertia(body, q, v, frame, block(w.entries, body.mass_block, n_v, n_v), part(w.force, body.v, n_v))
        if N_INTRINSIC > 0:
            intrinsic(
                q,
                v,
                part(w.residual, body.row, N_INTRINSIC),
                part(w.constraint_rate, body.row, N_INTRINSIC),
                part(w.gamma, body.row, N_INTRINSIC),
                block(w.entries, body.row_block, N_INTRINSIC, n_v),
                w.level,
            )
    return OK


@template(ROW, EQUATIONS, COUNTS, residual, gradient, curvature)
def constraints(t, work, table, n):
    """All holonomic basic constraints of one type that give their derivatives.

    With g = dC/dx in the 24 numbers of both
    markers: J = g B, C' = g x', gamma = -(x'^T C_xx x' + g x''_bias).
    """
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g = block(w.scratch, GRADIENT_AT, EQUATIONS, PLACES)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        if COUNTS:
            j.turns = turns_of(w, e.counter)
        c = part(w.residual, e.row, EQUATIONS)
        value = residual(e, t, i, j)
        for r in range(EQUATIONS):
            c[r] += value[r]
        if w.level == POSITION:
            continue
        clear(g)
        gradient(e, t, i, j, g)
        gamma = part(w.gamma, e.row, EQUATIONS)
        bend = curvature(e, t, i, j)
        for r in range(EQUATIONS):
            gamma[r] -= bend[r]
        call(w.project, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


@template(ROW, EQUATIONS)
def coincidences(t, work, table, n):
    """All constraints of one type that say r_j = r_i for the first EQUATIONS components: J is copied from B."""
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        c = part(w.residual, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            c[r] += j.position[r] - i.position[r]
        if w.level == POSITION:
            continue
        rate, gamma = part(w.constraint_rate, e.row, EQUATIONS), part(w.gamma, e.row, EQUATIONS)
        for r in range(EQUATIONS):
            rate[r] += j.velocity[r] - i.velocity[r]
            gamma[r] -= j.bias[r] - i.bias[r]
        for side in range(2):
            marker, sign, place = (j, 1.0, e.block_j) if side else (i, -1.0, e.block_i)
            count = EQUATIONS * marker.n
            source, out = part(w.jacobians, marker.jacobian, count), part(w.entries, place, count)
            for x in range(np.uint64(count)):
                out[x] = sign * source[x]
    return OK


@Stage
def project(t, work, link, n):
    """The n rows of one constraint from its gradient g in the scratch: J = g B, C' += g x', gamma -= g x''_bias.

    Shared by all types and called by address, so that it is compiled once.
    """
    w = workspace(work)
    e = record(link, LINK)
    markers = records(w.markers, w.n_markers, MARKER)
    for side in range(2):
        m = e.j if side else e.i
        if markers[m].n > 0:  # the ground is at rest
            combine(w, e, m, side, n)
    return OK


@template(ROW, EQUATIONS, time_rate)
def clocks(t, work, table, n):
    """What time itself adds to the rates of all constraints of one type: C' += dC/dt.

    Where the power of drives is kept, dC/dt is kept for it (`dynamics.drive`).
    """
    w = workspace(work)
    if w.level == POSITION:
        return OK
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        e = rows[k]
        rate = part(w.constraint_rate, e.row, EQUATIONS)
        drift = time_rate(e, t, markers[e.i], markers[e.j])
        for r in range(EQUATIONS):
            rate[r] += drift[r]
        if w.n_drives > 0:
            kept = part(w.drift, e.row, EQUATIONS)
            for r in range(EQUATIONS):
                kept[r] += drift[r]
    return OK


@Stage
def forget_drift(t, work, table, n):
    """Before constraints add to it: dC/dt is zero."""
    w = workspace(work)
    clear(vector(w.drift, w.n_rows))
    return OK


@template(ROW, EQUATIONS, velocity_residual, velocity_gradient)
def velocity_constraints(t, work, table, n):
    """All nonholonomic constraints of one type that give their derivatives."""
    w = workspace(work)
    if w.level == POSITION:
        return OK
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g, out = block(w.scratch, HESSIAN_AT, EQUATIONS, MOTIONS), part(w.scratch, VALUE_AT, EQUATIONS)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        value = velocity_residual(e, t, i, j)
        for r in range(EQUATIONS):
            out[r] = value[r]
        clear(g)
        velocity_gradient(e, t, i, j, g)
        call(w.project_velocity, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


@Stage
def project_velocity(t, work, link, n):
    """The n rows of one nonholonomic constraint D(x, x') from its value and its derivatives in the scratch.

    With omega = 1/2 sum d_k x d_k' the derivative by x' is (D_velocity, D_omega x d_k / 2), so J = D_x' B, and
    gamma -= D_x x' + D_x' x''_bias.
    """
    w = workspace(work)
    e = record(link, LINK)
    markers = records(w.markers, w.n_markers, MARKER)
    given, value = block(w.scratch, HESSIAN_AT, n, MOTIONS), part(w.scratch, VALUE_AT, n)
    g, gamma = block(w.scratch, GRADIENT_AT, n, PLACES), part(w.gamma, e.row, n)
    for side in range(2):
        marker = markers[e.j if side else e.i]
        by_rate(marker, given, g, side, n)
        first = MOTION_J * side
        for r in range(n):
            for x in range(3):
                gamma[r] -= given[r, first + x] * marker.velocity[x]
                for a in range(3):
                    gamma[r] -= given[r, first + AXES_AT + 3 * x + a] * marker.axes_rate[x, a]
    call(w.project, t, work, link, n)
    rate = part(w.constraint_rate, e.row, n)
    if w.n_drives > 0:
        drift = part(w.drift, e.row, n)
        for r in range(n):
            drift[r] = value[r] - rate[r]
    for r in range(n):
        rate[r] = value[r]
    return OK


@inner
def by_rate(marker, given, g, side, n):
    """Derivatives by the 12 rates of a marker from those by its velocity and angular velocity."""
    first, axes = MOTION_J * side, PLACE * side + AXES_AT
    for r in range(n):
        w0, w1, w2 = given[r, first + SPIN_AT], given[r, first + SPIN_AT + 1], given[r, first + SPIN_AT + 2]
        for x in range(3):
            g[r, PLACE * side + x] = given[r, first + VELOCITY_AT + x]
        for a in range(3):
            d0, d1, d2 = marker.axes[0, a], marker.axes[1, a], marker.axes[2, a]
            g[r, axes + a] = 0.5 * (w1 * d2 - w2 * d1)
            g[r, axes + 3 + a] = 0.5 * (w2 * d0 - w0 * d2)
            g[r, axes + 6 + a] = 0.5 * (w0 * d1 - w1 * d0)


@inner
def numbers_of(part):
    """Which of the 12 numbers of a marker its part 0 … 3 has: its point, or one of its axes."""
    if part == 0:
        return np.uint64(0), np.uint64(1), np.uint64(2)
    return np.uint64(2 + part), np.uint64(5 + part), np.uint64(8 + part)


@inner
def combine(w, e, m, side, n):
    """Rows of J := g B for the parts of a marker that a constraint reads, and their part of C' and gamma.

    Three columns at a time: most bodies have three or six velocities.
    """
    marker = records(w.markers, w.n_markers, MARKER)[m]
    g, first = block(w.scratch, GRADIENT_AT, n, PLACES), np.uint64(PLACE * side)
    parts = e.parts_j if side else e.parts_i
    jacobian = block(w.jacobians, marker.jacobian, PLACE, marker.n)
    out = block(w.entries, e.block_j if side else e.block_i, n, marker.n)
    rate, gamma = part(w.constraint_rate, e.row, n), part(w.gamma, e.row, n)
    x_rate, x_bias = vector(address_of(marker) + RATE_AT, PLACE), vector(address_of(marker) + BIAS_AT, PLACE)
    columns, one, two, three = np.uint64(marker.n), np.uint64(1), np.uint64(2), np.uint64(3)
    for r in range(n):
        more = False  # what is in `out` counts from the second part on
        for p in range(4):
            if (parts >> p) & 1 == 0:
                continue
            x, y, z = numbers_of(p)
            a, b, c = g[r, first + x], g[r, first + y], g[r, first + z]
            rate[r] += a * x_rate[x] + b * x_rate[y] + c * x_rate[z]
            gamma[r] -= a * x_bias[x] + b * x_bias[y] + c * x_bias[z]
            k = np.uint64(0)
            while k + two < columns:
                s0 = a * jacobian[x, k] + b * jacobian[y, k] + c * jacobian[z, k]
                s1 = a * jacobian[x, k + one] + b * jacobian[y, k + one] + c * jacobian[z, k + one]
                s2 = a * jacobian[x, k + two] + b * jacobian[y, k + two] + c * jacobian[z, k + two]
                out[r, k] = out[r, k] + s0 if more else s0
                out[r, k + one] = out[r, k + one] + s1 if more else s1
                out[r, k + two] = out[r, k + two] + s2 if more else s2
                k += three
            while k < columns:
                s0 = a * jacobian[x, k] + b * jacobian[y, k] + c * jacobian[z, k]
                out[r, k] = out[r, k] + s0 if more else s0
                k += one
            more = True


@template(ROW, STATES, COUNTS, wrench, state_rate)
def forces(t, work, table, n):
    """All force elements of one type. Own states z change by z' = state_rate, and wrench may depend on z."""
    w = workspace(work)
    if w.level < DYNAMICS:
        return OK
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        if COUNTS:
            j.turns = turns_of(w, e.counter)
        if STATES == 0:
            force, torque = wrench(e, t, i, j)
        else:
            z, z_rate = part(w.y, w.n_q + w.n_v + e.z, STATES), part(w.rates, w.n_q + w.n_v + e.z, STATES)
            rate = state_rate(e, t, i, j, z)
            for s in range(STATES):
                z_rate[s] = rate[s]
            force, torque = wrench(e, t, i, j, z)
        hand_over(w, force, torque)
        call(w.apply, t, work, table + k * rows.itemsize, 0)
    return OK


@template(ROW, reactive_wrench)
def reactive_forces(t, work, table, n):
    """Forces that depend on the reaction of a joint, with the multipliers at hand.

    The first velocities of a body (three, two in the plane) are those of its origin, so the reaction force on it is
    -J^T lambda there.
    """
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    multipliers = vector(w.multipliers, w.n_rows)
    for k in range(n):
        e = rows[k]
        reaction = reaction_of(
            w, e.n_reactions, e.reaction_rows, e.reaction_entries, e.reaction_sign, e.reaction_components, multipliers
        )
        force, torque = reactive_wrench(e, t, markers[e.i], markers[e.j], reaction)
        hand_over(w, force, torque)
        call(w.apply, t, work, table + k * rows.itemsize, 0)
    return OK


@inner
def reaction_of(w, n, rows, places, sign, components, multipliers):
    """The reaction force of a joint on the second body of a reactive force, by the numbers of that one's row.

    They are not handed over as a row, since numba would take the code for a shorter row for that of a longer one.
    """
    f0 = f1 = f2 = 0.0
    for r in range(n):
        g0, g1, g2 = reaction_by(w, places[r], sign, components)
        s = multipliers[rows[r]]
        f0, f1, f2 = f0 + s * g0, f1 + s * g1, f2 + s * g2
    return f0, f1, f2


@inner
def reaction_by(w, first, sign, components):
    """Its derivative by the multiplier whose entries begin at `first`."""
    entries = vector(w.entries, w.n_entries)
    return -sign * entries[first], -sign * entries[first + 1], -sign * entries[first + 2] if components == 3 else 0.0


@inner
def hand_over(w, force, torque):
    """Put force and torque where `apply` finds them."""
    out = part(w.scratch, WRENCH_AT, 6)
    # Constant indices, because a user's triple may mix whole and other numbers.
    out[0], out[1], out[2] = force[0], force[1], force[2]
    out[3], out[4], out[5] = torque[0], torque[1], torque[2]


@Stage
def apply(t, work, link, n):
    """Force and torque on j's body at j, and their opposites on i's body at the same point, as generalized forces.

    With omega = 1/2 sum_k d_k x d_k', a torque m contributes (m x d_k)/2 to the axis d_k: Q += B^T (force, (m x
    d_k)/2). If the work of the element is kept, its rate is the power of both loads on both bodies. Shared by all types
    and called by address, so that it is compiled once.
    """
    w = workspace(work)
    e = record(link, LINK)
    markers = records(w.markers, w.n_markers, MARKER)
    i, j = markers[e.i], markers[e.j]
    f = part(w.scratch, WRENCH_AT, 6)
    x, y, z = j.position[0] - i.position[0], j.position[1] - i.position[1], j.position[2] - i.position[2]
    m0, m1, m2 = -f[3] - (y * f[2] - z * f[1]), -f[4] - (z * f[0] - x * f[2]), -f[5] - (x * f[1] - y * f[0])
    push(w, j, 1.0, f, f[3], f[4], f[5])
    push(w, i, -1.0, f, m0, m1, m2)
    if e.work_at >= 0:
        power = m0 * i.angular_velocity[0] + m1 * i.angular_velocity[1] + m2 * i.angular_velocity[2]
        for r in range(3):
            power += f[r] * (j.velocity[r] - i.velocity[r]) + f[3 + r] * j.angular_velocity[r]
        part(w.rates, w.n_q + w.n_v + e.work_at, 1)[0] = power
    return OK


@inner
def push(w, marker, sign, f, m0, m1, m2):
    """Q += B^T (sign force, half torque x axis) for one marker."""
    jacobian = block(w.jacobians, marker.jacobian, PLACE, marker.n)
    out = part(w.force, marker.v, marker.n)
    for c in range(marker.n):
        out[c] += sign * (f[0] * jacobian[0, c] + f[1] * jacobian[1, c] + f[2] * jacobian[2, c])
    if m0 == 0.0 and m1 == 0.0 and m2 == 0.0:
        return
    x, y, z = AXES_AT, AXES_AT + 3, AXES_AT + 6
    for a in range(3):
        d0, d1, d2 = marker.axes[0, a], marker.axes[1, a], marker.axes[2, a]
        g0, g1, g2 = 0.5 * (m1 * d2 - m2 * d1), 0.5 * (m2 * d0 - m0 * d2), 0.5 * (m0 * d1 - m1 * d0)
        for c in range(marker.n):
            out[c] += g0 * jacobian[x + a, c] + g1 * jacobian[y + a, c] + g2 * jacobian[z + a, c]


@template(ROW, N_Q, N_V, rates)
def coordinate_rates(t, work, table, n):
    """q' := T(q) d of all bodies of one formulation, with d from `solution`."""
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        body = rows[k]
        n_q, n_v = N_Q or body.n_q, N_V or body.n_v
        rates(body, part(w.y, body.q, n_q), part(w.solution, body.v, n_v), part(w.rates, body.q, n_q))
    return OK


@template(ROW, N_Q, N_V, rates)
def displacements(t, work, table, n):
    """d of all bodies of one formulation, in `solution`, for which T(q) d is nearest to the q' in `rates`.

    From T^T T d = T^T q', with the columns of T by unit velocities.
    """
    w = workspace(work)
    rows = records(table, n, ROW)
    columns, normal = block(w.scratch, 0, N_V, N_Q), block(w.scratch, N_Q * N_V, N_V, N_V)
    unit = part(w.scratch, (N_Q + N_V) * N_V, N_V)
    for k in range(n):
        body = rows[k]
        q, given, d = part(w.y, body.q, N_Q), part(w.rates, body.q, N_Q), part(w.solution, body.v, N_V)
        for c in range(N_V):
            for r in range(N_V):
                unit[r] = 1.0 if r == c else 0.0
            rates(body, q, unit, columns[c])
        for a in range(N_V):
            d[a] = 0.0
            for x in range(N_Q):
                d[a] += columns[a, x] * given[x]
            for b in range(N_V):
                normal[a, b] = 0.0
                for x in range(N_Q):
                    normal[a, b] += columns[a, x] * columns[b, x]
        for a in range(N_V):  # elimination of a positive definite matrix
            for b in range(a + 1, N_V):
                share = normal[b, a] / normal[a, a]
                d[b] -= share * d[a]
                for c in range(a, N_V):
                    normal[b, c] -= share * normal[a, c]
        for step in range(N_V):
            a = N_V - 1 - step
            for b in range(a + 1, N_V):
                d[a] -= normal[a, b] * d[b]
            d[a] /= normal[a, a]
    return OK


@template(ROW, rates)
def displacements_by_column(t, work, table, n):
    """As `displacements`, for bodies that differ in size: the columns of T are orthogonal to each other.

    So each component of d is found by itself, in memory that grows only linearly with the size.
    """
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        body = rows[k]
        q, given, d = part(w.y, body.q, body.n_q), part(w.rates, body.q, body.n_q), part(w.solution, body.v, body.n_v)
        unit, column = part(w.scratch, 0, body.n_v), part(w.scratch, body.n_v, body.n_q)
        for c in range(body.n_v):
            for r in range(body.n_v):
                unit[r] = 1.0 if r == c else 0.0
            rates(body, q, unit, column)
            along = length = 0.0
            for x in range(body.n_q):
                along += column[x] * given[x]
                length += column[x] * column[x]
            d[c] = along / length
    return OK


@template(ROW, N_Q, N_V, rates, normalize)
def moves(t, work, table, n):
    """q := q + T(q) d for all bodies of one formulation, d being the first n_v numbers of `solution`."""
    w = workspace(work)
    rows = records(table, n, ROW)
    for k in range(n):
        body = rows[k]
        n_q, n_v = N_Q or body.n_q, N_V or body.n_v
        q, step = part(w.y, body.q, n_q), part(w.scratch, 0, n_q)
        rates(body, q, part(w.solution, body.v, n_v), step)
        for c in range(n_q):
            q[c] += step[c]
        normalize(body, q)
    return OK


@template(ROW, N_V, loss)
def losses(t, work, table, n):
    """Power of what damps the deformation of all bodies of one formulation."""
    w = workspace(work)
    if w.level < DYNAMICS:
        return OK
    rows = records(table, n, ROW)
    for k in range(n):
        body = rows[k]
        if body.work_at >= 0:
            v = part(w.y, w.n_q + body.v, N_V or body.n_v)
            part(w.rates, w.n_q + w.n_v + body.work_at, 1)[0] = -loss(body, v)
    return OK


@template(ROW, COUNTS, energy)
def energies(t, work, table, n):
    """Potential energy of all elements of one type."""
    w = workspace(work)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        if COUNTS:
            j.turns = turns_of(w, e.counter)
        note_energy(w, e, energy(e, t, i, j))
    return OK


@inner
def note_energy(w, e, value):
    """Add the energy of an element to that of its group; where its work is kept, the energy belongs to that too."""
    groups = integers(w.groups, w.n_markers)
    vector(w.potentials, w.n_groups)[max(groups[e.i], groups[e.j], 0)] += value
    if e.work_at >= 0:
        part(w.rates, w.n_q + w.n_v + e.work_at, 1)[0] = value
