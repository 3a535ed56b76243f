"""Values of signals (inputs) on their way to the programs of expressions that name them."""

from __future__ import annotations

import numpy as np

from ..compiler.compile import Stage
from ..compiler.memory import records, vector
from ..workspace import OK, POSITION, workspace

FEED = np.dtype([("source", "i8"), ("target", "i8")], align=True)  # addresses of a value, and of a program's constant


@Stage
def feed(t, work, data, n):
    """Give programs the values that they name."""
    if workspace(work).level != POSITION:
        rows = records(data, n, FEED)
        for k in range(n):
            vector(rows[k].target, 1)[0] = vector(rows[k].source, 1)[0]
    return OK
