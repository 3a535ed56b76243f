"""The line above the plots: the verdict, what it means, critical values; and about which state to linearize."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from mbframe.analysis.linear.root_words import NOT_DETERMINED, VERDICTS, Roots

from ...widgets import icons, theme
from ...widgets.arranging import letters
from ...widgets.labels import ElidedLabel, explanation
from .tasks import DESCRIBED, EQUILIBRIUM, SHOWN, STEADY, About, LocusFound

ABOUT = (
    (DESCRIBED, "the described state"),
    (SHOWN, "the state at the current time"),
    (EQUILIBRIUM, "the nearest equilibrium"),
    (STEADY, "the nearest steady motion"),
)
VERDICT_COLORS = {"stable": "good", "marginal": "warning", "unstable": "bad", NOT_DETERMINED: "warning"}
CHIP = 16  # pixels of a critical value beside its text
WIDE, NARROW = 130, 100  # letters; headings that are narrower save room, first with signs, then with the state
LONG_ABOUT, SHORT_ABOUT = 17, 9  # letters of the state that are seen, at least
EXPLANATION = (
    "Roots tell what becomes of a small disturbance of an equilibrium or a steady motion: whether it dies out or "
    "grows, how fast, and with which frequency. Click a root to see its motion; move a slider to see the roots change."
)


class AboutChoice(QComboBox):
    """The states about which to linearize."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName("Linearize about")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(LONG_ABOUT)
        for kind, words in ABOUT:
            self.addItem(words, kind)

    def show_kind(self, kind: str) -> None:
        """Show a kind of state; one that cannot be chosen here follows from the described state."""
        self.setCurrentIndex(max(0, self.findData(kind)))


