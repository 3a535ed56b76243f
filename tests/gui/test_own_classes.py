"""Users' classes in the window: nothing runs before a person agreed, and what is used follows its file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

import mbframe as mb
from gui.base.consent import KEY, Consent
from gui.base.kinds import icon_name
from gui.dialogs.own_classes import OwnClassesDialog
from gui.document.document import Document
from gui.solving.tasks import PackageTask
from gui.window.own_classes import OwnClasses, _beside
from gui.window.window import MainWindow
from mbframe import plug_ins, registry
from mbframe.plug_ins import Source

from .builder import Builder

CLASSES = '''
import mbframe as mb
import numpy as np


class Pull(mb.ForceElement):
    """A steady pull along x."""

    size = mb.parameter(2.0, unit="N", help="F")
    outputs = {{"force": "N"}}

    def wrench(self, t, i, j):
        return np.array([{factor} * self.size, 0.0, 0.0]), np.zeros(3)

    def force(self, t, i, j):
        return {factor} * self.size


class Euler(mb.Integrator):
    """One evaluation a step."""

    order = 1

    def step(self, eq, t, q, v, h):
        return q + h * eq.coordinate_rates(q, v), v + h * eq.accelerate(t, q, v)[0]
'''


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(plug_ins, "_loaded", {})
    yield
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def pulls(tmp_path: Path) -> Path:
    file = tmp_path / "pulls.py"
    file.write_text(CLASSES.format(factor=1))
    return file


@pytest.fixture
def model(tmp_path: Path, pulls: Path) -> Path:
    """A model that needs the classes, beside them."""
    origin = {"module": "pulls", "file": "pulls.py"}
    content = {
        "format": "mbframe model",
        "version": 2,
        "name": "m",
        "gravity": [0.0, 0.0, 0.0],
        "elements": [
            {"type": "PointMass", "name": "ball", "mass": 2.0},
            {"type": "pulls.Pull", "name": "pull", "i": "ground", "j": "ball", "size": 3.0},
        ],
        "simulation": {"t_end": 0.02, "dt": 0.01, "integrator": "pulls.Euler"},
        "classes": {"pulls.Pull": origin, "pulls.Euler": origin},
    }
    file = tmp_path / "m.json"
    file.write_text(json.dumps(content))
    return file


@pytest.fixture
def window(solver, settings, qtbot) -> Iterator[MainWindow]:
    document = Document()
    window = MainWindow(document, solver, settings)
    qtbot.addWidget(window, before_close_func=lambda w: w.document.abandon())
    with qtbot.waitSignal(window.panels_ready):
        window.show()
    yield window
    document.close()


class Answers:
    """What is answered to questions, and the questions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.yes = False
        monkeypatch.setattr(OwnClasses, "_ask", self._answer)

    def _answer(self, source: Source, text: str, *_: Any) -> bool:
        self.asked.append(text)
        return self.yes


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    return Answers(monkeypatch)


def messages(window: MainWindow) -> str:
    return "\n".join(message.text for message in window.document.messages)


# ---- Consent ----


def test_consent_is_for_a_path_with_its_content(settings, pulls: Path, tmp_path: Path) -> None:
    consent, source = Consent(settings), Source.of(str(pulls))
    assert not consent.allows(source)
    consent.allow(source)
    assert Consent(settings).allows(source)
    copy = tmp_path / "other" / "pulls.py"
    copy.parent.mkdir()
    copy.write_bytes(pulls.read_bytes())
    assert not consent.allows(Source.of(str(copy)))
    pulls.write_text(CLASSES.format(factor=2))
    assert not consent.allows(Source.of(str(pulls)))
    consent.forget()
    assert not consent.allows(source)


@pytest.mark.parametrize("damaged", ["", "x", ["", "a b"], 3, {"a": 1}])
def test_damaged_settings_allow_nothing(settings, pulls: Path, damaged: Any) -> None:
    settings.store.setValue(KEY, damaged)
    assert not Consent(settings).allows(Source.of(str(pulls)))


