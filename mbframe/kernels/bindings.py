"""From the kernels of a type to the stage that runs over its table: what `equations` asks this package for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import axes, loops, sized_bodies, tangent, user, velocity_tangent
from .compile import Stage, jitted, specialize


def body_stages(kernels: Any, cached: bool, row: np.dtype) -> tuple[Stage, Stage]:
    """Evaluation and displacement of all bodies of a formulation; `kernels` is the class with its static methods."""
    if kernels.sized_by_body:
        return (
            _sized(sized_bodies.bodies, kernels, cached, row, "prepare", "place", "inertia", "rates"),
            _sized(sized_bodies.moves, kernels, cached, row, "rates", "normalize"),
        )
    sizes = {"ROW": row, "N_Q": kernels.n_q, "N_V": kernels.n_v}
    names = ("prepare", "regular", "place", "inertia", "rates", "intrinsic")
    methods = {name: jitted(getattr(kernels, name), kernels) for name in names}
    more = {"N_FRAME": kernels.n_frame, "N_INTRINSIC": kernels.n_intrinsic}
    evaluation = specialize(loops.bodies, kernels, cached, **sizes, **more, **methods)
    displacement = specialize(
        loops.moves,
        kernels,
        cached,
        rates=methods["rates"],
        normalize=jitted(kernels.normalize, kernels),
        **sizes,
    )
    return evaluation, displacement


def _sized(loop: Stage, kernels: Any, cached: bool, row: np.dtype, *names: str) -> Stage:
    """A loop over bodies of different sizes with its methods."""
    return specialize(
        loop, kernels, cached, ROW=row, **{name: jitted(getattr(kernels, name), kernels) for name in names}
    )


def coordinate_rate_stages(kernels: Any, cached: bool, row: np.dtype) -> tuple[Stage, Stage]:
    """q' = T(q) d of all bodies of a formulation, and d from q'."""
    if kernels.sized_by_body:
        return (
            _sized(sized_bodies.coordinate_rates, kernels, cached, row, "rates"),
            _sized(sized_bodies.displacements, kernels, cached, row, "rates"),
        )
    names = {"ROW": row, "N_Q": kernels.n_q, "N_V": kernels.n_v, "rates": jitted(kernels.rates, kernels)}
    there, back = (specialize(loop, kernels, cached, **names) for loop in (loops.coordinate_rates, loops.displacements))
    return there, back


def constraint_stage(kernels: Any, cached: bool, row: np.dtype, equations: int) -> Stage:
    """Constraints of a type that gives its derivatives."""
    if kernels.joins_points:
        return specialize(loops.coincidences, kernels, cached, ROW=row, EQUATIONS=equations)
    methods = {name: jitted(getattr(kernels, name), kernels) for name in ("residual", "gradient", "curvature")}
    return specialize(loops.constraints, kernels, cached, ROW=row, EQUATIONS=equations, **methods)


def bend_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Constraints of our own of a type on the axis of a body: what the bending of the axis adds to their rows."""
    method = jitted(kernels.axis_gradient, kernels)
    return specialize(axes.bend, kernels, True, ROW=row, EQUATIONS=equations, axis_gradient=method)


def bend_tangent_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """What it adds to their tangent."""
    method = jitted(kernels.axis_hessian, kernels)
    return specialize(axes.bend_tangent, kernels, True, ROW=row, EQUATIONS=equations, axis_hessian=method)


def clock_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Constraints of our own of a type that depends on time: its part of their rates."""
    method = jitted(kernels.time_rate, kernels)
    return specialize(loops.clocks, kernels, True, ROW=row, EQUATIONS=equations, time_rate=method)


def turn_stages(kernels: Any, row: np.dtype) -> tuple[Stage, Stage]:
    """Counting of turns for a type with an angle: in every evaluation, and at accepted steps."""
    method, rate = jitted(kernels.angle, kernels), jitted(kernels.angle_rate, kernels)
    ours = kernels.__module__.startswith("mbframe.")
    return (
        specialize(loops.turns, kernels, ours, ROW=row, angle=method, angle_rate=rate),
        specialize(loops.accept_turns, kernels, ours, ROW=row, angle=method),
    )


def residual_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Rows of a user's constraint type, filled by its compiled `residual`."""
    method = jitted(kernels.residual, kernels)
    return specialize(user.residual_rows, kernels, False, ROW=row, EQUATIONS=equations, residual=method)


def given_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Rows of a user's constraint type, filled by its compiled residual and derivatives."""
    methods = {name: jitted(getattr(kernels, name), kernels) for name in ("residual", "gradient", "curvature")}
    return specialize(user.given_rows, kernels, False, ROW=row, EQUATIONS=equations, **methods)


def projection_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """What uses the rows of a user's constraint type."""
    return specialize(user.projected_rows, kernels, False, ROW=row, EQUATIONS=equations)


