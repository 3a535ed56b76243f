"""A body in free fall with a force on it, and all integrators: what runs that go wrong are tried with."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

import mbframe as mb

needs_bdf = pytest.mark.skipif(find_spec("sksundae") is None, reason="scikit-sundae is not installed")


def falling(force: type[mb.ForceElement] | None = None, dimension: int = 3, **values: Any) -> mb.System:
    """A body in free fall, and a force on it."""
    if dimension == 2:
        system = mb.System("falling", dimension=2)
        body: mb.Body = system.add(mb.PlanarBody("body", mass=1.0, inertia=1.0, position=(1.0, 0.0)))
    else:
        system = mb.System("falling")
        body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0)))
    if force is not None:
        system.add(force("force", system.ground, body, **values))
    return system


every_integrator = pytest.mark.parametrize(
    "settings",
    [
        {"dt": 0.01},
        {"dt": 0.01, "integrator": mb.AdamsBashforth(order=2)},
        {},
        {"integrator": mb.DormandPrince(order=5)},
        {"integrator": mb.RadauIIA()},
        {"dt": 0.01, "integrator": mb.GeneralizedAlpha()},
        pytest.param({"integrator": mb.BDF()}, marks=needs_bdf),
    ],
    ids=str,
)
