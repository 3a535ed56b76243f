"""The way of a new user through the application, with mouse and keyboard, in its real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from gui.app.application import Application

from .building_tour import BuildingTour
from .robot import Robot
from .tour import Tour


@pytest.fixture
def application(qtbot):
    """The application with its window, ready."""
    application = Application([], warm=False)
    ready = []
    application.open()
    application.window.panels_ready.connect(lambda: ready.append(True))
    qtbot.waitUntil(lambda: bool(ready))
    yield application
    application.document.abandon()
    if application.window is not None:
        application.window.close()
    application.close()


@pytest.fixture
def robot(application):
    if QApplication.platformName() == "offscreen":
        pytest.skip("needs a display: scripts/test starts one")
    robot = Robot(application.window)
    application.window.activateWindow()
    return robot


@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_first_hour_of_a_new_user(application, robot, tmp_path):
    Tour(application, robot, tmp_path).all()
    assert (tmp_path / "bicycle.mp4").read_bytes()[4:8] == b"ftyp"
    assert (tmp_path / "bicycle.glb").read_bytes()[:4] == b"glTF"
    assert not [message for message in application.document.messages if message.level == "error"]


@pytest.mark.timeout(900)
def test_a_model_is_built_broken_mended_compared_and_undone(application, robot, tmp_path):
    BuildingTour(application, robot, tmp_path).all()


def test_closing_while_everything_is_busy(application, qtbot):
    window, document = application.window, application.document
    robot = Robot(window)
    window.open_example("n_four_bar")
    robot.until(lambda: window.view.scene is not None)
    document.runs.settings = document.runs.settings.changed(preset="custom", t_end=500.0, dt=1e-4)
    window.run()
    robot.until(lambda: window.runner.reached > 0.0, 120.0)
    window.player.play()
    folder = application.solver.folder
    window.close()
    application.close()
    assert not Path(folder).exists()
