"""The inspector: the parameters of what is selected."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="inspector",
    widget="panel.Inspector",
    needs=("document", "solver", "live"),
    title="Inspector",
    place="right",
    order=30,
    help="window",
)
