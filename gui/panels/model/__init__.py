"""The panel of the model: its tree."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="model",
    widget="panel.ModelTree",
    needs=("document",),
    title="Model",
    place="left",
    order=10,
    help="window",
)
