"""Why a user's method does not compile, in words: numba's own messages speak of its types and passes."""

from __future__ import annotations

import linecache
import os
import re
from typing import Final

LONGEST: Final = 60
"""Letters of a line that is quoted."""
INSTEAD: Final = "compiled are formulas of numbers, arrays, tuples, if and for, with numpy and math"

_COLOURS: Final = r"\x1b\[[0-9;]*m"  # of a terminal
_PLACE: Final = re.compile(r'File "([^"\n]+)", line (\d+)')
_CAUSES: Final = (
    (
        r"Function\(<built-in function (lt|le|gt|ge)>\)[\s\S]*complex",
        "compares what is differentiated; max, min, abs and np.sign are compiled, or give gradient and curvature",
    ),
    (r"NRT required", "makes a list or a dictionary; tuples and np.array(...) are compiled"),
    (r"[Dd]ict|DictType|build_map|BUILD_MAP", "uses a dictionary; numbers, tuples and arrays are compiled"),
    (r"Untyped global name '(\w+)'", "uses {0}, which is no number, array or plain function; make it a parameter"),
    (r"NameError: name '(\w+)'", "uses {0}, which is not defined; define it"),
    (
        r"Unknown attribute '(\w+)' of type",
        "asks for .{0}, which is no number, array or function of time; make it a parameter",
    ),
    (r"__call__", "calls a function of time as Python does; mbframe.functions.evaluate(self.law, x) is compiled"),
    (r"has no field|KeyError: '?(\w+)", "asks for .{0}, which is no parameter; make it one"),
    (r"unicode_type|Literal\[str\]", "uses a text; numbers and arrays are compiled"),
)


def in_words(error: Exception) -> str:
    """What to say of a compiler's error: the expression, what is wrong with it, what to write instead."""
    told = re.sub(_COLOURS, "", f"{type(error).__name__}: {error}")
    cause = next(
        (words.format(*found.groups("")) for pattern, words in _CAUSES if (found := re.search(pattern, told))), ""
    )
    return f"{_quoted(told)} {cause or f'cannot be compiled; {INSTEAD}'}"


def _quoted(told: str) -> str:
    """The expression of the user's that an error tells of, with its line; "it" where none is told."""
    theirs = [(file, int(line)) for file, line in _PLACE.findall(told) if not _is_library(file)]
    if not theirs:
        return "it"
    file, line = theirs[-1]
    text = "".join(letter for letter in linecache.getline(file, line).strip() if letter.isprintable())
    shown = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return f"line {line} of {os.path.basename(file)}{f', {shown},' if shown else ''}"


def _is_library(file: str) -> bool:
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return "site-packages" in file or os.path.abspath(file).startswith(here + os.sep)
