"""JSON text: strict reading with limits, so that no file can stop or surprise the program, and readable writing."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NoReturn

from ..errors import ModelError, Problem
from ..limits import allowed, check_memory, no_collection
from ..packed import claimed_bytes, is_packed

MAX_DEPTH: Final = 16
"""Deepest nesting; a model needs about six levels."""
MAX_TEXT: Final = 10_000
"""Longest text, in characters: as long as an expression may be."""
MAX_INTEGER: Final = 2**53
"""Largest whole number: above it a float cannot hold them all."""
_COPIES: Final = 3  # bytes of text are held once, and as characters twice: in the text and in its values
ESCAPED_COLON: Final = "\\u003"  # how it begins, as a character of a text may be written
_KINDS: Final = {float, int, bool, str, list, dict, type(None)}
WIDTH: Final = 120
"""A list or object that fits into this many characters is written on one line."""
_MANY: Final = WIDTH // 3
"""A list of more entries does not fit: each takes a character and a comma with a space."""
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


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
        with no_collection():  # which would look at all lists again and again while they come
            value = json.loads(text, parse_constant=_refuse_constant)
            found = _Survey.of(value)
            if found is None or ESCAPED_COLON in text or found.colons != text.count(":"):  # a key may occur twice
                value = None  # both at once would take twice the memory
                value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
                found = _Survey.of(value)
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} is no UTF-8; save the file as UTF-8 text"
        raise _bad(source, message) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _bad(source, f"{place}: {error.msg}; this is no JSON: correct it there") from None
    except RecursionError:
        raise _bad(source, f"is nested too deeply; allowed are {MAX_DEPTH} levels") from None
    except ValueError as error:  # NaN, Infinity, a whole number of thousands of digits
        absurd = "int_max_str_digits" in str(error)
        raise _bad(source, "has a whole number of thousands of digits" if absurd else str(error)) from None
    if found is None:
        raise ModelError(list(faults(value)))
    check_memory(source, found.claimed)
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


@dataclass
class _Survey:
    """What a look at all values finds. claimed: bytes that packed arrays claim to need. colons: how many colons the
    text of the values has, with one for each key: it has more of them if a key occurs twice, and is lost.
    """

    claimed: int = 0
    colons: int = 0

    @classmethod
    def of(cls, value: Any) -> _Survey | None:
        """Of a value with which nothing is wrong; otherwise None, and `faults` says what.

        Looks at all values of one level at once, in compiled code.
        """
        found, level = cls(), [value]
        for _ in range(MAX_DEPTH + 1):
            kinds = set(map(type, level))
            if not kinds <= _KINDS:
                return None  # such as `_Repeated`
            if not found.note(*(_of_kind(level, kind, kinds) for kind in (float, int, str))):
                return None
            lists: list[list[Any]] = _of_kind(level, list, kinds)
            objects = found.inside(_of_kind(level, dict, kinds))
            if objects is None:
                return None
            if not lists and not objects:
                return found
            level = list(chain(chain.from_iterable(lists), chain.from_iterable(map(dict.values, objects))))
        return None  # nested too deeply

    def note(self, numbers: list[float], whole: list[int], texts: list[str]) -> bool:
        """Whether these values are sound."""
        # A sum is not finite if one number is not; it may overflow without such a one.
        sound = (math.isfinite(sum(numbers)) or all(map(math.isfinite, numbers))) and (
            not whole or -MAX_INTEGER <= min(whole) <= max(whole) <= MAX_INTEGER
        )
        return sound and self._text(texts)

    def inside(self, objects: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """Those of these objects whose values are still to be looked at; None if something is wrong with one."""
        self.colons += sum(map(len, objects))
        if not self._text(list(chain.from_iterable(objects))):
            return None
        arrays = [one for one in objects if "packed" in one and is_packed(one)]
        if not arrays:
            return objects
        try:
            self.claimed += sum(map(claimed_bytes, arrays))
        except ValueError:
            return None
        self.colons += sum(one["data"].count(":") for one in arrays)
        return [one for one in objects if not is_packed(one)]

    def _text(self, texts: list[str]) -> bool:
        if max(map(len, texts), default=0) > MAX_TEXT:
            return False
        for begin in range(0, len(texts), 1000):  # together, but not all of them a second time in memory
            together = "".join(texts[begin : begin + 1000])
            self.colons += together.count(":")
            if not together.isascii() and any(map(text_fault, texts[begin : begin + 1000])):
                return False
        return True


def _of_kind(level: list[Any], kind: type, kinds: set[type]) -> list[Any]:
    if kind not in kinds:
        return []
    return level if len(kinds) == 1 else [entry for entry in level if type(entry) is kind]


def _bad(source: str, message: str) -> ModelError:
    return ModelError([Problem(source, "", message)])


def problems_of(value: Any) -> list[Problem]:
    """What JSON allows and a model does not, with its JSON path."""
    return [] if _Survey.of(value) is not None else list(faults(value))


def faults(value: Any, path: str = "$", levels: int = MAX_DEPTH) -> Iterator[Problem]:
    """What `problems_of` lists, looked for value by value, which takes ten times as long as a survey."""
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
    parts: list[str] = []
    _write(value, "", WIDTH, parts)
    return "".join(parts) + "\n"


def one_line(value: Any) -> str:
    """The text of a JSON value on one line. Equal texts mean equal values, down to the sign of zero."""
    return _ENCODER.encode(value)


def _write(value: Any, indent: str, before: int, parts: list[str]) -> None:
    """Add the lines of a value, of which `before` characters of the first are taken, to the parts of a text."""
    nested = isinstance(value, list | dict)
    if not nested or len(value) <= _MANY:
        text = one_line(value)
        if not nested or not value or before + len(text) < WIDTH:
            parts.append(text)
            return
    inner = indent + "  "
    if isinstance(value, dict):
        parts.append("{\n")
        for key, entry in value.items():
            member = f"{inner}{one_line(key)}: "
            parts.append(member)
            _write(entry, inner, len(member), parts)
            parts.append(",\n")
        parts[-1] = f"\n{indent}}}"
    elif set(map(type, value)) == {float}:
        lines = textwrap.fill(one_line(value)[1:-1], WIDTH, initial_indent=inner, subsequent_indent=inner)
        parts.append(f"[\n{lines}\n{indent}]")
    else:
        parts.append("[\n")
        for entry in value:
            parts.append(inner)
            _write(entry, inner, len(inner), parts)
            parts.append(",\n")
        parts[-1] = f"\n{indent}]"
