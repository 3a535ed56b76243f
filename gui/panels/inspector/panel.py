"""The inspector: the parameters of what is selected, generated from their declarations."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QVBoxLayout, QWidget

from mbframe.parameters import Element
from mbframe.unknown import Unknown

from ...document.document import Document
from ...fields import commit_focused
from ...fields.texts import TextEdit
from ...playing.live import Live
from .element_page import ElementPage, Row
from .instant import InstantValues
from .number_slider import NumberSliders
from .unknown_page import UnknownPage

MOST_PAGES: Final = 6
"""Pages that are kept, one per class: to fill one takes a tenth of the time that it takes to build it."""


class Inspector(QScrollArea):
    """Shows what is selected in a document, or the settings of the system, and changes it through the document."""

    def __init__(
        self, document: Document, solver: Any = None, live: Live | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("inspector")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(260)
        self.document = document
        self._pages: dict[type, ElementPage] = {}
        self._page: ElementPage | None = None
        self._holder = QWidget(self)
        self._holder.setObjectName("inspector_holder")
        self._layout = layout = QVBoxLayout(self._holder)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.instant = InstantValues(document, solver, self._holder)
        layout.addWidget(self.instant)
        layout.addStretch(1)
        self.setWidget(self._holder)
        self.sliders = NumberSliders(live, self) if live is not None else None
        document.selection_changed.connect(self._show_chosen)
        document.replaced.connect(self._begin_again)
        document.structure_changed.connect(self._on_structure)
        document.element_changed.connect(self._on_changed)
        document.units_changed.connect(self._begin_again)
        self.show_element(self._chosen())

    @property
    def page(self) -> ElementPage:
        """What is shown."""
        assert self._page is not None
        return self._page

    @property
    def element(self) -> Element:
        """The element that is shown."""
        return self.page.element

    @property
    def rows(self) -> dict[str, Row]:
        """The rows of its parameters."""
        return self.page.rows

    @property
    def name(self) -> TextEdit:
        """The field of its name."""
        return self.page.name

    def show_element(self, element: Element) -> None:
        """Show the parameters of an element."""
        page = self._pages.pop(type(element), None)
        if isinstance(element, Unknown) and page is not None:  # each has parameters of its own
            page.hide()
            page.deleteLater()
            page = None
        if page is None:
            kind = UnknownPage if isinstance(element, Unknown) else ElementPage
            page = kind(self.document, element, self._holder)
            self._layout.insertWidget(0, page)
        else:
            page.show_element(element)
        self._pages[type(element)] = page  # the last one used is the last one forgotten
        if page is not self._page:
            if self._page is not None:
                self._page.hide()
            page.show()
            self._page = page
        self.verticalScrollBar().setValue(0)
        while len(self._pages) > MOST_PAGES:
            self._pages.pop(next(iter(self._pages))).deleteLater()

    def _begin_again(self) -> None:
        """Another system, or other units: the pages are built anew."""
        for page in self._pages.values():
            page.hide()
            page.deleteLater()
        self._pages, self._page = {}, None
        self.show_element(self._chosen())

    def _chosen(self) -> Element:
        return self.document.selection or self.document.system

    def _show_chosen(self, _: object = None) -> None:
        focus = QApplication.focusWidget()
        if focus is not None and self.isAncestorOf(focus):
            commit_focused()  # what is being typed is meant for the former element
        self.show_element(self._chosen())

    def _on_changed(self, element: Element, name: str) -> None:
        self.page.show_parameter(element, name)

    def _on_structure(self) -> None:
        same = self._chosen() is self.element and not isinstance(self.element, Unknown)
        if same and self._pages.get(type(self.element)) is self._page:  # its class may be another by now
            self.page.show_names()
        else:
            self.show_element(self._chosen())
