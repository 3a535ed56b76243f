"""Every body, joint, constraint and force: its example can be made, added, and simulated in every formulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.bodies.formulations import Formulation
from mbframe.forces.base import OnBody

from .specimens import GRAVITY, assert_close, connected, name_of, rigid_formulations, walk

FORMULATIONS = rigid_formulations()
BODIES = walk(mb.Body)
MOVING = [cls for cls in BODIES if not issubclass(cls, mb.Ground) and cls.dimension == 3]
CONNECTIONS = [*walk(mb.Joint), *walk(mb.BasicConstraint), *walk(mb.ForceElement)]
TIGHT = mb.DormandPrince(rtol=1e-11)


@pytest.mark.parametrize("cls", BODIES, ids=name_of)
def test_example_of_a_body_is_of_its_class(cls: Any) -> None:
    assert type(cls.example()) is cls


@pytest.mark.parametrize("cls", CONNECTIONS, ids=name_of)
def test_example_of_a_connection_is_of_its_class_and_joins_the_bodies(cls: Any) -> None:
    system, i, j, element = connected(cls)
    assert type(element) is cls
    assert (element.i.body, element.j.body) == (system.ground if isinstance(element, OnBody) else i, j)
    assert system[element.name] is element


@pytest.mark.parametrize("cls", [*BODIES, *CONNECTIONS], ids=name_of)
def test_every_parameter_is_explained(cls: Any) -> None:
    assert all(p.help for p in cls.parameters().values())
    assert cls.__doc__


@pytest.mark.boundscheck
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=name_of)
@pytest.mark.parametrize("cls", MOVING, ids=name_of)
def test_free_body_falls_on_a_parabola_and_keeps_its_spin(cls: Any, formulation: Formulation) -> None:
    body = cls.example()
    system = mb.System("free", gravity=GRAVITY)
    system.add(body)
    _, center, _ = body.mass_properties()
    result = mb.simulate(system, 0.5, integrator=TIGHT, formulation=formulation, t_eval=np.linspace(0.0, 0.5, 6))
    t = result.t[:, None]
    path, velocity = result.position(body, local_point=center), result.velocity(body, local_point=center)
    assert_close(path, path[0] + velocity[0] * t + 0.5 * GRAVITY * t**2, 1e-9)
    spin = result.momentum.angular - np.cross(path, result.momentum.linear)
    assert_close(spin, np.tile(spin[0], (len(t), 1)), 1e-9)
    assert np.linalg.norm(spin[0]) > 0.1 or cls is mb.PointMass
    assert_close(result.energy.total, np.full(len(t), result.energy.total[0]), 1e-9)


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", CONNECTIONS, ids=name_of)
def test_motion_is_the_same_in_every_formulation(cls: Any) -> None:
    system, _, j, _ = connected(cls)
    state = mb.simulate(system, 1e-3).state(0)  # assembled, so that all runs start from the same motion
    runs = [mb.simulate(system, 0.3, initial=state, integrator=TIGHT, formulation=f) for f in FORMULATIONS]
    for run in runs:
        assert run.violation.position.max() < 1e-10
        assert_close(run.position(j)[-1], runs[0].position(j)[-1], 1e-8)
        assert_close(run.rotation(j)[-1].as_matrix(), runs[0].rotation(j)[-1].as_matrix(), 1e-8)
