"""Steps of the Radau IIA method with three stages on the stabilized equations of index 2.

Unknowns of a step are v_i, e_i and lambda_i at three instants t + c_i h; coordinates follow from them:

    q_i = q + h sum_j a_ij T(q_j) (v_j - e_j),    v'_i = sum_j (a^-1)_ij (v_j - v)/h
    M v'_i = Q - J^T lambda_i,    J v_i + C_t = 0,    C = 0

Own states z of elements with z' = f are unknowns like v, with the mass 1; followers come after the iteration.

e = W J^T eta, which vanishes in the exact solution, lets both levels of the constraints hold. Newton's method for v and
lambda has the matrix of `stagewise`: every stage is linearized where it is predicted, and again where the iteration
gains little. One tangent for all stages would separate them into a real and a complex system, which is cheaper but
fails beside stiff elements: the directions that these leave free turn by w h during a step, so a displacement along
those of one stage strains the stiffness k in another, and the iteration contracts by k (w h)^2 h^2/m at best. e follows
from J de = J dv + sum_j (a^-1)_ij C_j/h with the factors of the equations of motion where the step begins, W being the
inverse of the mass matrix.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import clear, indices, matrices, matrix, record, records, vector
from ..stages.counters import farthest
from ..stages.dynamics import drive
from ..workspace import (
    DRIVE,
    DYNAMICS,
    NO_STEP,
    OK,
    STEP_TOO_SMALL,
    USER_METHOD,
    factorization,
    state_changed,
    workspace,
)
from .implicit import (
    add_mass,
    add_reactive,
    add_residual,
    add_stiffness,
    begin,
    coordinate_rates,
    factor,
    largest,
    newton,
    run_over_bodies,
    substitute,
    take_tangent,
)
from .runge_kutta import SMALLEST, first_step
from .schedule import note_begin, passed, prepare, within
from .stagewise import STAGES, add_stage, factor_stages, substitute_stages

RADAU = np.dtype(
    [
        ("newton", "i8"),
        ("a", "i8"),  # 3 x 3
        ("inverse", "i8"),  # of a
        ("c", "i8"),
        ("estimate", "i8"),  # weights of the increments in the error estimate
        ("eigenvalue", "f8"),  # of a^-1, the real one
        ("t0", "f8"),
        ("t_start", "f8"),
        ("h_next", "f8"),
        ("h_max", "f8"),
        ("schedule", "i8"),  # what a step must not pass; 0: there is nothing
        ("stop", "f8"),  # where this step may lead at most
        ("rtol", "f8"),
        ("atol", "f8"),
        ("error_rtol", "f8"),  # what the estimate, of lower order than the step, is compared with
        ("error_atol", "f8"),
        ("exponent", "f8"),
        ("y0", "i8"),
        ("rates0", "i8"),
        ("k", "i8"),  # 2 x n_y, for the first step size
        ("v", "i8"),  # 3 x n_v: increments
        ("e", "i8"),
        ("z", "i8"),  # increments of own states and followers
        ("multipliers", "i8"),
        ("q", "i8"),  # 3 x n_q
        ("q_rate", "i8"),
        ("last_v", "i8"),  # increments of the last accepted step
        ("last_q", "i8"),  # and its coordinates and increments of own states
        ("last_z", "i8"),
        ("last_h", "f8"),  # 0: it is not known
        ("dynamic", "i8"),  # residuals, a row per stage
        ("velocity", "i8"),
        ("position", "i8"),
        ("z_rate", "i8"),
        ("drift", "i8"),
        ("v_rate", "i8"),
        ("stages", "i8"),  # factors for all stages
        ("filter", "i8"),  # and for the error estimate
        ("x", "i8"),  # right-hand sides and solutions, 3 x n
        ("permuted", "i8"),
        ("iterations", "i8"),
    ],
    align=True,
)

LIMIT = 15
SWEEPS = 12
ACCURACY = 0.02  # of the iteration, in units of the tolerance
SHORTEST = 1e-8  # part of a step that is long enough to be solved for
SLOW = 0.3  # an iteration that leaves more than this of its change is linearized anew
NOISE = 256 * np.finfo(np.float64).eps
SAFETY, SHRINK, GROW = 0.9, 0.2, 3.0  # a step that grows further is not predicted well by the one before


@inner
def guess(w, r, h, first, known):
    """Increments of v and z by the polynomial of the last step from its point `first` on, if it is known, or by rates.

    What followers do in the step is not extrapolated.
    """
    v, last, c = matrix(r.v, STAGES, w.n_v), matrix(r.last_v, STAGES, w.n_v), vector(r.c, STAGES)
    z, last_z, n_own = matrix(r.z, STAGES, w.n_z), matrix(r.last_z, STAGES, w.n_z), w.n_z - w.n_followers
    rates0 = vector(r.rates0, w.n_y)
    for i in range(STAGES):
        for k in range(w.n_v):
            v[i, k] = 0.0 if known else h * c[i] * rates0[w.n_q + k]
        for k in range(w.n_z):
            z[i, k] = 0.0 if known and k < n_own else h * c[i] * rates0[w.n_q + w.n_v + k]
        for j in range(STAGES):
            if known:
                weight = basis(c, j, first + c[i] * h / r.last_h) - basis(c, j, first)
                for k in range(w.n_v):
                    v[i, k] += weight * last[j, k]
                for k in range(n_own):
                    z[i, k] += weight * last_z[j, k]


@inner
def basis(c, j, x):
    """The polynomial that is 1 at c_j and 0 at 0 and the other c."""
    value = x / c[j]
    for other in range(STAGES):
        if other != j:
            value *= (x - c[other]) / (c[j] - c[other])
    return value


@inner
def move(w, r, m, t, h, work):
    """q of all stages for their velocities, by repeated substitution."""
    a, q, rate = matrix(r.a, STAGES, STAGES), matrix(r.q, STAGES, w.n_q), matrix(r.q_rate, STAGES, w.n_q)
    y, y0, rates, x = vector(w.y, w.n_y), vector(r.y0, w.n_y), vector(w.rates, w.n_y), vector(r.x, w.n_v)
    v, e = matrix(r.v, STAGES, w.n_v), matrix(r.e, STAGES, w.n_v)
    noise = SMALLEST * largest(y0, w.n_q)
    for _ in range(SWEEPS):
        for j in range(STAGES):
            for k in range(w.n_q):
                y[k] = q[j, k]
            for k in range(w.n_v):
                x[k] = y0[w.n_q + k] + v[j, k] - e[j, k]
            status = coordinate_rates(w, m, t, work, x)
            if status != OK:
                return status
            for k in range(w.n_q):
                rate[j, k] = rates[k]
        change = 0.0
        for i in range(STAGES):
            for k in range(w.n_q):
                value = y0[k] + h * (a[i, 0] * rate[0, k] + a[i, 1] * rate[1, k] + a[i, 2] * rate[2, k])
                change = max(change, abs(value - q[i, k]))
                q[i, k] = value
        if not change > noise:
            break
    return OK


@inner
def evaluate_stage(w, r, m, t, h, i, work):
    """The tables of the i-th stage, and its v' and z'."""
    c, inverse = vector(r.c, STAGES), matrix(r.inverse, STAGES, STAGES)
    q, v, z = matrix(r.q, STAGES, w.n_q), matrix(r.v, STAGES, w.n_v), matrix(r.z, STAGES, w.n_z)
    y, y0, v_rate = vector(w.y, w.n_y), vector(r.y0, w.n_y), vector(r.v_rate, m.n_moving)
    at = within(w, t + c[i] * h)
    for k in range(w.n_q):
        y[k] = q[i, k]
    for k in range(w.n_v):
        y[w.n_q + k] = y0[w.n_q + k] + v[i, k]
        v_rate[k] = (inverse[i, 0] * v[0, k] + inverse[i, 1] * v[1, k] + inverse[i, 2] * v[2, k]) / h
    for k in range(w.n_z):
        y[w.n_q + w.n_v + k] = y0[w.n_q + w.n_v + k] + z[i, k]
    for k in range(m.n_own):
        v_rate[w.n_v + k] = (inverse[i, 0] * z[0, k] + inverse[i, 1] * z[1, k] + inverse[i, 2] * z[2, k]) / h
    state_changed(w)
    status = call(w.evaluate, at, work, 0, DYNAMICS)
    return add_reactive(w, at, work, matrix(r.multipliers, STAGES, w.n_rows)[i]) if status == OK else status


@inner
def evaluate_stages(w, r, m, t, h, linearize, work):
    """Residuals of the equations in all stages; their tangents too, if asked for."""
    rates, v_rate, c = vector(w.rates, w.n_y), vector(r.v_rate, m.n_moving), vector(r.c, STAGES)
    multipliers, drifts, drift = (
        matrix(r.multipliers, STAGES, w.n_rows),
        matrix(r.drift, STAGES, w.n_rows),
        vector(w.drift, w.n_rows),
    )
    dynamic, velocity = matrix(r.dynamic, STAGES, m.n_moving), matrix(r.velocity, STAGES, w.n_rows)
    position, z_rate = matrix(r.position, STAGES, w.n_holonomic), matrix(r.z_rate, STAGES, w.n_z)
    residual, rate = vector(w.residual, w.n_holonomic), vector(w.constraint_rate, w.n_rows)
    blocks = matrices(r.stages, m.n + 2 * m.n_lower, STAGES, STAGES)
    a, inverse = matrix(r.a, STAGES, STAGES), matrix(r.inverse, STAGES, STAGES)
    if linearize:
        clear(blocks)
    for i in range(STAGES - 1, -1, -1):  # the first stage last, because its tangent is the one of the error estimate
        status = evaluate_stage(w, r, m, t, h, i, work)
        if status != OK:
            return status
        for k in range(m.n_moving):
            dynamic[i, k] = 0.0
        add_residual(w, m, 1.0, v_rate, multipliers[i], dynamic[i])
        for k in range(w.n_rows):
            velocity[i, k] = rate[k]
        for k in range(w.n_holonomic):
            position[i, k] = residual[k]
        for k in range(w.n_rows if w.n_drives > 0 else 0):
            drifts[i, k] = drift[k]
        for k in range(w.n_z):
            z_rate[i, k] = rates[w.n_q + w.n_v + k]
        if linearize:
            status = take_tangent(w, m, within(w, t + c[i] * h), work, v_rate, multipliers[i])
            if status != OK:
                return status
            add_stage(w, m, blocks, i, h, a, inverse)
    return factor_all(w, r, m, h) if linearize else OK


@inner
def factor_all(w, r, m, h):
    """Factors of the matrix of the stages, and of that of the error estimate from the tangent at hand."""
    s = r.eigenvalue / h
    status = factor(w, m, vector(r.filter, m.n + 2 * m.n_lower), 1.0, 1.0 / s, 1.0 / (s * s))
    if status != OK:
        return status
    return factor_stages(w, m, matrices(r.stages, m.n + 2 * m.n_lower, STAGES, STAGES))


@inner
def linearize_begin(w, r, m, t, h, work):
    """The matrix with the tangent of the begin of the step in all stages, where these cannot be predicted."""
    v_rate, multipliers = vector(r.rates0, w.n_y)[w.n_q : w.n_q + w.n_v], vector(w.multipliers, w.n_rows)
    status = take_tangent(w, m, within(w, t), work, v_rate, multipliers)
    if status != OK:
        return status
    blocks = matrices(r.stages, m.n + 2 * m.n_lower, STAGES, STAGES)
    a, inverse = matrix(r.a, STAGES, STAGES), matrix(r.inverse, STAGES, STAGES)
    clear(blocks)
    for i in range(STAGES):
        add_stage(w, m, blocks, i, h, a, inverse)
    return factor_all(w, r, m, h)


@inner
def project(w, r, h, work):
    """Change e so that C = 0 holds after the change of v; returns a status and the size in units of the tolerance."""
    inverse, e = matrix(r.inverse, STAGES, STAGES), matrix(r.e, STAGES, w.n_v)
    y0 = vector(r.y0, w.n_y)
    speed = largest(y0[w.n_q : w.n_q + w.n_v], w.n_v)
    scale = ACCURACY * (r.atol + r.rtol * speed) + NOISE * (speed + max(largest(y0, w.n_q), farthest(w, y0)) / h)
    largest_change = 0.0
    velocity, position = matrix(r.velocity, STAGES, w.n_rows), matrix(r.position, STAGES, w.n_holonomic)
    right, x = vector(w.right, w.n_v + w.n_rows), vector(w.solution, w.n_v + w.n_rows)
    for i in range(STAGES):
        for k in range(w.n_v + w.n_rows):
            right[k] = 0.0
        for k in range(w.n_holonomic):
            gap = inverse[i, 0] * position[0, k] + inverse[i, 1] * position[1, k] + inverse[i, 2] * position[2, k]
            right[w.n_v + k] = gap / h - velocity[i, k]
        status = call(w.solve, w.t, work, w.factor, w.entries)
        if status != OK:
            return status, 0.0
        largest_change = max(largest_change, largest(x, w.n_v))
        for k in range(w.n_v):
            e[i, k] += x[k]
    return OK, largest_change / scale


@inner
def change_stages(w, r, m, h):
    """A Newton step of v, z and lambda; returns the size of the change in units of the tolerance."""
    n, n_v, n_moving = m.n, w.n_v, m.n_moving
    v, z = matrix(r.v, STAGES, n_v), matrix(r.z, STAGES, w.n_z)
    multipliers, z_rate = matrix(r.multipliers, STAGES, w.n_rows), matrix(r.z_rate, STAGES, w.n_z)
    dynamic, velocity = matrix(r.dynamic, STAGES, n_moving), matrix(r.velocity, STAGES, w.n_rows)
    drifts = matrix(r.drift, STAGES, w.n_rows)
    a, y0, rates0 = matrix(r.a, STAGES, STAGES), vector(r.y0, w.n_y), vector(r.rates0, w.n_y)
    x = matrix(r.x, n, STAGES)
    for i in range(STAGES):
        for k in range(n_moving):
            x[k, i] = -h * dynamic[i, k]
        for k in range(w.n_rows):
            x[n_moving + k, i] = -velocity[i, k]
    blocks = matrices(r.stages, m.n + 2 * m.n_lower, STAGES, STAGES)
    substitute_stages(m, blocks, x, matrix(r.permuted, n, STAGES))
    total = 0.0
    noise = NOISE * (largest(y0[w.n_q : w.n_q + n_v], n_v) + h * largest(rates0[w.n_q : w.n_q + n_v], n_v))
    for i in range(STAGES):
        for k in range(n_v):
            v[i, k] += x[k, i]
            scale = ACCURACY * (r.atol + r.rtol * abs(y0[w.n_q + k] + v[i, k])) + noise
            total += (x[k, i] / scale) ** 2
        for k in range(m.n_own):
            z[i, k] += x[n_v + k, i]
            start = y0[w.n_q + n_v + k]
            scale = ACCURACY * (r.atol + r.rtol * abs(start + z[i, k])) + NOISE * (abs(start) + abs(z[i, k]))
            total += (x[n_v + k, i] / scale) ** 2
        for k in range(w.n_rows):
            multipliers[i, k] += x[n_moving + k, i] / h
        if w.n_drives > 0:
            drive(w, multipliers[i], drifts[i], z_rate[i])
    for i in range(STAGES):
        for k in range(m.n_own, w.n_z):
            z[i, k] = h * (a[i, 0] * z_rate[0, k] + a[i, 1] * z_rate[1, k] + a[i, 2] * z_rate[2, k])
    return np.sqrt(total / (STAGES * max(1, n_moving)))


@inner
def start(w, r, m, t, work):
    """v', multipliers and factors of the equations of motion at the begin of a step."""
    y, y0, rates, rates0 = vector(w.y, w.n_y), vector(r.y0, w.n_y), vector(w.rates, w.n_y), vector(r.rates0, w.n_y)
    for k in range(w.n_y):
        y[k] = y0[k]
    state_changed(w)
    status = begin(w, m, within(w, t), work)
    if status != OK:
        return status
    for k in range(w.n_y):
        rates0[k] = rates[k]
    return OK


