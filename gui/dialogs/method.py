"""The dialog to choose a method: every strategy with its parameters, and the Python call that does the same."""

from __future__ import annotations

import inspect
from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

import mbframe as mb
from mbframe.errors import Problem
from mbframe.parameters import REQUIRED, Parameter
from mbframe.solvers.prepare import check_combination

from ..base.words import class_label, first_sentence, parameter_label
from ..document.document import Document
from ..document.runs import RunSettings
from ..document.strategies import ROLES, strategies
from ..fields import field_for, same
from ..fields.base import sentence
from ..fields.choices import ComboBox
from ..widgets.icons import set_icon
from ..widgets.items import clear
from ..widgets.labels import ProblemLabel
from ..widgets.theme import fixed_font

STEP: Final = Parameter(None, kind="number", unit="s", above=0.0, help="needed by integrators with a fixed step")
STEP.name = "dt"
EVERY: Final = Parameter(None, kind="number", unit="s", above=0.0, help="between stored states; empty: chosen")
EVERY.name = "every"


def arguments_of(cls: type) -> dict[str, Parameter]:
    """Declared parameters; of a formulation the arguments of its constructor that can be chosen."""
    if hasattr(cls, "parameters"):
        return cls.parameters()
    found: dict[str, Parameter] = {}
    for name, argument in list(inspect.signature(cls.__init__).parameters.items())[1:]:  # type: ignore[misc]
        if name == "sequence":
            from mbframe.bodies.formulations.euler_angles import SEQUENCES

            found[name] = Parameter(
                argument.default, choices=SEQUENCES, help="axes of the three turns, each where the others took it"
            )
            found[name].name = name
    return found


class StrategyBox(QFrame):
    """The choice for one role: a class and its parameters."""

    def __init__(self, role: str, dialog: MethodDialog) -> None:
        super().__init__(dialog)
        self.role, self.dialog = role, dialog
        self.setObjectName(f"box_{role}")
        self.setProperty("role", "card")
        label, default, self._default_means = ROLES[role]
        title = QLabel(label, self)
        title.setProperty("role", "section")
        self.combo = ComboBox(self)
        self.combo.setObjectName(f"choose_{role}")
        self.combo.addItem(default, None)
        for cls in strategies(role, dialog.document.system.dimension):
            self.combo.addItem(class_label(cls), cls)
        self.about = QLabel(self)
        self.about.setProperty("role", "caption")
        self.about.setWordWrap(True)
        self.about.setMinimumWidth(260)
        self.problem = ProblemLabel(f"problem_{role}", self)
        self._parameters = QVBoxLayout()
        self._parameters.setSpacing(4)
        self.fields: dict[str, Any] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 12, 10)
        layout.setSpacing(6)
        layout.addWidget(title)
        layout.addWidget(self.combo)
        layout.addWidget(self.about)
        layout.addLayout(self._parameters)
        layout.addWidget(self.problem)
        layout.addStretch(1)
        self._values: dict[str, Any] = {}
        self.combo.currentIndexChanged.connect(self._on_chosen)
        self._on_chosen()

    @property
    def cls(self) -> type | None:
        """The class chosen; None leaves it open."""
        return self.combo.currentData()

    def choose(self, strategy: Any) -> None:
        """Show a strategy with its parameters."""
        index = 0 if strategy is None else self.combo.findData(type(strategy))
        if strategy is not None and index < 0:
            self.combo.addItem(class_label(type(strategy)), type(strategy))
            index = self.combo.count() - 1
        self.combo.setCurrentIndex(index)
        for name, field in self.fields.items():
            self._values[name] = getattr(strategy, name)
            field.show_value(self._values[name])

    def strategy(self) -> Any:
        """The object chosen; None leaves it open. A `ModelError` says what is wrong."""
        if self.cls is None:
            return None
        for field in self.fields.values():
            if field.problem:
                raise mb.ModelError(field.problem)
        declared = arguments_of(self.cls)
        given = {k: v for k, v in self._values.items() if not _is_default(declared[k], v)}
        return self.cls(**given)

    def _on_chosen(self) -> None:
        clear(self._parameters)
        self.fields, self._values = {}, {}
        self.about.setText(first_sentence(self.cls) if self.cls is not None else self._default_means)
        for name, declared in arguments_of(self.cls).items() if self.cls is not None else ():
            self._add(name, declared)
        self.dialog.refresh()

    def _add(self, name: str, declared: Parameter) -> None:
        row = QWidget(self)
        field = field_for(declared, parent=row)
        value = None if declared.default is REQUIRED else declared.default
        self.fields[name], self._values[name] = field, value
        field.show_value(value)
        label = QLabel(parameter_label(name), row)
        label.setBuddy(field)
        label.setMinimumWidth(118)
        for widget in (label, field):
            widget.setToolTip(f"{sentence(declared.help)} Allowed is {declared.allowed()}.")
        line = QHBoxLayout()
        line.addWidget(label)
        line.addWidget(field, 1)
        if field.unit:
            line.addWidget(QLabel(field.unit, row))
        problem = ProblemLabel(f"problem_{self.role}_{name}", row)
        block = QVBoxLayout(row)
        block.setContentsMargins(0, 0, 0, 0)
        block.setSpacing(2)
        block.addLayout(line)
        block.addWidget(problem)
        field.committed.connect(lambda new, _: self._accept(name, new))
        field.problem_changed.connect(problem.say)
        field.problem_changed.connect(lambda _: self.dialog.refresh())
        self._parameters.addWidget(row)
        row.show()

    def _accept(self, name: str, value: Any) -> None:
        self._values[name] = value
        self.fields[name].show_value(value)
        self.dialog.refresh()


