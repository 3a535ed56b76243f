"""Damaged files of every kind: each is read or refused with our own error, soon, in little memory, executing nothing.

Every case is made from a seed, in a process of its own kind, so that a crash or a hang can be repeated:

    python scripts/fuzz.py --only meshes --seed 1 --first 812 --cases 1
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

import mbframe as mb
from mbframe.files.hdf5 import checksum

SECONDS = 1.0  # of processor time that one file may take
SILENCE = 60.0  # s of waiting for one file before its process is given up
MEGABYTES = 500.0  # by which the process may grow while it reads one file
FORBIDDEN = ("exec", "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect")

JUNK = [
    b"",
    b"\x00",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"1e999",
    b"-1",
    b"nan",
    b"999999999999",
    b"<",
    b"{",
    b'"',
]
VALUES: list[Any] = [
    *(
        None,
        True,
        0,
        -1,
        1e308,
        5e-324,
        10**400,
        "",
        "ground",
        "\ud800",
        "a" * 20_000,
        [],
        {},
        [[]],
        [1, 2],
        [1e308] * 3,
    ),
    *({"type": "os.system"}, {"expression": "9**9**9"}, {"table": [[0, 1], [1e308, -1e308]]}, "__class__", "t" * 9999),
]
WORDS = [
    *("t", "1", "2.5e3", "pi", "e", "+", "-", "*", "/", "**", "(", ")", ",", "<", "==", "!=", ".", "_", "__", "[", "'"),
    *("sin(", "if(", "max(", "step(", "atan2(", "sqrt(", "log(", "exp(", "1e308", "9e99", "0", "@", ":"),
]


def damaged_bytes(whole: bytes, rng: random.Random) -> bytes:
    """Some bytes replaced, removed, doubled or moved; sometimes the end is missing."""
    content = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        where = rng.randrange(len(content) + 1)
        action = rng.randrange(6)
        if action == 0 and where < len(content):
            content[where] = rng.randrange(256)
        elif action == 1:
            del content[where : where + rng.randrange(1, 60)]
        elif action == 2:
            junk = rng.choice(JUNK)
            content[where : where + len(junk)] = junk
        elif action == 3:
            source = rng.randrange(len(content) + 1)
            content[where:where] = content[source : source + rng.randrange(1, 200)]
        elif action == 4:
            content[where : where + 8] = rng.randbytes(8)
        elif rng.random() < 0.3:
            del content[where:]
    return bytes(content)


def damaged_value(whole: Any, rng: random.Random) -> Any:
    """A JSON value with places removed, exchanged or replaced by something unexpected."""
    content = copy.deepcopy(whole)
    for _ in range(rng.choice((1, 1, 2, 5))):
        places: list[tuple[Any, Any]] = []
        ahead = [content]
        while ahead:
            value = ahead.pop()
            if isinstance(value, dict | list):
                places += [(value, key) for key in (value if isinstance(value, dict) else range(len(value)))]
                ahead += value.values() if isinstance(value, dict) else value
        if not places:
            break
        container, key = rng.choice(places)
        other, there = rng.choice(places)
        action = rng.randrange(3)
        if action == 0:
            del container[key]
        else:
            container[key] = copy.deepcopy(other[there] if action == 1 else rng.choice(VALUES))
    return content


# --- what is damaged, and how it is read ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A kind of file: `prepare(folder)` makes whole ones, once; the reader it returns is given damage for each case."""

    name: str
    prepare: Callable[[Path], Callable[[random.Random], None]]


def models(folder: Path) -> Callable[[random.Random], None]:
    texts = []
    for name in ("spatial_slider_crank", "whipple_bicycle", "four_bar", "car_suspension", "flyball_governor"):
        mb.save(getattr(mb.examples, name)(), folder / "whole.json", simulation={"t_end": 1.0, "dt": 1e-3})
        texts.append((folder / "whole.json").read_bytes())
    path = folder / "model.json"

    def read(rng: random.Random) -> None:
        whole = rng.choice(texts)
        if rng.random() < 0.5:
            path.write_bytes(damaged_bytes(whole, rng))
        else:
            path.write_bytes(json.dumps(damaged_value(json.loads(whole), rng)).encode("utf-8", "surrogatepass"))
        mb.load(path)
        mb.load_settings(path)

    return read