@inner
def attempt(w, r, m, t, h, first, work):
    """Solve the equations of a step of length h from (t, y0); the state it leads to is left in w.y."""
    q, y, y0 = matrix(r.q, STAGES, w.n_q), vector(w.y, w.n_y), vector(r.y0, w.n_y)
    v, e, z = matrix(r.v, STAGES, w.n_v), matrix(r.e, STAGES, w.n_v), matrix(r.z, STAGES, w.n_z)
    multipliers, now = matrix(r.multipliers, STAGES, w.n_rows), vector(w.multipliers, w.n_rows)
    known = r.last_h > 0.0
    guess(w, r, h, first, known)
    for i in range(STAGES):
        for k in range(w.n_q):
            q[i, k] = y0[k]
        for k in range(w.n_v):
            e[i, k] = 0.0
        for k in range(w.n_rows):
            multipliers[i, k] = now[k]
    if not known:
        status = linearize_begin(w, r, m, t, h, work)
        if status != OK:
            return status
    before, gain = np.inf, 1.0 if known else 0.0
    for turn in range(LIMIT):
        r.iterations = turn + 1
        status = move(w, r, m, t, h, work)
        if status == OK:
            status = evaluate_stages(w, r, m, t, h, gain > SLOW, work)
        if status != OK:
            return status
        status, shift = project(w, r, h, work)
        if status != OK:
            return status
        change = max(shift, change_stages(w, r, m, h))
        gain = change / before
        if not change < np.inf or (turn > 1 and gain >= 1.0 and change > 1.0):
            return NO_STEP
        if turn > 0 and (change * gain <= 1.0 - gain or change < 0.1):
            status = move(w, r, m, t, h, work)
            for k in range(w.n_q):
                y[k] = q[2, k]
            for k in range(w.n_v):
                y[w.n_q + k] = y0[w.n_q + k] + v[2, k]
            for k in range(w.n_z):
                y[w.n_q + w.n_v + k] = y0[w.n_q + w.n_v + k] + z[2, k]
            state_changed(w)
            return status
        before = change
    return NO_STEP


