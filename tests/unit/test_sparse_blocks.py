"""Sparse matrices are made from sparse arrays.

SciPy 1.18 warns where `block_diag`, `kron`, `tril` or `triu` get dense arrays alone, because what they make of these
changes with 1.20.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from scipy import sparse

import mbframe as mb


def assemble() -> None:
    system = mb.examples.spatial_slider_crank()
    described = mb.Equations(system).described().motions
    apart = {name: replace(m, position=m.position + 0.01 * k) for k, (name, m) in enumerate(described.items())}
    mb.assemble(system, mb.State(0.0, apart))


def linearize() -> None:
    mb.linearize(mb.examples.cart_pendulum(True), n_modes=1)


def move_in_a_mode() -> None:
    pytest.importorskip(
        "PySide6.QtWidgets", reason="the application's packages are not installed", exc_type=ImportError
    )
    from mbframe.analysis.linear.mode_motion import ModeMotion

    ModeMotion(mb.linearize(mb.examples.mass_spring_damper_chain(2)))


@pytest.mark.parametrize("deed", [assemble, linearize, move_in_a_mode])
def test_no_sparse_matrix_is_made_of_dense_ones_alone(
    deed: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def strict(name: str, given: Callable[..., Any]) -> Callable[..., Any]:
        def function(*arguments: Any, **options: Any) -> Any:
            matrices = arguments[0] if name == "block_diag" else arguments[:2]
            assert any(isinstance(one, sparse.sparray) for one in matrices), f"{name} of dense arrays"
            made.append(name)
            return given(*arguments, **options)

        return function

    for name in ("block_diag", "kron", "tril", "triu"):
        monkeypatch.setattr(sparse, name, strict(name, getattr(sparse, name)))
    monkeypatch.setattr("mbframe.analysis.linear.linearize.DENSE", 0)
    deed()
    assert "block_diag" in made
