"""Users' methods in planar systems: they take markers of the plane, everything else works with markers of space.

`spatial` makes of such a method one for markers of space: a plain function, which is interpreted or compiled like any
other. `method` is bound by it.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any

from ..compiler.compile import rebound

PlanarPlace = namedtuple("PlanarPlace", ["position", "axes", "turns"])
PlanarMarker = namedtuple("PlanarMarker", ["position", "axes", "velocity", "angular_velocity", "turns"])

method: Any = None


def place(marker):
    """Where a marker is, in the plane."""
    return PlanarPlace(marker.position[:2], marker.axes[:2, :2], marker.turns)


def motion(marker):
    """Where a marker is and how it moves, in the plane."""
    return PlanarMarker(
        marker.position[:2], marker.axes[:2, :2], marker.velocity[:2], marker.angular_velocity[2], marker.turns
    )


def residual(e, t, i, j):
    return method(e, t, place(i), place(j))


def velocity_residual(e, t, i, j):
    return method(e, t, motion(i), motion(j))


def energy(e, t, i, j):
    return method(e, t, motion(i), motion(j))


def wrench(e, t, i, j):
    force, torque = method(e, t, motion(i), motion(j))
    if len(force) != 2:
        raise ValueError("wrench returned a force that has not two components")
    return (force[0], force[1], 0.0), (0.0, 0.0, torque)


def wrench_with_states(e, t, i, j, z):
    force, torque = method(e, t, motion(i), motion(j), z)
    if len(force) != 2:
        raise ValueError("wrench returned a force that has not two components")
    return (force[0], force[1], 0.0), (0.0, 0.0, torque)


def state_rate(e, t, i, j, z):
    return method(e, t, motion(i), motion(j), z)


TEMPLATES: dict[str, Callable] = {
    f.__name__: f for f in (residual, velocity_residual, energy, wrench, wrench_with_states, state_rate)
}


@cache
def spatial(function: Callable, name: str) -> Callable:
    """A user's method of the plane as one for markers of space; `name` says which of the templates it fits."""
    bound = rebound(TEMPLATES[name], function.__qualname__, {"method": function})
    bound.__module__ = function.__module__  # it may hold arrays that the user's method made: compiled as a user's
    return bound


@cache
def spatial_methods(cls: Any, users: frozenset[str]) -> type:
    """A class with the methods of a user's class for markers of space: those named in `users` are for the plane."""
    methods: dict[str, Any] = {}
    for name in ("residual", "velocity_residual", "energy", "wrench", "state_rate"):
        function = getattr(cls, name, None)
        if function is not None:
            template = "wrench_with_states" if name == "wrench" and cls.states else name
            methods[name] = staticmethod(spatial(function, template) if name in users else function)
    return type(cls.__name__, (), methods | {"__module__": cls.__module__, "__qualname__": cls.__qualname__})
