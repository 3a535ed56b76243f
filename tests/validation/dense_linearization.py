"""A small dense linearization of steady motions of rigid bodies, written apart from mbframe: a reference for tests.

Bodies are described by their centres of mass. Unknown are small displacements dr and rotations phi of all of them and
the changes dv, dw of their velocities; the accelerations come from the whole system of equations [M J^T; J 0], and
their derivatives from a complex step. Roots are those on the states that the constraints allow.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Z = np.array([0.0, 0.0, 1.0])
STEP = 1e-30
EPSILON = float(np.finfo(float).eps)


def tilde(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass
class RefBody:
    """A body: mass, inertia about its centre, pose and velocities in global axes; it is described without rotation."""

    name: str
    mass: float
    inertia: Array
    position: Array
    velocity: Array
    spin: Array


@dataclass
class RefSystem:
    """Bodies, joints (kind, i, j, numbers), springs (i, j, at_i, at_j, stiffness, damping, free length), gravity.

    A joint's i and j are numbers of bodies, -1 for the ground. Kinds: "hinge" (at, axis), "ball" (at), "plane" (at: the
    body moves in a plane with normal Z), "knife" (at, blade), "disk" (axle, radius), "sphere" (radius): the last four
    on the ground.
    """

    bodies: list[RefBody] = field(default_factory=list)
    joints: list[tuple] = field(default_factory=list)
    springs: list[tuple] = field(default_factory=list)
    gravity: Array = field(default_factory=lambda: np.zeros(3))
    turn: Array = field(default_factory=lambda: np.zeros(3))


class _Moved:
    """Positions and velocities of all bodies, displaced from the reference."""

    def __init__(self, system: RefSystem, x) -> None:
        n = len(system.bodies)
        dr, phi, dv, dw = x.reshape(4, n, 3)
        self.n, self.bodies = n, system.bodies
        self.r = [b.position + dr[k] for k, b in enumerate(system.bodies)]
        self.A = [np.eye(3) + tilde(phi[k]) for k in range(n)]  # exact in the first order, which is all that is used
        self.v = [b.velocity + dv[k] for k, b in enumerate(system.bodies)]
        self.w = [b.spin + dw[k] for k, b in enumerate(system.bodies)]

    def vector(self, k: int, d: Array):
        """A vector fixed to a body: itself, its rate, the rows of its rate, and what accelerates it besides."""
        rows = np.zeros((3, 6 * self.n), complex)
        if k < 0:
            return d + 0j, np.zeros(3, complex), rows, np.zeros(3, complex)
        e, w = self.A[k] @ d, self.w[k]
        rows[:, 6 * k + 3 : 6 * k + 6] = -tilde(e)
        rate = np.cross(w, e)
        return e, rate, rows, np.cross(w, rate)

    def point(self, k: int, at: Array):
        if k < 0:
            return self.vector(k, at)
        e, rate, rows, bias = self.vector(k, at - self.bodies[k].position)
        rows[:, 6 * k : 6 * k + 3] = np.eye(3)
        return self.r[k] + e, self.v[k] + rate, rows, bias


def _product(a, b):
    """Rows and bias of the rate of a . b."""
    rows = b[0] @ a[2] + a[0] @ b[2]
    return rows[None], np.array([b[0] @ a[3] + a[0] @ b[3] + 2.0 * (a[1] @ b[1])])


def _difference(a, b):
    return tuple(y - x for x, y in zip(a, b, strict=True))


def _across(axis: Array) -> tuple[Array, Array]:
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first = first / np.linalg.norm(first)
    return first, np.cross(axis, first)


def _constraints(system: RefSystem, m: _Moved):
    """Rows and biases of the accelerations, and which of the rows are rates of positions."""
    rows, bias, holonomic = [], [], []

    def add(pair, is_rate):
        rows.append(pair[0])
        bias.append(pair[1])
        holonomic.extend([is_rate] * len(pair[1]))

    for kind, i, j, *numbers in system.joints:
        if kind in ("hinge", "ball"):
            apart = _difference(m.point(i, numbers[0]), m.point(j, numbers[0]))
            add((apart[2], apart[3]), True)
        if kind == "hinge":
            for side in _across(numbers[1]):
                add(_product(m.vector(i, side), m.vector(j, numbers[1])), True)
        elif kind == "plane":
            normal = m.vector(-1, Z)
            add(_product(normal, m.point(j, numbers[0])), True)
            for side in _across(Z):
                add(_product(m.vector(j, side), normal), True)
        elif kind == "knife":
            blade, rate, _, _ = m.vector(j, numbers[1])
            p = m.point(j, numbers[0])
            side = np.cross(Z, blade)
            add(((side @ p[2])[None], np.array([side @ p[3] + np.cross(Z, rate) @ p[1]])), False)
        elif kind in ("disk", "sphere"):
            w, R = m.w[j], numbers[-1]
            if kind == "disk":
                a, a_rate, _, _ = m.vector(j, numbers[0])
                k, k_rate = Z @ a, Z @ a_rate
                s = np.sqrt(1.0 - k * k)
                s_rate, u, u_rate = -k * k_rate / s, Z - k * a, -k_rate * a - k * a_rate
                c, c_rate = -R * u / s, -R * (u_rate / s - u * s_rate / s**2)
            else:
                c, c_rate = -R * Z + 0j, np.zeros(3)
            touching = np.zeros((3, 6 * m.n), complex)
            touching[:, 6 * j : 6 * j + 3], touching[:, 6 * j + 3 : 6 * j + 6] = np.eye(3), -tilde(c)
            extra = np.cross(w, c_rate)
            add((touching[2:], extra[2:]), True)
            add((touching[:2], extra[:2]), False)
    if not rows:
        return np.zeros((0, 6 * m.n), complex), np.zeros(0, complex), np.zeros(0, bool)
    return np.vstack(rows), np.concatenate(bias), np.array(holonomic)


def _accelerations(system: RefSystem, x):
    m = _Moved(system, x)
    n = 6 * m.n
    M, Q = np.zeros((n, n), complex), np.zeros(n, complex)
    for k, b in enumerate(system.bodies):
        inertia = m.A[k] @ b.inertia @ m.A[k].T
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = b.mass * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia
        Q[6 * k : 6 * k + 3] = b.mass * system.gravity
        Q[6 * k + 3 : 6 * k + 6] = -np.cross(m.w[k], inertia @ m.w[k])
    for i, j, at_i, at_j, stiffness, damping, free in system.springs:
        d = _difference(m.point(i, at_i), m.point(j, at_j))
        length = np.sqrt(d[0] @ d[0])
        along = d[0] / length
        Q -= (stiffness * (length - free) + damping * (along @ d[1])) * (along @ d[2])
    J, bias, _ = _constraints(system, m)
    whole = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    return np.linalg.solve(whole, np.concatenate([Q, -bias]))[:n].reshape(m.n, 6)


def _rates(system: RefSystem, x):
    """Of all constraints, as functions of positions and velocities."""
    m = _Moved(system, x)
    J = _constraints(system, m)[0]
    return J @ np.concatenate([np.concatenate([m.v[k], m.w[k]]) for k in range(m.n)])


def unsteady(system: RefSystem) -> float:
    """The largest of r'' - Omega x r', w' - Omega x w: zero for a steady motion."""
    found = _accelerations(system, np.zeros(12 * len(system.bodies))).real
    wanted = [np.concatenate([np.cross(system.turn, b.velocity), np.cross(system.turn, b.spin)]) for b in system.bodies]
    return float(np.abs(found - np.array(wanted)).max())


def slip(system: RefSystem) -> float:
    """The largest rate of a constraint."""
    return float(np.abs(_rates(system, np.zeros(12 * len(system.bodies)))).max(initial=0.0))


def state_matrix(system: RefSystem) -> tuple[Array, float]:
    """The matrix of the allowed states, and how far it leads out of them: zero where coefficients are constant."""
    n = len(system.bodies)
    size = 12 * n
    full = np.zeros((size, size))
    dr, phi, dv, dw = (slice(3 * n * k, 3 * n * (k + 1)) for k in range(4))
    turn = np.kron(np.eye(n), tilde(system.turn))
    full[dr, dv] = full[phi, dw] = np.eye(3 * n)
    for k, b in enumerate(system.bodies):
        place = slice(3 * n + 3 * k, 3 * n + 3 * k + 3)
        full[place, place] = tilde(b.spin)
    slopes = []
    for k in range(size):
        x = np.zeros(size, complex)
        x[k] = 1j * STEP
        moved = _accelerations(system, x).imag / STEP
        full[dv, k], full[dw, k] = moved[:, :3].ravel(), moved[:, 3:].ravel()
        slopes.append(_rates(system, x).imag / STEP)
    for part in (dr, phi, dv, dw):
        full[part, part] -= turn
    J, _, holonomic = _constraints(system, _Moved(system, np.zeros(size)))
    closed = np.zeros((int(holonomic.sum()), size))
    by_body = J.real[holonomic].reshape(-1, n, 2, 3)
    closed[:, dr], closed[:, phi] = by_body[:, :, 0].reshape(-1, 3 * n), by_body[:, :, 1].reshape(-1, 3 * n)
    rows = np.vstack([closed, np.array(slopes).T.reshape(len(J), size)])
    _, sizes, right = np.linalg.svd(rows)
    allowed = right[int(np.sum(sizes > 1e-9 * sizes.max(initial=0.0))) :].T
    matrix = allowed.T @ full @ allowed
    return matrix, float(np.abs(full @ allowed - allowed @ matrix).max(initial=0.0))


def polynomial_difference(matrix: Array, roots: NDArray, other: Array) -> float:
    """How far the polynomial with these roots is from that of a matrix, by what rounding explains, on three circles.

    Roots that are defective scatter by a root of the rounding; their polynomial does not: a change D of a matrix makes
    det(s - A - D) = det(s - A) det(1 - (s - A)^-1 D), which differs by n |(s - A)^-1| |D| in relative terms. D is the
    rounding of entries and eigenvalues, in `matrix` and in `other`, the same in other coordinates, whose roots are
    compared.
    """
    n = len(matrix)
    if len(roots) != n:
        return np.inf
    expected = np.linalg.eigvals(matrix)
    scale = 1.0 + float(np.abs(matrix).max(initial=0.0))
    sizes = np.abs(np.concatenate([expected, roots]))
    positive = np.append(sizes[sizes > 1e-3 * scale], scale)  # smaller ones may be zero but for rounding
    worst = 0.0
    for radius in (0.5 * positive.min(), np.exp(np.mean(np.log(positive))), 1.5 * positive.max()):
        for s in radius * np.exp(2j * np.pi * (np.arange(24) + 0.5) / 24.0):
            apart = abs(np.prod((s - roots) / (s - expected)) - 1.0)
            least = [np.linalg.svd(s * np.eye(n) - part, compute_uv=False)[-1] for part in (matrix, other)]
            rounding = n * EPSILON * sum(np.linalg.norm(p) / x for p, x in zip((matrix, other), least, strict=True))
            worst = max(worst, apart / max(rounding, EPSILON))
    return float(worst)
