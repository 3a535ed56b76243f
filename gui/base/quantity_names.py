"""Names of quantities taken apart, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

COMPONENTS: Final = ("x", "y", "z", "magnitude")


def split(name: str, elements: Iterable[str]) -> tuple[str, str, str]:
    """Element, kind and component of a name; names of elements may contain dots."""
    owner = max((e for e in elements if name == e or name.startswith(f"{e}.")), key=len, default="")
    rest = name[len(owner) :].strip(".")
    if not owner:
        owner, _, rest = name.partition(".")
    kind, _, last = rest.rpartition(".")
    if kind and (last in COMPONENTS or last.isdigit()):
        return owner, kind, last
    return owner, rest, ""


def in_words(name: str, elements: Iterable[str]) -> str:
    """A name as it is read: "bar.reaction.force.x" is "bar reaction force x"."""
    return " ".join(part.replace("_", " ").replace(".", " ") for part in split(name, elements) if part)


def shortened(names: Sequence[str]) -> tuple[str, list[str]]:
    """Common beginning or end of several names, whichever is longer, and the rest of each."""
    words = [name.split() for name in names]
    shared = min(map(len, words), default=0) - 1 if len(set(names)) > 1 else 0
    first = next((k for k in range(shared, 0, -1) if len({tuple(w[:k]) for w in words}) == 1), 0)
    last = next((k for k in range(shared, 0, -1) if len({tuple(w[-k:]) for w in words}) == 1), 0)
    if last > first:
        return " ".join(words[0][-last:]), [" ".join(w[:-last]) for w in words]
    return " ".join(words[0][:first]) if words else "", [" ".join(w[first:]) for w in words]
