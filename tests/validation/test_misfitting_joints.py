"""Redundant joints that do not fit exactly: small gaps are shared, reported and kept, larger ones refused by name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.state import Motion

BOTH = "RevoluteJoint 'low' and RevoluteJoint 'high'"
SPATIAL = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute(), mb.EulerAngles("XYZ")]


def door(offset: float = 0.0, tilt: float = 0.0, size: float = 1.0) -> mb.System:
    """A leaf on two hinges along z, the upper one beside the axis of the lower one, or tilted; it swings in the plane.

    m = 2, a = 0.5 L, I_z = 0.3 L^2 about the centre of mass.
    """
    system = mb.System("door", gravity=(0.0, -9.81 * size, 0.0))
    inertia = np.array([0.1, 0.2, 0.3]) * size**2
    leaf = system.add(mb.RigidBody("leaf", mass=2.0, inertia=inertia, position=(0.5 * size, 0.0, 0.0)))
    system.add(mb.RevoluteJoint("low", system.ground, leaf, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    high = mb.RevoluteJoint("high", system.ground, leaf, at=(offset * size, 0.0, size), axis=(tilt, 0.0, 1.0))
    system.add(high)
    return system


def swing(t: Any) -> Any:
    """The angle of the leaf from the horizontal, theta'' = -m g a cos(theta)/(I + m a^2), by classical Runge-Kutta."""
    rate = 2.0 * 9.81 * 0.5 / (0.3 + 2.0 * 0.25)
    theta, omega, now, found = 0.0, 0.0, 0.0, []
    for instant in t:
        steps = max(1, int(np.ceil((instant - now) / 1e-3)))
        h = (instant - now) / steps
        for _ in range(steps if instant > now else 0):
            k = [(omega, -rate * np.cos(theta))]
            for part in (0.5, 0.5, 1.0):
                a, b = k[-1]
                k.append((omega + part * h * b, -rate * np.cos(theta + part * h * a)))
            theta += h / 6.0 * (k[0][0] + 2 * k[1][0] + 2 * k[2][0] + k[3][0])
            omega += h / 6.0 * (k[0][1] + 2 * k[1][1] + 2 * k[2][1] + k[3][1])
        now = instant
        found.append(theta)
    return np.array(found)


T = np.linspace(0.0, 1.0, 11)
ADAPTIVE = {"integrator": mb.DormandPrince(rtol=1e-9)}


def check(result: mb.Result, gap: float) -> None:
    """The door swings as one on one hinge does, and the warning names both hinges and the gap."""
    theta = swing(T)
    position = 0.5 * np.column_stack([np.cos(theta), np.sin(theta), 0.0 * theta])
    np.testing.assert_allclose(result.position("leaf"), position, atol=2e-6)
    said = [w for w in result.info.warnings if "do not fit" in w]
    assert len(said) == 1, result.info.warnings
    assert BOTH in said[0]
    found = float(re.search(r"up to ([0-9.e-]+) \(", said[0]).group(1))  # type: ignore[union-attr]
    assert 0.3 * gap < found < 3.0 * gap
    assert result.violation.position.max() < 4.0 * gap


@pytest.mark.parametrize(
    "stabilization",
    [
        *(mb.DirectCorrection(), mb.DirectCorrection(tolerance=1e-10), mb.DirectCorrection(mass_weighted=False)),
        *(mb.CoordinatePartitioning(tolerance=1e-12), mb.MassOrthogonalProjection()),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("offset", "tilt"), [(1e-9, 0.0), (0.0, 1e-9)])
def test_small_gaps_are_kept(stabilization: mb.Stabilization, offset: float, tilt: float) -> None:
    check(mb.simulate(door(offset, tilt), 1.0, t_eval=T, stabilization=stabilization, **ADAPTIVE), 1e-9)


@pytest.mark.parametrize("stabilization", [mb.NoStabilization(), mb.Baumgarte()], ids=repr)
def test_gaps_of_motions_that_are_not_corrected_are_reported(stabilization: mb.Stabilization) -> None:
    check(mb.simulate(door(5e-9), 1.0, t_eval=T, stabilization=stabilization, **ADAPTIVE), 5e-9)
    clean = mb.simulate(door(), 1.0, t_eval=T, stabilization=stabilization, **ADAPTIVE)
    assert not any("do not fit" in w for w in clean.info.warnings)


@pytest.mark.parametrize("formulation", SPATIAL, ids=repr)
def test_in_every_formulation(formulation: mb.Formulation) -> None:
    check(mb.simulate(door(1e-9), 1.0, t_eval=T, formulation=formulation, **ADAPTIVE), 1e-9)


@pytest.mark.parametrize(
    "acceleration",
    [mb.AugmentedFormulation(), mb.UdwadiaKalaba(), mb.Penalty(), mb.AugmentedLagrangian(), mb.ProjectionMatrix()],
    ids=repr,
)
def test_with_every_acceleration(acceleration: mb.Acceleration) -> None:
    check(mb.simulate(door(1e-9), 1.0, t_eval=T, acceleration=acceleration, **ADAPTIVE), 1e-9)


@pytest.mark.parametrize(
    "integrator",
    [mb.RadauIIA(rtol=1e-9), mb.GeneralizedAlpha(), mb.RungeKutta4(), mb.AdamsBashforth(order=4)],
    ids=repr,
)
def test_with_other_integrators(integrator: mb.Integrator) -> None:
    dt = None if integrator.adaptive else 5e-4
    check(mb.simulate(door(1e-9), 1.0, dt=dt, t_eval=T, integrator=integrator), 1e-9)


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_gaps_count_in_lengths_of_the_model(size: float) -> None:
    result = mb.simulate(door(1e-9, size=size), 1.0, **ADAPTIVE)
    assert any(BOTH in w for w in result.info.warnings)
    with pytest.raises(mb.MbframeError, match=BOTH):
        mb.simulate(door(1e-6, size=size), 1.0, **ADAPTIVE)


@pytest.mark.parametrize("miss", [1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("stabilization", [mb.DirectCorrection(), mb.CoordinatePartitioning()], ids=repr)
def test_larger_gaps_are_refused_by_name(miss: float, stabilization: mb.Stabilization) -> None:
    """A larger one would lock the door, or stay open."""
    for offset, tilt in ((miss, 0.0), (0.0, miss)):
        with pytest.raises(mb.MbframeError, match=BOTH) as caught:
            mb.simulate(door(offset, tilt), 1.0, stabilization=stabilization)
        assert "agree" in str(caught.value)


def test_a_gap_in_an_assembly() -> None:
    system = door(1e-9)
    leaf = system["leaf"]
    turned = mb.State(
        0.0,
        {
            "leaf": Motion(
                np.array([0.3, 0.4, 0.001]),
                np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]),
                np.zeros(3),
                np.zeros(3),
            )
        },
    )
    found = mb.assemble(system, turned)
    assert 1e-10 < found.residual < 4e-9
    np.testing.assert_allclose(found.position(leaf), (0.3, 0.4, 0.0), atol=1e-3)
    with pytest.raises(mb.AnalysisError, match="cannot be closed"):
        mb.assemble(door(1e-5), turned)


def test_a_plane_linkage_with_a_bar_too_long() -> None:
    """A parallelogram with a third bar between parallel ones is redundant in the plane too."""

    def linkage(miss: float) -> mb.System:
        system = mb.System("parallelogram", dimension=2, gravity=(0.0, -9.81))
        bars = [
            system.add(mb.PlanarBody(f"bar {k}", mass=1.0, inertia=0.1, position=(k, 0.5), angle=np.pi / 2))
            for k in range(3)
        ]
        beam = system.add(mb.PlanarBody("beam", mass=1.0, inertia=1.0, position=(1.0, 1.0), velocity=(0.5, 0.0)))
        for k, bar in enumerate(bars):
            bar.update(velocity=(0.25, 0.0), angular_velocity=-0.5)
            system.add(mb.RevoluteJoint(f"A{k}", system.ground, bar, at=(k + miss * (k == 1), 0.0)))
            system.add(mb.RevoluteJoint(f"B{k}", bar, beam, at=(k, 1.0)))
        return system

    result = mb.simulate(linkage(1e-9), 0.5)
    assert any("RevoluteJoint 'A1'" in w and "do not fit" in w for w in result.info.warnings), result.info.warnings
    with pytest.raises(mb.MbframeError, match=r"RevoluteJoint 'A1'.*(depend on each other)"):
        mb.simulate(linkage(1e-5), 0.5)


def test_a_flat_linkage_is_no_misfit() -> None:
    """Nearly dependent where it is described, but not nearby: it moves."""
    system = mb.System("flat", dimension=2, gravity=(0.0, -9.81))
    angle = 1e-4
    end = np.array([np.cos(angle), np.sin(angle)])
    one = system.add(mb.PlanarBody("one", mass=1.0, inertia=0.1, position=0.5 * end, angle=angle))
    two = system.add(mb.PlanarBody("two", mass=1.0, inertia=0.1, position=end * (1.5, 0.5), angle=-angle))
    system.add(mb.RevoluteJoint("A", system.ground, one, at=(0.0, 0.0)))
    system.add(mb.RevoluteJoint("B", one, two, at=end))
    system.add(mb.PointOnLineJoint("C", system.ground, two, at=(2 * end[0], 0.0), axis=(1.0, 0.0)))
    result = mb.simulate(system, 0.2)
    assert result.position(one)[-1, 1] < -0.01


MECHANISMS = ("four_bar", "slider_crank", "double_inverted_pendulum", "quick_return")


@pytest.mark.parametrize("formulation", [mb.PlanarNatural(), mb.PlanarAngle()], ids=repr)
@pytest.mark.parametrize("name", MECHANISMS)
def test_direct_correction_goes_down_to_rounding(name: str, formulation: mb.Formulation) -> None:
    """[PappalardoGuida2018a], eqs. 78-79, hold |C'| <= 3e-14 on these mechanisms with the Udwadia-Kalaba equations."""
    result = mb.simulate(
        getattr(mb.examples, name)(),
        2.0,
        dt=1e-3,
        formulation=formulation,
        acceleration=mb.UdwadiaKalaba(),
        integrator=mb.AdamsBashforth(order=6),
        stabilization=mb.DirectCorrection(tolerance=1e-14),
    )
    assert result.violation.position.max() <= 3e-14
    assert result.violation.velocity.max() <= 3e-14


