"""Python programs in the window: run after a question, for the system that they build."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gui.window.window import MainWindow
from mbframe import plug_ins, registry

from .test_own_classes import Answers, answers, messages, window  # noqa: F401

PROGRAM = """
import mbframe as mb
import numpy as np
{more}

system = mb.System("yard", gravity=(0, 0, 0))
ball = system.add(mb.PointMass("ball", mass=2.0))
"""
PULL = '''

class Pull(mb.ForceElement):
    """A steady pull along x."""

    size = mb.parameter(2.0, unit="N", help="F")

    def wrench(self, t, i, j):
        return np.array([self.size, 0.0, 0.0]), np.zeros(3)
'''


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(plug_ins, "_loaded", {})
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


def test_it_is_run_only_after_a_yes(window: MainWindow, answers: Answers, tmp_path: Path, qtbot) -> None:  # noqa: F811
    trace = tmp_path / "ran"
    program = tmp_path / "plain.py"
    program.write_text(PROGRAM.format(more=f"open({str(trace)!r}, 'a').write('x')"))
    before = window.document.system
    window.files.open(program)
    assert len(answers.asked) == 1
    assert "plain.py" in answers.asked[0]
    assert window.document.system is before
    assert not trace.exists()
    answers.yes = True
    with qtbot.waitSignal(window.document.replaced):
        window.files.open(program)
    assert window.document.system.name == "yard"
    assert window.document.path is None
    assert trace.read_text() == "x"  # once, and not in the window: it defines no class
    assert "plain" not in sys.modules
    assert "yard was built by plain.py" in messages(window)


def test_its_classes_come_along(window: MainWindow, answers: Answers, tmp_path: Path, qtbot) -> None:  # noqa: F811
    program = tmp_path / "yard.py"
    (tmp_path / "beside.py").write_text("import mbframe as mb\nimport numpy as np\n" + PULL.replace("Pull", "Tow"))
    more = 'system.add(Pull("pull", system.ground, ball))\nsystem.add(Tow("tow", system.ground, ball))\n'
    program.write_text(PROGRAM.format(more="from beside import Tow\n" + PULL) + more)
    answers.yes = True
    with qtbot.waitSignal(window.document.replaced):
        window.files.open(program)
    assert type(window.document.system["pull"]).__module__ == "yard"
    assert type(window.document.system["tow"]).__module__ == "beside"
    assert "add_yard.Pull" in window.actions_
    with qtbot.waitSignal(window.runner.ended):
        window.runner.start()
    assert window.document.runs.current is not None


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("raise ValueError('too small')", r"line 4 of bad.py, raise ValueError\('too small'\): ValueError: too small"),
        ("mb.System = list", "bad.py: builds no system; keep one in a variable"),
        ("mb.show(mb.examples.four_bar())", "put what it does and shows under: if __name__"),
        ("mb.edit(mb.examples.four_bar())", "if __name__"),
        ("import os; os._exit(3)", "could not be opened"),
        ("def", "SyntaxError"),
    ],
)
def test_what_goes_wrong_is_told(
    window: MainWindow,  # noqa: F811
    answers: Answers,  # noqa: F811
    tmp_path: Path,
    qtbot,
    more: str,
    told: str,
) -> None:
    program = tmp_path / "bad.py"
    program.write_text(PROGRAM.format(more=more) if "list" not in more else "import mbframe as mb\n")
    answers.yes = True
    before = window.document.system
    window.files.open(program)
    qtbot.waitUntil(lambda: "bad.py could not be opened" in messages(window), timeout=60_000)

    assert re.search(told, messages(window)), messages(window)
    assert window.document.system is before
