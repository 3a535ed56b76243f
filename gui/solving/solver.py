"""The solver: tasks go to other processes, so that the window never waits. `process` is the other side.

Processes are spawned, not forked (Qt does not survive that). Two of them compute, the second only while the first is
busy; a third exports. Large results do not come back through the pipe: they are in files.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QObject, QSocketNotifier, QTimer, Signal

from mbframe.plug_ins import Source

from ..base.turns import single_shot
from .process import Failure, serve

PREPARING: Final = "preparing"
READY: Final = "ready"
BUSY: Final = "busy"
BROKEN: Final = "broken"

GRACE_MS: Final = 180
"""Time for a cancelled task to end by itself; then its process is ended."""
POLL_MS: Final = 10
MOST_STARTS: Final = 3
"""A process that ends before it was ready is started again so often."""
FOLDER_PREFIX: Final = "mbframe-app-"

COMPUTE: Final = "compute"
EXPORT: Final = "export"
LIMITS: Final = {COMPUTE: 2, EXPORT: 1}
"""The largest number of processes for each kind of task."""


class Job(QObject):
    """A task on its way. Exactly one of `finished`, `failed` and `cancelled` is emitted, in the thread of the window.

    `failed` carries a `Failure` with message, problems, time and culprit.
    """

    progressed = Signal(float, object)
    finished = Signal(object)
    failed = Signal(object)
    cancelled = Signal()

    def __init__(self, solver: Solver, number: int, task: Any) -> None:
        super().__init__(solver)
        self.task = task
        self.number = number
        self.slot = getattr(task, "slot", COMPUTE)
        self.latest = getattr(task, "latest", None)
        self.sources = solver.sources
        self.state = "waiting"
        self.value: Any = None
        """What came of it; after a cancel what there was until then, or None."""

    @property
    def done(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.state in ("finished", "failed", "cancelled")

    def cancel(self) -> None:
        """Stop it: at once if it waits, else within 0.3 s."""
        solver = self.parent()  # not kept: a job that is deleted must not be the last to hold its solver
        if not self.done and isinstance(solver, Solver):
            solver._cancel(self)

    def tell(self, thing: Any) -> None:
        """Tell a task something that listens while it runs: answers to what it has shown, one at a time."""
        solver = self.parent()
        if not self.done and isinstance(solver, Solver):
            solver._tell_job(self, thing)

    def _end(self, outcome: str, value: Any) -> None:
        if self.done:
            return
        self.state, self.value = outcome, value
        if outcome == "cancelled":
            self.cancelled.emit()
        else:
            getattr(self, outcome).emit(value)
        self.deleteLater()  # its task and what is connected to it would stay as long as the solver


class _Worker(QObject):
    """A process, and what it is doing."""

    changed = Signal()
    died = Signal(object)

    def __init__(self, slot: str, warm: bool, parent: QObject) -> None:
        super().__init__(parent)
        self.slot = slot
        self.job: Job | None = None
        self.state = PREPARING
        self.was_ready = False
        self.cancelling = False
        self._payload = b""
        self._sources: tuple[Source, ...] = ()
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, warm), name=f"mbframe {slot}", daemon=True)
        self.process.start()
        theirs.close()
        self._listen()
        self._grace = single_shot(self, lambda: self.died.emit(self), GRACE_MS)

    def _listen(self) -> None:
        """Read as soon as there is something to read; where pipes cannot be watched, look often."""
        if os.name == "posix":
            notifier = QSocketNotifier(self._connection.fileno(), QSocketNotifier.Type.Read, self)
            notifier.activated.connect(self._read)
            self._deafen: Callable[[], object] = partial(notifier.setEnabled, False)
        else:
            timer = QTimer(self)
            timer.timeout.connect(self._read)
            timer.start(POLL_MS)
            self._deafen = timer.stop

    @property
    def free(self) -> bool:
        """Whether it can take a task."""
        return self.was_ready and self.job is None

    def begin(self, job: Job) -> None:
        """Take a task. It is sent when the process listens: sending to one that does not would stop the window."""
        try:
            self._payload = pickle.dumps(job.task)
        except Exception as error:  # whatever an object of the user raises
            failure = Failure(f"The solver cannot be given this task: {error}", type(error).__name__)
            QTimer.singleShot(0, lambda: job._end("failed", failure))
            return
        self.job, job.state = job, "running"
        self._sources = job.sources
        self._send(("offer", job.number))

    def cancel(self) -> None:
        """Ask the process to stop what it does, and end it if it does not."""
        if self.job is not None and not self._grace.isActive():
            self.cancelling = True
            self._send(("cancel", self.job.number))
            self._grace.start()

    def tell(self, thing: Any) -> None:
        """Tell its task something."""
        if self.job is not None and not self.cancelling:
            self._send(("told", self.job.number, thing))

    def _send(self, message: tuple[Any, ...]) -> None:
        try:
            self._connection.send(message)
        except OSError:  # its end is noticed by the notifier; but not if there is nothing more to read
            QTimer.singleShot(0, lambda: self.died.emit(self))

    def _read(self) -> None:
        try:
            while self._connection.poll():
                self._take(self._connection.recv())
        except (EOFError, OSError, pickle.UnpicklingError):
            self.died.emit(self)

    def _take(self, message: tuple[Any, ...]) -> None:
        kind, job = message[0], self.job
        if kind == "state":
            self.state = message[1]
            self.was_ready |= self.state == READY
            self.changed.emit()
        elif job is None or message[1] != job.number:
            return
        elif kind == "listening":
            payload, self._payload = self._payload, b""
            self._send(("task", job.number, payload, self._sources))
        elif kind == "progress":
            if self.state != READY:  # what had to be compiled is
                self.state = READY
                self.changed.emit()
            job.progressed.emit(message[2], message[3])
        else:
            self._grace.stop()
            self.job, self.state, self.cancelling = None, READY, False
            try:
                value = pickle.loads(message[2])
            except Exception as error:  # of a class that cannot be built again
                kind, value = "failed", Failure.of(error)
            self.changed.emit()
            job._end(kind, value)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._grace.stop()
        self._deafen()
        with suppress(OSError):
            self._connection.close()
        self.process.kill()
        self.process.join(1.0)


class Solver(QObject):
    """Computes tasks in other processes.

    Parameters
    ----------
    warm
        Whether processes load and compile what nearly every task needs before they are ready.
    """

    state_changed = Signal(str)
    broke = Signal(str)
    """A process ended unexpectedly: a sentence for the user."""

    def __init__(self, parent: QObject | None = None, *, warm: bool = True) -> None:
        super().__init__(parent)
        self._warm = warm
        self._closed = False
        self._numbers = 0
        self._early_deaths = 0
        self._workers: list[_Worker] = []
        self._waiting: list[Job] = []
        self._told = ""
        self.state = PREPARING
        self.sources: tuple[Source, ...] = ()
        """Files of users' classes that were allowed: the processes import them before a task."""
        _remove_leftovers()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))
        """Temporary files of runs; removed with the solver."""

    def start(self) -> None:
        """Start the first process, ahead of the first task."""
        if not self._workers and not self._closed:
            self._start(COMPUTE)

    def temporary_file(self, suffix: str = ".h5") -> Path:
        """A name for a file that lives as long as the application."""
        return self.folder / f"{uuid.uuid4().hex[:12]}{suffix}"

    def submit(self, task: Any) -> Job:
        """Have a task computed, as soon as a process is free."""
        self._numbers += 1
        job = Job(self, self._numbers, task)
        if self._closed:
            QTimer.singleShot(0, lambda: job._end("cancelled", None))
            return job
        if job.latest is not None:
            for older in [one for one in self._waiting if one.latest == job.latest]:
                self._waiting.remove(older)
                older._end("cancelled", None)
        self._waiting.append(job)
        self._dispatch()
        return job

    @property
    def jobs(self) -> list[Job]:
        """Those that run and those that wait."""
        return [worker.job for worker in self._workers if worker.job is not None] + list(self._waiting)

    def cancel_all(self) -> None:
        """Cancel every job."""
        for job in self.jobs:
            job.cancel()

    def close(self) -> None:
        """End all processes and remove temporary files. Never waits for a computation."""
        if self._closed:
            return
        self._closed = True
        for job in self.jobs:
            job._end("cancelled", None)
        self._waiting.clear()
        for worker in self._workers:
            worker.end()
        self._workers.clear()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- Inside ---------------------------------------------------------------------------------------------------

    def _start(self, slot: str) -> None:
        warm = self._warm and slot == COMPUTE
        worker = _Worker(slot, warm, self)
        worker.changed.connect(self._dispatch)
        worker.died.connect(self._lost)
        self._workers.append(worker)
        self._tell()

    def _dispatch(self) -> None:
        """Give waiting jobs to free processes; start one where all are busy and there may be more."""
        for job in list(self._waiting):
            mine = [worker for worker in self._workers if worker.slot == job.slot]
            free = next((worker for worker in mine if worker.free), None)
            if free is not None:
                self._waiting.remove(job)
                free.begin(job)
            elif len(mine) < LIMITS[job.slot] and all(worker.was_ready for worker in mine) and self.state != BROKEN:
                self._start(job.slot)
        self._tell()

    def _cancel(self, job: Job) -> None:
        if job in self._waiting:
            self._waiting.remove(job)
            job._end("cancelled", None)
            return
        for worker in self._workers:
            if worker.job is job:
                worker.cancel()

    def _tell_job(self, job: Job, thing: Any) -> None:
        for worker in self._workers:
            if worker.job is job:
                worker.tell(thing)

    def _lost(self, worker: _Worker) -> None:
        """A process has ended, or has to: tell its job, and start another."""
        if worker not in self._workers:
            return
        self._workers.remove(worker)
        worker.end()
        worker.deleteLater()
        code = worker.process.exitcode
        if worker.job is not None and worker.cancelling:
            worker.job._end("cancelled", None)
        elif worker.job is not None:
            message = f"The solver process ended unexpectedly ({_reason(code)}). It was started again; try once more."
            worker.job._end("failed", Failure(message, "ProcessEnded"))
            self.broke.emit(message)
        elif worker.was_ready and not self._closed:
            self.broke.emit(f"An idle solver process ended unexpectedly ({_reason(code)}). It was started again.")
        if self._closed:
            return
        self._early_deaths = 0 if worker.was_ready else self._early_deaths + 1
        if self._early_deaths >= MOST_STARTS:
            self._give_up(code)
        elif not any(one.slot == worker.slot for one in self._workers):
            self._start(worker.slot)
        self._dispatch()

    def _give_up(self, code: int | None) -> None:
        self.state = BROKEN
        message = f"The solver process cannot be started ({_reason(code)}). Save your work and start the program again."
        for job in self._waiting[:]:
            self._waiting.remove(job)
            job._end("failed", Failure(message, "ProcessEnded"))
        self.broke.emit(message)

    def _tell(self) -> None:
        """Announce the state, if it is another than before."""
        if self.state != BROKEN:
            if any(worker.state == PREPARING for worker in self._workers if worker.slot == COMPUTE):
                self.state = PREPARING
            else:
                self.state = BUSY if self.jobs else READY
        if self.state != self._told:
            self._told = self.state
            self.state_changed.emit(self.state)


def _reason(code: int | None) -> str:
    if code is None:
        return "it did not answer"
    return f"by signal {-code}" if code < 0 else f"with status {code}"


def _remove_leftovers() -> None:
    """Remove temporary files of applications that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        owner = folder.name.removeprefix(FOLDER_PREFIX).split("-")[0]
        if owner.isdigit() and int(owner) != os.getpid() and not _alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _alive(process: int) -> bool:
    if os.name != "posix":  # where asking would be a signal
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
