"""Bad input gives one clear error before anything is computed: which element, which field, what to do about it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbframe as mb


def body(name: str = "bar", **values: Any) -> mb.RigidBody:
    return mb.RigidBody(name, **({"mass": 1.0, "inertia": (1.0, 1.0, 1.0)} | values))


def pendulum() -> mb.System:
    system = mb.System("pendulum")
    bar = system.add(body(position=(1, 0, 0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    return system


def refusal(act: Callable[[], Any]) -> mb.ModelError:
    with pytest.raises(mb.ModelError) as caught:
        act()
    return caught.value


def only_problem(act: Callable[[], Any]) -> tuple[str, str, str]:
    (problem,) = refusal(act).problems
    return problem.element, problem.field, problem.message


# --- the description -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "field", "found", "remedy"),
    [
        ({"mass": 0.0}, "mass", "found 0.0; allowed is a finite number above 0 (kg)", "increase it above 0"),
        ({"mass": -2}, "mass", "found -2", "increase it above 0"),
        ({"mass": np.nan}, "mass", "found nan", "give a finite number"),
        ({"mass": np.inf}, "mass", "found inf", "give a finite number"),
        ({"mass": "2 kg"}, "mass", "found '2 kg'", "give a plain number, without quotes or unit"),
        ({"inertia": (1, 1, -1)}, "inertia", "principal moments -1, 1, 1", "all three must be positive"),
        ({"inertia": (1, 1, 0)}, "inertia", "principal moments 0, 1, 1", "all three must be positive"),
        ({"inertia": (1, 1, 1, 2, 0, 0)}, "inertia", "principal moments -1, 1, 3", "all three must be positive"),
        ({"inertia": (1, 1, 2.1)}, "inertia", "principal moments 1, 1, 2.1", "check digits, signs and reference point"),
        ({"inertia": (1, 1)}, "inertia", "(1, 1) of shape (2,)", "use one of the three forms"),
        ({"inertia": np.arange(9.0).reshape(3, 3)}, "inertia", "found array", "make Ixy = Iyx"),
        ({"inertia": (1, 1, np.nan)}, "inertia", "nan", "give finite numbers"),
        ({"position": (1, 2)}, "position", "(1, 2) of shape (2,)", "give 3 numbers"),
        ({"position": 3.0}, "position", "3.0 of shape ()", "give 3 numbers"),
        ({"position": (1, 2, np.nan)}, "position", "nan", "give finite numbers"),
        ({"position": ("a", "b", "c")}, "position", "found ('a', 'b', 'c')", "give a sequence of plain numbers"),
        ({"velocity": (1, 2, 3, 4)}, "velocity", "of shape (4,)", "give 3 numbers"),
        ({"angular_velocity": ((1, 2), (3,))}, "angular_velocity", "found", "rows of equal length"),
        ({"center_of_mass": (0, 0, np.inf)}, "center_of_mass", "inf", "give finite numbers"),
        ({"rotation": (1, 1, 0, 0)}, "rotation", "of norm 1.41421356", "divide the quaternion by its norm"),
        ({"rotation": np.ones((3, 3))}, "rotation", "off orthonormal", "scipy.spatial.transform.Rotation"),
        ({"rotation": np.diag([1, 1, -1])}, "rotation", "left-handed", "reverse one column"),
        ({"mas": 1.0}, "mas", "there is no such parameter", "did you mean 'mass'?"),
    ],
)
def test_wrong_values_of_a_body(values, field, found, remedy):
    element, where, message = only_problem(lambda: body(**values))
    assert (element, where) == ("RigidBody 'bar'", field)
    assert found in message
    assert remedy in message


def test_equality_in_the_triangle_inequality_passes():
    """A thin disk, and a thin rod (its smallest moment must be positive); also as published with three digits."""
    assert body(inertia=(0.5, 0.5, 1.0)).inertia[2, 2] == 1.0
    assert body(inertia=(1e-6, 1.0, 1.0)).inertia[0, 0] == 1e-6
    body(inertia=(0.333, 0.333, 0.6664))


def test_everything_wrong_comes_in_one_error():
    error = refusal(lambda: mb.RigidBody("bar", mass=-1, inertia=(1, 1, 9), position=(0, 0), colour="red"))
    assert [p.field for p in error.problems] == ["mass", "inertia", "position", "colour"]
    assert str(error).count("\n") == 3
    assert all(line.startswith("RigidBody 'bar', ") for line in str(error).splitlines())


def test_what_is_missing_is_asked_for():
    error = refusal(lambda: mb.RigidBody("bar"))
    assert [p.field for p in error.problems] == ["mass", "inertia"]
    assert "add mass=... to the call" in error.problems[0].message


def test_an_assignment_is_checked_like_the_call_and_leaves_the_old_value():
    bar = body(mass=2.0)
    assert only_problem(lambda: setattr(bar, "mass", -1.0))[:2] == ("RigidBody 'bar'", "mass")
    assert bar.mass == 2.0


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_an_element_needs_a_name(name):
    _, field, message = only_problem(lambda: body(name))
    assert field == "name"
    assert "give the element a name" in message


def test_duplicate_names():
    system = pendulum()
    element, field, message = only_problem(lambda: system.add(body("hinge")))
    assert (element, field) == ("RigidBody 'hinge'", "name")
    assert message == "found 'hinge', which is taken by RevoluteJoint 'hinge' in system 'pendulum'; choose another name"


@pytest.mark.parametrize("kind", [mb.RevoluteJoint, mb.SphericalJoint, mb.Coincident, mb.Perpendicular])
def test_a_joint_of_a_body_with_itself(kind):
    bar = body()
    element, field, message = only_problem(lambda: kind("knot", bar, bar, at=(0, 0, 0), axis=(0, 0, 1)))
    assert (element, field) == (f"{kind.__name__} 'knot'", "body_j")
    assert message == "connects 'bar' with itself; choose two different bodies"


def test_a_force_of_a_body_on_itself():
    bar = body()
    assert only_problem(lambda: mb.SpringDamper("spring", bar, bar))[1] == "body_j"


def test_a_joint_with_a_body_that_is_not_in_the_system():
    system, stranger = pendulum(), body("stranger")
    element, field, message = only_problem(
        lambda: system.add(mb.SphericalJoint("ball", system["bar"], stranger, at=(0, 0, 0)))
    )
    assert (element, field) == ("SphericalJoint 'ball'", "body_j")
    assert message == "found RigidBody 'stranger', which is not in system 'pendulum'; add it first with system.add(...)"
    assert "ball" not in system


def test_a_joint_of_two_strangers_names_both():
    error = refusal(lambda: pendulum().add(mb.SphericalJoint("ball", body("a"), body("b"), at=(0, 0, 0))))
    assert [p.field for p in error.problems] == ["body_i", "body_j"]


@pytest.mark.parametrize("given", ["bar", None, 3])
def test_a_joint_of_what_is_no_body(given):
    element, field, message = only_problem(lambda: mb.SphericalJoint("ball", mb.Ground("ground"), given, at=(0, 0, 0)))
    assert (element, field) == ("SphericalJoint 'ball'", "body_j")
    assert "pass the object that you added to the system" in message


def test_a_system_is_no_body():
    system = pendulum()
    _, field, message = only_problem(lambda: mb.SphericalJoint("ball", system, system["bar"], at=(0, 0, 0)))
    assert field == "body_i"
    assert "allowed is a body" in message


@pytest.mark.parametrize(
    ("values", "field", "remedy"),
    [
        ({"at": (0, 0, 0), "axis": (0, 0, 0)}, "axis", "an axis needs a length other than zero: give its direction"),
        ({"at": (0, 0, 0), "axis": (0, np.nan, 1)}, "axis", "give finite numbers"),
        ({"at": (0, 0, 0), "axis": (0, 1)}, "axis", "give 3 numbers"),
        ({"at": (0, 0), "axis": (0, 0, 1)}, "at", "give 3 numbers"),
        ({"axis": (0, 0, 1)}, "at", "add at=... to the call"),
        ({"at": (0, 0, 0), "axis": (0, 0, 1), "axes": (0, 0, 1)}, "axes", "did you mean 'axis'?"),
    ],
)
def test_wrong_values_of_a_joint(values, field, remedy):
    element, where, message = only_problem(lambda: mb.RevoluteJoint("hinge", mb.Ground("ground"), body(), **values))
    assert (element, where) == ("RevoluteJoint 'hinge'", field)
    assert remedy in message


@pytest.mark.parametrize(("name", "value"), [("stiffness", -1.0), ("damping", np.nan), ("free_length", "long")])
def test_wrong_values_of_a_spring(name, value):
    element, field, _ = only_problem(lambda: mb.SpringDamper("spring", mb.Ground("ground"), body(), **{name: value}))
    assert (element, field) == ("SpringDamper 'spring'", name)


def test_wrong_values_of_a_system():
    assert only_problem(lambda: mb.System("s", gravity=(0, -9.81)))[:2] == ("System 's'", "gravity")


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('ls')",
        "t.real",
        "[t]",
        "lambda: t",
        "t if t else 1",
        "x = 1",
        "f(t)",
        "y + 1",
        "sin(t",
        "sin()",
        "2 ** ",
        "t; t",
        "'t'",
        "",
    ],
)
def test_expressions_outside_the_grammar(expression):
    element, field, message = only_problem(lambda: mb.Function(expression))
    assert element == f"Function {expression!r}"
    assert field == "expression"
    assert message


def test_wrong_values_of_strategies():
    assert only_problem(lambda: mb.DormandPrince(rtol=-1e-6))[:2] == ("DormandPrince", "rtol")
    assert only_problem(lambda: mb.DormandPrince(rtol=1e-16))[2].endswith(
        "rounding allows no less than 1e-14; increase it"
    )
    assert only_problem(lambda: mb.DirectCorrection(tolerance=0.0))[:2] == ("DirectCorrection", "tolerance")
    assert "did you mean 'tolerance'?" in only_problem(lambda: mb.DirectCorrection(tolerence=1e-9))[2]


# --- the call of simulate --------------------------------------------------------------------------------------------


@pytest.fixture
def no_equations(monkeypatch):
    """Nothing may be built, let alone computed, for a call that makes no sense."""
    from mbframe.solvers import prepare as module

    def build(*_: Any) -> None:
        raise AssertionError("the equations were built")

    monkeypatch.setattr(module, "Equations", build)


@pytest.mark.usefixtures("no_equations")
@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"dt": -1e-3}, "dt", "found -0.001; allowed is a positive step (s)"),
        ({"dt": 0.0}, "dt", "positive step"),
        ({"dt": np.nan}, "dt", "positive step"),
        ({"dt": "0.1"}, "dt", "positive step"),
        ({"dt": True}, "dt", "positive step"),
        ({"integrator": mb.RungeKutta4()}, "dt", "RungeKutta4 has a fixed step; add dt=1e-3"),
        ({"t_end": 0.0}, "t_end", "found 0.0; allowed is a number after the start at t = 0 s"),
        ({"t_end": -1.0}, "t_end", "give a later time"),
        ({"t_end": np.inf}, "t_end", "found inf"),
        ({"t_end": "1"}, "t_end", "found '1'"),
        ({"t_eval": [0.0, 0.5, 0.5]}, "t_eval", "do not increase; sort them and leave out duplicates"),
        ({"t_eval": [0.5, 0.0]}, "t_eval", "do not increase"),
        ({"t_eval": [0.0, 1.5]}, "t_eval", "found instants from 0 to 1.5 s; allowed is 0 to 1 s"),
        ({"t_eval": [-0.5, 0.5]}, "t_eval", "found instants from -0.5 to 0.5 s"),
        ({"t_eval": [0.0, np.nan]}, "t_eval", "not a finite number"),
        ({"t_eval": ["soon"]}, "t_eval", "not a finite number"),
        ({"t_eval": 0.5}, "t_eval", "found shape (); allowed are increasing instants (s); give a list"),
        ({"t_eval": []}, "t_eval", "found shape (0,)"),
        ({"t_eval": [[0.0, 1.0]]}, "t_eval", "found shape (1, 2)"),
        ({"integrator": "rk4"}, "integrator", "found 'rk4'; allowed is an object of type Integrator"),
        ({"integrator": mb.DormandPrince}, "integrator", "call the class: DormandPrince()"),
        ({"integrator": mb.DirectCorrection()}, "integrator", "found DirectCorrection()"),
        ({"acceleration": mb.RungeKutta4()}, "acceleration", "object of type Acceleration"),
        ({"stabilization": mb.NoStabilization}, "stabilization", "call the class: NoStabilization()"),
        ({"formulation": mb.NaturalAbsolute}, "formulation", "call the class: NaturalAbsolute()"),
        ({"formulation": "natural"}, "formulation", "object of type Formulation"),
        ({"initial": {"bar": 1}}, "initial", "object of type State"),
        ({"system": "pendulum"}, "system", "object of type System"),
        ({"events": max}, "events", "put it in brackets: [...]"),
        ({"events": [3]}, "events", "found 3; allowed are functions f(t, state)"),
    ],
)
def test_senseless_arguments(values, field, words):
    arguments = {"system": pendulum(), "t_end": 1.0} | values
    element, where, message = only_problem(lambda: mb.simulate(**arguments))
    assert (element, where) == ("simulate", field)
    assert words in message


@pytest.mark.usefixtures("no_equations")
def test_all_senseless_arguments_come_in_one_error():
    error = refusal(lambda: mb.simulate(pendulum(), -1.0, dt=-1.0, t_eval=[1, 0], events=[None]))
    assert [p.field for p in error.problems] == ["t_end", "dt", "t_eval", "events"]
    error = refusal(lambda: mb.simulate(None, 1.0, integrator=1, formulation=2))
    assert [p.field for p in error.problems] == ["system", "formulation", "integrator"]


@pytest.mark.parametrize("call", [mb.evaluate, lambda system: mb.simulate(system, 1.0)], ids=["evaluate", "simulate"])
def test_a_system_without_bodies(call):
    message = str(refusal(lambda: call(mb.System("empty"))))
    assert message == "System 'empty': there is no body to move; add one with system.add(mb.RigidBody(...))"


# --- open loops and states that do not fit --------------------------------------------------------------------------


def moved(system: mb.System, name: str, **changes: Any) -> mb.State:
    """The described state with one body's motion changed."""
    state = mb.Equations(system).described()
    motion = dataclasses.replace(state.motions[name], **changes)
    return mb.State(0.0, {**state.motions, name: motion})


