"""Settings of runs: presets, stored instants, and what a file keeps of them."""

from __future__ import annotations

import numpy as np
import pytest

import mbframe as mb
from gui.document.growing import Together
from gui.document.runs import FEWEST, MOST, PRESETS, Run, RunSettings, load
from gui.document.track import Track
from mbframe.files.result_streams import ResultStream
from mbframe.stored_states import StatesInMemory


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_simulates(preset):
    settings = RunSettings(preset, 0.02)
    result = mb.simulate(mb.examples.simple_pendulum(), **settings.keywords())
    assert len(result) == FEWEST + 1
    assert result.t[-1] == 0.02
    assert settings.summary()


def test_presets_differ_in_accuracy():
    system = mb.examples.triple_pendulum()
    exact = mb.simulate(system, 1.0, integrator=mb.DormandPrince(rtol=1e-12), t_eval=[0.0, 1.0]).q[-1]
    errors = {
        preset: np.abs(mb.simulate(system, **RunSettings(preset, 1.0).keywords()).q[-1] - exact).max()
        for preset in ("fast", "accurate")
    }
    assert errors["accurate"] < 0.01 * errors["fast"]


def test_the_interval_of_stored_states_follows_the_length_of_the_run():
    assert RunSettings(t_end=0.03).interval() == pytest.approx(0.03 / FEWEST)
    assert RunSettings(t_end=20.0).interval() == pytest.approx(0.01)
    assert RunSettings(t_end=1e5).interval() == pytest.approx(1e5 / MOST)
    np.testing.assert_allclose(RunSettings(t_end=1.0, every=0.3).keywords()["t_eval"], [0.0, 0.3, 0.6, 0.9, 1.0])
    np.testing.assert_allclose(RunSettings(t_end=0.9, every=0.3).keywords()["t_eval"], [0.0, 0.3, 0.6, 0.9])
    np.testing.assert_allclose(RunSettings(t_end=0.2, every=0.3).keywords()["t_eval"], [0.0, 0.2])


@pytest.mark.parametrize(
    "settings",
    [
        *(RunSettings(preset, 2.0) for preset in PRESETS[:-1]),
        RunSettings(
            "custom",
            3.0,
            dt=1e-3,
            formulation=mb.EulerParameters(),
            acceleration=mb.UdwadiaKalaba(),
            stabilization=mb.Baumgarte(alpha=5.0, beta=5.0),
            integrator=mb.AdamsBashforth(),
        ),
    ],
)
def test_settings_survive_a_file(settings, tmp_path):
    mb.save(mb.examples.heavy_top(), tmp_path / "a.json", simulation=settings.stored())
    found = RunSettings.from_stored(mb.load_settings(tmp_path / "a.json"))
    assert found.preset == settings.preset
    assert {k: repr(v) for k, v in found.stored().items()} == {k: repr(v) for k, v in settings.stored().items()}
    assert RunSettings.from_stored({}) == RunSettings()


def test_unknown_presets_are_refused():
    with pytest.raises(ValueError, match="no preset 'magic'"):
        RunSettings("magic")
    assert RunSettings().changed(t_end=2.0) == RunSettings(t_end=2.0)


def test_a_run_without_a_file_does_not_grow(tmp_path):
    run = Run("a")
    assert not run.reload()
    assert run.t_last == 0.0
    run.path = tmp_path / "none.h5"
    assert not run.reload()
    run.path.write_text("not yet")
    assert not run.reload()
    run.discard()
    assert run.path.exists()


def test_results_are_read_together(tmp_path, monkeypatch):
    system = mb.examples.four_bar()
    mb.simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 11), output=tmp_path / "a.h5")
    expected = mb.load_result(tmp_path / "a.h5")
    found = load(tmp_path / "a.h5")
    for name in ("bar 1", "bar 2", "bar 3"):
        np.testing.assert_array_equal(found.position(name), expected.position(name))
        np.testing.assert_array_equal(found.velocity(name), expected.velocity(name))
    np.testing.assert_array_equal(found.energy.total, expected.energy.total)
    longer = Together(tmp_path / "a.h5", before=found.states)
    assert longer.snapshot is found.states.snapshot  # a run that grows keeps the model that was read
    monkeypatch.setattr("gui.document.runs.LARGEST_IN_MEMORY", 10)
    np.testing.assert_array_equal(load(tmp_path / "a.h5").position("bar 2"), expected.position("bar 2"))


def test_what_was_read_of_a_growing_run_is_not_read_again(tmp_path, monkeypatch):
    """The writer appends to one file; each reading brings the rest, and in the end all is as if it was read at once."""
    system, path = mb.examples.four_bar(), tmp_path / "a.h5"
    whole = mb.simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 101))
    run, read, rows = Run("a", path=path), [], Together.rows_of

    def noted(self, name, which, columns):
        read.append((name, which))
        return rows(self, name, which, columns)

    monkeypatch.setattr(Together, "rows_of", noted)
    stream = ResultStream(path, StatesInMemory.none(whole.states.equations, whole.states.settings), whole.info)
    for first, last in ((0, 40), (40, 55), (55, 101)):
        stream.append(whole.t[first:last], whole.states.whole(slice(first, last)))
        stream.checkpoint()
        read.clear()
        assert run.reload()
        assert [which for name, which in read if name == "q"] == [slice(first, last)]
        assert len(run.result) == len(run.track) == last
    stream.finish(whole.info)
    stream.close()
    expected = Track(mb.load_result(path))
    for t in (0.0, 0.1234, 0.27, 0.5):
        found, meant = run.track.state(t), expected.state(t)
        for name in expected.names:
            np.testing.assert_array_equal(found.position(name), meant.position(name))
            np.testing.assert_array_equal(found.rotation(name).as_matrix(), meant.rotation(name).as_matrix())
            np.testing.assert_array_equal(found.velocity(name), meant.velocity(name))
    np.testing.assert_array_equal(run.result.q, whole.q)


def test_another_run_in_the_same_file_is_read_from_its_beginning(tmp_path):
    run = Run("a", path=tmp_path / "a.h5")
    for end in (0.1, 0.3):
        mb.simulate(mb.examples.four_bar(), end, t_eval=np.linspace(0.0, end, round(100 * end) + 1), output=run.path)
        assert run.reload()
        np.testing.assert_array_equal(run.result.position("bar 1"), mb.load_result(run.path).position("bar 1"))
        assert run.track.span == (0.0, end)
