"""Evaluation of the equations of motion, accelerations, and corrections of the constraints."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import clear, integers, part, record, records, vector
from ..workspace import (
    DRIVE,
    DYNAMICS,
    LINK,
    MARKER,
    MISFIT,
    MOTION,
    NO_CONVERGENCE,
    NO_FRICTION,
    NOT_FINITE,
    OK,
    POSITION,
    REACTIONS,
    factorization,
    state_changed,
    workspace,
)
from .counters import farthest


@inner
def feed_back(w):
    """gamma := gamma - g1 (C', D) - g0 C with the gains of the stabilization in use (Baumgarte; zero for others)."""
    if w.feedback_rate == 0.0 and w.feedback_position == 0.0:
        return
    residual, rate = vector(w.residual, w.n_holonomic), vector(w.constraint_rate, w.n_rows)
    gamma = vector(w.gamma, w.n_rows)
    for k in range(w.n_rows):
        gamma[k] -= w.feedback_rate * rate[k]
    for k in range(w.n_holonomic):
        gamma[k] -= w.feedback_position * residual[k]


@inner
def displace(w, t, work):
    """q := q + T(q) d with d from `solution`."""
    stages, tables, counts = integers(w.moves, w.n_moves), integers(w.tables, w.n_moves), integers(w.counts, w.n_moves)
    for s in range(w.n_moves):
        status = call(stages[s], t, work, tables[s], counts[s])
        if status != OK:
            return status
    state_changed(w)
    return OK


@inner
def evaluate_if_stale(w, t, work):
    if w.evaluated == 1 and w.t == t:
        return OK
    return call(w.evaluate, t, work, 0, DYNAMICS)


@inner
def factor_if_stale(w, t, work):
    if factorization(w.factor).valid == 1:
        return OK
    return call(w.factorize, t, work, w.factor, w.entries)


@Stage
def evaluate(t, work, data, level):
    """Fill the tables up to `level` for the current (t, q, v, z)."""
    w = workspace(work)
    w.level = level
    w.t = t
    w.evaluated = 0
    # Rows are summed up: several measures may share one.
    clear(vector(w.residual, w.n_holonomic))
    if level > POSITION:
        clear(vector(w.constraint_rate, w.n_rows))
        clear(vector(w.gamma, w.n_rows))
    if level == DYNAMICS:
        w.evaluations += 1
        clear(vector(w.force, w.n_v))
    stages, tables, counts = (
        integers(w.stages, w.n_stages),
        integers(w.tables, w.n_stages),
        integers(w.counts, w.n_stages),
    )
    for s in range(w.n_stages):
        status = call(stages[s], t, work, tables[s], counts[s])
        if status != OK:
            w.culprit_stage = s
            return status
    if level == DYNAMICS:
        feed_back(w)
        w.evaluated = 1
    return OK


@Stage
def rub(t, work, data, n):
    """Add the forces that depend on reactions for the multipliers at hand, which are shared where they are not unique.

    The forces must be those of an evaluation.
    """
    w = workspace(work)
    multipliers = vector(w.multipliers, w.n_rows)
    w.evaluated = 0  # they are going to be part of the forces
    if factorization(w.factor).left_out > 0:
        x = vector(w.solution, w.n_v + w.n_rows)
        for k in range(w.n_rows):
            x[w.n_v + k] = multipliers[k]
        status = call(w.share, t, work, w.factor, w.entries)
        if status != OK:
            return status
        for k in range(w.n_rows):
            multipliers[k] = x[w.n_v + k]
    return apply_reactive(w, t, work)


@inner
def apply_reactive(w, t, work):
    """Add the forces that depend on reactions for the multipliers at hand."""
    stages, tables = integers(w.reactive, w.n_reactive), integers(w.reactive_tables, w.n_reactive)
    counts = integers(w.reactive_counts, w.n_reactive)
    for s in range(w.n_reactive):
        status = call(stages[s], t, work, tables[s], counts[s])
        if status != OK:
            return status
    return OK


FRICTION_LIMIT = 200
FRICTION_CHANGE = 1e-13
SHARED_CHANGE = 1e-10  # of multipliers that are shared by iteration


@Stage
def settle_friction(t, work, data, n):
    """Fixed point of reactions and the forces that depend on them: solve, apply, solve again until nothing changes.

    Where equations are left out, which share their load, forces follow the shared reactions.
    """
    w = workspace(work)
    n_v, n_rows = w.n_v, w.n_rows
    right, x = vector(w.right, n_v + n_rows), vector(w.solution, n_v + n_rows)
    force, base, multipliers = vector(w.force, n_v), vector(w.base_force, n_v), vector(w.multipliers, n_rows)
    gamma = vector(w.gamma, n_rows)
    tables, shared = integers(w.reactive_tables, w.n_reactive), factorization(w.factor).left_out > 0
    enough = SHARED_CHANGE if shared else FRICTION_CHANGE
    w.evaluated = 0  # friction is going to be part of the forces
    for k in range(n_v):
        base[k] = force[k]
    if shared:
        status = call(w.share, t, work, w.factor, w.entries)
        if status != OK:
            return status
    for _ in range(FRICTION_LIMIT):
        largest = 0.0
        for k in range(n_rows):
            multipliers[k] = x[n_v + k]
            largest = max(largest, abs(multipliers[k]))
        for k in range(n_v):
            force[k] = base[k]
        status = apply_reactive(w, t, work)
        for k in range(n_v):
            right[k] = force[k]
        for k in range(n_rows):
            right[n_v + k] = gamma[k]
        if status == OK:
            status = call(w.solve, t, work, w.factor, w.entries)
        if status == OK and shared:
            status = call(w.share, t, work, w.factor, w.entries)
        if status != OK:
            return status
        change = 0.0
        for k in range(n_rows):
            change = max(change, abs(x[n_v + k] - multipliers[k]))
        if change <= enough * largest:
            return OK
    w.culprit = record(tables[0], LINK).row
    return NO_FRICTION


@inner
def settle_forces(w, t, work):
    """Evaluate everything; friction, which depends on reactions, is found with the augmented formulation."""
    if w.n_reactive > 0:
        return call(w.augmented, t, work, 0, MOTION)
    return evaluate_if_stale(w, t, work)


@Stage
def accelerate_augmented(t, work, data, n):
    """v' and the multipliers from [M J^T; J 0] [v'; lambda] = [Q; gamma]; n is MOTION or REACTIONS."""
    w = workspace(work)
    status = evaluate_if_stale(w, t, work)
    if status != OK:
        return status
    status = factor_if_stale(w, t, work)
    if status != OK:
        return status
    n_v, n_rows = w.n_v, w.n_rows
    right, x = vector(w.right, n_v + n_rows), vector(w.solution, n_v + n_rows)
    force, gamma = vector(w.force, n_v), vector(w.gamma, n_rows)
    for k in range(n_v):
        right[k] = force[k]
    for k in range(n_rows):
        right[n_v + k] = gamma[k]
    status = call(w.solve, t, work, w.factor, w.entries)
    if status == OK and w.n_reactive > 0:
        status = call(w.settle, t, work, 0, 0)
    if status == OK and n == REACTIONS and w.n_reactive == 0 and factorization(w.factor).left_out > 0:
        status = call(w.share, t, work, w.factor, w.entries)
    if status != OK:
        return status
    acceleration, multipliers = part(w.rates, w.n_q, n_v), vector(w.multipliers, n_rows)
    total = 0.0
    for k in range(n_v):
        acceleration[k] = x[k]
        total += abs(x[k])
    for k in range(n_rows):
        multipliers[k] = x[n_v + k]
    if not total < np.inf:
        for k in range(n_v):
            if not abs(x[k]) < np.inf:
                w.culprit = k
                return NOT_FINITE
    return OK


@inner
def drive(w, multipliers, drift, rates):
    """Power of the elements that prescribe motions, among the rates of z: lambda . dC/dt, with dC/dt in `drift`.

    It is the power -J^T lambda . v of the constraint forces where C' = J v + dC/dt = 0. What they do while C' differs
    from zero is no work of an element, but an error of the solution.
    """
    drives = records(w.drives, w.n_drives, DRIVE)
    for k in range(w.n_drives):
        rates[drives[k].z] = 0.0
    for k in range(w.n_drives):
        d = drives[k]
        for row in range(d.row, d.row + d.n):
            rates[d.z] += multipliers[row] * drift[row]


@Stage
def accelerate_and_drive(t, work, data, n):
    """v' and the multipliers by the strategy in use, then the power of drives."""
    w = workspace(work)
    status = call(w.own_accelerate, t, work, data, n)
    if status == OK:
        rates = part(w.rates, w.n_q + w.n_v, w.n_z)
        drive(w, vector(w.multipliers, w.n_rows), vector(w.drift, w.n_rows), rates)
    return status


CORRECTION = np.dtype(
    [
        ("tolerance", "f8"),
        ("limit", "i8"),
        ("prepare", "i8"),  # stage that takes up the J of the last evaluation; n is the number of rows that count
        ("remove", "i8"),  # stage that turns the violations in `right` into the change `solution`
        ("data", "i8"),  # record of both
        ("shares", "i8"),  # 1: changes are least in the norm of M, and so may be those that spread a gap
        ("valid", "i8"),  # 1: prepared before, for this or a neighbouring state
        ("size", "f8"),  # largest marker coordinate of a corrected state, up to a factor of two
    ],
    align=True,
)

ROUNDING = 16 * np.finfo(np.float64).eps
JUMP = 10.0  # by which factor a model may grow in one step
STAGNANT = 0.9  # a velocity correction that leaves more than this of the violation cannot remove it
SLOW = 0.2  # a chord iteration that gains less than this per turn gets new factors
GAIN = 0.5  # what a correction must leave at most if it is to go on below the size of rounding
LARGEST_GAP = 2.5e-8  # of the model's size: a point 1e-8 beside its axis is off by up to twice that as it turns


@inner
def norm(values, n):
    s = 0.0
    for k in range(n):
        s += values[k] * values[k]
    return np.sqrt(s)


@inner
def extent(w):
    """The largest coordinate of a marker, global or on its body, at least 1: their difference is where the body is.

    An angle over turns, of which no difference is taken, counts by an eighth.
    """
    markers = records(w.markers, w.n_markers, MARKER)
    x = max(1.0, 0.125 * farthest(w, vector(w.y, w.n_y)))
    y = z = 0.0  # three at a time: none waits for the one before
    for m in range(w.n_markers):
        a, b = markers[m].position, markers[m].point
        x, y, z = max(x, abs(a[0])), max(y, abs(a[1])), max(z, abs(a[2]))
        x, y, z = max(x, abs(b[0])), max(y, abs(b[1])), max(z, abs(b[2]))
    return max(x, y, z)


@inner
def fastest(w):
    """The largest component of the velocity of a marker, or of all velocities, at least 1."""
    markers = records(w.markers, w.n_markers, MARKER)
    x = max(1.0, norm(part(w.y, w.n_q, w.n_v), w.n_v))
    y = z = 0.0
    for m in range(w.n_markers):
        a = markers[m].velocity
        x, y, z = max(x, abs(a[0])), max(y, abs(a[1])), max(z, abs(a[2]))
    return max(x, y, z)


@inner
def largest_row(values, n):
    worst = 0
    for k in range(n):
        if not abs(values[k]) <= abs(values[worst]):
            worst = k
    return worst


@inner
def misfit(w):
    """The largest C in units of the model's size, or of a radian."""
    residual, size = vector(w.residual, w.n_holonomic), vector(w.row_sizes, w.n_holonomic)
    largest = 0.0
    for k in range(w.n_holonomic):
        largest = max(largest, abs(residual[k]) / size[k])
    return largest


@inner
def keep_gap(w, c, t, work):
    """Keep a violation that no displacement removes if it lies between equations that depend on each other.

    It is noted and spread over all of them.
    """
    status = factor_if_stale(w, t, work)
    if status != OK:
        return status
    gap = misfit(w)
    if factorization(w.factor).left_out == 0 or not gap < np.inf:
        return NO_CONVERGENCE
    if gap > LARGEST_GAP:
        return MISFIT
    w.gap = max(w.gap, gap)
    if c.shares == 0:
        return OK
    status = call(w.spread, t, work, 0, w.entries)
    if status != OK:
        return status
    return displace(w, t, work)


@inner
def prepare(w, c, t, work, n):
    """Evaluate everything at the current state and take up J for a correction of the first n rows."""
    status = evaluate_if_stale(w, t, work)
    if status != OK:
        return status
    c.valid = 1
    return call(c.prepare, t, work, c.data, n)


@inner
def remove(w, c, t, work, values, n):
    """`solution` := the change that removes the violations `values` of the first n rows, to first order."""
    right = vector(w.right, w.n_v + w.n_rows)
    clear(right)
    for k in range(n):
        right[w.n_v + k] = -values[k]
    return call(c.remove, t, work, c.data, n)


@Stage
def correct(t, work, data, n):
    """Remove the violation of C = 0 by changes of q, then that of C' = 0 and D = 0 by changes of v.

    Which of the possible changes is made is a matter of the stages `prepare` and `remove`. The iteration starts with
    what was prepared for a neighbouring state; it is renewed when it is slow. The tables left behind belong to the
    corrected state: the next acceleration uses them again.

    `floor` is what rounding may leave. Below it nothing fails; a tolerance that is smaller still is approached as long
    as corrections gain.
    """
    w = workspace(work)
    c = record(data, CORRECTION)
    residual = vector(w.residual, w.n_holonomic)
    enough = floor = size = 0.0
    before = np.inf
    fresh = False
    if c.valid == 0:
        status = prepare(w, c, t, work, w.n_holonomic)
        if status != OK:
            return status
        fresh = True
    for turn in range(c.limit + 1):
        # One correction is enough as a rule: then everything is evaluated in the place that it leads to.
        status = call(w.evaluate, t, work, 0, POSITION if turn == 0 else DYNAMICS)
        if status != OK:
            return status
        now = norm(residual, w.n_holonomic)
        if turn == 0:
            # Whatever exceeds rounding is corrected at least once, so that small violations do not add up to the
            # tolerance. A state that jumped away must not bring a rounding of its own size along.
            size = extent(w)
            if c.size > 0.0:
                size = min(size, JUMP * c.size)
            floor = ROUNDING * size * np.sqrt(1.0 + w.n_holonomic)
            enough = min(floor, c.tolerance)
        if now <= enough or (now <= floor and (turn == c.limit or not now < GAIN * before) and turn > 0):
            break
        enough = c.tolerance
        if turn == c.limit or not now < np.inf or (fresh and not now < STAGNANT * before):
            w.culprit = largest_row(residual, w.n_holonomic)
            status = NO_CONVERGENCE
            if now < np.inf:
                status = keep_gap(w, c, t, work)
            if status == OK:
                break
            if (status != NO_CONVERGENCE and status != MISFIT) or turn == c.limit or not now < before:
                return status
        if not now < SLOW * before and not fresh:
            status = prepare(w, c, t, work, w.n_holonomic)
            if status != OK:
                return status
            fresh = True
        elif fresh:
            fresh = False  # Newton's method from here on: prepared anew when this becomes slow
        before = now
        status = remove(w, c, t, work, residual, w.n_holonomic)
        if status == OK:
            status = displace(w, t, work)
        if status != OK:
            return status
    status = prepare(w, c, t, work, w.n_rows)
    if status != OK:
        return status
    if not 0.5 * c.size < size < 2.0 * c.size:
        c.size = extent(w)
    rate, v = vector(w.constraint_rate, w.n_rows), part(w.y, w.n_q, w.n_v)
    floor = ROUNDING * fastest(w) * np.sqrt(1.0 + w.n_rows)
    enough = min(floor, c.tolerance)
    before = np.inf
    for _ in range(c.limit):
        now = norm(rate, w.n_rows)
        if now <= enough or (now <= floor and before < np.inf and not now < GAIN * before):
            return OK
        if factorization(w.factor).dependent != 0 and not now < STAGNANT * before:
            return OK  # what is left lies where constraints depend on each other: no velocities change it
        before = now
        enough = c.tolerance
        status = remove(w, c, t, work, rate, w.n_rows)
        if status != OK:
            return status
        x = vector(w.solution, w.n_v)
        for k in range(w.n_v):
            v[k] += x[k]
        status = call(w.evaluate, t, work, 0, DYNAMICS)  # the next acceleration uses it again
        if status != OK:
            return status
    if norm(rate, w.n_rows) <= max(enough, floor):
        return OK
    w.culprit = largest_row(rate, w.n_rows)
    return NO_CONVERGENCE


WEIGHTED = np.dtype(
    [
        ("factor", "i8"),  # factorization used for the correction: the system's own, or one with other weights
        ("entries", "i8"),
        ("n_mass", "i8"),  # leading entries that belong to the weights
    ],
    align=True,
)


@Stage
def factor_weighted(t, work, data, n):
    """Factors of [W J^T; J 0]; with the mass matrix for W those of the system, which the next acceleration uses."""
    w = workspace(work)
    c = record(data, WEIGHTED)
    if c.factor == w.factor:
        return factor_if_stale(w, t, work)
    own, entries = vector(c.entries, w.n_entries), vector(w.entries, w.n_entries)
    if c.entries != w.entries:
        for k in range(c.n_mass, w.n_entries):
            own[k] = entries[k]
    return call(w.factorize, t, work, c.factor, c.entries)


@Stage
def change_least(t, work, data, n):
    """The least change in the norm of W: -W^-1 J^T (J W^-1 J^T)^-1 times the violations."""
    w = workspace(work)
    c = record(data, WEIGHTED)
    return call(w.solve, t, work, c.factor, c.entries)


@Stage
def no_correction(t, work, data, n):
    """Leave the state as it is."""
    return OK
