"""What came out of a comparison of methods: a row for each, pictures, a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelError, Problem
from .methods import AS_DESCRIBED, CHOICES, Method

if TYPE_CHECKING:
    from ...disk.atomic import FilePath
    from ...plots import Plot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Samples:
    """Some instants of a run: times, poses of the bodies (n, bodies, ...), total energy."""

    t: Array
    positions: Array
    rotations: Array
    energy: Array

    def error(self, exact: Samples) -> float:
        """Largest distance (m) of a body's origin from where it should be, or angle (rad) from how it should stand."""
        distances = np.linalg.norm(self.positions - exact.positions, axis=-1)
        # |A - B| = 2 sqrt(2) |sin(angle / 2)| in the Frobenius norm, which small angles do not spoil.
        apart = np.linalg.norm(self.rotations - exact.rotations, axis=(-2, -1)) / np.sqrt(8.0)
        angles = 2.0 * np.arcsin(np.minimum(apart, 1.0))
        return float(max(distances.max(initial=0.0), angles.max(initial=0.0)))

    def energy_drift(self, exact: Samples) -> float:
        """Largest difference of the total energy, J. Where energy is conserved, exact.energy is that of the start."""
        return float(np.abs(self.energy - exact.energy).max(initial=0.0))


@dataclass(frozen=True)
class History:
    """Every stored instant of a run: norms of the violations, and the total energy (J)."""

    t: Array
    position_violation: Array
    velocity_violation: Array
    energy: Array


@dataclass(frozen=True)
class Outcome:
    """What a method did; a failed one has only the reason."""

    method: Method
    failure: str = ""
    error: float | None = None
    energy_drift: float | None = None
    steps: int | None = None
    evaluations: int | None = None
    wall_time: float | None = None
    warnings: tuple[str, ...] = ()
    history: History | None = field(default=None, repr=False)
    samples: Samples | None = field(default=None, repr=False)

    def row(self) -> dict[str, Any]:
        """The outcome as a row of the table."""
        row: dict[str, Any] = self.method.names()
        row["error"] = self.error
        for level in ("position_violation", "velocity_violation"):
            norms = None if self.history is None else getattr(self.history, level)
            row[f"max_{level}"] = None if norms is None else float(norms.max())
            row[f"mean_{level}"] = None if norms is None else float(norms.mean())
        further = ("energy_drift", "steps", "evaluations", "wall_time")
        row |= {name: getattr(self, name) for name in further}
        return row | {"warnings": len(self.warnings) or None, "failure": self.failure}


@dataclass(frozen=True)
class Column:
    """A column of the table as it is shown."""

    title: str
    format: str
    help: str


COLUMNS: Final = {
    "formulation": Column("formulation", "", "coordinates of the rigid bodies"),
    "acceleration": Column("acceleration", "", "how accelerations are found"),
    "stabilization": Column("stabilization", "", "how constraints are held"),
    "integrator": Column("integrator", "", "how a step is taken"),
    "dt": Column("dt (s)", "g", "step; none if it is chosen by a tolerance"),
    "error": Column("error", ".1e", "largest distance from the reference: m for positions, rad for rotations"),
    "max_position_violation": Column("max |C|", ".1e", "largest norm of the constraints' residuals"),
    "mean_position_violation": Column("mean |C|", ".1e", "mean norm of the constraints' residuals"),
    "max_velocity_violation": Column("max |C'|", ".1e", "largest norm of the residuals' rates"),
    "mean_velocity_violation": Column("mean |C'|", ".1e", "mean norm of the residuals' rates"),
    "energy_drift": Column("energy (J)", ".1e", "largest difference of the total energy from the reference's"),
    "steps": Column("steps", "d", "accepted steps"),
    "evaluations": Column("evaluations", "d", "evaluations of the equations of motion, those of corrections included"),
    "wall_time": Column("time (s)", ".3g", "median time of the runs, without compilation"),
    "warnings": Column("warnings", "d", "of the run, such as of what leaves the range of a theory; see the notes"),
    "failure": Column("failure", "", "why there are no numbers"),
}
NOTHING: Final = "–"


