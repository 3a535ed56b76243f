"""Measures the desktop application as a user meets it: its start, how it answers while it computes, and its frames.

Each measurement runs in a process of its own, in a virtual display with software OpenGL; what it found is one line of
JSON. Times are those on the wall, because that is what a user waits for: on a busy machine they are longer.
"""

from __future__ import annotations

import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCREEN = "-screen 0 1680x1050x24 -nolisten tcp"
ENVIRONMENT = {"QT_API": "pyside6", "LIBGL_ALWAYS_SOFTWARE": "1", "OPENBLAS_NUM_THREADS": "1"}
PLAYED_SECONDS = 5.0
SWEPT_SECONDS = 4.0
VIEW_SIZE = (1280, 800)


def available() -> str:
    """What is missing for these measurements; empty if nothing is."""
    missing = [name for name in ("xvfb-run", "xauth") if shutil.which(name) is None]
    return f"{', '.join(missing)} not found" if missing else ""


@cache
def compile_sources() -> None:
    """Make the bytecode of all modules, as pip does where it installs a package."""
    for package in ("gui", "mbframe"):
        compileall.compile_dir(str(ROOT / package), quiet=1)


def measured(name: str) -> dict[str, Any]:
    """The figures of one measurement."""
    compile_sources()
    with tempfile.TemporaryDirectory(prefix="mbframe-bench-") as folder:
        homes = {f"XDG_{kind}_HOME": str(Path(folder) / kind.lower()) for kind in ("CONFIG", "DATA")}
        command = ["xvfb-run", "-a", "-s", SCREEN, sys.executable, __file__, name]
        environment = {**os.environ, **ENVIRONMENT, **homes, "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=600)
    if ended.returncode:
        raise RuntimeError(f"{name} failed:\n{ended.stdout}\n{ended.stderr}")
    return json.loads(ended.stdout.splitlines()[-1])


# ---- In the process that is measured ------------------------------------------------------------------------------


def process_age() -> float:
    """Seconds since this process was started."""
    with open("/proc/self/stat") as stat:
        ticks = float(stat.read().rpartition(")")[2].split()[19])
    with open("/proc/uptime") as uptime:
        return float(uptime.read().split()[0]) - ticks / os.sysconf("SC_CLK_TCK")


class Session:
    """The application, opened as by a user."""

    def __init__(self) -> None:
        from gui.app.application import Application

        self.app = Application([])
        self.visible = self.usable = float("nan")
        self.app.open()
        window: Any = self.app.window
        self.window = window
        self.complete = False
        self.window.panels_ready.connect(lambda: setattr(self, "complete", True))
        self.robot: Any = None

    def begin(self) -> Any:
        """Wait until the window is there with all its panels, and open an example; returns a robot."""
        sys.path.insert(0, str(ROOT / "tests" / "gui"))
        from PySide6.QtTest import QTest

        QTest.qWaitForWindowExposed(self.window, 20_000)
        self.visible = process_age()
        from robot import Robot

        self.robot = Robot(self.window)
        self.robot.until(lambda: self.complete, what="panels")
        return self.robot

    def open(self, example: str) -> None:
        """Open an example and wait for its first picture."""
        self.window.open_example(example)
        self.robot.until(lambda: self.window.view.canvas is not None and self.window.view.drawing.image is not None)
        self.robot.pause(0.05)

    def close(self) -> None:
        self.app.document.abandon()
        self.window.close()
        self.app.close()


class Heartbeat:
    """The longest time, s, in which the event loop did nothing for the user, and the longest it computed itself.

    The second is what the application is to blame for: on a busy machine the first is longer.
    """

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(10)
        self._timer.timeout.connect(self._beat)
        self.longest = self.busiest = self._last = self._last_cpu = 0.0

    def start(self) -> Heartbeat:
        self._last, self._last_cpu = time.perf_counter(), time.thread_time()
        self.longest = self.busiest = 0.0
        self._timer.start()
        return self

    def _beat(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        self.longest = max(self.longest, now - self._last)
        self.busiest = max(self.busiest, cpu - self._last_cpu)
        self._last, self._last_cpu = now, cpu

    def stop(self) -> list[float]:
        self._beat()
        self._timer.stop()
        return [self.longest, self.busiest]


def start() -> dict[str, float]:
    """From the start of the process to a visible window, and to one in which an example is shown."""
    session = Session()
    session.begin()
    session.open("four_bar")
    figures = {"visible": session.visible, "usable": process_age(), "cpu": time.process_time()}
    session.close()
    return figures


def show() -> dict[str, float]:
    """From the call of `mb.show` to its first picture: in a new program, and of a second window in the same one."""
    import mbframe as mb

    result = mb.simulate(mb.examples.four_bar(), t_end=1.0)
    figures: dict[str, float] = {}
    for name in ("first", "second"):
        began, cpu = time.perf_counter(), time.process_time()
        viewer: Any = mb.show(result, block=False)
        pictures: list[float] = []
        viewer._window.view.drawing.drawn.connect(lambda seen=pictures: seen.append(time.perf_counter()))
        while not pictures:
            viewer.wait(0.002)
        figures |= {name: pictures[0] - began, f"{name} cpu": time.process_time() - cpu}
        viewer.close()
    return figures


def gaps() -> dict[str, list[float]]:
    """How long the window does not answer while something is computed, and how much of that it computes itself."""
    session = Session()
    robot = session.begin()
    session.open("n_four_bar")
    robot.until(lambda: session.app.solver.state == "ready", 120.0, "solver")
    robot.pause(1.0)
    beat, found = Heartbeat(), {}
    document, window = session.app.document, session.window
    document.runs.settings = document.runs.settings.changed(preset="custom", t_end=8.0, dt=5e-4)
    beat.start()
    window.run()
    robot.until(lambda: window.runner.running)
    robot.until(lambda: not window.runner.running, 120.0, "run")
    robot.pause(0.3)
    found["run"] = beat.stop()
    session.open("whipple_bicycle")
    window.show_tab("stability")
    panel = window.panels["stability"]
    robot.pause(3.0)
    beat.start()
    panel.linearize()
    robot.until(lambda: panel.roots is not None, 120.0, "roots")
    robot.pause(0.3)
    found["linearize"] = beat.stop()
    found["export"] = _export_gap(session, beat)
    session.close()
    return found


def _export_gap(session: Session, beat: Heartbeat) -> list[float]:
    from gui.solving.tasks import ExportTask

    session.open("four_bar")
    run, robot = session.app.document.runs.current, session.robot
    assert run is not None
    robot.pause(1.0)
    target = session.app.solver.temporary_file(".mp4")
    beat.start()
    job = session.app.solver.submit(ExportTask(str(run.path), str(target), {"size": (640, 360), "end": 2.0}))
    robot.until(lambda: job.done, 180.0, "export")
    gap = beat.stop()
    assert job.state == "finished", job.value
    return gap


def cancel() -> dict[str, float]:
    """From the click on Cancel to the end of the run, with its partial motion."""
    session = Session()
    robot = session.begin()
    session.open("n_four_bar")
    robot.until(lambda: session.app.solver.state == "ready", 120.0, "solver")
    document, window = session.app.document, session.window
    document.runs.settings = document.runs.settings.changed(preset="custom", t_end=500.0, dt=1e-4)
    window.run()
    robot.until(lambda: window.runner.reached > 0.0, 60.0, "progress")
    robot.pause(1.5)
    began = time.perf_counter()
    window.runner.cancel()
    robot.until(lambda: not window.runner.running, 10.0, "cancel")
    figures = {"cancel": time.perf_counter() - began}
    assert document.runs.current is not None
    assert not document.runs.current.complete
    session.close()
    return figures


def playback() -> dict[str, list[float]]:
    """Seconds per frame of mechanisms of about 20 and 200 bodies, in a view of 1280 x 800 pixels."""
    import numpy as np

    import mbframe as mb
    from gui.document.runs import Run

    session = Session()
    robot = session.begin()
    session.open("four_bar")
    window, figures = session.window, {}
    for count in (20, 200):
        system = mb.examples.n_four_bar(-(-count // 3))
        window.document.open_system(system)
        t = np.linspace(0.0, 2.0, 201)
        window.document.runs.add(Run("Run 1", result=mb.simulate(system, 2.0, t_eval=t)))
        window.docks.hide()
        robot.pause(0.1)
        width, height = window.view.width(), window.view.height()
        window.resize(window.width() + VIEW_SIZE[0] - width, window.height() + VIEW_SIZE[1] - height)
        robot.pause(0.5)
        size = (window.view.width(), window.view.height())
        assert size == VIEW_SIZE, size
        figures[f"{count} bodies"] = _frames(window, robot)
    session.close()
    return figures


def _frames(window: Any, robot: Any) -> list[float]:
    """Seconds per frame, on the wall and of this process."""
    drawn, image = [0], window.view.canvas.image

    def counted(*arguments: Any) -> Any:
        drawn[0] += 1
        return image(*arguments)

    window.view.canvas.image = counted
    window.player.play()
    robot.pause(1.0)
    drawn[0], began, cpu = 0, time.perf_counter(), time.process_time()
    robot.pause(PLAYED_SECONDS)
    spent, cpu = time.perf_counter() - began, time.process_time() - cpu
    window.player.pause()
    window.view.canvas.image = image
    return [spent / drawn[0], cpu / drawn[0]]


def slider() -> dict[str, float]:
    """Seconds from one set of roots to the next while the slider of the bicycle's speed moves."""
    session = Session()
    robot = session.begin()
    session.open("whipple_bicycle")
    robot.until(lambda: session.app.solver.state == "ready", 120.0, "solver")
    session.window.show_tab("stability")
    panel = session.window.panels["stability"]
    panel.linearize()
    robot.until(lambda: panel.roots is not None, 120.0, "roots")
    shown = [0]
    panel.linearized.connect(lambda _: shown.__setitem__(0, shown[0] + 1))
    low, high = panel.sweep.slider.minimum(), panel.sweep.slider.maximum()
    for place in (low, high):  # what is computed for the first time is loaded
        panel.sweep.slider.setValue(place)
        robot.pause(0.5)
    shown[0], began, cpu = 0, time.perf_counter(), time.process_time()
    while (spent := time.perf_counter() - began) < SWEPT_SECONDS:
        panel.sweep.slider.setValue(round(low + (high - low) * spent / SWEPT_SECONDS))
        robot.pause(0.01)
    figures = {"update": SWEPT_SECONDS / shown[0], "cpu": (time.process_time() - cpu) / shown[0]}
    session.close()
    return figures


MEASUREMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "start": start,
    "show": show,
    "gaps": gaps,
    "cancel": cancel,
    "playback": playback,
    "slider": slider,
}

if __name__ == "__main__":
    print(json.dumps(MEASUREMENTS[sys.argv[1]]()))
