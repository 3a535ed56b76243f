"""Modes as films: cycles with closed joints and the phases of complex modes, in all formats."""

import json

import numpy as np
import pytest

import mbframe as mb
from mbframe.render import availability
from mbframe.render.export import suitable_speed

pytest.importorskip("pyvista")
Image = pytest.importorskip("PIL.Image")

drawing = pytest.mark.skipif(not availability.can_draw(), reason=str(availability.why_not()))
SMALL = {"size": (160, 90), "smooth": False}


def weave() -> mb.Mode:
    lin = mb.linearize(mb.examples.whipple_bicycle(speed=4.6))
    return max((mode for mode in lin.modes if not mode.ignorable), key=lambda mode: mode.eigenvalue.imag)


def flexible() -> mb.Mode:
    system = mb.examples.flexible_pendulum()
    return mb.linearize(system, mb.equilibrium(system)).modes[-1]


def planar() -> mb.Mode:
    system = mb.examples.double_inverted_pendulum()
    return mb.linearize(system, mb.equilibrium(system)).modes[0]


def decaying() -> mb.Mode:
    lin = mb.linearize(mb.examples.whipple_bicycle(speed=4.6))
    return min(lin.modes, key=lambda mode: mode.eigenvalue.real)


@pytest.mark.parametrize("made", [weave, flexible, planar, decaying])
def test_a_cycle_keeps_joints_closed_and_follows_the_phases(made):
    mode, frames, scale = made(), 12, 1e-3
    result = mode.cycle(frames, amplitude=scale)
    assert len(result.t) == frames + 1
    assert result.t[-1] - result.t[0] == pytest.approx(mode.period)
    assert result.violation.position.max() < 1e-8
    start = mode.linearization.state
    names = list(start.motions)
    shifts = np.array(
        [[result.state(k).motions[n].position - start.motions[n].position for n in names] for k in range(13)]
    )
    np.testing.assert_array_equal(shifts[0], shifts[-1])
    shape = np.array([mode.shape[n].translation for n in names])
    size = np.abs(shifts).max() / max(np.abs(shape).max(), 1e-300)
    phases = np.exp(2j * np.pi * np.arange(13) / frames)
    expected = size * np.real(phases[:, None, None] * shape)
    largest = np.abs(expected).max() / np.abs(shifts).max()
    np.testing.assert_allclose(shifts * largest, expected, atol=2e-2 * np.abs(expected).max())


def test_a_cycle_is_a_whole_number_of_frames(tmp_path):
    mode = weave()
    speed = suitable_speed(mode.period)
    assert 0.6 <= mode.period / speed <= 4.0
    (path,) = mb.render.export(mode, tmp_path / "weave.glb", fps=20.0)
    header = int.from_bytes(path.read_bytes()[12:16], "little")
    model = json.loads(path.read_bytes()[20 : 20 + header])
    times = [a for a in model["accessors"] if a["type"] == "SCALAR" and "max" in a]
    duration = round(mode.period / speed * 20.0) / 20.0
    assert any(a["max"][0] == pytest.approx(duration, rel=1e-5) for a in times)


@drawing
@pytest.mark.parametrize("made", [weave, flexible, planar])
def test_a_gif_of_a_mode_goes_on_where_it_began(made, tmp_path):
    mode = made()
    (path,) = mb.render.export(mode, tmp_path / "mode.gif", fps=8.0, speed=mode.period, **SMALL)
    with Image.open(path) as film:
        assert film.n_frames == 8  # the ninth would be the first
        pictures = []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("RGB"), int))
    assert any((np.abs(pictures[0] - p).max(axis=2) > 40).mean() > 1e-3 for p in pictures[1:])


@drawing
def test_other_formats_of_a_mode(tmp_path):
    mode = planar()
    (page,) = mb.render.export(mode, tmp_path / "mode.html", fps=8.0)
    assert b"<html" in page.read_bytes()[:200].lower()
    written = mb.render.export(mode, tmp_path / "mode.png", fps=4.0, speed=mode.period, **SMALL)
    assert len(written) == 4
    (film,) = mb.render.export(mode, tmp_path / "mode.mp4", fps=8.0, speed=mode.period, **SMALL)
    assert film.stat().st_size > 500


@pytest.mark.parametrize(("options", "words"), [({"fps": 0.0}, "positive"), ({"speed": np.nan}, "positive")])
def test_bad_speeds_are_refused(options, words, tmp_path):
    with pytest.raises(mb.ModelError, match=words):
        mb.render.export(weave(), tmp_path / "mode.gif", **options)


def test_what_is_neither_a_result_nor_a_mode_is_refused(tmp_path):
    with pytest.raises(mb.ModelError, match=r"allowed is a result.*or a mode"):
        mb.render.export(mb.examples.rolling_disk(), tmp_path / "mode.gif")
    with pytest.raises(mb.ModelError, match="at least 2 steps"):
        weave().cycle(1)
