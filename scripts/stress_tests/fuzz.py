"""Damaged files of every kind: each is read or refused with our own error, soon, in little memory, executing nothing.

Every case is made from a seed, in a process of its own kind, so that a crash or a hang can be repeated:

    scripts/stress fuzz --only meshes --seeds 1 --first 812 --cases 1 --keep found
"""

from __future__ import annotations

import argparse
import copy
import faulthandler
import io
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import fuzz_app
import fuzz_guided
import numpy as np
import scipy.io
import scipy.sparse
from fuzz_results import damaged_result

import mbframe as mb
from mbframe.files import projects
from mbframe.files.hdf5 import checksum
from mbframe.files.model import document as model_document

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
NAMES = ["\x1b[31mred", "<b>bold</b>", "a" * 9000, "\u202egnp", "%s%n{0}", "../../x", "\x00", "a\nb", "\U0001f6b2"]
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
class Specimens:
    """Whole files of a kind as (suffix, content), how a damaged one is made of them, and how it is read."""

    wholes: list[tuple[str, bytes]]
    make: Callable[[random.Random], tuple[str, bytes]]
    read: Callable[[Path], object]


def models(folder: Path) -> Specimens:
    texts = []
    for name in ("spatial_slider_crank", "whipple_bicycle", "four_bar", "car_suspension", "flyball_governor"):
        mb.save(getattr(mb.examples, name)(), folder / "whole.json", simulation={"t_end": 1.0, "dt": 1e-3})
        texts.append((folder / "whole.json").read_bytes())

    def make(rng: random.Random) -> tuple[str, bytes]:
        whole = rng.choice(texts)
        if rng.random() < 0.5:
            return ".json", damaged_bytes(whole, rng)
        return ".json", json.dumps(damaged_value(json.loads(whole), rng)).encode("utf-8", "surrogatepass")

    def read(path: Path) -> None:
        mb.load(path)
        mb.load_settings(path)

    return Specimens([(".json", text) for text in texts], make, read)


def extremes(folder: Path) -> Specimens:
    """Models that are sound but for some numbers, names and paths, so that most of them can be opened and drawn."""
    wholes = []
    for name in ("spatial_slider_crank", "four_bar", "car_suspension", "rolling_disk"):
        mb.save(getattr(mb.examples, name)(), folder / "whole.json")
        wholes.append((folder / "whole.json").read_bytes())
    shapes: list[dict[str, Any]] = [
        *({"type": "Box", "size": [1e-9, 1e9, 1]}, {"type": "Sphere", "radius": 1e30}),
        *({"type": "Mesh", "path": path} for path in ("/dev/zero", "../../etc/passwd.stl", "case.json", "nowhere.stl")),
        {"type": "Cylinder", "radius": 5e-324, "length": 1.0, "color": "#00ff00", "opacity": 0.0},
    ]

    def make(rng: random.Random) -> tuple[str, bytes]:
        model = json.loads(rng.choice(wholes))
        for _ in range(rng.choice((1, 1, 2, 4))):
            element = rng.choice(model["elements"])
            if rng.random() < 0.2:
                model["name"] = rng.choice(NAMES)
            elif rng.random() < 0.2 and "mass" in element:
                element["shapes"] = rng.sample(shapes, 2)
            else:
                disturb_number(element, rng)
        return ".json", json.dumps(model).encode()

    return Specimens([(".json", text) for text in wholes], make, lambda path: mb.load(path) and None)


def disturb_number(element: dict[str, Any], rng: random.Random) -> None:
    """Multiply one of the numbers of an element, or exchange it."""
    places: list[tuple[Any, Any]] = []
    for key, value in element.items():
        if isinstance(value, float | int):
            places.append((element, key))
        elif isinstance(value, list):
            places += [(value, k) for k, entry in enumerate(value) if isinstance(entry, float | int)]
    if places:
        container, place = rng.choice(places)
        factors = (10.0 ** rng.uniform(-6, 6), 10.0 ** rng.uniform(-150, 150), -1.0, 0.0)
        container[place] = float(container[place]) * rng.choice(factors) or rng.choice((0.0, 5e-324, 1e300))


def expressions(folder: Path) -> Specimens:
    good = ["sin(2*t)", "if(t < 1, t**2, exp(-t))", "step(t, 0, 0, 1, 5)", "max(1, t, 2)", "-t**-2", "atan2(t, 1 + t)"]

    def make(rng: random.Random) -> tuple[str, bytes]:
        if rng.random() < 0.7:
            return ".txt", "".join(rng.choice(WORDS) for _ in range(rng.choice((3, 10, 40, 2000)))).encode()
        return ".txt", damaged_bytes(rng.choice(good).encode(), rng)

    def read(path: Path) -> None:
        function = mb.Function(path.read_bytes().decode("utf-8", "surrogateescape"))
        for t in (0.5, 0.0, -1.0, 1e300):
            with suppress(mb.MbframeError):
                function(t)

    return Specimens([(".txt", text.encode()) for text in good], make, read)


