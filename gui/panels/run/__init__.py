"""The panel of runs."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="run",
    widget="panel.RunControls",
    needs=("document", "solver", "runner", "live"),
    title="Run",
    place="left",
    order=20,
    help="running",
)
