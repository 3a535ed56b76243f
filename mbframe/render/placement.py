"""Where things are: poses of bodies at a state or over a result, and what is placed on them or between them.

Planar systems have vectors of two components and a rotation that is an angle. They are drawn in the plane z = 0 of
space, and `point3`, `rotation3` are the one place that lifts them there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def point3(value: ArrayLike) -> Array:
    """Vectors (..., 3) from vectors of two or three components."""
    v = np.asarray(value, float)
    return v if v.shape[-1] == 3 else np.concatenate([v, np.zeros((*v.shape[:-1], 3 - v.shape[-1]))], axis=-1)


def rotation3(value: Any) -> Array:
    """Matrices (..., 3, 3) from angles (...), matrices of two or three rows, or a SciPy rotation."""
    a = np.asarray(value.as_matrix() if hasattr(value, "as_matrix") else value, float)
    if a.shape[-2:] == (3, 3):
        return a
    lifted = np.zeros((*(a.shape[:-2] if a.shape[-2:] == (2, 2) else a.shape), 3, 3))
    lifted[..., 2, 2] = 1.0
    if a.shape[-2:] == (2, 2):
        lifted[..., :2, :2] = a
    else:
        lifted[..., 0, 0] = lifted[..., 1, 1] = np.cos(a)
        lifted[..., 1, 0], lifted[..., 0, 1] = np.sin(a), -np.sin(a)
    return lifted


def angular_velocity3(value: ArrayLike) -> Array:
    """Vectors (n, 3) at n instants from vectors, or from the rates (n,) about z that a planar body has."""
    w = np.asarray(value, float)
    return w if w.ndim == 2 else w[:, None] * np.array([0.0, 0.0, 1.0])


def _rotation_of(motion: Any) -> Array:
    return rotation3(motion.rotation if hasattr(motion, "rotation") else motion.angle)


@dataclass(frozen=True)
class Poses:
    """Origins (..., 3) and rotation matrices (..., 3, 3) of bodies by name, at one instant or at many.

    The ground has the name None and stays where it is.
    """

    bodies: Mapping[str | None, tuple[Array, Array]]

    @classmethod
    def described(cls, system: Any) -> Poses:
        """Those in which the model is described."""
        return cls.of_bodies(system.bodies)

    @classmethod
    def of_bodies(cls, bodies: Iterable[Any]) -> Poses:
        """Those in which bodies are described, whether they are part of a system yet or not."""
        return cls({body.name: (point3(body.position), _rotation_of(body)) for body in bodies})

    @classmethod
    def of_state(cls, state: Any) -> Poses:
        """Those of a state."""
        return cls({name: (point3(m.position), _rotation_of(m)) for name, m in state.motions.items()})

    @property
    def farthest(self) -> float:
        """The largest coordinate of an origin, m; infinite if one is no number."""
        origins = [np.abs(origin).max(initial=0.0) for origin, _ in self.bodies.values()]
        most = float(np.max(origins, initial=0.0))
        return math.inf if math.isnan(most) else most

    def of(self, body: str | None) -> tuple[Array, Array]:
        """Origin and rotation of a body."""
        return (np.zeros(3), np.eye(3)) if body is None else self.bodies[body]

    def point(self, body: str | None, local: Array) -> Array:
        """Global position of a point given in body axes."""
        origin, rotation = self.of(body)
        return origin + rotation @ local


@dataclass(frozen=True)
class Transform:
    """Takes a part's own coordinates to global ones: scale, then rotate, then translate; (..., 3), (..., 3, 3)."""

    translation: Array
    rotation: Array
    scale: Array

    @property
    def matrix(self) -> Array:
        """As one matrix (..., 4, 4)."""
        matrix = np.zeros((*self.translation.shape[:-1], 4, 4))
        matrix[..., :3, :3] = self.rotation * self.scale[..., None, :]
        matrix[..., :3, 3] = self.translation
        matrix[..., 3, 3] = 1.0
        return matrix


@dataclass(frozen=True)
class Anchor:
    """A point of a body (None: the ground), in body axes."""

    body: str | None
    point: Array


