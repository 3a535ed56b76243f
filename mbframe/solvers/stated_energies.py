"""Whether users' forces that call themselves conservative are: what they store against what they do.

Along a motion the energy of such a force changes by minus its power. Where that is not so, the energy of a run does not
balance although its motion may be right.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..abilities import is_conservative
from ..equations.equations import Equations
from ..equations.numbered import users_methods
from ..equations.user import method_of
from ..parameters import Element

Array = NDArray[np.float64]

INSTANTS: Final = 8
"""States of a run at which forces are looked at."""
STEP: Final = 1e-5
"""Part of the time between these, over which the change of an energy is taken."""
WRONG: Final = 1e-2
"""Part of the power, or of the change of energy, by which both may differ."""


def misstated(eq: Equations, t: Array, y: Array) -> str:
    """What to say of the first user's force whose energy does not tell its work; "" if there is none."""
    suspects = list(_suspects(eq))
    some = np.unique(np.linspace(0, len(t) - 1, INSTANTS).astype(int))
    step = STEP * float(t[-1] - t[0]) / len(some)
    for force, row in suspects:
        try:
            powers = [_powers(eq, force, row, float(t[k]), y[k], step) for k in some.tolist()]
        except Exception:  # of the user's method: whoever asks for these energies is told
            continue
        done, taken = np.transpose(powers)
        gap, size = np.abs(done - taken), float(np.max(np.abs(powers)))
        k = int(np.argmax(gap))
        if gap[k] > WRONG * size:
            return (
                f"{force} says conservative = True, so that its energy tells all of its work, but at t = "
                f"{t[some[k]]:.6g} s its wrench does work at {done[k]:.4g} W where its energy falls by {taken[k]:.4g} "
                "W: mend energy or wrench, or leave conservative out"
            )
    return ""


def _suspects(eq: Equations) -> Iterator[tuple[Element, Any]]:
    """Users' forces that call themselves conservative, and their rows."""
    for table in eq.tables.force_tables:
        if users_methods(table.type) & {"wrench", "energy"}:
            for f, row in zip(table.elements, table.rows, strict=True):
                if is_conservative(f.force) and not f.force.states:
                    yield f.force, row


def _powers(eq: Equations, force: Any, row: Any, t: float, y: Array, step: float) -> tuple[float, float]:
    """The power of a force, and by how much its energy falls in a second, in a state of a run."""
    eq.accelerate(t, *eq.split(y))
    rates = eq.work.rates.copy()
    i, j = eq.tables.seen_by(row)
    push, torque = method_of(force, "wrench")(t, i, j)
    carried = i.velocity + np.cross(i.angular_velocity, j.position - i.position)
    power = np.dot(push, j.velocity - carried) + np.dot(torque, j.angular_velocity - i.angular_velocity)
    levels = []
    for h in (-step, step):
        eq.update(t + h, *eq.split(y + h * rates))
        levels.append(float(method_of(force, "energy")(t + h, *eq.tables.seen_by(row))))
    return float(power), (levels[0] - levels[1]) / (2.0 * step)
