"""What the validation tests share: each test that takes `formulation` runs once in every choice of coordinates."""

import pytest

import mbframe as mb


@pytest.fixture(params=[mb.NewtonEuler(), mb.NaturalAbsolute(), mb.EulerParameters()], ids=lambda f: type(f).__name__)
def formulation(request: pytest.FixtureRequest) -> mb.Formulation:
    return request.param
