"""The compare tab: several methods on one model."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="compare",
    widget="panel.ComparePanel",
    needs=("document", "solver"),
    title="Compare",
    place="tab",
    order=80,
    early=False,
    entry="C&ompare",
    key="Ctrl+5",
    icon="compare",
    tip="Methods side by side on this model",
    help="compare",
)
