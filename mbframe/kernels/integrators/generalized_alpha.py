"""The generalized-alpha step on the constraints."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import part, record, vector
from ..stages.dynamics import drive
from ..workspace import DYNAMICS, NO_STEP, OK, OWN_STATE, state_changed, workspace
from .implicit import (
    add_residual,
    begin,
    factor,
    flow,
    largest,
    newton,
    substitute,
    take_tangent,
)
from .schedule import fixed_end, prepare, within

GENERALIZED_ALPHA = np.dtype(
    [
        ("newton", "i8"),
        ("alpha_m", "f8"),
        ("alpha_f", "f8"),
        ("beta", "f8"),
        ("gamma", "f8"),
        ("velocity_level", "i8"),  # 1: constraints hold at the level of velocities too
        ("t_start", "f8"),
        ("dt", "f8"),
        ("h_max", "f8"),
        ("schedule", "i8"),  # what a step must not pass; 0: there is nothing
        ("stop", "f8"),  # where this step may lead at most
        ("started", "i8"),
        ("y0", "i8"),
        ("z_rate", "i8"),  # at the begin of the step
        ("a", "i8"),  # algorithmic acceleration
        ("v_rate", "i8"),
        ("multipliers", "i8"),
        ("v_rate_before", "i8"),
        ("d", "i8"),  # displacement of the step
        ("scratch", "i8"),  # n_q
        ("numbers", "i8"),  # factors
        ("right", "i8"),
        ("second", "i8"),
        ("permuted", "i8"),
    ],
    align=True,
)

LIMIT = 25
ACCURACY = 1e-10  # of the displacement of a step, relative
ROUNDING = 64 * np.finfo(np.float64).eps
SLOW = 0.1  # an iteration that gains less than this per turn gets a new matrix


@inner
def predict(w, g, h, y0, z_rate, a, v_rate, before, d):
    """Start of the iteration: v' stays as it is."""
    v0, v, z = y0[w.n_q : w.n_q + w.n_v], part(w.y, w.n_q, w.n_v), part(w.y, w.n_q + w.n_v, w.n_z)
    for k in range(w.n_v):
        before[k] = v_rate[k]
        after = (v_rate[k] - g.alpha_m * a[k]) / (1.0 - g.alpha_m)
        d[k] = h * v0[k] + h * h * ((0.5 - g.beta) * a[k] + g.beta * after)
        v[k] = v0[k] + h * ((1.0 - g.gamma) * a[k] + g.gamma * after)
    for k in range(w.n_z):
        z[k] = y0[w.n_q + w.n_v + k] + h * z_rate[k]


@inner
def integrate_own_states(w, h, y0, z_rate):
    """z by the trapezoidal rule with the rates of the last evaluation; returns whether it has settled.

    The last one that has not is the culprit.
    """
    first = w.n_q + w.n_v
    z, rate = part(w.y, first, w.n_z), part(w.rates, first, w.n_z)
    settled = True
    for k in range(w.n_z):
        value = y0[first + k] + 0.5 * h * (z_rate[k] + rate[k])
        near = abs(value - z[k]) <= ACCURACY * (abs(value) + h * (abs(rate[k]) + abs(z_rate[k])) + h)
        if not near and k < w.n_z - w.n_followers:
            settled = False
            w.culprit = k
        z[k] = value
    return settled


