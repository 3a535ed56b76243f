"""The README runs as it stands and is short; the guide's table of what there is names every class."""

import inspect
import re
from pathlib import Path

import pytest

import mbframe as mb
from mbframe.registry import built_in

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


@pytest.mark.filterwarnings("default")
def test_the_readme_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"README block {number}", "exec"), names)
    assert "the tip ends at" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_what_a_newcomer_reads_first_is_short(name: str) -> None:
    assert len((ROOT / name).read_bytes()) <= 10_000


def test_what_there_is_names_every_class_and_function() -> None:
    text = (ROOT / "assets" / "help" / "classes.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)`", text))
    bases = (mb.Body, mb.Formulation, mb.Joint, mb.ForceElement, mb.Measure)
    wanted = {name for base in (*bases, mb.Acceleration, mb.Stabilization, mb.Integrator) for name in built_in(base)}
    wanted |= {name for name in mb.__all__ if inspect.isfunction(getattr(mb, name))}
    assert wanted - named == set()
    assert f"`examples` ({len(mb.examples.names())} mechanisms" in text
