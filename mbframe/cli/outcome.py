"""What a command says at its end: texts for people, JSON for scripts, and an exit code."""

from __future__ import annotations

import json
import math
import sys
from argparse import ArgumentParser, Namespace
from importlib.util import find_spec
from typing import Any, Final

from ..disk.atomic import NotWrittenError
from ..errors import ModelError, SimulationError, shown

OK: Final = 0
FAILED: Final = 1
WRONG: Final = 2
MISSING: Final = 3
INTERRUPTED: Final = 130


class NotAvailableError(Exception):
    """The command belongs to a part that this installation does not have."""


class UsageError(Exception):
    """Arguments that no command takes."""


class Interrupted(Exception):  # noqa: N818 (nothing went wrong)
    """Ctrl-C."""


def check_packages(suffix: str) -> None:
    """A `NotAvailableError` if files that end so need packages that are not here."""
    package, extra = {".parquet": ("pyarrow", "parquet")}.get(suffix, ("pyvista", "render"))
    if find_spec(package) is None:
        raise NotAvailableError(f"{suffix} files need {package}: pip install 'mbframe[{extra}]'")


def add_output_options(parser: ArgumentParser) -> None:
    """--json and --quiet, for every command that has something to say."""
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--json", action="store_true", help="print one JSON object, errors included, for scripts")
    kinds.add_argument("--quiet", action="store_true", help="print errors only")


def tell(options: Namespace, data: dict[str, Any], *lines: str) -> None:
    """Print the outcome in the form that was asked for."""
    if options.json:
        print(as_text(data))
    elif not options.quiet:
        print(*map(shown, lines), sep="\n")


def as_text(data: dict[str, Any]) -> str:
    """One JSON object; numbers that JSON does not know are null."""
    return json.dumps(_finite(data), allow_nan=False, indent=2)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def shows_progress(options: Namespace) -> bool:
    """Whether somebody is looking."""
    return not options.json and not options.quiet and sys.stdout.isatty()


def report(error: Exception, as_json: bool) -> int:
    """Say what went wrong, on the error stream or as JSON; returns the exit code."""
    problems = [vars(problem) for problem in error.problems] if isinstance(error, ModelError) else []
    if as_json:
        found: dict[str, Any] = {"error": type(error).__name__, "message": str(error)}
        if problems:
            found["problems"] = problems
        if isinstance(error, SimulationError):
            found["time"] = error.time
        print(as_text(found))
    else:
        count = f" {len(problems)} problems:" if len(problems) > 1 else ""
        text = shown(str(error)).replace("\n", "\n  ")
        print(f"mbframe:{count}{chr(10) + '  ' if count else ' '}{text}", file=sys.stderr)
    codes = {
        NotWrittenError: FAILED,
        NotAvailableError: MISSING,
        Interrupted: INTERRUPTED,
        ModelError: WRONG,
        UsageError: WRONG,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), FAILED)
