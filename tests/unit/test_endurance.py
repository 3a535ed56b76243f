"""Short versions of `scripts/stress fuzz` and `endure`: damaged files, and files whose process is killed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.full
ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=550
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return done.stdout


def test_damaged_files_of_every_kind() -> None:
    found = run("scripts/stress_tests/fuzz.py", "--cases", "40", "--seeds", "3", "--seconds", "inf")
    rows = [line.split() for line in found.splitlines()[1:]]  # kind, seed, cases, read, refused, failed, times
    kinds = ("models", "extremes", "expressions", "results", "meshes", "robots", "components", "archives")
    assert [row[:3] for row in rows] == [[kind, "3", "40"] for kind in kinds]
    assert {row[5] for row in rows} == {"0"}
    assert all(int(row[3]) + int(row[4]) == 40 for row in rows)


@pytest.mark.parametrize("kind", ["robots", "results"])
def test_damaged_files_along_the_code_they_reach(kind: str) -> None:
    """Results are simulated before they are damaged: with kernels that are compiled from what nobody watches."""
    pytest.importorskip("atheris", reason="atheris is not installed")
    found = run("scripts/stress_tests/fuzz.py", "--guided", "300", "--seeds", "1", "--only", kind)
    name, _, cases, _, _, failed, places = found.splitlines()[1].split()
    assert (name, failed) == (kind, "0")
    assert int(cases) > 250
    assert int(places) > 200


def test_only_readers_are_watched_on_the_way() -> None:
    """atheris takes whole packages: what it must leave as it is written is named to it, module by module."""
    sys.path.insert(0, str(ROOT / "scripts" / "stress_tests"))
    try:
        import fuzz_guided
    finally:
        sys.path.pop(0)
    left = set(fuzz_guided.left_out())
    paths = [path.relative_to(ROOT).with_suffix("") for path in (ROOT / "mbframe").rglob("*.py")]
    watched = {".".join(path.parts).removesuffix(".__init__") for path in paths} - left
    readers = [name for name in fuzz_guided.WATCHED if name.startswith("mbframe.")]
    assert {name for name in readers if name in watched} == set(readers)  # all of them are there
    assert {name for name in watched if not any(f"{name}.".startswith(f"{one}.") for one in readers)} == set()
    assert {"mbframe", "mbframe.kernels", "mbframe.kernels.stages.loops", "mbframe.system"} <= left


@pytest.mark.skipif(shutil.which("xvfb-run") is None, reason="needs a virtual display")
def test_damaged_files_in_the_application() -> None:
    pytest.importorskip(
        "PySide6.QtWidgets", reason="the application's packages are not installed", exc_type=ImportError
    )
    found = run("scripts/stress_tests/fuzz.py", "--app", "--cases", "6", "--seeds", "1", "--only", "extremes")
    kind, _, cases, read, refused, failed = found.splitlines()[1].split()
    assert (kind, cases, failed) == ("extremes", "6", "0")
    assert int(read) + int(refused) == 6


def test_a_killed_application_gives_back_a_model_that_was_there() -> None:
    pytest.importorskip(
        "PySide6.QtWidgets", reason="the application's packages are not installed", exc_type=ImportError
    )
    assert "0 wrong" in run("scripts/stress_tests/endure.py", "application", "--count", "1", "--most-lost", "inf")


@pytest.mark.parametrize("name", ["endure", "fuzz", "monkey", "replay", "versions"])
def test_each_tells_how_it_is_used(name: str) -> None:
    assert run(f"scripts/stress_tests/{name}.py", "--help").startswith("usage:")


def test_sizes_are_told_as_they_are() -> None:
    told = " ".join(run("scripts/stress_tests/endure.py", "--help").split())
    assert "kills 20, disk 10, writers 10, clock 5, interrupts 5, about 25 minutes; application 50" in told
    commands = (ROOT / "scripts" / "README.md").read_text().splitlines()
    row = next(line for line in commands if "`scripts/stress endure [" in line)
    assert [int(number) for number in re.findall(r"\((\d+)(?: times each)?\)", row)] == [20, 10, 10, 5, 5]


@pytest.mark.skipif(sys.platform != "linux", reason="needs locks, limits and signals of Linux")
def test_whatever_is_written_is_the_old_one_or_the_new_one() -> None:
    """Killed, without room, at one name with another, under a clock that jumps."""
    parts = ("kills", "disk", "writers", "clock")
    found = run("scripts/stress_tests/endure.py", *parts, "--count", "1", "--only", "model", "csv")
    assert [line for line in found.splitlines() if line.startswith(parts)] == [
        line for line in found.splitlines() if "2, 0 wrong" in line
    ]
    assert found.count("2, 0 wrong") == len(parts)


@pytest.mark.skipif(sys.platform != "linux", reason="needs signals and /proc of Linux")
def test_a_stopped_command_leaves_nothing_by_halves() -> None:
    found = run(
        "scripts/stress_tests/endure.py",
        "interrupts",
        "--count",
        "2",
        "--most-cpu",
        "inf",
        "--only",
        "run to csv",
        "eig",
    )
    assert "interrupts: 4, 0 wrong" in found
    assert len(re.findall(r"2 tried, 0 wrong .* at most [\d.]+ s of computing, [\d.]+ s on the clock", found)) == 2