def expressions(folder: Path) -> Callable[[random.Random], None]:
    good = ["sin(2*t)", "if(t < 1, t**2, exp(-t))", "step(t, 0, 0, 1, 5)", "max(1, t, 2)", "-t**-2", "atan2(t, 1 + t)"]

    def read(rng: random.Random) -> None:
        if rng.random() < 0.7:
            text = "".join(rng.choice(WORDS) for _ in range(rng.choice((3, 10, 40, 2000))))
        else:
            text = damaged_bytes(rng.choice(good).encode(), rng).decode("utf-8", "surrogateescape")
        function = mb.Function(text)
        function(rng.choice((0.0, -1.0, 1e300)))

    return read


def results(folder: Path) -> Callable[[random.Random], None]:
    wholes = []
    for name, t_end in (("simple_pendulum", 0.2), ("four_bar", 0.1)):
        mb.simulate(getattr(mb.examples, name)(), t_end, dt=1e-2).save(folder / "whole.h5")
        wholes.append((folder / "whole.h5").read_bytes())
    head = bytearray(wholes[0][:44])
    head[11] |= 0b101  # as a killed run leaves it
    wholes.append(head + checksum(head).to_bytes(4, "little") + wholes[0][48:])
    path = folder / "run.h5"

    def read(rng: random.Random) -> None:
        path.write_bytes(damaged_bytes(rng.choice(wholes), rng))
        result = mb.load_result(path)
        for name in list(result.quantities())[:3]:
            result.quantity(name)
        if len(result.t):
            result.state(-1)

    return read


def meshes(folder: Path) -> Callable[[random.Random], None]:
    from mbframe.render import export
    from mbframe.render.mesh_files import read_surface

    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    stl = "solid t\n"
    for a, b, c in faces:
        at = "".join("vertex {} {} {}\n".format(*corners[k]) for k in (a, b, c))
        stl += f"facet normal 0 0 1\nouter loop\n{at}endloop\nendfacet\n"
    binary = b"\x00" * 80 + np.uint32(4).tobytes()
    for face in faces:
        binary += np.concatenate([[0, 0, 1], corners[list(face)].ravel()]).astype("<f4").tobytes() + b"\x00\x00"
    points = "\n".join("{} {} {}".format(*p) for p in corners)
    ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    ply += "element face 4\nproperty list uchar int vertex_indices\nend_header\n" + points + "\n"
    ply += "\n".join("3 {} {} {}".format(*f) for f in faces) + "\n"
    obj = "\n".join(f"v {line}" for line in points.split("\n")) + "\n"
    obj += "\n".join("f {} {} {}".format(*(k + 1 for k in f)) for f in faces) + "\n"
    off = f"OFF\n4 4 0\n{points}\n" + "\n".join("3 {} {} {}".format(*f) for f in faces) + "\n"
    export(mb.simulate(mb.examples.simple_pendulum(), 0.1, dt=0.05), folder / "whole.glb", fps=10)
    wholes = [
        (".stl", (stl + "endsolid t\n").encode()),
        (".stl", binary),
        (".ply", ply.encode()),
        (".obj", obj.encode()),
    ]
    wholes += [(".off", off.encode()), (".glb", (folder / "whole.glb").read_bytes())]

    def read(rng: random.Random) -> None:
        suffix, whole = rng.choice(wholes)
        path = folder / f"mesh{suffix}"
        path.write_bytes(damaged_bytes(whole, rng))
        read_surface(str(path))

    return read


ROBOT = """<robot name="arm"><link name="world"/><link name="a"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.17" iyy="0.17" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial><visual><origin xyz="0 0 -0.5"/>
<geometry><cylinder radius="0.03" length="1"/></geometry><material name="blue"><color rgba="0 0 0.8 1"/></material>
</visual></link><link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="j" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint>
<joint name="k" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 -1" rpy="0.1 0 0"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2.5" effort="3" velocity="4"/><mimic joint="j" multiplier="2"/></joint>
</robot>"""


def robots(folder: Path) -> Callable[[random.Random], None]:
    path = folder / "robot.urdf"

    def read(rng: random.Random) -> None:
        text = ROBOT
        for _ in range(rng.choice((0, 1, 3))):  # attributes and tags exchanged: well-formed, but nonsense
            old, new = rng.choice(ROBOT.split('"')), rng.choice([*ROBOT.split('"'), "1e999", "-1", "", "&#0;", "é"])
            text = text.replace(f'"{old}"', f'"{new}"', 1)
        path.write_bytes(damaged_bytes(text.encode(), rng) if rng.random() < 0.7 else text.encode())
        mb.import_urdf(path, notices=[])

    return read


