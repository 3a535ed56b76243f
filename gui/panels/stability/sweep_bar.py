"""The slider with which a number of the model is varied while its roots are watched."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QSlider,
    QToolButton,
    QWidget,
)

from ...document.document import Document
from ...fields.numbers import NumberEdit
from ...widgets import icons
from ...widgets.arranging import letters
from .variation import ElementNumber, Variation, variations

STEPS = 1000
WIDE, NARROW = 112, 80  # letters: below the first words give way, below the second the tab scrolls


class SweepBar(QWidget):
    """A parameter, its range, and a slider."""

    value_changed = Signal(float)
    variation_changed = Signal()
    locus_asked = Signal()
    locus_recolored = Signal()
    locus_dropped = Signal()
    apply_asked = Signal()
    refused = Signal(str)

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.choices: list[Variation] = []
        self.low, self.high, self.value = 0.0, 1.0, 0.0
        self._accepted: dict[Variation, float] = {}
        self._quiet = False

        self.parameter = QComboBox()
        self.parameter.setObjectName("sweep_parameter")
        self.parameter.setToolTip("The number to vary; type to search")
        self.parameter.setEditable(True)
        self.parameter.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.parameter.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.parameter.setMinimumContentsLength(12)
        completer, edit = self.parameter.completer(), self.parameter.lineEdit()
        assert completer is not None  # because it is editable
        assert edit is not None
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        edit.setPlaceholderText("Search a number of the model")

        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("sweep_slider")
        self.slider.setAccessibleName("Value of the parameter")
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(STEPS // 20)
        self.slider.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.slider.setMinimumWidth(40)
        self.edits = {name: NumberEdit() for name in ("low", "high", "value")}
        words = {"low": "Lowest value", "high": "Highest value", "value": "Value"}
        for name, edit in self.edits.items():
            edit.setObjectName(f"sweep_{name}")
            edit.setAccessibleName(words[name])
            edit.setToolTip(words[name])
            edit.setFixedWidth(16 + edit.fontMetrics().horizontalAdvance("0.00000"))
            edit.confirmed.connect(lambda _, name=name: self._typed(name))
            edit.escaped.connect(lambda name=name: self._show(name))
        self.unit = QLabel()
        self.unit.setProperty("role", "muted")
        self.locus = QToolButton()
        self.locus.setText("Root locus")
        self.locus.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.locus.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.locus.setMenu(self._locus_menu())
        self.locus.setObjectName("root_locus_button")
        self.locus.setToolTip("Follow the roots over the whole range, and find where stability is gained or lost")
        icons.set_icon(self.locus, "locus")
        self.apply = QPushButton("Apply")
        self.apply.setObjectName("sweep_apply")
        self.apply.setToolTip("Give the model this value (one step to undo)")

        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 8, 6)
        row.setSpacing(6)
        self._caption = QLabel("Vary")
        self._caption.setProperty("role", "muted")
        low, high, value = self.edits.values()
        stretches = {self.parameter: 1, self.slider: 2}
        for widget in (self._caption, self.parameter, low, self.slider, high, value, self.unit, self.apply, self.locus):
            row.addWidget(widget, stretches.get(widget, 0))
        self.setMinimumWidth(letters(self, NARROW))

        self.parameter.activated.connect(self._chosen)
        self.slider.valueChanged.connect(self._slid)
        self.locus.clicked.connect(self.locus_asked)
        self.apply.clicked.connect(self.apply_asked)
        document.replaced.connect(self._begin)
        document.structure_changed.connect(self.renew)
        document.units_changed.connect(self._dress)
        document.element_changed.connect(self._element_changed)
        self.renew()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room words are left away that tooltips and signs say as well."""
        super().resizeEvent(event)
        narrow = self.width() < letters(self, WIDE)
        if narrow is not self._caption.isHidden():
            styles = Qt.ToolButtonStyle
            self._caption.setHidden(narrow)
            self.locus.setToolButtonStyle(styles.ToolButtonIconOnly if narrow else styles.ToolButtonTextBesideIcon)

    def _locus_menu(self) -> QMenu:
        menu = QMenu(self)
        group = QActionGroup(menu)
        self.colors: dict[str, QAction] = {}
        for words, key in (("Colour by parameter", "parameter"), ("Colour by branch", "branch")):
            self.colors[key] = action = menu.addAction(words)
            action.setCheckable(True)
            action.setChecked(key == "parameter")
            group.addAction(action)
            action.triggered.connect(lambda _=False: self.locus_recolored.emit())
        menu.addSeparator()
        self.remove_locus = menu.addAction("Remove the root locus", self.locus_dropped.emit)
        self.remove_locus.setEnabled(False)
        return menu

    @property
    def color_by(self) -> str:
        """What the colours of a root locus mean: "parameter" or "branch"."""
        return next(key for key, action in self.colors.items() if action.isChecked())

    def set_locus_shown(self, shown: bool) -> None:
        """Whether there is a root locus to remove."""
        self.remove_locus.setEnabled(shown)

    # --- what can be varied ------------------------------------------------------------------------------------------

    @property
    def variation(self) -> Variation | None:
        """What is varied."""
        place = self.parameter.currentIndex()
        return self.choices[place] if 0 <= place < len(self.choices) else None

    @property
    def changed(self) -> bool:
        """Whether the slider is away from the value in the model."""
        variation = self.variation
        return variation is not None and self.value != self._model_value(variation)

    @property
    def words(self) -> str:
        """The parameter with its unit, for axes."""
        if self.variation is None:
            return "parameter"
        unit = self.document.units.label(self.variation.unit)
        return f"{self.variation.label} ({unit})" if unit else self.variation.label

    @property
    def factor(self) -> float:
        """How many shown units make one SI unit."""
        return self.document.units.factor(self.variation.unit) if self.variation is not None else 1.0

    def _begin(self) -> None:
        """There is another model."""
        self._accepted.clear()
        self.choices = []
        self.renew()

    def renew(self) -> None:
        """List what can be varied in the model; what was chosen stays if it is still there."""
        before = self.variation
        self.choices = variations(self.document.system, self.document.example, self.document.arguments)
        self.parameter.blockSignals(True)
        self.parameter.clear()
        self.parameter.addItems([choice.label for choice in self.choices])
        self.parameter.setCurrentIndex(
            self.choices.index(before) if before in self.choices else min(0, len(self.choices) - 1)
        )
        self.parameter.blockSignals(False)
        self.setEnabled(bool(self.choices))
        if self.variation != before:
            self._chosen()

    def choose(self, variation: Variation) -> None:
        """Vary something else."""
        self.parameter.setCurrentIndex(self.choices.index(variation))
        self._chosen()

    def set_range(self, low: float, high: float) -> None:
        """Another range, SI."""
        self.low, self.high = low, high
        self._show("low", "high", "value")
        self._move_slider()

    def set_value(self, value: float) -> None:
        """Another value, SI, as if it were dragged there; the range grows if it must."""
        self.low, self.high = min(self.low, value), max(self.high, value)
        self.value = value
        self._show("low", "high", "value")
        self._move_slider()
        self.value_changed.emit(value)

    def accept(self) -> None:
        """The value has become that of the model."""
        if self.variation is not None:
            self._accepted[self.variation] = self.value

    def _chosen(self, _: int = 0) -> None:
        variation = self.variation
        if variation is not None:
            self.low, self.high = variation.bounds(self.document.system)
            self.value = self._model_value(variation)
            self._dress()
            self._move_slider()
        self.variation_changed.emit()

    def _model_value(self, variation: Variation) -> float:
        found = variation.value(self.document.system)
        return float(found if isinstance(variation, ElementNumber) else self._accepted.get(variation, found))

    def _element_changed(self, element: Any, name: str) -> None:
        """The model's own value changed: show it."""
        variation = self.variation
        if not isinstance(variation, ElementNumber) or variation.parameter != name:
            return
        if variation.owner(self.document.system) is element:
            self.value = self._model_value(variation)
            self.low, self.high = min(self.low, self.value), max(self.high, self.value)
            self._show("low", "high", "value")
            self._move_slider()

    # --- slider and fields -------------------------------------------------------------------------------------------

    def _slid(self, place: int) -> None:
        if self._quiet:
            return
        self.value = self.low + (self.high - self.low) * place / STEPS
        self._show("value")
        self.value_changed.emit(self.value)

    def _move_slider(self) -> None:
        self._quiet = True
        span = self.high - self.low
        self.slider.setValue(round(STEPS * (self.value - self.low) / span) if span > 0.0 else 0)
        self._quiet = False

    def _typed(self, name: str) -> None:
        edit = self.edits[name]
        try:
            value = edit.read()
            if value is None:
                raise ValueError("the field is empty; write a number")
            low, high = (value if name == end else getattr(self, end) for end in ("low", "high"))
            if not low < high:
                raise ValueError("the lowest value must be below the highest")
        except ValueError as error:
            edit.setProperty("invalid", True)
            edit.style().polish(edit)
            self.refused.emit(str(error))
            return
        edit.setProperty("invalid", False)
        edit.style().polish(edit)
        self.refused.emit("")
        if name == "value":
            self.set_value(value)
        else:
            setattr(self, name, value)
            self.set_range(self.low, self.high)
            if not self.low <= self.value <= self.high:
                self.set_value(min(max(self.value, self.low), self.high))

    def _dress(self) -> None:
        unit = self.variation.unit if self.variation is not None else ""
        self.unit.setText(self.document.units.label(unit))
        for edit in self.edits.values():
            edit.set_unit(unit, self.document.units)
        self._show("low", "high", "value")

    def _show(self, *names: str) -> None:
        for name in names:
            edit = self.edits[name]
            edit.setProperty("invalid", False)
            edit.style().polish(edit)
            edit.set_value(getattr(self, name))
