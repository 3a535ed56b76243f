"""Poles: places where a function grows so much that its integral does not exist.

Next to a pole of order one or more, four times nearer means four times higher at least; roots and logarithms grow less,
and what they do to a motion exists. Where a function is looked at, its highest value and the places that stand out are
where a pole would be: from each, the function is followed outwards on both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .expression_trees import SAMPLES, Node
from .kernels.programs import expressions as ops

Array = NDArray[np.float64]

DISTANCES: Final[Array] = 0.25 ** np.arange(2.0, 21.0)
"""From a place, relative to the interval: from a sixteenth of it down to 1e-12."""
STEEPEST: Final = 4.0**0.95
"""By what changes between distances must grow from one to the next; a pole of order one has 4."""
IN_A_ROW: Final = 9
"""Distances over which that holds: more than five decades."""
FLAT: Final = 0.25
"""Part of the height by which the top of a peak, however narrow, changes no more over the smallest distances."""
ZOOMS: Final = 9
"""How often the surroundings of a place are narrowed, by 32 each time."""
SUSPECTS: Final = 8
"""How many places are followed: those with the largest values beside them."""


def may_have_poles(root: Node) -> bool:
    """Whether an expression divides by what may vanish, or takes a power or a tangent that may be infinite."""
    for node in root.all:
        if node.opcode == ops.TAN:
            return True
        if node.opcode == ops.DIVIDE and node.parts[1].opcode != ops.CONSTANT and not node.parts[1].least > 0.0:
            return True
        raised = node.opcode == ops.POWER and not node.parts[0].least > 0.0
        if raised and (node.parts[1].opcode != ops.CONSTANT or float(node.parts[1].data) < 0.0):
            return True
    return False


def first_pole(values: Callable[[Array], Array], x: Array, y: Array, places: Array) -> float | None:
    """The first pole among `places` and the highest of the values y at the points x; None if there is none."""
    low, high = float(x[0]), float(x[-1])
    near = (high - low) / SAMPLES
    suspects = np.unique(np.append(places, x[np.argmax(np.abs(y))]))
    beside = suspects + np.array([[-1.0], [1.0]]) * DISTANCES[-1] * (high - low)
    sizes = np.abs(values(np.clip(beside, low, high).ravel())).reshape(beside.shape).max(axis=0)
    found = []
    for place in suspects[np.argsort(-sizes)[:SUSPECTS]].tolist():
        top = _summit(values, max(low, place - near), min(high, place + near))
        if any(_grows(values, top, side * (high - low) * DISTANCES, low, high) for side in (-1.0, 1.0)):
            found.append(top)
    return min(found, default=None)


def _summit(values: Callable[[Array], Array], a: float, b: float) -> float:
    """Where the size of a function is largest between a and b, by ever smaller sections."""
    for _ in range(ZOOMS):
        x = np.linspace(a, b, 65)
        k = int(np.argmax(np.abs(values(x))))
        a, b = float(x[max(k - 1, 0)]), float(x[min(k + 1, 64)])
    return 0.5 * (a + b)


def _grows(values: Callable[[Array], Array], place: float, distances: Array, low: float, high: float) -> bool:
    """Whether a function grows towards a place as it does towards a pole."""
    x = place + distances
    y = values(x[(x >= low) & (x <= high)])
    with np.errstate(all="ignore"):
        changes = np.abs(np.diff(y))
        steep = (changes[1:] >= STEEPEST * changes[:-1]) & (changes[:-1] > 0.0)
    height = np.abs(y).max(initial=0.0)
    if len(changes) < IN_A_ROW or (changes[-2:].max() <= FLAT * height and abs(y[-1]) >= (1.0 - FLAT) * height):
        return False  # beside a pole, where rounding leaves no finite value, zeros stand for it
    longest = row = 0
    for one in steep.tolist():
        row = row + 1 if one else 0
        longest = max(longest, row)
    return longest >= IN_A_ROW