class EmptyPage(QWidget):
    """Empty page of the tab: what it is for, and one button."""

    asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.about = AboutChoice("linearize_about_first")
        self.about.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)  # there is room for all words
        self.button = QPushButton("Linearize")
        self.button.setObjectName("linearize_first")
        self.button.setProperty("primary", True)
        icons.set_icon(self.button, "stability", "accent_text")
        self.button.clicked.connect(lambda: self.asked.emit(self.about.currentData()))
        row = QHBoxLayout()
        row.addStretch(1)
        for widget in (self.button, _muted(QLabel("about")), self.about):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(explanation(EXPLANATION), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(10)
        column.addLayout(row)
        column.addStretch(1)

    def set_busy(self, busy: bool) -> None:
        """Whether roots are being computed."""
        self.button.setText("Linearizing…" if busy else "Linearize")


class CriticalValues(QWidget):
    """The values at which stability changes, to go there; their kinds are left to tooltips where there is no room."""

    chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("critical_values")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._words = _muted(ElidedLabel(lines=2))
        self._chips: dict[QPushButton, tuple[str, str]] = {}
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(2)
        self._row.addWidget(self._words)
        self._row.addStretch(1)

    def show_values(self, found: LocusFound, unit: str, factor: float) -> None:
        """List critical values; `factor` shown units make one SI unit."""
        for chip in self._chips:
            self._row.removeWidget(chip)
            chip.deleteLater()
        self._chips = {}
        self._words.setText("Stability changes at" if found.critical else "Stability does not change in this range.")
        for number, critical in enumerate(found.critical):
            at = f"{critical.value * factor:.4g} {unit}".strip()
            chip = QPushButton()
            chip.setObjectName(f"critical_{number}")
            chip.setProperty("link", True)
            what = f"a vibration of {critical.frequency:.3g} Hz" if critical.kind == "Hopf" else "an aperiodic motion"
            chip.setToolTip(f"{critical.kind}: above {at} {what} {critical.direction}. Click to go there.")
            chip.clicked.connect(lambda _=False, value=critical.value: self.chosen.emit(value))
            self._row.insertWidget(self._row.count() - 1, chip)
            self._chips[chip] = (at, critical.kind)
        self._save_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._save_room()

    def _save_room(self) -> None:
        advance = self.fontMetrics().horizontalAdvance
        needed = advance("changes at") + sum(advance(f"{at} {kind}") + CHIP for at, kind in self._chips.values())
        for chip, (at, kind) in self._chips.items():
            chip.setText(f"{at} {kind}" if needed <= self.width() else at)


class Heading(QWidget):
    """Verdict and reference state."""

    asked = Signal(str)
    """Linearize about a kind of state."""
    turn_asked = Signal(float)
    """Linearize about a steady turn with a rate, rad/s."""
    cancelled = Signal()
    critical_chosen = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.verdict = QLabel()
        self.verdict.setObjectName("stability_verdict")
        self.sentence = _muted(ElidedLabel(lines=2))
        self.sentence.setObjectName("stability_sentence")
        self.middle = QStackedWidget()  # a sentence, the progress of a root locus, or its critical values
        self.middle.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.critical = CriticalValues()
        for widget in (self.sentence, self._progress_row(), self.critical):
            self.middle.addWidget(widget)
        self.about = AboutChoice("linearize_about")
        self.button = QPushButton("Linearize")
        self.button.setObjectName("linearize")
        icons.set_icon(self.button, "refresh")
        self.button.setToolTip("Linearize again: compute the roots anew")
        self.button.setAccessibleName("Linearize")
        words = "Find the nearest equilibrium and linearize there"
        self.find_equilibrium = _tool("find_equilibrium", "equilibrium", words)
        self.find_steady = _tool("find_steady", "steady", "Find the nearest steady motion and linearize there")
        self.find_steady.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        menu = QMenu(self.find_steady)
        menu.addAction("The nearest one", lambda: self.asked.emit(STEADY))
        self.steady_turn = menu.addAction("With a given rate of turn…", self._ask_for_turn)
        self.find_steady.setMenu(menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 5, 8, 3)
        row.setSpacing(6)
        row.addWidget(self.verdict)
        row.addWidget(self.middle, 1)
        self._preposition = _muted(QLabel("about"))
        for widget in (self.button, self._preposition, self.about, self.find_equilibrium, self.find_steady):
            row.addWidget(widget)
        self.button.clicked.connect(lambda: self.asked.emit(self.about.currentData()))
        self.about.activated.connect(lambda _: self.asked.emit(self.about.currentData()))
        self.find_equilibrium.clicked.connect(lambda: self.asked.emit(EQUILIBRIUM))
        self.find_steady.clicked.connect(lambda: self.asked.emit(STEADY))
        self.critical.chosen.connect(self.critical_chosen)
        self.middle.currentChanged.connect(lambda _: self._save_room())
        self._word = ""
        theme.changed().connect(self._dress)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._save_room()

    def _save_room(self) -> None:
        """Where there is little room, or much to say, the words have it, and Linearize is a sign."""
        little = self.width() < letters(self, WIDE)
        self.about.setMinimumContentsLength(SHORT_ABOUT if self.width() < letters(self, NARROW) else LONG_ABOUT)
        narrow = little or self.middle.currentWidget() is self.critical
        if narrow is not self._preposition.isHidden():
            self._preposition.setHidden(narrow)
            self.button.setText("" if narrow else "Linearize")

    def _progress_row(self) -> QWidget:
        self.progress = QProgressBar()
        self.progress.setObjectName("locus_progress")
        self.progress.setRange(0, 100)
        self.progress.setFormat("Root locus %p %")
        self.progress.setMaximumHeight(18)
        self.cancel = QPushButton("Cancel")
        self.cancel.setObjectName("locus_cancel")
        self.cancel.clicked.connect(self.cancelled)
        self.waiting = QWidget()
        row = QHBoxLayout(self.waiting)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.progress, 1)
        row.addWidget(self.cancel)
        return self.waiting

    def _ask_for_turn(self) -> None:
        words = "Rate of turn about the vertical, rad/s (0: straight on):"
        rate, given = QInputDialog.getDouble(self, "Steady motion", words, 0.2, -1e3, 1e3, 4)
        if given:
            self.turn_asked.emit(rate)

    # --- what it says -------------------------------------------------------------------------------------------------

    def show_about(self, about: About) -> None:
        """Show the reference state."""
        self.about.show_kind(about.kind)

    def show_verdict(self, roots: Roots) -> None:
        """Say whether the model is stable."""
        self._word, sentence = roots.verdict
        self.verdict.setText(VERDICTS[self._word].capitalize())
        self.verdict.setToolTip(sentence)
        self.sentence.setText(sentence)
        self._dress()

    def show_sentence(self) -> None:
        """Show what the verdict means, in the place of progress or critical values."""
        self.middle.setCurrentWidget(self.sentence)

    def show_progress(self, fraction: float, _: Any = None) -> None:
        """Show how far a root locus is."""
        self.progress.setValue(round(100 * fraction))
        self.middle.setCurrentWidget(self.waiting)

    def show_critical(self, found: LocusFound, unit: str, factor: float) -> None:
        """List critical values; `factor` shown units make one SI unit."""
        self.critical.show_values(found, unit, factor)
        self.middle.setCurrentWidget(self.critical)

    def _dress(self, _: object = None) -> None:
        if not self._word:
            return
        look = theme.current()
        color = getattr(look, VERDICT_COLORS[self._word])
        ground = theme.mixed(color, look.surface, 0.14).name()
        self.verdict.setStyleSheet(
            f"color: {color}; background: {ground}; border-radius: 9px; padding: 2px 10px; font-weight: 600;"
        )


def _muted(label: Any) -> Any:
    label.setProperty("role", "muted")
    return label


def _tool(name: str, icon: str, words: str) -> QToolButton:
    button = QToolButton()
    button.setObjectName(name)
    button.setToolTip(words)
    button.setAccessibleName(words)
    icons.set_icon(button, icon)
    return button
