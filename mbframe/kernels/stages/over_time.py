"""What one force element gives at many instants, for which its markers were worked out: templates."""

from __future__ import annotations

import numpy as np

from ..compiler.memory import matrix, part, record, records, vector
from ..compiler.templates import template
from ..free import GIVEN, ROW, output, wrench
from ..workspace import MARKER, OK

INSTANTS = np.dtype(
    [
        ("n", "i8"),
        ("row", "i8"),  # of the element
        ("times", "i8"),
        ("i", "i8"),  # markers, one for each instant
        ("j", "i8"),
        ("given", "i8"),  # what the method takes besides them: own states, or the reaction of a joint (n, GIVEN)
        ("out", "i8"),  # (n, 6) of a wrench, (n,) of an output
    ],
    align=True,
)


@template(ROW, GIVEN, wrench)
def wrenches(t, work, data, n):
    """Force and torque of an element on its second body."""
    a = record(data, INSTANTS)
    e = records(a.row, 1, ROW)[0]
    i, j = records(a.i, a.n, MARKER), records(a.j, a.n, MARKER)
    times, out = vector(a.times, a.n), matrix(a.out, a.n, 6)
    for k in range(a.n):
        if GIVEN == 0:
            force, torque = wrench(e, times[k], i[k], j[k])
        else:
            force, torque = wrench(e, times[k], i[k], j[k], part(a.given, k * GIVEN, GIVEN))
        out[k, 0], out[k, 1], out[k, 2] = force[0], force[1], force[2]
        out[k, 3], out[k, 4], out[k, 5] = torque[0], torque[1], torque[2]
    return OK


@template(ROW, GIVEN, output)
def outputs(t, work, data, n):
    """One of the scalars that an element announces in `outputs`."""
    a = record(data, INSTANTS)
    e = records(a.row, 1, ROW)[0]
    i, j = records(a.i, a.n, MARKER), records(a.j, a.n, MARKER)
    times, out = vector(a.times, a.n), vector(a.out, a.n)
    for k in range(a.n):
        if GIVEN == 0:
            out[k] = output(e, times[k], i[k], j[k])
        else:
            out[k] = output(e, times[k], i[k], j[k], part(a.given, k * GIVEN, GIVEN))
    return OK
