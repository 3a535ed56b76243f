"""Accelerations, reactions and energies at one state."""

from __future__ import annotations

import numpy as np

from ..bodies.formulations import Formulation
from ..equations import Equations
from ..errors import ModelError, Problem
from ..results import Info, Result
from ..state import State
from ..system import System


def evaluate(system: System, state: State | None = None, *, formulation: Formulation | None = None) -> Result:
    """A `Result` with one instant: accelerations, reactions and energies at a state (default: the described one)."""
    if state is not None and not isinstance(state, State):
        raise ModelError(
            [Problem("evaluate", "state", f"found {state!r}; allowed is a State, such as result.state(-1)")]
        )
    eq = Equations(system, formulation)
    chosen = eq.described() if state is None else state.checked(system.bodies)
    info = Info(warnings=list(eq.notices))
    return Result(eq, np.array([chosen.t]), eq.coordinates(chosen)[None], info)
