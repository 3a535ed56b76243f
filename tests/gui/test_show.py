"""`mb.show`: windows in a program of their own, which has no other context of OpenGL."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mbframe as mb

CHECKOUT = Path(__file__).parents[2]
WINDOWS = os.environ.get("QT_QPA_PLATFORM") != "offscreen"

pytestmark = pytest.mark.skipif(not mb.render.can_draw(), reason="nothing can be drawn here")
needs_windows = pytest.mark.skipif(not WINDOWS, reason="there is no display: windows have no pixels")

BEGIN = """
import gc, os, sys, time, weakref
import numpy as np
import mbframe as mb

def fall(stiffness=0.0):
    system = mb.System("pendulum")
    bar = system.add(mb.RigidBody("bar", mass=2.0, inertia=(0.05, 2.7, 2.7), position=(2, 0, 0)))
    system.add(mb.SphericalJoint("A", system.ground, bar, at=(0, 0, 0)))
    system.add(mb.SpringDamper("spring", system.ground, bar, at_i=(4, 0, 3), at_j=(4, 0, 0), stiffness=stiffness))
    return mb.simulate(system, t_end=2.0, t_eval=np.linspace(0.0, 2.0, 41))

def pixels(viewer):
    picture = viewer._window.view.picture()
    return np.array(picture.constBits()).reshape(picture.height(), picture.width(), 4)[..., :3].astype(int)

def frames(viewer, seconds):
    drawn = []
    note = lambda: drawn.append(viewer._window.document.time)
    viewer._window.view.drawing.drawn.connect(note)
    viewer.wait(seconds)
    viewer._window.view.drawing.drawn.disconnect(note)
    return drawn
