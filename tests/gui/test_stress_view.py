"""Stress in the window's view: colours from the solver process, the legend's range, the mark that plots."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

import mbframe as mb
from gui.document.runs import Run
from gui.playing.playback import Player
from gui.view.view import View

pytestmark = pytest.mark.skipif(not mb.render.can_draw(), reason="nothing can be drawn here")


@pytest.fixture
def system() -> mb.System:
    part = mb.flexible.beam(
        length=1.0, elements=4, young=2.1e11, shear=8.1e10, density=7850.0, **mb.flexible.rectangle(0.02, 0.01)
    )
    system = mb.System("pendulum", dimension=2, gravity=(0, -9.81))
    modes = mb.flexible.craig_bampton(part, interfaces=[0, 4], n_modes=2)
    rod = system.add(mb.PlanarFlexibleBody("rod", modes, damping_ratios=0.02))
    system.add(mb.RevoluteJoint("A", system.ground, rod, at=(0, 0)))
    return system


def test_stress_colours_come_from_the_solver_process(document, solver, qtbot, system, tmp_path):
    result = mb.simulate(system, 0.2, t_eval=np.linspace(0.0, 0.2, 5))
    path = tmp_path / "run.h5"
    result.save(path)
    document.open_system(system)
    view = View(document, Player(document), solver)
    qtbot.addWidget(view)
    view.resize(480, 320)
    view.show()
    qtbot.waitExposed(view)
    view.prepare()
    document.runs.add(Run("Run 1", result=result, path=path))
    plotted = []
    view.stress.plot_requested.connect(plotted.append)
    view.set_stress(True)
    qtbot.waitUntil(lambda: view.stress.coloring is not None, timeout=60000)
    coloring = view.stress.coloring
    assert coloring.values["rod"] == pytest.approx(result.stress("rod"), rel=1e-9)
    view.player.seek(0.1)
    qtbot.waitUntil(lambda: view.scene is not None and view.scene.sketch.coloring is not None)
    view.grab()
    assert view.stress._mark is not None
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.stress._mark.toPoint())
    assert plotted == ["rod.stress.max"]
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.stress._switch.center().toPoint())
    assert view.stress.by_frame
    low, high = view.stress.coloring.limits(0.1)
    largest = coloring.largest(0.1)[2]
    assert low == 0.0
    assert largest <= high <= 1.34 * largest
    view.set_stress(False)
    assert view.stress.coloring is None
    view.close_canvas()


def test_models_without_stress_say_so(document, qtbot):
    document.open_example("four_bar")
    view = View(document, Player(document))
    qtbot.addWidget(view)
    view.set_stress(True)
    assert any("No body of this run tells its stress" in message.text for message in document.messages)
    assert view.stress.coloring is None
