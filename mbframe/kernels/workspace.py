"""The workspace record: everything a stage can reach, by name.

This is the one file in which addresses and offsets are turned into arrays. All arrays belong to
`equations.workspace.Workspace`; the record holds their addresses and sizes.
"""

from __future__ import annotations

import numpy as np
from numba.extending import intrinsic

from .compiler.backend import inner
from .compiler.memory import record_at
from .layout import MOTIONS

# What an evaluation is asked for (`level`): each level includes the ones before it.
POSITION = 0  # marker positions and axes, holonomic residuals C
VELOCITY = 1  # marker rates and Jacobians, constraint rates, J
DYNAMICS = 2  # bias accelerations, gamma, mass, forces, q', z'

# What an acceleration is asked for.
MOTION = 0  # v', and multipliers that may put the whole load on some of several rows that depend on each other
REACTIONS = 1  # also multipliers of minimum norm

# What a stage returns. Negative: the stage's own Python code raised (see compile.PythonStage).
OK = 0
NOT_FINITE = 1  # accelerations are not finite
SINGULAR = 2  # the system matrix cannot be factored
NO_CONVERGENCE = 3  # a constraint correction did not converge
STEP_TOO_SMALL = 4  # an adaptive integrator cannot go on
USER_METHOD = 5  # a user's compiled method raised
SINGULAR_POSE = 6  # the coordinates of a body cannot describe its pose
NO_FRICTION = 7  # friction and reactions do not agree
NO_STEP = 8  # the equations of an implicit step could not be solved
MISFIT = 9  # equations that depend on each other contradict each other
DONE = 10  # march reached its end
FULL = 11  # march filled its output
OWN_STATE = 12  # a state of an element is not finite
NO_OUTPUT = 13  # what a controller gives at a sample is not finite


def marker_dtype(scalar: str) -> np.dtype:
    """One row of the marker table; `scalar` is "f8", or "c16" for complex-step derivatives."""
    return np.dtype(
        [
            ("position", scalar, 3),  # x: the point and the three axes (columns of `axes`), global components
            ("axes", scalar, (3, 3)),
            ("velocity", scalar, 3),  # x'
            ("axes_rate", scalar, (3, 3)),
            ("angular_velocity", scalar, 3),
            ("bias", scalar, 3),  # x'' for v' = 0
            ("axes_bias", scalar, (3, 3)),
            ("point", "f8", 3),  # where the marker sits in its body
            ("frame", "f8", (3, 3)),
            ("turns", "f8"),  # of the angle between both markers of the element that just looks at this second one
            ("body", "i8"),
            ("n", "i8"),  # velocities of the body; 0 for the ground
            ("v", "i8"),  # where they start in v
            ("jacobian", "i8"),  # where B = dx'/dv (12 x n) starts in the pool
            ("oriented", "i8"),  # which axes are read by what is attached here, a bit each: others need not be computed
            ("node_shape", "i8"),  # on a flexible body: where displacements and rotations (6 x modes) of its node are
        ],
        align=True,
    )


MARKER = marker_dtype("f8")
assert MARKER.fields is not None
RATE_AT, BIAS_AT = MARKER.fields["velocity"][1], MARKER.fields["bias"][1]  # where the 12 numbers of x' and x'' begin

# The fields with which the row of every constraint and force begins.
LINK_FIELDS = [
    ("i", "i8"),  # markers
    ("j", "i8"),
    ("row", "i8"),  # first constraint row
    ("parts_i", "i8"),  # what a constraint reads of each marker, a bit each: 1 its point; 2, 4, 8 its axes
    ("parts_j", "i8"),
    ("block_i", "i8"),  # where the blocks of its Jacobian start in the entries
    ("block_j", "i8"),
    ("z", "i8"),  # first own state
    ("counter", "i8"),  # which row of the counters counts the turns of its angle; 0: none does
    ("work_at", "i8"),  # where in z the follower of the work of a force is; -1: none is kept
    ("tangent_ii", "i8"),  # where its blocks of the tangent start
    ("tangent_ij", "i8"),
    ("tangent_ji", "i8"),
    ("tangent_jj", "i8"),
    (
        "own",
        "i8",
    ),  # those of its own states: among themselves, and with the velocities of both bodies
    ("own_i", "i8"),
    ("own_j", "i8"),
]
LINK = np.dtype(LINK_FIELDS, align=True)

