"""Angles over many turns: springs, stops, controllers, measures; more by `scripts/stress endure turning`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import mbframe as mb
from mbframe.measures import angle

from .random_turning import Midpoint, problems_of

Z = {"at": (0, 0, 0), "axis": (0, 0, 1)}
INERTIA = 2.0


def rotor(spin: float = 0.0) -> mb.System:
    """A body that turns freely about z."""
    system = mb.System("rotor", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("rotor", mass=1.0, inertia=(INERTIA,) * 3, angular_velocity=(0, 0, spin)))
    system.add(mb.RevoluteJoint("hinge", system.ground, body, **Z))
    return system


def wound(spin: float = 20.0, stiffness: float = 8.0) -> mb.System:
    """theta = spin/w sin(w t), w = sqrt(k/I) = 2 rad/s: up to ten radians."""
    system = rotor(spin)
    system.add(mb.TorsionalSpringDamper("spring", system.ground, system["rotor"], **Z, stiffness=stiffness))
    return system


@pytest.mark.sample(3)
@pytest.mark.parametrize("number", range(10))
def test_random_shafts_turn_as_the_reference(number: int) -> None:
    assert problems_of(2026, number) == []


@pytest.mark.parametrize("upper", [3.0, 4.0, 40.0])
def test_a_stop_stops_wherever_it_is(upper: float) -> None:
    """Hit with 30 rad/s, it is passed by w0 sqrt(I/k), whatever lies beyond, and the energy stays."""
    system = rotor(30.0)
    system.add(mb.AngleLimit("stop", system.ground, system["rotor"], **Z, lower=-1.0, upper=upper, stiffness=2e3))
    result = mb.simulate(system, upper / 30.0 + 0.05, integrator=mb.DormandPrince(rtol=1e-9, atol=1e-9))
    depth = 30.0 * np.sqrt(INERTIA / 2e3)
    # Steps do not end where it turns back: theta there is that of a parabola, nearly.
    reached = result.quantity("stop.counted_angle").values
    assert upper + 0.9 * depth < reached.max() <= upper + depth + 1e-6
    np.testing.assert_allclose(result.energy.total, 0.5 * INERTIA * 30.0**2, rtol=1e-6)


def test_a_spring_is_wound_up_and_keeps_its_energy() -> None:
    t = np.linspace(0.0, 3.0, 31)
    result = mb.simulate(wound(), 3.0, t_eval=t, integrator=mb.DormandPrince(rtol=1e-10, atol=1e-10))
    theta = 10.0 * np.sin(2.0 * t)
    np.testing.assert_allclose(result.output("spring", "angle"), theta, atol=1e-7)
    np.testing.assert_allclose(result.quantity("spring.moment").values, 8.0 * theta, atol=1e-6)
    np.testing.assert_allclose(result.wrench("spring")[1][:, 2], -8.0 * theta, atol=1e-6)
    np.testing.assert_allclose(result.energy.potential, 4.0 * theta**2, atol=1e-5)
    there = mb.evaluate(result.system, result.state(8))
    np.testing.assert_allclose(there.energy.potential, 4.0 * theta[8] ** 2, atol=1e-5)
    np.testing.assert_allclose(there.angular_acceleration("rotor")[0, 2], -4.0 * theta[8], atol=1e-6)


def test_steps_may_be_larger_than_half_a_turn() -> None:
    """100 rad/s and steps of 0.05 s, 5 rad: the follower knows how many turns there were."""
    planar = mb.System("wheel", gravity=(0, 0), dimension=2)
    wheel = planar.add(mb.PlanarBody("wheel", mass=1.0, inertia=4.0, angular_velocity=100.0))
    planar.add(mb.RevoluteJoint("hinge", planar.ground, wheel, at=(0, 0)))
    planar.add(mb.TorsionalSpringDamper("spring", planar.ground, wheel, at=(0, 0), stiffness=1.0))
    for integrator in (mb.RungeKutta4(), mb.AdamsBashforth(order=4), Midpoint()):
        result = mb.simulate(planar, 4.0, 0.05, integrator=integrator)
        np.testing.assert_allclose(result.output("spring", "angle")[-1], 200.0 * np.sin(2.0), atol=0.05)


def test_a_controller_follows_a_growing_setpoint() -> None:
    system = rotor()
    motor = mb.PIDActuator("motor", system.ground, system["rotor"], **Z, setpoint="2*t")
    motor.update(proportional=50.0, integral=20.0, derivative=15.0)
    system.add(motor)
    result = mb.simulate(system, 20.0)
    np.testing.assert_allclose(result.quantity("motor.counted_angle").values[-1], 40.0, atol=1e-4)
    np.testing.assert_allclose(result.state(-1).angle("motor"), 40.0, atol=1e-4)
    assert result.element_states("motor").shape == (len(result), 1)


def test_restarts_and_files_keep_turns(tmp_path: Path) -> None:
    precise = {"integrator": mb.DormandPrince(rtol=1e-10, atol=1e-10)}
    first = mb.simulate(wound(), 0.7, **precise)
    first.save(tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    np.testing.assert_array_equal(loaded.output("spring", "angle"), first.output("spring", "angle"))
    later = mb.simulate(wound(), 3.0, initial=loaded.state(-1), **precise)
    np.testing.assert_allclose(later.output("spring", "angle"), 10.0 * np.sin(2.0 * later.t), atol=1e-7)
    np.testing.assert_allclose(later.energy.total, 400.0, rtol=1e-7)


def test_a_file_without_counters_is_read_as_it_was_made(tmp_path: Path) -> None:
    """Of the first version: a spring saw its angle between -pi and pi; files of gears have their counters in z."""
    import h5py

    system = wound()
    system.add(mb.Driver("motor", system["hinge"], angle="20*t"))
    system.add(mb.Angle("alpha", system.ground, system["rotor"], axis=(0, 0, 1)))
    result = mb.simulate(system, 0.5, 0.01, integrator=mb.RungeKutta4())
    result.save(tmp_path / "new.h5")
    with h5py.File(tmp_path / "new.h5", "r") as new, h5py.File(tmp_path / "old.h5", "w") as old:
        for name in new:
            new.copy(name, old)
        for key, value in new.attrs.items():
            old.attrs[key] = value
        old.attrs["version"] = 1
        for name in ("names/z", "units/z", "z"):
            values = new[name][..., :1]  # the motor's; behind it come those of spring and measure
            del old[name]
            old[name] = values
    loaded = mb.load_result(tmp_path / "old.h5")
    assert loaded.z.shape == (len(result), 3)
    theta = 20.0 * loaded.t
    np.testing.assert_allclose(loaded.z[:, 0], theta, atol=1e-8)
    np.testing.assert_allclose(loaded.output("spring", "angle"), np.arctan2(np.sin(theta), np.cos(theta)), atol=1e-8)
    np.testing.assert_allclose(loaded.measure("alpha"), theta, atol=1e-8)  # unwrapped by its rates
    np.testing.assert_allclose(loaded.violation.position, 0.0, atol=1e-10)
    later = mb.simulate(system, 0.6, 0.01, initial=loaded.state(-1), integrator=mb.RungeKutta4())
    np.testing.assert_allclose(later.z[-1, 0], 12.0, atol=1e-8)
    assert np.all(np.isfinite(later.z))
    loaded.save(tmp_path / "again.h5")
    again = mb.load_result(tmp_path / "again.h5")
    np.testing.assert_array_equal(again.z, loaded.z)


def test_events_see_angles_over_turns() -> None:
    system = wound()
    system.add(mb.Angle("alpha", system.ground, system["rotor"], axis=(0, 0, 1)))
    event = mb.Event(lambda t, state: state.angle("alpha") - 7.0, terminal=True, name="seven")
    result = mb.simulate(system, 3.0, events=[event], integrator=mb.DormandPrince(rtol=1e-9, atol=1e-9))
    assert result.events[0].t == pytest.approx(0.5 * np.arcsin(0.7), abs=1e-7)
    assert result.events[0].state.angle("spring") == pytest.approx(7.0, abs=1e-9)
    assert result.measure("alpha")[-1] == pytest.approx(7.0, abs=1e-9)


def test_equilibrium_and_roots_lie_beyond_half_a_turn() -> None:
    system = wound(spin=0.0)
    system["spring"].update(free_angle=7.0, torque="x**3")  # type: ignore[union-attr]
    rest = mb.equilibrium(system)
    assert rest.angle("spring") == pytest.approx(7.0, abs=1e-9)
    np.testing.assert_allclose(sorted(mb.linearize(system, rest).eigenvalues.imag), [-2.0, 2.0], atol=1e-8)


def test_equilibrium_of_geared_shafts_keeps_their_turns() -> None:
    """The turns since the start were lost when the gear was closed again."""
    system = mb.System("geared", gravity=(0, 0, 0))
    hinges = []
    for k, name in enumerate(("pinion", "wheel")):
        body = system.add(mb.RigidBody(name, mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0)))
        hinges.append(system.add(mb.RevoluteJoint(f"hinge {k}", system.ground, body, at=(k, 0, 0), axis=(0, 0, 1))))
    system.add(mb.GearJoint("gear", *hinges, ratio=-3.0))
    spring = mb.TorsionalSpringDamper("spring", system.ground, system["wheel"], at=(1, 0, 0), axis=(0, 0, 1))
    spring.update(stiffness=5.0, free_angle=6.0)
    system.add(spring)
    rest = mb.equilibrium(system)
    assert rest.kind == "minimum"
    np.testing.assert_allclose(rest.angle("spring"), 6.0, atol=1e-9)
    np.testing.assert_allclose(np.abs(mb.linearize(system, rest).eigenvalues.imag), np.sqrt(5.0 / 10.0), rtol=1e-9)


def test_a_driver_winds_a_spring() -> None:
    """The torque of the motor is k theta; kinematics counts turns between instants that lie far apart."""
    system = wound(spin=0.0)
    motor = system.add(mb.Driver("motor", system["hinge"], angle="3*t"))
    t = np.array([0.0, 2.0, 9.0])
    result = mb.inverse_dynamics(system, t)
    np.testing.assert_allclose(result.driving_force(motor), 8.0 * 3.0 * t, atol=1e-8)
    np.testing.assert_allclose(result.energy.potential, 4.0 * (3.0 * t) ** 2, atol=1e-7)


def test_a_pulled_mechanism_counts_its_turns() -> None:
    system = wound(spin=0.0)
    puller = mb.Puller(system)
    for turned in np.linspace(0.0, 9.0, 30)[1:]:
        state = puller.to("rotor", (1, 0, 0), (np.cos(turned), np.sin(turned), 0.0))
    assert state.angle("spring") == pytest.approx(9.0, abs=1e-4)
    assert mb.evaluate(system, state).energy.potential[0] == pytest.approx(4.0 * 81.0, abs=1e-2)


def test_a_flexible_rotor_winds_its_spring() -> None:
    """The swinging beam, thrown round against a spring: the energy stays over turns."""
    system = mb.examples.flexible_pendulum()
    beam, hinge = system.bodies[0], system.joints[0]
    place = {"at": hinge.at, "axis": hinge.axis}
    spring = system.add(mb.TorsionalSpringDamper("spring", hinge.body_i, hinge.body_j, **place, torque="0.02*x"))
    axis = np.asarray(hinge.axis, float) / np.linalg.norm(hinge.axis)
    beam.update(angular_velocity=25.0 * axis)
    result = mb.simulate(system, 0.6, integrator=mb.DormandPrince(rtol=1e-8))
    theta = result.output(spring, "angle")
    assert np.abs(theta).max() > 4.0
    assert np.abs(np.diff(theta)).max() < np.pi
    np.testing.assert_allclose(result.energy.total, result.energy.total[0], rtol=1e-4)


@pytest.mark.parametrize("integrator", [mb.DormandPrince(), mb.RadauIIA()])
def test_a_measure_changes_nothing(integrator: mb.Integrator) -> None:
    """Its follower is left out of error norms: steps and states are the same to the last bit."""
    plain = mb.simulate(wound(), 1.0, integrator=integrator)
    system = wound()
    system.add(mb.Angle("alpha", system.ground, system["rotor"], axis=(0, 0, 1)))
    measured = mb.simulate(system, 1.0, integrator=integrator)
    np.testing.assert_array_equal(measured.t, plain.t)
    np.testing.assert_array_equal(measured.q, plain.q)


class Clutch(mb.PIDActuator):
    """A controller that tells its effort."""

    outputs: ClassVar = {"effort": "N m"}

    def effort(self, t: float, i: Any, j: Any, z: Any) -> float:
        return self.integral * z[0] - self.proportional * angle(i, j)[0]


def test_outputs_see_own_states_and_counted_angles() -> None:
    system = rotor(10.0)
    system.add(Clutch("clutch", system.ground, system["rotor"], **Z, proportional=2.0, integral=3.0))
    result = mb.simulate(system, 2.0)
    theta, z = result.quantity("clutch.counted_angle").values, result.element_states("clutch")[:, 0]
    assert theta.max() > np.pi
    np.testing.assert_allclose(result.output("clutch", "effort"), 3.0 * z - 2.0 * theta, atol=1e-9)
    np.testing.assert_allclose(result.wrench("clutch")[1][:, 2], 3.0 * z - 2.0 * theta, atol=1e-9)


class Wrapped(mb.ForceElement):
    """A user's force that asks for an angle and does not count turns."""

    def wrench(self, t, i, j):
        theta, a = angle(i, j)
        return (0.0, 0.0, 0.0), (-theta * a[0], -theta * a[1], -theta * a[2])


