"""Measures speed, memory and latency, and prints them beside the project's targets.

    scripts/bench                        our own figures and the ratios among them
    scripts/bench --peers                MuJoCo and Exudyn beside us, in the same run
    scripts/bench --only chain --quick   one measurement, fewer repetitions

Times are CPU seconds, the best of several repetitions in which the contenders take turns: other work on the machine
then disturbs all of them alike, and least of all the best. It is a report: nothing fails when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import bench_app
import numpy as np
from bench_flexible import FLEXIBLE_DT, exudyn_solid_rod, our_beam_rod, our_solid_rod, solid_block
from bench_peers import (
    GRAVITY,
    PEERS,
    PENDULUM,
    Link,
    Run,
    choose_exudyn_build,
    exudyn_bricard,
    exudyn_dopri5,
    exudyn_generalized_alpha,
    exudyn_rk4,
    joints,
    missing_peers,
    mujoco_bricard,
    mujoco_rk4,
    polygon,
)
from bench_pictures import frame_times
from bench_planar_peers import exudyn_planar, mujoco_planar, our_planar

import mbframe as mb

DT = 1e-3  # s
OURS = "mbframe"
MUJOCO, EXUDYN, EXUDYN_FAST = "MuJoCo", "Exudyn", "Exudyn, no range checks"

# The free end of the triple pendulum at t = 5 s (m), computed independently of this project with angular velocities as
# the only velocities and SciPy's DOP853 at rtol 3e-14. MuJoCo's RK4 with a step of 0.1 ms agrees to 1.3e-12.
PENDULUM_TIME = 5.0
PENDULUM_TIP = np.array([2.5160879281275, -0.9033093223067, -9.6930725725538])
TIP_TOLERANCE = 1e-8

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


def run(system: mb.System, t_end: float, integrator: Any, dt: float | None = None, **options: Any) -> Any:
    return mb.simulate(
        system,
        t_end=t_end,
        dt=dt,
        formulation=mb.NewtonEuler(),
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


# Measurements


def pendulum_step(bench: Bench) -> Iterator[Row]:
    """RK4 step with position and velocity correction on the triple pendulum."""
    methods = {OURS: our_rk4, MUJOCO: mujoco_rk4, EXUDYN: exudyn_rk4, EXUDYN_FAST: exudyn_rk4}
    limits = {MUJOCO: 1.5, EXUDYN: 0.6, EXUDYN_FAST: 0.6}
    contenders = bench.simulations(methods, PENDULUM, DT)
    figures, note = step_cost(contenders, round(PENDULUM_TIME / DT), bench.repeats)
    yield from comparisons("triple pendulum, RK4 step", figures, limits, note)


def pendulum_accuracy(bench: Bench) -> Iterator[Row]:
    """Time to a tip error of 1e-8 m over 5 s, each contender at its coarsest setting that reaches it."""
    tolerances = [10.0 ** (-k / 2) for k in range(12, 27)]
    # Exudyn's step shrinks to nothing when its tolerance comes near rounding.
    sustainable = [tolerance for tolerance in tolerances if tolerance > 1e-11]
    steps = [PENDULUM_TIME / round(2000 * 1.15**k) for k in range(14)]
    methods: dict[str, tuple[Method, list[float]]] = {
        OURS: (our_dormand_prince, tolerances),
        MUJOCO: (mujoco_rk4, steps),
        EXUDYN: (exudyn_dopri5, sustainable),
        EXUDYN_FAST: (exudyn_dopri5, sustainable),
    }
    settings, contenders = {}, {}
    for name, process in bench.processes.items():
        method, choices = methods[name]
        settings[name] = coarsest(process, method, choices)
        contenders[name] = process.simulation(method, PENDULUM, settings[name])
    runs = interleaved(contenders, DT, PENDULUM_TIME, bench.repeats)
    times = {name: r.cpu * 1e3 for name, r in runs.items()}
    note = "; ".join(f"{name} {times[name]:.1f} ms at {settings[name]:.1e}" for name in times)
    ours = times.pop(OURS)
    name = f"triple pendulum, {PENDULUM_TIME:g} s to {TIP_TOLERANCE:g} m"
    if times:
        fastest = min(times, key=lambda peer: times[peer])
        yield Row(name, ours, "ms", fastest, times[fastest], 0.3, note)
    else:
        yield Row(name, ours, "ms", note=note)


def coarsest(process: Process, method: Method, settings: Sequence[float]) -> float:
    """The first of `settings`, ordered from coarse to fine, from which on all of them reach the tolerance.

    A coarser one that reaches it by luck does not count.
    """
    best = None
    for setting in reversed(settings):
        error = np.linalg.norm(process(method, PENDULUM, PENDULUM_TIME, setting).tip - PENDULUM_TIP)
        if error > TIP_TOLERANCE:
            break
        best = setting
    if best is None:
        raise RuntimeError(f"{method.__name__} at {settings[-1]:.1e} has a tip error of {error:.1e} m")
    return best


def chain(bench: Bench) -> Iterator[Row]:
    """RK4 step of chains of 10 and 1,000 links, per body, and closed to a ring."""
    methods = {OURS: our_rk4, EXUDYN: exudyn_generalized_alpha, EXUDYN_FAST: exudyn_generalized_alpha}
    steps, repeats = bench.large_steps, bench.large_repeats

    small, note = step_cost(bench.simulations(methods, polygon(10), DT), 400, bench.repeats)
    yield from comparisons("chain of 10 links, RK4 step", small, {}, note)
    large, note = step_cost(bench.simulations(methods, polygon(1000), DT), steps, repeats)
    yield from comparisons("chain of 1,000 links, RK4 step", large, {EXUDYN: 0.2, EXUDYN_FAST: 0.2}, note)
    yield Row("chain of 1,000 links, per body", large[OURS] / 1000, "µs", "ours, 10 links", small[OURS] / 10, 1.3)

    ours = bench.processes[OURS]
    shapes = {"open": our_rk4, "ring": our_rk4_ring}
    costs, _ = step_cost({k: ours.simulation(m, polygon(1000), DT) for k, m in shapes.items()}, steps, repeats)
    yield Row("ring of 1,000 links, RK4 step", costs["ring"], "µs", "ours, open chain", costs["open"], 1.6)


def revolute_chain(bench: Bench) -> Iterator[Row]:
    """RK4 step of chains of 10 and 1,000 links on revolute joints, per body."""
    ours = bench.processes[OURS]
    small, _ = step_cost({OURS: ours.simulation(our_rk4_hinged, polygon(10), DT)}, 400, bench.repeats)
    large, _ = step_cost(
        {OURS: ours.simulation(our_rk4_hinged, polygon(1000), DT)}, bench.large_steps, bench.large_repeats
    )
    name = "chain of 1,000 revolute joints, per body"
    yield Row(name, large[OURS] / 1000, "µs", "ours, 10 links", small[OURS] / 10, 1.3)


def bricard(bench: Bench) -> Iterator[Row]:
    """RK4 step with position and velocity correction on the Bricard mechanism, a loop with a redundant equation."""
    methods = {OURS: our_bricard, MUJOCO: mujoco_bricard, EXUDYN: exudyn_bricard, EXUDYN_FAST: exudyn_bricard}
    limits = {MUJOCO: 1.2, EXUDYN: 0.4, EXUDYN_FAST: 0.4}
    contenders = {name: partial(process, partial(methods[name], dt=DT)) for name, process in bench.processes.items()}
    figures, note = step_cost(contenders, 2000, bench.repeats)
    yield from comparisons("Bricard mechanism, RK4 step", figures, limits, note)


def our_method(formulation: str, acceleration: str, stabilization: str, t_end: float, dt: float) -> Run:
    """The triple pendulum by Adams-Bashforth of order 4, as in [PappalardoGuida2018b], and by methods given by name."""
    chosen = {"formulation": formulation, "acceleration": acceleration, "stabilization": stabilization}
    strategies: dict[str, Any] = {role: getattr(mb, name)() for role, name in chosen.items()}
    began = time.process_time()
    result = mb.simulate(
        mb.examples.triple_pendulum(),
        t_end,
        dt=dt,
        integrator=mb.AdamsBashforth(order=4),
        t_eval=(0.0, t_end),
        **strategies,
    )
    cpu = time.process_time() - began
    return Run(cpu, result.position(result.system.bodies[-1])[-1])


def method_cost(bench: Bench, methods: Mapping[str, tuple[str, str, str]]) -> dict[str, float]:
    """Microseconds per step of methods on the triple pendulum."""
    process = bench.processes[OURS]
    contenders = {label: partial(process, partial(our_method, *names, dt=DT)) for label, names in methods.items()}
    return step_cost(contenders, 2000, bench.repeats)[0]


def partitioning(bench: Bench) -> Iterator[Row]:
    """Step with coordinate partitioning beside one with direct correction, on the triple pendulum."""
    for formulation in ("NaturalAbsolute", "EulerParameters", "NewtonEuler"):
        usual = (formulation, "AugmentedFormulation")
        costs = method_cost(bench, {name: (*usual, name) for name in ("CoordinatePartitioning", "DirectCorrection")})
        name = f"coordinate partitioning, {formulation}, AB4 step"
        yield Row(name, costs["CoordinatePartitioning"], "µs", "direct correction", costs["DirectCorrection"], 2.0)


def paper_methods(bench: Bench) -> Iterator[Row]:
    """Times of the triple pendulum with coordinate partitioning in the form of [PappalardoGuida2018b], Table 3:
    formulations and solvers, in units of natural absolute coordinates with the augmented formulation.
    """
    from mbframe.examples.paper_tables import TIMES, WHY_TIMES_DIFFER  # not above: it loads the compiler

    solvers = ("AugmentedFormulation", "UdwadiaKalaba")
    methods = {f"{f}, {a}": (f, a, "CoordinatePartitioning") for f in TIMES for a in solvers}
    costs = method_cost(bench, methods)
    unit = next(iter(costs.values()))
    explained = ("EulerParameters, AugmentedFormulation", "NaturalAbsolute, UdwadiaKalaba")
    reasons = dict(zip(explained, WHY_TIMES_DIFFER, strict=True))
    for (name, cost), (formulation, solver, _) in zip(costs.items(), methods.values(), strict=True):
        theirs = TIMES[formulation].get(solver)
        published = float(theirs) if theirs else None
        versus, why = "published" if theirs else "not published", reasons.get(name, "")
        yield Row(f"{name}, time", cost / unit, "", versus, published, note=why)
    for formulation in TIMES:
        usual, other = (costs[f"{formulation}, {solver}"] for solver in solvers)
        yield Row(f"{formulation}, UdwadiaKalaba, AB4 step", other, "µs", "AugmentedFormulation", usual)


def stiff_governor(bench: Bench) -> Iterator[Row]:
    """Evaluations of the stiff governor over 10 s, by Radau IIA and by the usual explicit method."""
    implicit, explicit = fresh(governor_evaluations, 10.0)
    name = "stiff governor, 10 s, evaluations by RadauIIA(rtol=1e-6)"
    yield Row(name, implicit, "", "explicit default", explicit, 0.1)


def governor_evaluations(t_end: float) -> tuple[int, int]:
    system = mb.examples.flyball_governor()
    implicit = mb.simulate(system, t_end, integrator=mb.RadauIIA(rtol=1e-6), t_eval=(0.0, t_end))
    return implicit.info.evaluations, mb.simulate(system, t_end, t_eval=(0.0, t_end)).info.evaluations


def four_bar(bench: Bench) -> Iterator[Row]:
    """RK4 step with position and velocity correction on a planar four-bar mechanism."""
    limits = {MUJOCO: 1.0, EXUDYN: 0.6, EXUDYN_FAST: 0.6}
    figures, note = step_cost(planar(bench, "four_bar_marques", {}), 4000, bench.repeats)
    yield from comparisons("four-bar mechanism, RK4 step", figures, limits, note)


def windows(bench: Bench) -> Iterator[Row]:
    """RK4 step with position and velocity correction on a row of forty four-bar mechanisms."""
    limits = {MUJOCO: 0.6}
    figures, note = step_cost(planar(bench, "n_four_bar", {"n": 40}), 1000, bench.repeats)
    yield from comparisons("row of 40 four-bar mechanisms, RK4 step", figures, limits, note)


def flexible(bench: Bench) -> Iterator[Row]:
    """RK4 step of a slider-crank with a flexible rod of 14 modes; what finite elements and stiffening cost."""
    methods = {OURS: our_solid_rod, EXUDYN: exudyn_solid_rod, EXUDYN_FAST: exudyn_solid_rod}
    contenders = {name: partial(bench.processes[name], methods[name]) for name in methods if name in bench.processes}
    steps = 400
    runs = interleaved(contenders, FLEXIBLE_DT, steps * FLEXIBLE_DT, min(bench.repeats, 3))
    figures = {name: r.cpu / (steps - 1) * 1e6 for name, r in runs.items()}
    first, *others = (r.tip for r in runs.values())
    apart = max((float(np.linalg.norm(tip - first)) for tip in others), default=0.0)
    note = f"pistons within {apart:.0e} m" if others else ""
    yield from comparisons("flexible slider-crank, 14 modes, step", figures, {EXUDYN: 0.2, EXUDYN_FAST: 0.2}, note)
    ours = bench.processes[OURS]
    sizes = {str(n): partial(ours, partial(our_beam_rod, elements=n)) for n in (94, 3333)}
    sizes["stiffened"] = partial(ours, partial(our_beam_rod, elements=94, stiffening=True))
    runs = interleaved(sizes, FLEXIBLE_DT, 2000 * FLEXIBLE_DT, bench.repeats)
    small, large, stiffened = (r.cpu / 1999 * 1e6 for r in runs.values())
    yield Row("flexible slider-crank, 20,004 finite-element coordinates", large, "µs", "ours, 570", small, 1.3)
    name, without = "flexible slider-crank with geometric stiffening", "ours, without"
    yield Row(name, stiffened, "µs", without, small, 1.6)
    for peer in (EXUDYN, EXUDYN_FAST):  # its floating frame has no stiffening
        if peer in figures:
            yield Row(name, stiffened, "µs", f"{peer}, without", figures[peer])


def large_solid(bench: Bench) -> Iterator[Row]:
    """A solid of 2,176 nodes with four modes: time to write and read it in a model and a result, and sizes of files."""
    for name, (seconds, size) in fresh(files_of_solid).items():
        yield Row(f"solid of 2,176 nodes, {name}", seconds, "s", limit=1.0, note=f"{size / 1e6:.2f} MB")


def files_of_solid() -> dict[str, tuple[float, int]]:
    """CPU seconds and bytes of each file."""
    system = solid_block()
    result = mb.simulate(system, 2e-3, t_eval=np.linspace(0.0, 2e-3, 3))
    costs = {}
    with tempfile.TemporaryDirectory() as folder:
        model, run = Path(folder, "model.json"), Path(folder, "run.h5")
        tasks: dict[str, tuple[Path, Callable[[], Any]]] = {
            "save model": (model, lambda: mb.save(system, model)),
            "load model": (model, lambda: mb.load(model)),
            "save result": (run, lambda: result.save(run)),
            "load result": (run, lambda: mb.load_result(run).system),
        }
        for name, (path, task) in tasks.items():
            began = time.process_time()
            task()
            costs[name] = time.process_time() - began, path.stat().st_size
    return costs


def planar(bench: Bench, name: str, values: dict[str, Any]) -> dict[str, Simulation]:
    """A planar example of every contender."""
    methods = {OURS: our_planar, MUJOCO: mujoco_planar, EXUDYN: exudyn_planar, EXUDYN_FAST: exudyn_planar}
    return {
        contender: partial(process, partial(methods[contender], name, values, dt=DT))
        for contender, process in bench.processes.items()
    }


def build(bench: Bench) -> Iterator[Row]:
    """Describing a model of 1,000 bodies, and building its equations."""
    describing, building = fresh(time_to_build, 1000, bench.large_repeats)
    yield Row("1,000 bodies, build equations", building, "s", limit=2.0, note=f"describing them: {describing:.2f} s")


def time_to_build(n: int, repeats: int) -> tuple[float, float]:
    mb.Equations(link_chain(polygon(10)))  # loads or compiles what every model needs
    describing, building = [], []
    for _ in range(repeats):
        began = time.process_time()
        system = link_chain(polygon(n))
        described = time.process_time()
        mb.Equations(system)
        describing.append(described - began)
        building.append(time.process_time() - described)
    return min(describing), min(building)


def memory(bench: Bench) -> Iterator[Row]:
    """Peak memory of a run of 1,000 bodies, interpreter and compiler included, without the stored result."""
    peak, stored = fresh(memory_of_run, 1000, bench.large_steps)
    note = f"peak {peak:.0f} MB, stored result {stored:.0f} MB"
    yield Row("1,000 bodies, memory of a run", peak - stored, "MB", limit=500.0, note=note)


def memory_of_run(n: int, steps: int) -> tuple[float, float]:
    result = run(link_chain(polygon(n)), steps * DT, mb.RungeKutta4(), DT)
    stored = sum(array.nbytes for array in (result.t, result.q, result.v))
    return peak_memory(), stored / 1e6


def streaming(bench: Bench) -> Iterator[Row]:
    """A run of 10,000,000 rows into a file, interpreter and compiler included; then one signal from it."""
    rows = 1_000_000 if bench.quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "run.h5")
        peak, cpu, size = fresh(stream_run, rows, path)
        note = f"{1e6 * cpu / rows:.2f} µs CPU per row, file {size:.0f} MB"
        yield Row(f"{rows:,} rows to a file, memory", peak, "MB", limit=300.0, note=note)
        seconds, read = fresh(read_signal, path)
        yield Row("one signal of that file", seconds, "s", note=f"read {read:.1f} of {size:.0f} MB")


def stream_run(rows: int, path: str) -> tuple[float, float, float]:
    system = mb.System("spinning body")
    system.add(mb.RigidBody("body", mass=1.0, inertia=(1, 2, 3), angular_velocity=(0.1, 2.0, 0.1)))
    began = time.process_time()
    mb.simulate(system, (rows - 1) * DT, dt=DT, output=path)
    return peak_memory(), time.process_time() - began, Path(path).stat().st_size / 1e6


def read_signal(path: str) -> tuple[float, float]:
    """Time, and what was read from the file (MB; Linux)."""
    result = mb.load_result(path)
    counter = Path("/proc/self/io")
    before = counter.read_text() if counter.exists() else "0 0"
    began = time.process_time()
    result.quantity("body.velocity.z")
    seconds = time.process_time() - began
    after = counter.read_text() if counter.exists() else "0 0"
    return seconds, (int(after.split()[1]) - int(before.split()[1])) / 1e6


def peak_memory() -> float:
    """Of this process (MB)."""
    if sys.platform == "linux":  # where getrusage would give at least the peak of the process that started this one
        status = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 / 1e6 for line in status if line.startswith("VmHWM"))
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # bytes on macOS


IMPORT = """
import sys, time
began = time.process_time()
import mbframe
print(time.process_time() - began, *(name for name in sys.argv[1:] if name in sys.modules))
"""
HEAVY = ("numba", "scipy", "h5py", "rich", "matplotlib", "PySide6", "vtkmodules", "pyvista")
MUST_NOT_LOAD = {"numba", "matplotlib", "PySide6", "vtkmodules", "pyvista"}


def latency_import(bench: Bench) -> Iterator[Row]:
    """`import mbframe` in a fresh interpreter, and what it loads."""
    times, loaded = [], set()
    for _ in range(bench.repeats):
        command = [sys.executable, "-c", IMPORT, *HEAVY]
        seconds, *names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        times.append(float(seconds))
        loaded |= set(names)
    note = "of the large packages it loads " + (", ".join(sorted(loaded)) or "none")
    yield Row("import mbframe", min(times), "s", limit=0.4, note=note)
    yield Row("numba, Qt, VTK, matplotlib loaded by it", len(loaded & MUST_NOT_LOAD), "", limit=0)


def latency_first_run(bench: Bench) -> Iterator[Row]:
    """The first simulation of a session: with an empty cache of compiled code, then with a filled one."""
    with tempfile.TemporaryDirectory() as cache:
        cold, cold_wall, noticed = fresh(first_simulation, cache)
        warm, warm_wall, _ = min(fresh(first_simulation, cache) for _ in range(bench.large_repeats))
    note = f"wall {cold_wall:.1f} s, " + ("with a notice" if noticed else "WITHOUT a notice")
    yield Row("first simulation, nothing compiled", cold, "s", limit=15.0, note=note)
    yield Row("first simulation, cache filled", warm, "s", limit=1.0, note=f"wall {warm_wall:.2f} s")


def compile_library(bench: Bench) -> Iterator[Row]:
    """`mbframe warmup` with an empty cache of compiled code, the processes that it starts included."""
    command = [sys.executable, "-m", "mbframe.cli", "warmup", "--quiet"]
    with tempfile.TemporaryDirectory() as cache:
        before, began = children_cpu(), time.perf_counter()
        subprocess.run(command, check=True, env={**os.environ, "MBFRAME_CACHE_DIR": cache})
        cpu, wall = children_cpu() - before, time.perf_counter() - began
    yield Row("compile the whole library", cpu, "s", limit=120.0, note=f"wall {wall:.0f} s")


def pictures(bench: Bench) -> Iterator[Row]:
    """Off-screen pictures, all cores together."""
    for name, cost in fresh(frame_times, 3 if bench.quick else 10, bench.large_repeats).items():
        yield Row(name, cost, "ms", note=f"{1e3 / cost:.0f} per second of CPU time")


def children_cpu() -> float:
    """CPU seconds of the processes that this one has started and seen end, and of theirs in turn."""
    import resource  # not on Windows

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def first_simulation(cache: str) -> tuple[float, float, bool]:
    """CPU and wall seconds, and whether the user was told that something is being compiled."""
    os.environ["MBFRAME_CACHE_DIR"] = cache
    messages: list[str] = []
    listener = logging.Handler(logging.WARNING)
    listener.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("mbframe").addHandler(listener)
    system = link_chain(PENDULUM)
    began, wall = time.process_time(), time.perf_counter()
    mb.simulate(system, t_end=1.0)
    return (
        time.process_time() - began,
        time.perf_counter() - wall,
        any("compiling" in message for message in messages),
    )


def exports(bench: Bench) -> Iterator[Row]:
    """Exports of the triple pendulum: CPU time per frame, encoder included, and sizes of files."""
    count = 20 if bench.quick else 100
    for name, (seconds, size) in fresh(export_costs, count).items():
        note = f"{count} frames, {size / 1e6:.2f} MB"
        yield Row(f"export {name}, per frame", 1e3 * seconds / count, "ms", note=note)
        if name.startswith("gif"):
            yield Row("GIF of 100 frames, 640x360", size / count * 100 / 1e6, "MB", limit=3.0)
        if name == "html":
            yield Row("HTML page of the triple pendulum", size / 1e6, "MB", limit=5.0)


def export_costs(count: int) -> dict[str, tuple[float, int]]:
    """CPU seconds and bytes of each kind of export with so many frames."""
    result = mb.simulate(mb.examples.triple_pendulum(), (count - 1) / 30.0)
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "mp4 1280x720": (".mp4", {}),
        "mp4 1280x720, smooth=False": (".mp4", {"smooth": False}),
        "gif 640x360": (".gif", {"size": (640, 360)}),
        "png 1280x720": (".png", {}),
        "glb": (".glb", {}),
        "html": (".html", {}),
    }
    costs = {}
    with tempfile.TemporaryDirectory() as folder:
        mb.render.export(result, Path(folder, "first.png"), end=0.0)  # loads VTK
        for name, (suffix, options) in kinds.items():
            begin = time.process_time() + children_cpu()
            files = mb.render.export(result, Path(folder, "motion").with_suffix(suffix), **options)
            costs[name] = time.process_time() + children_cpu() - begin, sum(file.stat().st_size for file in files)
    return costs


def stability(bench: Bench) -> Iterator[Row]:
    """Root locus of the bicycle over 201 speeds, one after the other, and its two critical speeds."""
    points = 21 if bench.quick else 201
    locus, critical = fresh(time_of_stability, points)
    yield Row("bicycle, root locus of 201 speeds", locus * 201 / points, "s", limit=2.0)
    yield Row("bicycle, weave and capsize speed", critical, "s", note="to 1e-12")


def time_of_stability(points: int) -> tuple[float, float]:
    """CPU seconds of a root locus and of a search for critical values."""
    build = mb.examples.whipple_bicycle
    mb.root_locus(build, [4.0, 5.0])
    began = time.process_time()
    mb.root_locus(build, np.linspace(0.0, 10.0, points))
    followed = time.process_time()
    mb.critical_values(build, (0.0, 10.0))
    return followed - began, time.process_time() - followed


def linearization(bench: Bench) -> Iterator[Row]:
    points = 21 if bench.quick else 201
    bicycle, modal, lowest = fresh(time_to_linearize, points)
    yield Row(
        "bicycle, linearize 201 speeds", bicycle * 201 / points, "s", limit=2.0, note="models built anew each time"
    )
    yield Row("chain of 100 bodies, all modes", modal, "s", limit=2.0)
    yield Row("chain of 1,000 bodies, 20 modes", lowest, "s", limit=10.0)


def time_to_linearize(points: int) -> tuple[float, float, float]:
    """CPU seconds for a bicycle at many speeds, for all modes of a chain, and for the lowest modes of a long one."""

    def seconds(function: Callable[[], Any]) -> float:
        began = time.process_time()
        function()
        return time.process_time() - began

    def bicycles(speeds: Iterable[float]) -> None:
        for speed in speeds:
            mb.linearize(mb.examples.whipple_bicycle(speed=float(speed)))

    bicycles([5.0])
    mb.linearize(mb.examples.mass_spring_damper_chain(2))
    return (
        seconds(lambda: bicycles(np.linspace(0.0, 10.0, points))),
        seconds(lambda: mb.linearize(mb.examples.mass_spring_damper_chain(100)).modes),
        seconds(lambda: mb.linearize(mb.examples.mass_spring_damper_chain(1000), n_modes=20).modes),
    )


def pulling(bench: Bench) -> Iterator[Row]:
    """Updates of a mechanism that is pulled with the mouse: the slowest of many, along a wild path."""
    for name, body, label in (("whipple_bicycle", "frame", "bicycle"), ("bricard", "rod 3", "Bricard mechanism")):
        slowest, median, gap = fresh(cost_of_pulling, name, body, 30 if bench.quick else 200)
        note = f"median {1e3 * median:.1f} ms, gaps {gap:.1g} of the model size"
        yield Row(f"{label}, one update of a pull", 1e3 * slowest, "ms", limit=30.0, note=note)


def cost_of_pulling(name: str, body: str, updates: int) -> tuple[float, float, float]:
    """CPU seconds of the slowest and of the median update, and the largest gap relative to the model."""
    system = getattr(mb.examples, name)()
    puller = mb.Puller(system)
    target = puller.state.position(body)
    puller.to(body, (0.1, 0.0, 0.0), target)
    values, times, gap = np.random.default_rng(0), [], 0.0
    for _ in range(updates):
        target = target + 0.02 * puller.size * values.normal(size=3)
        began = time.process_time()
        puller.to(body, (0.1, 0.0, 0.0), target)
        times.append(time.process_time() - began)
        gap = max(gap, puller.gap() / puller.size)
    return max(times), float(np.median(times)), gap


def app(bench: Bench) -> Iterator[Row]:
    """The desktop application, in a virtual display with software OpenGL: times on the wall, for which a user waits."""
    if missing := bench_app.available():
        print(f"the application is left out: {missing}", file=sys.stderr)
        return
    started = bench_app.measured("start")
    yield Row("application, window visible", started["visible"], "s", limit=1.5, note="from the start of the process")
    yield Row("application, an example shown", started["usable"], "s", limit=5.0, note=f"{started['cpu']:.2g} s of CPU")
    for what, (gap, busy) in bench_app.measured("gaps").items():
        note = f"it computed for {1e3 * busy:.0f} ms at most"
        yield Row(f"application, longest gap during {what}", 1e3 * gap, "ms", limit=100.0, note=note)
    yield Row("application, cancel a run", bench_app.measured("cancel")["cancel"], "s", limit=0.3)
    for bodies, (frame, cpu) in bench_app.measured("playback").items():
        limit, note = 1e3 / (12 if bodies == "20 bodies" else 8), f"1280 x 800; {1e3 * cpu:.0f} ms of CPU"
        yield Row(f"application, frame of {bodies}", 1e3 * frame, "ms", limit=limit, note=note)
    swept = bench_app.measured("slider")
    note = f"{1e3 * swept['cpu']:.0f} ms of CPU in the window"
    yield Row("application, new roots of the bicycle by slider", 1e3 * swept["update"], "ms", limit=100.0, note=note)


MEASUREMENTS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "pendulum-step": pendulum_step,
    "pendulum-accuracy": pendulum_accuracy,
    "chain": chain,
    "revolute-chain": revolute_chain,
    "bricard": bricard,
    "partitioning": partitioning,
    "paper-methods": paper_methods,
    "stiff-governor": stiff_governor,
    "four-bar": four_bar,
    "windows": windows,
    "flexible": flexible,
    "large-solid": large_solid,
    "build": build,
    "memory": memory,
    "streaming": streaming,
    "linearization": linearization,
    "stability": stability,
    "pulling": pulling,
    "latency-import": latency_import,
    "latency-first-run": latency_first_run,
    "compile-library": compile_library,
    "pictures": pictures,
    "exports": exports,
    "app": app,
}


# The report


def figure(value: float | None) -> str:
    """Three significant digits, without an exponent for large numbers."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text; notes, once each, below."""
    header = ("measurement", OURS, "", "compared with", "figure", "ratio", "target", "")
    verdicts = {None: "", True: "ok", False: "over"}
    lines = [header]
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}×"
        figures = (figure(row.ours), row.unit, row.versus, figure(row.other))
        lines.append((row.name, *figures, ratio, row.target, verdicts[row.ok]))
    widths = [max(len(line[c]) for line in lines) for c in range(len(header))]
    right = {1, 4, 5}
    texts = [
        "  ".join(cell.rjust(widths[c]) if c in right else cell.ljust(widths[c]) for c, cell in enumerate(line))
        for line in lines
    ]
    texts.insert(1, "-" * len(texts[0]))
    notes = dict.fromkeys(f"{row.name}: {row.note}" for row in rows if row.note)
    return "\n".join(text.rstrip() for text in [*texts, "", *notes])


