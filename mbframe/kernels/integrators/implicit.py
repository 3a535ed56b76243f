"""What implicit integrators share: their system matrix with its factors, products with its parts, and the flow of q.

The matrix of a Newton step, with c2 = 1/s and c3 = 1/s^2 for an implicit rate s,

    [ c1 M + c2 R + c3 K   J^T ]
    [ J                    0   ]

is factored on the symmetric pattern of M, J and all couplings by forces, without pivoting. Equations that the
factorization of the equations of motion leaves out, because they depend on others, are left out here too.

Own states z of elements stand with the velocities: z' - f(q, v, z) = 0 is an equation of motion with the mass 1. So the
unknowns are the changes of v and z, which are those that move, and of the multipliers.

Forces Q(lambda) that depend on reactions take part with the multipliers of the iteration: where J^T stands above, the
matrix has J^T - dQ/dlambda then.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.compile import call
from ..compiler.memory import clear, indices, integers, part, record, vector
from ..linear_algebra.factorization import PIVOT_LOST, factor_general, substitute_general
from ..workspace import MOTION, NO_STEP, OK, SINGULAR, factorization, state_changed

NEWTON = np.dtype(
    [
        ("n", "i8"),
        ("n_own", "i8"),
        ("n_moving", "i8"),  # velocities and own states
        ("own_slot", "i8"),  # where the diagonal of own states is among the factors
        ("n_lower", "i8"),
        ("n_targets", "i8"),
        ("start", "i8"),
        ("rows", "i8"),
        ("targets", "i8"),
        ("order", "i8"),
        ("scale", "i8"),
        ("threshold", "i8"),
        ("n_mass", "i8"),  # entries of M: where they are, in the matrix and among the factors
        ("mass_source", "i8"),
        ("mass_row", "i8"),
        ("mass_column", "i8"),
        ("mass_slot", "i8"),
        ("n_jacobian", "i8"),  # entries of J: row by constraint
        ("jacobian_source", "i8"),
        ("jacobian_row", "i8"),
        ("jacobian_column", "i8"),
        ("jacobian_slot", "i8"),
        ("transposed_slot", "i8"),  # of J^T
        ("n_tangent", "i8"),  # entries of K and R that can differ from zero
        ("tangent_source", "i8"),
        ("n_numbers", "i8"),  # of K and R each: all that the tangent has room for
        ("stiffness", "i8"),
        ("damping", "i8"),
        ("tangent_row", "i8"),
        ("tangent_column", "i8"),
        ("tangent_slot", "i8"),
        ("n_reactive", "i8"),  # entries of dQ/dlambda
        ("reactive_slot", "i8"),
        ("by_reactions", "i8"),
        ("reactions", "i8"),  # multipliers that it is taken for
        ("take", "i8"),  # stage that fills K and R for the v' and multipliers of the tangent's record
        ("v_rate", "i8"),
        ("multipliers", "i8"),
        ("rates", "i8"),  # stages of q' = T(q) d, for the tables of the first n_moves stages
        ("displacements", "i8"),  # stages of d from q'
    ],
    align=True,
)


@inner
def newton(address):
    return record(address, NEWTON)


@inner
def begin(w, m, t, work):
    """v', multipliers and factors at the state where a step begins; takes over which equations are left out."""
    status = call(w.accelerate, t, work, w.accelerate_data, MOTION)
    if status != OK:
        return status
    f = factorization(w.factor)
    values, order = vector(f.values, f.n), indices(f.order, f.n)
    threshold = vector(m.threshold, m.n)
    left_out = vector(m.scale, m.n)
    clear(left_out)
    for k in range(f.n):
        if values[k] == 0.0:
            left_out[order[k] + m.n_own] = 1.0  # a multiplier: a lost pivot of M ends the run
    own = indices(m.order, m.n)
    for k in range(m.n):
        threshold[k] = np.inf if left_out[own[k]] != 0.0 else PIVOT_LOST
    return OK


@inner
def take_tangent(w, m, t, work, v_rate, multipliers):
    """K and R at the state of the last evaluation."""
    a, b = vector(m.v_rate, w.n_v), vector(m.multipliers, w.n_rows)
    for k in range(w.n_v):
        a[k] = v_rate[k]
    for k in range(w.n_rows):
        b[k] = multipliers[k]
    if w.n_reactive > 0:
        now, reactions = vector(w.multipliers, w.n_rows), vector(m.reactions, w.n_rows)
        for k in range(w.n_rows):
            reactions[k] = now[k]
    return call(m.take, t, work, 0, 0)


@inner
def add_reactive(w, t, work, multipliers):
    """Add forces that depend on reactions to those of the last evaluation, for some multipliers."""
    if w.n_reactive == 0:
        return OK
    now = vector(w.multipliers, w.n_rows)
    for k in range(w.n_rows):
        now[k] = multipliers[k]
    return call(w.rub, t, work, 0, 0)


