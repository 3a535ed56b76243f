"""Wrenches and outputs over time: by compiled stages as by Python, for our forces and for those of users."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from mbframe import over_time
from mbframe.registry import ours

CASES = ["car_suspension", "flyball_governor", "watt_governor", "bouncing_block", "cart_pendulum", "sliding_block"]


def of_all(result: mb.Result) -> dict[str, np.ndarray]:
    """Wrenches and outputs of all forces."""
    found = {}
    for force in result.described.forces:
        found[f"{force.name}.force"], found[f"{force.name}.torque"] = result.wrench(force.name)
        found |= {f"{force.name}.{name}": result.output(force.name, name) for name in force.outputs}
    return found


def by_python(result: mb.Result, monkeypatch) -> dict[str, np.ndarray]:
    with monkeypatch.context() as context:
        context.setattr(over_time, "FEW", np.inf)
        return of_all(result)


@pytest.fixture
def stages(monkeypatch):
    """The methods that a stage has run at all instants."""
    monkeypatch.setattr(over_time, "FEW", 10)
    usual, run = over_time._by_stage, []

    def noted(result, element, row, method, *rest):
        done = usual(result, element, row, method, *rest)
        if done:
            run.append((element.name, method))
        return done

    monkeypatch.setattr(over_time, "_by_stage", noted)
    return run


def agree(found, expected) -> None:
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(
            found[name], values, rtol=1e-12, atol=1e-12 * (1.0 + np.abs(values).max()), err_msg=name
        )


@pytest.mark.parametrize("example", CASES)
def test_stages_give_what_python_gives(stages, monkeypatch, example):
    system = getattr(mb.examples, example)()
    result = mb.simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 51))
    agree(of_all(result), by_python(result, monkeypatch))
    assert {name for name, _ in stages} == {force.name for force in system.forces}


ANNOUNCING = sorted((cls for cls in ours(mb.ForceElement) if cls.outputs), key=lambda cls: cls.__name__)


@pytest.mark.parametrize("cls", ANNOUNCING)
def test_stages_give_all_outputs_that_are_announced(stages, monkeypatch, cls):
    system, body = pair()
    force = system.add(cls.example(system.ground, body))
    result = mb.simulate(system, 0.2, dt=0.01)
    agree(of_all(result), by_python(result, monkeypatch))
    assert {method for _, method in stages} == {"wrench", *force.outputs}


def pair(dimension: int = 3):
    system = mb.System("pair", dimension=dimension)
    if dimension == 3:
        body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 2.0, 3.0), position=(1.0, 0.2, 0.1)))
        body.update(velocity=(0.1, 0.3, -0.2), angular_velocity=(3.0, 1.0, -2.0))
    else:
        body = system.add(mb.PlanarBody("body", mass=1.0, inertia=1.0, position=(1.0, 0.2), angular_velocity=9.0))
    return system, body


def test_turns_of_an_angle_are_counted(stages, monkeypatch):
    system, body = pair()
    system.add(mb.RevoluteJoint("hinge", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    body.update(velocity=(-1.8, 9.0, 0.0), angular_velocity=(0.0, 0.0, 9.0))
    system.add(mb.TorsionalSpringDamper("spring", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1), stiffness=0.1))
    result = mb.simulate(system, 3.0, dt=0.01)
    found = of_all(result)
    agree(found, by_python(result, monkeypatch))
    assert found["spring.angle"].max() > 4.0 * np.pi
    assert ("spring", "angle") in stages


@pytest.mark.parametrize("dimension", [2, 3])
def test_friction_takes_the_reaction_of_its_joint(stages, monkeypatch, dimension):
    system, body = pair(dimension)
    at = (0.0,) * dimension
    axis = {"axis": (0.0, 0.0, 1.0)} if dimension == 3 else {}
    joint = system.add(mb.RevoluteJoint("hinge", system.ground, body, at=at, **axis))
    system.add(mb.Friction("friction", joint, coefficient=0.3, radius=0.05))
    system.gravity = (0.0, -9.81, 0.0)[:dimension]
    result = mb.simulate(system, 0.3, dt=0.01, initial=mb.assemble(system))
    agree(of_all(result), by_python(result, monkeypatch))
    assert ("friction", "reactive_wrench") in stages


class Lag(mb.ForceElement):
    """A user's force with an own state, and outputs."""

    states = 1
    outputs = {"effort": "N", "reach": "m"}  # noqa: RUF012
    gain = mb.parameter(default=3.0)

    def state_rate(self, t, i, j, z):
        return (j.position[0] - z[0],)

    def wrench(self, t, i, j, z):
        return (-self.gain * z[0], 0.1 * t, 0.0), (0.0, 0.0, j.angular_velocity[2])

    def effort(self, t, i, j, z):
        return self.gain * z[0]

    def reach(self, t, i, j, z):
        return np.sqrt(j.position[0] ** 2 + j.position[1] ** 2)


