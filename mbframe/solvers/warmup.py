"""Compile everything ahead of the first use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..bodies import Formulation, PlanarBody, RigidBody
from ..constraints import BasicConstraint
from ..equations import Equations
from ..forces import ForceElement
from ..joints import Joint, RevoluteJoint, SphericalJoint
from ..kernels.linear_algebra import bodywise, factorization
from ..registry import ours
from ..system import System
from .integrators import AdamsBashforth, DormandPrince, GeneralizedAlpha, RadauIIA, RungeKutta4
from .simulate import simulate


def warm_up() -> Iterator[str]:
    """Compile all stages of the library, part by part; yields what was done. (Joints have no kernels of their own.)"""
    elements = [*ours(BasicConstraint), *ours(ForceElement)]
    for formulation in ours(Formulation):
        system = _planar_pair() if formulation.dimension == 2 else _pair(elements[0])
        _prepare(Equations(system, formulation()))
        if formulation.dimension == 0:  # steps of its own, with something to close and to feel
            system.add(SphericalJoint("cut", system.ground, system.bodies[0], at=(0.3, 0.1, -0.2)))
            _ = simulate(system, t_end=1e-3, dt=1e-3, formulation=formulation(), t_eval=[0.0, 5e-4, 1e-3])
        yield f"formulation {formulation.__name__}"
    for cls in elements:
        _prepare(Equations(_pair(cls)))
        yield f"element {cls.__name__}"
    for integrator in (RungeKutta4(), DormandPrince(), AdamsBashforth(), GeneralizedAlpha(), RadauIIA()):
        settings: dict[str, Any] = {"dt": 1e-3, "integrator": integrator, "t_eval": [0.0, 5e-4, 1e-3]}
        _ = simulate(_pair(elements[0]), t_end=1e-3, **settings).energy
        yield f"integrator {type(integrator).__name__}"
    for stage in (bodywise.weigh, factorization.share):  # otherwise compiled when equations depend on each other
        _ = stage.address
    yield "shared loads"


def _prepare(eq: Equations) -> None:
    """Evaluate and, where there is one, take the tangent."""
    q, v, z = eq.split(eq.coordinates(eq.described()))
    eq.accelerate(0.0, q, v, z)
    eq.tangent(0.0, q, v, np.zeros(eq.n_v), np.zeros(eq.n_rows))


def _planar_pair() -> System:
    """Two bodies of the plane with a hinge."""
    system = System("warm-up", dimension=2)
    bodies = [PlanarBody(name, mass=1.0, inertia=1.0, center_of_mass=(0.1, 0.2)) for name in ("first", "second")]
    system.add(RevoluteJoint("hinge", *map(system.add, bodies), at=(0.3, 0.1)))
    return system


def _pair(element: Any) -> System:
    """Two bodies at rest with an element between them."""
    system = System("warm-up")
    bodies = []
    for name, position in (("first", (0.3, 0.1, -0.2)), ("second", (1.0, 0.5, 0.2))):
        body = RigidBody.example()
        body.name = name
        body.update(position=position, velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0))
        bodies.append(system.add(body))
    example = element.example(*bodies)
    for value in example.values().values():
        if isinstance(value, Joint):  # that the element acts on
            system.add(value)
    system.add(example)
    return system
