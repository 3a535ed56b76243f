"""`mbframe papers`: the tables of the papers behind the methods, made anew."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from .outcome import OK

HEAD = """# The papers

Every numerical table of the papers behind the methods ([References](references.md)), theirs beside ours, made by
`mbframe papers`. Each mechanism is an example: `mbframe gui four_bar` opens it.
"""


def add_commands(commands: Any) -> None:
    """papers."""
    parser = commands.add_parser(
        "papers",
        help="print the tables of the papers behind the methods beside ours",
        description="Simulate the mechanisms of the papers with their methods, and print their tables beside ours with "
        "the reasons of what differs.",
    )
    parser.add_argument("--short", action="store_true", help="simulate one second of each mechanism only")
    parser.add_argument("--output", metavar="FILE", help="write a page in Markdown instead")
    parser.set_defaults(command=papers)


def papers(options: Namespace) -> int:
    """Print the tables as they are made, or write them."""
    from ..disk.atomic import writable, write_text
    from ..examples.paper_tables import all_tables

    if options.output is None:
        for table in all_tables(options.short):
            print(table, end="\n\n", flush=True)
        return OK
    writable(options.output)  # before minutes of work
    text = "\n".join([HEAD, *(table.markdown() for table in all_tables(options.short))])
    write_text(options.output, text)
    return OK
