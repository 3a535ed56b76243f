"""Strategies of a run: those that can take each role. No widgets here."""

from __future__ import annotations

from typing import Final

import mbframe as mb
from mbframe.registry import built_in, defined, strategy_base

from ..base.words import class_label

ROLES: Final = {
    "formulation": ("Coordinates", "As described", "Every body keeps the coordinates it was described with."),
    "acceleration": ("Accelerations", "Default", "Augmented formulation, or by the integrator if it is implicit."),
    "stabilization": ("Stabilization", "Default", "Direct correction of positions and velocities, tolerance 1e-10."),
    "integrator": ("Integrator", "Default", "Dormand-Prince, or Runge-Kutta 4 if a time step is given."),
}
"""Roles: label, the choice to leave it open, and its meaning."""


def strategies(role: str, dimension: int = 3) -> list[type]:
    """All classes that can take a role in a system of a dimension, the users' own included."""
    base = strategy_base(role)
    own = [cls for cls in defined(base).values() if _is_choice(cls)]
    found = [*built_in(base).values(), *own]
    if role == "formulation":
        found = [cls for cls in found if getattr(cls, "dimension", 3) in (0, dimension)]
    return sorted(found, key=class_label)


def _is_choice(cls: type) -> bool:
    """Whether a user's class is meant to be used: it is made without arguments, and does something."""
    try:
        cls()
    except (TypeError, NotImplementedError, mb.ModelError):
        return False
    return _works(cls)


def _works(cls: type) -> bool:
    """Whether a strategy does something: bases of others define neither their method nor a stage."""
    method = getattr(cls, "method", None)
    if method is None:
        return hasattr(cls, "n_q")
    return any(
        "stage" in vars(owner) or method in vars(owner)
        for owner in cls.__mro__
        if owner.__name__ not in ("SolverStrategy", "Acceleration", "Stabilization", "Integrator")
    )
