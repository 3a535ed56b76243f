"""Drivers: what they accept, how they begin, and what goes wrong with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbframe as mb

Z = (0.0, 0.0, 1.0)


def hinged(**values: object) -> tuple[mb.System, mb.RigidBody, mb.Joint]:
    system = mb.System("hinged", gravity=(0.0, -9.81, 0.0))
    body = system.add(mb.RigidBody("body", mass=2.0, inertia=(0.2, 0.2, 0.3), position=(0.5, 0.0, 0.0), **values))
    return system, body, system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0.0, 0.0, 0.0), axis=Z))


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "driven", "said"),
    [
        (mb.RevoluteJoint, "displacement", r"RevoluteJoint 'joint' has no free displacement .*; it has angle="),
        (mb.TranslationalJoint, "angle", r"TranslationalJoint 'joint' has no free angle .*; it has displacement="),
        (
            mb.SphericalJoint,
            "angle",
            r".* has no free angle .*; drive a revolute, translational, cylindrical or screw joint",
        ),
    ],
)
def test_a_joint_without_that_freedom(kind: type[mb.Joint], driven: str, said: str) -> None:
    system, body, _ = hinged()
    joint = kind("joint", system.ground, body, at=(0.0, 0.0, 0.0), axis=Z)
    with pytest.raises(mb.ModelError, match=f"Driver 'motor', {driven}: {said}"):
        mb.Driver("motor", joint, **{driven: "t"})


def test_every_joint_that_says_so_can_be_driven() -> None:
    system, body, _ = hinged()
    for kind in (mb.RevoluteJoint, mb.CylindricalJoint, mb.TranslationalJoint, mb.PlanarJoint, mb.ScrewJoint):
        values = {"pitch": 0.1} if kind is mb.ScrewJoint else {}
        joint = kind("joint", system.ground, body, at=(0.0, 0.0, 0.0), axis=Z, **values)
        for freedom in joint.freedoms:
            assert mb.Driver("motor", joint, **{freedom: "t"}).joint is joint


@pytest.mark.parametrize(("values", "found"), [({}, "nothing"), ({"angle": "t", "displacement": "t"}, "both")])
def test_exactly_one_function(values: dict[str, str], found: str) -> None:
    _, _, hinge = hinged()
    with pytest.raises(mb.ModelError, match=f"Driver 'motor', angle: found {found}; allowed is either angle="):
        mb.Driver("motor", hinge, **values)


def test_what_cannot_be_driven() -> None:
    system, body, hinge = hinged()
    motor = mb.Driver("motor", hinge, angle="t")
    for wrong in (body, "hinge", motor, None):
        with pytest.raises(mb.ModelError, match=r"Driver 'd', joint: found .*; allowed is a joint; pass the one"):
            mb.Driver("d", wrong, angle="t")
    with pytest.raises(
        mb.ModelError, match=r"Prescribed 'p', measure: .* allowed is a Distance, Displacement or Angle"
    ):
        mb.Prescribed("p", hinge, value="t")
    with pytest.raises(mb.ModelError, match=r"PointDriver 'p', x: found nothing; give at least one of x=, y= and z="):
        mb.PointDriver("p", system.ground, body, at=(0.0, 0.0, 0.0))
    with pytest.raises(mb.ModelError, match=r"hinge.*which is not in system 'other'"):
        mb.System("other").add(motor)


def test_tables_must_increase() -> None:
    with pytest.raises(mb.ModelError, match=r"x\[2\] = 1.0 follows 2.0; x must increase strictly"):
        mb.Function.table([0.0, 2.0, 1.0], [0.0, 1.0, 2.0])


def test_drivers_that_contradict_each_other() -> None:
    system, _, hinge = hinged()
    system.add(mb.Driver("one", hinge, angle="t**2"))
    other = system.add(mb.Driver("two", hinge, angle="t**2 + 0.1*t**3"))
    for attempt in (lambda: mb.simulate(system, 1.0), lambda: mb.kinematics(system, [0.0, 1.0])):
        with pytest.raises(mb.ModelError, match=r"Driver 'two', angle: contradicts Driver 'one' .* remove one of them"):
            attempt()
    other.angle = "t*t"  # the same motion, written differently: redundant, but possible
    result = mb.simulate(system, 1.0)
    assert abs(result.angular_velocity("body")[-1, 2] - 2.0) < 1e-9
    assert any("depend on each other" in w for w in result.info.warnings)


def test_contradiction_through_a_mechanism() -> None:
    """Both motions of a screw are driven, against its pitch: no function alone is wrong."""
    system = mb.System("screw")
    nut = system.add(mb.RigidBody("nut", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    screw = system.add(mb.ScrewJoint("screw", system.ground, nut, at=(0.0, 0.0, 0.0), axis=Z, pitch=0.1))
    system.add(mb.Driver("turn", screw, angle="2*t**2"))
    system.add(mb.Driver("push", screw, displacement="0.2*t**2"))
    with pytest.raises(mb.SimulationError, match=r"and Driver 'push' depend on each other, but do not fit"):
        mb.simulate(system, 1.0, dt=1e-2)


def test_a_driver_that_begins_elsewhere() -> None:
    system, body, hinge = hinged()
    motor = system.add(mb.Driver("motor", hinge, angle="0.5 + t"))
    with pytest.raises(mb.ModelError, match=r"motor', angle: asks for angle = 0.5 at t = 0 s, .* initial=mb.assemble"):
        mb.simulate(system, 1.0)
    start = mb.assemble(system)
    assert abs(mb.simulate(system, 1.0, initial=start).angular_velocity(body)[-1, 2] - 1.0) < 1e-9
    result = mb.kinematics(system, [0.0, 1.0])  # which looks for the position itself
    assert np.abs(result.position(body)[:, 0] - 0.5 * np.cos([0.5, 1.5])).max() < 1e-12
    assert "was assembled" in result.info.warnings[0]
    motor.angle = "1e-4 + t"
    assert "it was assembled" in mb.simulate(system, 0.1).info.warnings[0]


def test_initial_velocity_of_a_driver_is_assembled_with_a_note() -> None:
    system, body, hinge = hinged()
    system.add(mb.Driver("motor", hinge, angle="3*t"))
    result = mb.simulate(system, 0.1)
    assert result.info.warnings == [
        "the initial velocities violated Driver 'motor' by 3; they were projected, by at most 3 (m/s or rad/s)"
    ]
    assert np.abs(result.velocity(body)[0] - [0.0, 1.5, 0.0]).max() < 1e-12
    consistent, _, hinge = hinged(velocity=(0.0, 1.5, 0.0), angular_velocity=(0.0, 0.0, 3.0))
    consistent.add(mb.Driver("motor", hinge, angle="3*t"))
    assert mb.simulate(consistent, 0.1).info.warnings == []


# --- functions --------------------------------------------------------------------------------------------------------


def test_a_python_callable_drives_as_its_expression_does() -> None:
    system, body, hinge = hinged()
    motor = system.add(mb.Driver("motor", hinge, angle="sin(2*t)"))
    expected = mb.simulate(system, 1.0, dt=1e-2)
    derivatives = (lambda t: 2.0 * math.cos(2.0 * t), lambda t: -4.0 * math.sin(2.0 * t))
    motor.angle = mb.Function(lambda t: math.sin(2.0 * t), derivatives=derivatives)
    found = mb.simulate(system, 1.0, dt=1e-2)
    assert np.abs(found.position(body) - expected.position(body)).max() < 1e-13
    assert np.abs(found.driving_force(motor) - expected.driving_force(motor)).max() < 1e-11


def test_a_callable_that_raises_is_the_cause_of_the_error() -> None:
    system, _, hinge = hinged()

    def angle(t: float) -> float:
        if t > 0.5:
            raise RuntimeError("no plan")
        return 0.0

    system.add(mb.Driver("motor", hinge, angle=mb.Function(angle, derivatives=(lambda t: 0.0, lambda t: 0.0))))
    with pytest.raises(mb.SimulationError, match="Driver 'motor': motion raised RuntimeError: no plan") as error:
        mb.simulate(system, 1.0, dt=1e-2)
    assert isinstance(error.value.__cause__, RuntimeError)


def test_a_function_without_a_value() -> None:
    system, _, hinge = hinged()
    system.add(mb.Driver("motor", hinge, angle="1 - sqrt(0.5 - t)*sqrt(2)"))
    with pytest.raises(mb.SimulationError, match=r"^t = 0\.5 s, Driver 'motor': the .* is not finite"):
        mb.simulate(system, 1.0, dt=1e-2)
    with pytest.raises(mb.SimulationError, match=r"^t = [^=]*, Driver 'motor': the [^=]* is not finite"):
        mb.kinematics(system, [0.0, 0.7])


# --- systems and results ----------------------------------------------------------------------------------------------


def test_what_is_driven_cannot_be_removed_before_its_driver() -> None:
    system, _, hinge = hinged()
    motor = system.add(mb.Driver("motor", hinge, angle="t"))
    with pytest.raises(mb.ModelError, match="remove first what is attached: motor"):
        system.remove(hinge)
    system.remove(motor)
    system.remove(hinge)


def test_a_driver_moves_with_an_included_system() -> None:
    inner, _, hinge = hinged()
    inner.add(mb.Driver("motor", hinge, angle="t"))
    body = inner["body"]
    inner.add(mb.PointDriver("path", inner.ground, body, at=(1.0, 0.0, 0.0), x="cos(t) - 1"))
    outer = mb.System("outer")
    turn = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    copies = outer.include(inner, "a ", position=(0.0, 0.0, 2.0), rotation=turn)
    assert copies["motor"].joint is copies["hinge"]
    result = mb.kinematics(outer, [0.0, 0.5])
    expected = [-0.5 * math.sin(0.5), 0.5 * math.cos(0.5), 2.0]
    assert np.abs(result.position("a body")[1] - expected).max() < 1e-12


def test_driving_force_of_something_else() -> None:
    system, _, hinge = hinged()
    result = mb.evaluate(system)
    with pytest.raises(mb.ModelError, match="RevoluteJoint 'hinge': drives nothing"):
        result.driving_force(hinge)


@pytest.mark.parametrize("wrong", ["x", [], [1.0, 0.5], [0.0, np.nan], [[0.0, 1.0]]])
def test_instants_must_increase(wrong: object) -> None:
    system, _, hinge = hinged()
    system.add(mb.Driver("motor", hinge, angle="t"))
    with pytest.raises(mb.ModelError, match=r"kinematics, t_eval: found .*; allowed are increasing instants"):
        mb.kinematics(system, wrong)


def test_inverse_dynamics_says_that_own_states_stand_still() -> None:
    system, body, hinge = hinged()
    system.add(mb.Driver("motor", hinge, angle="t"))
    system.add(mb.PIDActuator("pid", system.ground, body, at=(0.0, 0.0, 0.0), axis=(0, 0, 1), integral=1.0))
    assert "own states of 'pid' were kept" in mb.inverse_dynamics(system, [0.0, 1.0]).info.warnings[0]


EDITS = {
    "other names": lambda s: (setattr(s["motor"], "name", "engine"), setattr(s["screw"], "name", "thread")),
    "a force with states": lambda s: s.add(
        mb.PIDActuator("control", s.ground, s["bar"], at=(0, 0, 0), axis=(0, 1, 0), proportional=1.0)
    ),
    "another gear before": lambda s: s.reorder(["screw", *(e.name for e in s if e.name != "screw")]),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_turns_stay_counted_when_a_changed_system_goes_on(edit) -> None:
    """A motor that has made 4.77 turns and a nut that follows it go on, whatever else is in the system or renamed."""
    system = mb.System("turning", gravity=(0, 0, 0))
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(1, 1, 1)))
    nut = system.add(mb.RigidBody("nut", mass=1.0, inertia=(1, 1, 1), position=(0, 1, 0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mb.TranslationalJoint("slide", system.ground, nut, at=(0, 1, 0), axis=(0, 1, 0)))
    system.add(mb.Driver("motor", hinge, angle="10*t"))
    system.add(mb.ScrewJoint("screw", bar, nut, at=(0, 0.5, 0), axis=(0, 1, 0), pitch=0.2 * np.pi))
    half = mb.simulate(system, 3.0)
    assert np.allclose(half.position(nut)[-1], (0, 1 - 0.1 * 30.0, 0), atol=1e-6)  # turns backwards against the bar
    edit(system)
    whole = mb.simulate(system, 4.0, initial=half.state(-1), t_eval=[4.0])
    assert not any("the initial " in warning for warning in whole.info.warnings)
    assert np.allclose(whole.position(nut)[-1], (0, 1 - 0.1 * 40.0, 0), atol=1e-6)


@pytest.mark.parametrize(
    ("angle", "what", "place"),
    [
        ("if(t < 0.5, 0, 1e-3)", "function", 0.5),
        ("1e-3*sign(t - 0.25)", "function", 0.25),
        ("abs(t - 0.7) - 0.7", "slope of the function", 0.7),
        ("max(0, t - 0.3)", "slope of the function", 0.3),
        (mb.Function.piecewise_linear([0, 0.4, 1], [0, 0.1, 0]), "slope of the function", 0.4),
    ],
)
def test_what_no_force_can_follow_is_told(angle, what, place) -> None:
    """Kinematics stops at a jump of the function itself, where no position follows, and passes one of the slope."""
    system = swinging()
    system.add(mb.Driver("motor", system["hinge"], angle=angle))
    runs = [mb.simulate(system, 1.0)] + ([mb.kinematics(system, [0.0, 1.0])] if what != "function" else [])
    for run in runs:
        (warning,) = [w for w in run.info.warnings if "jumps" in w]
        assert warning.startswith(f"Driver 'motor', angle: the {what} jumps at t = {place:g} s")


@pytest.mark.parametrize(
    "angle", ["step(t, 0.2, 0, 0.8, 1)", "max(-1, sin(t))", "if(t < 0.5, t**2, t - 0.25)", "abs(t + 1) - 1"]
)
def test_what_is_smooth_is_not_remarked(angle) -> None:
    system = swinging()
    system.add(mb.Driver("motor", system["hinge"], angle=angle))
    assert not any("jumps" in warning for warning in mb.simulate(system, 1.0).info.warnings)


def swinging() -> mb.System:
    system = mb.System("hinged")
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.1, 0.5, 0.5), position=(1, 0, 0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def test_a_joint_beside_a_point_mass_clamps_it_with_a_warning() -> None:
    """It has no axes that turn: who wants a pendulum needs a rod."""
    system = mb.System("pendulum")
    ball = system.add(mb.PointMass("ball", mass=1.0, position=(1, 0, 0)))
    system.add(mb.SphericalJoint("pin", system.ground, ball, at=(0, 0, 0)))
    result = mb.simulate(system, 0.1)
    assert np.allclose(result.position(ball), (1, 0, 0))
    (warning,) = result.info.warnings
    assert warning.startswith(
        "SphericalJoint 'pin': PointMass 'ball' does not turn, so that a point 1 m away from it moves"
    )
    system.remove("pin")
    system.add(mb.DistanceJoint("rod", system.ground, ball, at_i=(0, 0, 0), at_j=(1, 0, 0)))
    assert mb.simulate(system, 0.1).info.warnings == []
