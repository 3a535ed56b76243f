"""What the recursion reads and writes: nodes, their motion, bodies, joints, cuts.

A *node* is a rigid piece with one elementary freedom to its parent, about or along the z axis of its own frame, or a
ball. Joints with several freedoms are several nodes, of which the last one carries the body and the others no mass.
Node 0 is the ground.
"""

from __future__ import annotations

import numpy as np

HINGE, SLIDE, BALL, FIXED = 0, 1, 2, 3

NODE = np.dtype(
    [
        ("parent", "i8"),
        ("kind", "i8"),
        ("q", "i8"),  # where its coordinate is in q: an angle, a length, or the four Euler parameters of a ball
        ("v", "i8"),  # and its velocity in v: a rate, or the angular velocity of a ball in the axes of the node
        ("turn", "f8", (3, 3)),  # axes of the joint on the parent's side, in the axes of the parent
        ("offset", "f8", 3),  # and its point
        ("mass", "f8"),
        ("moment", "f8", 3),  # mass times centre of mass, about the point of the node, in its axes
        ("inertia", "f8", 6),  # xx, xy, xz, yy, yz, zz about the point of the node, in its axes
    ],
    align=True,
)

# All vectors are global; forces and moments act at the point of the node. The inertia [[A, B^T], [B, C]] takes the
# acceleration of the point and the angular acceleration to force and moment.
MOVING = np.dtype(
    [
        ("axes", "f8", (3, 3)),
        ("position", "f8", 3),
        ("velocity", "f8", 3),
        ("spin", "f8", 3),
        ("arm", "f8", 3),  # from the parent's point
        ("bias", "f8", 3),  # acceleration of the point where the joint and the parent have none, relative to it
        ("spin_bias", "f8", 3),
        ("a", "f8", 6),
        ("b", "f8", (3, 3)),
        ("c", "f8", 6),
        ("load", "f8", 3),  # force and moment that hold the articulated piece where no joint accelerates
        ("moment", "f8", 3),
        ("reach", "f8", 3),  # force and moment per unit acceleration of a hinge or slide
        ("turning", "f8", 3),
        ("inverse", "f8"),  # 1 / inertia of a hinge or slide
        ("push", "f8", 3),  # what acts on its freedom; of a ball L^-1 times it
        ("lower", "f8", 6),  # of a ball, C = L L^T: 1/l00, l10, 1/l11, l20, l21, 1/l22
        ("gain", "f8", (3, 3)),  # of a ball: C^-1 B
        ("acceleration", "f8", 3),
        ("spin_rate", "f8", 3),
    ],
    align=True,
)

CARRIED = np.dtype(
    [
        ("node", "i8"),  # that carries the body
        ("first", "i8"),  # of the nodes of its joint
        ("q", "i8"),  # where the body is in q and v of the equations of the bodies
        ("v", "i8"),
        ("n_v", "i8"),  # 6: position and Euler parameters; 3: position in the plane and angle
        ("axes", "f8", (3, 3)),  # of the body, in those of the node
        ("point", "f8", 3),  # its origin
    ],
    align=True,
)

PLACED = np.dtype(
    [
        ("body", "i8"),  # row of a body
        ("first", "i8"),  # among the markers that are needed
        ("n", "i8"),
    ],
    align=True,
)

# The rows of one constraint that cuts a loop, and the nodes from its bodies to the ground.
CUT = np.dtype(
    [
        ("row", "i8"),
        ("n", "i8"),
        ("first_touch", "i8"),
        ("n_touches", "i8"),
        ("first_step", "i8"),  # of its path, from the leaves to the root
        ("n_steps", "i8"),
        ("values", "i8"),  # where W J^T begins, a row of `width` numbers per equation; M^-1 = W^T W
        ("width", "i8"),
    ],
    align=True,
)

TOUCHED = np.dtype([("body", "i8"), ("entries", "i8"), ("step", "i8")], align=True)

STEP = np.dtype(
    [
        ("node", "i8"),
        ("up", "i8"),  # the step of its parent; -1: the ground
        ("at", "i8"),  # where its freedoms are in a row of W J^T
    ],
    align=True,
)

PAIR = np.dtype(
    [
        ("a", "i8"),  # cuts
        ("b", "i8"),
        ("entries", "i8"),  # where the block of J M^-1 J^T begins
        ("first", "i8"),  # common pieces of both paths
        ("n", "i8"),
    ],
    align=True,
)

PIECE = np.dtype([("a", "i8"), ("b", "i8"), ("n", "i8")], align=True)

TREE = np.dtype(
    [
        ("bodies", "i8"),  # workspace of the equations of the bodies
        ("reduced", "i8"),  # and that of the joint coordinates
        ("gravity", "f8", 3),
        ("n_nodes", "i8"),
        ("nodes", "i8"),
        ("moving", "i8"),
        ("n_carried", "i8"),
        ("carried", "i8"),
        ("n_stages", "i8"),  # what bodies feel besides gravity and the joints of the tree
        ("stages", "i8"),
        ("tables", "i8"),
        ("counts", "i8"),
        ("origins", "i8"),  # their numbers among all stages
        ("rows", "i8"),  # of the equations of the bodies that cut loops
        ("n_cuts", "i8"),
        ("cuts", "i8"),
        ("n_touched", "i8"),
        ("touched", "i8"),
        ("n_path", "i8"),
        ("path", "i8"),
        ("n_pairs", "i8"),
        ("pairs", "i8"),
        ("n_pieces", "i8"),
        ("pieces", "i8"),
        ("n_values", "i8"),
        ("values", "i8"),
        ("loads", "i8"),  # force and moment at each step of a path
        ("factorize_rows", "i8"),
        ("multipliers", "i8"),
        ("combined", "i8"),  # W J^T times the multipliers, per velocity
        ("solved", "i8"),  # whether articulated inertias and loads belong to the last evaluation
        ("present", "i8"),  # 1: accelerations come from the equations of the bodies
        ("distrusted", "i8"),  # 1: because those of the recursion were not accurate enough
        ("difference", "f8"),  # the largest that was seen
        ("checked", "i8"),  # step before which both are compared again
        ("at", "f8"),  # when that was last done
        ("current", "i8"),  # 1: joint coordinates are newer than the state of the bodies
        ("corrects", "i8"),  # 1: corrections are made in joint coordinates
        ("noted", "i8"),  # the state of the bodies that belongs to the joint coordinates
        ("kept", "i8"),  # another one, and
        ("kept_joints", "i8"),  # its joint coordinates
        ("step", "i8"),
        ("step_data", "i8"),
        ("interpolate", "i8"),
        ("interpolate_data", "i8"),
        ("correct", "i8"),
        ("correct_data", "i8"),
    ],
    align=True,
)
