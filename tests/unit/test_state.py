"""States: poses and twists by body, in the coordinates of every formulation and back."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.state import SHAPES, Motion

TURN = Rotation.from_rotvec([0.4, 2.0, -1.3])
OMEGA = np.array([0.3, -1.2, 2.0])
MOTION = Motion(np.array([1.0, -2.0, 0.5]), TURN.as_matrix(), np.array([3.0, 0.1, -0.7]), OMEGA)


@pytest.fixture
def state() -> mb.State:
    return mb.State(2.5, {"bar": MOTION})


def test_points_move_with_the_body(state):
    point = (0.2, 0.3, -0.4)
    arm = TURN.apply(point)
    np.testing.assert_allclose(state.position("bar"), MOTION.position)
    np.testing.assert_allclose(state.position("bar", point), MOTION.position + arm, atol=1e-15)
    np.testing.assert_allclose(state.velocity("bar"), MOTION.velocity)
    # the velocity is the rate of the position of a point that turns with the angular velocity
    h = 1e-6
    turned = [(Rotation.from_rotvec(s * h * OMEGA) * TURN).apply(point) for s in (1, -1)]
    expected = MOTION.velocity + (turned[0] - turned[1]) / (2 * h)
    np.testing.assert_allclose(state.velocity("bar", point), expected, atol=1e-9)
    np.testing.assert_allclose(state.rotation("bar").as_matrix(), TURN.as_matrix(), atol=1e-15)
    np.testing.assert_allclose(state.angular_velocity("bar"), OMEGA)


def test_bodies_by_object_or_name(state):
    bar = mb.RigidBody("bar", mass=1.0, inertia=(1, 1, 1))
    np.testing.assert_array_equal(state.position(bar), state.position("bar"))


def test_unknown_bodies_and_wrong_points_are_refused(state):
    with pytest.raises(mb.ModelError, match=r"there is no body 'bra'; did you mean 'bar'\?"):
        state.position("bra")
    with pytest.raises(mb.ModelError, match="there is no body 'wheel'; there are 'bar'"):
        state.velocity("wheel")
    with pytest.raises(mb.ModelError, match=r"State.position, local_point: found \(1, 2\) of shape \(2,\)"):
        state.position("bar", (1, 2))


def test_a_long_list_of_bodies_is_shortened():
    state = mb.State(0.0, {f"link {k}": MOTION for k in range(1000)})
    with pytest.raises(mb.ModelError) as caught:
        state.position("wheel")
    assert str(caught.value).endswith("'link 9', …")


@pytest.mark.parametrize("formulation", [mb.NewtonEuler(), mb.NaturalAbsolute()], ids=repr)
def test_coordinates_and_back(formulation, state):
    system = mb.System("free")
    system.add(mb.RigidBody("bar", mass=1.0, inertia=(1.0, 2.0, 2.5)))
    eq = mb.Equations(system, formulation)
    back = eq.state(2.5, eq.coordinates(state))
    assert back.t == 2.5
    for field in dataclasses.fields(Motion):
        found, expected = (getattr(s.motions["bar"], field.name) for s in (back, state))
        if field.name == "axes":
            assert found == expected == ""
            continue
        np.testing.assert_allclose(found, expected, atol=1e-14, err_msg=field.name)


def test_the_described_state_is_the_one_of_the_bodies():
    system = mb.System("free")
    body = system.add(mb.RigidBody.example())
    motion = mb.Equations(system).described().motions["body"]
    for field in dataclasses.fields(Motion):
        np.testing.assert_array_equal(getattr(motion, field.name), getattr(body, field.name, np.zeros(0)))


def test_checking_converts_rotations_and_reports_all_that_is_wrong(state):
    bar = mb.RigidBody("bar", mass=1.0, inertia=(1, 1, 1))
    given = mb.State(0.0, {"bar": dataclasses.replace(MOTION, rotation=TURN)})
    np.testing.assert_allclose(given.checked([bar]).motions["bar"].rotation, TURN.as_matrix(), atol=1e-15)
    wrong = mb.State(0.0, {"bar": dataclasses.replace(MOTION, position=(1.0, np.nan, 0.0), velocity=(1.0, 2.0))})
    wheel = mb.RigidBody("wheel", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(mb.ModelError) as caught:
        wrong.checked([bar, wheel])
    assert [(p.element, p.field) for p in caught.value.problems] == [
        ("State of RigidBody 'bar'", "position"),
        ("State of RigidBody 'bar'", "velocity"),
        ("State", "motions"),
    ]


RULER = mb.flexible.beam(
    length=1.0,
    elements=2,
    area=1e-4,
    second_moments=(8e-10, 5e-10),
    torsion=1.3e-9,
    young=2.1e11,
    shear=8.1e10,
    density=7850.0,
)
AXES = {
    "node 0": {"frame": "node"},
    "mean axes": {"frame": "mean"},
    "mean axes with geometric stiffening": {"frame": "mean", "geometric_stiffening": True},
}


def flying(bent: float = 0.0, bending: float = 0.0, **options: Any) -> mb.System:
    system = mb.System("flying", gravity=(0, 0, 0))
    modes = mb.flexible.craig_bampton(RULER, interfaces=[0, 2], n_modes=0)
    count = mb.FlexibleBody("ruler", modes, **options).shapes_in_frame.count
    shape = np.arange(count) == 0
    body = mb.FlexibleBody("ruler", modes, modal_coordinates=bent * shape, modal_velocities=bending * shape, **options)
    system.add(body)
    return system


@pytest.mark.parametrize("made", AXES)
def test_a_deformed_state_of_other_axes_is_refused_by_name(made, tmp_path):
    event = [lambda t, state: t - 5e-5]
    result = mb.simulate(flying(bent=1e-4, **AXES[made]), 1e-4, dt=1e-5, events=event)
    result.save(tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    states = [result.state(-1), loaded.state(-1), result.events[0].state, loaded.events[0].state]
    assert [state.motions["ruler"].axes.partition(SHAPES)[0] for state in states] == [made] * 4
    for used, options in AXES.items():
        system = flying(**options)
        if made == used:
            assert all(mb.simulate(system, 1.5e-4, initial=state, dt=1e-5).info.completed for state in states)
            continue
        for state in states:
            with pytest.raises(mb.ModelError, match=f"'ruler'.*seen from {made}; here .* seen from {used}") as caught:
                mb.simulate(system, 1.5e-4, initial=state, dt=1e-5)
            assert "frame and geometric_stiffening" in str(caught.value)
        for analysis in (mb.linearize, mb.evaluate):
            with pytest.raises(mb.ModelError, match=f"seen from {made}"):
                analysis(system, states[0])
        for analysis in (mb.equilibrium, mb.assemble):
            with pytest.raises(mb.ModelError, match=f"seen from {made}"):
                analysis(system, initial=states[0])


def with_modes(modes: mb.flexible.Modes, bent: float = 0.0) -> mb.System:
    system = mb.System("flying", gravity=(0, 0, 0))
    system.add(mb.FlexibleBody("ruler", modes, modal_coordinates=bent * (np.arange(modes.count) == 0)))
    return system


def test_a_deformed_state_of_other_modes_is_refused_by_name(tmp_path):
    """As many modes, but others: free ones instead of those of interfaces, or the same in another order."""
    made = mb.flexible.craig_bampton(RULER, interfaces=[0, 2], n_modes=0)
    result = mb.simulate(with_modes(made, 1e-4), 1e-4, dt=1e-5, events=[lambda t, state: t - 5e-5])
    result.save(tmp_path / "run.h5")
    loaded = mb.load_result(tmp_path / "run.h5")
    states = [result.state(-1), loaded.state(-1), loaded.events[0].state]
    turned = dataclasses.replace(made, shapes=made.shapes[:, ::-1], frequencies=made.frequencies[::-1])
    for other in (mb.flexible.free_modes(RULER, made.count), turned):
        for state in states:
            with pytest.raises(mb.ModelError, match=r"'ruler'.*other shapes than it has here.*give it the modes"):
                mb.simulate(with_modes(other), 1.5e-4, initial=state, dt=1e-5)
        assert mb.assemble(with_modes(other), initial=mb.assemble(with_modes(made)))
    rounded = dataclasses.replace(made, shapes=made.shapes * (1.0 + 1e-12))
    again = mb.flexible.craig_bampton(RULER, interfaces=[0, 2], n_modes=0)
    for same in (rounded, again):
        assert all(mb.simulate(with_modes(same), 1.5e-4, initial=s, dt=1e-5).info.completed for s in states)


def test_a_state_of_an_old_file_does_not_know_its_shapes():
    state = mb.assemble(flying(bent=1e-4, **AXES["node 0"]))
    old = dataclasses.replace(state.motions["ruler"], axes="node 0")
    assert mb.assemble(flying(**AXES["node 0"]), initial=mb.State(0.0, {"ruler": old}))
    with pytest.raises(mb.ModelError, match="seen from node 0"):
        mb.assemble(flying(**AXES["mean axes"]), initial=mb.State(0.0, {"ruler": old}))


@pytest.mark.parametrize("change", [{"bent": 1e-4}, {"bending": 1e-2}])
def test_a_switched_frame_does_not_change_what_states_of_a_finished_run_are_of(change):
    system = flying(**AXES["node 0"], **change)
    result = mb.simulate(system, 1e-5, dt=1e-5)
    system["ruler"].frame = "mean"
    with pytest.raises(mb.ModelError, match="seen from node 0"):
        mb.simulate(system, 0.01, initial=result.state(0))


def test_an_undeformed_state_is_the_same_motion_in_all_axes():
    state = mb.assemble(flying(**AXES["node 0"]))
    for options in AXES.values():
        assert mb.assemble(flying(**options), initial=state).motions["ruler"].axes == flying(**options)["ruler"].axes
    unnamed = dataclasses.replace(state.motions["ruler"], axes="", modal_coordinates=np.eye(6)[0] * 1e-5)
    assert (
        mb.assemble(flying(), initial=mb.State(0.0, {"ruler": unnamed})).motions["ruler"].modal_coordinates[0] == 1e-5
    )


def test_what_is_a_state_answers_to_the_name_of_one() -> None:
    equilibrium = mb.equilibrium(mb.examples.simple_pendulum())
    assert equilibrium.state is equilibrium
