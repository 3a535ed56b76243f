"""The command line: `mbframe`."""

from __future__ import annotations

import argparse
import sys
import time

from . import __version__


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="mbframe", description="Model, simulate and inspect constrained mechanisms.")
    parser.add_argument("--version", action="version", version=f"mbframe {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    warmup = commands.add_parser(
        "warmup", help="compile the solver ahead of its first use", description=warm_up.__doc__
    )
    warmup.add_argument("--quiet", action="store_true", help="print nothing")
    options = parser.parse_args(arguments)
    return warm_up(options.quiet)


def warm_up(quiet: bool = False) -> int:
    """Compile everything in the library, so that the first simulation starts at once. It is done once per version."""
    from .solvers.warmup import warm_up as parts

    began = time.perf_counter()
    for done in parts():
        if not quiet:
            print(f"{time.perf_counter() - began:6.1f} s  {done}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
