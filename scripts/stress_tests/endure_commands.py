"""Ctrl-C at random instants of every command: it ends soon, with the right code, and what it leaves is whole."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import mbframe as mb

PATIENCE: Final = 120.0  # s on the clock, after which a command hangs
MOST_CPU: Final = 1.0  # s of computing after Ctrl-C
STOPPED: Final = 130
PROGRAM: Final = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which the background of a shell ignores
from mbframe.cli import main
os.write(int(sys.argv.pop(1)), b".")
sys.exit(main())
"""


@dataclass(frozen=True)
class Command:
    """A command, the files that it may leave, and more time than it takes, s."""

    arguments: str
    leaves: tuple[str, ...] = ()
    longest: float = 3.0


COMMANDS: Final = {
    "run": Command("run slider.json --t-end 200 --dt 1e-4 --output run.h5", ("run.h5",), 6.0),
    "run --json": Command("run slider.json --t-end 200 --dt 1e-4 --json", (), 6.0),
    "run to csv": Command("run slider.json --t-end 4 --dt 1e-4 --output t.csv --json", ("t.csv", "t.partial.h5"), 8.0),
    "run to parquet": Command(
        "run slider.json --t-end 4 --dt 1e-4 --output t.parquet", ("t.parquet", "t.partial.h5"), 8.0
    ),
    "check": Command("check slider.json --json"),
    "eig": Command("eig cart_pendulum"),
    "compare": Command("compare slider.json --t-end 1 --json", (), 12.0),
    "compare --report": Command("compare slider.json --t-end 0.1 --report p.html", ("p.html",), 12.0),
    "compare --processes": Command("compare slider.json --t-end 1 --processes", (), 12.0),
    "export csv": Command("export long.h5 t.csv", ("t.csv",), 5.0),
    "export parquet": Command("export long.h5 t.parquet --json", ("t.parquet",), 5.0),
    "export mp4": Command("export long.h5 f.mp4 --size 320x240", ("f.mp4",), 8.0),
    "export gif": Command("export long.h5 f.gif --size 320x240", ("f.gif",), 8.0),
    "export png": Command("export short.h5 f.png --size 320x240", tuple(f"f_{k:04d}.png" for k in range(31)), 8.0),
    "export glb": Command("export long.h5 f.glb --json", ("f.glb",), 5.0),
    "export html": Command("export long.h5 f.html", ("f.html",), 5.0),
    "export json": Command("export slider.json m.json", ("m.json",)),
    "export py": Command("export slider.json m.py", ("m.py",)),
    "examples": Command("examples --json"),
    "examples --output": Command("examples slider_crank --output m.json", ("m.json",)),
    "warmup": Command("warmup", ("kernels",), 40.0),
}


@dataclass
class Ending:
    """What is wrong after a command was stopped, and how long it computed and lived after that, s."""

    wrong: list[str]
    computed: float = 0.0
    lived: float = 0.0


def interrupted(command: Command, folder: Path, moment: float, alone: bool, most_cpu: float) -> Ending:
    """How a command ended that was stopped at a moment, s after it has begun.

    `alone`: only the command is told, as by a program that started it, and not those it started, as by a terminal.
    """
    before, spent_before = set(os.listdir(folder)), _children_cpu()
    own = {"MBFRAME_CACHE_DIR": str(folder / "kernels")} if "kernels" in command.leaves else {}
    heard, said = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(said), *command.arguments.split()],
        cwd=folder,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
        pass_fds=(said,),
    )
    os.close(said)
    begun = os.read(heard, 1)  # while Python loads modules nobody can be asked to stop in words
    os.close(heard)
    if not begun:
        return Ending([f"it does not begin: {process.communicate()[1][-300:]}"])
    time.sleep(moment)
    spent = _cpu(process.pid)  # also of one that has ended: nobody has waited for it
    (os.kill if alone else os.killpg)(process.pid, signal.SIGINT)
    told = time.perf_counter()
    try:
        output, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Ending([f"it does not end ({moment:.2f} s)"])
    ending = Ending([], _children_cpu() - spent_before - spent, time.perf_counter() - told)
    wrong, code = ending.wrong, process.returncode
    if code not in (0, STOPPED):
        wrong.append(f"exit code {code} ({moment:.2f} s): {errors[-300:]}")
    if "Traceback" in errors or "ignored" in errors:
        wrong.append(f"a traceback ({moment:.2f} s): {errors[-600:]}")
    if "--json" in command.arguments and code in (0, STOPPED):
        try:
            json.loads(output)
        except ValueError:
            wrong.append(f"no JSON object ({moment:.2f} s): {output[:200]!r}")
    if ending.computed > most_cpu:
        wrong.append(f"it computed for {ending.computed:.1f} s after Ctrl-C ({moment:.2f} s)")
    wrong += left(command, folder, before, code)
    if _alive(process.pid):
        os.killpg(process.pid, signal.SIGKILL)
        wrong.append(f"a process that it started goes on ({moment:.2f} s)")
    return ending


def _cpu(group: int) -> float:
    """Seconds that the processes of a group have computed, with those they waited for."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        ticks += sum(map(int, fields[11:15])) if int(fields[2]) == group else 0
    return ticks / os.sysconf("SC_CLK_TCK")


def _children_cpu() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _alive(group: int) -> bool:
    """Whether a group still has processes; those that were killed take a moment."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.05)
    return True


def left(command: Command, folder: Path, before: set[str], code: int) -> Iterator[str]:
    """What is wrong with the files that a command left, which are removed."""
    for name in sorted(set(os.listdir(folder)) - before):
        path = folder / name
        if name not in command.leaves:
            yield f"it left {name}"
        elif path.suffix == ".h5":
            try:
                kept = mb.load_result(path)
                if code != 0 and kept.info.completed and len(kept.t) and kept.t[-1] < 3.9:
                    yield f"{name} is a part and says that it is the whole"
            except mb.MbframeError as error:
                yield f"{name} cannot be read: {error}"
        elif path.suffix == ".csv" and len({line.count(",") for line in path.read_text().splitlines()}) != 1:
            yield f"{name} has rows of different lengths"
        if path.is_file():
            path.unlink()


def endured(count: int, seed: int, names: Sequence[str] = (), most_cpu: float = MOST_CPU) -> tuple[int, list[str]]:
    """Every command, or those named, `count` times: how many cases there were, and what is wrong."""
    chosen, wrong = names or list(COMMANDS), []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        crank = mb.examples.spatial_slider_crank()
        mb.save(crank, folder / "slider.json", simulation={"t_end": 1.0})
        mb.simulate(crank, 20.0, dt=1e-3).save(folder / "long.h5")
        mb.simulate(crank, 1.0, dt=1e-3).save(folder / "short.h5")
        for name in chosen:
            rng, began = random.Random(f"{name} {seed}"), time.perf_counter()
            command, endings = COMMANDS[name], []
            for _ in range(count):
                moment, alone = rng.uniform(0.0, command.longest), rng.random() < 0.5
                endings.append(interrupted(command, folder, moment, alone, most_cpu))
            found = [f"{name}, {k}: {line}" for k, ending in enumerate(endings) for line in ending.wrong]
            longest = f"{max(e.computed for e in endings):.2f} s of computing, {max(e.lived for e in endings):.2f} s"
            spent = f"({time.perf_counter() - began:.0f} s); at most {longest} on the clock after it"
            print(f"    Ctrl-C   {name:<19} {count:>5} tried, {len(found)} wrong {spent}", flush=True)
            wrong += found
    return count * len(chosen), wrong
