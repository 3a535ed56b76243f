"""The laboratory: what it measures is what simulations give, what fails says why, and the page needs nothing else."""

from __future__ import annotations

import io
import re
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbframe as mb
from mbframe.analysis.laboratory.comparison import COLUMNS, Comparison, Outcome, Samples, Table
from mbframe.analysis.laboratory.methods import Method, product_of, selection

T_END, DT = 0.5, 0.01


class Diverging(mb.Integrator):
    """Leaves the constraints by so much that no correction brings it back."""

    def step(self, eq: Any, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        return q + (1e9 if t > 0.2 else 0.0), v


class Broken(mb.Integrator):
    def step(self, eq: Any, t: float, q: np.ndarray, v: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        raise ZeroDivisionError("nothing to divide by")


@pytest.fixture(scope="module")
def comparison() -> Any:
    return mb.compare(
        mb.examples.simple_pendulum(),
        T_END,
        DT,
        stabilizations=[mb.NoStabilization(), mb.DirectCorrection()],
        integrators=[mb.RungeKutta4(), mb.DormandPrince(rtol=1e-9), Diverging()],
        steps=[2 * DT, DT],
        repeats=1,
    )


def row_of(comparison: Any, **wanted: Any) -> dict[str, Any]:
    (found,) = [row for row in comparison.table() if all(row[key] == value for key, value in wanted.items())]
    return found


def test_every_combination_has_a_row(comparison: Any) -> None:
    table = comparison.table()
    assert all(list(row) == list(COLUMNS) for row in table)
    # Two stabilizations, of two fixed-step integrators each with two steps and an adaptive one without.
    assert [(row["stabilization"], row["integrator"], row["dt"]) for row in table[:5]] == [
        ("NoStabilization", "RungeKutta4", 2 * DT),
        ("NoStabilization", "RungeKutta4", DT),
        ("NoStabilization", "DormandPrince(rtol=1e-09)", None),
        ("NoStabilization", "Diverging", 2 * DT),
        ("NoStabilization", "Diverging", DT),
    ]
    assert len(table) == 10


def test_numbers_are_those_of_a_simulation(comparison: Any) -> None:
    system = mb.examples.simple_pendulum()
    result = mb.simulate(system, T_END, DT, stabilization=mb.NoStabilization())
    row = row_of(comparison, stabilization="NoStabilization", integrator="RungeKutta4", dt=DT)
    assert row["steps"] == result.info.steps == 50
    assert row["evaluations"] == result.info.evaluations
    assert row["max_position_violation"] == result.violation.position.max()
    assert row["mean_velocity_violation"] == pytest.approx(result.violation.velocity.mean(), rel=1e-12)
    assert row["wall_time"] > 0.0
    # Nothing dissipates: the energy of the exact motion is that of the start.
    energy = result.energy.total
    assert row["energy_drift"] == pytest.approx(np.abs(energy - energy[0]).max(), rel=1e-3)


def test_errors_fall_with_the_order_of_the_method(comparison: Any) -> None:
    coarse, fine = (
        row_of(comparison, stabilization="DirectCorrection", integrator="RungeKutta4", dt=dt)["error"]
        for dt in (2 * DT, DT)
    )
    assert coarse / fine == pytest.approx(2.0**4, rel=0.2)
    tight = row_of(comparison, stabilization="DirectCorrection", integrator="DormandPrince(rtol=1e-09)")
    assert tight["error"] < 1e-8
    assert tight["max_position_violation"] <= 1e-12


def test_error_is_the_farthest_distance_or_angle() -> None:
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    still = Samples(np.zeros(2), np.zeros((2, 1, 3)), np.tile(np.eye(3), (2, 1, 1, 1)), np.array([1.0, 1.0]))
    moved = Samples(
        np.zeros(2), np.array([[[0.0, 0.0, 0.0]], [[0.3, 0.4, 0.0]]]), still.rotations, np.array([1.0, 3.0])
    )
    turned = Samples(np.zeros(2), still.positions, np.array([[np.eye(3)], [turn]]), still.energy)
    assert moved.error(still) == pytest.approx(0.5)
    assert turned.error(still) == pytest.approx(np.pi / 2)
    assert moved.energy_drift(still) == 2.0


def test_a_failure_says_why_and_stops_nothing(comparison: Any) -> None:
    failed = [row for row in comparison.table() if row["failure"]]
    assert {(row["stabilization"], row["integrator"]) for row in failed} == {("DirectCorrection", "Diverging")}
    assert all(row["error"] is None and row["wall_time"] is None for row in failed)
    assert all("t = 0.2" in row["failure"] for row in failed)
    assert len(comparison.failures()) == len(failed) == 2
    broken = mb.compare(mb.examples.simple_pendulum(), T_END, DT, integrators=[Broken()], steps=[DT])
    (row,) = broken.table()
    assert "nothing to divide by" in row["failure"]
    assert "nothing to divide by" in str(broken.table())


def test_runs_have_a_time_limit() -> None:
    found = mb.compare(
        mb.examples.simple_pendulum(), 100.0, 1e-5, integrators=[mb.RungeKutta4()], time_limit=0.05, steps=[1e-5]
    )
    assert "stopped after 0.05 s" in found.table()[0]["failure"]


def test_the_text_is_a_table(comparison: Any) -> None:
    text = str(comparison.table())
    lines = text.splitlines()
    assert lines[0] == "simple pendulum, 0.5 s; as described, AugmentedFormulation"
    assert lines[1].split() == [
        *("stabilization", "integrator", "dt", "(s)", "error", "max", "|C|", "mean", "|C|", "max", "|C'|"),
        *("mean", "|C'|", "energy", "(J)", "steps", "evaluations", "time", "(s)", "warnings"),
        "failure",
    ]
    assert len(lines) == 3 + len(comparison.table())
    assert str(comparison) == "\n".join([text, *comparison.notes])
    by_error = comparison.table(sort="error")
    errors = [row["error"] for row in by_error]
    known = [error for error in errors if error is not None]
    assert known == sorted(known)
    assert errors[len(known) :] == [None, None]
    with pytest.raises(mb.ModelError, match="allowed are formulation"):
        comparison.table(sort="speed")


def test_rich_and_notebooks_show_it(comparison: Any) -> None:
    from rich.console import Console

    console = Console(width=220, record=True, file=io.StringIO())
    console.print(comparison.table())
    assert "DormandPrince(rtol=1e-09)" in console.export_text()
    assert "<table>" in comparison.table()._repr_html_()


@pytest.mark.parametrize("kind", ["work", "violation", "energy"])
def test_plots_have_a_line_for_each_method(comparison: Any, kind: str, tmp_path: Path) -> None:
    picture = comparison.plot(kind, theme="dark")
    assert len(comparison.families()) == 5
    assert all(len(axes.lines) == 5 for axes in picture.axes)
    picture.save(tmp_path / "plot.svg")
    with pytest.raises(mb.ModelError, match="work, violation, energy"):
        comparison.plot("speed")
    with pytest.raises(mb.ModelError, match="wall_time, evaluations"):
        comparison.plot("work", against="speed")


def test_plots_draw_the_most_accurate_of_many_methods() -> None:
    many = [
        Outcome(Method(None, None, mb.Baumgarte(alpha=float(k)), mb.RungeKutta4(), DT), "", 1.0 / k, 0.0, 1, 1, 1.0)
        for k in range(1, 31)
    ]
    (axes,) = Comparison("many", 1.0, many).plot("work").axes
    assert len(axes.lines) == 17
    labels = axes.get_legend_handles_labels()[1]
    assert (labels[0], labels[-1]) == ("Baumgarte(alpha=15.0)", "… and 14 less accurate")


class References(HTMLParser):
    """All that a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.found += [value or "" for key, value in attrs if key in ("src", "href", "xlink:href", "data", "srcset")]


def test_the_page_needs_nothing_else(comparison: Any, tmp_path: Path) -> None:
    file = tmp_path / "lab.html"
    comparison.report(file)
    text = file.read_text(encoding="utf-8")
    assert "Content-Security-Policy" in text
    page = References()
    page.feed(text)
    assert all(reference.startswith("#") for reference in page.found)
    assert not re.search(r"url\((?!#)|@import|fetch\(|XMLHttpRequest", text)
    assert page.tags.count("svg") == 4
    assert page.tags.count("tr") == 1 + len(comparison.table())
    assert "Diverging" in text
    assert list(tmp_path.iterdir()) == [file]


def test_names_are_text_in_the_page(tmp_path: Path) -> None:
    system = mb.examples.simple_pendulum()
    system.name = "<script>alert(1)</script>"
    found = mb.compare(system, 0.02, DT, integrators=[mb.RungeKutta4()], steps=[DT], repeats=1)
    found.report(tmp_path / "lab.html")
    assert "<script>alert" not in (tmp_path / "lab.html").read_text(encoding="utf-8")


def test_the_selection_varies_one_thing_at_a_time() -> None:
    for system in (mb.examples.simple_pendulum(), mb.examples.triple_pendulum()):
        methods = selection(system, [DT])
        assert len(methods) == len({str(method.names()) for method in methods})
        integrators = {type(method.integrator) for method in methods}
        assert integrators >= {mb.RungeKutta4, mb.AdamsBashforth, mb.DormandPrince}
        formulations = {method.names()["formulation"] for method in methods}
        assert len(formulations) == 4  # as described, the two that it is not described in, and joint coordinates


def test_an_implicit_integrator_finds_its_own_accelerations() -> None:
    class Implicit(mb.Integrator):
        implicit = True

    methods = product_of(None, [mb.AugmentedFormulation(), mb.Penalty()], None, [mb.RungeKutta4(), Implicit()], [DT])
    assert [tuple(method.names().values())[1::2] for method in methods] == [
        ("AugmentedFormulation", "RungeKutta4"),
        ("by the integrator", "Implicit"),
        ("Penalty", "RungeKutta4"),
    ]
    assert methods[1].settings()["acceleration"] is None


def test_an_executor_gives_the_same_numbers() -> None:
    chosen: dict[str, Any] = {"stabilizations": [mb.Baumgarte(), mb.DirectCorrection()], "steps": [DT], "repeats": 1}
    seen: list[tuple[int, int]] = []
    here = mb.compare(mb.examples.simple_pendulum(), 0.1, DT, **chosen, progress=lambda *done: seen.append(done))
    with ThreadPoolExecutor(1) as pool:
        there = mb.compare(mb.examples.simple_pendulum(), 0.1, DT, **chosen, executor=pool)
    assert seen == [(1, 2), (2, 2)]
    for one, other in zip(here.table(), there.table(), strict=True):
        assert {**one, "wall_time": 0} == {**other, "wall_time": 0}


def test_ctrl_c_keeps_what_was_measured() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    found = mb.compare(mb.examples.simple_pendulum(), 0.1, DT, repeats=1, progress=stop)
    assert len(found.table()) == 1
    assert found.table()[0]["steps"] > 0
    assert not found.completed
    assert found.notes[0].startswith("stopped by the user after 1 of ")


def test_ctrl_c_during_the_reference_keeps_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    from mbframe.analysis.laboratory import compare

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "measured", stop)
    found = mb.compare(mb.examples.simple_pendulum(), 0.1, DT, integrators=[mb.RungeKutta4()], steps=[DT], repeats=1)
    assert len(found.table()) == 1
    assert not found.completed
    assert found.notes == ["stopped by the user after 1 of 1 methods: there is no reference"]


def test_wrong_arguments_are_refused_at_once() -> None:
    with pytest.raises(mb.ModelError) as caught:
        mb.compare(
            "pendulum",  # type: ignore[arg-type]
            -1.0,
            0.0,
            integrators=mb.RungeKutta4(),  # type: ignore[arg-type]
            accelerations=[mb.DirectCorrection()],  # type: ignore[list-item]
            repeats=0,
            time_limit=0.0,
        )
    fields = [problem.field for problem in caught.value.problems]
    assert fields == ["system", "t_end", "dt", "repeats", "time_limit", "accelerations", "integrators"]
    with pytest.raises(mb.ModelError, match="steps"):
        mb.compare(mb.examples.simple_pendulum(), 1.0, steps=[])
    with pytest.raises(mb.ModelError, match="executor"):
        mb.compare(mb.examples.simple_pendulum(), 1.0, executor="threads")
    unsendable = mb.examples.simple_pendulum()
    unsendable.observer = lambda: None  # type: ignore[attr-defined]
    with pytest.raises(mb.ModelError, match="cannot be sent"):
        mb.compare(unsendable, 1.0, executor="processes")


def test_an_empty_table_is_a_table() -> None:
    assert str(Table([])) == ""


def test_what_runs_warn_of_is_in_rows_table_and_page(tmp_path: Path) -> None:
    """A beam that turns faster than it vibrates, without stiffening: two methods tell of it, in their own numbers."""
    part = mb.flexible.beam(
        length=1.0,
        elements=4,
        area=1e-4,
        second_moments=(8e-10, 8e-10),
        torsion=1.6e-9,
        young=2.1e11,
        shear=8.1e10,
        density=7850.0,
    )
    system = mb.System("baton", gravity=(0, 0, 0))
    modes = mb.flexible.free_modes(part, 2)
    system.add(mb.FlexibleBody("rod", modes, angular_velocity=(0.0, 0.0, 400.0)))
    found = mb.compare(system, 1e-3, integrators=[mb.RungeKutta4()], steps=[1e-4, 5e-5], repeats=1)
    assert all("first frequency" in " ".join(outcome.warnings) for outcome in found.outcomes)
    assert [row["warnings"] for row in found.table()] == [len(outcome.warnings) for outcome in found.outcomes]
    (note,) = (note for note in found.notes if "first frequency" in note)
    assert note.endswith("(2 of 2 methods)")
    assert note in str(found)
    found.report(tmp_path / "page.html")
    assert "first frequency as its joints hold it" in (tmp_path / "page.html").read_text()
