"""Collocation at the points of Radau: integrals, derivatives and values of smooth functions of a short window of time.

A function is known at the start of a window and at s points in it, the last of which is its end. Through these s + 1
values goes a polynomial of degree s; a linear differential equation is fulfilled at the s points (Radau IIA, of order
2 s - 1 at the end, stable for stiff equations) [HairerWanner1996], sec. IV.5.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

Array = NDArray[np.float64]

POINTS: Final = 7
"""s: points of a window."""


@cache
def places() -> Array:
    """0 and the points of Radau in (0, 1], at which a window is looked at."""
    from scipy.special import roots_jacobi

    inner, _ = roots_jacobi(POINTS - 1, 1.0, 0.0)
    return np.concatenate([[0.0], 0.5 * (1.0 + np.sort(inner)), [1.0]])


@cache
def integration() -> Array:
    """Q: the integral from 0 to c_i of the polynomial with given values at c_1 ... c_s, (s, s)."""
    c = places()[1:]
    values = legendre.legvander(2.0 * c - 1.0, POINTS - 1)
    integrals = np.array([legendre.legval(2.0 * c - 1.0, legendre.legint(row, lbnd=-1)) for row in np.eye(POINTS)])
    return np.asarray(0.5 * np.linalg.solve(values.T, integrals).T, float)


@cache
def differentiation(first: int) -> Array:
    """The derivatives at c_first ... c_s of the polynomial with given values there."""
    c = places()[first:]
    values = legendre.legvander(2.0 * c - 1.0, len(c) - 1)
    rates = np.array([legendre.legval(2.0 * c - 1.0, legendre.legder(row)) for row in np.eye(len(c))])
    return np.asarray(2.0 * np.linalg.solve(values.T, rates).T, float)


def at(part: float) -> Array:
    """Weights of the s + 1 values in the value of the polynomial at a part of the window."""
    c = places()
    values = legendre.legvander(2.0 * c - 1.0, POINTS)
    return np.asarray(np.linalg.solve(values.T, legendre.legvander(np.array([2.0 * part - 1.0]), POINTS)[0]), float)


def before(values: Array) -> Array:
    """The value at the start of a window that the values at its s points lead to expect."""
    c = places()[1:]
    powers = legendre.legvander(2.0 * c - 1.0, POINTS - 1)
    weights = np.linalg.solve(powers.T, legendre.legvander(np.array([-1.0]), POINTS - 1)[0])
    return np.asarray(np.tensordot(weights, values[1:], 1), float)


def rates(values: Array, duration: float, first: int = 0) -> Array:
    """Time derivatives of matrices (s + 1, m, n) of a window, of the polynomial through those from the first on."""
    return np.asarray(np.tensordot(differentiation(first), values[first:], 1) / duration, float)


@cache
def _halves() -> Array:
    """Weights of the values of a window in those at all places of its two halves, (2, s + 1, s + 1)."""
    return np.array([[at(0.5 * (half + part)) for part in places()] for half in (0.0, 1.0)])


def error(A: Array, duration: float, end: Array) -> float:
    """How much the flow at the end of a window differs from that by two steps of half its length, relative to 1."""
    first, second = (flow(np.tensordot(weights, A, 1), 0.5 * duration)[-1] for weights in _halves())
    return float(np.abs(second @ first - end).max(initial=0.0) / max(1.0, np.abs(end).max(initial=0.0)))


def flow(A: Array, duration: float) -> Array:
    """Solutions of Y' = A(t) Y, Y(0) = 1, at all places of a window; A is (s + 1, n, n)."""
    n = A.shape[1]
    own = np.tile(np.eye(n), (POINTS, 1))
    system = np.eye(POINTS * n) - duration * (integration()[:, None, :, None] * A[1:].transpose(1, 0, 2)[None]).reshape(
        POINTS * n, POINTS * n
    )
    return np.concatenate([np.eye(n)[None], np.linalg.solve(system, own).reshape(POINTS, n, n)])