@inner
def solve_step(w, g, m, t, t1, work):
    """Newton's method for the state at t1."""
    n_v, n_q, h, at = w.n_v, w.n_q, t1 - t, within(w, t1)
    y0, z_rate = vector(g.y0, w.n_y), vector(g.z_rate, w.n_z)
    a, v_rate, multipliers = vector(g.a, n_v), vector(g.v_rate, n_v), vector(g.multipliers, w.n_rows)
    before, d, v = vector(g.v_rate_before, n_v), vector(g.d, n_v), part(w.y, n_q, n_v)
    numbers, scratch = vector(g.numbers, m.n + 2 * m.n_lower), vector(g.scratch, n_q)
    right, second, permuted = vector(g.right, m.n), vector(g.second, m.n), vector(g.permuted, m.n)
    residual, rate = vector(w.residual, w.n_holonomic), vector(w.constraint_rate, w.n_rows)
    predict(w, g, h, y0, z_rate, a, v_rate, before, d)
    inertia = (1.0 - g.alpha_m) / (1.0 - g.alpha_f)
    scale, lag = g.beta * h * h, g.beta * h / g.gamma
    change_before, gain, fresh, settled = np.inf, np.inf, False, True
    for turn in range(LIMIT):
        status = flow(w, m, t1, work, y0[:n_q], d, scratch)
        if status == OK:
            status = call(w.evaluate, at, work, 0, DYNAMICS)
        if status != OK:
            return status
        if turn == 0 or not (fresh or gain < SLOW):
            status = take_tangent(w, m, at, work, v_rate, multipliers)
            if status == OK:
                status = factor(w, m, numbers, inertia, g.gamma * h, scale)
            if status != OK:
                return status
            fresh = True
        else:
            fresh = False
        for k in range(m.n):
            right[k] = 0.0
            second[k] = 0.0
        add_residual(w, m, -scale, v_rate, multipliers, right)
        for k in range(w.n_rows):
            if k < w.n_holonomic and g.velocity_level == 0:
                right[n_v + k] = -residual[k]
            else:
                right[n_v + k] = -lag * rate[k]
            if k < w.n_holonomic and g.velocity_level != 0:
                second[n_v + k] = lag * rate[k] - residual[k]
        substitute(m, numbers, right, permuted)
        if g.velocity_level != 0:
            substitute(m, numbers, second, permuted)
        change = 0.0
        for k in range(n_v):
            if not abs(right[k]) + abs(second[k]) < np.inf:  # the largest would not show what is not a number
                return NO_STEP
            change = max(change, abs(right[k]) + abs(second[k]))
        for k in range(n_v):
            d[k] += right[k] + second[k]
            v[k] += right[k] / lag
            v_rate[k] += inertia / scale * right[k]
        for k in range(w.n_rows):
            multipliers[k] += right[n_v + k] / scale
        if w.n_drives > 0:
            drive(w, multipliers, vector(w.drift, w.n_rows), part(w.rates, n_q + n_v, w.n_z))
        settled = integrate_own_states(w, h, y0, z_rate)
        gain = change / change_before
        speed = max(largest(v, n_v), h * largest(v_rate, n_v))
        enough = max(ACCURACY * h * speed, ROUNDING * largest(y0, n_q))
        if settled and (change <= 0.1 * enough or (turn > 0 and gain < 1.0 and change * gain <= enough * (1.0 - gain))):
            return flow(w, m, t1, work, y0[:n_q], d, scratch)
        change_before = change
    return NO_STEP if settled else OWN_STATE


@Stage
def generalized_alpha(t, work, data, n):
    """One step from (w.t, w.y)."""
    w = workspace(work)
    g = record(data, GENERALIZED_ALPHA)
    m = newton(g.newton)
    y, y0, rates = vector(w.y, w.n_y), vector(g.y0, w.n_y), vector(w.rates, w.n_y)
    a, v_rate, multipliers = vector(g.a, w.n_v), vector(g.v_rate, w.n_v), vector(g.multipliers, w.n_rows)
    before, z_rate = vector(g.v_rate_before, w.n_v), vector(g.z_rate, w.n_z)
    _, restart = prepare(w, g, t)
    status = begin(w, m, within(w, t), work)
    if status != OK:
        return status
    for k in range(w.n_y):
        y0[k] = y[k]
    for k in range(w.n_z):
        z_rate[k] = rates[w.n_q + w.n_v + k]
    if g.started == 0 or restart:
        now = vector(w.multipliers, w.n_rows)
        for k in range(w.n_v):
            a[k] = v_rate[k] = rates[w.n_q + k]
        for k in range(w.n_rows):
            multipliers[k] = now[k]
        g.started = 1
    t1, whole = fixed_end(w, g)
    status = solve_step(w, g, m, t, t1, work)
    if status != OK:
        w.t = within(w, t1)  # where the forces were asked for, to find the one at fault
        return status
    for k in range(w.n_v):
        a[k] = ((1.0 - g.alpha_f) * v_rate[k] + g.alpha_f * before[k] - g.alpha_m * a[k]) / (1.0 - g.alpha_m)
    state_changed(w)
    w.t = t1
    w.steps += whole
    return OK
