"""The inspector: the parameters of what is selected, generated from their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb
from mbframe.parameters import Element, Parameter

from .document import Document
from .editing import check, derived_numbers, is_editable, is_fixed, reason, with_following
from .fields import Field, Surroundings, field_for
from .fields.base import mark, sentence
from .fields.numbers import TextEdit, short
from .icons import pixmap, set_icon
from .kinds import icon_name
from .theme import changed as theme_changed
from .theme import current as current_theme
from .words import class_label, first_sentence, parameter_label, unit_label

ADVANCED: Final = ("frame",)
"""Parameters that few people need: they are folded away."""
FIRST: Final = ("mass", "center_of_mass", "inertia")
LAST: Final = ("shapes",)


def _place(name: str) -> int:
    """Where a parameter stands; equal ones keep the order of their declaration."""
    return -1 if name in FIRST else int(name in LAST)


class Row(QWidget):
    """A parameter: its label, field, unit and way back to the default; help and problem below."""

    def __init__(self, field: Field, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        parameter = field.parameter
        self.field = field
        self.setObjectName(f"row_{parameter.name}")
        self.label = QLabel(parameter_label(parameter.name), self)
        self.label.setBuddy(field)
        self.unit = QLabel(field.unit, self)
        self.unit.setObjectName(f"unit_{parameter.name}")
        self.unit.setProperty("role", "muted")
        self.reset = QToolButton(self)
        self.reset.setObjectName(f"reset_{parameter.name}")
        self.reset.setToolTip("Back to the default")
        self.reset.setProperty("role", "small")
        set_icon(self.reset, "undo", "muted")
        kept = self.reset.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.reset.setSizePolicy(kept)
        says_more = parameter.help.casefold() not in (parameter.name.replace("_", " "), self.label.text().casefold())
        self.help = QLabel(sentence(parameter.help), self)
        self.help.setProperty("role", "caption")
        self.help.setWordWrap(True)
        self.help.setVisible(bool(parameter.help) and says_more)
        self.problem = QLabel(self)
        self.problem.setObjectName(f"problem_{parameter.name}")
        self.problem.setProperty("role", "bad")
        self.problem.setWordWrap(True)
        self.problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem.hide()
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
        field.problem_changed.connect(self._show_problem)

    def show_value(self, value: Any) -> None:
        """Show a stored value."""
        self.field.show_value(value)
        self.reset.setVisible(self.field.resettable and self.field.isEnabled())

    def _show_problem(self, problem: str) -> None:
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))


class Inspector(QScrollArea):
    """Shows what is selected in a document, or the settings of the system, and changes it through the document."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(260)
        self.document = document
        self.element: Element | None = None
        self.rows: dict[str, Row] = {}
        self._derived: list[QLabel] = []
        self._icon = QLabel(self)
        document.selection_changed.connect(self._show_chosen)
        document.replaced.connect(self._show_chosen)
        document.structure_changed.connect(self._on_structure)
        document.element_changed.connect(self._on_changed)
        document.units_changed.connect(self._show_chosen)
        theme_changed().connect(self._recolor)
        self._show_chosen()

    def _show_chosen(self, _: object = None) -> None:
        self.show_element(self._chosen())

    def _chosen(self) -> Element:
        return self.document.selection or self.document.system

    # --- building ----------------------------------------------------------------------------------------------------

    def show_element(self, element: Element) -> None:
        """Show the parameters of an element."""
        self.element = element
        self.rows = {}
        page = QWidget(self)
        page.setObjectName("inspector_page")
        self._page = QVBoxLayout(page)
        self._page.setContentsMargins(12, 12, 12, 12)
        self._page.setSpacing(12)
        self._build_header(element)
        dimension = self.document.system.dimension
        surroundings = Surroundings(self.document.units, self._candidates)
        advanced: list[Row] = []
        for name, parameter in sorted(element.parameters().items(), key=lambda entry: _place(entry[0])):
            if not is_editable(element, name):
                continue
            row = self._row(element, parameter.of(dimension), surroundings)
            if name in ADVANCED:
                advanced.append(row)
            else:
                self._page.addWidget(row)
        if advanced:
            self._build_folded(advanced)
        self._build_derived(element)
        self._page.addStretch(1)
        self.setWidget(page)  # the former page is deleted

    def _build_header(self, element: Element) -> None:
        top = QHBoxLayout()
        top.setSpacing(8)
        self._icon = QLabel(self)
        top.addWidget(self._icon)
        kind = QLabel(class_label(type(element)), self)
        kind.setObjectName("inspector_kind")
        kind.setProperty("role", "heading")
        kind.setToolTip(first_sentence(type(element)))
        top.addWidget(kind, 1)
        self._page.addLayout(top)
        self.name = TextEdit(self)
        self.name.setObjectName("inspector_name")
        self.name.show_text(element.name)
        self.name.setReadOnly(element is self.document.system.ground)
        self.name.setToolTip("Name: must differ from that of every other element")
        self.name.typed.connect(self._check_name)
        self.name.confirmed.connect(self._rename)
        self.name.escaped.connect(lambda: self._show_name(""))
        self.name_problem = QLabel(self)
        self.name_problem.setObjectName("problem_name")
        self.name_problem.setProperty("role", "bad")
        self.name_problem.setWordWrap(True)
        self.name_problem.hide()
        block = QVBoxLayout()
        block.setSpacing(3)
        block.addWidget(self.name)
        block.addWidget(self.name_problem)
        about = QLabel(first_sentence(type(element)), self)
        about.setProperty("role", "caption")
        about.setWordWrap(True)
        block.addWidget(about)
        self._page.addLayout(block)
        self._recolor(None)

    def _row(self, element: Element, parameter: Parameter, surroundings: Surroundings) -> Row:
        field = field_for(parameter, surroundings, self)
        name = parameter.name
        field.checker = lambda value: check(element, name, value)
        field.committed.connect(lambda value, gesture: self._commit(element, name, value, gesture))
        field.setEnabled(not is_fixed(element, name))
        row = Row(field, self)
        row.show_value(getattr(element, name))
        self.rows[name] = row
        return row

    def _build_folded(self, rows: Sequence[Row]) -> None:
        header = QPushButton("More", self)
        header.setObjectName("inspector_more")
        header.setCheckable(True)
        header.setProperty("role", "fold")
        set_icon(header, "chevron_right", "muted")
        self._page.addWidget(header)
        for row in rows:
            row.hide()
            self._page.addWidget(row)

        def unfold(opened: bool) -> None:
            set_icon(header, "chevron_down" if opened else "chevron_right", "muted")
            for row in rows:
                row.setVisible(opened)

        header.toggled.connect(unfold)

    def _build_derived(self, element: Element) -> None:
        self._derived = []
        numbers = derived_numbers(element)
        if not numbers:
            return
        title = QLabel("Follows from these", self)
        title.setProperty("role", "section")
        self._page.addWidget(title)
        for label, _, _ in numbers:
            line = QHBoxLayout()
            text = QLabel(label, self)
            text.setProperty("role", "muted")
            value = QLabel(self)
            value.setObjectName(f"derived_{label.lower().replace(' ', '_')}")
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            value.setWordWrap(True)
            line.addWidget(text)
            line.addWidget(value, 1)
            self._page.addLayout(line)
            self._derived.append(value)
        self._show_derived()

    def _show_derived(self) -> None:
        if not self._derived or self.element is None:
            return
        units = self.document.units
        for shown, (_, numbers, unit) in zip(self._derived, derived_numbers(self.element), strict=False):
            text = ", ".join(short(float(units.to_display(n, unit))) for n in numbers)
            shown.setText(f"{text} {unit_label(units.label(unit))}".strip())

    def _recolor(self, _: object) -> None:
        if self.element is None:
            return
        self._icon.setPixmap(pixmap(icon_name(self.element), 24, current_theme().accent, self.devicePixelRatioF()))

    # --- following the document --------------------------------------------------------------------------------------

    def _on_changed(self, element: Element, name: str) -> None:
        if element is self.element and name in self.rows:
            self.rows[name].show_value(getattr(element, name))
            self._show_derived()
        elif self._derived:
            self._show_derived()  # the length of a spring changes with its bodies

    def _on_structure(self) -> None:
        if self._chosen() is not self.element:
            self.show_element(self._chosen())
            return
        self._show_name("")
        for name, row in self.rows.items():
            if row.field.parameter.kind == "reference":
                row.show_value(getattr(self.element, name))

    def _candidates(self, parameter: Parameter, current: Any) -> list[Element]:
        """Elements that a reference may be changed to: those of the family of what it refers to now."""
        families = (mb.Body, mb.Joint, mb.Measure, mb.ForceElement, mb.BasicConstraint)
        family = next((f for f in families if isinstance(current, f)), mb.Body)
        if parameter.name in ("body_i", "body_j"):
            family = mb.Body
        return [e for e in self.document.system if isinstance(e, family) and e is not self.element]

    # --- changing it -------------------------------------------------------------------------------------------------

    def _commit(self, element: Element, name: str, value: Any, gesture: object) -> None:
        try:
            self.document.set(element, gesture=gesture, **with_following(element, name, value))
        except mb.ModelError as error:
            self.rows[name].field.refuse(reason(error, name))

    def _check_name(self) -> None:
        text = self.name.text()
        taken = text != self.element.name and self.element is not self.document.system and text in self.document.system
        if not text.strip():
            self._say_name("A name cannot be empty.")
        elif taken:
            self._say_name(f"“{text}” is the name of another element; choose another.")
        else:
            self._say_name("")

    def _rename(self) -> None:
        try:
            self.document.rename(self.element, self.name.text().strip())
        except mb.ModelError as error:
            self._check_name()
            if not self.name_problem.text():
                self._say_name(sentence(reason(error, "name")))
        else:
            self._show_name("")

    def _show_name(self, problem: str) -> None:
        self.name.show_text(self.element.name)
        self._say_name(problem)

    def _say_name(self, problem: str) -> None:
        mark(self.name, bool(problem))
        self.name_problem.setText(problem)
        self.name_problem.setVisible(bool(problem))