def test_a_tolerance_below_rounding_does_not_fail() -> None:
    for tolerance in (1e-15, 1e-17):
        result = mb.simulate(
            mb.examples.bricard(), 0.5, dt=1e-3, stabilization=mb.DirectCorrection(tolerance=tolerance)
        )
        assert result.violation.velocity.max() < 1e-12


@pytest.mark.parametrize("tilt", [1e-12, 1e-10, 1e-9, 5e-9])
def test_analyses_take_joints_that_nearly_fit_for_dependent(tilt: float) -> None:
    """They took the door for locked, or found no closed position."""
    assert (mb.degrees_of_freedom(door(tilt=tilt)).count, mb.degrees_of_freedom(door(tilt=tilt)).redundant) == (1, 5)
    with pytest.warns(UserWarning, match=f"{BOTH} are redundant and do not fit exactly"):
        hanging = mb.equilibrium(door(tilt=tilt), minimum=True)
    np.testing.assert_allclose(hanging.position("leaf"), (0.0, -0.5, 0.0), atol=1e-7)
    root = np.sqrt(2.0 * 9.81 * 0.5 / (0.3 + 2.0 * 0.25))
    found = mb.linearize(door(tilt=tilt), hanging).eigenvalues
    np.testing.assert_allclose(sorted(found.imag), [-root, root], rtol=1e-6)
    np.testing.assert_allclose(found.real, 0.0, atol=1e-6)