"""


def ran(script: str, tmp_path: Path, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, with other variables of the environment; None removes one."""
    file = tmp_path / "script.py"
    file.write_text(BEGIN + script)
    homes = {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA")}
    changed = {**os.environ, "PYTHONPATH": str(CHECKOUT), **homes, **environment}
    return subprocess.run(
        [sys.executable, str(file)],
        env={name: value for name, value in changed.items() if value is not None},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )


def works(script: str, tmp_path: Path, **environment: str | None) -> str:
    """What a script prints that must end well and complain about nothing."""
    ended = ran(script, tmp_path, **environment)
    assert ended.returncode == 0, ended.stderr
    complaints = [line for line in ended.stderr.splitlines() if "compiling its solver" not in line]
    assert complaints == []
    return ended.stdout


@needs_windows
def test_a_motion_is_played_sought_and_closed(tmp_path):
    works(
        """
result = fall()
off_screen = mb.render.picture(result.described, size=(200, 120))  # a context of its own, before and after the window
viewer = mb.show(result, block=False, quantities=["bar.position.z"], trails=["bar"], labels=True)
assert viewer.is_open and viewer.playing
drawn = frames(viewer, 2.0)
assert len(drawn) >= 4 and len(set(drawn)) >= 4, drawn
viewer.pause()
viewer.seek(0.0)
assert viewer.time == 0.0 and not viewer.playing
start = pixels(viewer)
viewer.seek(1.2)
assert viewer.time == 1.2
later = pixels(viewer)
assert (np.abs(later - start).max(axis=2) > 40).mean() > 0.005
viewer.seek(0.0)
assert (np.abs(pixels(viewer) - start).max(axis=2) > 40).mean() < 0.002
viewer.seek(9.0)
assert viewer.time == 2.0
window = viewer._window
assert window.plots.names == ["bar.position.z"] and window.plots.isVisible()
assert window.view.followed is None and "bar" in window.view.trails
again = mb.render.picture(result.described, size=(200, 120))
assert np.abs(again.astype(int) - off_screen).max() <= 2
viewer.play()
viewer.close()
assert not viewer.is_open and repr(viewer) == "<Viewer, closed>"
viewer.play(); viewer.seek(1.0); viewer.close()  # nothing is left to be led
viewer.wait()
""",
        tmp_path,
    )


@needs_windows
def test_two_windows_ghosts_systems_and_modes(tmp_path):
    works(
        """
soft, stiff = fall(), fall(200.0)
both = mb.show([soft, stiff], block=False, play=False, size=(600, 400), theme="light")
alone = mb.show(soft, block=False, play=False, size=(600, 400), theme="light")
for viewer in (both, alone):
    viewer.seek(0.8)
    viewer.wait(0.1)
ghosts = both._window.view.ghosts._drawn
assert len(ghosts) == 1 and not alone._window.view.ghosts._drawn
# The ghost hangs where the other result has its bar.
from mbframe.render.placement import Poses
track = both._window.document.runs[1].track
described = ghosts[0][1]
scene = both._window.view.scene
assert scene._corners[:, 2].min() < -3.0  # all of both motions is in view
different = np.abs(pixels(both) - pixels(alone)).max(axis=2) > 25
assert different.mean() > 0.005
both.close()
assert alone.is_open
alone.play()
assert len(set(frames(alone, 1.0))) >= 3
alone.close()
bar = mb.examples.four_bar()
rest = mb.equilibrium(bar)
mode = mb.linearize(bar, rest.state if hasattr(rest, "state") else rest).modes[0]
viewer = mb.show(mode, block=False, play=False, size=(500, 400))
viewer.seek(0.0); first = pixels(viewer)
viewer.seek(viewer._window.player.span[1] / 2.0); half = pixels(viewer)
assert (np.abs(half - first).max(axis=2) > 40).mean() > 0.002
viewer.close()
viewer = mb.show(bar, block=False, size=(500, 400))
assert not viewer.playing and viewer._window.timeline.isHidden()
viewer.close()
""",
        tmp_path,
    )


@needs_windows
def test_a_script_is_blocked_and_ctrl_c_ends_it(tmp_path):
    assert "ended" in works(
        """
import signal, threading
from mbframe_gui.app import showing
result = fall()
running = threading.Event()
run = showing._run
showing._run = lambda seconds: (running.set(), run(seconds))
def interrupt():
    running.wait()
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    mb.show(result)
except KeyboardInterrupt:
    assert not showing._open
    print("ended")
""",
        tmp_path,
    )


@needs_windows
def test_what_the_help_page_does(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (CHECKOUT / "assets/help/pictures.md").read_text(), re.DOTALL)
    code = next(number for number, block in enumerate(blocks) if "mb.show" in block)
    shown = f"""
from mbframe_gui.app import showing
run, waited = showing._run, []
showing._run = lambda seconds: (waited.append(seconds), run(0.3))
{"".join(blocks[: code + 1])}
assert waited == [None, None, 3.0]
for window in list(showing._open):
    window.close()
"""
    assert float(works(shown, tmp_path)) == 0.5


@needs_windows
@pytest.mark.parametrize("made", [False, True], ids=["our application", "theirs"])
def test_an_event_loop_of_others_keeps_windows_alive(tmp_path, made):
    """IPython in a terminal, in Spyder, or in Jupyter after %gui qt; off-screen pictures can still be drawn."""
    works(
        f"""
import types
shell = types.SimpleNamespace(active_eventloop="qt6", kernel=object())
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
before = mb.render.picture(mb.examples.four_bar(), size=(200, 120))
if {made}:
    from PySide6.QtWidgets import QApplication
    application = QApplication([])
viewer = mb.show(fall())
assert viewer.is_open and viewer.playing
assert len(frames(viewer, 1.0)) >= 2
assert np.abs(mb.render.picture(mb.examples.four_bar(), size=(200, 120)).astype(int) - before).mean() < 2.0
assert len(frames(viewer, 1.0)) >= 2
viewer.close()
""",
        tmp_path,
    )


def test_a_notebook_gets_the_page(tmp_path):
    works(
        """
import types
shell = types.SimpleNamespace(active_eventloop=None, kernel=object())
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
page = mb.show(fall())._repr_html_()
assert page.startswith("<iframe") and "srcdoc=" in page and "three.js" in page
assert "<table>" in mb.show(mb.examples.four_bar())._repr_html_()
try:
    mb.show(3)
except mb.ModelError as error:
    assert "a notebook shows a System or a Result" in str(error)
""",
        tmp_path,
        DISPLAY=None,
        WAYLAND_DISPLAY=None,
        QT_QPA_PLATFORM=None,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_without_a_display_the_message_names_what_to_do(tmp_path):
    ended = ran("mb.show(fall())", tmp_path, DISPLAY=None, WAYLAND_DISPLAY=None, QT_QPA_PLATFORM=None)
    assert ended.returncode == 1
    said = ended.stderr.splitlines()[-4:]
    assert "RenderError: mb.show cannot open a window here; mb.render.export(result" in "\n".join(said)


@needs_windows
def test_what_cannot_be_shown_is_told(tmp_path):
    works(
        """
result = fall()
for shown, options, said in (
    (3, {}, "found 3; allowed are a System, a Result, a Mode of a linearization, or a list of results"),
    ([], {}, "found \\\\[\\\\]"),
    (result, {"quantities": ["bar.positon.z"]}, "no quantity 'bar.positon.z'; did you mean 'bar.position.z'"),
    (result, {"trails": ["A"]}, "no body that moves"),
    (result, {"camera": "behind"}, "allowed are 'iso'"),
):
    try:
        mb.show(shown, block=False, **options)
    except mb.ModelError as error:
        import re
        assert re.search(said, str(error)), error
    else:
        raise AssertionError(said)
from mbframe_gui.app import showing
assert not showing._open
""",
        tmp_path,
    )


@needs_windows
@pytest.mark.parametrize("count", [6, pytest.param(50, marks=pytest.mark.full)])
def test_windows_leave_nothing_behind(tmp_path, count):
    works(
        f"""
def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

result, known, used = fall(), [], []
for k in range({count}):
    viewer = mb.show(result, block=False, size=(500, 350))
    viewer.wait(0.05)
    known.append(weakref.ref(viewer._window))
    viewer.close()
    viewer.wait(0.0)
    gc.collect()
    used.append(memory())
assert [one for one in known if one() is not None] == []
assert used[-1] - used[len(used) // 2] < 0.5 * len(used) + 8.0, used
""",
        tmp_path,
    )


@needs_windows
def test_a_scene_in_a_widget_that_was_not_shown_yet(tmp_path):
    """The window's size is not known when the camera is placed: all of it is in view when it is drawn first."""
    works(
        """
from PySide6.QtWidgets import QApplication, QMainWindow
os.environ["QT_XCB_GL_INTEGRATION"] = "xcb_egl"
application = QApplication([])
from pyvistaqt import QtInteractor
import warnings
warnings.simplefilter("error")
result = fall()
window = QMainWindow()
from vtkmodules.vtkCommonCore import vtkObject
vtkObject.GlobalWarningDisplayOff()
widget = QtInteractor(window, multi_samples=0, auto_update=False)
window.setCentralWidget(widget)
window.resize(300, 600)  # narrow: what fits into a wide picture would not fit here
scene = mb.render.Scene(result.described, widget, motion=result, axes=False)
placed = np.array(widget.camera.position)
assert np.isfinite(placed).all()
window.show()
end = time.monotonic() + 3.0
while time.monotonic() < end and np.allclose(placed, widget.camera.position):
    application.processEvents()
pixels, depth = mb.render.Canvas(plotter=widget).project(scene._corners)
assert (depth > 0).all() and (pixels >= 0).all() and (pixels <= widget.window_size).all()
moved = widget.camera.position = (10.0, -10.0, 3.0)
widget.update()
for _ in range(10):
    application.processEvents()
assert np.allclose(widget.camera.position, moved)  # a camera that was moved by hand stays
widget.close()
""",
        tmp_path,
    )
