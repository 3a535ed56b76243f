"""The rectangular Bricard mechanism: one redundant equation, through the whole motion."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import mbframe as mb

Array = NDArray[np.float64]

HINGES = [f"hinge {k}" for k in range(1, 7)]
INSTANTS = np.linspace(0.0, 10.0, 501)


@cache
def run(formulation: mb.Formulation) -> mb.Result:
    """Ten seconds with tight tolerances."""
    return mb.simulate(
        mb.examples.bricard(),
        10.0,
        formulation=formulation,
        integrator=mb.DormandPrince(rtol=1e-11, atol=1e-12),
        stabilization=mb.DirectCorrection(),
        t_eval=INSTANTS,
    )


def test_energy_is_kept(formulation: mb.Formulation) -> None:
    """With one freedom, and velocities that are those of the positions, this leaves no other motion."""
    result = run(formulation)
    assert result.energy.kinetic.max() > 4.0
    assert np.ptp(result.energy.total) <= 1e-8
    assert result.violation.position.max() <= 1e-11
    assert result.violation.velocity.max() <= 1e-10
    assert any("constraints depend" in w for w in result.info.warnings)


def test_the_ring_closes_as_in_theory(formulation: mb.Formulation) -> None:
    """(1 + cos a)(1 + cos b) = 1 with the angles a and b between neighbouring links in turn, [ChenYouTarnai2005]."""
    result = run(formulation)
    links = [result.rotation(f"rod {k}").as_matrix()[:, :, 0] for k in range(1, 6)]
    links.append(np.tile([0.0, 0.0, -1.0], (len(result), 1)))
    cosines = [np.sum(links[k] * links[(k + 1) % 6], axis=1) for k in range(6)]
    for k in range(2, 6):
        np.testing.assert_allclose(cosines[k], cosines[k - 2], rtol=0.0, atol=1e-10)
    np.testing.assert_allclose((1.0 + cosines[0]) * (1.0 + cosines[1]), 1.0, rtol=0.0, atol=1e-10)
    assert np.ptp(cosines[0]) > 0.4


def test_the_same_motion_without_the_redundant_equation(formulation: mb.Formulation) -> None:
    """A cylindrical joint instead of a hinge: 29 equations, none redundant."""
    system = mb.examples.bricard()
    hinge = system["hinge 6"]
    system.remove(hinge)
    system.add(mb.CylindricalJoint("slide", hinge.body_i, hinge.body_j, at=hinge.at, axis=hinge.axis))
    freedom = mb.degrees_of_freedom(system)
    assert (freedom.count, freedom.redundant) == (1, 0)
    assert freedom.unique_reactions == [*HINGES[:5], "slide"]
    other = mb.simulate(
        system,
        2.0,
        formulation=formulation,
        integrator=mb.DormandPrince(rtol=1e-11, atol=1e-12),
        stabilization=mb.DirectCorrection(),
        t_eval=INSTANTS[:101],
    )
    assert not other.info.warnings
    for k in range(1, 6):
        np.testing.assert_allclose(
            other.position(f"rod {k}"), run(formulation).position(f"rod {k}")[:101], rtol=0.0, atol=1e-9
        )


def test_after_one_second_as_published() -> None:
    """Exudyn's test model `bricardMechanism.py` records 4.172190: the norm of all displacements and changes of Euler
    parameters at 1 s (generalized-alpha method, steps of 1 ms), plus one freedom and one redundant equation.
    """
    result = run(mb.NewtonEuler())
    end = int(np.flatnonzero(result.t == 1.0)[0])
    # The rods' frames there: x along the rod, origin in its first end, these rotations at the start.
    turns = [(0, 0, 0), (0, 0, -np.pi / 2), (0, -np.pi / 2, 0), (0, 0, np.pi), (0, 0, np.pi / 2)]
    square = 0.0
    for k, turn in enumerate(turns, 1):
        corner = result.position(f"rod {k}", (-0.5, 0.0, 0.0))[[0, end]]
        rotation = result.rotation(f"rod {k}")[: end + 1]
        p = ((rotation * rotation[0].inv()) * Rotation.from_rotvec(turn)).as_quat()
        p *= np.cumprod(np.sign(np.concatenate([[1.0], np.sum(p[1:] * p[:-1], axis=1)])))[:, None]
        square += np.sum((corner[1] - corner[0]) ** 2) + np.sum((p[-1] - p[0]) ** 2)
    assert np.sqrt(square) + 2.0 == pytest.approx(4.172190, abs=1e-5)


def drifted(state: mb.State, size: float) -> mb.State:
    values = np.random.default_rng(2)
    motions = {
        name: dataclasses.replace(
            m,
            position=m.position + size * values.normal(size=3),
            rotation=Rotation.from_rotvec(size * values.normal(size=3)).as_matrix() @ m.rotation,
        )
        for name, m in state.motions.items()
    }
    return mb.State(state.t, motions)


@pytest.mark.parametrize("drift", [0.0, 1e-9, 1e-6])
def test_one_dependency_goes_through_all_hinges(drift: float, formulation: mb.Formulation) -> None:
    system = mb.examples.bricard()
    for instant in (0, 17, 100, 333, 500):
        state = drifted(run(mb.NewtonEuler()).state(instant), drift)
        freedom = mb.degrees_of_freedom(system, state, formulation=formulation)
        assert (freedom.count, freedom.redundant, freedom.rank, freedom.equations) == (1, 1, 29, 30)
        assert freedom.joints_involved == HINGES
        assert [list(parts) for parts in freedom.dependencies] == [HINGES]
        assert freedom.unique_reactions == []
        assert not freedom.singular