@pytest.mark.usefixtures("no_equations")
@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"position": np.array([1.0, np.nan, 0.0])}, "position", "give finite numbers"),
        ({"velocity": np.zeros(2)}, "velocity", "give 3 numbers"),
        ({"rotation": 2.0 * np.eye(3)}, "rotation", "off orthonormal"),
    ],
)
def test_a_state_with_wrong_values(changes, field, words):
    system = pendulum()
    initial = moved(system, "bar", **changes)
    element, where, message = only_problem(lambda: mb.simulate(system, 1.0, initial=initial))
    assert (element, where) == ("State of RigidBody 'bar'", field)
    assert words in message


@pytest.mark.usefixtures("no_equations")
def test_a_state_without_one_of_the_bodies():
    element, field, message = only_problem(lambda: mb.simulate(pendulum(), 1.0, initial=mb.State(0.0, {})))
    assert (element, field) == ("State", "motions")
    assert message == "there is no body 'bar'; there are none"


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_an_open_loop_names_the_joint_and_the_gap(formulation):
    """Three joints of a closed chain; the second body is described where it closes and started elsewhere."""
    system = mb.System("loop")
    one = system.add(body("one", position=(0, 0, 1)))
    two = system.add(body("two", position=(1, 0, 2)))
    system.add(mb.SphericalJoint("A", system.ground, one, at=(0, 0, 0)))
    system.add(mb.SphericalJoint("B", one, two, at=(0, 0, 2)))
    system.add(mb.SphericalJoint("C", two, system.ground, at=(2, 0, 2)))
    open_loop = moved(system, "two", position=np.array([1.0, 0.3, 2.4]))
    error = refusal(lambda: mb.simulate(system, 1.0, initial=open_loop, formulation=formulation))
    assert {p.element for p in error.problems} == {"SphericalJoint 'B'", "SphericalJoint 'C'"}
    for problem in error.problems:
        assert problem.field == "initial"
        assert "violated by 0.5 (m, or rad)" in problem.message
        assert "the model measures 2.4 m" in problem.message
        assert "give a state of this system as it is now" in problem.message


