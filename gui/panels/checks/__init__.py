"""The page of problems of the model; made early, because they are marked in the view, seen or not."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="checks",
    widget="panel.ChecksPanel",
    needs=("document", "solver", "view", "modelling.assemble"),
    title="Problems",
    place="check",
    order=60,
    entry="&Check",
    key="Ctrl+3",
    icon="good",
    tip="What is wrong with the model, and what can be done about it",
)