@inner
def factor(w, m, numbers, c1, c2, c3):
    """Factors of the matrix, from the entries at hand; `numbers` gets D, L and U."""
    clear(numbers)
    entries = vector(w.entries, w.n_entries)
    source, slot = indices(m.mass_source, m.n_mass), indices(m.mass_slot, m.n_mass)
    for k in range(m.n_mass):
        numbers[slot[k]] += c1 * entries[source[k]]
    source, slot = indices(m.jacobian_source, m.n_jacobian), indices(m.jacobian_slot, m.n_jacobian)
    transposed = indices(m.transposed_slot, m.n_jacobian)
    for k in range(m.n_jacobian):
        numbers[slot[k]] += entries[source[k]]
        numbers[transposed[k]] += entries[source[k]]
    own_slot = indices(m.own_slot, m.n_own)
    for k in range(m.n_own):
        numbers[own_slot[k]] += c1
    stiffness, damping = vector(m.stiffness, m.n_numbers), vector(m.damping, m.n_numbers)
    source, slot = indices(m.tangent_source, m.n_tangent), indices(m.tangent_slot, m.n_tangent)
    for k in range(m.n_tangent):
        numbers[slot[k]] += c2 * damping[source[k]] + c3 * stiffness[source[k]]
    by_reactions, slot = vector(m.by_reactions, m.n_reactive), indices(m.reactive_slot, m.n_reactive)
    for k in range(m.n_reactive):
        numbers[slot[k]] -= by_reactions[k]
    scale = vector(m.scale, m.n)
    clear(scale)
    size = m.n + m.n_lower
    _weakest, lost = factor_general(
        m.n,
        numbers[:size],
        numbers[size:],
        indices(m.start, m.n + 1),
        indices(m.rows, m.n_lower),
        indices(m.targets, m.n_targets),
        scale,
        vector(m.threshold, m.n),
    )
    w.factorizations += 1
    order = indices(m.order, m.n)
    if lost > 0:
        for k in range(m.n):
            if numbers[k] == 0.0 and order[k] < m.n_moving:
                return lost_pivot(w, order[k])
    return OK


@inner
def lost_pivot(w, unknown):
    """What it means: a mass matrix that is singular, or an own state that another step must resolve."""
    if unknown >= w.n_v:
        return NO_STEP
    w.culprit = unknown
    return SINGULAR


@inner
def substitute(m, numbers, x, permuted):
    """x := the solution for the right-hand side x."""
    order = indices(m.order, m.n)
    for k in range(m.n):
        permuted[k] = x[order[k]]
    size = m.n + m.n_lower
    substitute_general(
        m.n, numbers[:size], numbers[size:], indices(m.start, m.n + 1), indices(m.rows, m.n_lower), permuted
    )
    for k in range(m.n):
        x[order[k]] = permuted[k]


@inner
def add_product(n, entries, source, row, column, factor, x, out):
    """out += factor A x for a sparse matrix of n entries; addresses say where each comes from and where it stands."""
    at, i, j = indices(source, n), indices(row, n), indices(column, n)
    for k in range(n):
        out[i[k]] += factor * entries[at[k]] * x[j[k]]


@inner
def add_mass(w, m, factor, x, out):
    """out += factor M x."""
    entries = vector(w.entries, w.n_entries)
    add_product(m.n_mass, entries, m.mass_source, m.mass_row, m.mass_column, factor, x, out)


@inner
def add_load(w, m, factor, multipliers, out):
    """out += factor J^T multipliers."""
    entries, row, column = vector(w.entries, w.n_entries), m.jacobian_row, m.jacobian_column
    add_product(m.n_jacobian, entries, m.jacobian_source, column, row, factor, multipliers, out)


@inner
def add_stiffness(m, factor, x, out):
    """out += factor K x."""
    stiffness = vector(m.stiffness, m.n_numbers)
    add_product(m.n_tangent, stiffness, m.tangent_source, m.tangent_row, m.tangent_column, factor, x, out)


@inner
def add_residual(w, m, factor, v_rate, multipliers, out):
    """out += factor (M v' - Q + J^T lambda, z' - f) with the tables at hand; v_rate has v' and z'."""
    force, own_rates = vector(w.force, w.n_v), part(w.rates, w.n_q + w.n_v, m.n_own)
    for k in range(w.n_v):
        out[k] -= factor * force[k]
    for k in range(m.n_own):
        out[w.n_v + k] += factor * (v_rate[w.n_v + k] - own_rates[k])
    add_mass(w, m, factor, v_rate, out)
    add_load(w, m, factor, multipliers, out)


@inner
def run_over_bodies(w, addresses, t, work):
    """Run a stage of each formulation over its table."""
    stages, tables, counts = (
        integers(addresses, w.n_moves),
        integers(w.tables, w.n_moves),
        integers(w.counts, w.n_moves),
    )
    for s in range(w.n_moves):
        status = call(stages[s], t, work, tables[s], counts[s])
        if status != OK:
            return status
    return OK


@inner
def coordinate_rates(w, m, t, work, d):
    """q' := T(q) d, in `rates`."""
    solution = vector(w.solution, w.n_v)
    for k in range(w.n_v):
        solution[k] = d[k]
    return run_over_bodies(w, m.rates, t, work)


@inner
def flow(w, m, t, work, q0, d, scratch):
    """q := where the constant velocity d leads from q0 within a unit of time.

    On a rotation group that is q0 exp(d), by the classical Runge-Kutta method: to the fifth power of d; elsewhere it is
    q0 + d.
    """
    q, rates = part(w.y, 0, w.n_q), part(w.rates, 0, w.n_q)
    for k in range(w.n_q):
        q[k] = q0[k]
        scratch[k] = 0.0
    for stage in range(4):
        status = coordinate_rates(w, m, t, work, d)
        if status != OK:
            return status
        weight = 1.0 / 3.0 if stage in (1, 2) else 1.0 / 6.0
        reach = 1.0 if stage == 2 else 0.5
        for k in range(w.n_q):
            scratch[k] += weight * rates[k]
            q[k] = q0[k] + (reach * rates[k] if stage < 3 else scratch[k])
    state_changed(w)
    return OK


@inner
def largest(values, n):
    s = 0.0
    for k in range(n):
        s = max(s, abs(values[k]))
    return s
