"""The car suspension: its equilibrium, the bump, and the stop."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from mbframe.examples.car_suspension import LEAF_DEFLECTION, LEAF_SUPPORT, SHOCK_DAMPER, SHOCK_SPRING, STOP_DEFLECTION

T = np.linspace(0.0, 6.0, 601)


@pytest.fixture(scope="module")
def system() -> mb.System:
    return mb.examples.car_suspension()


@pytest.fixture(scope="module")
def run(system: mb.System) -> mb.Result:
    return mb.simulate(system, 6.0, t_eval=T, integrator=mb.DormandPrince(rtol=1e-9))


@pytest.fixture(scope="module")
def deflection(system: mb.System, run: mb.Result) -> np.ndarray:
    """Of the leaf spring's end, against gravity."""
    leaf = system["leaf"]
    length = np.linalg.norm(run.position(leaf.j) - leaf.at_i, axis=1)
    return LEAF_SUPPORT + LEAF_DEFLECTION - length


def test_it_is_described_closed_and_has_one_freedom(system: mb.System) -> None:
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.equations, freedom.redundant) == (1, 17, 0)
    assert mb.evaluate(system).violation.position[0] < 1e-12


def test_force_laws_are_continuous(system: mb.System) -> None:
    """Eq. 54 meets itself at -0.2 and 0.21 m/s to its printed digits; eq. 53 pushes the short absorber apart."""
    damper = mb.Function(SHOCK_DAMPER, ("v",))
    for v in (-0.2, 0.21):
        assert abs(damper(v - 1e-9) - damper(v + 1e-9)) < 0.02
    assert damper(0.0) == 0.0
    x = system["shock absorber"]
    length = float(np.linalg.norm(x.point_i - x.point_j))
    assert abs(length - 0.42) < 1e-3
    assert np.polynomial.polynomial.polyval(length - 0.05, SHOCK_SPRING) < -5e3


def test_it_settles_where_equilibrium_says(system: mb.System, run: mb.Result) -> None:
    rest = mb.equilibrium(system)
    assert rest.minimum
    for body in system.bodies:
        for k in (280, -1):  # before the bump, and at the end
            assert np.abs(run.position(body)[k] - rest.position(body)).max() < 1e-8
            assert np.abs(run.rotation(body)[k].as_matrix() - rest.rotation(body).as_matrix()).max() < 1e-8
    assert np.abs(run.position("wheel")[0] - rest.position("wheel")).max() > 1e-4  # it does not start there
    # Vertical forces on all bodies: the tire carries them. Its compression at rest follows from the stiffness.
    forces = mb.evaluate(system, rest)
    carried = sum(forces.reaction(j).force[0, 2] for j in ("A-arm on car", "leaf spring on car", "tie rod"))
    leaf, shock = system["leaf"], system["shock absorber"]
    pulled = 0.0
    for spring, law in ((leaf, lambda l: 35900.0 * (l - leaf.free_length)), (shock, shock.force)):
        arm = spring.at_i - forces.position(spring.j)[0]
        pulled += law(np.linalg.norm(arm)) * arm[2] / np.linalg.norm(arm)
    compression = 0.364325 - rest.position("wheel")[2]
    weight = 9.81 * sum(body.mass for body in system.bodies)
    assert abs(460000.0 * compression + carried + pulled - weight) < 1e-6


def test_it_passes_the_bump_and_hits_the_stop(run: mb.Result, deflection: np.ndarray) -> None:
    height = run.position("wheel")[:, 2]
    assert deflection[:290].max() < STOP_DEFLECTION
    hit = deflection > STOP_DEFLECTION
    assert 3.0 < T[hit].min() < T[hit].max() < 4.0
    assert deflection.max() < STOP_DEFLECTION + 0.01  # 10^7 N/m
    assert 0.05 < height.max() - height[0] < 0.1
    assert run.violation.position.max() < 1e-10
    assert run.info.warnings == []


def test_step_size_of_the_paper(system: mb.System, run: mb.Result) -> None:
    """Runge-Kutta 4 with 1 ms and direct correction, as in [MarquesSoutoFlores2017]."""
    paper = mb.simulate(system, 6.0, dt=1e-3, stabilization=mb.DirectCorrection())
    assert np.abs(paper.position("wheel")[::10] - run.position("wheel")).max() < 1e-4
    assert paper.violation.position.max() < 1e-12
