"""Bodies of different formulations in one system: joints and forces do not know what coordinates a body has."""

import itertools

import numpy as np
import pytest

import mbframe as mb

PRECISE = {"integrator": mb.DormandPrince(rtol=1e-12), "stabilization": mb.DirectCorrection()}
CHOICES = (mb.NewtonEuler(), mb.NaturalAbsolute())
MIXTURES = [m for m in itertools.product(CHOICES, repeat=3) if len(set(m)) > 1]


def machine(formulations: tuple[mb.Formulation, ...]) -> mb.System:
    """Three bars on a hinge, a ball joint and a hinge, with a spring-damper between the first and the last."""
    system = mb.System("machine")
    bars = [
        system.add(
            mb.RigidBody(f"bar {k}", mass=1.0 + k, inertia=(0.08, 0.1 + 0.02 * k, 0.1), position=place, formulation=f)
        )
        for k, (f, place) in enumerate(zip(formulations, [(0.5, 0, 0), (1.5, 0.2, 0), (2.5, 0, 0)], strict=True))
    ]
    system.add(mb.RevoluteJoint("A", system.ground, bars[0], at=(0, 0, 0), axis=(0, 1, 0.2)))
    system.add(mb.SphericalJoint("B", bars[0], bars[1], at=(1, 0, 0)))
    system.add(mb.RevoluteJoint("C", bars[1], bars[2], at=(2, 0, 0), axis=(0, 1, 0)))
    law = {"stiffness": 30.0, "damping": 1.0, "free_length": 1.0}
    system.add(mb.SpringDamper("spring", bars[0], bars[2], at_i=(0.5, 0.3, 0), at_j=(2.5, 0.1, 0.2), **law))
    return system


@pytest.fixture(scope="module")
def plain() -> mb.Result:
    return mb.simulate(machine((None, None, None)), 1.5, **PRECISE, t_eval=np.linspace(0.0, 1.5, 16))


@pytest.mark.parametrize("mixture", MIXTURES, ids=lambda m: "-".join(type(f).__name__ for f in m))
def test_mixed_formulations_give_the_same_motion(plain: mb.Result, mixture: tuple[mb.Formulation, ...]) -> None:
    result = mb.simulate(machine(mixture), 1.5, **PRECISE, t_eval=plain.t)
    sizes = {mb.NewtonEuler: 7, mb.NaturalAbsolute: 12}
    assert result.q.shape[1] == sum(sizes[type(f)] for f in mixture)
    for k in range(3):
        for quantity in ("position", "velocity", "angular_velocity"):
            mixed, pure = (getattr(r, quantity)(f"bar {k}") for r in (result, plain))
            np.testing.assert_allclose(mixed, pure, rtol=0.0, atol=1e-9, err_msg=f"{quantity} of bar {k}")
    for joint in "ABC":
        np.testing.assert_allclose(result.reaction(joint).force, plain.reaction(joint).force, rtol=0.0, atol=1e-7)
        np.testing.assert_allclose(result.reaction(joint).torque, plain.reaction(joint).torque, rtol=0.0, atol=1e-7)


def test_formulation_of_a_run_replaces_those_of_the_bodies(plain: mb.Result) -> None:
    system = machine(MIXTURES[0])
    result = mb.simulate(system, 1.5, formulation=mb.NewtonEuler(), **PRECISE, t_eval=plain.t)
    np.testing.assert_array_equal(result.q, plain.q)


def test_a_state_starts_a_run_in_other_coordinates(plain: mb.Result) -> None:
    """A state is independent of formulation: the second half of a run in the other one."""
    middle = plain.state(8)
    rest = mb.simulate(
        plain.system, 1.5, initial=middle, formulation=mb.NaturalAbsolute(), **PRECISE, t_eval=plain.t[8:]
    )
    assert rest.t[0] == middle.t
    np.testing.assert_allclose(rest.position("bar 2"), plain.position("bar 2")[8:], rtol=0.0, atol=1e-9)
