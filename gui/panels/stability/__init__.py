"""The stability tab: roots, modes that move, and how both change with a parameter."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="stability",
    widget="panel.StabilityPanel",
    needs=("document", "solver"),
    title="Stability",
    place="tab",
    order=50,
    early=False,
    entry="&Stability",
    key="Ctrl+2",
    icon="stability",
    tip="Roots and modes of the linearized model",
    help="stability",
)
