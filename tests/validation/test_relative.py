"""Joint coordinates and the equations of the bodies: accelerations, motions, reactions, energies; what has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.equations.joint_coordinates import JointCoordinates
from mbframe.kernels.compiler.compile import run_stage

from .random_mechanisms import JOINTS, add_joint, mechanism

AGREES = 1e-9
PRECISE: dict[str, Any] = {
    "integrator": mb.DormandPrince(order=8, rtol=1e-10, atol=1e-13),
    "stabilization": mb.DirectCorrection(),
}


def chain(n: int, *, balls: bool = False) -> mb.System:
    """Bars of 0.3 m, stretched out, on hinges with axes in turn, or on ball joints."""
    system = mb.System("chain")
    before: mb.Body = system.ground
    for k in range(n):
        body = mb.RigidBody(f"bar {k}", mass=1.0, inertia=(1e-3, 0.0075, 0.0075), position=(0.3 * k + 0.15, 0.0, 0.0))
        at = (0.3 * k, 0.0, 0.0)
        system.add(body)
        if balls:
            system.add(mb.SphericalJoint(f"joint {k}", before, body, at=at))
        else:
            system.add(mb.RevoluteJoint(f"joint {k}", before, body, at=at, axis=(0, k % 2 == 0, k % 2 == 1)))
        before = body
    return system


def said(result: mb.Result) -> list[str]:
    """What a run says of its joint coordinates."""
    return [warning for warning in result.info.warnings if warning.startswith("Relative")]


def accelerations(joints: JointCoordinates, present: bool) -> np.ndarray:
    """v' of the joints at the state of their workspace, by the recursion or by the equations of the bodies."""
    joints.record["present"] = present
    joints.work["evaluated"], joints.work.array("factor")["valid"] = 0, 0
    assert run_stage(int(joints.work["accelerate"]), 0.0, joints.work.address, 0, 0) == 0
    return joints.work.v_rate.copy()


def assert_alike(system: mb.System, t_end: float, expected: Sequence[str] = (), **settings: Any) -> mb.Result:
    """The same motion, reactions and energies with and without joint coordinates, and only what is `expected` is said.

    Returns the result in joint coordinates.
    """
    settings = PRECISE | {"t_eval": np.linspace(0.0, t_end, 5)} | settings
    usual = mb.simulate(system, t_end, **settings)
    result = mb.simulate(system, t_end, formulation=mb.Relative(), **settings)
    remarks = said(result)
    assert len(remarks) == len(expected)
    assert all(part in remark for part, remark in zip(expected, remarks, strict=True)), remarks
    np.testing.assert_array_equal(result.t, usual.t)
    for body in system.bodies:
        for a, b in (
            (result.position(body), usual.position(body)),
            (result.rotation(body).as_matrix(), usual.rotation(body).as_matrix()),
            (result.velocity(body), usual.velocity(body)),
            (result.angular_velocity(body), usual.angular_velocity(body)),
        ):
            np.testing.assert_allclose(a, b, rtol=0.0, atol=AGREES * max(1.0, np.abs(b).max()))
    forces = {joint.name: usual.reaction(joint).force for joint in system.joints}
    size = max([1.0, *(np.abs(force).max() for force in forces.values())])
    for joint, force in forces.items():
        np.testing.assert_allclose(result.reaction(joint).force, force, rtol=0.0, atol=10 * AGREES * size)
    moved = np.abs(usual.energy.kinetic).max() + np.ptp(usual.energy.potential) + 1e-3
    np.testing.assert_allclose(
        result.energy.total, usual.energy.total, rtol=0.0, atol=AGREES * (moved + np.abs(usual.energy.potential).max())
    )
    np.testing.assert_allclose(result.energy.balance, 0.0, rtol=0.0, atol=1e-7 * moved)
    assert result.violation.position.max() < 1e-9
    return result


# --- the recursion ----------------------------------------------------------------------------------------------------


