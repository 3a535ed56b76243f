"""Playing runs: states between the stored instants, and a clock that is independent of the frame rate."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QElapsedTimer

import mbframe as mb
from gui.base.showcase import exhibit
from gui.document.runs import Run, RunSettings
from gui.document.track import Track
from gui.playing.playback import SPEEDS, Player, fitting_speed


@pytest.fixture(scope="module")
def stored() -> mb.Result:
    return mb.load_result(exhibit("triple_pendulum").result)


@pytest.fixture
def player(document) -> Player:
    document.open_example("four_bar")
    return Player(document)


class SteadySpin:
    """A stand-in for a result: a body that turns about an axis and moves along a parabola, at a few instants."""

    def __init__(self, t, rate, axis=(0.0, 0.0, 1.0)):
        from scipy.spatial.transform import Rotation

        self.t = np.asarray(t, float)
        self.axis = np.array(axis) / np.linalg.norm(axis)
        self.rate, self.dimension = rate, 3
        self.system = mb.System("spin")
        self.system.add(mb.RigidBody("body", mass=1.0, inertia=(1.0, 1.0, 1.0)))
        self._rotation = Rotation.from_rotvec(rate * self.t[:, None] * self.axis)
        self.described = self.system
        self.states = SimpleNamespace(tables=SimpleNamespace(own_states=list))

    def __len__(self):
        return len(self.t)

    def position(self, body, local_point=None):
        return np.column_stack([self.t**2, 2.0 * self.t, 0.0 * self.t])

    def velocity(self, body, local_point=None):
        return np.column_stack([2.0 * self.t, 2.0 + 0.0 * self.t, 0.0 * self.t])

    def angular_velocity(self, body):
        return self.rate * np.tile(self.axis, (len(self.t), 1))

    def rotation_matrix(self, body):
        return self._rotation.as_matrix()


def test_stored_instants_are_met_exactly(stored):
    track = Track(stored)
    for k in (0, 17, len(track) - 1):
        state = track.state(float(stored.t[k]))
        for name in track.names:
            np.testing.assert_allclose(state.position(name), stored.position(name)[k], atol=1e-12)
            np.testing.assert_allclose(
                state.rotation(name).as_matrix(), stored.rotation(name).as_matrix()[k], atol=1e-9
            )
            np.testing.assert_allclose(state.velocity(name), stored.velocity(name)[k], atol=1e-9)
            np.testing.assert_allclose(state.angular_velocity(name), stored.angular_velocity(name)[k], atol=1e-9)


@pytest.mark.parametrize("name", ["flexible_pendulum", "screw_jack", "bouncing_block"])
def test_states_are_whole(name):
    """Deformations, turns that are counted and memories of contacts: all that a stored state has."""
    result = mb.load_result(exhibit(name).result)
    k = len(result) // 2
    found, stored = Track(result).nearest(float(result.t[k]) + 1e-9), result.state(k)
    assert found.t == stored.t
    for body, motion in stored.motions.items():
        np.testing.assert_allclose(found.motions[body].modal_coordinates, motion.modal_coordinates, atol=1e-12)
        np.testing.assert_allclose(found.motions[body].modal_velocities, motion.modal_velocities, atol=1e-9)
    assert found.element_states.keys() == stored.element_states.keys()
    for element, values in stored.element_states.items():
        np.testing.assert_allclose(found.element_states[element], values, atol=1e-12)
    assert any(len(m.modal_coordinates) for m in stored.motions.values()) or stored.element_states


def test_a_parabola_is_interpolated_exactly():
    state = Track(SteadySpin([0.0, 0.5, 2.0], 0.0)).state(1.3)
    np.testing.assert_allclose(state.position("body"), [1.69, 2.6, 0.0], atol=1e-12)
    np.testing.assert_allclose(state.velocity("body"), [2.6, 2.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("rate", [3.0, -40.0, 75.0])
def test_fast_rotations_go_the_way_of_the_angular_velocity(rate):
    """Between two instants a body may turn by more than half a turn; only the angular velocity tells which way."""
    t = np.linspace(0.0, 1.0, 21)  # up to 3.75 rad between two instants
    track = Track(SteadySpin(t, rate, axis=(1.0, 2.0, -0.5)))
    axis = np.array([1.0, 2.0, -0.5]) / np.sqrt(5.25)
    for instant in (0.0125, 0.475, 0.9875):
        turned = track.state(instant).rotation("body").as_rotvec()
        expected = rate * instant
        error = (turned @ axis - expected + np.pi) % (2.0 * np.pi) - np.pi
        assert abs(error) < 0.12  # a cubic over a span of up to 3.75 rad
        assert np.linalg.norm(np.cross(turned, axis)) < 1e-9


def test_rotation_matrices_stay_orthogonal(stored):
    track = Track(stored)
    state = track.state(0.5 * (stored.t[3] + stored.t[4]))
    for name in track.names:
        matrix = state.motions[name].rotation
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(3), atol=1e-12)


def test_positions_between_instants_agree_with_a_finer_run():
    system = mb.examples.four_bar()
    fine = mb.simulate(system, 0.2, t_eval=np.linspace(0.0, 0.2, 21))
    track = Track(mb.load_result(exhibit("four_bar").result))  # every 0.02 s
    for k, t in enumerate(fine.t):
        for body in track.names:
            np.testing.assert_allclose(track.state(t).position(body), fine.position(body)[k], atol=2e-5)


def test_states_that_are_stored_too_rarely_are_played_one_by_one():
    """A cubic through states 10 s apart tore the joints of a crank at 2 rad/s open."""
    system = mb.System("crank", dimension=2)
    crank = system.add(mb.PlanarBody("crank", mass=1.0, inertia=0.1, position=(0.05, 0.0)))
    rod = system.add(mb.PlanarBody("rod", mass=1.0, inertia=0.1, position=(0.25, 0.0)))
    hinge = system.add(mb.RevoluteJoint("hinge", system.ground, crank, at=(0.0, 0.0)))
    system.add(mb.RevoluteJoint("pin", crank, rod, at=(0.1, 0.0)))
    system.add(mb.PointOnLineJoint("guide", system.ground, rod, at=(0.4, 0.0), axis=(1.0, 0.0)))
    system.add(mb.Driver("motor", hinge, angle="2*t"))
    often = Track(mb.simulate(system, 5.0, t_eval=np.linspace(0.0, 5.0, 51)))
    seldom = Track(mb.simulate(system, 200.0, t_eval=np.linspace(0.0, 200.0, 21)))
    assert not often.leaps
    assert seldom.leaps
    for track, t in ((often, 1.234), (often, 4.56), (seldom, 33.0), (seldom, 158.0)):
        state = track.state(t)
        pin = [state.position(body, point) for body, point in (("crank", (0.05, 0.0)), ("rod", (-0.15, 0.0)))]
        assert np.linalg.norm(pin[0] - pin[1]) < 1e-5
        assert state.t == t
    np.testing.assert_allclose(
        seldom.state(33.0).position("crank"), 0.05 * np.array([np.cos(60.0), np.sin(60.0)]), atol=1e-5
    )


def test_states_outside_are_those_of_the_ends(stored):
    track = Track(stored)
    np.testing.assert_array_equal(track.state(-5.0).position("bar 1"), stored.position("bar 1")[0])
    np.testing.assert_allclose(track.state(1e3).position("bar 1"), stored.position("bar 1")[-1])


def test_a_path_ends_where_the_body_is(stored):
    track = Track(stored)
    path = track.path("bar 3", 1.003, local_point=(2.0, 0.0, 0.0))
    np.testing.assert_allclose(path[0], stored.position("bar 3", (2.0, 0.0, 0.0))[0])
    np.testing.assert_allclose(path[-1], track.state(1.003).position("bar 3", (2.0, 0.0, 0.0)))
    assert len(path) == np.count_nonzero(stored.t <= 1.003) + 1
    assert len(track.path("bar 3", 1.003, since=0.9)) < len(path)


def test_playing_needs_no_equations(stored):
    """So it works before anything is compiled."""
    fresh = mb.load_result(exhibit("whipple_bicycle").result)
    Track(fresh).state(0.5)
    assert "equations" not in vars(fresh.states)


def test_stepping_goes_from_instant_to_instant(player, document):
    t = player.track.t
    player.seek(0.5 * (t[4] + t[5]))
    player.step(1)
    assert document.time == t[5]
    player.step(1)
    assert document.time == t[6]
    player.step(-1)
    assert document.time == t[5]
    player.step(-100)
    assert document.time == t[0]
    player.step(10**6)
    assert document.time == t[-1]


def test_seeking_shows_the_state_of_that_time(player, document, qtbot):
    with qtbot.waitSignal(document.state_shown) as caught:
        player.seek(1.234)
    assert caught.args[0].t == document.time == 1.234
    player.seek(99.0)
    assert document.time == player.span[1]


class WatchedClock:
    """A clock that notes what it has shown, ms."""

    def __init__(self, clock):
        self.clock, self.shown = clock, []

    def start(self):
        self.clock.start()

    def restart(self):
        self.shown.append(self.clock.restart())
        return self.shown[-1]


def test_time_passes_as_fast_as_the_clock_goes(player, document, qtbot):
    clock = player._clock = WatchedClock(player._clock)
    assert isinstance(clock.clock, QElapsedTimer)  # time on the wall, whatever the frame rate
    player.set_speed(0.5)
    player.play()
    qtbot.waitUntil(lambda: document.time > 0.1)
    assert player.playing
    start, end = player.span
    passed = 0.5 * sum(clock.shown) / 1000.0
    assert len(clock.shown) > 1
    assert document.time == pytest.approx(start + passed % (end - start), abs=1e-9)
    player.pause()
    assert not player.playing


def test_a_slow_view_skips_frames_and_keeps_the_speed(player, document):
    elapsed = iter([100, 100, 300])
    player._clock = type("Clock", (), {"restart": lambda self: next(elapsed), "start": lambda self: None})()
    player.set_speed(2.0)
    player.play()
    shown = []
    document.state_shown.connect(lambda state: shown.append(state.t))
    for _ in range(3):
        player._tick()
    np.testing.assert_allclose(shown, [0.2, 0.4, 1.0])
    player.pause()


def test_at_the_end_it_begins_again_or_stops(player, document):
    player._clock = type("Clock", (), {"restart": lambda self: 400, "start": lambda self: None})()
    end = player.span[1]
    player.seek(end - 0.1)
    player.play()
    player._tick()
    assert document.time == pytest.approx(0.3)
    player.pause()
    player.loop = False
    player.seek(end - 0.1)
    player.play()
    player._tick()
    assert document.time == end
    assert not player.playing
    player.play()
    assert document.time == 0.0


def test_a_run_that_computes_is_played_up_to_what_is_there(document):
    whole = mb.load_result(exhibit("four_bar").result)
    document.open_example("four_bar")
    player = Player(document)
    run = Run("Run 1", RunSettings(t_end=50.0), document.model_text(), whole, complete=False, computing=True)
    document.runs.add(run)
    player._clock = type("Clock", (), {"restart": lambda self: 10_000, "start": lambda self: None})()
    player.play()
    player._tick()
    assert document.time == player.span[1]
    assert player.playing
    player.pause()


def test_another_owner_of_the_motion_pauses_the_player(player, document):
    player.play()
    document.animation_owner = object()
    assert not player.playing


def test_without_a_run_nothing_plays(document):
    player = Player(document)
    player.play()
    player.step(1)
    player.rewind()
    assert not player.playing
    assert not player.can_play
    assert player.span == (0.0, 0.0)


def test_another_model_is_played_at_its_own_speed(player, document):
    """An empty model had the hundredth of the one before."""
    player.set_speed(0.01)
    document.new(2)
    assert player.speed == 1.0


def test_short_runs_are_played_slowly():
    assert fitting_speed(5.0) == 1.0
    assert fitting_speed(0.03) == 0.01
    assert fitting_speed(0.03) in SPEEDS
    assert fitting_speed(1e-9) == SPEEDS[0]
    assert fitting_speed(0.0) == 1.0


def test_speeds_are_positive(player):
    with pytest.raises(ValueError, match="positive"):
        player.set_speed(0.0)
