"""Stages of the joint coordinates, and those by which the march of the bodies takes steps in them.

The joint coordinates have a workspace of their own, with the same record: integrators and corrections work on it as on
that of the bodies. Its `tree` leads to what belongs to both.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import Stage, call
from ..compiler.memory import block, clear, copy, integers, part, record, records, vector
from ..compiler.templates import template
from ..free import N_FRAME, N_Q, N_V, ROW, place, prepare
from ..layout import PLACE
from ..stages.dynamics import drive, evaluate_if_stale, feed_back
from ..workspace import (
    DYNAMICS,
    MARKER,
    MISFIT,
    MOTION,
    NO_CONVERGENCE,
    NOT_FINITE,
    OK,
    POSITION,
    SINGULAR,
    factorization,
    state_changed,
    workspace,
)
from .bodies import expand, forget, hang_on, read, read_accelerations, same
from .cuts import accelerations_of_cuts, balance, carry_cuts, multiply_cuts
from .layout import CARRIED, NODE, PLACED, TREE
from .passes import accelerate, carry, coordinate_rates, move, normalize, weigh

SPINNING = (
    1e-3  # of squared velocities: accelerations are compared with at least that, since they may vanish altogether
)
TRUSTED = 1e-10  # largest difference of accelerations from those of the equations of the bodies, relative
OF_JOINTS = 2  # `evaluated` of the bodies: the tables have what the joints ask for, and nothing else
SELDOM = 256  # steps after which they are compared again, at the latest


@inner
def tree_of(address):
    return record(address, TREE)


@template(ROW, N_Q, N_V, N_FRAME, prepare, place)
def needed_markers(t, work, table, n):
    """Markers that forces and cut constraints look at, of all bodies of one formulation."""
    w = workspace(work)
    rows = records(table, n, PLACED)
    markers = records(w.markers, w.n_markers, MARKER)
    for k in range(n):
        body = record(rows[k].body, ROW)
        n_q, n_v = N_Q or body.n_q, N_V or body.n_v
        q, v = part(w.y, body.q, n_q), part(w.y, w.n_q + body.v, n_v)
        frame = block(w.scratch, 0, 3, N_FRAME or body.n_frame)
        prepare(body, q, frame)
        numbers = integers(rows[k].first, rows[k].n)
        for m in range(rows[k].n):
            marker = markers[numbers[m]]
            place(body, q, v, frame, marker, block(w.jacobians, marker.jacobian, PLACE, n_v), w.level)
    return OK


@inner
def feel(tree, r, w, t, work, level):
    """Evaluate what bodies feel besides gravity and the joints of the tree; fills the rows of the cuts."""
    own, first = part(r.y, r.n_q + r.n_v, r.n_z), w.n_q + w.n_v
    copy(own, part(w.y, first, w.n_z))
    expand(tree, w)
    state_changed(w)
    w.t, w.level = t, level
    clear(vector(w.residual, w.n_holonomic))
    if level > POSITION:
        clear(vector(w.constraint_rate, w.n_rows))
        clear(vector(w.gamma, w.n_rows))
    if level == DYNAMICS:
        clear(vector(w.force, w.n_v))
    stages, tables = integers(tree.stages, tree.n_stages), integers(tree.tables, tree.n_stages)
    counts, origins = integers(tree.counts, tree.n_stages), integers(tree.origins, tree.n_stages)
    for s in range(tree.n_stages):
        status = call(stages[s], t, tree.bodies, tables[s], counts[s])
        if status != OK:
            w.culprit_stage = origins[s]
            return status
    if level == DYNAMICS:
        feed_back(w)
        w.evaluated = OF_JOINTS
    rows = integers(tree.rows, r.n_rows)
    residual, rate = vector(r.residual, r.n_holonomic), vector(r.constraint_rate, r.n_rows)
    given, given_rate = vector(w.residual, w.n_holonomic), vector(w.constraint_rate, w.n_rows)
    for k in range(r.n_holonomic):
        residual[k] = given[rows[k]]
    if level > POSITION:
        for k in range(r.n_rows):
            rate[k] = given_rate[rows[k]]
    return OK


@Stage
def evaluate_joints(t, work, data, level):
    """Motion of all nodes, and what their bodies feel, for the current (t, q, v, z) of the joints."""
    r = workspace(work)
    tree = tree_of(r.tree)
    w = workspace(tree.bodies)
    r.level, r.t, r.evaluated = level, t, 0
    tree.solved = 0
    move(tree, r)
    if tree.n_stages > 0:
        status = feel(tree, r, w, t, work, level)
        if status != OK:
            return status
    if level == DYNAMICS:
        r.evaluations += 1
        r.evaluated = 1
    return OK


@Stage
def factorize_joints(t, work, data, entries):
    """Articulated inertias and loads, and the factors of J M^-1 J^T of what cuts loops."""
    r = workspace(work)
    tree = tree_of(r.tree)
    w = workspace(tree.bodies)
    weigh(tree)
    if tree.n_stages > 0:
        hang_on(tree, w)
    carry(tree)
    tree.solved = 1
    f = factorization(r.factor)
    if r.n_rows == 0:
        r.factorizations += 1
        f.valid = 1
        return OK
    carry_cuts(tree, w, r.factor, r.n_rows)
    multiply_cuts(tree, r)
    return call(tree.factorize_rows, t, work, r.factor, r.entries)


@Stage
def solve_joints(t, work, data, entries):
    """`solution`: the velocities, and multipliers, that change the rows by what is in `right`, where no force acts."""
    r = workspace(work)
    tree = tree_of(r.tree)
    right, x = vector(r.right, r.n_v + r.n_rows), vector(r.solution, r.n_v + r.n_rows)
    balance(tree, r, right[r.n_v :], x[r.n_v :], x[: r.n_v])
    for k in range(r.n_v, r.n_v + r.n_rows):
        x[k] = -x[k]
    return OK


@Stage
def move_joints(t, work, data, n):
    """q := q + T(q) d with d from `solution`, normalized."""
    r = workspace(work)
    tree = tree_of(r.tree)
    q, step = vector(r.y, r.n_q), vector(r.rates, r.n_q)
    coordinate_rates(tree, q, vector(r.solution, r.n_v), step)
    for k in range(r.n_q):
        q[k] += step[k]
    normalize(tree, q)
    return OK


@inner
def finite(r):
    """Whether all accelerations are finite."""
    rates = part(r.rates, r.n_q, r.n_v)
    total = 0.0
    for k in range(r.n_v):
        total += abs(rates[k])
    if total < np.inf:
        return OK
    for k in range(r.n_v):
        if not abs(rates[k]) < np.inf:
            r.culprit = k
            break
    return NOT_FINITE


@inner
def recur(tree, r, w, t, work):
    """v' of the joints, and the multipliers of the cuts, by the recursion."""
    if tree.solved == 0 or factorization(r.factor).valid != 1:
        status = call(r.factorize, t, work, r.factor, r.entries)
        if status != OK:
            return status
    rates = part(r.rates, r.n_q, r.n_v)
    accelerate(tree, rates)
    if r.n_rows > 0:
        right, x = vector(r.right, r.n_v + r.n_rows), vector(r.solution, r.n_v + r.n_rows)
        multipliers = vector(r.multipliers, r.n_rows)
        accelerations_of_cuts(tree, r, w, right)
        balance(tree, r, right, multipliers, x)
        for k in range(r.n_v):
            rates[k] -= x[k]
    if w.n_drives > 0:
        rows, given, all_rows = (
            integers(tree.rows, r.n_rows),
            vector(r.multipliers, r.n_rows),
            vector(w.multipliers, w.n_rows),
        )
        for k in range(r.n_rows):
            all_rows[rows[k]] = given[k]
        drive(w, all_rows, vector(w.drift, w.n_rows), part(w.rates, w.n_q + w.n_v, w.n_z))
    return finite(r)