def machine(peers: bool) -> dict[str, str]:
    packages = ("numpy", "numba", *(PEERS if peers else ()))
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.splitlines()[0])
    parser.add_argument("--peers", action="store_true", help="measure MuJoCo and Exudyn beside us")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, shorter runs")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE too")
    given = parser.parse_args()
    if given.peers and (missing := missing_peers()):
        parser.error(f"not installed: {', '.join(missing)}. Run: python -m pip install --editable '.[bench]'")
    return given


def main() -> None:
    given = arguments()
    processes = {OURS: Process()}
    if given.peers:
        processes[MUJOCO] = Process()
        processes[EXUDYN] = Process(choose_exudyn_build, False)
        processes[EXUDYN_FAST] = Process(choose_exudyn_build, True)
    bench = Bench(given.quick, processes)
    rows: list[Row] = []
    try:
        for name in given.only or MEASUREMENTS:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            rows += MEASUREMENTS[name](bench)
    finally:
        for process in processes.values():
            process.close()
    about = machine(given.peers)
    print(table(rows), "", ", ".join(f"{key} {value}" for key, value in about.items()), sep="\n")
    if given.json:
        records = [{**asdict(row), "ratio": row.ratio, "ok": row.ok} for row in rows]
        given.json.write_text(json.dumps({"machine": about, "rows": records}, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
