"""The whirls of a rotor at one speed, as the fixed frame sees them, and how they are recognized at the next.

A motion across the axis e is a sum of circles: with e_1, e_2, e right-handed, (e_1 - i e_2) exp(i w t) goes forward and
(e_1 + i e_2) exp(i w t) backward. Seen from a frame that turns with W, a circle of w in the fixed frame has the
frequency w - W if it goes forward and w + W if it goes backward. So a mode of a frame that turns has up to three
frequencies in the fixed frame, and one of a motion with periodic coefficients as many as it has harmonics; the one of
the largest part names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError, ModelError, Problem
from ...state import Motion
from ...system import System
from ..linear.linear_equations import TurningFrame
from ..linear.linearize import Linearization, as_described
from .circles import circles, observed
from .turning import exponents

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

EVEN: Final = 1e-6
"""Part of a motion by which circles to both sides may differ on a straight line."""
ROUNDING: Final = 1e-9
"""Part of the largest root that is none."""
SAME_SPEED: Final = 1e-6
CLUSTER: Final = 1e-7
"""Relative distance of roots whose shapes may be any of a common space."""


@dataclass(frozen=True)
class Whirls:
    """The modes of a rotor at a speed.

    Attributes
    ----------
    speed
        rad/s.
    roots
        With the frequency in the fixed frame as imaginary part, not negative, 1/s.
    shapes
        (parts, modes): circles forward, circles backward, and motions along and about the axis, of all bodies.
    whirl
        "forward", "backward" or "".
    stable
        Whether no mode grows.
    growth
        The largest real part of all roots, those that do not vibrate included, 1/s.
    route
        How they were found: "fixed" frame, "turning" frame or "Floquet".
    """

    speed: float
    roots: Complex
    shapes: Complex
    whirl: list[str]
    stable: bool
    growth: float
    route: str

    @property
    def frequencies(self) -> Array:
        """rad/s."""
        return self.roots.imag


class Spin:
    """The axis of a rotor and its rate, which is the speed; at rest the axis that it has at other speeds."""

    def __init__(self) -> None:
        self.axis: Array | None = None

    def frame(self, speed: float, motions: Mapping[str, Motion]) -> TurningFrame:
        """The frame that turns with the rotor."""
        if speed:
            spins = {name: float(np.linalg.norm(m.angular_velocity)) for name, m in motions.items()}
            name = min(spins, key=lambda n: abs(spins[n] - abs(speed)))
            if abs(spins[name] - abs(speed)) > SAME_SPEED * abs(speed):
                found = ", ".join(f"{n!r} {rate:.6g}" for n, rate in list(spins.items())[:5])
                message = (
                    f"found bodies that turn with {found} rad/s for the speed {speed:.6g}; it must return a rotor that "
                    "is described as it spins with that speed (rad/s): set angular_velocity= of all that turns"
                )
                raise ModelError([Problem("campbell", "build", message)])
            self.axis = np.sign(speed) * motions[name].angular_velocity / spins[name]
        axis = np.array([0.0, 0.0, 1.0]) if self.axis is None else self.axis
        return TurningFrame(axis=axis, rate=speed)


class Rotor:
    """Finds the whirls of a rotor at any speed; how it does so is remembered from one speed to the next."""

    def __init__(self, build: Callable[[float], Any]) -> None:
        self.build, self.spin = build, Spin()
        self.routes: list[Callable[[System, TurningFrame, bool], Whirls]] = [_fixed, _turning, _periodic]

    def at(self, speed: float, warned: bool = False) -> Whirls:
        """The whirls at a speed; `warned`: warnings of flexible bodies and kinks are left out, as at a speed between
        two others that have told them.
        """
        made = self.build(float(speed))
        if isinstance(made, Linearization):
            return _of(made, self.spin.frame(speed, made.state.motions))
        if not isinstance(made, System):
            message = f"found {made!r}; it must return a system, or the linearization of one about a state of your own"
            raise ModelError([Problem("campbell", "build", message)])
        frame = self.spin.frame(speed, {body.name: body.motion for body in made.bodies})
        reasons: list[AnalysisError] = []
        for route in self.routes:
            try:
                found = route(made, frame, warned)
            except AnalysisError as error:
                reasons.append(error)
                continue
            if speed and reasons:
                self.routes = [route, *(other for other in self.routes if other is not route)]
            return found
        raise reasons[-1]


def _fixed(system: System, frame: TurningFrame, warned: bool) -> Whirls:
    """From roots in the fixed frame: all that spins is round, and rigid."""
    return _of(as_described(system, TurningFrame(), warned), frame)


def _turning(system: System, frame: TurningFrame, warned: bool) -> Whirls:
    """From roots in the frame that turns with the rotor: what stands still is alike in all directions."""
    return _of(as_described(system, frame, warned), frame)


def _of(lin: Linearization, frame: TurningFrame) -> Whirls:
    """From the roots of a linearization in the fixed frame, or in one that turns."""
    rows, motions = observed(lin.state, lin.places, lin.system), [r.motion for r in lin.roots]
    columns = np.array(motions, complex).reshape(len(motions), -1).T
    seen = rows @ columns.real + 1j * (rows @ columns.imag)
    parts = circles(frame.axis, seen)
    turn = float(lin.frame.angular_velocity @ frame.axis)
    found = []
    for k, root in enumerate(lin.roots):
        if root.explanation or root.value.imag < 0.0:
            continue
        forward, backward, along = parts[:, :, k]
        none = np.zeros_like(forward)
        if turn:
            harmonics = {turn: (forward, none, none), -turn: (none, backward, none), 0.0: (none, none, along)}
        else:
            harmonics = {0.0: (forward, backward, along)}
        found.append(_named(root.value, harmonics))
    growth = max((root.value.real for root in lin.roots if not root.explanation), default=0.0)
    return _gathered(frame, found, bool(lin.stable), growth, "turning" if turn else "fixed")


def _periodic(system: System, frame: TurningFrame, warned: bool) -> Whirls:
    """From Floquet exponents over a turn: the rotor is not round, nor is what stands still."""
    if not frame.rate:
        return _fixed(system, frame, warned)
    modes, stable = exponents(system, frame)
    found = []
    for mode in modes:
        harmonics = {}
        for k, motion in mode.harmonics.items():
            harmonics[k * abs(frame.rate)] = tuple(circles(frame.axis, motion[:, None])[:, :, 0])
        found.append(_named(mode.exponent, harmonics))
    growth = max((mode.exponent.real for mode in modes), default=0.0)
    return _gathered(frame, found, stable, growth, "Floquet")


Parts = tuple[Complex, Complex, Complex]


def _named(root: complex, harmonics: Mapping[float, Any]) -> tuple[complex, Complex]:
    """The root and shape of the largest harmonic; of two equal ones, which are the same motion, the forward one."""
    best = max(
        harmonics,
        key=lambda w: float(np.linalg.norm(np.concatenate(harmonics[w]))) * (1.0 + EVEN * (root.imag + w > 0)),
    )
    forward, backward, along = harmonics[best]
    frequency = root.imag + best
    if frequency < 0.0:
        forward, backward, along = backward.conj(), forward.conj(), along.conj()
    return complex(root.real, abs(frequency)), np.concatenate([forward, backward, along])


def _gathered(
    frame: TurningFrame, found: list[tuple[complex, Complex]], stable: bool, growth: float, route: str
) -> Whirls:
    """All modes that vibrate, in the order of their frequencies."""
    size = max((abs(root) for root, _ in found), default=0.0)
    kept = [(root, shape) for root, shape in found if np.linalg.norm(shape) and root.imag > ROUNDING * size]
    kept.sort(key=lambda pair: pair[0].imag)
    roots = np.array([root for root, _ in kept], complex)
    shapes = np.array([shape / np.linalg.norm(shape) for _, shape in kept], complex).reshape(len(kept), -1).T
    for near in _clusters(roots):
        basis = np.linalg.qr(shapes[:, near])[0]
        forward = np.split(basis, 3)[0]
        shapes[:, near] = basis @ np.linalg.eigh(forward.conj().T @ forward)[1]  # circles, if there are such
    words = [_word(shape, frame.rate) for shape in shapes.T]
    return Whirls(frame.rate, roots, shapes, words, stable, growth, route)


def _clusters(roots: Complex) -> Iterator[list[int]]:
    """Places of roots that are equal."""
    left = set(range(len(roots)))
    while left:
        k = min(left)
        near = sorted(j for j in left if abs(roots[j] - roots[k]) <= CLUSTER * abs(roots[k]))
        left -= set(near)
        if len(near) > 1:
            yield near


def _word(shape: Complex, rate: float) -> str:
    """Which way most of a mode goes round, seen in the sense of the spin; nothing where it goes to and fro."""
    forward, backward, _ = (float(np.linalg.norm(part)) ** 2 for part in np.split(shape, 3))
    if not rate or abs(forward - backward) <= EVEN:
        return ""
    return "forward" if (forward > backward) == (rate > 0.0) else "backward"


def alike(first: Whirls, second: Whirls) -> Array:
    """Modal assurance criterion of the shapes.

    At rest a mode goes to and fro in a plane, which two circles make: there, each of them counts as the whole.
    """
    if first.speed and second.speed:
        return np.asarray(np.abs(first.shapes.conj().T @ second.shapes) ** 2, float)
    pairs = zip(np.split(first.shapes, 3), np.split(second.shapes, 3), strict=True)
    forward, backward, along = (np.abs(a.conj().T @ b) ** 2 for a, b in pairs)
    return np.asarray(np.minimum(2.0 * np.maximum(forward, backward) + along, 1.0), float)


def apart(first: Whirls, second: Whirls) -> Array:
    """Distances of roots, relative to their sizes."""
    sizes = np.abs(first.roots)[:, None] + np.abs(second.roots)[None, :]
    return np.asarray(np.abs(first.roots[:, None] - second.roots[None, :]) / sizes, float)


def turned_towards(own: Whirls, others: Whirls) -> Whirls:
    """Whirls whose equal roots, whose shapes may be any of a space, have those nearest to some shapes of others."""
    shapes = own.shapes.copy()
    for near in _clusters(own.roots):
        if len(near) > len(others.roots):
            continue
        basis = np.linalg.qr(shapes[:, near])[0]
        towards = basis.conj().T @ others.shapes
        unlike = 1.0 - np.linalg.norm(towards, axis=0) ** 2 + apart(own, others)[near[0]]
        chosen = np.sort(np.argsort(unlike, kind="stable")[: len(near)])
        left_vectors, _, right_vectors = np.linalg.svd(towards[:, chosen])
        shapes[:, near] = basis @ left_vectors @ right_vectors
    return replace(own, shapes=shapes)