class Table(list[dict[str, Any]]):
    """A list of rows, each a dict with the keys of `COLUMNS`; as text and in a notebook it is a table."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], title: str = "") -> None:
        super().__init__(dict(row) for row in rows)
        self.title = title

    def common(self) -> dict[str, str]:
        """The choices that are the same in all rows, in words: they need no column."""
        if len(self) < 2:
            return {}
        alike = [name for name in CHOICES if len({row[name] for row in self}) == 1]
        return {name: self[0][name] for name in alike}

    def shown(self) -> list[str]:
        """The columns that have something to say."""
        common = self.common()
        filled = [name for name in COLUMNS if name not in common and any(row[name] not in (None, "") for row in self)]
        return [name for name in filled if name != "failure"] + ["failure"] * ("failure" in filled)

    def caption(self) -> str:
        """What the table is about, with what all rows have in common."""
        return "; ".join(part for part in (self.title, ", ".join(self.common().values())) if part)

    def cells(self) -> list[list[str]]:
        """The shown columns of all rows as text."""
        return [[formatted(name, row[name]) for name in self.shown()] for row in self]

    def __str__(self) -> str:
        if not self:
            return self.caption()
        names = self.shown()
        lines = [[COLUMNS[name].title for name in names], *self.cells()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["─" * width for width in widths])
        text = [
            "  ".join(
                cell.rjust(width) if COLUMNS[name].format else cell.ljust(width)
                for name, cell, width in zip(names, line, widths, strict=True)
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.caption(), *text] if self.caption() else text)

    def __rich__(self) -> Any:
        """The table in colours, for `rich.print`."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(title=self.caption(), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for name in self.shown():
            table.add_column(COLUMNS[name].title, justify="right" if COLUMNS[name].format else "left")
        for row, cells in zip(self, self.cells(), strict=True):
            style = "red" if row["failure"] else ""
            table.add_row(*(Text(cell, style=style) for cell in cells))
        return table

    def _repr_html_(self) -> str:
        from .comparison_page import table_html

        return table_html(self)


def formatted(name: str, value: Any) -> str:
    """A value of a column as text."""
    if value is None or value == "":
        return NOTHING if COLUMNS[name].format else ""
    return format(value, COLUMNS[name].format)


class Comparison:
    """Methods compared on one system; made by `compare`.

    `outcomes` has for each method its numbers and its history over time; `notes` what is to be known about all;
    `completed` is False if the user stopped it before the last method.
    """

    def __init__(
        self,
        name: str,
        t_end: float,
        outcomes: Sequence[Outcome],
        notes: Sequence[str] = (),
        *,
        completed: bool = True,
    ) -> None:
        self.name, self.t_end, self.outcomes, self.notes = name, t_end, list(outcomes), list(notes)
        self.completed = completed

    def __repr__(self) -> str:
        failed = len(self.failures())
        return f"<Comparison of {len(self.outcomes)} methods on {self.name!r}, {failed} failed>"

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self.notes])

    def table(self, sort: str | None = None) -> Table:
        """A row for each method: what was chosen, and what was measured; `sort` names the column to order by.

        Numbers of failed methods are None, and they come last.
        """
        rows = [outcome.row() for outcome in self.outcomes]
        if sort is not None:
            if sort not in COLUMNS:
                message = f"found {sort!r}; allowed are {', '.join(COLUMNS)}"
                raise ModelError([Problem("table", "sort", message)])
            rows.sort(key=lambda row: (row[sort] is None, row[sort] if row[sort] is not None else 0))
        return Table(rows, f"{self.name}, {self.t_end:g} s")

    def failures(self) -> list[Outcome]:
        """The methods that have no result."""
        return [outcome for outcome in self.outcomes if outcome.failure]

    def families(self) -> dict[str, list[Outcome]]:
        """Methods that differ only in how finely they step, by what is special about them; failed ones are left out."""
        done = [outcome for outcome in self.outcomes if not outcome.failure]
        families = [outcome.method.family() for outcome in done]
        usual = [Counter(choices).most_common(1)[0][0] for choices in zip(*families, strict=True)]
        varied = [k for k in range(len(CHOICES)) if len({family[k] for family in families}) > 1] or [len(CHOICES) - 1]
        found: dict[str, list[Outcome]] = {}
        for family, outcome in zip(families, done, strict=True):
            special = [family[k] for k in varied if family[k] != usual[k]]
            named = special or [family[k] for k in varied if family[k] != AS_DESCRIBED]
            found.setdefault(", ".join(named), []).append(outcome)
        return found

    def plot(self, kind: str = "work", *, against: str = "wall_time", theme: str = "light") -> Plot:
        """A figure: "work" (error over cost, a line per method), "violation" or "energy" (over time, finest steps).

        The cost of "work" is `against`: "wall_time" or "evaluations". `figure.save("lab.svg")` writes PNG, SVG or PDF.
        """
        from .comparison_plots import energy, violation, work_precision

        kinds: dict[str, Callable[[], Plot]] = {
            "work": lambda: work_precision(self, against, theme),
            "violation": lambda: violation(self, theme),
            "energy": lambda: energy(self, theme),
        }
        if kind not in kinds:
            raise ModelError([Problem("plot", "kind", f"found {kind!r}; allowed are {', '.join(kinds)}")])
        return kinds[kind]()

    def report(self, path: FilePath) -> None:
        """Write everything as one HTML page that needs no other file and no network."""
        from .comparison_page import page

        page(self, path)
