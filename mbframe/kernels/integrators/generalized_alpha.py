"""The generalized-alpha step on the constraints; own states of elements are treated as velocities with the mass 1."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import clear, part, record, vector
from ..stages.dynamics import drive
from ..workspace import DYNAMICS, NO_STEP, OK, OWN_STATE, state_changed, workspace
from .implicit import (
    add_reactive,
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
        ("a", "i8"),  # algorithmic accelerations: of v, then of own states
        ("v_rate", "i8"),
        ("multipliers", "i8"),
        ("v_rate_before", "i8"),
        ("d", "i8"),  # displacement of the step
        ("last", "i8"),  # change of the last iteration
        ("scratch", "i8"),  # n_q
        ("numbers", "i8"),  # factors
        ("right", "i8"),
        ("second", "i8"),
        ("permuted", "i8"),
    ],
    align=True,
)

LIMIT = 40
ACCURACY = 1e-10  # of the displacement of a step, relative
OWN_ACCURACY = 1e-10  # of an own state, relative, and per second
ROUNDING = 64 * np.finfo(np.float64).eps
BACK = 0.5  # a change that goes back by more than this part of the one before oversteps, as where a force saturates
SHORTEST, LONGER = 1e-4, 1.5  # part of changes that is taken then, at least, and by what factor it grows again
SLOW = 0.1  # an iteration that gains less than this per turn gets a new matrix


@inner
def predict(w, g, n_moving, h, y0, z_rate, a, v_rate, before, d):
    """Start of the iteration: v' and z' stay as they are."""
    v0, v = y0[w.n_q : w.n_q + n_moving], part(w.y, w.n_q, n_moving)
    for k in range(n_moving):
        before[k] = v_rate[k]
        after = (v_rate[k] - g.alpha_m * a[k]) / (1.0 - g.alpha_m)
        if k < w.n_v:
            d[k] = h * v0[k] + h * h * ((0.5 - g.beta) * a[k] + g.beta * after)
        v[k] = v0[k] + h * ((1.0 - g.gamma) * a[k] + g.gamma * after)
    for k in range(w.n_q + n_moving, w.n_y):
        vector(w.y, w.n_y)[k] = y0[k] + h * z_rate[k - w.n_q - w.n_v]


@inner
def follow(w, n_own, h, y0, z_rate):
    """Followers by the trapezoidal rule with the rates of the last evaluation."""
    first = w.n_q + w.n_v
    z, rate = part(w.y, first, w.n_z), part(w.rates, first, w.n_z)
    for k in range(n_own, w.n_z):
        z[k] = y0[first + k] + 0.5 * h * (z_rate[k] + rate[k])


@inner
def own_states_settled(w, n_own, h, y0, lag, right):
    """Whether the last change of own states was small; the last one of which it was not is the culprit."""
    first = w.n_q + w.n_v
    z, rate = part(w.y, first, n_own), part(w.rates, first, n_own)
    settled = True
    for k in range(n_own):
        size = max(abs(z[k]), abs(y0[first + k]))
        if not abs(right[w.n_v + k]) <= lag * (OWN_ACCURACY * (size + h) + ROUNDING * h * abs(rate[k])):
            settled = False
            w.culprit = k
    return settled


@inner
def solve_step(w, g, m, t, t1, work):
    """Newton's method for the state at t1; where changes go to and fro, only parts of them are taken."""
    n_v, n_q, n_moving, h, at = w.n_v, w.n_q, m.n_moving, t1 - t, within(w, t1)
    y0, z_rate = vector(g.y0, w.n_y), vector(g.z_rate, w.n_z)
    a, v_rate, multipliers = vector(g.a, n_moving), vector(g.v_rate, n_moving), vector(g.multipliers, w.n_rows)
    before, d, v = vector(g.v_rate_before, n_moving), vector(g.d, n_v), part(w.y, n_q, n_moving)
    last = vector(g.last, n_v)
    clear(last)
    numbers, scratch = vector(g.numbers, m.n + 2 * m.n_lower), vector(g.scratch, n_q)
    right, second, permuted = vector(g.right, m.n), vector(g.second, m.n), vector(g.permuted, m.n)
    residual, rate = vector(w.residual, w.n_holonomic), vector(w.constraint_rate, w.n_rows)
    predict(w, g, n_moving, h, y0, z_rate, a, v_rate, before, d)
    inertia = (1.0 - g.alpha_m) / (1.0 - g.alpha_f)
    scale, lag = g.beta * h * h, g.beta * h / g.gamma
    change_before, gain, fresh, settled, part_taken = np.inf, np.inf, False, True, 1.0
    for turn in range(LIMIT):
        status = flow(w, m, t1, work, y0[:n_q], d, scratch)
        if status == OK:
            status = call(w.evaluate, at, work, 0, DYNAMICS)
        if status == OK:
            status = add_reactive(w, at, work, multipliers)
        if status != OK:
            return status
        if turn == 0 or part_taken < 1.0 or not (fresh or (settled and gain < SLOW)):
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
                right[n_moving + k] = -residual[k]
            else:
                right[n_moving + k] = -lag * rate[k]
            if k < w.n_holonomic and g.velocity_level != 0:
                second[n_moving + k] = lag * rate[k] - residual[k]
        substitute(m, numbers, right, permuted)
        if g.velocity_level != 0:
            substitute(m, numbers, second, permuted)
        change = 0.0
        for k in range(n_v):
            if not abs(right[k]) + abs(second[k]) < np.inf:  # the largest would not show what is not a number
                return NO_STEP
            change = max(change, abs(right[k]) + abs(second[k]))
        gain = change / change_before
        along = 0.0
        for k in range(n_v):
            along += right[k] * last[k]
            last[k] = right[k]
        part_taken = max(SHORTEST, 0.5 * part_taken) if along < 0.0 and gain > BACK else min(1.0, LONGER * part_taken)
        if part_taken < 1.0:
            for k in range(m.n):
                right[k] *= part_taken
                second[k] *= part_taken
        for k in range(n_v):
            d[k] += right[k] + second[k]
        for k in range(n_moving):
            v[k] += right[k] / lag
            v_rate[k] += inertia / scale * right[k]
        for k in range(w.n_rows):
            multipliers[k] += right[n_moving + k] / scale
        if w.n_drives > 0:
            drive(w, multipliers, vector(w.drift, w.n_rows), part(w.rates, n_q + n_v, w.n_z))
        follow(w, m.n_own, h, y0, z_rate)
        settled = own_states_settled(w, m.n_own, h, y0, part_taken * lag, right)
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
    a, v_rate, multipliers = vector(g.a, m.n_moving), vector(g.v_rate, m.n_moving), vector(g.multipliers, w.n_rows)
    before, z_rate = vector(g.v_rate_before, m.n_moving), vector(g.z_rate, w.n_z)
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
        for k in range(m.n_moving):
            a[k] = v_rate[k] = rates[w.n_q + k]
        for k in range(w.n_rows):
            multipliers[k] = now[k]
        g.started = 1
    t1, whole = fixed_end(w, g)
    status = solve_step(w, g, m, t, t1, work)
    if status != OK:
        w.t = within(w, t1)  # where the forces were asked for, to find the one at fault
        return status
    for k in range(m.n_moving):
        a[k] = ((1.0 - g.alpha_f) * v_rate[k] + g.alpha_f * before[k] - g.alpha_m * a[k]) / (1.0 - g.alpha_m)
    state_changed(w)
    w.t = t1
    w.steps += whole
    return OK