def results(folder: Path) -> Specimens:
    wholes = []
    for name, t_end in (("simple_pendulum", 0.2), ("four_bar", 0.1)):
        mb.simulate(getattr(mb.examples, name)(), t_end, dt=1e-2).save(folder / "whole.h5")
        wholes.append((folder / "whole.h5").read_bytes())
    head = bytearray(wholes[0][:44])
    head[11] |= 0b101  # as a killed run leaves it
    wholes.append(bytes(head) + checksum(head).to_bytes(4, "little") + wholes[0][48:])

    def make(rng: random.Random) -> tuple[str, bytes]:
        if rng.random() < 0.5:
            return ".h5", damaged_result(rng.choice(wholes[:2]), rng)
        return ".h5", damaged_bytes(rng.choice(wholes), rng)

    def read(path: Path) -> None:
        result = mb.load_result(path)
        for name in list(result.quantities())[:3]:
            result.quantity(name)
        if len(result.t):
            result.state(-1)

    return Specimens([(".h5", whole) for whole in wholes], make, read)


def meshes(folder: Path) -> Specimens:
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

    def make(rng: random.Random) -> tuple[str, bytes]:
        suffix, whole = rng.choice(wholes)
        return suffix, damaged_bytes(whole, rng)

    return Specimens(wholes, make, lambda path: read_surface(str(path)) and None)


ROBOT = """<robot name="arm"><link name="world"/><link name="a"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.17" iyy="0.17" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial><visual><origin xyz="0 0 -0.5"/>
<geometry><cylinder radius="0.03" length="1"/></geometry><material name="blue"><color rgba="0 0 0.8 1"/></material>
</visual></link><link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="j" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint>
<joint name="k" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 -1" rpy="0.1 0 0"/>
<axis xyz="0 1 0"/><limit lower="-2" upper="2.5" effort="3" velocity="4"/><mimic joint="j" multiplier="2"/></joint>
</robot>"""


def robots(folder: Path) -> Specimens:
    def make(rng: random.Random) -> tuple[str, bytes]:
        text = ROBOT
        for _ in range(rng.choice((0, 1, 3))):  # attributes and tags exchanged: well-formed, but nonsense
            old, new = rng.choice(ROBOT.split('"')), rng.choice([*ROBOT.split('"'), "1e999", "-1", "", "&#0;", "é"])
            text = text.replace(f'"{old}"', f'"{new}"', 1)
        return ".urdf", damaged_bytes(text.encode(), rng) if rng.random() < 0.7 else text.encode()

    return Specimens([(".urdf", ROBOT.encode())], make, lambda path: mb.import_urdf(path, notices=[]) and None)


