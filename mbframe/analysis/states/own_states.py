"""Own states of force elements that matter: those that something depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations
from ...equations.user import motion, own_state_function

PROBES = (1.0, -1.0, 1e3)  # changes of a state under which nothing else may change


def acting_states(eq: Equations, t: float) -> dict[str, NDArray[np.int64]]:
    """Which of the own states of each force element, by its name, its force or its rates depend on.

    The others drift without consequence, such as the integral of a controller without an integral part: neither an
    equilibrium nor a linearization takes notice of them. The markers must be those of the last evaluation.
    """
    found = {}
    for f in eq.tables.forces:
        if f.force.states:
            acting = [k for k in range(f.force.states) if _acts(eq, f, t, k)]
            found[f.force.name] = np.array(acting, np.int64)
    return found


def all_states(eq: Equations, t: float) -> dict[str, NDArray[np.int64]]:
    """All own states of each force element: along a motion each may begin to act, such as that of a contact."""
    return {f.force.name: np.arange(f.force.states) for f in eq.tables.forces if f.force.states}


def places(eq: Equations, acting: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where they are among all own states."""
    return np.concatenate(
        [np.zeros(0, np.int64), *(f.states.start + acting[f.force.name] for f in eq.tables.forces if f.force.states)]
    )


def _acts(eq: Equations, numbered: Any, t: float, k: int) -> bool:
    """Whether the force or the rates of own states change with one of these."""
    function = own_state_function(numbered.force, t)
    markers = [part for m in (numbered.i, numbered.j) for part in motion(eq.tables.markers[m])]
    z = eq.work.z[numbered.states].copy()
    here = np.array(function(z, *markers), float)
    for change in PROBES:
        moved = z.copy()
        moved[k] += change
        if not np.array_equal(np.array(function(moved, *markers), float), here):
            return True
    return False
