"""Reading what can be opened: models, results, projects. No widgets, and no document: it is done in a thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import mbframe as mb
from mbframe.files import model as model_files
from mbframe.files import projects

from .runs import Run, RunSettings, load, model_text

RESULT_SUFFIXES: Final = (".h5", ".hdf5")
PROJECT_SUFFIX: Final = projects.SUFFIX
ROBOT_SUFFIXES: Final = (".urdf", ".xml")
SUFFIXES: Final = (".json", PROJECT_SUFFIX, *RESULT_SUFFIXES, *ROBOT_SUFFIXES)
"""Of the files that can be opened."""

Progress = Callable[[float], object]


@dataclass
class Opened:
    """Contents of a file that was read: enough to fill a document.

    path: the file in which a document saves it; None if there is none yet. current: the run that is looked at. looks:
    how it was looked at. notes: what is to be told, with its level. report: what the file says and the model does not.
    """

    system: mb.System
    path: Path | None = None
    settings: RunSettings | None = None
    runs: list[Run] = field(default_factory=list)
    current: int = -1
    looks: dict[str, Any] = field(default_factory=dict)
    notes: list[tuple[str, str]] = field(default_factory=list)
    report: list[str] = field(default_factory=list)


def read(path: Path, new_folder: Callable[[], Path], progress: Progress = lambda _: None) -> Opened:
    """Read a file of any kind. `ModelError` if it cannot be read.

    `new_folder` gives the folder into which results are taken out of a project.
    """
    suffix = path.suffix.lower()
    if suffix == PROJECT_SUFFIX:
        return _project(path, new_folder(), progress)
    if suffix in ROBOT_SUFFIXES:
        return _robot(path)
    return _result(path, progress) if suffix in RESULT_SUFFIXES else _model(path)


def _model(path: Path) -> Opened:
    content = model_files.read(path)
    notices: list[str] = []
    system = model_files.system_from(content, (), path.absolute().parent, notices)
    settings = RunSettings.from_stored(model_files.settings_from(content, keep_unknown=True))
    return Opened(system, path, settings, notes=[(notice, "warning") for notice in notices])


def _result(path: Path, progress: Progress) -> Opened:
    run = stored_run(path, path.stem)
    run.prepare(progress)
    # The result keeps a system of its own, so that it stays as it is when the document changes.
    notices: list[str] = []
    system = model_files.system_from(run.result.states.model, (), path.absolute().parent, notices)
    return Opened(system, None, run.settings, [run], notes=[(notice, "warning") for notice in notices])


def _robot(path: Path) -> Opened:
    """A robot (URDF) as a new model; what has no counterpart here is the report."""
    notices: list[str] = []
    system = mb.import_urdf(path, notices=notices)
    opened = Opened(system, report=notices)
    count = len(system.bodies)
    found = f"{path.name}: a robot with {count} {'body' if count == 1 else 'bodies'}. Lengths are metres, as URDF says."
    opened.notes.append((found, "info"))
    opened.notes += [(f"{path.name}, left out: {notice}", "warning") for notice in notices]
    return opened


def _project(path: Path, folder: Path, progress: Progress) -> Opened:
    found = projects.read(path, folder, lambda share: progress(0.5 * share))
    try:
        notices: list[str] = []
        system = model_files.system_from(found.model, (), path.absolute().parent, notices)
        opened = Opened(
            system, path, RunSettings.from_stored(model_files.settings_from(found.model, keep_unknown=True))
        )
        opened.notes += [(notice, "warning") for notice in notices]
        opened.looks = found.looks
        for number, stored in enumerate(found.runs):
            share = 0.5 / len(found.runs)
            begun = 0.5 + share * number
            add_run(opened, stored.file, stored.about, lambda done: progress(begun + share * done))  # noqa: B023
    except BaseException:
        for stored in found.runs:
            stored.file.unlink(missing_ok=True)
        raise
    return opened


def add_run(opened: Opened, file: Path, about: dict[str, Any], progress: Progress = lambda _: None) -> None:
    """Add a run that was stored with `about_run`; one that cannot be read is left out, and told."""
    name = _text(about, "name") or file.stem
    try:
        run = stored_run(file, name, about)
        run.prepare(progress)
    except mb.ModelError as error:
        opened.notes.append((f"{name} could not be read and is left out: {error}", "error"))
        file.unlink(missing_ok=True)
        return
    run.temporary = True
    if about.get("current") is True:
        opened.current = len(opened.runs)
    opened.runs.append(run)


def stored_run(path: Path, name: str, about: dict[str, Any] | None = None, text: str | None = None) -> Run:
    """The run in a file, with what `about_run` remembered of it; `text` is that of its model, if it is known."""
    about = about or {}
    result = load(path)
    if text is None:
        with suppress(mb.ModelError):  # of a file without its model
            text = model_text(result.system)
    info = result.info
    reason = "" if info.completed else next(iter(info.warnings[-1:]), "the run was not finished")
    return Run(
        name,
        RunSettings.from_stored(result.states.settings),
        text or "",
        result,
        complete=info.completed,
        reason="" if info.completed else _text(about, "reason") or reason,
        warnings=list(info.warnings),
        color=_text(about, "color"),
        visible=about.get("visible") is not False,
        path=path,
    )


def about_run(run: Run, current: bool) -> dict[str, Any]:
    """Facts to be remembered of a run besides its result."""
    return {
        "name": run.name,
        "color": run.color,
        "visible": run.visible,
        "reason": run.reason or ("the program ended" if run.computing else ""),
        "current": current,
    }


def _text(about: dict[str, Any], key: str) -> str:
    found = about.get(key)
    return found if isinstance(found, str) else ""