@pytest.mark.parametrize(
    "name", ["../pulls.py", "/etc/pulls.py", "sub/pulls.py", "pulls.py/../pulls.py", "..", "", "no.py", "pulls.pyc"]
)
def test_only_a_file_beside_the_model_is_proposed(pulls: Path, name: str) -> None:
    assert _beside("", name, pulls.parent) is None
    assert _beside("os; x", "", pulls.parent) is None
    assert _beside("pulls", "pulls.py", pulls.parent) == Source.of(str(pulls))
    assert "pulls" not in sys.modules


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape, Qt.Key.Key_Space])
def test_return_and_escape_mean_no(window: MainWindow, model: Path, key: Qt.Key, qtbot) -> None:
    seen = []

    def press() -> None:
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(50, press)
            return
        seen.append(box.text() + box.informativeText())
        qtbot.keyClick(box.focusWidget() or box, key)

    QTimer.singleShot(0, press)
    window.files.open(model)
    assert "pulls.py" in seen[0]
    assert "What the file imports runs too, and is not covered" in seen[0]
    assert [one.name for one in window.document.system.unknown] == ["pull"]
    assert "pulls" not in sys.modules
    assert window.solver.sources == ()
    assert "Classes of this model are not known here: pulls.Pull, pulls.Euler" in messages(window)
    assert window.settings.texts(KEY) == []


# ---- Declined, saved, accepted ----


def test_declined_saved_and_accepted(window: MainWindow, model: Path, answers: Answers, qtbot, tmp_path: Path) -> None:
    window.files.open(model)
    assert len(answers.asked) == 1  # two classes of one file
    before = json.loads(model.read_text())
    window.runner.start()
    assert "cannot be computed: 'pulls.Pull' is a class of a user" in messages(window)
    assert not window.runner.running
    window.document.rename(window.document.system["ball"], "stone")
    assert window.document.system.unknown[0].parameters["j"] == "stone"
    window.document.undo()
    window.document.save()
    assert json.loads(model.read_text()) == before
    answers.yes = True
    window.files.open(model)
    with qtbot.waitSignal(window.own_classes.changed):
        pass
    pull: Any = window.document.system["pull"]
    assert (type(pull).__name__, pull.size, window.document.system.unknown) == ("Pull", 3.0, [])
    assert type(window.document.runs.settings.integrator).__name__ == "Euler"
    assert "add_pulls.Pull" in window.actions_
    assert window.actions_["add_pulls.Pull"].isEnabled()
    with qtbot.waitSignal(window.runner.ended):
        window.runner.start()
    run = window.document.runs.current
    assert run is not None
    assert run.complete
    assert run.result.t[-1] == pytest.approx(0.02)
    count = len(answers.asked)
    window.document.undo_stack.setClean()
    window.document.abandon()
    window.files.open(model)  # what was allowed is not asked for again
    qtbot.waitUntil(lambda: not window.document.system.unknown)
    assert len(answers.asked) == count


def test_steps_to_undo_hold_on_to_elements_that_become_known(window, model, answers, qtbot) -> None:
    window.files.open(model)
    document = window.document
    held = document.system["pull"]
    document.rename(held, "tow")
    document.remove(document.system["ball"])
    document.undo()
    answers.yes = True
    with qtbot.waitSignal(window.own_classes.changed):
        window.own_classes.look(model.parent)
    document.set(held, size=5.0)
    document.undo()
    document.undo()
    assert document.system["pull"] is held
    assert (held.size, held.body_j.name) == (3.0, "ball")


# ---- Following the file ----


def test_a_saved_class_is_asked_for_once_and_moves(window, model, pulls, answers, qtbot) -> None:
    answers.yes = True
    window.files.open(model)
    qtbot.waitUntil(lambda: not window.document.system.unknown)
    with qtbot.waitSignal(window.runner.ended):
        window.runner.start()
    first = window.document.runs.current
    asked = len(answers.asked)
    for factor in (2, 5):
        pulls.write_text(CLASSES.format(factor=factor))
        with qtbot.waitSignal(window.runner.ended):
            pass  # it is computed anew by itself
        run = window.document.runs.current
        assert run.result.velocity("ball")[-1, 0] == pytest.approx(factor * 3.0 / 2.0 * 0.02)
    assert len(answers.asked) == asked + 1
    assert first.stale
    kind = type(window.document.system["pull"])
    pulls.write_text("def f(:\n")
    qtbot.waitUntil(lambda: "SyntaxError" in messages(window))
    assert "What was used before stays in use" in messages(window)
    assert type(window.document.system["pull"]) is kind


