"""The command line: `mbframe`. Each module here has the commands of one kind."""

from __future__ import annotations

import argparse
import io
import os
import sys

from .. import __version__
from ..errors import MbframeError
from . import analyses, application, compare, run, transfer
from .outcome import FAILED, INTERRUPTED, MISSING, OK, WRONG, NotAvailableError, report

_CODES = f"""\
exit codes:
  {OK}    done
  {FAILED}    the run or the analysis failed, or a file could not be written
  {WRONG}    the command, the model or the choice of methods cannot be used as given
  {MISSING}    this installation has no such part
  {INTERRUPTED}  stopped by Ctrl-C; what was computed is kept
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code. What the user can correct is said in words, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may have letters that a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    options = parser().parse_args(arguments)
    try:
        code = options.command(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except (MbframeError, NotAvailableError, OSError) as error:
        return report(error, as_json=getattr(options, "json", False))
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    found = argparse.ArgumentParser(
        prog="mbframe",
        description="Model, simulate and inspect constrained mechanisms.\n"
        "MODEL is a file that mb.save wrote, or the name of an example (mbframe examples).",
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument("--version", action="version", version=f"mbframe {__version__}")
    commands = found.add_subparsers(metavar="command", required=True)
    for module in (run, analyses, compare, transfer, application):
        module.add_commands(commands)
    return found
