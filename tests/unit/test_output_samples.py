"""Which states of a run are looked at in its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbframe as mb
from mbframe.equations.equations import Equations
from mbframe.solvers import run, verdict
from mbframe.solvers.output import SAMPLES, SEEN, Samples, Watched


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


@pytest.mark.parametrize("block", [1, 7, 1000, 6000])
def test_watched_states_are_spread_ones_and_those_of_the_largest_sizes(block: int) -> None:
    t = np.arange(5000.0)
    y = np.zeros((5000, 4))
    y[:, 0], y[1233, 1], y[1234, 2], y[4321, 1:3] = t, -3.0, 3.0, 2.0
    watched = Watched([(slice(1, 3), np.array([1.0, 1.0])), (slice(2, 3), np.ones(1))], 4)
    for first in range(0, 5000, block):
        watched.take(t[first : first + block], y[first : first + block])
    times, states = watched.arrays()
    assert np.array_equal(times, np.union1d(np.arange(0, 5000, 16), [1234, 4321, 4999]))
    assert np.array_equal(states, y[times.astype(int)])
    assert len(times) <= SEEN + 3


@pytest.mark.parametrize("output", [None, "motion.mbf"])
def test_states_between_stored_instants_are_chosen_by_steps_and_not_by_the_clock(
    output: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    system = mb.System("pendulum")
    ball = system.add(mb.RigidBody("ball", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0)))
    system.add(mb.RevoluteJoint("pin", system.ground, ball, at=(0, 0, 0), axis=(0, 1, 0)))
    seen: list[tuple[np.ndarray, np.ndarray]] = []

    def kept(eq: Equations, samples: tuple[np.ndarray, np.ndarray], *others: object) -> list[str]:
        seen.append(samples)
        return []

    monkeypatch.setattr(verdict, "of_samples", kept)
    for seconds in (0.0, 1e-4, 1e3):
        monkeypatch.setattr(run, "CHUNK_SECONDS", seconds)
        path = None if output is None else tmp_path / f"{seconds}{output}"
        mb.simulate(system, 5.0, dt=1e-3, t_eval=[1.0, 3.5], output=path)
    looked = [0.0, *(1e-3 * 2.0 ** np.arange(13)), 1.0, 3.072, 3.5, 5.0]
    np.testing.assert_allclose(seen[0][0], np.sort(looked), atol=1e-12)
    for t, y in seen[1:]:
        assert np.array_equal(t, seen[0][0])
        assert np.array_equal(y, seen[0][1])
