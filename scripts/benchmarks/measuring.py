"""What every measurement uses: rows of the report, processes of contenders, models, and how runs are timed in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
from peers import (
    GRAVITY,
    Link,
    Run,
    joints,
)

import mbframe as mb

DT = 1e-3  # s
OURS = "mbframe"
MUJOCO, EXUDYN, EXUDYN_FAST = "MuJoCo", "Exudyn", "Exudyn, no range checks"
PINOCCHIO = "Pinocchio"

# The free end of the triple pendulum at t = 5 s (m), computed independently of this project with angular velocities as
# the only velocities and SciPy's DOP853 at rtol 3e-14. MuJoCo's RK4 with a step of 0.1 ms agrees to 1.3e-12.
PENDULUM_TIME = 5.0
PENDULUM_TIP = np.array([2.5160879281275, -0.9033093223067, -9.6930725725538])
TIP_TOLERANCE = 1e-8

NEWTON_EULER = mb.NewtonEuler()
Method = Callable[[Sequence[Link], float, float], Run]  # (links, t_end, step or tolerance)
Simulation = Callable[[float], Run]  # of a given model with a given setting, from rest to t_end


@dataclass(frozen=True)
class Row:
    """One line of the report; `limit` bounds the ratio if there is something to compare with, else our figure."""

    name: str
    ours: float
    unit: str
    versus: str = ""
    other: float | None = None
    limit: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.other is None else self.ours / self.other

    @property
    def ok(self) -> bool | None:
        if self.limit is None:
            return None
        return (self.ours if self.ratio is None else self.ratio) <= self.limit

    @property
    def target(self) -> str:
        if self.limit is None:
            return ""
        return f"≤ {self.limit:g}" + ("×" if self.ratio is not None else f" {self.unit}".rstrip())


class Process:
    """A process of its own for each contender: alike for all, and none disturbs another's memory and imports."""

    def __init__(self, prepare: Callable[..., None] | None = None, *arguments: Any) -> None:
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=prepare, initargs=arguments)

    def __call__(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._pool.submit(function, *arguments).result()

    def simulation(self, method: Method, links: Sequence[Link], setting: float) -> Simulation:
        return lambda t_end: self(method, links, t_end, setting)

    def close(self) -> None:
        self._pool.shutdown()


def fresh(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` returns in a process started for it."""
    process = Process()
    try:
        return process(function, *arguments)
    finally:
        process.close()


@dataclass(frozen=True)
class Bench:
    """How thoroughly to measure, and the contenders' processes by name: ours, with `--peers` theirs too."""

    quick: bool
    processes: dict[str, Process]

    def simulations(
        self, methods: Mapping[str, Method], links: Sequence[Link], setting: float
    ) -> dict[str, Simulation]:
        """Of every contender that has a method."""
        return {
            name: process.simulation(methods[name], links, setting)
            for name, process in self.processes.items()
            if name in methods
        }

    @property
    def repeats(self) -> int:
        return 2 if self.quick else 7

    @property
    def large_repeats(self) -> int:
        return 1 if self.quick else 3

    @property
    def large_steps(self) -> int:
        return 100 if self.quick else 400


# Models and runs


def link_chain(links: Sequence[Link], closed: bool = False, hinged: bool = False) -> mb.System:
    """Links on spherical joints, the first one on the ground.

    `closed`: the last one's end on the first one's start; `hinged`: revolute joints about each link's local y axis,
    which is horizontal at the start.
    """
    system = mb.System("chain", gravity=GRAVITY)
    bodies = [system.ground]
    for k, (link, start) in enumerate(joints(links), start=1):
        body = mb.RigidBody(
            f"link_{k}",
            mass=link.mass,
            inertia=link.inertia,
            position=start + link.half_length * link.direction,
            rotation=link.rotation,
        )
        bodies.append(system.add(body))
        pair = (f"joint_{k}", bodies[k - 1], bodies[k])
        if hinged:
            system.add(mb.RevoluteJoint(*pair, at=start, axis=link.rotation[:, 1]))
        else:
            system.add(mb.SphericalJoint(*pair, at=start))
    if closed:
        system.add(mb.SphericalJoint("closure", bodies[-1], bodies[1], at=(0.0, 0.0, 0.0)))
    return system


def run(
    system: mb.System,
    t_end: float,
    integrator: Any,
    dt: float | None = None,
    formulation: mb.Formulation | None = NEWTON_EULER,
    **options: Any,
) -> Any:
    return mb.simulate(
        system,
        t_end=t_end,
        dt=dt,
        formulation=formulation,
        acceleration=mb.AugmentedFormulation(),
        stabilization=mb.DirectCorrection(),
        integrator=integrator,
        **options,
    )


def timed(system: mb.System, tip: tuple[str, float], t_end: float, integrator: Any, dt: float | None = None) -> Run:
    """`tip`: the body and the point on its local x axis (m) of which the run gives the place."""
    began = time.process_time()
    result = run(system, t_end, integrator, dt, t_eval=(0.0, t_end))  # the peers store no history either
    cpu = time.process_time() - began
    body, x = tip
    return Run(cpu, result.position(body, local_point=(x, 0.0, 0.0))[-1])


def free_end(links: Sequence[Link]) -> tuple[str, float]:
    return f"link_{len(links)}", links[-1].half_length


def our_rk4(links: Sequence[Link], t_end: float, dt: float) -> Run:
    return timed(link_chain(links), free_end(links), t_end, mb.RungeKutta4(), dt)


def our_rk4_ring(links: Sequence[Link], t_end: float, dt: float) -> Run:
    return timed(link_chain(links, closed=True), free_end(links), t_end, mb.RungeKutta4(), dt)


def our_rk4_hinged(links: Sequence[Link], t_end: float, dt: float) -> Run:
    return timed(link_chain(links, hinged=True), free_end(links), t_end, mb.RungeKutta4(), dt)


def our_dormand_prince(links: Sequence[Link], t_end: float, tolerance: float) -> Run:
    integrator = mb.DormandPrince(order=8, rtol=tolerance, atol=tolerance)
    return timed(link_chain(links), free_end(links), t_end, integrator)


def our_bricard(t_end: float, dt: float) -> Run:
    return timed(mb.examples.bricard(), ("rod 3", 0.5), t_end, mb.RungeKutta4(), dt)


def interleaved(contenders: Mapping[str, Simulation], begin: float, end: float, repeats: int) -> dict[str, Run]:
    """The cost of the march from time `begin` to `end`, without what is done once, and where it arrives.

    It is the difference between a long and a short run, each the best of `repeats`.
    """
    short: dict[str, list[Run]] = {name: [] for name in contenders}
    long: dict[str, list[Run]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, simulate in contenders.items():
            short[name].append(simulate(begin))
            long[name].append(simulate(end))
    return {
        name: Run(min(r.cpu for r in long[name]) - min(r.cpu for r in short[name]), long[name][-1].tip)
        for name in contenders
    }


def step_cost(contenders: Mapping[str, Simulation], steps: int, repeats: int) -> tuple[dict[str, float], str]:
    """Microseconds per step of each contender, and a note on how far the others' tips end from the first one's."""
    runs = interleaved(contenders, DT, steps * DT, repeats)
    first, *others = (r.tip for r in runs.values())
    apart = max((float(np.linalg.norm(tip - first)) for tip in others), default=0.0)
    note = f"tips within {apart:.0e} m at t = {steps * DT:g} s" if others else ""
    return {name: r.cpu / (steps - 1) * 1e6 for name, r in runs.items()}, note


def comparisons(name: str, figures: Mapping[str, float], limits: Mapping[str, float], note: str = "") -> Iterator[Row]:
    """A row for each peer, or one of our own figure alone (microseconds)."""
    ours = figures[OURS]
    peers = [peer for peer in figures if peer != OURS]
    for peer in peers:
        yield Row(name, ours, "µs", peer, figures[peer], limits.get(peer), note)
    if not peers:
        yield Row(name, ours, "µs", note=note)
