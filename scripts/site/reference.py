"""Pages of the reference: one for each public name, from its docstring and its declared parameters."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import mbframe as mb
from mbframe.parameters import Element

PACKAGES: tuple[tuple[str, ModuleType], ...] = (
    ("mb.", mb),
    ("mb.flexible.", mb.flexible),
    ("mb.render.", mb.render),
    ("mb.formulations.", mb.formulations),
)
LISTS = ("Parameters", "Returns", "Raises", "Attributes", "Yields")
"""Sections of docstrings that list terms."""


def public() -> Iterator[tuple[str, Any]]:
    """Classes and functions that users call, by the name that they write."""
    for prefix, package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                yield prefix + name, value


def reference_pages(folder: Path) -> None:
    """Write a page for each name, and an overview by the room that they come from."""
    folder.mkdir()
    rooms: dict[str, list[str]] = {}
    for name, value in public():
        rooms.setdefault(room_of(name, value), []).append(name)
        (folder / f"{name}.md").write_text(page(name, value), encoding="utf-8")
    parts = ["# Reference", "Names of `import mbframe as mb`, by the room that they come from."]
    for room, names in sorted(rooms.items()):
        links = " · ".join(f"[`{name}`]({name}.md)" for name in sorted(names))
        tree = "\n".join(["```{toctree}", ":hidden:", "", *sorted(names), "```"])
        parts += [f"## {room}", links, tree]
    (folder / "index.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def room_of(name: str, value: Any) -> str:
    """The package below mbframe in which a name is defined."""
    module = str(value.__module__).split(".")
    return module[1] if len(module) > 2 or name.count(".") > 1 else "the model and its results"


def page(name: str, value: Any) -> str:
    """A class or function: how it is called, what it does, its parameters; of a class its methods too."""
    declares: type[Element] | None = value if inspect.isclass(value) and issubclass(value, Element) else None
    about = inspect.getdoc(value) or ""
    parts = [f"# {name}", f"```python\n{called(name, value)}\n```"]
    parts.append(markdown(without_parameters(about) if declares else about))
    if inspect.isclass(value):
        above = [base for base in value.__mro__[1:] if base in set(dict(public()).values())]
        if above:
            names = {one: known for known, one in public()}
            parts.append("Is a " + ", a ".join(f"[`{names[base]}`]({names[base]}.md)" for base in above) + ".")
        if declares and (table := parameters_of(declares)):
            parts += ["## Parameters", table]
        if members := methods_of(value):
            parts += ["## Methods and properties", members]
    return "\n\n".join(part for part in parts if part) + "\n"


def without_parameters(text: str) -> str:
    """A docstring without the section that `parameters_of` shows as a table."""
    return re.sub(r"^Parameters\n-{3,}\n.*?(?=^\w+\n-{3,}\n|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)


def called(name: str, value: Any) -> str:
    """The call with its arguments, a line each if there are many."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    arguments = [re.sub(r"'([^']*)'", r"\1", str(p)) for key, p in signature.parameters.items() if key != "self"]
    line = f"{name}({', '.join(arguments)})"
    return line if len(line) <= 100 else f"{name}(\n    " + ",\n    ".join(arguments) + ",\n)"


def parameters_of(kind: type[Element]) -> str:
    """A table of what an element declares."""
    rows = [
        f"| `{name}` | {cell(p.unit)} | {cell(plain(p.default))} | {cell(p.help)} |"
        for name, p in kind.parameters().items()
    ]
    return "\n".join(["| name | unit | default | meaning |", "|---|---|---|---|", *rows]) if rows else ""


def plain(default: Any) -> str:
    """A default value as one writes it; nothing for what has to be given."""
    text = repr(default)
    return "" if default is None or text.startswith("<") else text


def cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "\\<").replace("*", "\\*")


def methods_of(kind: type) -> str:
    """Public methods and properties that a class defines itself, with the first sentence of each."""
    terms = []
    for key, member in vars(kind).items():
        about = inspect.getdoc(member) if inspect.isroutine(member) or isinstance(member, property) else None
        if key.startswith("_") or not about:
            continue
        call = f".{key}" if isinstance(member, property) else called(f".{key}", getattr(kind, key))
        terms.append(f"`{' '.join(call.split())}`\n: {prose(about.split(chr(10) * 2)[0])}")
    return "\n\n".join(terms)


def prose(text: str) -> str:
    """Running text that Markdown leaves as it is."""
    joined = " ".join(text.split()).replace("``", "`")
    parts = joined.split("`")
    parts[::2] = [re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def markdown(text: str) -> str:
    """A docstring: paragraphs, indented formulas, lists and sections of terms."""
    start, *sections = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    parts = [blocks(start)]
    for title, content in zip(sections[::2], sections[1::2], strict=True):
        if title not in LISTS:
            parts += [f"## {title}", blocks(content)]
            continue
        found = re.findall(r"^(\S.*)\n((?:[ \t]+.*\n?|\n)*)", content + "\n", re.MULTILINE)
        terms = [f"`{term.replace('`', '')}`\n: {prose(about) or '–'}" for term, about in found]
        parts += [f"## {title}", "\n\n".join(terms)]
    return "\n\n".join(part for part in parts if part)


def blocks(text: str) -> str:
    """Paragraphs as they are; what is indented is a formula or code."""
    parts = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.splitlines()
        if lines and all(line.startswith("    ") for line in lines):
            parts.append(f"```text\n{inspect.cleandoc(block)}\n```")
        elif any(re.match(r"\s*[-*] ", line) for line in lines):
            items = re.split(r"^\s*[-*] ", block, flags=re.MULTILINE)
            parts.append("\n".join([prose(items[0]), "", *(f"- {prose(item)}" for item in items[1:])]))
        else:
            parts.append(prose(block))
    return "\n\n".join(part for part in parts if part)