# An angle whose turns are counted.
COUNTER = np.dtype(
    [
        ("i", "i8"),  # markers
        ("j", "i8"),
        ("z", "i8"),  # the follower
        ("turns", "f8"),  # at the last evaluation
    ],
    align=True,
)

# Rows of constraints that depend on time: their multipliers times dC/dt are the power of an element.
DRIVE = np.dtype([("row", "i8"), ("n", "i8"), ("z", "i8")], align=True)

# Rows of forces that depend on the reaction of a joint: where its multipliers and the first columns of its blocks are.
REACTIVE_FIELDS = [
    *LINK_FIELDS,
    ("n_reactions", "i8"),
    ("reaction_sign", "f8"),
    ("reaction_rows", "i8", 6),
    ("reaction_entries", "i8", 6),
    ("reaction_components", "i8"),  # of the force: 2 in the plane
    ("by_reactions", "i8"),  # where in the tangent its load by the multipliers of the joint is, a row for each velocity
    ("n_parts", "i8"),  # stages of the tangent of the joint, each with its table
    ("part_stages", "i8", 12),
    ("part_tables", "i8", 12),
]
REACTIVE = np.dtype(REACTIVE_FIELDS, align=True)

FACTOR = np.dtype(
    [
        ("n", "i8"),
        ("n_plain", "i8"),  # the first n_plain unknowns are velocities, the rest multipliers
        ("n_lower", "i8"),
        ("n_sources", "i8"),
        ("n_entries", "i8"),  # numbers that they are read from
        ("n_targets", "i8"),
        ("values", "i8"),  # D, then the columns of L
        ("upper", "i8"),  # U, in the unsymmetric case
        ("start", "i8"),  # first entry of each column
        ("rows", "i8"),  # row of each entry
        ("targets", "i8"),  # what each elimination updates, in order
        ("order", "i8"),  # unknown eliminated as k-th
        ("source", "i8"),  # which entry goes to which slot of `values`
        ("slot", "i8"),
        ("source_row", "i8"),  # row and column of that entry in the system matrix
        ("source_column", "i8"),
        ("scale", "i8"),  # largest contribution to each diagonal: what a pivot is compared with
        ("sizes", "i8"),  # and at least; 0: nothing
        ("threshold", "i8"),  # what the relative pivot of each unknown must exceed
        ("weight", "i8"),  # what is subtracted from the diagonal
        ("work", "i8"),
        ("regularized", "i8"),  # 1: `weight` is used
        ("left_out", "i8"),  # number of constraint rows left out, because they depend on others
        ("dependent", "i8"),  # 1: there have been such rows
        ("valid", "i8"),  # 1: the factors belong to the current q; 0: to an earlier one; -1: there are none
        ("refine", "i8"),
        ("lost", "i8"),  # number of lost pivots
        ("weakest_pivot", "f8"),  # smallest relative pivot
    ],
    align=True,
)

