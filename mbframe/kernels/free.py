"""The free names of templates, and what they are bound to when a loop is made for a type of elements.

What a bound constant excludes, numba leaves out before it looks at types: `N_Q or body.n_q` is the constant; where it
is 0, because bodies of one formulation differ in size, it is what the row of the body says. Names of methods are bound
to those of the type.
"""

from __future__ import annotations

from typing import Any

from .compiler.templates import Free

ROW: Any = Free("ROW", "the layout of the rows")
N_Q: Any = Free(
    "N_Q",
    "coordinates of a body, or 0",
)
N_V: Any = Free("N_V", "velocities of a body, or 0")
N_FRAME: Any = Free("N_FRAME", "columns of the frame that a formulation prepares, or 0")
N_INTRINSIC: Any = Free("N_INTRINSIC", "intrinsic constraints of a body")
EQUATIONS: Any = Free("EQUATIONS", "equations of a constraint")
STATES: Any = Free("STATES", "own states of a force")
GIVEN: Any = Free("GIVEN", "numbers that a method takes besides t and two markers")
COUNTS: Any = Free("COUNTS", "whether turns of an angle are counted")
LOOP: Any = Free("LOOP", "the loop that may raise")

prepare: Any = Free("prepare", "method of a formulation")
regular: Any = Free("regular", "method of a formulation")
place: Any = Free("place", "method of a formulation")
inertia: Any = Free("inertia", "method of a formulation")
rates: Any = Free("rates", "method of a formulation")
intrinsic: Any = Free("intrinsic", "method of a formulation")
normalize: Any = Free("normalize", "method of a formulation")
loss: Any = Free("loss", "method of a formulation")
inertia_tangent: Any = Free("inertia_tangent", "method of a formulation")
place_tangent: Any = Free("place_tangent", "method of a formulation")
load_tangent: Any = Free("load_tangent", "method of a formulation")
intrinsic_tangent: Any = Free("intrinsic_tangent", "method of a formulation")

residual: Any = Free("residual", "method of a constraint")
gradient: Any = Free("gradient", "method of a constraint")
curvature: Any = Free("curvature", "method of a constraint")
hessian: Any = Free("hessian", "method of a constraint")
time_rate: Any = Free("time_rate", "method of a constraint")
velocity_residual: Any = Free("velocity_residual", "method of a constraint")
velocity_gradient: Any = Free("velocity_gradient", "method of a constraint")
axis_gradient: Any = Free("axis_gradient", "method of a constraint")
axis_hessian: Any = Free("axis_hessian", "method of a constraint")

wrench: Any = Free("wrench", "method of a force")
wrench_gradient: Any = Free("wrench_gradient", "method of a force")
state_rate: Any = Free("state_rate", "method of a force")
state_gradient: Any = Free("state_gradient", "method of a force")
reactive_wrench: Any = Free("reactive_wrench", "method of a force")
reactive_gradient: Any = Free("reactive_gradient", "method of a force")
energy: Any = Free("energy", "method of a force")
output: Any = Free("output", "method of a force, one of those in its `outputs`; method of a controller")
next_states: Any = Free("next_states", "method of a controller with a sample time")
fill_output: Any = Free("fill_output", "method of a controller that has its numbers in matrices")
fill_change: Any = Free("fill_change", "method of a controller that has its numbers in matrices")
value: Any = Free("value", "method of a measure")
