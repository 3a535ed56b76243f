"""The other side of the solver: a process that computes tasks. It knows nothing of Qt.

Messages are tuples, each pickled by itself, so that one that cannot be read spoils no other. From the application:
("offer", job) announces a task, ("task", job, bytes, sources) is the task, which is sent once the process listens,
with the files of users' classes that were allowed, ("told", job, thing) is for a task that listens while it runs,
("cancel", job) asks to stop, ("stop",) ends. To the application:
("listening", job), ("progress", job, fraction, info), ("finished" | "failed" | "cancelled", job, bytes), and ("state",
"preparing" | "ready").
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

REPORT_SECONDS: Final = 0.03
"""Progress is reported no more often than this."""
NICENESS: Final = 5
"""Niceness of computing processes where processors are few."""


class Cancelled(KeyboardInterrupt):
    """The user has cancelled a task. Whatever computes lets it pass, as it does with Ctrl-C."""


@dataclass(frozen=True)
class Failure:
    """Failure of a task, as it travels between processes.

    `expected` says whether it is one of the errors of mbframe, whose message is for users; otherwise `details` is what
    a crash report needs. `cause` is the message without the instant, which is `time` if there is one.
    """

    message: str
    kind: str = ""
    expected: bool = True
    problems: list[Any] = field(default_factory=list)
    time: float | None = None
    culprit: str = ""
    details: str = ""

    def __str__(self) -> str:
        return self.message

    @property
    def cause(self) -> str:
        return self.message if self.time is None else self.message.removeprefix(f"t = {self.time:.6g} s").lstrip(",: ")

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """What there is to say of an error."""
        from mbframe.errors import MbframeError

        expected = isinstance(error, MbframeError)
        name = type(error).__name__
        culprit = getattr(error, "culprit", None)
        return cls(
            str(error) if expected else f"The computation stopped because of a fault in the program ({name}: {error}).",
            name,
            expected,
            list(getattr(error, "problems", [])),
            getattr(error, "time", None),
            "" if culprit is None else str(getattr(culprit, "name", culprit)),
            "" if expected else "".join(traceback.format_exception(error)),
        )


class Reporter:
    """Reporter of a task: ``report(fraction, info)`` says how far it is; raises `Cancelled` if it was cancelled."""

    def __init__(self, connection: Connection, job: int) -> None:
        self._connection, self._job = connection, job
        self._last = 0.0
        self._heard: list[Any] = []

    def __call__(self, fraction: float, info: Any = None) -> None:
        self.check()
        now = time.perf_counter()
        if now - self._last >= REPORT_SECONDS or fraction >= 1.0:
            self._last = now
            self._connection.send(("progress", self._job, float(fraction), info))

    def check(self) -> None:
        """Raise `Cancelled` if the user has cancelled."""
        while self._connection.poll():
            self._take(self._connection.recv())

    def show(self, info: Any) -> None:
        """Send something at once, as tasks do that run until they are told to end."""
        self._connection.send(("progress", self._job, 0.0, info))

    def heard(self, patience: float = 0.0) -> list[Any]:
        """What the task was told since it last asked; waits for it so many seconds at most."""
        if not self._heard and self._connection.poll(patience):
            self._take(self._connection.recv())
        self.check()
        heard, self._heard = self._heard, []
        return heard

    def _take(self, message: tuple[Any, ...]) -> None:
        if message[0] == "stop":
            raise SystemExit
        if message == ("cancel", self._job):
            raise Cancelled
        if message[:2] == ("told", self._job):
            self._heard.append(message[2])


def serve(connection: Connection, warm: bool) -> None:
    """Compute tasks until the application ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the application, which ends us
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    # The application has ended when nobody is at the other end.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError, SystemExit):
        _Server(connection).run(warm)


class _Server:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def run(self, warm: bool) -> None:
        self._tell("ready")  # for tasks, from now on; they go before what is prepared
        logging.getLogger("mbframe").addHandler(_Announcer(self))
        if warm:
            self._prepare(_essentials())
            self._prepare(_everything_else())
        while self._answer():
            pass

    def _tell(self, state: str) -> None:
        self._connection.send(("state", state))

    def _prepare(self, parts: Iterator[str]) -> None:
        """Prepare part by part; whoever asks for something in between goes first."""
        self._tell("preparing")
        for _ in parts:
            while self._connection.poll():
                if not self._answer():
                    raise SystemExit
                self._tell("preparing")
        self._tell("ready")

    def _answer(self) -> bool:
        """Do what the application asks next; False if that is to end."""
        message = self._connection.recv()
        if message[0] == "stop":
            return False
        if message[0] == "offer":
            self._connection.send(("listening", message[1]))
            message = self._connection.recv()
            while message[0] in ("cancel", "told"):  # of the job before, which had ended by itself
                message = self._connection.recv()
            if message[0] == "stop":
                return False
            self._compute(*message[1:])
        return True

    def _compute(self, job: int, packed: bytes, sources: tuple[Any, ...]) -> None:
        outcome, value = "finished", None
        try:
            for source in sources:
                source.load()
            value = pickle.loads(packed).run(Reporter(self._connection, job))
        except KeyboardInterrupt as interruption:
            outcome, value = "cancelled", interruption.args[0] if interruption.args else None
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            outcome, value = "failed", Failure.of(error)
        try:
            answer = pickle.dumps(value)
        except Exception as error:
            outcome, answer = "failed", pickle.dumps(Failure.of(error))
        self._connection.send((outcome, job, answer))


class _Announcer(logging.Handler):
    """Tells the application when something has to be compiled."""

    def __init__(self, server: _Server) -> None:
        super().__init__(logging.WARNING)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        if "compiling" in record.getMessage():
            self._server._tell("preparing")


def _essentials() -> Iterator[str]:
    """Load what nearly every run needs; compile it where that was not yet done."""
    import mbframe as mb

    for name in ("four_bar", "heavy_top"):
        mb.simulate(getattr(mb.examples, name)(), 0.01)
        yield name


def _everything_else() -> Iterator[str]:
    """Compile the rest of the library, once for each version of it."""
    from mbframe.kernels.compiler.compile import cache_directory
    from mbframe.solvers.warmup import warm_up

    mark = Path(cache_directory()) / "everything.ready"
    if not mark.exists():
        yield from warm_up()
        with contextlib.suppress(OSError):
            mark.touch()
