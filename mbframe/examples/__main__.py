"""Simulate the examples and write a plot of each: ``python -m mbframe.examples [name ...] [--output DIR]``."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import mbframe as mb
from mbframe import examples

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mbframe.results import Result
    from mbframe.system import System

DEFAULT_DURATION = 5.0
"""Simulated time in s of an example that `mbframe.examples.DURATIONS` does not list."""

INSTANTS_PER_SECOND = 200
FEWEST_INSTANTS = 300

SMALLEST_SHOWN = 1e-17
"""Floor of the logarithmic axis, below the rounding of numbers near one, so that an exact zero can be drawn."""

LINE_STYLES = {"x": "-", "y": "--", "z": ":"}
GREY = "0.35"


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
        figure(system, result).savefig(picture, dpi=150)
        pictures.append(picture)
        print(f"done in {time.perf_counter() - begin:.2f} s", flush=True)
    print(f"All done in {time.perf_counter() - start:.2f} s. The pictures:", *pictures, sep="\n  ")


def figure(system: System, result: Result) -> Figure:
    """Draw the paths of the bodies, the energy drift and the constraint violation over time, one panel each."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(10.0, 9.0), layout="constrained")
    picture.suptitle(system.name, fontsize=15, fontweight="bold")
    paths, energy, violation = picture.subplots(3, 1, sharex=True, height_ratios=(2.0, 1.0, 1.0))
    plot_paths(paths, system, result)
    plot_energy_drift(energy, result)
    plot_violation(violation, result)
    violation.set_xlabel("time (s)")
    violation.set_xlim(result.t[0], result.t[-1])
    for axes in (paths, energy, violation):
        axes.grid(color="0.9", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    return picture


def plot_paths(axes: Axes, system: System, result: Result) -> None:
    """Plot the global coordinates of each body's origin: one colour per body, one line style per coordinate."""
    bodies = [body for body in system.bodies if body is not system.ground]
    for number, body in enumerate(bodies):
        color = f"C{number % 10}"
        axes.plot([], [], color=color, linewidth=3.0, label=body.name)
        for component, style in zip(result.position(body).T, LINE_STYLES.values(), strict=False):
            axes.plot(result.t, component, style, color=color, linewidth=1.4)
    for coordinate, style in list(LINE_STYLES.items())[: system.dimension]:
        axes.plot([], [], style, color=GREY, linewidth=1.4, label=coordinate)
    axes.set_ylabel("position of the origin (m)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def plot_energy_drift(axes: Axes, result: Result) -> None:
    """Plot the change of the total energy relative to the largest kinetic energy of the motion."""
    total, kinetic = result.energy.total, result.energy.kinetic
    axes.plot(result.t, (total - total[0]) / kinetic.max(), color="C0", linewidth=1.2, label="$(E - E_0) / \\max K$")
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.set_ylabel("energy drift (-)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def plot_violation(axes: Axes, result: Result) -> None:
    """Plot the Euclidean norms of the position and velocity residuals of all constraints."""
    levels = (("position", "$|C|$", result.violation.position), ("velocity", "$|\\dot{C}|$", result.violation.velocity))
    for level, symbol, norm in levels:
        axes.semilogy(result.t, np.maximum(norm, SMALLEST_SHOWN), linewidth=1.2, label=f"{level} {symbol}")
    axes.set_ylabel("violation (m, m/s)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


if __name__ == "__main__":
    main()
