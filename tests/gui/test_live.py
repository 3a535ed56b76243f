"""Live: the task in the solver's process without it, the turns of the window, the hand in the view, what is kept."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QObject, Signal

import mbframe as mb
from gui.document.runs import RunSettings
from gui.panels.inspector.panel import Inspector
from gui.panels.plots.panel import PlotsPanel
from gui.panels.run.inputs import Inputs
from gui.playing import live_tasks
from gui.playing.hands import Hands, Spring
from gui.playing.live import Live
from gui.playing.live_bar import LiveBar
from gui.playing.live_tasks import Frame, LiveOutcome, LiveTask, Orders
from gui.solving.process import Failure
from gui.solving.tasks import Model


class Clock:
    """Time on the wall that passes only while a task waits, or by what a test says."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr(live_tasks.time, "perf_counter", lambda: self.now)


class Window:
    """The other side of a task: answers each frame as a script says."""

    def __init__(self, clock, script):
        self.clock, self.script = clock, script
        self.frames, self._answers = [], []

    def show(self, frame):
        self.frames.append(frame)
        self._answers.append(self.script(len(self.frames), frame))

    def heard(self, patience=0.0):
        self.clock.now += patience
        answers, self._answers = self._answers, []
        return answers


def seen(clock, system, script, tmp_path, settings=None, **values):
    window = Window(clock, script)
    task = LiveTask(Model.of(system), settings or RunSettings(), str(tmp_path / "seen.h5"), **values)
    outcome = task.run(window)
    return window.frames, outcome, mb.load_result(outcome.path)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def cart():
    system = mb.System("cart", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("cart", mass=2.0, inertia=(1, 1, 1)))
    system.add(mb.TranslationalJoint("rail", system.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mb.Input("push", unit="N", lower=-10, upper=10))
    system.add(mb.PointForce("f", body, at=(0, 0, 0), force=("push", 0, 0)))
    return system


def test_it_runs_with_the_clock_and_heeds_inputs_and_parameters(clock, tmp_path):
    def script(k, frame):
        changes = {
            10: Orders(inputs={"push": 4.0}),
            40: Orders(parameters={("cart", "mass"): 8.0}),
            60: Orders(inputs={"push": 50.0}, parameters={("cart", "position"): (1.0, 0.0, 0.0)}),
            80: Orders(end=True),
        }
        return changes.get(k, Orders())

    frames, outcome, result = seen(clock, cart(), script, tmp_path, watched=("cart.velocity.x",))
    t = np.array([frame.t for frame in frames])
    wall = np.arange(len(t)) * live_tasks.FRAME
    np.testing.assert_allclose(t, wall, atol=2.5 * live_tasks.FRAME)
    v = np.array([frame.values["cart.velocity.x"] for frame in frames])
    push = result.quantity("push").values
    assert sorted(set(push)) == [0.0, 4.0]
    begin = result.t[np.flatnonzero(push)[0]]
    assert begin == pytest.approx(frames[9].t)  # that which was answered with the order
    slopes = np.gradient(v, t)
    np.testing.assert_allclose(slopes[20:35], 2.0, rtol=1e-6)  # 4 N on 2 kg
    np.testing.assert_allclose(slopes[45:75], 0.5, rtol=1e-6)  # and on 8 kg
    refused = [words for frame in frames for words in frame.refused]
    assert len(refused) == 2
    assert "50" in refused[0]
    assert "body" in refused[1]
    assert outcome.failure is None
    assert [body.name for body in result.system] == [element.name for element in cart()]


def test_factor_pause_and_single_steps(clock, tmp_path):
    def script(k, frame):
        changes = {
            10: Orders(factor=3.0),
            30: Orders(paused=True),
            31: Orders(steps=1),
            33: Orders(paused=False, factor=1.0),
            40: Orders(again=True),
            50: Orders(end=True),
        }
        return changes.get(k, Orders())

    settings = RunSettings("custom", dt=1e-3, integrator=mb.RungeKutta4())
    frames, _, result = seen(clock, cart(), script, tmp_path, settings)
    t = [frame.t for frame in frames]
    assert (t[25] - t[15]) / (10 * live_tasks.FRAME) == pytest.approx(3.0, rel=0.1)
    assert t[30] == pytest.approx(t[29], abs=4 * live_tasks.FRAME)
    assert t[31] == pytest.approx(t[30] + 1e-3, abs=1e-12)
    assert t[32] == t[31]
    assert frames[40].began_again
    assert t[41] < t[39]
    assert result.t[-1] == pytest.approx(t[-1])


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_hand_carries_what_hangs_on_it(clock, tmp_path, dimension):
    """At rest the spring's force is the weight, and what was seen has the pull in its equations."""
    down = (0, -9.81) if dimension == 2 else (0, -9.81, 0)
    system = mb.System("falling", dimension=dimension, gravity=down)
    if dimension == 2:
        system.add(mb.PlanarBody("plate", mass=2.0, inertia=0.4))
        system.add(mb.PlanarBody("other", mass=1.0, inertia=0.4))
    else:
        system.add(mb.RigidBody("plate", mass=2.0, inertia=(0.4, 0.4, 0.4)))
        system.add(mb.RigidBody("other", mass=1.0, inertia=(0.4, 0.4, 0.4)))
    spring = Spring("plate", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))

    def script(k, frame):
        return Orders(spring=spring) if k == 1 else Orders(end=k == 600)

    frames, _, result = seen(clock, system, script, tmp_path)
    assert frames[-1].force == pytest.approx(2.0 * 9.81, rel=1e-3)
    assert all(frame.force is None for frame in frames[:1])
    names = [element.name for element in result.system]
    assert "pull on plate" in names
    assert not [name for name in names if "other" in name and "pull" in name]
    assert not frames[-1].inputs  # those of hands are nobody else's
    assert np.abs(result.energy.balance).max() < 1e-3
    falling = result.position("other")[-1][1]
    assert falling == pytest.approx(-0.5 * 9.81 * result.t[-1] ** 2, rel=1e-6)


