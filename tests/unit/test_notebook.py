"""Systems and results display themselves, and never fail to."""

from __future__ import annotations

import base64
import io
import re

import pytest
from PIL import Image

import mbframe as mb
from mbframe.display import Displayed
from mbframe.render import can_draw, notebook


def system() -> mb.System:
    made = mb.System("a <b> & c")
    bar = made.add(mb.RigidBody("bar <1>", mass=2.5, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0)))
    made.add(mb.SphericalJoint("pin", made.ground, bar, at=(0, 0, 0)))
    return made


def test_a_system_shows_a_table_with_escaped_names():
    page = system()._repr_html_()
    assert "a &lt;b&gt; &amp; c" in page
    assert "bar &lt;1&gt;" in page
    assert "2.5 kg" in page
    assert "ground – bar &lt;1&gt;" in page


@pytest.mark.skipif(not can_draw(), reason="nothing can be drawn here")
def test_the_picture_is_a_png():
    (data,) = re.findall(r"data:image/png;base64,([^']+)'", system()._repr_html_())
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        assert image.size == notebook.SIZE


def test_a_result_shows_how_it_came_about():
    result = mb.simulate(mb.examples.heavy_top(), t_end=0.02, dt=1e-3, integrator=mb.RungeKutta4())
    page = result._repr_html_()
    assert "0 … 0.02 s, 21 instants" in page
    assert "RungeKutta4" in page
    assert ("<img" in page) == can_draw()


def test_long_tables_are_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(notebook, "can_draw", lambda: False)
    made = mb.System("many", gravity=(0, 0, 0))
    for k in range(30):
        made.add(mb.PointMass(f"p{k}", mass=1.0, position=(k, 0, 0)))
    assert f"{30 - notebook.ROWS} more" in made._repr_html_()


def test_a_display_never_fails(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Displayed, "presenter", "mbframe.no_such_module")
    assert "a &lt;b&gt;" in system()._repr_html_()
    monkeypatch.setattr(Displayed, "presenter", None)
    assert system()._repr_html_().startswith("<pre>")
