"""Methods to compare: a formulation, an acceleration, a stabilization, an integrator and a step, chosen together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

from ...bodies import (
    EulerParameters,
    Formulation,
    NaturalAbsolute,
    NewtonEuler,
    PlanarAngle,
    PlanarEulerParameters,
    PlanarNatural,
    Relative,
)
from ...parameters import Element
from ...solvers.acceleration import (
    Acceleration,
    AugmentedFormulation,
    AugmentedLagrangian,
    Penalty,
    ProjectionMatrix,
    UdwadiaKalaba,
)
from ...solvers.integrators import AdamsBashforth, DormandPrince, GeneralizedAlpha, Integrator, RadauIIA, RungeKutta4
from ...solvers.stabilization import (
    Baumgarte,
    CoordinatePartitioning,
    DirectCorrection,
    MassOrthogonalProjection,
    NoStabilization,
    Stabilization,
)
from ...system import System

CHOICES: Final = ("formulation", "acceleration", "stabilization", "integrator")
AS_DESCRIBED: Final = "as described"
BY_INTEGRATOR: Final = "by the integrator"
TOLERANCES: Final = ("rtol", "atol")  # what takes the place of a step in an adaptive integrator


@dataclass(frozen=True)
class Method:
    """One way to simulate.

    Without a formulation the bodies keep their own; an implicit integrator solves for the accelerations itself; an
    adaptive one has no step.
    """

    formulation: Formulation | None
    acceleration: Acceleration | None
    stabilization: Stabilization
    integrator: Integrator
    dt: float | None

    def settings(self) -> dict[str, Any]:
        """The arguments of `simulate`."""
        return dict(vars(self))

    def names(self) -> dict[str, Any]:
        """What was chosen, in words."""
        return {**self._described(), "dt": self.dt}

    def family(self) -> tuple[str, ...]:
        """What methods have in common that differ only in how finely they step."""
        return tuple(self._described(leave_out=TOLERANCES).values())

    def _described(self, leave_out: Sequence[str] = ()) -> dict[str, str]:
        missing = {"formulation": AS_DESCRIBED, "acceleration": BY_INTEGRATOR}
        return {name: described(getattr(self, name), leave_out) or missing[name] for name in CHOICES}


def described(choice: Formulation | Element | None, leave_out: Sequence[str] = ()) -> str:
    """A strategy by its name, with the parameters that differ from their defaults."""
    if choice is None:
        return ""
    if isinstance(choice, Element) and leave_out:
        kept = {key: value for key, value in choice.values().items() if key not in leave_out}
        choice = type(choice)(**kept)
    return repr(choice).removesuffix("()")


def product_of(
    formulations: Sequence[Formulation | None] | None,
    accelerations: Sequence[Acceleration] | None,
    stabilizations: Sequence[Stabilization] | None,
    integrators: Sequence[Integrator] | None,
    steps: Sequence[float],
) -> list[Method]:
    """Every combination of what is given; for what is not there is one choice."""
    combinations = product(
        formulations or [None],
        accelerations or [AugmentedFormulation()],
        stabilizations or [DirectCorrection()],
        integrators or [RungeKutta4()],
    )
    return stepped([Method(*choices, dt=None) for choices in combinations], steps)


def selection(system: System, steps: Sequence[float]) -> list[Method]:
    """The methods of the literature, and what else differs from the usual ones in one choice."""
    usual = Method(None, AugmentedFormulation(), DirectCorrection(), RungeKutta4(), None)
    nothing = NoStabilization()
    planar = (PlanarAngle(), PlanarEulerParameters(), PlanarNatural())
    spatial = (NewtonEuler(), EulerParameters(), NaturalAbsolute())
    own = {repr(body.formulation_for(None) or NewtonEuler()) for body in system.bodies}
    others = [f for f in (planar if system.dimension == 2 else spatial) if own != {repr(f)}]
    methods = [
        replace(usual, stabilization=nothing),
        replace(usual, stabilization=Baumgarte()),
        replace(usual, acceleration=Penalty(), stabilization=nothing),
        replace(usual, acceleration=AugmentedLagrangian(), stabilization=nothing),
        replace(usual, acceleration=AugmentedLagrangian(), stabilization=MassOrthogonalProjection()),
        replace(usual, stabilization=CoordinatePartitioning()),
        usual,
        replace(usual, acceleration=UdwadiaKalaba()),
        replace(usual, acceleration=ProjectionMatrix()),
        *(replace(usual, formulation=other) for other in others),
        replace(usual, formulation=Relative()),
        replace(usual, integrator=AdamsBashforth(order=4)),
        replace(usual, integrator=GeneralizedAlpha()),
        *(replace(usual, integrator=DormandPrince(rtol=rtol)) for rtol in (1e-5, 1e-7, 1e-9)),
        *(replace(usual, integrator=RadauIIA(rtol=rtol)) for rtol in (1e-5, 1e-7, 1e-9)),
    ]
    return stepped(methods, steps)


def stepped(methods: Sequence[Method], steps: Sequence[float]) -> list[Method]:
    """Each method once with each step, where the integrator leaves the choice of step and acceleration to others."""
    found: dict[str, Method] = {}
    for method in methods:
        integrator = method.integrator
        acceleration = None if integrator.implicit else method.acceleration
        for dt in [None] if integrator.adaptive else steps:
            one = replace(method, acceleration=acceleration, dt=dt)
            found.setdefault(repr(one), one)
    return list(found.values())
