"""What controllers see, what they give, how their states change, and when they take samples.

A controller reads numbers wherever they are: each has the address of its value and of its rate. What it gives stands
in its outputs, from where the programs of expressions are fed. Those without a sample time are evaluated with the
equations. The others hold their outputs and states, which are among the unknowns but have no rates, from one sample to
the next: there `output` comes before `update`.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, integers, part, record, records, vector
from ..compiler.templates import template
from ..free import EQUATIONS, ROW, fill_change, fill_output, gradient, next_states, output, residual, state_rate, value
from ..integrators.schedule import SAME
from ..layout import AXES_AT, PLACE, PLACES
from ..workspace import (
    DYNAMICS,
    GRADIENT_AT,
    LINK_FIELDS,
    MARKER,
    NO_OUTPUT,
    OK,
    POSITION,
    USER_METHOD,
    VELOCITY,
    workspace,
)
from .counters import turns_of

SEEN_FIELDS = [*LINK_FIELDS, ("seen", "i8")]
"""Of what is seen between two markers: where its value and its rate are."""

CONTROLLER_FIELDS = [
    ("n_y", "i8"),
    ("n_z", "i8"),
    ("n_out", "i8"),
    ("sources", "i8"),  # addresses of what it sees, n_y of values and n_y of rates
    ("y", "i8"),  # where it gets them: n_y values, then n_y rates
    ("z", "i8"),  # where in z its states begin
    ("changes", "i8"),  # room for n_z rates of states, or new states
    ("out", "i8"),  # where its outputs are
    ("limits", "i8"),  # their largest sizes, ...
    ("steps", "i8"),  # ... and by how much they may change from one sample to the next
    ("sampled", "i8"),  # 1: it has a sample time
]

SAMPLER = np.dtype([("n", "i8"), ("rows", "i8"), ("start", "f8"), ("first", "i8")], align=True)
SAMPLED = np.dtype(
    [
        ("output", "i8"),  # stages of a controller, and its row
        ("update", "i8"),  # 0: it has no states
        ("row", "i8"),
        ("period", "f8"),
        ("taken", "f8"),  # how many samples it has taken since the start
        ("due", "i8"),
    ],
    align=True,
)


@inner
def rate_of(g, i, j):
    """g . x' over the numbers of both markers."""
    rate = 0.0
    for r in range(3):
        rate += g[0, r] * i.velocity[r] + g[0, PLACE + r] * j.velocity[r]
        for a in range(3):
            rate += g[0, AXES_AT + 3 * r + a] * i.axes_rate[r, a]
            rate += g[0, PLACE + AXES_AT + 3 * r + a] * j.axes_rate[r, a]
    return rate


@template(ROW, value, gradient)
def measures(t, work, table, n):
    """Values and rates of all measures of one type that controllers see."""
    w = workspace(work)
    if w.level == POSITION:
        return OK
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g = block(w.scratch, GRADIENT_AT, 1, PLACES)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        j.turns = turns_of(w, e.counter)
        seen = vector(e.seen, 2)
        seen[0] = value(e, t, i, j)
        clear(g)
        gradient(e, t, i, j, g)
        seen[1] = rate_of(g, i, j)
    return OK


