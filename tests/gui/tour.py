"""What a new user does first, step by step: an example, a run, a plot, the bicycle's weave, a change, a file, a film.

The end-to-end test takes this way, and `scripts/assets screenshots` with pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtWidgets import QLineEdit, QScrollArea

import mbframe as mb
from gui.dialogs.export.formats import FORMATS

Look = Callable[[str], object]


class Tour:
    """Leads a robot through the application; `look` is called with a name where there is something to see."""

    def __init__(self, application: Any, robot: Any, folder: Path, look: Look = lambda name: None) -> None:
        self.robot, self.folder, self.look = robot, folder, look
        self.window = application.window
        self.document = application.document
        self.settings = application.settings
        self.model = folder / "bicycle.json"

    def all(self) -> None:
        """Every step."""
        self.gallery()
        self.four_bar()
        self.run()
        self.play()
        self.plot()
        self.bicycle()
        self.stability()
        self.weave()
        self.change()
        self.undo_and_redo()
        self.save()
        self.reopen()
        self.export("mp4", self.folder / "bicycle.mp4")
        self.export("glb", self.folder / "bicycle.glb")

    # ---- Steps ----------------------------------------------------------------------------------------------------

    def gallery(self) -> None:
        """The window opens on its gallery."""
        assert not self.window.model_shown
        self.robot.find("card_four_bar")
        self.look("gallery")

    def four_bar(self) -> None:
        """A card opens an example, with the motion that is shipped with it."""
        self._open_card("four_bar", "four")
        assert self.document.example == "four_bar"
        assert self.document.runs.current is not None
        assert self.window.player.can_play

    def run(self, t_end: float | None = None) -> None:
        """Run computes it anew."""
        if t_end is not None:
            field = self.robot.find("run_controls").t_end
            line = field.findChild(QLineEdit) or field
            self.robot.click(line)
            self.robot.write(f"{t_end:g}", line)
            self.robot.key("Return", line)
            assert self.document.runs.settings.t_end == t_end
        before = list(self.document.runs)
        self.robot.click("toolbar_run")
        self.robot.until(lambda: len(self.document.runs) > len(before), 180.0, "the first states of a run")
        self.robot.until(lambda: not self.window.runner.running, 120.0, "the end of the run")
        run = self.document.runs.current
        assert run not in before
        assert run.complete, run.reason
        assert run.t_last == self.document.runs.settings.t_end

    def play(self) -> None:
        """The bodies move as time goes on."""
        if not self.window.player.playing:
            self.robot.click("play_button")
        assert self.window.player.playing
        before, state = self.document.time, self.document.shown_state
        self.robot.until(lambda: self.document.time != before, 5.0, "time to pass")
        self.robot.pause(1.2)
        name = self.document.system.bodies[0].name
        assert not np.allclose(self.document.shown_state.position(name), state.position(name))
        self.robot.click("play_button")
        assert not self.window.player.playing
        self.look("playing")  # at rest it is drawn at its best

    def plot(self) -> None:
        """A quantity found by typing is plotted over time."""
        self.robot.tab(self.window.docks.tabs, "Plots")
        panel = self.window.panels["plots"]
        search = self.robot.click("quantity_search")
        self.robot.write("bar 2 velocity", search)
        self.robot.pause(0.3)
        self.robot.key("Return", search)
        self.robot.until(lambda: any("velocity" in name for name in panel.names), 10.0, "a plot of a velocity")
        self.robot.pause(0.5)
        self.look("plots")

    def bicycle(self) -> None:
        """Back to the gallery, and to another example."""
        self.robot.tool(self.window.toolbar, self.window.actions_["gallery"])
        assert not self.window.model_shown
        self._open_card("whipple_bicycle", "bicycle")
        assert self.document.example == "whipple_bicycle"

    def stability(self) -> None:
        """Its roots appear."""
        self.robot.tab(self.window.docks.tabs, "Stability")
        panel = self.window.panels["stability"]
        self.robot.click("linearize_first")
        self.robot.until(lambda: panel.roots is not None, 180.0, "roots")
        expected = mb.linearize(self.document.system).eigenvalues
        found = panel.roots.linearization.eigenvalues
        assert np.allclose(found, expected, atol=1e-6)

    def weave(self) -> None:
        """A click on the weave root lets the bicycle weave: the one oscillation of the two bicycle modes."""
        panel = self.window.panels["stability"]
        plane = panel.plane
        row, root = max(plane.points(), key=lambda point: point[1].imag)
        assert root.imag > 1.0
        place = plane.pixel(root).toPoint()
        self.robot.click(plane.viewport(), plane.viewport().mapFrom(plane, place))
        self.robot.until(lambda: panel.selected == row, 5.0, "the weave root to be selected")
        self.robot.until(lambda: panel.player.playing, 5.0, "the mode to play")
        angles = []
        for _ in range(6):
            self.robot.pause(0.2)
            angles.append(self.document.shown_state.motion("frame").rotation[2, 1])  # sine of the lean
        assert np.ptp(angles) > 1e-3
        self.robot.click("mode_play")
        assert not panel.player.playing
        self.look("stability")

    def change(self) -> None:
        """A number typed in the inspector changes the model, and the roots follow."""
        panel = self.window.panels["stability"]
        before = panel.roots
        tree = self.robot.find("tree")
        self.robot.item(tree, "frame")
        assert self.document.selection is self.document.system["frame"]
        line = self.robot.find("row_mass").findChild(QLineEdit)
        self.mass = self.document.system["frame"].mass
        self.robot.click(line)
        self.robot.write("60", line)
        self.robot.key("Return", line)
        assert self.document.system["frame"].mass == 60.0
        assert self.document.dirty
        self.robot.until(lambda: panel.roots is not before, 60.0, "the roots of the changed model")

    def undo_and_redo(self) -> None:
        """Every step goes back and forth."""
        changed = self.document.model_text()
        self.robot.tool(self.window.toolbar, self.window.actions_["undo"])
        assert self.document.system["frame"].mass == self.mass
        assert not self.document.dirty
        self.robot.tool(self.window.toolbar, self.window.actions_["redo"])
        assert self.document.model_text() == changed

    def save(self) -> None:
        """Under a name of the user's."""
        self.robot.answer_file_dialog(self.model)
        self.robot.tool(self.window.toolbar, self.window.actions_["save"])
        self.robot.until(lambda: self.document.path == self.model, 20.0, "the file to be saved")
        assert not self.document.dirty
        assert mb.load(self.model)["frame"].mass == 60.0

    def reopen(self) -> None:
        """From the list of recent files."""
        text = self.document.model_text()
        self.robot.tool(self.window.toolbar, self.window.actions_["gallery"])
        self.robot.click("recent_file")
        self.robot.until(lambda: self.window.model_shown, 20.0, "the model to be shown")
        assert self.document.path == self.model
        assert self.document.model_text() == text
        self.run(1.0)

    def export(self, kind: str, target: Path) -> None:
        """A file of the last run, of a kind that the export dialog offers."""
        self.robot.tool(self.window.toolbar, self.window.actions_["export"])
        dialog = self.robot.find("export_dialog")
        row = next(k for k, offered in enumerate(FORMATS) if offered.key == kind)
        rectangle = dialog.formats.visualItemRect(dialog.formats.item(row))
        self.robot.click(dialog.formats.viewport(), rectangle.center())
        assert dialog.formats.currentRow() == row
        dialog.options.size_choice.setCurrentIndex(dialog.options.size_choice.count() - 1)
        for box, pixels in ((dialog.options.pixel_width, 320), (dialog.options.pixel_height, 180)):
            box.setValue(pixels)
        path = self.robot.find("export_path")
        self.robot.click(path)
        self.robot.write(str(target), path)
        if kind == "mp4":
            self.robot.until(lambda: bool(dialog.preview.pictures), 180.0, "a preview")
        self.look(f"export {target.suffix[1:]}")
        self.robot.click("export_button")
        self.robot.until(lambda: bool(dialog.written), 180.0, f"{target.name} to be written")
        assert target.stat().st_size > 1000
        self.robot.click("export_close")
        self.robot.until(lambda: self.robot._visible("export_dialog") is None, 5.0, "the dialog to close")

    # ---- Parts ----------------------------------------------------------------------------------------------------

    def _open_card(self, name: str, words: str) -> None:
        """Search a card in the gallery and click it; wait for the picture of the model. Runs of before are dropped."""
        self.document.abandon()
        search = self.robot.click("gallery_search")
        self.robot.write(words, search)
        self.robot.pause(0.2)
        card = self.robot.find(f"card_{name}")
        area = card.parent()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parent()
        if area is not None:
            area.ensureWidgetVisible(card)
            self.robot.pause()
        self.robot.click(card)
        self.robot.until(lambda: self.window.model_shown, 20.0, "the model to be shown")
        view = self.window.view
        self.robot.until(
            lambda: view.scene is not None and view.drawing.image is not None, 60.0, "a picture of the model"
        )
