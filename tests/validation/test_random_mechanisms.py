"""Energy, momenta, closed joints and the way through a file for random mechanisms; more: `scripts/stress endure`."""

import pytest

from .random_mechanisms import problems_of

KEPT = [8326]  # bodies of 0.2 g that a spring throws at 2 km/s: their momenta are a thousand times that of the whole


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", [*range(25), *KEPT])
def test_a_random_mechanism_keeps_what_mechanics_keeps(seed: int) -> None:
    assert problems_of(seed) == []