class MethodDialog(QDialog):
    """Chooses formulation, acceleration, stabilization, integrator and time step for the next run."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("method_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Method")
        self.document = document
        self._ready = False
        self.boxes = {role: StrategyBox(role, self) for role in ROLES}
        choices = QWidget(self)
        choices.setObjectName("method_choices")
        grid = QGridLayout(choices)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(10)
        for k, box in enumerate(self.boxes.values()):
            grid.addWidget(box, k // 2, k % 2)
            grid.setColumnStretch(k % 2, 1)
        self.dt = field_for(STEP, parent=self)
        self.every = field_for(EVERY, parent=self)
        for field, words in ((self.dt, "only for fixed steps"), (self.every, "chosen by the program")):
            field.findChildren(QLineEdit)[0].setPlaceholderText(words)
        steps = QFormLayout()
        steps.setHorizontalSpacing(10)
        self.problems: dict[str, ProblemLabel] = {}
        for field, words in ((self.dt, "Time step (s)"), (self.every, "Store a state every (s)")):
            problem = ProblemLabel(f"problem_{field.parameter.name}", self)
            field.setToolTip(sentence(field.parameter.help))
            steps.addRow(words, field)
            steps.addRow("", problem)
            field.committed.connect(lambda value, _, field=field: self._accept(field, value))
            field.problem_changed.connect(lambda text, label=problem: self._tell(label, text))
            self.problems[field.parameter.name] = problem
        self.code = QPlainTextEdit(self)
        self.code.setObjectName("method_code")
        self.code.setReadOnly(True)
        self.code.setFont(fixed_font())
        self.code.setFixedHeight(116)
        self.copy = QPushButton("Copy", self)
        self.copy.setObjectName("copy_code")
        set_icon(self.copy, "copy")
        self.copy.clicked.connect(lambda _: QGuiApplication.clipboard().setText(self.code.toPlainText()))
        python = QHBoxLayout()
        caption = QLabel("The same in Python", self)
        caption.setProperty("role", "section")
        python.addWidget(caption, 1)
        python.addWidget(self.copy)
        buttons = QDialogButtonBox(self)
        self.use = buttons.addButton("Use this method", QDialogButtonBox.ButtonRole.AcceptRole)
        self.use.setObjectName("use_method")
        self.use.setMinimumWidth(150)
        buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(10)
        scroll = QScrollArea(self)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(choices)
        layout.addWidget(scroll, 1)
        layout.addLayout(steps)
        layout.addLayout(python)
        layout.addWidget(self.code)
        layout.addWidget(buttons)
        self.resize(720, min(720, self.screen().availableGeometry().height() - 60))
        self._show(document.runs.settings)

    def _show(self, settings: RunSettings) -> None:
        given = settings.strategies()
        for role, box in self.boxes.items():
            box.choose(given.get(role))
        self.dt.show_value(settings.dt)
        self.every.show_value(settings.every)
        self._ready = True
        self.refresh()

    def settings(self) -> RunSettings:
        """The settings that are chosen; a `ModelError` says what is refused."""
        chosen = {role: box.strategy() for role, box in self.boxes.items()}
        integrator = chosen["integrator"]
        if integrator is not None:
            check_combination(integrator, chosen["acceleration"], chosen["stabilization"])
            if not integrator.adaptive and self.dt.value is None:
                problem = f"{class_label(type(integrator))} has a fixed step; give a time step such as 0.001"
                raise mb.ModelError([Problem("simulate", "dt", problem)])
        for field in (self.dt, self.every):
            if field.problem:
                raise mb.ModelError(field.problem)
        t_end = self.document.runs.settings.t_end
        return RunSettings("custom", t_end, dt=self.dt.value, every=self.every.value, **chosen)

    def refresh(self) -> None:
        """Check the combination and show the call, or why it is refused."""
        if not self._ready:
            return
        for box in self.boxes.values():
            box.problem.say("")
        if not self.dt.problem:
            self._tell(self.problems["dt"], "")
        try:
            settings = self.settings()
        except mb.ModelError as error:
            self.use.setEnabled(False)
            for problem in error.problems:
                if problem.field in self.boxes:
                    self.boxes[problem.field].problem.say(sentence(problem.message))
                elif problem.field == "dt":
                    self._tell(self.problems["dt"], sentence(problem.message))
            self.code.setPlainText("# " + "\n# ".join(str(error).splitlines()))
            return
        self.use.setEnabled(True)
        self.code.setPlainText(python_call(settings))

    def accept(self) -> None:
        for field in (self.dt, self.every, *(f for box in self.boxes.values() for f in box.fields.values())):
            field.commit()
        try:
            settings = self.settings()
        except mb.ModelError:
            self.refresh()
            return
        self.document.runs.choose_settings(settings)
        super().accept()

    def _accept(self, field: Any, value: Any) -> None:
        field.show_value(value)
        self.refresh()

    def _tell(self, label: ProblemLabel, text: str) -> None:
        label.say(text)
        if text:
            self.use.setEnabled(False)


def _is_default(declared: Parameter, value: Any) -> bool:
    return declared.default is not REQUIRED and same(declared.default, value)


def python_call(settings: RunSettings) -> str:
    """The call of `mbframe.simulate` that computes the same."""
    parts = [f"t_end={settings.t_end!r}"]
    for name, value in settings.strategies().items():
        parts.append(f"{name}={value!r}" if isinstance(value, float) else f"{name}=mb.{value!r}")
    if settings.every is not None:
        count = round(settings.t_end / settings.every) + 1
        parts.append(f"t_eval=np.linspace(0.0, {settings.t_end!r}, {count})")
    lines = "".join(f"    {part},\n" for part in parts)
    return f"result = mb.simulate(\n    system,\n{lines})"
