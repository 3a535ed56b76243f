"""README, guide and the rooms' READMEs: links lead somewhere, commands exist, and transcripts are what is printed."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from mbframe import registry
from mbframe.cli import main, parser

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
DOCUMENTS += sorted((ROOT / "assets" / "help").glob("*.md"))
DOCUMENTS += sorted(
    page for room in ("mbframe", "gui", "tests", "scripts") for page in (ROOT / room).rglob("README.md")
)
COMMAND_LINE = ROOT / "assets" / "help" / "command_line.md"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT).with_suffix(""))


def headings(path: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub and the site make them."""
    titles = re.findall(r"^#+ (.+)$", FENCED.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_to_files_and_headings(path: Path) -> None:
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", path.read_text(encoding="utf-8"))):
        if re.match(r"https?://", target):
            continue
        file, _, heading = target.partition("#")
        place = path.parent / file if file else path
        if not place.exists() or (heading and heading not in headings(place)):
            lost.append(target)
    assert lost == []


def commands(path: Path) -> Iterator[str]:
    """Lines of shell blocks and transcripts, and commands within sentences; not those with a place for something."""
    text = path.read_text(encoding="utf-8")
    blocks = [block for language, block in FENCED.findall(text) if language in ("", "bash")]
    found = [line.removeprefix("$ ") for block in blocks for line in block.splitlines() if not line.startswith(" ")]
    found += re.findall(r"`([^`\n]+)`", FENCED.sub("", text))
    for command in found:
        ours = re.match(r"(mbframe|scripts/\w+|python -m|pip install|pipx install)( |$)", command)
        if ours and not re.search(r"[|\[]|\.\.\.|\b[A-Z]{3,}\b", re.sub(r"\[\w+\]", "", command)):
            yield command


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_commands_exist(path: Path) -> None:
    described = (ROOT / "pyproject.toml").read_text()
    for command in commands(path):
        words = shlex.split(command, comments=True)
        if words[0] == "mbframe" and len(words) < 3:
            assert words[-1] in parser().format_help(), command
        elif words[0] == "mbframe":
            parser().parse_args(words[1:])  # ends the test where an option or a command is unknown
        elif words[0].startswith("scripts/"):
            assert (ROOT / words[0]).stat().st_mode & 0o100, command
        elif words[:2] == ["python", "-m"]:
            assert find_spec(words[2]) is not None, command
        for extra in re.findall(r"\[(\w+)\]", command) if "install" in command else ():
            assert f"\n{extra} = [" in described, command


def test_there_are_commands() -> None:
    assert len([command for path in DOCUMENTS for command in commands(path)]) > 30
    assert any(command.startswith("mbframe check") for command in commands(COMMAND_LINE))


def comparable(command: str, text: str) -> str:
    """What is printed; of a run its form, since times, steps and rounding differ between machines."""
    text = re.sub(r"the \d+ names", "the names", text)  # of classes, which become more
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "#", text) if command.startswith("mbframe run") else text


def test_transcripts_are_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks, count = FENCED.findall(COMMAND_LINE.read_text(encoding="utf-8")), 0
    model = 'if __name__ == "__main__":\n    mb.save(door, "door.json")\n'
    (tmp_path / "door.py").write_text(f"{blocks[0][1]}\n\n{model}")
    subprocess.run([sys.executable, "door.py"], check=True)
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    for language, block in blocks:
        if language == "json":
            (tmp_path / "broken.json").write_text(block)
        for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:] if language == "" else ():
            command, _, expected = entry.partition("\n")
            capsys.readouterr()
            main(shlex.split(command)[1:])
            printed = capsys.readouterr()
            assert comparable(command, printed.out + printed.err) == comparable(command, expected), command
            count += 1
    assert count == 8
    del sys.modules["door"]
