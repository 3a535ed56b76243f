"""Energy, momenta, closed joints and the way through a file for random mechanisms; `scripts/endure` takes thousands."""

import pytest

from .random_mechanisms import problems_of


@pytest.mark.parametrize("seed", range(25))
def test_a_random_mechanism_keeps_what_mechanics_keeps(seed: int) -> None:
    assert problems_of(seed) == []
