"""What `scripts/test` leaves to `scripts/test --all`: no value of a product, and of a study neither end."""

from __future__ import annotations

from itertools import product

import pytest

from tests.conftest import covering, spread


@pytest.mark.parametrize("sizes", [(3, 3), (1, 4), (5, 2, 3), (7,)], ids=str)
def test_every_value_of_a_product_is_taken(sizes: tuple[int, ...]) -> None:
    cases = [set(enumerate(values)) for values in product(*map(range, sizes))]
    taken = covering(cases)
    assert set().union(*(cases[k] for k in taken)) == set().union(*cases)
    assert len(taken) == max(sizes)


def test_cases_of_a_study_are_spread() -> None:
    assert spread(31, 4) == {0, 10, 20, 30}
    assert spread(5, 1) == {0}
    assert spread(3, 3) == {0, 1, 2}
