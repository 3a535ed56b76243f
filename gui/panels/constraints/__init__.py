"""The constraints page: freedoms, dependencies, violation and energy."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="constraints",
    widget="panel.ConstraintsPanel",
    needs=("document", "solver"),
    title="Freedoms",
    place="check",
    order=100,
    early=False,
    entry="&Freedoms",
    key="Ctrl+7",
    icon="constraints",
    tip="How the mechanism can move, and which joints repeat each other",
    help="constraints",
)
