"""Items of trees and of layouts, one after the other."""

from __future__ import annotations

from PySide6.QtWidgets import QLayout, QTreeWidget, QTreeWidgetItem


def children(parent: QTreeWidget | QTreeWidgetItem) -> list[QTreeWidgetItem]:
    """The items right below a tree, or below one of its items."""
    if isinstance(parent, QTreeWidget):
        items = [parent.topLevelItem(k) for k in range(parent.topLevelItemCount())]
    else:
        items = [parent.child(k) for k in range(parent.childCount())]
    return [item for item in items if item is not None]


def clear(layout: QLayout) -> None:
    """Remove the widgets of a layout, and delete them."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