@inner
def keep_along(w, m, drift, right):
    """Let the error of q keep its parts along equations that say nothing of q, or that move with time.

    Where such equations take all freedom no other part is left, and steps would be as long as the run. What drivers
    prescribe has no error itself, but tells how well a step resolves the motion, and with it their work.
    """
    entries, row = vector(w.entries, w.n_entries), indices(m.jacobian_row, m.n_jacobian)
    source, column = indices(m.jacobian_source, m.n_jacobian), indices(m.jacobian_column, m.n_jacobian)
    drives = records(w.drives, w.n_drives, DRIVE)
    for k in range(m.n_jacobian):
        kept = row[k] >= w.n_holonomic
        for d in range(w.n_drives):
            kept = kept or drives[d].row <= row[k] < drives[d].row + drives[d].n
        if kept:
            right[w.n_v + row[k]] += entries[source[k]] * drift[column[k]]


@inner
def error_norm(w, r, m, t, h, work):
    """Root mean square of the estimated error in units of its tolerance: [HairerWanner1996], eq. IV.8.19."""
    n_q, n_v = w.n_q, w.n_v
    weights = vector(r.estimate, STAGES)
    v, z = matrix(r.v, STAGES, n_v), matrix(r.z, STAGES, w.n_z)
    y, y0, rates0, rates = vector(w.y, w.n_y), vector(r.y0, w.n_y), vector(r.rates0, w.n_y), vector(w.rates, w.n_y)
    x, right, solution = vector(r.x, m.n), vector(w.right, n_v + w.n_rows), vector(w.solution, n_v)
    drift, acceleration = vector(r.permuted, 2 * m.n)[m.n :], vector(r.v_rate, m.n_moving)
    s = r.eigenvalue / h
    q = matrix(r.q, STAGES, n_q)
    for k in range(n_v):
        acceleration[k] = rates0[n_q + k]
        for i in range(STAGES):
            acceleration[k] += weights[i] / h * v[i, k]
    for k in range(n_q):
        y[k] = y0[k]
        rates[k] = rates0[k]
        for i in range(STAGES):
            rates[k] += weights[i] / h * (q[i, k] - y0[k])
    status = run_over_bodies(w, m.displacements, t, work)
    if status != OK:
        return status, 0.0
    for k in range(n_v):
        drift[k] = solution[k]
    clear(right)
    clear(x)
    add_mass(w, m, 1.0, drift, right)
    if w.n_rows > w.n_holonomic or w.n_drives > 0:
        keep_along(w, m, drift, right)
    status = call(w.solve, t, work, w.factor, w.entries)
    if status != OK:
        return status, 0.0
    for k in range(n_v):
        drift[k] = solution[k]
    for k in range(m.n_own):
        drift[n_v + k] = 0.0
        x[n_v + k] = rates0[n_q + n_v + k]
        for i in range(STAGES):
            x[n_v + k] += weights[i] / h * z[i, k]
        x[n_v + k] /= s
    add_mass(w, m, 1.0 / s, acceleration, x)
    add_stiffness(m, -1.0 / (s * s), drift, x)
    substitute(m, vector(r.filter, m.n + 2 * m.n_lower), x, vector(r.permuted, m.n))
    for k in range(n_v):
        acceleration[k] = (x[k] + drift[k]) / s
    status = coordinate_rates(w, m, t, work, acceleration)
    if status != OK:
        return status, 0.0
    total = 0.0
    n = w.n_y - w.n_followers
    for k in range(n):
        if k < n_q:
            error = rates[k]
            y[k] = q[2, k]
        else:
            error = x[k - n_q]
        scale = r.error_atol + r.error_rtol * max(abs(y0[k]), abs(y[k]))
        total += (error / scale) ** 2
    return OK, np.sqrt(total / n)


