"""Short versions of `scripts/fuzz` and `scripts/endure`: damaged files, and files whose process is killed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=170
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return done.stdout


def test_damaged_files_of_every_kind() -> None:
    found = run("scripts/fuzz.py", "--cases", "40", "--seed", "3", "--seconds", "inf")
    assert found.count("0 failed") == 5


def test_a_killed_application_gives_back_a_model_that_was_there() -> None:
    pytest.importorskip(
        "PySide6.QtWidgets", reason="the application's packages are not installed", exc_type=ImportError
    )
    assert "0 wrong" in run("scripts/endure.py", "application", "--count", "1", "--most-lost", "inf")


def test_a_killed_process_leaves_the_old_model_or_the_new_one() -> None:
    assert "0 wrong" in run("scripts/endure.py", "saving", "--count", "4")