WORK = np.dtype(
    [
        ("level", "i8"),
        ("n_q", "i8"),
        ("n_v", "i8"),
        ("n_z", "i8"),
        ("n_y", "i8"),
        ("n_followers", "i8"),  # the last of z: they follow the motion, and no error is estimated for them
        ("n_rows", "i8"),
        ("n_holonomic", "i8"),
        ("n_markers", "i8"),
        ("n_entries", "i8"),
        ("t", "f8"),
        ("t_end", "f8"),  # where the march ends
        ("restart", "i8"),  # 1: something jumped from outside, so the next step begins without a history
        ("next_sample", "f8"),  # when the next controller takes a sample; infinite if none does
        ("sample", "i8"),  # the stage that lets controllers take theirs
        ("sampler", "i8"),
        ("low", "f8"),  # times between which the stages of a step may look: it belongs to one side of every break
        ("high", "f8"),
        ("evaluated", "i8"),  # 1: the tables belong to the current state and contain everything; other values: not all
        ("y", "i8"),  # (q, v, z)
        ("rates", "i8"),  # (q', v', z')
        ("multipliers", "i8"),
        ("markers", "i8"),
        ("jacobians", "i8"),  # pool of the markers' B
        ("entries", "i8"),  # mass blocks and constraint Jacobian blocks
        ("force", "i8"),  # Q
        ("residual", "i8"),  # C
        ("row_sizes", "i8"),  # what each C is compared with: the size of the model for lengths, 1 for angles
        ("gap", "f8"),  # largest gap, in these units, that was kept because dependent equations do not fit exactly
        ("constraint_rate", "i8"),  # C', D
        ("gamma", "i8"),
        ("drift", "i8"),  # what time itself adds to constraint_rate: dC/dt, D - D_x' x'
        ("drives", "i8"),  # whose power is kept
        ("n_drives", "i8"),
        ("feedback_rate", "f8"),  # what the stabilization in use subtracts from gamma, per (C', D) and per C
        ("feedback_position", "f8"),
        ("potentials", "i8"),  # of force elements, in groups
        ("groups", "i8"),  # of each marker; -1 for none
        ("n_groups", "i8"),
        ("scratch", "i8"),
        ("stages", "i8"),
        ("tables", "i8"),
        ("counts", "i8"),
        ("n_stages", "i8"),
        ("reactive", "i8"),  # stages of forces that depend on reactions
        ("reactive_tables", "i8"),
        ("reactive_counts", "i8"),
        ("n_reactive", "i8"),
        ("base_force", "i8"),  # Q without them
        ("counters", "i8"),  # angles whose turns are counted; the first row belongs to none
        ("n_counters", "i8"),
        ("accepts", "i8"),  # stages that note what an accepted step has reached
        ("accept_tables", "i8"),
        ("accept_counts", "i8"),
        ("n_accepts", "i8"),
        ("moves", "i8"),  # stages that displace the bodies; they share the tables of the first n_moves stages
        ("n_moves", "i8"),
        ("project", "i8"),  # stages that all element types share
        ("project_velocity", "i8"),
        ("apply", "i8"),
        ("evaluate", "i8"),
        ("rub", "i8"),
        ("settle", "i8"),
        ("weigh", "i8"),
        ("bodywise", "i8"),  # record of M^-1 J^T and of the weights of rows
        ("augmented", "i8"),  # the acceleration by which forces that depend on reactions are found
        ("eliminate", "i8"),
        ("factorize", "i8"),
        ("solve", "i8"),
        ("share", "i8"),
        ("spread", "i8"),
        ("factor", "i8"),
        ("sharing", "i8"),  # regularized factorization, by which dependent rows share their load
        ("right", "i8"),
        ("solution", "i8"),
        ("tangent", "i8"),  # record of the tangent, when one is taken
        ("tree", "i8"),  # of a workspace of joint coordinates: the record of the recursion
        ("accelerate", "i8"),
        ("accelerate_data", "i8"),
        ("own_accelerate", "i8"),  # the strategy in use, where `accelerate` adds the power of drives to it
        ("correct", "i8"),
        ("correct_data", "i8"),
        ("step", "i8"),
        ("step_data", "i8"),
        ("interpolate", "i8"),
        ("interpolate_data", "i8"),
        ("culprit", "i8"),  # constraint row or element row of a failure
        ("culprit_stage", "i8"),
        ("evaluations", "i8"),
        ("factorizations", "i8"),
        ("steps", "i8"),
        ("rejected", "i8"),
    ],
    align=True,
)

# Scratch, in doubles: what an element kernel hands to the shared stages.
GRADIENT_AT = 0  # dC/dx (equations x 24), or the derivatives of a wrench (6 x 36)
HESSIAN_AT = 2048  # 24 x 24
WRENCH_AT = 3072  # force and torque
VALUE_AT = 3088  # residuals of a nonholonomic constraint; its derivatives (equations x 36) are at HESSIAN_AT
SCRATCH = 4096
MOST_EQUATIONS = (WRENCH_AT - HESSIAN_AT) // MOTIONS


@intrinsic
def workspace(typingctx, address):
    """The workspace record."""
    return record_at(WORK)


@intrinsic
def factorization(typingctx, address):
    """A record of a factorization."""
    return record_at(FACTOR)


@inner
def state_changed(w):
    """Neither the tables nor the factors belong to the current state any more."""
    w.evaluated = 0
    f = factorization(w.factor)
    f.valid = min(f.valid, 0)