def test_a_hand_at_an_arm_turns_a_body_like_a_force_there():
    """The load is F at the point: compared with a force that is described there."""
    target, point = (0.3, 0.4, 0.2), (0.2, -0.1, 0.3)
    system = mb.System("free", gravity=(0, 0, 0))
    body = system.add(mb.RigidBody("block", mass=2.0, inertia=(0.3, 0.4, 0.5)))
    hands = Hands(system)
    with mb.Simulation(system, dt=1e-3, integrator=mb.RungeKutta4()) as sim:
        hands.take(sim, Spring("block", point, target))
        hands.act(sim)
        parts = [sim.inputs[f"pull_block_{axis}"] for axis in "xyz"]
        assert hands.force == pytest.approx(float(np.linalg.norm(parts)))
        sim.step(5)
        pulled = sim.state.motions["block"]
    plain = mb.System("free", gravity=(0, 0, 0))
    same = plain.add(mb.RigidBody("block", mass=2.0, inertia=(0.3, 0.4, 0.5)))
    plain.add(mb.PointForce("f", same, at=body.position, force=tuple(parts)))
    plain.add(mb.Torque("m", same, torque=tuple(np.cross(point, parts))))
    other = mb.simulate(plain, t_end=5e-3, dt=1e-3, integrator=mb.RungeKutta4())
    np.testing.assert_allclose(pulled.velocity, other.velocity("block")[-1], rtol=1e-12)
    np.testing.assert_allclose(pulled.angular_velocity, other.angular_velocity("block")[-1], rtol=1e-12)


def test_a_model_that_fails_keeps_what_was_seen(clock, tmp_path):
    system = cart()
    system["f"].force = ("1e3/(0.25 - t)", 0, 0)
    frames, outcome, result = seen(clock, system, lambda k, _: Orders(end=k > 200), tmp_path)
    assert outcome.failure is not None
    assert 0.2 < outcome.t <= 0.25
    assert result.t[-1] == outcome.t
    assert len(frames) > 5


def test_a_long_march_is_ended_in_its_middle_and_kept(clock, monkeypatch, tmp_path):
    """What it is told while it marches it hears there, and not only between two pictures."""
    window = Window(clock, lambda k, frame: Orders(end=True))
    hear = window.heard
    window.heard = lambda patience=0.0: [] if patience else hear()
    ticks = iter(range(10**6))
    monkeypatch.setattr(live_tasks.time, "perf_counter", lambda: 100.0 + 0.01 * next(ticks))
    task = LiveTask(Model.of(cart()), RunSettings(), str(tmp_path / "seen.h5"))
    outcome = task.run(window)
    assert outcome.failure is None
    assert outcome.t > 0.0
    assert len(window.frames) == 1


# ---- The window's side ----------------------------------------------------------------------------------------------


class FakeJob(QObject):
    progressed = Signal(float, object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, task):
        super().__init__()
        self.task, self.told, self.stopped = task, [], False

    def tell(self, orders):
        self.told.append(orders)

    def cancel(self):
        self.stopped = True


class FakeSolver(QObject):
    state_changed = Signal(str)
    state = "ready"

    def __init__(self):
        super().__init__()
        self.jobs = []

    def submit(self, task):
        self.jobs.append(FakeJob(task))
        return self.jobs[-1]


@pytest.fixture
def live(document):
    document.open_system(cart())
    return Live(document, FakeSolver())


