"""The constant-velocity joint turns its shafts equally at every angle, described bent or straight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import mbframe as mb

Array = NDArray[np.float64]
INERTIA = (0.2, 0.3, 0.4)


def shafts(axis_i: Array, axis_j: Array, at: Array, housing: bool = False) -> mb.System:
    """Two shafts in bearings, joined at `at`; the second bearing may sit in a housing that swings about their normal.

    The first shaft is driven through a full turn in one second, the housing by 0.2 rad.
    """
    system = mb.System("shafts", gravity=(0.0, 0.0, 0.0))
    first = system.add(mb.RigidBody("first", mass=1.0, inertia=INERTIA, position=at - axis_i))
    second = system.add(mb.RigidBody("second", mass=1.0, inertia=INERTIA, position=at + axis_j))
    hinge = system.add(mb.RevoluteJoint("bearing 1", system.ground, first, at=at - axis_i, axis=axis_i))
    frame: mb.Body = system.ground
    if housing:
        frame = system.add(mb.RigidBody("housing", mass=1.0, inertia=INERTIA, position=at))
        normal = np.cross(axis_i, axis_j)
        swing = system.add(mb.RevoluteJoint("swing", system.ground, frame, at=at, axis=normal))
        system.add(mb.Driver("swinging", swing, angle="0.2*sin(7*t)"))
    # The second shaft may slide, so that no equation is there twice.
    system.add(mb.CylindricalJoint("bearing 2", frame, second, at=at + axis_j, axis=axis_j))
    system.add(mb.ConstantVelocityJoint("cv", first, second, at=at, axis_i=axis_i, axis_j=axis_j))
    system.add(mb.Driver("motor", hinge, angle="2*pi*t"))
    return system


def spins(result: mb.Result, axis_i: Array, axis_j: Array) -> tuple[Array, Array]:
    """Rates of both shafts about their own axes, which turn with them."""
    along = [(body, result.rotation(body).apply(axis)) for body, axis in (("first", axis_i), ("second", axis_j))]
    one, two = (np.sum(result.angular_velocity(body) * axis, axis=1) for body, axis in along)
    return one, two


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("housing", [False, True])
def test_both_shafts_turn_equally_through_a_full_turn(seed: int, housing: bool) -> None:
    """omega_out = omega_in = 2 pi to rounding, whatever the angle; the housing swings normal to both shafts."""
    values = np.random.default_rng(seed)
    turn = Rotation.random(random_state=seed)
    bend = values.uniform(0.05, 1.3 if not housing else 1.1)
    axis_i = turn.apply((0.0, 0.0, 1.0))
    axis_j = turn.apply((np.sin(bend), 0.0, np.cos(bend)))
    system = shafts(axis_i, axis_j, values.normal(size=3), housing)
    result = mb.kinematics(system, t_eval=np.linspace(0.0, 1.0, 25))
    one, two = spins(result, axis_i, axis_j)
    np.testing.assert_allclose(one, 2 * np.pi, rtol=1e-12)
    np.testing.assert_allclose(two, one, rtol=0.0, atol=2e-12)


def test_one_radian_in_a_run() -> None:
    """Turned by a torque alone, in a run: the angles stay equal to the run's own tolerance of constraints."""
    axis_i, axis_j = np.array([0.0, 0.0, 1.0]), np.array([np.sin(1.0), 0.0, np.cos(1.0)])
    system = shafts(axis_i, axis_j, np.zeros(3))
    system.remove("motor")
    system.add(mb.Torque("m", system["first"], torque=(0.0, 0.0, 3.0)))
    result = mb.simulate(system, 2.0)
    one, two = spins(result, axis_i, axis_j)
    assert one[-1] > 5.0
    np.testing.assert_allclose(two, one, rtol=0.0, atol=1e-9)


def test_an_axis_is_that_of_both_shafts() -> None:
    bodies = [mb.RigidBody(name, mass=1.0, inertia=INERTIA) for name in "ab"]
    both = mb.ConstantVelocityJoint("cv", *bodies, at=(0.1, 0.2, 0.3), axis=(1.0, 2.0, -1.0))
    np.testing.assert_array_equal(both.i.axes, both.j.axes)
    bent = mb.ConstantVelocityJoint("cv", *bodies, at=(0, 0, 0), axis=(1.0, 0.0, 0.0), axis_j=(1.0, 1.0, 0.0))
    np.testing.assert_allclose(bent.i.axes[:, 2], (1.0, 0.0, 0.0))
    np.testing.assert_allclose(bent.j.axes[:, 2], np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0))


