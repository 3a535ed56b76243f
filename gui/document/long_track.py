"""The motion of a result that is too large for memory: read from its file a stretch at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from threading import Thread
from typing import Any, Final

import numpy as np

import mbframe as mb
from mbframe.files.result_layout import block_rows
from mbframe.state import State

from .growing import between
from .track import Array, Stretch, Track

KEPT: Final = 4
"""Stretches that are kept: the one that is played, and those around it."""
SAMPLES: Final = 40
"""States that are worked out ahead, spread over the motion: for who asks what it is like as a whole."""
LONGEST_PATH: Final = 20_000
"""Instants of a drawn path, at most."""


class LongTrack(Track):
    """As `Track`, with bounded memory: a stretch is what the file stores as one block, and is read in some 0.1 s."""

    def __init__(self, result: mb.Result, before: Track | None = None) -> None:
        super().__init__(result)
        states: Any = result.states
        self._block = block_rows(states.content)
        self._stretches: OrderedDict[int, Stretch] = OrderedDict()
        self._samples: list[State] = before._samples if isinstance(before, LongTrack) else []
        if before is not None:  # it looked at the same first states, which are not read again
            self.leaps = before.leaps

    def preparation(self) -> Iterator[None]:
        if not self._samples:
            for t in np.linspace(*self.span, SAMPLES):
                self._samples.append(self.state(float(t)))
                yield
        elif self._samples[-1].t < self.span[1]:  # it has grown
            self._samples = [*self._samples, self.state(self.span[1])][-SAMPLES:]

    def stretch(self, i: int) -> Stretch:
        number = i // self._block
        found = self._stretches.get(number)
        if found is None or len(found) < min(self._block + 1, len(self) - number * self._block):
            first = number * self._block
            last = min(first + self._block + 1, len(self))  # with the first row of the next one
            found = Stretch.of(between(self.result, first, last), self.names, first)
            self._stretches[number] = found
            while len(self._stretches) > KEPT:
                self._stretches.popitem(last=False)
        self._stretches.move_to_end(number)
        return found

    def sampled(self, count: int) -> list[State]:
        for _ in self.preparation():
            pass
        chosen = np.linspace(0, len(self._samples) - 1, min(count, len(self._samples))).round().astype(int)
        return [self._samples[k] for k in chosen]

    def places(self, count: int) -> Array:
        from mbframe.render.placement import point3

        return np.array([point3(state.position(name)) for state in self.sampled(count) for name in self.names])

    def path(self, body: str, until: float, since: float | None = None, local_point: Any = None) -> Array:
        """As that of `Track`, with some of the instants. The first time only its end: it is read in a thread."""
        key = (body, None if local_point is None else tuple(local_point))
        if key not in self._paths:
            self._paths[key] = np.zeros((0, 3))
            Thread(target=self._read_path, args=key, name="path", daemon=True).start()
        course = self._paths[key]
        step = -(-len(self) // max(len(course), 1))
        t = self.t[::step][: len(course)]
        first = 0 if since is None else int(np.searchsorted(t, since))
        shown = course[first : int(np.searchsorted(t, until, side="right"))]
        return np.vstack([shown, self.place(body, until, local_point)])

    def _read_path(self, body: str, local_point: tuple[float, ...] | None) -> None:
        from mbframe.render.placement import point3

        step = -(-len(self) // LONGEST_PATH)
        self._paths[body, local_point] = point3(self.result.position(body, local_point))[::step].copy()
