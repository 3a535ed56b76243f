"""What a run stores."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..disk.atomic import CutError, reason
from ..equations.equations import Equations
from ..equations.workspace import Record
from ..errors import ModelError, Problem, SimulationError
from ..files.result_streams import ResultStream
from ..kernels.integrators.march import MARCH
from ..results import EventRecord, Info
from .interrupts import held_back

Array = NDArray[np.float64]
Sizes = list[tuple[slice, Array]]  # places of neighbouring numbers in a state, and their weights

BUFFER_NUMBERS = 65_536  # of an adaptive run: it is emptied when full, and a new piece of memory costs more than that
SAMPLES = 64  # states that are looked at in the end
LOOK_EVERY = 1024  # steps at most between states that are looked at though only some instants are stored
SEEN = 512  # accepted steps of which states are kept to be looked at, where only some instants are stored
SEEN_NUMBERS = 1_000_000  # of those between two looks, which are fewer steps for a large model
LARGEST_BUFFER_NUMBERS = 100_000_000  # where the number of steps is known, one buffer holds them all up to this size


def physical_memory() -> float:
    """Bytes of memory of this machine; infinite if it does not tell."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return math.inf


def refuse_rows(eq: Equations, rows: float, field: str) -> None:
    """Refuse to store more states in memory than it can hold."""
    needed, there = 8.0 * (1 + eq.n_q + eq.n_v + eq.n_z) * rows, physical_memory()
    if needed > there:
        message = (
            f"asks for {rows:.3g} states of {needed / rows:.0f} bytes, {needed / 1e9:.3g} GB, where this machine has "
            f"{there / 1e9:.3g} GB of memory; store fewer (t_eval=), or in a file (output=)"
        )
        raise ModelError([Problem("simulate", field, message)])