@Stage
def radau(t, work, data, n):
    """One accepted step from (w.t, w.y)."""
    w = workspace(work)
    r = record(data, RADAU)
    m = newton(r.newton)
    y, y0 = vector(w.y, w.n_y), vector(r.y0, w.n_y)
    v, last = matrix(r.v, STAGES, w.n_v), matrix(r.last_v, STAGES, w.n_v)
    q, last_q = matrix(r.q, STAGES, w.n_q), matrix(r.last_q, STAGES, w.n_q)
    z, last_z = matrix(r.z, STAGES, w.n_z), matrix(r.last_z, STAGES, w.n_z)
    r.t0 = t
    for k in range(w.n_y):
        y0[k] = y[k]
    longest, restart = prepare(w, r, t)
    if restart:
        r.last_h = 0.0  # the polynomial of the last step ends at the break
    if r.h_next == 0.0 or restart:
        status = start(w, r, m, t, work)
        if status != OK:
            return status
        dependent = factorization(w.factor).dependent  # by accepted states: those of trials may be anything
        k = matrix(r.k, 2, w.n_y)
        rates0 = vector(r.rates0, w.n_y)
        for i in range(w.n_y):
            k[0, i] = rates0[i]
        status = first_step(w, r, work, y, y0, k)
        if status != OK:
            return status
        factorization(w.factor).dependent = dependent
    rejected = False
    while True:
        status = start(w, r, m, t, work)
        if status != OK:
            return status
        dependent = factorization(w.factor).dependent
        wanted = r.h_next
        h = min(r.h_next, note_begin(r, longest), r.stop - t)
        if 2.0 * h > r.stop - t:  # two equal steps to the end, or one, rather than a step and a splinter
            h = (r.stop - t) * (0.5 if r.stop - t > h * (1.0 + 1e-6) else 1.0)
        if h <= SMALLEST * max(abs(t), SMALLEST) and h < r.stop - t:
            return STEP_TOO_SMALL
        t1 = r.stop if h >= r.stop - t else t + h
        status = attempt(w, r, m, t, h, 1.0, work)
        size = np.inf
        if status == OK:
            status, size = error_norm(w, r, m, t, h, work)
        if status == OK and size < 1.0:
            status, share = passed(w, r, t1, h, work)
            if status != OK:
                size = np.inf
            elif share > 1.0:
                size = share ** (-1.0 / r.exponent)  # shrinks the step in proportion
        if status < 0 or status == USER_METHOD:
            return status
        if status == OK and size < 1.0:
            safety = SAFETY * (2 * LIMIT + 1) / (2 * LIMIT + r.iterations)
            growth = GROW if size == 0.0 else max(SHRINK, min(GROW, safety * size**r.exponent))
            r.h_next = h * (min(1.0, growth) if rejected else growth)
            if t1 == r.stop and not rejected:
                r.h_next = max(r.h_next, wanted)  # it was a break that made this step short
            break
        rejected = True
        w.rejected += 1
        factorization(w.factor).dependent = dependent
        r.h_next = h * (max(SHRINK, SAFETY * size**r.exponent) if size < np.inf else 0.5)
        if status != OK:
            if h <= r.last_h:
                r.last_h = 0.0  # start the next iteration from v' instead
            if r.h_next <= SMALLEST * max(abs(t), SMALLEST):
                return STEP_TOO_SMALL if status == NO_STEP else status
    r.last_h = h
    for i in range(STAGES):
        for k in range(w.n_v):
            last[i, k] = v[i, k]
        for k in range(w.n_q):
            last_q[i, k] = q[i, k]
        for k in range(w.n_z):
            last_z[i, k] = z[i, k]
    state_changed(w)
    w.t = t1
    w.steps += 1
    return OK


