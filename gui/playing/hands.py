"""Hands that pull at bodies while a model runs live: a spring to each body, at rest until it is taken. No Qt here."""

from __future__ import annotations

import copy
import math
import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import mbframe as mb
from mbframe.plane import lifted
from mbframe.proposals import Scale

Array = NDArray[np.float64]

HOLD: Final = 1.0 / 240.0
"""Seconds for which the force of a hand is held; then it is computed anew."""
SAG: Final = 0.25
"""Of the model's size: how far a hand that carries all of it gives way."""
DAMPING: Final = 0.4
"""Damping ratio of what is pulled on the spring alone."""
STIFFEST: Final = 0.1
"""Largest k h^2 / m: a force that is held for h lags behind, and would drive what it holds at more."""


@dataclass(frozen=True)
class Spring:
    """A pull at a point of a body, in its axes, towards a global point; three components each."""

    body: str
    point: tuple[float, float, float]
    target: tuple[float, float, float]


class Hands:
    """A force and a torque on each body that may be pulled, in a copy of a system; inputs give their components.

    So the equations stay the same whichever body is taken, and what was seen is a run of a model that has these loads,
    with their course: reactions and energies are right.
    """

    def __init__(self, system: mb.System) -> None:
        self.system = system
        self.spring: Spring | None = None
        self.force: float | None = None
        """Of the spring, N; None while nothing is pulled."""
        self._inputs: dict[str, list[str]] = {}
        self._elements: dict[str, list[str]] = {}
        self._used: set[str] = set()
        self._stiffness = self._damping = 0.0
        self.hold = HOLD
        self._scale = Scale.of(system)
        for body in list(system.bodies):
            if not isinstance(body, mb.FlexibleBody):
                self._add(body)

    def _add(self, body: mb.Body) -> None:
        planar, turns = self.system.dimension == 2, not isinstance(body, mb.PointMass)
        stem = "pull_" + (re.sub(r"\W", "_", body.name, flags=re.ASCII) or "body")
        parts = (["x", "y"] if planar else ["x", "y", "z"]) + (
            [] if not turns else ["tz"] if planar else ["tx", "ty", "tz"]
        )
        names = [self._free(f"{stem}_{part}", "") for part in parts]
        for name, part in zip(names, parts, strict=True):
            self.system.add(mb.Input(name, unit="N m" if part.startswith("t") else "N"))
        axes = 2 if planar else 3
        force = mb.PointForce(
            self._free(f"pull on {body.name}", " "), body, at=body.position, force=tuple(names[:axes])
        )
        elements = [self.system.add(force).name]
        if turns:
            torque: Any = names[axes] if planar else tuple(names[axes:])
            twist = mb.Torque(self._free(f"pull on {body.name} turning it", " "), body, torque=torque)
            elements.append(self.system.add(twist).name)
        self._inputs[body.name], self._elements[body.name] = names, elements

    def _free(self, wanted: str, gap: str) -> str:
        name, number = wanted, 2
        while name in self.system:
            name, number = f"{wanted}{gap}{number}", number + 1
        return name

    def owns(self, name: str) -> bool:
        """Whether an input belongs to a hand."""
        return any(name in names for names in self._inputs.values())

    # --- pulling ------------------------------------------------------------------------------------------------------

    def take(self, sim: mb.Simulation, spring: Spring) -> None:
        """Pull at a body from now on, or towards another point."""
        if spring.body not in self._inputs:
            message = "bends, and cannot be pulled while it runs; pull at a rigid body"
            raise mb.ModelError([sim.system[spring.body].problem("", message)])
        if self.spring is not None and self.spring.body != spring.body:
            self.let_go(sim)
        self.spring = spring
        self._used.add(spring.body)
        body: Any = sim.system[spring.body]
        mass, centre, inertia = body.mass_properties()
        arm = float(np.linalg.norm(np.asarray(spring.point) - lifted(centre)))
        least = float(np.linalg.eigvalsh(np.atleast_2d(inertia)).min()) if np.size(inertia) else 0.0
        if self.system.dimension == 2 and np.size(inertia):
            least = float(np.atleast_2d(inertia)[-1, -1])
        light = 1.0 / (1.0 / mass + (arm**2 / least if least > 0.0 else 0.0))  # what the point weighs across its arm
        wished = self._scale.weight / (SAG * self._scale.length)
        self._stiffness = min(wished, STIFFEST * light / HOLD**2)
        self._damping = min(2.0 * DAMPING * math.sqrt(self._stiffness * light), STIFFEST * light / HOLD)

    def let_go(self, sim: mb.Simulation) -> None:
        """Pull at nothing."""
        if self.spring is not None:
            names = self._inputs[self.spring.body]
            self.spring = self.force = None
            sim.inputs.update(**dict.fromkeys(names, 0.0))

    def act(self, sim: mb.Simulation) -> None:
        """Give the force its value for where the body is now: F = k (target - p) - c p'."""
        if self.spring is None:
            return
        motion = sim.state.motions[self.spring.body]
        arm = motion.rotation @ np.asarray(self.spring.point)
        speed = motion.velocity + np.cross(motion.angular_velocity, arm)
        force = self._stiffness * (np.asarray(self.spring.target) - motion.position - arm) - self._damping * speed
        if self.system.dimension == 2:
            force[2] = 0.0
        turning = np.cross(arm, force)
        parts = [*force[:2], turning[2]] if self.system.dimension == 2 else [*force, *turning]
        self.force = float(np.linalg.norm(force))
        names = self._inputs[self.spring.body]
        sim.inputs.update(**dict(zip(names, (float(part) for part in parts[: len(names)]), strict=True)))

    # --- the result ---------------------------------------------------------------------------------------------------

    def without_idle(self, result: mb.Result) -> mb.Result:
        """The result as one of a model that has those hands only that have pulled."""
        from mbframe.equations.equations import Equations  # here, in the process of the solver: it loads compiled code
        from mbframe.results import Result
        from mbframe.stored_states import PARTS, StatesInMemory

        idle = [body for body in self._inputs if body not in self._used]
        if not idle:
            return result
        system = copy.deepcopy(result.system)
        for body in idle:
            for name in (*self._elements[body], *self._inputs[body]):
                system.remove(name)
        states = result.states
        formulation = states.settings["formulation"]
        equations = Equations(system, formulation, works=True)
        fresh = StatesInMemory.none(equations, states.settings)
        columns = []
        for part in PARTS:
            places = {name: k for k, (name, _) in enumerate(states.columns[part])}
            columns.append(states.part(part)[:, [places[name] for name, _ in fresh.columns[part]]])
        return Result.of(fresh.at(states.t, np.hstack(columns)), result.info, list(result.events))
