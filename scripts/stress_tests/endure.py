"""What must survive: files whatever happens meanwhile, stopped commands, mechanics in thousands of mechanisms.

Files and hazards are a table (`endure_writers.py`): whatever is written is the old or the new one, whole, when its
process is killed, the disk is full, two write under one name, or the clock jumps. Commands end soon after Ctrl-C, and
what they leave is whole (`endure_commands.py`). The application loses no edit that is older than ten seconds. Random
mechanisms keep energy and momenta (`tests/validation/random_mechanisms.py`). Random systems that spin and roll have the
roots of a dense reference (`tests/validation/random_spinning.py`). Random models go through files and scripts and move
as before (`tests/validation/round_trips.py`).
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import endure_commands
import endure_writers

import mbframe as mb

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the application, which installs under another name
SPAWN = multiprocessing.get_context("spawn")
JOURNAL = "journal"
MOST_LOST = 10.0  # s of edits that a killed application may lose
USED = 16.0  # s for which it is used at most


def use_application(path: str, ready: Any) -> None:
    """The application, with a user who edits without a break; a journal has the time and the model after each edit."""
    os.environ |= {"QT_QPA_PLATFORM": "offscreen", "XDG_DATA_HOME": path, "XDG_CONFIG_HOME": path}
    os.environ["QT_LOGGING_RULES"] = "default.warning=false"  # of a platform without a screen
    from PySide6.QtCore import QTimer

    from gui.app.application import Application

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
        deeds: list[Callable[[], object]] = [lambda: document.set(body, mass=rng.uniform(0.5, 2.0))] * 6
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
    from gui.base.settings import APPLICATION
    from gui.document.autosave import leftovers
    from gui.document.document import Document

    rng, wrong, longest = random.Random(seed), [], 0.0
    for k in range(count):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            end = endure_writers.killed(use_application, (folder,), USED, rng)
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


def read_models_back(count: int, seed: int) -> list[str]:
    """Blocks of fifty models in space and fifty in the plane."""
    from tests.validation.round_trips import survive

    wrong = []
    for number in range(seed, seed + count):
        for dimension in (3, 2):
            try:
                survive(number, dimension)
            except (AssertionError, mb.MbframeError) as error:
                wrong.append(f"models {number} with {dimension} dimensions: {error!r}")
    return wrong


PARTS = {
    "application": (kill_applications, 50),
    "mechanisms": (simulate_mechanisms, 10_000),
    "spinning": (linearize_spinning, 500),
    "turning": (turn_shafts, 200),
    "models": (read_models_back, 20),
}
OF_EACH = {"kills": 20, "disk": 10, "writers": 10, "clock": 5, "interrupts": 5}
"""Parts that are done with every writer or every command, so many times: about 25 minutes on two quiet cores."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = (*OF_EACH, *PARTS)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(known)} (default: all)")
    usual = {part: count for part, (_, count) in PARTS.items()}
    sizes = [", ".join(f"{part} {count:,}" for part, count in some.items()) for some in (OF_EACH, usual)]
    parser.add_argument(
        "--count",
        type=int,
        help=f"how many cases (default: of each writer or command {sizes[0]}, about 25 minutes; {sizes[1]})",
    )
    parser.add_argument("--seed", type=int, default=0, help="of all that is random; number of the first mechanism")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"writers ({', '.join(endure_writers.WRITERS)}) or commands ({', '.join(endure_commands.COMMANDS)})",
    )
    parser.add_argument("--most-lost", type=float, default=MOST_LOST, help="s of edits an application may lose (10)")
    parser.add_argument(
        "--most-cpu", type=float, default=endure_commands.MOST_CPU, help="s of computing after Ctrl-C (1)"
    )
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in known]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(known)}")
    bad = 0
    for part in options.parts or known:
        began = time.perf_counter()
        if part in OF_EACH:
            table = endure_commands.COMMANDS if part == "interrupts" else endure_writers.WRITERS
            if unknown := [name for name in options.only if name not in table]:
                parser.error(f"{unknown[0]!r} is none of {', '.join(table)}")
            count = options.count or OF_EACH[part]
            if part == "interrupts":
                tried, wrong = endure_commands.endured(count, options.seed, options.only, options.most_cpu)
            else:
                tried, wrong = endure_writers.endured(part, count, options.seed, options.only)
        else:
            work, _ = PARTS[part]
            tried = options.count or usual[part]
            limits = {"most_lost": options.most_lost} if part == "application" else {}
            wrong = work(tried, options.seed, **limits)
        print(f"{part}: {tried:,}, {len(wrong)} wrong ({time.perf_counter() - began:.0f} s)", flush=True)
        for line in wrong[:20]:
            print(f"    {line}")
        bad += len(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
