"""The flexible examples against closed forms and independent computations."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import mbframe as mb

# The package's attributes of these names are the functions.
pendulum = import_module("mbframe.examples.flexible_pendulum")
crank = import_module("mbframe.examples.flexible_slider_crank")
crane = import_module("mbframe.examples.crane_trolley")
EXACT = mb.DormandPrince(rtol=1e-10, atol=1e-12)


def frequencies(system: mb.System) -> np.ndarray:
    return np.sort([m.frequency for m in mb.linearize(system).modes if m.eigenvalue.imag > 1e-3])


def test_pendulum_keeps_its_energy_and_bends() -> None:
    system = mb.examples.flexible_pendulum()
    result = mb.simulate(system, 1.0, integrator=EXACT)
    fallen = result.energy.kinetic.max()
    assert np.ptp(result.energy.total) < 1e-8 * fallen
    assert not result.info.warnings
    assert result.violation.position.max() < 1e-10
    # the reaction at the hinge is the change of momentum less the weight
    rate = np.gradient(result.momentum.linear, result.t, axis=0)
    weight = system["bar"].modes.component.mass * np.array(system.gravity)
    middle = slice(20, -20)
    force = result.reaction("hinge").force[middle]
    assert force == pytest.approx(rate[middle] - weight, abs=0.02 * np.abs(force).max())


def test_pendulum_on_its_hinge_is_a_pinned_free_beam() -> None:
    """Without gravity: tan(x) = tanh(x) has the roots 3.92660 and 7.06858; 1e-4 with 20 elements."""
    system = mb.examples.flexible_pendulum()
    system.gravity = (0.0, 0.0, 0.0)
    second = pendulum.SIDE**4 / 12.0
    unit = np.sqrt(pendulum.YOUNG * second / (pendulum.DENSITY * pendulum.SIDE**2 * pendulum.LENGTH**4)) / (2 * np.pi)
    part = mb.flexible.beam(
        length=pendulum.LENGTH,
        elements=20,
        area=pendulum.SIDE**2,
        second_moments=(second, second),
        torsion=0.141 * pendulum.SIDE**4,
        young=pendulum.YOUNG,
        shear=pendulum.SHEAR,
        density=pendulum.DENSITY,
    )
    system["bar"].modes = mb.flexible.craig_bampton(part, interfaces=[0, 20], n_modes=60)
    found = frequencies(system)
    for root in (3.926602312, 7.068582746, 10.21017612):
        assert np.abs(found / (root**2 * unit) - 1.0).min() < 1e-4


@pytest.mark.parametrize("stiffening", [True, False])
def test_slider_crank_moves_as_the_rigid_one_and_its_rod_bends_as_a_beam(stiffening: bool) -> None:
    """The slider against x = r cos + sqrt(l^2 - r^2 sin^2); the middle of the rod against a beam with one shape.

    The shape sin(pi x / l) of the simply supported beam is loaded by the transverse acceleration of the rigid rod, its
    stiffness is lowered by the rotation, and with stiffening raised by the axial force that accelerates slider and rod.
    """
    system = mb.examples.flexible_slider_crank(stiffening=stiffening)
    r, length, speed = crank.CRANK, crank.ROD, crank.SPEED
    period = 2 * np.pi / speed
    t = np.linspace(0.0, period, 201)
    result = mb.simulate(system, period, t_eval=t, integrator=EXACT)
    rigid = r * np.cos(speed * t) + np.sqrt(length**2 - (r * np.sin(speed * t)) ** 2)
    assert result.position("slider")[:, 0] == pytest.approx(rigid, abs=2e-3 * length)
    assert result.position("rod", local_point=(0, 0, 0))[:, 0] == pytest.approx(r * np.cos(speed * t), abs=1e-9)

    def angle(time: float) -> tuple[float, float, float]:
        """phi of the rod with sin phi = -r/l sin(speed t), and two derivatives."""
        s, c = -r / length * np.sin(speed * time), np.cos(speed * time)
        phi = np.arcsin(s)
        rate = -r / length * speed * c / np.cos(phi)
        second = (r / length * speed**2 * np.sin(speed * time) + s * rate**2) / np.cos(phi)
        return phi, rate, second

    area, moment = np.pi * crank.DIAMETER**2 / 4, np.pi * crank.DIAMETER**4 / 64
    line = crank.DENSITY * area
    omega = (np.pi / length) ** 2 * np.sqrt(crank.YOUNG * moment / line)

    def motion(time: float, y: np.ndarray) -> list[float]:
        phi, rate, second = angle(time)
        at_b = -(speed**2) * r * np.array([np.cos(speed * time), np.sin(speed * time)])
        across = at_b @ [-np.sin(phi), np.cos(phi)]
        # 2/l times the integrals of sin(pi x/l) and of x sin(pi x/l)
        load = 4.0 / np.pi * across + 2.0 * length / np.pi * second
        stiffness = omega**2 - rate**2
        if stiffening:
            along = at_b @ [np.cos(phi), np.sin(phi)]
            # the force at the slider: m x'' along the guide, and across the rod from its moments about the crank's pin
            slider = (along - length * rate**2) * np.cos(phi) - (across + length * second) * np.sin(phi)
            pin = -system["slider"].mass * slider
            side = line * length * (across / 2 + length * second / 3)
            end = (pin + side * np.sin(phi)) / np.cos(phi)
            x = length * (np.arange(100) + 0.5) / 100
            tension = end - line * (along * (length - x) - rate**2 * (length**2 - x**2) / 2)
            stiffness += 2.0 / line * np.mean(tension * (np.pi / length * np.cos(np.pi * x / length)) ** 2)
        return [y[1], -stiffness * y[0] - 0.02 * omega * y[1] - load]

    beam = solve_ivp(motion, (0.0, period), [0.0, 0.0], t_eval=t, rtol=1e-9, atol=1e-12).y[0]
    ends = [result.position("rod", local_point=(x, 0, 0)) for x in (0.0, length)]
    middle = result.position("rod", local_point=(length / 2, 0, 0))
    chord = ends[1] - ends[0]
    normal = np.cross((0.0, 0.0, 1.0), chord / np.linalg.norm(chord, axis=1)[:, None])
    found = np.sum((middle - (ends[0] + ends[1]) / 2) * normal, axis=1)
    assert np.abs(beam).max() > 1e-3
    assert bool(result.info.warnings) is not stiffening
    assert found == pytest.approx(beam, abs=0.06 * np.abs(beam).max())


def test_slider_crank_motor_does_the_work() -> None:
    """Without damping the energy changes by the work of the motor: no joint does any."""
    system = mb.examples.flexible_slider_crank()
    system["rod"].damping_ratios = 0.0
    t = np.linspace(0.0, 0.04, 2001)
    result = mb.simulate(system, 0.04, t_eval=t, integrator=EXACT)
    power = result.driving_force("motor") * crank.SPEED
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(t))])
    change = result.energy.total - result.energy.total[0]
    assert change == pytest.approx(work, abs=2e-3 * np.ptp(change))


def test_four_bar_with_flexible_links_stays_closed() -> None:
    system = mb.examples.flexible_four_bar()
    result = mb.simulate(system, 0.21)
    assert result.violation.position.max() < 1e-10
    assert not result.info.warnings
    c = [result.position(mb.Marker(system[name], at=system["C"].at)) for name in ("coupler", "rocker")]
    assert c[0] == pytest.approx(c[1], abs=1e-10)
    assert np.abs(result.modal("coupler")).max() > 1e-4


def test_spin_up_is_bounded_with_stiffening_and_diverges_without() -> None:
    """Final speed 6 rad/s, first bending frequency 3.8 rad/s.

    The tip lags most where the speed rises fastest, 0.8 rad/s^2 at 3 rad/s: quasi-statically by 11 q L^4 / 120 E I
    under a load that rises to q = rho A 0.8 L, divided by the stiffening 1 + 0.193 (3 / 3.8)^2.
    """
    with_it = mb.examples.spin_up_beam()
    result = mb.simulate(with_it, 25.0)
    tip = with_it["blade"].deformed(result.modal("blade"))[:, -1, 1]
    static = 11 * (1.2 * 0.8 * 10.0) * 10.0**4 / (120 * 1.4e4)
    assert tip.min() == pytest.approx(-static / (1 + 0.193 * (3.0 / 3.8) ** 2), rel=0.04)
    assert np.abs(tip[result.t > 18.0]).max() < 0.02, "it settles"
    assert not result.info.warnings
    without = mb.examples.spin_up_beam(stiffening=False)
    with pytest.raises(mb.SimulationError) as failed:
        mb.simulate(without, 25.0)
    partial = failed.value.result
    assert partial is not None
    tip = without["blade"].deformed(partial.modal("blade"))[:, -1, 1]
    assert np.abs(tip).max() > 100.0
    assert any("geometric_stiffening=True" in w for w in partial.info.warnings)


def test_a_slow_rotation_needs_no_warning() -> None:
    slow = mb.simulate(mb.examples.spin_up_beam(stiffening=False, speed=1.0), 15.0)
    assert not slow.info.warnings
    near = mb.simulate(mb.examples.spin_up_beam(stiffening=False, speed=2.0), 15.0)
    assert any("first frequency as its joints hold it is 3.798" in w for w in near.info.warnings)


def test_analyses_warn_too() -> None:
    """Of a rotation near the first frequency as joints hold the body; not of a shaft that spins about itself."""
    system = mb.examples.spin_up_beam(stiffening=False)
    blade = system["blade"]
    for name in ("motor", "hub"):
        system.remove(system[name])
    hub = system.add(mb.RigidBody("shaft", mass=1e3, inertia=(1e6, 1.2e6, 1.5e6)))
    system.add(mb.RevoluteJoint("bearing", system.ground, hub, at=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mb.FixedJoint("clamp", hub, blade, at=(0, 0, 0)))
    hub.angular_velocity = blade.angular_velocity = (0.0, 0.0, 2.0)
    with pytest.warns(UserWarning, match="turns with up to 2 rad/s, .* as its joints hold it is 3.79"):
        mb.linearize(system, frame=mb.TurningFrame(axis=(0, 0, 1), rate=2.0))
    hub.angular_velocity = blade.angular_velocity = (2.0, 0.0, 0.0)
    system.remove(system["bearing"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        mb.linearize(system, frame=mb.TurningFrame(axis=(1, 0, 0), rate=2.0))


def test_what_only_pushes_a_body_does_not_hold_it() -> None:
    """A beam, free or on a ball joint, turns nearly as fast as it would bend if it were clamped where a force acts."""
    modes = mb.FlexibleBody.example().modes
    clamped = modes.relative_to("node", 4)
    spin = 0.6 * np.sqrt(eigh(clamped.stiffness, clamped.mass, eigvals_only=True)[0])
    for joint in (False, True):
        system = mb.System("baton", gravity=(0, 0, 0))
        rod = system.add(mb.FlexibleBody("rod", modes, angular_velocity=(0, 0, spin)))
        system.add(mb.PointForce("push", rod, at=(1, 0, 0), force=(0, 0, 1e-3)))
        if joint:
            rod.velocity = np.zeros(3)
            system.add(mb.SphericalJoint("ball", system.ground, rod, at=(0, 0, 0)))
        assert not [w for w in mb.simulate(system, 1e-4).info.warnings if "turns with up to" in w]


@pytest.mark.parametrize(
    ("cls", "other"),
    [
        (mb.CylindricalJoint, "SleeveJoint"),
        (mb.TranslationalJoint, "KeyedSleeveJoint"),
        (mb.PointOnLineJoint, "PointOnAxisJoint"),
    ],
)
def test_a_joint_that_slides_on_a_straight_line_of_a_flexible_body_says_so(cls: type, other: str) -> None:
    system = mb.System("bead on a beam")
    beam = system.add(mb.FlexibleBody("beam", mb.FlexibleBody.example().modes))
    system.add(mb.FixedJoint("wall", system.ground, beam, at=(0, 0, 0)))
    bead = system.add(mb.RigidBody("bead", mass=0.1, inertia=(1e-4, 1e-4, 1e-4), position=(0.5, 0, 0)))
    joint = cls("slide", beam, bead, at=(0.5, 0, 0), axis=(1, 0, 0))
    system.add(joint)
    message = f"{joint}: slides on a straight line fixed to the node of FlexibleBody 'beam' at [0.5, 0.0, 0.0]"
    result = mb.simulate(system, 1e-4)
    assert [w for w in result.info.warnings if message in w and f"use a {other}" in w]
    system.remove(joint)
    system.add(getattr(mb, other)("slide", beam, bead, at=(0.5, 0, 0), axis=(1, 0, 0)))
    assert not mb.simulate(system, 1e-4).info.warnings


def flap_frequency(ratio: float) -> float:
    """First frequency f of a clamped beam on 0 … 1 that rotates: E I = rho A = 1, tension ratio^2 (1 - x^2) / 2.

    Galerkin's method with x^2 to x^10, whose integrals are exact.
    """
    k = np.arange(2, 11)
    a, b = np.meshgrid(k, k)
    mass = 1.0 / (a + b + 1)
    bending = a * (a - 1) * b * (b - 1) / (a + b - 3.0)
    tension = 0.5 * ratio**2 * a * b * (1.0 / (a + b - 1) - 1.0 / (a + b + 1))
    return float(np.sqrt(eigh(bending + tension, mass, eigvals_only=True)[0]))


@pytest.mark.parametrize("ratio", [6.0, 12.0])
def test_stiffened_beam_in_steady_rotation_vibrates_as_known(ratio: float) -> None:
    """First frequencies across and in the plane of rotation, where the load takes Omega^2 away from the square."""
    flap = flap_frequency(ratio)
    system = mb.examples.spin_up_beam()
    blade = system["blade"]
    blade.modes = mb.flexible.clamped_modes(blade.modes.component, node=0, n_modes=12)  # without the axial ones
    unit = np.sqrt(1.4e4 / 1.2e4)
    rate = ratio * unit
    blade.angular_velocity = (0.0, 0.0, rate)
    for name in ("motor", "hub"):
        system.remove(system[name])
    shaft = system.add(mb.RigidBody("shaft", mass=1e3, inertia=(1e6, 1.2e6, 1.5e6), angular_velocity=(0, 0, rate)))
    system.add(mb.RevoluteJoint("bearing", system.ground, shaft, at=(0, 0, 0), axis=(0.0, 0.0, 1.0)))
    system.add(mb.FixedJoint("clamp", shaft, blade, at=(0, 0, 0)))
    lin = mb.linearize(system, frame=mb.TurningFrame(axis=(0, 0, 1), rate=rate))
    found = np.sort([abs(m.eigenvalue.imag) for m in lin.modes if m.eigenvalue.imag > 1e-2]) / unit
    # six shapes in each plane leave the same excess in both squares
    assert found[:2] ** 2 == pytest.approx([flap**2 - ratio**2, flap**2], abs=1e-3 * flap**2)


def test_solid_rod_moves_the_piston() -> None:
    """The piston as that of the rigid mechanism but for micrometres, and the force on its pin: m a."""
    pytest.importorskip("skfem")
    system = mb.examples.solid_connecting_rod()
    r, length, speed = 0.05, 0.15, 400.0
    t = np.linspace(0.0, 2 * np.pi / speed, 101)
    result = mb.simulate(system, t[-1], t_eval=t)
    assert not result.info.warnings
    rigid = r * np.cos(speed * t) + np.sqrt(length**2 - (r * np.sin(speed * t)) ** 2)
    deviation = np.abs(result.position("piston")[:, 0] - rigid).max()
    assert 1e-6 < deviation < 1e-4
    force = result.reaction("piston pin").force[:, 0]
    assert force == pytest.approx(0.3 * result.acceleration("piston")[:, 0], abs=1e-6 * np.abs(force).max())
    assert np.abs(force).max() > 0.3 * speed**2 * r * (1 + r / length), "it starts undeformed, so it vibrates"


def test_crane_sags_under_its_trolley_and_the_load_hangs_still_in_the_end() -> None:
    system = mb.examples.crane_trolley()
    rest = mb.equilibrium(system)
    a, b, bending = crane.START, crane.SPAN - crane.START, crane.YOUNG * crane.SECOND
    weight = (crane.TROLLEY + crane.LOAD) * crane.GRAVITY
    own = crane.DENSITY * crane.AREA * crane.GRAVITY
    sag = weight * a**2 * b**2 / (3.0 * bending * crane.SPAN)
    sag += own * a * (crane.SPAN**3 - 2.0 * crane.SPAN * a**2 + a**3) / (24.0 * bending)
    assert -rest.position("trolley")[2] == pytest.approx(sag, rel=0.015)  # what the shapes leave out

    end = crane.duration(2.0)
    t = np.linspace(0.0, end + 3.0, 401)
    result = mb.simulate(system, t[-1], t_eval=t, integrator=mb.DormandPrince(rtol=1e-8, atol=1e-10))
    assert not result.info.warnings
    trolley, load = result.position("trolley"), result.position("load")
    way = np.minimum(t / end, 1.0)
    expected = crane.START + crane.WAY * (way - np.sin(2.0 * np.pi * way) / (2.0 * np.pi))
    assert trolley[:, 0] == pytest.approx(expected, abs=2e-3)  # the girder's end moves in by what is of second order
    swing = load[:, 0] - trolley[:, 0]
    # a pendulum under the acceleration a_0 sin(W t): x'' + w^2 x = -a_0 sin(W t) with w = 2 W
    drive = 2.0 * np.pi / end
    forced = (
        -(2.0 * np.pi * crane.WAY / end**2) / (3.0 * drive**2) * (np.sin(drive * t) - 0.5 * np.sin(2.0 * drive * t))
    )
    assert swing == pytest.approx(np.where(t < end, forced, 0.0), abs=0.08 * np.abs(forced).max())
    assert np.abs(swing[t > end]).max() < 0.03 * np.abs(swing).max()
    assert trolley[:, 2].min() < -0.08


@pytest.mark.parametrize(("stiffening", "frame"), [(True, None), (False, "mean"), (False, "node")])
@pytest.mark.parametrize("up", [1.0, -1.0], ids=["standing", "hanging"])
def test_roots_of_a_heavy_beam_on_one_joint(up: float, stiffening: bool, frame: str | None) -> None:
    """All of a model can be in one place but for rounding, while a flexible body there is as large as it is."""
    part = mb.flexible.frame(
        np.linspace(0.0, 3.0, 17)[:, None] * np.array([0.0, 0.0, up]),
        [(k, k + 1) for k in range(16)],
        area=1e-4,
        second_moments=(1e-8 / 12, 1.7e-8 / 12),
        torsion=1.4e-9,
        young=2.1e11,
        shear=8.1e10,
        density=7850.0,
    )
    system = mb.System("column", gravity=(0, 0, -9.81))
    modes = mb.flexible.clamped_modes(part, 0, 8)
    body = system.add(mb.FlexibleBody("column", modes, geometric_stiffening=stiffening, frame=frame))
    system.add(mb.FixedJoint("foot", system.ground, body, at=(0, 0, 0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lin = mb.linearize(system, mb.equilibrium(system))
    assert np.max(lin.residuals) < 1e-12
    assert np.sort(np.abs(lin.eigenvalues)) == pytest.approx(np.sort(np.abs(np.linalg.eigvals(lin.A))), rel=1e-9)
    if stiffening:  # Rayleigh's quotient of a standing or hanging cantilever: weight counts 1.57 of its rate squared
        alone = 3.516**2 * 2.1e11 * 1e-8 / 12 / (7850.0 * 1e-4 * 3.0**4)
        assert np.abs(lin.eigenvalues).min() ** 2 == pytest.approx(alone - up * 1.57 * 9.81 / 3.0, rel=5e-3)


def test_a_state_without_modal_velocities_has_points() -> None:
    """Left out, they are zero: states of steady motions have none."""
    body = mb.FlexibleBody("rod", mb.FlexibleBody.example().modes, geometric_stiffening=True)
    modal = np.full(body.shapes_in_frame.count, 1e-4)
    point, rate = body.moving_point(np.array([1.0, 0.0, 0.0]), modal, np.zeros(0))
    assert np.all(rate == 0.0)
    assert point == pytest.approx([1.0, 0.0, 0.0], abs=1e-2)


def test_damping_does_not_depend_on_the_frame() -> None:
    """Ratios are those of the modes as they were made: of a clamped beam that is clamped, in any frame."""
    part = mb.FlexibleBody.example().modes.component
    for modes, held in ((mb.flexible.clamped_modes(part, 0, 6), True), (mb.flexible.free_modes(part, 6), False)):
        for values in ({"frame": "node"}, {"frame": "mean"}, {"geometric_stiffening": True}):
            system = mb.System("beam", gravity=(0, 0, 0))
            body = system.add(mb.FlexibleBody("beam", modes, damping_ratios=0.02, **values))
            if held:
                system.add(mb.FixedJoint("wall", system.ground, body, at=(0, 0, 0)))
            roots = mb.linearize(system).eigenvalues
            roots = roots[np.abs(roots) > 1.0]
            assert len(roots) == 12
            assert -roots.real / np.abs(roots) == pytest.approx(np.full(12, 0.02), rel=1e-6)
