"""The system matrix of a collocation step with three stages, each linearized at its own state.

For the changes dv_j of the stages' velocities, and h dlambda_i, row i of the stages says

    sum_j (a^-1_ij M_i + h^2 a_ij K_i) dv_j + h R_i dv_i + J_i^T h dlambda_i = -h (M v' - Q + J^T lambda)_i
    J_i dv_i = -(J v + C_t)_i

where v stands for own states of elements too, as in `implicit`. Every entry of [M J^T; J 0] becomes a block of 3 x 3
numbers, which couples the stages; pattern, order and schedule are those of `implicit`, and so is the order of the
blocks: D, L, U. A block pivot is inverted as a whole: it is regular where the matrices of the real and complex
eigenvalues, into which the system would separate if all stages had one tangent, have regular pivots.
"""

from __future__ import annotations

import numpy as np

from ..compiler.backend import inner
from ..compiler.memory import indices, vector
from ..workspace import OK
from .implicit import lost_pivot

STAGES = 3


@inner
def add_stage(w, m, blocks, i, h, a, inverse):
    """The rows of stage i from the entries and the tangent at hand."""
    entries = vector(w.entries, w.n_entries)
    source, slot = indices(m.mass_source, m.n_mass), indices(m.mass_slot, m.n_mass)
    for k in range(m.n_mass):
        for j in range(STAGES):
            blocks[slot[k], i, j] += inverse[i, j] * entries[source[k]]
    slot = indices(m.own_slot, m.n_own)
    for k in range(m.n_own):
        for j in range(STAGES):
            blocks[slot[k], i, j] += inverse[i, j]
    source, slot = indices(m.jacobian_source, m.n_jacobian), indices(m.jacobian_slot, m.n_jacobian)
    transposed = indices(m.transposed_slot, m.n_jacobian)
    for k in range(m.n_jacobian):
        blocks[slot[k], i, i] += entries[source[k]]
        blocks[transposed[k], i, i] += entries[source[k]]
    stiffness, damping = vector(m.stiffness, m.n_numbers), vector(m.damping, m.n_numbers)
    source, slot = indices(m.tangent_source, m.n_tangent), indices(m.tangent_slot, m.n_tangent)
    for k in range(m.n_tangent):
        blocks[slot[k], i, i] += h * damping[source[k]]
        for j in range(STAGES):
            blocks[slot[k], i, j] += h * h * a[i, j] * stiffness[source[k]]
    by_reactions, slot = vector(m.by_reactions, m.n_reactive), indices(m.reactive_slot, m.n_reactive)
    for k in range(m.n_reactive):
        blocks[slot[k], i, i] -= by_reactions[k]


@inner
def numbers(block):
    """Row by row, as values: an array would be read again for every product."""
    x, y, z = block[0], block[1], block[2]
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@inner
def product(x, y):
    """Of two blocks of numbers."""
    return (
        x[0] * y[0] + x[1] * y[3] + x[2] * y[6],
        x[0] * y[1] + x[1] * y[4] + x[2] * y[7],
        x[0] * y[2] + x[1] * y[5] + x[2] * y[8],
        x[3] * y[0] + x[4] * y[3] + x[5] * y[6],
        x[3] * y[1] + x[4] * y[4] + x[5] * y[7],
        x[3] * y[2] + x[4] * y[5] + x[5] * y[8],
        x[6] * y[0] + x[7] * y[3] + x[8] * y[6],
        x[6] * y[1] + x[7] * y[4] + x[8] * y[7],
        x[6] * y[2] + x[7] * y[5] + x[8] * y[8],
    )


@inner
def subtract(block, x):
    for i in range(STAGES):
        for j in range(STAGES):
            block[i, j] -= x[3 * i + j]


@inner
def largest_of(x):
    s = 0.0
    for number in x:
        s = max(s, abs(number))
    return s


@inner
def store(block, x):
    for i in range(STAGES):
        for j in range(STAGES):
            block[i, j] = x[3 * i + j]


