"""Runs of a document: with which settings, on which model, and what came out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import mbframe as mb
from mbframe.files import model as model_files
from mbframe.files.json_text import dumps

from .track import Track

PRESETS: Final = ("fast", "accurate", "stiff", "custom")

FRAMES_PER_SECOND: Final = 100.0
"""States are stored this often, so that playback and curves are smooth, however large the solver's steps are."""
FEWEST: Final = 500
MOST: Final = 20_000
"""Bounds of the number of stored states if their interval is left to the program."""

LARGEST_IN_MEMORY: Final = 20_000_000
"""Numbers of a result that are kept in memory, which is 160 MB; larger ones are read when they are needed."""

COLORS: Final = ("#2f6fde", "#e07b39", "#2c9c69", "#b6509e", "#8a6d3b", "#4aa3b5", "#c94f4f", "#6b6bd6")
"""Of curves, run after run; told apart by the most common kinds of colour blindness, in this order."""


@dataclass(frozen=True)
class RunSettings:
    """Method of a simulation: a preset, or every strategy by hand (preset "custom").

    Parameters
    ----------
    preset
        "fast" (DormandPrince, rtol 1e-6), "accurate" (rtol 1e-10), "stiff" (RadauIIA), or "custom": the fields below.
    t_end
        End of the run, s.
    dt
        Step of a fixed-step integrator, s.
    formulation, acceleration, stabilization, integrator
        Strategies of "custom"; None is the default of `mbframe.simulate`.
    every
        Interval of the stored states, s; None leaves it to the program.
    """

    preset: str = "fast"
    t_end: float = 5.0
    dt: float | None = None
    formulation: Any = None
    acceleration: Any = None
    stabilization: Any = None
    integrator: Any = None
    every: float | None = None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise ValueError(f"there is no preset {self.preset!r}; known are {', '.join(PRESETS)}")

    def strategies(self) -> dict[str, Any]:
        """The arguments of `mbframe.simulate` that choose the method."""
        if self.preset == "fast":
            return {"integrator": mb.DormandPrince(rtol=1e-6)}
        if self.preset == "accurate":
            return {"integrator": mb.DormandPrince(rtol=1e-10)}
        if self.preset == "stiff":
            return {"integrator": mb.RadauIIA(rtol=1e-6)}
        names = ("dt", "formulation", "acceleration", "stabilization", "integrator")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def interval(self) -> float:
        """Interval of the stored states, s."""
        if self.every is not None:
            return min(self.every, self.t_end)
        return self.t_end / min(max(FEWEST, math.ceil(self.t_end * FRAMES_PER_SECOND)), MOST)

    def keywords(self) -> dict[str, Any]:
        """The arguments of `mbframe.simulate`, the system apart."""
        import numpy as np

        interval = self.interval()
        count = max(1, round(self.t_end / interval))
        instants = np.linspace(0.0, self.t_end, count + 1)
        if self.every is not None and abs(count * interval - self.t_end) > 1e-9 * self.t_end:
            whole = np.arange(math.floor(self.t_end / interval) + 1) * interval
            instants = np.append(whole[whole < self.t_end * (1.0 - 1e-12)], self.t_end)
        return {"t_end": self.t_end, "t_eval": instants, **self.strategies()}

    def stored(self) -> dict[str, Any]:
        """What is saved with the model (see `mbframe.save`)."""
        return {"t_end": self.t_end, **self.strategies()}

    @classmethod
    def from_stored(cls, stored: dict[str, Any]) -> RunSettings:
        """The settings that were saved with a model; a preset is recognized."""
        given = {key: value for key, value in stored.items() if key in cls.__dataclass_fields__}
        t_end = float(given.pop("t_end", 5.0))
        for preset in PRESETS[:-1]:
            candidate = cls(preset, t_end)
            if {k: repr(v) for k, v in candidate.strategies().items()} == {k: repr(v) for k, v in given.items()}:
                return candidate
        return cls("custom", t_end, **given) if given else cls(t_end=t_end)

    def changed(self, **values: Any) -> RunSettings:
        """A copy with other values."""
        return replace(self, **values)

    def summary(self) -> str:
        """In a few words, for lists and tooltips."""
        named = {"fast": "Fast", "accurate": "Accurate", "stiff": "Stiff", "custom": "Own method"}[self.preset]
        chosen = self.strategies()
        parts = [f"{key} = {value:g} s" if isinstance(value, float) else repr(value) for key, value in chosen.items()]
        return f"{named}, {self.t_end:g} s: {', '.join(parts) or 'default method'}"


