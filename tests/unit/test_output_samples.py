"""Which states of a run are looked at in its end."""

from __future__ import annotations

import numpy as np
import pytest

from mbframe.solvers.output import SAMPLES, Samples


@pytest.mark.parametrize("pieces", [[5], [64], [65], [2001], [1, 63, 1], [10, 200, 3, 5000], [0, 7, 0, 129]])
def test_samples_are_the_first_the_last_and_evenly_spread_ones(pieces: list[int]) -> None:
    samples, total = Samples(), sum(pieces)
    t = np.arange(total, dtype=float)
    first = 0
    for count in pieces:
        samples.take(t[first : first + count], np.column_stack([t, -t])[first : first + count])
        first += count
    times, states = samples.arrays()
    every = 1
    while -(-total // every) > SAMPLES:  # the finest spacing by a power of two that keeps no more than asked for
        every *= 2
    expected = np.union1d(np.arange(0, total, every), [total - 1])
    assert np.array_equal(times, expected)
    assert np.array_equal(states, np.column_stack([expected, -expected]))
