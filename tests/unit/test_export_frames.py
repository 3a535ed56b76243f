"""Frames of an animation: how many there are, and the states between stored instants."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbframe as mb
from mbframe.render.frames import Frames
from mbframe.render.placement import angular_velocity3


def free_body(velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0)) -> mb.System:
    system = mb.System("free", gravity=(0.0, 0.0, -10.0))
    body = mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0), velocity=velocity, angular_velocity=angular_velocity)
    system.add(body)
    return system


@pytest.fixture(scope="module")
def flight() -> mb.Result:
    """A throw from t = 0 to 3 s, stored at four instants."""
    return mb.simulate(free_body((1.0, 2.0, 3.0)), 3.0, t_eval=[0.0, 1.0, 1.5, 3.0])


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"fps": 30.0}, 91),
        ({"fps": 30.0, "speed": 0.1}, 901),
        ({"fps": 30.0, "speed": 7.0}, 13),  # 12.86 frame intervals
        ({"fps": 100.0, "end": 0.29}, 30),  # 0.29 * 100 = 28.999999999999996
        ({"fps": 30.0, "start": 1.0, "end": 2.0}, 31),
        ({"fps": 30.0, "start": 1.0, "end": 1.0}, 1),
        ({"fps": 0.1}, 1),
    ],
)
def test_number_of_frames(flight, options, count):
    given = {"speed": 1.0, "start": None, "end": None, **options}
    frames = Frames.of(flight, **given)
    assert len(frames) == len(frames.times) == count
    np.testing.assert_allclose(np.diff(frames.times), given["speed"] / given["fps"], rtol=1e-9)
    assert frames.times[0] == (given["start"] or 0.0)
    assert frames.times[-1] <= (given["end"] or 3.0)
    np.testing.assert_allclose(frames.playing_times * given["speed"], frames.times - frames.times[0], atol=1e-12)


@pytest.mark.parametrize(
    ("options", "field", "words"),
    [
        ({"fps": 0.0}, "fps", "positive"),
        ({"fps": "30"}, "fps", "positive"),
        ({"speed": -1.0}, "speed", "positive"),
        ({"speed": np.nan}, "speed", "positive"),
        ({"start": -0.5}, "start", "0 to 3 s"),
        ({"end": 3.1}, "end", "0 to 3 s"),
        ({"start": 2.0, "end": 1.0}, "end", "no frames"),
    ],
)
def test_windows_without_frames_are_refused(flight, options, field, words):
    with pytest.raises(mb.ModelError, match=words) as caught:
        Frames.of(flight, **{"fps": 30.0, "speed": 1.0, "start": None, "end": None, **options})
    assert [problem.field for problem in caught.value.problems] == [field]


def test_a_throw_is_exact_between_the_stored_instants(flight):
    """r = v0 t + g t^2/2: a polynomial of degree two."""
    for state in Frames.of(flight, 10.0, 1.0, None, None):
        t = state.t
        np.testing.assert_allclose(state.position("body"), [t, 2.0 * t, 3.0 * t - 5.0 * t * t], atol=1e-12)
        np.testing.assert_allclose(state.velocity("body"), [1.0, 2.0, 3.0 - 10.0 * t], atol=1e-12)


@pytest.mark.parametrize(("turn", "tolerance"), [(0.5, 1e-8), (1.5, 1e-5), (4.0, 5e-3)])
def test_a_steady_spin_between_the_stored_instants(turn, tolerance):
    """Rotation by `turn` (rad) between two instants, also by more than half a turn: p and -p must not be mixed up.

    The interpolation error of a degree-five Hermite polynomial is (h/2)^6/720 times the sixth derivative of the Euler
    parameters, (turn/2)^6/h^6: 2e-9, 4e-6 and 1.4e-3 for half the angle.
    """
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    spin = turn * axis
    result = mb.simulate(free_body(angular_velocity=tuple(spin)), 3.0, t_eval=[0.0, 1.0, 2.0, 3.0])
    for state in Frames.of(result, 20.0, 1.0, None, None):
        error = (state.rotation("body") * Rotation.from_rotvec(spin * state.t).inv()).magnitude()
        assert error < tolerance
        np.testing.assert_allclose(state.angular_velocity("body"), spin, atol=30 * tolerance)


def test_frames_agree_with_a_run_that_stores_them():
    """The default integrator's steps reach 0.2 s; with `t_eval` it uses its own dense output, of order seven."""
    system = mb.examples.triple_pendulum()
    result = mb.simulate(system, 2.0)
    frames = Frames.of(result, 30.0, 1.0, None, None)
    assert np.diff(result.t).max() > 5.0 / 30.0
    expected = mb.simulate(system, 2.0, t_eval=frames.times)
    for k, state in enumerate(frames):
        for body in system.bodies:
            tip = (2.0, 0.0, 0.0)
            np.testing.assert_allclose(state.position(body, tip), expected.position(body, tip)[k], atol=1e-4)
            np.testing.assert_allclose(state.velocity(body, tip), expected.velocity(body, tip)[k], atol=2e-3)
            np.testing.assert_allclose(frames.poses.point(body.name, np.array(tip))[k], state.position(body, tip))


