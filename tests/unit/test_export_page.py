"""The HTML page: self-contained, and what it carries. How it behaves in a browser: test_export_browser."""

import base64
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import mbframe as mb


class Page(HTMLParser):
    """The scripts of a page by id, and everything that would be fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.fetched: list[str] = []
        self._open: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.fetched += [str(given[key]) for key in ("src", "href", "srcset", "data") if key in given]
        if tag == "script":
            self._open = given.get("id") or f"program {len(self.scripts)}"
            self.scripts[self._open] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.scripts[self._open] += data

    @property
    def settings(self) -> dict:
        return json.loads(self.scripts["settings"])


@pytest.fixture(scope="module")
def result() -> mb.Result:
    return mb.simulate(mb.examples.triple_pendulum(), 5.0)


def test_the_page_carries_everything(result, tmp_path):
    (path,) = mb.render.export(
        result, tmp_path / "motion.html", signals=[("kinetic energy (J)", result.energy.kinetic)]
    )
    text = path.read_text(encoding="utf-8")
    assert len(text.encode()) < 2e6  # three.js has 0.66 MB; the limit is 5 MB
    page = Page(text)
    assert page.fetched == ["data:,"]  # the empty icon
    assert re.search(r"Content-Security-Policy[^>]*default-src 'none'", text)
    assert len(page.scripts) == 4
    assert "three.js authors" in text  # its licence asks for it
    model = base64.b64decode(page.scripts["motion"], validate=True)
    (glb,) = mb.render.export(result, tmp_path / "motion.glb")
    assert model == glb.read_bytes()


def test_what_the_page_is_told(result, tmp_path):
    window = {"start": 1.0, "end": 3.0, "speed": 0.5, "fps": 20.0}
    signals = [("tip (m)", result.position("bar 3", (2, 0, 0))), ("energy (J)", result.energy.total)]
    (path,) = mb.render.export(result, tmp_path / "motion.html", **window, signals=signals)
    settings = Page(path.read_text(encoding="utf-8")).settings
    assert (settings["start"], settings["speed"], settings["duration"]) == (1.0, 0.5, 4.0)
    assert [signal["label"] for signal in settings["signals"]] == ["tip (m)", "energy (J)"]
    tip, energy = settings["signals"]
    inside = (result.t >= 1.0) & (result.t <= 3.0)
    assert (len(tip["curves"]), len(energy["curves"])) == (3, 1)
    np.testing.assert_allclose(tip["times"], result.t[inside], rtol=1e-6)
    np.testing.assert_allclose(np.transpose(tip["curves"]), signals[0][1][inside], rtol=1e-6, atol=1e-6)


def test_the_camera_sees_the_whole_motion(result, tmp_path):
    """Every end of every bar lies within the opening angle around the line of sight, at all times."""
    (path,) = mb.render.export(result, tmp_path / "motion.html", size=(900, 600))
    camera = Page(path.read_text(encoding="utf-8")).settings["camera"]
    focus = np.column_stack([np.interp(result.t, camera["times"], axis) for axis in np.transpose(camera["focus"])])
    distance = np.interp(result.t, camera["times"], camera["distance"])
    towards = np.array(camera["towards"])
    right = np.cross(camera["up"], towards)
    right /= np.linalg.norm(right)
    above = np.cross(towards, right)
    half = np.tan(np.radians(camera["angle"]) / 2.0)
    for body in ("bar 1", "bar 2", "bar 3"):
        for end in (-2.0, 2.0):
            seen = result.position(body, (end, 0.0, 0.0)) - focus
            depth = distance - seen @ towards
            assert np.all(np.abs(seen @ above) < half * depth)
            assert np.all(np.abs(seen @ right) < half * camera["aspect"] * depth)


def test_words_cannot_break_the_page(result, tmp_path):
    title = "a < b & </script><script>alert(1)</script> \\ \u2028"
    (path,) = mb.render.export(result, tmp_path / "motion.html", title=title, signals=[(title, result.t)])
    page = Page(path.read_text(encoding="utf-8"))
    assert len(page.scripts) == 4
    assert page.settings["signals"][0]["label"] == title.replace("\u2028", "\\u2028")  # a line break, shown as its code


def test_long_signals_are_thinned_and_gaps_are_kept(tmp_path):
    result = mb.simulate(mb.examples.triple_pendulum(), 1.2, dt=1e-4)
    values = np.where(result.t > 0.5, np.nan, result.t)
    (path,) = mb.render.export(result, tmp_path / "motion.html", signals=[("gap", values)])
    (signal,) = Page(path.read_text(encoding="utf-8")).settings["signals"]
    assert len(result.t) == 12001
    assert 2000 < len(signal["times"]) <= 5000
    assert signal["curves"][0][-1] is None


@pytest.mark.parametrize("wrong", [("too short", [1.0, 2.0]), (1, 2), 3, ("label", "text")])
def test_signals_that_cannot_be_plotted_are_refused(result, tmp_path, wrong):
    with pytest.raises(mb.ModelError, match="signals"):
        mb.render.export(result, tmp_path / "motion.html", signals=[wrong])
    assert not list(tmp_path.iterdir())


def test_signals_by_name(result, tmp_path):
    (path,) = mb.render.export(result, tmp_path / "motion.html", signals=["bar 3.position.x"])
    (signal,) = Page(path.read_text(encoding="utf-8")).settings["signals"]
    assert signal["label"].endswith("(m)")
    np.testing.assert_allclose(signal["curves"][0], result.position("bar 3")[:, 0], rtol=1e-6, atol=1e-6)
