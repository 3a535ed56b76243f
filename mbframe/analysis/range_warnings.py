"""Warnings of analyses whose results have no list of them: through Python's `warnings`."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from ..bodies import FlexibleBody
from ..equations.equations import Equations
from ..solvers import flexible_range
from ..solvers.starting import rigid_lines
from ..state import State

Array = NDArray[np.float64]


def warn_of_flexible(eq: Equations, state: State, level: int = 2, loaded: bool = True) -> None:
    """Say where a state is beyond what its flexible bodies hold for, as a run does in `info.warnings`.

    Without `loaded` only by its positions: what an analysis that knows no loads can tell. `level` counts calls up to
    that of the user, as `stacklevel` does from the function that calls this one.
    """
    if not any(isinstance(b.body, FlexibleBody) for b in eq.tables.bodies):
        return
    instant, y = np.array([state.t]), eq.coordinates(state)
    motions = eq.state(state.t, y).motions

    def courses(body: FlexibleBody) -> tuple[Array, Array, Array]:
        motion = motions[body.name]
        return instant, (motion.rotation.T @ motion.angular_velocity)[None], motion.modal_coordinates[None]

    if loaded:
        found = flexible_range.remarks(eq, instant, y[None], courses)
    else:
        found = [
            body.bending_remark(instant, motions[body.name].modal_coordinates[None])
            for _, body in flexible_range.flexible_bodies(eq)
        ]
    for message in rigid_lines(eq.system) + [remark for remark in found if remark]:
        warnings.warn(message, UserWarning, stacklevel=1 + level)
