"""The document: a system, its file and the steps to undo. Panels show it and change it through its methods.

There are no widgets here. Every change goes over the undo stack and is announced by a signal; a change that is refused
raises `mbframe.ModelError` and leaves everything as it was.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

import mbframe as mb
from mbframe.analysis.states.describing import attached
from mbframe.files import model as model_files
from mbframe.files import projects
from mbframe.files.renewing import renew
from mbframe.plane import lifted
from mbframe.shapes import OUTSIDE

from ..base.places import stored_result
from ..base.showcase import exhibit, exhibits
from ..base.units import DisplayUnits
from . import opening
from .commands import Assignment, Rename, SetParameters, Structure, assigned, revert
from .messages import Messages
from .opening import PROJECT_SUFFIX, RESULT_SUFFIXES, Opened
from .run_list import RunList
from .runs import RunSettings, model_text
from .sessions import Session

CLASSES_CHANGED: Final = "\n(with other classes)"
"""Behind the text of the model of a run that was computed before classes changed."""
UNTITLED: Final = "Untitled"
"""Name of a model that nobody has named."""


class Document(QObject):
    """A system with its file, its undo stack and its selection; `runs` and `messages` are kept beside it."""

    replaced = Signal()
    structure_changed = Signal()
    element_changed = Signal(object, str)
    selection_changed = Signal(object)
    time_changed = Signal(float)
    state_shown = Signal(object)
    title_changed = Signal()
    units_changed = Signal()
    animation_owner_changed = Signal(object)
    stepped = Signal(str)
    """A step is about to be undone or done again: which, in words."""
    left_out = Signal(list)
    """Sentences about what a file says and the model made of it does not."""
    looks_restored = Signal(object)
    """Looks of a project, as `looks` gave them when it was saved."""

    def __init__(self, system: mb.System | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self.messages = Messages(lambda: self.system, self)
        self.runs = RunList(self)
        self._units = DisplayUnits()
        self.session = Session()
        """Where files of runs are."""
        self.looks: Callable[[], dict[str, Any]] = dict
        """Says how the document is looked at, for a project."""
        self._reset(system if system is not None else mb.System(UNTITLED))
        self.undo_stack.cleanChanged.connect(self._clean_changed)

    def _reset(
        self,
        system: mb.System,
        path: Path | None = None,
        example: str | None = None,
        settings: RunSettings | None = None,
    ) -> None:
        """Begin again with a system; what was there before is forgotten."""
        self._gesture: tuple[Any, int] | None = None
        self._command: SetParameters | None = None
        self.system, self.path, self.example = system, path, example
        self.arguments: dict[str, float] = {}
        self.selection: mb.Element | None = None
        self.time = 0.0
        self.shown_state: mb.State | None = None
        self._owner: Any = None
        self._text: str | None = None
        self.runs.reset(settings)
        self.undo_stack.clear()
        self.undo_stack.setClean()

    def _announce_reset(self) -> None:
        self.replaced.emit()
        self.selection_changed.emit(None)
        self.runs.changed.emit()
        self.runs.current_changed.emit(self.runs.current)
        self.runs.settings_changed.emit()
        self.title_changed.emit()
        self.time_changed.emit(self.time)

    # ---- Files ----------------------------------------------------------------------------------------------------

    def new(self, dimension: int = 3) -> None:
        """An empty system."""
        self._reset(mb.System(UNTITLED, dimension=dimension))
        self._announce_reset()

    def open(self, path: Path | str) -> None:
        """Open a model, a result with its model, or a project. A file that cannot be read leaves all as it was."""
        self.take(opening.read(Path(path).expanduser().absolute(), self.run_folder))

    def run_folder(self) -> Path:
        """The folder of the document's own runs."""
        return self.session.run_file().parent

    def take(self, opened: Opened) -> None:
        """Show what was read in the place of what was there before."""
        self._reset(opened.system, opened.path, None, opened.settings)
        for run in opened.runs:
            self.runs.keep(run)
        if opened.runs:
            self.runs.current = opened.runs[opened.current]
        self._announce_reset()
        if opened.looks:
            self.looks_restored.emit(opened.looks)
        for text, level in opened.notes:
            self.messages.post(text, level)
        if opened.report:
            self.left_out.emit(opened.report)
        self._tell_missing_files()

    def open_example(self, name: str) -> None:
        """Open an exhibit of the gallery, with the result that is shipped with it."""
        shown = exhibit(name)
        if shown is None:
            raise mb.ModelError(f"there is no example {name!r}; there are {', '.join(one.name for one in exhibits())}")
        self._reset(shown.system(), None, shown.source, RunSettings(t_end=shown.t_end))
        self.arguments = dict(shown.arguments)
        if (place := stored_result(name)) is not None:
            with suppress(mb.ModelError):  # a damaged one is as good as none: it can be computed
                self.runs.keep(opening.stored_run(place, "Stored", text=self.model_text()))
        self._announce_reset()

    def open_system(self, system: mb.System, path: Path | None = None, *, changed: bool = False) -> None:
        """Show a system from elsewhere, such as one that was recovered (`changed`: it differs from its file)."""
        self._reset(system, path)
        if changed:
            self.undo_stack.resetClean()
        self._announce_reset()

    def save(self) -> None:
        """Write the model to its file."""
        if self.path is None:
            raise mb.ModelError("the model has no file yet; save it under a name")
        self.save_as(self.path)

    def save_as(self, path: Path | str, progress: opening.Progress = lambda _: None) -> None:
        """Write the model, or a project, to a file, whole or not at all, which is its file from now on."""
        place = saving_place(path)
        self.writing(place)(progress)
        self.saved(place)

    def writing(self, place: Path) -> Callable[[opening.Progress], None]:
        """What writes the document as it is now to a file; it may be called in a thread."""
        if place.suffix.lower() != PROJECT_SUFFIX:
            system, settings = self.system, self.runs.settings.stored()
            return lambda _: mb.save(system, place, simulation=settings, copy_meshes=True)
        runs = [
            projects.StoredRun(run.path, opening.about_run(run, run is self.runs.current))
            for run in self.runs.storable
            if run.path is not None
        ]
        model = model_files.document(self.system, self.runs.settings.stored())
        model_files.described_in(model, place, copy_meshes=True)
        project = projects.Project(model, runs, self.looks())
        return lambda progress: projects.save(project, place, progress)

    def saved(self, place: Path) -> None:
        """What `writing` writes is in the file."""
        self.path, self.example = place, None
        self._gesture = None
        if self.is_project:
            self.runs.saved()
        self.undo_stack.setClean()
        self.title_changed.emit()

    def unsavable(self) -> str:
        """Why the model cannot be saved (a Python function in it, say), in sentences; empty if it can."""
        try:
            model_files.document(self.system)
        except mb.ModelError as error:
            return str(error)
        return ""

    def _tell_missing_files(self) -> None:
        for body in (self.system.ground, *self.system.bodies):
            for shape in body.shapes:
                told = not isinstance(shape, mb.Mesh) or shape.path.startswith(OUTSIDE)  # by who read the file
                if not told and not Path(shape.path).expanduser().is_file():
                    self.messages.post(
                        f"{body.name}: there is no mesh file {shape.path!r}; the body is shown without it. "
                        "Put the file there, or choose another in the inspector.",
                        "warning",
                        body,
                    )

    @property
    def is_project(self) -> bool:
        """Whether its file holds runs, too."""
        return self.path is not None and self.path.suffix.lower() == PROJECT_SUFFIX

    @property
    def dirty(self) -> bool:
        """Whether there are changes that are not in the file."""
        stack = self.undo_stack
        clean, now = stack.cleanIndex(), stack.index()
        if clean < 0 or (self.is_project and clean != now):
            return True
        steps: list[Any] = [stack.command(k) for k in range(min(clean, now), max(clean, now))]
        return any(step.changes_model for step in steps)

    @property
    def unsaved(self) -> bool:
        """Whether something would be lost without being saved."""
        return self.dirty or bool(self.runs.unsaved)

    @property
    def title(self) -> str:
        """What the window is called after."""
        return self.path.name if self.path is not None else self.system.name

    @property
    def called(self) -> str:
        """What heads its pictures: the model's name, or that of its file if it has none; empty without a file."""
        if self.system.name != UNTITLED:
            return self.system.name
        return self.path.stem if self.path is not None else ""

    def abandon(self) -> None:
        """Nothing of it is wanted any more: leaving it asks nothing."""
        self.undo_stack.setClean()
        for run in self.runs:
            run.unsaved = False

    def model_text(self) -> str:
        """The model as text: equal texts mean equal models. That of a file, if a file can hold the model."""
        if self._text is None:
            self._text = model_text(self.system)
        return self._text

    # ---- Changes --------------------------------------------------------------------------------------------------

    def set(self, element: mb.Element, gesture: Any = None, **values: Any) -> None:
        """Assign parameters of an element (or of the system): one step to undo.

        Calls with equal `gesture` that follow each other become one step; every drag or slider movement needs a key of
        its own. Points of joints and forces that are attached to a body move with it.
        """
        self.set_many([(element, values)], gesture)

    def set_many(
        self, changes: Sequence[tuple[mb.Element, dict[str, Any]]], gesture: Any = None, text: str | None = None
    ) -> None:
        """Assign parameters of several elements, all or none: one step to undo."""
        done: list[Assignment] = []
        given = [element for element, _ in changes]
        poses = {one: (one.motion.position, one.rotation) for one in given if isinstance(one, mb.Body)}
        try:
            for element, values in changes:
                done.append(assigned(element, values))
            for element, values in attached(self.system, poses):
                if not any(element is one for one in given):
                    done.append(assigned(element, values))
        except mb.ModelError:
            revert(done)
            raise
        if all(_same(one.old[name], one.new[name]) for one in done for name in one.new):
            return
        if self._continues(gesture) and self._command is not None:
            self._command.absorb(done)
            self._command.notify()
            return
        first = done[0]
        names = ", ".join(name.replace("_", " ") for name in first.new)
        command = SetParameters(self, text or f"Change {names} of {first.element.name}", done)
        self.undo_stack.push(command)
        if text is None:
            self._tell_carried([element for element, _ in changes], done)
        self._command = command if gesture is not None else None
        self._gesture = (gesture, self.undo_stack.count()) if gesture is not None else None

    def _tell_carried(self, changed: Sequence[mb.Element], done: Sequence[Assignment]) -> None:
        """Say what moved along with a body: it is not seen where nobody looks."""
        carried = [one.element.name for one in done if not any(one.element is other for other in changed)]
        if carried:
            names = ", ".join(carried[:4]) + (f" and {len(carried) - 4} more" if len(carried) > 4 else "")
            what = "The points of {} moved" if len(carried) > 1 else "The point of {} moved"
            self.messages.post(f"{what.format(names)} along with {changed[0].name}. Undo takes both back.")

    def _continues(self, gesture: Any) -> bool:
        """Whether a change belongs to the step that is on top of the stack."""
        stack = self.undo_stack
        at_top = stack.index() == stack.count() and not stack.isClean()
        return gesture is not None and at_top and self._gesture == (gesture, stack.count())

    def add(self, element: mb.Element) -> mb.Element:
        """Add an element, and select it."""
        before = [other.name for other in self.system]
        self.system.add(element)
        self.undo_stack.push(Structure(self, f"Add {element.name}", added=[element], before=before))
        self.select(element)
        return element

    def remove(self, elements: mb.Element | Iterable[mb.Element]) -> None:
        """Remove elements and all that depends on them: one step to undo."""
        chosen = [elements] if isinstance(elements, mb.Element) else list(elements)
        if any(element is self.system.ground for element in chosen):
            raise mb.ModelError([self.system.ground.problem("", "cannot be removed; every system has its ground")])
        out = {element.name: element for element in chosen}
        for element in chosen:
            out |= {other.name: other for other in self.system.dependents(element)}
        before = [other.name for other in self.system]
        removed: list[mb.Element] = []
        while out:  # what nothing refers to comes first
            for name in [name for name, element in out.items() if not self.system.dependents(element)]:
                removed.append(out.pop(name))
                self.system.remove(removed[-1])
        if not removed:
            return
        what = removed[-1].name if len(chosen) == 1 else f"{len(chosen)} elements"
        more = len(removed) - len(chosen)
        text = f"Delete {what}" + (f" and {more} that depend{'s' if more == 1 else ''} on it" if more else "")
        self.undo_stack.push(Structure(self, text, removed=removed, before=before))

    def rename(self, element: mb.Element, name: str) -> None:
        """Give an element another name; one that is taken is refused."""
        old = element.name
        if name == old:
            return
        element.name = name
        self.undo_stack.push(Rename(self, element, old, name))

    def duplicate(self, element: mb.Element) -> mb.Element:
        """Add a copy of an element under a new name; that of a body lies a little aside."""
        if element is self.system.ground:
            raise mb.ModelError([element.problem("", "there is one ground only; duplicate a body")])
        twin = copy.copy(element)
        twin.name = self.free_name(element.name, "" if isinstance(element, mb.Input | mb.Controller) else " ")
        if isinstance(twin, mb.Body):
            offset = np.zeros(self.system.dimension)
            offset[0] = 0.1 * self._extent()
            twin.update(position=twin.position + offset)
        return self.add(twin)

    def free_name(self, wanted: str, gap: str = " ") -> str:
        """The name, or one with a number behind a gap that is not taken."""
        if wanted not in self.system:
            return wanted
        numbered = re.fullmatch(rf"(.+?){gap}\d+", wanted)
        stem, number = numbered[1] if numbered else wanted, 2
        while f"{stem}{gap}{number}" in self.system:
            number += 1
        return f"{stem}{gap}{number}"

    def _extent(self) -> float:
        points = np.array([lifted(body.position) for body in self.system.bodies])
        return float(np.max(np.ptp(points, axis=0))) or 1.0 if len(points) else 1.0

    def scale(self, unit: str) -> float:
        """How large lengths and angles are in the model; 0 for other units, which may be of any size."""
        return {"m": self._extent(), "rad": 1.0}.get(unit, 0.0)

    def dependents(self, element: mb.Element) -> list[mb.Element]:
        """What would be removed together with an element."""
        return self.system.dependents(element)

    def undo(self) -> None:
        """Take the last step back."""
        self._gesture = None
        if self.undo_stack.canUndo():
            self.stepped.emit(f"Undone: {self.undo_stack.undoText()}")
        self.undo_stack.undo()

    def redo(self) -> None:
        """Take the step again that was taken back last."""
        self._gesture = None
        if self.undo_stack.canRedo():
            self.stepped.emit(f"Done again: {self.undo_stack.redoText()}")
        self.undo_stack.redo()

    def renew(self) -> None:
        """Make elements of unknown classes, and those whose class was defined again, with the classes of now.

        Steps to undo stay, unless a class has lost parameters that they may set.
        """
        before = {id(element): set(type(element).parameters()) for element in self.system}
        changed = renew(self.system)
        stored = model_files.document(mb.System(), self.runs.settings.stored())
        self.runs.settings = RunSettings.from_stored(model_files.settings_from(stored, keep_unknown=True))
        if any(before[id(element)] - set(type(element).parameters()) for element in changed):
            self.undo_stack.clear()
        if changed:
            for run in self.runs:
                if run.model_text:
                    run.model_text += CLASSES_CHANGED
            self.report_structure()
            self.selection_changed.emit(self.selection)

    @property
    def lacking(self) -> dict[str, dict[str, str]]:
        """The unknown classes of the model, and of how it is run, with what its file says of where they came from."""
        return model_files.unknown_classes(self.system, self.runs.settings.stored())

    # What commands report, and Qt:

    def report_changes(self, changes: Sequence[tuple[mb.Element, str]]) -> None:
        """Parameters have new values."""
        self._text = None
        for element, name in changes:
            self.element_changed.emit(element, name)
        self.runs.compare()
        self.title_changed.emit()

    def report_structure(self) -> None:
        """Elements came, went or have other names."""
        self._text = None
        if self.selection is not None and self.selection is not self.system and self.selection not in self.system:
            self.select(None)
        self.structure_changed.emit()
        self.runs.compare()
        self.title_changed.emit()

    def _clean_changed(self, _: bool) -> None:
        self.title_changed.emit()

    # ---- What is selected and shown -------------------------------------------------------------------------------

    def select(self, element: mb.Element | None) -> None:
        """Select an element, the system itself, or nothing."""
        if element is not self.selection:
            self.selection = element
            self.selection_changed.emit(element)

    def set_time(self, t: float) -> None:
        """The instant at which the current run is looked at, s."""
        if t != self.time:
            self.time = float(t)
            self.time_changed.emit(self.time)

    def show(self, state: mb.State) -> None:
        """Show the bodies in a state: of a run, of a mode, or while they are dragged."""
        self.shown_state = state
        self.state_shown.emit(state)

    @property
    def animation_owner(self) -> Any:
        """Who moves the bodies in the view at the moment; whoever begins sets it, and everyone else then stops."""
        return self._owner

    @animation_owner.setter
    def animation_owner(self, owner: Any) -> None:
        if owner is not self._owner:
            self._owner = owner
            self.animation_owner_changed.emit(owner)

    @property
    def units(self) -> DisplayUnits:
        """Units that numbers are shown in."""
        return self._units

    @units.setter
    def units(self, units: DisplayUnits) -> None:
        if units != self._units:
            self._units = units
            self.units_changed.emit()

    def close(self, *, keep: bool = False) -> None:
        """The end: be silent (a stack that is deleted would still announce changes), and remove what was temporary.

        `keep` leaves it for the next start.
        """
        self.undo_stack.blockSignals(True)
        if not keep:
            self.runs.discard()
        self.session.close(keep=keep)


def saving_place(path: Path | str) -> Path:
    """File for a document saved under a name: a model, unless the name is that of a project."""
    place = Path(path).expanduser().absolute()
    if not place.suffix:
        place = place.with_suffix(".json")
    if place.suffix.lower() in RESULT_SUFFIXES:
        raise mb.ModelError(f"{place.name!r} is the name of a result; give the model a name that ends with .json")
    return place


def _same(a: Any, b: Any) -> bool:
    """Equal to the last bit, the sign of zero included; objects other than numbers only with themselves."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float) and isinstance(b, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    return a is b or (type(a) is type(b) and isinstance(a, str | int | bool) and a == b)