KINDS = [Kind(k.__name__, k) for k in (models, expressions, results, meshes, robots)]

# --- one process per kind ---------------------------------------------------------------------------------------------


def work(kind: str, first: int, seed: int, most_seconds: float, pipe: Connection) -> None:
    """Read one damaged file after another; say before each that it begins, and afterwards how it ended."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    watched = {"active": False, "seen": ""}

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watched["active"] and event in FORBIDDEN and not (event == "exec" and installed(arguments[0])):
            watched["seen"] = f"{event} {str(arguments)[:200]}"

    with tempfile.TemporaryDirectory() as folder:
        read = next(k for k in KINDS if k.name == kind).prepare(Path(folder))
        for warm in range(40):  # what is imported or compiled once is not the fault of a file
            ending(read, random.Random(f"{kind} warm {warm}"))
        os.dup2(silence, 2)  # libraries complain there about every damaged file
        sys.addaudithook(watch)
        number = first
        while True:
            pipe.send(("begin", number))
            watched["active"] = True
            began, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            outcome = ending(read, random.Random(f"{kind} {seed} {number}"))
            watched["active"] = False
            seconds = time.process_time() - began
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024.0
            if seconds > most_seconds:
                outcome = f"took {seconds:.1f} s"
            elif grown > MEGABYTES:
                outcome = f"took {grown:.0f} MB"
            elif watched["seen"]:
                outcome = f"executed something: {watched['seen']}"
            watched["seen"] = ""
            pipe.send(("end", outcome, seconds, grown))
            if pipe.recv() is None:
                return
            number += 1


def installed(code: CodeType) -> bool:
    """Whether code is that of an installed module, imported when it is first needed, such as one of an encoding."""
    return any(code.co_filename.startswith(place) for place in (sys.base_prefix, sys.prefix, "<frozen"))


def ending(read: Callable[[random.Random], None], rng: random.Random) -> str:
    try:
        read(rng)
    except mb.MbframeError as error:
        return (
            "refused" if str(error) and len(str(error)) < 2_000_000 else "an error without a message, or an endless one"
        )
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "read"


def fuzz(
    kind: str, first: int, cases: int, seed: int, most_seconds: float
) -> tuple[Counter[str], list[tuple[int, str]], float, float]:
    """How the cases of a kind ended; those that must not have ended so; the longest time and the largest growth."""
    context = multiprocessing.get_context("spawn")
    endings: Counter[str] = Counter()
    failures: list[tuple[int, str]] = []
    slowest = largest = 0.0
    number = first
    while number < first + cases:
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(kind, number, seed, most_seconds, theirs), daemon=True)
        process.start()
        theirs.close()
        try:
            while number < first + cases:
                if not ours.poll(300.0):  # preparing compiles what a result needs
                    raise TimeoutError
                ours.recv()
                if not ours.poll(SILENCE):
                    raise TimeoutError
                _, outcome, seconds, grown = ours.recv()
                slowest, largest = max(slowest, seconds), max(largest, grown)
                endings[outcome if outcome in ("read", "refused") else "failed"] += 1
                if outcome not in ("read", "refused"):
                    failures.append((number, outcome))
                number += 1
                ours.send(None if number == first + cases else number)
        except (EOFError, TimeoutError) as error:
            process.join(5.0 if isinstance(error, EOFError) else 0.0)
            told = "hung" if isinstance(error, TimeoutError) else f"the process died (exit code {process.exitcode})"
            endings["failed"] += 1
            failures.append((number, told))
            number += 1
        process.kill()
        process.join()
    return endings, failures, slowest, largest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=4000, help="damaged files of each kind (default: 4000)")
    parser.add_argument("--only", nargs="+", choices=[k.name for k in KINDS], default=[k.name for k in KINDS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to repeat a failure")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of processor time that one file may take (1)")
    options = parser.parse_args()
    bad = 0
    for kind in options.only:
        began = time.perf_counter()
        endings, failures, slowest, largest = fuzz(kind, options.first, options.cases, options.seed, options.seconds)
        print(
            f"{kind:12} {options.cases:6} files: {endings['read']} read, {endings['refused']} refused, "
            f"{endings['failed']} failed; slowest {slowest:.2f} s, largest growth {largest:.0f} MB "
            f"({time.perf_counter() - began:.0f} s)",
            flush=True,
        )
        for number, told in failures[:20]:
            print(f"    --only {kind} --seed {options.seed} --first {number} --cases 1: {told}")
        bad += len(failures)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
