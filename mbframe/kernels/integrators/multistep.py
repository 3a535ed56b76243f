"""Adams-Bashforth steps with a Runge-Kutta starter."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage
from ..compiler.memory import matrix, record, vector
from ..workspace import OK, state_changed, workspace
from .runge_kutta import combine, derivative
from .schedule import SAME, fixed_end, prepare, within

ADAMS_BASHFORTH = np.dtype(
    [
        ("order", "i8"),
        ("weights", "i8"),  # order x order: of the derivatives, newest first, in powers of theta
        ("history", "i8"),  # order x n_y: derivatives where the last steps began, as a ring
        ("newest", "i8"),  # row of the ring
        ("known", "i8"),  # how many there are
        ("stages", "i8"),  # of the starter
        ("a", "i8"),
        ("b", "i8"),
        ("c", "i8"),
        ("k", "i8"),  # stages x n_y
        ("y0", "i8"),  # where the last step began
        ("t0", "f8"),
        ("dt", "f8"),
        ("t_start", "f8"),
        ("h_max", "f8"),
        ("schedule", "i8"),  # what a step must not pass; 0: there is nothing
        ("stop", "f8"),  # where this step may lead at most
    ],
    align=True,
)


@inner
def start(w, r, t, work):
    """w.y at time t by one step of the Runge-Kutta starter from (r.t0, y0)."""
    a, b, c = matrix(r.a, r.stages, r.stages), vector(r.b, r.stages), vector(r.c, r.stages)
    k, history = matrix(r.k, r.stages, w.n_y), matrix(r.history, r.order, w.n_y)
    y, y0 = vector(w.y, w.n_y), vector(r.y0, w.n_y)
    h = t - r.t0
    for i in range(w.n_y):
        k[0, i] = history[r.newest, i]
    for s in range(1, r.stages):
        combine(y, y0, h, a[s], k, s, w.n_y)
        state_changed(w)
        status = derivative(w, within(w, r.t0 + c[s] * h), work, k[s])
        if status != OK:
            return status
    combine(y, y0, h, b, k, r.stages, w.n_y)
    return OK


@inner
def extrapolate(w, r, t):
    """w.y at time t from the integral of the polynomial through the derivatives: y0 + dt sum_j beta_j(theta) f_j."""
    weights, history = matrix(r.weights, r.order, r.order), matrix(r.history, r.order, w.n_y)
    y, y0 = vector(w.y, w.n_y), vector(r.y0, w.n_y)
    theta = (t - r.t0) / r.dt
    for i in range(w.n_y):
        y[i] = y0[i]
    for j in range(r.order):
        beta = 0.0
        for power in range(r.order):
            beta = theta * (beta + weights[j, r.order - 1 - power])
        row = (r.newest - j) % r.order
        for i in range(w.n_y):
            y[i] += r.dt * beta * history[row, i]


@inner
def reach(w, r, t, work):
    """w.y at time t in the current step: by the starter as long as derivatives are missing."""
    status = OK
    if r.known < r.order:
        status = start(w, r, t, work)
    else:
        extrapolate(w, r, t)
    state_changed(w)
    return status


@Stage
def adams_bashforth(t, work, data, n):
    """One step from (w.t, w.y); the derivative is taken there, after the correction, and joins the history."""
    w = workspace(work)
    r = record(data, ADAMS_BASHFORTH)
    history, y, y0 = matrix(r.history, r.order, w.n_y), vector(w.y, w.n_y), vector(r.y0, w.n_y)
    _, restart = prepare(w, r, t)
    if restart or abs(t - r.t0 - r.dt) > SAME * r.dt:  # the derivatives before a break, or at other distances
        r.known = 0
    r.t0 = t
    r.newest = (r.newest + 1) % r.order
    r.known = min(r.known + 1, r.order)
    for i in range(w.n_y):
        y0[i] = y[i]
    status = derivative(w, within(w, t), work, history[r.newest])
    if status != OK:
        return status
    t1, whole = fixed_end(w, r)
    status = reach(w, r, t1, work)
    if status == OK:
        w.t = t1
        w.steps += whole
    return status


@Stage
def interpolate_adams_bashforth(t, work, data, n):
    """w.y at time t inside the last step."""
    w = workspace(work)
    status = reach(w, record(data, ADAMS_BASHFORTH), t, work)
    w.t = t
    return status
