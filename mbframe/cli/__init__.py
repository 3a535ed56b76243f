"""The command line: `mbframe`. Each module here has the commands of one kind.

They are loaded when a command is read, which takes about a second: Ctrl-C is heard from the first moment on.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from contextlib import nullcontext, suppress
from typing import NoReturn, TextIO

from ..errors import MbframeError
from .outcome import FAILED, INTERRUPTED, MISSING, OK, WRONG, Interrupted, NotAvailableError, UsageError, report
from .stopping import ends_in_compiler

_CODES = f"""\
exit codes:
  {OK}    done
  {FAILED}    the run or the analysis failed, or a file could not be written
  {WRONG}    the command, the model or the choice of methods cannot be used as given
  {MISSING}    this installation has no such part
  {INTERRUPTED}  stopped by Ctrl-C; what was computed is kept
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code. What the user can correct is said in words, without a traceback.

    Without arguments they are those of the process, which has nothing left to do then: Ctrl-C is no longer heard.
    """
    if arguments is None:  # what is started from here must not look for modules in the folder of a model
        os.environ.setdefault("PYTHONSAFEPATH", "1")
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given  # also where the arguments cannot be read
    try:
        with ends_in_compiler(as_json) if arguments is None else nullcontext():
            return _answered(given, as_json)
    except KeyboardInterrupt:  # behind the last word
        return INTERRUPTED
    finally:
        if arguments is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answered(given: list[str], as_json: bool) -> int:
    """Run a command and print what it says to the end; returns the exit code."""
    _prepare_output()
    try:
        code = _run(given, as_json)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read our output has seen enough
        _drop_output(sys.stdout)
        return OK
    except OSError as error:  # the disk to which our output goes is full
        _drop_output(sys.stdout)
        try:
            print(f"mbframe: the output could not be written: {error.strerror or error}", file=sys.stderr, flush=True)
        except OSError:
            _drop_output(sys.stderr)
        return FAILED


def _run(arguments: list[str], as_json: bool) -> int:
    try:
        options = parser().parse_args(arguments)
        return int(options.command(options))
    except (MbframeError, NotAvailableError, UsageError, Interrupted) as error:
        return report(error, as_json)
    except OSError as error:
        if isinstance(error, BrokenPipeError) or error.filename is None:
            raise
        return report(error, as_json)
    except KeyboardInterrupt:
        return report(Interrupted("stopped"), as_json)


def _prepare_output() -> None:
    """Streams that take whatever is said: letters that a terminal cannot show, and nothing where they are closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (until the end)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output(stream: TextIO) -> None:
    """What is still to be printed goes nowhere: the interpreter would try once more at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are told like all others."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().rstrip()}")


def parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    from .. import __version__
    from . import analyses, application, compare, papers, run, transfer

    found = _Parser(
        prog="mbframe",
        description="Model, simulate and inspect constrained mechanisms.\n"
        "MODEL is a file that mb.save wrote, or the name of an example (mbframe examples).",
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--version", action="version", version=f"mbframe {__version__}")
    commands = found.add_subparsers(metavar="command", required=True)
    for module in (run, analyses, compare, transfer, papers, application):
        module.add_commands(commands)
    return found
