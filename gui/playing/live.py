"""Live: the model runs in real time, and what is changed or pulled meanwhile acts at once."""

from __future__ import annotations

import pickle
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from PySide6.QtCore import QObject, Signal

import mbframe as mb
from mbframe.unknown import refuse_unknown_classes

from ..base.turns import Turns
from ..document.document import Document
from ..document.messages import ended
from ..document.runs import Run
from ..fields import commit_focused
from ..solving.process import Failure
from ..solving.solver import Job, Solver
from ..solving.tasks import Model
from .hands import Spring
from .live_tasks import Frame, LiveOutcome, LiveTask, Orders

if TYPE_CHECKING:
    from ..solving.curves import Curve

SHOWN: Final = 10.0
"""Seconds of the wall that plots show while they scroll."""
KEPT_POINTS: Final = 20_000
"""Of a curve that scrolls; of longer ones the beginning is forgotten. A run that is kept has all."""
NOT_NUMBERS: Final = ("shapes", "unit", "lower", "upper", "measures", "outputs")
"""Parameters that no running simulation can take, or needs to."""


class Live(QObject):
    """Runs the document's model in the solver's process, and shows it as it goes.

    Changes of the document go there, too; sliders of inputs and the hand that pulls act there only.
    """

    changed = Signal()
    """It began, ended, paused or went on, or what was seen was kept or left."""
    framed = Signal(object)
    """A `Frame` is shown."""

    def __init__(self, document: Document, solver: Solver, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document, self.solver = document, solver
        self.factor = 1.0
        """Time in the motion per time on the wall that is wanted."""
        self.paused = False
        self.frame: Frame | None = None
        """What was shown last."""
        self.seen: Run | None = None
        """What was seen, from the end until it is kept or left."""
        self.run: Run | None = None
        """Stands for it in plots while it is running."""
        self._job: Job | None = None
        self._reading: Run | None = None
        self._model: Model | None = None
        self._names: dict[str, dict[str, str]] = {}
        self._points: dict[str, tuple[list[float], list[float]]] = {}
        self._waits = False  # the process has shown something that is not answered
        self._orders: dict[str, Any] = {}
        self._turns = Turns(self, 0.02)
        document.replaced.connect(self.forget)
        document.structure_changed.connect(self._structure_changed)
        document.element_changed.connect(self._element_changed)
        document.animation_owner_changed.connect(self._owner_changed)

    # --- how it is ----------------------------------------------------------------------------------------------------

    @property
    def on(self) -> bool:
        """Whether the model runs, or pauses."""
        return self._job is not None

    @property
    def running(self) -> bool:
        """Whether it runs, and does not pause."""
        return self.on and not self.paused and self.frame is not None

    @property
    def rate(self) -> float:
        """Time in the motion per time on the wall, as measured."""
        return self.frame.rate if self.frame is not None else 0.0

    @property
    def inputs(self) -> dict[str, float]:
        """The values of the inputs; empty if it is off."""
        return self.frame.inputs if self.on and self.frame is not None else {}

    # --- beginning and end --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Let the model run from where it is described; what cannot run is posted as a message."""
        if self.on or not commit_focused():
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
        self.leave()
        document.runs.choose(None)
        path = document.session.run_file()
        settings, names = document.runs.settings, tuple(self._watched)
        self.run = Run("Live", settings, color="#2f6fde")
        self._points, self.frame, self.paused, self._waits, self._orders = {}, None, False, False, {}
        job = self._job = self.solver.submit(LiveTask(self._model, settings, str(path), self.factor, names))
        job.progressed.connect(self._show)
        job.finished.connect(self._on_finished)
        job.failed.connect(self._on_failed)
        job.cancelled.connect(self._on_cancelled)
        document.animation_owner = self
        self.changed.emit()

    def stop(self) -> None:
        """End it; what was seen can be kept then."""
        if self._job is None:
            return
        if self.frame is None:  # it has not begun: there is nothing to keep
            self._job.cancel()
        else:
            self._tell(end=True)

    def toggle(self) -> None:
        """Pause, or go on."""
        self.pause(not self.paused)

    def pause(self, paused: bool = True) -> None:
        """Stand still, or go on."""
        if self.on and paused is not self.paused:
            self.paused = paused
            if not paused:
                self.document.animation_owner = self
            self._tell(paused=paused)
            if paused and self.document.animation_owner is self:
                self.document.animation_owner = None
            self.changed.emit()

    def step(self) -> None:
        """One accepted step."""
        self.pause()
        self._tell(steps=self._orders.get("steps", 0) + 1)

    def begin_again(self) -> None:
        """From the beginning; numbers that were changed stay as they are."""
        self._tell(again=True)

    def set_factor(self, factor: float) -> None:
        """Time in the motion per time on the wall."""
        if factor != self.factor:
            self.factor = factor
            self._tell(factor=factor)
            self.changed.emit()

    def set_input(self, name: str, value: float) -> None:
        """Give an input another value."""
        self._tell(inputs=self._orders.get("inputs", {}) | {name: value})

    def pull(self, spring: Spring) -> None:
        """Pull at a body."""
        self._orders.pop("let_go", None)
        self._tell(spring=spring)

    def let_go(self) -> None:
        """Pull at nothing any more."""
        self._orders.pop("spring", None)
        self._tell(let_go=True)

    # --- what was seen ------------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Make a run of what was seen."""
        if self.seen is not None and not self._turns.busy:
            self._turns.start(self._keeping(self.seen))

    def _keeping(self, run: Run) -> Iterator[None]:
        self._reading = run
        run.name = self.document.runs.next_name()
        yield from run.reading()
        self.seen = self._reading = None
        if run.result is not None:
            self.document.runs.add(run)
            self.document.messages.post(f"{run.name}: what was seen live, {run.t_last:.4g} s of motion.")
        self.changed.emit()

    def leave(self) -> None:
        """What was seen is not wanted."""
        if self.seen is not None and self.seen is not self._reading:
            self.seen.discard()
            self.seen = None
            self.changed.emit()

    # --- curves -------------------------------------------------------------------------------------------------------

    def watch(self, owner: str, names: dict[str, str]) -> None:
        """Quantities whose values are wanted with each picture, with their units, by who wants them."""
        if self._names.get(owner) != names:
            self._names[owner] = dict(names)
            if self.on:
                self._tell(watched=tuple(self._watched))

    @property
    def _watched(self) -> dict[str, str]:
        return {name: unit for names in self._names.values() for name, unit in names.items()}

    def curve(self, name: str) -> Curve:
        """A watched quantity as far as it was seen; an angle goes on over half a turn."""
        from ..solving.curves import Curve  # here: it loads what reads results, which the window does without at first

        t, values = self._points.get(name, ([], []))
        unit = self._watched.get(name, "")
        return Curve(np.array(t), np.unwrap(values) if unit == "rad" else np.array(values), unit)

    @property
    def window(self) -> tuple[float, float]:
        """The instants that scrolling plots show."""
        now = self.frame.t if self.frame is not None else 0.0
        length = SHOWN * self.factor
        return max(0.0, now - length), max(now, length)

    def _keep_values(self, frame: Frame) -> None:
        if frame.began_again:
            self._points = {}
        for name, value in frame.values.items():
            t, values = self._points.setdefault(name, ([], []))
            if t and frame.t <= t[-1]:
                continue
            t.append(frame.t)
            values.append(value)
            if len(t) > 2 * KEPT_POINTS:
                first = bisect_left(t, t[-KEPT_POINTS])
                del t[:first], values[:first]

    # --- turns with the process ---------------------------------------------------------------------------------------

    def _tell(self, **orders: Any) -> None:
        """What the process is to do; it is sent with the next answer, at once if the process waits for one."""
        if self._job is None:
            return
        self._orders |= orders
        if self._waits:
            self._answer()

    def _answer(self) -> None:
        if self._job is None:
            return
        orders, self._orders, self._waits = Orders(**self._orders), {}, False
        self._job.tell(orders)

    def _show(self, _: float, frame: Frame) -> None:
        if self._job is None:
            return
        first, self.frame, self._waits = self.frame is None, frame, True
        self._keep_values(frame)
        owner = self.document.animation_owner
        if owner is self or (owner is None and self.paused):
            self.document.set_time(frame.t)
            self.document.show(frame.state)
        for words in frame.refused:
            self.document.messages.post(f"Live goes on without the last change: {ended(words)}", "warning")
        if first:
            self.changed.emit()
        self.framed.emit(frame)
        if self._orders or not self.paused:
            self._answer()

    # --- the end ------------------------------------------------------------------------------------------------------

    def _on_finished(self, outcome: LiveOutcome) -> None:
        run, failure = self._new_run(Path(outcome.path)), outcome.failure
        self._end()
        self.seen = run
        if failure is not None:
            run.complete, run.reason = False, failure.message
            words = f"Live ended at t = {outcome.t:.4g} s: {ended(failure.cause)} What was seen until then can be kept."
            self.document.messages.post(words, "error", self._named(failure.culprit))
        self.changed.emit()

    def _new_run(self, path: Path) -> Run:
        frame_t = self.frame.t if self.frame is not None else 0.0
        settings = self.document.runs.settings.changed(t_end=max(frame_t, 1e-9))
        return Run("Live", settings, self.document.model_text(), path=path, temporary=True, unsaved=True)

    def _on_failed(self, failure: Failure) -> None:
        self._end()
        self.document.messages.post(f"Live ended: {ended(failure.cause)}", "error", self._named(failure.culprit))
        self.changed.emit()

    def _on_cancelled(self) -> None:
        self._end()
        self.changed.emit()

    def _end(self) -> None:
        self._job, self.paused, self._waits = None, False, False
        if self.document.animation_owner is self:
            self.document.animation_owner = None

    def _named(self, name: str) -> Any:
        return next((element for element in self.document.system if name in (element.name, str(element))), None)

    # --- the document -------------------------------------------------------------------------------------------------

    def _element_changed(self, element: Any, name: str) -> None:
        if not self.on or name in NOT_NUMBERS:
            return
        value = getattr(element, name)
        if isinstance(element, mb.Input):
            self.set_input(element.name, value)
            return
        try:
            pickle.dumps(value)
        except Exception:  # a Python function of the user
            self.document.messages.post(f"{element.name}: this function begins with the next Live.", "warning", element)
            return
        self._tell(parameters=self._orders.get("parameters", {}) | {(element.name, name): value})

    def _structure_changed(self) -> None:
        if self.on:
            self.document.messages.post("Live ended: the model has other elements or names now.")
            self.stop()

    def _owner_changed(self, owner: Any) -> None:
        """Something else moves the bodies: stand still meanwhile."""
        if self.on and owner is not None and owner is not self:
            self.pause()

    def forget(self) -> None:
        """There is another model, or the window closes: nothing of it is wanted."""
        job = self._job
        self._turns.stop()
        if job is not None:
            for signal in (job.progressed, job.finished, job.failed, job.cancelled):
                signal.disconnect()
            job.cancel()
        self._end()
        self.frame = self.run = self._reading = None
        self.leave()
        self.changed.emit()
