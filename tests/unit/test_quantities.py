"""Quantities by name: against the methods of a result and closed forms."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import mbframe as mb
from mbframe.quantities import continuous_quaternions, units_of
from mbframe.registry import ours


@pytest.fixture(scope="module")
def result() -> mb.Result:
    """A spinning body on a spring, held by a joint and rubbing in another; names with dots and spaces."""
    system = mb.System("mechanism")
    arm = system.add(mb.RigidBody("arm.left", mass=2.0, inertia=(0.3, 0.5, 0.6), position=(0.5, 0, 0)))
    slider = system.add(mb.RigidBody("the slider", mass=1.0, inertia=(1, 1, 1), position=(0, 0, 2), velocity=(1, 0, 0)))
    system.add(mb.RevoluteJoint("hinge", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    guide = system.add(mb.TranslationalJoint("guide", system.ground, slider, at=(0, 0, 2), axis=(1, 0, 0)))
    system.add(mb.Friction("brake", guide, coefficient=0.3))
    system.add(mb.SpringDamper("spring", arm, slider, at_i=(1, 0, 0), stiffness=30.0, damping=2.0, free_length=0.4))
    spring = mb.TorsionalSpringDamper(
        "coil", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), stiffness=5.0, damping=0.1
    )
    system.add(spring)
    system.add(mb.PIDActuator("motor", system.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), setpoint=0.5, integral=2.0))
    system.add(mb.Angle("turn", system.ground, arm, at_i=(0, 0, 0), axis=(0, 1, 0)))
    return mb.simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 41))


def values(result: mb.Result, name: str) -> np.ndarray:
    return result.quantity(name).values


def test_names_mean_what_the_methods_give(result):
    assert np.array_equal(values(result, "arm.left.position.x"), result.position("arm.left")[:, 0])
    assert np.array_equal(values(result, "the slider.velocity"), result.velocity("the slider"))
    assert np.array_equal(
        values(result, "arm.left.angular_acceleration.y"), result.angular_acceleration("arm.left")[:, 1]
    )
    assert np.array_equal(values(result, "hinge.reaction.torque.z"), result.reaction("hinge").torque[:, 2])
    assert np.array_equal(values(result, "momentum.linear.x"), result.momentum.linear[:, 0])
    assert np.array_equal(values(result, "energy.total"), result.energy.total)
    assert np.array_equal(values(result, "violation.position"), result.violation.position)
    assert np.array_equal(values(result, "turn"), result.measure("turn"))
    assert np.array_equal(values(result, "motor.state.0"), result.element_states("motor")[:, 0])
    assert np.array_equal(values(result, "t"), result.t)
    speed = np.sqrt(np.sum(result.velocity("arm.left") ** 2, axis=1))
    assert np.allclose(values(result, "arm.left.velocity.magnitude"), speed)
    point = values(result, "arm.left.point(0.5, -1, 2e-1).velocity.z")
    assert np.array_equal(point, result.velocity("arm.left", (0.5, -1.0, 0.2))[:, 2])


def test_outputs_of_springs_follow_from_the_motion(result):
    """The spring pulls its ends together along the line between them: force on the second body towards the first."""
    line = result.position("arm.left", (0.5, 0.0, 0.0)) - result.position("the slider")
    length = np.linalg.norm(line, axis=1)
    rate = np.sum(line * (result.velocity("arm.left", (0.5, 0, 0)) - result.velocity("the slider")), axis=1) / length
    tension = 30.0 * (length - 0.4) + 2.0 * rate
    assert np.allclose(values(result, "spring.length"), length, rtol=1e-13)
    assert np.allclose(values(result, "spring.length_rate"), rate, atol=1e-13)
    assert np.allclose(values(result, "spring.tension"), tension, rtol=1e-12)
    assert np.allclose(values(result, "spring.force"), (tension / length)[:, None] * line, rtol=1e-12)
    assert np.all(values(result, "spring.torque") == 0.0)
    angle, speed = result.measure("turn"), result.angular_velocity("arm.left")[:, 1]
    assert np.allclose(values(result, "coil.angle"), angle, atol=1e-13)
    assert np.allclose(values(result, "coil.moment"), 5.0 * angle + 0.1 * speed, atol=1e-12)
    assert np.allclose(values(result, "coil.torque.y"), -5.0 * angle - 0.1 * speed, atol=1e-9)


def test_forces_and_reactions_obey_newton(result):
    """m a = weight + spring + friction + reaction, for the sliding body."""
    loads = [values(result, name) for name in ("spring.force", "brake.force", "guide.reaction.force")]
    expected = np.array([0.0, 0.0, -9.81]) + sum(loads)
    assert np.allclose(result.acceleration("the slider"), expected, atol=1e-8)
    normal = np.linalg.norm(values(result, "guide.reaction.force")[:, 1:], axis=1)
    slip = result.velocity("the slider")[:, 0]
    assert np.allclose(values(result, "brake.force.x"), -0.3 * normal * np.tanh(slip / 1e-3), atol=1e-8)


def test_quaternions_do_not_jump():
    system = mb.System("spinner", gravity=(0, 0, 0))
    system.add(mb.RigidBody("top", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 0, 4.0)))
    result = mb.simulate(system, 5.0, t_eval=np.linspace(0, 5, 201), integrator=mb.DormandPrince(rtol=1e-10))
    found = continuous_quaternions(result, "top")
    half = 2.0 * result.t
    assert np.allclose(found, np.column_stack([np.cos(half), 0 * half, 0 * half, np.sin(half)]), atol=1e-7)
    assert np.array_equal(values(result, "top.quaternion.3"), found[:, 3])


def test_the_list_has_every_name_with_its_unit(result):
    listed = result.quantities()
    assert listed["arm.left.position.x"] == "m"
    assert listed["hinge.reaction.torque.magnitude"] == "N m"
    assert listed["coil.moment"] == "N m"
    assert listed["turn"] == "rad"
    for name, unit in listed.items():
        quantity = result.quantity(name)
        assert quantity.values.shape == (len(result),), name
        assert quantity.unit == unit


def test_names_are_known_before_anything_is_computed(result):
    announced, listed = units_of(result.system), result.quantities()
    assert announced.items() <= listed.items()
    assert set(listed) - set(announced) <= set(result.states.stored_units())
    plane = mb.examples.four_bar()
    assert units_of(plane).items() <= mb.simulate(plane, 0.01, dt=0.01).quantities().items()


def test_labels_are_words(result):
    assert result.quantity("arm.left.angular_velocity.y").label == "arm.left angular velocity y"
    assert result.quantity("hinge.reaction.force").label == "hinge reaction force"
    assert result.quantity("turn").label == "turn"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("arm.left.positon.x", "did you mean 'arm.left.position.x'"),
        ("hinge.reaction.forces.x", "did you mean 'hinge.reaction.force.x'"),
        ("energy.totl", "did you mean 'energy.total'"),
        ("spring.lenght", "did you mean 'spring.length'"),
        ("qqqq", "lists all"),
        ("arm.left.position.w", "did you mean"),
        ("arm.left.point(1, 2).position.x", "body.point"),
        ("arm.left.point(a, b, c).position.x", "body.point"),
        ("arm.left.point(1, 2, 3).force.x", "body.point"),
        ("leg.point(1, 2, 3).position.x", "no body 'leg'"),
        (7, "found 7"),
    ],
)
def test_wrong_names_are_refused_with_the_nearest(result, name, message):
    with pytest.raises(mb.ModelError, match=message.replace("(", r"\(").replace(".", r"\.")):
        result.quantity(name)


def test_forces_give_the_outputs_they_announce():
    found = set()
    for cls in ours(mb.ForceElement):
        if cls.reactive or not cls.outputs:
            continue
        system = mb.System("pair")
        bodies = [
            system.add(mb.RigidBody(n, mass=1.0, inertia=(1, 1, 1), position=(k, 0, 0))) for k, n in enumerate("ab")
        ]
        force = system.add(cls.example(*bodies))
        result = mb.evaluate(system)
        for name, unit in force.outputs.items():
            assert np.isfinite(result.output(force, name)).all()
            quantity = result.quantity(f"{force.name}.{name}")
            assert np.array_equal(quantity.values, result.output(force, name))
            assert quantity.unit == unit
            found.add(name)
    assert {"tension", "moment", "gap", "normal_force", "slip", "deflection", "error"} <= found


def test_outputs_and_wrenches_are_asked_of_forces(result):
    with pytest.raises(mb.ModelError, match="there are length, length_rate, tension"):
        result.output("spring", "width")
    with pytest.raises(mb.ModelError, match="not a force element"):
        result.wrench("hinge")


# --- tables -----------------------------------------------------------------------------------------------------------


def test_csv_has_all_digits(result, tmp_path):
    result.export(tmp_path / "run.csv", "arm.left.position", "energy.total", "t", "arm.left.position.x")
    with (tmp_path / "run.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == [
        "t [s]",
        *(f"arm.left.position.{c} [m]" for c in "xyz"),
        "energy.total [J]",
    ]
    read = np.array(rows, float)
    assert np.array_equal(read[:, 0], result.t)
    assert np.array_equal(read[:, 1:4], result.position("arm.left"))
    assert np.array_equal(read[:, 4], result.energy.total)


def test_without_names_tables_have_the_motion_of_the_bodies(result, tmp_path):
    result.export(tmp_path / "run.csv")
    header = (tmp_path / "run.csv").read_text().splitlines()[0].split(",")
    assert len(header) == 1 + 2 * (3 + 4 + 3 + 3)
    assert "the slider.quaternion.0" in header


def test_parquet_keeps_names_units_and_digits(result, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    result.export(tmp_path / "run.parquet", "hinge.reaction.force")
    table = parquet.read_table(tmp_path / "run.parquet")
    assert table.column_names == ["t", *(f"hinge.reaction.force.{c}" for c in "xyz")]
    assert table.schema.field("hinge.reaction.force.x").metadata == {b"unit": b"N"}
    assert np.array_equal(table["hinge.reaction.force.z"].to_numpy(), result.reaction("hinge").force[:, 2])


def test_tables_of_other_kinds_are_refused(result, tmp_path):
    with pytest.raises(mb.ModelError, match=r"\.csv, \.parquet"):
        result.export(tmp_path / "run.xlsx")
    with pytest.raises(mb.ModelError, match="did you mean"):
        result.export(tmp_path / "run.csv", "energy.totl")
    assert not list(tmp_path.iterdir())


def test_a_measure_called_t_does_not_replace_the_time():
    system = mb.System("fall")
    stone = system.add(mb.PointMass("stone", mass=1.0, position=(0, 0, 2)))
    system.add(mb.Distance("t", system.ground, stone))
    result = mb.simulate(system, 0.5, t_eval=[0.0, 0.5])
    np.testing.assert_array_equal(result.quantity("t").values, [0.0, 0.5])
    np.testing.assert_allclose(result.measure("t"), [2.0, 2.0 - 9.81 / 8])


def test_turns_of_a_driver_are_no_quantity() -> None:
    """They are kept among the states, and mean nothing to anybody."""
    system = mb.System("driven", dimension=2)
    bar = system.add(mb.PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.5, 0.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, bar, at=(0, 0)))
    system.add(mb.Driver("motor", hinge, angle="2*t"))
    names = mb.simulate(system, 0.1, dt=0.05).quantities()
    assert "motor.reaction.torque" in names
    assert not [name for name in names if "equation" in name]
