"""The equation view: what a joint or force contributes to the equations of motion, with the numbers of this instant."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="equations",
    widget="panel.EquationsPanel",
    needs=("document", "solver"),
    title="Equations",
    place="tab",
    order=70,
    early=False,
    entry="&Equations",
    key="Ctrl+4",
    icon="equations",
    tip="Residual, Jacobian and right-hand side of what is selected",
    help="equations",
)
