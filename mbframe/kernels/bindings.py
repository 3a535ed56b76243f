"""From the kernels of a type to the stage that runs over its table: what `equations` asks this package for."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from . import loops, user
from .compile import Stage, jitted, specialize


def body_stages(key: str, cached: bool, kernels: type, row: np.dtype) -> tuple[Stage, Stage]:
    """Evaluation and displacement of all bodies of a formulation; `kernels` is the class with its static methods."""
    sizes = {"ROW": row, "N_Q": kernels.n_q, "N_V": kernels.n_v}  # type: ignore[attr-defined]
    methods = {name: jitted(getattr(kernels, name)) for name in ("prepare", "place", "inertia", "rates", "intrinsic")}
    evaluation = specialize(loops.bodies, key, cached, N_INTRINSIC=kernels.n_intrinsic, **sizes, **methods)  # type: ignore[attr-defined]
    displacement = specialize(
        loops.moves, key, cached, rates=methods["rates"], normalize=jitted(kernels.normalize), **sizes  # type: ignore[attr-defined]
    )
    return evaluation, displacement


def constraint_stage(key: str, cached: bool, kernels: type, row: np.dtype, equations: int) -> Stage:
    """Constraints of a type that gives its derivatives."""
    methods = {name: jitted(getattr(kernels, name)) for name in ("residual", "gradient", "curvature")}
    return specialize(loops.constraints, key, cached, ROW=row, EQUATIONS=equations, **methods)


def residual_stage(kernels: type, row: np.dtype, equations: int) -> Stage:
    """Rows of a user's constraint type, filled by its compiled `residual`."""
    name = kernels.__qualname__
    method = jitted(kernels.residual)  # type: ignore[attr-defined]
    return specialize(user.residual_rows, name, False, ROW=row, EQUATIONS=equations, residual=method)


def projection_stage(row: np.dtype, equations: int, cached: bool) -> Stage:
    """What uses the rows of a user's constraint type."""
    return specialize(user.projected_rows, f"{equations} of {row.itemsize}", cached, ROW=row, EQUATIONS=equations)


def force_stage(key: str, cached: bool, kernels: type, row: np.dtype, states: int) -> Stage:
    """Forces of a type; what is not ours may raise and is guarded."""
    methods = {"wrench": jitted(kernels.wrench)}  # type: ignore[attr-defined]
    if states:
        methods["state_rate"] = jitted(kernels.state_rate)  # type: ignore[attr-defined]
        return specialize(loops.forces_with_states, key, cached, ROW=row, STATES=states, **methods)
    return specialize(loops.forces if cached else loops.guarded_forces, key, cached, ROW=row, **methods)


def energy_stage(key: str, cached: bool, kernels: type, row: np.dtype) -> Stage:
    """Potential energy of all elements of a type."""
    return specialize(loops.energies, key, cached, ROW=row, energy=jitted(kernels.energy))  # type: ignore[attr-defined]


def refusal(make: Callable[[], Stage]) -> str | None:
    """None if the stage compiles, otherwise the first line of the reason."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _ = make().address
        except Exception as error:  # numba raises many kinds for a method that it cannot compile
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            return lines[-1] if lines else type(error).__name__
    return None
