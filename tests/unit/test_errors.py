"""Errors list every problem and survive the way back from another process."""

from __future__ import annotations

import pickle

import pytest

from mbframe.errors import AnalysisError, MbframeError, ModelError, Problem, SimulationError


def test_all_derive_from_the_root():
    assert all(issubclass(error, MbframeError) for error in (ModelError, SimulationError, AnalysisError))


def test_model_error_lists_all_problems_one_a_line():
    problems = [
        Problem("RigidBody 'bar'", "mass", "found -1; allowed is a positive number; increase it"),
        Problem("RigidBody 'rod'", "", "is not in the system"),
    ]
    error = ModelError(problems)
    assert error.problems == problems
    assert str(error).splitlines() == [
        "RigidBody 'bar', mass: found -1; allowed is a positive number; increase it",
        "RigidBody 'rod': is not in the system",
    ]


def test_model_error_from_a_sentence():
    error = ModelError("implicit integrators take no acceleration=")
    assert str(error) == "implicit integrators take no acceleration="
    assert error.problems == [Problem("", "", "implicit integrators take no acceleration=")]


def test_simulation_error_carries_what_is_known():
    error = SimulationError("the mass matrix is singular", time=0.25, culprit="RigidBody 'bar'", result=[1, 2])
    assert (error.time, error.culprit, error.result) == (0.25, "RigidBody 'bar'", [1, 2])
    assert str(error) == "t = 0.25 s, RigidBody 'bar': the mass matrix is singular"
    assert str(SimulationError("stopped", time=1.0)) == "t = 1 s: stopped"


@pytest.mark.parametrize(
    "error",
    [
        ModelError([Problem("Sphere", "radius", "found 0")]),
        ModelError("one sentence"),
        SimulationError("stopped", time=1.5, culprit="Joint 'A'", result=(1, 2)),
        AnalysisError("no equilibrium"),
    ],
)
def test_errors_pickle(error: MbframeError):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)
