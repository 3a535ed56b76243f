"""The help: pages of `assets/help`, an index, a search; F1 opens the page about the panel in use."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import (
    QAction,
    QColor,
    QKeySequence,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextTable,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ..base.places import ASSETS
from ..widgets import theme
from ..widgets.icons import set_icon

FOLDER: Final = ASSETS / "help"
INDEX: Final = "index"
TOPICS: Final = {
    "gallery": "first_steps",
    "view": "window",
    "method_dialog": "running",
    "timeline": "playing",
    "export_dialog": "exporting",
    "shortcut_list": "shortcuts",
}
"""The page about a widget and all that is in it, by its object name; that about a panel is its property "help"."""


@cache
def page(topic: str) -> str:
    """The text of a page, Markdown."""
    return (FOLDER / f"{topic}.md").read_text(encoding="utf-8")


def title(topic: str) -> str:
    """The heading of a page; that of the index is its place in the list."""
    if topic == INDEX:
        return "Contents"
    return page(topic).splitlines()[0].lstrip("# ").split(":")[0].strip()


@cache
def topics() -> tuple[str, ...]:
    """All pages, in the order of the index."""
    return (INDEX, *re.findall(r"\]\((\w+)\.md\)", page(INDEX)))


def topic_for(widget: QWidget | None) -> str:
    """The page about the panel that a widget is in; the index if there is none."""
    while widget is not None:
        if topic := widget.property("help") or TOPICS.get(widget.objectName()):
            return topic
        widget = widget.parentWidget()
    return INDEX


def matching(text: str) -> list[str]:
    """The pages that contain all words of a text."""
    words = text.lower().split()
    return [topic for topic in topics() if all(word in page(topic).lower() for word in words)]


class Page(QTextBrowser):
    """Shows a page in the colours of the theme."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("help_page")
        self.setAccessibleName("Help page")
        self.setOpenLinks(False)
        self.setFrameShape(self.Shape.NoFrame)

    def show_page(self, text: str) -> None:
        """Show Markdown."""
        self.setMarkdown(text)
        self._dress()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def _dress(self) -> None:
        """Markdown has no colours and little air: give headings, code and tables theirs."""
        look = theme.current()
        document = self.document()
        document.setDocumentMargin(22)
        fixed = theme.fixed_font()
        block = document.begin()
        while block.isValid():
            form, cursor = block.blockFormat(), QTextCursor(block)
            if form.headingLevel():
                air = QTextBlockFormat()
                air.setTopMargin(4.0 if form.headingLevel() == 1 else 16.0)
                air.setBottomMargin(6.0)
                cursor.mergeBlockFormat(air)
            elif form.hasProperty(QTextFormat.Property.BlockCodeFence) or form.hasProperty(
                QTextFormat.Property.BlockCodeLanguage
            ):
                ground = QTextBlockFormat()
                ground.setBackground(QColor(look.raised))
                ground.setLeftMargin(12.0)
                cursor.mergeBlockFormat(ground)
            elif cursor.currentTable() is None:
                air = QTextBlockFormat()
                air.setLineHeight(125.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
                cursor.mergeBlockFormat(air)
            pieces: Any = block  # iterating over a block gives its fragments
            for fragment in pieces:
                part = fragment.fragment()
                if part.charFormat().fontFixedPitch() or part.charFormat().hasProperty(
                    QTextFormat.Property.FontFixedPitch
                ):
                    cursor.setPosition(part.position())
                    cursor.setPosition(part.position() + part.length(), QTextCursor.MoveMode.KeepAnchor)
                    letters = QTextCharFormat()
                    letters.setFontFamilies([fixed.family()])
                    letters.setFontFixedPitch(True)
                    cursor.mergeCharFormat(letters)
            block = block.next()
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                grid = frame.format()
                grid.setCellPadding(5.0)
                grid.setCellSpacing(0.0)
                grid.setBorder(1.0)
                grid.setBorderCollapse(True)
                grid.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
                grid.setBorderBrush(QColor(look.border))
                grid.setTopMargin(6.0)
                grid.setBottomMargin(10.0)
                frame.setFormat(grid)

    def mark(self, words: list[str]) -> None:
        """Highlight words, and show the first place."""
        look = theme.current()
        marked: list[QTextEdit.ExtraSelection] = []
        for word in words:
            cursor = self.document().find(word, 0, QTextDocument.FindFlag(0))
            while not cursor.isNull():
                selection = QTextEdit.ExtraSelection()
                selection.cursor = cursor
                selection.format.setBackground(theme.mixed(look.warning, look.surface, 0.35))
                marked.append(selection)
                cursor = self.document().find(word, cursor)
        self.setExtraSelections(marked)
        if marked:
            first = min(marked, key=lambda selection: selection.cursor.position())
            cursor = QTextCursor(first.cursor)
            cursor.clearSelection()
            self.setTextCursor(cursor)
            self.ensureCursorVisible()


class HelpWindow(QWidget):
    """A window of its own, so that it can be read beside the application."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setObjectName("help_window")
        self.setWindowTitle("Help")
        self.topic = ""
        self._visited: list[str] = []
        self.search = QLineEdit()
        self.search.setObjectName("help_search")
        self.search.setPlaceholderText("Search all pages")
        self.search.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setObjectName("help_topics")
        self.list.setAccessibleName("Pages")
        self.none = QLabel("No page has these words.")
        self.none.setObjectName("help_nothing")
        self.none.setProperty("role", "muted")
        self.none.setWordWrap(True)
        self.none.hide()
        for topic in topics():
            item = QListWidgetItem(title(topic))
            item.setData(Qt.ItemDataRole.UserRole, topic)
            item.setSizeHint(QSize(0, 28))
            self.list.addItem(item)
        self.back = QToolButton()
        self.back.setObjectName("help_back")
        self.back.setToolTip("Back to the page before (Alt+Left)")
        self.back.setAccessibleName("Back")
        set_icon(self.back, "step_back")
        self.page = Page()
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(8, 8, 0, 8)
        head = QHBoxLayout()
        head.addWidget(self.back)
        head.addWidget(self.search, 1)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        column.addWidget(self.none)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(side)
        split.addWidget(self.page)
        split.setStretchFactor(1, 1)
        split.setSizes([220, 760])
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(split)
        self.resize(980, 700)

        self.list.currentItemChanged.connect(self._chosen)
        self.search.textChanged.connect(self._searched)
        self.page.anchorClicked.connect(self._followed)
        self.back.clicked.connect(self.go_back)
        for keys, call in (
            (QKeySequence("Alt+Left"), self.go_back),
            (QKeySequence(QKeySequence.StandardKey.Find), self._begin_search),
            (QKeySequence("Esc"), self.close),
        ):
            action = QAction(self)
            action.setShortcut(keys)
            action.triggered.connect(call)
            self.addAction(action)
        theme.changed().connect(self._theme_changed)
        self.open_topic(INDEX)

    def _theme_changed(self, _: object) -> None:
        self._show(self.topic)

    def open_topic(self, topic: str) -> None:
        """Show a page; one that does not exist is the index."""
        wanted = topic if topic in topics() else INDEX
        if self.topic and self.topic != wanted:
            self._visited.append(self.topic)
        self._show(wanted)

    def open_for(self, widget: QWidget | None) -> None:
        """Show the page about the panel that a widget is in."""
        self.search.clear()
        self.open_topic(topic_for(widget))
        self.show()
        self.raise_()
        self.activateWindow()

    def go_back(self) -> None:
        """The page before."""
        if self._visited:
            self._show(self._visited.pop())

    def _show(self, topic: str) -> None:
        self.topic = topic
        self.page.show_page(page(topic))
        self.page.mark(self.search.text().split())
        self.back.setEnabled(bool(self._visited))
        self.list.blockSignals(True)
        self.list.setCurrentRow(topics().index(topic))
        self.list.blockSignals(False)

    def _chosen(self, item: QListWidgetItem | None, _: QListWidgetItem | None) -> None:
        if item is not None:
            self.open_topic(item.data(Qt.ItemDataRole.UserRole))

    def _followed(self, url: QUrl) -> None:
        self.open_topic(Path(url.path()).stem)

    def _begin_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _searched(self, text: str) -> None:
        found = matching(text)
        for row, topic in enumerate(topics()):
            self.list.item(row).setHidden(topic not in found)
        self.none.setVisible(not found)
        if found and self.topic not in found:
            self.open_topic(found[0])
        else:
            self.page.mark(text.split())
