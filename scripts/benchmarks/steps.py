"""Costs of steps and accuracy of mechanisms, beside other programs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from flexible_rods import FLEXIBLE_DT, exudyn_solid_rod, our_beam_rod, our_pendulum, our_solid_rod, solid_block
from measuring import (
    DT,
    EXUDYN,
    EXUDYN_FAST,
    MUJOCO,
    OURS,
    PENDULUM_TIME,
    PENDULUM_TIP,
    TIP_TOLERANCE,
    Bench,
    Method,
    Process,
    Row,
    Simulation,
    comparisons,
    fresh,
    interleaved,
    our_bricard,
    our_dormand_prince,
    our_rk4,
    our_rk4_hinged,
    our_rk4_ring,
    step_cost,
)
from peers import (
    PENDULUM,
    Run,
    exudyn_bricard,
    exudyn_dopri5,
    exudyn_generalized_alpha,
    exudyn_rk4,
    mujoco_bricard,
    mujoco_rk4,
    polygon,
)
from planar_peers import exudyn_planar, mujoco_planar, our_planar

import mbframe as mb


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
    planes = {name: partial(ours, partial(our_pendulum, planar=name == "plane")) for name in ("plane", "space")}
    runs = interleaved(planes, FLEXIBLE_DT, 2000 * FLEXIBLE_DT, bench.repeats)
    plane, space = (r.cpu / 1999 * 1e6 for r in runs.values())
    yield Row("flexible pendulum in the plane, step", plane, "µs", "ours, in space", space, 0.5)
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
