"""Compile everything ahead of the first use."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..bodies import Formulation, RigidBody
from ..constraints import BasicConstraint
from ..equations import Equations
from ..forces import ForceElement
from ..joints import Joint
from ..system import System
from .integrators import AdamsBashforth, DormandPrince, RungeKutta4
from .simulate import simulate


def concrete_subclasses(base: type) -> list[type]:
    """All classes of the package below `base` that can be used as they are, however deep."""
    found: list[type] = []
    cls: type
    for cls in base.__subclasses__():
        found += concrete_subclasses(cls)
        if cls.__module__.startswith("mbframe.") and cls.__name__[0] != "_":
            found.append(cls)
    return sorted(set(found), key=lambda cls: cls.__qualname__)


def warm_up() -> Iterator[str]:
    """Compile all stages of the library, part by part; yields what was done."""
    elements = [cls for base in (BasicConstraint, Joint, ForceElement) for cls in concrete_subclasses(base)]
    for formulation in concrete_subclasses(Formulation):
        eq = Equations(_pair(RigidBody, elements[0]), formulation())
        eq.tangent(0.0, *eq.split(eq.coordinates(eq.described()))[:2], np.zeros(eq.n_v), np.zeros(eq.n_rows))
        yield f"formulation {formulation.__name__}"
    for cls in elements:
        eq = Equations(_pair(RigidBody, cls))
        eq.tangent(0.0, *eq.split(eq.coordinates(eq.described()))[:2], np.zeros(eq.n_v), np.zeros(eq.n_rows))
        yield f"element {cls.__name__}"
    for integrator in (RungeKutta4(), DormandPrince(), AdamsBashforth()):
        result = simulate(
            _pair(RigidBody, elements[0]), t_end=1e-3, dt=1e-3, integrator=integrator, t_eval=[0.0, 5e-4, 1e-3]
        )
        _ = result.energy
        yield f"integrator {type(integrator).__name__}"


def _pair(body: type[RigidBody], element: type) -> System:
    """Two bodies with an element between them."""
    system = System("warm-up")
    first, second = system.add(body.example()), body.example()
    second.name = "other"
    system.add(second)
    second.update(position=(1.0, 0.5, 0.2), velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0))
    first.update(velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0))
    system.add(element.example(first, second))  # type: ignore[attr-defined]
    return system
