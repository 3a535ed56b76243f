"""Short loads by controllers and measures of a user are not stepped over, or told: closed forms."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np
import pytest

import mbframe as mb
from mbframe.functions import evaluate


class Switching(mb.Controller):
    """Pushes for a tenth of a second."""

    outputs = MappingProxyType({"force": "N"})

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [100.0 if 7.3 < t < 7.4 else 0.0]


class Pulse(Switching):
    """0.1 N s sqrt(pi) in some milliseconds."""

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [100.0 * np.exp(-(((t - 7.3) / 1e-3) ** 2))]


class Remembering(Switching):
    """Its state rises to sqrt(pi) in some milliseconds, and pushes from then on."""

    states = 1

    def state_rate(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [100.0 * np.exp(-(((t - 7.3) / 1e-2) ** 2))]

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [z[0]]


class Bang(Switching):
    """Pushes within a centimetre."""

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [100.0 if 3.3 < y[0] < 3.31 else 0.0]


class Hill(Switching):
    law = mb.parameter(
        "1000*exp(-((x - 3.3)/0.001)**2)", kind="function", variables=("x",), help="force over what it sees"
    )

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [evaluate(self.law, y[0])]


class Brake(Switching):
    """Switches by a velocity, as friction does."""

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [-2.0 * y[0] - 0.1 * np.sign(y[1])]


class Moment(mb.Measure):
    """One for some milliseconds."""

    def value(self, t, i, j):  # type: ignore[no-untyped-def]
        return np.exp(-(((t - 7.3) / 1e-2) ** 2))

    def gradient(self, t, i, j, g):  # type: ignore[no-untyped-def]
        g[0, 0] = 0.0


def controlled(controller: mb.Controller, speed: float = 0.0) -> mb.System:
    """A mass of 2 kg that a controller pushes."""
    system = mb.System("mass", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1), velocity=(speed, 0, 0)))
    if "moment" in controller.measures:
        system.add(Moment("moment", system.ground, body, at_i=(0, 0, 0), at_j=(0, 0, 0)))
    system.add(controller)
    system.add(mb.PointForce("push", body, at=(0, 0, 0), force=(f"{controller.name}.force", 0, 0)))
    return system


CONTROLLERS = {
    "switch": (Switching("c", measures=["mass.position.x"]), 5.0),
    "pulse": (Pulse("c", measures=["mass.position.x"]), 0.05 * math.sqrt(math.pi)),
    "state": (Remembering("c", measures=["mass.position.x"]), 0.5 * math.sqrt(math.pi) * 2.7),
    "measure": (
        mb.StateFeedback("c", outputs={"force": "N"}, measures=["moment"], gain=np.array([[-100.0, 0.0]])),
        0.5 * math.sqrt(math.pi),
    ),
}


@pytest.mark.parametrize("kind", CONTROLLERS)
def test_what_a_controller_does_with_the_time_is_not_stepped_over(kind: str) -> None:
    controller, speed = CONTROLLERS[kind]
    for integrator in (mb.DormandPrince(), mb.RadauIIA()):
        run = mb.simulate(controlled(controller), 10.0, integrator=integrator)
        np.testing.assert_allclose(run.velocity("mass")[-1, 0], speed, rtol=1e-4)
        assert not run.info.warnings
    name = "Moment 'moment', value" if kind == "measure" else f"{controller}, "
    fixed = mb.simulate(controlled(controller), 10.0, dt=0.25, integrator=mb.RungeKutta4()).info.warnings
    assert [w for w in fixed if w.startswith(name) and "reduce dt" in w]


@pytest.mark.parametrize(
    ("controller", "name"),
    [
        (Bang("c", measures=["mass.position.x"]), "Bang 'c', output"),
        (Hill("c", measures=["mass.position.x"]), "Hill 'c', law"),
        (Brake("c", measures=["mass.position.x", "mass.velocity.x"]), None),
        (Bang("c", measures=["mass.position.x"], sample_time=0.1), None),
    ],
    ids=["switch", "law", "brake", "sampled"],
)
def test_a_controller_that_switches_by_what_it_sees_is_told(controller: mb.Controller, name: str | None) -> None:
    found = [w for w in mb.simulate(controlled(controller, speed=1.0), 4.0).info.warnings if "stepped over" in w]
    assert len(found) == (name is not None)
    if name is not None:
        assert found[0].startswith(name)
        assert "max_step=" in found[0]
        careful = mb.simulate(controlled(controller, speed=1.0), 4.0, integrator=mb.DormandPrince(max_step=1e-3))
        assert not careful.info.warnings
        gained = 100.0 * 0.01 if isinstance(controller, Bang) else math.sqrt(math.pi)
        np.testing.assert_allclose(careful.velocity("mass")[-1, 0], math.sqrt(1.0 + gained), rtol=1e-3)


@pytest.mark.parametrize(
    ("force", "told"),
    [
        ("push + if(c.force > 3.3, if(c.force < 3.31, 100, 0), 0)", True),
        ("1000*exp(-((c.force - 3.3)/0.001)**2)", True),
        ("push + 2*c.force", False),
        ("if(push > 3.3, if(push < 3.31, 100, 0), 0)", False),
    ],
)
def test_a_force_that_switches_by_an_output_is_told(force: str, told: bool) -> None:
    system = mb.System("mass", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("mass", mass=2.0, inertia=(1, 1, 1), velocity=(1, 0, 0)))
    system.add(mb.Input("push"))
    gain = np.array([[-1.0, 0.0]])
    system.add(mb.StateFeedback("c", outputs={"force": "N"}, measures=["mass.position.x"], gain=gain))
    system.add(mb.PointForce("hit", body, at=(0, 0, 0), force=(force, 0, 0)))
    found = [w for w in mb.simulate(system, 4.0).info.warnings if "stepped over" in w]
    assert len(found) == told
    assert all(w.startswith("PointForce 'hit', force: it rises and falls with c.force") for w in found)