@dataclass(frozen=True)
class Fixed:
    """Fixed to a body: the part's origin is at the anchor, and `axes` takes its components to the body's.

    A part that does not turn follows the anchor only; `axes` are then global.
    """

    anchor: Anchor
    axes: Array = field(default_factory=lambda: np.eye(3))
    turns: bool = True

    @property
    def body(self) -> str | None:
        return self.anchor.body

    def transform(self, poses: Poses) -> Transform:
        translation = poses.point(self.anchor.body, self.anchor.point)
        _, rotation = poses.of(self.anchor.body)
        turned = rotation @ self.axes if self.turns else np.broadcast_to(self.axes, rotation.shape)
        return Transform(translation, turned, np.ones(translation.shape))


@dataclass(frozen=True)
class Between:
    """From one point towards another: the part's origin is at `start`, its z axis points to `end`.

    A part that stretches has the length 1 along z, which is scaled to the distance; otherwise it keeps its size. Where
    the points coincide the direction is that of `idle`, and the length is `shortest`, so that it can always be drawn.
    """

    start: Anchor
    end: Anchor
    stretches: bool = True
    shortest: float = 1e-6
    idle: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    @property
    def body(self) -> str | None:
        """It belongs to no single body."""
        return None

    def transform(self, poses: Poses) -> Transform:
        start = poses.point(self.start.body, self.start.point)
        end = poses.point(self.end.body, self.end.point)
        start, end = np.broadcast_arrays(start, end)
        length = np.linalg.norm(end - start, axis=-1, keepdims=True)
        close = length < self.shortest
        z = np.where(close, self.idle, (end - start) / np.where(close, 1.0, length))
        scale = np.ones(start.shape)
        if self.stretches:
            scale[..., 2:] = np.maximum(length, self.shortest)
        _, carrier = poses.of(self.start.body)
        return Transform(start.copy(), _with_axis(z, np.broadcast_to(carrier, (*z.shape, 3))), scale)


Placement = Fixed | Between


def _with_axis(z: Array, carrier: Array) -> Array:
    """Frames (..., 3, 3) with the third axis z that follow a carrying body about it as far as they can.

    The first axis is the projection of the carrier's axis that was chosen for the first z and is kept for all others;
    the projection vanishes only where z meets that axis exactly, and the next one takes its place there.
    """
    first = z.reshape(-1, 3)[0]
    order = np.argsort(np.abs(carrier.reshape(-1, 3, 3)[0].T @ first))
    x, done = np.zeros(z.shape), np.zeros((*z.shape[:-1], 1), bool)
    for k in order:
        axis = carrier[..., :, k]
        across = axis - np.sum(axis * z, axis=-1, keepdims=True) * z
        size = np.linalg.norm(across, axis=-1, keepdims=True)
        usable = ~done & (size > 1e-3)
        x = np.where(usable, across / np.where(size > 0.0, size, 1.0), x)
        done |= usable
    return np.stack([x, np.cross(z, x), z], axis=-1)


class Placements:
    """Many placements at one instant: one product of matrices for all that are fixed to bodies."""

    def __init__(self, placements: Sequence[Placement]) -> None:
        self._placements = list(placements)
        self._rigid = [k for k, p in enumerate(self._placements) if isinstance(p, Fixed) and p.turns]
        self._other = sorted(set(range(len(self._placements))) - set(self._rigid))
        self._bodies = list(dict.fromkeys(self._placements[k].body for k in self._rigid))
        self._carrier = [self._bodies.index(self._placements[k].body) for k in self._rigid]
        at_origin = Poses(dict.fromkeys(self._bodies, (np.zeros(3), np.eye(3))))
        self._local = np.array([self._placements[k].transform(at_origin).matrix for k in self._rigid]).reshape(-1, 4, 4)

    def matrices(self, poses: Poses) -> Array:
        """From the parts' own coordinates to global ones, (n, 4, 4)."""
        found = np.empty((len(self._placements), 4, 4))
        if self._rigid:
            bodies = np.zeros((len(self._bodies), 4, 4))
            bodies[:, 3, 3] = 1.0
            for k, body in enumerate(self._bodies):
                bodies[k, :3, 3], bodies[k, :3, :3] = poses.of(body)
            found[self._rigid] = bodies[self._carrier] @ self._local
        for k in self._other:
            found[k] = self._placements[k].transform(poses).matrix
        return found
