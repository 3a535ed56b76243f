"""The motion of a result between its stored instants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.between import polynomial, too_rare, turning
from mbframe.rotations import matrix_from_quaternion, quaternions_from_matrices
from mbframe.state import Motion, State

Array = NDArray[np.float64]

AT_ONCE: Final = 20
"""Bodies whose motion is worked out in one piece."""


@dataclass(frozen=True)
class Stretch:
    """The motion of all bodies at stored instants that follow each other, of which `first` is the first.

    Positions, Euler parameters, velocities and angular velocities (n, bodies, 3 or 4); modal coordinates with their
    rates of the flexible bodies, and own states of elements, by name.
    """

    first: int
    position: Array
    p: Array
    velocity: Array
    omega: Array
    bends: dict[str, tuple[Array, Array]]
    own: dict[str, Array]

    def __len__(self) -> int:
        return len(self.position)

    @classmethod
    def of(cls, result: mb.Result, names: list[str], first: int = 0) -> Stretch:
        """That of a result."""
        n = len(result.t)
        empty = [np.zeros((n, 0, width)) for width in (3, 4, 3, 3)]
        position, p, velocity, omega = _motion(result, names) if names else empty
        return cls(first, position, p, velocity, omega, *_others(result))


def _others(result: mb.Result) -> tuple[dict[str, tuple[Array, Array]], dict[str, Array]]:
    """Modal coordinates with their rates, and own states of elements."""
    flexible = [body for body in result.system.bodies if isinstance(body, mb.FlexibleBody)]
    bends = {body.name: (result.modal(body), result.modal_velocity(body)) for body in flexible}
    states = result.states
    return bends, {name: states.part("z", place) for name, place, _ in states.tables.own_states()}


class Track:
    """The motion of a result as it is played: cubic between stored instants, from positions and velocities alone.

    Unlike `Result.state` it needs neither accelerations nor the compiled equations, so it works at once. Positions are
    Hermite polynomials; so are modal coordinates, and Euler parameters with p' = (0, omega) p / 2, normalized again.
    If states are stored too rarely for that it stays at the nearer one: a cubic would tear joints apart.
    """

    def __init__(self, result: mb.Result, before: Track | None = None) -> None:
        """`before` is the track of the same run when it was shorter: what it has is taken over."""
        self.result = result
        self.t: Array = np.asarray(result.t, float)
        self.dimension = result.dimension
        self.names = [body.name for body in result.system.bodies]
        flexible = [body for body in result.described.bodies if isinstance(body, mb.FlexibleBody)]
        self._axes: dict[str, dict[str, Any]] = {body.name: {"axes": body.axes} for body in flexible}
        self._before = before
        self._known: Stretch | None = None

    def __len__(self) -> int:
        return len(self.t)

    @property
    def span(self) -> tuple[float, float]:
        """First and last instant, s; zeros if there is none."""
        return (float(self.t[0]), float(self.t[-1])) if len(self.t) else (0.0, 0.0)

    def stretch(self, i: int) -> Stretch:
        """The motion around a stored instant and the next one: here that of all instants."""
        if self._known is None:
            for _ in self.preparation():
                pass
        assert self._known is not None
        return self._known

    def preparation(self) -> Iterator[None]:
        """Work out the motion of the bodies piece by piece, ahead of the first time that it is asked for."""
        if self._known is not None:
            return
        before = self._before._known if self._before is not None else None
        first = len(before) if before is not None else 0
        new = self.result if before is None else _since(self.result, first)
        n = len(self.t) - first
        found = [[np.zeros((n, 0, width))] for width in (3, 4, 3, 3)]
        for k in range(0, len(self.names), AT_ONCE):
            for course, values in zip(found, _motion(new, self.names[k : k + AT_ONCE]), strict=True):
                course.append(values)
            yield
        whole = [np.concatenate(course, axis=1) for course in found]
        if before is not None:
            earlier = (before.position, before.p, before.velocity, before.omega)
            whole = [np.concatenate(pair) for pair in zip(earlier, whole, strict=True)]
        position, p, velocity, omega = whole
        self._known, self._before = Stretch(0, position, p, velocity, omega, *_others(self.result)), None

    def state(self, t: float) -> State:
        """The state at an instant; before the first and after the last stored one it stays as it is there."""
        i, j, h, s = self.around(t)
        known = self.stretch(i)
        i, j = i - known.first, j - known.first
        if self.leaps:
            s = float(round(s))
        position, p, velocity, omega = known.position, known.p, known.velocity, known.omega
        x, v = polynomial((position[i], velocity[i]), (position[j], velocity[j]), h, s)
        turned, spin = turning((p[i], omega[i]), (p[j], omega[j]), h, s)
        rotations = matrix_from_quaternion(turned)
        bends = {
            name: polynomial((eta[i], rate[i]), (eta[j], rate[j]), h, s) for name, (eta, rate) in known.bends.items()
        }
        motions = {
            name: Motion(x[k], rotations[k], v[k], spin[k], *bends.get(name, ()), **self._axes.get(name, {}))
            for k, name in enumerate(self.names)
        }
        own = {name: (1.0 - s) * z[i] + s * z[j] for name, z in known.own.items()}
        return State(float(t), motions, own, self.dimension)

    @cached_property
    def leaps(self) -> bool:
        """Whether states are stored too rarely to tell the motion between them."""
        known = self.stretch(0)
        return too_rare(self.t[: len(known)], known.position, known.velocity, known.omega)

    def nearest(self, t: float) -> State:
        """The stored state nearest to an instant."""
        return self.state(float(self.t[int(np.argmin(np.abs(self.t - t)))]))

    def sampled(self, count: int) -> list[State]:
        """States at equal intervals over the whole motion."""
        if not len(self.t):
            return []
        return [self.state(t) for t in np.linspace(*self.span, count)]

    def places(self, count: int) -> Array:
        """Origins of the bodies (m, 3) at some of the stored instants, spread over the motion."""
        chosen = np.linspace(0, len(self) - 1, min(count, len(self))).astype(int)
        return self.stretch(0).position[chosen].reshape(-1, 3)

    def path(self, body: str, until: float, since: float | None = None, local_point: Any = None) -> Array:
        """Positions (m, 3) of a body's origin, or of a point of it, at the stored instants up to one, and at it."""
        course = self._path_of(body, None if local_point is None else tuple(local_point))
        first = 0 if since is None else int(np.searchsorted(self.t, since))
        last = int(np.searchsorted(self.t, until, side="right"))
        return np.vstack([course[first:last], self.place(body, until, local_point)])

    def place(self, body: str, t: float, local_point: Any = None) -> Array:
        """Position (3,) of a body's origin, or of a point of it, at an instant."""
        from mbframe.render.placement import point3

        described: Any = self.result.described[body]
        return point3(self.state(t).position(described, local_point))

    def _path_of(self, body: str, local_point: tuple[float, ...] | None) -> Array:
        from mbframe.render.placement import point3

        key = (body, local_point)
        if key not in self._paths:
            self._paths[key] = point3(self.result.position(body, local_point))
        return self._paths[key]

    @cached_property
    def _paths(self) -> dict[tuple[str, tuple[float, ...] | None], Array]:
        return {}

    def around(self, t: float) -> tuple[int, int, float, float]:
        """The stored instants around one, the time between them, and the fraction of it that has passed."""
        i = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, max(len(self.t) - 2, 0)))
        j = min(i + 1, len(self.t) - 1)
        h = float(self.t[j] - self.t[i])
        return i, j, h, float(np.clip((t - self.t[i]) / h, 0.0, 1.0)) if h > 0.0 else 0.0


def _since(result: mb.Result, first: int) -> mb.Result:
    from .growing import since

    return since(result, first)


def _motion(result: mb.Result, names: list[str]) -> tuple[Array, Array, Array, Array]:
    """Positions, Euler parameters, velocities and angular velocities of bodies (n, bodies, 3 or 4)."""
    from mbframe.render.placement import angular_velocity3, point3

    position = np.stack([point3(result.position(name)) for name in names], axis=1)
    p = np.stack([quaternions_from_matrices(result.rotation_matrix(name)) for name in names], axis=1)
    velocity = np.stack([point3(result.velocity(name)) for name in names], axis=1)
    omega = np.stack([angular_velocity3(result.angular_velocity(name)) for name in names], axis=1)
    return position, p, velocity, omega
