"""Accelerations, reactions and energies at one state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...bodies.formulations import Formulation
from ...equations import Equations
from ...errors import check_kinds
from ...results import Info, Result
from ...solvers.starting import CLOSED, joint_norms
from ...state import State
from ...system import System
from .range_warnings import flexible_remarks


def evaluate(system: System, state: State | None = None, *, formulation: Formulation | None = None) -> Result:
    """A `Result` with one instant: accelerations, reactions and energies at a state (default: the described one)."""
    check_kinds("evaluate", system=(system, System), state=(state, State), formulation=(formulation, Formulation))
    eq = Equations(system, formulation)
    chosen = eq.described() if state is None else state.checked(system.bodies)
    y = eq.coordinates(chosen)
    if eq.n_followers:
        eq.set_state(*eq.split(y))
        eq.accept(chosen.t)
        y = eq.work.y.copy()
    info = Info(warnings=[*eq.notices, *_violations(eq, chosen.t, y), *flexible_remarks(eq, chosen)])
    return Result(eq, np.array([chosen.t]), y[None], info)


def _violations(eq: Equations, t: float, y: NDArray[np.float64]) -> list[str]:
    """What to say about a state that does not fulfil the constraints; it is taken as it is."""
    notes = []
    for values, what in zip(eq.violation(t, y), ("position", "velocities"), strict=True):
        if np.linalg.norm(values) > CLOSED:
            owner, size = joint_norms(eq, values)[0]
            notes.append(f"the {what} of the state violate{'s' * (what == 'position')} {owner} by {size:.3g}")
    remedy = "; accelerations and reactions are those of this state: pass mb.assemble(system) for one that fulfils them"
    return [note + remedy for note in notes]
