"""What surrounds a step: building, memory, files, analyses, imports, compiling, pictures, the application."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import application
import numpy as np
from measuring import (
    DT,
    Bench,
    Row,
    fresh,
    link_chain,
    run,
)
from peers import (
    PENDULUM,
    polygon,
)
from pictures import frame_times

import mbframe as mb


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


def campbell(bench: Bench) -> Iterator[Row]:
    """Campbell diagrams over 50 speeds, with their critical speeds."""
    points = 10 if bench.quick else 50
    rigid, flexible = fresh(time_of_campbell, points)
    fixed, turning = "rigid, damped bearings: fixed frame", "flexible, unstable: turning frame"
    yield Row("rotor with disks, 50 speeds", rigid * 50 / points, "s", limit=3.0, note=fixed)
    yield Row("unsymmetric rotor, 50 speeds", flexible * 50 / points, "s", limit=3.0, note=turning)


def time_of_campbell(points: int) -> tuple[float, float]:
    """CPU seconds of the diagrams and critical speeds of two examples, compiled before."""

    def seconds(build: Callable[[float], mb.System], low: float, high: float) -> float:
        mb.campbell(build, [low, high])
        began = time.process_time()
        assert mb.campbell(build, np.linspace(low, high, points)).critical_speeds
        return time.process_time() - began

    return seconds(mb.examples.rotor_with_disks, 0.0, 400.0), seconds(mb.examples.unsymmetric_rotor, 100.0, 200.0)


def motions(bench: Bench) -> Iterator[Row]:
    """Variations along a motion against a bare run of it, and branches of equilibria."""
    points = 40 if bench.quick else 200
    bare, varied, branch = fresh(time_of_motions, points)
    note = f"bare run with the same accuracy: {1e3 * bare:.1f} ms"
    yield Row("bicycle, 1 s, transition matrix", varied / bare, "x", limit=5.0, note=note)
    yield Row("chain of 20 bodies, 200 equilibria", branch * 200 / points, "s", limit=5.0, note="pseudo-arclength")


def time_of_motions(points: int) -> tuple[float, float, float]:
    """CPU seconds of a run of a bicycle, of its transition matrix, and of a branch of equilibria, compiled before."""
    system, accurate = mb.examples.whipple_bicycle(), mb.DormandPrince(order=8, rtol=1e-12, atol=1e-13)
    bare, varied = [], []
    for _ in range(3):
        began = time.process_time()
        found = mb.simulate(system, 1.0, integrator=accurate)
        ran = time.process_time()
        mb.transition(system, found)
        bare.append(ran - began)
        varied.append(time.process_time() - ran)
    start = mb.equilibrium(hanging_chain(0.0))
    mb.continuation(hanging_chain, start, (0.0, 1.0), at=0.0, points=2)
    began = time.process_time()
    branch = mb.continuation(hanging_chain, start, (0.0, 50.0), at=0.0, step=10.0 / points, points=points)
    each = (time.process_time() - began) / len(branch)
    return min(bare), min(varied), each * points


def hanging_chain(pull: float) -> mb.System:
    """Twenty bars with springs in their hinges, pulled aside at the end."""
    system = mb.System("hanging chain", dimension=2, gravity=(0, -9.81))
    before = system.ground
    for k in range(20):
        bar = system.add(mb.PlanarBody(f"bar {k}", mass=1.0, inertia=0.01, position=(0, -0.1 * k - 0.05)))
        system.add(mb.RevoluteJoint(f"hinge {k}", before, bar, at=(0, -0.1 * k)))
        spring = mb.TorsionalSpringDamper(f"spring {k}", before, bar, at=(0, -0.1 * k), stiffness=50.0, damping=0.1)
        system.add(spring)
        before = bar
    system.add(mb.PointForce("pull", before, at=(0, -2.0), force=(pull, 0)))
    return system


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
    if missing := application.available():
        print(f"the application is left out: {missing}", file=sys.stderr)
        return
    started = application.measured("start")
    yield Row("application, window visible", started["visible"], "s", limit=1.5, note="from the start of the process")
    yield Row("application, an example shown", started["usable"], "s", limit=5.0, note=f"{started['cpu']:.2g} s of CPU")
    shown = application.measured("show")
    for name in ("first", "second"):
        note = f"{shown[f'{name} cpu']:.2g} s of CPU"
        yield Row(f"mb.show, first picture of the {name} window", shown[name], "s", limit=5.0, note=note)
    for what, (gap, busy) in application.measured("gaps").items():
        note = f"it computed for {1e3 * busy:.0f} ms at most"
        yield Row(f"application, longest gap during {what}", 1e3 * gap, "ms", limit=100.0, note=note)
    yield Row("application, cancel a run", application.measured("cancel")["cancel"], "s", limit=0.3)
    for bodies, (frame, cpu) in application.measured("playback").items():
        limit, note = 1e3 / (12 if bodies == "20 bodies" else 8), f"1280 x 800; {1e3 * cpu:.0f} ms of CPU"
        yield Row(f"application, frame of {bodies}", 1e3 * frame, "ms", limit=limit, note=note)
    swept = application.measured("slider")
    note = f"{1e3 * swept['cpu']:.0f} ms of CPU in the window"
    yield Row("application, new roots of the bicycle by slider", 1e3 * swept["update"], "ms", limit=100.0, note=note)
