"""Computing a run: the solver writes it to a file, the document shows what is there while it grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from PySide6.QtCore import QObject, Signal

import mbframe as mb
from mbframe.unknown import refuse_unknown_classes

from ..base.turns import Turns
from ..document.document import Document
from ..document.messages import ended
from ..document.runs import Run
from ..fields import commit_focused
from .process import Failure
from .solver import PREPARING, Job, Solver
from .tasks import Model, SimulateTask

PATIENCE: Final = 0.02
"""Seconds of reading after which the window has its turn."""
RELOAD_SECONDS: Final = 0.25
"""Least interval between readings of a run that is computing."""


class Runner(QObject):
    """Computes one run at a time for a document.

    The run becomes part of the document as soon as its first states are there, so that it can be played while it
    computes. One that fails or is cancelled stays, with the motion until then and the reason.
    """

    started = Signal()
    progressed = Signal(float, float)
    """The fraction that is done, and the seconds that are left (negative: not known yet)."""
    playable = Signal(object)
    """The first states of a run are there."""
    ended = Signal(object)
    """The run, or None if nothing was computed."""

    def __init__(self, document: Document, solver: Solver, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document, self.solver = document, solver
        self.run: Run | None = None
        self.job: Job | None = None
        self.reached = 0.0
        self._model: Model | None = None
        self._began = self._reloaded = 0.0
        self._turns = Turns(self, PATIENCE)
        document.replaced.connect(self._forget)

    @property
    def running(self) -> bool:
        """Whether a run is being computed, or read when it has ended."""
        return self.run is not None

    @property
    def preparing(self) -> bool:
        """Whether the solver is not ready yet: what is compiled once for all runs."""
        return self.solver.state == PREPARING

    def start(self) -> None:
        """Compute a run with the document's settings; what cannot be simulated is posted as a message."""
        if self.running or not commit_focused():
            return
        document = self.document
        if not len(document.system.bodies):
            document.messages.post("There is nothing to move yet. Add a body first: Add, or K for a link.", "warning")
            return
        try:
            refuse_unknown_classes(document.system)
            self._model = Model.of(document.system)
        except mb.ModelError as error:
            document.messages.post_error(error)
            return
        path = document.session.run_file()
        self.run = Run(
            document.runs.next_name(),
            document.runs.settings,
            document.model_text(),
            complete=False,
            path=path,
            temporary=True,
            computing=True,
            unsaved=True,
        )
        self._began = self._reloaded = 0.0
        self.reached = 0.0
        job = self.solver.submit(SimulateTask(self._model, document.runs.settings, str(path)))
        self.job = job
        job.progressed.connect(self._on_progress)
        job.finished.connect(self._on_finished)
        job.failed.connect(self._on_failed)
        job.cancelled.connect(self._on_cancelled)
        self.started.emit()

    def cancel(self) -> None:
        """Stop the run; what was computed is kept."""
        if self.job is not None:
            self.job.cancel()

    # --- what the solver reports -------------------------------------------------------------------------------------

    def _on_progress(self, fraction: float, t: Any) -> None:
        now = time.monotonic()
        if not self._began:
            self._began = now
        self.reached = float(t)
        elapsed = now - self._began
        left = elapsed * (1.0 - fraction) / fraction if fraction > 0.0 and elapsed > 0.2 else -1.0
        self.progressed.emit(fraction, left)
        if now - self._reloaded > RELOAD_SECONDS and not self._turns.busy and self.run is not None:
            self._turns.start(self._growth(self.run))

    def _on_finished(self, outcome: Any) -> None:
        run = self._ended_run()
        run.complete, run.warnings = True, list(outcome.warnings)
        self._turns.start(self._conclusion(run, lambda _: self._tell_success(run, outcome)))

    def _tell_success(self, run: Run, outcome: Any) -> None:
        for warning in run.warnings:
            self.document.messages.post(f"{run.name}: {warning}", "warning")
        speed = f"{run.settings.t_end:g} s of motion in {duration(outcome.wall_time)}, {outcome.steps} steps"
        self.document.messages.post(f"{run.name}: {speed}.")

    def _on_failed(self, failure: Failure) -> None:
        run = self._ended_run()
        run.reason = failure.message
        self._turns.start(self._conclusion(run, lambda kept: self._tell_failure(run, failure, kept)))

    def _tell_failure(self, run: Run, failure: Failure, kept: bool) -> None:
        where = f" at t = {failure.time:.4g} s" if failure.time is not None else ""
        shown = " The motion until then is kept." if kept else ""
        problems = failure.problems or [None]
        for problem in problems:
            text = ended(str(problem) if problem is not None else failure.cause)
            element = self._named(problem.element if problem is not None else failure.culprit)
            if failure.time is None:
                self.document.messages.post(f"The run did not start: {text}", "error", element)
            else:
                self.document.messages.post(f"{run.name} stopped{where}: {text}{shown}", "error", element)

    def _on_cancelled(self) -> None:
        run = self._ended_run()
        words = f"cancelled at t = {self.reached:.4g} s"
        run.reason = words
        self._turns.start(self._conclusion(run, lambda _: self.document.messages.post(f"{run.name} was {words}.")))

    def _tell_leaps(self, run: Run) -> None:
        """Say that states are stored too rarely to be played as a motion."""
        if run.track is not None and run.track.leaps:
            every = f"stores a state every {run.settings.interval():g} s, and bodies come and go meanwhile"
            remedy = "It is played in leaps; choose an earlier end, or store more states in Method…"
            self.document.messages.post(f"{run.name} {every}. {remedy}.", "warning")

    def _ended_run(self) -> Run:
        """The solver has done its part."""
        assert self.run is not None
        self.job, self.run.computing = None, False
        return self.run

    # --- reading what is there, piece by piece -----------------------------------------------------------------------

    def _growth(self, run: Run) -> Iterator[None]:
        """Read a run again, and announce what is new."""
        before = run.result
        yield from self._reading(run)
        if run.result is not before:
            self.document.runs.report_change(run)
        self._reloaded = time.monotonic()

    def _conclusion(self, run: Run, tell: Callable[[bool], object]) -> Iterator[None]:
        """Read the rest of a run that has ended, and say so; what there is of it is kept."""
        yield from self._reading(run)
        kept = run in self.document.runs
        if kept:
            self.document.runs.report_change(run)
        else:
            run.discard()
        yield
        tell(kept)
        yield
        if kept:
            self._tell_leaps(run)
        self.run = None
        self.ended.emit(run if kept else None)

    def _reading(self, run: Run) -> Iterator[None]:
        """The first states make a run part of the document."""
        model = self._model
        yield from run.reading(model.system() if model is not None and model.pickled else None)
        if run.result is not None and run not in self.document.runs:
            self.document.runs.add(run)
            self.playable.emit(run)

    def _named(self, name: str) -> Any:
        """The element that a problem is about, by its name or as problems write it."""
        return next((element for element in self.document.system if name in (element.name, str(element))), None)

    def _forget(self) -> None:
        """Another system: a run of the former one is of no use."""
        run, job, self.run, self.job = self.run, self.job, None, None
        if run is None:
            return
        self._turns.stop()
        if job is not None:
            for signal in (job.progressed, job.finished, job.failed, job.cancelled):
                signal.disconnect()
            job.cancel()
        run.discard()
        self.ended.emit(None)


def duration(seconds: float) -> str:
    """A time in words, coarse enough to be read at a glance."""
    if seconds < 1.0:
        return f"{max(1, round(1000.0 * seconds))} ms"
    if seconds < 60.0:
        return f"{seconds:.1f} s" if seconds < 10.0 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
