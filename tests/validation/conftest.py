"""What the validation tests share: each test that takes `formulation` runs once in every choice of coordinates.

In the quick run it takes one of them, the next test the next one; `full` marks the others.
"""

from pathlib import Path

import pytest

import mbframe as mb

HERE = Path(__file__).parent


@pytest.fixture(params=[mb.NewtonEuler(), mb.NaturalAbsolute(), mb.EulerParameters()], ids=lambda f: type(f).__name__)
def formulation(request: pytest.FixtureRequest) -> mb.Formulation:
    return request.param


@pytest.hookimpl(tryfirst=True)  # before `-m "not full"` is looked at
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    alike: dict[tuple[object, ...], list[pytest.Item]] = {}  # the same test but for the formulation
    for item in items:
        if isinstance(item, pytest.Function) and item.path.is_relative_to(HERE) and hasattr(item, "callspec"):
            values = {name: id(value) for name, value in item.callspec.params.items()}
            if values.pop("formulation", None) is not None:
                alike.setdefault((item.path, item.originalname, *values.items()), []).append(item)
    for turn, cases in enumerate(alike.values()):
        for other in (case for k, case in enumerate(cases) if k != turn % len(cases)):
            other.add_marker("full")
