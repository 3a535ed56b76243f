"""Followers in steps that are taken by someone who does not know them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels import workspace as codes

if TYPE_CHECKING:
    from .equations import Equations

Array = NDArray[np.float64]


class Following:
    """Followers during a step of an integrator that knows q, v and own states of elements only.

    Within the step they run on with the rates of its begin, which is enough to choose turns. At its end they are the
    integral of their rates by Simpson's rule, with the state in the middle by cubic Hermite interpolation, and then
    known in between by such an interpolation too. Rates are taken between the times `low` and `high`, which lie on its
    side of jumps.
    """

    def __init__(self, eq: Equations, t: float, low: float = -np.inf, high: float = np.inf) -> None:
        self._eq, self._t, self._h, self._low, self._high = eq, t, 0.0, low, high
        self._y = eq.work.y.copy()
        self._rates = self._rates_at(t, self._y) if eq.n_followers else np.zeros_like(self._y)
        self._end, self._end_rates = self._of(self._y), self._of(self._rates)

    def at(self, t: float) -> Array:
        """The followers at a time within the step."""
        start, rate = self._of(self._y), self._of(self._rates)
        if self._h == 0.0:
            return start + (t - self._t) * rate
        s = (t - self._t) / self._h
        bend = self._h * s * (1.0 - s) * (rate * (1.0 - s) - self._end_rates * s)
        return start * (1.0 + 2.0 * s) * (1.0 - s) ** 2 + self._end * s * s * (3.0 - 2.0 * s) + bend

    def end(self, t: float, q: ArrayLike, v: ArrayLike, own: ArrayLike | None = None) -> None:
        """Make (q, v), and the own states if there are any, the state at the end of the step."""
        eq, h = self._eq, t - self._t
        eq.set_state(q, v, own)
        if not eq.n_followers:
            return
        eq.work.followers[:] = self.at(t)
        y = eq.work.y.copy()
        rates = self._rates_at(t, y)
        middle = 0.5 * (self._y + y) + 0.125 * h * (self._rates - rates)
        between = self._rates_at(self._t + 0.5 * h, middle)
        eq.set_state(*eq.split(y))
        self._end = self._of(self._y) + h / 6.0 * self._of(self._rates + 4.0 * between + rates)
        self._end_rates, self._h = self._of(rates), h
        eq.work.followers[:] = self._end

    def _rates_at(self, t: float, y: Array) -> Array:
        self._eq.set_state(*self._eq.split(y))
        self._eq.call("accelerate", min(max(t, self._low), self._high), codes.REACTIONS)
        return self._eq.work.rates.copy()

    def _of(self, y: Array) -> Array:
        return y[len(y) - self._eq.n_followers :]