def components(folder: Path) -> Specimens:
    """Parts of flexible bodies, their matrices and nodes, and meshes of solids."""
    import meshio

    material: dict[str, Any] = {"young": 2e11, "shear": 8e10, "density": 7800.0}
    part = mb.flexible.beam(length=1.0, elements=2, area=1e-4, second_moments=(1e-9, 1e-9), torsion=2e-9, **material)
    part.save(folder / "whole.npz")
    mb.flexible.free_modes(part, 2).save(folder / "modes.npz")
    scipy.io.mmwrite(folder / "whole.mtx", part.mass_matrix)
    np.save(folder / "whole.npy", part.nodes)
    for form in ("csr", "csc", "coo", "dia", "bsr"):
        scipy.sparse.save_npz(folder / f"{form}.npz", part.mass_matrix.asformat(form))
    forms = ("whole", "modes", "csr", "csc", "coo", "dia", "bsr")
    wholes = [(f".{form}.npz", (folder / f"{form}.npz").read_bytes()) for form in forms]
    wholes += [(".mtx", (folder / "whole.mtx").read_bytes()), (".npy", (folder / "whole.npy").read_bytes())]
    wholes += [(".csv", b"0, 0, 0\n0.5, 0, 0\n1, 0, 0\n")]
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float)
    mesh = meshio.Mesh(corners, [("tetra", np.array([[0, 1, 2, 3], [1, 2, 3, 4]]))])
    formats: list[tuple[str, dict[str, Any]]] = [
        *((".msh", {"file_format": name, "binary": binary}) for name in ("gmsh22", "gmsh") for binary in (False, True)),
        *((".vtk", {"binary": binary}) for binary in (False, True)),
        *((".vtu", {"binary": True, "compression": packing}) for packing in ("zlib", "lzma", None)),
        *((suffix, {}) for suffix in (".inp", ".bdf", ".mesh", ".meshb", ".su2", ".ugrid", ".vol", ".avs", ".xml")),
    ]
    for suffix, options in formats:
        mesh.write(folder / f"whole{suffix}", **options)
        wholes.append((suffix, (folder / f"whole{suffix}").read_bytes()))

    def make(rng: random.Random) -> tuple[str, bytes]:
        suffix, whole = rng.choice(wholes)
        if suffix.endswith(".npz") and rng.random() < 0.7:
            with zipfile.ZipFile(io.BytesIO(whole)) as archive:
                return suffix, rearchived({name: archive.read(name) for name in archive.namelist()}, rng)
        if suffix == ".inp" and rng.random() < 0.2:
            include = rng.choice(("case.inp", "../case.inp", "/dev/zero", "nowhere.inp", "case.vtu"))
            whole = f"*INCLUDE, INPUT={include}\n".encode() + whole
        return suffix, damaged_bytes(whole, rng)

    def read(path: Path) -> None:
        name = path.name
        if name.endswith(".modes.npz"):
            mb.flexible.Modes.load(path)
        elif name.endswith(".whole.npz"):
            mb.flexible.Component.load(path)
        elif name.endswith((".npy", ".csv")):
            mb.flexible.Component.from_files(path, part.mass_matrix, part.stiffness_matrix)
        elif name.endswith((".npz", ".mtx")):
            mb.flexible.Component.from_files(part.nodes, path, part.stiffness_matrix)
        else:
            mb.flexible.solid(path, young=1e9, poisson=0.3, density=1000.0)

    return Specimens(wholes, make, read)


def rearchived(entries: dict[str, bytes], rng: random.Random) -> bytes:
    """A sound archive of arrays of which some are damaged, renamed or missing."""
    found = dict(entries)
    name = rng.choice(list(found))
    action = rng.randrange(3)
    if action == 0:
        found[name] = damaged_bytes(found[name], rng)
    elif action == 1:
        found[rng.choice(("x", f"{name}/x", "0.npy", f"{name.removesuffix('.npy')}/0.npy", *found))] = found.pop(name)
    else:
        arrays = (np.zeros(0), np.array("text"), np.full((3, 3), np.nan), np.arange(-3, 3), np.array(1e300))
        content = io.BytesIO()
        np.save(content, rng.choice(arrays))
        found[name] = content.getvalue()
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for entry, data in found.items():
            file.writestr(entry, data)
    return archive.getvalue()


def archives(folder: Path) -> Specimens:
    """Projects."""
    taken = folder / "taken"
    taken.mkdir(exist_ok=True)
    mb.simulate(mb.examples.simple_pendulum(), 0.1, dt=1e-2).save(folder / "whole.h5")
    runs = [projects.StoredRun(folder / "whole.h5", {"name": f"Run {k}"}) for k in (1, 2)]
    project = projects.Project(model_document(mb.examples.four_bar()), runs, LOOKS)
    projects.save(project, folder / "whole.mbproject")
    whole = (folder / "whole.mbproject").read_bytes()
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}

    def make(rng: random.Random) -> tuple[str, bytes]:
        if rng.random() < 0.4:
            return projects.SUFFIX, rearranged(entries, rng)
        ends = damaged_bytes(whole[-400:], rng)
        return projects.SUFFIX, damaged_bytes(whole, rng) if rng.random() < 0.5 else whole[:-400] + ends

    def read(path: Path) -> None:
        for run in projects.read(path, taken).runs:
            run.file.unlink()

    return Specimens([(projects.SUFFIX, whole)], make, read)


LOOKS = {
    "units": "SI",
    "time": 0.05,
    "view": {
        "camera": {"position": [1.0, 2.0, 3.0], "focus": [0.0, 0.0, 0.0], "up": [0.0, 0.0, 1.0], "angle": 25.0},
        "labels": True,
        "shadows": False,
        "hidden": ["bar 1"],
        "followed": "bar 2",
        "arrows": ["velocity"],
        "trails": [{"body": "bar 2", "point": [0.0, 0.0, 0.0]}, {"body": "bar 1", "point": None}],
    },
    "plots": [["bar 2.position.x", "bar 2.position.y"], ["energy"]],
}