@pytest.mark.boundscheck
@pytest.mark.parametrize("cls", JOINTS, ids=lambda cls: cls.__name__)
def test_recursion_has_the_accelerations_of_the_bodies(cls: type[mb.Joint], monkeypatch: pytest.MonkeyPatch) -> None:
    """Three links in a row on joints of one kind, and a spring, in any motion that the joints of the tree allow."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr("tests.validation.random_mechanisms.JOINTS", [cls])
    system = mb.System("row", gravity=(1.0, 2.0, -9.0))
    before: mb.Body = system.ground
    for k in range(3):
        body = mb.RigidBody(
            f"link {k}",
            mass=1.3 + k,
            inertia=(0.1, 0.2, 0.25, 0.01, -0.02, 0.015),
            center_of_mass=rng.uniform(-0.2, 0.2, 3),
            position=rng.uniform(-1.0, 1.0, 3),
        )
        system.add(body)
        add_joint(system, rng, f"joint {k}.0", before, body, k)
        before = body
    system.add(mb.SpringDamper("spring", system.ground, before, at_i=(1, 2, 3), at_j=(0.1, 0, 0.2), stiffness=50.0))
    eq = mb.Equations(system, mb.Relative(), works=True)
    joints = JointCoordinates(eq, eq.coordinates(eq.described()))
    if joints.n_v == 0:
        assert cls is mb.FixedJoint
        return
    if cls is not mb.PointOnLineJoint:  # all else is closed at any coordinates
        joints.work.q[:] += 0.3 * rng.normal(size=joints.n_q)
        joints.work.v[:] = rng.normal(size=joints.n_v)
    recursive, usual = accelerations(joints, present=False), accelerations(joints, present=True)
    np.testing.assert_allclose(recursive, usual, rtol=0.0, atol=1e-12 * np.abs(usual).max())


@pytest.mark.parametrize(("n", "balls"), [(100, False), (70, True)])
def test_long_chains_keep_their_digits(n: int, balls: bool) -> None:
    """1e-10 beside the equations of the bodies, from rest and in motion: otherwise the run would say so."""
    system = chain(n, balls=balls)
    eq = mb.Equations(system, mb.Relative(), works=True)
    joints = JointCoordinates(eq, eq.coordinates(eq.described()))
    rng = np.random.default_rng(1)
    for _ in range(3):
        joints.work.q[:] += 0.3 * rng.normal(size=joints.n_q)
        joints.work.v[:] = rng.normal(size=joints.n_v)
        recursive, usual = accelerations(joints, present=False), accelerations(joints, present=True)
        np.testing.assert_allclose(recursive, usual, rtol=0.0, atol=1e-10 * np.abs(usual).max())
    assert not said(mb.simulate(system, t_end=0.01, dt=1e-3, formulation=mb.Relative()))


def test_run_goes_on_with_the_bodies_where_the_recursion_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recursion with a mass that is not the body's is found out at the first step, and told."""
    system = chain(3)
    usual = mb.simulate(system, t_end=0.1, dt=1e-3)
    weigh = JointCoordinates.weigh

    def wrongly(self: JointCoordinates) -> None:
        weigh(self)
        self.nodes["mass"][-1] *= 1.001

    monkeypatch.setattr(JointCoordinates, "weigh", wrongly)
    result = mb.simulate(system, t_end=0.1, dt=1e-3, formulation=mb.Relative())
    assert len(said(result)) == 1
    assert "at t = 0 s the recursion differed" in said(result)[0]
    np.testing.assert_allclose(result.position("bar 2"), usual.position("bar 2"), rtol=0.0, atol=1e-9)


# --- motions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "t_end"),
    [
        ("triple_pendulum", 0.3),
        ("bricard", 0.2),
        ("spatial_slider_crank", 0.2),
        ("whipple_bicycle", 0.2),
        ("car_suspension", 0.2),
        ("screw_jack", 0.2),
        ("heavy_top", 0.1),
        ("slider_crank", 0.1),
        ("n_four_bar", 0.2),
        ("quick_return", 0.1),
        ("bouncing_block", 0.2),
        ("rolling_disk", 0.2),
    ],
)
def test_examples_move_alike(name: str, t_end: float) -> None:
    assert_alike(getattr(mb.examples, name)(), t_end)


@pytest.mark.parametrize("seed", range(12))
def test_random_mechanisms_accelerate_alike(seed: int) -> None:
    """Trees, loops and joints that are there twice, at rest or in the motion of one whole.

    Motions of very light bodies on springs depend on each digit, so accelerations are compared, each with the largest
    that its bodies would have alone.
    """
    system = mechanism(np.random.default_rng(seed))
    eq = mb.Equations(system, mb.Relative(), works=True)
    joints = JointCoordinates(eq, eq.coordinates(eq.described()))
    if joints.n_v == 0:
        return
    recursive, usual = accelerations(joints, present=False), accelerations(joints, present=True)
    size = max(
        np.abs(usual).max(), max(np.abs(eq.work.force[b.v : b.v + 3]).max() / b.body.mass for b in eq.tables.bodies)
    )
    np.testing.assert_allclose(recursive, usual, rtol=0.0, atol=1e-10 * size)


