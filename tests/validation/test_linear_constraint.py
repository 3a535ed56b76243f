"""Linear relations between coordinates, the generalized constraint of [PappalardoGuida2018a], against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbframe as mb

TIGHT = mb.DormandPrince(order=8, rtol=1e-11, atol=1e-12)
FORMULATIONS = [mb.NewtonEuler(), mb.EulerParameters(), mb.NaturalAbsolute()]
MASS, INERTIA, PULL = 2.0, 0.05, 3.0


def hoist(value: Any = 0.6) -> mb.System:
    """A cart and a drum with 2 x - theta/2 = value, pulled by a force: the cart begins at x = 0.3 m."""
    system = mb.System("hoist", gravity=(0, 0, 0))
    cart = system.add(mb.RigidBody("cart", mass=MASS, inertia=(0.1, 0.1, 0.1), position=(0.3, 0, 0)))
    system.add(mb.TranslationalJoint("rail", system.ground, cart, at=(0.3, 0, 0), axis=(1, 0, 0)))
    drum = system.add(mb.RigidBody("drum", mass=1.0, inertia=(0.1, INERTIA, 0.1), position=(0, 0, 1)))
    system.add(mb.RevoluteJoint("axle", system.ground, drum, at=(0, 0, 1), axis=(0, 1, 0)))
    x = system.add(mb.Displacement("x", system.ground, cart, at_j=(0.3, 0, 0), axis=(1, 0, 0)))
    theta = system.add(mb.Angle("theta", system.ground, drum, axis=(0, 1, 0)))
    system.add(mb.LinearConstraint("rope", x, theta, coefficients=(2.0, -0.5), value=value))
    system.add(mb.PointForce("pull", cart, at=(0.3, 0, 0), force=(PULL, 0, 0)))
    return system


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_a_cart_and_a_drum_move_together(formulation: Any) -> None:
    """(m + 16 I) x'' = F with theta = 4 (x - 0.3); the multiplier of C = 2 x - theta/2 - 0.6 is (F - m x'')/2."""
    result = mb.simulate(hoist(), 2.0, formulation=formulation, integrator=TIGHT)
    rate = PULL / (MASS + 16.0 * INERTIA)
    assert np.allclose(result.quantity("x").values, 0.3 + rate * result.t**2 / 2, atol=1e-9)
    assert np.allclose(result.quantity("theta").values, 2.0 * rate * result.t**2, atol=1e-8)  # more than one turn
    assert result.quantity("theta").values[-1] > 2.0 * np.pi * 0.6
    assert np.allclose(result.driving_force("rope"), -(PULL - MASS * rate) / 2.0, atol=1e-8)
    assert np.abs(result.energy.balance).max() < 1e-8


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=repr)
def test_a_value_that_follows_the_time_does_work(formulation: Any) -> None:
    """With theta = 4 x - 2 value: (m + 16 I) x'' = F + 8 I value''."""
    result = mb.simulate(hoist("0.6 + 0.2*sin(3*t)"), 2.0, formulation=formulation, integrator=TIGHT)
    x, t = result.quantity("x").values, result.t
    theta, total = result.quantity("theta").values, MASS + 16.0 * INERTIA
    assert np.allclose(2.0 * x - theta / 2.0, 0.6 + 0.2 * np.sin(3.0 * t), atol=1e-11)
    share = 8.0 * INERTIA / total
    even = result.velocity("cart")[0, 0] - share * 0.2 * 3.0
    assert np.allclose(x, 0.3 + PULL / total * t**2 / 2 + share * 0.2 * np.sin(3.0 * t) + even * t, atol=1e-9)
    assert np.abs(result.energy.balance).max() < 1e-8


@pytest.mark.parametrize("formulation", [mb.PlanarAngle(), mb.PlanarNatural(), mb.PlanarEulerParameters()], ids=repr)
def test_a_hoop_rolls_down_a_slope(formulation: Any) -> None:
    """x + R theta = 0 along the slope: the acceleration is g sin a / (1 + I/(m R^2)), half of g sin a for a hoop."""
    slope, radius = 0.3, 0.25
    system = mb.System("slope", dimension=2, gravity=(9.81 * np.sin(slope), -9.81 * np.cos(slope)))
    hoop = system.add(mb.PlanarBody("hoop", mass=1.5, inertia=1.5 * radius**2, position=(0, radius)))
    x = system.add(mb.Displacement("x", system.ground, hoop, at_j=(0, radius), at_i=(0, radius), axis=(1, 0)))
    y = system.add(mb.Displacement("y", system.ground, hoop, at_j=(0, radius), at_i=(0, radius), axis=(0, 1)))
    theta = system.add(mb.Angle("theta", system.ground, hoop))
    system.add(mb.LinearConstraint("floor", y))
    system.add(mb.LinearConstraint("rolling", x, theta, coefficients=(1.0, radius)))
    result = mb.simulate(system, 2.0, formulation=formulation, integrator=TIGHT)
    way = 9.81 * np.sin(slope) / 2.0 * result.t**2 / 2.0
    assert np.allclose(result.position("hoop")[:, 0], way, atol=1e-8)
    assert np.allclose(result.quantity("theta").values, -way / radius, atol=1e-7)
    assert way[-1] / radius > 2.0 * np.pi


def test_a_bead_on_a_wire_given_by_its_coordinates() -> None:
    """3 z - 4 x = 0: a wire at atan(4/3), on which a bead slides with g 4/5; the wire carries m g 3/5."""
    system = mb.System("wire")
    bead = system.add(mb.PointMass("bead", mass=2.0))
    along = {name: system.add(mb.Displacement(name, system.ground, bead, axis=axis)) for name, axis in AXES.items()}
    system.add(mb.LinearConstraint("wire", along["z"], along["x"], coefficients=(3.0, -4.0)))
    system.add(mb.LinearConstraint("plane", along["y"]))
    result = mb.simulate(system, 1.0, integrator=TIGHT)
    way = 9.81 * 0.8 * result.t**2 / 2.0
    assert np.allclose(result.position("bead"), np.outer(way, (-0.6, 0.0, -0.8)), atol=1e-9)
    assert np.allclose(np.linalg.norm(result.reaction("wire").force, axis=1), 2.0 * 9.81 * 0.6, atol=1e-8)


AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def test_a_model_that_does_not_fulfil_it_is_assembled() -> None:
    system = hoist(1.0)  # 2 x - theta/2 = 0.6 as described
    result = mb.simulate(system, 0.1, dt=0.01, initial=mb.assemble(system))
    values = 2.0 * result.quantity("x").values - 0.5 * result.quantity("theta").values
    assert np.allclose(values, 1.0, atol=1e-9)


def test_a_system_on_a_relation_is_linearized() -> None:
    """A spring on the cart, k x + (m + 16 I) x'' = 0."""
    system = hoist()
    system.add(
        mb.SpringDamper("spring", system.ground, system["cart"], at_i=(-1, 0, 0), at_j=(0.3, 0, 0), stiffness=7.0)
    )
    system.remove(system["pull"])
    found = np.abs(mb.linearize(system).eigenvalues.imag).max()
    assert found == pytest.approx(np.sqrt(7.0 / (MASS + 16.0 * INERTIA)), rel=1e-9)


def test_files_and_names_follow(tmp_path: Any) -> None:
    system = hoist("0.6 + 0.2*sin(3*t)")
    system["theta"].name = "turn"
    mb.save(system, tmp_path / "hoist.json")
    again = mb.load(tmp_path / "hoist.json")
    assert [one.name for one in again["rope"].measures] == ["x", "turn"]
    assert list(again["rope"].coefficients) == [2.0, -0.5]
    assert [one.name for one in system.dependents(system["turn"])] == ["rope"]
    names: dict[str, Any] = {}
    exec(mb.to_python(system), names)
    one, other = (mb.simulate(model, 0.1, dt=0.01) for model in (system, names["system"]))
    assert np.array_equal(one.q, other.q)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coefficients": (1.0,)}, r"coefficients: found 1; allowed is one for each of the 2 measures: x, theta"),
        ({"coefficients": (1.0, 0.0)}, r"coefficients: found 0 for theta, which then has no part; leave it out"),
        ({"second": "x"}, r"second: found a measure twice"),
        ({"second": "cart"}, r"second: found RigidBody.*; allowed is a Distance, Displacement or Angle"),
        ({"value": mb.Function.table([0, 1, 2], [0.6, 0.7, 0.6])}, r"value: found a table whose curvature jumps"),
    ],
)
def test_wrong_values_are_named(change: dict[str, Any], message: str) -> None:
    system = hoist()
    values: dict[str, Any] = {"second": "theta", "coefficients": (2.0, -0.5)} | change
    with pytest.raises(mb.ModelError, match=rf"LinearConstraint 'other', {message}"):
        mb.LinearConstraint("other", system["x"], system[values.pop("second")], **values)
