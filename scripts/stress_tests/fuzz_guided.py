"""Damaged files that are found along the code they reach, by atheris (libFuzzer): `scripts/stress fuzz --guided N`.

A file that reaches a new place in a reader is kept and damaged further, so that readers are reached far behind their
first checks. Each kind has a process of its own, because libFuzzer ends its process.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
WATCHED: Final = (
    *("mbframe.files", "mbframe.disk", "mbframe.expressions", "mbframe.expression_trees", "mbframe.limits"),
    *("mbframe.packed", "mbframe.shapes", "mbframe.render.mesh_files", "mbframe.render.gltf_meshes"),
    *("mbframe.flexible.matrices", "mbframe.flexible.mesh_files", "mbframe.flexible.storage"),
    *("trimesh.exchange", "meshio", "zipfile"),
)
"""Readers, with the modules in them."""
LONGEST: Final = 100_000  # bytes of a file
SECONDS: Final = 30  # on the clock, after which one file hangs
MEGABYTES: Final = 3000  # of the whole process


def left_out() -> list[str]:
    """Every other module of the packages of the readers.

    What kernels are compiled from must stay as it is written, and atheris watches whole packages but for modules that
    are named to it one by one.
    """
    modules = []
    for package in sorted({name.partition(".")[0] for name in WATCHED}):
        spec = importlib.util.find_spec(package)
        for folder in (spec.submodule_search_locations or []) if spec else []:
            for path in sorted(Path(folder).rglob("*.py")):
                parts = path.relative_to(folder).with_suffix("").parts
                modules.append(".".join([package, *(parts[:-1] if parts[-1] == "__init__" else parts)]))
    return [module for module in modules if not any(f"{module}.".startswith(f"{name}.") for name in WATCHED)]


@dataclass
class Guided:
    """How the files of one kind ended; `places` is how many places of the readers they reached."""

    read: int = 0
    refused: int = 0
    places: int = 0
    failures: list[str] = field(default_factory=list)


def guided(kind: str, seed: int, count: int, keep: Path | None) -> Guided:
    """Make so many files of a kind, and read them."""
    if importlib.util.find_spec("atheris") is None:
        raise SystemExit("atheris is not installed: pip install atheris")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        command = [sys.executable, __file__, kind, str(seed), str(count), folder]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        with open(place / "log", "w") as log:
            done = subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        text = (place / "log").read_text(errors="replace")
        found = Guided(places=max(map(int, re.findall(r"cov: (\d+)", text)), default=0))
        if (place / "counts").exists():
            counts = json.loads((place / "counts").read_text())
            found.read, found.refused = counts["read"], counts["refused"]
            found.failures = counts["failed"]
        if done.returncode != 0 or found.read + found.refused == 0:
            found.failures.append(f"exit code {done.returncode}: {text[-1500:]}")
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for crash in [*place.glob("crash-*"), *place.glob("timeout-*"), *place.glob("oom-*")]:
                crash.rename(keep / f"{kind}_guided_{crash.name}")
        return found


# ---- In the process of a kind -------------------------------------------------------------------------------------


def inside(kind: str, seed: int, count: int, folder: Path) -> None:
    """Read files until there were enough of them."""
    import atheris

    with atheris.instrument_imports(include=list(WATCHED), exclude=left_out()):
        import fuzz

        import mbframe

        work = folder / "work"
        work.mkdir()
        specimens = fuzz.KINDS[kind](work)
        for warm in range(40):  # imports all that readers need
            fuzz.ending(specimens.read, fuzz.written(work, *specimens.make(random.Random(f"{kind} warm {warm}"))))
    assert mbframe
    suffixes = sorted({suffix for suffix, _ in specimens.wholes})
    corpus = folder / "corpus"
    corpus.mkdir()
    beginnings = specimens.wholes + [specimens.make(random.Random(f"{kind} begin {k}")) for k in range(30)]
    for number, (suffix, content) in enumerate(beginnings):
        if len(content) < LONGEST:
            (corpus / str(number)).write_bytes(bytes([suffixes.index(suffix)]) + content)
    counts: dict[str, Any] = {"read": 0, "refused": 0, "failed": []}

    def one(data: bytes) -> None:
        """The first byte says which suffix the file has."""
        if not data:
            return
        path = fuzz.written(work, suffixes[data[0] % len(suffixes)], data[1:])
        outcome = fuzz.ending(specimens.read, path)
        if outcome in ("read", "refused"):
            counts[outcome] += 1
        else:
            counts["failed"].append(outcome)
        (folder / "counts").write_text(json.dumps(counts))  # libFuzzer ends the process without a word
        if counts["failed"]:
            raise RuntimeError(outcome)  # libFuzzer keeps the file

    def mutated(data: bytes, most: int, number: int) -> bytes:
        """Damaged by libFuzzer, or as files of this kind are damaged."""
        rng = random.Random(number)
        if rng.random() < 0.6:
            return bytes(atheris.Mutate(data, most))
        if rng.random() < 0.3:
            suffix, content = specimens.make(rng)
            return (bytes([suffixes.index(suffix)]) + content)[:most]
        return (data[:1] + fuzz.damaged_bytes(data[1:], rng))[:most]

    os.chdir(folder)
    options = [f"-runs={count}", f"-seed={seed}", f"-max_len={LONGEST}", f"-timeout={SECONDS}"]
    options += [f"-rss_limit_mb={MEGABYTES}", "-print_final_stats=1", "-verbosity=1"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    inside(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
