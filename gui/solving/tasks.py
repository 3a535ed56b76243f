"""Tasks of the solver process: plain data that travels there, with a method ``run(report)``.

Any object like that is a task, wherever it is defined, as long as its module does not import Qt. A class attribute
`slot` = "export" keeps it out of the way of computations; `latest` = "some name" lets a newer task of that name replace
one that still waits.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import mbframe as mb
from mbframe.errors import Problem
from mbframe.files import model as model_files
from mbframe.files.json_text import dumps, parse
from mbframe.plug_ins import Source, import_offered
from mbframe.registry import is_ours

from ..base.display import WITHIN
from ..document.runs import RunSettings
from .process import Cancelled

Report = Callable[..., None]


@dataclass(frozen=True)
class Model:
    """A system on its way to another process: as the text of a file, or pickled if no file can hold it."""

    text: str = ""
    pickled: bytes = b""

    @classmethod
    def of(cls, system: mb.System) -> Model:
        """Pack a system; one that cannot travel at all is a `ModelError`."""
        try:
            return cls(text=dumps(model_files.document(system)))
        except mb.ModelError:
            return cls(pickled=_pickled(system))

    def system(self) -> mb.System:
        """The system."""
        if self.text:
            return model_files.system_from(parse(self.text, "model"))
        return pickle.loads(self.pickled)


def _pickled(system: mb.System) -> bytes:
    try:
        return pickle.dumps(system)
    except Exception as error:  # whatever a user's object raises
        with_functions = _by_value(system)
        if with_functions is not None:
            return with_functions
        message = f"the model has a Python function that the solver cannot be given ({error}); use an expression"
        raise mb.ModelError(message) from error


def _by_value(system: mb.System) -> bytes | None:
    """Pickled with functions by value, if cloudpickle is there."""
    try:
        import cloudpickle

        return cloudpickle.dumps(system)
    except Exception:  # not installed, or an object that refuses
        return None


@dataclass(frozen=True)
class ClassesTask:
    """Import users' classes. It is done here first: what ends a process ends this one, and not the window."""

    source: Source

    def run(self, report: Report) -> list[str]:
        return [cls.__qualname__ for cls in self.source.load()]


@dataclass(frozen=True)
class PackageTask:
    """Import the classes that an installed package offers, here first; returns what is wrong with them."""

    package: str

    def run(self, report: Report) -> list[str]:
        return [str(problem) for problem in import_offered(self.package)]


@dataclass(frozen=True)
class ScriptTask:
    """Run a program for the system that it builds: what its variables are at the end.

    Returns the system, and its classes that the program defines or imports.
    """

    source: Source

    def run(self, report: Report) -> tuple[Model, list[str]]:
        os.environ[WITHIN] = "1"
        module = self.source.module()
        found = {name: thing for name, thing in vars(module).items() if isinstance(thing, mb.System)}
        label = Path(self.source.path).name
        if not found:
            message = (
                "builds no system; keep one in a variable of the module, such as system = mb.System(...), and outside "
                'of: if __name__ == "__main__":'
            )
            raise mb.ModelError([Problem(label, "", message)])
        system = found.get("system", list(found.values())[-1])
        parts: list[Any] = []
        for one in system:
            parts += [one, *getattr(one, "shapes", ()), getattr(one, "formulation", None)]
        own = {type(part) for part in parts if part is not None and not is_ours(type(part))}
        return Model.of(system), sorted(cls.__qualname__ for cls in own)


# ---- Runs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SimulationOutcome:
    """Outcome of a run; its states are in the file."""

    path: str
    completed: bool
    warnings: list[str]
    wall_time: float
    steps: int
    rejected: int


