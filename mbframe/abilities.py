"""What the classes of elements give: derivatives, functions, an energy, work that is not in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from .bodies.flexible import FlexibleBody
from .constraints.base import BasicConstraint
from .constraints.relations import MeasureRelation
from .forces.base import ForceElement
from .functions import Function
from .joints.base import Joint
from .registry import is_ours
from .system import System


@cache
def given_with(cls: type, method: str, *companions: str) -> bool:
    """Whether a class gives companions of a method at the level at which it gives the method, or below.

    A subclass that overrides the method alone leaves inherited companions (derivatives, an energy) behind.
    """

    def level(name: str) -> int:
        return next((k for k, c in enumerate(cls.__mro__) if name in vars(c)), len(cls.__mro__))

    return all(level(name) <= min(level(method), len(cls.__mro__) - 1) for name in companions)


def has_derivatives(constraint: Any) -> bool:
    """Whether a constraint class gives its own derivatives."""
    if constraint.nonholonomic:
        return given_with(constraint, "velocity_residual", "velocity_gradient")
    return given_with(constraint, "residual", "gradient", "curvature", "hessian")


def is_conservative(force: ForceElement) -> bool:
    """Whether the energy of a force tells all of its work; a subclass with another wrench must say so itself."""
    kind: Any = type(force)
    return given_with(kind, "wrench", "energy", "conservative") and bool(force.conservative)


def may_drive(constraint: BasicConstraint) -> bool:
    """Whether a constraint may depend on time, and so do work. Of a user's that is not known."""
    kind = type(constraint)
    if is_ours(kind) and has_derivatives(kind):
        return hasattr(kind, "time_rate") and bool(functions_of([constraint]))
    return True


def functions_of(elements: Iterable[Any]) -> list[Function]:
    """All functions among the parameters of some elements."""
    kinds: list[tuple[Any, Any]] = [(type(element), element) for element in elements]
    values = [getattr(element, name) for kind, element in kinds for name in _with_functions(kind)]
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    return [part for part in parts if isinstance(part, Function)]


@cache
def _with_functions(cls: Any) -> list[str]:
    """Parameters of a class that can hold functions."""
    return [name for name, p in cls.parameters().items() if "function" in p.kind or p.kind == "list"]


def working(system: System) -> Iterator[str]:
    """Names of the elements whose work a run keeps."""
    yield from (force.name for force in system.forces if not is_conservative(force))
    for joint in system.joints:
        parts = joint.constraints() if isinstance(joint, Joint) else [joint]
        terms = [term for part in parts for term in (part.terms if isinstance(part, MeasureRelation) else [part])]
        if any(may_drive(term) for term in terms):
            yield joint.name
    yield from (body.name for body in system.bodies if isinstance(body, FlexibleBody) and body.damped)
