"""The guide: the site builds with links that lead somewhere, and the notebooks run from the first cell to the last."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "assets" / "notebooks").glob("*.ipynb"))


def test_the_site_is_built(tmp_path: Path) -> None:
    description = importlib.util.spec_from_file_location("docs", ROOT / "scripts" / "docs.py")
    docs = importlib.util.module_from_spec(description)
    description.loader.exec_module(docs)
    pages = {page.name: page.read_text() for page in docs.build(tmp_path)}
    assert {f"{topic}.html" for topic in ("index", "gallery", "reference", *docs.topics())} == set(pages)
    assert 'id="mb.RigidBody"' in pages["reference.html"]
    assert 'id="mb.flexible.beam"' in pages["reference.html"]
    assert "<dt>.reaction(" in pages["reference.html"]  # a method of a class
    assert "four_bar_light.webp" in pages["gallery.html"]
    (tmp_path / "index.html").write_text('<a href="nowhere.html">')
    with pytest.raises(SystemExit, match=r"index.html: nowhere.html"):
        docs.check_links(tmp_path)


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
