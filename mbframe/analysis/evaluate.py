"""Accelerations, reactions and energies at one state."""

from __future__ import annotations

import numpy as np

from ..bodies.formulations import Formulation
from ..equations import Equations
from ..results import Info, Result
from ..state import State
from ..system import System


def evaluate(system: System, state: State | None = None, *, formulation: Formulation | None = None) -> Result:
    """A `Result` with one instant: accelerations, reactions and energies at a state (default: the described one)."""
    eq = Equations(system, formulation)
    chosen = state or eq.described()
    info = Info(warnings=list(eq.notices))
    return Result(eq, np.array([chosen.t]), eq.coordinates(chosen)[None], info)
