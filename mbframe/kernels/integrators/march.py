"""The loop over time steps, resumable in chunks, and the evaluation of stored states."""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import integers, matrix, part, record, vector
from ..workspace import (
    DONE,
    FULL,
    MOTION,
    OK,
    OWN_STATE,
    POSITION,
    REACTIONS,
    VELOCITY,
    state_changed,
    workspace,
)
from .schedule import within

MARCH = np.dtype(
    [
        ("capacity", "i8"),
        ("stored", "i8"),
        ("times", "i8"),
        ("states", "i8"),  # capacity x n_y
        ("n_eval", "i8"),  # requested instants; 0: every accepted step is stored
        ("t_eval", "i8"),
        ("next_eval", "i8"),
        ("most_seen", "i8"),  # accepted steps that are kept in one call to be looked at, stored or not; 0: none
        ("seen", "i8"),
        ("seen_times", "i8"),
        ("seen_states", "i8"),  # most_seen x n_y
        ("t0", "f8"),  # the state before the last step, for events and Hermite interpolation
        ("y0", "i8"),
        ("y1", "i8"),
        ("rates0", "i8"),
        ("rates1", "i8"),
    ],
    align=True,
)


@inner
def store(w, m, t):
    """Append the current state to the output."""
    times, states, y = vector(m.times, m.capacity), matrix(m.states, m.capacity, w.n_y), vector(w.y, w.n_y)
    times[m.stored] = t
    for c in range(w.n_y):
        states[m.stored, c] = y[c]
    m.stored += 1


@inner
def see(w, m):
    """Keep the current state to be looked at, while there is room."""
    if m.seen < m.most_seen:
        times, states, y = (
            vector(m.seen_times, m.most_seen),
            matrix(m.seen_states, m.most_seen, w.n_y),
            vector(w.y, w.n_y),
        )
        times[m.seen] = w.t
        for c in range(w.n_y):
            states[m.seen, c] = y[c]
        m.seen += 1


@inner
def accept(w, work):
    """Let the elements with a memory note the accepted state."""
    status = call(w.evaluate, w.t, work, 0, POSITION)
    stages, tables = integers(w.accepts, w.n_accepts), integers(w.accept_tables, w.n_accepts)
    counts = integers(w.accept_counts, w.n_accepts)
    for s in range(w.n_accepts):
        if status == OK:
            status = call(stages[s], w.t, work, tables[s], counts[s])
    return status


@inner
def emit(w, m, work, closed):
    """Store the requested instants up to w.t, itself if `closed`; interpolated states are corrected like all others."""
    t_eval, y, y1 = vector(m.t_eval, m.n_eval), vector(w.y, w.n_y), vector(m.y1, w.n_y)
    t1 = w.t
    while m.next_eval < m.n_eval and (t_eval[m.next_eval] < t1 or (closed and t_eval[m.next_eval] == t1)):
        if m.stored == m.capacity:
            return FULL
        t = t_eval[m.next_eval]
        if t == t1:
            store(w, m, t)
        else:
            for c in range(w.n_y):
                y1[c] = y[c]
            status = call(w.interpolate, t, work, w.interpolate_data, 0)
            if status == OK:
                status = call(w.correct, t, work, w.correct_data, 0)
            if status == OK and w.n_accepts > 0:
                w.t = t
                status = accept(w, work)
            if status == OK:
                store(w, m, t)
            w.t = t1
            for c in range(w.n_y):
                y[c] = y1[c]
            state_changed(w)
            if status != OK:
                return status
        m.next_eval += 1
    return OK


@inner
def conclude(w, m, work):
    """Store the requested instants that the last step passed; at its end controllers may take a sample before."""
    status = OK
    if w.t >= w.next_sample:
        status = emit(w, m, work, False)
        if status == OK:
            status = call(w.sample, w.t, work, w.sampler, 0)
    if status == OK and m.n_eval > 0:
        status = emit(w, m, work, True)
    return status


@inner
def finite_states(w):
    """Whether the own states of elements are finite; accelerations need not depend on them."""
    z = part(w.y, w.n_q + w.n_v, w.n_z)
    for k in range(w.n_z - w.n_followers):
        if not abs(z[k]) < np.inf:
            w.culprit = k
            return OWN_STATE
    return OK


@Stage
def march(t, work, data, n):
    """At most n steps: step, correct, store. Returns OK (call again), FULL (empty the output first), DONE, or a
    failure.
    """
    w = workspace(work)
    m = record(data, MARCH)
    y, y0 = vector(w.y, w.n_y), vector(m.y0, w.n_y)
    status = conclude(w, m, work)
    if status != OK:
        return status
    for _ in range(n):
        if w.t >= w.t_end:
            return DONE
        if m.stored == m.capacity:
            return FULL
        m.t0, before = w.t, w.steps
        for c in range(w.n_y):
            y0[c] = y[c]
        status = call(w.step, w.t, work, w.step_data, 0)
        if status == OK:
            status = call(w.correct, w.t, work, w.correct_data, 0)
        if status == OK and w.n_accepts > 0:
            status = accept(w, work)
        if status == OK and w.n_z > w.n_followers:
            status = finite_states(w)
        if status != OK:
            return status
        see(w, m)
        status = conclude(w, m, work)
        if status != OK:
            return status
        if m.n_eval == 0 and w.steps > before:  # not the part of a fixed step up to a break
            store(w, m, w.t)
    return DONE if w.t >= w.t_end else OK


