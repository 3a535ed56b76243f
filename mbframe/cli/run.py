"""`mbframe run`."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ..disk.atomic import writable
from ..disk.inputs import contents
from ..errors import ModelError, Problem, SimulationError
from ..files.reader import STRATEGY_SETTINGS
from .models import add_method_options, add_model_argument, model
from .outcome import INTERRUPTED, OK, Interrupted, add_output_options, check_packages, shows_progress, tell

RESULT_SUFFIXES: Final = (".h5", ".hdf5")
TABLE_SUFFIXES: Final = (".csv", ".parquet")
UNFINISHED: Final = ".partial.h5"
"""How the result of a run is called as long as it is not the table that was asked for."""
MOST_INSTANTS: Final = 1e8
MOST_TABLE: Final = 50_000_000
"""Bytes of a table of an input."""
FEW: Final = 100_000
"""Violations are looked for in results with at most so many instants."""


def add_commands(commands: Any) -> None:
    """run."""
    parser = commands.add_parser(
        "run",
        help="simulate a model",
        description="Simulate a model. Options that are left out come from the file, if it has settings.",
    )
    add_model_argument(parser)
    parser.add_argument("--t-end", type=float, metavar="S", help="end of the simulation, s")
    parser.add_argument("--dt", type=float, metavar="S", help="step of a fixed-step integrator, first of an adaptive")
    parser.add_argument("--every", type=float, metavar="S", help="store the state at these intervals, not every step")
    parser.add_argument("--output", metavar="FILE", help="where the result goes: .h5 (everything), .csv or .parquet")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="value of an input, or a .csv file of instants and values that hold until the next; repeatable",
    )
    add_method_options(parser, *STRATEGY_SETTINGS)
    add_output_options(parser)
    parser.set_defaults(command=run)


def run(options: Namespace) -> int:
    """Simulate, and say how it went."""
    from ..solvers.simulate import simulate

    suffix = Path(options.output).suffix.lower() if options.output else ""
    if options.output and suffix not in (*RESULT_SUFFIXES, *TABLE_SUFFIXES):
        allowed = ", ".join((*RESULT_SUFFIXES, *TABLE_SUFFIXES))
        raise _wrong("--output", f"found {options.output!r}; allowed are files that end with {allowed}")
    if suffix == ".parquet":
        check_packages(suffix)
    system, settings = model(options)
    if "t_end" not in settings:
        raise _wrong("--t-end", "found nothing, and the file has no settings; add --t-end 5")
    if options.every is not None:
        settings["t_eval"] = instants(settings["t_end"], options.every)
    file = rows = options.output
    if suffix in TABLE_SUFFIXES:  # it takes its time, so the rows go to a result first, and stay there if it is stopped
        writable(file)
        rows = claimed(Path(file))
    try:
        changes = given_inputs(system, options.input)
        if changes:
            result = stepped(system, changes, settings, rows, shows_progress(options))
        else:
            result = simulate(system, **settings, output=rows, progress=shows_progress(options))
    except SimulationError as error:
        if error.result is not None and rows and "the rows before" not in error.message:  # as of a full disk
            error.message += f"; the rows before are in {rows}"
        raise
    finally:
        if rows != file and Path(rows).exists() and not Path(rows).stat().st_size:
            Path(rows).unlink()  # there are none yet
    if result.info.completed and rows != file:
        try:
            result.export(file)
        except KeyboardInterrupt:
            raise Interrupted(f"stopped; the rows of the run are in {rows}") from None
        except BaseException:
            print(f"mbframe: the rows of the run are in {rows}", file=sys.stderr)
            raise
    found = summary(system.name, result, file if result.info.completed else rows)
    if result.info.completed and rows != file:
        Path(rows).unlink(missing_ok=True)
    tell(options, *found)
    return OK if result.info.completed else INTERRUPTED


def claimed(table: Path) -> str:
    """A file for the rows of a run until they are a table: of this run alone, what others left or write stays."""
    place, number = table.with_suffix(UNFINISHED), 1
    while True:
        try:
            place.touch(exist_ok=False)
        except FileExistsError:
            number += 1
            place = table.with_suffix(f".partial-{number}.h5")
        else:
            return str(place)


def given_inputs(system: Any, options: Sequence[str]) -> list[tuple[float, str, float]]:
    """Give the inputs of a system the values of the options; returns when they get others: instant, input, value."""
    changes = []
    known = {one.name: one for one in system.inputs}
    for option in options:
        name, _, text = option.partition("=")
        if name not in known:
            names = ", ".join(known) or "none"
            raise _wrong("--input", f"found {option!r}; allowed is NAME=VALUE with an input of the model: {names}")
        if text.lower().endswith(".csv"):
            changes += [(t, name, value) for t, value in table(text)]
            continue
        try:
            known[name].value = float(text)
        except ValueError:
            raise _wrong("--input", f"found {option!r}; allowed is a number or a .csv file behind =") from None
    return sorted(changes)


def table(path: str) -> list[tuple[float, float]]:
    """Instants and values of a .csv file with two columns; a first line of words is its header."""
    lines = contents(path, MOST_TABLE).decode("utf-8", "replace").splitlines()
    rows = []
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.replace(";", ",").split(",")]
        try:
            t, value = map(float, cells)
        except ValueError:
            if not line.strip() or number == 1:
                continue
            raise _wrong("--input", f"{path}, line {number}: found {line[:60]!r}; allowed are t, value") from None
        rows.append((t, value))
    if not rows or not all(math.isfinite(t) and math.isfinite(value) for t, value in rows):
        raise _wrong("--input", f"{path}: found no rows of finite numbers; allowed are lines of t, value")
    return rows


def stepped(
    system: Any,
    changes: Sequence[tuple[float, str, float]],
    settings: dict[str, Any],
    output: str | None,
    progress: Any,
) -> Any:
    """The result of a run in which inputs change at instants."""
    from ..solvers.simulation import Simulation

    t_end = settings["t_end"]
    others = {key: value for key, value in settings.items() if key != "t_end"}
    with Simulation(system, **others, output=output, progress=progress) as sim:
        for t, name, value in changes:
            if t < t_end:
                sim.advance(to=max(t, sim.time))
                sim.inputs[name] = value
        sim.advance(to=t_end)
        return sim.result()


def instants(t_end: float, interval: float) -> Any:
    """0, interval, 2 interval, ... and the end."""
    import numpy as np

    if not 0.0 < interval <= t_end or t_end / interval > MOST_INSTANTS:
        shortest = t_end / MOST_INSTANTS
        raise _wrong("--every", f"found {interval:g}; allowed is an interval from {shortest:g} to t_end = {t_end:g} s")
    count = int(np.floor(t_end / interval * (1.0 + 1e-12)))
    times = interval * np.arange(count + 1)
    times[-1] = min(times[-1], t_end)
    return times if t_end - times[-1] < 1e-9 * interval else np.append(times, t_end)


def summary(name: str, result: Any, output: str | None) -> tuple[dict[str, Any], str]:
    """How a run went, as data and in words."""
    info, times = result.info, result.t
    data: dict[str, Any] = {
        "model": name,
        "completed": info.completed,
        "t": [float(times[0]), float(times[-1])] if len(times) else [],
        "instants": len(times),
        "steps": info.steps,
        "rejected": info.rejected,
        "evaluations": info.evaluations,
        "wall_time": info.wall_time,
        "settings": info.settings,
        "warnings": info.warnings,
        "output": output,
    }
    span = f"{times[0]:g} to {times[-1]:g} s" if len(times) else "no instants"
    lines = [
        f"{name}: {span} in {info.wall_time:.3g} s",
        f"  {info.settings['integrator']}: {info.steps} steps, {info.rejected} rejected",
    ]
    if 0 < len(times) <= FEW and info.completed:
        position, velocity = result.violation.position.max(), result.violation.velocity.max()
        data["violation"] = {"position": float(position), "velocity": float(velocity)}
        energy = result.energy.total
        data["energy"] = {"first": float(energy[0]), "last": float(energy[-1])}
        lines.append(f"  constraints violated by at most {position:.2g} m, {velocity:.2g} m/s")
        lines.append(f"  energy {energy[0]:.6g} J at first, {energy[-1]:.6g} J at last")
    lines += [f"  warning: {warning}" for warning in info.warnings]
    lines.append(f"  {len(times)} instants {f'written to {output}' if output else 'computed; keep them with --output'}")
    return data, "\n".join(lines)


def _wrong(option: str, message: str) -> ModelError:
    return ModelError([Problem("", option, message)])
