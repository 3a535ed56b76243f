"""A mode of a linearization as a motion that is played: one cycle, with closed joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

import mbframe as mb
from mbframe.analysis.linear.mode_motion import ModeMotion

from ..document.runs import Run
from ..document.track import Array, Track

STEPS: Final = 60
"""Pictures of a cycle that are computed; then they are shown again."""
UNHURRIED: Final = 2.5
"""Duration of a motion there and back along a mode without a frequency, s."""


class ModeTrack(Track):
    """The reference moved by Re(a exp(i phase) shape), of the same size all the time."""

    def __init__(self, mode: mb.Mode) -> None:
        linearization = mode.linearization
        root = mode.eigenvalue
        self._mode, self._motion = mode, ModeMotion(linearization)
        self._amplitude = self._motion.amplitude(mode)
        self._states: dict[int, mb.State] = {}
        self.dimension = linearization.system.dimension
        self.names = [body.name for body in linearization.system.bodies]
        self.t: Array = np.linspace(0.0, 2.0 * np.pi / abs(root.imag) if root.imag else UNHURRIED, STEPS + 1)

    def preparation(self) -> Iterator[None]:
        yield from ()

    def state(self, t: float) -> mb.State:
        step = round(t / self.t[-1] * STEPS) % STEPS
        if step not in self._states:
            self._states[step] = self._motion.state(self._mode, self._amplitude, 2.0 * np.pi * step / STEPS)
        return replace(self._states[step], t=float(t))

    def places(self, count: int) -> Array:
        return np.array([self.place(name, float(t)) for t in np.linspace(*self.span, count) for name in self.names])

    def path(self, body: str, until: float, since: float | None = None, local_point: Any = None) -> Array:
        first = 0 if since is None else int(np.searchsorted(self.t, since))
        last = int(np.searchsorted(self.t, until, side="right"))
        return np.array([self.place(body, float(t), local_point) for t in self.t[first : max(last, first + 1)]])

    def place(self, body: str, t: float, local_point: Any = None) -> Array:
        from mbframe.render.placement import point3

        described: Any = self._mode.linearization.system[body]
        return point3(self.state(t).position(described, local_point))


class ModeRun(Run):
    """A mode in the place of a run: it is played, and has no quantities to plot."""

    def __init__(self, mode: mb.Mode) -> None:
        super().__init__(f"{mode.eigenvalue:.4g}")
        self._motion = ModeTrack(mode)

    @property
    def track(self) -> Track | None:
        return self._motion
