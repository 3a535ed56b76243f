"""The page of messages."""

from __future__ import annotations

from .. import Panel

PANEL = Panel(
    name="messages",
    widget="panel.MessagesPanel",
    needs=("document",),
    title="Messages",
    place="check",
    order=110,
    entry="&Messages",
    key="Ctrl+8",
    icon="messages",
    tip="What happened so far",
    help="troubleshooting",
)
