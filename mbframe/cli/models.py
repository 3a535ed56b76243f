"""What commands take: a model by file or example, and methods by name."""

from __future__ import annotations

import ast
import difflib
import sys
from argparse import ArgumentParser, Namespace
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from .. import examples
from ..errors import ModelError, Problem, shown
from ..files.catalogue import Catalogue
from ..files.model import read, settings_from, system_from
from ..files.reader import STRATEGY_SETTINGS, Reader
from ..files.robots import import_urdf
from ..plug_ins import import_classes, import_offered
from ..registry import built_in, name_of, registered, strategy_base
from ..system import System
from ..unknown import UnknownFormulation, UnknownShape, UnknownStrategy

EXAMPLE_DURATION: Final = 5.0
"""Simulated time of an example if nothing is said, s."""
LONGEST_TEXT: Final = 1000  # of a method on the command line


def add_model_argument(parser: ArgumentParser) -> None:
    """MODEL, and what gives the classes that it needs."""
    parser.add_argument(
        "model", metavar="MODEL", help="a model (.json) or robot (.urdf) file, or the name of an example"
    )
    add_classes_option(parser)


def add_classes_option(parser: ArgumentParser) -> None:
    """--classes, which may be given several times."""
    parser.add_argument(
        "--classes",
        metavar="FILE_OR_MODULE",
        action="append",
        default=[],
        help="your own classes: a Python file or an importable module, which is run; may be repeated",
    )


def add_method_options(parser: ArgumentParser, *settings: str, several: bool = False) -> None:
    """One option per strategy; with `several` it takes a list, which gets the plural for its name."""
    for setting in settings:
        many: dict[str, Any] = {"dest": f"{setting}s", "nargs": "+"} if several else {}
        parser.add_argument(
            f"--{setting}{'s' if several else ''}",
            metavar="NAME",
            help=f"{setting}{'s' if several else ''} by name, with parameters if wanted: {_EXAMPLES[setting]}",
            **many,
        )


_EXAMPLES: Final = {
    "formulation": "NaturalAbsolute, 'EulerAngles(sequence=\"ZXZ\")'",
    "acceleration": "AugmentedFormulation",
    "stabilization": "'Baumgarte(alpha=10, beta=10)'",
    "integrator": "RungeKutta4, 'DormandPrince(order=5, rtol=1e-8)'",
}


def import_given(options: Namespace) -> None:
    """Make the classes of `--classes` known. What their modules print is no part of a command's answer."""
    with redirect_stdout(sys.stderr):
        for source in options.classes:
            import_classes(source)


def model(options: Namespace) -> tuple[System, dict[str, Any]]:
    """The system that was asked for, and the settings of its simulation: of the file, then of the command."""
    import_given(options)
    name: str = options.model
    notices: list[str] = []
    example = name.replace("-", "_")
    if example in examples.names() and not Path(name).exists():
        system, settings = getattr(examples, example)(), {"t_end": EXAMPLE_DURATION}
    elif Path(name).suffix.lower() == ".urdf":
        system, settings = import_urdf(name, notices=notices), {"t_end": EXAMPLE_DURATION}
        for notice in notices:
            print(f"left out: {shown(notice)}", file=sys.stderr)
    elif Path(name).expanduser().exists() or Path(name).suffix:
        document = read(name)
        folder = Path(name).expanduser().absolute().parent
        with redirect_stdout(sys.stderr):  # installed packages that have its classes are imported
            system, settings = system_from(document, (), folder, notices), settings_from(document, keep_unknown=True)
        for notice in notices:
            print(f"mesh: {shown(notice)}", file=sys.stderr)
    else:
        near = difflib.get_close_matches(example, examples.names(), n=1, cutoff=0.5)
        meant = f"did you mean {near[0]!r}? " if near else ""
        message = f"there is no such file and no such example; {meant}list the examples with: mbframe examples"
        raise ModelError([Problem(repr(name), "", message)])
    given = {key: getattr(options, key, None) for key in ("t_end", "dt", *STRATEGY_SETTINGS)}
    chosen = {key: value for key, value in given.items() if value is not None}
    chosen |= {key: strategy(key, text) for key, text in chosen.items() if key in STRATEGY_SETTINGS}
    return system, settings | chosen


def unknown_in(system: System, settings: dict[str, Any]) -> list[str]:
    """Sentences about what is of unknown classes, one for each class."""
    named: dict[str, list[str]] = {}
    for element in system.unknown:
        named.setdefault(element.reason, []).append(str(element))
    for body in system.bodies:
        if isinstance(formulation := getattr(body, "formulation", None), UnknownFormulation):
            named.setdefault(formulation.reason, []).append(f"formulation of {body}")
        for shape in body.shapes:
            if isinstance(shape, UnknownShape):
                named.setdefault(f"{shape.type} is not drawn", []).append(f"shape of {body}")
    for key, value in settings.items():
        if isinstance(value, UnknownStrategy | UnknownFormulation):
            named.setdefault(value.reason, []).append(key)
    return [f"unknown: {', '.join(found)}: {why}" for why, found in named.items()]


def strategy(setting: str, text: str) -> Any:
    """A strategy from its text, such as "DormandPrince(order=5, rtol=1e-8)"; also one of a user's class."""
    value = parsed(setting, text)
    name = value if isinstance(value, str) else value["type"]
    if name not in built_in(strategy_base(setting)):
        name = _full_name(setting, name)
        value = name if isinstance(value, str) else {**value, "type": name}
    return Reader(Catalogue()).strategy(setting, value)


def _full_name(setting: str, name: str) -> str:
    """How files call the users' class of that name; the name itself if there is none."""
    base = strategy_base(setting)

    def found() -> str | None:
        return next((name_of(cls) for cls in registered(base).values() if cls.__name__ == name), None)

    if full := found():
        return full
    with redirect_stdout(sys.stderr):
        problems = import_offered()
    for problem in problems:
        print(f"plug-in: {problem}", file=sys.stderr)
    return found() or name


def parsed(setting: str, text: str) -> Any:
    """The text of a strategy as a plain value, as it would stand in a file. It is read, never executed."""
    try:
        if len(text) > LONGEST_TEXT:
            raise ValueError
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return node.id
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
            raise ValueError
        values = {str(word.arg): _plain(ast.literal_eval(word.value)) for word in node.keywords if word.arg}
        if len(values) < len(node.keywords):
            raise ValueError
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        found = text if len(text) <= 60 else f"{text[:57]}..."
        message = f"found {found!r}; allowed is a name, or a name with parameters: {_EXAMPLES[setting]}"
        raise ModelError([Problem("", f"--{setting}", message)]) from None
    return {"type": node.func.id, **values}


def _plain(value: Any) -> Any:
    """Numbers, texts, flags and lists of them."""
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError
