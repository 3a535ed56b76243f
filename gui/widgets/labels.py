"""Labels: those that need no more room than there is, say what is wrong, or explain an empty page."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolTip, QWidget

from ..base.names import unformatted
from .arranging import letters


class ElidedLabel(QLabel):
    """A text of one line or a few, which ends with an ellipsis where there is no room; a tooltip then has all of it."""

    def __init__(self, parent: QWidget | None = None, lines: int = 1) -> None:
        super().__init__(parent)
        self._lines = lines
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        more = (self._lines - 1) * self.fontMetrics().lineSpacing()
        return super().sizeHint() + QSize(0, more)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    @property
    def shown(self) -> list[str]:
        """The lines as they are painted."""
        return broken(self.text(), self.fontMetrics(), self.contentsRect().width(), self._lines)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        where = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(self.contentsRect(), where, "\n".join(self.shown))
        painter.end()

    def event(self, event: QEvent) -> bool:
        asked = event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent)
        if asked and not self.toolTip() and " ".join(self.shown) != self.text():
            QToolTip.showText(event.globalPos(), unformatted(self.text()), self)  # type: ignore[attr-defined]
            return True
        return super().event(event)


class WrappedLabel(ElidedLabel):
    """A text that takes as many lines as it needs, up to a number of them."""

    def __init__(self, parent: QWidget | None = None, lines: int = 2) -> None:
        super().__init__(parent, lines)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return QSize(letters(self, 40), self.fontMetrics().lineSpacing())

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return len(broken(self.text(), self.fontMetrics(), width, self._lines)) * self.fontMetrics().lineSpacing()


class ProblemLabel(QLabel):
    """Says in red what is wrong; there is nothing to see while nothing is."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setProperty("role", "bad")
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hide()

    def say(self, problem: str) -> None:
        """Show a problem; an empty text says that there is none."""
        self.setText(unformatted(problem))
        self.setVisible(bool(problem))


def broken(text: str, metrics: QFontMetrics, width: int, most: int) -> list[str]:
    """A text broken between words into lines of a width, as many as needed; of too many the last one is elided."""
    lines = [""]
    words = text.split()
    for number, word in enumerate(words):
        longer = f"{lines[-1]} {word}".strip()
        if metrics.horizontalAdvance(longer) <= width or not lines[-1]:
            lines[-1] = longer
        elif len(lines) < most:
            lines.append(word)
        else:
            lines[-1] = " ".join([lines[-1], *words[number:]])
            break
    # Qt would also elide a text that just fits, because its width is not a whole number.
    fits = [metrics.horizontalAdvance(line) <= width for line in lines]
    elided = [metrics.elidedText(line, Qt.TextElideMode.ElideRight, width) for line in lines]
    return [line if fit else shorter for line, fit, shorter in zip(lines, fits, elided, strict=True)]


def explanation(text: str) -> QLabel:
    """Purpose of a page without contents, in the middle of it."""
    label = QLabel(text)
    label.setProperty("role", "muted")
    label.setWordWrap(True)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setFixedWidth(max(520, letters(label, 70)))
    label.setMinimumHeight(4 * label.fontMetrics().lineSpacing())
    return label