@inner
def invert(block, threshold, scale):
    """Replace a block by its inverse, or by zeros if it is lost; returns whether it is not.

    It is lost if no more than `threshold` is left of `scale`, the largest contribution to it.
    """
    x = numbers(block)
    a, b, c, d, e, f, g, p, q = x
    adjugate = (
        e * q - f * p,
        c * p - b * q,
        b * f - c * e,
        f * g - d * q,
        a * q - c * g,
        c * d - a * f,
        d * p - e * g,
        b * g - a * p,
        a * e - b * d,
    )
    determinant = a * adjugate[0] + b * adjugate[3] + c * adjugate[6]
    regular = abs(determinant) > threshold * max(scale, largest_of(x)) * largest_of(adjugate)
    factor = 1.0 / determinant if regular else 0.0
    for i in range(STAGES):
        for j in range(STAGES):
            block[i, j] = factor * adjugate[3 * i + j]
    return regular


@inner
def factor_stages(w, m, blocks):
    """L U in place: D (on return its inverse), L and U, as `factorization.factor_general` does with numbers."""
    start, rows, targets = indices(m.start, m.n + 1), indices(m.rows, m.n_lower), indices(m.targets, m.n_targets)
    scale, threshold, order = vector(m.scale, m.n), vector(m.threshold, m.n), indices(m.order, m.n)
    shift, one = np.uint64(m.n), np.uint64(1)
    above = np.uint64(m.n_lower)  # from an entry of L to that of U
    p = np.uint64(0)
    for k in range(m.n):
        scale[k] = 0.0
    w.factorizations += 1
    for k in range(shift):
        if not invert(blocks[k], threshold[k], scale[k]) and order[k] < m.n_moving:
            return lost_pivot(w, order[k])
        inverse = numbers(blocks[k])
        first, last = np.uint64(start[k]), np.uint64(start[k + one])
        for a in range(first, last):
            store(blocks[a], product(numbers(blocks[a]), inverse))
        for a in range(first, last):
            lower, upper = numbers(blocks[a]), numbers(blocks[a + above])
            row = rows[a - shift]
            contribution = product(lower, upper)
            scale[row] = max(scale[row], largest_of(contribution))
            subtract(blocks[row], contribution)
            p += one
            for b in range(a + one, last):
                target = np.uint64(targets[p])
                subtract(blocks[target], product(numbers(blocks[b]), upper))
                subtract(blocks[target + above], product(lower, numbers(blocks[b + above])))
                p += one
    return OK


@inner
def substitute_stages(m, blocks, x, permuted):
    """x := the solution for the right-hand side x; a row of x per unknown, with a number per stage."""
    start, rows, order = indices(m.start, m.n + 1), indices(m.rows, m.n_lower), indices(m.order, m.n)
    shift, one, above = np.uint64(m.n), np.uint64(1), np.uint64(m.n_lower)
    for k in range(m.n):
        for i in range(STAGES):
            permuted[k, i] = x[order[k], i]
    for k in range(shift):
        for a in range(np.uint64(start[k]), np.uint64(start[k + one])):
            subtract_image(permuted[rows[a - shift]], blocks[a], permuted[k])
    for step in range(shift):
        k = shift - one - step
        for a in range(np.uint64(start[k]), np.uint64(start[k + one])):
            subtract_image(permuted[k], blocks[a + above], permuted[rows[a - shift]])
        y0, y1, y2 = permuted[k, 0], permuted[k, 1], permuted[k, 2]
        for i in range(STAGES):
            permuted[k, i] = blocks[k, i, 0] * y0 + blocks[k, i, 1] * y1 + blocks[k, i, 2] * y2
    for k in range(m.n):
        for i in range(STAGES):
            x[order[k], i] = permuted[k, i]


@inner
def subtract_image(out, block, x):
    """out -= block x."""
    for i in range(STAGES):
        out[i] -= block[i, 0] * x[0] + block[i, 1] * x[1] + block[i, 2] * x[2]
