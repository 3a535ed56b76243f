"""Damaged models, results, robots and projects, opened in the real window: it answers, and nothing is executed.

Used by `scripts/stress fuzz --app`. The window is that of a user, in a virtual display and with settings of its own;
files are opened as File > Open does it. Each case must end without an exception, with a window that answers within the
time that a file may take, and in bounded memory.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
KINDS: Final = ("models", "extremes", "results", "robots", "archives")
MOST_BUSY: Final = 10.0  # s of computing in the window's thread for one file: the budget of readers
MOST_MEMORY: Final = 1000.0  # MB by which it may grow with one file: the budget, too
MOST_GROWTH: Final = 300.0  # MB by which it may have grown at the end, whatever was opened
SILENCE: Final = 300.0  # s, after which it hangs
LOOKED_AT: Final = 60  # ms for which each file is looked at


def in_display(kind: str, cases: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """How the cases (seed, number) of a kind ended in a window; one that dies or hangs is replaced."""
    if shutil.which("xvfb-run") is None:
        raise SystemExit("xvfb-run not found: install xvfb")
    found: dict[tuple[int, int], str] = {}
    while left := [case for case in cases if case not in found]:
        with tempfile.TemporaryDirectory(prefix="mbframe-fuzz-", ignore_cleanup_errors=True) as folder:
            _one_window(kind, left, folder, found)
    return found


def _one_window(kind: str, cases: list[tuple[int, int]], folder: str, found: dict[tuple[int, int], str]) -> None:
    homes = {f"XDG_{which}_HOME": f"{folder}/{which.lower()}" for which in ("CONFIG", "DATA")}
    own = {"QT_API": "pyside6", "LIBGL_ALWAYS_SOFTWARE": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = ["xvfb-run", "-a", "-s", "-screen 0 1400x900x24 -nolisten tcp"]
    command += [sys.executable, __file__, kind, folder]
    given = "".join(f"{seed} {number}\n" for seed, number in cases)
    (Path(folder) / "cases").write_text(given)
    process = subprocess.Popen(
        command, env={**os.environ, **own, **homes}, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    rest, current, told = b"", None, "the window ended"
    try:
        while True:
            if not select.select([process.stdout], [], [], SILENCE)[0]:
                told = "the window hangs"
                break
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                break
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                words = line.decode(errors="replace").split("\t")
                if words[0] == "begin":
                    current = (int(words[1]), int(words[2]))
                elif words[0] == "end" and current is not None:
                    found[current], current = words[1], None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
        process.wait()
    if current is not None:
        found[current] = told
    elif not found or any(case not in found for case in cases):
        found[next(case for case in cases if case not in found)] = f"{told} (exit code {process.returncode})"


# ---- In the window's process --------------------------------------------------------------------------------------


def memory() -> float:
    """Resident memory of this process, MB."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def inside(kind: str, folder: Path) -> int:
    """Open one file after another; each line that is printed says which begins, and how it ended."""
    import fuzz
    from PySide6.QtTest import QTest

    from gui.app.application import Application

    # What libraries print must not come between the lines for the other process.
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    errors: list[str] = []
    seen: list[str] = []
    specimens = fuzz.KINDS[kind](folder)
    application = Application([], warm=False)
    application.open()
    window: Any = application.window
    ready: list[bool] = []
    window.panels_ready.connect(lambda: ready.append(True))
    while not ready or window.view.canvas is None:
        QTest.qWait(20)
    window.files.may_leave = lambda: True  # the user discards what was opened before
    sys.excepthook = lambda *error: errors.append("".join(traceback.format_exception(*error)))
    for name in window.panels:  # what is loaded with a panel is no growth
        window.show_tab(name)
        QTest.qWait(100)
    for warm in range(10):
        _opened(window, fuzz.written(folder, *specimens.make(random.Random(f"{kind} warm {warm}"))), QTest.qWait)
    errors.clear()
    sys.addaudithook(
        lambda event, arguments: (
            seen.append(f"{event} {arguments!r:.200}") if event in fuzz.FORBIDDEN and event != "exec" else None
        )
    )
    began = memory()
    for line in (folder / "cases").read_text().splitlines():
        seed, number = map(int, line.split())
        path = fuzz.written(folder, *specimens.make(random.Random(f"{kind} {seed} {number}")))
        print(f"begin\t{seed}\t{number}", file=lines)
        before, spent = memory(), time.thread_time()
        opened = _opened(window, path, QTest.qWait)
        busy, grown = time.thread_time() - spent, memory() - before
        outcome = "read" if opened else "refused"
        if errors:
            outcome = "an exception: " + " | ".join(errors[0].strip().splitlines()[-3:])
        elif busy > MOST_BUSY:
            outcome = f"the window computed for {busy:.1f} s"
        elif grown > MOST_MEMORY or memory() - began > MOST_GROWTH + MOST_MEMORY:
            outcome = f"it took {grown:.0f} MB"
        elif seen:
            outcome = f"executed something: {seen[0]}"
        errors.clear()
        seen.clear()
        print(f"end\t{outcome}", file=lines)
    window.document.abandon()
    grown = memory() - began
    print(f"{kind}: the window grew by {grown:.0f} MB to {memory():.0f} MB", file=sys.stderr)
    window.close()
    application.close()
    return int(grown > MOST_GROWTH)


def _opened(window: Any, path: Path, wait: Callable[[int], None]) -> bool:
    """Open a file and look at it for a moment; whether it could be opened."""
    before = window.document.system
    window.files.open(path)
    wait(LOOKED_AT)
    return window.document.system is not before


if __name__ == "__main__":
    sys.exit(inside(sys.argv[1], Path(sys.argv[2])))
