"""Writes `mbframe/__init__.pyi`: the public names for type checkers and editors.

The classes of elements and strategies take what they declare; everything else is passed on from the module it is in.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import mbframe as mb
from mbframe.parameters import Element
from mbframe.registry import ADDED, STRATEGIES, built_in
from mbframe.signatures import signature

PLACE: Final = Path(mb.__file__).with_name("__init__.pyi")
HEAD: Final = '''"""The public names of mbframe, written by scripts/assets stubs from what the classes declare."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from . import examples as examples
from . import flexible as flexible
from . import formulations as formulations
from . import render as render
from .flexible.modes import Modes as _Modes
from .markers import Axis as _Axis
'''


UNIONS: Final = """
__version__: str
_Vector = Sequence[float] | NDArray[Any]
_Matrix = Sequence[Sequence[float]] | NDArray[Any]
_Law = float | str | Function | Callable[..., Any]
"""


def stub() -> str:
    """The text of the stub, not yet in order."""
    told = {cls.__name__: cls for base in (*ADDED, *STRATEGIES) for cls in built_in(getattr(mb, base)).values()}
    lines = [HEAD]
    for place, names in vars(mb)["_PLACES"].items():
        for name in names:
            lines.append(f"from .{place} import {name} as {f'_{name}' if name in told else name}")
    lines.append(UNIONS)
    for name, cls in sorted(told.items()):
        lines += [f"class {name}(_{name}):", *(f"    {line}" for line in _constructors(cls))]
    lines.append(f"\n__all__ = {mb.__all__!r}")
    return "\n".join(lines) + "\n"


def _constructors(cls: type[Element]) -> Iterator[str]:
    arguments = list(signature(cls).parameters.values())
    written = [_argument(a) for a in arguments]
    first = next((k for k, a in enumerate(arguments) if a.kind is a.KEYWORD_ONLY), None)
    if first is not None:
        written.insert(first, "*")
    between_markers = issubclass(cls, mb.BasicConstraint)
    lifted = {name: p.unless for name, p in cls.parameters().items() if p.unless}
    if between_markers or lifted:
        yield "@overload"
    yield f"def __init__(self, {', '.join(written)}) -> None: ..."
    if lifted:  # with the flag that takes their place
        yield "@overload"
        yield f"def __init__(self, {', '.join(_with_flag(arguments, lifted))}) -> None: ..."
    if between_markers:  # inside a joint
        yield "@overload"
        yield "def __init__(self, i: Marker | _Axis, j: Marker | _Axis, **values: Any) -> None: ..."


def _with_flag(arguments: list[inspect.Parameter], lifted: dict[str, str]) -> Iterator[str]:
    """The arguments of a call with the flag beside which some have no meaning."""
    keywords = False
    for a in arguments:
        if a.kind is a.KEYWORD_ONLY and not keywords:
            keywords = True
            yield "*"
        if a.name in lifted.values():
            yield f"{a.name}: Literal[True]"
        elif a.name not in lifted:
            yield _argument(a)


def _argument(a: inspect.Parameter) -> str:
    text = str(a.annotation)
    for word in ("Vector", "Matrix", "Law", "Modes"):
        text = text.replace(word, f"_{word}")
    return f"{a.name}: {text}{'' if a.default is a.empty else f' = {a.default!r}' if _simple(a.default) else ' = ...'}"


def _simple(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def formatted() -> str:
    """The stub as it is kept."""
    text = stub()
    for order in (["check", "--select", "I,RUF022", "--fix", "--quiet"], ["format"]):
        call = [sys.executable, "-m", "ruff", *order, "--stdin-filename", str(PLACE), "-"]
        text = subprocess.run(call, input=text, capture_output=True, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    PLACE.write_text(formatted())
