"""The script tab: the steps of the user as Python."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="script",
    widget="panel.ScriptPanel",
    needs=("document",),
    title="Script",
    place="tab",
    order=90,
    entry="S&cript",
    key="Ctrl+6",
    icon="script",
    tip="Every step as Python",
)
