"""The Python blocks of the README run as they stand, one after the other."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.filterwarnings("default")
def test_the_readme_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"README block {number}", "exec"), names)
    assert "the tip ends at" in capsys.readouterr().out
