"""What must survive: files while their process is killed, and mechanics in thousands of random mechanisms.

A model file that is being replaced is the old or the new one, whole. A result that is being written opens and holds the
beginning of the run it comes from. Random mechanisms keep energy and momenta (`tests/validation/random_mechanisms.py`).
"""

from __future__ import annotations

import argparse
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
DT = 2e-4
SPAWN = multiprocessing.get_context("spawn")


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


def killed(work: Callable[[str, Any], None], path: Path, longest: float, rng: random.Random) -> None:
    """Let a process work on a file, and kill it at a random moment after it has begun."""
    ready = SPAWN.Event()
    process = SPAWN.Process(target=work, args=(str(path), ready), daemon=True)
    process.start()
    if not ready.wait(300.0):
        raise SystemExit("the process that is to be killed does not begin")
    time.sleep(rng.uniform(0.0, longest))
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()


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


PARTS = {"saving": (kill_savers, 200), "streaming": (kill_streams, 200), "mechanisms": (simulate_mechanisms, 10_000)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--count", type=int, help="how many (default: 200 kills, 10,000 mechanisms)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of kills; number of the first mechanism")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"{unknown[0]!r} is none of {', '.join(PARTS)}")
    bad = 0
    for part in options.parts or PARTS:
        work, usual = PARTS[part]
        count, began = options.count or usual, time.perf_counter()
        wrong = work(count, options.seed)
        print(f"{part}: {count:,}, {len(wrong)} wrong ({time.perf_counter() - began:.0f} s)", flush=True)
        for line in wrong[:20]:
            print(f"    {line}")
        bad += len(wrong)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