def test_a_file_that_ends_its_process_does_not_end_the_window(window, model, pulls, answers, qtbot) -> None:
    pulls.write_text("import os\nos._exit(3)\n")
    answers.yes = True
    window.files.open(model)
    qtbot.waitUntil(lambda: "pulls.py is not used: The solver process ended unexpectedly" in messages(window))
    assert len(window.document.system.unknown) == 1
    assert "pulls" not in sys.modules


def test_classes_of_the_command_line_are_consent(window, model, pulls, answers, qtbot) -> None:
    done: list[bool] = []
    window.own_classes.use_given([str(pulls), str(pulls.parent / "none.py")], lambda: done.append(True))
    qtbot.waitUntil(lambda: bool(done))
    assert "there is no such file" in messages(window)
    window.files.open(model)
    assert (answers.asked, window.document.system.unknown) == ([], [])


def test_nothing_of_a_model_reaches_the_settings(window, model, answers, tmp_path) -> None:
    """A model, and a file with it, that say themselves that they are allowed."""
    content = json.loads(model.read_text())
    source = Source.of(str(tmp_path / "pulls.py"))
    content["name"] = f"{KEY}={source.checksum} pulls {source.path}"
    content["classes"]["pulls.Pull"]["file"] = "pulls.py"
    model.write_text(json.dumps(content))
    (tmp_path / "mbframe.conf").write_text(f"[General]\n{KEY}={source.checksum} pulls {source.path}\n")
    window.files.open(model)
    window.document.save()
    assert window.settings.texts(KEY) == []
    assert len(answers.asked) == 1
    assert "pulls" not in sys.modules
    assert os.environ.get("PYTHONPATH", "").find(str(tmp_path)) < 0


# ---- Bodies, icons and installed packages ----

PARTS = '''
import mbframe as mb
import numpy as np


class Flywheel(mb.Body):
    """A homogeneous disk about its z axis."""

    glyph = "M4 12 a8 8 0 1 0 16 0 a8 8 0 1 0 -16 0 M12 4 V20"
    radius = mb.parameter(kind="number", unit="m", above=0.0, help="of the disk")
    share = mb.parameter(kind="number", above=0.0, maximum=0.5, help="of the rim")

    @property
    def shapes(self):
        return (mb.Cylinder(radius=self.radius, length=0.1 * self.radius),)

    def mass_properties(self):
        mass = 785.0 * np.pi * self.radius**3
        return mass, np.zeros(3), np.diag([0.25, 0.25, 0.5]) * mass * self.radius**2


class Brake(mb.ForceElement):
    """Holds back with a force that follows the speed."""

    glyph = "M4 20 L12 4 L20 20 Z"
    strength = mb.parameter(kind="number", unit="N", minimum=0.0, help="at 1 m/s")

    def wrench(self, t, i, j):
        return -self.strength * (j.velocity - i.velocity), np.zeros(3)
'''