@pytest.mark.parametrize(
    "integrator", [mb.RungeKutta4(), mb.AdamsBashforth(order=4), mb.DormandPrince(order=5)], ids=str
)
def test_every_explicit_integrator_steps_in_joint_coordinates(integrator: mb.Integrator) -> None:
    """Instants between steps too; of the fixed ones the error falls as their order says."""
    system, t = chain(3), np.linspace(0.0, 0.3, 8)
    exact = mb.simulate(system, 0.3, t_eval=t, **PRECISE).position("bar 2")
    if integrator.adaptive:
        integrator = mb.DormandPrince(order=5, rtol=1e-9)
    errors = []
    for dt in (None,) if integrator.adaptive else (2e-3, 1e-3):
        result = mb.simulate(system, 0.3, dt, t_eval=t, integrator=integrator, formulation=mb.Relative())
        assert not said(result)
        errors.append(np.abs(result.position("bar 2") - exact).max())
    assert errors[-1] < 1e-7
    assert integrator.adaptive or errors[0] / errors[1] > 10.0


@pytest.mark.parametrize(
    "stabilization",
    [mb.NoStabilization(), mb.Baumgarte(), mb.CoordinatePartitioning(), mb.MassOrthogonalProjection()],
    ids=str,
)
def test_stabilizations_of_cut_loops(stabilization: mb.Stabilization) -> None:
    system = mb.examples.four_bar_marques()
    usual = mb.simulate(system, 0.2, **PRECISE)
    result = mb.simulate(system, 0.2, 5e-4, stabilization=stabilization, formulation=mb.Relative())
    body = system.bodies[-1]
    np.testing.assert_allclose(result.position(body)[-1], usual.position(body)[-1], rtol=0.0, atol=1e-7)


def test_other_accelerations_are_asked_for_in_joint_coordinates() -> None:
    settings = {"acceleration": mb.UdwadiaKalaba()}
    assert_alike(mb.examples.triple_pendulum(), 0.2, ["UdwadiaKalaba gives the accelerations"], **settings)


def test_friction_is_found_with_the_bodies() -> None:
    assert_alike(mb.examples.sliding_block(), 0.2, ["friction depends on reactions"])