@template(ROW, EQUATIONS, residual, gradient)
def terms(t, work, table, n):
    """Values and rates of all coordinates of one type that controllers see: terms of relations, of one equation."""
    w = workspace(work)
    if w.level == POSITION:
        return OK
    rows = records(table, n, ROW)
    markers = records(w.markers, w.n_markers, MARKER)
    g = block(w.scratch, GRADIENT_AT, EQUATIONS, PLACES)
    for k in range(n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        j.turns = turns_of(w, e.counter)
        seen = vector(e.seen, 2)
        seen[0] = residual(e, t, i, j)[0]
        clear(g)
        gradient(e, t, i, j, g)
        seen[1] = rate_of(g, i, j)
    return OK


@inner
def look(e):
    """Gather what a controller sees."""
    sources, y = integers(e.sources, 2 * e.n_y), vector(e.y, 2 * e.n_y)
    for k in range(2 * e.n_y):
        y[k] = vector(sources[k], 1)[0]


@inner
def give(e, k, wanted):
    """Let an output be what is wanted, within the limits; what is no number stays none."""
    limit = vector(e.limits, e.n_out)[k]
    out = vector(e.out, e.n_out)
    if wanted > limit:
        wanted = limit
    elif wanted < -limit:
        wanted = -limit
    if e.sampled != 0:
        step = vector(e.steps, e.n_out)[k]
        if wanted > out[k] + step:
            wanted = out[k] + step
        elif wanted < out[k] - step:
            wanted = out[k] - step
    out[k] = wanted


@template(ROW, fill_output)
def filled_outputs(t, work, row, n):
    """The outputs of a controller of ours."""
    w = workspace(work)
    if w.level == POSITION:
        return OK
    e = record(row, ROW)
    look(e)
    y, y_rate = part(e.y, 0, e.n_y), part(e.y, e.n_y, e.n_y)
    z = part(w.y, w.n_q + w.n_v + e.z, e.n_z)
    found = part(w.scratch, GRADIENT_AT, e.n_out)
    fill_output(e, t, y, y_rate, z, found)
    for k in range(e.n_out):
        give(e, k, found[k])
    return OK


@template(ROW, fill_change)
def filled_changes(t, work, row, n):
    """The rates of its states, or their next values."""
    w = workspace(work)
    e = record(row, ROW)
    if e.sampled == 0 and w.level < DYNAMICS:
        return OK
    look(e)
    y, y_rate, changes = part(e.y, 0, e.n_y), part(e.y, e.n_y, e.n_y), vector(e.changes, e.n_z)
    fill_change(e, t, y, y_rate, part(w.y, w.n_q + w.n_v + e.z, e.n_z), changes)
    return change(w, e)


@inner
def change(w, e):
    """Hand over the rates of states, or make their next values the current ones."""
    changes = vector(e.changes, e.n_z)
    to = part(w.y if e.sampled != 0 else w.rates, w.n_q + w.n_v + e.z, e.n_z)
    for k in range(e.n_z):
        to[k] = changes[k]
    return OK


@template(ROW, output)
def returned_outputs(t, work, row, n):
    """The outputs of a user's controller, which may raise."""
    w = workspace(work)
    if w.level == POSITION:
        return OK
    e = record(row, ROW)
    look(e)
    y, y_rate = part(e.y, 0, e.n_y), part(e.y, e.n_y, e.n_y)
    z = part(w.y, w.n_q + w.n_v + e.z, e.n_z)
    status = OK
    try:
        found = output(e, t, y, y_rate, z)
        if len(found) != e.n_out:
            raise ValueError
        for k in range(e.n_out):
            give(e, k, found[k])
    except Exception:
        w.culprit = 0
        status = USER_METHOD
    return status


@template(ROW, state_rate)
def returned_rates(t, work, row, n):
    """The rates of the states of a user's controller, which may raise."""
    w = workspace(work)
    if w.level < DYNAMICS:
        return OK
    e = record(row, ROW)
    look(e)
    y, y_rate = part(e.y, 0, e.n_y), part(e.y, e.n_y, e.n_y)
    z = part(w.y, w.n_q + w.n_v + e.z, e.n_z)
    changes = vector(e.changes, e.n_z)
    status = OK
    try:
        found = state_rate(e, t, y, y_rate, z)
        if len(found) != e.n_z:
            raise ValueError
        for k in range(e.n_z):
            changes[k] = found[k]
    except Exception:
        w.culprit = 0
        status = USER_METHOD
    if status == OK:
        status = change(w, e)
    return status


@template(ROW, next_states)
def returned_updates(t, work, row, n):
    """The next states of a user's controller, which may raise."""
    w = workspace(work)
    e = record(row, ROW)
    look(e)
    y, y_rate = part(e.y, 0, e.n_y), part(e.y, e.n_y, e.n_y)
    z = part(w.y, w.n_q + w.n_v + e.z, e.n_z)
    changes = vector(e.changes, e.n_z)
    status = OK
    try:
        found = next_states(e, t, y, y_rate, z)
        if len(found) != e.n_z:
            raise ValueError
        for k in range(e.n_z):
            changes[k] = found[k]
    except Exception:
        w.culprit = 0
        status = USER_METHOD
    if status == OK:
        status = change(w, e)
    return status


@inner
def finite(w, e):
    """Whether the outputs and states of a controller are numbers."""
    out, z = vector(e.out, e.n_out), part(w.y, w.n_q + w.n_v + e.z, e.n_z)
    total = 0.0
    for k in range(e.n_out):
        total += abs(out[k])
    for k in range(e.n_z):
        total += abs(z[k])
    return total < np.inf


PLAIN_ROW = np.dtype(CONTROLLER_FIELDS, align=True)
"""How the row of every controller begins."""


@Stage
def sample(t, work, data, n):
    """Let all controllers take a sample whose turn it is: outputs in order, then states. A sample is a jump."""
    w = workspace(work)
    s = record(data, SAMPLER)
    rows = records(s.rows, s.n, SAMPLED)
    status = call(w.evaluate, t, work, 0, VELOCITY)
    if status != OK:
        return status
    for k in range(s.n):
        rows[k].due = 0
        if s.start + rows[k].taken * rows[k].period <= t + SAME * rows[k].period:
            rows[k].due = 1
            w.culprit_stage = s.first + 2 * k
            status = call(rows[k].output, t, work, rows[k].row, 1)
            if status != OK:
                return status
    for k in range(s.n):
        if rows[k].due != 0:
            rows[k].taken += 1.0
            if rows[k].update != 0:
                w.culprit_stage = s.first + 2 * k + 1
                status = call(rows[k].update, t, work, rows[k].row, 1)
                if status != OK:
                    return status
            if not finite(w, record(rows[k].row, PLAIN_ROW)):
                w.culprit = k
                return NO_OUTPUT
    w.next_sample = np.inf
    for k in range(s.n):
        w.next_sample = min(w.next_sample, s.start + rows[k].taken * rows[k].period)
    w.evaluated = 0
    w.restart = 1
    return OK
