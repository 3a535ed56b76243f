"""The page of the inspector for elements of one class: header, a row for each parameter, what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

import mbframe as mb
from mbframe.controllers.sight import seeable
from mbframe.parameters import Element, Parameter

from ...base.kinds import icon_name
from ...base.names import one_line
from ...base.words import class_label, first_sentence, parameter_label, unit_label
from ...document.document import Document
from ...fields import Field, Surroundings, field_for
from ...fields.base import mark, sentence
from ...fields.numbers import readable
from ...fields.texts import TextEdit
from ...widgets.icons import pixmap, set_icon
from ...widgets.labels import ProblemLabel
from ...widgets.theme import changed as theme_changed
from ...widgets.theme import current as current_theme
from .editing import check, derived_numbers, is_editable, is_fixed, is_possible, reason, with_following

ADVANCED: Final = ("frame",)
"""Parameters that few people need: they are folded away."""
FIRST: Final = ("mass", "center_of_mass", "inertia")
LAST: Final = ("shapes",)


def _place(name: str) -> int:
    """Rank of a parameter; equal ones keep the order of their declaration."""
    return -1 if name in FIRST else int(name in LAST)


class Row(QWidget):
    """A parameter: its label, field, unit and way back to the default; help and problem below."""

    def __init__(self, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        parameter = field.parameter
        self.field = field
        self.setObjectName(f"row_{parameter.name}")
        symbol = parameter.help if len(parameter.help) <= 3 else ""  # "k" explains nothing that needs a line
        self.label = QLabel(f"{parameter_label(parameter.name)} {symbol}".rstrip(), self)
        self.label.setBuddy(field)
        self.unit = QLabel(field.unit, self)
        self.unit.setObjectName(f"unit_{parameter.name}")
        self.unit.setProperty("role", "muted")
        self.unit.setVisible(bool(field.unit))
        self.reset = QToolButton(self)
        self.reset.setObjectName(f"reset_{parameter.name}")
        self.reset.setToolTip("Back to the default")
        self.reset.setProperty("role", "small")
        set_icon(self.reset, "undo", "muted")
        kept = self.reset.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(kept)
        label = self.label.text().casefold()
        says_more = not symbol and parameter.help.casefold() not in (parameter.name.replace("_", " "), label)
        self.help = QLabel(sentence(parameter.help), self)
        self.help.setProperty("role", "caption")
        self.help.setWordWrap(True)
        self.help.setVisible(bool(parameter.help) and says_more)
        self.problem = ProblemLabel(f"problem_{parameter.name}", self)
        tip = f"{sentence(parameter.help)}\nAllowed is {parameter.allowed()}.".strip()
        for widget in (self.label, self.unit, self.help):
            widget.setToolTip(tip)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        line = QHBoxLayout()
        line.setSpacing(6)
        line.addWidget(self.label)
        if field.wide:
            line.addStretch(1)
            line.addWidget(self.unit)
            line.addWidget(self.reset)
            layout.addLayout(line)
            layout.addWidget(field)
        else:
            self.label.setMinimumWidth(88)
            line.addWidget(field, 1)
            line.addWidget(self.unit)
            line.addWidget(self.reset)
            layout.addLayout(line)
        layout.addWidget(self.problem)
        layout.addWidget(self.help)
        self.reset.clicked.connect(field.reset)
        field.problem_changed.connect(self.problem.say)

    def show_value(self, value: Any) -> None:
        """Show a stored value."""
        self.field.show_value(value)
        self.reset.setVisible(self.field.resettable and self.field.isEnabled())


class ElementPage(QWidget):
    """The parameters of an element; another one of the same class can be shown in its place.

    Parameters
    ----------
    document
        What the element belongs to, and is changed through.
    element
        The first element to show.
    """

    def __init__(self, document: Document, element: Element, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector_page")
        self.document, self.element = document, element
        self.rows: dict[str, Row] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(12, 12, 12, 12)
        self._layout.setSpacing(12)
        self._build_header(type(element))
        self._build_rows(element)
        self._derived = QWidget(self)
        self._numbers: dict[str, QLabel] = {}
        self._layout.addWidget(self._derived)
        theme_changed().connect(self._recolor)
        self.show_element(element)

    # --- building ----------------------------------------------------------------------------------------------------

    def _build_header(self, cls: type) -> None:
        self._icon = QLabel(self)
        kind = QLabel(class_label(cls), self)
        kind.setObjectName("inspector_kind")
        kind.setProperty("role", "heading")
        kind.setToolTip(first_sentence(cls))
        top = QHBoxLayout()
        top.setSpacing(8)
        top.addWidget(self._icon)
        top.addWidget(kind, 1)
        self.name = TextEdit(self)
        self.name.setObjectName("inspector_name")
        self.name.setToolTip("Name: must differ from that of every other element")
        self.name.typed.connect(self._check_name)
        self.name.confirmed.connect(self._rename)
        self.name.escaped.connect(self._show_name)
        self.name_problem = ProblemLabel("problem_name", self)
        about = QLabel(first_sentence(cls), self)
        about.setProperty("role", "caption")
        about.setWordWrap(True)
        block = QVBoxLayout()
        block.setSpacing(3)
        for widget in (self.name, self.name_problem, about):
            block.addWidget(widget)
        self._layout.addLayout(top)
        self._layout.addLayout(block)

    def _build_rows(self, element: Element) -> None:
        dimension = self.document.system.dimension
        surroundings = Surroundings(self.document.units, self._candidates, self.document.scale)
        advanced: list[Row] = []
        for name, parameter in sorted(element.parameters().items(), key=lambda entry: _place(entry[0])):
            if not is_editable(element, name):
                continue
            row = self._row(parameter.of(dimension), surroundings)
            row.field.setEnabled(not is_fixed(element, name))
            self.rows[name] = row
            if name in ADVANCED:
                advanced.append(row)
            else:
                self._layout.addWidget(row)
        if advanced:
            self._build_folded(advanced)

    def _row(self, parameter: Parameter, surroundings: Surroundings) -> Row:
        field, name = field_for(parameter, surroundings, self), parameter.name
        field.checker = lambda value: check(self.element, name, value)
        field.committed.connect(lambda value, gesture: self._commit(name, value, gesture))
        return Row(field, self)

    def _build_folded(self, rows: Sequence[Row]) -> None:
        header = QPushButton("More", self)
        header.setObjectName("inspector_more")
        header.setCheckable(True)
        header.setProperty("role", "fold")
        set_icon(header, "chevron_right", "muted")
        self._layout.addWidget(header)
        for row in rows:
            row.hide()
            self._layout.addWidget(row)

        def unfold(opened: bool) -> None:
            set_icon(header, "chevron_down" if opened else "chevron_right", "muted")
            for row in rows:
                row.setVisible(opened)

        header.toggled.connect(unfold)

    # --- showing -----------------------------------------------------------------------------------------------------

    def show_element(self, element: Element) -> None:
        """Show an element of the class."""
        self.element = element
        self.name.setReadOnly(element is self.document.system.ground)
        self._show_name()
        for name, row in self.rows.items():
            row.show_value(getattr(element, name))
        self._show_possible()
        self._show_derived()
        self._recolor()

    def show_parameter(self, element: Element, name: str) -> None:
        """Bring a parameter up to date; those of other elements may change what follows from this one's."""
        if element is self.element and name in self.rows:
            self.rows[name].show_value(getattr(element, name))
            self._show_possible()
        if self._numbers:
            self._show_derived()

    def _show_possible(self) -> None:
        for name, row in self.rows.items():
            if name not in ADVANCED:
                row.setVisible(is_possible(self.element, name))

    def show_names(self) -> None:
        """Elements came, went or have other names."""
        self._show_name()
        for name, row in self.rows.items():
            if row.field.parameter.kind in ("reference", "seen"):
                row.show_value(getattr(self.element, name))
        self._show_derived()

    def _show_derived(self) -> None:
        numbers, units = derived_numbers(self.element), self.document.units
        if list(self._numbers) != [label for label, _, _ in numbers]:
            self._build_derived([label for label, _, _ in numbers])
        for label, values, unit in numbers:
            size = max([self.document.scale(unit), *(abs(float(value)) for value in values)])
            text = ", ".join(readable(*units.to_display(np.array([value, size]), unit)) for value in values)
            self._numbers[label].setText(f"{text} {unit_label(units.label(unit))}".strip())

    def _build_derived(self, labels: list[str]) -> None:
        former, self._derived = self._derived, QWidget(self)
        self._layout.replaceWidget(former, self._derived)
        former.hide()
        former.deleteLater()
        self._numbers = {}
        form = QFormLayout(self._derived)
        form.setContentsMargins(0, 0, 0, 0)
        if labels:
            title = QLabel("Follows from these", self._derived)
            title.setProperty("role", "section")
            form.addRow(title)
        for label in labels:
            text = QLabel(label, self._derived)
            text.setProperty("role", "muted")
            value = QLabel(self._derived)
            value.setObjectName(f"derived_{label.lower().replace(' ', '_')}")
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            value.setWordWrap(True)
            form.addRow(text, value)
            self._numbers[label] = value
        self._derived.show()

    def _recolor(self, _: object = None) -> None:
        picture = icon_name(self.element)
        self._icon.setPixmap(pixmap(picture, 24, current_theme().accent, self.devicePixelRatioF()))

    def _candidates(self, parameter: Parameter, current: Any) -> list[Any]:
        """Elements that a reference may be changed to: those of the family of what it refers to now; names to see."""
        if parameter.kind == "seen":
            own = getattr(self.element, "signals", {})
            return [name for name in seeable(self.document.system) if name not in own]
        families = (mb.Body, mb.Joint, mb.Measure, mb.ForceElement, mb.BasicConstraint)
        family = next((f for f in families if isinstance(current, f)), mb.Body)
        if parameter.name in ("body_i", "body_j"):
            family = mb.Body
        return [e for e in self.document.system if isinstance(e, family) and e is not self.element]

    # --- changing ----------------------------------------------------------------------------------------------------

    def _commit(self, name: str, value: Any, gesture: object) -> None:
        try:
            self.document.set(self.element, gesture=gesture, **with_following(self.element, name, value))
        except mb.ModelError as error:
            self.rows[name].field.refuse(reason(error, name))

    def _check_name(self) -> None:
        text, element, system = self._typed_name(), self.element, self.document.system
        if not text.strip():
            self._say_name("A name cannot be empty.")
        elif text != element.name and element is not system and text in system:
            self._say_name(f"“{text}” is the name of another element; choose another.")
        else:
            self._say_name("")

    def _rename(self) -> None:
        try:
            self.document.rename(self.element, self._typed_name())
        except mb.ModelError as error:
            self._check_name()
            if not self.name_problem.text():
                self._say_name(sentence(reason(error, "name")))
        else:
            self._show_name()

    def _typed_name(self) -> str:
        """What stands in the field; the name itself where only its characters are shown otherwise."""
        text = self.name.text().strip()
        return self.element.name if text == one_line(self.element.name) else text

    def _show_name(self) -> None:
        self.name.show_text(one_line(self.element.name))
        self._say_name("")

    def _say_name(self, problem: str) -> None:
        mark(self.name, bool(problem))
        self.name_problem.say(problem)
