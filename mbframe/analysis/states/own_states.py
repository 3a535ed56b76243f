"""Own states of force elements that matter: those that something depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...equations.equations import Equations
from ...equations.numbered import NumberedForce, Stateful
from ...equations.user import motion, own_state_function

Array = NDArray[np.float64]
PROBES = (1.0, -1.0, 1e3)  # changes of a state under which nothing else may change


def acting_states(eq: Equations, t: float) -> dict[str, NDArray[np.int64]]:
    """Which of the own states of each force element, by its name, its force or its rates depend on.

    The others drift without consequence, such as the integral of a controller without an integral part: neither an
    equilibrium nor a linearization takes notice of them. The markers must be those of the last evaluation.
    """
    found = {}
    forces = {f.name: f for f in eq.tables.forces}
    for one in eq.tables.stateful:
        here = _of_force(eq, forces[one.name], t) if one.name in forces else _of_controller(eq, one, t)
        acting = [k for k in range(one.element.states) if _acts(eq, one, here, k)]
        found[one.element.name] = np.array(acting, np.int64)
    return found


def all_states(eq: Equations, t: float) -> dict[str, NDArray[np.int64]]:
    """All own states of each force element: along a motion each may begin to act, such as that of a contact."""
    return {one.element.name: np.arange(one.element.states) for one in eq.tables.stateful}


def places(eq: Equations, acting: dict[str, NDArray[np.int64]]) -> NDArray[np.int64]:
    """Where they are among all own states."""
    return np.concatenate(
        [np.zeros(0, np.int64), *(one.states.start + acting[one.element.name] for one in eq.tables.stateful)]
    )


def _of_force(eq: Equations, numbered: NumberedForce, t: float) -> Callable[[Array], Any]:
    """The force and the rates of its own states for other values of these."""
    function = own_state_function(numbered.force, t)
    markers = [part for m in (numbered.i, numbered.j) for part in motion(eq.tables.markers[m])]
    return lambda z: function(z, *markers)


def _of_controller(eq: Equations, one: Stateful, t: float) -> Callable[[Array], Any]:
    """The outputs and the rates of the states of a controller for other values of these."""
    c = next(c for c in eq.tables.controllers if c.name == one.name)
    fed = eq.tables.fed_controllers[c.name]
    y, y_rate, _ = eq.stages.control.seen_by(c)
    return lambda z: [*fed.output(t, y, y_rate, z), *fed.state_rate(t, y, y_rate, z)]


def _acts(eq: Equations, one: Stateful, function: Callable[[Array], Any], k: int) -> bool:
    """Whether what an element does, or the rates of its own states, change with one of these."""
    z = eq.work.z[one.states].copy()
    here = np.array(function(z), float)
    for change in PROBES:
        moved = z.copy()
        moved[k] += change
        if not np.array_equal(np.array(function(moved), float), here, equal_nan=True):
            return True
    return False
