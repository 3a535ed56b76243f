"""JSON text: strict reading with limits, so that no file can stop or surprise the program, and readable writing."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from ..errors import ModelError, Problem
from ..limits import allowed, check_memory
from ..packed import claimed_bytes, is_packed

MAX_DEPTH: Final = 16
"""Deepest nesting; a model needs about six levels."""
MAX_TEXT: Final = 10_000
"""Longest text, in characters: as long as an expression may be."""
MAX_INTEGER: Final = 2**53
"""Largest whole number: above it a float cannot hold them all."""
_COPIES: Final = 3  # bytes of text are held once, and as characters twice: in the text and in its values
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
    check_memory(source, parsed_bytes(content))
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
    claims: list[int] = []
    if not _is_sound(value, MAX_DEPTH, claims):
        problems = list(faults(value))
        if problems:
            raise ModelError(problems)
    check_memory(source, sum(claims))
    return value


def most_bytes() -> int:
    """The longest text that may be parsed, if it stands for few values."""
    return int(allowed().memory) // _COPIES


def parsed_bytes(content: bytes | str) -> int:
    """About the memory that the values of a JSON text fill: a short text may stand for many of them.

    An entry of a list takes 8 bytes and a number 32, an empty list 56 + 16, an object 64 and 180 more with its first
    key, a text 50 besides its characters.
    """
    comma, square, brace, quote = (b",", b"[", b"{", b'"') if isinstance(content, bytes) else (",", "[", "{", '"')
    counts: list[int] = [content.count(sign) for sign in (comma, square, brace, quote)]  # type: ignore[arg-type]
    return _COPIES * len(content) + sum(count * size for count, size in zip(counts, (40, 80, 250, 30), strict=True))


def _is_sound(value: Any, levels: int, claims: list[int]) -> bool:
    """Whether nothing is wrong with a value: quicker than `faults`, which says what.

    The memory that packed arrays claim to need joins `claims`.
    """
    kind = type(value)
    if kind is float:
        return math.isfinite(value)
    if kind is int:
        return -MAX_INTEGER <= value <= MAX_INTEGER
    if kind is str:
        return not text_fault(value)
    if kind is list:
        if levels == 0:
            return False
        for entry in value:
            inner = type(entry)
            if inner is float:
                if not math.isfinite(entry):
                    return False
            elif inner is int:
                if not -MAX_INTEGER <= entry <= MAX_INTEGER:
                    return False
            elif not _is_sound(entry, levels - 1, claims):
                return False
        return True
    if kind is not dict:
        return value is None or kind is bool  # not a `_Repeated`
    if levels == 0:
        return False
    if is_packed(value):
        try:
            claims.append(claimed_bytes(value))
        except ValueError:
            return False
        return True
    return all(_is_sound(key, 1, claims) and _is_sound(entry, levels - 1, claims) for key, entry in value.items())


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
    elif is_packed(value):
        try:
            claimed_bytes(value)
        except ValueError as error:
            message = str(error)
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
