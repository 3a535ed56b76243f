"""What must survive: files while their process is killed, and mechanics in thousands of random mechanisms.

A model file that is being replaced is the old or the new one, whole. A result that is being written opens and holds the
beginning of the run it comes from. The application loses no edit that is older than ten seconds. Random mechanisms keep
energy and momenta (`tests/validation/random_mechanisms.py`). Random systems that spin and roll have the roots of a
dense reference (`tests/validation/random_spinning.py`).
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import mbframe as mb

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the application, which installs under another name
DT = 2e-4
SPAWN = multiprocessing.get_context("spawn")
JOURNAL = "journal"
MOST_LOST = 10.0  # s of edits that a killed application may lose
USED = 16.0  # s for which it is used at most


def save_forever(path: str, ready: Any) -> None:
    """Replace a model by another one, again and again."""
    models = [mb.examples.n_four_bar(n=20), mb.examples.spatial_slider_crank()]
    while True:
        for model in models:
            mb.save(model, path)
            ready.set()


def stream(path: str, ready: Any) -> None:
    """A long run that is written as it is computed."""
    mb.simulate(mb.examples.spatial_slider_crank(), 1e6, dt=DT, output=path, progress=lambda t: ready.set())


def killed(work: Callable[[str, Any], None], path: Path, longest: float, rng: random.Random) -> float:
    """Let a process work on a file, and kill it at a random moment after it has begun; returns that moment."""
    ready = SPAWN.Event()
    process = SPAWN.Process(target=work, args=(str(path), ready))
    process.start()
    if not ready.wait(300.0):
        raise SystemExit("the process that is to be killed does not begin")
    time.sleep(rng.uniform(0.0, longest))
    moment = time.time()
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()
    return moment


def kill_savers(count: int, seed: int) -> list[str]:
    rng, wrong = random.Random(seed), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        texts = []
        for model in (mb.examples.n_four_bar(n=20), mb.examples.spatial_slider_crank()):
            mb.save(model, path)
            texts.append(path.read_bytes())
        for k in range(count):
            killed(save_forever, path, 0.1, rng)
            if path.read_bytes() not in texts:
                wrong.append(f"kill {k}: the model file is neither the old nor the new one")
    return wrong


def kill_streams(count: int, seed: int) -> list[str]:
    rng, wrong, longest = random.Random(seed), [], 0
    whole = mb.simulate(mb.examples.spatial_slider_crank(), 20.0, dt=DT)
    for k in range(count):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.h5"
            killed(stream, path, 1.5, rng)
            try:
                part = mb.load_result(path)
                rows = min(len(part.t), len(whole.t))
                if not np.array_equal(part.q[:rows], whole.q[:rows]):
                    wrong.append(f"kill {k}: the result is not the beginning of the run")
                longest = max(longest, len(part.t))
            except mb.MbframeError as error:
                wrong.append(f"kill {k}: {error}")
    print(f"    the longest of the killed runs kept {longest:,} instants")
    return wrong


def use_application(path: str, ready: Any) -> None:
    """The application, with a user who edits without a break; a journal has the time and the model after each edit."""
    os.environ |= {"QT_QPA_PLATFORM": "offscreen", "XDG_DATA_HOME": path, "XDG_CONFIG_HOME": path}
    os.environ["QT_LOGGING_RULES"] = "default.warning=false"  # of a platform without a screen
    from PySide6.QtCore import QTimer

    from gui.application import Application

    application = Application([], warm=False)
    document, rng = application.document, random.Random(path)
    application.open()
    journal = open(Path(path) / JOURNAL, "w")  # noqa: SIM115 (until the process is killed)

    def edit() -> None:
        if application.autosave is None:  # the window is not seen yet
            return
        if not document.system.bodies:
            document.open_system(mb.examples.n_four_bar(n=3), changed=True)
        body = rng.choice(list(document.system.bodies))
        deeds = [lambda: document.set(body, mass=rng.uniform(0.5, 2.0))] * 6
        deeds += [document.undo, document.redo, lambda: document.duplicate(body)]
        deeds += [lambda: document.rename(body, document.free_name("bar")), lambda: document.remove(body)]
        (deeds if len(document.system.bodies) > 3 else deeds[:-1])[rng.randrange(len(deeds) - 1)]()
        journal.write(f"{time.time()} {digest(document.model_text())}\n")
        journal.flush()
        ready.set()
        timer.start(rng.randrange(20, 400))

    timer = QTimer()
    timer.timeout.connect(edit)
    timer.start(100)
    application.qt.exec()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def kill_applications(count: int, seed: int, most_lost: float = MOST_LOST) -> list[str]:
    from gui.autosave import leftovers
    from gui.document import Document
    from gui.settings import APPLICATION

    rng, wrong, longest = random.Random(seed), [], 0.0
    for k in range(count):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            end = killed(use_application, Path(folder), USED, rng)
            lines = [line.split() for line in (Path(folder) / JOURNAL).read_text().splitlines() if line.count(" ")]
            edits = [(float(moment), model) for moment, model in lines]
            found = [one for place in Path(folder).rglob(APPLICATION) for one in leftovers(place)]
            kept = -1
            if found:
                document = Document()
                found[0].restore(document)
                models = [model for _, model in edits]
                if digest(document.model_text()) not in models:
                    wrong.append(f"kill {k}: what was recovered is none of the models that were there")
                    continue
                kept = len(models) - 1 - models[::-1].index(digest(document.model_text()))
            lost = end - edits[kept + 1][0] if kept + 1 < len(edits) else 0.0
            longest = max(longest, lost)
            if lost > most_lost:
                wrong.append(f"kill {k}: edits of the last {lost:.1f} s are lost")
    print(f"    at most {longest:.1f} s of edits were lost")
    return wrong


def checked(seeds: range) -> list[str]:
    """What does not hold for the mechanisms of some seeds."""
    sys.path.insert(0, str(ROOT / "tests" / "validation"))
    from random_mechanisms import problems_of

    wrong = []
    for seed in seeds:
        try:
            found = problems_of(seed)
        except mb.MbframeError as error:
            found = [str(error)]
        wrong += [f"mechanism {seed}: {problem}" for problem in found]
    return wrong


def simulate_mechanisms(count: int, seed: int) -> list[str]:
    blocks = [range(k, min(k + 50, seed + count)) for k in range(seed, seed + count, 50)]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=SPAWN) as pool:
        return [problem for block in pool.map(checked, blocks) for problem in block]


def linearize_spinning(count: int, seed: int) -> list[str]:
    from tests.validation.random_spinning import problems_of

    return [f"system {seed}, {k}: {problem}" for k in range(count) for problem in problems_of(seed, k)]


def turn_shafts(count: int, seed: int) -> list[str]:
    from tests.validation.random_turning import problems_of

    return [f"shafts {seed}, {k}: {problem}" for k in range(count) for problem in problems_of(seed, k)]


PARTS = {
    "saving": (kill_savers, 200),
    "streaming": (kill_streams, 200),
    "application": (kill_applications, 50),
    "mechanisms": (simulate_mechanisms, 10_000),
    "spinning": (linearize_spinning, 500),
    "turning": (turn_shafts, 200),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--count", type=int, help="how many (default: 200 or 50 kills, 10,000 mechanisms, 500 systems, 200 shafts)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="of moments of kills, of spinning systems and shafts; number of the first mechanism",
    )
    parser.add_argument("--most-lost", type=float, default=MOST_LOST, help="s of edits an application may lose (10)")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
    bad = 0
    for part in options.parts or PARTS:
        work, usual = PARTS[part]
        count, began = options.count or usual, time.perf_counter()
        limits = {"most_lost": options.most_lost} if part == "application" else {}
        wrong = work(count, options.seed, **limits)
        print(f"{part}: {count:,}, {len(wrong)} wrong ({time.perf_counter() - began:.0f} s)", flush=True)
        for line in wrong[:20]:
            print(f"    {line}")
        bad += len(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