@Stage
def interpolate_hermite(t, work, data, n):
    """w.y at time t inside the last step by cubic Hermite interpolation: for integrators without dense output."""
    w = workspace(work)
    m = record(data, MARCH)
    y, y0, y1 = vector(w.y, w.n_y), vector(m.y0, w.n_y), vector(m.y1, w.n_y)
    rates, f0, f1 = vector(w.rates, w.n_y), vector(m.rates0, w.n_y), vector(m.rates1, w.n_y)
    t1 = w.t
    for c in range(w.n_y):
        y1[c] = y[c]
    state_changed(w)
    status = call(w.accelerate, within(w, t1), work, w.accelerate_data, MOTION)
    if status != OK:
        return status
    for c in range(w.n_y):
        f1[c] = rates[c]
        y[c] = y0[c]
    state_changed(w)
    status = call(w.accelerate, within(w, m.t0), work, w.accelerate_data, MOTION)
    if status != OK:
        return status
    for c in range(w.n_y):
        f0[c] = rates[c]
    h = t1 - m.t0
    s = (t - m.t0) / h
    for c in range(w.n_y):
        if f0[c] == 0.0 and f1[c] == 0.0 and c >= w.n_q + w.n_v:  # held, and perhaps given another value at t1
            y[c] = y0[c]
            continue
        y[c] = (
            y0[c] * (1.0 + 2.0 * s) * (1.0 - s) ** 2
            + y1[c] * s * s * (3.0 - 2.0 * s)
            + h * s * (1.0 - s) * (f0[c] * (1.0 - s) - f1[c] * s)
        )
    state_changed(w)
    w.t = t
    return OK


REPLAY = np.dtype(
    [
        ("n", "i8"),
        ("times", "i8"),
        ("states", "i8"),
        ("rates", "i8"),
        ("multipliers", "i8"),
        ("residual", "i8"),  # norm of C
        ("constraint_rate", "i8"),  # norm of (C', D)
        ("potential", "i8"),  # of the force elements, n x groups
        ("energy_stages", "i8"),
        ("energy_tables", "i8"),
        ("energy_counts", "i8"),
        ("n_energy", "i8"),
    ],
    align=True,
)


@inner
def add_potential(w, r, t, work):
    """w.potentials := the potential energies of the force elements at the state of the last evaluation."""
    stages, tables = integers(r.energy_stages, r.n_energy), integers(r.energy_tables, r.n_energy)
    counts = integers(r.energy_counts, r.n_energy)
    potentials = vector(w.potentials, w.n_groups)
    for g in range(w.n_groups):
        potentials[g] = 0.0
    for e in range(r.n_energy):
        status = call(stages[e], t, work, tables[e], counts[e])
        if status != OK:
            w.culprit_stage = w.n_stages + e
            return status
    return OK


@Stage
def replay_energies(t, work, data, n):
    """Potential energies at stored states, and in `rates` that of each element whose work is kept, in its place."""
    w = workspace(work)
    r = record(data, REPLAY)
    times, states, potential = vector(r.times, r.n), matrix(r.states, r.n, w.n_y), matrix(r.potential, r.n, w.n_groups)
    out, y, rates = matrix(r.rates, r.n, w.n_y), vector(w.y, w.n_y), vector(w.rates, w.n_y)
    potentials = vector(w.potentials, w.n_groups)
    for k in range(r.n):
        for c in range(w.n_y):
            y[c] = states[k, c]
            rates[c] = 0.0
        state_changed(w)
        status = call(w.evaluate, times[k], work, 0, VELOCITY)
        if status == OK:
            status = add_potential(w, r, times[k], work)
        if status != OK:
            return status
        for g in range(w.n_groups):
            potential[k, g] = potentials[g]
        for c in range(w.n_y):
            out[k, c] = rates[c]
    return OK


@Stage
def replay(t, work, data, n):
    """Accelerations, multipliers and violations at stored states."""
    w = workspace(work)
    r = record(data, REPLAY)
    times, states = vector(r.times, r.n), matrix(r.states, r.n, w.n_y)
    out_rates, out_multipliers = matrix(r.rates, r.n, w.n_y), matrix(r.multipliers, r.n, w.n_rows)
    out_residual, out_rate = vector(r.residual, r.n), vector(r.constraint_rate, r.n)
    y, rates, multipliers = vector(w.y, w.n_y), vector(w.rates, w.n_y), vector(w.multipliers, w.n_rows)
    residual, rate = vector(w.residual, w.n_holonomic), vector(w.constraint_rate, w.n_rows)
    for k in range(r.n):
        for c in range(w.n_y):
            y[c] = states[k, c]
        state_changed(w)
        status = call(w.accelerate, times[k], work, w.accelerate_data, REACTIONS)
        if status != OK:
            return status
        for c in range(w.n_y):
            out_rates[k, c] = rates[c]
        for c in range(w.n_rows):
            out_multipliers[k, c] = multipliers[c]
        s = 0.0
        for c in range(w.n_holonomic):
            s += residual[c] ** 2
        out_residual[k] = np.sqrt(s)
        s = 0.0
        for c in range(w.n_rows):
            s += rate[c] ** 2
        out_rate[k] = np.sqrt(s)
    return OK