def test_a_constraint_that_does_not_hold_when_described():
    """The z axes of both markers are parallel, so they cannot be perpendicular."""
    system = mb.System("square")
    bar = system.add(body(position=(2, 0, 0)))
    system.add(mb.Perpendicular("square", system.ground, bar, at=(2, 0, 0), axis_i=2, axis_j=2))
    element, field, message = only_problem(lambda: mb.simulate(system, 1.0))
    assert (element, field) == ("Perpendicular 'square'", "at")
    assert "violated by 1 " in message


def test_many_small_gaps_are_still_an_error_with_names():
    """Each joint alone would pass as rounding; together they would move the chain visibly."""
    system = mb.System("chain")
    previous = system.ground
    for k in range(150):
        link = system.add(body(f"link {k}", position=(0, 0, -k - 0.5)))
        system.add(mb.SphericalJoint(f"joint {k}", previous, link, at=(0, 0, -k)))
        previous = link
    state = mb.Equations(system).described()
    shaken = {
        name: dataclasses.replace(m, position=m.position + np.array([0.065 * (-1) ** k, 0, 0]))
        for k, (name, m) in enumerate(state.motions.items())
    }
    error = refusal(lambda: mb.simulate(system, 0.1, initial=mb.State(0.0, shaken)))
    assert len(error.problems) == 10
    assert all("violated by 0.13 " in p.message for p in error.problems)


