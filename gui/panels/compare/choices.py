"""Which methods to compare: boxes to tick, step sizes, end time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from mbframe.analysis.laboratory.methods import product_of

from ...base.words import class_label, first_sentence
from ...document.document import Document
from ...document.strategies import ROLES, strategies
from ...widgets import icons
from ...widgets.arranging import scrolled, stack

PRESELECTED: Final = (
    "AugmentedFormulation",
    "NoStabilization",
    "Baumgarte",
    "DirectCorrection",
    "RungeKutta4",
    "DormandPrince",
)
"""Ticked at first: how constraints are held is what methods differ in most."""
TOLERANCES: Final = (1e-5, 1e-7, 1e-9)
"""Of adaptive integrators, in the place of step sizes."""
STEPS: Final = "0.004, 0.002, 0.001"


@dataclass(frozen=True)
class Experiment:
    """Choices of methods to compare; `keywords` are those of `mbframe.compare`."""

    t_end: float
    keywords: dict[str, Any]

    @property
    def count(self) -> int:
        """How many methods that are: every combination with every step size or tolerance."""
        names = ("formulations", "accelerations", "stabilizations", "integrators", "steps")
        return len(product_of(*(self.keywords[name] for name in names)))


class CompareChoices(QWidget):
    """A column of boxes for each role, and below them the numbers and the button."""

    compare_asked = Signal()

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compare_choices")
        self.document = document
        self.boxes: dict[str, dict[type | None, QCheckBox]] = {}
        self.columns = QHBoxLayout()
        self.columns.setContentsMargins(12, 8, 12, 4)
        self.columns.setSpacing(18)
        inside = QWidget()
        inside.setLayout(self.columns)
        area = scrolled(inside)
        stack(self, area, self._numbers(), growing=area)
        self.renew()

    def _numbers(self) -> QHBoxLayout:
        self.t_end = _field("compare_t_end", "", "End of every run, s", 64)
        self.steps = _field("compare_steps", STEPS, "Step sizes of integrators with a fixed step, s, with commas", 150)
        self.repeats = QSpinBox()
        self.repeats.setObjectName("compare_repeats")
        self.repeats.setRange(1, 9)
        self.repeats.setValue(3)
        self.repeats.setToolTip("How often each method is run; the median of the times counts")
        self.repeats.setAccessibleName("Repeats")
        self.says = QLabel()
        self.says.setObjectName("compare_count")
        self.says.setProperty("role", "muted")
        self.button = QPushButton("Compare")
        self.button.setObjectName("compare_start")
        self.button.setProperty("primary", True)
        icons.set_icon(self.button, "compare", "accent_text")
        self.button.clicked.connect(self.compare_asked)
        for entry in (self.t_end, self.steps):
            entry.textChanged.connect(self._show_count)
            entry.returnPressed.connect(self.button.click)
        row = QHBoxLayout()
        row.setContentsMargins(12, 4, 12, 8)
        row.setSpacing(6)
        for label, widget, unit in (
            ("End", self.t_end, "s"),
            ("Steps", self.steps, "s"),
            ("Repeats", self.repeats, ""),
        ):
            row.addWidget(QLabel(label))
            row.addWidget(widget)
            row.addWidget(_muted(unit))
            row.addSpacing(8)
        row.addWidget(self.says, 1)
        row.addWidget(self.button)
        return row

    def renew(self) -> None:
        """There is another model: offer what can be used for it."""
        while (item := self.columns.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.boxes = {role: self._column(role) for role in ROLES}
        self.t_end.setText(f"{self.document.runs.settings.t_end:g}")
        self._show_count()

    def _column(self, role: str) -> dict[type | None, QCheckBox]:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3)
        label, as_it_is, means = ROLES[role]
        title = QLabel(label)
        title.setProperty("role", "section")
        column.addWidget(title)
        found: dict[type | None, QCheckBox] = {}
        choices: list[type | None] = list(strategies(role, self.document.system.dimension))
        if role == "formulation":
            choices.insert(0, None)
        for choice in choices:
            name = "AsDescribed" if choice is None else choice.__name__
            tick = QCheckBox(as_it_is if choice is None else class_label(choice))
            tick.setObjectName(f"compare_{name}")
            tick.setToolTip(means if choice is None else first_sentence(choice))
            tick.setChecked(choice is None or name in PRESELECTED)
            tick.toggled.connect(self._show_count)
            column.addWidget(tick)
            found[choice] = tick
        column.addStretch(1)
        self.columns.addWidget(box, 1, Qt.AlignmentFlag.AlignTop)
        return found

    # --- what is chosen ----------------------------------------------------------------------------------------------

    def experiment(self) -> Experiment:
        """What is chosen; a `ValueError` says in a sentence what is missing."""
        keywords: dict[str, Any] = {}
        for role, boxes in self.boxes.items():
            chosen = [choice for choice, box in boxes.items() if box.isChecked()]
            if not chosen:
                raise ValueError(f"Tick at least one box below {ROLES[role][0]}.")
            keywords[f"{role}s"] = [one for choice in chosen for one in _made(choice)]
        t_end = _positive(self.t_end.text())
        if t_end is None:
            raise ValueError("The end must be a time above zero, such as 5.")
        steps = [_positive(part) for part in self.steps.text().split(",")]
        if None in steps:
            raise ValueError("Steps must be times above zero with commas between them, such as 0.002, 0.001.")
        keywords |= {"steps": steps, "repeats": self.repeats.value()}
        return Experiment(t_end, keywords)

    def _show_count(self, *_: object) -> None:
        if len(self.boxes) < len(ROLES):
            return
        try:
            count = self.experiment().count
        except ValueError as error:
            self.says.setText(str(error))
            self.button.setEnabled(False)
            return
        self.says.setText("1 run" if count == 1 else f"{count} runs: every combination")
        self.button.setEnabled(bool(self.document.system.bodies))


def _made(choice: type | None) -> list[Any]:
    """Strategies of a class: one, or one for each tolerance of an integrator that adapts its steps."""
    if choice is None:
        return [None]
    if getattr(choice, "adaptive", False) and "rtol" in choice.parameters():  # type: ignore[attr-defined]
        return [choice(rtol=rtol) for rtol in TOLERANCES]
    return [choice()]


def _positive(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 < value < float("inf") else None


def _field(name: str, text: str, words: str, width: int) -> QLineEdit:
    entry = QLineEdit(text)
    entry.setObjectName(name)
    entry.setToolTip(words)
    entry.setAccessibleName(words)
    entry.setFixedWidth(width)
    return entry


def _muted(text: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", "muted")
    return label