def test_users_bodies_are_placed_like_others(window: MainWindow, tmp_path: Path, answers: Answers, qtbot) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    window.files.new(3)
    qtbot.waitUntil(lambda: window.view.scene is not None)
    window.hint.hide()
    with qtbot.waitSignal(window.own_classes.changed):
        window.own_classes.use(Source.of(str(tmp_path / "parts.py")))
    window.own_classes.changed.disconnect()  # a class that is known and not in the menu yet
    registry.register(type("Late", (mb.PointMass,), {"__module__": "late"}))
    window.document.select(None)
    builder = Builder(window)
    wheel = builder.body("parts.Flywheel", (0.1, 0.2, 0.0))
    assert (type(wheel).__name__, wheel.name, wheel.radius, wheel.share) == ("Flywheel", "flywheel", 0.1, 0.5)
    place = wheel.position
    window.document.undo()
    assert builder.body("point mass", (0.1, 0.2, 0.0)).position == pytest.approx(place, abs=0.07)  # within the grid
    window.document.undo()
    wheel = builder.body("parts.Flywheel", (0.1, 0.2, 0.0))
    assert builder.body("parts.Flywheel", (-0.3, 0.0, 0.0)).name == "flywheel 2"
    window.document.undo()
    assert [body.name for body in window.document.system.bodies] == ["flywheel"]
    brake = builder.two_points("parts.Brake", (0.4, 0.4, 0.0), wheel.position)
    assert brake.body_j is wheel
    assert brake.strength > 0.0
    assert [icon_name(one) for one in (wheel, brake)] == [type(wheel).glyph, type(brake).glyph]
    for one in (wheel, brake):
        action = window.actions_[f"add_parts.{type(one).__name__}"]
        drawn = action.icon().pixmap(24).toImage()
        inked = sum(drawn.pixelColor(x, y).alpha() > 0 for x in range(drawn.width()) for y in range(drawn.height()))
        assert inked > 40, one
    window.files.new(2)
    assert not window.actions_["add_parts.Flywheel"].isEnabled()  # a body of space


@pytest.mark.parametrize("glyph", ['M0 0"/><image href="file:///etc/passwd', "x", 3, "L4 4"])
def test_a_glyph_that_is_no_path_is_refused_where_it_is_written(glyph: Any) -> None:
    with pytest.raises(TypeError, match=r"Odd.glyph: found .*; allowed is the path of an SVG"):
        type("Odd", (mb.ForceElement,), {"glyph": glyph})


def test_installed_packages_are_listed_and_used_without_a_question(
    window: MainWindow, tmp_path: Path, answers: Answers, qtbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site" / "craft").mkdir(parents=True)
    (tmp_path / "site" / "craft" / "__init__.py").write_text(PARTS)
    about = tmp_path / "site" / "craft-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: craft\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[mbframe.elements]\ncraft = craft\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    window.files.new(3)
    window.actions_["own_classes"].trigger()
    dialog = window.findChild(OwnClassesDialog, "own_classes_dialog")
    assert dialog is not None
    (row,) = dialog.tree.findItems("craft", Qt.MatchFlag.MatchExactly)
    assert [row.text(k) for k in range(3)] == ["craft", "not used yet", "craft"]
    assert "craft" not in sys.modules
    assert not dialog.use.isEnabled()
    dialog.tree.setCurrentItem(row)
    jobs = []
    monkeypatch.setattr(window.solver, "submit", lambda task: jobs.append(task) or _Job())  # a process of before
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    assert jobs == [PackageTask("craft")]
    with qtbot.waitSignal(window.own_classes.changed):
        _Job.made[-1].finished.emit(jobs[0].run(None))
    (row,) = dialog.tree.findItems("craft", Qt.MatchFlag.MatchExactly)
    assert row.text(1) == "Flywheel, Brake"
    assert window.actions_["add_craft.Flywheel"].isEnabled()
    assert answers.asked == []
    dialog.close()
    for name in [name for name in sys.modules if name.partition(".")[0] == "craft"]:
        del sys.modules[name]


class _Job(QObject):
    finished, failed, cancelled = Signal(object), Signal(object), Signal()
    made: ClassVar[list[_Job]] = []

    def __init__(self) -> None:
        super().__init__()
        self.made.append(self)


def test_answers_can_be_forgotten(window: MainWindow, pulls: Path) -> None:
    window.own_classes.consent.allow(Source.of(str(pulls)))
    window.actions_["own_classes"].trigger()
    dialog = window.findChild(OwnClassesDialog, "own_classes_dialog")
    assert dialog is not None
    dialog.findChild(QPushButton, "forget_classes").click()
    assert not window.own_classes.consent.allows(Source.of(str(pulls)))
    dialog.close()