# --- arguments of analyses, and what a slip of the pen does ----------------------------------------------------------


ANALYSES = {
    "assemble": mb.assemble,
    "equilibrium": mb.equilibrium,
    "evaluate": mb.evaluate,
    "degrees_of_freedom": mb.degrees_of_freedom,
    "linearize": mb.linearize,
    "steady": mb.steady,
    "perturb_and_simulate": mb.perturb_and_simulate,
    "kinematics": lambda system: mb.kinematics(system, [0.0]),
    "inverse_dynamics": lambda system: mb.inverse_dynamics(system, [0.0]),
    "equations_of": lambda system: mb.equations_of(system, "hinge"),
    "Puller": mb.Puller,
    "to_python": mb.to_python,
    "save": lambda system: mb.save(system, "model.json"),
}


@pytest.mark.parametrize("given", [None, "pendulum", 3.0], ids=repr)
@pytest.mark.parametrize(("caller", "call"), ANALYSES.items(), ids=ANALYSES)
def test_analyses_ask_for_a_system(caller, call, given):
    element, field, message = only_problem(lambda: call(given))
    assert (element, field) == (caller, "system")
    assert message == f"found {given!r}; allowed is an object of type System; pass such an object"


@pytest.mark.parametrize("call", [mb.assemble, mb.equilibrium, mb.steady])
def test_analyses_ask_for_a_state(call):
    system = pendulum()
    element, field, message = only_problem(lambda: call(system, system))
    assert (element, field) == (call.__name__, "initial")
    assert "allowed is an object of type State" in message