@inner
def ask_bodies(tree, r, w, t):
    """v' of the joints from the accelerations that the equations of the bodies have, at the motion of the nodes."""
    copy(part(r.y, r.n_q + r.n_v, r.n_z), part(w.y, w.n_q + w.n_v, w.n_z))
    expand(tree, w)
    state_changed(w)
    status = call(w.accelerate, t, tree.bodies, w.accelerate_data, MOTION)
    if status == OK:
        read_accelerations(tree, w, part(r.rates, r.n_q, r.n_v))
    return status


@Stage
def accelerate_joints(t, work, data, n):
    """q', v' and z' in joint coordinates."""
    r = workspace(work)
    tree = tree_of(r.tree)
    w = workspace(tree.bodies)
    status = evaluate_if_stale(r, t, work)
    if status == OK:
        status = ask_bodies(tree, r, w, t) if tree.present != 0 else recur(tree, r, w, t, work)
    if status != OK:
        return status
    coordinate_rates(tree, part(r.y, 0, r.n_q), part(r.y, r.n_q, r.n_v), part(r.rates, 0, r.n_q))
    if r.n_z > 0:
        copy(part(w.rates, w.n_q + w.n_v, w.n_z), part(r.rates, r.n_q + r.n_v, r.n_z))
    return OK


