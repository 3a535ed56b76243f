"""Backward differentiation formulas by SUNDIALS against an explicit method of order eight; see also test_implicit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import mbframe as mb


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sksundae.ida", None)
    with pytest.raises(mb.ModelError, match=r'pip install "mbframe\[bdf\]"'):
        mb.simulate(mb.examples.triple_pendulum(), 0.1, integrator=mb.BDF())


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.EulerParameters()], ids=repr)
def test_error_falls_with_the_tolerance_also_between_steps(formulation: mb.Formulation) -> None:
    pytest.importorskip("sksundae", reason="needs the extra 'bdf'")
    system, t = mb.examples.triple_pendulum(), np.linspace(0.0, 0.5, 21)

    def run(integrator: mb.Integrator) -> mb.Result:
        return mb.simulate(
            system, 0.5, integrator=integrator, formulation=formulation, stabilization=mb.NoStabilization(), t_eval=t
        )

    expected = run(mb.DormandPrince(rtol=1e-12))
    tolerances = (1e-4, 1e-6)
    results = [run(mb.BDF(rtol=rtol)) for rtol in tolerances]
    errors = [np.abs(result.q - expected.q).max() for result in results]
    for result, rtol, error in zip(results, tolerances, errors, strict=True):
        assert error < 20.0 * rtol
        assert result.violation.position.max() < rtol  # the constraints are solved for: nothing else corrects them
    assert errors[0] > 10.0 * errors[1]


def test_stiff_forces_do_not_limit_the_step() -> None:
    """A mass on a spring with a natural period of 0.02 ms, critically damped, that follows a slow force."""
    pytest.importorskip("sksundae", reason="needs the extra 'bdf'")
    system = mb.System("stiff", gravity=(0.0, 0.0, -9.81))
    mass = system.add(mb.PointMass("mass", mass=1.0, position=(0.0, 0.0, -9.81e-11)))
    held = np.diag([1e11, 1e11, 1e11, 0.0, 0.0, 0.0])
    damping = np.diag([6e5, 6e5, 6e5, 0.0, 0.0, 0.0])
    system.add(mb.Bushing("spring", system.ground, mass, at=(0.0, 0.0, 0.0), stiffness=held, damping=damping))
    result = mb.simulate(system, 1.0, integrator=mb.BDF(rtol=1e-6))
    assert result.info.steps < 200  # an explicit method needs one for each 5 microseconds
    assert abs(result.position("mass")[-1, 2]) < 1e-9


@pytest.mark.parametrize("model", ["bricard", "rolling_disk", "chaplygin_sleigh", "screw_jack", "watt_governor"])
def test_redundant_and_nonholonomic_constraints_and_turns(model: str) -> None:
    pytest.importorskip("sksundae", reason="needs the extra 'bdf'")
    system = getattr(mb.examples, model)()
    expected = mb.simulate(system, 0.2, integrator=mb.DormandPrince(rtol=1e-10))
    result = mb.simulate(system, 0.2, integrator=mb.BDF())
    assert result.info.steps < 500  # velocities that stay zero do not hold it up
    scale = max(1.0, np.abs(expected.v[-1]).max())
    np.testing.assert_allclose(result.q[-1], expected.q[-1], atol=2e-4)
    np.testing.assert_allclose(result.v[-1], expected.v[-1], atol=1e-3 * scale)
    assert result.violation.position.max() < 1e-9


def test_followers_leave_the_time_alone() -> None:
    """A torsion spring wound up over turns, theta = 10 sin t, and pushed from t = 2 on."""
    pytest.importorskip("sksundae", reason="needs the extra 'bdf'")
    system = mb.System("spring", gravity=(0, 0, 0))
    disk = system.add(mb.RigidBody("disk", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 10)))
    system.add(mb.RevoluteJoint("pin", system.ground, disk, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.TorsionalSpringDamper("spring", system.ground, disk, at=(0, 0, 0), axis=(0, 0, 1), stiffness=1.0))
    system.add(mb.Angle("turn", system.ground, disk, at_i=(0, 0, 0), at_j=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.Torque("push", disk, torque=(0, 0, "if(t > 2, 5, 0)")))
    for t_eval in (None, np.linspace(0.0, 4.0, 9)):
        result = mb.simulate(system, 4.0, integrator=mb.BDF(), t_eval=t_eval)
        pushed = np.where(result.t > 2.0, 5.0 * (1.0 - np.cos(result.t - 2.0)), 0.0)
        assert np.abs(result.measure("turn") - 10.0 * np.sin(result.t) - pushed).max() < 2e-3
        assert np.abs(result.energy.balance).max() < 2e-2


@pytest.mark.parametrize("width", [0.01, 1e-4])
def test_a_quick_driver_is_followed(width: float) -> None:
    """0.3 rad within 0.1 ms, from rest: the first step that IDA chose behind the jump did not change the time."""
    pytest.importorskip("sksundae", reason="needs the extra 'bdf'")
    system = mb.System("arm")
    arm = system.add(mb.RigidBody("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.Driver("motor", hinge, angle=f"step(t, 0.5, 0, {0.5 + width}, 0.3)"))
    run = mb.simulate(system, 1.0, integrator=mb.BDF())
    np.testing.assert_allclose(run.position(arm)[-1], (np.cos(0.3), 0.0, -np.sin(0.3)), atol=1e-12)
    np.testing.assert_allclose(run.angular_velocity(arm)[-1], 0.0, atol=1e-9)


def test_equations_left_out_at_a_dead_point_count_behind_it() -> None:
    """A parallelogram that starts flat, where one equation depends on the others, turns on at 3 rad/s."""
    pytest.importorskip("sksundae", reason="needs the extra 'bdf'")
    system = mb.System("parallelogram", dimension=2, gravity=(0, 0))
    coupler = system.add(mb.PlanarBody("coupler", mass=1.0, inertia=0.5, position=(2, 0), velocity=(0, 3)))
    for x in (0.0, 2.0):
        values = {"position": (x + 0.5, 0), "velocity": (0, 1.5), "angular_velocity": 3.0}
        rocker = system.add(mb.PlanarBody(f"rocker {x}", mass=0.5, inertia=0.05, **values))
        system.add(mb.RevoluteJoint(f"foot {x}", system.ground, rocker, at=(x, 0)))
        system.add(mb.RevoluteJoint(f"head {x}", rocker, coupler, at=(x + 1.0, 0)))
    run = mb.simulate(system, 0.5, integrator=mb.BDF())
    np.testing.assert_allclose(run.position(coupler)[-1], (1.0 + np.cos(1.5), np.sin(1.5)), atol=1e-4)