@dataclass(frozen=True)
class SimulateTask:
    """Simulate, streaming into an HDF5 file that can be read meanwhile. Progress comes with the time reached, s."""

    model: Model
    settings: RunSettings
    path: str
    initial: mb.State | None = None

    def run(self, report: Report) -> SimulationOutcome:
        begin, end = (self.initial.t if self.initial is not None else 0.0), self.settings.t_end
        result = mb.simulate(
            self.model.system(),
            initial=self.initial,
            output=self.path,
            progress=lambda t: report((t - begin) / (end - begin), t),
            **self.settings.keywords(),
        )
        info = result.info
        outcome = SimulationOutcome(
            self.path, info.completed, list(info.warnings), info.wall_time, info.steps, info.rejected
        )
        if not info.completed:  # it ends well when it is interrupted, with what it has
            raise Cancelled(outcome)
        return outcome


@dataclass(frozen=True)
class QuantitiesTask:
    """Quantities of a stored result by name: values and unit of each. For those that need the equations of motion."""

    path: str
    names: tuple[str, ...]
    model: Model | None = None

    def run(self, report: Report) -> dict[str, tuple[Any, str]]:
        result = mb.load_result(self.path, system=self.model.system() if self.model is not None else None)
        found = {}
        for number, name in enumerate(self.names):
            report(number / len(self.names))
            quantity = result.quantity(name)
            found[name] = (quantity.values, quantity.unit)
        return found


@dataclass(frozen=True)
class CompareTask:
    """Simulate with many methods and measure them (`mbframe.compare`)."""

    model: Model
    t_end: float
    keywords: dict[str, Any] = field(default_factory=dict)

    def run(self, report: Report) -> mb.Comparison:
        def progress(done: int, count: int) -> None:
            report(done / max(count, 1), (done, count))

        return mb.compare(self.model.system(), self.t_end, progress=progress, **self.keywords)


@dataclass(frozen=True)
class ReportTask:
    """Write a comparison as a page (`Comparison.report`)."""

    comparison: Any
    path: str
    slot: ClassVar[str] = "export"

    def run(self, report: Report) -> list[Path]:
        self.comparison.report(self.path)
        return [Path(self.path)]


# ---- States -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FreedomTask:
    """Count freedoms and find redundant constraints. Only the last one asked for matters."""

    model: Model
    state: mb.State | None = None
    latest: ClassVar[str] = "freedom"

    def run(self, report: Report) -> mb.Freedom:
        return mb.degrees_of_freedom(self.model.system(), self.state)


@dataclass(frozen=True)
class AssembleTask:
    """Close the joints with the least motion."""

    model: Model
    initial: mb.State | None = None
    fixed: tuple[str, ...] = ()

    def run(self, report: Report) -> mb.Assembly:
        return mb.assemble(self.model.system(), self.initial, self.fixed)


# ---- Export -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExportTask:
    """Write the motion of a stored result as a film, pictures, a 3D model or a page (`mbframe.render.export`)."""

    result: str
    path: str
    keywords: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None
    slot: ClassVar[str] = "export"

    def run(self, report: Report) -> list[Path]:
        found = mb.load_result(self.result, system=self.model.system() if self.model is not None else None)
        return mb.render.export(found, self.path, progress=report, **self.keywords)


@dataclass(frozen=True)
class PreviewTask:
    """Draw the first, the middle and the last picture of an export (`mbframe.render.preview`)."""

    result: str
    keywords: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None
    slot: ClassVar[str] = "export"

    def run(self, report: Report) -> list[Any]:
        found = mb.load_result(self.result, system=self.model.system() if self.model is not None else None)
        return mb.render.preview(found, **self.keywords)


@dataclass(frozen=True)
class TableTask:
    """Write quantities of a stored result as a table (.csv or .parquet)."""

    result: str
    path: str
    names: Sequence[str] = ()
    model: Model | None = None
    slot: ClassVar[str] = "export"

    def run(self, report: Report) -> list[Path]:
        found = mb.load_result(self.result, system=self.model.system() if self.model is not None else None)
        found.export(self.path, *self.names)
        return [Path(self.path)]