class Counted(Wrapped):
    counts_turns = True


def test_a_users_force_counts_turns_or_is_told_about() -> None:
    """theta'' = -theta/2 with theta' = 20: up to 28 rad."""
    system = rotor(20.0)
    system.add(Wrapped("wrapped", system.ground, system["rotor"]))
    assert any("counts_turns = True" in note for note in mb.simulate(system, 0.01).info.warnings)
    system = rotor(20.0)
    system.add(Counted("counted", system.ground, system["rotor"]))
    result = mb.simulate(system, 3.0, integrator=mb.DormandPrince(rtol=1e-9, atol=1e-9))
    assert not result.info.warnings
    w = np.sqrt(1.0 / INERTIA)
    np.testing.assert_allclose(result.state(-1).angle("counted"), 20.0 / w * np.sin(3.0 * w), atol=1e-6)


@pytest.mark.parametrize("formulation", [mb.PlanarAngle(), mb.PlanarNatural(), mb.PlanarEulerParameters()], ids=repr)
def test_a_restart_keeps_the_turns_of_a_body_in_the_plane(formulation: mb.Formulation, tmp_path: Path) -> None:
    """Described at 10 rad, turning at 4 rad/s: 22 rad after 3 s, 26 rad after 4 s."""
    system = mb.System("disk", dimension=2, gravity=(0, 0))
    disk = system.add(mb.PlanarBody("disk", mass=1.0, inertia=1.0, angle=10.0, angular_velocity=4.0))
    system.add(mb.RevoluteJoint("hinge", system.ground, disk, at=(0, 0)))
    t = np.linspace(0.0, 3.0, 13)
    result = mb.simulate(system, 3.0, formulation=formulation, t_eval=t)
    result.save(tmp_path / "disk.h5")
    for state in (result.state(-1), mb.load_result(tmp_path / "disk.h5").state(-1)):
        assert state.angle("disk") == pytest.approx(22.0, abs=1e-5)
        further = mb.simulate(system, 4.0, formulation=formulation, initial=state, t_eval=[3.5, 4.0])
        np.testing.assert_allclose(further.angle(disk), [24.0, 26.0], atol=1e-5)
        further.save(tmp_path / "further.h5")
        np.testing.assert_array_equal(mb.load_result(tmp_path / "further.h5").angle("disk"), further.angle(disk))


def test_a_run_from_an_equilibrium_takes_the_turns_of_its_springs() -> None:
    """Two disks in a row: the springs rest at 9 and -8 rad, their disks at 19 and 11 rad."""
    system = mb.System("springs", dimension=2, gravity=(0, 0))
    disks = [system.add(mb.PlanarBody(f"disk {k}", mass=1.0, inertia=1.0, angle=10.0)) for k in range(2)]
    for k, (before, disk, rest) in enumerate(zip([system.ground, disks[0]], disks, [9.0, -8.0], strict=True)):
        system.add(mb.RevoluteJoint(f"hinge {k}", system.ground, disk, at=(0, 0)))
        system.add(mb.TorsionalSpringDamper(f"spring {k}", before, disk, at=(0, 0), stiffness=2.0, free_angle=rest))
    result = mb.simulate(system, 0.1, initial=mb.equilibrium(system))
    assert result.state(-1).angle("spring 1") == pytest.approx(-8.0, abs=1e-6)
    assert result.angle("disk 0")[-1] == pytest.approx(19.0, abs=1e-6)
    assert result.angle("disk 1")[-1] == pytest.approx(11.0, abs=1e-6)
