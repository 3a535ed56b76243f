"""Which cases of a product or a study the quick run takes, the others are marked `full`; and budgets of time."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def unhurried() -> Iterator[None]:
    """Looks at users' functions may take as long as they need, so that no machine is too slow for what a test expects.

    A test of what is said when time runs out sets the budget below zero, so that no machine is too fast for it.
    """
    with pytest.MonkeyPatch.context() as patch:
        for budget in ("CALLABLE_SECONDS", "METHOD_SECONDS"):
            patch.setattr(f"mbframe.features.{budget}", math.inf)
        yield


@pytest.hookimpl(tryfirst=True)  # before `-m "not full"` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in functions.values():
        mark = cases[0].get_closest_marker("sample")
        if mark is not None:
            taken = spread(len(cases), *mark.args) if mark.args else covering([values_of(item) for item in cases])
            for k, item in enumerate(cases):
                if k not in taken:
                    item.add_marker("full")


def spread(count: int, wanted: int) -> set[int]:
    """So many numbers below a count, from the first to the last."""
    return {round(k * (count - 1) / max(wanted - 1, 1)) for k in range(wanted)}


def covering(cases: list[set[object]]) -> set[int]:
    """Numbers of cases that have every value that any case has; those that bring most come first."""
    missing, taken = set().union(*cases), set()
    while missing:
        best = max(range(len(cases)), key=lambda k: len(cases[k] & missing))
        taken.add(best)
        missing -= cases[best]
    return taken


def values_of(item: pytest.Item) -> set[object]:
    """What makes a case: the very objects that its parameters are."""
    assert isinstance(item, pytest.Function)
    return {(name, id(value)) for name, value in item.callspec.params.items()}
