"""A slider-crank from nothing, by mouse and keys: built, run, pulled, broken, mended, compared, undone.

The end-to-end test takes this way, and `scripts/assets screenshots --building` with pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QCheckBox, QLineEdit

import mbframe as mb
from gui.view.tools import pixels

Look = Callable[[str], object]

BESIDE = (0.0, -0.25)
"""Where there is nothing but the ground."""


class BuildingTour:
    """Leads a robot through building a model; `look` is called with a name where there is something to see."""

    def __init__(self, application: Any, robot: Any, folder: Path, look: Look = lambda name: None) -> None:
        self.robot, self.folder, self.look = robot, folder, look
        self.window, self.document = application.window, application.document
        self.view, self.modelling = self.window.view, self.window.modelling
        self.empty = ""

    def all(self) -> None:
        """Every step."""
        self.begin()
        self.build()
        self.run()
        self.pull()
        self.wiggle()
        self.equations()
        self.break_and_mend()
        self.spring()
        self.script()
        self.compare()
        self.undo_and_redo_all()

    # ---- Steps ----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """An empty model in the plane."""
        self.robot.click("new_model_in_the_plane")
        self.robot.until(lambda: self.window.model_shown and self.view.scene is not None, 60.0, "an empty view")
        assert self.document.system.dimension == 2
        self.empty = self.document.model_text()

    def build(self) -> None:
        """Crank, rod, slider and four joints, each clicked where it goes."""
        self._link((0.0, 0.0), (0.2, 0.2))
        self.robot.key("k")
        self._click((0.2, 0.2))
        self._point_at((0.6, 0.0))
        self.look("adding a body")
        self._click((0.6, 0.0))
        self._start("box")
        self._click((0.6, 0.0))
        self._joint("j", BESIDE, (0.1, 0.1), (0.0, 0.0))
        self.robot.key("j")
        self._click((0.1, 0.1))
        self._click((0.4, 0.1))
        self._point_at((0.2, 0.2))
        self.robot.until(lambda: "remaining" in self.modelling.guide.fact.text(), 180.0, "the freedoms that remain")
        self.look("placing a joint")
        self._click((0.2, 0.2))
        self._joint("j", (0.4, 0.1), (0.62, 0.0), (0.6, 0.0))
        self._start("TranslationalJoint")
        for point in (BESIDE, (0.62, 0.0), (0.6, 0.0)):
            self._click(point)
        choice = self.modelling.guide.findChild(object, "axis_choice")
        choice.setCurrentIndex(choice.findText("Axis: x"))
        self.robot.click("add_element")
        system = self.document.system
        assert [body.name for body in system.bodies] == ["link", "link 2", "box"]
        assert mb.degrees_of_freedom(system).count == 1
        assert self.document.undo_stack.count() == 7

    def run(self) -> None:
        """The crank falls and swings."""
        field = self.robot.find("run_controls").t_end
        line = field.findChild(QLineEdit) or field
        self.robot.click(line)
        self.robot.write("0.5", line)
        self.robot.key("Return", line)
        self.robot.click("toolbar_run")
        self.robot.until(lambda: self.document.runs and self.document.runs[-1].complete, 240.0, "the end of the run")
        box = self.document.runs[-1].result.position("box")
        assert np.allclose(box[:, 1], 0.0, atol=1e-6)
        assert np.ptp(box[:, 0]) > 1e-3
        self.window.player.pause()

    def pull(self) -> None:
        """Dragged by the crank, the slider follows; the release is one step."""
        self.view.setFocus()
        self.robot.key("p", self.view)
        before, steps = self.document.system["box"].position.copy(), self.document.undo_stack.count()
        pulled = self.modelling.pull
        self.view.rebuild_now()
        start, end = self._spot((0.1, 0.1)), self._spot((0.05, 0.18))
        seen: list[Any] = []
        pulled.updated.connect(lambda _: seen or (seen.append(True), self.look("pull")))
        self.robot.drag(self.view, start, end)
        self.robot.until(lambda: pulled.body is None, 240.0, "the end of the pull")
        assert self.document.undo_stack.count() == steps + 1
        assert np.linalg.norm(self.document.system["box"].position - before) > 1e-3
        assert self._gap() < 1e-6
        self.robot.key("p", self.view)
        assert not pulled.on

    def wiggle(self) -> None:
        """Its one freedom swings."""
        self.robot.tab(self.window.docks.tabs, "Check")
        self.robot.click("page_constraints")
        panel = self.window.panels["constraints"]
        self.robot.until(lambda: panel.list.count() == 1, 180.0, "the free motion")
        self.robot.click("wiggle")
        self.robot.until(lambda: panel.player.playing, 180.0, "the swing")
        self.robot.pause(0.6)
        self.look("constraints")
        self.robot.click("wiggle")
        assert not panel.player.playing

    def equations(self) -> None:
        """What the first joint contributes."""
        self.robot.tab(self.window.docks.tabs, "Equations")
        panel = self.window.panels["equations"]
        self.look("no equations")
        self.document.select(self.document.system["revolute joint 2"])
        self.robot.until(lambda: panel.found is not None, 180.0, "the equations of a joint")
        assert set(panel.found.jacobian) == {"link", "link 2"}
        self.look("equations")

    def break_and_mend(self) -> None:
        """A driver that begins elsewhere opens the loop; the check says so, and Fix mends it."""
        self._start("Driver")
        self.robot.item(self.window.panels["model"].tree, "revolute joint")
        driver = self.document.selection
        assert isinstance(driver, mb.Driver)
        assert self.window.panels["model"].tree.currentItem().text(0) == driver.name
        edit = self.robot.find("angle_edit")
        self.robot.click(edit)
        self.robot.write("0.4 + 2*t", edit)
        self.robot.key("Return", edit)
        self.robot.tab(self.window.docks.tabs, "Check")
        panel = self.window.panels["checks"]
        self.robot.until(lambda: any(check.fix == "start at zero" for check in panel.checks), 180.0, "the open loop")
        assert panel.gaps.gaps
        self.robot.pause(0.3)
        self.look("broken")
        row = next(row for row in panel.rows if row.check.fix == "start at zero")
        self.robot.click(row.fix)
        self.robot.until(lambda: not any(check.level == "error" for check in panel.checks), 180.0, "a good model")
        assert driver.angle(0.0) == 0.0
        self.look("mended")

    def spring(self) -> None:
        """From a point of the ground to the slider."""
        steps = self.document.undo_stack.count()
        self.view.setFocus()
        self.robot.key("s", self.view)
        self._click((0.7, 0.15))
        self._click(tuple(self.document.system["box"].position))
        spring = self.document.selection
        assert isinstance(spring, mb.SpringDamper)
        assert self.document.undo_stack.count() == steps + 1

    def script(self) -> None:
        """Every step is a line, and the whole is a script."""
        self.robot.tab(self.window.docks.tabs, "Script")
        text = self.window.panels["script"].text.toPlainText()
        assert text.count("system.add(") >= 9
        self.look("script")

    def compare(self) -> None:
        """Two stabilizations on this model."""
        self.robot.tab(self.window.docks.tabs, "Compare")
        self.robot.click("compare_begin")
        panel = self.window.panels["compare"]
        wanted = {"AsDescribed", "AugmentedFormulation", "NoStabilization", "DirectCorrection", "RungeKutta4"}
        for box in panel.choices.findChildren(QCheckBox):
            if box.isChecked() != (box.objectName().removeprefix("compare_") in wanted):
                box.click()
        panel.choices.t_end.setText("0.3")
        panel.choices.steps.setText("0.01")
        panel.choices.repeats.setValue(1)
        self.look("choosing methods")
        self.robot.click("compare_start")
        self.robot.until(lambda: panel.comparison is not None, 300.0, "the comparison")
        assert len(panel.comparison.outcomes) == 2
        assert not panel.comparison.failures()
        self.robot.pause(0.3)
        self.look("compare")

    def undo_and_redo_all(self) -> None:
        """Back to nothing and forth again: exactly the same document at both ends."""
        stack, built = self.document.undo_stack, self.document.model_text()
        steps = stack.count()
        assert steps >= 11
        self.view.setFocus()
        for _ in range(steps):
            self.robot.key("ctrl+z", self.view)
        assert not stack.canUndo()
        assert self.document.model_text() == self.empty
        for _ in range(steps):
            self.robot.key("ctrl+y", self.view)
        assert not stack.canRedo()
        assert self.document.model_text() == built
        self.look("undone and redone")

    # ---- Clicks ---------------------------------------------------------------------------------------------------

    def _spot(self, point: Any) -> QPoint:
        """The pixel of a point of the plane."""
        self.view.rebuild_now()
        (found,) = pixels(self.view, [np.array([*point, 0.0])])
        assert found is not None
        return found.toPoint()

    def _click(self, point: Any) -> None:
        self._point_at(point)
        self.robot.click(self.view, self._spot(point))

    def _point_at(self, point: Any) -> None:
        self.robot.move(self.view, self._spot(point))

    def _start(self, name: str) -> None:
        """Choose an entry of the menu that has no key."""
        self.window.actions_[f"add_{name}"].trigger()
        assert self.modelling.placing.active

    def _link(self, one: Any, other: Any) -> None:
        self.view.setFocus()
        self.robot.key("k", self.view)
        self._click(one)
        self._click(other)

    def _joint(self, key: str, first: Any, second: Any, at: Any) -> None:
        self.view.setFocus()
        self.robot.key(key, self.view)
        for point in (first, second, at):
            self._click(point)
        assert not self.modelling.placing.active, self.modelling.guide.text.text()

    def _gap(self) -> float:
        eq = mb.Equations(self.document.system)
        return float(np.abs(eq.violation(0.0, eq.coordinates(eq.described()))[0]).max())
