"""`import mbframe` is quick because it loads numpy and little else."""

import pickle
import subprocess
import sys

import pytest

import mbframe as mb

LAZY = (
    "numba",
    "llvmlite",
    "scipy",
    "h5py",
    "rich",
    "matplotlib",
    "pyarrow",
    "PySide6",
    "pyvista",
    "vtk",
    "vtkmodules",
)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Top-level names of the modules in memory after `import mbframe` in a fresh interpreter."""
    program = "import sys, mbframe; print(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path_factory.mktemp("empty"),
    )
    return {name.partition(".")[0] for name in process.stdout.split()}


def test_import_loads_mbframe(loaded: set[str]) -> None:
    assert "mbframe" in loaded


@pytest.mark.parametrize("package", LAZY)
def test_import_does_not_load(package: str, loaded: set[str]) -> None:
    assert package not in loaded


def test_what_counts_freedoms_is_not_needed_to_know_their_number() -> None:
    """The window unpickles the answer of another process; SciPy came along."""
    freedom = mb.Freedom(1, 0, 5, 5, [], [], [])
    program = (
        "import pickle, sys\n"
        f"assert pickle.loads({pickle.dumps(freedom)!r}).count == 1\n"
        "print([name for name in ('scipy', 'numba', 'mbframe.solvers', 'mbframe.flexible') if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["[]"]
