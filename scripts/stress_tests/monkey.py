"""Lets a monkey use the application, in a virtual display, and tells exceptions, pauses and the growth of memory."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LONGEST_PAUSE = 0.25  # s in which the window itself computes; others may have the processor for longer
PIECES = 10  # after each of which memory is looked at
MOST_GROWTH = 30.0  # MB by which the most memory of the second half may exceed that of the first: what leaks goes on


def memory_at_rest() -> float:
    """Resident memory of this process, MB, when nothing was done for a while: the application has tidied up by then."""
    from PySide6.QtTest import QTest

    from gui.app.application import TIDY_MS

    QTest.qWait(2 * TIDY_MS)
    return memory()


def memory() -> float:
    """Resident memory of this process, MB."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def in_display(arguments: list[str]) -> int:
    """Run this file again in a virtual display with settings of its own."""
    if shutil.which("xvfb-run") is None:
        print("xvfb-run not found: install xvfb", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="mbframe-monkey-") as folder:
        homes = {f"XDG_{kind}_HOME": str(Path(folder) / kind.lower()) for kind in ("CONFIG", "DATA")}
        own = {"QT_API": "pyside6", "LIBGL_ALWAYS_SOFTWARE": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        screen = "-screen 0 1400x900x24 -nolisten tcp"
        command = ["xvfb-run", "-a", "-s", screen, sys.executable, __file__, "--inside", *arguments]
        return subprocess.run(command, env={**os.environ, **own, **homes}, cwd=ROOT).returncode


def inside(actions: int, seed: int) -> int:
    """Act, and tell what was found; 1 if anything was."""
    from PySide6.QtTest import QTest

    from gui.app.application import Application
    from tests.gui.monkey import Monkey

    errors: list[str] = []
    sys.excepthook = lambda *error: errors.append("".join(traceback.format_exception(*error)))
    application = Application([], warm=False)
    ready: list[bool] = []
    application.open()
    window: Any = application.window
    window.panels_ready.connect(lambda: ready.append(True))
    while not ready or window.view.canvas is None:
        QTest.qWait(20)
    window.open_example("four_bar")
    for name in window.panels:  # what is loaded with a panel is no growth
        window.show_tab(name)
        QTest.qWait(100)
    monkey = Monkey(window, seed)
    sys.excepthook = lambda *error: errors.append("".join(traceback.format_exception(*error)))
    began, course = time.monotonic(), []
    for k in range(PIECES):
        monkey.act(actions * (k + 1) // PIECES - actions * k // PIECES)
        course.append(memory_at_rest())
    took, longest = time.monotonic() - began, max(monkey.pauses)
    grown = max(course[PIECES // 2 :]) - max(course[: PIECES // 2])
    own = monkey.busy[monkey.pauses.index(longest)]
    print(f"{actions} actions with seed {seed} in {took:.0f} s")
    print(
        f"longest pause {longest:.2f} s, of which the window computed {own:.2f} s (at most {max(monkey.busy):.2f} s); "
        f"{len(errors)} exceptions"
    )
    print(
        f"memory at rest {', '.join(f'{size:.0f}' for size in course)} MB; "
        f"the most of the second half is {grown:+.0f} MB of that of the first (at most {MOST_GROWTH:.0f})"
    )
    if max(monkey.busy) > LONGEST_PAUSE:
        print("before its longest computation:", ", ".join(monkey.before_longest()))
    for error in errors[:3]:
        print(error)
    if errors:
        print("last actions:", ", ".join(monkey.log[-20:]))
    window.document.abandon()
    window.close()
    application.close()
    return int(bool(errors) or max(monkey.busy) > LONGEST_PAUSE or grown > MOST_GROWTH)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("actions", nargs="?", type=int, default=2000, help="how many; default: %(default)s")
    parser.add_argument("seed", nargs="?", type=int, default=1, help="of the random actions; default: %(default)s")
    parser.add_argument(
        "--inside", action="store_true", help="in the display that is there, with the settings of the user"
    )
    given = parser.parse_args(words)
    return inside(given.actions, given.seed) if given.inside else in_display(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