def frame(document, t, **values):
    from mbframe.analysis.states.describing import described_state

    state = described_state(document.system)
    given = {"rate": 1.0, "inputs": {"push": 0.0}, "values": {}} | values
    return Frame(t, state, **given)


def shown(live, t, **values):
    live._job.progressed.emit(0.0, frame(live.document, t, **values))


def test_one_message_is_under_way_and_the_newest_value_counts(live):
    live.start()
    job = live._job
    live.set_input("push", 1.0)
    assert job.told == []  # nothing was shown yet
    shown(live, 0.0)
    assert job.told == [Orders(inputs={"push": 1.0})]
    for value in (2.0, 3.0):
        live.set_input("push", value)
    live.document.set(live.document.system["cart"], mass=5.0)
    assert len(job.told) == 1
    shown(live, 0.1)
    assert job.told[1] == Orders(inputs={"push": 3.0}, parameters={("cart", "mass"): 5.0})
    live.pause()
    shown(live, 0.2)
    assert job.told[2] == Orders(paused=True)
    shown(live, 0.2)
    assert len(job.told) == 3  # while it pauses the process waits for orders
    live.step()
    assert job.told[3] == Orders(steps=1)


def test_what_was_seen_becomes_a_run(live, qtbot, tmp_path):
    document, bar = live.document, LiveBar(live)
    qtbot.addWidget(bar)
    live.start()
    assert document.animation_owner is live
    shown(live, 0.5)
    assert document.time == 0.5
    live.stop()
    assert live._job.told[-1].end or live._orders["end"]
    path = document.session.run_file()
    mb.simulate(document.system, t_end=0.5).save(path)
    live._job.finished.emit(LiveOutcome(str(path), 0.5))
    assert document.animation_owner is None
    assert bar.keep.isVisibleTo(bar)
    bar.keep.click()
    qtbot.waitUntil(lambda: len(document.runs) == 1)
    assert (document.runs.current.name, document.runs.current.stale) == ("Run 1", False)
    assert not bar.wanted


def test_a_failure_is_a_sentence_and_another_model_ends_it(live):
    document = live.document
    live.start()
    shown(live, 0.5)
    path = document.session.run_file()
    live._job.finished.emit(LiveOutcome(str(path), 0.5, Failure("t = 0.5 s: it blew up", time=0.5)))
    assert "Live ended at t = 0.5 s: it blew up." in document.messages[-1].text
    assert live.seen is not None
    live.start()
    job = live._job
    document.open_system(cart())
    assert job.stopped
    assert not live.on
    assert live.seen is None


def test_sliders_of_inputs_act_there_while_it_runs_and_on_the_model_otherwise(live, qtbot):
    document = live.document
    rows = Inputs(document, live)
    qtbot.addWidget(rows)
    row = rows.rows["push"]
    row.slider.setValue(750)
    assert document.system["push"].value == 5.0
    document.undo()
    assert row.value == 0.0
    live.start()
    shown(live, 0.0)
    row.slider.setValue(1000)
    shown(live, 0.1)
    assert live._job.told[-1] == Orders(inputs={"push": 10.0})
    assert document.system["push"].value == 0.0
    shown(live, 0.2, inputs={"push": 10.0})
    assert row.value == 10.0


def test_any_number_of_the_inspector_gets_a_slider(live, qtbot):
    document = live.document
    inspector = Inspector(document, None, live)
    qtbot.addWidget(inspector)
    inspector.show()
    qtbot.waitExposed(inspector)
    document.select(document.system["cart"])
    sliders, edit = inspector.sliders, inspector.rows["mass"].field.edit
    sliders._focus_changed(None, edit)
    assert sliders.slider is None
    live.start()
    shown(live, 0.0)
    sliders._focus_changed(None, edit)
    steps = document.undo_stack.count()
    for place in (100, 200, 250):
        sliders.slider.setValue(place)
    assert document.system["cart"].mass == 3.0
    assert document.undo_stack.count() == steps + 1
    shown(live, 0.1)
    assert live._job.told[-1].parameters[("cart", "mass")] == 3.0


def test_plots_scroll_with_it(live, qtbot):
    document = live.document
    panel = PlotsPanel(document, None, live)
    qtbot.addWidget(panel)
    panel.show()
    live.start()
    shown(live, 0.0)
    panel.refresh()
    assert panel.names == ["cart.position.x", "cart.position.y", "cart.position.z"]
    for k in range(1, 30):
        shown(live, float(k), values={"cart.position.x": 0.1 * k})
    panel.refresh()
    trace = next(trace for trace in panel.plots[0].traces if trace.name == "cart.position.x")
    assert trace.at(29.0) == pytest.approx(2.9)
    low, high = panel.plots[0].graph.getPlotItem().vb.viewRange()[0]
    assert (low, high) == pytest.approx((19.0, 29.0))
