"""Whether the versions in pyproject.toml are true: a short suite with the lowest packages it allows, and the newest.

Each environment is resolved anew by uv: `lowest` takes the smallest version of every package that pyproject.toml names
and the newest of what these need, `newest` the newest of all. The suite reaches every package that mbframe names.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PLACE: Final = ROOT / "build" / "versions"
PYTHONS: Final = ("3.11", "3.12", "3.13")
RESOLUTIONS: Final = {"lowest": "lowest-direct", "newest": "highest"}
SHOWN: Final = ("numpy", "scipy", "numba", "h5py", "trimesh", "pyvista", "pyside6-essentials")
SUITE: Final = (
    "tests/unit/test_import.py",
    "tests/unit/test_compilers.py",  # numba
    "tests/unit/test_model_files.py",
    "tests/unit/test_result_files.py",  # h5py, pyarrow
    "tests/unit/test_surfaces.py",  # pyvista, trimesh
    "tests/unit/test_export_pictures.py",  # imageio-ffmpeg, pillow
    "tests/unit/test_flexible_body_files.py",  # scikit-fem, meshio
    "tests/unit/test_sparse_blocks.py",  # scipy.sparse
    "tests/unit/test_plots.py",  # matplotlib
    "tests/unit/test_sweep.py",  # dask
    "tests/validation/test_pendulums.py",
    "tests/validation/test_bdf.py",  # scikit-sundae
    "tests/gui/test_document.py",
    "tests/gui/test_plots.py",  # pyqtgraph
)


@dataclass
class Outcome:
    """What came of one environment."""

    python: str
    kind: str
    verdict: str = "no interpreter"
    versions: dict[str, str] = field(default_factory=dict)
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.verdict == "passed"

    def row(self) -> str:
        found = [self.versions.get(name, "-") for name in SHOWN]
        counts = f"{self.passed} / {len(self.failed)}"
        return f"| {self.python} | {self.kind} | {' | '.join(found)} | {counts} | {self.verdict} | {self.seconds:.0f} |"


def interpreter(version: str) -> str | None:
    """An interpreter of a version that runs: the path's, or one that pyenv keeps."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = shutil.which(f"python{version}")
    for candidate in ([named] if named else []) + sorted(map(str, kept.glob(f"{version}.*/bin/python"))):
        done = subprocess.run([candidate, "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.startswith(f"{version}."):
            return candidate
    return None


def uv(*arguments: str) -> str:
    """What uv prints; a `RuntimeError` with its last words if it fails."""
    command = [sys.executable, "-m", "uv", "--quiet", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-2000:])
    return done.stdout


def tried(python: str, kind: str, tests: list[str]) -> Outcome:
    """Make an environment, run the suite in it and remove it; what the suite said stays as a file."""
    outcome, began = Outcome(python, kind), time.perf_counter()
    base = interpreter(python)
    if base is None:
        return outcome
    folder = PLACE / f"{python}-{kind}"
    inside = str(folder / "bin" / "python")
    try:
        uv("venv", "--clear", "--python", base, str(folder))
        # `--exclude-newer` and the like are left to uv's environment variables.
        uv("pip", "install", "--python", inside, "--resolution", RESOLUTIONS[kind], ".[test]")
        listed = [line.split("==") for line in uv("pip", "freeze", "--python", inside).splitlines() if "==" in line]
    except RuntimeError as error:
        outcome.verdict, outcome.failed = "not installed", [str(error)]
        return outcome
    outcome.versions = {name.lower(): version for name, version in listed}
    # Kernels of one environment must not be compiled for another; the tests of the command line start processes.
    own = {"MBFRAME_CACHE_DIR": str(PLACE / "kernels"), "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    command = [inside, "-m", "pytest", "--quiet", "-rfE", "--tb=short", "--timeout=0", "-p", "no:cacheprovider"]
    command += ["--continue-on-collection-errors", *tests]
    with open(PLACE / f"{python}-{kind}.txt", "w+", encoding="utf-8") as log:
        done = subprocess.run(command, cwd=ROOT, env=os.environ | own, stdout=log, stderr=subprocess.STDOUT)
        log.seek(0)
        text = log.read()
    outcome.passed = sum(map(int, re.findall(r"(\d+) passed", text)[-1:]))
    outcome.failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    outcome.verdict = "passed" if done.returncode == 0 else f"status {done.returncode}"
    outcome.seconds = time.perf_counter() - began
    shutil.rmtree(folder, ignore_errors=True)  # one to two gigabytes
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="VERSION", help=f"{', '.join(PYTHONS)} (default: all)")
    parser.add_argument("--only", choices=list(RESOLUTIONS), help="the lowest or the newest packages (default: both)")
    parser.add_argument("--tests", nargs="+", metavar="FILE", default=list(SUITE), help="other tests")
    options = parser.parse_args()
    outcomes = []
    for python in options.pythons or PYTHONS:
        for kind in [options.only] if options.only else RESOLUTIONS:
            outcomes.append(tried(python, kind, options.tests))
            print(outcomes[-1].row(), flush=True)
            for name in outcomes[-1].failed:
                print(f"    {name}", flush=True)
    print(f"\n| Python | packages | {' | '.join(SHOWN)} | passed / failed | verdict | s |")
    print("|---" * (len(SHOWN) + 5) + "|")
    print(*(outcome.row() for outcome in outcomes), sep="\n")
    return 0 if all(outcome.good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