def velocity_constraint_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Our own nonholonomic constraints of a type."""
    methods = {name: jitted(getattr(kernels, name), kernels) for name in ("velocity_residual", "velocity_gradient")}
    return specialize(loops.velocity_constraints, kernels, True, ROW=row, EQUATIONS=equations, **methods)


def velocity_residual_stages(kernels: Any, row: np.dtype, equations: int) -> tuple[Stage, Stage]:
    """A user's nonholonomic constraint type: what fills its rows, and what uses them."""
    method = jitted(kernels.velocity_residual, kernels)
    fill = specialize(user.velocity_rows, kernels, False, ROW=row, EQUATIONS=equations, velocity_residual=method)
    use = specialize(user.projected_velocity_rows, kernels, False, ROW=row, EQUATIONS=equations)
    return fill, use


def force_stage(kernels: Any, cached: bool, row: np.dtype, states: int) -> Stage:
    """Forces of a type; what is not ours may raise and is guarded."""
    methods = {"wrench": jitted(kernels.wrench, kernels)}
    if states:
        methods["state_rate"] = jitted(kernels.state_rate, kernels)
        loop = loops.forces_with_states if cached else user.guarded_forces_with_states
        return specialize(loop, kernels, cached, ROW=row, STATES=states, **methods)
    return specialize(loops.forces if cached else user.guarded_forces, kernels, cached, ROW=row, **methods)


def reactive_stage(kernels: Any, row: np.dtype) -> Stage:
    """Our own forces that depend on the reaction of a joint."""
    method = jitted(kernels.reactive_wrench)
    return specialize(loops.reactive_forces, kernels, True, ROW=row, reactive_wrench=method)


def energy_stage(kernels: Any, cached: bool, row: np.dtype) -> Stage:
    """Potential energy of all elements of a type; what is not ours may raise and is guarded."""
    loop = loops.energies if cached else user.guarded_energies
    return specialize(loop, kernels, cached, ROW=row, energy=jitted(kernels.energy, kernels))


def body_tangent_stages(kernels: Any, cached: bool, row: np.dtype) -> tuple[Stage, Stage]:
    """Tangent of the bodies of a formulation: inertia and marker rates first, the change of loads last."""
    if kernels.sized_by_body:
        return (
            _sized(sized_bodies.tangents, kernels, cached, row, "prepare", "inertia_tangent", "place_tangent"),
            _sized(sized_bodies.loads, kernels, cached, row, "prepare", "load_tangent"),
        )
    names = ("prepare", "inertia_tangent", "place_tangent", "load_tangent", "intrinsic_tangent")
    methods = {name: jitted(getattr(kernels, name), kernels) for name in names}
    sizes = {"ROW": row, "N_Q": kernels.n_q, "N_V": kernels.n_v, "N_FRAME": kernels.n_frame}
    sizes["N_INTRINSIC"] = kernels.n_intrinsic
    first, last = (specialize(loop, kernels, cached, **sizes, **methods) for loop in (tangent.bodies, tangent.loads))
    return first, last


def constraint_tangent_stage(kernels: Any, cached: bool, row: np.dtype, equations: int) -> Stage:
    """Tangent of constraints of a type that gives its derivatives."""
    methods = {name: jitted(getattr(kernels, name), kernels) for name in ("gradient", "hessian")}
    return specialize(tangent.constraints, kernels, cached, ROW=row, EQUATIONS=equations, **methods)


def constraint_rows_stage(row: np.dtype, equations: int) -> Stage:
    """Tangent of constraints whose derivatives Python filled in."""
    return specialize(tangent.constraint_rows, str(equations), True, ROW=row, EQUATIONS=equations)


def velocity_tangent_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Tangent of our own nonholonomic constraints of a type that gives its derivatives."""
    method = jitted(kernels.velocity_gradient, kernels)
    loop = velocity_tangent.velocity_constraints
    return specialize(loop, kernels, True, ROW=row, EQUATIONS=equations, velocity_gradient=method)


def velocity_rows_stage(row: np.dtype, equations: int) -> Stage:
    """Tangent of nonholonomic constraints whose derivatives Python filled in."""
    loop = velocity_tangent.velocity_constraint_rows
    return specialize(loop, str(equations), True, ROW=row, EQUATIONS=equations)


def force_tangent_stage(kernels: Any, cached: bool, row: np.dtype, states: int) -> Stage:
    """Tangent of forces of a type that gives its derivatives."""
    methods = {name: jitted(getattr(kernels, name), kernels) for name in ("wrench", "wrench_gradient")}
    if states:
        return specialize(tangent.forces_with_states, kernels, cached, ROW=row, STATES=states, **methods)
    return specialize(tangent.forces, kernels, cached, ROW=row, **methods)


_refusals: dict[Stage, str] = {}
_NOISE = ("Failed in", "During:", "File ", "^", "-", "This error", "raised from", "Please report")


def refusal(stage: Stage) -> str | None:
    """None if the stage compiles, otherwise the reason in a line; asked for once per stage."""
    if stage not in _refusals:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                _ = stage.address
            except Exception as error:  # numba raises many kinds for a method that it cannot compile
                lines = [line.strip() for line in str(error).splitlines()]
                telling = [line for line in lines if line and not line.startswith(_NOISE)]
                _refusals[stage] = telling[0] if telling else type(error).__name__
    return _refusals.get(stage)
