"""`mbframe warmup` reaches every formulation and every element with kernels."""

import pytest

import mbframe as mb
from mbframe.solvers.warmup import warm_up

from .specimens import walk


@pytest.mark.timeout(900)
def test_warm_up_goes_through_the_whole_library() -> None:
    done = set(warm_up())
    for family, base in (
        ("formulation", mb.Formulation),
        ("element", mb.BasicConstraint),
        ("element", mb.ForceElement),
    ):
        assert {f"{family} {cls.__name__}" for cls in walk(base)} <= done
