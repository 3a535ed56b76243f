"""The guide: the site builds with links that lead somewhere, and the notebooks run from the first cell to the last."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "assets" / "notebooks").glob("*.ipynb"))


SITE = ROOT / "scripts" / "site"


def answer(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=300)


def test_the_site_is_built_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx", reason="needs the extra 'docs'")
    output = tmp_path / "site"
    told = answer(SITE / "build.py", "--still", "--output", output)
    assert told.returncode == 0, told.stderr
    pages = {str(page.relative_to(output)) for page in output.rglob("*.html")}
    topics = {path.stem for path in (ROOT / "assets" / "help").glob("*.md")} - {"index"}
    assert {f"{name}.html" for name in ("index", "search", "changelog", *topics)} <= pages
    monkeypatch.syspath_prepend(str(SITE))
    names = [name for name, _ in importlib.import_module("reference").public()]
    assert len(names) > 150
    assert {f"reference/{name}.html" for name in names} <= pages
    assert {f"gallery/{name}.html" for name in ("four_bar", "whipple_bicycle")} <= pages
    guide = (output / "learn.html").read_text(encoding="utf-8") + (output / "look_up.html").read_text(encoding="utf-8")
    assert all(f'href="{topic}.html"' in guide for topic in topics)  # each is in the index
    spring = (output / "reference" / "mb.SpringDamper.html").read_text(encoding="utf-8")
    assert "free_length" in spring
    assert "N s/m" in spring


def test_a_link_that_leads_nowhere_ends_the_building(tmp_path: Path) -> None:
    pytest.importorskip("sphinx", reason="needs the extra 'docs'")
    (tmp_path / "index.md").write_text("# Page\n\nSee [this](nowhere.md).\n")
    told = answer("-m", "sphinx", "--fail-on-warning", "--conf-dir", SITE, tmp_path, tmp_path / "out")
    assert told.returncode == 1
    assert "nowhere" in told.stderr


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["bicycle", "four_bar"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    for number, cell in enumerate(cells):
        assert cell["outputs"] == []  # outputs are not kept in the repository
        exec(compile("".join(cell["source"]), f"{path.stem} cell {number}", "exec"), names)
