"""`mbframe.edit`: the application in a process of its own, on a system that comes from Python and goes back there.

What travels lies in a folder of this user alone: `given`, the system, or the file of a run; `made`, what came of it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import mbframe as mb
from mbframe.errors import ModelError, Problem
from mbframe.files import model as model_files
from mbframe.files.json_text import parse
from mbframe.plug_ins import Source
from mbframe.registry import MAIN, STRATEGIES, defined, is_ours

from ..base.display import hindrance
from ..solving.tasks import Model

if TYPE_CHECKING:
    from ..document.document import Document

GIVEN: Final = "given.pickle"
RUN: Final = "given.h5"
MADE: Final = "made.pickle"
WITHIN: Final = "MBFRAME_EDITING"
"""Set in the application's process and in those that it starts: there `edit` is refused."""
PACKAGE: Final = __name__.partition(".")[0]


# ---- In the program of whoever calls it -----------------------------------------------------------------------------


def edit(given: Any) -> mb.System:
    """Open the application on a system or a result; see `mbframe.edit`."""
    if not isinstance(given, mb.System | mb.Result):
        message = f"found {type(given).__name__}; allowed are a System and a Result"
        raise ModelError([Problem("edit", "", message)])
    if os.environ.get(WITHIN):
        raise mb.MbframeError(
            "mb.edit was called again while the application imported the program for its classes; put what the program "
            'does under: if __name__ == "__main__":'
        )
    if find_spec("PySide6") is None:
        raise mb.MbframeError("mb.edit needs the desktop application: pip install 'mbframe[gui]'")
    if obstacle := hindrance():
        raise mb.MbframeError(f"mb.edit cannot open a window here. {obstacle}")
    system = given if isinstance(given, mb.System) else given.described
    classes = _own_classes(system)
    sources = dict.fromkeys(_source_of(cls) for cls in classes)
    sources |= dict.fromkeys(_sources_of_methods(given))
    with tempfile.TemporaryDirectory(prefix="mbframe-edit-") as name:
        folder = Path(name)
        (folder / GIVEN).write_bytes(pickle.dumps((Model.of(system), list(sources))))
        if isinstance(given, mb.Result):
            given.save(folder / RUN)
        ended = _run(["--edit", name])
        if not (folder / MADE).is_file():
            said = f": {ended.strip().splitlines()[-1]}" if ended.strip() else ""
            raise mb.MbframeError(f"the application ended without giving the system back{said}; yours is as it was")
        made = pickle.loads((folder / MADE).read_bytes())
        return model_files.system_from(parse(made.text, "model"), classes) if made.text else made.system()


def _run(arguments: list[str]) -> str:
    """Run the application until it is closed; returns what it complained about."""
    environment = {**os.environ, WITHIN: "1", "PYTHONSAFEPATH": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    process = subprocess.Popen(
        [sys.executable, "-m", PACKAGE, *arguments], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        return process.communicate()[1]
    except BaseException:  # Ctrl-C: the application hears it too, and asks nothing
        process.terminate()
        process.wait()
        raise


def _own_classes(system: mb.System) -> list[type[Any]]:
    """The classes of users that a system is made of."""
    parts: list[Any] = [*system]
    for body in (system.ground, *system.bodies):
        parts += [*body.shapes, getattr(body, "formulation", None)]
    return [cls for cls in dict.fromkeys(type(part) for part in parts if part is not None) if not is_ours(cls)]


def _sources_of_methods(given: Any) -> Iterator[str]:
    """From where the application gets the users' methods of a run, and those that this program has defined.

    Those of an interactive session stay there, unless the run was computed with them.
    """
    settings = given.states.settings if isinstance(given, mb.Result) else {}
    used = {type(one) for one in settings.values()}
    for base in (*STRATEGIES, "Formulation"):
        for cls in defined(getattr(mb, base)).values():
            try:
                source = _source_of(cls)
                Source.of(source)  # which the application can find
                yield source
            except ModelError:
                if cls in used:
                    raise


def _source_of(cls: type[Any]) -> str:
    """From where another process gets a class: the file of a program, or an importable module."""
    module = sys.modules.get(cls.__module__)
    if cls.__module__ not in MAIN:
        return cls.__module__
    if (spec := getattr(module, "__spec__", None)) is not None:  # python -m
        return str(spec.name)
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        message = "was defined in an interactive session, which the application cannot import; write it into a file"
        raise ModelError([Problem(cls.__name__, "", message)])
    return str(Path(file).absolute())


# ---- In the application ---------------------------------------------------------------------------------------------


class Editing:
    """What the application has to give back, and where."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def open(self, document: Document) -> tuple[Source, ...]:
        """Import the classes of the program that calls, and show what was given; it has no file.

        Returns the files of the classes, for processes that compute.
        """
        from ..document import opening

        model, sources = pickle.loads((self._folder / GIVEN).read_bytes())
        found = tuple(Source.of(source) for source in sources)
        for source in found:
            source.load()
        run = self._folder / RUN
        if run.is_file():
            opened = opening.read(run, document.run_folder)
            opened.system = model.system()
            document.take(opened)
        else:
            document.open_system(model.system())
        return found

    def give_back(self, document: Document) -> None:
        """Write what became of it; a `ModelError` says why it cannot travel."""
        content = pickle.dumps(Model.of(document.system))
        unfinished = self._folder / "unfinished"
        unfinished.write_bytes(content)
        unfinished.replace(self._folder / MADE)
