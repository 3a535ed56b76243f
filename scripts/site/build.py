"""The site: the guide, a page for every public name, and a gallery that moves, built by Sphinx without a warning.

Pages of the guide are the help pages of the application, `assets/help`. What is made here is written as Markdown beside
copies of them, so that Sphinx sees one folder. A link that leads nowhere is a warning, and a warning ends the build.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from exhibits import gallery_pages
from reference import reference_pages

from mbframe.cli import main as command_line

ROOT = Path(__file__).resolve().parents[2]
HELP = ROOT / "assets" / "help"
HOME = """# mbframe

:::{{container}} lead
{lead}
:::

![A bicycle that was pushed wobbles back to straight at 5 m/s, by itself](bicycle.gif)

Two commands are all you need in a checkout:

```bash
scripts/run      # open the desktop application on its gallery
scripts/test     # all checks and tests
```

{cards}
"""
CARDS = (
    ("first_steps", "Start", "A four-bar linkage in five minutes, in the window."),
    ("gallery/index", "Gallery", "Mechanisms that move in the page, with their code."),
    ("stability", "Stability", "Roots you can touch: which mode is stable, and why."),
    ("python", "Extend", "Your own forces, joints and solvers in plain Python."),
    ("classes", "What there is", "Every class and function by family."),
    ("theory", "Theory", "The equations, and where they come from."),
)


@dataclass(frozen=True)
class Section:
    """A part of the guide's index: its heading, and the topics in their order."""

    title: str
    topics: list[str]
    entries: str

    @property
    def page(self) -> str:
        return self.title.lower().replace(" ", "_")

    def text(self) -> str:
        """Its own page: the topics with what they are about, as the index says it."""
        return f"# {self.title}\n\n{self.entries}\n\n{toctree(self.topics)}"


def sections() -> list[Section]:
    """The guide as its index cuts it."""
    parts = re.split(r"^## (.+)$", (HELP / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [
        Section(title, re.findall(r"\]\((\w+)\.md\)", text), text.split("\n\nF1 ")[0].strip())
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    ]


def toctree(pages: list[str]) -> str:
    return "\n".join(["```{toctree}", ":hidden:", "", *pages, "```", ""])


def home(papers: bool) -> str:
    """The first page: what this is, a mechanism that moves, where to go."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lead = next(part for part in readme.split("\n\n")[1:] if not part.startswith(("!", "#")))
    cards = [
        f":::{{grid-item-card}} {title}\n:link: {page}\n:link-type: doc\n{text}\n:::" for page, title, text in CARDS
    ]
    grid = "\n".join(["::::{grid} 1 2 3 3", ":gutter: 3", "", *cards, "::::"])
    rest = ["gallery/index", "reference/index", *(["papers"] if papers else []), "changelog"]
    return f"{HOME.format(lead=lead, cards=grid)}\n{toctree([*(section.page for section in sections()), *rest])}"


def write_sources(folder: Path, moving: bool) -> None:
    """Write everything that Sphinx reads; `moving`: with what has to be computed, motions and tables of the papers."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for page in HELP.glob("*.md"):
        if page.name != "index.md":
            shutil.copy(page, folder)
    shutil.copy(ROOT / "assets" / "screenshots" / "bicycle.gif", folder)
    (folder / "index.md").write_text(home(papers=moving), encoding="utf-8")
    if moving and command_line(["papers", "--output", str(folder / "papers.md")]):
        raise SystemExit("the tables of the papers were not made")
    (folder / "changelog.md").write_text((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), encoding="utf-8")
    for section in sections():
        (folder / f"{section.page}.md").write_text(section.text(), encoding="utf-8")
    gallery_pages(folder / "gallery", ROOT / "assets" / "gallery", folder / "plain" / "gallery" if moving else None)
    reference_pages(folder / "reference")


def build(output: Path, moving: bool = True) -> None:
    """Build the site; `SystemExit` if Sphinx has anything to say."""
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    source = output.with_name(f"{output.name}-source")
    write_sources(source, moving)
    settings = Path(__file__).parent
    with patch_docutils(settings), docutils_namespace():
        trees, plain = output.with_name(f"{output.name}-trees"), source / "plain"
        copied = {"html_extra_path": [str(plain)] if plain.exists() else [], "exclude_patterns": ["plain"]}
        app = Sphinx(source, settings, output, trees, "html", copied, warningiserror=True)
        app.build(force_all=True)
    if app.statuscode:
        raise SystemExit("the site was built with warnings: see above")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build" / "docs", help="where the site is written")
    parser.add_argument("--still", action="store_true", help="without motions and the tables of the papers")
    given = parser.parse_args()
    build(given.output.resolve(), not given.still)
    print(f"{len(list(given.output.rglob('*.html')))} pages; open {given.output / 'index.html'}")


if __name__ == "__main__":
    main()
