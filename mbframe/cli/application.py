"""`mbframe gui`, `warmup` and `schema`: around the application, the compiler and editors."""

from __future__ import annotations

import time
from argparse import Namespace
from typing import Any

from ..applications import application
from .models import add_classes_option
from .outcome import OK, NotAvailableError, add_output_options, tell


def add_commands(commands: Any) -> None:
    """gui, warmup, schema."""
    parser = commands.add_parser(
        "gui", help="open the desktop application", description="Open the desktop application, with models if given."
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="models or results to open; programs (.py), which are run after a question",
    )
    add_classes_option(parser)
    parser.add_argument("--install-desktop-entry", action="store_true", help="only put it into the desktop's menu")
    parser.set_defaults(command=gui)
    parser = commands.add_parser(
        "warmup", help="compile the solver ahead of its first use", description=warm_up.__doc__
    )
    add_output_options(parser)
    parser.set_defaults(command=warm_up)
    about = "The JSON Schema of model files, with which editors complete and check them."
    parser = commands.add_parser("schema", help="print the JSON Schema of model files", description=about)
    parser.add_argument("--output", metavar="FILE", help="write it to a file instead")
    parser.set_defaults(command=schema)


def gui(options: Namespace) -> int:
    """Open the application, which is another package: nothing here knows it."""
    window = application("gui")
    if window is None:
        raise NotAvailableError("the desktop application is not installed here; it comes with the extra mbframe[gui]")
    arguments = ["--install-desktop-entry"] if options.install_desktop_entry else options.files
    arguments = [*arguments, *(word for source in options.classes for word in ("--classes", source))]
    return int(window(arguments) or OK)


def warm_up(options: Namespace) -> int:
    """Compile everything in the library, so that the first simulation starts at once. It is done once per version."""
    from ..solvers.warmup import warm_up as parts

    began, done = time.perf_counter(), []
    for part in parts():
        done.append(part)
        if not options.json and not options.quiet:
            print(f"{time.perf_counter() - began:6.1f} s  {part}", flush=True)
    if options.json:
        tell(options, {"compiled": done, "wall_time": time.perf_counter() - began})
    return OK


def schema(options: Namespace) -> int:
    """Print or write the schema of model files."""
    from ..disk.atomic import write_text
    from ..files.json_text import dumps
    from ..files.schema import schema as described

    text = dumps(described())
    if options.output is None:
        print(text, end="")
    else:
        write_text(options.output, text)
    return OK
