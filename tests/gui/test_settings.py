"""What is remembered from one start to the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, QSettings

from gui.base.settings import RECENT, Settings, data_folder
from gui.base.units import DisplayUnits


def reopened(settings):
    settings.store.sync()
    return Settings(QSettings(settings.store.fileName(), QSettings.Format.IniFormat))


def test_recent_files_come_latest_first_and_vanished_ones_are_left_out(settings, tmp_path):
    files = [tmp_path / f"{k}.json" for k in range(RECENT + 3)]
    for file in files:
        file.touch()
        settings.add_recent_file(file)
    settings.add_recent_file(files[5])
    found = reopened(settings).recent_files()
    assert len(found) == RECENT
    assert found[:2] == [files[5], files[-1]]
    files[5].unlink()
    assert files[5] not in settings.recent_files()
    settings.remove_recent_file(files[-1])
    assert files[-1] not in settings.recent_files()
    settings.clear_recent_files()
    assert settings.recent_files() == []


def test_one_recent_file_is_a_list_too(settings, tmp_path):
    (tmp_path / "a.json").touch()
    settings.add_recent_file(tmp_path / "a.json")
    assert reopened(settings).recent_files() == [tmp_path / "a.json"]


def test_look_layout_and_hints(settings):
    assert settings.theme == "system"
    settings.theme = "dark"
    settings.set_layout("docks", QByteArray(b"\x01\x02"))
    settings.dismiss_hint("first run")
    settings.set_value("speed", 0.5)
    settings.set_value("loop", True)
    later = reopened(settings)
    assert later.theme == "dark"
    assert later.layout("docks") == QByteArray(b"\x01\x02")
    assert later.layout("other") is None
    assert later.hint_dismissed("first run")
    assert not later.hint_dismissed("second run")
    assert later.value("speed", 1.0) == 0.5
    assert later.value("loop", False) is True
    assert later.value("unknown", 3) == 3
    later.clear_layout()
    assert later.layout("docks") is None
    with pytest.raises(ValueError, match="no theme"):
        settings.theme = "pink"


def test_damaged_settings_have_their_defaults(settings):
    settings.store.setValue("theme", "pink")
    settings.store.setValue("units/default", 7)
    settings.store.setValue("panels/speed", "fast")
    settings.store.setValue("last folder", "/does/not/exist")
    settings.store.setValue("layout/docks", "text")
    assert settings.theme == "system"
    assert settings.units() == DisplayUnits()
    assert settings.value("speed", 1.0) == 1.0
    assert settings.last_folder == Path.home()
    assert settings.layout("docks") is None


def test_units_belong_to_a_file(settings, tmp_path):
    settings.set_units(DisplayUnits("mm/deg"), tmp_path / "a.json")
    settings.set_units(DisplayUnits("SI"))
    later = reopened(settings)
    assert later.units(tmp_path / "a.json") == DisplayUnits("mm/deg")
    assert later.units(tmp_path / "b.json") == DisplayUnits("SI")


def test_the_last_folder(settings, tmp_path):
    settings.last_folder = tmp_path
    assert reopened(settings).last_folder == tmp_path


def test_data_lie_in_the_users_folder(qapp, own_folders):
    assert own_folders in data_folder().parents
    assert data_folder().is_dir()