def model_text(system: mb.System) -> str:
    """A model as text: equal texts mean equal models. That of a file, if a file can hold the model."""
    try:
        return dumps(model_files.document(system))
    except mb.ModelError:
        return "\n".join(repr(part) for part in (system, *system))


def load(path: Path, system: mb.System | None = None, before: mb.Result | None = None) -> mb.Result:
    """The result in a file, as `mbframe.load_result`; its states are read once, together, if they are not too many.

    `before` is what was read of it earlier, if it has grown since.
    """
    from mbframe.files.result_files import ResultFile

    from .growing import Together

    states = Together(path, system, before.states if before is not None else None)
    wide = sum(map(len, states.columns.values()))
    return (states if len(states) * wide <= LARGEST_IN_MEMORY else ResultFile(path, system=system)).result()


def track_of(result: mb.Result, before: Track | None = None) -> Track:
    """The motion of a result; one in a file that is not read together is read as it is played."""
    from mbframe.files.result_files import ResultFile

    from .growing import Together

    states = result.states
    if isinstance(states, ResultFile) and not isinstance(states, Together):
        from .long_track import LongTrack

        return LongTrack(result, before)
    return Track(result, before)


@dataclass(eq=False)
class Run:
    """A result that is kept in a document, with the settings and the model it belongs to.

    `complete` is False while it computes and after a failure or a cancel; `reason` then says why (empty while it
    computes). `path` is the file that the result reads from, if it was streamed. `unsaved`: in no file of the user.
    """

    name: str
    settings: RunSettings = field(default_factory=RunSettings)
    model_text: str = ""
    result: Any = None
    complete: bool = True
    reason: str = ""
    warnings: list[str] = field(default_factory=list)
    color: str = ""
    visible: bool = True
    stale: bool = False
    path: Path | None = None
    temporary: bool = False
    computing: bool = False
    unsaved: bool = False
    _track: Track | None = field(default=None, init=False, repr=False)

    @property
    def t_last(self) -> float:
        """The last instant that is there, s."""
        return float(self.result.t[-1]) if self.result is not None and len(self.result) else 0.0

    def details(self) -> str:
        """What there is to say of it, line by line."""
        lines = [self.settings.summary()]
        if self.stale:
            lines.append("The model was changed after this run.")
        if self.reason:
            lines.append(f"Ended early: {self.reason}")
        return "\n".join([*lines, *self.warnings])

    @property
    def track(self) -> Track | None:
        """The motion as it is played; None if there is nothing to play."""
        if self._track is None or self._track.result is not self.result:
            self._track = track_of(self.result) if self.result is not None and len(self.result) else None
        return self._track

    def prepare(self, progress: Callable[[float], object]) -> None:
        """Work out what is shown of a result that was just read; in a thread, since it takes long for a large one."""
        states, track = self.result.states, self.track
        if track is None:
            return
        numbers = len(self.result) * sum(map(len, states.columns.values()))
        expected = 1.0 + numbers / 2**20 + len(track.names) / 20.0
        for done, _ in enumerate(chain(getattr(states, "preparation", tuple)(), track.preparation())):
            progress(min(1.0, done / expected))

    def state_near(self, t: float) -> mb.State | None:
        """The stored state nearest to an instant; None if there is none."""
        return self.track.nearest(t) if self.track is not None else None

    def reload(self, system: Any = None) -> bool:
        """Read the file again, which may have grown; whether there is more to see than before.

        `system` is needed for models that no file can hold.
        """
        before = self.result
        for _ in self.reading(system):
            pass
        return self.result is not before

    def reading(self, system: Any = None) -> Iterator[None]:
        """What `reload` does, piece by piece; only the last piece changes anything."""
        if self.path is None or not self.path.is_file():
            return
        from . import growing

        try:
            found = load(self.path, system, self.result)
        except mb.ModelError:  # between two writes, or not yet begun
            return
        if not len(found) or (self.result is not None and len(found) == len(self.result)):
            return
        yield
        found.states.tables  # noqa: B018 (worked out ahead)
        yield
        track = track_of(found, self._track if growing.continues(found, self.result) else None)
        yield from track.preparation()
        self.result, self._track = found, track

    def release(self) -> None:
        """Give back the memory of a result that can be read again."""
        from mbframe.files.result_files import ResultFile

        states = getattr(self.result, "states", None)
        if isinstance(states, ResultFile) and states.given_system is None:
            self.result = self._track = None

    def discard(self) -> None:
        """Remove the temporary file; the run is no longer needed."""
        if self.temporary and self.path is not None:
            self.path.unlink(missing_ok=True)
