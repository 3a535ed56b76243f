"""`mb.edit`: the application on a system of a program, and the system's way back."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import mbframe as mb
from gui.app import editing
from gui.app.editing import GIVEN, MADE, RUN, Editing
from gui.document.document import Document
from gui.solving.tasks import Model
from gui.window.window import MainWindow
from mbframe import plug_ins, registry

CHECKOUT = Path(__file__).parents[2]
PROGRAM = """
import mbframe as mb

class OffsetHinge(mb.Joint):
    def constraints(self):
        upright = [mb.Perpendicular(self.i.z, axis) for axis in (self.j.x, self.j.y)]
        return [mb.Coincident(self.i, self.j), *upright]

def door():
    system = mb.System("door")
    leaf = system.add(mb.RigidBody("leaf", mass=2.0, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0)))
    system.add(OffsetHinge("hinge", system.ground, leaf, at=(0, 0, 0), axis=(0, 1, 0)))
    return system
"""
GUARD = 'if __name__ == "__main__":'


def given(folder: Path, system: mb.System, result: mb.Result | None = None) -> Editing:
    """What a program gives."""
    (folder / GIVEN).write_bytes(pickle.dumps((Model.of(system), [])))
    if result is not None:
        result.save(folder / RUN)
    return Editing(str(folder))


def test_a_system_is_shown_and_what_was_made_of_it_goes_back(document, tmp_path):
    system = mb.examples.four_bar()
    edited = given(tmp_path, system)
    edited.open(document)
    assert document.path is None
    assert [element.name for element in document.system] == [element.name for element in system]
    document.set(document.system["bar 1"], mass=7.0)
    edited.give_back(document)
    made = pickle.loads((tmp_path / MADE).read_bytes()).system()
    assert made["bar 1"].mass == 7.0
    assert system["bar 1"].mass != 7.0
    assert sorted(path.name for path in tmp_path.iterdir()) == [GIVEN, MADE]


def test_a_result_is_opened_as_a_run(document, tmp_path):
    system = mb.examples.four_bar()
    result = mb.simulate(system, 0.2)
    given(tmp_path, system, result).open(document)
    assert len(document.runs) == 1
    assert document.runs.current.t_last == pytest.approx(0.2)


def test_closing_gives_back_and_asks_nothing(qtbot, document, solver, settings, monkeypatch):
    asked, back = [], []
    window = MainWindow(document, solver, settings, lambda: back.append(document.system["ball"].mass))
    qtbot.addWidget(window)
    monkeypatch.setattr(window.files, "may_leave", lambda: asked.append(True))
    document.open_system(mb.System("one"))
    document.add(mb.PointMass("ball", mass=3.0))
    assert document.unsaved
    assert window.actions_["return"].text() == "Return to &Python"
    window.actions_["return"].trigger()
    assert (back, asked) == ([3.0], [])
    assert "return" not in MainWindow(Document(), solver, settings).actions_


def test_what_cannot_be_edited_is_told(monkeypatch):
    with pytest.raises(mb.ModelError, match="edit: found int; allowed are a System and a Result"):
        mb.edit(3)

    class Here(mb.ForceElement):
        def wrench(self, t, i, j):
            return 0.0 * i.position, 0.0 * j.position

    Here.__module__ = "__main__"
    monkeypatch.setattr(sys.modules["__main__"], "__file__", None, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None, raising=False)
    with pytest.raises(mb.ModelError, match=r"Here: was defined in an interactive session.*write it into a file"):
        editing._source_of(Here)


def test_methods_of_the_program_come_along(tmp_path, monkeypatch, document):
    """A system has none; those of the program can be chosen in the application, and those of a run are its settings."""
    (tmp_path / "own_steps.py").write_text(
        """
import mbframe as mb


class Euler(mb.Integrator):
    order = 1

    def step(self, eq, t, q, v, h):
        return q + h * eq.coordinate_rates(q, v), v + h * eq.accelerate(t, q, v)[0]
"""
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(plug_ins, "_loaded", {})
    monkeypatch.setattr(editing, "hindrance", lambda: "")
    from own_steps import Euler

    result = mb.simulate(mb.examples.four_bar(), 0.02, dt=0.01, integrator=Euler())
    opened = []

    def open_here(arguments):
        edited = Editing(arguments[1])
        opened.append([source.name for source in edited.open(document)])
        opened.append(type(document.runs.settings.integrator).__name__)
        edited.give_back(document)
        return ""

    monkeypatch.setattr(editing, "_run", open_here)
    editing.edit(result)
    assert opened[0] == ["own_steps"]
    editing.edit(result.described)
    assert opened[2] == ["own_steps"]
    assert "own_steps.Euler" in registry.registered(mb.Integrator)
    assert opened[1] == "Euler"
    del sys.modules["own_steps"]


def program(folder: Path, text: str) -> subprocess.Popen[str]:
    (folder / "program.py").write_text(PROGRAM + text)
    homes = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("CONFIG", "DATA")}
    environment = {**os.environ, **homes, "PYTHONPATH": str(CHECKOUT)}
    return subprocess.Popen(
        [sys.executable, str(folder / "program.py")],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_program_that_is_not_guarded_is_told_so(tmp_path):
    """Its file is imported by the application for its classes: without the guard it would begin again there."""
    said, _ = program(tmp_path, "system = mb.edit(door())").communicate(timeout=200)
    assert "MbframeError: the application ended without giving the system back" in said
    assert 'put what the program does under: if __name__ == "__main__":' in said


@pytest.mark.skipif(not shutil.which("xdotool") or not os.environ.get("DISPLAY"), reason="needs xdotool and a display")
def test_a_program_gets_its_system_back_with_its_own_classes(tmp_path):
    lines = ["made = mb.edit(door())", "print(type(made['hinge']) is OffsetHinge, made['leaf'].mass)"]
    running = program(tmp_path, "\n    ".join([GUARD, *lines]))
    begin = time.monotonic()
    while running.poll() is None and time.monotonic() - begin < 180.0:
        find = ["xdotool", "search", "--onlyvisible", "--name", "door. – mbframe|door – mbframe"]
        found = subprocess.run(find, capture_output=True, text=True)
        for window in found.stdout.split():
            subprocess.run(["xdotool", "windowfocus", "--sync", window], capture_output=True, timeout=20)
            subprocess.run(["xdotool", "key", "ctrl+Return"], capture_output=True, timeout=20)
        time.sleep(1.0)
    said, _ = running.communicate(timeout=60)
    assert said.splitlines()[-1] == "True 2.0", said
