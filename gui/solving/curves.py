"""Values of quantities, read without holding up the window.

What a file stores under its name is read at once, in a few milliseconds. All else follows from the equations of motion,
which takes seconds for reactions: the solver's process computes it, or a thread if a result is in memory only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal

import mbframe as mb
from mbframe.files.result_files import ResultFile
from mbframe.quantities import units_of

from ..base.turns import single_shot
from ..document.document import Document
from ..document.growing import Together
from ..document.runs import Run
from .computing import Computation, Wanted
from .solver import Job, Solver
from .tasks import Model, QuantitiesTask

Array = NDArray[np.float64]

AGAIN_MS: Final = 1000
"""Computed quantities of a run that still grows are asked for no more often than this."""


@dataclass(frozen=True)
class Curve:
    """A quantity of a run over the instants that are there; `problem` says why there are none."""

    t: Array
    values: Array
    unit: str
    problem: str = ""


class Curves(QObject):
    """Hands out curves, and says when one that had to be computed is there."""

    changed = Signal(object, str)
    """A run and the name of a quantity whose curve is new."""
    busy_changed = Signal(bool)

    def __init__(self, document: Document, solver: Solver | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document, self.solver = document, solver
        self._known: dict[tuple[int, str], tuple[Any, Curve]] = {}
        self._wanted: dict[int, tuple[Run, dict[str, None]]] = {}
        self._requests: dict[int, _Request] = {}
        self._units: dict[int, tuple[Any, dict[str, str]]] = {}
        self._soon = single_shot(self, self._ask)
        document.runs.changed.connect(self._forget_removed)
        document.replaced.connect(self._forget_all)

    @property
    def busy(self) -> bool:
        """Whether something is being computed, or about to be."""
        return bool(self._requests or self._wanted)

    def units(self, run: Run | None) -> dict[str, str]:
        """Names and units of the quantities of a run; without a run those that one would have."""
        if run is None or run.result is None:
            return units_of(self.document.system)
        known = self._units.get(id(run))
        if known is None or known[0] is not run.result:
            try:
                found = units_of(run.result.system)
            except mb.ModelError:  # of a file without its model: what is stored can be shown
                found = {}
            stored = run.result.states.stored_units()
            known = (run.result, found | {name: unit for name, unit in stored.items() if name not in found})
            self._units[id(run)] = known
        return known[1]

    def get(self, run: Run, name: str) -> Curve | None:
        """The curve as far as it is known; what is missing is asked for and announced by `changed`."""
        result = run.result
        if result is None or not len(result):
            return None
        known = self._known.get((id(run), name))
        if known is not None and known[0] is result:
            return known[1]
        if self._at_once(run) and (stored := self._stored(result, name)) is not None:
            self._known[id(run), name] = (result, stored)
            return stored
        if name not in self.units(run):
            nothing = np.zeros(0)
            return Curve(nothing, nothing, "", f"{run.name} has no quantity {name!r}: its model is another one")
        self._wanted.setdefault(id(run), (run, {}))[1][name] = None
        if not self._soon.isActive():
            self._soon.start(0 if known is None else AGAIN_MS)
        return known[1] if known is not None else None

    def _at_once(self, run: Run) -> bool:
        """Whether what is stored can be read here: not from a file that is too large for memory."""
        states = run.result.states
        return self.solver is None or not isinstance(states, ResultFile) or isinstance(states, Together)

    def _stored(self, result: mb.Result, name: str) -> Curve | None:
        if name == "t":
            return Curve(result.t, result.t, "s")
        found = result.states.stored(name)
        return None if found is None else Curve(result.t, np.asarray(found[0], float), found[1])

    # --- computing ---------------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Have what is wanted computed: all quantities of a run at once, one request per run at a time."""
        for key, (run, names) in list(self._wanted.items()):
            if key in self._requests:
                continue
            del self._wanted[key]
            if run in self.document.runs and run.result is not None:
                self._start(run, tuple(names))

    def _start(self, run: Run, names: tuple[str, ...]) -> None:
        result = run.result
        if self.solver is not None and run.path is not None and run.path.is_file():
            given = getattr(result.states, "given_system", None)
            model = Model.of(given) if given is not None else None
            job: Job | Computation = self.solver.submit(QuantitiesTask(str(run.path), names, model))
        else:
            job = Computation(partial(_quantities, result, names), self)
        self._requests[id(run)] = _Request(self, run, names, job)
        if isinstance(job, Computation):
            job.start()
        self.busy_changed.emit(True)

    def take(self, request: _Request, found: dict[str, Curve]) -> None:
        """Keep what a request has found."""
        run = request.run
        self._requests.pop(id(run), None)
        request.deleteLater()
        if run in self.document.runs:
            for name, curve in found.items():
                self._known[id(run), name] = (request.result, curve)
                self.changed.emit(run, name)
        if self._wanted:
            self._soon.start(0)
        self.busy_changed.emit(self.busy)

    def _forget_removed(self) -> None:
        kept = {id(run) for run in self.document.runs}
        self._known = {key: value for key, value in self._known.items() if key[0] in kept}
        self._units = {key: value for key, value in self._units.items() if key in kept}

    def _forget_all(self) -> None:
        for request in list(self._requests.values()):
            request.job.cancel()
        self._known.clear()
        self._wanted.clear()
        self._units.clear()


class _Request(QObject):
    """Quantities of a run that are being computed. It goes with its owner, so that a late answer finds nobody."""

    def __init__(self, owner: Curves, run: Run, names: tuple[str, ...], job: Job | Computation) -> None:
        super().__init__(owner)
        self.owner, self.run, self.result, self.names, self.job = owner, run, run.result, names, job
        job.finished.connect(self._on_finished)
        job.failed.connect(self._on_failed)
        job.cancelled.connect(self._on_cancelled)

    def _on_finished(self, found: dict[str, tuple[Any, str]]) -> None:
        t, curves = self.result.t, {}
        for name, (values, unit) in found.items():
            n = min(len(values), len(t))  # the file may have grown since
            curves[name] = Curve(t[:n], np.asarray(values, float)[:n], unit)
        self.owner.take(self, curves)

    def _on_failed(self, failure: object) -> None:
        nothing = np.zeros(0)
        self.owner.take(self, {name: Curve(nothing, nothing, "", str(failure)) for name in self.names})

    def _on_cancelled(self) -> None:
        self.owner.take(self, {})


def _quantities(result: mb.Result, names: tuple[str, ...], wanted: Wanted) -> dict[str, tuple[Any, str]]:
    """Values and unit of quantities by name, as `QuantitiesTask` gives them; some of them if no more are wanted."""
    found = {}
    for name in names:
        if not wanted():
            break
        quantity = result.quantity(name)
        found[name] = (quantity.values, quantity.unit)
    return found