@pytest.mark.parametrize("tilt", [1e-12, 1e-9, 1e-8])
def test_a_driven_door_is_not_stuck(tilt: float) -> None:
    system = door(tilt=tilt)
    system.add(mb.Driver("motor", joint=system["low"], angle="2*t"))
    times = np.linspace(0.0, 3.0, 7)
    result = mb.inverse_dynamics(system, times)
    np.testing.assert_allclose(result.position("leaf")[:, 0], 0.5 * np.cos(2.0 * times), atol=1e-7)
    np.testing.assert_allclose(result.driving_force("motor"), 9.81 * np.cos(2.0 * times), atol=1e-6)
    assert any(BOTH in w and "do not fit exactly" in w for w in result.info.warnings)


def test_analyses_refuse_joints_that_do_not_fit() -> None:
    """They called the door, which such hinges lock, an equilibrium where it was described."""
    for analysis in (mb.equilibrium, mb.linearize):
        with pytest.raises(mb.ModelError, match=f"{BOTH} nearly depend on each other"):
            analysis(door(tilt=1e-5))


@pytest.mark.parametrize("inertia", [1e-6, 1e-9])
@pytest.mark.parametrize("formulation", SPATIAL, ids=str)
def test_bodies_like_points_are_no_misfit(inertia: float, formulation: mb.Formulation) -> None:
    """A pendulum whose bob is nearly a point was refused, since its hinge was said to depend on itself."""
    system = mb.System("double pendulum")
    before: mb.Body = system.ground
    for k in range(2):
        bob = mb.RigidBody(f"bob {k}", mass=1.0, inertia=(inertia,) * 3, position=(k + 1.0, 0.0, 0.0))
        system.add(bob)
        system.add(mb.RevoluteJoint(f"pin {k}", before, bob, at=(float(k), 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        before = bob
    result = mb.simulate(system, 0.3, formulation=formulation)
    energy = result.energy.total
    np.testing.assert_allclose(energy, energy[0], atol=1e-4)
    assert np.linalg.norm(result.position("bob 0")[-1]) == pytest.approx(1.0)
    assert np.linalg.norm(result.position("bob 1")[-1] - result.position("bob 0")[-1]) == pytest.approx(1.0)


@pytest.mark.parametrize("analysis", [mb.kinematics, mb.inverse_dynamics])
@pytest.mark.parametrize("misfit", [{"tilt": 1e-5}, {"offset": 1e-5}])
def test_a_driven_door_that_does_not_fit_is_no_dead_point(analysis: Any, misfit: dict[str, float]) -> None:
    system = door(**misfit)
    system.add(mb.Driver("motor", system["low"], angle="t"))
    with pytest.raises(mb.AnalysisError, match=r"low.*high.*depend on each other, but do not fit"):
        analysis(system, np.linspace(0.0, 2.0, 5))


@pytest.mark.parametrize("misfit", [{"tilt": 1.5e-8}, {"offset": 1.5e-8}, {"tilt": 3e-8}, {"offset": 3e-8}])
@pytest.mark.parametrize("formulation", SPATIAL[:3])
def test_what_would_open_too_far_is_refused_before_the_run(misfit: dict[str, float], formulation: Any) -> None:
    with pytest.raises(mb.ModelError, match="nearly depend on each other"):
        mb.simulate(door(**misfit), 1e-3, formulation=formulation)


def doubled_chain(links: int, tilt: float) -> mb.System:
    """A chain of links along x on two hinges each, of which the last second one is tilted."""
    system = mb.System("chain")
    before: mb.Body = system.ground
    for k in range(links):
        link = system.add(mb.RigidBody(f"link {k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(k + 0.5, 0, 0)))
        system.add(mb.RevoluteJoint(f"low {k}", before, link, at=(k, 0, 0), axis=(0, 1, 0)))
        axis = (tilt if k == links - 1 else 0.0, 1, 0)
        system.add(mb.RevoluteJoint(f"high {k}", before, link, at=(k, 0.3, 0), axis=axis))
        before = link
    return system


@pytest.mark.parametrize("tilt", [1e-6, 1e-4, 1e-3])
def test_misaligned_hinges_of_a_long_chain_are_named_before_the_run(tilt: float) -> None:
    """400 equations: with 1e-4 the run crawled, and named nothing."""
    says = "equations of RevoluteJoint 'low 39' and RevoluteJoint 'high 39' nearly depend"
    with pytest.raises(mb.ModelError, match=says):
        mb.simulate(doubled_chain(40, tilt), 1e-3)


def test_fitting_hinges_of_a_long_chain_are_not_refused() -> None:
    assert mb.simulate(doubled_chain(40, 0.0), 1e-3).info.completed


@pytest.mark.parametrize("gap", [1e-9, 3e-9])
def test_assembling_shares_rates_that_redundant_joints_contradict(gap: float) -> None:
    """A parallelogram with a third leg that fits as it is described, and by `gap` less where it moves."""
    system = mb.System("legs", dimension=2)
    first, second, third = (
        system.add(mb.PlanarBody(f"leg {x}", mass=1.0, inertia=0.1, position=(x, 0.5), angular_velocity=1.0))
        for x in range(3)
    )
    table = system.add(mb.PlanarBody("table", mass=1.0, inertia=0.1, position=(0.5, 1.0)))
    for x, leg in enumerate((first, second, third)):
        system.add(mb.RevoluteJoint(f"foot {x}", system.ground, leg, at=(x + gap * (x == 2), 0.0)))
        system.add(mb.RevoluteJoint(f"head {x}", leg, table, at=(float(x), 1.0)))
    state = mb.assemble(system)
    rates = [state.angular_velocity(leg) for leg in (first, second, third)]
    assert np.ptp(rates) < 10.0 * gap
    assert abs(state.velocity(table)[0] + rates[0]) < 10.0 * gap
    assert mb.simulate(system, 0.1, initial=state).info.completed