@inner
def follow(w, r, part):
    """w.y on the polynomial of the last step, which passes through its stages."""
    y, y0, c = vector(w.y, w.n_y), vector(r.y0, w.n_y), vector(r.c, STAGES)
    v, q, z = matrix(r.last_v, STAGES, w.n_v), matrix(r.last_q, STAGES, w.n_q), matrix(r.last_z, STAGES, w.n_z)
    for k in range(w.n_y):
        y[k] = y0[k]
    for j in range(STAGES):
        weight = basis(c, j, part)
        for k in range(w.n_q):
            y[k] += weight * (q[j, k] - y0[k])
        for k in range(w.n_v):
            y[w.n_q + k] += weight * v[j, k]
        for k in range(w.n_z):
            y[w.n_q + w.n_v + k] += weight * z[j, k]
    state_changed(w)


@Stage
def interpolate_radau(t, work, data, n):
    """w.y at time t inside the last step, by a shorter step from its begin: as accurate as the step itself.

    A step that is far shorter still is lost in rounding, and one into a contact or a jump may have no solution although
    the whole step had: then the polynomial of the step is taken, whose correction follows.
    """
    w = workspace(work)
    r = record(data, RADAU)
    m = newton(r.newton)
    status = start(w, r, m, r.t0, work)
    if status == OK and t > r.t0:
        status = NO_STEP
        if t - r.t0 > SHORTEST * r.last_h:
            status = attempt(w, r, m, r.t0, t - r.t0, 0.0, work)
        if status > 0 and status != USER_METHOD:
            follow(w, r, (t - r.t0) / r.last_h)
            status = OK
    w.t = t
    return status