def test_pairs_are_asked_for():
    assert only_problem(lambda: mb.steady(pendulum(), given=3))[:2] == ("steady", "given")
    assert only_problem(lambda: mb.steady(pendulum(), given=[("angle", "a lot")]))[:2] == ("steady", "given")
    assert only_problem(lambda: mb.critical_values(lambda _: pendulum(), 3))[:2] == ("critical_values", "interval")


@pytest.mark.parametrize("index", [7, -8, 0.1, "end"])
def test_a_state_is_asked_for_by_its_number(index):
    result = mb.simulate(pendulum(), 0.1, t_eval=[0.0, 0.1])
    element, field, message = only_problem(lambda: result.state(index))
    assert (element, field) == ("Result", "state")
    assert message.startswith(f"found {index!r}; allowed is the number of a stored instant, 0 to 1")


def test_a_misspelt_parameter_is_not_kept_in_silence():
    """It would change nothing: the mass stays as it was."""
    bar = body(mass=2.0)
    element, field, message = only_problem(lambda: setattr(bar, "masss", 5.0))
    assert (element, field, message) == ("RigidBody 'bar'", "masss", "there is no such parameter; did you mean 'mass'?")
    assert not hasattr(bar, "masss")
    bar.colour = "red"  # what is meant for nobody else may be kept


def test_another_element_of_that_name():
    """The usual mistake after loading a model: its elements are others than those of the script."""
    system, other = pendulum(), pendulum()
    _, field, message = only_problem(lambda: system.add(mb.PointForce("push", other["bar"], force=(0, 0, 1))))
    assert field == "body_j"
    assert message.endswith("which is not in system 'pendulum'; it has another of that name: pass system['bar']")


def test_a_state_off_the_constraints_is_evaluated_with_a_warning():
    system = pendulum()
    system.add(mb.Driver("motor", system["hinge"], angle="10*t"))
    (warning,) = mb.evaluate(system).info.warnings
    assert warning.startswith("the velocities of the state violate Driver 'motor' by 10;")
    assert mb.evaluate(system, mb.assemble(system)).info.warnings == []


def test_an_element_is_added_once():
    system = pendulum()
    element, field, message = only_problem(lambda: system.add(system["bar"]))
    assert (element, field, message) == ("RigidBody 'bar'", "", "is in system 'pendulum' already; add it once")


def test_a_result_is_no_model(tmp_path):
    mb.simulate(pendulum(), 0.1).save(tmp_path / "run.h5")
    (problem,) = refusal(lambda: mb.load(tmp_path / "run.h5")).problems
    assert problem.message == "is no model but an HDF5 file; of a result, mb.load_result(...).system is the model"
    assert mb.load_result(tmp_path / "run.h5").system["bar"].mass == 1.0
