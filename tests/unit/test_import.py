"""`import mbframe` is quick because it loads numpy and little else."""

import subprocess
import sys

import pytest

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
