"""What a step must not pass: instants where a load may jump, and short stretches where much happens.

A break has three times, before <= at <= after. A step ends at it, and no stage of that step is evaluated later than
`before`; no stage of the next one is evaluated earlier than `after`. So no stage sees the other side, and no time is
lost between the two steps. A bound holds from its place to the next one: a step that begins there is not longer, and
one that comes from farther off ends no farther behind the place. Steps of a fixed size heed breaks only: one that holds
a break is taken in two parts, and the first counts as no step. Where a controller takes a sample, a step ends too.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import call
from ..compiler.memory import matrix, record, records, vector
from ..workspace import DYNAMICS, OK

SCHEDULE = np.dtype(
    [
        ("n_breaks", "i8"),
        ("breaks", "i8"),  # n x 4: before, at, after, 1 if the step size is to be found anew
        ("next_break", "i8"),
        ("n_bounds", "i8"),
        ("times", "i8"),  # where each bound begins
        ("bounds", "i8"),
        ("n_watched", "i8"),
        ("watched", "i8"),
    ],
    align=True,
)

WATCHED = np.dtype(
    [
        ("argument", "i8"),  # address of a number that follows the motion
        ("n_bounds", "i8"),
        ("places", "i8"),  # where each bound on the change of the argument begins
        ("bounds", "i8"),
        ("begin", "f8"),  # the argument where the step begins
        ("rate", "f8"),  # its mean rate in the last step
    ],
    align=True,
)
"""The argument of a function of something else than time, or the measure of a stop."""


SAME = 1e-9
"""Part of a step within which two instants are one."""


@inner
def reach(places, bounds, n, x, forward):
    """How far one may go from x."""
    first, last = 0, n
    while first < last:
        middle = (first + last) // 2
        if places[middle] <= x:
            first = middle + 1
        else:
            last = middle
    k = first - 1
    limit = bounds[k] if k >= 0 else np.inf
    if forward:
        k += 1
        while k < n and places[k] - x < limit:
            limit = min(limit, places[k] - x + bounds[k])
            k += 1
    else:
        while k >= 0 and x - places[k] < limit:
            limit = min(limit, x - places[k] + (bounds[k - 1] if k > 0 else np.inf))
            k -= 1
    return limit


@inner
def prepare(w, r, t):
    """Where the step from t may lead (r.stop), where its stages may look (w.low to w.high), and its longest duration.

    Also whether to begin anew: a break is just behind, or something was changed from outside.
    """
    w.low, w.high, r.stop = -np.inf, np.inf, min(w.t_end, w.next_sample)
    longest, restart = r.h_max, w.restart != 0
    w.restart = 0
    if r.schedule != 0:
        s = record(r.schedule, SCHEDULE)
        breaks = matrix(s.breaks, s.n_breaks, 4)
        while s.next_break < s.n_breaks and breaks[s.next_break, 1] <= t:
            s.next_break += 1
        k = s.next_break
        if k > 0:
            w.low = breaks[k - 1, 2]
            behind = breaks[k - 1, 1] == t and breaks[k - 1, 3] != 0.0 and t > r.t_start
            restart = restart or behind
        if k < s.n_breaks:
            w.high = breaks[k, 0]
            r.stop = min(r.stop, breaks[k, 1])
        longest = min(longest, reach(vector(s.times, s.n_bounds), vector(s.bounds, s.n_bounds), s.n_bounds, t, True))
    return longest, restart


@inner
def within(w, t):
    """The time of a stage, on the side of breaks to which the step belongs."""
    return min(max(t, w.low), w.high)


@inner
def fixed_end(w, r):
    """Where a prepared step of the length r.dt ends, and whether it is whole: not if it ends at a break inside.

    The last step of a run ends at w.t_end and may be shorter.
    """
    end = r.t_start + (w.steps + 1) * r.dt
    if end > w.t_end - SAME * r.dt:
        end = w.t_end
    whole = r.stop > end - SAME * r.dt
    if r.stop < end + SAME * r.dt:
        end = r.stop
    return end, whole


@inner
def note_begin(r, longest):
    """Note the arguments that are watched, evaluated where the step begins; returns how long it may last for them."""
    if r.schedule != 0:
        s = record(r.schedule, SCHEDULE)
        watched = records(s.watched, s.n_watched, WATCHED)
        for k in range(s.n_watched):
            a = watched[k]
            a.begin = vector(a.argument, 1)[0]
            if a.rate != 0.0:
                far = reach(vector(a.places, a.n_bounds), vector(a.bounds, a.n_bounds), a.n_bounds, a.begin, a.rate > 0)
                longest = min(longest, far / abs(a.rate))
    return longest


@inner
def passed(w, r, t, h, work):
    """How far the arguments that are watched went in the trial step to (t, w.y), as part of what is allowed."""
    share, status = 0.0, OK
    if r.schedule != 0:
        s = record(r.schedule, SCHEDULE)
        watched = records(s.watched, s.n_watched, WATCHED)
        if s.n_watched > 0:
            status = call(w.evaluate, t, work, 0, DYNAMICS)
        for k in range(s.n_watched):
            a = watched[k]
            change = vector(a.argument, 1)[0] - a.begin
            far = reach(vector(a.places, a.n_bounds), vector(a.bounds, a.n_bounds), a.n_bounds, a.begin, change > 0.0)
            share = max(share, abs(change) / far)
            a.rate = change / h
    return status, share
