"""Full turns of angles between two markers.

An angle theta is known between -pi and pi. How many turns it has made besides is told by a follower f, a state that is
integrated along with the motion, f' = theta', so that steps may be larger than a turn: the turns are those that bring
theta nearest to f. At accepted steps f is set to the angle itself. The element whose angle it is finds the turns in its
second marker, where the loop over elements puts them before it calls a method.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage
from ..compiler.memory import part, records
from ..workspace import COUNTER, DYNAMICS, MARKER, OK, workspace


@inner
def turns_between(angle, followed):
    """The number of full turns that brings an angle nearest to `followed`."""
    return np.floor((followed - angle) / (2.0 * np.pi) + 0.5)


@inner
def turns_of(w, counter):
    """Full turns of the angle of an element, by the number of its counter; 0 for one that counts none."""
    return records(w.counters, w.n_counters, COUNTER)[counter].turns


@inner
def projections(i, j):
    """sin and cos of the angle of j's x axis about i's z axis, times the length of its projection."""
    s = c = 0.0
    for r in range(3):
        s += j.axes[r, 0] * i.axes[r, 1]
        c += j.axes[r, 0] * i.axes[r, 0]
    return s, c


@inner
def angle_rate(i, j):
    """theta'; where the angle is not defined, 0."""
    s, c = projections(i, j)
    ds = dc = 0.0
    for r in range(3):
        ds += j.axes_rate[r, 0] * i.axes[r, 1] + j.axes[r, 0] * i.axes_rate[r, 1]
        dc += j.axes_rate[r, 0] * i.axes[r, 0] + j.axes[r, 0] * i.axes_rate[r, 0]
    square = s * s + c * c
    return (c * ds - s * dc) / square if square > 0.0 else 0.0


@inner
def farthest(w, y):
    """The largest angle that is counted, rad: rounding in the equations of such angles is that of this size."""
    rows = records(w.counters, w.n_counters, COUNTER)
    largest = 0.0
    for k in range(1, w.n_counters):
        largest = max(largest, abs(y[w.n_q + w.n_v + rows[k].z]))
    return largest


@Stage
def counters(t, work, table, n):
    """Turns of all angles, and the rates of their followers. The first row counts nothing: it belongs to no angle."""
    w = workspace(work)
    rows = records(table, n, COUNTER)
    markers = records(w.markers, w.n_markers, MARKER)
    followers, rates = part(w.y, w.n_q + w.n_v, w.n_z), part(w.rates, w.n_q + w.n_v, w.n_z)
    for k in range(1, n):
        e = rows[k]
        i, j = markers[e.i], markers[e.j]
        s, c = projections(i, j)
        e.turns = turns_between(np.arctan2(s, c), followers[e.z])
        if w.level == DYNAMICS:
            rates[e.z] = angle_rate(i, j)
    return OK


@Stage
def accept_counters(t, work, table, n):
    """Set the followers of all angles to the angles of an accepted step."""
    w = workspace(work)
    rows = records(table, n, COUNTER)
    markers = records(w.markers, w.n_markers, MARKER)
    followers = part(w.y, w.n_q + w.n_v, w.n_z)
    for k in range(1, n):
        e = rows[k]
        s, c = projections(markers[e.i], markers[e.j])
        now = np.arctan2(s, c)
        followers[e.z] = now + 2.0 * np.pi * turns_between(now, followers[e.z])
    return OK
