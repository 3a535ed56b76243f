"""The Script tab: every step as the Python that does it, and the whole model as a script."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QWidget

import mbframe as mb

from ...document.document import Document
from ...widgets.arranging import stack
from ...widgets.icons import set_icon
from ...widgets.theme import fixed_font
from .script import Script, whole

HEAD = "import mbframe as mb\n"


class ScriptPanel(QWidget):
    """Shows the steps of a document as Python."""

    def __init__(self, document: Document, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("script_panel")
        self.document = document
        self.script = Script(document, self)
        self.text = QPlainTextEdit(self)
        self.text.setObjectName("script_text")
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(fixed_font())
        self.text.setPlaceholderText("What you do to the model appears here as Python: one line or call for each step.")
        note = QLabel("Every step as the Python that does it; `system` is the model.", self)
        note.setProperty("role", "muted")
        self.copy_steps = self._button("copy_steps", "Copy steps", "copy", "Copy these lines", self._copy_steps)
        self.copy_script = self._button(
            "copy_script", "Copy as script", "script", "Copy the whole model as Python that runs by itself", self.copy
        )
        buttons = QHBoxLayout()
        buttons.setContentsMargins(8, 4, 8, 6)
        buttons.setSpacing(6)
        buttons.addWidget(note, 1)
        buttons.addWidget(self.copy_steps)
        buttons.addWidget(self.copy_script)
        stack(self, self.text, buttons, growing=self.text)
        self.script.changed.connect(self._show)
        self._show()

    def _button(self, name: str, text: str, icon: str, tip: str, call: object) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setToolTip(tip)
        set_icon(button, icon)
        button.clicked.connect(call)
        return button

    def _show(self) -> None:
        lines = self.script.lines
        self.text.setPlainText("\n".join(lines))
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())
        self.copy_steps.setEnabled(bool(lines))

    def _copy_steps(self) -> None:
        QGuiApplication.clipboard().setText(HEAD + "\n" + "\n".join(self.script.lines) + "\n")

    def copy(self) -> None:
        """Put the whole model on the clipboard, as Python."""
        try:
            QGuiApplication.clipboard().setText(whole(self.document))
        except mb.ModelError as error:
            self.document.messages.post(f"The model cannot be written as Python: {error}", "error")
            return
        self.document.messages.post("The model is on the clipboard, as a Python script.")
