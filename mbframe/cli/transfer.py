"""`mbframe export` and `examples`: results and models in other forms."""

from __future__ import annotations

import inspect
from argparse import Namespace
from pathlib import Path
from typing import Any, Final

from .. import examples
from ..disk.atomic import write_text
from ..errors import ModelError, Problem
from ..files.model import save
from ..files.python_writer import to_python
from ..system import System
from .models import add_classes_option, import_given, model, unknown_in
from .outcome import OK, add_output_options, check_packages, tell
from .run import RESULT_SUFFIXES, TABLE_SUFFIXES

MODEL_SUFFIXES: Final = (".json", ".py")
PICTURE_SUFFIXES: Final = (".mp4", ".gif", ".png", ".glb", ".html", ".pvd")


def add_commands(commands: Any) -> None:
    """export, examples."""
    parser = commands.add_parser(
        "export",
        help="a result as video, pictures, 3D animation or table; a model as JSON or Python",
        description="Write a result (.h5) as .mp4, .gif, .png (frames), .glb, .html, .pvd, .csv or .parquet, or a "
        "model (.json or the name of an example) as .json or .py.",
    )
    parser.add_argument("model", metavar="SOURCE", help="a result file (.h5), a model file (.json) or an example")
    parser.add_argument("target", metavar="FILE", help="what to write; its ending says in which form")
    parser.add_argument("--quantities", metavar="NAME", nargs="+", default=[], help="columns, such as bar.position.x")
    parser.add_argument("--fps", type=float, metavar="N", help="pictures per second")
    parser.add_argument("--size", metavar="WxH", help="size of the pictures, such as 1280x720")
    parser.add_argument("--color", metavar="FIELD", help="what colours of flexible bodies show: stress")
    add_classes_option(parser)
    add_output_options(parser)
    parser.set_defaults(command=export)
    parser = commands.add_parser(
        "examples",
        help="list the examples, or copy one out",
        description="List the examples; with a name and --output, write one as a model file (.json) or script (.py).",
    )
    parser.add_argument("model", metavar="NAME", nargs="?", help="which example; left out, all are listed")
    parser.add_argument("--output", metavar="FILE", help="where to write it; left out, the script is printed")
    add_output_options(parser)
    parser.set_defaults(command=list_examples, classes=[])


def export(options: Namespace) -> int:
    """Write a result or a model in another form."""
    suffix, source = Path(options.target).suffix.lower(), Path(options.model).suffix.lower()
    if suffix not in (*MODEL_SUFFIXES, *PICTURE_SUFFIXES, *TABLE_SUFFIXES):
        allowed = ", ".join((*PICTURE_SUFFIXES, *TABLE_SUFFIXES, *MODEL_SUFFIXES))
        raise _wrong("FILE", f"found {options.target!r}; allowed are files that end with {allowed}")
    if source not in RESULT_SUFFIXES:
        if suffix not in MODEL_SUFFIXES:
            remedy = f"simulate it first: mbframe run {options.model} --output run.h5"
            raise _wrong("SOURCE", f"found {options.model!r}, a model, which has no motion; {remedy}")
        system, settings = model(options)
        write_model(system, settings, options.target)
        unknown = unknown_in(system, settings)
        tell(options, {"written": options.target, "unknown": unknown}, f"written to {options.target}", *unknown)
        return OK
    _export_result(options, suffix)
    tell(options, {"written": options.target}, f"written to {options.target}")
    return OK


def _export_result(options: Namespace, suffix: str) -> None:
    import mbframe

    if suffix in (*PICTURE_SUFFIXES, ".parquet"):
        check_packages(suffix)
    import_given(options)
    result = mbframe.load_result(options.model)
    if suffix in MODEL_SUFFIXES:
        write_model(result.system, None, options.target)
    elif suffix in TABLE_SUFFIXES:
        result.export(options.target, *options.quantities)
    else:
        given = {"fps": options.fps, "size": _size(options.size), "color": options.color}
        mbframe.render.export(
            result, options.target, **{key: value for key, value in given.items() if value is not None}
        )


def _size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    width, _, height = text.lower().partition("x")
    if not (
        width.isdecimal() and height.isdecimal() and max(len(width), len(height)) < 10 and int(width) and int(height)
    ):
        raise _wrong("--size", f"found {text!r}; allowed is width and height, such as 1280x720")
    return int(width), int(height)


def write_model(system: System, settings: dict[str, Any] | None, target: str) -> None:
    """A model as a file or a script, by the ending of its name."""
    if Path(target).suffix.lower() == ".py":
        write_text(target, to_python(system, simulation=settings))
    else:
        save(system, target, simulation=settings)


def list_examples(options: Namespace) -> int:
    """List the examples, or copy one out."""
    if options.model is None:
        about = {name: _first_sentence(getattr(examples, name)) for name in examples.names()}
        widest = max(map(len, about))
        tell(options, {"examples": about}, *(f"{name:<{widest}}  {words}" for name, words in about.items()))
        return OK
    system, settings = model(options)
    if options.output is None:
        script = to_python(system, simulation=settings)
        tell(options, {"script": script}, script.rstrip("\n"))
        return OK
    if Path(options.output).suffix.lower() not in MODEL_SUFFIXES:
        raise _wrong("--output", f"found {options.output!r}; allowed are files that end with .json or .py")
    write_model(system, settings, options.output)
    tell(options, {"written": options.output}, f"written to {options.output}")
    return OK


def _first_sentence(function: Any) -> str:
    text = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    return text.partition("; ")[0].partition(". ")[0].rstrip(".")


def _wrong(argument: str, message: str) -> ModelError:
    return ModelError([Problem("", argument, message)])
