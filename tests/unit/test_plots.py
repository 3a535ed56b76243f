"""Plots: what is drawn where, how it is called, and files that are whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbframe as mb
from mbframe import plots
from mbframe.examples.__main__ import main
from mbframe.plots.style import MOST_POINTS, THEMES, thinned


@pytest.fixture(scope="module")
def result() -> mb.Result:
    system = mb.System("pendulum")
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.053, 2.693, 2.693), position=(2, 0, 0)))
    system.add(mb.SphericalJoint("A", system.ground, bar, at=(0, 0, 0)))
    return mb.simulate(system, 2.0, t_eval=np.linspace(0.0, 2.0, 101))


def test_signals_of_a_unit_share_a_panel(result):
    figure = result.plot("bar.position.x", "bar.velocity.z", "bar.position.z", "A.reaction.force")
    position, velocity, force = figure.axes
    assert position.get_ylabel() == "position (m)"
    assert [line.get_label() for line in position.lines] == ["bar · x", "bar · z"]
    assert velocity.get_ylabel() == "bar velocity z (m/s)"
    assert velocity.get_legend() is None
    assert [line.get_label() for line in force.lines] == ["A · x", "A · y", "A · z"]
    assert force.get_xlabel() == "time (s)"
    assert np.array_equal(position.lines[1].get_ydata(), result.position("bar")[:, 2])
    assert np.array_equal(position.lines[1].get_xdata(), result.t)
    assert figure.get_suptitle() == "pendulum"


def test_different_kinds_of_one_unit_are_told_apart(result):
    (axes,) = result.plot("bar.position.z", "bar.point(2, 0, 0).position.z", "violation.position").axes
    assert axes.get_ylabel() == "position (m)"
    assert [line.get_label() for line in axes.lines] == ["bar · z", "bar point(2, 0, 0) · z", "violation"]
    (axes,) = result.plot("energy.kinetic", "energy.total", title="").axes
    assert axes.get_ylabel() == "kinetic, total (J)"
    assert [line.get_label() for line in axes.lines] == ["energy · kinetic", "energy · total"]


def test_phase_plots(result):
    figure = result.plot("bar.velocity.z", against="bar.position.z")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "bar position z (m)"
    assert axes.get_ylabel() == "bar velocity z (m/s)"
    assert np.array_equal(axes.lines[0].get_xdata(), result.position("bar")[:, 2])
    with pytest.raises(mb.ModelError, match=r"bar\.position\.x"):
        result.plot("bar.velocity.z", against="bar.position")


def test_energy_and_violation(result):
    levels, change = result.plot("energy").axes
    assert [line.get_label() for line in levels.lines] == ["kinetic", "potential", "total"]
    assert change.get_ylabel() == "energy drift (-)"
    (axes,) = result.plot("violation").axes
    assert axes.get_yscale() == "log"
    assert np.all(axes.lines[0].get_ydata() > 0.0)


def test_energy_that_is_lost_is_no_drift():
    system = mb.System("damped")
    ball = system.add(mb.PointMass("ball", mass=1.0, position=(0, 0, -1)))
    system.add(mb.SpringDamper("damper", system.ground, ball, stiffness=10.0, damping=5.0, free_length=0.0))
    axes = plots.overview(mb.simulate(system, 2.0)).axes
    assert [a.get_ylabel() for a in axes] == ["centre of mass (m)", "energy change (-)"]


def test_themes(result):
    light, dark = (result.plot("bar.position", theme=theme) for theme in ("light", "dark"))
    assert light.get_facecolor() != dark.get_facecolor()
    assert dark.axes[0].xaxis.label.get_color() != light.axes[0].xaxis.label.get_color()
    for figure in (light, dark):
        assert [line.get_color() for line in figure.axes[0].lines] == list(figure.theme.lines[:3])
    with pytest.raises(mb.ModelError, match="light, dark"):
        result.plot("bar.position", theme="pink")


@pytest.mark.parametrize(
    ("suffix", "begin"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".PNG", b"\x89PNG")]
)
def test_files(result, tmp_path, suffix, begin):
    result.plot("bar.position").save(tmp_path / f"plot{suffix}")
    assert (tmp_path / f"plot{suffix}").read_bytes().startswith(begin)
    assert len(list(tmp_path.iterdir())) == 1


def test_bad_requests(result, tmp_path):
    with pytest.raises(mb.ModelError, match="found no name"):
        result.plot()
    with pytest.raises(mb.ModelError, match=r"did you mean 'bar\.position\.x'"):
        result.plot("bar.postion.x")
    with pytest.raises(mb.ModelError, match=r"\.png, \.svg, \.pdf"):
        result.plot("bar.position.x").save(tmp_path / "plot.docx")
    with pytest.raises(mb.ModelError, match="no folder"):
        result.plot("bar.position.x").save(tmp_path / "none" / "plot.png")
    assert not list(tmp_path.iterdir())


def test_notebooks_show_a_picture(result):
    assert result.plot("bar.position")._repr_png_().startswith(b"\x89PNG")


def test_a_long_line_keeps_its_extremes():
    x = np.arange(1_000_000.0)
    y = np.sin(x / 1e4)
    y[123_456], y[777_777] = 5.0, -5.0
    short_x, short_y = thinned(x, y)
    assert len(short_x) < 1.1 * MOST_POINTS
    assert np.all(np.diff(short_x) > 0)
    assert np.array_equal(y[short_x.astype(int)], short_y)
    assert {123_456.0, 777_777.0, 0.0, 999_999.0} <= set(short_x)
    assert thinned(x[:50], y[:50])[0] is not None


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_lines_stand_out_from_the_background(theme):
    """Contrast of at least 2 : 1 for every line, 7 : 1 for text [WCAG 2.1, relative luminance]."""

    def luminance(color: str) -> float:
        channels = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    def contrast(a: str, b: str) -> float:
        low, high = sorted((luminance(a), luminance(b)))
        return (high + 0.05) / (low + 0.05)

    assert contrast(theme.text, theme.background) > 7.0
    assert min(contrast(line, theme.background) for line in theme.lines) > 2.0
    assert len(set(theme.lines)) == 8


def test_pyplot_is_never_loaded():
    """Its global state and windows belong to the user."""
    program = (
        "import sys, mbframe as mb; s = mb.System('s'); s.add(mb.PointMass('a', mass=1.0)); "
        "mb.simulate(s, 0.1).plot('a.position')._repr_png_(); print('matplotlib.pyplot' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "False"


@pytest.mark.parametrize("name", ["four_bar", "heavy_top"])
def test_the_overview_of_an_example_is_written(name: str, tmp_path: Path) -> None:
    main([name, "--output", str(tmp_path)])
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000