class Spoken(mb.ForceElement):
    """A user's force that does not compile."""

    outputs = {"speed": "m/s"}  # noqa: RUF012

    def wrench(self, t, i, j):
        f"{self}".strip()
        return [-float(x) for x in j.velocity], [0.0, 0.0, 0.0]

    def speed(self, t, i, j):
        return {"speed": float(np.linalg.norm(j.velocity))}["speed"]


class Fragile(mb.ForceElement):
    """A user's force, one of whose outputs raises in some states."""

    outputs = {"share": ""}  # noqa: RUF012

    def wrench(self, t, i, j):
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)

    def share(self, t, i, j):
        if t > 0.1:
            raise ValueError("too late")
        return 1.0


def test_users_methods_are_compiled_where_they_compile(stages, monkeypatch):
    system, body = pair()
    system.add(Lag("lag", system.ground, body))
    system.add(Spoken("spoken", system.ground, body))
    result = mb.simulate(system, 0.5, dt=0.01)
    agree(of_all(result), by_python(result, monkeypatch))
    assert {("lag", "wrench"), ("lag", "effort"), ("lag", "reach")} <= set(stages)
    assert ("spoken", "wrench") not in stages


class PlanarPull(mb.ForceElement):
    """A user's force of the plane."""

    def wrench(self, t, i, j):
        return (-2.0 * j.position[0], t), -0.1 * j.angular_velocity


def test_users_methods_of_the_plane(stages, monkeypatch):
    system, body = pair(2)
    system.add(PlanarPull("pull", system.ground, body))
    result = mb.simulate(system, 0.5, dt=0.01)
    agree(of_all(result), by_python(result, monkeypatch))
    assert stages == [("pull", "wrench")]


def test_what_a_method_raises_comes_with_its_own_words(stages):
    system, body = pair()
    system.add(Fragile("fragile", system.ground, body))
    result = mb.simulate(system, 0.5, dt=0.01)
    with pytest.raises(ValueError, match="too late"):
        result.output("fragile", "share")


def test_functions_of_python_are_called(stages):
    system, body = pair()
    system.add(mb.PointForce("push", body, force=(lambda t: 2.0 * t, 0.0, 0.0)))
    result = mb.simulate(system, 0.5, dt=0.01)
    np.testing.assert_allclose(result.wrench("push")[0][:, 0], 2.0 * result.t)
    assert not stages


def test_an_element_that_was_not_in_the_run(stages):
    system, body = pair()
    system.add(mb.SpringDamper("spring", system.ground, body, stiffness=1.0, free_length=0.5))
    result = mb.simulate(system, 0.2, dt=0.01)
    other = mb.SpringDamper("spring", system.ground, body, stiffness=2.0, free_length=0.5)
    np.testing.assert_allclose(result.output(other, "tension"), 2.0 * result.output("spring", "tension"))
    assert stages == [("spring", "tension")]


def test_loaded_results_too(stages, tmp_path):
    result = mb.simulate(mb.examples.car_suspension(), 0.2, dt=0.01)
    result.save(tmp_path / "run.h5")
    agree(of_all(mb.load_result(tmp_path / "run.h5")), of_all(result))
    assert stages
