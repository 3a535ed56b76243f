"""The tangent of nonholonomic constraints D(t, x, x'), x = (position, axes) of both markers.

Their share of F is B^T D_x'^T mu, which changes by B^T mu (D_x'x dx + D_x'x' dx') besides the change of B, so that
second derivatives by 48 numbers are needed: position, axes, velocity and rates of the axes of both markers.
"""

from __future__ import annotations

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, complex_matrix, copy, part, record, records
from ..compiler.templates import template
from ..free import EQUATIONS, ROW, velocity_gradient
from ..layout import AXES_AT, MOTION_J, MOTIONS, PLACE, PLACES, SPIN_AT
from ..stages.user import MARKER_COMPLEX, STEP, disturb_motion, moved
from ..workspace import LINK, MARKER, OK, workspace
from .tangent import tangent_record

RATES = PLACES  # a place and its rate, of one marker
RATE_OF_AXES = PLACE + AXES_AT
NUMBERS = 2 * RATES


@template(ROW, EQUATIONS, velocity_gradient)
def velocity_constraints(t, work, table, n):
    """Nonholonomic constraints of a type that gives its derivatives.

    The second derivatives are complex steps of the first ones.
    """
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    pair = records(w.scratch, 2, MARKER_COMPLEX)
    given = complex_matrix(a.velocity_given, EQUATIONS, MOTIONS)
    g, h = block(a.velocity_gradient, 0, EQUATIONS, NUMBERS), block(a.velocity_hessian, 0, NUMBERS, NUMBERS)
    for k in range(n):
        e = rows[k]
        weights = part(a.multipliers, e.row, EQUATIONS)
        for sample in range(NUMBERS):
            if markers[e.j if sample >= RATES else e.i].n == 0:  # the ground does not move
                for x in range(NUMBERS):
                    h[x, sample] = 0.0
                continue
            moved(pair[0], markers[e.i], 0.0j)
            moved(pair[1], markers[e.j], 0.0j)
            disturb_rates(pair[sample // RATES], sample % RATES)
            for side in range(2):
                turn(pair[side])
            clear(given)
            velocity_gradient(e, t, pair[0], pair[1], given)
            for x in range(NUMBERS):
                h[x, sample] = 0.0
                for r in range(EQUATIONS):
                    value = by_number(pair[x // RATES], given, r, x)
                    g[r, x] = value.real
                    h[x, sample] += weights[r] * (value.imag / STEP)
        call(a.add_velocity_constraint, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


@template(ROW, EQUATIONS)
def velocity_constraint_rows(t, work, table, n):
    """Nonholonomic constraints whose derivatives Python filled in."""
    w = workspace(work)
    a = tangent_record(w)
    rows = records(table, n, ROW)
    g, h = block(a.velocity_gradient, 0, EQUATIONS, NUMBERS), block(a.velocity_hessian, 0, NUMBERS, NUMBERS)
    for k in range(n):
        e = rows[k]
        copy(e.gradient, g)
        copy(e.hessian, h)
        call(a.add_velocity_constraint, t, work, table + k * rows.itemsize, EQUATIONS)
    return OK


@Stage
def add_velocity_constraint(t, work, link, n):
    """K, R, the change of D along dq = T d, and the loads of the markers, of one constraint with n equations."""
    w = workspace(work)
    a = tangent_record(w)
    e = record(link, LINK)
    markers = records(w.markers, w.n_markers, MARKER)
    g, h = block(a.velocity_gradient, 0, n, NUMBERS), block(a.velocity_hessian, 0, NUMBERS, NUMBERS)
    multipliers = part(a.multipliers, e.row, n)
    change = block(a.velocity_stiffness, (e.row - w.n_holonomic) * w.n_v, n, w.n_v)
    for second in range(2):
        place = e.j if second else e.i
        m, x0, rate0 = markers[place], RATES * second, RATES * second + PLACE
        load = part(a.loads, PLACE * place, PLACE)
        basis = block(w.jacobians, m.jacobian, PLACE, m.n)
        tangents = block(a.rate_tangents, m.jacobian, PLACE, m.n)
        for x in range(PLACE):
            for r in range(n):
                load[x] += multipliers[r] * g[r, rate0 + x]
                for c in range(m.n):
                    change[r, m.v + c] += g[r, x0 + x] * basis[x, c] + g[r, rate0 + x] * tangents[x, c]
        for first in range(2):
            if first:
                offset = e.tangent_jj if second else e.tangent_ji
            else:
                offset = e.tangent_ij if second else e.tangent_ii
            p = markers[e.j if first else e.i]
            left = block(w.jacobians, p.jacobian, PLACE, p.n)
            stiffness, damping = block(a.stiffness, offset, p.n, m.n), block(a.damping, offset, p.n, m.n)
            for x in range(PLACE):
                for y in range(PLACE):
                    by_place, by_rate = h[RATES * first + PLACE + x, x0 + y], h[RATES * first + PLACE + x, rate0 + y]
                    if by_place == 0.0 and by_rate == 0.0:
                        continue
                    for row in range(p.n):
                        f = left[x, row]
                        for c in range(m.n):
                            stiffness[row, c] += f * (by_place * basis[y, c] + by_rate * tangents[y, c])
                            damping[row, c] += f * by_rate * basis[y, c]
    return OK


@inner
def disturb_rates(marker, x):
    """Add the imaginary step to one of the 24 numbers (position, axes, velocity, rates of the axes) of a marker."""
    if x < RATE_OF_AXES:
        disturb_motion(marker, x)
    else:
        marker.axes_rate[(x - RATE_OF_AXES) // 3, (x - RATE_OF_AXES) % 3] += STEP * 1j


@inner
def turn(marker):
    """omega := 1/2 sum d_k x d_k'."""
    d, rate = marker.axes, marker.axes_rate
    for r in range(3):
        p, q = (r + 1) % 3, (r + 2) % 3
        marker.angular_velocity[r] = 0.0
        for k in range(3):
            marker.angular_velocity[r] += 0.5 * (d[p, k] * rate[q, k] - d[q, k] * rate[p, k])


@inner
def by_number(marker, given, r, number):
    """The derivative of row r by one of the 48 numbers, from those by positions, axes, velocities and omega.

    w . omega changes by w . (dd x d' + d x dd') / 2 for the axes d.
    """
    x, first = number % RATES, MOTION_J * (number // RATES)
    if x < AXES_AT or PLACE <= x < RATE_OF_AXES:
        return given[r, first + x]
    c, k = ((x - AXES_AT) if x < PLACE else (x - RATE_OF_AXES)) // 3, x % 3
    p, q = (c + 1) % 3, (c + 2) % 3
    w_p, w_q = given[r, first + SPIN_AT + p], given[r, first + SPIN_AT + q]
    if x < PLACE:
        return given[r, first + x] + 0.5 * (marker.axes_rate[p, k] * w_q - marker.axes_rate[q, k] * w_p)
    return 0.5 * (w_p * marker.axes[q, k] - w_q * marker.axes[p, k])
