"""The start page: what can be opened, and all examples with pictures that are there at once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFont,
    QFontMetrics,
    QHideEvent,
    QImage,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb

from ..base.names import one_line
from ..base.settings import Settings
from ..base.showcase import Exhibit, exhibits
from ..widgets import theme
from ..widgets.flow_layout import FlowLayout
from ..widgets.icons import application_icon, icon, set_icon
from ..widgets.items import clear
from .card_motion import CardMotion

PICTURE: Final = 0.625
"""Height of a picture for a width of one."""
RADIUS: Final = 8.0
SIDE_WIDTH: Final = 250
MOST_RECENT: Final = 8


ARROWS: Final = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
"""Steps of the arrow keys between cards: columns to the right, rows down."""


class Card(QAbstractButton):
    """An example: picture, title, and a sentence. Return opens it."""

    entered = Signal()
    left = Signal()
    arrow_pressed = Signal(int, int)
    """Columns to the right and rows down to go."""

    def __init__(self, exhibit: Exhibit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.exhibit = exhibit
        self.setObjectName(f"card_{exhibit.name}")
        self.setAccessibleName(exhibit.title)
        self.setAccessibleDescription(exhibit.text)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._picture = QPixmap()
        self._pictured = ""
        self.motion: QImage | None = None
        """What is painted instead of the picture while its motion is played."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in ARROWS:
            self.arrow_pressed.emit(*ARROWS[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def picture_size(self) -> tuple[int, int]:
        """Width and height of its picture, in pixels of the screen."""
        width = self.width() * self.devicePixelRatioF()
        return max(1, round(width)), max(1, round(PICTURE * width))

    def show_motion(self, picture: QImage | None) -> None:
        """Paint a picture of the motion; None paints that of the card again."""
        self.motion = picture
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.entered.emit()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()

    def matches(self, words: str) -> bool:
        """Whether all words occur in the title or the text."""
        known = f"{self.exhibit.title} {self.exhibit.text} {self.exhibit.name}".casefold()
        return all(word in known for word in words.casefold().split())

    def sizeHint(self) -> QSize:
        return QSize(260, self.heightForWidth(260))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return round(PICTURE * width) + 24 + QFontMetrics(self._title_font()).height() + 2 * self.fontMetrics().height()

    def _title_font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        font.setPointSizeF(font.pointSizeF() * 1.08)
        return font

    def _loaded_picture(self) -> QPixmap:
        look = theme.current()
        if self._pictured != look.name:
            self._picture, self._pictured = QPixmap(str(self.exhibit.picture(look.name))), look.name
        return self._picture

    def paintEvent(self, event: QPaintEvent) -> None:
        look = theme.current()
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        frame = QRectF(self.rect()).adjusted(1.0, 1.0, -1.0, -1.0)
        outline = QPainterPath()
        outline.addRoundedRect(frame, RADIUS, RADIUS)
        painter.fillPath(outline, look.color("hover" if self.isDown() else "surface"))
        top = QRectF(frame.left(), frame.top(), frame.width(), PICTURE * frame.width())
        picture = self._loaded_picture()
        painter.setClipPath(outline)
        if self.motion is not None:
            painter.drawImage(top, self.motion)
        elif not picture.isNull():
            painter.drawPixmap(top, picture, QRectF(picture.rect()))
        painter.setClipping(False)
        marked = self.underMouse() or self.hasFocus()
        painter.setPen(QPen(look.color("accent" if marked else "border"), 2.0 if marked else 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)
        self._paint_words(painter, QRectF(frame.left() + 12.0, top.bottom() + 9.0, frame.width() - 24.0, 200.0))
        painter.end()

    def _paint_words(self, painter: QPainter, area: QRectF) -> None:
        look = theme.current()
        font = self._title_font()
        painter.setFont(font)
        painter.setPen(look.color("text"))
        height = QFontMetrics(font).height()
        painter.drawText(QRectF(area.left(), area.top(), area.width(), height), 0, self.exhibit.title)
        painter.setFont(self.font())
        painter.setPen(look.color("muted"))
        below = QRectF(area.left(), area.top() + height + 2.0, area.width(), 2.0 * self.fontMetrics().height())
        painter.drawText(below, Qt.TextFlag.TextWordWrap, self.exhibit.text)


class SearchField(QLineEdit):
    """Search for words that a card has to have: Return and Down go on to the cards."""

    open_asked = Signal()
    cards_asked = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open_asked.emit()
        elif event.key() == Qt.Key.Key_Down:
            self.cards_asked.emit()
        else:
            super().keyPressEvent(event)


class Gallery(QWidget):
    """The page that the application begins with."""

    example_chosen = Signal(str)
    file_chosen = Signal(object)
    new_chosen = Signal(int)
    open_chosen = Signal()

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("gallery")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.settings = settings
        self.cards = [Card(exhibit) for exhibit in exhibits()]
        self.motions = CardMotion(self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._side())
        layout.addWidget(self._examples(), 1)
        theme.changed().connect(self._repaint_cards)
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.motions.close()

    def draw_motions(self) -> None:
        """Play the motion of a card while the mouse rests on it: what draws is there now."""
        self.motions.enabled = mb.render.can_draw()

    def refresh(self) -> None:
        """Show the present list of recent files."""
        clear(self._recent)
        files = self.settings.recent_files()[:MOST_RECENT]
        self._recent_title.setVisible(bool(files))
        for path in files:
            self._recent.addWidget(self._recent_button(path))

    def _recent_button(self, path: Path) -> QPushButton:
        button = QPushButton(self)
        button.setProperty("link", True)
        button.setObjectName("recent_file")
        button.setToolTip(str(path))
        width = SIDE_WIDTH - 48
        button.setText(button.fontMetrics().elidedText(one_line(path.name), Qt.TextElideMode.ElideMiddle, width))
        button.clicked.connect(lambda: self.file_chosen.emit(path))
        return button

    # --- parts --------------------------------------------------------------------------------------------------------

    def _side(self) -> QWidget:
        side = QWidget(self)
        side.setObjectName("gallery_side")
        side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        side.setFixedWidth(SIDE_WIDTH)
        layout = QVBoxLayout(side)
        layout.setContentsMargins(18, 22, 18, 18)
        layout.setSpacing(8)
        head = QHBoxLayout()
        head.setSpacing(10)
        mark = QLabel(side)
        mark.setPixmap(application_icon().pixmap(QSize(40, 40)))
        name = QLabel("mbframe", side)
        name.setProperty("role", "title")
        head.addWidget(mark)
        head.addWidget(name, 1)
        layout.addLayout(head)
        line = QLabel("Mechanisms: build, move and understand them.", side)
        line.setProperty("role", "muted")
        line.setWordWrap(True)
        layout.addWidget(line)
        layout.addSpacing(10)
        for text, name_, call in (
            ("New model in space", "new", lambda: self.new_chosen.emit(3)),
            ("New model in the plane", "new", lambda: self.new_chosen.emit(2)),
            ("Open…", "open", self.open_chosen.emit),
        ):
            button = QPushButton(text, side)
            button.setObjectName(text.split("…")[0].lower().replace(" ", "_"))
            button.setProperty("action", True)
            button.setIconSize(QSize(20, 20))
            set_icon(button, name_)
            button.clicked.connect(call)
            layout.addWidget(button)
        layout.addSpacing(12)
        self._recent_title = QLabel("Recent", side)
        self._recent_title.setProperty("role", "section")
        layout.addWidget(self._recent_title)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(1)
        layout.addLayout(self._recent)
        layout.addStretch(1)
        drop = QLabel("Projects, models and results can also be dropped here.", side)
        drop.setProperty("role", "muted")
        drop.setWordWrap(True)
        layout.addWidget(drop)
        return side

    def _examples(self) -> QWidget:
        page = QWidget(self)
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(24, 22, 24, 8)
        words = QVBoxLayout()
        words.setSpacing(2)
        title = QLabel("Examples", page)
        title.setProperty("role", "heading")
        hint = QLabel("Each one opens with a motion that plays at once.", page)
        hint.setProperty("role", "muted")
        hint.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        words.addWidget(title)
        words.addWidget(hint)
        head.addLayout(words, 3)
        self.search = SearchField(page)
        self.search.setObjectName("gallery_search")
        self.search.setPlaceholderText("Search examples")
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(120)
        self.search.setMaximumWidth(260)
        glass = self.search.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        set_icon(glass, "search", "muted")
        self.search.textChanged.connect(self._filter)
        self.search.open_asked.connect(self._open_found)
        self.search.cards_asked.connect(self._go_to_cards)
        head.addWidget(self.search, 2)
        layout.addLayout(head)
        area = QScrollArea(page)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keyboard goes to its cards
        content = QWidget()
        content.setObjectName("gallery_cards")
        flow = FlowLayout(content)
        flow.setContentsMargins(24, 8, 24, 24)
        for card in self.cards:
            card.setParent(content)
            flow.addWidget(card)
            card.entered.connect(lambda card=card: self.motions.play(card))
            card.left.connect(self.motions.stop)
            card.clicked.connect(lambda _=False, name=card.exhibit.name: self.example_chosen.emit(name))
            card.arrow_pressed.connect(lambda x, y, card=card: self._go_on(card, x, y))
        self.nothing = QLabel("No example has these words. Clear the search to see all of them.", content)
        self.nothing.setProperty("role", "muted")
        self.nothing.hide()
        flow.addWidget(self.nothing)
        area.setWidget(content)
        self._area = area
        layout.addWidget(area, 1)
        return page

    def _go_on(self, card: Card, columns: int, rows: int) -> None:
        """Give the focus to the card beside one, or to the one that stands above or below it."""
        shown = [one for one in self.cards if one.isVisible()]
        if rows:
            beyond = [one for one in shown if (one.y() - card.y()) * rows > 0]
            found = min(beyond, key=lambda one: (abs(one.y() - card.y()), abs(one.x() - card.x())), default=card)
        else:
            found = shown[min(max(shown.index(card) + columns, 0), len(shown) - 1)]
        found.setFocus(Qt.FocusReason.TabFocusReason)
        self._area.ensureWidgetVisible(found)

    def _open_found(self) -> None:
        """Open the first card that has the words of the search, if there are any."""
        if self.search.text().strip() and (card := self._first_shown()) is not None:
            card.click()

    def _go_to_cards(self) -> None:
        """Give the focus to the first card that is shown."""
        if (card := self._first_shown()) is not None:
            card.setFocus(Qt.FocusReason.TabFocusReason)
            self._area.ensureWidgetVisible(card)

    def _first_shown(self) -> Card | None:
        return next((card for card in self.cards if card.isVisible()), None)

    def _filter(self, words: str) -> None:
        for card in self.cards:
            card.setVisible(card.matches(words))
        self.nothing.setVisible(not any(card.matches(words) for card in self.cards))

    def _repaint_cards(self, _: object) -> None:
        for card in self.cards:
            card.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.updateGeometry()
