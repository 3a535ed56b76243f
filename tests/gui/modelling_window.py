"""A window for tests of modelling: with its panels and a view that draws."""

from __future__ import annotations

import pytest

from gui.window.window import MainWindow


@pytest.fixture
def window(qtbot, document, solver, settings):
    """The main window, shown and ready."""
    made = MainWindow(document, solver, settings)
    ready = []
    made.panels_ready.connect(lambda: ready.append(True))
    made.resize(1300, 850)
    made.show()
    qtbot.waitUntil(lambda: bool(ready))
    qtbot.waitUntil(lambda: made.view.canvas is not None or "not available" in made.view.message)
    if made.view.canvas is None:
        pytest.skip(made.view.message)
    yield made
    made.modelling.cancel()
    solver.cancel_all()
    qtbot.waitUntil(lambda: not solver.jobs)
    document.abandon()
    made.close()
    made.deleteLater()


def opened(window: MainWindow, example: str, qtbot) -> None:
    """Show an example."""
    window.open_example(example)
    window.hint.hide()
    qtbot.waitUntil(lambda: window.view.scene is not None and window.view.drawing.image is not None)
    window.player.pause()
    window.view.rebuild_now()
