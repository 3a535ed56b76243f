"""From the kernels of a type to the stage that runs over its table: what `equations` asks this package for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .compiler import refusals
from .compiler.compile import Stage, called_by_stages, jitted
from .compiler.templates import Template, specialize
from .stages import controllers, loops, over_time, user
from .tangent import axes, reactive, tangent, velocity_tangent
from .tree import stages as tree_stages


def _bound(loop: Template, kernels: Any, cached: bool, row: np.dtype, **sizes: int | None) -> Stage:
    """A loop over rows of a layout, with the methods of `kernels` of which it reads the names."""
    values = {"ROW": row, **sizes}
    through = loop in (user.residual_rows, user.velocity_rows)
    methods = {name: jitted(getattr(kernels, name), kernels, through) for name in loop.names if name not in values}
    return specialize(loop, kernels, cached, None if cached else row, **methods, **values)


def _over_bodies(loop: Template, kernels: Any, cached: bool, row: np.dtype) -> Stage:
    """A loop over the bodies of a formulation; if they differ in size, it reads sizes from the rows.

    Kernels of a user may raise, by an index out of bounds for example: then the stage ends with `USER_METHOD`.
    """
    sizes = {"N_Q": kernels.n_q, "N_V": kernels.n_v, "N_FRAME": kernels.n_frame}
    if kernels.sized_by_body:
        sizes = dict.fromkeys(sizes, 0)
    sizes["N_INTRINSIC"] = kernels.n_intrinsic
    stage = _bound(loop, kernels, cached, row, **{name: size for name, size in sizes.items() if name in loop.names})
    if cached:
        return stage
    bound = f"{stage.function.__module__}.{stage.function.__qualname__} at {id(stage):x}"  # which is kept
    return specialize(user.guarded, bound, False, LOOP=called_by_stages(stage.function))


def body_stages(kernels: Any, cached: bool, row: np.dtype) -> tuple[Stage, Stage]:
    """Evaluation and displacement of all bodies of a formulation; `kernels` is the class with its static methods."""
    evaluation = _over_bodies(loops.bodies, kernels, cached, row)
    return evaluation, _over_bodies(loops.moves, kernels, cached, row)


def loss_stage(kernels: Any, cached: bool, row: np.dtype) -> Stage:
    """Power of what damps the deformation of the bodies of a formulation."""
    return _over_bodies(loops.losses, kernels, cached, row)


def needed_markers_stage(kernels: Any, row: np.dtype) -> Stage:
    """Markers that forces and cut constraints look at, of the bodies of a formulation of our own."""
    return _over_bodies(tree_stages.needed_markers, kernels, True, row)


def coordinate_rate_stages(kernels: Any, cached: bool, row: np.dtype) -> tuple[Stage, Stage]:
    """q' = T(q) d of all bodies of a formulation, and d from q'."""
    back = loops.displacements_by_column if kernels.sized_by_body else loops.displacements
    there = _over_bodies(loops.coordinate_rates, kernels, cached, row)
    return there, _over_bodies(back, kernels, cached, row)


def constraint_stage(kernels: Any, cached: bool, row: np.dtype, equations: int, counts: bool) -> Stage:
    """Constraints of a type that gives its derivatives."""
    if kernels.joins_points:
        return _bound(loops.coincidences, kernels, cached, row, EQUATIONS=equations)
    return _bound(loops.constraints, kernels, cached, row, EQUATIONS=equations, COUNTS=counts)


def bend_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Constraints of our own of a type on the axis of a body: what the bending of the axis adds to their rows."""
    return _bound(axes.bend, kernels, True, row, EQUATIONS=equations)


def bend_tangent_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """What it adds to their tangent."""
    return _bound(axes.bend_tangent, kernels, True, row, EQUATIONS=equations)


def clock_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Constraints of our own of a type that depends on time: its part of their rates."""
    return _bound(loops.clocks, kernels, True, row, EQUATIONS=equations)


def residual_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Rows of a user's constraint type, filled by its compiled `residual`."""
    return _bound(user.residual_rows, kernels, False, row, EQUATIONS=equations)


def given_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Rows of a user's constraint type, filled by its compiled residual and derivatives."""
    return _bound(user.given_rows, kernels, False, row, EQUATIONS=equations)


def projection_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """What uses the rows of a user's constraint type."""
    return _bound(user.projected_rows, kernels, False, row, EQUATIONS=equations)


def velocity_constraint_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Our own nonholonomic constraints of a type."""
    return _bound(loops.velocity_constraints, kernels, True, row, EQUATIONS=equations)


def velocity_residual_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Rows of a user's nonholonomic constraint type, filled by its compiled method."""
    return _bound(user.velocity_rows, kernels, False, row, EQUATIONS=equations)


def velocity_projection_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """What uses them."""
    return _bound(user.projected_velocity_rows, kernels, False, row, EQUATIONS=equations)


