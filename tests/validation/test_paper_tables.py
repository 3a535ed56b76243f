"""The orderings that the papers state, on short runs of their mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

from mbframe.examples import paper_tables


def test_planar_mechanisms_are_closed_to_the_tolerance() -> None:
    """[PappalardoGuida2018a], Table 11 and the sentence on it: all below the tolerance of 1e-12."""
    table = paper_tables.planar_mechanisms(t_end=0.2)
    assert list(table.outcomes) == list(paper_tables.PLANAR)
    for outcome in table.outcomes.values():
        position, velocity = paper_tables.violations(outcome)
        assert position <= 1e-12
        assert velocity <= 1e-12


def test_triple_pendulum_is_closed_in_all_combinations() -> None:
    """[PappalardoGuida2018b], Table 2: below the tolerance of 1e-9, velocities much further."""
    table, timed = paper_tables.triple_pendulum(t_end=0.3, repeats=1)
    assert len(table.lines) == 4
    for outcome in timed.outcomes.values():  # Newton-Euler equations too, which the paper does not have
        position, velocity = paper_tables.violations(outcome)
        assert position <= 1e-9
        assert velocity <= 1e-12
    assert [line[0] for line in timed.lines] == ["NaturalAbsolute", "EulerParameters", "NewtonEuler"]
    assert timed.lines[0][:3] == ("NaturalAbsolute", "1.0", "1.00")  # theirs, and ours in the same unit
    # The solvers are equivalent, so the motion is the same.
    one, other = (
        table.outcomes[f"NaturalAbsolute, {name}"].samples for name in ("AugmentedFormulation", "UdwadiaKalaba")
    )
    assert one is not None
    assert other is not None
    assert one.error(other) < 1e-9


@pytest.fixture(scope="module")
def tables() -> list[paper_tables.PaperTable]:
    return paper_tables.marques_mechanisms(t_end=1.0, repeats=1)


@pytest.mark.parametrize("number", range(4), ids=["four-bar", "five-bar pendulum", "slider-crank", "suspension"])
def test_methods_are_ordered_as_stated(tables: list[paper_tables.PaperTable], number: int) -> None:
    """[MarquesSoutoFlores2017], section 4: drift, then bounds, then nothing."""
    squares = {
        name: np.mean(outcome.history.position_violation**2)
        for name, outcome in tables[number].outcomes.items()
        if outcome.history is not None
    }
    standard, baumgarte = squares.pop("standard Lagrange multipliers"), squares.pop("Baumgarte")
    lagrangian = squares.pop("augmented Lagrangian")
    assert standard > baumgarte > lagrangian > max(squares.values())
    assert max(squares.values()) <= 1e-18


def test_violation_grows_without_stabilization(tables: list[paper_tables.PaperTable]) -> None:
    history = tables[0].outcomes["standard Lagrange multipliers"].history
    assert history is not None
    thirds = np.array_split(history.position_violation[1:], 3)
    assert thirds[0].max() < thirds[1].max() < thirds[2].max()


def test_tables_say_what_is_theirs_and_ours(tables: list[paper_tables.PaperTable]) -> None:
    text = str(tables[0])
    assert text.splitlines()[0].startswith("[MarquesSoutoFlores2017]: four_bar_marques, 1 s")
    assert "direct correction              eliminated, 1e-18" in text
