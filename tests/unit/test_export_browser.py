"""Exported files in the programs they are made for: the page in a browser, the model in the Khronos validator.

`scripts/test` installs both where it can. Without Node.js, npm or a browser these tests are skipped.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import mbframe as mb

CHECKOUT = Path(__file__).parents[2]
SCRIPTS = CHECKOUT / "tests" / "browser"
MODULES = CHECKOUT / "build" / "browser" / "node_modules"
NODE = shutil.which("node")
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)

needs_node = pytest.mark.skipif(
    NODE is None or not MODULES.is_dir(), reason="needs Node.js and the packages of tests/browser (see scripts/test)"
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="needs a browser: apt-get install chromium-headless-shell")


def node(script: str, *arguments: object) -> dict:
    """What a script of tests/browser prints."""
    command = [str(NODE), str(SCRIPTS / script), *map(str, arguments)]
    environment = {**os.environ, "NODE_PATH": str(MODULES)}
    process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=150)
    assert process.returncode == 0, process.stdout + process.stderr
    return json.loads(process.stdout)


@needs_node
@pytest.mark.parametrize("name", ["triple_pendulum", "spatial_slider_crank", "rolling_disk", "bouncing_block"])
def test_the_khronos_validator_finds_nothing(name, tmp_path):
    (path,) = mb.render.export(mb.simulate(getattr(mb.examples, name)(), 0.5), tmp_path / "motion.glb")
    issues = node("validate.cjs", path)["issues"]
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"]


@needs_node
@needs_browser
def test_the_page_plays_in_a_browser_without_network(tmp_path):
    from PIL import Image

    result = mb.simulate(mb.examples.triple_pendulum(), 2.0)
    signals = [("tip (m)", result.position("bar 3", (2.0, 0.0, 0.0))), ("kinetic energy (J)", result.energy.kinetic)]
    (path,) = mb.render.export(result, tmp_path / "motion.html", title="Three <bars>", signals=signals)
    seen = node("play.cjs", BROWSER, path, tmp_path)

    assert seen["requests"] == [path.as_uri()]
    assert seen["errors"] == []
    assert seen["title"] == "Three <bars>"
    assert seen["plots"] == ["tip (m)", "kinetic energy (J)"]
    assert seen["label_while_playing"] == "Pause"
    assert 0.3 < seen["paused_at"] == seen["still_at"]
    assert (seen["start"], seen["middle"], seen["end"]) == (0.0, 1.0, 2.0)
    assert seen["clicked"] == pytest.approx(2.0, abs=0.02)  # on the right end of a plot

    def picture(name: str) -> np.ndarray:
        with Image.open(seen["shots"][name]) as opened:
            return np.asarray(opened.convert("RGB")).astype(int)

    def moved(a: str, b: str, columns: slice) -> float:
        """Share of the pixels that differ visibly, above the controls."""
        return float(np.mean(np.abs(picture(a) - picture(b))[:590, columns].max(axis=2) > 40))

    scene, plots = slice(0, 650), slice(690, 1100)
    assert moved("start", "middle", scene) > 0.005
    assert moved("start", "middle", plots) > 0.001  # the cursor
    assert moved("start", "orbited", scene) > 0.01
    assert moved("start", "back", scene) == 0.0
    colors = {tuple(color) for color in picture("start")[:590, scene].reshape(-1, 3)}
    assert len(colors) > 100  # something with light and shade is drawn
