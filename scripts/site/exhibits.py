"""Pages of the gallery: a mechanism that moves in the page, what it is, its code, a plot, its roots."""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import mbframe as mb

SLOW = {"unsymmetric_rotor"}
"""Examples whose coefficients are periodic: their stability has an analysis of its own."""


def gallery_pages(folder: Path, stored: Path, motions: Path | None) -> None:
    """Write the overview and a page for each example; it plays its stored result if there is a place for `motions`."""
    folder.mkdir()
    if motions is not None:
        motions.mkdir(parents=True)
    exhibits: dict[str, dict[str, Any]] = json.loads((stored / "gallery.json").read_text(encoding="utf-8"))
    shown = {name: exhibit for name, exhibit in exhibits.items() if name in mb.examples.names()}
    cards = []
    for name, exhibit in shown.items():
        for theme in ("light", "dark"):
            shutil.copy(stored / f"{name}_{theme}.webp", folder)
        cards += [f":::{{grid-item-card}} {exhibit['title']}", f":link: {name}", ":link-type: doc"]
        cards += [f":img-top: {name}_light.webp", exhibit["text"], ":::", ""]
        (folder / f"{name}.md").write_text(exhibit_page(folder, stored, name, exhibit, motions), encoding="utf-8")
    head = "# Gallery\n\nEvery example is a function that returns a system, and opens in the window.\n"
    grid = "\n".join(["::::{grid} 1 2 3 3", ":gutter: 3", "", *cards, "::::"])
    tree = "\n".join(["```{toctree}", ":hidden:", "", *shown, "```"])
    (folder / "index.md").write_text(f"{head}\n{grid}\n\n{tree}\n", encoding="utf-8")


def exhibit_page(folder: Path, stored: Path, name: str, exhibit: dict[str, Any], motions: Path | None) -> str:
    """The page of one example."""
    make = getattr(mb.examples, name)
    parts = [f"# {exhibit['title']}", exhibit["text"]]
    shown = exhibit.get("plot") or f"{make().bodies[-1].name}.position"
    shown = [shown] if isinstance(shown, str) else shown
    if motions is not None:
        result = mb.load_result(stored / f"{name}.h5")
        mb.render.export(result, motions / f"{name}_motion.html")
        parts.append(f'```{{raw}} html\n<iframe class="motion" src="{name}_motion.html" loading="lazy"></iframe>\n```')
        result.plot(*shown).save(folder / f"{name}_plot.svg")
    else:
        parts.append(f"![{exhibit['title']}]({name}_light.webp)")
    parts.append(f"```bash\nmbframe gui {name}\n```")
    about, _, more = (inspect.getdoc(make) or "").partition("\n\n")
    parts += [f"{about}", f"{more}"]
    if motions is not None:
        parts += ["## What moves", f"![{', '.join(shown)}]({name}_plot.svg)"]
        if roots := roots_of(name):
            parts += ["## Is it stable?", f"```python\nprint(mb.linearize(mb.examples.{name}()))\n```", roots]
    parts += ["## The code", f"```python\n{inspect.getsource(make)}```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def roots_of(name: str) -> str:
    """What `linearize` prints of the state in which an example is described; "" where there is nothing steady."""
    if name in SLOW:
        return ""
    try:
        return f"```text\n{mb.linearize(getattr(mb.examples, name)())}\n```"
    except mb.MbframeError:
        return ""
