"""Warnings of analyses whose results have no list of them: through Python's `warnings`."""

from __future__ import annotations

import ctypes
import warnings
from contextlib import suppress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...bodies import FlexibleBody
from ...equations.equations import Equations
from ...equations.failures import open_by
from ...equations.redundancy import kept_gap
from ...errors import MbframeError
from ...solvers import flexible_range
from ...solvers.schedule import laws
from ...solvers.starting import rigid_lines
from ...state import State

Array = NDArray[np.float64]

BESIDE: Final = 1e-9
"""How far to each side of its argument a law is looked at, beside an argument of one."""
SAME_SLOPE: Final = 1e-3
"""Part of the larger slope by which the slopes of a smooth law may differ at once: it bends over 1e-6 or more."""
CLOSER: Final = 1.0 / 16.0
"""Part of the way at which a law is looked at again: slopes of a smooth one, as of x**3 about zero, approach there."""


def warn_of_flexible(eq: Equations, state: State, level: int = 2, loaded: bool = True) -> None:
    """Say where a state is beyond what its flexible bodies hold for, as a run does in `info.warnings`.

    `loaded` as for `flexible_remarks`. `level` counts calls up to that of the user, as `stacklevel` does from the
    function that calls this one.
    """
    for message in flexible_remarks(eq, state, loaded):
        warnings.warn(message, UserWarning, stacklevel=1 + level)


def flexible_remarks(eq: Equations, state: State, loaded: bool = True) -> list[str]:
    """Where a state is beyond what its flexible bodies hold for.

    Without `loaded` only by its positions: what an analysis that knows no loads can tell.
    """
    if not any(isinstance(b.body, FlexibleBody) for b in eq.tables.bodies):
        return []
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
    return rigid_lines(eq.system) + [remark for remark in found if remark]


def warn_of_bent(eq: Equations, state: State, level: int = 2) -> None:
    """Say where frequencies of a bent body are not those that linear theory has; `level` as above."""
    flexible = list(flexible_range.flexible_bodies(eq))
    y = eq.coordinates(state) if flexible else np.zeros(0)
    for b, body in flexible:
        if (
            body.geometric_stiffening
            or not body.can_stiffen
            or not np.any(eq.split(y)[0][b.q_slice][b.formulation.modal_q])
        ):
            continue
        with suppress(MbframeError, RuntimeError):  # where the equations have no solution, which is said elsewhere
            frequencies = flexible_range.bent_frequencies(eq, b, body, state.t, y)
            if message := body.coupling_remark(state.t, *frequencies):
                if lacking := body.lacking_shapes(flexible_range.held_nodes(eq, b, body)):
                    message = f"{message}. But {lacking}"
                warnings.warn(message, UserWarning, stacklevel=1 + level)


def warn_of_shapes(eq: Equations, state: State, level: int = 2) -> None:
    """Say which bodies have shapes that cannot follow the loads of their own vibrations; `level` as above."""
    if not any(flexible_range.flexible_bodies(eq)):
        return
    with suppress(MbframeError):  # a state at which the equations have no solution: that is said elsewhere
        for message in flexible_range.vibration_remarks(eq, state.t, eq.coordinates(state)):
            warnings.warn(message, UserWarning, stacklevel=1 + level)


def lacking_shapes(eq: Equations) -> list[str]:
    """What to say of stiffened bodies that joints hold at nodes which no shape lets come nearer to each other."""
    found = [
        body.lacking_shapes(flexible_range.held_nodes(eq, b, body))
        for b, body in flexible_range.flexible_bodies(eq)
        if body.geometric_stiffening
    ]
    return [lacking for lacking in found if lacking]


def warn_of_gap(eq: Equations, state: State, level: int = 2) -> None:
    """Say that redundant joints do not fit exactly in a state, as a run does in `info.warnings`; `level` as above."""
    eq.update(state.t, *eq.split(eq.coordinates(state)))
    warnings.warn(kept_gap(eq, open_by(eq)), UserWarning, stacklevel=1 + level)


def warn_of_kinks(eq: Equations, level: int = 2) -> None:
    """Name laws whose slope or value jumps just where the last evaluation took them; `level` as above.

    There a linearization is that of one side, or of none: `abs` has the slope 0 where it turns.
    """
    for force, name, law, address in laws(eq):
        x = ctypes.c_double.from_address(address).value
        aside = BESIDE * max(1.0, abs(x))
        places = x + aside * np.array([-1.0, 0.0, 1.0])
        slopes, (below, _, above) = law.derivative(places), law(places)
        steepest, differ = np.abs(slopes).max(), np.ptp(slopes)
        jumps = abs(above - below) > 10.0 * aside * steepest + 1e-9 * max(abs(above), abs(below))
        bends = differ > SAME_SLOPE * steepest and np.ptp(law.derivative(x + CLOSER * (places - x))) > 0.5 * differ
        if not jumps and not bends:
            continue
        where = f"just below {x:.6g} and {{:.6g}} just above it"
        what = (
            f"its value jumps there, from {below:.6g} {where.format(above)}"
            if jumps
            else f"its slope is {slopes[0]:.6g} {where.format(slopes[2])}, and {slopes[1]:.6g} is taken"
        )
        warnings.warn(
            f"{force}, {name}: {what}; roots and modes do not hold for motions across that place: linearize about a "
            f"state beside it, or give a law that is smooth there",
            UserWarning,
            stacklevel=1 + level,
        )