def force_stage(kernels: Any, cached: bool, row: np.dtype, states: int, counts: bool) -> Stage:
    """Forces of a type; what is not ours may raise and is guarded."""
    stateless: dict[str, None] = {} if states else {"state_rate": None}
    if cached:
        return _bound(loops.forces, kernels, True, row, STATES=states, COUNTS=counts, **stateless)
    return _bound(user.guarded_forces, kernels, False, row, STATES=states, **stateless)


def reactive_stage(kernels: Any, row: np.dtype) -> Stage:
    """Our own forces that depend on the reaction of a joint."""
    return _bound(loops.reactive_forces, kernels, True, row)


def energy_stage(kernels: Any, cached: bool, row: np.dtype, counts: bool) -> Stage:
    """Potential energy of all elements of a type; what is not ours may raise and is guarded."""
    if cached:
        return _bound(loops.energies, kernels, True, row, COUNTS=counts)
    return _bound(user.guarded_energies, kernels, False, row)


def stage_over_time(kernels: Any, method: str, cached: bool, row: np.dtype, given: int) -> Stage:
    """A wrench, or an output, of one force element at many instants; what is not ours may raise and is guarded."""
    bound = jitted(getattr(kernels, method), kernels)
    loop, name = (over_time.wrenches, "wrench") if method.endswith("wrench") else (over_time.outputs, "output")
    owner = f"{kernels.__module__}.{kernels.__qualname__}.{method}" + ("" if cached else f" at {id(bound):x}")
    stage = specialize(loop, owner, cached, ROW=row, GIVEN=given, **{name: bound})
    return stage if cached else specialize(user.guarded, owner, False, LOOP=called_by_stages(stage.function))


def seen_stage(kernels: Any, cached: bool, row: np.dtype, term: bool) -> Stage:
    """Values and rates of measures, or of terms of relations, that controllers see."""
    if term:
        return _bound(controllers.terms, kernels, cached, row, EQUATIONS=1)
    return _bound(controllers.measures, kernels, cached, row)


def controller_stage(kernels: Any, cached: bool, row: np.dtype, method: str) -> Stage:
    """The outputs of a controller, or the change of its states; what is not ours may raise and is guarded."""
    if hasattr(kernels, "fill_output"):
        loop = controllers.filled_outputs if method == "output" else controllers.filled_changes
        return _bound(loop, kernels, cached, row)
    loops = {"output": controllers.returned_outputs, "state_rate": controllers.returned_rates}
    return _bound(loops.get(method, controllers.returned_updates), kernels, cached, row)


def body_tangent_stages(kernels: Any, cached: bool, row: np.dtype) -> tuple[Stage, Stage]:
    """Tangent of the bodies of a formulation: inertia and marker rates first, the change of loads last."""
    first = _over_bodies(tangent.bodies, kernels, cached, row)
    return first, _over_bodies(tangent.loads, kernels, cached, row)


def constraint_tangent_stage(kernels: Any, cached: bool, row: np.dtype, equations: int) -> Stage:
    """Tangent of constraints of a type that gives its derivatives."""
    return _bound(tangent.constraints, kernels, cached, row, EQUATIONS=equations)


def constraint_rows_stage(row: np.dtype, equations: int) -> Stage:
    """Tangent of constraints whose derivatives Python filled in."""
    return specialize(tangent.constraint_rows, str(equations), True, ROW=row, EQUATIONS=equations)


def velocity_tangent_stage(kernels: Any, row: np.dtype, equations: int) -> Stage:
    """Tangent of our own nonholonomic constraints of a type that gives its derivatives."""
    loop = velocity_tangent.velocity_constraints
    return _bound(loop, kernels, True, row, EQUATIONS=equations)


def velocity_rows_stage(row: np.dtype, equations: int) -> Stage:
    """Tangent of nonholonomic constraints whose derivatives Python filled in."""
    loop = velocity_tangent.velocity_constraint_rows
    return specialize(loop, str(equations), True, ROW=row, EQUATIONS=equations)


def force_tangent_stage(kernels: Any, row: np.dtype, states: int, counts: bool) -> Stage:
    """Tangent of our own forces of a type that gives its derivatives."""
    stateless: dict[str, None] = {} if states else {"state_gradient": None}
    return _bound(tangent.forces, kernels, True, row, STATES=states, COUNTS=counts, **stateless)


def reactive_tangent_stage(kernels: Any, row: np.dtype) -> Stage:
    """Tangent of our own forces that depend on the reaction of a joint."""
    return _bound(reactive.reactive_forces, kernels, True, row)


def force_rows_stage(row: np.dtype, states: int) -> Stage:
    """Tangent of forces whose values and derivatives Python filled in."""
    return specialize(tangent.force_rows, str(states), True, ROW=row, STATES=states)


_refusals: dict[Stage, str] = {}


def refusal(stage: Stage) -> str | None:
    """None if the stage compiles, otherwise the reason in words; asked for once per stage."""
    if stage not in _refusals:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                _ = stage.address
            except Exception as error:  # numba raises many kinds for a method that it cannot compile
                _refusals[stage] = refusals.in_words(error)
    return _refusals.get(stage)
