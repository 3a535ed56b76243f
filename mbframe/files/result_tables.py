"""Quantities of a result as tables for other programs: CSV and Parquet."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..disk.atomic import FilePath, refused, replacing
from ..errors import MbframeError, shown
from ..quantities import Quantity, select

if TYPE_CHECKING:
    from ..results import Result

ROWS: Final = 10_000  # that are turned into text at a time
FORMULA: Final = re.compile("(^|;)(?=\\s*[-=+@\uff1d\uff0b\uff0d\uff20])")
"""Where a spreadsheet's formula begins: also with wide letters, and behind what some languages separate columns by."""
DEFAULT: Final = {
    2: ("position", "angle", "velocity", "angular_velocity"),
    3: ("position", "quaternion", "velocity", "angular_velocity"),
}
"""What is written of every body if nothing is named, by the dimension of the system."""


def export(result: Result, path: FilePath, names: Sequence[str] = ()) -> None:
    """Write the instants and the named quantities, a row per instant; see `Result.export`."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise refused(path, f"tables can be written as {', '.join(WRITERS)}; choose one of these suffixes")
    chosen = names or [f"{body.name}.{kind}" for body in result.described.bodies for kind in DEFAULT[result.dimension]]
    columns = [part for quantity in select(result, ["t", *chosen]) for part in quantity.components()]
    WRITERS[suffix](path, list({column.name: column for column in columns}.values()))


def write_csv(path: FilePath, columns: Sequence[Quantity]) -> None:
    """A header "name [unit]" and numbers with all their digits."""
    header = [harmless(f"{column.name} [{column.unit}]" if column.unit else column.name) for column in columns]
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for start in range(0, len(columns[0].values), ROWS):
            parts = [column.values[start : start + ROWS].tolist() for column in columns]
            writer.writerows(zip(*parts, strict=True))


def harmless(header: str) -> str:
    """A header that no spreadsheet takes for a formula, and no terminal for a command."""
    text = shown(header).replace("\n", "\\n").replace("\t", "\\t")
    return FORMULA.sub(r"\1'", text)


def write_parquet(path: FilePath, columns: Sequence[Quantity]) -> None:
    """A column per quantity, with its unit as metadata of the field."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MbframeError("Parquet needs pyarrow, which is not installed: pip install pyarrow") from error
    fields = [pyarrow.field(c.name, pyarrow.float64(), nullable=False, metadata={"unit": c.unit}) for c in columns]
    table = pyarrow.table([c.values for c in columns], schema=pyarrow.schema(fields))
    # A file of ours: pyarrow does not close its own when the disk is full, so that its room would stay taken.
    with replacing(path) as temporary, temporary.open("wb") as file:
        pyarrow.parquet.write_table(table, file)


WRITERS: Final = {".csv": write_csv, ".parquet": write_parquet}