# --- The march of the bodies -----------------------------------------------------------------------------------------


@inner
def moved(w):
    """How many numbers of the state of the bodies the joints decide on."""
    return w.n_q + w.n_v


@inner
def settle(tree, r, w):
    """Joint coordinates of the state of the bodies, if that came from elsewhere."""
    n = moved(w)
    y, noted, kept = vector(w.y, n), vector(tree.noted, n), vector(tree.kept, n)
    if tree.current != 0:
        return
    if w.evaluated != OF_JOINTS:  # the tables were filled for someone else meanwhile
        r.evaluated = 0
    if not same(y, noted, n):
        joints = vector(r.y, r.n_q + r.n_v)
        if same(y, kept, n):
            copy(vector(tree.kept_joints, r.n_q + r.n_v), joints)
        else:
            read(tree, r, w)
        copy(y, noted)
        state_changed(r)
    own, given = part(r.y, r.n_q + r.n_v, r.n_z), part(w.y, n, w.n_z)
    if not same(own, given, r.n_z):
        copy(given, own)
        r.evaluated = 0


@inner
def show(tree, r, w):
    """The state of the bodies at that of the joints."""
    evaluated = w.evaluated
    if r.evaluated == 0:
        move(tree, r)
        evaluated = 0
    copy(part(r.y, r.n_q + r.n_v, r.n_z), part(w.y, moved(w), w.n_z))
    expand(tree, w)
    state_changed(w)
    w.evaluated = evaluated
    copy(vector(w.y, moved(w)), vector(tree.noted, moved(w)))
    tree.current = 0


@inner
def hand_over(w, r):
    """What steps and corrections read of the run."""
    r.t, r.t_end, r.next_sample, r.restart = w.t, w.t_end, w.next_sample, w.restart
    r.steps, r.rejected, r.evaluations, r.factorizations = w.steps, w.rejected, w.evaluations, w.factorizations
    r.gap = w.gap
    if w.restart != 0:
        state_changed(r)  # what acts is another now


@inner
def take_back(w, r):
    """What the run reads of steps and corrections."""
    w.t, w.low, w.high, w.restart = r.t, r.low, r.high, r.restart
    w.steps, w.rejected, w.evaluations, w.factorizations = r.steps, r.rejected, r.evaluations, r.factorizations
    w.gap = r.gap


@inner
def blame(tree, r, w, status):
    """Let a failure point at the body or constraint of the equations of the bodies."""
    if status in (NOT_FINITE, SINGULAR):
        nodes = records(tree.nodes, tree.n_nodes, NODE)
        carried = records(tree.carried, tree.n_carried, CARRIED)
        for k in range(tree.n_carried):
            for i in range(carried[k].first, carried[k].node + 1):
                if nodes[i].v <= r.culprit:
                    w.culprit = carried[k].v
    elif status in (NO_CONVERGENCE, MISFIT):
        w.culprit = integers(tree.rows, r.n_rows)[r.culprit]
    else:
        w.culprit = r.culprit


@inner
def unhindered(tree, w):
    """The largest acceleration that a body would have by itself: what balances is rounded at that size."""
    nodes, carried = records(tree.nodes, tree.n_nodes, NODE), records(tree.carried, tree.n_carried, CARRIED)
    force = vector(w.force, w.n_v)
    largest = 0.0
    for k in range(tree.n_carried):
        body = carried[k]
        for c in range(2 if body.n_v == 3 else 3):
            largest = max(largest, abs(force[body.v + c]) / nodes[body.node].mass)
    return largest


