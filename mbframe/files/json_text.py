"""JSON text: strict reading with limits, so that no file can stop or surprise the program, and readable writing."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from ..errors import ModelError, Problem

MAX_BYTES: Final = 16_000_000
"""Largest file."""
MAX_DEPTH: Final = 16
"""Deepest nesting; a model needs about six levels."""
MAX_TEXT: Final = 10_000
"""Longest text, in characters: as long as an expression may be."""
MAX_INTEGER: Final = 2**53
"""Largest whole number: above it a float cannot hold them all."""
WIDTH: Final = 120
"""A list or object that fits into this many characters is written on one line."""


# ---- Reading ------------------------------------------------------------------------------------------------------


class _Repeated(dict[str, Any]):
    """An object in which keys occur twice; `keys_twice` says which."""

    keys_twice: list[str]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    found, seen, twice = _Repeated(plain), set(), []
    for key, _ in pairs:
        if key in seen:
            twice.append(key)
        seen.add(key)
    found.keys_twice = twice
    return found


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON; give a finite one")


def parse(content: bytes | str, source: str) -> Any:
    """The value that a JSON text stands for; whatever is wrong with it is a `ModelError` in the name of `source`."""
    if len(content) > MAX_BYTES:
        raise _bad(source, f"has {len(content):,} bytes; allowed are {MAX_BYTES:,}; split the model")
    try:
        text = (content.decode() if isinstance(content, bytes) else content).removeprefix("\ufeff")
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} is no UTF-8; save the file as UTF-8 text"
        raise _bad(source, message) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _bad(source, f"{place}: {error.msg}; this is no JSON: correct it there") from None
    except RecursionError:
        raise _bad(source, f"is nested too deeply; allowed are {MAX_DEPTH} levels") from None
    except ValueError as error:  # NaN, Infinity, a whole number of thousands of digits
        raise _bad(source, str(error)) from None
    problems = list(faults(value))
    if problems:
        raise ModelError(problems)
    return value


def _bad(source: str, message: str) -> ModelError:
    return ModelError([Problem(source, "", message)])


def faults(value: Any, path: str = "$", levels: int = MAX_DEPTH) -> Iterator[Problem]:
    """What JSON allows and a model does not, with its JSON path."""
    message = ""
    if isinstance(value, str):
        message = text_fault(value)
    elif isinstance(value, float):
        if not math.isfinite(value):
            message = "found a number beyond the range of floats; give a finite one"
    elif isinstance(value, int):
        if abs(value) > MAX_INTEGER:
            message = "found a whole number beyond 2^53; write it with a decimal point"
    elif isinstance(value, list | dict) and levels == 0:
        message = f"is nested too deeply; allowed are {MAX_DEPTH} levels"
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            if type(entry) is not float or not math.isfinite(entry):
                yield from faults(entry, f"{path}[{number}]", levels - 1)
    elif isinstance(value, dict):
        for key in value.keys_twice if isinstance(value, _Repeated) else ():
            yield Problem("", child(path, key), "occurs twice in the same object; keep one of them")
        for key, entry in value.items():
            if fault := text_fault(key):
                yield Problem("", path, f"has a key that is no text of a model: {fault}")
            else:
                yield from faults(entry, child(path, key), levels - 1)
    if message:
        yield Problem("", path, message)


def text_fault(text: str) -> str:
    """What forbids a text, or nothing."""
    if len(text) > MAX_TEXT:
        return f"found {len(text)} characters; allowed are {MAX_TEXT}"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "found half of a surrogate pair, which is no character; write the character itself"
    return ""


def child(path: str, key: str) -> str:
    """JSON path of a member: ``$.elements[3].mass``, and ``$["odd key"]`` where the key is no plain word."""
    if key.isidentifier() and key.isascii():
        return f"{path}.{key}"
    return f"{path}[{json.dumps(key if len(key) <= 60 else key[:57] + '...', ensure_ascii=False)}]"


# ---- Writing ------------------------------------------------------------------------------------------------------


def dumps(value: Any) -> str:
    """The text of a JSON value: exact numbers, stable order, short lists and objects on one line."""
    return "".join(_lines(value, "", WIDTH)) + "\n"


def one_line(value: Any) -> str:
    """The text of a JSON value on one line. Equal texts mean equal values, down to the sign of zero."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(value: Any, indent: str, before: int) -> Iterator[str]:
    """The lines of a value, of which `before` characters of the first are taken."""
    text = one_line(value)
    if not isinstance(value, list | dict) or not value or before + len(text) < WIDTH:
        yield text
        return
    inner = indent + "  "
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield f"{opening}\n"
    if isinstance(value, list) and all(isinstance(entry, float) for entry in value):
        yield textwrap.fill(text[1:-1], WIDTH, initial_indent=inner, subsequent_indent=inner) + "\n"
    else:
        for number, entry in enumerate(value, 1):
            member = f"{inner}{one_line(entry)}: " if isinstance(value, dict) else inner
            yield member
            yield from _lines(value[entry] if isinstance(value, dict) else entry, inner, len(member))
            yield ",\n" if number < len(value) else "\n"
    yield f"{indent}{closing}"
