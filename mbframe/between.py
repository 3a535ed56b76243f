"""Motions between stored instants: polynomials through values and derivatives at both ends of a span.

h is the length of the span, s the fraction of it that has passed; arrays of many spans or bodies broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MOST_TURN: Final = 2.0 * np.pi
"""Angle between two stored instants, rad, up to which the turning of a body follows from them."""
MOST_MISSED: Final = 0.25
"""Share of its way that a body may miss by going on with the mean of both velocities. At a sine of phase u per interval
it is u^2 / 12, and a cubic is off by u^4 / 384 of the amplitude: 2 % here."""
SEEN: Final = 1e-3
"""Share of the region in which bodies move: shorter ways are not looked at."""
LOOKS: Final = 500
"""Intervals that are looked at."""


def polynomial(start: Sequence[Array], end: Sequence[Array], h: Array | float, s: Array | float) -> tuple[Array, Array]:
    """Value and rate of the polynomial whose value and rate at the ends are given: of degree three.

    With second derivatives as well it is of degree five. A span without length keeps what is at its start.
    """
    x, v = start[0], h * start[1]
    if len(start) == 2:
        d, e = end[0] - x, h * end[1]
        c2, c3 = 3.0 * d - 2.0 * v - e, v + e - 2.0 * d
        value = x + s * (v + s * (c2 + s * c3))
        change = v + s * (2.0 * c2 + s * 3.0 * c3)
    else:
        a = h * h * start[2]
        d, e, f = end[0] - x - v - 0.5 * a, h * end[1] - v - a, h * h * end[2] - a
        c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * f, -15.0 * d + 7.0 * e - f, 6.0 * d - 3.0 * e + 0.5 * f
        value = x + s * (v + s * (0.5 * a + s * (c3 + s * (c4 + s * c5))))
        change = v + s * (a + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))
    return value, np.divide(change, h, out=np.array(start[1], float), where=np.asarray(h) > 0.0)


def turning(start: Sequence[Array], end: Sequence[Array], h: Array | float, s: Array | float) -> tuple[Array, Array]:
    """Quaternion and angular velocity between two ends with unit quaternion p, angular velocity and, perhaps, its rate.

    The polynomial is that of p, with p' = 1/2 (0, omega) p and p'' from the rate of omega; its value is not normalized.
    Of p and -p, which are the same rotation, that one is meant at the end to which the mean angular velocity leads.
    """
    first, last = _derivatives(*start), _derivatives(*end)
    half = 0.25 * h * (start[1] + end[1])
    angle = np.linalg.norm(half, axis=-1, keepdims=True)
    expected = product(np.concatenate([np.cos(angle), np.sinc(angle / np.pi) * half], axis=-1), start[0])
    sign = np.where(np.sum(expected * end[0], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    p, rate = polynomial(first, [sign * x for x in last], h, s)
    spin = 2.0 * product(rate, p * (1.0, -1.0, -1.0, -1.0)) / np.sum(p * p, axis=-1, keepdims=True)
    return p, spin[..., 1:]


def too_rare(t: Array, position: Array, velocity: Array, omega: Array) -> bool:
    """Whether states of bodies (n, bodies, 3) at n instants are too far apart to tell the motion between them.

    They are where half of the intervals do not: a body turns too far, or comes and goes, so that it is not where its
    velocities lead. A polynomial would tear joints apart there.
    """
    if len(t) < 2 or not position.size:
        return False
    i = np.unique(np.linspace(0, len(t) - 2, LOOKS).astype(int))
    j, h = i + 1, (t[i + 1] - t[i])[:, None]
    size = float(np.ptp(position, axis=(0, 1)).max())
    way = h * np.maximum(_length(velocity[i]), _length(velocity[j]))
    missed = _length(position[j] - position[i] - 0.5 * h[..., None] * (velocity[i] + velocity[j]))
    lost = (way > SEEN * size) & (missed > MOST_MISSED * way)
    turned = h * np.maximum(_length(omega[i]), _length(omega[j])) > MOST_TURN
    return bool(2 * np.count_nonzero(np.any(lost | turned, axis=1)) >= len(i))


def _length(vectors: Array) -> Array:
    return np.sqrt(np.sum(vectors * vectors, axis=-1))


def product(a: Array, b: Array) -> Array:
    """The product of quaternions (..., 4)."""
    a0, b0, u, w = a[..., :1], b[..., :1], a[..., 1:], b[..., 1:]
    scalar = a0 * b0 - np.sum(u * w, axis=-1, keepdims=True)
    return np.concatenate([scalar, a0 * w + b0 * u + np.cross(u, w)], axis=-1)


def _derivatives(p: Array, omega: Array, alpha: Array | None = None) -> list[Array]:
    """p, p' and, with the angular acceleration, p''."""
    spin = _pure(omega)
    rate = 0.5 * product(spin, p)
    return [p, rate] if alpha is None else [p, rate, 0.5 * (product(_pure(alpha), p) + product(spin, rate))]


def _pure(u: Array) -> Array:
    """Vectors as quaternions with scalar part zero."""
    return np.concatenate([np.zeros_like(u[..., :1]), u], axis=-1)
