"""The page of the inspector for an element of an unknown class: what its file says, to be read only."""

from __future__ import annotations

import json
from typing import Any, Final

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLabel

from mbframe.errors import shown
from mbframe.parameters import Element
from mbframe.unknown import Unknown

from ...base.words import parameter_label
from ...widgets.labels import WrappedLabel
from .element_page import ElementPage

LONGEST: Final = 300
"""Letters of a value that are shown."""


class UnknownPage(ElementPage):
    """Name, class and parameters of one element whose class is not known."""

    def _build_rows(self, element: Element) -> None:
        assert isinstance(element, Unknown)
        form = QFormLayout()
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self._add(form, "Class", element.type)
        if element.joined:
            self._add(form, "Attached to", ", ".join(element.joined))
        for name, value in element.parameters.items():
            if name not in element.sides:
                self._add(form, parameter_label(name), _text(value))
        self._layout.addLayout(form)
        why = WrappedLabel(self, lines=12)
        why.setObjectName("inspector_reason")
        why.setProperty("role", "caption")
        why.setText(shown(f"Kept and saved as it is in the file; nothing is computed with it. {element.reason}."))
        self._layout.addWidget(why)

    def _add(self, form: QFormLayout, label: str, text: str) -> None:
        key = QLabel(shown(label), self)
        key.setProperty("role", "muted")
        value = QLabel(self)
        value.setObjectName(f"kept_{label.lower().replace(' ', '_')}")
        value.setTextFormat(Qt.TextFormat.PlainText)
        value.setWordWrap(True)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        value.setText(shown(text))
        form.addRow(key, value)


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, default=np.ndarray.tolist, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
