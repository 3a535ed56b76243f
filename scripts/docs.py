"""The guide as a static site: the help pages, a gallery of the examples, and the API reference from docstrings.

Links are checked while the site is built: one that leads nowhere is an error.
"""

from __future__ import annotations

import argparse
import html
import inspect
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import markdown

import mbframe as mb

ROOT = Path(__file__).resolve().parent.parent
HELP, GALLERY = ROOT / "assets" / "help", ROOT / "assets" / "gallery"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – mbframe</title><link rel="stylesheet" href="style.css"></head>
<body><nav><a class="home" href="index.html">mbframe</a>{menu}</nav><main>{body}</main></body></html>
"""
STYLE = """
:root { --ink: #1d2733; --soft: #5b6b7c; --line: #d8dfe7; --paper: #ffffff; --back: #f4f6f9; --accent: #1f6cc0; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --soft: #9aa8b7; --line: #36414d; --paper: #1b2129; --back: #222a33; --accent: #6db0f2; } }
* { box-sizing: border-box; }
body { margin: 0; display: flex; min-height: 100vh; color: var(--ink); background: var(--paper);
  font: 16px/1.6 system-ui, "DejaVu Sans", sans-serif; }
nav { flex: 0 0 15rem; padding: 1.5rem 1rem; background: var(--back); border-right: 1px solid var(--line);
  position: sticky; top: 0; height: 100vh; overflow-y: auto; }
nav a { display: block; padding: .2rem .6rem; border-radius: 6px; color: var(--soft); text-decoration: none; }
nav a.here { color: var(--accent); font-weight: 600; }
nav a.home { font-size: 1.3rem; font-weight: 700; color: var(--ink); margin-bottom: .8rem; }
main { flex: 1; max-width: 54rem; padding: 1.5rem 2.5rem 4rem; min-width: 0; }
a { color: var(--accent); }
h1 { font-size: 1.9rem; margin: .2em 0 .6em; } h2 { margin-top: 1.8em; } h3 { margin-bottom: .2em; }
pre { padding: .9rem 1rem; overflow-x: auto; background: var(--back); border: 1px solid var(--line);
  border-radius: 8px; }
code, pre { font: .88em/1.5 "DejaVu Sans Mono", ui-monospace, monospace; }
table { border-collapse: collapse; } th, td { border: 1px solid var(--line); padding: .35rem .7rem; text-align: left; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; }
.card { border: 1px solid var(--line); border-radius: 10px; overflow: hidden; background: var(--back); }
.card img { width: 100%; display: block; } .card div { padding: .7rem .9rem; } .card p { margin: .2rem 0; }
.card p { color: var(--soft); } .card code { overflow-wrap: anywhere; }
.entry { border-top: 1px solid var(--line); margin-top: 1.4rem; } .entry h3 code { font-size: .95rem; }
.entry dt { font-family: "DejaVu Sans Mono", ui-monospace, monospace; font-size: .85em; }
.entry dd { margin: 0 0 .4rem 1.5rem; color: var(--soft); } .names a { margin-right: .8em; white-space: nowrap; }
@media (max-width: 50rem) { body { display: block; } main { padding: 1rem; } nav { position: static; height: auto; } }
"""


TERMS = ("Parameters", "Returns", "Raises", "Attributes", "Yields")  # sections of docstrings that are lists


def topics() -> list[str]:
    """The help pages in the order of their index."""
    return re.findall(r"\]\((\w+)\.md\)", (HELP / "index.md").read_text(encoding="utf-8"))


def title_of(topic: str) -> str:
    return (HELP / f"{topic}.md").read_text(encoding="utf-8").splitlines()[0].lstrip("# ").split(":")[0]


def help_page(topic: str) -> str:
    text = (HELP / f"{topic}.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\((\w+)\.md(#[\w-]*)?\)", r"](\1.html\2)", text)
    return markdown.markdown(text, extensions=["fenced_code", "tables", "toc", "sane_lists"])


def gallery_page(output: Path) -> str:
    cards = []
    for name, exhibit in json.loads((GALLERY / "gallery.json").read_text(encoding="utf-8")).items():
        if name not in mb.examples.names():
            continue
        picture = f"{name}_light.webp"
        shutil.copy(GALLERY / picture, output / picture)
        cards.append(
            f'<div class="card"><img src="{picture}" alt=""><div><b>{html.escape(exhibit["title"])}</b>'
            f"<p>{html.escape(exhibit['text'])}</p><code>mb.examples.{name}()</code></div></div>"
        )
    head = "<h1>Gallery</h1><p>Every example is a function that returns a system, and opens in the window.</p>"
    return f'{head}<div class="cards">{"".join(cards)}</div>'


def reference_page() -> str:
    """All public names with their signatures and docstrings, by the module that they come from."""
    by_module: dict[str, list[tuple[str, Any]]] = {}
    for prefix, package in (("mb.", mb), ("mb.flexible.", mb.flexible), ("mb.render.", mb.render)):
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                by_module.setdefault(value.__module__, []).append((prefix + name, value))
    names = sorted(name for entries in by_module.values() for name, _ in entries)
    links = "".join(f'<a href="#{name}"><code>{name}</code></a> ' for name in names)
    parts = [f'<h1>Reference</h1><p>Names of <code>import mbframe as mb</code>.</p><p class="names">{links}</p>']
    for module in sorted(by_module):
        about = (inspect.getdoc(sys.modules[module]) or "").split("\n\n")[0]
        parts.append(f"<h2>{module.removeprefix('mbframe.')}</h2><p>{inline(about)}</p>")
        parts += [entry(name, value) for name, value in sorted(by_module[module])]
    return "".join(parts)


def entry(name: str, value: Any) -> str:
    """A class or function; of a class also its public methods."""
    head = html.escape(f"{name}{signature(value)}")
    text = f'<div class="entry"><h3 id="{name}"><code>{head}</code></h3>{docstring(inspect.getdoc(value) or "")}'
    members = [(key, getattr(value, key)) for key in vars(value) if not key.startswith("_")]
    shown = [(key, m) for key, m in members if inspect.isroutine(m) or isinstance(m, property)]
    if inspect.isclass(value) and (shown := [(key, m) for key, m in shown if m.__doc__]):
        text += "<dl>"
        for key, member in shown:
            about = (inspect.getdoc(member) or "").split("\n\n")[0]
            text += f"<dt>.{html.escape(key + signature(member))}</dt><dd>{inline(about)}</dd>"
        text += "</dl>"
    return text + "</div>"


def signature(value: Any) -> str:
    """The arguments, without what is returned and without a method's own object."""
    try:
        text = re.sub(r": '([^']*)'", r": \1", str(inspect.signature(value)))  # annotations are strings
        return re.sub(r"^\((self|cls)(, )?|\s*->.*$", lambda m: "(" if m[1] else "", text)
    except (TypeError, ValueError):
        return ""


def inline(text: str) -> str:
    """Running text with names in backticks."""
    return re.sub(r"`+([^`]+)`+", r"<code>\1</code>", html.escape(text, quote=False))


def docstring(text: str) -> str:
    """Paragraphs, indented formulas and sections of a docstring."""
    start, *sections = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    parts = [paragraphs(start)]
    for title, content in zip(sections[::2], sections[1::2], strict=True):
        terms = re.findall(r"^(\S.*)\n((?:[ \t]+.*\n?|\n)*)", content + "\n", re.MULTILINE)
        items = (f"<dt>{html.escape(term)}</dt><dd>{inline(about.strip())}</dd>" for term, about in terms)
        described = f"<dl>{''.join(items)}</dl>" if title in TERMS else paragraphs(content)
        parts.append(f"<p><b>{title}</b></p>{described}")
    return "".join(parts)


def paragraphs(text: str) -> str:
    parts = []
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        formula = all(line.startswith("    ") for line in block.splitlines())
        parts.append(f"<pre>{html.escape(inspect.cleandoc(block))}</pre>" if formula else f"<p>{inline(block)}</p>")
    return "".join(parts)


def build(output: Path) -> list[Path]:
    """Write the site and return its pages."""
    output.mkdir(parents=True, exist_ok=True)
    (output / "style.css").write_text(STYLE, encoding="utf-8")
    titles = {"index": "Contents"} | {topic: title_of(topic) for topic in topics()}
    titles |= {"gallery": "Gallery", "reference": "Reference"}
    bodies = {topic: help_page(topic) for topic in ("index", *topics())}
    bodies |= {"gallery": gallery_page(output), "reference": reference_page()}
    for topic, body in bodies.items():
        menu = "".join(
            f'<a href="{other}.html"{" class=here" if other == topic else ""}>{html.escape(name)}</a>'
            for other, name in titles.items()
        )
        page = PAGE.format(title=html.escape(titles[topic]), menu=menu, body=body)
        (output / f"{topic}.html").write_text(page, encoding="utf-8")
    check_links(output)
    return sorted(output.glob("*.html"))


def check_links(folder: Path) -> None:
    """Every link to a file or a heading of the site must lead somewhere."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    lost = []
    for name, text in texts.items():
        for target in re.findall(r'(?:href|src)="([^"]+)"', text):
            file, _, heading = target.partition("#")
            if "://" in target or target.startswith("mailto:"):
                continue
            missing = bool(file) and not (folder / file).is_file()
            if missing or (heading and f'id="{heading}"' not in texts.get(file or name, "")):
                lost.append(f"{name}: {target}")
    if lost:
        raise SystemExit("links that lead nowhere:\n" + "\n".join(lost))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "docs")
    output = parser.parse_args().output
    pages = build(output)
    print(f"{len(pages)} pages in {output}; open {output / 'index.html'}")


if __name__ == "__main__":
    main()
