"""The export dialog: what it offers, refuses inline, writes, and cancels."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage

import mbframe as mb
from gui.dialogs.export.dialog import ExportDialog
from gui.dialogs.export.formats import FORMATS, file_name, file_size, frame_count, judged, keywords, spoken, with_suffix
from gui.dialogs.export.options import AS_SHOWN, OWN_SIZE
from gui.document.runs import Run

BY_KEY = {one.key: one for one in FORMATS}


class StillView:
    """As much of the view as the dialog needs."""

    camera = SimpleNamespace(placement=((6.0, -8.0, 2.0), (2.0, -1.0, 0.0), (0.0, 0.0, 1.0)))

    followed = "bar 2"
    player = SimpleNamespace(speed=1.0)

    def picture(self) -> QImage:
        picture = QImage(40, 30, QImage.Format.Format_RGB32)
        picture.fill(QColor("#336699"))
        return picture


@pytest.fixture(scope="module")
def result() -> mb.Result:
    return mb.simulate(mb.examples.four_bar(), 0.4, t_eval=np.linspace(0.0, 0.4, 21))


@pytest.fixture
def dialog(qtbot, document, solver, settings, result, tmp_path):
    document.open_example("four_bar")
    document.runs.add(Run("Run 1", result=result))
    settings.last_folder = tmp_path
    dialog = ExportDialog(document, solver, StillView(), None, settings)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitExposed(dialog)
    return dialog


def choose(dialog: ExportDialog, key: str) -> None:
    dialog.formats.setCurrentRow([one.key for one in FORMATS].index(key))


def small(dialog: ExportDialog) -> None:
    dialog.options.size_choice.setCurrentText(OWN_SIZE)
    dialog.options.pixel_width.setValue(161)
    dialog.options.pixel_height.setValue(121)
    dialog.options.fps.setValue(10)
    dialog.options.quality.setCurrentIndex(1)


def write(qtbot, dialog: ExportDialog) -> list[Path]:
    qtbot.mouseClick(dialog.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.job is None)
    assert dialog.written, dialog.note.text()
    return dialog.written


def test_the_ends_of_a_run_are_exported_as_they_are(dialog, document):
    """A run to pi s ended at 3.142 s in the dialog, which it does not have: the film of all of it was refused."""
    options = dialog.options
    for t_end in (np.pi, 1e-4):
        instants = np.linspace(0.0, t_end, 5)
        result = mb.simulate(mb.examples.simple_pendulum(), t_end, t_eval=instants)
        document.runs.add(Run("Another", result=result))
        options.fill_runs()
        options.run.setCurrentIndex(options.run.findData(document.runs[-1]))
        assert options.span == (0.0, t_end)
        assert (options.settings()["start"], options.settings()["end"]) == (0.0, t_end)
        assert options.end.value() > 0.0
        options.end.setValue(0.5 * t_end)
        assert options.span == (0.0, options.end.value())


def test_a_film_is_headed_by_a_name_that_somebody_gave(dialog, document, tmp_path):
    """It said "Untitled" though the model had been saved under a name."""
    assert dialog.options.settings()["title"] == document.system.name
    document.new()
    assert dialog.options.settings()["title"] == ""
    document.save_as(tmp_path / "crank.json")
    assert dialog.options.settings()["title"] == "crank"
    dialog.options.show_title.setChecked(False)
    assert dialog.options.settings()["title"] == ""


# --- names and places -------------------------------------------------------------------------------------------------


def test_names_of_files():
    assert file_name("Whipple bicycle", BY_KEY["mp4"]) == "whipple_bicycle.mp4"
    assert file_name("crank 2.json", BY_KEY["view"]) == "crank_2_view.png"
    assert file_name("crank.mbproject", BY_KEY["mp4"]) == "crank.mp4"
    assert file_name("///", BY_KEY["glb"]) == "model.glb"
    assert with_suffix(Path("/a/motion.gif"), BY_KEY["mp4"]) == Path("/a/motion.mp4")
    assert with_suffix(Path("/a/version 1.2"), BY_KEY["mp4"]) == Path("/a/version 1.2.mp4")


def test_places_are_judged_before_anything_is_drawn(tmp_path):
    video = BY_KEY["mp4"]
    assert "Choose a file" in judged("  ", video).problem
    assert "whole path" in judged("motion.mp4", video).problem
    assert "is a folder" in judged(str(tmp_path), video).problem
    assert "no folder" in judged(str(tmp_path / "none" / "a.mp4"), video).problem
    (tmp_path / "a.mp4").write_text("")
    assert "will be replaced" in judged(str(tmp_path / "a.mp4"), video).note
    assert judged(str(tmp_path / "b"), video).note == "Will be written as b.mp4."
    (tmp_path / "c_0000.png").write_text("")
    assert "c_0000.png exists" in judged(str(tmp_path / "c.png"), BY_KEY["png"]).note


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_told_at_once(dialog, tmp_path):
    place = tmp_path / "locked"
    place.mkdir(mode=0o500)
    dialog.path.setText(str(place / "a.mp4"))
    dialog._path_edited("")
    assert "cannot be written" in dialog.note.text()


def test_frames_sizes_and_durations_in_words(tmp_path):
    assert frame_count(0.0, 5.0, 30.0, 1.0) == 151  # floor(5 * 30) + 1
    assert frame_count(1.0, 2.0, 25.0, 0.5) == 51
    assert [spoken(t) for t in (0.2, 12.3, 200.0)] == ["less than a second", "12 s", "3 min 20 s"]
    (tmp_path / "file").write_bytes(b"x" * 1_250_000)
    assert file_size([tmp_path / "file"]) == "1.25 MB"


def test_a_video_gets_even_numbers_of_pixels():
    settings = {"start": 0.0, "end": 1.0, "speed": 1.0, "fps": 30, "size": (161, 121), "camera": "iso"}
    settings |= {"theme": "light", "smooth": True, "show_time": True, "title": None, "follow": None}
    assert keywords(settings, BY_KEY["mp4"])["size"] == (162, 122)
    assert keywords(settings, BY_KEY["png"])["size"] == (161, 121)
    assert "size" not in keywords(settings, BY_KEY["glb"])


# --- the dialog -------------------------------------------------------------------------------------------------------


def test_each_format_shows_its_own_options(qtbot, dialog):
    visible = {}
    for one in FORMATS:
        choose(dialog, one.key)
        boxes = (dialog.options.run, dialog.options.fps, dialog.options.size_choice)
        visible[one.key] = tuple(box.isVisible() for box in boxes)
        assert dialog.path.text().endswith(one.suffix)
        assert dialog.words.text() == one.help
    assert visible["mp4"] == (True, True, True)
    assert visible["glb"] == (True, True, False)
    assert visible["csv"] == (True, False, False)
    assert visible["py"] == visible["view"] == (False, False, False)
    choose(dialog, "gif")
    assert dialog.options.fps.value() == 20
    assert dialog.options.fps.maximum() == 50


def test_the_summary_counts_frames(dialog):
    dialog.options.fps.setValue(30)
    assert dialog.summary.text() == "13 frames, 0.4 s to watch"  # floor(0.4 * 30) + 1
    dialog.options.speed.setCurrentIndex(dialog.options.speed.findData(0.1))
    assert dialog.summary.text() == "121 frames, 4 s to watch"


@pytest.mark.parametrize("key", ["mp4", "gif", "glb", "html", "png"])
def test_a_motion_is_written(qtbot, dialog, tmp_path, key):
    if key == "html":  # its player is an asset, which a checkout has only when it is installed
        pytest.importorskip("mbframe_assets")
    choose(dialog, key)
    small(dialog)
    written = write(qtbot, dialog)
    assert all(path.is_file() and path.parent == tmp_path for path in written)
    head = written[0].read_bytes()[:16]
    magic = {"mp4": b"ftyp", "gif": b"GIF89a", "glb": b"glTF", "html": b"<!", "png": b"\x89PNG"}[key]
    assert magic in head
    assert len(written) == (5 if key == "png" else 1)
    assert "Written" in dialog.note.text()
    assert dialog.open_folder.isVisible()
    assert any("Exported" in message.text for message in dialog.document.messages)
    if key == "png":
        picture = QImage(str(written[0]))
        assert (picture.width(), picture.height()) == (161, 121)


def test_a_table_of_chosen_quantities(qtbot, dialog, result):
    choose(dialog, "csv")
    dialog.quantities.search.setText("bar 1 angle")
    shown = [k for k in range(dialog.quantities.list.count()) if not dialog.quantities.list.item(k).isHidden()]
    names = [dialog.quantities.list.item(k).text() for k in shown]
    assert "bar 1.angle" in names
    dialog.quantities.list.item(shown[names.index("bar 1.angle")]).setCheckState(Qt.CheckState.Checked)
    (path,) = write(qtbot, dialog)
    lines = path.read_text().splitlines()
    assert lines[0] == "t [s],bar 1.angle [rad]"
    assert len(lines) == 1 + len(result.t)
    assert np.allclose(np.loadtxt(lines[1:], delimiter=",")[:, 1], result.angle("bar 1"), atol=1e-12)


def test_the_script_builds_the_model_again(qtbot, dialog):
    choose(dialog, "py")
    (path,) = write(qtbot, dialog)
    names: dict[str, object] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    assert [body.name for body in names["system"].bodies] == [body.name for body in dialog.document.system.bodies]


def test_a_picture_of_the_view(qtbot, dialog):
    choose(dialog, "view")
    (path,) = write(qtbot, dialog)
    assert QImage(str(path)).pixelColor(5, 5).name() == "#336699"


def test_the_camera_of_the_view_is_taken(dialog):
    """Its direction by default, with all that moves in the picture; or exactly as it is."""
    towards, up = dialog.options.settings()["camera"]
    assert (towards, up) == ((4.0, -7.0, 2.0), (0.0, 0.0, 1.0))
    dialog.options.camera.setCurrentIndex(dialog.options.camera.findData(AS_SHOWN))
    assert dialog.options.settings()["camera"] == StillView.camera.placement
    dialog.options.camera.setCurrentIndex(dialog.options.camera.findData("front"))
    assert dialog.options.settings()["camera"] == "front"


def test_without_a_run_only_model_and_view_can_be_exported(qtbot, document, solver, tmp_path):
    document.new()
    dialog = ExportDialog(document, solver, StillView())
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.button.isEnabled()
    assert "no run yet" in dialog.note.text()
    choose(dialog, "py")
    dialog.path.setText(str(tmp_path / "model.py"))
    dialog._path_edited("")
    assert dialog.button.isEnabled()


def test_bad_names_are_refused_inline_and_nothing_is_lost(qtbot, dialog, tmp_path):
    for text, words in (("", "Choose a file"), (str(tmp_path / "none" / "x.mp4"), "no folder")):
        dialog.path.selectAll()
        dialog.path.setText("")
        qtbot.keyClicks(dialog.path, text or " ")
        assert words in dialog.note.text()
        assert not dialog.button.isEnabled()
    dialog.path.setText(str(tmp_path / "fine.mp4"))
    dialog._path_edited("")
    assert dialog.button.isEnabled()


def test_a_failure_in_the_other_process_is_a_sentence_here(qtbot, dialog, tmp_path):
    choose(dialog, "glb")
    folder = tmp_path / "gone"
    folder.mkdir()
    dialog.path.setText(str(folder / "a.glb"))
    dialog._path_edited("")
    task = dialog._task(dialog.format, dialog.target)
    folder.rmdir()  # between the look and the writing
    dialog._begin(task, dialog.target)
    qtbot.waitUntil(lambda: dialog.job is None)
    assert "there is no folder" in dialog.note.text()
    assert dialog.note.property("role") == "bad"


def test_an_export_is_cancelled(qtbot, dialog, tmp_path):
    choose(dialog, "png")
    small(dialog)
    dialog.options.speed.setCurrentIndex(0)
    dialog.options.fps.setValue(120)  # 481 frames
    qtbot.mouseClick(dialog.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "drawn" in dialog.note.text())
    assert dialog.button.text() == "Cancel"
    assert not dialog.path.isEnabled()
    half = tmp_path / f".{Path(dialog.path.text()).stem}-0123456789ab.png"
    half.touch()  # as a process leaves it that is killed while it writes
    qtbot.mouseClick(dialog.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.job is None)
    assert "Cancelled" in dialog.note.text()
    qtbot.waitUntil(lambda: list(tmp_path.glob("*.png")) == [], timeout=60_000)
    assert dialog.button.text() == "Export"
    assert dialog.path.isEnabled()


def test_closing_cancels(qtbot, dialog):
    choose(dialog, "png")
    small(dialog)
    dialog.options.speed.setCurrentIndex(0)
    dialog.options.fps.setValue(120)
    dialog.export()
    job = dialog.job
    dialog.reject()
    qtbot.waitUntil(lambda: job.state == "cancelled")
    assert not dialog.isVisible()


def test_films_follow_as_the_view_does(dialog):
    assert dialog.options.settings()["follow"] == "bar 2"
    names = [dialog.options.follow.itemText(k) for k in range(dialog.options.follow.count())]
    assert names == ["what moves", "nothing: stand still", "bar 1", "bar 2", "bar 3"]
    dialog.options.follow.setCurrentIndex(0)
    assert keywords(dialog.options.settings(), BY_KEY["html"])["follow"] == "what moves"


def test_the_first_the_middle_and_the_last_picture_are_shown(qtbot, dialog):
    choose(dialog, "mp4")
    qtbot.waitUntil(lambda: len(dialog.preview.pictures) == 3)
    first = dialog.preview.pictures[0].copy()
    assert first != dialog.preview.pictures[2]
    dialog.options.look.setCurrentText("dark" if dialog.options.look.currentText() == "light" else "light")
    qtbot.waitUntil(lambda: not dialog.preview.busy and dialog.preview.pictures[0] != first)
    choose(dialog, "csv")
    assert not dialog.preview.isVisible()


def test_a_preview_that_gave_way_to_the_export_is_drawn_afterwards(qtbot, dialog):
    """It said "drawing…" for good."""
    choose(dialog, "mp4")
    small(dialog)
    assert dialog.preview.busy
    assert not dialog.preview.pictures
    write(qtbot, dialog)
    qtbot.waitUntil(lambda: len(dialog.preview.pictures) == 3)
    assert not dialog.preview.busy
