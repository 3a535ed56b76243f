"""Costs of a simulation that is stepped from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from measuring import Bench, Row

import mbframe as mb

DT = 1e-4
CLOSED = 1000
STEPS = 2000
RECALLS = 100


def arm(links: int = 7) -> mb.System:
    """Links on hinges whose axes alternate, as in a robot, with a torque on the last one that an input gives."""
    system = mb.System("arm")
    before = system.ground
    for k in range(links):
        link = system.add(
            mb.RigidBody(f"link {k}", position=(0.5 * k + 0.25, 0, 0), mass=1.0, inertia=(0.01, 0.02, 0.02))
        )
        axis = (0, 1, 0) if k % 2 else (0, 0, 1)
        system.add(mb.RevoluteJoint(f"hinge {k}", before, link, at=(0.5 * k, 0, 0), axis=axis))
        before = link
    system.add(mb.Input("torque", unit="N m"))
    system.add(mb.Torque("load", before, torque=(0, 0, "torque")))
    return system


class Interpreted(mb.Controller):
    """A controller that Python calls: text is not compiled."""

    outputs = {"torque": "N m"}  # noqa: RUF012

    def output(self, t, y, y_rate, z):  # type: ignore[no-untyped-def]
        return [-float(str(0.0)) - 0.1 * y[0] - 0.01 * y_rate[0]]


def closed(controlled: bool) -> mb.System:
    """The arm, whose last torque a controller gives that takes a sample at each step."""
    system = arm()
    if controlled:
        system.add(Interpreted("c", measures=["hinge 0.angle"], sample_time=DT))
        system["load"].torque = (0, 0, "c.torque")
    return system


def stepping(bench: Bench) -> Iterator[Row]:
    """Steps one by one against those of one run; snapshots; an input that is set before each step."""
    sim = mb.Simulation(arm(), dt=DT, recording=False)
    first = sim.snapshot()

    def one_by_one() -> None:
        for _ in range(STEPS):
            sim.step()

    def with_input() -> None:
        for k in range(STEPS):
            sim.inputs["torque"] = 0.1 * (k % 2)
            sim.step()

    def cost(task: Callable[[], None], count: int) -> float:
        best = float("inf")
        for _ in range(bench.repeats):
            sim.restore(first)
            began = time.process_time()
            task()
            best = min(best, time.process_time() - began)
        return best / count * 1e6

    at_once = cost(lambda: sim.step(STEPS), STEPS)
    yield Row("arm of seven links, one step at a time", cost(one_by_one, STEPS), "µs", "one run", at_once, 1.3)
    yield Row("arm, an input set before each step", cost(with_input, STEPS), "µs", "one run", at_once)

    loops = [mb.Simulation(closed(controlled), dt=DT, recording=False) for controlled in (True, False)]
    starts = [loop.snapshot() for loop in loops]
    times = []
    for loop, start in zip(loops, starts, strict=True):
        best = float("inf")
        for _ in range(bench.repeats):
            loop.restore(start)
            began = time.process_time()
            loop.step(CLOSED)
            best = min(best, time.process_time() - began)
        times.append(best / CLOSED * 1e6)
    yield Row("arm, a Python controller at each step: more than the bare run", times[0] - times[1], "µs", limit=60.0)

    def mark() -> None:
        for _ in range(RECALLS):
            sim.snapshot()

    def go_back() -> None:
        for _ in range(RECALLS):
            sim.restore(first)

    yield Row("arm, snapshot", cost(mark, RECALLS), "µs", limit=100.0)
    yield Row("arm, restore", cost(go_back, RECALLS), "µs", limit=100.0)
    names = ("link 6.position.x", "hinge 6.angle", "energy.total")
    for name in names:
        sim.quantity(name)

        def read(name: str = name) -> None:
            for _ in range(RECALLS):
                sim.step()
                sim.quantity(name)

        yield Row(f"arm, a step and {name}", cost(read, RECALLS), "µs")
