"""Simulate the examples and write a plot of each: ``python -m mbframe.examples [name ...] [--output DIR]``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import mbframe as mb
from mbframe import examples
from mbframe.plots import overview

DEFAULT_DURATION = 5.0
"""Simulated time in s of an example that `mbframe.examples.DURATIONS` does not list."""

INSTANTS_PER_SECOND = 200
FEWEST_INSTANTS = 300


def main(arguments: list[str] | None = None) -> None:
    """Simulate the examples named in `arguments` (default: all of them) and write one picture per example."""
    parser = argparse.ArgumentParser(prog="python -m mbframe.examples", description="Simulate examples, plot each.")
    parser.add_argument("names", nargs="*", metavar="name", help=f"which ({', '.join(examples.names())}); default: all")
    parser.add_argument("--output", type=Path, default=Path("build/examples"), help="folder of the pictures")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(examples.names()):
        parser.error(f"no example is called {', '.join(sorted(unknown))}; there are {', '.join(examples.names())}")

    folder = options.output.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    names = options.names or examples.names()
    pictures = []
    start = time.perf_counter()
    for number, name in enumerate(names, start=1):
        duration = examples.DURATIONS.get(name, DEFAULT_DURATION)
        print(f"[{number}/{len(names)}] {name}: simulating {duration:g} s", end=" ... ", flush=True)
        begin = time.perf_counter()
        system = getattr(examples, name)()
        t_eval = np.linspace(0.0, duration, max(round(duration * INSTANTS_PER_SECOND), FEWEST_INSTANTS) + 1)
        result = mb.simulate(system, t_end=duration, t_eval=t_eval)
        print(f"{result.info.steps} steps", end=" ... ", flush=True)
        picture = folder / f"{name}.png"
        overview(result).save(picture)
        pictures.append(picture)
        print(f"done in {time.perf_counter() - begin:.2f} s", flush=True)
    print(f"All done in {time.perf_counter() - start:.2f} s. The pictures:", *pictures, sep="\n  ")


if __name__ == "__main__":
    main()
