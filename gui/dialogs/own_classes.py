"""Which classes of users there are: files that are used, and installed packages that offer some."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from ..base.names import unformatted

INTRODUCTION: Final = (
    "Bodies, joints, forces and methods that were written in Python. What is used here is in Add, in Method… and in "
    "Compare. A file is only run after you agreed; packages were installed by you, and are imported when they are used."
)


@dataclass(frozen=True)
class Origin:
    """Where classes come from.

    name: of the file, or of the package. place: its path, or its module. classes: of those that are in use; None: it is
    not used yet.
    """

    name: str
    place: str
    classes: tuple[str, ...] | None


class OwnClassesDialog(QDialog):
    """Lists where users' classes come from, and takes more."""

    file_wanted = Signal()
    package_wanted = Signal(str)
    """The top level of what is to be imported."""
    forgotten = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("own_classes_dialog")
        self.setWindowTitle("My classes")
        about = QLabel(INTRODUCTION, self)
        about.setWordWrap(True)
        about.setProperty("role", "caption")
        self.tree = QTreeWidget(self)
        self.tree.setObjectName("own_classes_tree")
        self.tree.setHeaderLabels(["From", "Classes", "Place"])
        self.tree.setRootIsDecorated(False)
        self.tree.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.tree.setSelectionMode(QTreeWidget.SelectionMode.SingleSelection)
        self.tree.itemSelectionChanged.connect(self._offer)
        self.tree.itemActivated.connect(lambda *_: self._use())
        self.file = QPushButton("A Python file…", self)
        self.file.setObjectName("choose_classes_file")
        self.file.clicked.connect(self.file_wanted)
        self.use = QPushButton("Use this package", self)
        self.use.setObjectName("use_package")
        self.use.setToolTip("Import an installed package that offers classes, and put them into Add")
        self.use.clicked.connect(self._use)
        forget = QPushButton("Forget my answers", self)
        forget.setObjectName("forget_classes")
        forget.setToolTip("Ask again for every file that you allowed to be run")
        forget.clicked.connect(self.forgotten)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        for button in (self.file, self.use, forget):
            button.setAutoDefault(False)
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(10)
        column.addWidget(about)
        column.addWidget(self.tree, 1)
        column.addLayout(row)
        self.resize(QSize(640, 320))

    def show_origins(self, files: Iterable[Origin], packages: Iterable[Origin]) -> None:
        """Show what there is now."""
        self.tree.clear()
        for kind, origins in (("file", files), ("package", packages)):
            for one in origins:
                names = "not used yet" if one.classes is None else ", ".join(one.classes)
                item = QTreeWidgetItem([one.name, unformatted(names), one.place])
                item.setData(0, Qt.ItemDataRole.UserRole, one if kind == "package" else None)
                item.setToolTip(1, unformatted(names))
                item.setToolTip(2, one.place)
                self.tree.addTopLevelItem(item)
        if not self.tree.topLevelItemCount():
            item = QTreeWidgetItem(["None yet", "", "No file is used, and no installed package offers classes."])
            item.setFlags(Qt.ItemFlag.NoItemFlags)
            self.tree.addTopLevelItem(item)
        self._offer()

    def _chosen(self) -> Origin | None:
        """The package that is selected and not used yet."""
        items = self.tree.selectedItems()
        one = items[0].data(0, Qt.ItemDataRole.UserRole) if items else None
        return one if one is not None and one.classes is None else None

    def _offer(self) -> None:
        self.use.setEnabled(self._chosen() is not None)

    def _use(self) -> None:
        if (one := self._chosen()) is not None:
            self.package_wanted.emit(one.place.partition(":")[0].partition(".")[0])
