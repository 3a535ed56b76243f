"""Unsaved changes survive a crash."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

import mbframe as mb
from gui.document.autosave import DELAY_MS, Autosave, Recovery, leftovers, offer
from gui.document.document import Document
from gui.document.runs import RunSettings


@pytest.fixture
def autosave(document, tmp_path):
    autosave = Autosave(document, tmp_path, delay_ms=50)
    yield autosave
    autosave.close()


def abandon(autosave):
    """As if the process had been killed: the file stays, the lock has no owner."""
    autosave._pool.waitForDone()
    autosave.session._lock.unlock()


def test_an_edit_is_safe_within_ten_seconds():
    assert DELAY_MS <= 5_000


def test_edits_are_written_and_can_be_recovered(qtbot, document, autosave, tmp_path, monkeypatch):
    document.open_example("four_bar")
    document.save_as(tmp_path / "linkage.json")
    document.runs.settings = RunSettings("stiff", 3.0)
    document.looks = lambda: {"units": "mm/deg"}
    monkeypatch.setattr("gui.document.autosave.time", SimpleNamespace(time=lambda: 1234.5))
    with qtbot.waitSignal(autosave.written):
        document.set(document.system["bar 1"], mass=7.0)
    text = document.model_text()
    assert leftovers(tmp_path) == []  # its owner lives
    abandon(autosave)
    (recovery,) = leftovers(tmp_path)
    assert recovery.path == tmp_path / "linkage.json"
    assert recovery.name == "linkage.json"
    assert recovery.saved_at == 1234.5
    other, looks = Document(), []
    other.looks_restored.connect(looks.append)
    assert offer(other, tmp_path, lambda _: True).file == recovery.file
    assert looks == [{"units": "mm/deg"}]
    assert other.model_text() == text
    assert other.dirty
    assert other.path == tmp_path / "linkage.json"
    assert other.runs.settings == RunSettings("stiff", 3.0)
    assert mb.load(other.path)["bar 1"].mass == 3.0  # the file itself was not touched
    recovery.discard()
    assert leftovers(tmp_path) == []


def test_nothing_is_left_after_saving_or_a_clean_end(qtbot, document, tmp_path):
    autosave = Autosave(document, tmp_path, delay_ms=20)
    document.open_example("four_bar")
    with qtbot.waitSignal(autosave.written):
        document.set(document.system["bar 1"], mass=7.0)
    assert autosave.file.exists()
    document.save_as(tmp_path / "a.json")
    qtbot.waitUntil(lambda: not autosave.file.exists())
    with qtbot.waitSignal(autosave.written):
        document.set(document.system["bar 1"], mass=8.0)
    document.undo()
    qtbot.waitUntil(lambda: not autosave.file.exists())
    with qtbot.waitSignal(autosave.written):
        document.set(document.system["bar 1"], mass=9.0)
    autosave.close()
    assert list((tmp_path / "recovery").iterdir()) == []


def test_answers_to_the_offer(qtbot, document, autosave, tmp_path):
    document.open_example("four_bar")
    with qtbot.waitSignal(autosave.written):
        document.set(document.system["bar 1"], mass=7.0)
    abandon(autosave)
    other = Document()
    assert offer(other, tmp_path, lambda _: None) is None
    assert len(leftovers(tmp_path)) == 1
    assert offer(other, tmp_path, lambda _: False) is None
    assert leftovers(tmp_path) == []
    assert not other.dirty


def test_recoveries_that_cannot_be_read_are_kept_as_files(document, tmp_path):
    """Damaged ones byte by byte, those of a newer version as models; all are named."""
    folder, kept = tmp_path / "recovery", tmp_path / "kept"
    folder.mkdir()
    wrapped = '{{"format": "mbframe recovery", "path": "", "name": "{}", "saved_at": 1, "model": {}}}'
    newer = {"format": "mbframe model", "version": 99, "name": "c", "elements": []}
    own = newer | {"version": 1, "elements": [{"type": "theirs.Magnet", "name": "m"}]}
    texts = {
        "a": "{",
        "b": '{"format": "something else"}',
        "c": wrapped.format("../c", json.dumps(newer)),
        "d": wrapped.format("d", json.dumps(own)),
    }
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text)
    (folder / "e.json").mkdir()
    taken = offer(document, tmp_path, lambda _: True)
    assert taken is not None
    assert taken.file.name == "d.json"  # it opens: elements of classes that are not known are kept as they are
    assert [one.type for one in document.system.unknown] == ["theirs.Magnet"]
    taken.discard()
    assert [file.name for file in folder.glob("*.json")] == []
    found = {file.stem[-1]: file for file in kept.iterdir()}
    assert {name: found[name].read_text() for name in "ab"} == {name: texts[name] for name in "ab"}
    assert json.loads(found["c"].read_text()) == newer
    told = "\n".join(message.text for message in document.messages)
    assert all(str(found[name]) in told for name in "abce")
    assert "install a newer one" in told
    assert leftovers(tmp_path) == []
    Recovery(folder / "gone.json", None, "", {}, 0.0).discard()


def test_a_recovery_that_is_too_large_is_kept(document, tmp_path, monkeypatch):
    folder = tmp_path / "recovery"
    folder.mkdir()
    (folder / "a.json").write_text("[" + "[]," * 2000 + "[]]")
    monkeypatch.setenv("MBFRAME_IMPORT_MEMORY", "3000")
    assert offer(document, tmp_path, lambda _: True) is None
    (kept,) = (tmp_path / "kept").iterdir()
    assert kept.stat().st_size > 6000
    assert str(kept) in document.messages[-1].text


def test_a_folder_that_cannot_be_written_is_told_once(qtbot, document, tmp_path):
    (tmp_path / "recovery").write_text("a file where the folder should be")
    autosave = Autosave(document, tmp_path, delay_ms=10)
    document.open_example("four_bar")
    for mass in (7.0, 8.0):
        with qtbot.waitSignal(autosave.failed):
            document.set(document.system["bar 1"], mass=mass)
    qtbot.wait(50)
    (message,) = document.messages
    assert message.level == "warning"
    assert "not kept" in message.text
    assert document.system["bar 1"].mass == 8.0
    autosave.close()


def test_a_model_that_no_file_can_hold_is_told(qtbot, document, autosave):
    system = mb.System("pushed")
    ball = system.add(mb.PointMass("ball", mass=1.0))
    system.add(mb.PointForce("push", ball, force=(lambda t: t, 0.0, 0.0)))
    document.open_system(system)
    with qtbot.waitSignal(autosave.failed):
        document.set(ball, mass=2.0)
    assert "not saved automatically" in document.messages[-1].text


PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication, QTimer
from gui.document.autosave import Autosave
from gui.document.document import Document

app = QCoreApplication([])
document = Document()
document.open_example("four_bar")
autosave = Autosave(document, Path(sys.argv[1]), delay_ms=100)
autosave.written.connect(lambda: print(document.system["bar 1"].mass, flush=True))
timer = QTimer()
timer.timeout.connect(lambda: document.set(document.system["bar 1"], mass=document.system["bar 1"].mass + 1.0))
timer.start(5)
app.exec()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_was_written_survives_a_kill_at_any_moment(tmp_path):
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    written = [float(process.stdout.readline()) for _ in range(5)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    written += [float(line) for line in process.stdout.read().split()]
    process.stdout.close()
    (recovery,) = leftovers(tmp_path)
    document = Document()
    recovery.restore(document)
    assert document.system["bar 1"].mass >= written[-1] - 25.0  # what was edited while the file was written
    assert document.dirty