def rearranged(entries: dict[str, bytes], rng: random.Random) -> bytes:
    """A sound archive whose texts say something else, and whose entries may be missing, exchanged or renamed."""
    found = dict(entries)
    for name in rng.sample(["project.json", "model.json", "project.json"], rng.choice((1, 2))):
        value = damaged_value(json.loads(entries[name]), rng)
        found[name] = json.dumps(value).encode("utf-8", "surrogatepass")
    if rng.random() < 0.2:
        names = ("runs/1.h5", "runs/3.h5", "../x", "/etc/x", "runs/1.h5 ", "model.json/", "a\x1b")
        found[rng.choice(names)] = found.pop(rng.choice(list(found)))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", rng.choice((0, 0, 0, zipfile.ZIP_DEFLATED))) as archive:
        for name, data in found.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = rng.choice((0, 0, 0, 0o120777 << 16))  # the last is a link
            archive.writestr(entry, data)
    return content.getvalue()


KINDS: dict[str, Callable[[Path], Specimens]] = {
    kind.__name__: kind for kind in (models, extremes, expressions, results, meshes, robots, components, archives)
}

# --- one process per kind ---------------------------------------------------------------------------------------------


def work(kind: str, cases: Sequence[tuple[int, int]], most_seconds: float, pipe: Connection) -> None:
    """Read one damaged file after another, of a seed and a number; say of each that it begins, and how it ended."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    watched = {"active": False, "seen": ""}

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if watched["active"] and event in FORBIDDEN and not (event == "exec" and harmless(arguments[0])):
            watched["seen"] = f"{event} {str(arguments)[:200]}"

    with tempfile.TemporaryDirectory() as folder:
        specimens = KINDS[kind](Path(folder))
        for warm in range(40):  # what is imported or compiled once is not the fault of a file
            ending(specimens.read, written(Path(folder), *specimens.make(random.Random(f"{kind} warm {warm}"))))
        os.dup2(silence, 2)  # libraries complain there about every damaged file
        sys.addaudithook(watch)
        for seed, number in cases:
            path = written(Path(folder), *specimens.make(random.Random(f"{kind} {seed} {number}")))
            pipe.send(path.suffix)
            watched["active"] = True
            began, memory = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            outcome = ending(specimens.read, path)
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
            content = path.read_bytes() if outcome not in ("read", "refused") else b""
            pipe.send((outcome, seconds, grown, time.process_time(), content))


def written(folder: Path, suffix: str, content: bytes) -> Path:
    """A file of this content."""
    path = folder / f"case{suffix}"
    path.write_bytes(content)
    return path


def harmless(code: CodeType) -> bool:
    """Whether code is that of an installed module, imported when it is first needed, or executed while that happens.

    Named tuples, for example, are made of text. What is imported is judged itself, before anything in it is executed.
    """
    if installed(code.co_filename):
        return True
    frame: FrameType | None = sys._getframe(2)  # of what executes it
    while frame is not None and installed(frame.f_code.co_filename):
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def installed(filename: str) -> bool:
    """Whether code of this file belongs to Python or to an installed package."""
    return filename.startswith((sys.base_prefix, sys.prefix, "<frozen")) or "site-packages" in Path(filename).parts


def ending(read: Callable[[Path], object], path: Path) -> str:
    """How reading a file ended."""
    try:
        read(path)
    except mb.MbframeError as error:
        sensible = 0 < len(str(error)) < 2_000_000
        return "refused" if sensible else "an error without a message, or an endless one"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return "read"


@dataclass
class Tally:
    """How the cases of a kind and a seed ended; `failures` have (number, what happened, suffix, content)."""

    endings: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str, str, bytes]] = field(default_factory=list)
    processor: float = 0.0
    slowest: float = 0.0
    largest: float = 0.0


def fuzz(kind: str, cases: list[tuple[int, int]], most_seconds: float) -> Iterator[tuple[int, Tally]]:
    """How the cases (seed, number) of a kind ended: each seed and its tally, as soon as its last case is done."""
    context = multiprocessing.get_context("spawn")
    tallies: dict[int, Tally] = defaultdict(Tally)
    done = 0
    while done < len(cases):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(kind, cases[done:], most_seconds, theirs), daemon=True)
        process.start()
        theirs.close()
        used, suffix, started = 0.0, "", False
        try:
            while done < len(cases):
                seed, number = cases[done]
                tally = tallies[seed]
                if not ours.poll(1800.0):  # preparing compiles what a result needs
                    raise TimeoutError
                suffix, started = ours.recv(), True
                if not ours.poll(SILENCE):
                    raise TimeoutError
                outcome, seconds, grown, processor, content = ours.recv()
                tally.slowest, tally.largest = max(tally.slowest, seconds), max(tally.largest, grown)
                tally.processor, used = tally.processor + processor - used, processor
                tally.endings[outcome if outcome in ("read", "refused") else "failed"] += 1
                if outcome not in ("read", "refused"):
                    tally.failures.append((number, outcome, suffix, content))
                done += 1
                if last_of_seed(cases, done):
                    yield seed, tally
        except (EOFError, TimeoutError) as error:
            process.join(5.0 if isinstance(error, EOFError) else 0.0)
            if not started:
                raise RuntimeError(f"no {kind} could be prepared; its process says why") from None
            told = "hung" if isinstance(error, TimeoutError) else f"the process died (exit code {process.exitcode})"
            tally.endings["failed"] += 1
            tally.failures.append((number, told, suffix, b""))
            done += 1
            if last_of_seed(cases, done):
                yield seed, tally
        process.kill()
        process.join()


def last_of_seed(cases: list[tuple[int, int]], done: int) -> bool:
    """Whether the next case, after those that are done, is of another seed, or there is none."""
    return done == len(cases) or cases[done][0] != cases[done - 1][0]


def open_in_application(options: argparse.Namespace) -> int:
    """Open the cases in the real window; returns the exit code."""
    bad = 0
    print(f"{'kind':12s}{'seed':>6s}{'cases':>8s}{'read':>8s}{'refused':>9s}{'failed':>8s}")
    for kind in [kind for kind in fuzz_app.KINDS if kind in options.only]:
        numbers = range(options.first, options.first + options.cases)
        found = fuzz_app.in_display(kind, [(seed, number) for seed in options.seeds for number in numbers])
        for seed in options.seeds:
            mine = {number: found[seed, number] for number in numbers}
            failed = {number: told for number, told in mine.items() if told not in ("read", "refused")}
            counts = [sum(told == name for told in mine.values()) for name in ("read", "refused")]
            print(f"{kind:12s}{seed:6d}{len(mine):8d}{counts[0]:8d}{counts[1]:9d}{len(failed):8d}", flush=True)
            for number, told in failed.items():
                print(f"  case {number}: {told}", flush=True)
            bad += len(failed)
    return 1 if bad else 0


def guide(options: argparse.Namespace) -> int:
    """Let atheris find files along the code that they reach; returns the exit code."""
    bad = 0
    print(f"{'kind':12s}{'seed':>6s}{'cases':>8s}{'read':>8s}{'refused':>9s}{'failed':>8s}{'places':>8s}")
    for kind in options.only:
        for seed in options.seeds[:1]:
            one = fuzz_guided.guided(kind, seed, options.guided, options.keep)
            counts = f"{one.read:8d}{one.refused:9d}{len(one.failures):8d}{one.places:8d}"
            print(f"{kind:12s}{seed:6d}{one.read + one.refused + len(one.failures):8d}{counts}", flush=True)
            for told in one.failures:
                print(f"  {told}", flush=True)
            bad += len(one.failures)
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000, help="damaged files of each kind and seed (default: 1000)")
    parser.add_argument("--only", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(1, 11)), help="(default: 1 to 10)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to repeat a failure")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of processor time that one file may take (1)")
    parser.add_argument("--keep", type=Path, help="folder for the files that failed")
    parser.add_argument("--app", action="store_true", help="open them in the application, in a virtual display")
    parser.add_argument("--guided", type=int, metavar="N", help="make N files of each kind along the code they reach")
    options = parser.parse_args()
    if options.app:
        return open_in_application(options)
    if options.guided:
        return guide(options)
    bad = 0
    print(
        f"{'kind':12s}{'seed':>6s}{'cases':>8s}{'read':>8s}{'refused':>9s}{'failed':>8s}{'CPU s':>8s}{'longest s':>11s}"
    )
    numbers = range(options.first, options.first + options.cases)
    for kind in options.only:
        cases = [(seed, number) for seed in options.seeds for number in numbers]
        for seed, one in fuzz(kind, cases, options.seconds):
            counts = "".join(
                f"{one.endings[name]:{width}d}" for name, width in (("read", 8), ("refused", 9), ("failed", 8))
            )
            print(f"{kind:12s}{seed:6d}{len(numbers):8d}{counts}{one.processor:8.1f}{one.slowest:11.2f}", flush=True)
            for number, told, suffix, content in one.failures:
                print(f"  case {number}: {told}", flush=True)
                if options.keep is not None:
                    options.keep.mkdir(parents=True, exist_ok=True)
                    (options.keep / f"{kind}_{seed}_{number}{suffix}").write_bytes(content)
            bad += len(one.failures)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
