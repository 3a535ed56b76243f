"""Events of a run: the zeros of their functions within its steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..equations.equations import Equations, Strategy
from ..kernels.integrators.march import interpolate_hermite
from ..results import EventRecord
from .events import Event
from .integrators import Integrator
from .output import Output

Array = NDArray[np.float64]
Found = tuple[EventRecord, bool, Array]
"""An event, whether the run ends there, and the state."""

INSIDE = (0.25, 0.5, 0.75)  # parts of a step at which events are looked at
MOST_CROSSINGS = 100  # zeros of an event in a step, of at most 256 parts, beyond which not all may be seen


class Crossings:
    """Looks for events step by step; the equations stay at the end of the step."""

    def __init__(self, eq: Equations, integrator: Integrator, output: Output, events: list[Event]) -> None:
        self.eq, self.integrator, self.output, self.events = eq, integrator, output, events
        self.swinging: dict[str, float] = {}
        """Events that pass zero too often in a step, and when it began."""
        self.values = self.now()

    def now(self) -> list[float]:
        """The functions at the current state."""
        state = self.eq.state(float(self.eq.work["t"]), self.eq.work.y)
        return [event.value(state) for event in self.events]

    def passed(self) -> list[Found]:
        """The events of the last step in order of time."""
        after = self.now()
        found = self._crossings(after) if float(self.eq.work["t"]) > self.output.t0 else []
        self.values = after
        return sorted(found, key=lambda c: c[0].t)

    def remarks(self) -> list[str]:
        """What was not followed."""
        remedy = "bound the steps with max_step= of the integrator" if self.integrator.adaptive else "reduce dt"
        return [
            f"event {name!r}: it passes zero so often in the step from t = {begin:.6g} s that others may be missed; "
            f"{remedy}"
            for name, begin in self.swinging.items()
        ]

    def _crossings(self, after: list[float]) -> list[Found]:
        """All zeros of the events' functions in the last step."""
        eq, t0, t1 = self.eq, self.output.t0, float(self.eq.work["t"])
        times = [t0, *(t0 + part * (t1 - t0) for part in INSIDE), t1]
        inside = [eq.state(t, self._between(t)) for t in times[1:-1]]
        found = []
        for event, a, b in zip(self.events, self.values, after, strict=True):

            def value(t: float, event: Event = event) -> float:
                return event.value(eq.state(t, self._between(t)))

            values = [a, *(event.value(state) for state in inside), b]
            crossings = event.crossings(times, values, value)
            located = [one for interval in crossings if (one := self._locate(event, *interval)) is not None]
            if len(crossings) > MOST_CROSSINGS or len(located) < len(crossings) > 1:
                self.swinging.setdefault(event.name, t0)
            found += located
        return found

    def _between(self, t: float) -> Array:
        """The state at an instant inside the last step, to look at; it is not corrected."""
        eq, work = self.eq, self.eq.work
        t1, y1 = float(work["t"]), work.y.copy()
        if self.integrator.implicit:  # whose own interpolation is a step
            eq.apply(Strategy(interpolate_hermite.address, self.output.record), t)
        else:
            eq.call("interpolate", t)
        y = work.y.copy()
        eq.set_state(*eq.split(y1))
        work["t"] = t1
        return y

    def _locate(self, event: Event, begin: float, end: float) -> Found | None:
        """Where in an interval of the last step the event's function is zero; None if it is not, more closely seen."""
        from scipy.optimize import brentq

        eq, work = self.eq, self.eq.work
        t1, y1 = float(work["t"]), work.y.copy()

        def state_at(t: float) -> Array:
            if t <= self.output.t0:
                return self.output.y0.copy()
            if t < t1:
                eq.call("interpolate", t)
                eq.call("correct", t)
                eq.accept(t)
            y = work.y.copy()
            eq.set_state(*eq.split(y1))
            work["t"] = t1
            return y

        def value(t: float) -> float:
            return event.value(eq.state(t, state_at(t)))

        function = value
        if not event.crossed(value(begin), value(end)):  # a zero so near to an end that the correction moves it across
            if self.integrator.implicit:
                begin, end = self.output.t0, t1
                if not event.crossed(value(begin), value(end)):
                    return None
            else:
                function = lambda t: event.value(eq.state(t, self._between(t) if t < t1 else y1))  # noqa: E731
        t = float(brentq(function, begin, end, xtol=1e-13 * max(1.0, abs(t1)), rtol=1e-14))
        y = state_at(t)
        return EventRecord(event.name, t, eq.state(t, y)), event.terminal, y