class Samples:
    """A few of the states that pass by, spread over the run: the first, the last, and every so many between them."""

    def __init__(self, most: int = SAMPLES) -> None:
        self._most, self._every, self.passed = most, 1, 0
        self._kept: list[tuple[int, float, Array]] = []
        self._last: tuple[float, Array] | None = None

    def take(self, t: Array, y: Array) -> None:
        """Look at the next states."""
        if not len(t):
            return
        total = self.passed + len(t)
        while -(-total // self._every) > self._most:
            self._every *= 2
            self._kept = [one for one in self._kept if one[0] % self._every == 0]
        some = slice(-self.passed % self._every, None, self._every)
        numbers = range(self.passed, total)[some]
        self._kept += zip(numbers, t[some].tolist(), y[some].copy(), strict=True)
        self.passed = total
        self._last = (float(t[-1]), y[-1].copy())

    def emptied(self) -> Samples:
        """The same without anything taken."""
        return Samples(self._most)

    def copy(self) -> Samples:
        """What was taken until now, which stays so."""
        twin = self.emptied()
        twin._every, twin.passed, twin._kept, twin._last = self._every, self.passed, self._kept.copy(), self._last
        return twin

    def arrays(self) -> tuple[Array, Array]:
        """The instants and states that were kept, in order."""
        rows = [(t, y) for _, t, y in self._kept]
        if self._last is not None and (not rows or self._last[0] > rows[-1][0]):
            rows.append(self._last)
        return np.array([t for t, _ in rows]), np.array([y for _, y in rows])


def merged(stored: Samples, between: Samples) -> tuple[Array, Array]:
    """The instants and states of both in order, each instant once."""
    t, y = stored.arrays()
    others, states = between.arrays()
    if not len(t) or not len(others):
        return (t, y) if len(t) else (others, states)
    t, first = np.unique(np.concatenate([t, others]), return_index=True)
    return t, np.concatenate([y, states])[first]


@dataclass(frozen=True)
class Mark:
    """What a run has stored at some instant."""

    taken: list[tuple[Array, Array]]
    samples: Samples
    between: Samples
    watched: Watched | None
    before: tuple[float, Array]
    next_eval: int
    recording: bool


class Watched:
    """States of accepted steps: some spread over the run, and those in which some sizes are largest.

    A run that stores only some instants would otherwise know nothing of what happens between them. A size is a weighted
    sum of the absolute values of neighbouring numbers of a state: `sizes` are their places and weights.
    """

    def __init__(self, sizes: Sizes, n: int) -> None:
        self._sizes, self._spread = sizes, Samples(SEEN)
        self._most, self._times, self._states = (
            np.full(len(sizes), -1.0),
            np.zeros(len(sizes)),
            np.zeros((len(sizes), n)),
        )

    def copy(self) -> Watched:
        """What was taken until now, which stays so."""
        twin = copy.copy(self)
        twin._spread, twin._most = self._spread.copy(), self._most.copy()
        twin._times, twin._states = self._times.copy(), self._states.copy()
        return twin

    def take(self, t: Array, y: Array) -> None:
        """Look at the next states."""
        if not len(t):
            return
        self._spread.take(t, y)
        for k, (places, weights) in enumerate(self._sizes):
            sizes = np.abs(y[:, places]) @ weights
            row = int(sizes.argmax())
            if sizes[row] > self._most[k]:
                self._most[k], self._times[k], self._states[k] = sizes[row], t[row], y[row]

    def arrays(self) -> tuple[Array, Array]:
        """The instants and states that were kept, in order, each once."""
        t, y = self._spread.arrays()
        if not len(t):
            return t, self._states[:0]
        found = self._most >= 0.0
        t, first = np.unique(np.concatenate([t, self._times[found]]), return_index=True)
        return t, np.concatenate([y, self._states[found]])[first]


class Output:
    """Stored states: a buffer that the compiled loop fills, and where its content goes (memory, or a file).

    `steps` is how many there will be, if that is known. With `sizes` the loop also keeps the states of its steps,
    stored or not, to be looked at: see `Watched`.
    """

    def __init__(
        self,
        eq: Equations,
        t: float,
        steps: int | None,
        instants: Array | None,
        stream: ResultStream | None = None,
        sizes: Sizes | None = None,
    ) -> None:
        n = eq.n_q + eq.n_v + eq.n_z
        if stream is not None:
            capacity = stream.block
        elif instants is not None:
            capacity = len(instants)
        elif steps is not None:
            capacity = min(steps + 2, max(64, LARGEST_BUFFER_NUMBERS // n))
        else:
            capacity = max(64, BUFFER_NUMBERS // n)
        self._stream = stream
        self._exact = instants is not None
        # Those between stored instants are counted apart: when a buffer is emptied depends on the clock.
        self._samples, self._between = (Samples(SAMPLES // 2 if self._exact else SAMPLES) for _ in range(2))
        self._sampled: tuple[tuple[int, ...], tuple[Array, Array]] | None = None
        self._taken: list[tuple[Array, Array]] = []
        self._times, self._states = np.zeros(capacity), np.zeros((capacity, n))
        self.record = Record(MARCH)
        self.record["capacity"] = capacity
        self.record["times"], self.record["states"] = self._times, self._states
        self._instants = np.zeros(1) if instants is None else instants
        self._nowhere = np.array([np.inf])
        self.record["t_eval"] = self._instants
        self.record["n_eval"] = 0 if instants is None else len(instants)
        self._last = t
        self.y0 = np.zeros(n)
        self.record["y0"] = self.y0
        for field in ("y1", "rates0", "rates1"):
            self.record[field] = np.zeros(n)
        self._watched = None if sizes is None else Watched(sizes, n)
        most = 0 if sizes is None else max(16, min(2 * SEEN, SEEN_NUMBERS // n))
        self._seen_times, self._seen_states = np.zeros(most + 1), np.zeros((most + 1, n))
        self.record["seen_times"], self.record["seen_states"] = self._seen_times, self._seen_states
        self.record["most_seen"] = most

    @property
    def t0(self) -> float:
        """Time before the last step."""
        return float(self.record["t0"])

    def before(self) -> tuple[float, Array]:
        """Time and state before the last step."""
        return self.t0, self.y0.copy()

    def append(self, t: float, y: Array) -> None:
        """Store a state from outside the loop."""
        if self.record["stored"] == self.record["capacity"]:
            self.empty()
        k = int(self.record["stored"])
        self._times[k], self._states[k] = t, y
        self.record["stored"] = k + 1

    @held_back()
    def empty(self) -> None:
        """Take the stored states out of the buffer."""
        k = int(self.record["stored"])
        self._samples.take(self._times[:k], self._states[:k])
        if self._stream is None:
            self._taken.append((self._times[:k].copy(), self._states[:k].copy()))
        else:
            self._last = float(self._times[k - 1]) if k else self._last
            self.record["stored"] = 0  # the stream keeps them, or nobody can
            with self._writing():
                self._stream.append(self._times[:k], self._states[:k])
        self.record["stored"] = 0

    def make_room(self) -> None:
        """Keep half of the buffer free."""
        if 2 * self.record["stored"] > self.record["capacity"]:
            self.empty()

    def grow(self) -> None:
        """Make the buffer twice as large."""
        self._times = np.concatenate([self._times, np.zeros_like(self._times)])
        self._states = np.concatenate([self._states, np.zeros_like(self._states)])
        self.record["times"], self.record["states"] = self._times, self._states
        self.record["capacity"] = len(self._times)

    def checkpoint(self) -> None:
        """From time to time, make sure that a file has all that was computed."""
        if self._stream is not None and self._stream.due:
            self._write_all(self._stream)

    @held_back()
    def _write_all(self, stream: ResultStream) -> None:
        self.empty()
        with self._writing():
            stream.checkpoint()

    @held_back()
    def note(self, event: EventRecord) -> None:
        """Note an event in the file."""
        if self._stream is not None:
            with self._writing():
                self._stream.note(event)

    def close(self, info: Info) -> SimulationError | None:
        """End the file; returns what went wrong with that."""
        return None if self._stream is None else self._end(self._stream, info)

    @held_back()
    def _end(self, stream: ResultStream, info: Info) -> SimulationError | None:
        problem: SimulationError | None = None
        try:
            self.empty()
        except SimulationError as error:
            problem, info.completed = error, False
        try:  # the stream has rows of its own that may still have room
            with self._writing():
                stream.finish(info)
        except SimulationError as error:
            problem, info.completed = problem or error, False
        stream.close()
        return problem

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Errors of the file, such as a full disk, as errors of the run."""
        assert self._stream is not None
        try:
            yield
        except (OSError, RuntimeError) as error:
            rest = "some of its rows are lost" if isinstance(error, CutError) else "the rows before are in it"
            message = f"could not be written: {reason(error)}; {rest}"
            raise SimulationError(message, self._last, f"output {self._stream.name!r}") from error

    def cut(self, t: float, y: Array) -> None:
        """Forget what lies after t; where every step is stored, end with (t, y)."""
        k = int(self.record["stored"])
        keep = int(np.searchsorted(self._times[:k], t, side="right" if self._exact else "left"))
        self.record["stored"] = keep
        self.record["seen"] = np.searchsorted(self._seen_times[: int(self.record["seen"])], t, side="right")
        if not self._exact:
            self.append(t, y)

    def next_look(self, steps: int) -> float:
        """After how many steps a state is to be looked at next, so many being made: the clock has no part in it.

        Powers of two, later every so many; never where every step is stored.
        """
        return min(1 << steps.bit_length(), (steps // LOOK_EVERY + 1) * LOOK_EVERY) if self._exact else math.inf

    def look(self, t: float, y: Array) -> None:
        """Let a state be among the samples, whether it is stored or not."""
        if self._exact:
            self._between.take(np.array([t]), y[None])

    def watching(self, steps: int) -> int:
        """How many of so many steps may be made before this is asked again: there is room for their states."""
        if self._watched is None:
            return steps
        most = int(self.record["most_seen"])
        if self.record["seen"] + steps > most:
            self._watch()
        return min(steps, most)

    def _watch(self) -> None:
        assert self._watched is not None
        k = int(self.record["seen"])
        self._watched.take(self._seen_times[:k], self._seen_states[:k])
        self.record["seen"] = 0

    def seen(self) -> tuple[Array, Array] | None:
        """Instants and states of some steps until now; None if none were to be looked at."""
        if self._watched is None:
            return None
        self._watch()
        return self._watched.arrays()

    def samples(self) -> tuple[Array, Array]:
        """A few instants and states of the run until now: stored ones, and where only some are, others besides."""
        k = int(self.record["stored"])
        now = len(self._taken), k, self._between.passed
        if self._sampled is None or self._sampled[0] != now:
            samples = self._samples.copy()
            samples.take(self._times[:k], self._states[:k])
            self._sampled = now, merged(samples, self._between)
        return self._sampled[1]

    def arrays(self) -> tuple[Array, Array]:
        """All stored instants and states."""
        k = int(self.record["stored"])
        now = self._times[:k], self._states[:k]
        if not self._taken:
            return now
        taken = [*self._taken, now]
        return np.concatenate([t for t, _ in taken]), np.concatenate([y for _, y in taken])

    @property
    def recording(self) -> bool:
        """Whether states are stored."""
        return self.record["t_eval"] != self._nowhere.ctypes.data

    def record_states(self, on: bool, t: float, y: Array) -> None:
        """Store states from now on, or no longer; (t, y) is where the run is."""
        if on == self.recording:
            return
        self._switch(on)
        if not on:
            return
        if self._exact:
            self.record["next_eval"] = np.searchsorted(self._instants, t, side="right")
        elif self.last() != t:
            self.append(t, y)

    def _switch(self, on: bool) -> None:
        self.record["t_eval"] = self._instants if on else self._nowhere
        self.record["n_eval"] = (len(self._instants) if self._exact else 0) if on else 1
        self.record["next_eval"] = 0

    def amend(self, t: float, place: int, value: float) -> None:
        """Let a number of the state at t be another one from t on, if that state is stored in memory."""
        if k := int(self.record["stored"]):
            if self._times[k - 1] == t:
                self._states[k - 1, place] = value
        elif self._taken and self._taken[-1][0][-1] == t:  # which snapshots share
            times, states = self._taken[-1]
            last = states[-1:].copy()
            last[0, place] = value
            self._taken[-1:] = [(times[:-1], states[:-1]), (times[-1:], last)]

    def last(self) -> float | None:
        """The last instant that is stored."""
        if k := int(self.record["stored"]):
            return float(self._times[k - 1])
        return float(self._taken[-1][0][-1]) if self._taken else None

    def mark(self) -> Mark:
        """What is stored now, to come back to: each state is copied once, however many marks are made."""
        if self.record["stored"]:
            self.empty()
        watched = None if self._watched is None else self._watched.copy()
        passed = self.before(), int(self.record["next_eval"]), self.recording
        return Mark(self._taken.copy(), self._samples.copy(), self._between.copy(), watched, *passed)

    def back(self, mark: Mark) -> None:
        """Forget what was stored since."""
        self._taken, self._sampled = mark.taken.copy(), None
        self._samples, self._between = mark.samples.copy(), mark.between.copy()
        self._watched = mark.watched.copy() if mark.watched is not None else None
        self.record["stored"] = self.record["seen"] = 0
        self._switch(mark.recording)
        (self.record["t0"], self.y0[:]), self.record["next_eval"] = mark.before, mark.next_eval

    def begin_again(self, t: float, y: Array, recording: bool) -> None:
        """Forget everything; (t, y) is the new beginning."""
        self._taken, self._sampled, self.record["stored"] = [], None, 0
        self._samples, self._between = self._samples.emptied(), self._between.emptied()
        self._switch(recording)
        if not self._exact and self.recording:
            self.append(t, y)
        self.look(t, y)
