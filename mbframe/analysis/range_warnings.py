"""Warnings of analyses whose results have no list of them: through Python's `warnings`."""

from __future__ import annotations

import warnings

import numpy as np

from ..bodies import FlexibleBody
from ..equations.equations import Equations
from ..solvers.starting import rigid_lines
from ..state import State


def warn_of_flexible(eq: Equations, state: State, level: int = 2) -> None:
    """Say where a state is beyond what its flexible bodies hold for, as a run does in `info.warnings`.

    `level` counts calls up to that of the user, as `stacklevel` does from the function that calls this one.
    """
    found = rigid_lines(eq.system)
    for b in eq.tables.bodies:
        if isinstance(b.body, FlexibleBody):
            motion = state.motions[b.body.name]
            found += b.body.remarks(b.markers, np.array([motion.rotation.T @ motion.angular_velocity]))
    for message in found:
        warnings.warn(message, UserWarning, stacklevel=1 + level)
