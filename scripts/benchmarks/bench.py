"""Measures speed, memory and latency, and prints them beside the project's targets.

    scripts/bench                        our own figures and the ratios among them
    scripts/bench --peers                MuJoCo, Exudyn and Pinocchio beside us, in the same run
    scripts/bench --history              add the figures to bench_history.jsonl and draw their ratios over commits
    scripts/bench --only chain --quick   one measurement, fewer repetitions

Times are CPU seconds, the best of several repetitions in which the contenders take turns: other work on the machine
then disturbs all of them alike, and least of all the best. It is a report: nothing fails when a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

import arms
import history
import stepping
import steps
import surroundings
from measuring import EXUDYN, EXUDYN_FAST, MUJOCO, OURS, PINOCCHIO, Bench, Process, Row
from peers import PEERS, choose_exudyn_build, missing_peers, wrong_peers


class Measurement(NamedTuple):
    """A measurement: what it does, on what, in which units, and whether other programs are measured beside us."""

    rows: Callable[[Bench], Iterator[Row]]
    setup: str
    unit: str
    peers: bool = False


MEASUREMENTS: Final = {
    "pendulum-step": Measurement(steps.pendulum_step, "RK4 steps of a triple pendulum", "µs", peers=True),
    "pendulum-accuracy": Measurement(
        steps.pendulum_accuracy, "the coarsest setting with its tip right to 1e-8 m after 5 s", "s", peers=True
    ),
    "chain": Measurement(steps.chain, "RK4 steps of long chains on spherical joints", "µs", peers=True),
    "revolute-chain": Measurement(steps.revolute_chain, "RK4 steps of a chain on revolute joints", "µs", peers=True),
    "bricard": Measurement(steps.bricard, "RK4 steps of a redundant loop", "µs", peers=True),
    "robots": Measurement(arms.robots, "RK4 steps of robots in joint coordinates", "µs", peers=True),
    "joint-coordinates": Measurement(
        arms.joint_coordinates, "RK4 steps of loops and chains in joint coordinates", "µs", peers=True
    ),
    "partitioning": Measurement(steps.partitioning, "steps with coordinate partitioning and with projection", "µs"),
    "paper-methods": Measurement(steps.paper_methods, "steps of published combinations of methods", "µs"),
    "stiff-governor": Measurement(
        steps.stiff_governor, "evaluations of an implicit and an explicit method on a stiff model", ""
    ),
    "four-bar": Measurement(steps.four_bar, "RK4 steps of a planar four-bar mechanism", "µs", peers=True),
    "windows": Measurement(steps.windows, "RK4 steps of a row of forty four-bar mechanisms", "µs", peers=True),
    "flexible": Measurement(steps.flexible, "RK4 steps of a slider-crank with a flexible rod", "µs", peers=True),
    "large-solid": Measurement(steps.large_solid, "files of a solid of 2,176 nodes", "s"),
    "stepping": Measurement(stepping.stepping, "steps of a seven-axis arm from outside, one by one", "µs"),
    "build": Measurement(surroundings.build, "equations of long chains", "s"),
    "memory": Measurement(surroundings.memory, "a run of a long chain", "MB"),
    "streaming": Measurement(surroundings.streaming, "a result larger than what is kept in memory", "MB, s"),
    "linearization": Measurement(
        surroundings.linearization, "a bicycle at 201 speeds, chains of 100 and 1,000 bodies", "s"
    ),
    "stability": Measurement(surroundings.stability, "a root locus of 201 speeds and its critical speeds", "s"),
    "motions": Measurement(
        surroundings.motions, "a transition matrix against a bare run, and a branch of equilibria", "x, s"
    ),
    "campbell": Measurement(surroundings.campbell, "Campbell diagrams of a rigid and a flexible rotor, 50 speeds", "s"),
    "pulling": Measurement(surroundings.pulling, "updates of mechanisms that are pulled with the mouse", "ms"),
    "latency-import": Measurement(surroundings.latency_import, "a new interpreter", "s"),
    "latency-first-run": Measurement(
        surroundings.latency_first_run, "a first simulation, with and without compiled kernels", "s"
    ),
    "compile-library": Measurement(surroundings.compile_library, "all kernels", "s"),
    "pictures": Measurement(surroundings.pictures, "frames of examples", "ms"),
    "exports": Measurement(surroundings.exports, "a film, pages and pictures of a triple pendulum", "ms, MB"),
    "app": Measurement(surroundings.app, "the window in a virtual display", "s, ms"),
}


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
    parser.add_argument("--peers", action="store_true", help="measure MuJoCo, Exudyn and Pinocchio beside us")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, shorter runs")
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument("--list", action="store_true", help="only tell what can be measured")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE too")
    parser.add_argument(
        "--history",
        type=Path,
        nargs="?",
        const=Path("bench_history.jsonl"),
        metavar="FILE",
        help="add the figures with commit and machine to FILE (bench_history.jsonl), and draw all ratios beside it",
    )
    given = parser.parse_args()
    if given.peers and (missing := missing_peers()):
        parser.error(f"not installed: {', '.join(missing)}. Run: python -m pip install --editable '.[bench]'")
    if given.peers and (wrong := wrong_peers()):
        parser.error(f"{'; '.join(wrong)}. Run: python -m pip install --upgrade --editable '.[bench]'")
    return given


def main() -> None:
    given = arguments()
    if given.list:
        for name, one in MEASUREMENTS.items():
            print(f"{name:18} {one.unit:6} {one.setup}{'; beside others' if one.peers else ''}")
        return
    processes = {OURS: Process()}
    if given.peers:
        processes[MUJOCO] = Process()
        processes[PINOCCHIO] = Process()
        processes[EXUDYN] = Process(choose_exudyn_build, False)
        processes[EXUDYN_FAST] = Process(choose_exudyn_build, True)
    bench = Bench(given.quick, processes)
    rows: list[Row] = []
    try:
        for name in given.only or MEASUREMENTS:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
            rows += MEASUREMENTS[name].rows(bench)
    finally:
        for process in processes.values():
            process.close()
    about = machine(given.peers)
    print(table(rows), "", ", ".join(f"{key} {value}" for key, value in about.items()), sep="\n")
    if given.history:
        history.add(given.history, rows, about)
        print(f"{history.draw(given.history)} has the ratios of all entries of {given.history}")
    if given.json:
        records = [{**asdict(row), "ratio": row.ratio, "ok": row.ok} for row in rows]
        given.json.write_text(json.dumps({"machine": about, "rows": records}, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
