"""Plots of quantities over time."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="plots",
    widget="panel.PlotsPanel",
    needs=("document", "solver", "live"),
    title="Plots",
    place="tab",
    order=40,
    entry="&Plots",
    key="Ctrl+1",
    icon="plot",
    tip="Quantities over time",
    help="plots",
)