@inner
def check(tree, r, w, t):
    """Compare the recursion with the equations of the bodies; where it lost digits, these are taken from now on."""
    status = call(r.accelerate, t, tree.reduced, 0, MOTION)
    if status != OK:
        return status
    kept, rates = vector(r.solution, r.n_v), part(r.rates, r.n_q, r.n_v)
    copy(rates, kept)
    evaluations, factorizations = w.evaluations, w.factorizations
    status = ask_bodies(tree, r, w, t)
    w.evaluations, w.factorizations = evaluations, factorizations
    if status != OK:
        return status
    largest, apart = unhindered(tree, w), 0.0
    velocities = part(r.y, r.n_q, r.n_v)
    for k in range(r.n_v):
        largest = max(largest, abs(rates[k]), SPINNING * velocities[k] * velocities[k])
        apart = max(apart, abs(rates[k] - kept[k]))
        rates[k] = kept[k]
    r.evaluated = 0  # forces are now those of the other evaluation
    difference = apart / largest if largest > 0.0 else 0.0
    tree.difference = max(tree.difference, difference)
    tree.at = t
    if not difference <= TRUSTED:
        tree.present = tree.distrusted = 1
    return OK


@Stage
def step_joints(t, work, data, n):
    """One step of the integrator in joint coordinates, from the state of the bodies to the next one."""
    w = workspace(work)
    tree = tree_of(data)
    r = workspace(tree.reduced)
    settle(tree, r, w)
    hand_over(w, r)
    status = OK
    if tree.present == 0 and w.steps >= tree.checked:
        tree.checked = w.steps + max(1, min(w.steps, SELDOM))
        status = check(tree, r, w, t)
    if status == OK:
        status = call(tree.step, t, tree.reduced, tree.step_data, n)
    take_back(w, r)
    tree.current = 1
    if status != OK:
        blame(tree, r, w, status)
        show(tree, r, w)
    elif tree.corrects == 0:
        show(tree, r, w)
    return status


@Stage
def correct_joints(t, work, data, n):
    """Close what cuts loops by changes of the joint coordinates; the joints of the tree are closed by themselves."""
    w = workspace(work)
    tree = tree_of(data)
    r = workspace(tree.reduced)
    settle(tree, r, w)
    status = OK
    if normalize(tree, vector(r.y, r.n_q)):
        state_changed(r)
    hand_over(w, r)
    r.t = t
    if r.n_rows > 0:
        status = call(tree.correct, t, tree.reduced, tree.correct_data, n)
    else:
        status = evaluate_if_stale(r, t, tree.reduced)
    at = w.t
    take_back(w, r)
    w.t = at
    if status != OK:
        blame(tree, r, w, status)
    tree.current = 1
    show(tree, r, w)
    return status


@Stage
def interpolate_joints(t, work, data, n):
    """The state of the bodies at time t inside the last step."""
    w = workspace(work)
    tree = tree_of(data)
    r = workspace(tree.reduced)
    count = moved(w)
    if tree.current == 0 and same(vector(w.y, count), vector(tree.noted, count), count):
        copy(vector(tree.noted, count), vector(tree.kept, count))
        copy(vector(r.y, r.n_q + r.n_v), vector(tree.kept_joints, r.n_q + r.n_v))
    hand_over(w, r)
    status = call(tree.interpolate, t, tree.reduced, tree.interpolate_data, n)
    take_back(w, r)
    state_changed(r)
    tree.current = 1
    if status == OK and normalize(tree, vector(r.y, r.n_q)):
        state_changed(r)
    show(tree, r, w)
    return status


@Stage
def settle_joints(t, work, data, n):
    """Take the joint coordinates from the state of the bodies, and the state of the bodies from these."""
    w = workspace(work)
    tree = tree_of(data)
    r = workspace(tree.reduced)
    tree.current = 0
    forget(vector(tree.noted, moved(w)))
    settle(tree, r, w)
    show(tree, r, w)
    return OK
