"""Accelerations by penalties and by the augmented Lagrangian method.

A penalty alpha on the violation of J v' = g, with g = gamma - 2 omega mu (C', D) - omega^2 C, means
lambda = alpha (J v' - g):

    [ M   J^T        ] [ v'     ]   [ Q ]
    [ J   -alpha^-1  ] [ lambda ] = [ g ]

which is (M + J^T alpha J) v' = Q + J^T alpha g in a form that stays well conditioned for large alpha and sparse.
The augmented Lagrangian method repeats it with g - alpha^-1 lambda for g, until v' no longer changes.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import clear, indices, part, record, vector
from ..linear_algebra.bodywise import row_weight
from ..workspace import NOT_FINITE, OK, factorization, workspace
from .dynamics import settle_forces

PENALTY = np.dtype(
    [
        ("alpha", "i8"),  # of each row, in units of 1 / diag(J M^-1 J^T)
        ("rate_gain", "i8"),  # 2 omega mu of each row
        ("position_gain", "i8"),  # omega^2
        ("tolerance", "f8"),  # of the changes of v', relative to v'
        ("limit", "i8"),  # iterations; 1 for the penalty method
        ("factor", "i8"),
        ("ready", "i8"),  # 1: the penalties of the rows are known; they stay as they are for the run
        ("target", "i8"),  # g
    ],
    align=True,
)

STEADY = 0.5  # a change that falls less than that in a repetition has reached rounding, or has no limit


@inner
def set_target(w, p):
    """target := gamma - 2 omega mu (C', D) - omega^2 C."""
    residual, rate = vector(w.residual, w.n_holonomic), vector(w.constraint_rate, w.n_rows)
    gamma, target = vector(w.gamma, w.n_rows), vector(p.target, w.n_rows)
    rate_gain, position_gain = vector(p.rate_gain, w.n_rows), vector(p.position_gain, w.n_rows)
    for k in range(w.n_rows):
        target[k] = gamma[k] - rate_gain[k] * rate[k]
    for k in range(w.n_holonomic):
        target[k] -= position_gain[k] * residual[k]


@inner
def set_penalties(w, p):
    """-1/alpha on the diagonal of the multipliers, with the weights of the rows at hand."""
    f, alpha = factorization(p.factor), vector(p.alpha, w.n_rows)
    weight, order = vector(f.weight, f.n), indices(f.order, f.n)
    for k in range(f.n):
        row = np.int64(order[k]) - w.n_v
        if row >= 0:
            weight[k] = row_weight(w, row) / alpha[row]
    f.regularized = p.ready = 1


@Stage
def accelerate_by_penalties(t, work, data, n):
    """v' and the multipliers by penalties, repeated up to the limit."""
    w = workspace(work)
    p = record(data, PENALTY)
    status = settle_forces(w, t, work)
    if status == OK and p.ready == 0:
        status = call(w.weigh, t, work, w.bodywise, 0)
        if status == OK:
            set_penalties(w, p)
    if status == OK:
        status = call(w.factorize, t, work, p.factor, w.entries)
    if status != OK:
        return status
    set_target(w, p)
    f = factorization(p.factor)
    weight, order = vector(f.weight, f.n), indices(f.order, f.n)
    right, x, force = vector(w.right, f.n), vector(w.solution, f.n), vector(w.force, w.n_v)
    acceleration, multipliers = part(w.rates, w.n_q, w.n_v), vector(w.multipliers, w.n_rows)
    target = vector(p.target, w.n_rows)
    clear(multipliers)
    before = np.inf
    for turn in range(p.limit):
        for k in range(f.n):
            unknown = np.int64(order[k])
            if unknown < w.n_v:
                right[unknown] = force[unknown]
            else:
                row = unknown - w.n_v
                right[unknown] = target[row] - weight[k] * multipliers[row]
        status = call(w.solve, t, work, p.factor, w.entries)
        if status != OK:
            return status
        change = size = 0.0
        for k in range(w.n_v):
            change = max(change, abs(x[k] - acceleration[k]))
            size = max(size, abs(x[k]))
            acceleration[k] = x[k]
        for k in range(w.n_rows):
            multipliers[k] = x[w.n_v + k]
        if not size < np.inf:
            w.culprit = 0
            return NOT_FINITE
        # Off the constraints, dependent rows ask for accelerations that contradict each other, and v' keeps changing.
        if turn > 0 and (change <= p.tolerance * size or not change < STEADY * before):
            break
        before = change if turn > 0 else np.inf
    return OK


PENALIZED = np.dtype([("alpha", "i8"), ("factor", "i8"), ("ready", "i8")], align=True)


@Stage
def factor_penalized(t, work, data, n):
    """Take up J for changes by penalties."""
    w = workspace(work)
    p = record(data, PENALIZED)
    if p.ready == 0:
        status = call(w.weigh, t, work, w.bodywise, 0)
        if status != OK:
            return status
        set_penalties(w, p)
    return call(w.factorize, t, work, p.factor, w.entries)


@Stage
def change_by_penalties(t, work, data, n):
    """The change d with (M + J^T alpha J) d = -J^T alpha times the violations."""
    p = record(data, PENALIZED)
    w = workspace(work)
    return call(w.solve, t, work, p.factor, w.entries)
