"""Looking for what is wrong with a model, in the solver process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

import mbframe as mb

from ...solving.tasks import Model

OPEN = 1e-6
"""Gaps above this, relative to the model, are told."""
LIGHT = 1e-8
"""Masses below this, relative to the heaviest, are told."""


@dataclass(frozen=True)
class Findings:
    """Gaps of joints (m or rad), rates at which velocities violate them, freedoms, and bodies with hardly any mass."""

    gaps: dict[str, float] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    freedom: mb.Freedom | None = None
    light: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CheckTask:
    """Check a model as it is described. Only the last one asked for matters."""

    model: Model
    latest: ClassVar[str] = "check"

    def run(self, report: Callable[..., None]) -> Findings:
        from mbframe.solvers.starting import extent, joint_norms

        system = self.model.system()
        if not system.bodies:
            return Findings()
        eq = mb.Equations(system)
        state = eq.described()
        residual, rate = eq.violation(0.0, eq.coordinates(state))
        size = extent(eq, state)
        gaps = {str(owner.name): gap for owner, gap in joint_norms(eq, residual) if gap > OPEN * size}
        speed = 1.0 + max(float(np.linalg.norm(m.velocity)) for m in state.motions.values())
        moving = any(np.any(m.velocity) or np.any(m.angular_velocity) for m in state.motions.values())
        rates = {
            str(owner.name): value
            for owner, value in joint_norms(eq, rate)
            if moving and not gaps and value > 1e-6 * speed
        }
        freedom = None
        if not gaps:
            try:
                freedom = mb.degrees_of_freedom(system)
            except mb.AnalysisError:
                freedom = None
        masses = {body.name: body.mass_properties()[0] for body in system.bodies}
        heaviest = max(masses.values())
        return Findings(gaps, rates, freedom, [name for name, mass in masses.items() if mass < LIGHT * heaviest])