@pytest.mark.parametrize(
    ("values", "field", "says"),
    [
        ({}, "axis_i", "give axis="),
        ({"axis_i": (0, 0, 1)}, "axis_j", "give axis="),
        ({"axis": (0, 0, 1), "axis_i": (0, 0, 1), "axis_j": (0, 1, 1)}, "axis", "leave it out"),
        ({"axis_i": (0, 0, 1), "axis_j": (0, 1, -1)}, "axis_j", "135 degrees"),
        ({"axis_i": (0, 0, 1), "axis_j": (0, 0, -1)}, "axis_j", "180 degrees"),
    ],
)
def test_senseless_shafts_are_refused(values: dict[str, object], field: str, says: str) -> None:
    bodies = [mb.RigidBody(name, mass=1.0, inertia=INERTIA) for name in "ab"]
    with pytest.raises(mb.ModelError, match=says) as caught:
        mb.ConstantVelocityJoint("cv", *bodies, at=(0, 0, 0), **values)
    assert field in [problem.field for problem in caught.value.problems]


def test_planar_systems_have_none() -> None:
    plane = mb.System("plane", dimension=2)
    body = plane.add(mb.PlanarBody("body", mass=1.0, inertia=1.0))
    with pytest.raises(mb.ModelError, match="no meaning in a planar system"):
        mb.ConstantVelocityJoint("cv", plane.ground, body, at=(0, 0), axis=(1, 0))


def test_bent_shafts_are_written_and_included(tmp_path: Path) -> None:
    axis_i, axis_j = np.array([0.0, 0.0, 1.0]), np.array([np.sin(0.7), 0.0, np.cos(0.7)])
    system = shafts(axis_i, axis_j, np.zeros(3))
    path = tmp_path / "shafts.json"
    mb.save(system, path)
    read = mb.load(path)
    assert mb.to_python(read) == mb.to_python(system)
    names: dict[str, object] = {}
    exec(mb.to_python(system), names)
    whole = mb.System("whole", gravity=(0.0, 0.0, 0.0))
    turn = Rotation.from_euler("xyz", (0.3, -0.4, 1.1))
    whole.include(names["system"], "a ", position=(1.0, 2.0, 3.0), rotation=turn)
    for one, prefix in ((read, ""), (whole, "a ")):
        result = mb.kinematics(one, t_eval=np.linspace(0.0, 1.0, 5))
        w1, w2 = (np.linalg.norm(result.angular_velocity(prefix + body), axis=1) for body in ("first", "second"))
        np.testing.assert_allclose(w2, w1, atol=2e-12)


def test_freedoms() -> None:
    """Four equations: two freedoms of bending and the common turn remain."""
    system = mb.System("shafts")
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=INERTIA))
    system.add(mb.ConstantVelocityJoint("cv", system.ground, body, at=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(0, 1, 1)))
    assert mb.degrees_of_freedom(system).count == 2


def test_shafts_that_fold_back_are_named() -> None:
    """A free body that turns at 2 rad/s about a normal of its shaft is folded back at pi/2 s, and not before."""
    for end, said in ((1.2, 0), (2.0, 1)):
        system = mb.System("folding", gravity=(0.0, 0.0, 0.0))
        body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(2.0, 0.0, 0.0)))
        system.add(mb.ConstantVelocityJoint("cv", system.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
        warnings = mb.simulate(system, end, integrator=mb.DormandPrince(max_step=0.02)).info.warnings
        found = [w for w in warnings if w.startswith("ConstantVelocityJoint 'cv': its shafts came close to folding")]
        assert len(found) == said
        for warning in found:
            instant = float(warning.split("t = ")[1].split()[0])
            # Below the cosine -0.98, reached at arccos(-0.98)/2; steps are at most 0.02 s long.
            assert np.arccos(-0.98) / 2 < instant < np.arccos(-0.98) / 2 + 0.02
