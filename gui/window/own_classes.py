"""Users' classes in the window: asking before a file is imported, using it, and following it while it is edited."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox

import mbframe as mb
from mbframe.plug_ins import Source, import_offered, offered
from mbframe.registry import BASES, registered

from ..base.consent import Consent
from ..base.names import unformatted
from ..dialogs.own_classes import Origin, OwnClassesDialog
from ..solving.process import Failure
from ..solving.tasks import ClassesTask, PackageTask

if TYPE_CHECKING:
    from .window import MainWindow

LOOK_MS: Final = 700
"""Between two looks whether a file was saved."""
RIGHTS: Final = (
    "It is Python code and can do what you can do: read, change and send your files. Run it only if you have read it "
    "or trust who wrote it.\n\n{} What the file imports runs too, and is not covered: it is not looked at, now or when "
    "it changes."
)
AS_IT_IS: Final = "Your answer is for this file as it is now."
FROM_NOW_ON: Final = "Your answer is for this file until the window is closed: whenever it is saved, it is run again."
Then = Callable[[], object]


class OwnClasses(QObject):
    """The files of users' classes that are used in a window.

    None is imported before a person agreed: by answering a question here, by choosing the file in the menu and agreeing
    then, by `--classes` on the command line, or by an answer that is remembered for this very content.
    """

    changed = Signal()
    """Classes are known that were not, or are others than before."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self.document, self.solver = window, window.document, window.solver
        self.consent = Consent(window.settings)
        self.used: dict[str, Source] = {}
        """By their paths."""
        self._seen: dict[str, object] = {}
        self._followed: set[str] = set()
        self._left_alone: set[str] = set()
        self._waiting: list[tuple[Source, Then]] = []
        self._known: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self._look_for_changes)

    # --- asking -------------------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Open the dialog that lists files and packages with classes."""
        dialog = OwnClassesDialog(self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.file_wanted.connect(self.choose)
        dialog.package_wanted.connect(self.use_package)
        dialog.forgotten.connect(self._forget)

        def renew() -> None:
            dialog.show_origins(self._files(), self._packages())

        self.changed.connect(renew)
        dialog.finished.connect(lambda _: self.changed.disconnect(renew))
        renew()
        dialog.open()

    def _files(self) -> list[Origin]:
        return [Origin(Path(path).name, path, _names_of(source.name)) for path, source in self.used.items()]

    def _packages(self) -> list[Origin]:
        """What installed packages offer: read from their metadata; those that were imported have their classes."""
        found = [(package, point.value) for package, point in offered()]
        return [Origin(package, place, _names_of(place.partition(":")[0]) or None) for package, place in found]

    def _forget(self) -> None:
        self.consent.forget()
        self._followed.clear()
        self._left_alone.clear()
        self.document.messages.post("It is asked again before a file with classes is run.", "info")

    def look(self, folder: Path | None) -> None:
        """A model was opened: find the files of the classes that it lacks beside it, and ask for each of them."""
        self._note_known()
        lacking = self.document.lacking
        if not lacking:
            return
        needed = {(one.get("module", ""), one.get("file", "")) for one in lacking.values()}
        found = [source for module, file in sorted(needed) if (source := _beside(module, file, folder)) is not None]
        need = f"“{self.document.title}” needs classes of"
        wanted = [one for one in found if self.may_use(one, f"{need} {Path(one.path).name}. To use them")]
        for source in wanted:
            self.use(source, self._tell_lacking)
        if not wanted:
            self._tell_lacking()

    def may_use(self, source: Source, why: str) -> bool:
        """Whether a file may be run: it was allowed as it is, or somebody agrees now."""
        if self.consent.allows(source):
            return True
        text = f"{why}, this file is run:\n{source.path}"
        if not self._ask(source, text, "Run this file", AS_IT_IS):
            return False
        self.consent.allow(source)
        return True

    def _ask(self, source: Source, text: str, yes: str, reach: str) -> bool:
        """Whether a file may be run. Return, Escape and closing the dialog mean no."""
        box = QMessageBox(self._window)
        box.setObjectName("classes_dialog")
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("Run code of this file?")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(unformatted(text))
        box.setInformativeText(RIGHTS.format(reach))
        agree = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
        refuse = box.addButton("Do not run it", QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(refuse)
        box.setEscapeButton(refuse)
        box.exec()
        return box.clickedButton() is agree

    def choose(self) -> None:
        """Ask for a file with classes, and use it after a question."""
        folder = self.document.path.parent if self.document.path is not None else self._window.settings.last_folder
        name, _ = QFileDialog.getOpenFileName(self._window, "A Python file with your classes", str(folder), "*.py")
        if not name:
            return
        try:
            source = Source.of(name)
        except mb.ModelError as error:
            self._tell(str(error))
            return
        if self.may_use(source, f"To use the classes of {Path(name).name}"):
            self.use(source, self._tell_lacking)

    def _tell_lacking(self) -> None:
        """Say what of the model is not known."""
        if not (lacking := self.document.lacking):
            return
        names = ", ".join(lacking)
        files = sorted({one["file"] for one in lacking.values() if one.get("file")})
        where = f" The model says that they come from {', '.join(files)}." if files else ""
        self.document.messages.post(
            f"Classes of this model are not known here: {names}. What is of them is kept and saved as it is, but the "
            f"model cannot be computed.{where} Model → Use my classes… takes a file that has them.",
            "warning",
        )

    def _tell(self, text: str) -> None:
        self.document.messages.post(text, "error")

    # --- using --------------------------------------------------------------------------------------------------------

    def use_given(self, names: list[str], then: Then) -> None:
        """Use what was given with --classes, which is consent; `then` is called at the end, whatever comes of it."""
        if not names:
            then()
            return
        try:
            source = Source.of(names[0])
        except mb.ModelError as error:
            self._tell(str(error))
            self.use_given(names[1:], then)
            return
        self.consent.allow(source)
        self.use(source, lambda: self.use_given(names[1:], then))

    def use(self, source: Source, then: Then = lambda: None) -> None:
        """Import a file that was agreed to: first in another process, which it may end; then here."""
        self._waiting.append((source, then))
        if len(self._waiting) == 1:
            self._try_next()

    def _try_next(self) -> None:
        source, _ = self._waiting[0]
        self._seen[source.path] = _stamp(source.path)
        job = self.solver.submit(ClassesTask(source))
        job.finished.connect(lambda _: self._take(source))
        job.failed.connect(lambda failure: self._refuse(source, failure))
        job.cancelled.connect(self._go_on)

    def _take(self, source: Source) -> None:
        """It can be imported: do it here."""
        again = source.path in self.used
        try:
            classes = source.load()
            self.used[source.path] = source
            self.solver.sources = tuple(self.used.values())
            self.document.renew()
        except mb.ModelError as error:
            self._tell(f"{Path(source.path).name}: {error}")
        else:
            names = ", ".join(cls.__name__ for cls in classes)
            self.document.messages.post(
                f"{Path(source.path).name} is used{' as it was saved now' if again else ''}: {names}.", "info"
            )
            self.changed.emit()
            if again:
                self._compute_again()
        self._timer.start()
        self._go_on()

    def _refuse(self, source: Source, failure: Failure) -> None:
        kept = " What was used before stays in use." if source.path in self.used else ""
        self._tell(f"{Path(source.path).name} is not used: {failure}{kept}")
        self._go_on()

    def _go_on(self) -> None:
        _, then = self._waiting.pop(0)
        if self._waiting:
            self._try_next()
        then()

    def _compute_again(self) -> None:
        """The motion follows the class: what was computed with the former one is computed anew."""
        runner = self._window.runner
        if self.document.runs.current is None:
            return
        if not runner.running:
            runner.start()
            return

        def start(_: object) -> None:
            runner.ended.disconnect(start)
            runner.start()

        runner.ended.connect(start)
        runner.cancel()

    def use_package(self, package: str) -> None:
        """Import what an installed package offers, which installing it has allowed: first in another process."""
        job = self.solver.submit(PackageTask(package))
        job.finished.connect(lambda problems: self._take_package(package, problems))
        job.failed.connect(lambda failure: self._tell(f"Package {package} is not used: {failure}"))

    def _take_package(self, package: str, problems: list[str]) -> None:
        for problem in problems or map(str, import_offered(package)):
            self._tell(f"Package {package}: {problem}")
        self.document.renew()
        self._note_known()

    def _note_known(self) -> None:
        """Say so if more classes are known than before: reading a model imports those of packages that it names."""
        known = set(registered(*(getattr(mb, name) for name in BASES)))
        if not known <= self._known:
            self._known |= known
            self.changed.emit()

    # --- following ----------------------------------------------------------------------------------------------------

    def _look_for_changes(self) -> None:
        """Notice files that were saved; ask once for each."""
        for path, source in list(self.used.items()):
            stamp = _stamp(path)
            if stamp is None or stamp == self._seen.get(path) or self._waiting:
                continue
            self._seen[path] = stamp
            try:
                now = source.now()
            except mb.ModelError:  # it is being written
                continue
            if now != source and self._may_follow(now):
                self.consent.allow(now)
                self.use(now)

    def _may_follow(self, source: Source) -> bool:
        if source.path in self._followed:
            return True
        if source.path in self._left_alone:
            return False
        text = f"{Path(source.path).name} was saved with another content. To use it, it is run again:\n{source.path}"
        agreed = self._ask(source, text, "Run it now and whenever it is saved", FROM_NOW_ON)
        (self._followed if agreed else self._left_alone).add(source.path)
        return agreed


def _names_of(module: str) -> tuple[str, ...]:
    """The classes of a module, or of a package, that are known."""
    classes = registered(*(getattr(mb, name) for name in BASES)).values()
    return tuple(cls.__qualname__ for cls in classes if f"{cls.__module__}.".startswith(f"{module}."))


def _beside(module: str, file: str, folder: Path | None) -> Source | None:
    """The file beside a model that has the name which the model says, or the module of that name; neither is run."""
    try:
        if file and folder is not None and Path(file).name == file and (folder / file).is_file():
            return Source.of(str(folder / file))
        return Source.of(module) if module and not file and module.replace(".", "").isidentifier() else None
    except mb.ModelError:
        return None


def _stamp(path: str) -> object:
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
