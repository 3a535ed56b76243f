"""Opens and plays every example of the gallery, round after round, and tells how the memory of the window grows."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 30.0
"""MB that the memory may grow by after the first round."""
PLAYED = 0.3
"""Seconds that each example plays."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=20, help="after the first one; default: %(default)s")
    parser.add_argument("names", nargs="*", help="examples; all if none is given")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mbframe-replay-") as folder:
        for kind in ("CONFIG", "DATA"):  # settings of the user are left alone
            os.environ[f"XDG_{kind}_HOME"] = str(Path(folder) / kind.lower())
        grown = replay(arguments.rounds, arguments.names)
    print(f"The memory grew by {grown:.1f} MB in {arguments.rounds} rounds (at most {MOST:g}).")
    return int(grown >= MOST)


def replay(rounds: int, names: list[str]) -> float:
    """By how many MB the memory is larger after all rounds than after the first."""
    sys.path.insert(0, str(ROOT))
    from PySide6.QtTest import QTest

    from gui.app.application import Application
    from gui.base.memory import give_back
    from gui.base.showcase import exhibits

    application = Application([])
    application.open()
    window = application.window
    assert window is not None
    ready: list[bool] = []
    window.panels_ready.connect(lambda: ready.append(True))
    while not ready:
        QTest.qWait(10)
    sizes = []
    for number in range(rounds + 1):
        for name in names or [one.name for one in exhibits()]:
            application.document.abandon()
            window.show_gallery()
            next(card for card in window.gallery.cards if card.exhibit.name == name).click()
            end = time.monotonic() + 60.0
            while not window.player.playing and time.monotonic() < end:
                QTest.qWait(10)
            begin, moved = application.document.time, time.monotonic() + PLAYED
            while (time.monotonic() < moved or application.document.time == begin) and time.monotonic() < end:
                QTest.qWait(10)
            assert application.document.time != begin, f"{name} does not play"
        application.document.abandon()
        window.files.new(3)
        QTest.qWait(500)
        gc.collect()
        give_back()
        sizes.append(resident())
        print(f"round {number}: {sizes[-1]:.1f} MB", flush=True)
    application.document.abandon()
    window.close()
    application.close()
    return sizes[-1] - sizes[0]


def resident() -> float:
    """The memory of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    sys.exit(main())