def test_drivers_do_their_work_through_a_cut() -> None:
    """The crank is driven, so its driver cuts; the work of the driver is in the balance."""
    system = mb.System("driven")
    crank = system.add(mb.RigidBody("crank", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0)))
    rod = system.add(mb.RigidBody("rod", mass=2.0, inertia=(0.1, 0.3, 0.2), position=(1.5, 0, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, crank, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.SphericalJoint("ball", crank, rod, at=(1, 0, 0)))
    system.add(mb.Driver("motor", hinge, angle="2 * sin(3 * t)"))
    result = assert_alike(system, 0.5)
    assert np.ptp(result.energy.total) > 1.0


# --- what is around a run ---------------------------------------------------------------------------------------------


def test_events_end_a_run_at_the_same_instant() -> None:
    def level(t: float, state: mb.State) -> float:
        return float(state.motion("bar 2").position[2] + 0.2)

    event = mb.Event(level, terminal=True)
    ends = [
        mb.simulate(chain(3), 1.0, events=[event], formulation=formulation, **PRECISE)
        for formulation in (None, mb.Relative())
    ]
    assert ends[0].t[-1] == pytest.approx(ends[1].t[-1], abs=1e-9)
    assert ends[1].t[-1] < 1.0


def test_a_simulation_is_stepped_restored_and_changed() -> None:
    """Forces from outside, masses and snapshots reach the joint coordinates as they reach the bodies."""
    moved = []
    for formulation in (None, mb.Relative()):
        system = chain(3)
        system.add(mb.Input("push", unit="N"))
        system.add(mb.PointForce("force", system["bar 2"], at=(0.9, 0, 0), force=("push", 0, 0)))
        sim = mb.Simulation(system, dt=1e-3, integrator=mb.RungeKutta4(), formulation=formulation)
        sim.step(20)
        mark = sim.snapshot()
        sim.inputs["push"] = 30.0
        sim.step(30)
        sim.parameters["bar 1", "mass"] = 3.0
        sim.step(30)
        changed = sim.quantity("bar 2.position.z")
        sim.restore(mark)
        sim.step(10)
        moved.append((changed, sim.quantity("bar 2.position.z")))
    np.testing.assert_allclose(moved[1], moved[0], rtol=0.0, atol=1e-9)


def test_a_hinge_turns_any_number_of_times() -> None:
    """The angle of the joint is wrapped, that of a planar body and of the joint's quantity is not."""
    system = mb.System("wheel", dimension=2, gravity=(0.0, 0.0))
    wheel = system.add(mb.PlanarBody("wheel", mass=1.0, inertia=0.2, angular_velocity=30.0))
    system.add(mb.RevoluteJoint("axle", system.ground, wheel, at=(0, 0)))
    result = mb.simulate(system, 1.0, 1e-2, formulation=mb.Relative())
    np.testing.assert_allclose(result.angle(wheel), 30.0 * result.t, rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(result.quantity("axle.angle").values, 30.0 * result.t, rtol=0.0, atol=1e-11)


def test_what_has_no_joint_coordinates_is_named() -> None:
    flexible = mb.simulate(mb.examples.flexible_pendulum(), 1e-3, formulation=mb.Relative())
    assert "FlexibleBody 'bar' has the coordinates FloatingFrame" in said(flexible)[0]
    implicit = mb.simulate(chain(2), 1e-2, integrator=mb.RadauIIA(), formulation=mb.Relative())
    assert "RadauIIA has equations of its own for a step" in said(implicit)[0]


class Euler(mb.Integrator):
    """A user's integrator, which works on the coordinates of the bodies."""

    order = 1

    def step(self, eq: Any, t: float, q: Any, v: Any, h: float) -> Any:
        rate = eq.accelerate(t, q, v)[0]
        return q + h * eq.coordinate_rates(q, v), v + h * rate


def test_integrators_of_users_know_only_bodies() -> None:
    result = mb.simulate(chain(2), 1e-2, 1e-3, integrator=Euler(), formulation=mb.Relative())
    assert "Euler has equations of its own" in said(result)[0]


def test_it_is_a_choice_like_any_other(tmp_path: Any) -> None:
    """One body's own choice is that of the system; results are read again; linearization has the same roots."""
    system = chain(2)
    for body in system.bodies:
        body.formulation = mb.Relative()
    assert mb.Equations(system).tables.relative
    result = mb.simulate(chain(2), 0.05, 1e-3, formulation=mb.Relative())
    result.save(tmp_path / "run.h5")
    again = mb.load_result(tmp_path / "run.h5")
    np.testing.assert_array_equal(again.reaction("joint 1").force, result.reaction("joint 1").force)
    assert again.info.settings["formulation"] == "Relative()"
    hanging = chain(2)
    roots = [
        mb.linearize(hanging, mb.equilibrium(hanging), formulation=formulation).eigenvalues
        for formulation in (None, mb.Relative())
    ]
    np.testing.assert_array_equal(roots[0], roots[1])
    table = mb.compare(chain(2), 0.05, formulations=[None, mb.Relative()], steps=[1e-3]).table()
    assert {row["formulation"] for row in table} == {"as described", "Relative"}


@pytest.mark.parametrize("bodies", [1, 2])
def test_accelerations_that_vanish_are_no_reason_for_distrust(bodies: int) -> None:
    """A straight row that turns freely: all accelerations of joints are rounding, which was compared with itself."""
    system = mb.System("row", gravity=(0, 0, 0))
    before: mb.Body = system.ground
    for k in range(bodies):
        motion = {"velocity": (0, 3 * (2 * k + 1), 0), "angular_velocity": (0, 0, 3)}
        body = mb.RigidBody(f"bar {k}", mass=2, inertia=(0.1, 0.1, 0.1), position=(2 * k + 1, 0, 0), **motion)
        system.add(mb.RevoluteJoint(f"pin {k}", before, system.add(body), at=(2 * k, 0, 0), axis=(0, 0, 1)))
        before = body
    for integrator in (mb.RungeKutta4(), mb.DormandPrince()):
        run = mb.simulate(system, 3.0, 0.05, integrator=integrator, formulation=mb.Relative())
        assert run.info.warnings == []
        np.testing.assert_allclose(
            run.position(before)[-1, :2], (2 * bodies - 1) * np.array([np.cos(9), np.sin(9)]), atol=1e-4
        )
