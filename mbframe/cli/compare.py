"""`mbframe compare`: the laboratory on the command line."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from ..disk.atomic import writable
from ..errors import ModelError, Problem
from ..files.reader import STRATEGY_SETTINGS
from .models import add_method_options, add_model_argument, model, strategy
from .outcome import FAILED, INTERRUPTED, OK, add_output_options, shows_progress, tell


def add_commands(commands: Any) -> None:
    """compare."""
    parser = commands.add_parser(
        "compare",
        help="simulate a model with many methods and compare them",
        description="Simulate a model with many methods; print the accuracy and the cost of each. Every combination of "
        "the methods given is run; if none is given, a selection of those in the literature.",
    )
    add_model_argument(parser)
    parser.add_argument("--t-end", type=float, metavar="S", help="end of the simulations, s")
    parser.add_argument("--dt", type=float, metavar="S", help="step, s (default 0.001)")
    parser.add_argument("--steps", type=float, metavar="S", nargs="+", help="steps, s (default 4, 2 and 1 times dt)")
    add_method_options(parser, *STRATEGY_SETTINGS, several=True)
    parser.add_argument("--repeats", type=int, metavar="N", help="runs of each method; the median time counts")
    parser.add_argument("--sort", metavar="COLUMN", help="order of the rows, such as error or wall_time")
    parser.add_argument("--processes", action="store_true", help="run methods side by side, which disturbs their times")
    parser.add_argument("--report", metavar="FILE", help="write a page (.html) with the table and plots")
    add_output_options(parser)
    parser.set_defaults(command=compare)


def compare(options: Namespace) -> int:
    """Compare methods on a model."""
    import mbframe

    if options.report is not None:
        if Path(options.report).suffix.lower() != ".html":
            raise _wrong("--report", f"found {options.report!r}; allowed are files that end with .html")
        writable(options.report)
    system, settings = model(options)
    if "t_end" not in settings:
        raise _wrong("--t-end", "found nothing, and the file has no settings; add --t-end 5")
    given: dict[str, Any] = {key: settings[key] for key in ("t_end", "dt") if settings.get(key) is not None}
    given |= {key: getattr(options, key) for key in ("steps", "repeats") if getattr(options, key) is not None}
    for setting in STRATEGY_SETTINGS:
        if texts := getattr(options, f"{setting}s"):
            given[f"{setting}s"] = [strategy(setting, text) for text in texts]
    if options.processes:
        given["executor"] = "processes"
    found = mbframe.compare(system, **given, progress=shows_progress(options))
    table = found.table(options.sort)
    report, notes, completed = options.report, list(found.notes), found.completed
    if report is not None and completed:
        try:
            found.report(report)
        except KeyboardInterrupt:
            completed = False
    if report is not None and not completed:  # the table is kept; a page takes its time
        notes.append(f"stopped by the user before {report!r} was written")
        report = None
    data = {"model": system.name, "table": list(table), "notes": notes, "report": report, "completed": completed}
    tell(options, data, *_lines(table, report), *([] if completed else notes[-1:]))
    if not completed:
        return INTERRUPTED
    return FAILED if len(found.failures()) == len(table) else OK


def _lines(table: Any, report: str | None) -> list[str]:
    """The table for a terminal, or for a file; where the report is."""
    written = [f"written to {report}"] if report is not None else []
    if not sys.stdout.isatty():
        return [str(table), *written]
    from rich.console import Console

    console = Console()
    with console.capture() as captured:
        console.print(table)
    return [captured.get().rstrip("\n"), *written]


def _wrong(option: str, message: str) -> ModelError:
    return ModelError([Problem("", option, message)])