def test_stored_instants_are_kept():
    result = mb.simulate(mb.examples.triple_pendulum(), 1.0, t_eval=np.arange(31) / 30.0)
    for k, state in enumerate(Frames.of(result, 30.0, 1.0, None, None)):
        stored = result.state(k)
        for name, motion in state.motions.items():
            np.testing.assert_allclose(motion.position, stored.motions[name].position, atol=1e-12)
            np.testing.assert_allclose(motion.rotation, stored.motions[name].rotation, atol=1e-12)


def test_a_single_instant_is_one_frame():
    system = mb.examples.triple_pendulum()
    frames = Frames.of(mb.evaluate(system), 30.0, 1.0, None, None)
    (state,) = frames
    np.testing.assert_allclose(state.position("bar 1"), system["bar 1"].position)


def test_own_states_of_elements_are_interpolated():
    """A controller without gains whose body rests at x = 0: its integral of the error w - x = 2 is z = 2 t."""
    system = mb.System("controlled", gravity=(0.0, 0.0, 0.0))
    body = system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    given = {"at": (0.0, 0.0, 0.0), "axis": (1.0, 0.0, 0.0), "quantity": "displacement", "setpoint": 2.0}
    system.add(mb.PIDActuator("motor", system.ground, body, **given))
    result = mb.simulate(system, 1.0, t_eval=[0.0, 0.7, 1.0])
    for state in Frames.of(result, 10.0, 1.0, None, None):
        np.testing.assert_allclose(state.element_states["motor"], 2.0 * state.t, atol=1e-9)


def test_a_planar_motion_of_three_instants_is_not_taken_for_a_vector(tmp_path):
    result = mb.simulate(mb.examples.simple_pendulum(), 0.1, dt=0.05)
    assert result.angular_velocity("mass").shape == (3,)
    np.testing.assert_array_equal(angular_velocity3([1.0, 2.0, 3.0]), [[0, 0, 1], [0, 0, 2], [0, 0, 3]])
    mb.render.export(result, tmp_path / "three.glb", fps=20)
    assert (tmp_path / "three.glb").stat().st_size > 1000


def test_states_that_are_stored_too_rarely_are_shown_one_by_one():
    """Polynomials through states 10 s apart tore the joint of a crank at 2 rad/s open, by metres."""
    system = mb.System("crank", dimension=2)
    crank = system.add(mb.PlanarBody("crank", mass=1.0, inertia=0.1, position=(0.05, 0.0)))
    rod = system.add(mb.PlanarBody("rod", mass=1.0, inertia=0.1, position=(0.25, 0.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, crank, at=(0.0, 0.0)))
    system.add(mb.RevoluteJoint("pin", crank, rod, at=(0.1, 0.0)))
    system.add(mb.PointOnLineJoint("guide", system.ground, rod, at=(0.4, 0.0), axis=(1.0, 0.0)))
    system.add(mb.Driver("motor", hinge, angle="2*t"))
    for interval, least in ((0.1, 40), (10.0, 4)):
        end = 40 * interval
        result = mb.simulate(system, end, t_eval=np.linspace(0.0, end, 41))
        states = list(Frames.of(result, 30.0, end / 3.0, None, None))
        pins = [
            [one.position(name, point) for name, point in (("crank", (0.05, 0.0)), ("rod", (-0.15, 0.0)))]
            for one in states
        ]
        assert max(np.linalg.norm(i - j) for i, j in pins) < 1e-5
        assert len({tuple(i.round(6)) for i, _ in pins}) > least
