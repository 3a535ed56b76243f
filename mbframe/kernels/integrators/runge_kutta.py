"""Explicit Runge-Kutta steps from a tableau, fixed or adaptive, with dense output."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import matrix, record, vector
from ..workspace import MOTION, OK, STEP_TOO_SMALL, USER_METHOD, factorization, state_changed, workspace
from .schedule import fixed_end, note_begin, passed, prepare, within

RUNGE_KUTTA = np.dtype(
    [
        ("stages", "i8"),
        ("extra", "i8"),  # further stages, evaluated only for dense output
        ("degree", "i8"),  # of the dense output polynomial
        ("a", "i8"),  # (stages + extra) x (stages + extra)
        ("b", "i8"),
        ("c", "i8"),
        ("error", "i8"),  # 2 x stages: main and auxiliary error weights
        ("dense", "i8"),  # (stages + extra) x degree
        ("k", "i8"),  # (stages + extra) x n_y: the derivatives of this step
        ("y0", "i8"),
        ("t_start", "f8"),
        ("t0", "f8"),
        ("h", "f8"),  # of the last accepted step
        ("dt", "f8"),  # of a fixed step
        ("h_next", "f8"),  # of an adaptive one
        ("h_max", "f8"),
        ("schedule", "i8"),  # what a step must not pass; 0: there is nothing
        ("stop", "f8"),  # where this step may lead at most
        ("adaptive", "i8"),
        ("exponent", "f8"),  # -1 / (order of the error estimate + 1)
        ("rtol", "f8"),
        ("atol", "f8"),
        ("dense_ready", "i8"),
    ],
    align=True,
)

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
SMALLEST = 16 * np.finfo(np.float64).eps


@inner
def combine(y, y0, h, weights, k, count, n):
    """y := y0 + h sum_j weights[j] k[j] over the first `count` derivatives."""
    for c in range(n):
        y[c] = y0[c]
    for j in range(count):
        weight = h * weights[j]
        if weight != 0.0:
            for c in range(n):
                y[c] += weight * k[j, c]


@inner
def derivative(w, t, work, out):
    status = call(w.accelerate, t, work, w.accelerate_data, MOTION)
    if status == OK:
        rates = vector(w.rates, w.n_y)
        for c in range(w.n_y):
            out[c] = rates[c]
    return status


@inner
def error_norm(r, n, error, k, y0, y1, h):
    """Root mean square of the weighted error of the first n components.

    With two estimates it is their combination after Hairer, Norsett, Wanner.
    """
    main = auxiliary = 0.0
    for c in range(n):
        scale = r.atol + r.rtol * max(abs(y0[c]), abs(y1[c]))
        e = f = 0.0
        for s in range(r.stages):
            e += error[0, s] * k[s, c]
            f += error[1, s] * k[s, c]
        main += (e / scale) ** 2
        auxiliary += (f / scale) ** 2
    if main == 0.0:
        return 0.0
    return abs(h) * main / np.sqrt((main + 0.01 * auxiliary) * n)


@inner
def first_step(w, r, work, y, y0, k):
    """Starting step size (Hairer, Norsett, Wanner, Solving ODE I, II.4): from the size of y' and of its change."""
    n = w.n_y - w.n_followers
    d0 = d1 = 0.0
    for c in range(n):
        scale = r.atol + r.rtol * abs(y0[c])
        d0 += (y0[c] / scale) ** 2
        d1 += (k[0, c] / scale) ** 2
    d0, d1 = np.sqrt(d0 / n), np.sqrt(d1 / n)
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h0 = min(h0, r.stop - r.t0)
    for c in range(w.n_y):
        y[c] = y0[c] + h0 * k[0, c]
    state_changed(w)
    status = derivative(w, within(w, r.t0 + h0), work, k[1])
    if status != OK:
        return status
    d2 = 0.0
    for c in range(n):
        scale = r.atol + r.rtol * abs(y0[c])
        d2 += ((k[1, c] - k[0, c]) / scale) ** 2
    d2 = np.sqrt(d2 / n) / h0
    largest = max(d1, d2)
    h1 = max(1e-6, h0 * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (-r.exponent)
    r.h_next = min(100.0 * h0, h1)
    return OK


@Stage
def runge_kutta(t, work, data, n):
    """One accepted step of an explicit Runge-Kutta method from (w.t, w.y); the error is estimated before any
    correction.
    """
    w = workspace(work)
    r = record(data, RUNGE_KUTTA)
    total = r.stages + r.extra
    a, b, c = matrix(r.a, total, total), vector(r.b, r.stages), vector(r.c, total)
    error = matrix(r.error, 2, r.stages)
    k, y, y0 = matrix(r.k, total, w.n_y), vector(w.y, w.n_y), vector(r.y0, w.n_y)
    r.t0 = t
    r.dense_ready = 0
    for i in range(w.n_y):
        y0[i] = y[i]
    longest, restart = prepare(w, r, t)
    status = derivative(w, within(w, t), work, k[0])
    if status != OK:
        return status
    dependent = factorization(w.factor).dependent  # by accepted states: those of trials may be anything
    whole = True
    if r.adaptive == 0:
        t1, whole = fixed_end(w, r)
        r.h = t1 - t
    else:
        longest = note_begin(r, longest)
        if r.h_next == 0.0 or restart:
            status = first_step(w, r, work, y, y0, k)
            if status != OK:
                return status
            factorization(w.factor).dependent = dependent
    rejected = False
    while True:
        if r.adaptive != 0:
            wanted = r.h_next
            r.h = min(r.h_next, longest, r.stop - t)
            if 2.0 * r.h > r.stop - t > r.h * (1.0 + 1e-6):
                r.h = 0.5 * (r.stop - t)  # two equal steps to the end rather than a step and a splinter
            if r.h <= SMALLEST * max(abs(t), SMALLEST) and r.h < r.stop - t:
                return STEP_TOO_SMALL
            t1 = r.stop if r.h >= r.stop - t else t + r.h
        for s in range(1, r.stages):
            combine(y, y0, r.h, a[s], k, s, w.n_y)
            state_changed(w)
            status = derivative(w, within(w, t + c[s] * r.h), work, k[s])
            if status != OK:
                break
        if status == OK:
            combine(y, y0, r.h, b, k, r.stages, w.n_y)
        state_changed(w)
        if r.adaptive == 0:
            break
        size = error_norm(r, w.n_y - w.n_followers, error, k, y0, y, r.h) if status == OK else np.inf
        if size < 1.0:
            status, share = passed(w, r, t1, r.h, work)
            if status == OK and share <= 1.0:
                growth = GROW if size == 0.0 else min(GROW, SAFETY * size**r.exponent)
                if rejected:
                    growth = min(1.0, growth)
                r.h_next = r.h * growth
                if t1 == r.stop and not rejected:
                    r.h_next = max(r.h_next, wanted)  # it was a break that made this step short
                break
            # An argument that went too far shrinks the step in proportion.
            size = share ** (-1.0 / r.exponent) if status == OK else np.inf
        if status < 0 or status == USER_METHOD:  # a user's code raised: not a matter of step size
            return status
        rejected = True
        w.rejected += 1
        factorization(w.factor).dependent = dependent
        # A trial state that cannot be evaluated is far outside: shrink at most; otherwise as the error says.
        r.h_next = r.h * (max(SHRINK, SAFETY * size**r.exponent) if size < np.inf else SHRINK)
        if status != OK and r.h_next <= SMALLEST * max(abs(t), SMALLEST):
            return status
        status = OK
    if status == OK:
        w.t = t1
        w.steps += whole
    return status


@Stage
def interpolate_runge_kutta(t, work, data, n):
    """w.y at time t inside the last step: y0 + h sum_i k_i sum_j dense[i, j] theta^(j + 1)."""
    w = workspace(work)
    r = record(data, RUNGE_KUTTA)
    total = r.stages + r.extra
    a, c, dense = matrix(r.a, total, total), vector(r.c, total), matrix(r.dense, total, r.degree)
    k, y, y0 = matrix(r.k, total, w.n_y), vector(w.y, w.n_y), vector(r.y0, w.n_y)
    if r.dense_ready == 0:
        for s in range(r.stages, total):
            combine(y, y0, r.h, a[s], k, s, w.n_y)
            state_changed(w)
            status = derivative(w, within(w, r.t0 + c[s] * r.h), work, k[s])
            if status != OK:
                return status
        r.dense_ready = 1
    state_changed(w)
    theta = (t - r.t0) / r.h
    for i in range(w.n_y):
        y[i] = y0[i]
    for s in range(total):
        weight = 0.0
        for j in range(r.degree):
            weight = theta * (weight + dense[s, r.degree - 1 - j])
        weight *= r.h
        if weight != 0.0:
            for i in range(w.n_y):
                y[i] += weight * k[s, i]
    w.t = t
    return OK
